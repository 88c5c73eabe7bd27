"""Which tuple of an item a rater gets, so that the systems of each rater are as level as can be."""

import numpy as np
from numpy.typing import NDArray

from panelist.core.seeds import stream
from panelist.design.allocate import Word

Ints = NDArray[np.int64]


def suit_tuples(items: Ints, tuples: Ints, n_systems: int, seed: int, names: tuple[Word, ...]) -> Ints:
    """Return the tuple that each trial (raters × trials) shows of its item.

    ``items`` is dealt in rounds that hold every item once (design/allocate.py), so the order in which an
    item's b tuples come in b rounds is free: all of them come before one comes again, whatever the order.
    Each trial takes the tuple, of those that its item still has, whose systems the rater has met least; the
    trials of one round that stand at the same place of their lists are decided at once, as they are of
    different items.
    """
    n_raters, k = items.shape
    n, b, _ = tuples.shape
    met = np.zeros((n_raters, n_systems), dtype=np.int64)
    left = np.ones((n, b), dtype=bool)
    chosen = np.empty(n_raters * k, dtype=np.int64)
    flat = items.reshape(-1)
    for r in range(-(-flat.size // n)):
        if r % b == 0:
            left[:] = True
        here = np.arange(r * n, min((r + 1) * n, flat.size))
        place = here - np.maximum(
            here // k * k, r * n
        )  # within its list, counted from where the round begins
        by_place = here[np.argsort(place, kind="stable")]
        coins = stream(seed, *names, "suit", r).random((n, b))
        for trials in np.split(by_place, np.cumsum(np.bincount(place))[:-1]):
            raters, own = trials // k, flat[trials]
            scores = met[raters[:, None, None], tuples[own]].sum(axis=-1) + coins[own]
            scores[~left[own]] = np.inf
            best = scores.argmin(axis=1)
            left[own, best] = False
            chosen[trials] = best
            met[raters[:, None], tuples[own, best]] += 1
    return chosen.reshape(n_raters, k)
