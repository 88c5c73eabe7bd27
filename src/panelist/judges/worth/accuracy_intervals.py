"""Intervals of pairwise accuracy, about other items: an item is drawn with all its outputs."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, nan

import numpy as np

from panelist.judges.worth.accuracy import TieAccuracy, normal_p, pairs_of_outputs
from panelist.judges.worth.ceiling import Draws, most_resamples
from panelist.judges.worth.levels import draw_weights, percentile
from panelist.numerics.arrays import Floats

FEWEST_SYSTEMS = 3  # with two there is one p-value each, and no interval covers
BLOCK = 4_000_000  # differences held at once


def resample_soft_accuracy(people: Floats, judge: Floats, draws: Draws) -> tuple[float, float]:
    """Return the ends of soft pairwise accuracy of as many items as these, p by the normal.

    The plain percentile interval: p-values vary more in resamples than in data, so that it errs on the wide
    side (docs/judges.md); the expanded one would be wider still.
    """
    there = np.isfinite(people) & np.isfinite(judge)
    rows = there.any(axis=1)
    people, judge, there = people[rows], judge[rows], there[rows]
    s, t = np.triu_indices(people.shape[1], 1)
    met = (there[:, s] & there[:, t]).any(axis=0)
    s, t = s[met], t[met]
    if there.any(axis=0).sum() < FEWEST_SYSTEMS or not len(s):
        return nan, nan
    resamples = min(draws.resamples, most_resamples(len(people) * len(s)))
    step = max(1, BLOCK // len(people))
    apart = np.zeros(resamples)
    for start in range(0, len(s), step):
        a, b = s[start : start + step], t[start : start + step]
        both = there[:, a] & there[:, b]
        y, f = (np.where(both, grid[:, a] - grid[:, b], 0.0) for grid in (people, judge))
        columns = (y, y * y, f, f * f)
        parts = []
        for weights in draw_weights(len(people), resamples, draws.seed):
            sum_y, square_y, sum_f, square_f = (weights @ one for one in columns)
            parts.append(np.abs(normal_p(sum_y, square_y) - normal_p(sum_f, square_f)).sum(axis=1))
        apart += np.concatenate(parts)
    low, high = percentile(1 - apart / len(s), draws.confidence)
    return max(low, 0.0), min(high, 1.0)


def add_interval(ties: TieAccuracy, people: Floats, judge: Floats, draws: Draws) -> TieAccuracy:
    """Return the accuracy on outputs with the ends of its split-half value, each half's epsilon held."""
    if not isfinite(ties.split_half):
        return ties
    pairs = pairs_of_outputs(people, judge)
    right = np.where(
        pairs.even, pairs.right(pairs.best(~pairs.even)[1]), pairs.right(pairs.best(pairs.even)[1])
    )
    hits = np.bincount(pairs.item, weights=pairs.weight * right)
    even = np.bincount(pairs.item, weights=pairs.even * pairs.weight) > 0
    sums = np.column_stack([hits * even, even, hits * ~even, ~even]).astype(np.float64)
    drawn = []
    resamples = min(draws.resamples, most_resamples(len(sums)))
    for weights in draw_weights(len(sums), resamples, draws.seed):
        first, n_first, second, n_second = (weights @ sums).T
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn.append((first / n_first + second / n_second) / 2)
    low, high = percentile(np.concatenate(drawn), draws.confidence, len(sums))
    return replace(ties, low=max(low, 0.0), high=min(high, 1.0))
