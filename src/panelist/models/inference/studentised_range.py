"""The studentised range: the distribution behind Tukey's test of all pairs.

Of k independent standard normal values Z with range R = max Z − min Z, and an independent
s² ~ χ²_ν / ν, the studentised range is q = R / s. Both integrals below have smooth integrands that
vanish at both ends, so the trapezoidal rule on an even grid converges geometrically (Trefethen &
Weideman 2014, SIAM Review 56, doi:10.1137/130932132): a hundred points give twelve digits.
"""

from functools import lru_cache

import numpy as np
from scipy.special import lambertw, ndtr, ndtri, stdtrit

from panelist.numerics.arrays import Floats

_STEP, _REACH = 0.125, 8.0
_GRID = np.arange(-_REACH, _REACH + _STEP / 2, _STEP)
_TAIL = 45.0  # the density of log s is cut where it has fallen by exp(-45)
_MANY = 1e10  # degrees of freedom beyond which s is 1 to ten digits
_CHUNK = 4096  # values of the range integrated at once, so that memory stays small
_SEVERAL = 200  # different degrees of freedom from which on tails are interpolated
_ENOUGH = 40  # and quantiles, each of which takes ten tails
_PANEL, _NODES = 0.5, 20  # log P(R > w) is a polynomial of degree 19 on every half unit, to 13 digits
_WIDEST = 48.0  # beyond, P(R > w) is below 1e-240
_DEGREES = (8, 16, 32, 64)  # their nodes are nested, so that none is computed twice
_EXACT = 1e-9  # for few degrees of freedom and many means a quantile itself is known no better


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
    places = np.flatnonzero(known & ~many)
    places = places[np.argsort(df.flat[places], kind="stable")]
    values, starts = np.unique(df.flat[places], return_index=True)
    find = range_tail if len(values) < _SEVERAL else _range_tail_by_table
    ends = np.append(starts, len(places))[1:]
    for value, start, end in zip(values, starts, ends, strict=True):
        here = places[start:end]
        s, weight = _scale_nodes(float(value))
        tail.flat[here] = find(np.multiply.outer(q.flat[here], s), k) @ weight
    return np.minimum(tail, 1.0, out=tail)


def studentised_range_quantile(confidence: float, k: int, df: Floats) -> Floats:
    """Return q with P(Q ≤ q) = ``confidence``, elementwise over ``df`` (R: ``qtukey(level, k, df)``)."""
    df = np.asarray(df, dtype=float)
    values, places = np.unique(np.minimum(df.ravel(), _MANY), return_inverse=True)
    found = _interpolate_quantiles(confidence, k, values) if len(values) >= _ENOUGH else None
    if found is None:
        found = np.array([_quantile(confidence, k, float(value)) for value in values])
    quantiles: Floats = found[places].reshape(df.shape)
    return quantiles


def _interpolate_quantiles(confidence: float, k: int, df: Floats) -> Floats | None:
    """Return the quantiles at many degrees of freedom, from a few; None where that would not be exact.

    The quantile is a smooth function of 1/df: its Chebyshev series ends where its terms reach rounding.
    """
    if not (df >= 1).all():  # there it is steep, and nan
        return None
    x = 1 / df
    middle, half = (x.max() + x.min()) / 2, (x.max() - x.min()) / 2
    for degree in _DEGREES:
        nodes = np.cos(np.pi * np.arange(degree + 1) / degree)
        exact = np.array(
            [_quantile(confidence, k, float(1 / max(middle + half * node, 1 / _MANY))) for node in nodes]
        )
        series = np.polynomial.chebyshev.Chebyshev.fit(nodes, exact, degree, domain=[-1, 1])
        if np.abs(series.coef[-3:]).max() < _EXACT * np.abs(exact).min():
            return np.asarray(series((x - middle) / half), dtype=float)
    return None


def _range_tail_by_table(w: Floats, k: int) -> Floats:
    """Return ``range_tail`` of many values from a table of polynomials, the same to 11 digits."""
    flat = np.maximum(np.asarray(w, dtype=float).ravel(), 0.0)
    tail: Floats = np.empty_like(flat)
    inside = flat < _WIDEST
    tail[~inside] = range_tail(flat[~inside], k)
    panel, rest = np.divmod(flat[inside], _PANEL)
    coefficients = _make_table(k)[:, panel.astype(np.intp)]
    x = 2 * rest / _PANEL - 1
    older, newer = np.zeros_like(x), np.zeros_like(x)
    for one in coefficients[:0:-1]:  # Clenshaw
        older, newer = newer, one + 2 * x * newer - older
    tail[inside] = np.exp(coefficients[0] + x * newer - older)
    return tail.reshape(np.shape(w))


@lru_cache(maxsize=8)
def _make_table(k: int) -> Floats:
    """Return the Chebyshev coefficients of log P(R > w), (degree, panel)."""
    from numpy.polynomial.chebyshev import chebpts1, chebvander

    nodes = chebpts1(_NODES)
    begins = np.arange(0.0, _WIDEST, _PANEL)
    values = np.log(range_tail(begins[None, :] + _PANEL * (nodes[:, None] + 1) / 2, k))
    return np.asarray(np.linalg.solve(chebvander(nodes, _NODES - 1), values), dtype=float)


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
def _quantile(confidence: float, k: int, df: float) -> float:
    """Return one quantile by bracketing: Tukey's lies between the unadjusted and Bonferroni's."""
    if not df > 0:
        return float("nan")
    pairs = k * (k - 1) / 2
    low, high = (np.sqrt(2) * _t_quantile(1 - (1 - confidence) / (2 * m), df) for m in (1.0, pairs))
    if k == 2:
        return float(low)
    from scipy.optimize import brentq  # imported late: 0.1 s that only intervals need

    target = np.log1p(-confidence)

    def excess(q: float) -> float:
        return float(np.log(studentised_range_tail(np.array(q), k, np.array(df))) - target)

    low, high = low * (1 - 1e-9), high * (1 + 1e-9)
    if not excess(low) > 0 > excess(high):  # below a twentieth of a degree of freedom nothing can be summed
        return float(high)
    return float(brentq(excess, low, high, xtol=1e-12, rtol=1e-13))


def _t_quantile(confidence: float, df: float) -> float:
    return float(ndtri(confidence) if df >= _MANY else stdtrit(df, confidence))
