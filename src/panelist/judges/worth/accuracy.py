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
from panelist.judges.worth.levels import ROUND, system_means
from panelist.numerics.arrays import Bools, Floats, Longs

FLIPS = 1000


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
    there = np.isfinite(people) & np.isfinite(judge)
    s, t = np.triu_indices(people.shape[1], 1)
    both = there[:, s] & there[:, t]
    used = both.any(axis=0)
    if not used.any():
        return nan
    tables = [np.where(both, values[:, s] - values[:, t], 0.0)[:, used] for values in (people, judge)]
    if flips is None:
        y, f = (normal_p(d.sum(axis=0), (d**2).sum(axis=0)) for d in tables)
    else:
        signs = _toss(seed, flips, len(people))
        y, f = (_flip(d, signs) for d in tables)
    return 1.0 - float(np.abs(y - f).mean())


@lru_cache(maxsize=1)
def _toss(seed: int, flips: int, n: int) -> Floats:
    """Return random signs, the same for all judges."""
    coins = stream(seed, "judges", "flips").integers(0, 2, size=(flips, n), dtype=np.int8)
    return coins.astype(np.float64) * 2.0 - 1.0


def normal_p(total: Floats, squares: Floats) -> Floats:
    """Return p of differences from their sum and sum of squares, as the limit of many flips."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = total / np.sqrt(squares)
    return np.asarray(np.where(squares > 0, ndtr(-z), 0.5))


def _flip(differences: Floats, signs: Floats) -> Floats:
    """Return the share of flips whose sum is at least the one seen."""
    seen = differences.sum(axis=0)
    slack = 1e-9 * np.maximum(np.abs(differences).sum(axis=0), 1.0)
    return np.asarray((signs @ differences >= seen - slack).mean(axis=0))


def accuracy_of_outputs(people: Floats, judge: Floats) -> TieAccuracy:
    """Return the accuracy on pairs of outputs within items, averaged over items."""
    pairs = pairs_of_outputs(people, judge)
    if not len(pairs.y):
        return TieAccuracy(nan, nan, nan, nan, nan)
    every = np.ones(len(pairs.y), dtype=bool)
    best, epsilon = pairs.best(every)
    halves = []
    for side in (pairs.even, ~pairs.even):
        if side.any() and (~side).any():
            halves.append(pairs.at(~side, pairs.best(side)[1]))
    return TieAccuracy(
        at_zero=pairs.at(every, 0.0),
        best=best,
        epsilon=epsilon,
        split_half=float(np.mean(halves)) if halves else nan,
        ties_only=pairs.at(every, np.inf),
    )


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

    @property
    def even(self) -> Bools:
        """Whether the item is one of the even half."""
        return np.asarray(self.item % 2 == 0)

    def right(self, epsilon: float) -> Bools:
        """Return whether each pair is called as people call it, at an epsilon."""
        tie = np.abs(self.f) <= epsilon
        alike = (np.sign(self.y) == np.sign(self.f)) & (self.y != 0)
        return np.asarray(np.where(tie, self.y == 0, alike))

    def at(self, side: Bools, epsilon: float) -> float:
        """Return the accuracy of these pairs at an epsilon."""
        w = self.weight[side]
        return float((w * self.right(epsilon)[side]).sum() / w.sum())

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
