"""The ceiling: one person against the others, and the judge against the same others (docs/judges.md).

For each rater the others' mean of the same units is what both the rater and the judge are held against;
figures are averaged over raters. Intervals are about other items, drawn again with all that belongs to them;
raters stay as they are, so that nobody is held against a copy. Nothing is said where raters are unknown: a
place in a file is no person.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan, sqrt
from typing import Any

import numpy as np

from panelist.agreement.statistics.resample import reach_of_quantiles, widen
from panelist.judges.match import JudgedRatings
from panelist.judges.units import Units, make_units
from panelist.judges.worth.levels import ItemSums, correlate, draw_weights, paired_correlation, system_means
from panelist.numerics.arrays import Bools, Floats, Longs

FEWEST = 3  # units that a rater must share with others to be held against them
MEASURES = ("pair", "output", "system", "alpha", "equal")
FEWEST_DRAWS, MOST_OF_RATERS, MOST_OF_RATINGS = 200, 20_000, 10_000_000


@dataclass(frozen=True)
class Ceiling:
    """A person and the judge against the same other raters, by one measure, on average over raters.

    ``level`` is a level of correlation (pair, output, system), "alpha" (with the others' mean, as of two
    raters) or "equal" (the share of equal answers). ``lead`` is the judge's figure less the person's.
    """

    level: str
    people: float
    judge: float
    n_raters: int
    people_low: float = nan
    people_high: float = nan
    judge_low: float = nan
    judge_high: float = nan
    lead_low: float = nan
    lead_high: float = nan

    @property
    def lead(self) -> float:
        """By how much the judge's figure lies above a person's."""
        return self.judge - self.people


@dataclass(frozen=True)
class Draws:
    """How intervals are made: resamples of items, and the level of confidence."""

    resamples: int
    seed: int
    confidence: float

    def surround(self, estimate: float, drawn: Floats, n_items: int) -> tuple[float, float]:
        """Return the ends of an interval around an estimate, as `panelist agreement` has them.

        Averages over raters of few outputs are biased in a resample, so that quantiles are taken from its
        median; nan where fewer than half of the resamples have a value.
        """
        known = drawn[np.isfinite(drawn)]
        if len(known) < max(2, len(drawn) / 2) or n_items < 2:
            return nan, nan
        reach = reach_of_quantiles(known, self.confidence).times(widen(n_items, self.confidence))
        return estimate - reach.down, estimate + reach.up


def units_of(beside: JudgedRatings, judge: str) -> Units:
    """Return the outputs as units, with the judge's scores."""
    unit = beside.item * len(beside.systems) + beside.system
    return make_units(unit, beside.rater, beside.y, beside.scores[judge].ravel(), beside.raters)


def measure_ceiling(beside: JudgedRatings, judge: str, draws: Draws | None = None) -> tuple[Ceiling, ...]:
    """Return person and judge against the others, over outputs, systems, paired differences and in agreement.

    Agreement is that of answers on the same scale; decimals count as equal to the answer that they round to,
    where people gave whole numbers.
    """
    if not beside.knows_raters:
        return ()
    S = len(beside.systems)
    match = beside.scales.get(judge)
    measures = MEASURES if match is not None and match.same else MEASURES[:3]
    item = np.arange(len(beside.items) * S) // S
    return hold_against_others(units_of(beside, judge), item, S, draws, measures)


def hold_against_others(
    units: Units,
    item: Longs,
    n_systems: int = 0,
    draws: Draws | None = None,
    measures: Sequence[str] = MEASURES,
) -> tuple[Ceiling, ...]:
    """Return person and judge against the others; ``item`` is that of each unit.

    With ``n_systems`` units are outputs, systems within items, and have all levels; otherwise they are pairs.
    """
    parts = [
        one for one in _split(units.answered(), item, n_systems) if np.isfinite([*one.figures.values()]).any()
    ]
    found = []
    for level in measures:
        pairs = [one.figures[level] for one in parts if level in one.figures]
        pairs = [pair for pair in pairs if isfinite(pair[0]) and isfinite(pair[1])]
        if pairs:
            people, judge = (float(np.mean([pair[at] for pair in pairs])) for at in (0, 1))
            found.append(Ceiling(level, people, judge, len(pairs)))
    if draws is None or not found:
        return tuple(found)
    labelled = np.unique(item[units.unit])
    known = [one.level for one in found if one.level != "system"]
    drawn = _resample(parts, known, labelled, draws, len(units.y))
    return tuple(
        _add_ends(one, drawn[one.level], len(labelled), draws) if one.level in drawn else one for one in found
    )


def _add_ends(one: Ceiling, drawn: Floats, n_items: int, draws: Draws) -> Ceiling:
    people, judge = drawn
    least = 0.0 if one.level == "equal" else -1.0
    ends: dict[str, Any] = {}
    for name, values in (("people", people), ("judge", judge), ("lead", judge - people)):
        low, high = draws.surround(getattr(one, name), values, n_items)
        if name != "lead":
            low, high = max(low, least), min(high, 1.0)
        ends |= {f"{name}_low": low, f"{name}_high": high}
    return replace(one, **ends)


@dataclass(frozen=True, eq=False)
class _Shared:
    """What one rater shares with others: figures of person and judge, and sums by item for resamples."""

    figures: dict[str, tuple[float, float]]
    items: Longs
    sums: Floats
    grids: tuple[ItemSums, ItemSums] | None

    def measure(self, weights: Floats) -> dict[str, tuple[Floats, Floats]]:
        """Return the figures in each resample, (k, items of the rater) times that an item is in it."""
        n, y, f, o, yy, ff, oo, yo, fo, alike, hit = (weights @ self.sums).T
        with np.errstate(divide="ignore", invalid="ignore"):
            found = {
                "output": (_correlate(n, y, o, yy, oo, yo), _correlate(n, f, o, ff, oo, fo)),
                "alpha": (agree(n, y, o, yy, oo, yo), agree(n, f, o, ff, oo, fo)),
                "equal": (alike / n, hit / n),
            }
        if self.grids is not None:
            person, judge = (one.correlations(weights @ one.columns) for one in self.grids)
            found |= {"system": (person[1], judge[1]), "pair": (person[2], judge[2])}
        return found


def _correlate(n: Floats, a: Floats, b: Floats, aa: Floats, bb: Floats, ab: Floats) -> Floats:
    """Return Pearson's r from sums."""
    left, right = aa - a * a / n, bb - b * b / n
    there = (left > 1e-9 * aa) & (right > 1e-9 * bb)
    return np.where(there, (ab - a * b / n) / np.sqrt(np.where(there, left * right, 1.0)), nan)


def agree(n: Floats, a: Floats, b: Floats, aa: Floats, bb: Floats, ab: Floats) -> Floats:
    """Return Krippendorff's alpha (interval) of two columns from sums: 1 − D_observed / D_expected."""
    apart, spread = (aa + bb - 2 * ab) / n, (aa + bb - (a + b) ** 2 / (2 * n)) / (2 * n - 1)
    there = spread > 1e-9 * (aa + bb) / n
    return np.where(there, 1 - apart / (2 * np.where(there, spread, 1.0)), nan)


def _split(units: Units, item: Longs, S: int) -> Iterator[_Shared]:
    """Give what each rater shares with others, of raters who share enough."""
    n, total, _ = units.sums()
    alike = _count_alike(units)
    whole = S > 0 and bool((units.y == np.round(units.y)).all())
    order = np.argsort(units.rater, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(units.rater[order])) + 1):
        own = rows[n[units.unit[rows]] > 1]
        if len(own) < FEWEST:
            continue
        unit, y = units.unit[own], units.y[own]
        others, f = (total[unit] - y) / (n[unit] - 1), units.f[unit]
        items, place = np.unique(item[unit], return_inverse=True)
        hit = y == (np.round(f) if whole else f)
        columns: tuple[Floats, ...] = (
            np.ones(len(y)),
            y,
            f,
            others,
            y * y,
            f * f,
            others * others,
            y * others,
            f * others,
        )
        columns += (alike[own], hit.astype(np.float64))
        sums: Floats = np.column_stack([np.bincount(place, weights=values) for values in columns]).astype(
            np.float64
        )
        figures, grids = _measure_alone(y, f, others, sums), None
        if S:
            person, judge, rest = _grids(place, unit % S, len(items), S, (y, f, others))
            figures |= _measure_levels(person, judge, rest)
            grids = ItemSums.prepare(person, rest), ItemSums.prepare(judge, rest)
        yield _Shared(figures, items, sums, grids)


def _count_alike(units: Units) -> Floats:
    """Return, for each answer, which share of the others' answers about the same unit are equal to it."""
    _, code = np.unique(units.y, return_inverse=True)
    key = units.unit * (int(code.max(initial=0)) + 1) + code
    same = np.unique(key, return_inverse=True, return_counts=True)
    n = np.bincount(units.unit, minlength=len(units.f))[units.unit]
    return np.asarray((same[2][same[1]] - 1) / np.maximum(n - 1, 1), dtype=np.float64)


def _measure_alone(y: Floats, f: Floats, others: Floats, sums: Floats) -> dict[str, tuple[float, float]]:
    whole = sums.sum(axis=0)[None]
    n, a, g, o, aa, gg, oo, ao, go, alike, hit = whole.T
    return {
        "output": (correlate(y, others), correlate(f, others)),
        "alpha": (float(agree(n, a, o, aa, oo, ao)[0]), float(agree(n, g, o, gg, oo, go)[0])),
        "equal": (float(alike[0] / n[0]), float(hit[0] / n[0])),
    }


def _grids(row: Longs, system: Longs, n: int, S: int, columns: Sequence[Floats]) -> list[Floats]:
    made = []
    for values in columns:
        grid = np.full((n, S), np.nan)
        grid[row, system] = values
        made.append(grid)
    return made


def _measure_levels(person: Floats, judge: Floats, rest: Floats) -> dict[str, tuple[float, float]]:
    there: Bools = np.isfinite(person)
    means = [system_means(grid, there) for grid in (person, judge, rest)]
    several = person.shape[1] > 2
    return {
        "system": (correlate(means[0], means[2]), correlate(means[1], means[2])) if several else (nan, nan),
        "pair": (paired_correlation(person, rest), paired_correlation(judge, rest)),
    }


def most_resamples(n_ratings: int, n_raters: int = 1) -> int:
    """Return how many resamples there are at most, by how much each visits."""
    return max(FEWEST_DRAWS, min(MOST_OF_RATERS // max(n_raters, 1), MOST_OF_RATINGS // max(n_ratings, 1)))


def _resample(
    parts: Sequence[_Shared], levels: Sequence[str], items: Longs, draws: Draws, n_ratings: int
) -> dict[str, Floats]:
    """Return person and judge, (2, resamples), on average over raters, in resamples of the rated items.

    Of many raters or ratings there are fewer, as each visits all of them.
    """
    resamples = min(draws.resamples, most_resamples(n_ratings, len(parts)))
    place = [np.searchsorted(items, one.items) for one in parts]
    found: dict[str, list[Floats]] = {level: [] for level in levels}
    for weights in draw_weights(len(items), resamples, draws.seed):
        total = {level: np.zeros((2, len(weights))) for level in levels}
        count = {level: np.zeros(len(weights)) for level in levels}
        for at, one in zip(place, parts, strict=True):
            drawn = one.measure(weights[:, at])
            for level in levels:
                if level not in drawn or not np.isfinite(one.figures[level]).all():
                    continue
                values = np.stack(drawn[level])
                there = np.isfinite(values).all(axis=0)
                total[level] += np.where(there, values, 0.0)
                count[level] += there
        for level in levels:
            n = count[level]
            found[level].append(np.where(n > 0, total[level] / np.maximum(n, 1), nan))
    return {level: np.concatenate(values, axis=1) for level, values in found.items()}


@dataclass(frozen=True)
class CrossedReliability:
    """People's own reliability where all of them answered about every unit: of one person, of the mean."""

    one: float
    mean: float
    n_raters: int

    def disattenuate(self, r: float) -> float:
        """Return the correlation with what very many people would say; nan where that cannot be said."""
        if not self.mean > 0:
            return nan
        free = r / sqrt(self.mean)
        return free if abs(free) <= 1 else nan


def measure_reliability(units: Units) -> CrossedReliability | None:
    """Return the reliability of a fully crossed table, from mean variance and covariance of raters."""
    n, _, _ = units.sums()
    m = len(units.raters)
    if m < 2 or not (n[np.unique(units.unit)] == m).all():
        return None
    order = np.lexsort((units.rater, units.unit))
    C = np.cov(units.y[order].reshape(-1, m).T)
    variance = float(np.trace(C)) / m
    covariance = float(C.sum() - np.trace(C)) / (m * (m - 1))
    return CrossedReliability(covariance / variance, m * covariance / (variance + (m - 1) * covariance), m)
