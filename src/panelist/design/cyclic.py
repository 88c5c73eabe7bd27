"""Tuples developed from base blocks: add 1, 2, … to one tuple and every system comes equally often.

Systems are numbers modulo s. A base block of m of them, m and s without a common factor, becomes s different
tuples that hold every system m times, and every pair of systems as often as its difference comes in the
block. So to level all pairs only the s/2 differences must be levelled, by choosing the base blocks.

Bose, R. C. (1939). On the construction of balanced incomplete block designs. Annals of Eugenics 9, 353-399.
https://doi.org/10.1111/j.1469-1809.1939.tb02219.x
"""

from itertools import combinations
from math import comb, gcd

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
MOST_BLOCKS = 600
SWEEPS = 40


def develop_tuples(n_items: int, s: int, m: int, b: int, numbers: np.random.Generator) -> Ints | None:
    """Return the tuples (items × b × m) of level base blocks, or None where the numbers do not allow it."""
    per_item = b // s
    if b % s or gcd(s, m) > 1:
        return None
    blocks = _draw_blocks(s, m, numbers)
    if per_item > len(blocks):
        return None
    vectors = np.zeros((len(blocks), s // 2 + 1), dtype=np.int64)
    for i, j in combinations(range(m), 2):
        gaps = blocks[:, j] - blocks[:, i]
        gaps = np.minimum(gaps, s - gaps)
        # Opposite systems (s even) are half as many pairs, so each of them comes twice.
        np.add.at(vectors, (np.arange(len(blocks)), gaps), np.where(2 * gaps == s, 2, 1))
    chosen = _choose_blocks(vectors[:, 1:], n_items, per_item, numbers)
    tuples = (blocks[chosen][:, :, None, :] + np.arange(s)[:, None]) % s
    return tuples.reshape(n_items, b, m)


def _draw_blocks(s: int, m: int, numbers: np.random.Generator) -> Ints:
    """Return base blocks, no two of which develop into the same tuples; some where there are many."""
    if comb(s - 1, m - 1) <= 20 * MOST_BLOCKS:
        rest = np.array(list(combinations(range(1, s), m - 1)), dtype=np.int64).reshape(-1, m - 1)
    else:
        order = np.argsort(numbers.random((4 * MOST_BLOCKS, s - 1)), axis=1, kind="stable")
        rest = np.sort(order[:, : m - 1] + 1, axis=1)
    rest = rest[np.argsort(numbers.random(len(rest)), kind="stable")]
    different: dict[tuple[int, ...], tuple[int, ...]] = {}
    for others in rest.tolist():
        block = (0, *others)
        turned = min(tuple(sorted((x - first) % s for x in block)) for first in block)
        different.setdefault(turned, block)
        if len(different) == MOST_BLOCKS:
            break
    return np.array(list(different.values()), dtype=np.int64)


def _choose_blocks(vectors: Ints, n_items: int, per_item: int, numbers: np.random.Generator) -> Ints:
    """Return the base blocks of each item, different within an item, so that the differences add up level."""
    own = (vectors**2).sum(axis=1)
    chosen = np.full((n_items, per_item), -1, dtype=np.int64)
    total = np.zeros(vectors.shape[1], dtype=np.int64)
    for _ in range(SWEEPS):
        for item in range(n_items):
            for place in range(per_item):
                if chosen[item, place] >= 0:
                    total -= vectors[chosen[item, place]]
                scores = 2 * vectors @ total + own + numbers.random(len(own))
                taken = np.delete(chosen[item], place)
                scores[taken[taken >= 0]] = np.inf
                chosen[item, place] = int(scores.argmin())
                total += vectors[chosen[item, place]]
        if total.max() == total.min():
            break
    return chosen
