"""Krippendorff's alpha: agreement of any number of raters, gaps allowed, at four levels of measurement.

Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. https://repository.upenn.edu/asc_papers/43
"""

import numpy as np

from panelist.agreement.coefficient import Decorator, Level, Undefined, coefficient
from panelist.agreement.statistics.unit_sums import UnitSums
from panelist.numerics.arrays import Floats
from panelist.numerics.kernel import kernel


def _register(level: Level) -> Decorator:
    """Return the decorator of the alpha for one level of measurement."""
    return coefficient(
        f"krippendorff_alpha_{level}", spoken=f"Krippendorff's alpha ({level})", read_by=("krippendorff",),
        unnamed=True, levels=(level,), kind="agreement", statistics=UnitSums,
    )  # fmt: skip


@_register("nominal")
def krippendorff_alpha_nominal(sums: UnitSums) -> float:
    """Krippendorff's alpha for categories without order.

    One less the observed over the expected disagreement; an output with fewer than two ratings is left out.
    """
    observed = sums.mean_over_ratings(sums.disagreements(None))
    n = sums.margins
    return _alpha(sums, observed, float(n.sum() ** 2 - n @ n))


@_register("ordinal")
def krippendorff_alpha_ordinal(sums: UnitSums) -> float:
    """Krippendorff's alpha for ranks: the distance of two points is how many ratings lie between them."""
    n = sums.margins
    middle = np.cumsum(n) - n / 2
    return _alpha(sums, sums.mean_squared(middle), _spread(n, middle))


@_register("interval")
def krippendorff_alpha_interval(sums: UnitSums) -> float:
    """Krippendorff's alpha for numbers whose differences mean something."""
    observed = sums.mean_over_ratings(sums.disagreements(sums.table.categories))
    return _alpha(sums, observed, _spread(sums.margins, sums.table.categories))


@_register("ratio")
def krippendorff_alpha_ratio(sums: UnitSums) -> float:
    """Krippendorff's alpha for numbers with a true zero: differences relative to the size."""
    points = sums.table.categories
    if sums.table.labels:
        raise Undefined("labels have no ratios")
    if (points < 0).any():
        raise Undefined("a ratio scale has no values below zero, and these ratings do")
    observed = sums.mean_over_ratings(sums.ratios(points))
    used = sums.margins > 0
    return _alpha(sums, observed, _ratio_spread(sums.margins[used], points[used]))


def _alpha(sums: UnitSums, observed: float, distances: float) -> float:
    """Return alpha from the observed disagreement and the distances of all ordered pairs of ratings."""
    if distances <= 0:
        raise Undefined(
            "all ratings that can be compared are the same, so there is no disagreement to expect"
        )
    return 1 - observed * sums.margin_pairs / distances


def _spread(counts: Floats, points: Floats) -> float:
    """Return the squared distances of all ordered pairs."""
    total = float(counts.sum())
    centred = points - float(counts @ points) / total
    return 2 * total * float(counts @ centred**2) if np.count_nonzero(counts) > 1 else 0.0


@kernel
def _ratio_spread(counts: Floats, points: Floats) -> float:
    total = 0.0
    for i in range(len(points)):
        for j in range(i):
            ratio = (points[i] - points[j]) / (points[i] + points[j])
            total += 2.0 * counts[i] * counts[j] * ratio * ratio
    return total
