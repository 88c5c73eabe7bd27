"""Options that several commands share: one name, one help text."""

from pathlib import Path
from typing import Annotated

import typer

RatingsOrStudy = Annotated[
    Path,
    typer.Argument(
        metavar="RATINGS|STUDY",
        help="The ratings table: CSV, TSV, JSONL, Parquet or Excel. Or a study, its file or folder: its "
        "ratings, analysed as it declares.",
        show_default=False,
    ),
]
Model = Annotated[
    str,
    typer.Option(
        metavar="auto|clmm|clm|lmm|lm",
        help="Ordinal (clm) or linear (lm), with a last m for random effects; auto looks at the ratings.",
    ),
]
Link = Annotated[
    str, typer.Option(metavar="probit|logit|cloglog|loglog|cauchit", help="The link of an ordinal model.")
]
Df = Annotated[
    str,
    typer.Option(
        metavar="t|z",
        help="How an ordinal mixed model is tested: t allows for few raters and items, z does not.",
    ),
]
Confidence = Annotated[float, typer.Option(metavar="SHARE", help="The confidence level of the intervals.")]
Margin = Annotated[
    float | None,
    typer.Option(
        metavar="POINTS",
        help="Also test each pair for equivalence: a difference of less than this many points.",
        show_default=False,
    ),
]
Better = Annotated[
    str | None,
    typer.Option(
        metavar="higher|lower", help="Which ratings are better; higher by default.", show_default=False
    ),
]
AcrossCriteria = Annotated[
    str | None,
    typer.Option(
        metavar="none|holm|bonferroni",
        help="How p-values allow for the number of criteria; not at all by default.",
        show_default=False,
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL=VALUE",
        help="Use these rows only; may be given more than once. A column given twice takes either value.",
        show_default=False,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=COL,…",
        help="Which column is what, where the names do not say: rater=WorkerId,item=input_id; item=none "
        "where there is none.",
        show_default=False,
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="One analysis for each value of this column: a language, a data set.",
        show_default=False,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="invalid|placeholders|duplicates",
        help="Leave out words among numbers, placeholder raters (na, unknown), or copies of rows; may be "
        "given more than once.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
ScalePoints = Annotated[
    str | None,
    typer.Option(
        metavar="LOW:HIGH|A,B,…",
        help="The points of the scale: 1:5, or 0,1,2,4. Ratings off it are refused.",
        show_default=False,
    ),
]
JudgeColumns = Annotated[
    str | None,
    typer.Option(
        metavar="COL,…",
        help="Columns of the ratings table that hold a judge's scores each.",
        show_default=False,
    ),
]
JudgeScale = Annotated[
    str,
    typer.Option(
        metavar="auto|same|other|as-is",
        help="Whether judges answer on people's scale. auto looks at their scores; as-is refuses none that "
        "are off it.",
    ),
]
