"""Probabilities of ordered categories, given η or averaged over a normal η."""

import numpy as np
from scipy.special import expit, ndtr

from panelist.numerics.arrays import Floats, Longs

# How far from the real line F stays bounded and analytic; the quadrature's step follows from it.
_STRIP = {"logit": np.pi, "cloglog": np.pi / 2, "loglog": np.pi / 2, "cauchit": 1.0}
_REACH = 6.5  # standard deviations; beyond them lies less than 1e-10 of a normal
_MOST_NODES = 600
_CHUNK = 1 << 13  # rows at a time, so that their thresholds stay in the cache


def tails(link: str, x: Floats) -> tuple[Floats, Floats]:
    """Return F(x) and 1 − F(x), each accurate in its own tail.

    >>> tails("logit", np.array([0.0]))
    (array([0.5]), array([0.5]))
    """
    if link == "probit":
        return ndtr(x), ndtr(-x)
    if link == "logit":
        return expit(x), expit(-x)
    if link == "cauchit":
        return np.arctan2(1.0, -x) / np.pi, np.arctan2(1.0, x) / np.pi
    e = np.exp(np.minimum(x if link == "cloglog" else -x, 700.0))
    near, far = -np.expm1(-e), np.exp(-e)
    return (near, far) if link == "cloglog" else (far, near)


def category_probabilities(
    link: str, thresholds: Floats, eta: Floats, variance: Floats, family: str = "cumulative"
) -> Floats:
    """Return P(y = k), one row per η and one column per category, averaged over η + N(0, variance).

    The thresholds are the same for all rows, or a row each.
    """
    if family != "cumulative":
        return _average_steps(family, link, np.atleast_2d(thresholds), eta, variance)
    lower, upper = _average_tails(link, thresholds, eta, variance)
    n = len(eta)
    zeros, ones = np.zeros((n, 1)), np.ones((n, 1))
    below, not_below = np.hstack([zeros, lower]), np.hstack([ones, upper])  # of the category's lower end
    up_to, above = np.hstack([lower, ones]), np.hstack([upper, zeros])
    # The difference of two numbers near 1 loses its digits; take the tail that both are in.
    return np.where(not_below > 0.5, up_to - below, not_below - above)


def _average_tails(link: str, thresholds: Floats, eta: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Return P(y ≤ k) and P(y > k); for probit in closed form, Φ((t − η)/√(1 + variance))."""
    if link == "probit":
        return tails(link, (thresholds - eta[:, None]) / np.sqrt(1.0 + variance)[:, None])
    if not variance.any():
        return tails(link, thresholds - eta[:, None])
    # Rows of a design repeat themselves: few systems, many raters.
    codes = np.arange(len(eta))
    if thresholds.ndim == 1:
        codes, eta, variance = _distinct(eta, variance)
    nodes, weights = _normal_nodes(float(np.sqrt(variance.max())) / _STRIP[link])
    sd = np.sqrt(variance)
    lower = np.zeros((len(eta), thresholds.shape[-1]))
    upper = np.zeros_like(lower)
    for start in range(0, len(eta), _CHUNK):
        part = slice(start, start + _CHUNK)
        for node, weight in zip(nodes, weights, strict=True):
            own = thresholds if thresholds.ndim == 1 else thresholds[part]
            below, above = tails(link, own - (eta[part] + node * sd[part])[:, None])
            lower[part] += weight * below
            upper[part] += weight * above
    return lower[codes], upper[codes]


def step_probabilities(family: str, link: str, thresholds: Floats, eta: Floats) -> Floats:
    """Return P(y = k) given η of sequential or adjacent categories; thresholds (rows or 1, K − 1).

    >>> step_probabilities("sequential", "logit", np.array([[0.0, 0.0]]), np.array([0.0]))
    array([[0.5 , 0.25, 0.25]])
    >>> step_probabilities("adjacent", "logit", np.array([[0.0, 0.0]]), np.array([np.log(2.0)])).round(4)
    array([[0.1429, 0.2857, 0.5714]])
    """
    away = thresholds - eta[:, None]
    none, all_ = np.zeros((len(eta), 1)), np.ones((len(eta), 1))
    if family == "sequential":
        stops, goes_on = tails(link, away)
        reached = np.hstack([all_, np.cumprod(goes_on, axis=1)])
        shares: Floats = reached * np.hstack([stops, all_])
        return shares
    q = np.hstack([none, np.cumsum(-away, axis=1)])
    p = np.exp(q - q.max(axis=1, keepdims=True))
    found: Floats = p / p.sum(axis=1, keepdims=True)
    return found


def _average_steps(family: str, link: str, thresholds: Floats, eta: Floats, variance: Floats) -> Floats:
    """Return the probabilities of step_probabilities, averaged over η + N(0, variance)."""
    if not variance.any():
        return step_probabilities(family, link, thresholds, eta)
    # Softmax has its poles nearer to the real line the more categories there are.
    strip = np.pi / thresholds.shape[1] if family == "adjacent" else _STRIP.get(link, 1.0)
    nodes, weights = _normal_nodes(float(np.sqrt(variance.max())) / strip)
    sd, total = np.sqrt(variance), np.zeros((len(eta), thresholds.shape[1] + 1))
    for node, weight in zip(nodes, weights, strict=True):
        total += weight * step_probabilities(family, link, thresholds, eta + node * sd)
    return total


def _distinct(eta: Floats, variance: Floats) -> tuple[Longs, Floats, Floats]:
    """Return the distinct pairs, and for each row which of them it has."""
    import pandas as pd

    first, _ = pd.factorize(eta)
    second, spreads = pd.factorize(variance)
    codes, pairs = pd.factorize(first * len(spreads) + second)
    place = np.empty(len(pairs), dtype=np.int64)
    place[codes] = np.arange(len(codes))  # any row of the pair will do
    return codes.astype(np.int64), eta[place], variance[place]


def spread_nodes() -> tuple[Floats, Floats]:
    """Return nodes and weights for the mean of a smooth function of a standard normal log spread."""
    return _normal_nodes(1.0)


def _normal_nodes(width: float) -> tuple[Floats, Floats]:
    """Return nodes and weights for the mean of F(c + σx) over a standard normal x.

    The trapezoidal rule, whose error for an integrand analytic within a strip of half width d is about
    exp(−2πd/step) (Trefethen & Weideman 2014, doi:10.1137/130932132). Gauss-Hermite nodes of the same count
    lie too far apart where σ is large. ``width`` is σ over the half width of F's strip, 1/d.
    """
    step = max(min(0.6, 0.25 / width), 2.0 * _REACH / _MOST_NODES)
    half = int(np.ceil(_REACH / step))
    nodes = step * np.arange(-half, half + 1, dtype=np.float64)
    weights: Floats = np.exp(-0.5 * nodes**2)
    return nodes, weights / weights.sum()
