"""Exact intervals of a standard deviation and of a coefficient of variation, for a few normal scores.

With n scores of mean m and standard deviation s, ν = n − 1:

- ν s²/σ² is χ² with ν degrees of freedom, which gives the interval of σ;
- √n m/s is noncentral t with ν degrees of freedom and noncentrality √n/CV, CV = σ/μ. The CVs for which the
  observed value lies in neither tail are the interval of CV (Johnson & Welch 1940, doi:10.2307/2332616);
  McKay's and Vangel's formulas approximate it.

Both hold their level for any n from two up, and neither goes below 0. The upper end of a CV is infinite where
the scores do not even show that their mean is above 0. docs/reproducing.md has the coverage by simulation.
"""

from functools import cache
from math import inf, nan, sqrt

import numpy as np

from panelist.numerics.arrays import Floats

FAR = 9.0  # standard normal values beyond this are never met
NEVER = 1e-17  # the probability of a tail that is never met
NODES = 160


def bound_sd(s: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of σ; nan for scores that are all equal, which say nothing about their
    spread.

    >>> [round(end, 3) for end in bound_sd(1.0, 2)], [round(end, 3) for end in bound_sd(1.0, 5)]
    ([0.446, 31.91], [0.599, 2.874])
    """
    from scipy.special import chdtri

    if s == 0:
        return nan, nan
    tail = (1 - confidence) / 2
    low, high = (s * sqrt((n - 1) / float(chdtri(n - 1, share))) for share in (tail, 1 - tail))
    return low, high


def bound_cv(m: float, s: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of σ/μ as a share; nan where the mean is not above 0 or all scores are equal.

    >>> [round(end, 4) for end in bound_cv(10.0, 1.0, 3)], bound_cv(10.0, 2.0, 2)[1]
    ([0.0519, 0.672], inf)
    """
    from scipy.optimize import brentq
    from scipy.special import chdtri, stdtr

    if m <= 0 or s == 0:
        return nan, nan
    t, tail = sqrt(n) * m / s, (1 - confidence) / 2
    most = t * sqrt(float(chdtri(n - 1, tail / 2)) / (n - 1)) + FAR

    def at(share: float) -> float:
        found = brentq(lambda ncp: find_below(t, n - 1, ncp) - share, 0.0, most, xtol=1e-12, rtol=1e-12)
        return float(sqrt(n) / found)

    shown = float(stdtr(n - 1, t)) > 1 - tail  # that the mean is above 0
    return at(tail), at(1 - tail) if shown else inf


def find_below(t: float, df: float, ncp: float) -> float:
    """Return P(T ≤ t) of noncentral t, for t above 0.

    Integrated over the normal part z of T = (z + ncp)/u: that u is at least (z + ncp)/t is a χ² tail, smooth
    in z. It is 1 below the values of u that are ever met and 0 above them, so that a fixed quadrature between
    these holds for noncentralities and degrees of freedom of thousands as well.
    """
    from scipy.special import gammaincc, gammainccinv, gammaincinv, ndtr

    least, most = (sqrt(2 * float(inverse(df / 2, NEVER)) / df) for inverse in (gammaincinv, gammainccinv))
    low, high = (min(max(t * u - ncp, -FAR), FAR) for u in (least, most))
    x, weights = _nodes()
    z = low + (high - low) * (x + 1) / 2
    tail = gammaincc(df / 2, df * (z + ncp) ** 2 / (2 * t * t))
    density = np.exp(-z * z / 2) / sqrt(2 * np.pi)
    return float(ndtr(low)) + float((high - low) / 2 * (weights * density * tail).sum())


@cache
def _nodes() -> tuple[Floats, Floats]:
    x, weights = np.polynomial.legendre.leggauss(NODES)
    return x, weights
