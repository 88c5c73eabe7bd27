"""Ratings of systems of which some are all at one end of the scale."""

import numpy as np
import pandas as pd


def make_ratings(
    systems: int, end: dict[int, int], raters: int = 6, items: int = 12, seed: int = 1
) -> pd.DataFrame:
    """Crossed ratings on four points; ``end`` gives systems one rating throughout."""
    rng = np.random.default_rng(seed)
    rater, item, system = (index.reshape(-1) for index in np.indices((raters, items, systems)))
    latent = rng.normal(size=len(rater)) + 0.5 * (system == systems - 1)
    latent += rng.normal(0, 0.5, raters)[rater] + rng.normal(0, 0.5, items)[item]
    rating = np.searchsorted([-1.0, 0.0, 1.0], latent) + 1
    for place, value in end.items():
        rating[system == place] = value
    return pd.DataFrame(
        {
            "rater": [f"r{one:02d}" for one in rater],
            "item": [f"i{one:02d}" for one in item],
            "system": [f"s{one}" for one in system],
            "rating": rating,
        }
    )
