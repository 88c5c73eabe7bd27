"""The ceiling: one person against the others, and the judge against the same others (docs/judges.md).

For each rater the others' mean of the same units is what both the rater and the judge are correlated with;
correlations are averaged over raters. Nothing is said where raters are unknown: a place in a file is no
person.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np

from panelist.judges.match import JudgedRatings
from panelist.judges.units import Units, make_units
from panelist.judges.worth.levels import correlate, paired_correlation, system_means
from panelist.numerics.arrays import Floats, Longs

FEWEST = 3  # units that a rater must share with others to be correlated with them


@dataclass(frozen=True)
class Ceiling:
    """Mean correlation with the other raters, of a person and of the judge, at one level."""

    level: str
    people: float
    judge: float
    n_raters: int


def units_of(beside: JudgedRatings, judge: str) -> Units:
    """Return the outputs as units, with the judge's scores."""
    unit = beside.item * len(beside.systems) + beside.system
    return make_units(unit, beside.rater, beside.y, beside.scores[judge].ravel(), beside.raters)


def measure_ceiling(beside: JudgedRatings, judge: str) -> tuple[Ceiling, ...]:
    """Return person and judge against the others, over outputs, systems and paired differences."""
    if not beside.knows_raters:
        return ()
    units = units_of(beside, judge).answered()
    n, total, _ = units.sums()
    found: dict[str, list[tuple[float, float]]] = {"output": [], "system": [], "pair": []}
    order = np.argsort(units.rater, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(units.rater[order])) + 1):
        unit, y = units.unit[rows], units.y[rows]
        shared = n[unit] > 1
        unit, y = unit[shared], y[shared]
        if len(unit) < FEWEST:
            continue
        others, f = (total[unit] - y) / (n[unit] - 1), units.f[unit]
        for level, values in _correlate(unit, y, f, others, len(beside.systems)).items():
            if np.isfinite(values).all():
                found[level].append(values)
    return tuple(
        Ceiling(
            level,
            float(np.mean([one[0] for one in values])),
            float(np.mean([one[1] for one in values])),
            len(values),
        )
        for level, values in found.items()
        if values
    )


def _correlate(unit: Longs, y: Floats, f: Floats, others: Floats, S: int) -> dict[str, tuple[float, float]]:
    items, row = np.unique(unit // S, return_inverse=True)
    grids = [np.full((len(items), S), np.nan) for _ in range(3)]
    for grid, values in zip(grids, (y, f, others), strict=True):
        grid[row, unit % S] = values
    person, judge, rest = grids
    there = np.isfinite(person)
    means = [system_means(grid, there) for grid in grids]
    return {
        "output": (correlate(y, others), correlate(f, others)),
        "system": (correlate(means[0], means[2]), correlate(means[1], means[2])) if S > 2 else (nan, nan),
        "pair": (paired_correlation(person, rest), paired_correlation(judge, rest)),
    }


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
