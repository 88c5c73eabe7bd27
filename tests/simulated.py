"""A study that never happened: ratings of three systems, for the tests.

Every rater sees every item once, in the output of one system, and the systems take turns over raters and
items (a Latin square). A rating is a latent judgement, cut at five thresholds; raters and items differ in
severity and in how they take to each system, as in Howcroft & Rieser (2021).
"""

from typing import TYPE_CHECKING

import numpy as np

from panelist.core.seeds import stream

if TYPE_CHECKING:
    import pandas as pd

SYSTEMS = ("prompted", "rules", "tuned")
EFFECTS = {"adequacy": (0.10, 0.0, 0.75), "fluency": (0.90, 0.0, 1.0)}  # in residual standard deviations
CUTS = np.array([-1.5, -0.7, 0.1, 0.9, 1.8])  # five thresholds: a scale of six points
RATERS, ITEMS = 24, 40
SPREADS = {"rater": (0.5, 0.25), "item": (0.4, 0.3)}  # of severity, and of each system's own reception


def simulate_demo(seed: int = 7) -> "pd.DataFrame":
    """Return the ratings: columns rater, item, system, criterion, rating; the same for the same seed.

    >>> simulate_demo().head(2).to_csv(index=False).splitlines()[0]
    'rater,item,system,criterion,rating'
    """
    import pandas as pd

    rater, item = (grid.ravel() for grid in np.meshgrid(np.arange(RATERS), np.arange(ITEMS), indexing="ij"))
    system = (rater + item) % len(SYSTEMS)
    tables = []
    for criterion, effects in EFFECTS.items():
        rng = stream(seed, "demo", criterion)
        latent = np.array(effects)[system] + rng.normal(size=len(system))
        for index, count, name in ((rater, RATERS, "rater"), (item, ITEMS, "item")):
            severity, reception = SPREADS[name]
            latent += rng.normal(0.0, severity, count)[index]
            latent += rng.normal(0.0, reception, (count, len(SYSTEMS)))[index, system]
        tables.append(
            pd.DataFrame(
                {
                    "rater": [f"rater-{number + 1:02d}" for number in rater],
                    "item": [f"item-{number + 1:02d}" for number in item],
                    "system": [SYSTEMS[number] for number in system],
                    "criterion": criterion,
                    "rating": np.searchsorted(CUTS, latent) + 1,
                }
            )
        )
    return pd.concat(tables, ignore_index=True).sort_values(
        ["rater", "item", "criterion"], kind="stable", ignore_index=True
    )
