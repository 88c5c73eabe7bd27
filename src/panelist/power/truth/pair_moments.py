"""Thresholds, effects and spreads of a pilot from pairs of its ratings, with no integral to approximate.

Two ratings of one rater, or of one item, are cut from two judgements that are jointly normal. How often such
pairs agree says how strongly the judgements correlate, and the correlations of four kinds of pairs say how
much raters, items and their interactions with systems vary. Each is estimated by maximum likelihood of its
pairs, given the thresholds and effects of the margins (Renard, Molenberghs & Geys 2004,
doi:10.1016/S0167-9473(02)00263-3). Near unanimity is not a problem: it is a correlation near one.

    same item, same system, two raters     item + item:system
    same item, two systems, two raters     item
    same rater, same system, two items     rater + rater:system
    same rater, two systems, two items     rater

Variances are shares of the whole; what raters and items leave is the noise of one rating.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.numerics.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_FARTHEST = 8.0  # standard deviations: beyond it lies nothing
_STRONGEST = 0.995  # a correlation that pairs without a disagreement cannot distinguish from one
LEAST_NOISE = 0.005


@dataclass(frozen=True)
class PairComponents:
    """What pairs of ratings say, in standard deviations of the noise of one rating."""

    cuts: Floats
    effects: Floats  # of all systems, the first 0
    rater: float  # variances
    rater_system: float
    item: float
    item_system: float


def estimate_components(frame: "pd.DataFrame", cuts: Floats, effects: Floats) -> PairComponents:
    """Return the components of a table of ratings with columns rater, item, system and code.

    ``cuts`` and ``effects`` are those of the margins: in standard deviations of all judgements of a system.
    ``code`` counts the categories from 0, ``system`` the systems.
    """
    k, K = len(effects), len(cuts) + 1
    alike = [(s, s) for s in range(k)]
    unlike = [(a, b) for a in range(k) for b in range(k) if a != b]
    found = {}
    for kind, counts in _count_pairs(frame, k, K).items():
        table = counts.reshape(k, K, k, K)
        found[kind] = [_correlate(table, cuts, effects, pairs) for pairs in (alike, unlike)]
    whole: dict[str, tuple[float, float]] = {}
    for group in ("item", "rater"):
        # The margins absorb the mean of the raters and items there are, m of the variance T: all pairs seem
        # less alike, those that share neither by −m / (T − m).
        same, across = ((r - r0) / (1.0 - r0) for r, r0 in zip(found[group], found["neither"], strict=True))
        across = min(max(across, 0.0), _STRONGEST)
        whole[group] = across, max(same - across, 0.0)
    explained = sum(map(sum, whole.values()))
    noise = max(1.0 - explained, LEAST_NOISE)
    fit = 1.0 if explained <= 1.0 - LEAST_NOISE else (1.0 - LEAST_NOISE) / explained
    (item, item_system), (rater, rater_system) = (
        (fit * main / noise, fit * crossed / noise) for main, crossed in (whole["item"], whole["rater"])
    )
    scale = float(np.sqrt(1.0 / noise))
    return PairComponents(scale * cuts, scale * effects, rater, rater_system, item, item_system)


def _count_pairs(frame: "pd.DataFrame", n_systems: int, n_categories: int) -> dict[str, Floats]:
    """Return how often two ratings fell into each two cells, a cell being a system and a category.

    Pairs share the ``item`` and not the rater, the ``rater`` and not the item, or ``neither``.
    """
    import pandas as pd

    cell = frame["system"].to_numpy() * n_categories + frame["code"].to_numpy()

    def count(*columns: str) -> Floats:
        index = pd.MultiIndex.from_frame(frame[list(columns)]).factorize()[0]
        counts = np.zeros((int(index.max()) + 1, n_systems * n_categories))
        np.add.at(counts, (index, cell), 1.0)
        pairs: Floats = counts.T @ counts
        return pairs

    both, item, rater = count("item", "rater"), count("item"), count("rater")
    every = np.bincount(cell, minlength=n_systems * n_categories).astype(float)
    neither = np.outer(every, every) - item - rater + both
    return {"item": item - both, "rater": rater - both, "neither": neither}


def _correlate(counts: Floats, cuts: Floats, effects: Floats, pairs: list[tuple[int, int]]) -> float:
    """Return the correlation of the judgements behind pairs of ratings; 0 where there are none."""
    from scipy.optimize import minimize_scalar

    seen = [(a, b, counts[a, :, b, :]) for a, b in pairs if counts[a, :, b, :].sum() > 0]
    if not seen:
        return 0.0

    def lack(r: float) -> float:
        total = 0.0
        for a, b, table in seen:
            shares = find_rectangles(cuts - effects[a], cuts - effects[b], r)
            total -= float((table * np.log(np.maximum(shares, 1e-12))).sum())
        return total

    found: Any = minimize_scalar(lack, bounds=(-_STRONGEST, _STRONGEST), method="bounded")
    return float(found.x)


def find_rectangles(upper: Floats, across: Floats, r: float) -> Floats:
    """Return how often two standard normals with correlation ``r`` fall between cuts, (K, K').

    >>> find_rectangles(np.zeros(1), np.zeros(1), 0.5).round(4).tolist()  # 1/4 + asin(r) / 2π
    [[0.3333, 0.1667], [0.1667, 0.3333]]
    """
    h, k = (
        np.array([-_FARTHEST, *np.clip(one, -_FARTHEST, _FARTHEST), _FARTHEST]) for one in (upper, across)
    )
    below = _find_below(h[:, None], k[None, :], r)
    shares: Floats = np.diff(np.diff(below, axis=0), axis=1)
    return shares


def _find_below(h: Floats, k: Floats, r: float) -> Floats:
    """Return P(X ≤ h, Y ≤ k): Φ(h) Φ(k) and the integral of the density over the correlation, up to r."""
    from scipy.special import ndtr

    half = np.arcsin(r) / 2.0
    angle = half * (_NODES + 1.0)
    sine, cosine = np.sin(angle), np.cos(angle)
    exponent = (h[..., None] ** 2 + k[..., None] ** 2 - 2.0 * h[..., None] * k[..., None] * sine) / (
        2 * cosine**2
    )
    joint: Floats = ndtr(h) * ndtr(k) + half / (2 * np.pi) * (np.exp(-exponent) @ _WEIGHTS)
    return joint
