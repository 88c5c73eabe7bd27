"""``panelist compare``: the systems, criterion by criterion."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from panelist.cli import options as given
from panelist.cli.inputs import StudyRatings, find_ends, open_planned, refuse_options, split_names
from panelist.cli.terminal import open_ratings, show_planned, tell
from panelist.core.prose import list_words

if TYPE_CHECKING:
    from panelist.analysis.planned import Planned
    from panelist.analysis.systems.comparison import Comparison

AnyModel = Annotated[
    str,
    given.option(
        "auto|clmm|clm|lmm|lm|mixed|bradley-terry|plackett-luce",
        "Ordinal (clm) or linear (lm), with a last m for random effects; the last three are for choices. "
        "auto looks at the table.",
    ),
]
Allow = Annotated[
    str,
    given.option(
        "scale,nominal",
        "Let systems differ in spread (scale) or in thresholds (nominal) where tests ask for it; ordinal "
        "models.",
    ),
]
Cluster = Annotated[
    str,
    given.option("rater|item|both|none", "Which choices are correlated; for ratings the formula says it."),
]
Style = Annotated[
    list[str] | None,
    given.option(
        "COLUMN",
        "In choices, also show the systems at equal values of this column of the outputs, such as words; may "
        "be given more than once.",
    ),
]
Criteria = Annotated[
    list[str] | None,
    given.option("NAME", "Compare on this criterion; may be given more than once. Default: all."),
]
Adjust = Annotated[
    str,
    given.option(
        "tukey|mvt|dunnett|holm|bonferroni|bh|none",
        "How p-values allow for the number of pairs. tukey becomes mvt, the "
        "multivariate t, where standard errors differ, and dunnett with --reference.",
    ),
]
WholeFormula = Annotated[
    str | None,
    given.option(
        "FORMULA", "Fit exactly this model. Default: the largest that the design supports.", "--formula", "-f"
    ),
]

JudgeFiles = Annotated[
    list[Path] | None,
    given.option(
        "JUDGES",
        "Correct by these judges' scores of all outputs, people having rated some; may be given more than "
        "once.",
    ),
]
JudgeMethod = Annotated[
    str,
    given.option(
        "auto|regression|weights",
        "How judges correct; auto: regression, with strata × system where items had unequal probabilities.",
    ),
]
JudgeVariants = Annotated[
    str | None,
    given.option(
        "by-system|random-slopes|these-items|ordinal",
        "With a judge: variants of the model, with commas between them (docs/judges.md).",
    ),
]
SampleFile = Annotated[
    Path | None,
    given.option(
        "FILE",
        "With a judge: the items that could be drawn, with probability and stratum; a study has its own.",
    ),
]
Reference = Annotated[str | None, given.option("SYSTEM", "Show only the pairs with this system.")]
FigureFile = Annotated[Path | None, given.option("FILE", "Draw the estimates into FILE.svg, .pdf or .png.")]


DECIDED = list_words(
    "adjust confidence formula model link family cluster style reference test prior allow by where drop"
)
"""Options that a study decides."""


def compare(
    context: typer.Context,
    source: given.RatingsOrStudy,
    ratings: StudyRatings = None,
    criterion: Criteria = None,
    adjust: Adjust = "tukey",
    confidence: given.Confidence = 0.95,
    formula: WholeFormula = None,
    model: AnyModel = "auto",
    link: given.Link = "probit",
    family: given.Family = "cumulative",
    cluster: Cluster = "both",
    style: Style = None,
    reference: Reference = None,
    test: given.Test = "t",
    prior: given.Prior = None,
    margin: given.Margin = None,
    allow: Allow = "",
    better: given.Better = None,
    across_criteria: given.AcrossCriteria = None,
    figure: FigureFile = None,
    by: given.By = None,
    judge: JudgeFiles = None,
    judge_columns: given.JudgeColumns = None,
    judge_scale: given.JudgeScale = "auto",
    scale: given.ScalePoints = None,
    judge_method: JudgeMethod = "auto",
    judge_variants: JudgeVariants = None,
    sample: SampleFile = None,
    where: given.Where = None,
    columns: given.Columns = None,
    drop: given.Drop = None,
    json: given.Json = False,
) -> None:
    """Compare systems: estimates, ranks, all pairs (adjusted)."""
    _check(figure)
    judging: dict[str, Any] = {
        "judge": judge or None,
        "judge_columns": split_names(judge_columns),
        "sample": sample,
        "judge_scale": judge_scale,
        "judge_method": judge_method,
        "points": find_ends(scale),
        "judge_variants": split_names(judge_variants),
    }
    planned = open_planned(
        source, ratings, columns, margin=margin, better=better, across_criteria=across_criteria
    )
    if planned is not None:
        refuse_options(context, DECIDED)
        found = _compare_planned(planned, criterion, judging)
    else:
        from panelist.judges.compare import compare_systems

        found = compare_systems(
            open_ratings(source, columns, where, drop),
            **judging,
            model=model,
            link=link,
            family=family,
            formula=formula,
            adjust=adjust,
            confidence=confidence,
            criteria=criterion,
            reference=reference,
            cluster=cluster,
            style=tuple(style or ()),
            test=test,
            prior=prior,
            margin=margin,
            allow=allow,
            better=better or "higher",
            across_criteria=across_criteria or "none",
            by=by,
            on_progress=lambda now: tell(f"Comparing on {now.what}"),
        )
    _draw(found, figure)
    show_planned(planned, {"comparison": found}, json)


def _check(figure: Path | None) -> None:
    """Refuse a figure that could not be written, before the work starts."""
    if figure is not None:
        from panelist.reports.figures.style import check_figure_path

        check_figure_path(figure)


def _draw(found: "Comparison", figure: Path | None) -> None:
    """Draw the estimates, if asked for."""
    if figure is not None:
        from panelist.reports.figures.style import draw_systems

        draw_systems(found, figure)
        tell(f"Figure written to {figure}.")


def _compare_planned(
    planned: "Planned", criterion: list[str] | None, judging: "dict[str, Any]"
) -> "Comparison":
    """Return the comparison that a study declares; corrected, where a judge is named."""
    from panelist.judges.compare import compare_beside, wants_judges
    from panelist.judges.correction import read_correction

    if wants_judges(*judging.values()):
        from panelist.judges.sample import find_sample
        from panelist.judges.scale import find_ends_of

        if judging["sample"] is None:
            judging = judging | {"sample": find_sample(planned.study)}
        judging = judging | {"points": judging["points"] or find_ends_of(planned.study)}
        correction = read_correction(planned.ratings, *judging.values())
        return compare_beside(planned.ratings, correction, planned.spec, planned.choose(criterion))
    from panelist.analysis.planned import compare_planned

    return compare_planned(planned, criterion)
