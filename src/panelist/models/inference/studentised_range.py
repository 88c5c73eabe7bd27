"""The studentised range: the distribution behind Tukey's test of all pairs.

Of k independent standard normal values Z with range R = max Z − min Z, and an independent
s² ~ χ²_ν / ν, the studentised range is q = R / s. Both integrals below have smooth integrands that
vanish at both ends, so the trapezoidal rule on an even grid converges geometrically (Trefethen &
Weideman 2014, SIAM Review 56, doi:10.1137/130932132): a hundred points give twelve digits.
"""

from functools import lru_cache

import numpy as np
from scipy.special import lambertw, ndtr, ndtri, stdtrit

from panelist.models.arrays import Floats

_STEP, _REACH = 0.125, 8.0
_GRID = np.arange(-_REACH, _REACH + _STEP / 2, _STEP)
_TAIL = 45.0  # the density of log s is cut where it has fallen by exp(-45)
_MANY = 1e10  # degrees of freedom beyond which s is 1 to ten digits
_CHUNK = 4096  # values of the range integrated at once, so that memory stays small


def range_tail(w: Floats, k: int) -> Floats:
    """Return P(R > w), elementwise, for the range R of ``k`` standard normal values.

    With z the largest value, P(R > w) = k ∫ φ(z) {Φ(z)^(k−1) − [Φ(z) − Φ(z−w)]^(k−1)} dz. The bracket is
    formed without subtraction, so that tails keep their relative accuracy (1 − P(R ≤ w) would lose it).

    >>> float(range_tail(np.array([3.633160]), 4)[0].round(6))  # 5 % point of four means, infinite df
    0.05
    """
    flat = np.maximum(np.asarray(w, dtype=float).ravel(), 0.0)
    tail = np.empty_like(flat)
    for start in range(0, flat.size, _CHUNK):
        part = flat[start : start + _CHUNK, None]
        z = part / 2 + _GRID
        below = ndtr(z)
        with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
            share = np.where(below > 0, ndtr(z - part) / below, 0.0)
            outside = -np.expm1((k - 1) * np.log1p(-np.minimum(share, 1.0)))
            values = np.exp(-z * z / 2) * below ** (k - 1) * outside
        tail[start : start + _CHUNK] = values.sum(axis=1)
    whole: Floats = np.minimum(tail * (k * _STEP / np.sqrt(2 * np.pi)), 1.0)
    return whole.reshape(np.shape(w))


def studentised_range_tail(q: Floats, k: int, df: Floats) -> Floats:
    """Return P(Q > q) for ``k`` means and ``df`` degrees of freedom (R: ``ptukey(q, k, df, lower = FALSE)``).

    ``q`` and ``df`` are broadcast; ``df`` may be infinite and need not be whole. nan gives nan.
    """
    q, df = np.broadcast_arrays(np.asarray(q, dtype=float), np.asarray(df, dtype=float))
    tail: Floats = np.full(q.shape, np.nan)
    known = np.isfinite(q) & (df > 0)
    tail[(q == np.inf) & (df > 0)] = 0.0
    many = known & (df >= _MANY)
    tail[many] = range_tail(q[many], k)
    for value in np.unique(df[known & ~many]):
        here = known & (df == value)
        s, weight = _scale_nodes(float(value))
        tail[here] = range_tail(np.multiply.outer(q[here], s), k) @ weight
    return np.minimum(tail, 1.0, out=tail)


def studentised_range_quantile(level: float, k: int, df: Floats) -> Floats:
    """Return q with P(Q ≤ q) = ``level``, elementwise over ``df`` (R: ``qtukey(level, k, df)``)."""
    df = np.asarray(df, dtype=float)
    flat = [_quantile(level, k, min(float(value), _MANY)) for value in df.ravel()]
    return np.array(flat, dtype=float).reshape(df.shape)


@lru_cache(maxsize=1024)
def _scale_nodes(df: float) -> tuple[Floats, Floats]:
    """Return nodes and weights for the mean over s, s² ~ χ²_df / df, on an even grid of log s.

    The density of x = log s is proportional to exp{df (x − exp(2x)/2)}; it has fallen by exp(−45) where
    exp(2x) − 2x = 1 + 90/df, whose two roots are branches of Lambert's W. Below 0.13 degrees of freedom
    the left end is held at −350 (the root would overflow); what lies beyond weighs less than 1e-7.
    """
    c = min(1 + 2 * _TAIL / df, 700.0)
    left, right = (float((-c - lambertw(-np.exp(-c), branch).real) / 2) for branch in (0, -1))
    x = np.linspace(left, right, max(64, int(np.ceil((right - left) / 0.1))))
    logs = df * (x - np.exp(2 * x) / 2)
    weight = np.exp(logs - logs.max())
    return np.exp(x), weight / weight.sum()


@lru_cache(maxsize=4096)
def _quantile(level: float, k: int, df: float) -> float:
    """Return one quantile by bracketing: Tukey's lies between the unadjusted and Bonferroni's."""
    if not df > 0:
        return float("nan")
    pairs = k * (k - 1) / 2
    low, high = (np.sqrt(2) * _t_quantile(1 - (1 - level) / (2 * m), df) for m in (1.0, pairs))
    if k == 2:
        return float(low)
    from scipy.optimize import brentq  # late: 0.1 s that only intervals need

    target = np.log1p(-level)

    def excess(q: float) -> float:
        return float(np.log(studentised_range_tail(np.array(q), k, np.array(df))) - target)

    return float(brentq(excess, low * (1 - 1e-9), high * (1 + 1e-9), xtol=1e-12, rtol=1e-13))


def _t_quantile(level: float, df: float) -> float:
    return float(ndtri(level) if df >= _MANY else stdtrit(df, level))
