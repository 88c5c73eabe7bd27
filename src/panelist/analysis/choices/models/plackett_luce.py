"""Plackett-Luce strengths from rankings, choices of one and best-worst sets.

A ranking is a chain of choices: the best of all, the best of the rest, and so on (Plackett 1975,
doi:10.2307/2346567). A choice of one is its first link. A best-worst set is two: the best of all by exp(θ),
then the worst of the rest by exp(−θ), the sequential best-worst model of Marley & Louviere (2005,
doi:10.1016/j.jmp.2005.05.003). For pairs all are Bradley & Terry's model.

Where a ranking gives a rank more than once, each of the tied is chosen from all that rank no higher, which
is Breslow's likelihood (1974, doi:10.2307/2529620) of tied times; outputs without a rank are below the
others.
"""

from __future__ import annotations

import numpy as np

from panelist.analysis.choices.models.choice_model import Cluster, Stages, Strengths, stack_stages
from panelist.analysis.choices.models.estimate import estimate_strengths
from panelist.analysis.choices.trials import BEST, DECIDED, WORST, ChoiceTrials
from panelist.numerics.arrays import Floats, Longs

NAME = "plackett-luce"


def fit_plackett_luce(trials: ChoiceTrials, cluster: Cluster = "both") -> Strengths:
    """Return the strengths of the systems; undecided trials say nothing about the order and are not used."""
    return estimate_strengths(NAME, trials, make_stages(trials), cluster, ties=False)


def make_stages(trials: ChoiceTrials) -> Stages:
    """Return the chain of choices that every decided trial is."""
    parts: list[tuple[Longs, Longs, Longs, float]] = []
    for which, options in trials.by_size():
        decided = trials.outcome[which] == DECIDED
        if options.shape[1] < 2 or not decided.any():
            continue
        split = _split_ranking if trials.kind == "ranking" else _split_named
        parts += split(which[decided], trials.place[options[decided]], options[decided])
    return stack_stages(parts, trials.system, len(trials.systems))


def _split_ranking(trial: Longs, place: Floats, option: Longs) -> list[tuple[Longs, Longs, Longs, float]]:
    """Return the choices from the whole set down to the last two.

    Each of several outputs with one rank is chosen from all that rank no higher; those of the last rank
    are not chosen from anything.
    """
    order = np.argsort(place, axis=1, kind="stable")
    ranked = np.take_along_axis(option, order, axis=1)
    sorted_places = np.take_along_axis(place, order, axis=1)
    starts = (sorted_places[:, :, None] > sorted_places[:, None, :]).sum(axis=2)  # how many rank higher
    told = sorted_places < sorted_places[:, -1:]
    parts = []
    for at in range(ranked.shape[1] - 1):
        for start in range(at + 1):
            rows = told[:, at] & (starts[:, at] == start)
            if rows.any():
                picked = np.full(int(rows.sum()), at - start, dtype=np.int64)
                parts.append((trial[rows], ranked[rows, start:], picked, 1.0))
    return parts


def _split_named(trial: Longs, place: Floats, option: Longs) -> list[tuple[Longs, Longs, Longs, float]]:
    """Return the choice of the best, then of the worst from the rest; either may have been left open."""
    m = place.shape[1]
    best, worst = place == BEST, place == WORST
    has_best, has_worst = best.any(axis=1), worst.any(axis=1)
    parts = []
    if has_best.any():
        parts.append((trial[has_best], option[has_best], best[has_best].argmax(axis=1), 1.0))
    both = has_best & has_worst
    if m > 2 and both.any():
        rest = np.argsort(best[both], axis=1, kind="stable")[:, : m - 1]  # all but the best, in order
        left = np.take_along_axis(option[both], rest, axis=1)
        lowest = np.take_along_axis(worst[both], rest, axis=1).argmax(axis=1)
        parts.append((trial[both], left, lowest, -1.0))
    only = has_worst & ~has_best
    if only.any():
        parts.append((trial[only], option[only], worst[only].argmax(axis=1), -1.0))
    return parts
