"""Ratings of which nearly all are the same."""

import numpy as np
import pandas as pd

from panelist.core.tables.ratings import Ratings, read_ratings


def nearly_unanimous() -> Ratings:
    """Return ratings of which nearly all are 5: the two kinds of analysis would choose other random parts."""
    rng = np.random.default_rng(4)
    rows = [
        (f"r{rater}", f"i{item:02d}", system, "adequacy", 4 if rng.random() < share else 5)
        for item in range(30)
        for system, share in (("alpha", 0.02), ("beta", 0.04), ("gamma", 0.15))
        for rater in range(4)
    ]
    return read_ratings(pd.DataFrame(rows, columns=["rater", "item", "system", "criterion", "rating"]))
