"""Positions of tuples: each system of a rater in every position equally often, as nearly as possible.

One rater's pages and systems are the two sides of a graph, with an edge for every output shown; a position is
a colour, and no page may have a colour twice. Let the showings of a system be cut, in the order of pages,
into chunks of m: then no page and no chunk has more than m edges, so m colours are enough for all edges
without two alike at a page or a chunk (Kőnig 1916, Math. Annalen 77, https://doi.org/10.1007/BF01456961), and
the counts of a system in the m positions differ by at most one. The colours are found edge by edge; where the
two ends have no free colour in common, a chain of two colours is exchanged.

Which colour is which position is then chosen for each rater, so that the counts over all raters stay
balanced.
"""

import numpy as np

from panelist.core.seeds import stream
from panelist.design.dealing.allocate import Word, draw_order
from panelist.numerics.arrays import Longs

FREE = -1


def place_tuples(shown: Longs, n_systems: int, seed: int, names: tuple[Word, ...]) -> Longs:
    """Return the tuples (raters × trials × m) with each system in the positions that balance its counts.

    A rater's positions depend on those of the raters before, never on later ones, so that a plan can grow.
    """
    from scipy.optimize import linear_sum_assignment  # takes a while, and is only needed for planning

    n_raters, k, m = shown.shape
    draws = stream(seed, *names, "positions")
    overall = np.zeros((n_systems, m), dtype=np.int64)
    placed = np.empty_like(shown)
    pages = np.arange(k)[:, None]
    for rater in range(n_raters):
        mixed = np.take_along_axis(shown[rater], draw_order(draws.random((k, m))), axis=1)
        colours = np.array(_colour(mixed.tolist(), m), dtype=np.int64).reshape(k, m)
        own = np.zeros((n_systems, m), dtype=np.int64)
        np.add.at(own, (mixed, colours), 1)
        # The sum of squares of all counts is least where this sum of products is.
        _, position = linear_sum_assignment(own.T @ overall + draws.random((m, m)) / (m + 1))
        overall[:, position] += own
        placed[rater, pages, position[colours]] = mixed
    return placed


def _colour(trials: list[list[int]], m: int) -> list[list[int]]:
    """Return a colour for every output of every page: all different on a page, and in a chunk of a system."""
    at_page = [[FREE] * m for _ in trials]  # page × colour → chunk
    at_chunk: list[list[int]] = []  # chunk × colour → page
    seen: dict[int, tuple[int, int]] = {}  # system → its open chunk, and how many showings are in it
    chunk_of = []
    for page, systems in enumerate(trials):
        chunks = []
        for system in systems:
            chunk, filled = seen.get(system, (FREE, m))
            if filled == m:
                chunk, filled = len(at_chunk), 0
                at_chunk.append([FREE] * m)
            seen[system] = (chunk, filled + 1)
            chunks.append(chunk)
            _add_edge(page, chunk, at_page, at_chunk)
        chunk_of.append(chunks)
    return [[at_page[page].index(chunk) for chunk in chunks] for page, chunks in enumerate(chunk_of)]


def _add_edge(page: int, chunk: int, at_page: list[list[int]], at_chunk: list[list[int]]) -> None:
    """Give the edge a colour, after exchanging two colours along a chain where that is needed."""
    mine, theirs = at_page[page], at_chunk[chunk]
    for colour, (one, other) in enumerate(zip(mine, theirs, strict=True)):
        if one == FREE and other == FREE:
            mine[colour], theirs[colour] = chunk, page
            return
    free, taken = mine.index(FREE), theirs.index(FREE)  # free at the page; free at the chunk
    # The chain starts at the chunk with colour ``free`` and never comes to the page, which has none of it.
    chain = []
    sides, node, side, colour = (at_chunk, at_page), chunk, 0, free
    while (next_node := sides[side][node][colour]) != FREE:
        chain.append((node, next_node, side, colour))
        node, side, colour = next_node, 1 - side, taken if colour == free else free
    for one, other, side, colour in chain:
        sides[side][one][colour] = sides[1 - side][other][colour] = FREE
    for one, other, side, colour in chain:
        new = taken if colour == free else free
        sides[side][one][new], sides[1 - side][other][new] = other, one
    mine[free], theirs[free] = chunk, page


def suit_tuples(items: Longs, tuples: Longs, n_systems: int, seed: int, names: tuple[Word, ...]) -> Longs:
    """Return the tuple that each trial (raters × trials) shows of its item.

    ``items`` is dealt in rounds that hold every item once (dealing/allocate.py), so the order in which an
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
