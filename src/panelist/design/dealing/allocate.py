"""Who gets which cells: an exact allocation, assigned rater by rater, so that a plan grows at its end.

A cell is an item with a kind of trial: a system, a pair of systems, a tuple. Place p takes the trials p k to
(p + 1) k - 1 of one long sequence, whose kinds follow design/dealing/offsets.py. At any number of raters

- no rater has an item twice (k ≤ n), nor an output twice (k > n);
- the raters of two items, and the ratings of two cells, differ by at most one;
- the kinds of one rater differ by at most one (by at most two where k > n and T does not divide k).

Which items share a list is drawn again in every round, as far as these rules allow, so that lists mix and all
raters and items are connected.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from math import gcd

import numpy as np
from numpy.typing import NDArray

from panelist.core.seeds import stream
from panelist.numerics.arrays import Longs

Word = str | int


@dataclass(frozen=True)
class Allocation:
    """The lists: row p holds the items and the kinds of place p, in the order in which they were assigned."""

    items: Longs
    kinds: Longs


@dataclass(frozen=True)
class Deal:
    """What is assigned: n items in T kinds, k trials per rater; the seed, and the names of its streams."""

    n_items: int
    n_kinds: int
    n_trials: int
    seed: int
    names: tuple[Word, ...] = ()

    def draw(self, size: int, *names: Word) -> NDArray[np.float64]:
        """Return uniform numbers from the stream of these names."""
        return stream(self.seed, *self.names, *names).random(size)


def allocate(deal: Deal, n_raters: int) -> Allocation:
    """Return the lists of the first ``n_raters`` places."""
    n, T, k = deal.n_items, deal.n_kinds, deal.n_trials
    n_rounds = (
        -(-n_raters * k // n) + 1
    )  # one to spare: lists that continue into it are considered as a whole
    if k > n:
        order, offsets = _repeat_rounds(deal, n_rounds)
    else:
        order = _shuffle_rounds(deal, n_rounds)
        offsets = np.fromiter(islice(step_offsets(n, T, k), n_rounds), np.int64, n_rounds)
    kinds = (np.arange(n) % T + offsets[:, None]) % T
    if _needs_mixing(deal):
        _mix_rounds(deal, order, kinds)
    end = n_raters * k
    return Allocation(order.reshape(-1)[:end].reshape(-1, k), kinds.reshape(-1)[:end].reshape(-1, k))


def draw_order(numbers: NDArray[np.float64]) -> Longs:
    """Return the permutation that sorts uniform numbers: the same on every machine and version."""
    return np.argsort(numbers, kind="stable", axis=-1)


def _repeat_rounds(deal: Deal, n_rounds: int) -> tuple[Longs, Longs]:
    """Return the same order of items for every round, and the offsets: the period of n T trials must hold."""
    order = draw_order(deal.draw(deal.n_items, "items"))
    offsets = repeat_offsets(deal.n_items, deal.n_kinds)
    return np.tile(order, (n_rounds, 1)), np.resize(offsets, n_rounds)


def _shuffle_rounds(deal: Deal, n_rounds: int) -> Longs:
    """Return the items in the slots of each round.

    Inside a block an item stays in its class of slots (i mod T), which is what makes it meet every kind; at
    the start of a block all items are drawn afresh. A list that lies across two rounds must not hold an item
    twice: what was in its a last slots does not go into the first b of the next round. There is always
    room, as a + b ≤ n also holds in each class.
    """
    n, T, k = deal.n_items, deal.n_kinds, deal.n_trials
    slots = np.arange(n)
    rounds = np.empty((n_rounds, n), dtype=np.int64)
    for r in range(n_rounds):
        before = r * n % k  # how many trials of the continuing list were in the round before
        after = (k - before) % k if before else 0
        classes = np.zeros(n, dtype=np.int64) if r % T == 0 else slots % T
        last = rounds[r - 1] if r else slots
        if r % T and k == n:
            rounds[r] = last  # a rater sees the whole round, and the order of pages is drawn later
            continue
        barred = slots >= n - before
        numbers = deal.draw(2 * n, "round", r).reshape(2, n)
        # The first slots of each class from what is not barred, then all other slots from all that is left.
        by_class = np.lexsort((numbers[0], barred, classes))
        taken = np.empty(n, dtype=np.int64)
        taken[np.argsort(classes, kind="stable")] = by_class
        first = taken[:after]
        left = np.ones(n, dtype=bool)
        left[first] = False
        rest = np.flatnonzero(left)
        rest = rest[np.lexsort((numbers[1][rest], classes[rest]))]
        open_slots = slots[after:]
        chosen = np.empty(n, dtype=np.int64)
        chosen[:after] = first
        chosen[open_slots[np.argsort(classes[after:], kind="stable")]] = rest
        rounds[r] = last[chosen]
    return rounds


def _needs_mixing(deal: Deal) -> bool:
    """Return whether classes are so small that shuffling inside them would leave lists as they are."""
    return deal.n_trials < deal.n_items < 2 * deal.n_kinds


def _mix_rounds(deal: Deal, items: Longs, kinds: Longs) -> None:
    """Exchange cells between the lists of each round, in place, where no rule is broken."""
    n, k = deal.n_items, deal.n_trials
    for r in range(len(items) - 1):
        mix_round(items, kinds, r, k, deal.n_kinds, deal.draw(n, "mix", r))


def mix_round(
    items: Longs, kinds: Longs, r: int, n_trials: int, n_kinds: int, numbers: NDArray[np.float64]
) -> None:
    """Exchange cells between the lists that have slots in round r, in place.

    Each number proposes a partner for one slot. The two cells change places only if both lists keep kinds
    that differ by at most one, and items that are all different; lists that begin in the round before or end
    in the one after are considered as a whole, so rounds r - 1 to r + 1 must exist.
    """
    n, k = items.shape[1], n_trials
    low = max(r - 1, 0)
    first = r * n // k  # the first list with a slot in this round
    last = ((r + 1) * n - 1) // k
    start, end = first * k - low * n, (last + 1) * k - low * n
    near_items = items[low : r + 2].reshape(-1)[start:end].tolist()
    near_kinds = kinds[low : r + 2].reshape(-1)[start:end].tolist()
    begin = (r - low) * n - start  # where round r begins in these lists
    counts: list[dict[int, int]] = [{} for _ in range(last - first + 1)]
    seen = [set(near_items[w * k : (w + 1) * k]) for w in range(len(counts))]
    for place, kind in enumerate(near_kinds):
        here = counts[place // k]
        here[kind] = here.get(kind, 0) + 1
    least = k // n_kinds
    for i, number in enumerate(numbers.tolist()):
        x, y = begin + i, begin + int(number * n)
        v, w = x // k, y // k
        if v == w or near_items[y] in seen[v] or near_items[x] in seen[w]:
            continue
        a, b = near_kinds[x], near_kinds[y]
        if a != b:
            here, there = counts[v], counts[w]
            if here[a] <= least or there[b] <= least or here.get(b, 0) > least or there.get(a, 0) > least:
                continue
            here[a] -= 1
            here[b] = here.get(b, 0) + 1
            there[b] -= 1
            there[a] = there.get(a, 0) + 1
        seen[v].remove(near_items[x])
        seen[w].remove(near_items[y])
        seen[v].add(near_items[y])
        seen[w].add(near_items[x])
        near_items[x], near_items[y] = near_items[y], near_items[x]
        near_kinds[x], near_kinds[y] = b, a
    items[r] = near_items[begin : begin + n]
    kinds[r] = near_kinds[begin : begin + n]


def step_offsets(n_items: int, n_kinds: int, n_trials: int) -> Iterator[int]:
    """Yield the offset of each round, for lists that are not longer than a round (k ≤ n)."""
    n, T, k = n_items, n_kinds, n_trials
    q, g = k % T, gcd(n, T)
    always, cycle, up = (-q, T // gcd(q, T), False) if g == T and q else (0, T // g, q == 0 or q >= g - 1)
    width = T // cycle  # how many classes of offsets there are
    offset = 0
    for r in count():
        yield offset
        delta = always
        if (r + 1) % cycle == 0 and width > 1:
            rising = ((r + 1) * n % k) % T <= q
            delta = (1 if rising or q == 0 else 1 - width) if up else (width - 1 if rising else -1)
        offset = (offset + n + delta) % T


def repeat_offsets(n_items: int, n_kinds: int) -> Longs:
    """Return the T offsets of a block for lists longer than a round (k > n); the block repeats.

    So the cells of n T trials in a row are all different, and no rater meets an output twice. The kinds of a
    rater differ by at most one where T divides k, or k is n T, and by at most two elsewhere.
    """
    rounds = np.arange(n_kinds, dtype=np.int64)
    cycle = n_kinds // gcd(n_items, n_kinds)
    return (rounds * n_items + rounds // cycle) % n_kinds
