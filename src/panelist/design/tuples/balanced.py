"""Balanced tuples for best-worst scaling: m of s systems at a time, b tuples for each item.

In the tuples of one item every system occurs equally often (differing by one where b m is not a multiple of
s), and no tuple occurs twice while there are others. Over all items every system occurs equally often, and so
does every pair of systems, as nearly as arithmetic allows. Tuples are made in batches of items: inside a
batch tuples are developed from base blocks where the numbers allow it (cyclic.py), else cut from
random orders; systems are exchanged between them until the pairs are balanced (exchange.py). The batch is
then repeated with its systems renamed at random, which leaves it as balanced as it was.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, gcd, lcm

import numpy as np

from panelist.core.seeds import stream
from panelist.design.tuples.exchange import level_pairs
from panelist.numerics.arrays import Longs

SMALLEST_BATCH = 120  # tuples; with fewer there is too little to exchange
LARGEST_BATCH = 6000
CANDIDATES = 24  # renamings tried for each batch that is not quite level


@dataclass(frozen=True)
class Shape:
    """b tuples per item, each of m of the s systems."""

    systems: int
    shown: int
    tuples: int

    @property
    def spare(self) -> int:
        """How many systems occur once more than the others in the tuples of one item."""
        return self.tuples * self.shown % self.systems


def find_tuples_per_item(n_systems: int, shown: int) -> int:
    """Return the least number of tuples in which every system occurs equally often.

    >>> find_tuples_per_item(5, 4), find_tuples_per_item(8, 4), find_tuples_per_item(6, 4)
    (5, 2, 3)
    """
    return n_systems // gcd(n_systems, shown)


def make_tuples(n_items: int, shape: Shape, seed: int) -> Longs:
    """Return the systems of each tuple, sorted: items × tuples × shown.

    >>> make_tuples(2, Shape(systems=5, shown=4, tuples=5), seed=1).shape
    (2, 5, 4)
    """
    n_complete, n_left = divmod(shape.tuples, n_different(shape))
    parts = []
    if n_complete:
        every = np.array(list(combinations(range(shape.systems), shape.shown)), dtype=np.int64)
        parts = [np.broadcast_to(every, (n_items, *every.shape))] * n_complete
    if n_left:
        parts.append(_make_distinct(n_items, replace(shape, tuples=n_left), seed))
    return np.concatenate(parts, axis=1)


def _make_distinct(n_items: int, shape: Shape, seed: int) -> Longs:
    """Return tuples that are all different within an item: whole batches, and a last one to balance."""
    size = _batch_size(shape)
    n_whole = max(0, n_items // size - 1)
    pairs = np.zeros((shape.systems, shape.systems), dtype=np.int64)
    parts = []
    if n_whole:
        parts = [_repeat_batch(_make_batch(size, shape, pairs, seed, 0), n_whole, shape, pairs, seed)]
    parts.append(_make_batch(n_items - n_whole * size, shape, pairs, seed, 1))
    order = np.argsort(stream(seed, "tuples", "items").random(n_items), kind="stable")
    return np.sort(np.concatenate(parts)[order], axis=-1)


def count_pairs(tuples: Longs, n_systems: int) -> Longs:
    """Return how often two systems share a tuple, as a symmetric table with an empty diagonal."""
    flat = tuples.reshape(-1, tuples.shape[-1])
    counts = np.zeros(n_systems * n_systems, dtype=np.int64)
    for i in range(flat.shape[1]):
        for j in range(i):
            counts += np.bincount(flat[:, i] * n_systems + flat[:, j], minlength=len(counts))
    table = counts.reshape(n_systems, n_systems)
    return table + table.T


def _batch_size(shape: Shape) -> int:
    """Return the least number of items whose tuples can hold all systems, and all pairs, equally often."""
    s, m, b = shape.systems, shape.shown, shape.tuples
    for_systems = s // gcd(s, b * m)
    n_pairs = s * (s - 1) // 2
    for_pairs = n_pairs // gcd(n_pairs, b * m * (m - 1) // 2) if n_pairs else 1
    size = lcm(for_systems, for_pairs)
    size *= -(-SMALLEST_BATCH // (size * b))
    return max(min(size, LARGEST_BATCH // b // for_systems * for_systems), for_systems)


def _repeat_batch(batch: Longs, n_times: int, shape: Shape, pairs: Longs, seed: int) -> Longs:
    """Return ``n_times`` copies of the batch with its systems renamed, and add its pairs to ``pairs``."""
    own = count_pairs(batch, shape.systems)
    uneven = len(np.unique(own[~np.eye(shape.systems, dtype=bool)])) > 1
    tries = CANDIDATES if uneven else 1
    numbers = stream(seed, "tuples", "renamed").random((n_times, tries, shape.systems))
    names = np.argsort(numbers, axis=-1, kind="stable")
    if uneven:  # what one batch lacks, the next may have: take the renaming that balances the total best
        chosen = np.empty((n_times, shape.systems), dtype=np.int64)
        for time in range(n_times):
            back = np.argsort(names[time], axis=-1)
            totals = pairs + own[back[:, :, None], back[:, None, :]]
            best = int(np.argmin((totals.astype(float) ** 2).sum(axis=(1, 2))))
            pairs[:] = totals[best]
            chosen[time] = names[time, best]
    else:
        chosen = names[:, 0]
        pairs += own * n_times
    return chosen[:, batch].reshape(-1, *batch.shape[1:])


def _make_batch(n_items: int, shape: Shape, pairs: Longs, seed: int, part: int) -> Longs:
    """Return the tuples of ``n_items`` items, balanced together with the pairs counted before."""
    numbers = stream(seed, "tuples", "batch", part)
    batch = develop_tuples(n_items, shape.systems, shape.shown, shape.tuples, numbers)
    if batch is None:
        batch = np.array(list(_cut_permutations(n_items, shape, numbers)), dtype=np.int64)
    return level_pairs(batch, pairs, shape.systems, numbers)


def _cut_permutations(n_items: int, shape: Shape, numbers: np.random.Generator) -> Iterator[list[list[int]]]:
    """Yield the tuples of each item, cut from random orders of the systems so that all occur equally often.

    The systems that occur once more than others rotate from item to item, in a random order.
    """
    s, m, b = shape.systems, shape.shown, shape.tuples
    circle = np.argsort(numbers.random(s), kind="stable").tolist()
    turn = 0
    for _ in range(n_items):
        counts = dict.fromkeys(range(s), b * m // s)
        for step in range(shape.spare):
            counts[circle[(turn + step) % s]] += 1
        turn += shape.spare
        yield _deal(counts, m, b, numbers)


def _deal(counts: dict[int, int], m: int, b: int, numbers: np.random.Generator) -> list[list[int]]:
    """Return b tuples of m different systems in which each system occurs as often as its count says.

    Always taking the systems with most still to come cannot fail, as no count is larger than b.
    """
    tuples = []
    for _ in range(b):
        ranks = numbers.random(len(counts))
        order = sorted(counts, key=lambda system: (-counts[system], ranks[system]))
        chosen = order[:m]
        for system in chosen:
            counts[system] -= 1
        tuples.append(chosen)
    return tuples


def n_different(shape: Shape) -> int:
    """Return how many different tuples there are."""
    return comb(shape.systems, shape.shown)


MOST_BLOCKS = 600
SWEEPS = 40


def develop_tuples(n_items: int, s: int, m: int, b: int, numbers: np.random.Generator) -> Longs | None:
    """Return the tuples (items × b × m) of balanced base blocks; None where the numbers forbid it."""
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


def _draw_blocks(s: int, m: int, numbers: np.random.Generator) -> Longs:
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


def _choose_blocks(vectors: Longs, n_items: int, per_item: int, numbers: np.random.Generator) -> Longs:
    """Return the base blocks of each item, different within an item, with balanced differences."""
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
