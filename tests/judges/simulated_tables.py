"""Simulated ratings and scores as the tables a person would have."""

import pandas as pd

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
