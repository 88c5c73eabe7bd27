"""Sums over units: all that is needed by coefficients that do not depend on who gave a rating.

Every observed disagreement is a mean over pairs of ratings of the same unit by different raters. With rater
weights v (how often a bootstrap drew them) a pair counts v_r v_s and a rater is never paired with a copy of
itself: such a pair would agree by construction. As the distance of a rating to itself is zero, only the
number of pairs of a unit changes: m² - Q with m = Σ v and Q = Σ v².
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from panelist.agreement.coefficient import Level, Undefined
from panelist.agreement.criterion_table import RatingTable
from panelist.numerics.arrays import Bools, Floats, Ints, Longs
from panelist.numerics.kernel import kernel


@dataclass(frozen=True, eq=False)
class Entries:
    """Ratings gathered by unit, sorted by value: how much each counts, and the same for squared weights.

    What depends only on the raters' weights is computed once and shared by all resamples of units.
    """

    start: Longs
    code: Ints
    weight: Floats
    square: Floats
    counted: tuple[Floats, Floats] | None = None  # m and the pairs that differ, where gathering found them

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """Each unit's number of ratings m, and Q."""
        if self.counted is not None:
            return self.counted[0], self.counted[0]
        return _unit_totals(self.start, self.weight, self.square)

    @cached_property
    def pairs(self) -> Floats:
        """Each unit's number of ordered pairs of ratings."""
        return self.totals[0] ** 2 - self.totals[1]

    @cached_property
    def paired(self) -> Bools:
        """Which units have a pair."""
        return self.pairs > 0

    @cached_property
    def _divisor(self) -> Floats:
        return np.where(self.paired, self.pairs, 1.0)

    @cached_property
    def different(self) -> Floats:
        """Each unit's share of pairs of ratings in different categories."""
        found = self.counted[1] if self.counted else _different(self.start, self.code, self.weight)
        return found / self._divisor

    @cached_property
    def _distances(self) -> dict[tuple[str, bytes], Floats]:
        return {}

    def distances(self, kind: Literal["squared", "absolute", "ratio"], points: Floats) -> Floats:
        """Return each unit's mean distance of two ratings; ``points`` are the values of the categories.

        The last of a kind is kept, as most distances are the same in every resample.
        """
        key = (kind, points.tobytes())
        if key not in self._distances:
            measure = {"squared": _squared, "absolute": _absolute, "ratio": _ratios}[kind]
            self._distances[key] = measure(self.start, self.code, self.weight, points) / self._divisor
        return self._distances[key]

    def total_squared(self, points: Floats, scale: Floats) -> float:
        """Return the squared distances of all pairs of ratings, each unit's mean counted ``scale`` times."""
        return _total_squared(self.start, self.code, self.weight, points, scale / self._divisor)


@dataclass(frozen=True, eq=False)
class UnitSums:
    """The sums of one table under one set of weights; ``units`` says how often each unit counts."""

    table: RatingTable
    measurement: Level
    entries: Entries
    units: Floats

    @classmethod
    def prepare(cls, table: RatingTable, measurement: Level) -> "PreparedUnits":
        """Return the ratings gathered by unit and category, once for all resamples."""
        return PreparedUnits(table, measurement)

    @property
    def ratings(self) -> Floats:
        """The number of ratings m of each unit."""
        return self.entries.totals[0]

    @property
    def pairs(self) -> Floats:
        """The number of ordered pairs of ratings of each unit."""
        return self.entries.pairs

    @cached_property
    def counted(self) -> Floats:
        """How often each unit with a pair of ratings counts; 0 for the others."""
        held: Floats = self.units * self.entries.paired
        if not held.any():
            raise Undefined("no output has two ratings by different raters, so nothing can be compared")
        return held

    def disagreements(self, points: Floats | None) -> Floats:
        """Return each unit's mean distance of two ratings: squared between points, or 1 where they differ."""
        return self.entries.different if points is None else self.entries.distances("squared", points)

    def gaps(self, points: Floats) -> Floats:
        """Return each unit's mean absolute distance of two ratings; ``points`` must not fall."""
        return self.entries.distances("absolute", points)

    def ratios(self, points: Floats) -> Floats:
        """Return each unit's mean of ((a - b) / (a + b))² over pairs of ratings."""
        return self.entries.distances("ratio", points)

    def mean_over_units(self, per_unit: Floats) -> float:
        """Return the mean over the units that have a pair of ratings, each unit counting the same."""
        return float(self.counted @ per_unit / self.counted.sum())

    def mean_over_ratings(self, per_unit: Floats) -> float:
        """Return the mean over the units that have a pair, each unit counting as often as it was rated."""
        return float(self._rated @ per_unit / self._rated.sum())

    def mean_squared(self, points: Floats) -> float:
        """Return mean_over_ratings of the squared distances, for points that differ in every resample."""
        return self.entries.total_squared(points, self._rated) / float(self._rated.sum())

    @cached_property
    def _rated(self) -> Floats:
        return self.counted * self.ratings

    @cached_property
    def margins(self) -> Floats:
        """How often each category was given, in units with a pair of ratings."""
        return self._gather(self.counted)

    @cached_property
    def margin_pairs(self) -> float:
        """The number of ordered pairs among all these ratings: N (N - 1) where nobody counts twice."""
        return float(self._rated.sum() ** 2 - self.counted @ self.entries.totals[1])

    @cached_property
    def shares(self) -> Floats:
        """Each category's share of the ratings of a unit, averaged over all units."""
        rated = self.ratings > 0
        scale = np.where(rated, self.units, 0.0) / np.where(rated, self.ratings, 1.0)
        return self._gather(scale) / float(self.units @ rated)

    def _gather(self, scale: Floats) -> Floats:
        entries = self.entries
        n_categories = len(self.table.categories)
        return _margins(entries.start, entries.code, entries.weight, scale, n_categories)


class PreparedUnits:
    """A table's ratings gathered by unit and category."""

    def __init__(self, table: RatingTable, measurement: Level) -> None:
        self.table, self.measurement = table, measurement
        self._once = _gather_equal(table)
        self._paired = table.ratings_per_unit >= 2

    @property
    def n_items(self) -> int:
        """The number of units with two ratings or more."""
        return int(self._paired.sum())

    @property
    def note(self) -> str:
        """How many units have a single rating and cannot be compared."""
        alone = self.table.n_units - self.n_items
        return f"{alone} of {self.table.n_units} outputs have a single rating" if alone else ""

    def weigh(self, units: Floats | None = None, raters: Floats | None = None) -> UnitSums:
        """Return the sums with every unit and every rater counted as often as its weight says."""
        table = self.table
        if units is None:
            units = np.ones(table.n_units)
        entries = self._once
        if raters is not None:
            weight = raters[table.rater]
            entries = Entries(table.start, table.code, weight, weight**2)
        return UnitSums(table, self.measurement, entries, units)


def _gather_equal(table: RatingTable) -> Entries:
    """Return one entry per unit and category, as equal ratings of a unit always count together."""
    start, code, count, total, different = _gather(table.start, table.code)
    return Entries(start, code, count, count, (total, different))


@kernel
def _gather(start: Longs, code: Ints) -> tuple[Longs, Ints, Floats, Floats, Floats]:
    """Return runs of equal codes within each unit, its ratings, and its ordered pairs that differ.

    The table is sorted by unit and value.
    """
    n = len(start) - 1
    first = np.zeros(n + 1, np.int64)
    ends = np.zeros(len(code) + 1, np.int64)
    runs = 0
    for u in range(n):
        last = -1
        for i in range(start[u], start[u + 1]):  # no branches: which category comes next cannot be predicted
            runs += code[i] != last
            last = code[i]
            ends[runs] = i + 1
        first[u + 1] = runs
    value, count = np.empty(runs, np.int32), np.empty(runs)
    total, different = np.empty(n), np.empty(n)
    for u in range(n):
        same = 0.0
        for run in range(first[u], first[u + 1]):
            value[run] = code[ends[run]]
            count[run] = ends[run + 1] - ends[run]
            same += count[run] * count[run]
        total[u] = start[u + 1] - start[u]
        different[u] = total[u] * total[u] - same
    return first, value, count, total, different


@kernel
def _unit_totals(start: Longs, weight: Floats, square: Floats) -> tuple[Floats, Floats]:
    n = len(start) - 1
    total, squares = np.zeros(n), np.zeros(n)
    for u in range(n):
        for i in range(start[u], start[u + 1]):
            total[u] += weight[i]
            squares[u] += square[i]
    return total, squares


@kernel
def _margins(start: Longs, code: Ints, weight: Floats, scale: Floats, n_categories: int) -> Floats:
    whole = np.zeros(n_categories)
    for u in range(len(start) - 1):
        if scale[u] != 0.0:
            for i in range(start[u], start[u + 1]):
                whole[code[i]] += scale[u] * weight[i]
    return whole


@kernel
def _different(start: Longs, code: Ints, weight: Floats) -> Floats:
    """Return, for each unit, the weight of ordered pairs in different categories."""
    n = len(start) - 1
    out = np.zeros(n)
    for u in range(n):
        total = same = run = 0.0
        for i in range(start[u], start[u + 1]):
            if i > start[u] and code[i] != code[i - 1]:
                same += run * run
                run = 0.0
            run += weight[i]
            total += weight[i]
        out[u] = total * total - same - run * run
    return out


@kernel
def _squared(start: Longs, code: Ints, weight: Floats, points: Floats) -> Floats:
    """Return, for each unit, the squared distances summed over ordered pairs."""
    n = len(start) - 1
    out = np.zeros(n)
    for u in range(n):
        if start[u + 1] - start[u] > 1:
            origin = points[code[start[u]]]  # near the values, so that nothing cancels
            total = first = second = 0.0
            for i in range(start[u], start[u + 1]):
                x = points[code[i]] - origin
                total += weight[i]
                first += weight[i] * x
                second += weight[i] * x * x
            out[u] = 2.0 * (total * second - first * first)
    return out


@kernel
def _total_squared(start: Longs, code: Ints, weight: Floats, points: Floats, scale: Floats) -> float:
    """Return the squared distances summed over ordered pairs and over units, each unit times its scale."""
    whole = 0.0
    for u in range(len(start) - 1):
        if scale[u] != 0.0:
            origin = points[code[start[u]]]
            total = first = second = 0.0
            for i in range(start[u], start[u + 1]):
                x = points[code[i]] - origin
                total += weight[i]
                first += weight[i] * x
                second += weight[i] * x * x
            whole += scale[u] * 2.0 * (total * second - first * first)
    return whole


@kernel
def _absolute(start: Longs, code: Ints, weight: Floats, points: Floats) -> Floats:
    """Return, for each unit, the absolute distances summed over ordered pairs; codes ascend within a unit."""
    n = len(start) - 1
    out = np.zeros(n)
    for u in range(n):
        below = moment = 0.0
        for i in range(start[u], start[u + 1]):
            x = points[code[i]]
            out[u] += 2.0 * weight[i] * (x * below - moment)
            below += weight[i]
            moment += weight[i] * x
    return out


@kernel
def _ratios(start: Longs, code: Ints, weight: Floats, points: Floats) -> Floats:
    """Return, for each unit, ((a - b) / (a + b))² summed over ordered pairs."""
    n = len(start) - 1
    out = np.zeros(n)
    for u in range(n):
        for i in range(start[u], start[u + 1]):
            for j in range(start[u], i):
                a, b = points[code[i]], points[code[j]]
                if a != b:
                    out[u] += 2.0 * weight[i] * weight[j] * ((a - b) / (a + b)) ** 2
    return out
