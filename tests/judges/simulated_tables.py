"""Simulated ratings and scores as the tables a person would have."""

from dataclasses import replace

import numpy as np
import pandas as pd

from bench.judges_coverage import World, simulate
from panelist.judges.match import JudgedRatings


def tables(beside: JudgedRatings) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return ratings and judges' scores as a person would have them."""
    rows = [
        (judge, beside.items[i], beside.systems[s], grid[i, s])
        for judge, grid in beside.scores.items()
        for i in range(len(beside.items))
        for s in range(len(beside.systems))
    ]
    return beside.frame(), pd.DataFrame(rows, columns=["judge", "item", "system", "rating"])


def honest(seed: int = 5) -> JudgedRatings:
    """Return twelve honest raters beside a good judge."""
    return simulate(World("good", 12, 60, items=80), np.random.default_rng(seed))[0]


def with_copier(beside: JudgedRatings) -> JudgedRatings:
    """Return the same with a first rater who gives the judge's scores."""
    scores = beside.scores["judge"][beside.item, beside.system]
    copied = np.clip(np.round(3.5 + scores), 1, 6)
    return replace(beside, y=np.where(beside.rater == 0, copied, beside.y))
