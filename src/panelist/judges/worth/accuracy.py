"""Pairwise accuracy: of systems, plain and soft, and of outputs with calibrated ties (docs/judges.md).

Thompson et al. 2024 (soft pairwise accuracy) and Deutsch, Foster & Freitag 2023 (arXiv:2305.14324, ties): the
rules of the WMT metrics task. Systems are in alphabetical order, on which "≥" depends with few items.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import nan

import numpy as np
from scipy.special import ndtr

from panelist.core.seeds import stream
from panelist.judges.worth.ceiling import Draws, most_resamples
from panelist.judges.worth.levels import ROUND, draw_weights, percentile, system_means
from panelist.numerics.arrays import Bools, Floats, Longs

FLIPS = 1000
FEWEST_SYSTEMS = 3  # for an interval of soft accuracy


@dataclass(frozen=True)
class TieAccuracy:
    """Accuracy on pairs of outputs within items, a judge's ties being differences of at most ``epsilon``.

    ``best`` takes the epsilon that maximises it, and so is optimistic; ``split_half`` takes it from the even
    items for the odd ones, and back; ``low`` and ``high`` are its ends, about other items. ``ties_only``
    calls every pair a tie: what must be beaten.
    """

    at_zero: float
    best: float
    epsilon: float
    split_half: float
    ties_only: float
    low: float = nan
    high: float = nan


def accuracy_of_systems(people: Floats, judge: Floats) -> float:
    """Return the share of pairs of systems that people and judge order alike by their means."""
    there = np.isfinite(people) & np.isfinite(judge)
    y, f = system_means(people, there), system_means(judge, there)
    s, t = np.triu_indices(len(y), 1)
    if not len(s):
        return nan
    return float((np.sign(y[s] - y[t]) == np.sign(f[s] - f[t])).mean())


def soft_accuracy(people: Floats, judge: Floats, *, flips: int | None = FLIPS, seed: int = 0) -> float:
    """Return 1 − mean |pʸ − pᶠ| over pairs of systems, p being one-sided that the first is above the second.

    By random sign flips of items' differences, the same for all pairs; without ``flips`` by the normal.
    """
    tables = _differences_of_systems(people, judge)
    if not tables[0].size:
        return nan
    if flips is None:
        y, f = (_normal(d.sum(axis=0), (d**2).sum(axis=0)) for d in tables)
    else:
        signs = _toss(seed, flips, len(people))
        y, f = (_flip(d, signs) for d in tables)
    return 1.0 - float(np.abs(y - f).mean())


def resample_soft_accuracy(people: Floats, judge: Floats, draws: Draws) -> tuple[float, float]:
    """Return the ends of soft accuracy of as many items as these, about other items, p by the normal.

    The plain percentile interval: p-values vary more in resamples than in data, so that it errs on the wide
    side (docs/judges.md); the expanded one would be wider still. With two systems there is one p-value each,
    and no interval covers.
    """
    there = np.isfinite(people) & np.isfinite(judge)
    rows = there.any(axis=1)
    y, f = _differences_of_systems(people[rows], judge[rows])
    if not y.size or there.any(axis=0).sum() < FEWEST_SYSTEMS:
        return nan, nan
    columns = (y, y * y, f, f * f)
    apart = []
    for weights in draw_weights(len(y), min(draws.resamples, most_resamples(y.size)), draws.seed):
        sum_y, squares_y, sum_f, squares_f = (weights @ one for one in columns)
        apart.append(np.abs(_normal(sum_y, squares_y) - _normal(sum_f, squares_f)).mean(axis=1))
    low, high = percentile(1 - np.concatenate(apart), draws.confidence)
    return max(low, 0.0), min(high, 1.0)


def _differences_of_systems(people: Floats, judge: Floats) -> tuple[Floats, Floats]:
    """Return people's and the judge's differences, items × pairs of systems; 0 where one is missing."""
    there = np.isfinite(people) & np.isfinite(judge)
    s, t = np.triu_indices(people.shape[1], 1)
    both = there[:, s] & there[:, t]
    met = both.any(axis=0)
    y, f = (np.where(both, grid[:, s] - grid[:, t], 0.0)[:, met] for grid in (people, judge))
    return y, f


@lru_cache(maxsize=1)
def _toss(seed: int, flips: int, n: int) -> Floats:
    """Return random signs, the same for all judges."""
    coins = stream(seed, "judges", "flips").integers(0, 2, size=(flips, n), dtype=np.int8)
    return coins.astype(np.float64) * 2.0 - 1.0


def _normal(total: Floats, squares: Floats) -> Floats:
    """Return p of differences from their sum and sum of squares, as the limit of many flips."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = total / np.sqrt(squares)
    return np.asarray(np.where(squares > 0, ndtr(-z), 0.5))


def _flip(differences: Floats, signs: Floats) -> Floats:
    """Return the share of flips whose sum is at least the one seen."""
    seen = differences.sum(axis=0)
    slack = 1e-9 * np.maximum(np.abs(differences).sum(axis=0), 1.0)
    return np.asarray((signs @ differences >= seen - slack).mean(axis=0))


def accuracy_of_outputs(people: Floats, judge: Floats, draws: Draws | None = None) -> TieAccuracy:
    """Return the accuracy on pairs of outputs within items, averaged over items, and its interval."""
    pairs = pairs_of_outputs(people, judge)
    if not len(pairs.y):
        return TieAccuracy(nan, nan, nan, nan, nan)
    best, epsilon = pairs.best(np.ones(len(pairs.y), dtype=bool))
    sums = pairs.split_halves()
    low, high = (nan, nan) if draws is None else _resample_halves(sums, draws)
    return TieAccuracy(
        at_zero=pairs.at(0.0),
        best=best,
        epsilon=epsilon,
        split_half=float(_mean_of_halves(sums.sum(axis=0))),
        ties_only=pairs.at(np.inf),
        low=low,
        high=high,
    )


def _resample_halves(sums: Floats, draws: Draws) -> tuple[float, float]:
    """Return the ends of the split-half accuracy, each half's epsilon held."""
    resamples = min(draws.resamples, most_resamples(len(sums)))
    parts = draw_weights(len(sums), resamples, draws.seed)
    drawn = np.concatenate([_mean_of_halves(weights @ sums) for weights in parts])
    low, high = percentile(drawn, draws.confidence, len(sums))
    return max(low, 0.0), min(high, 1.0)


def _mean_of_halves(sums: Floats) -> Floats:
    """Return the mean accuracy of the two halves from their sums (OutputPairs.split_halves)."""
    hits, n = sums[..., :2], sums[..., 2:]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((hits / n).mean(axis=-1))


def pairs_of_outputs(people: Floats, judge: Floats) -> OutputPairs:
    """Return the pairs of outputs within items that both have, items being numbered from 0."""
    there = np.isfinite(people) & np.isfinite(judge)
    s, t = np.triu_indices(people.shape[1], 1)
    both = there[:, s] & there[:, t]
    n = both.sum(axis=1)
    y: Floats = np.round(np.where(both, people[:, s] - people[:, t], 0.0), ROUND).astype(np.float64)
    f: Floats = np.round(np.where(both, judge[:, s] - judge[:, t], 0.0), ROUND).astype(np.float64)
    weight = np.where(both, 1.0 / np.maximum(n, 1)[:, None], 0.0)
    item = np.repeat(np.arange(int((n > 0).sum())), n[n > 0])
    return OutputPairs(y[both], f[both], weight[both], item)


@dataclass(frozen=True, eq=False)
class OutputPairs:
    """Pairs of outputs: people's difference, the judge's, the weight within the item, and the item."""

    y: Floats
    f: Floats
    weight: Floats
    item: Longs

    def right(self, epsilon: float) -> Bools:
        """Return whether each pair is called as people call it, at an epsilon."""
        tie = np.abs(self.f) <= epsilon
        alike = (np.sign(self.y) == np.sign(self.f)) & (self.y != 0)
        return np.asarray(np.where(tie, self.y == 0, alike))

    def at(self, epsilon: float) -> float:
        """Return the accuracy at an epsilon."""
        return float((self.weight * self.right(epsilon)).sum() / self.weight.sum())

    def split_halves(self) -> Floats:
        """Return for each item its accuracy at the other half's epsilon, even and odd, and 1 for its half."""
        n = int(self.item[-1]) + 1
        sums = np.zeros((n, 4))
        for half in (0, 1):
            own, other = self.item % 2 == half, self.item % 2 != half
            sums[half::2, 2 + half] = 1.0
            if own.any() and other.any():
                hit = self.weight * self.right(self.best(other)[1]) * own
                sums[:, half] = np.bincount(self.item, weights=hit, minlength=n)
        return sums

    def best(self, side: Bools) -> tuple[float, float]:
        """Return the highest accuracy of these pairs and the smallest epsilon that reaches it."""
        y, f, w = self.y[side], self.f[side], self.weight[side]
        size = np.abs(f)
        values, place = np.unique(np.concatenate([[0.0], size]), return_inverse=True)
        place = place[1:]
        k = len(values)
        tied = np.bincount(place, weights=w * (y == 0), minlength=k)  # right once epsilon reaches them
        apart = np.bincount(place, weights=w * ((np.sign(y) == np.sign(f)) & (y != 0)), minlength=k)
        accuracy = (np.cumsum(tied) + apart.sum() - np.cumsum(apart)) / w.sum()
        at = int(np.argmax(np.round(accuracy, 12)))
        return float(accuracy[at]), float(values[at])
