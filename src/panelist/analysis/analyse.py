"""From ratings to an analysis: clean, then describe, measure, compare and check each criterion."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.agreement.measure import measure_agreement
from panelist.agreement.reliability import CriterionReliability
from panelist.analysis.analysis_result import Analysis, CriterionAnalysis, Data
from panelist.analysis.checks.model_checks import check_model
from panelist.analysis.choices.choice_criteria import (
    agree_on_choices,
    analyse_choices,
    are_choices,
    order_systems,
)
from panelist.analysis.choices.trials import holds_choices
from panelist.analysis.cleaning.attach_style import attach_style
from panelist.analysis.cleaning.clean import Cleaned, clean_ratings
from panelist.analysis.cleaning.counted_answers import name_answers, number_answers
from panelist.analysis.cleaning.everything import Everything, read_everything
from panelist.analysis.compare import compare_table
from panelist.analysis.departures import find_departures
from panelist.analysis.describe import describe_ratings
from panelist.analysis.fitting.together import LARGE, do_each
from panelist.analysis.fitting.workload import compile_for, lighten_formula
from panelist.analysis.level_effects import LevelEffects, estimate_levels
from panelist.analysis.looks import find_look, look_at, mark_look
from panelist.analysis.missing import Missing, attempt
from panelist.analysis.output_examples import choose_examples
from panelist.analysis.output_form import describe_form
from panelist.analysis.sensitivity.lacking import examine_lacking
from panelist.analysis.sensitivity.side_by_side import compare_kinds
from panelist.analysis.sensitivity.with_without import set_side_by_side
from panelist.analysis.spec import AnalysisSpec
from panelist.analysis.systems.across import adjust_criteria
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.analysis.systems.effects import measure_effects
from panelist.analysis.systems.marginal import find_term, make_grid
from panelist.analysis.systems.ranks import Better
from panelist.analysis.systems.strata import name_strata
from panelist.collection.study_files import StudyFiles
from panelist.core.errors import BadRatings
from panelist.core.margin import Margin
from panelist.core.progress import OnProgress, Progress, ignore
from panelist.core.tables.ratings import Ratings
from panelist.core.tables.review import check_drops
from panelist.core.tables.roles import ask_for
from panelist.scales.base import MODEL_OF_LEVEL
from panelist.study.reading.load import load_study
from panelist.study.study import Study

if TYPE_CHECKING:
    from panelist.study.sections.criteria import Criterion

MOST_RESAMPLED = 100_000  # ratings of a criterion from which coefficients go without a bootstrap
MOST_SEARCHED = 40  # systems: each pair of them is searched, and there would be too many
MOST_REASONS = 3  # of criteria that cannot be analysed
WHOLE = "rating"  # the criterion of a table that names none


def analyse(
    study: Study | str | PathLike[str] | None,
    ratings: Any = None,
    *,
    columns: Mapping[str, str | None] | None = None,
    drop: str | Iterable[str] = (),
    by: str | None = None,
    source: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
    on_progress: OnProgress | None = None,
    margin: Margin | float | str | None = None,
    better: Better | None = None,
    across_criteria: str | None = None,
) -> Analysis:
    """Return the whole analysis of ratings, as the study plans it; without a study, by the defaults.

    ``ratings`` is a path, a frame or a Ratings; without it, those in the folder of the study are taken.
    ``columns`` and ``drop`` are as in ``load_ratings``; ``by`` names a column of a table without a study
    whose values are analysed one by one; ``source`` says where a frame comes from. A part that the ratings do
    not allow is a Missing with its reason; where nothing can be compared or measured, the reason is raised.
    ``resamples`` and ``seed`` are those of the bootstrap of reliability coefficients. ``margin``, ``better``
    and ``across_criteria`` are those of compare_systems, where the study does not state them.
    """
    known = None if study is None else load_study(study)  # type: ignore[arg-type]
    if ratings is None and known is not None:
        found = StudyFiles(known).ask_ratings()
        ratings, source = found.table, source or found.name
    everything = read_everything(ratings, columns, drop=drop)
    if source is not None:
        everything = replace(everything, ratings=replace(everything.ratings, source=source))
    if by is not None:
        if known is not None:
            raise BadRatings(f"A study is analysed as planned, not by {by!r}. Name the table of its ratings.")
        everything = replace(everything, ratings=name_strata(everything.ratings, by))
    cleaned = clean_ratings(attach_style(everything, known), known)
    declared = AnalysisSpec.from_study(known)
    spec = replace(
        declared.override(margin=margin, better=better, across_criteria=across_criteria),
        resamples=resamples,
        seed=seed,
        columns=dict(columns or {}),
        drop=tuple(sorted(check_drops(drop))),
        by=by,
    )
    look = find_look(known, cleaned.exclusions.n_raters) if known else None
    spec = look_at(spec, look)
    if spec.formula is None and "rating" in cleaned.kept.frame and not holds_choices(cleaned.kept.frame):
        ask_for(cleaned.kept, "rater", "item")
    names = name_criteria(cleaned.kept, known)

    def analyse_one(name: str) -> CriterionAnalysis:
        place, tell = names.index(name), on_progress or ignore
        return _analyse_criterion(
            name, cleaned, known, spec, lambda what: tell(Progress(place, len(names), what))
        )

    done = do_each(analyse_one, names, len(cleaned.kept))
    _refuse_empty(done, everything.ratings.source)
    done = [replace(one, comparison=mark_look(one.comparison, spec)) for one in done]
    done, said = adjust_criteria(done, spec.across_criteria)
    rows = {name: rows_of(cleaned.kept, name) for name in names}
    made = {one.criterion: one.comparison for one in done}
    lacking = examine_lacking(known, rows, made, lambda table, name: compare_again(table, name, known, spec))
    rated = _list_rated(cleaned.kept, known)
    return Analysis(
        name=known.title if known else everything.ratings.source,
        data=_summarise(everything, cleaned, names, known, said),
        spec=spec,
        exclusions=cleaned.exclusions,
        criteria=tuple(done),
        study=known,
        lacking=lacking,
        departures=find_departures(known, everything, cleaned.exclusions, done, look) if known else None,
        form=describe_form(known.outputs, cleaned.kept.frame, rated) if known and rated else None,
        examples=choose_examples(known.outputs, cleaned.kept.frame, rated) if known else (),
    )


def _list_rated(kept: Ratings, study: Study | None) -> tuple[str, ...]:
    """Return the systems whose outputs are known, in their order."""
    if study is None or study.file.hit is not None:
        return ()
    return tuple(name for name in order_systems(kept, study) if name in study.outputs.systems)


def _refuse_empty(criteria: list[CriterionAnalysis], source: str) -> None:
    """Raise BadRatings where no criterion can be compared or measured: a page of reasons is not a report."""
    if any(not isinstance(one.comparison, Missing) or _is_measured(one.reliability) for one in criteria):
        return
    reasons = dict.fromkeys(one.comparison.reason for one in criteria if isinstance(one.comparison, Missing))
    raise BadRatings(f"{source} cannot be analysed. {' '.join(list(reasons)[:MOST_REASONS])}")


def _is_measured(part: CriterionReliability | Missing) -> bool:
    """Return whether a coefficient of reliability says anything: ratings that do not vary say nothing."""
    if isinstance(part, Missing) or (part.table is not None and np.ptp(part.table.value) == 0):
        return False
    return any(np.isfinite(one.estimate) for one in part.coefficients)


def name_criteria(ratings: Ratings, study: Study | None) -> tuple[str, ...]:
    """Return the criteria: those of the study in its order, then others that the table has."""
    found = ratings.criteria
    if not found:
        if study is not None and len(study.criteria) == 1:
            return (study.criteria[0].name,)
        return (WHOLE,)
    planned = [one.name for one in study.criteria] if study else []
    return (*planned, *(name for name in found if name not in planned))


def _summarise(
    everything: Everything, cleaned: Cleaned, criteria: tuple[str, ...], study: Study | None, said: list[str]
) -> Data:
    frame = cleaned.kept.frame
    noun = name_answers(frame, study)
    rated = frame["rating"].notna().to_numpy() if "rating" in frame else np.zeros(len(frame), dtype=bool)
    answered = frame[rated] if noun == "rating" and rated.any() else frame
    return Data(
        source=everything.ratings.source,
        hash=everything.hash,
        hash_of=everything.hash_of,
        n_rows=len(everything.ratings),
        n_counted=len(frame),
        n=len(np.unique(number_answers(answered, study))),
        n_raters=int(frame["rater"].nunique()) if "rater" in frame else 0,
        n_items=int(frame["item"].nunique()) if "item" in frame else 0,
        systems=order_systems(cleaned.kept, study),
        criteria=criteria,
        notes=(*everything.ratings.notes, *said),
        noun="comparison" if noun == "comparison" else "answer",
        n_simulated=cleaned.kept.n_simulated,
        from_file=everything.from_file,
    )


def _analyse_criterion(
    name: str, cleaned: Cleaned, study: Study | None, spec: AnalysisSpec, step: Callable[[str], None]
) -> CriterionAnalysis:
    step(name)
    planned = next((one for one in study.criteria if one.name == name), None) if study else None
    rows, trials = (rows_of(table, name) for table in (cleaned.kept, cleaned.trials))
    if rows.frame.empty:
        return _nothing(name, Missing(f"There are no answers on {name!r} in {rows.source}."))
    if are_choices(rows.frame, planned):
        return _compare_choices(name, rows, trials, spec)
    if "rating" not in rows.frame:
        return _nothing(name, attempt(lambda: _refuse(rows)))
    return _analyse_ratings(name, rows, trials, planned, order_systems(rows, study), spec, step)


def _refuse(rows: Ratings) -> Missing:
    rows.require("rating")
    return Missing("There are no ratings.")


def _nothing(name: str, reason: Missing) -> CriterionAnalysis:
    return CriterionAnalysis(
        criterion=name,
        comparative=False,
        description=reason,
        reliability=reason,
        comparison=reason,
        effects=reason,
        without_exclusions=reason,
        kinds=reason,
        raters=reason,
        items=reason,
        checks=reason,
    )


def _compare_choices(name: str, rows: Ratings, trials: Ratings, spec: AnalysisSpec) -> CriterionAnalysis:
    """Return the analysis of choices, whose own result holds scores, wins, strengths and pairs."""
    compared = attempt(lambda: analyse_choices(rows, name, spec))
    without: Any = Missing("No answer was excluded.")
    if len(trials) > len(rows) and not isinstance(compared, Missing):
        every = attempt(lambda: analyse_choices(trials, name, spec))
        without = every if isinstance(every, Missing) else set_side_by_side(compared, every)
    reason = Missing("The answers are choices between outputs, not ratings: this part is for ratings.")
    return replace(
        _nothing(name, reason),
        comparative=True,
        reliability=attempt(lambda: agree_on_choices(rows, name, **_bootstrap(rows, spec))),
        comparison=compared,
        without_exclusions=without,
    )


def _bootstrap(rows: Ratings, spec: AnalysisSpec) -> dict[str, Any]:
    """Return how the intervals of the coefficients are made."""
    return {
        "interval": "none" if len(rows) > MOST_RESAMPLED else "auto",
        "resamples": spec.resamples,
        "seed": spec.seed,
        "confidence": spec.confidence,
    }


def _analyse_ratings(
    name: str,
    rows: Ratings,
    trials: Ratings,
    planned: "Criterion | None",
    systems: tuple[str, ...],
    spec: AnalysisSpec,
    step: Callable[[str], None],
) -> CriterionAnalysis:
    tell = step if len(rows) >= LARGE else lambda _: None
    scale = planned.scale if planned else None
    spec, note = lighten(rows, spec)
    compile_for(rows.frame)
    compared = attempt(lambda: compare_as_planned(rows, name, planned, spec, note))
    if isinstance(compared, Missing):
        reason = Missing(
            f"There is no model of {name!r}; the reason is given where the systems are compared."
        )
        effects: Any = reason
        kinds: Any = reason
        checks: Any = reason
        without: Any = reason
        raters: Any = reason
        items: Any = reason
    else:
        tell(f"{name}: effect sizes, the other kind of model, checks")
        effects = attempt(lambda: measure_effects(compared))
        kinds = attempt(lambda: compare_kinds(rows, compared, spec.formula))
        beside = kinds if isinstance(kinds, Missing) else kinds.other
        checks = attempt(lambda: check_model(compared, beside, rows))
        without = _compare_without(rows, trials, name, planned, compared, spec)
        raters, items = (
            attempt(lambda group=group: _estimate_levels(compared, group))  # type: ignore[misc]
            for group in ("rater", "item")
        )
    tell(f"{name}: agreement of the raters")
    return CriterionAnalysis(
        criterion=name,
        comparative=False,
        description=attempt(lambda: describe_ratings(rows.frame, name, systems, scale)),
        reliability=attempt(lambda: _measure(rows, name, planned, spec)),
        comparison=compared,
        effects=effects,
        without_exclusions=without,
        kinds=kinds,
        raters=raters,
        items=items,
        checks=checks,
    )


def lighten(rows: Ratings, spec: AnalysisSpec) -> tuple[AnalysisSpec, str]:
    """Return the spec with a formula where the largest model would be too slow, and what to say about it."""
    if spec.formula is not None:
        return spec, ""
    formula, note = lighten_formula(rows.frame)
    return replace(spec, formula=formula), note


def compare_as_planned(
    rows: Ratings, name: str, planned: "Criterion | None", spec: AnalysisSpec, note: str = ""
) -> CriterionComparison:
    """Return the comparison by the declared model, else by the one that suits the scale and the data."""
    if (rows.frame["rating"].dropna().nunique()) == 1:
        value = rows.frame["rating"].dropna().iloc[0]
        n = int(rows.frame["rating"].notna().sum())
        same = f"all {n:,} are {value}" if n > 1 else f"there is one, {value}"
        raise BadRatings(f"The ratings of {name!r} do not vary ({same}), so nothing can be compared.")
    model = spec.model
    found: CriterionComparison | Missing = Missing("not tried")
    if model == "auto" and planned is not None and planned.scale.measurement in ("interval", "ratio"):
        found = attempt(lambda: _fit(rows, MODEL_OF_LEVEL[planned.scale.measurement], planned, spec))
        model = "lm"
    if isinstance(found, Missing):
        found = _fit(rows, model, planned, spec)
    return replace(found, notes=(note, *found.notes)) if note else found


def compare_again(rows: Ratings, name: str, study: Study | None, spec: AnalysisSpec) -> CriterionComparison:
    """Return the systems compared on other rows of a criterion, as the study declares."""
    planned = next((one for one in study.criteria if one.name == name), None) if study else None
    if are_choices(rows.frame, planned):
        return analyse_choices(rows, name, spec)
    spec, note = lighten(rows, spec)
    return replace(compare_as_planned(rows, name, planned, spec, note), criterion=name)


def _fit(rows: Ratings, model: str, planned: "Criterion | None", spec: AnalysisSpec) -> CriterionComparison:
    better = spec.better or (planned.better if planned else "higher")
    return compare_table(rows, replace(spec, model=model, better=better, style=())).criteria[0]


def _compare_without(
    rows: Ratings,
    trials: Ratings,
    name: str,
    planned: "Criterion | None",
    compared: CriterionComparison,
    spec: AnalysisSpec,
) -> Any:
    if len(trials) == len(rows):
        return Missing("No rating was excluded, so there is nothing to compare the results with.")
    everything = attempt(lambda: compare_as_planned(trials, name, planned, spec))
    return everything if isinstance(everything, Missing) else set_side_by_side(compared, everything)


def _estimate_levels(compared: CriterionComparison, group: str) -> LevelEffects:
    term = find_term(compared)
    grid = make_grid(compared.fit, term)
    return estimate_levels(compared.fit, grid, compared.criterion, group, term, compared.confidence)


def _measure(
    rows: Ratings, name: str, planned: "Criterion | None", spec: AnalysisSpec
) -> CriterionReliability:
    measurement = planned.scale.measurement if planned and planned.scale.measurement != "text" else None
    many = len(rows) > MOST_RESAMPLED
    notes = []
    if many:
        notes.append(f"More than {MOST_RESAMPLED:,} ratings: the coefficients have no bootstrap intervals.")
    if len(rows.systems) > MOST_SEARCHED and "item" in rows.frame:
        notes.append(f"More than {MOST_SEARCHED} systems: they were not searched for copied assignments.")
        whole = rows.frame["item"] + " by " + rows.frame["system"]
        rows = replace(rows, frame=rows.frame.drop(columns="system").assign(item=whole))
    found = measure_agreement(rows, measurement=measurement, **_bootstrap(rows, spec)).criteria[0]
    return replace(found, criterion=name, notes=(*found.notes, *notes))


def rows_of(table: Ratings, criterion: str) -> Ratings:
    """Return the rows of one criterion; all where the table names none."""
    if not table.criteria:
        return table
    kept = (table.frame["criterion"] == criterion).to_numpy(dtype=bool, na_value=False)
    return replace(table, frame=table.frame[kept].reset_index(drop=True), notes=())
