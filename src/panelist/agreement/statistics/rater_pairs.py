"""Pairs of raters: every coefficient of two raters, for all pairs at once, each on the outputs both saw.

A rater's ratings are visited in the order of their values, so that the ratings of every pair come out sorted
by the first rater; nothing larger than one rater's pairs is ever held. The cost is the number of pairs of
ratings of the same output.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from panelist.agreement.coefficient import Level, Undefined
from panelist.agreement.criterion_table import RatingTable
from panelist.agreement.statistics.pair_kernel import COLUMNS, measure_pairs
from panelist.numerics.arrays import Bools, Floats, Ints, Longs

if TYPE_CHECKING:
    import pandas as pd

LEAST_COMMON = 3  # outputs that two raters must share; through two points every line fits

NAMES = {
    "percent": "percent_agreement",
    "cohen": "cohen_kappa",
    "linear": "weighted_kappa_linear",
    "quadratic": "weighted_kappa_quadratic",
    "scott": "scott_pi",
    "pearson": "pearson",
    "spearman": "spearman",
    "tau": "kendall_tau_b",
    "gamma": "goodman_kruskal_gamma",
}


@dataclass(frozen=True, eq=False)
class PairTables:
    """The coefficients of every pair of raters (rows) that share enough outputs, under one set of weights."""

    first: Ints
    second: Ints
    common: Floats
    by_pair: Floats
    weight: Floats
    table: RatingTable
    entered: Bools

    @classmethod
    def prepare(cls, table: RatingTable, measurement: Level) -> "PreparedPairs":
        """Return the ratings in the order in which pairs are visited, once for all resamples."""
        return PreparedPairs(table)

    def mean(self, column: str) -> float:
        """Return the mean over the pairs in which the coefficient is defined, every pair the same."""
        if not len(self.first):
            raise Undefined(f"no two raters share {LEAST_COMMON} outputs or more")
        found = self.column(column)
        held = np.isfinite(found) & (self.weight > 0)
        if not held.any():
            raise Undefined("in every pair of raters at least one gave the same rating throughout")
        return float(found[held] @ self.weight[held] / self.weight[held].sum())

    def cross(self) -> tuple[Floats, Floats]:
        """Return the contingency table of the only two raters, and the values of its rows and columns."""
        if self.table.n_raters != 2:
            raise Undefined("the standard error is that of two raters")
        both = self.table.complete[self.table.unit]
        order = np.lexsort((self.table.rater[both], self.table.unit[both]))
        code = self.table.code[both][order].reshape(-1, 2)
        used, place = np.unique(code, return_inverse=True)
        counts = np.zeros((len(used), len(used)))
        np.add.at(counts, tuple(place.reshape(-1, 2).T), 1.0)
        return counts, self.table.categories[used]

    def column(self, name: str) -> Floats:
        """Return one coefficient of every pair."""
        return self.by_pair[:, COLUMNS.index(name)]

    def say_undefined(self, column: str) -> str:
        """Return in how many pairs the coefficient has no value, so that they are not in the mean."""
        lost = int(np.isnan(self.column(column)).sum())
        return f"leaving out {lost} where it is undefined" if lost else ""


class PreparedPairs:
    """A table's ratings by rater, sorted by value, and the ratings by unit."""

    def __init__(self, table: RatingTable) -> None:
        self.table = table
        order = np.lexsort((table.code, table.rater))
        self._unit = table.unit[order]
        self._code = table.code[order]
        self._start: Longs = np.concatenate([[0], np.cumsum(table.ratings_per_rater)]).astype(np.int64)
        meetings = np.bincount(table.rater, table.ratings_per_unit[table.unit], minlength=table.n_raters)
        self._room = int(meetings.max(initial=0.0))
        self.n_meetings = int((table.ratings_per_unit * (table.ratings_per_unit - 1) // 2).sum())

    @cached_property
    def whole(self) -> PairTables:
        """The pairs with every unit and rater counted once."""
        return self._measure(np.ones(self.table.n_units), None)

    @property
    def n_items(self) -> int:
        """The number of units that enter in some pair of raters."""
        return int(self.whole.entered.sum())

    @property
    def middle_common(self) -> float:
        """How many outputs the pair in the middle shares, of those that enter."""
        return float(np.median(self.whole.common)) if len(self.whole.common) else 0.0

    @property
    def note(self) -> str:
        """Over how many pairs the mean goes, where there are more than two raters."""
        n = self.table.n_raters
        if n <= 2:
            return ""
        made, possible = len(self.whole.first), n * (n - 1) // 2
        which = "all" if made == possible else f"{made:,} of"
        why = "" if made == possible else f" with {LEAST_COMMON} or more common outputs"
        return f"mean over {which} {possible:,} pairs of raters{why}"

    def count_defined(self, coefficient: str) -> int:
        """Return in how many pairs of raters a coefficient has a value."""
        column = next(short for short, name in NAMES.items() if name == coefficient)
        return int(np.isfinite(self.whole.column(column)).sum())

    def weigh(self, units: Floats | None = None, raters: Floats | None = None) -> PairTables:
        """Return the pairs with every unit and every rater counted as often as its weight says."""
        if units is None:
            return self.whole if raters is None else self._reweigh(raters)
        return self._measure(units, raters)

    def frame(self) -> "pd.DataFrame":
        """Return every pair: its raters, the outputs they share, and every coefficient of the two."""
        import pandas as pd

        names = np.array(self.table.raters, dtype=object)
        found = {"a": names[self.whole.first], "b": names[self.whole.second]}
        columns = {NAMES[name]: self.whole.by_pair[:, i] for i, name in enumerate(COLUMNS)}
        return pd.DataFrame(found | {"n": self.whole.common.astype(np.int64)} | columns)

    def _reweigh(self, raters: Floats) -> PairTables:
        return replace(self.whole, weight=raters[self.whole.first] * raters[self.whole.second])

    def _measure(self, units: Floats, raters: Floats | None) -> PairTables:
        table = self.table
        first, second, common, by_pair, entered = measure_pairs(
            self._start,
            self._unit,
            self._code,
            table.start,
            table.rater,
            table.code,
            table.categories,
            units,
            self._room,
            LEAST_COMMON,
        )
        weight = np.ones(len(first)) if raters is None else raters[first] * raters[second]
        return PairTables(first, second, common, by_pair, weight, table, entered)


def measure_each_pair(table: RatingTable) -> "pd.DataFrame":
    """Return one row per pair of raters: a, b, n (outputs both rated) and every coefficient of two raters."""
    return PreparedPairs(table).frame()
