"""``panelist compare``: the systems, criterion by criterion."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from panelist.cli.inputs import StudyRatings, find_ends, open_planned, refuse_options, split_names
from panelist.cli.options import (
    AcrossCriteria,
    Better,
    By,
    Columns,
    Confidence,
    Df,
    Drop,
    Json,
    JudgeColumns,
    JudgeScale,
    Link,
    Margin,
    RatingsOrStudy,
    ScalePoints,
    Where,
)
from panelist.cli.terminal import open_ratings, show_planned, tell

if TYPE_CHECKING:
    from panelist.analysis.planned import Planned
    from panelist.analysis.systems.comparison import Comparison

AnyModel = Annotated[
    str,
    typer.Option(
        metavar="auto|clmm|clm|lmm|lm|bradley-terry|plackett-luce",
        help="Ordinal (clm) or linear (lm), with a last m for random effects; the last two are for choices. "
        "auto looks at the table.",
    ),
]
Cluster = Annotated[
    str,
    typer.Option(
        metavar="rater|item|both|none", help="Which choices are correlated; for ratings the formula says it."
    ),
]
Criteria = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Compare on this criterion; may be given more than once. Without it, on all.",
        show_default=False,
    ),
]
Adjust = Annotated[
    str,
    typer.Option(
        metavar="tukey|mvt|dunnett|holm|bonferroni|bh|none",
        help="How p-values allow for the number of pairs. tukey becomes mvt, the "
        "multivariate t, where standard errors differ, and dunnett with --reference.",
    ),
]
WholeFormula = Annotated[
    str | None,
    typer.Option(
        "--formula",
        "-f",
        metavar="FORMULA",
        help="Fit exactly this model; without it, the largest that the design supports.",
        show_default=False,
    ),
]

JudgeFiles = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="JUDGES",
        help="Correct by these judges' scores of all outputs, people having rated some; may be given "
        "more than once.",
        show_default=False,
    ),
]
JudgeMethod = Annotated[
    str,
    typer.Option(
        metavar="auto|regression|weights",
        help="How judges correct; auto: weights where items had unequal probabilities without strata.",
    ),
]
SampleFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="With a judge: the items that could be drawn, with probability and stratum.",
        show_default=False,
    ),
]

Reference = Annotated[
    str | None,
    typer.Option(metavar="SYSTEM", help="Show only the pairs with this system.", show_default=False),
]
FigureFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Draw the estimates into FILE.svg, .pdf or .png.", show_default=False),
]


DECIDED = (
    "adjust",
    "confidence",
    "formula",
    "model",
    "link",
    "cluster",
    "reference",
    "df",
    "by",
    "where",
    "drop",
)
"""Options that a study decides."""


def compare(
    context: typer.Context,
    source: RatingsOrStudy,
    ratings: StudyRatings = None,
    criterion: Criteria = None,
    adjust: Adjust = "tukey",
    confidence: Confidence = 0.95,
    formula: WholeFormula = None,
    model: AnyModel = "auto",
    link: Link = "probit",
    cluster: Cluster = "both",
    reference: Reference = None,
    df: Df = "t",
    margin: Margin = None,
    better: Better = None,
    across_criteria: AcrossCriteria = None,
    figure: FigureFile = None,
    by: By = None,
    judge: JudgeFiles = None,
    judge_columns: JudgeColumns = None,
    judge_scale: JudgeScale = "auto",
    scale: ScalePoints = None,
    judge_method: JudgeMethod = "auto",
    sample: SampleFile = None,
    where: Where = None,
    columns: Columns = None,
    drop: Drop = None,
    json: Json = False,
) -> None:
    """Compare systems: estimates, ranks, all pairs (adjusted)."""
    if figure is not None:
        from panelist.reports.figures.style import check_figure_path

        check_figure_path(figure)  # before the work starts
    judging: dict[str, Any] = {
        "judge": judge or None,
        "judge_columns": split_names(judge_columns),
        "sample": sample,
        "judge_scale": judge_scale,
        "judge_method": judge_method,
        "points": find_ends(scale),
    }
    planned = open_planned(
        source, ratings, columns, margin=margin, better=better, across_criteria=across_criteria
    )
    if planned is not None:
        refuse_options(context, DECIDED)
        found = _compare_planned(planned, criterion, judging)
    else:
        table = open_ratings(source, columns, where, drop)
        from panelist.judges.compare import compare_systems

        found = compare_systems(
            table,
            **judging,
            model=model,
            link=link,
            formula=formula,
            adjust=adjust,
            confidence=confidence,
            criteria=criterion,
            reference=reference,
            cluster=cluster,
            df=df,
            margin=margin,
            better=better or "higher",
            across_criteria=across_criteria or "none",
            by=by,
            on_progress=lambda now: tell(f"Comparing on {now.what}"),
        )
    if figure is not None:
        from panelist.reports.figures.style import draw_systems

        draw_systems(found, figure)
        tell(f"Figure written to {figure}.")
    show_planned(planned, {"comparison": found}, json)


def _compare_planned(
    planned: "Planned", criterion: list[str] | None, judging: "dict[str, Any]"
) -> "Comparison":
    """Return the comparison that a study declares; corrected, where a judge is named."""
    from panelist.judges.compare import compare_beside, read_correction, wants_judges

    if wants_judges(*judging.values()):
        correction = read_correction(planned.ratings, *judging.values())
        return compare_beside(planned.ratings, correction, planned.spec, planned.choose(criterion))
    from panelist.analysis.planned import compare_planned

    return compare_planned(planned, criterion)
