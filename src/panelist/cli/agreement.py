"""``panelist agreement``: how reliable the ratings are, agreement and correlation together."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from panelist.cli.inputs import StudyRatings, open_planned, parse_scale, refuse_options
from panelist.cli.options import Columns, Confidence, Drop, Json, RatingsOrStudy, ScalePoints, Where, option
from panelist.cli.terminal import open_ratings, show_planned, show_progress, tell

if TYPE_CHECKING:
    from panelist.agreement.reliability import Reliability
    from panelist.analysis.planned import Planned
    from panelist.core.display.result import Result
    from panelist.core.tables.ratings import Ratings


Measurement = Annotated[
    str | None,
    option(
        "nominal|ordinal|interval|ratio",
        "The level of measurement, also by criterion (fluency=ordinal,topic=nominal); "
        "default: what the values suggest.",
    ),
]
Coefficients = Annotated[
    str | None,
    option("NAME,…|all", "These coefficients, or all. Default: those that suit the level (in JSON, all)."),
]
Interval = Annotated[
    str,
    option(
        "auto|items|raters|both|analytic|none",
        "What the intervals generalise to: other items, other raters, or both; auto: both from five raters "
        "on, else items. analytic uses formulas where there are some.",
    ),
]
Criterion = Annotated[
    list[str] | None, option("NAME", "Only this criterion; may be given more than once. Default: all.")
]
Unit = Annotated[
    str | None,
    option(
        "COL,…", "The columns that name what is judged. Default: text if there is one, or item and system."
    ),
]
Repeats = Annotated[str, option("first|last|separate", "Which rating counts if a rater rated twice.")]
Figures = Annotated[Path | None, option("DIR", "Draw ratings, categories, pairs, … as SVG.")]


DECIDED = ("measurement", "confidence", "scale", "unit", "repeats", "where", "drop")
"""Options that a study decides."""


def agreement(
    context: typer.Context,
    source: RatingsOrStudy,
    ratings: StudyRatings = None,
    measurement: Measurement = None,
    coefficients: Coefficients = None,
    interval: Interval = "auto",
    resamples: Annotated[int, option("N", "The number of bootstrap samples.")] = 1000,
    seed: Annotated[int, option("N", "The seed of the bootstrap.")] = 0,
    confidence: Confidence = 0.95,
    criterion: Criterion = None,
    scale: ScalePoints = None,
    unit: Unit = None,
    repeats: Repeats = "first",
    raters: Annotated[
        bool, typer.Option("--raters", help="Compare each rater with the others, and groups of raters.")
    ] = False,
    generalizability: Annotated[
        bool, typer.Option("--generalizability", help="Add variance components, G, phi and a decision study.")
    ] = False,
    votes: Annotated[
        bool, typer.Option("--votes", help="Add the majority label of each item, ties and entropy.")
    ] = False,
    checklist: Annotated[
        bool, typer.Option("--checklist", help="Add what a report on reliability should state.")
    ] = False,
    figures: Figures = None,
    where: Where = None,
    columns: Columns = None,
    drop: Drop = None,
    json: Json = False,
) -> None:
    """Measure reliability: agreement and correlation, in words."""
    if figures is not None:
        from panelist.core.files import check_folder

        check_folder(figures, "figures")  # before the work starts
    planned = open_planned(source, ratings, columns)
    if planned is not None:
        refuse_options(context, DECIDED)
        planned.choose(criterion)
    table = open_ratings(source, columns, where, drop) if planned is None else planned.ratings
    if criterion:
        table = table.where(criterion=criterion)
    options: dict[str, Any] = {
        "measurement": parse_measurement(measurement),
        "coefficients": parse_names(coefficients or ("all" if json else None)),
        "interval": interval,
        "resamples": resamples,
        "seed": seed,
        "confidence": confidence,
        "unit": None if unit is None else [part.strip() for part in unit.split(",") if part.strip()],
        "repeats": repeats,
        "scale": parse_scale(scale),
    }
    if planned is not None:
        options |= _take_declared(planned, table, interval)
    from panelist.analysis.choices.choice_agreement import measure_any_agreement

    with show_progress("Resampling") as progress:
        found = measure_any_agreement(table, **options, on_progress=progress)
    _refuse_undefined(found)
    results: dict[str, Result] = {"reliability": found}
    if checklist and not json:  # the JSON of every criterion has it anyway
        results["checklist"] = _wrap("Checklist", [one.checklist for one in found.criteria])
    if votes:
        results["votes"] = _vote(found)
    if raters:
        results |= _study_raters(found, table, options)
    results |= _study_stability(table, found, options)
    wanted = generalizability or figures is not None
    studies = _generalize(found, table, options["confidence"]) if wanted else []
    if generalizability:
        results["generalizability"] = _wrap("Generalizability", studies)
    if figures is not None:
        _draw(found, studies, figures)
    show_planned(planned, results, json)


def _take_declared(planned: "Planned", table: "Ratings", interval: str) -> dict[str, Any]:
    """Return the options that the study decides: levels of measurement, confidence, kind of intervals."""
    levels = {name: level for name, level in planned.measurement.items() if name in table.criteria}
    return {
        "measurement": levels or None,
        "confidence": planned.spec.confidence,
        "interval": planned.interval if interval == "auto" else interval,
    }


def _refuse_undefined(found: "Reliability") -> None:
    """Raise BadRatings where no coefficient of any criterion is defined: there is nothing to print."""
    from math import isfinite

    from panelist.core.errors import BadRatings

    every = [one for criterion in found.criteria for one in criterion.coefficients]
    if every and not any(isfinite(one.estimate) for one in every):
        alone = all(one.table is None or int(one.table.ratings_per_unit.max()) < 2 for one in found.criteria)
        suited = next((one.note for one in every if one.suits and one.note), "no coefficient is defined")
        reason = "no output has two ratings by different raters" if alone else suited
        raise BadRatings(f"{found.source}: agreement cannot be measured, {reason}.")


def parse_measurement(text: str | None) -> str | dict[str, str] | None:
    """Return one level, or a level by criterion, as given to ``--measurement``.

    >>> parse_measurement("ordinal"), parse_measurement("fluency=ordinal,topic=nominal")
    ('ordinal', {'fluency': 'ordinal', 'topic': 'nominal'})
    """
    if text is None or "=" not in text:
        return text
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    return {name.strip(): value.strip() for name, _, value in pairs}


def parse_names(text: str | None) -> str | list[str] | None:
    """Return the names in a comma-separated list; ``all`` stays itself.

    >>> parse_names("pearson, icc_a1"), parse_names("all")
    (['pearson', 'icc_a1'], 'all')
    """
    if text is None or text.strip() == "all":
        return None if text is None else "all"
    return [part.strip() for part in text.split(",") if part.strip()]


def _wrap(heading: str, found: "list[Any]") -> "Result":
    from panelist.agreement.studies.groups import PerCriterion

    return PerCriterion(heading, found)


def _vote(found: "Reliability") -> "Result":
    from panelist.agreement.studies.votes import vote

    return _wrap("Votes", [vote(one.table, one.criterion) for one in found.criteria if one.table])


def _study_raters(found: "Reliability", table: "Ratings", options: dict[str, Any]) -> "dict[str, Result]":
    from panelist.agreement.studies.groups import compare_groups
    from panelist.agreement.studies.raters import study_raters
    from panelist.core.errors import BadRatings

    results: dict[str, Result] = {"raters": study_raters(_tables(found), confidence=options["confidence"])}
    if "group" in table.frame:
        try:
            results["groups"] = compare_groups(table, **options)
        except BadRatings as error:
            tell(str(error))
    return results


def _study_stability(table: "Ratings", found: "Reliability", options: dict[str, Any]) -> "dict[str, Result]":
    """Return the stability where the ratings have two occasions; nothing otherwise."""
    if "occasion" not in table.frame or len(table.levels("occasion")) < 2:
        return {}
    from panelist.agreement.studies.stability import measure_stability
    from panelist.core.errors import BadRatings

    try:
        return {
            "stability": _wrap(
                "Stability",
                [
                    stability
                    for one in found.criteria
                    for stability in measure_stability(
                        table,
                        criterion=one.criterion if one.criterion in table.criteria else None,
                        measurement=one.measurement,
                        resamples=options["resamples"] if options["interval"] != "none" else 0,
                        seed=options["seed"],
                        confidence=options["confidence"],
                    )
                ],
            )
        }
    except BadRatings as error:
        tell(str(error))
        return {}


def _generalize(found: "Reliability", table: "Ratings", confidence: float) -> "list[Any]":
    """Return the variance components of each criterion that has any; say which have none, and why."""
    from panelist.agreement.studies.generalizability import study_generalizability
    from panelist.core.errors import PanelistError

    studies = []
    for one in found.criteria:
        rows = table.only(one.criterion) if one.criterion in table.criteria else table
        try:
            studies.append(study_generalizability(rows, confidence=confidence))
        except PanelistError as error:
            tell(f"No decision study of {one.criterion}: {error}")
    return studies


def _draw(found: "Reliability", studies: "list[Any]", folder: Path) -> None:
    """Draw what these ratings can show, and say which files were written."""
    from panelist.agreement.studies.raters import study_raters
    from panelist.core.errors import BadFile
    from panelist.reports.figures import agreement_figures as draw

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(f"The folder {str(folder)!r} for figures cannot be made: {error.strerror}.") from error
    tables = _tables(found)
    numbers = [(name, one) for name, one in tables if not one.labels]
    pairs = [one for one in study_raters(tables).criteria if one.matrices]
    written = [folder / "categories.svg"]
    draw.draw_categories(tables, written[0])
    if numbers:
        written.append(folder / "ratings.svg")
        draw.draw_ratings(numbers, written[-1])
    for name in sorted({name for one in pairs for name in one.matrices}):
        written.append(folder / f"pairs_{name}.svg")
        draw.draw_pairs([one for one in pairs if name in one.matrices], name, written[-1])
    studies = [study for study in studies if "rater" in study.facets]
    if studies:
        written.append(folder / "decisions.svg")
        draw.draw_decisions(studies, written[-1])
    tell(f"Figures written to {folder}: {', '.join(path.name for path in written)}.")


def _tables(found: "Reliability") -> "list[Any]":
    return [(one.criterion, one.table) for one in found.criteria if one.table is not None]
