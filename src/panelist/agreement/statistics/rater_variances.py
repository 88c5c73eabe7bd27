"""Variance components of outputs and raters, with or without gaps.

On complete tables these are the mean squares of the two-way analysis of variance. With gaps they come from
Henderson's method I: the same sums of squares, set equal to their expectations (Searle, Casella & McCulloch
1992, Variance Components, chapter 5). With weighted raters, copies of one share its effect and its errors.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from panelist.agreement.coefficient import Level, Undefined
from panelist.agreement.criterion_table import RatingTable
from panelist.agreement.statistics.moments import Moments, PreparedMoments
from panelist.numerics.arrays import Floats

ROUNDING = 1e-12  # of the squared range: a variance below is none
WORST_CONDITION = 1e10  # of the equations for the components
ENOUGH_COMPLETE = 10  # outputs rated by all: with fewer, the incomplete ones say more


@dataclass(frozen=True)
class RaterVariances:
    """Variance of outputs, of raters and of the rest, and the number of ratings an output's mean rests on."""

    unit: float
    rater: float
    error: float
    k: float


@dataclass(frozen=True, eq=False)
class MeanSquares:
    """The analysis of variance of one table under one set of weights."""

    table: RatingTable
    moments: Moments | None
    value: Floats
    units: Floats
    raters: Floats

    @classmethod
    def prepare(cls, table: RatingTable, measurement: Level) -> "PreparedSquares":
        """Return the ratings, complete or all of them, once for all resamples."""
        return PreparedSquares(table)

    @cached_property
    def two_way(self) -> RaterVariances:
        """Components with rater effects separated from the error."""
        if self.moments is None:
            return self._henderson(crossed=True)
        variance, between, apart = self.moments.of_ratings
        error = variance - between
        self._check(variance + apart)
        return RaterVariances(between, apart - error / self.moments.n_units, error, self.moments.n_raters)

    @cached_property
    def one_way(self) -> RaterVariances:
        """Components with rater effects in the error: every output may have had different raters."""
        if self.moments is None:
            return self._henderson(crossed=False)
        both = self.two_way
        error = both.rater + both.error
        return RaterVariances(both.unit - both.rater / both.k, 0.0, error, both.k)

    def _check(self, spread: float) -> None:
        if not spread > ROUNDING * float(self.value.max() - self.value.min()) ** 2:
            raise Undefined("all ratings are the same, so there is no variance to divide")

    def _henderson(self, crossed: bool) -> RaterVariances:
        table, y = self.table, self.value
        w, v = self.units[table.unit], self.raters[table.rater]
        both = w * v
        n = float(both.sum())
        m = np.bincount(table.unit, v, minlength=table.n_units)
        q = np.bincount(table.unit, v * v, minlength=table.n_units)
        c = np.bincount(table.rater, w, minlength=table.n_raters)
        if not (self.units * (m**2 - q)).sum() > 0:
            raise Undefined("no output has two ratings by different raters, so nothing can be compared")
        if np.count_nonzero(self.units * m) < 2:
            raise Undefined("there is a single output")
        per_unit, per_rater = self.units / np.where(m > 0, m, 1), self.raters / np.where(c > 0, c, 1)
        mean = float(both @ y) ** 2 / n
        of_all = float(both @ y**2) - mean
        of_units = float(per_unit @ np.bincount(table.unit, v * y, minlength=table.n_units) ** 2) - mean
        of_raters = float(per_rater @ np.bincount(table.rater, w * y, minlength=table.n_raters) ** 2) - mean
        self._check(of_all)

        units_sq, errors_sq = float(self.units @ m**2) / n, float(self.units @ q) / n
        raters_sq = float((self.raters * c) @ (self.raters * c)) / n
        tied, present = float(per_unit @ q), float((self.raters * (c > 0)).sum())
        rows = [
            [n - units_sq, n - raters_sq, n - errors_sq],
            [n - units_sq, tied - raters_sq, tied - errors_sq],
            [present - units_sq, n - raters_sq, present - errors_sq],
        ]
        k = (n - units_sq) / (float(self.units[m > 0].sum()) - 1)
        if not crossed:
            small = np.array([[rows[0][0], rows[0][2]], [rows[1][0], rows[1][2]]])
            unit, error = np.linalg.solve(small, [of_all, of_units])
            return RaterVariances(float(unit), 0.0, float(error), float(k))
        if np.linalg.cond(rows) > WORST_CONDITION:
            raise Undefined("outputs and raters cannot be separated: each rater saw different outputs")
        unit, rater, error = np.linalg.solve(rows, [of_all, of_units, of_raters])
        return RaterVariances(float(unit), float(rater), float(error), float(k))


class PreparedSquares:
    """The complete part of a table where it is large enough, else all of it."""

    def __init__(self, table: RatingTable) -> None:
        self.table = table
        complete = PreparedMoments(table)
        enough = complete.n_items == table.n_units or complete.n_items >= ENOUGH_COMPLETE
        self.complete = complete if enough else None
        self._value = table.value - table.value.mean() if table.n_ratings else table.value

    @property
    def n_items(self) -> int:
        """The number of units that enter."""
        return self.table.n_units if self.complete is None else self.complete.n_items

    @property
    def note(self) -> str:
        """Which units entered, or how the gaps were handled."""
        if self.complete is not None:
            return self.complete.note
        return (
            "from variance components of all ratings (Henderson's method I), as few outputs were rated by all"
        )

    def weigh(self, units: Floats | None = None, raters: Floats | None = None) -> MeanSquares:
        """Return the analysis of variance with every unit and rater counted as often as its weight says."""
        table = self.table
        w = np.ones(table.n_units) if units is None else units
        v = np.ones(table.n_raters) if raters is None else raters
        moments = self.complete.weigh(units, raters) if self.complete is not None else None
        return MeanSquares(table, moments, self._value, w, v)
