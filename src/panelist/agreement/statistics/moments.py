"""Means and covariances of the raters on the outputs that all of them rated.

Everything of the two-way analysis of variance follows from the mean variance of a rater, the mean covariance
of two raters and the variance of their means; averages over pairs of raters leave out a rater with itself,
so that raters may be weighted as a bootstrap draws them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from panelist.agreement.coefficient import Level, Undefined
from panelist.agreement.criterion_table import RatingTable
from panelist.numerics.arrays import Floats, Longs
from panelist.numerics.kernel import kernel

ROUNDING = 1e-12  # of the range of all ratings


@dataclass(frozen=True, eq=False)
class Moments:
    """The complete ratings under one set of weights, and the averages that coefficients are made of."""

    ratings: Floats
    order: Longs
    units: Floats
    raters: Floats

    @classmethod
    def prepare(cls, table: RatingTable, measurement: Level) -> "PreparedMoments":
        """Return the complete part of the table, once for all resamples."""
        return PreparedMoments(table)

    @property
    def n_raters(self) -> int:
        """The number of raters k: that of the table, however they are weighted."""
        return int(self.ratings.shape[1])

    @property
    def n_units(self) -> float:
        """The number of outputs n, counted with their weights."""
        return float(self.units.sum())

    @cached_property
    def of_ratings(self) -> tuple[float, float, float]:
        """The mean variance of a rater, the mean covariance of two, and the variance of their means."""
        return self._average(self.ratings)

    @cached_property
    def of_ranks(self) -> tuple[float, float, float]:
        """The same for each rater's ranks of the outputs, ties at their mean rank."""
        return self._average(rank(self.ratings, self.order, self.units))

    def _average(self, x: Floats) -> tuple[float, float, float]:
        n, w, v = self.n_units, self.units, self.raters
        if self.n_raters < 2 or np.count_nonzero(v) < 2:
            raise Undefined("there is a single rater")
        if len(x) < 2 or np.count_nonzero(w) < 2:
            raise Undefined(f"{_outputs(len(x))} rated by all {self.n_raters} raters, and two are needed")
        mean = w @ x / n
        centred = x - mean
        centred[:, np.abs(centred).max(axis=0) < ROUNDING * np.ptp(x)] = 0.0  # a constant, but for rounding
        covariance = (centred * w[:, None]).T @ centred / (n - 1)
        pairs = float(v.sum() ** 2 - v @ v)
        variance = float(v @ np.diag(covariance) / v.sum())
        between = float(v @ covariance @ v - v**2 @ np.diag(covariance)) / pairs
        means = mean - float(v @ mean) / float(v.sum())
        apart = float(v.sum() * (v @ means**2)) / pairs
        return variance, between, apart


class PreparedMoments:
    """The complete part of a table: outputs × raters, and each rater's order of outputs."""

    def __init__(self, table: RatingTable) -> None:
        self.table = table
        self.kept = table.complete
        held = self.kept[table.unit]
        row = np.cumsum(self.kept) - 1
        self.ratings = np.empty((int(self.kept.sum()), table.n_raters))
        self.ratings[row[table.unit[held]], table.rater[held]] = table.value[held]
        if len(self.ratings):
            self.ratings -= self.ratings.mean()
        self.order = np.argsort(self.ratings, axis=0, kind="stable")

    @property
    def n_items(self) -> int:
        """The number of units that every rater rated."""
        return len(self.ratings)

    @property
    def note(self) -> str:
        """On how many units, where not all are complete."""
        if self.n_items == self.table.n_units or self.n_items < 2:
            return ""
        k = self.table.n_raters
        return f"on the {self.n_items} of {self.table.n_units} outputs that all {k} raters rated"

    def weigh(self, units: Floats | None = None, raters: Floats | None = None) -> Moments:
        """Return the moments with every unit and every rater counted as often as its weight says."""
        w = np.ones(self.n_items) if units is None else units[self.kept]
        v = np.ones(self.table.n_raters) if raters is None else raters
        return Moments(self.ratings, self.order, w, v)


def _outputs(n: int) -> str:
    return {0: "no output was", 1: "one output was"}.get(n, f"{n} outputs were")


@kernel
def rank(x: Floats, order: Longs, weight: Floats) -> Floats:
    """Return mid-ranks down each column; a weight of two is the same as the row twice."""
    n, k = x.shape
    ranks = np.zeros((n, k))
    for r in range(k):
        below = 0.0
        i = 0
        while i < n:
            stop, here = i, 0.0
            while stop < n and x[order[stop, r], r] == x[order[i, r], r]:
                here += weight[order[stop, r]]
                stop += 1
            for j in range(i, stop):
                ranks[order[j, r], r] = below + 0.5 * here + 0.5
            below += here
            i = stop
    return ranks
