"""Simulated choices in which a system never lost: analysed as ``compare`` does, by a prior and sign tests.

Maximum likelihood puts such a system infinitely far from the others, and a standard error says nothing. Taken
for a failure, or tested all the same, the most certain differences would have the least power.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from panelist.analysis.choices.compare_choices import contrast_strengths
from panelist.analysis.choices.models.bradley_terry import fit_bradley_terry
from panelist.analysis.choices.trials import BEST, BETWEEN, DECIDED, WORST, ChoiceTrials, Kind
from panelist.core.errors import BadModel
from panelist.numerics.arrays import Bools, Floats
from panelist.power.analyses.base import SimulatedPairTests, make_tests
from panelist.power.layouts.base import Layout

KINDS: dict[str, Kind] = {"best": "choose-one", "best-worst": "best-worst", "ranking": "ranking"}


class OneSet(NamedTuple):
    """The tests of one data set, by pair, as in SimulatedPairTests; nan where there is none."""

    estimate: Floats
    se: Floats
    df: Floats
    exact: Floats  # the normal statistic of a test without a standard error


def never_lost(wins: Floats) -> Bools:
    """Return in which sets of wins, (n_sets, winner, loser), some systems never lost to some others."""
    from scipy.sparse.csgraph import connected_components

    parts = [connected_components(one > 0, directed=True, connection="strong")[0] for one in wins]
    return np.array(parts, dtype=np.int64) > 1


def place_outputs(layout: Layout, pages: NDArray[np.int64], latent: Floats) -> Floats:
    """Return the place of each output of each page of one data set, as an answer gives it."""
    order = (-latent[pages]).argsort(axis=1).argsort(axis=1)  # 0 is the best
    last = pages.shape[1] - 1
    if last == 1:
        return np.asarray(np.where(order == 0, BEST, WORST))
    if layout.told == "ranking":
        return np.asarray(order + 1.0)
    worst = WORST if layout.told == "best-worst" else BETWEEN
    return np.asarray(np.where(order == 0, BEST, np.where(order == last, worst, BETWEEN)))


def test_set(layout: Layout, pages: NDArray[np.int64], place: Floats) -> OneSet | None:
    """Return the tests of one data set by the clustered model; None where it has none.

    ``place`` has a row for each page, nan where it was a tie.
    """
    n, shown = place.shape
    decided = np.isfinite(place).all(axis=1)
    trials = ChoiceTrials(
        criterion="choice",
        kind="pairs" if shown == 2 else KINDS[layout.told],
        systems=tuple(layout.systems),
        raters=tuple(map(str, range(layout.n_raters))),
        items=tuple(map(str, range(layout.n_items))),
        rater=np.asarray(layout.rater, dtype=np.int64)[pages[:, 0]],
        item=np.asarray(layout.item, dtype=np.int64)[pages[:, 0]],
        outcome=np.where(decided, DECIDED, "tie").astype(object),
        of_trial=np.repeat(np.arange(n), shown),
        system=np.asarray(layout.system, dtype=np.int64)[pages].ravel(),
        place=place.ravel(),
        position=np.zeros(place.size, dtype=np.int64),
    )
    try:
        found = contrast_strengths(fit_bradley_terry(trials), "none")
    except BadModel:
        return None
    exact = np.where(np.isfinite(found.se), np.nan, -found.statistic)
    return OneSet(-found.estimate, found.se, found.df, exact)  # the second of a pair less the first


def make_with(sets: list[OneSet | None], estimate: Floats, se: Floats, df: Floats) -> SimulatedPairTests:
    """Return tests of many data sets, of which some are tested one by one; those are ``separated``."""
    exact = np.full(estimate.shape, np.nan)
    estimate, se = estimate.copy(), se.copy()
    df = np.array(np.broadcast_to(df, estimate.shape))
    for at, one in enumerate(sets):
        if one is not None:
            estimate[at], se[at], df[at], exact[at] = one
    apart = np.array([one is not None for one in sets], dtype=np.bool_)
    return make_tests(estimate, se, df, exact)._replace(separated=apart)
