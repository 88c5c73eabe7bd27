"""Ranks within trials: the places that follow from them, and what ranks that are shared or missing mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from panelist.numerics.arrays import Bools, Floats, Longs

DECIDED = "decided"
SILENT = "no answer"
TWICE = "not clear"  # two best, an output both best and worst, a ranking of one


def read_ranks(ranks: Floats, of_trial: Longs) -> tuple[Floats, Any, list[str]]:
    """Return the place of each option, the outcome of each trial, and notes."""
    place, outcome = settle_ranks(ranks, of_trial)
    return place, outcome, describe_ranks(ranks, place, of_trial)


def settle_ranks(ranks: Floats, of_trial: Longs) -> tuple[Floats, Any]:
    """Return the places that follow from ranks, and the outcomes.

    Outputs with the same rank are tied; those without one, in a trial that ranks some, are below
    the ranked and tied among themselves.
    """
    n = int(of_trial[-1]) + 1
    sizes = np.bincount(of_trial, minlength=n)
    given = np.bincount(of_trial, weights=np.isfinite(ranks), minlength=n)
    worst = np.full(n, -np.inf)
    np.maximum.at(worst, of_trial, np.where(np.isfinite(ranks), ranks, -np.inf))
    place = np.where(np.isfinite(ranks), ranks, worst[of_trial] + 1)
    highest, lowest = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(highest, of_trial, place)
    np.maximum.at(lowest, of_trial, place)
    outcome = np.full(n, DECIDED, dtype=object)
    outcome[highest == lowest] = "tie"
    outcome[given == 0] = SILENT
    outcome[(sizes < 2) & (given > 0)] = TWICE
    return np.where((outcome == DECIDED)[of_trial], place, np.nan), outcome


def describe_ranks(ranks: Floats, place: Floats, of_trial: Longs) -> list[str]:
    """Return how many rankings share ranks or leave some out, and how that is read."""
    used = np.isfinite(place)
    partial = np.unique(of_trial[used & ~np.isfinite(ranks)])
    ranked = used & np.isfinite(ranks)
    pairs = np.stack([of_trial[ranked], ranks[ranked]], axis=1)
    same, times = np.unique(pairs, axis=0, return_counts=True)
    tied = np.unique(same[times > 1, 0])
    notes = []
    if len(partial):
        notes.append(
            f"{len(partial):,} rankings leave outputs without a rank: these are placed below the "
            "ranked ones, in no order."
        )
    if len(tied):
        notes.append(
            f"{len(tied):,} rankings give a rank more than once: in the model each of the tied is chosen "
            "from all that rank no higher (Breslow 1974), and a tie in the last place says nothing."
        )
    return notes


def are_rankings(ranks: Floats, of_trial: Longs) -> Bools:
    """Return which trials give each rank from 1 to the number of outputs once."""
    order = np.lexsort((ranks, of_trial))
    starts = np.flatnonzero(np.diff(of_trial, prepend=-1))
    sizes = np.bincount(of_trial)
    expected = np.arange(len(of_trial)) - np.repeat(starts, sizes) + 1
    right = ranks[order] == expected
    full: Bools = np.bincount(of_trial[order], weights=right) == sizes
    return full
