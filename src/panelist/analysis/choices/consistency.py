"""How consistent raters are: with the order of all, and with themselves.

A rater who prefers a to b, b to c and c to a, by the majority of their answers to each pair, has a circular
triad (Kendall & Babington Smith 1940, doi:10.1093/biomet/31.3-4.324). One who answers at random has them in
a quarter of all triads.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from panelist.analysis.choices.trials import ChoiceTrials
from panelist.numerics.arrays import Floats

LEAST = 5  # decided comparisons of a rater below which a share says nothing
BY_CHANCE = 0.25  # of triads are circular where answers are random


@dataclass(frozen=True)
class RaterConsistency:
    """One rater: the share of comparisons won by the stronger system, and the circular triads."""

    rater: str
    comparisons: int
    share: float
    circular: int
    triads: int


def measure_consistency(trials: ChoiceTrials, theta: Floats) -> tuple[RaterConsistency, ...]:
    """Return how consistent every rater with enough comparisons is, the least consistent first.

    ``theta`` are the strengths by all answers, the rater's own among them.
    """
    trial, winner, loser = trials.list_wins()
    rater, first, second = trials.rater[trial], trials.system[winner], trials.system[loser]
    k = len(trials.systems)
    found = []
    for at, name in enumerate(trials.raters):
        mine = (rater == at) & (first != second)
        n = int(mine.sum())
        if n < LEAST:
            continue
        wins = np.bincount(first[mine] * k + second[mine], minlength=k * k).reshape(k, k)
        lead = np.sign(wins - wins.T)
        circular = total = 0
        for a, b, c in combinations(np.flatnonzero(lead.any(axis=1)).tolist(), 3):
            ring = lead[a, b], lead[b, c], lead[c, a]
            if 0 in ring:
                continue
            total += 1
            circular += abs(sum(ring)) == 3
        share = float((theta[first[mine]] > theta[second[mine]]).mean())
        found.append(RaterConsistency(name, n, share, circular, total))
    return tuple(sorted(found, key=lambda one: (one.share, one.rater)))


def tell_consistency(raters: tuple[RaterConsistency, ...]) -> str:
    """Return the consistency of all raters in words; empty where none has enough comparisons."""
    if not raters:
        return ""
    n = sum(one.comparisons for one in raters)
    share = sum(one.share * one.comparisons for one in raters) / n
    least = raters[0]
    said = f"Raters choose the stronger system in {100 * share:.0f} % of {n:,} decided comparisons"
    if len(raters) > 1:
        said += f"; least often {least.rater} ({100 * least.share:.0f} % of {least.comparisons:,})"
    triads, circular = sum(one.triads for one in raters), sum(one.circular for one in raters)
    if triads:
        said += (
            f". {circular:,} of {triads:,} triads of their own majorities are circular "
            f"({100 * circular / triads:.0f} %; {100 * BY_CHANCE:.0f} % by chance)"
        )
    return f"{said}."
