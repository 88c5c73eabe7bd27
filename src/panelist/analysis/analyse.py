"""The line from ratings to an analysis: clean, then each criterion described, measured, compared, checked."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.agreement.measure import measure_agreement
from panelist.agreement.reliability import CriterionReliability
from panelist.analysis.across import adjust_criteria, check_across
from panelist.analysis.analysis_result import Analysis, CriterionAnalysis, Data, Settings
from panelist.analysis.answers import name_answers, number_answers
from panelist.analysis.choices import agree_on_choices, analyse_choices, are_choices
from panelist.analysis.clean import Cleaned, clean_ratings
from panelist.analysis.comparative.trials import holds_choices
from panelist.analysis.compare import compare_systems
from panelist.analysis.comparison import CriterionComparison
from panelist.analysis.departures import find_departures
from panelist.analysis.describe import describe_ratings
from panelist.analysis.effects import measure_effects
from panelist.analysis.equivalence import check_margin
from panelist.analysis.everything import Everything, read_everything
from panelist.analysis.level_effects import LevelEffects, estimate_levels
from panelist.analysis.marginal import find_term, make_grid
from panelist.analysis.missing import Missing, attempt
from panelist.analysis.model_checks import check_model
from panelist.analysis.ranks import Better, check_better
from panelist.analysis.side_by_side import compare_kinds
from panelist.analysis.strata import name_strata
from panelist.analysis.together import LARGE, do_each
from panelist.analysis.with_without import set_side_by_side
from panelist.analysis.workload import compile_for, lighten_formula
from panelist.core.errors import BadRatings
from panelist.core.ratings import Ratings
from panelist.core.review import check_drops
from panelist.core.roles import ask_for
from panelist.scales.base import MODEL_OF_LEVEL
from panelist.study.load import load_study
from panelist.study.study import Study

if TYPE_CHECKING:
    from panelist.study.criteria import Criterion

MOST_RESAMPLED = 100_000  # ratings of a criterion from which coefficients go without a bootstrap
MOST_SEARCHED = 40  # systems: each pair of them is searched, and there would be too many
MOST_REASONS = 3  # of criteria that cannot be analysed
WHOLE = "rating"  # the criterion of a table that names none


def analyse(
    study: Study | str | PathLike[str] | None,
    ratings: Any,
    *,
    columns: Mapping[str, str | None] | None = None,
    drop: str | Iterable[str] = (),
    by: str | None = None,
    source: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
    on_step: Callable[[str], None] | None = None,
    margin: float | None = None,
    better: Better | None = None,
    across_criteria: str | None = None,
) -> Analysis:
    """Return the whole analysis of ratings, as the study plans it; without a study, by the defaults.

    ``ratings`` is a path, a frame or a Ratings; ``columns`` and ``drop`` are as in ``load_ratings``; ``by``
    names a column of a table without a study, such as a language, whose values are analysed one by one;
    ``source`` says where a frame comes from. Every part that these ratings do not allow is a Missing with the
    reason in its place; where nothing can be compared or measured, the reason is raised. ``resamples`` and
    ``seed`` belong to the bootstrap of the reliability coefficients; ``on_step`` is told what is being done.
    ``margin``, ``better`` and ``across_criteria`` are those of compare_systems, where the study does not say
    them.
    """
    known = None if study is None else load_study(study)  # type: ignore[arg-type]
    everything = read_everything(ratings, columns, drop=drop)
    if source is not None:
        everything = replace(everything, ratings=replace(everything.ratings, source=source))
    if by is not None:
        if known is not None:
            raise BadRatings(f"A study is analysed as planned, not by {by!r}. Name the table of its ratings.")
        everything = replace(everything, ratings=name_strata(everything.ratings, by))
    cleaned = clean_ratings(everything, known)
    check_margin(margin)
    check_better(better or "higher")
    check_across(across_criteria or "none")
    settings = settle(known, resamples, seed)
    settings = replace(
        settings,
        margin=settings.margin if margin is None else margin,
        better=better,
        across_criteria=across_criteria or settings.across_criteria,
        columns=dict(columns or {}),
        drop=tuple(sorted(check_drops(drop))),
        by=by,
    )
    if settings.formula is None and "rating" in cleaned.kept.frame and not holds_choices(cleaned.kept.frame):
        ask_for(cleaned.kept, "rater", "item")
    names = name_criteria(cleaned.kept, known)
    step = on_step or (lambda _: None)
    done = do_each(
        lambda name: _analyse_criterion(name, cleaned, known, settings, step), names, len(cleaned.kept)
    )
    _refuse_empty(done, everything.ratings.source)
    done, said = adjust_criteria(done, settings.across_criteria)
    return Analysis(
        name=known.title if known else everything.ratings.source,
        data=_summarise(everything, cleaned, names, known, said),
        settings=settings,
        exclusions=cleaned.exclusions,
        criteria=tuple(done),
        study=known,
        departures=find_departures(known, everything, cleaned.exclusions, done) if known else None,
    )


def _refuse_empty(criteria: list[CriterionAnalysis], source: str) -> None:
    """Raise BadRatings where no criterion can be compared or measured: a page of reasons is no report."""
    if any(not isinstance(one.comparison, Missing) or _is_measured(one.reliability) for one in criteria):
        return
    reasons = dict.fromkeys(one.comparison.reason for one in criteria if isinstance(one.comparison, Missing))
    raise BadRatings(f"{source} cannot be analysed. {' '.join(list(reasons)[:MOST_REASONS])}")


def _is_measured(part: CriterionReliability | Missing) -> bool:
    """Return whether a coefficient of reliability says anything: ratings that do not vary tell nothing."""
    if isinstance(part, Missing) or (part.table is not None and np.ptp(part.table.value) == 0):
        return False
    return any(np.isfinite(one.estimate) for one in part.coefficients)


def settle(study: Study | None, resamples: int, seed: int) -> Settings:
    """Return how a study's ratings are to be analysed; without a study, by the defaults."""
    if study is None:
        return Settings(resamples=resamples, seed=seed)
    plan = study.file.analysis
    return Settings(
        model=plan.model,
        link=plan.link,
        formula=None if plan.formula == "maximal" else plan.formula,
        adjust=plan.adjust,
        across_criteria=plan.across_criteria,
        margin=plan.margin,
        level=1 - plan.alpha,
        resamples=resamples,
        seed=seed,
    )


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
    everything: Everything,
    cleaned: Cleaned,
    criteria: tuple[str, ...],
    study: Study | None,
    said: list[str],
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
        systems=_order_systems(cleaned.kept, study),
        criteria=criteria,
        notes=(*everything.ratings.notes, *said),
        noun="comparison" if noun == "comparison" else "answer",
        n_simulated=cleaned.kept.n_simulated,
    )


def _order_systems(ratings: Ratings, study: Study | None) -> tuple[str, ...]:
    """Return the systems that were rated, in the order of the study, others after them."""
    found = ratings.systems
    planned = [name for name in study.systems if name in found] if study else []
    return (*planned, *(name for name in found if name not in planned))


def _analyse_criterion(
    name: str, cleaned: Cleaned, study: Study | None, settings: Settings, step: Callable[[str], None]
) -> CriterionAnalysis:
    step(name)
    planned = next((one for one in study.criteria if one.name == name), None) if study else None
    rows, trials = (rows_of(table, name) for table in (cleaned.kept, cleaned.trials))
    if rows.frame.empty:
        return _nothing(name, Missing(f"There are no answers on {name!r} in {rows.source}."))
    if are_choices(rows.frame, planned):
        return _compare_choices(name, rows, trials, settings)
    if "rating" not in rows.frame:
        return _nothing(name, attempt(lambda: _refuse(rows)))
    return _analyse_ratings(name, rows, trials, planned, _order_systems(rows, study), settings, step)


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


def _compare_choices(name: str, rows: Ratings, trials: Ratings, settings: Settings) -> CriterionAnalysis:
    """Return the analysis of choices, whose own result holds scores, wins, strengths and pairs."""
    compared = attempt(lambda: analyse_choices(rows, name, settings.adjust, settings.level))
    without: Any = Missing("No answer was excluded.")
    if len(trials) > len(rows) and not isinstance(compared, Missing):
        every = attempt(lambda: analyse_choices(trials, name, settings.adjust, settings.level))
        without = every if isinstance(every, Missing) else set_side_by_side(compared, every)
    reason = Missing("The answers are choices between outputs, not ratings: this part is for ratings.")
    return replace(
        _nothing(name, reason),
        comparative=True,
        reliability=attempt(lambda: agree_on_choices(rows, name, **_bootstrap(rows, settings))),
        comparison=compared,
        without_exclusions=without,
    )


def _bootstrap(rows: Ratings, settings: Settings) -> dict[str, Any]:
    """Return how the intervals of the coefficients are made."""
    return {
        "interval": "none" if len(rows) > MOST_RESAMPLED else "auto",
        "resamples": settings.resamples,
        "seed": settings.seed,
        "confidence": settings.level,
    }


def _analyse_ratings(
    name: str,
    rows: Ratings,
    trials: Ratings,
    planned: "Criterion | None",
    systems: tuple[str, ...],
    settings: Settings,
    step: Callable[[str], None],
) -> CriterionAnalysis:
    tell = step if len(rows) >= LARGE else lambda _: None
    scale = planned.scale if planned else None
    settings, note = lighten(rows, settings)
    compile_for(rows.frame)
    compared = attempt(lambda: compare_as_planned(rows, name, planned, settings, note))
    if isinstance(compared, Missing):
        reason = Missing(f"There is no model of {name!r}: why, stands where the systems are compared.")
        effects: Any = reason
        kinds: Any = reason
        checks: Any = reason
        without: Any = reason
        raters: Any = reason
        items: Any = reason
    else:
        tell(f"{name}: effect sizes, the other kind of model, checks")
        effects = attempt(lambda: measure_effects(compared))
        kinds = attempt(lambda: compare_kinds(rows, compared, settings.formula))
        beside = kinds if isinstance(kinds, Missing) else kinds.other
        checks = attempt(lambda: check_model(compared, beside))
        without = _compare_without(rows, trials, name, planned, compared, settings)
        raters, items = (
            attempt(lambda group=group: _estimate_levels(compared, group))  # type: ignore[misc]
            for group in ("rater", "item")
        )
    tell(f"{name}: agreement of the raters")
    return CriterionAnalysis(
        criterion=name,
        comparative=False,
        description=attempt(lambda: describe_ratings(rows.frame, name, systems, scale)),
        reliability=attempt(lambda: _measure(rows, name, planned, settings)),
        comparison=compared,
        effects=effects,
        without_exclusions=without,
        kinds=kinds,
        raters=raters,
        items=items,
        checks=checks,
    )


def lighten(rows: Ratings, settings: Settings) -> tuple[Settings, str]:
    """Return the settings with a formula where the largest model would be too slow, and what to say of it."""
    if settings.formula is not None:
        return settings, ""
    formula, note = lighten_formula(rows.frame)
    return replace(settings, formula=formula), note


def compare_as_planned(
    rows: Ratings, name: str, planned: "Criterion | None", settings: Settings, note: str = ""
) -> CriterionComparison:
    """Return the comparison by the declared model, else by the one that suits the scale and the data."""
    if (rows.frame["rating"].dropna().nunique()) == 1:
        value = rows.frame["rating"].dropna().iloc[0]
        n = int(rows.frame["rating"].notna().sum())
        same = f"all {n:,} are {value}" if n > 1 else f"there is one, {value}"
        raise BadRatings(f"The ratings of {name!r} do not vary ({same}), so nothing can be compared.")
    model = settings.model
    found: CriterionComparison | Missing = Missing("not tried")
    if model == "auto" and planned is not None and planned.scale.level in ("interval", "ratio"):
        found = attempt(lambda: _fit(rows, MODEL_OF_LEVEL[planned.scale.level], planned, settings))
        model = "lm"
    if isinstance(found, Missing):
        found = _fit(rows, model, planned, settings)
    return replace(found, notes=(note, *found.notes)) if note else found


def _fit(rows: Ratings, model: str, planned: "Criterion | None", settings: Settings) -> CriterionComparison:
    compared = compare_systems(
        rows,
        model=model,
        link=settings.link,
        formula=settings.formula,
        adjust=settings.adjust,
        level=settings.level,
        margin=settings.margin,
        better=settings.better or (planned.better if planned else "higher"),
    )
    return compared.criteria[0]


def _compare_without(
    rows: Ratings,
    trials: Ratings,
    name: str,
    planned: "Criterion | None",
    compared: CriterionComparison,
    settings: Settings,
) -> Any:
    if len(trials) == len(rows):
        return Missing("No rating was excluded, so there is nothing to compare the results with.")
    everything = attempt(lambda: compare_as_planned(trials, name, planned, settings))
    return everything if isinstance(everything, Missing) else set_side_by_side(compared, everything)


def _estimate_levels(compared: CriterionComparison, group: str) -> LevelEffects:
    term = find_term(compared)
    grid = make_grid(compared.fit, term)
    return estimate_levels(compared.fit, grid, compared.criterion, group, term, compared.level)


def _measure(
    rows: Ratings, name: str, planned: "Criterion | None", settings: Settings
) -> CriterionReliability:
    level = planned.scale.level if planned and planned.scale.level != "text" else None
    many = len(rows) > MOST_RESAMPLED
    notes = []
    if many:
        notes.append(f"More than {MOST_RESAMPLED:,} ratings: the coefficients go without a bootstrap.")
    if len(rows.systems) > MOST_SEARCHED and "item" in rows.frame:
        notes.append(f"More than {MOST_SEARCHED} systems: they were not searched for copied assignments.")
        whole = rows.frame["item"] + " by " + rows.frame["system"]
        rows = replace(rows, frame=rows.frame.drop(columns="system").assign(item=whole))
    found = measure_agreement(rows, level=level, **_bootstrap(rows, settings)).criteria[0]
    return replace(found, criterion=name, notes=(*found.notes, *notes))


def rows_of(table: Ratings, criterion: str) -> Ratings:
    """Return the rows of one criterion; all where the table names none."""
    if not table.criteria:
        return table
    kept = (table.frame["criterion"] == criterion).to_numpy(dtype=bool, na_value=False)
    return replace(table, frame=table.frame[kept].reset_index(drop=True), notes=())
