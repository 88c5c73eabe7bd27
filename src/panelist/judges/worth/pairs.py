"""What a judge of pairs is worth beside people who compared the same pairs."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from panelist.core.errors import BadModel
from panelist.core.seeds import stream
from panelist.core.tables.ratings import Ratings
from panelist.judges.answers import NO_LINE
from panelist.judges.combine import name_combined
from panelist.judges.correct.strengths import PairData
from panelist.judges.match_pairs import match_pairs
from panelist.judges.table import JudgeScores
from panelist.judges.units import Units, make_units
from panelist.judges.worth.agreement import measure_answers
from panelist.judges.worth.alt_test import middle_answer, run_alt_test
from panelist.judges.worth.ceiling import Ceiling, Draws, hold_against_others, measure_reliability
from panelist.judges.worth.judge_worth import JudgeWorth
from panelist.judges.worth.level_rows import name_ends
from panelist.judges.worth.levels import WorthLevel, correlate, correlate_all, percentile, percentile_of_r
from panelist.judges.worth.pair_bias import measure_pair_length, measure_position, measure_win_rates
from panelist.judges.worth.replaced import Replaced
from panelist.judges.worth.worth import JudgeDifference
from panelist.numerics.arrays import Floats, Longs


def units_of_pairs(pairs: PairData) -> tuple[Units, Longs]:
    """Return the judged pairs as units with the first judge's scores, and the place of each of them."""
    key = _key(pairs.judged_item, pairs.judged_a, pairs.judged_b, len(pairs.systems))
    order = np.argsort(key)
    place = order[np.searchsorted(key[order], _key(pairs.item, pairs.a, pairs.b, len(pairs.systems)))]
    rater = np.maximum(pairs.rater, 0)
    return make_units(place.astype(np.int64), rater, pairs.score, pairs.judges[:, 0], pairs.raters), place


def _key(item: Longs, a: Longs, b: Longs, S: int) -> Longs:
    return (item * S + a) * S + b


def measure_pairs(
    ratings: Ratings, scores: JudgeScores, criterion: str, spec: Any, lengths: pd.Series | None
) -> tuple[list[JudgeWorth], list[JudgeDifference]]:
    """Return the worth of every judge of pairs on one criterion, and how their paired r differ.

    Several judges are compared, and combined as the mean of their scores, on the pairs that all of them
    answered.
    """
    judges = scores.on(criterion).judges or match_pairs(ratings, scores, criterion).judge_names
    done = [
        _measure_one(
            match_pairs(ratings, scores, criterion, [judge]), scores, judge, criterion, spec, lengths
        )
        for judge in judges
    ]
    if len(judges) < 2:
        return done, []
    try:
        shared = match_pairs(ratings, scores, criterion, judges)
    except BadModel:  # no pair that all of them answered
        return done, []
    found = [_levels(_only(shared, f), spec) for f in shared.judges.T]
    differences = []
    n_items = int(shared.labelled.sum())
    for (a, (one, drawn)), (b, (other, drawn_too)) in combinations(zip(judges, found, strict=True), 2):
        low, high = percentile(drawn - drawn_too, spec.confidence, n_items)
        gap = one[0].pearson - other[0].pearson
        differences.append(JudgeDifference(criterion, a, b, gap, low, high))
    if spec.combine:
        mean = _only(shared, shared.judges.mean(axis=1))
        joint = _measure_one(mean, scores, name_combined(judges), criterion, spec, lengths)
        notes = ("a mean of answers is no answer: no agreement, no alt-test, no position",)
        against = tuple(one for one in joint.against if one.level == "output")
        done.append(
            replace(
                joint,
                combined=True,
                against=against,
                alt_test=None,
                agreement=None,
                notes=(*shared.notes, *notes),
            )
        )
    return done, differences


def _only(pairs: PairData, f: Floats) -> PairData:
    """Return the pairs with these scores as those of the only judge."""
    return replace(pairs, judges=f[:, None], lacking=())


def _measure_one(
    pairs: PairData, scores: JudgeScores, judge: str, criterion: str, spec: Any, lengths: pd.Series | None
) -> JudgeWorth:
    units, people = _people_of(pairs)
    f, rated = pairs.judges[:, 0], np.isfinite(people)
    against = _hold_against(pairs, units, spec)
    levels, _ = _levels(pairs, spec, against)
    reliability = measure_reliability(units) if len(pairs.raters) > 1 else None
    control = middle_answer(pairs.score) if len(pairs.score) else 0.5
    several = len(pairs.raters) > 1
    leaning = _lean(units)
    who = "one rater only" if pairs.raters else "raters are unknown"
    silent = scores.on(criterion).frame
    own = silent[(silent["judge"] == judge).to_numpy()]
    missing = {
        str(reason): int(k) for reason, k in own.loc[own["reason"] != "", "reason"].value_counts().items()
    }
    if lacking := sum(pairs.lacking):
        missing[NO_LINE] = missing.get(NO_LINE, 0) + lacking
    r = levels[1].pearson
    return JudgeWorth(
        judge=judge,
        criterion=criterion,
        kind="pairs",
        n_outputs=int(rated.sum()),
        n_items=int(pairs.labelled.sum()),
        n_judged=len(pairs.items),
        n_raters=len(pairs.raters),
        missing=missing,
        confidence=spec.confidence,
        over="items",
        levels=levels,
        against=against,
        table=None,
        accuracy_systems=nan,
        spa=nan,
        spa_normal=nan,
        accuracy=None,
        alt_test=run_alt_test(leaning, spec.epsilon, "equality", control=control) if several else None,
        agreement=measure_answers(leaning),
        bias=measure_win_rates(
            people, f, pairs.judged_a, pairs.judged_b, pairs.judged_item, pairs.systems, spec.confidence
        ),
        length=_length(pairs, people, f, lengths),
        position=(place := measure_position(scores.on(criterion), judge)),
        silence=(),
        calibration=(),
        replaced=Replaced(why="pairs have no points of a scale"),
        reliability=nan if reliability is None else reliability.mean,
        disattenuated=nan if reliability is None else reliability.disattenuate(r),
        notes=(
            *pairs.notes,
            *(() if place else ("position cannot be told: no pair was judged in both orders",)),
            *(() if several else (f"{who}: no ceiling and no alt-test",)),
            *(() if spec.over == "items" else (f"intervals are about other items, not about {spec.over}",)),
        ),
    )


def _people_of(pairs: PairData) -> tuple[Units, Floats]:
    """Return the pairs as units, and people's mean score of each, nan where nobody answered."""
    units, _ = units_of_pairs(pairs)
    n, total, _ = units.sums()
    return units, np.where(n > 0, total / np.where(n > 0, n, 1), np.nan)


def _length(pairs: PairData, people: Floats, f: Floats, lengths: pd.Series | None) -> Any:
    if lengths is None:
        return None
    known = lengths.to_dict()
    words = [
        np.array(
            [
                known.get((pairs.items[i], pairs.systems[s]), nan)
                for i, s in zip(pairs.judged_item.tolist(), side.tolist(), strict=True)
            ]
        )
        for side in (pairs.judged_a, pairs.judged_b)
    ]
    return measure_pair_length(people, f, (words[0], words[1]), pairs.judged_item)


def _levels(
    pairs: PairData, spec: Any, against: tuple[Ceiling, ...] = ()
) -> tuple[tuple[WorthLevel, ...], Floats]:
    """Return the correlations of pairs: centred by pair of systems, as they are, and of win rates.

    ``against`` is the ceiling. With them those of the first in every resample of items, which are the same
    for all judges.
    """
    _, people = _people_of(pairs)
    rated = np.isfinite(people)
    y, g = people[rated], pairs.judges[rated, 0]
    a, b, item = pairs.judged_a[rated], pairs.judged_b[rated], pairs.judged_item[rated]
    group = np.unique(a * len(pairs.systems) + b, return_inverse=True)[1]

    def measure(w: Floats) -> tuple[float, float, float]:
        return (
            _weighted(_centre(y, group, w), _centre(g, group, w), w),
            _weighted(y - _mean(y, w), g - _mean(g, w), w),
            correlate(*(_win_rates(v, a, b, w, len(pairs.systems)) for v in (y, g))),
        )

    one = np.ones(len(y))
    rng = stream(spec.seed, "judges", "items")
    items, place = np.unique(item, return_inverse=True)
    n = len(items)
    counts = [np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(spec.resamples)]
    drawn = np.array([measure(count.astype(np.float64)[place]) for count in counts])
    top = next((one for one in against if one.level == "output"), None)
    plain = correlate_all(y, g)
    centred = correlate_all(_centre(y, group, one), _centre(g, group, one))
    won, claimed = (_win_rates(v, a, b, one, len(pairs.systems)) for v in (y, g))
    rates = correlate_all(won, claimed, None)
    rows = []
    for at, (level, found) in enumerate((("pair", centred), ("output", plain), ("system", rates))):
        low, high = percentile_of_r(drawn[:, at], spec.confidence, n)
        ends = name_ends(top if level == "output" else None)
        rows.append(WorthLevel(level, found.pearson, found.spearman, found.kendall, low, high, *ends))
    return tuple(rows), drawn[:, 0]


def _lean(units: Units) -> Units:
    """Return the units with the side to which the judge leans: answers that depend on the order are a tie."""
    return replace(units, f=np.where(np.isnan(units.f), nan, (np.sign(units.f - 0.5) + 1) / 2))


def _hold_against(pairs: PairData, units: Units, spec: Any) -> tuple[Ceiling, ...]:
    """Return a person and the first judge against the other raters: r with their mean, and equal answers."""
    if len(pairs.raters) < 2:
        return ()
    draws = Draws(spec.resamples, spec.seed, spec.confidence)
    r = hold_against_others(units, pairs.judged_item, draws=draws, measures=("output",))
    return (*r, *hold_against_others(_lean(units), pairs.judged_item, draws=draws, measures=("equal",)))


def _mean(v: Floats, w: Floats) -> float:
    return float(w @ v) / float(w.sum())


def _centre(v: Floats, group: Longs, w: Floats) -> Floats:
    total = np.bincount(group, weights=w)
    return np.asarray(v - (np.bincount(group, weights=w * v) / np.where(total > 0, total, 1))[group])


def _weighted(v: Floats, u: Floats, w: Floats) -> float:
    size = float(np.sqrt((w * v) @ v * ((w * u) @ u)))
    return float((w * v) @ u) / size if size > 1e-12 else nan


def _win_rates(v: Floats, a: Longs, b: Longs, w: Floats, S: int) -> Floats:
    won = np.bincount(a, weights=w * v, minlength=S) + np.bincount(b, weights=w * (1 - v), minlength=S)
    n = np.bincount(a, weights=w, minlength=S) + np.bincount(b, weights=w, minlength=S)
    return np.asarray((won / np.where(n > 0, n, 1))[n > 0])
