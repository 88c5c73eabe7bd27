"""Ranks with their uncertainty, read off the pairwise tests."""

import numpy as np

from panelist.models.arrays import Ints
from panelist.models.inference.contrasts import Pairs


def rank_intervals(pairs: Pairs) -> tuple[Ints, Ints]:
    """Return for each of ``pairs.levels`` its best and its worst rank; rank 1 is the highest estimate.

    A system stands below every system that is significantly better and above every one that is
    significantly worse; with k systems its rank lies between 1 + (number better) and k − (number worse).
    If the tests control the family-wise error (Tukey, Bonferroni, Holm), all these intervals hold at once
    with the confidence of the tests. A difference that is not known (nan) counts as none.

    Al Mohamad, Goeman & van Zwet, Simultaneous confidence intervals for ranks with application to ranking
    institutions (Tukey's test read in this way); Al Mohamad, van Zwet, Goeman & Solari (2017),
    https://arxiv.org/abs/1708.02729 (the same as a partitioning procedure).
    """
    position = {name: place for place, name in enumerate(pairs.levels)}
    k = len(position)
    best, worst = np.ones(k, dtype=np.int32), np.full(k, k, dtype=np.int32)
    for winner, loser in better_pairs(pairs):
        best[position[loser]] += 1
        worst[position[winner]] -= 1
    return best, worst


def better_pairs(pairs: Pairs) -> list[tuple[str, str]]:
    """Return (winner, loser) for each pair that differs at the level of the comparison."""
    differs = pairs.p_adjusted < 1 - pairs.level  # false where p is nan
    rows = zip(pairs.a, pairs.b, pairs.estimate, differs, strict=True)
    return [(a, b) if estimate > 0 else (b, a) for a, b, estimate, differ in rows if differ]
