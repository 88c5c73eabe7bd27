"""Cohen's kappa, and the weighted kappas with linear and quadratic weights.

The weights are the distances of the values themselves, so a point of the scale that nobody used changes
nothing. Cohen, J. (1960), Educational and Psychological Measurement 20, 37-46; Cohen, J. (1968),
Psychological Bulletin 70, 213-220. With more than two raters: the mean over pairs (Light 1971).
"""

from math import sqrt

import numpy as np

from panelist.agreement.coefficient import Decorator, Level, Undefined, coefficient
from panelist.agreement.statistics.rater_pairs import PairTables
from panelist.numerics.arrays import Floats


def kappa_se(counts: Floats, distance: Floats) -> tuple[float, float]:
    """Return kappa of a contingency table and its standard error, with disagreement weights ``distance``.

    Fleiss, J. L., Cohen, J. & Everitt, B. S. (1969). Large sample standard errors of kappa and weighted
    kappa. Psychological Bulletin 72, 323-327.

    >>> table = np.array([[106.0, 10, 4], [22, 28, 10], [2, 12, 6]])
    >>> kappa, se = kappa_se(table, 1 - np.eye(3))
    >>> round(kappa, 6), round(se, 6)
    (0.428571, 0.053711)
    """
    n = float(counts.sum())
    p = counts / n
    weight = 1 - distance / distance.max()
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    observed = float((p * weight).sum())
    expected = float(rows @ weight @ columns)
    kappa = (observed - expected) / (1 - expected)
    row_mean, column_mean = weight @ columns, rows @ weight
    inner = weight - (row_mean[:, None] + column_mean[None, :]) * (1 - kappa)
    spread = float((p * inner**2).sum()) - (kappa - expected * (1 - kappa)) ** 2
    return kappa, sqrt(max(spread, 0.0) / n) / (1 - expected)


def distances(points: Floats, power: int) -> Floats:
    """Return the distances of all pairs of values: 0 for equal or not, 1 linear, 2 quadratic."""
    gaps = np.abs(points[:, None] - points[None, :])
    return np.asarray((gaps > 0).astype(np.float64) if power == 0 else gaps**power)


def _kappa(
    name: str,
    spoken: str,
    column: str,
    power: int,
    levels: tuple[Level, ...] = ("ordinal", "interval", "ratio"),
) -> Decorator:
    """Return the decorator of a kappa, which has a normal interval where there are two raters."""

    def limits(pairs: PairTables, confidence: float) -> tuple[float, float]:
        from scipy.special import ndtri

        counts, points = pairs.cross()
        if len(points) < 2:
            raise Undefined("only one category was ever used")
        kappa, se = kappa_se(counts, distances(points, power))
        reach = float(ndtri(1 - (1 - confidence) / 2)) * se
        return kappa - reach, min(1.0, kappa + reach)

    return coefficient(
        name, spoken=spoken, read_by=("landis_koch", "krippendorff"), levels=levels, kind="agreement",
        statistics=PairTables, needs="pairs", two_raters=True, interval=limits,
        remark=lambda pairs: pairs.say_undefined(column),
    )  # fmt: skip


@_kappa("cohen_kappa", "Cohen's kappa", "cohen", 0, ("nominal",))
def cohen_kappa(pairs: PairTables) -> float:
    """Cohen's kappa: agreement of two raters beyond what their own shares of categories give by chance."""
    return pairs.mean("cohen")


@_kappa("weighted_kappa_linear", "linearly weighted kappa", "linear", 1)
def weighted_kappa_linear(pairs: PairTables) -> float:
    """Weighted kappa, linear: disagreements of two raters count by their distance."""
    return pairs.mean("linear")


@_kappa("weighted_kappa_quadratic", "quadratically weighted kappa", "quadratic", 2)
def weighted_kappa_quadratic(pairs: PairTables) -> float:
    """Weighted kappa, quadratic: disagreements of two raters count by their squared distance."""
    return pairs.mean("quadratic")
