"""Several judges as one: the mean of their midranks, with nothing learnt from people's ratings."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from panelist.judges.correct.covariates import rank_scores
from panelist.judges.match import JudgedRatings
from panelist.numerics.arrays import Floats


def combine_scores(beside: JudgedRatings) -> Floats:
    """Return the mean of the judges' midranks of each output; no answer where any judge gave none.

    Midranks put all scales on one. No judge is weighted by how well it does on the same ratings that it is
    then measured against: that would look better than it is.
    """
    ranks = np.stack([rank_scores(grid) for grid in beside.scores.values()])
    return np.asarray(ranks.mean(axis=0))


def name_combined(judges: Collection[str]) -> str:
    """Return what the combination of these judges is called; it must not be the name of one."""
    name = f"mean of {len(judges)} judges"
    while name in judges:
        name += " (combined)"
    return name
