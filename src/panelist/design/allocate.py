"""Who gets which cells: an exact allocation that is dealt rater by rater, so that a plan grows at its end.

A cell is an item with a kind of trial: a system, a pair of systems, a tuple. Place p takes the trials p k to
(p + 1) k - 1 of one long sequence, whose kinds follow design/offsets.py. At any number of raters

- no rater has an item twice (k ≤ n), nor an output twice (k > n);
- the raters of two items, and the ratings of two cells, differ by at most one;
- the kinds of one rater differ by at most one (by at most two where k > n and T does not divide k).

Which items share a list is drawn anew in every round, as far as these rules allow, so that lists mix and all
raters and items hang together.
"""

from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from panelist.core.seeds import stream
from panelist.design.mix import mix_round
from panelist.design.offsets import repeat_offsets, step_offsets

Ints = NDArray[np.int64]
Word = str | int


@dataclass(frozen=True)
class Allocation:
    """The lists: row p holds the items and the kinds of place p, in the order in which they were dealt."""

    items: Ints
    kinds: Ints


@dataclass(frozen=True)
class Deal:
    """What is dealt: n items in T kinds, k trials a rater; the seed, and the names of its streams."""

    n_items: int
    n_kinds: int
    n_trials: int
    seed: int
    names: tuple[Word, ...] = ()

    def draw(self, size: int, *names: Word) -> NDArray[np.float64]:
        """Return uniform numbers from the stream of these names."""
        return stream(self.seed, *self.names, *names).random(size)


def allocate(deal: Deal, n_raters: int) -> Allocation:
    """Return the lists of the first so many places."""
    n, T, k = deal.n_items, deal.n_kinds, deal.n_trials
    n_rounds = -(-n_raters * k // n) + 1  # one to spare: lists that go on into it are looked at as a whole
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


def draw_order(numbers: NDArray[np.float64]) -> Ints:
    """Return the permutation that sorts uniform numbers: the same on every machine and version."""
    return np.argsort(numbers, kind="stable", axis=-1)


def _repeat_rounds(deal: Deal, n_rounds: int) -> tuple[Ints, Ints]:
    """Return the same order of items for every round, and the offsets: the period of n T trials must hold."""
    order = draw_order(deal.draw(deal.n_items, "items"))
    offsets = repeat_offsets(deal.n_items, deal.n_kinds)
    return np.tile(order, (n_rounds, 1)), np.resize(offsets, n_rounds)


def _shuffle_rounds(deal: Deal, n_rounds: int) -> Ints:
    """Return the items in the slots of each round.

    Inside a block an item stays in its class of slots (i mod T), which is what makes it meet every kind; at
    the start of a block all items are drawn afresh. A list that lies across two rounds must not hold an item
    twice: what stood in its a last slots does not come into the first b of the next round. There is always
    room, as a + b ≤ n also holds in each class.
    """
    n, T, k = deal.n_items, deal.n_kinds, deal.n_trials
    slots = np.arange(n)
    rounds = np.empty((n_rounds, n), dtype=np.int64)
    for r in range(n_rounds):
        before = r * n % k  # how many trials of the list that goes on were in the round before
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
        taken[_slots_by_class(classes)] = by_class
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


def _slots_by_class(classes: Ints) -> Ints:
    return np.argsort(classes, kind="stable")


def _needs_mixing(deal: Deal) -> bool:
    """Return whether classes are so small that shuffling inside them would leave lists as they are."""
    return deal.n_trials < deal.n_items < 2 * deal.n_kinds


def _mix_rounds(deal: Deal, items: Ints, kinds: Ints) -> None:
    """Exchange cells between the lists of each round, in place, where no rule is broken."""
    n, k = deal.n_items, deal.n_trials
    for r in range(len(items) - 1):
        mix_round(items, kinds, r, k, deal.n_kinds, deal.draw(n, "mix", r))
