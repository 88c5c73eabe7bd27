"""Units that several people answered about, and one judge: an output with its ratings, or a pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from panelist.numerics.arrays import Floats, Longs


@dataclass(frozen=True, eq=False)
class Units:
    """Answers of people: ``unit`` and ``rater`` as codes, ``y`` as numbers; ``f`` is the judge's, by unit.

    At most one answer per unit and rater; units without an answer of the judge have nan.
    """

    unit: Longs
    rater: Longs
    y: Floats
    f: Floats
    raters: tuple[str, ...]

    def answered(self) -> Units:
        """Return the units that the judge answered."""
        kept = np.isfinite(self.f[self.unit])
        return Units(self.unit[kept], self.rater[kept], self.y[kept], self.f, self.raters)

    @property
    def n_units(self) -> int:
        """How many units people answered about."""
        return int((np.bincount(self.unit, minlength=1) > 0).sum())

    def sums(self) -> tuple[Floats, Floats, Floats]:
        """Return, by unit, the number of answers, their sum, and the sum of their squares."""
        n = len(self.f)
        return (
            np.bincount(self.unit, minlength=n).astype(np.float64),
            np.asarray(np.bincount(self.unit, weights=self.y, minlength=n), dtype=np.float64),
            np.asarray(np.bincount(self.unit, weights=self.y**2, minlength=n), dtype=np.float64),
        )


def make_units(unit: Longs, rater: Longs, y: Floats, f: Floats, raters: tuple[str, ...]) -> Units:
    """Return the units; several answers of one rater about one unit become their mean."""
    key = unit.astype(np.int64) * max(len(raters), 1) + rater
    found, place = np.unique(key, return_inverse=True)
    if len(found) == len(key):
        return Units(unit, rater, y, f, raters)
    mean = np.bincount(place, weights=y) / np.bincount(place)
    return Units(found // max(len(raters), 1), found % max(len(raters), 1), mean, f, raters)
