"""The six designs of Howcroft & Rieser (2021), and ratings simulated for them.

Two systems answer every item, and every output is rated three or ten times. Raters take turns: each sees
20 outputs of 20 different items, ten of either system. A rating is a latent judgement, cut at five
thresholds; raters and items differ in severity and in how they take to the second system.

Howcroft, D. M. & Rieser, V. (2021). What happens if you treat ordinal ratings as interval data? EMNLP.
https://aclanthology.org/2021.emnlp-main.703
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from panelist.core.seeds import stream

MAXIMAL = "rating ~ system + (system | rater) + (system | item)"
INTERCEPTS = "rating ~ system + (1 | rater) + (1 | item)"

CUTS = -1.78 + 0.62 * np.arange(5)
EFFECT = 0.31  # of the second system, in residual standard deviations
RATER_SPREAD = (0.52, 0.43)  # of intercept and slope
ITEM_SPREAD = (0.57, 0.77)


@dataclass(frozen=True)
class Size:
    """How many items, how many ratings of each output, how many outputs a rater sees."""

    items: int
    ratings: int
    outputs_a_rater: int = 20

    @property
    def n_rows(self) -> int:
        """The number of ratings."""
        return 2 * self.items * self.ratings

    @property
    def label(self) -> str:
        """Items × ratings of each output, as the tables say it."""
        return f"{self.items} × {self.ratings}"


SIZES = (Size(50, 3), Size(100, 3), Size(50, 10), Size(100, 10), Size(500, 3), Size(500, 10))
MILLION = Size(10_000, 50, outputs_a_rater=200)


def simulate(size: Size, seed: int, slopes: bool = True) -> pd.DataFrame:
    """Return the ratings of one design: columns rater, item, system, rating; the same for the same seed.

    >>> simulate(Size(50, 3), 1).nunique().to_dict()
    {'rater': 15, 'item': 50, 'system': 2, 'rating': 6}
    """
    rng = stream(seed, "bench", size.items, size.ratings)
    turn = np.arange(size.items) % 2
    item = np.concatenate([np.tile(rng.permutation(size.items), 2) for _ in range(size.ratings)])
    system = np.tile(np.concatenate([turn, 1 - turn]), size.ratings)
    place = np.tile(np.arange(2 * size.items) // size.outputs_a_rater, size.ratings)
    raters_a_turn = int(place[-1]) + 1
    rater = place + np.repeat(np.arange(size.ratings), 2 * size.items) * raters_a_turn

    latent = rng.normal(size=size.n_rows) + EFFECT * system
    for index, (intercept, slope) in ((item, ITEM_SPREAD), (rater, RATER_SPREAD)):
        count = int(index.max()) + 1
        latent += rng.normal(0.0, intercept, count)[index]
        if slopes:
            latent += rng.normal(0.0, slope, count)[index] * system
    return pd.DataFrame(
        {
            "rater": _labels("r", rater),
            "item": _labels("i", item),
            "system": np.array(["a", "b"], dtype=object)[system],
            "rating": np.searchsorted(CUTS, latent) + 1,
        }
    )


def _labels(letter: str, index: NDArray[np.int64]) -> NDArray[np.object_]:
    names = np.array([f"{letter}{number:05d}" for number in range(int(index.max()) + 1)], dtype=object)
    labels: NDArray[np.object_] = names[index]
    return labels
