"""Looks at a study before its end: how much of the error each may spend, and the critical values.

The test statistics of looks at shares t₁ < … < t_K = 1 of the information are normal with correlation
√(t_j/t_k). A spending function says how much of α, a side, may be used up by then (Lan & DeMets 1983,
doi:10.1093/biomet/70.3.659); the critical values follow one by one, from the density of the statistic among
studies that go on (Armitage, McPherson & Rowe 1969, doi:10.2307/2343787).
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import e, log, sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from panelist.core.errors import PanelistError, UnknownName, did_you_mean
from panelist.numerics.arrays import Floats

SPENDING: dict[str, Callable[[float, float], float]] = {
    "obrien-fleming": lambda alpha, t: float(2 * ndtr(-float(ndtri(1 - alpha / 2)) / sqrt(t))),
    "pocock": lambda alpha, t: alpha * log(1 + (e - 1) * t),
}
"""What may be spent of α, a side, up to a share t of the information."""
_NODES, _LOWEST = 300, -9.0
_INFORMATIVE = 0.85  # of a latent judgement, what remains in a rating


def find_critical(rates: Sequence[float], spending: str, alpha: float = 0.05) -> tuple[float, ...]:
    """Return the critical |z| at each look, two-sided: both sides spend half of ``alpha``.

    >>> [round(c, 3) for c in find_critical((0.5, 1.0), "obrien-fleming")]
    [2.963, 1.969]
    """
    if spending not in SPENDING:
        raise UnknownName(f"No spending is called {spending!r}. {did_you_mean(spending, SPENDING)}")
    rising = all(a < b for a, b in pairwise((0.0, *rates)))
    if not rates or not rising or rates[-1] > 1:
        shown = ", ".join(f"{rate:g}" for rate in rates)
        raise PanelistError(f"Looks are at rising shares of the information, 1 at most. Got {shown}.")
    spend, critical, walk, before = SPENDING[spending], list[float](), _Walk(), 0.0
    for rate in rates:
        spent = spend(alpha / 2, rate)
        c = walk.solve(rate, spent - before)
        walk.go_on(rate, c)
        critical.append(c)
        before = spent
    return tuple(critical)


def find_crossing(rates: Sequence[float], critical: Sequence[float]) -> float:
    """Return the probability, a side, that a study without any difference crosses one of its boundaries."""
    walk, total = _Walk(), 0.0
    for rate, c in zip(rates, critical, strict=True):
        total += walk.cross(rate, c)
        walk.go_on(rate, c)
    return total


class _Walk:
    """The score S = Z√t of studies that go on: nodes, and their density times weights."""

    def __init__(self) -> None:
        self._rate, self._nodes, self._mass = 0.0, np.zeros(1), np.ones(1)
        self._base = np.polynomial.legendre.leggauss(_NODES)

    def cross(self, rate: float, c: float) -> float:
        """Return the probability of crossing at this look, and not before."""
        away = (c * sqrt(rate) - self._nodes) / sqrt(rate - self._rate)
        return float(self._mass @ ndtr(-away))

    def solve(self, rate: float, wanted: float) -> float:
        """Return the critical value that is crossed with this probability."""
        low, high = 0.0, 40.0
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if self.cross(rate, middle) > wanted else (low, middle)
        return (low + high) / 2

    def go_on(self, rate: float, c: float) -> None:
        """Keep the studies that do not cross."""
        x, weights = self._base
        low, high = _LOWEST * sqrt(rate), c * sqrt(rate)
        nodes: Floats = low + (high - low) * (x + 1) / 2
        step = sqrt(rate - self._rate)
        density = np.exp(-0.5 * ((nodes[:, None] - self._nodes) / step) ** 2) / (step * sqrt(2 * np.pi))
        self._mass = (density @ self._mass) * weights * (high - low) / 2
        self._nodes, self._rate = nodes, rate


def find_variance(
    raters: float, items: float, ratings: float, slopes: tuple[float, float], residual: float = 1.0
) -> float:
    """Return the variance of a difference of two systems, up to a factor that all looks share.

    ``ratings`` are those of each system, ``slopes`` the SDs over raters and over items of the difference, in
    the unit of ``residual``.
    """
    by_rater, by_item = slopes
    return by_rater**2 / raters + by_item**2 / items + 2 * residual**2 / (_INFORMATIVE * ratings)
