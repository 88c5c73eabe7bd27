"""Ranks with their uncertainty, read off the pairwise tests."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from panelist.core.errors import UnknownName
from panelist.models.inference.contrasts import PairContrasts
from panelist.numerics.arrays import Ints

Better = Literal["higher", "lower"]
"""Which end of a scale is better."""


def check_better(better: str) -> None:
    """Raise UnknownName unless it names an end of a scale."""
    if better not in ("higher", "lower"):
        raise UnknownName(f"Better must be higher or lower. Got {better!r} instead.")


def rank_intervals(
    pairs: PairContrasts, better: Better = "higher", groups: Sequence[int] | None = None
) -> tuple[Ints, Ints]:
    """Return for each of ``pairs.levels`` its best and its worst rank; rank 1 is the best estimate.

    A system ranks below every system that is significantly better and above every one that is
    significantly worse; with k systems its rank lies between 1 + (number better) and k − (number worse).
    If the tests control the family-wise error (Tukey, Bonferroni, Holm), all these intervals hold at once
    with the confidence of the tests. A difference that is not known (nan) counts as none. With ``groups``,
    a number for each level, ranks are among the k systems of the same group.

    Al Mohamad, Goeman & van Zwet, Simultaneous confidence intervals for ranks with application to ranking
    institutions (Tukey's test read in this way); Al Mohamad, van Zwet, Goeman & Solari (2017),
    https://arxiv.org/abs/1708.02729 (the same as a partitioning procedure).
    """
    position = {name: place for place, name in enumerate(pairs.levels)}
    own = np.zeros(len(position), dtype=int) if groups is None else np.asarray(groups, dtype=int)
    best = np.ones(len(position), dtype=np.int32)
    worst = np.array([(own == one).sum() for one in own], dtype=np.int32)
    for winner, loser in better_pairs(pairs, better):
        best[position[loser]] += 1
        worst[position[winner]] -= 1
    return best, worst


def better_pairs(pairs: PairContrasts, better: Better = "higher") -> list[tuple[str, str]]:
    """Return (winner, loser) for each pair that differs at the level of the comparison."""
    differs = pairs.p_adjusted < 1 - pairs.confidence  # false where p is nan
    sign = 1 if better == "higher" else -1
    rows = zip(pairs.a, pairs.b, sign * pairs.estimate, differs, strict=True)
    return [(a, b) if estimate > 0 else (b, a) for a, b, estimate, differ in rows if differ]
