"""Options that several commands share: one name, one help text."""

from pathlib import Path
from typing import Annotated, Any

import typer


def option(metavar: str, help: str, *names: str, **more: Any) -> Any:
    """Return an option: what its value is called, what it is for and, if not the parameter's, its names."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


def argument(metavar: str, help: str, **more: Any) -> Any:
    """Return an argument: what it is called and what it is for."""
    return typer.Argument(metavar=metavar, help=help, **more)


RatingsOrStudy = Annotated[
    Path,
    argument(
        "RATINGS|STUDY",
        "The ratings table: CSV, TSV, JSONL, Parquet or Excel. Or a study, its file or folder: its "
        "ratings, analysed as it declares.",
    ),
]
Model = Annotated[
    str,
    option(
        "auto|clmm|clm|lmm|lm",
        "Ordinal (clm) or linear (lm), with a last m for random effects; auto looks at the ratings.",
    ),
]
Link = Annotated[str, option("probit|logit|cloglog|loglog|cauchit", "The link of an ordinal model.")]
Family = Annotated[
    str,
    option(
        "cumulative|sequential|adjacent",
        "How the categories of an ordinal model come about: cuts of one scale, steps up from the lowest, or "
        "each against the next (logit).",
    ),
]
Test = Annotated[
    str, option("t|z", "How an ordinal mixed model is tested: t allows for few raters and items, z does not.")
]
Prior = Annotated[
    str | None,
    option(
        "weak|normal(SD)|t(DF, SD)|wishart",
        "Penalise an ordinal model by a prior, which every result then names; compare then keeps the "
        "largest random part. None by default.",
    ),
]
Confidence = Annotated[float, option("SHARE", "The confidence level of the intervals.")]
Margin = Annotated[
    str | None,
    option(
        "SIZE",
        "Also test each pair for equivalence and non-inferiority: the largest difference that does not "
        "matter, in points of the scale (0.5) or in residual SDs ('0.3 latent').",
    ),
]
Better = Annotated[str | None, option("higher|lower", "Which ratings are better; higher by default.")]
AcrossCriteria = Annotated[
    str | None,
    option("none|holm|bonferroni", "How p-values allow for the number of criteria; not at all by default."),
]
Where = Annotated[
    list[str] | None,
    option(
        "COL=VALUE",
        "Use these rows only; may be given more than once. A column given twice takes either value.",
    ),
]
Columns = Annotated[
    str | None,
    option(
        "NAME=COL,…",
        "Which column is what, where the names do not say: rater=WorkerId,item=input_id; item=none "
        "where there is none.",
    ),
]
By = Annotated[
    str | None, option("COLUMN", "One analysis for each value of this column: a language, a data set.")
]
Drop = Annotated[
    list[str] | None,
    option(
        "invalid|placeholders|duplicates",
        "Leave out words among numbers, placeholder raters (na, unknown), or copies of rows; may be "
        "given more than once.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
ScalePoints = Annotated[
    str | None,
    option("LOW:HIGH|A,B,…", "The points of the scale: 1:5, or 0,1,2,4. Ratings off it are refused."),
]
JudgeColumns = Annotated[
    str | None, option("COL,…", "Columns of the ratings table that hold a judge's scores each.")
]
JudgeScale = Annotated[
    str,
    option(
        "auto|same|other|as-is",
        "Whether judges answer on people's scale. auto looks at their scores; as-is refuses none that "
        "are off it.",
    ),
]
