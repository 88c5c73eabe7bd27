"""Compare systems, with or without judges: people's ratings alone, or corrected by scores of all outputs."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from panelist.analysis.choices.compare_choices import EFFECT_UNITS, UNITS
from panelist.analysis.choices.trials import holds_choices
from panelist.analysis.compare import compare_systems as compare_people
from panelist.analysis.compare import compare_table
from panelist.analysis.fitting.together import do_each
from panelist.analysis.spec import AnalysisSpec
from panelist.analysis.systems.comparison import Comparison, CriterionComparison
from panelist.analysis.systems.equivalence import find_claims
from panelist.analysis.systems.strata import compare_strata
from panelist.core.errors import BadModel
from panelist.core.numbers import check_confidence
from panelist.core.prose import count, listing, quoted
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.judges.correct.corrected import CorrectedCriterion
from panelist.judges.correct.covariates import rank_scores
from panelist.judges.correct.estimates import tabulate
from panelist.judges.correct.latent import compare_latent
from panelist.judges.correct.regression import Corrected, correct_means
from panelist.judges.correct.strengths import correct_strengths
from panelist.judges.correct.variants import ORDINAL, check_variants
from panelist.judges.correct.weights import Weighted, weigh_means
from panelist.judges.correction import Correction, choose_way, read_correction
from panelist.judges.match import JudgedRatings, check_raters, match_criterion
from panelist.judges.match_pairs import match_pairs
from panelist.judges.scale import Points

ITEMS_A_JUDGE = 10  # labelled items for each judge; with fewer, slopes cost more than they gain
FEW_RATERS = 5
_ONLY_PEOPLE = {
    "formula": None,
    "link": "probit",
    "family": "cumulative",
    "test": "t",
    "cluster": "both",
    "prior": None,
    "allow": "",
    "style": (),
}
_MODELS = ("auto", "lmm", "bradley-terry")


def compare_systems(
    ratings: Any,
    *,
    judge: Any = None,
    judge_columns: Sequence[str] = (),
    sample: Any = None,
    judge_scale: str = "auto",
    judge_method: str = "auto",
    judge_variants: Sequence[str] = (),
    points: Points = None,
    **choices: Any,
) -> Comparison:
    """Return, for each criterion, the systems' estimates and ranks and every pair's adjusted difference.

    Without a judge the comparison rests on people's ratings alone, and ``choices`` are those of
    panelist.analysis.compare.compare_systems. With ``judge``, a judges table (path, frame, or several), or
    ``judge_columns``, columns of the ratings table that hold a judge's scores, each criterion is corrected:
    people's ratings of some items are combined with the judges' scores of all, and people alone stand beside
    it. ``sample`` is the table of drawn items (``item, probability, stratum``); without it labelled items
    count as drawn at random. ``judge_scale`` says whether judges answer on people's scale (judges/scale.py),
    and ``points`` are its ends. ``judge_method`` is "regression" (docs/judges.md), "weights" (1/π), or
    "auto": regression, with strata × system where probabilities are unequal; ``judge_variants`` are variants
    of its model (judges/correct/variants.py).
    """
    if not wants_judges(judge, judge_columns, sample, judge_scale, judge_method, points, judge_variants):
        return compare_people(ratings, **choices)
    table = read_ratings(ratings)
    correction = read_correction(
        table, judge, judge_columns, sample, judge_scale, judge_method, points, judge_variants
    )
    criteria, by = choices.pop("criteria", None), choices.pop("by", None)
    on_progress = choices.pop("on_progress", None)
    for name, usual in _ONLY_PEOPLE.items():
        if choices.pop(name, usual) != usual:
            raise BadModel(f"With a judge the model is fixed: {name} belongs to comparisons without one.")
    if choices.get("model", "auto") not in _MODELS:
        raise BadModel(
            "With a judge ratings are compared by a linear mixed model on the points of the scale, and "
            "pairs "
            f"by Bradley and Terry's; model={choices['model']!r} goes without a judge."
        )
    spec = AnalysisSpec(**choices)

    def compare(part: Ratings) -> Comparison:
        return compare_beside(part, correction, spec, criteria, on_progress)

    return compare_strata(table, by, compare) if by is not None else compare(table)


# What help() shows: the judge's parameters, then those of a comparison by people alone.
compare_systems.__signature__ = inspect.signature(compare_systems).replace(  # type: ignore[attr-defined]
    parameters=[
        *[
            one
            for one in inspect.signature(compare_systems).parameters.values()
            if one.kind != one.VAR_KEYWORD
        ],
        *[
            one
            for one in inspect.signature(compare_people).parameters.values()
            if one.kind == one.KEYWORD_ONLY
        ],
    ]
)


def wants_judges(
    judge: Any,
    columns: Sequence[str],
    sample: Any,
    scale: str,
    method: str,
    points: Points,
    variants: Sequence[str] = (),
) -> bool:
    """Return whether a judge is named; raise where something that goes with one is given without it."""
    if judge is not None or columns:
        return True
    if sample is not None or points is not None or variants or (scale, method) != ("auto", "auto"):
        raise BadModel(
            "A sample, the ends of a scale, and a judge's scale, method and variants go with a judge: name a "
            "judges table."
        )
    return False


def compare_beside(
    table: Ratings,
    correction: Correction,
    spec: AnalysisSpec,
    criteria: Sequence[str] | str | None = None,
    on_progress: Any = None,
) -> Comparison:
    """Return the comparison of a ratings table, every criterion corrected by the judges' scores."""
    notes = check_raters(table, correction.scores.judges)
    found = compare_table(
        table,
        spec,
        criteria,
        on_progress,
        lambda part, name, spec: _compare_one(part, name, spec, correction),
    )
    return replace(found, notes=(*found.notes, *notes, *correction.scores.notes))


def _compare_one(
    table: Ratings, criterion: str, spec: AnalysisSpec, correction: Correction
) -> CriterionComparison:
    check_confidence(spec.confidence)
    if holds_choices(table.frame):
        return _compare_pairs(table, criterion, spec, correction)
    beside = match_criterion(
        table, correction.scores, criterion, scale=correction.scale, points=correction.points
    )
    if len(beside.systems) < 2:
        raise BadModel(
            f"On {criterion!r} there is only one system, {beside.systems[0]!r}, and a comparison needs two."
        )
    if int(beside.labelled.sum()) < 3:
        raise BadModel(
            f"On {criterion!r} {count(int(beside.labelled.sum()), 'item was', 'items were')} rated by "
            "people: a "
            "correction needs at least 3, and is worth something from about 20."
        )
    beside, silent = _drop_silent(beside)
    check_variants(beside, correction.variants)
    ranked = tuple(name for name in beside.judges if not beside.scales[name].same)
    scores = {name: rank_scores(grid) if name in ranked else grid for name, grid in beside.scores.items()}
    method, stratum, probability, said = choose_way(beside, correction)
    main: Corrected | Weighted
    people: Corrected | Weighted
    if method == "weights":
        assert probability is not None, "weights need probabilities"
        main, people = weigh_means(beside, probability, scores), weigh_means(beside, probability, {})
    else:
        main, people = do_each(
            lambda used: correct_means(beside, used, stratum=stratum, variants=correction.variants),
            [scores, {}],
            len(beside.y),
        )
    spread = _spread_within(beside)
    made = [_draw(one, beside, criterion, spec, spread) for one in (main, people)]
    said += [*beside.tell_lacking(beside.judges), *_warn(beside, main), *silent]
    return CorrectedCriterion(
        **{**made[0], "notes": (*beside.notes, *said, *made[0]["notes"])},
        judges=beside.judges,
        n_judged=len(beside.items),
        method=method,
        people=CriterionComparison(**made[1]),
        slopes=main.slopes,
        strata=tuple(sorted(set(stratum))) if stratum else (),
        ranked=ranked,
        variants=tuple(sorted(correction.variants)),
        latent=compare_latent(beside, scores, spec) if ORDINAL in correction.variants else (),
    )


def _drop_silent(beside: JudgedRatings) -> tuple[JudgedRatings, list[str]]:
    """Return the table without judges that never answered, and say so."""
    kept = [name for name, grid in beside.scores.items() if np.isfinite(grid).any()]
    gone = [name for name in beside.judges if name not in kept]
    if not kept:
        raise BadModel(
            f"On {beside.criterion!r} {listing(gone)} gave no answer at all: nothing to correct by."
        )
    return (
        (beside.only(kept), [f"{quoted(gone)} gave no answer at all and is left out"])
        if gone
        else (beside, [])
    )


def _warn(beside: JudgedRatings, main: Corrected | Weighted) -> list[str]:
    """Return what a reader must know about raters, judges and slopes."""
    said = []
    if not beside.knows_raters:
        who = "There is one rater only" if beside.raters else "Raters are unknown"
        whose = "that rater" if beside.raters else "these raters"
        said.append(f"{who}: intervals speak of {whose}, and allow for items only.")
    elif len(beside.raters) < FEW_RATERS:
        said.append(f"How raters differ is known from {count(len(beside.raters), 'rater')} only.")
    if len(beside.judges) * ITEMS_A_JUDGE > main.n_labelled:
        said.append(
            f"{count(len(beside.judges), 'judge')} and {count(main.n_labelled, 'rated item')}: with fewer "
            "than "
            f"{ITEMS_A_JUDGE} rated items for each judge slopes cost more than they gain."
        )
    said += [
        f"{one.judge} orders outputs against people: its slope within items is {one.estimate:.2f}."
        for one in main.slopes
        if one.term == "within" and one.estimate < -2 * one.se
    ]
    return said


def _spread_within(beside: JudgedRatings) -> float:
    """Return the standard deviation of ratings within systems, the unit of effects."""
    total = np.bincount(beside.system, weights=beside.y)
    n = np.bincount(beside.system)
    left = beside.y - (total / np.maximum(n, 1))[beside.system]
    return float(np.sqrt((left**2).sum() / max(len(left) - len(beside.systems), 1))) or float("nan")


def _draw(
    found: Corrected | Weighted, beside: JudgedRatings, criterion: str, spec: AnalysisSpec, unit: float
) -> dict[str, Any]:
    """Return what a comparison of ratings holds, from means and their covariance."""
    fit = found.fit
    n = np.bincount(beside.system, minlength=len(beside.systems))
    mean = np.bincount(beside.system, weights=beside.y, minlength=len(n)) / np.maximum(n, 1)
    made = tabulate(found, spec, n, mean, lambda d: d / unit)
    if spec.margin is not None:
        pairs = made["pairs"]
        if spec.margin.unit != "points":
            raise BadModel(
                "What judges correct are means of ratings, which have no latent scale. Give the margin in "
                "points."
            )
        differences, errors = [one.difference for one in pairs], [one.se for one in pairs]
        made["equivalence"] = find_claims(
            pairs, differences, errors, spec.margin, spec.alpha, spec.better or "higher", spec.reference
        )
    return {
        "criterion": criterion,
        "model": "lmm",
        "link": None,
        "formula": "" if fit is None else fit.formula,
        "n": len(beside.y),
        "n_raters": len(beside.raters),
        "n_items": found.n_labelled,
        "units": "rating scale",
        "effect_units": "SDs of the ratings within systems",
        **made,
    }


def _compare_pairs(
    table: Ratings, criterion: str, spec: AnalysisSpec, correction: Correction
) -> CorrectedCriterion:
    """Return the comparison of pairs by strengths, corrected by what judges say of all pairs."""
    if correction.variants:
        raise BadModel(
            f"{criterion!r} holds choices: {listing(sorted(correction.variants))} goes with ratings of "
            "single outputs."
        )
    if spec.better == "lower" or spec.margin is not None:
        raise BadModel(f"{criterion!r} holds choices, which have no points: no margin, and better is higher.")
    if correction.sample is not None and not correction.sample.equal:
        raise BadModel("Pairs are corrected for items drawn with one probability; this sample has several.")
    pairs = match_pairs(table, correction.scores, criterion)
    if len(pairs.systems) < 2 or int(pairs.labelled.sum()) < 3:
        raise BadModel(
            f"On {criterion!r} a correction needs two systems, and three items that people compared."
        )
    found = correct_strengths(pairs)
    assert found.people is not None, "people's strengths come with the corrected ones"
    S = len(pairs.systems)
    n = np.bincount(pairs.a, minlength=S) + np.bincount(pairs.b, minlength=S)
    common = {
        "criterion": criterion,
        "model": "bradley-terry",
        "link": None,
        "formula": "",
        "n": len(pairs.score),
        "n_raters": len(pairs.raters),
        "n_items": found.n_labelled,
        "units": UNITS,
        "effect_units": EFFECT_UNITS,
    }
    made = [
        {**common, **tabulate(one, spec, n, np.full(S, np.nan), lambda d: 1 / (1 + np.exp(-d)))}
        for one in (found, found.people)
    ]
    return CorrectedCriterion(
        **{**made[0], "notes": (*pairs.notes, *made[0]["notes"])},
        judges=pairs.judge_names,
        n_judged=found.n_items,
        method="strengths",
        people=CriterionComparison(**made[1]),
        weights=found.weights,
    )
