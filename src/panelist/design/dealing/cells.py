"""Who gets which cells where some do not exist: dealt in rounds that hold every existing cell once.

A cell is an item with a kind of trial, as in allocate.py, and ``there`` says which exist. A round is cut into
lists of k cells, no item twice in a list. Let U be the number of cells and d the most that one item has: with
k ≤ U / d such lists exist, at any number of raters

- no rater has an item twice (with ``returning``, no cell twice);
- the ratings of two cells differ by at most one;
- a rater whose list lies in one round has each kind as often as it occurs among what was left of the round,
  rounded up or down; one whose list lies across two rounds as nearly as can be had.

Why: share what is left of a round evenly among its F lists, 1/F of each cell to each. That meets the bounds
of every item, every kind and the size of a list; they are those of a flow, so whole numbers meet them too
(Ford & Fulkerson 1956, https://doi.org/10.4153/CJM-1956-045-5). What a list across two rounds takes leaves
no item with more cells than lists are left. A list depends on those before it alone, so a plan grows at its
end.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from panelist.core.errors import BadDesign
from panelist.design.dealing.allocate import Allocation, Deal
from panelist.numerics.arrays import Floats, Longs

Bools = NDArray[np.bool_]

OUTSIDE, MUST, KIND = 1e9, 1e6, 1e3  # what a cell too many, an item left over, an uneven kind cost
SPARE = 2  # slots of a kind beyond its share, for lists across two rounds
PRICES = 12  # how often prices of systems are set anew for one list


def find_longest(there: Bools) -> int:
    """Return how many cells a list can hold without meeting an item twice, in rounds of all cells."""
    return int(there.sum()) // max(1, int(there.sum(axis=1).max(initial=0)))


def allocate_cells(deal: Deal, there: Bools, systems: Bools, n_raters: int, returning: bool) -> Allocation:
    """Return the lists of the first ``n_raters`` places.

    ``systems`` says which systems each cell shows (items × kinds × systems). With ``returning`` a rater may
    meet an item again: its cells are split into sets small enough that each list takes one of each.
    """
    most = int(there.sum()) if returning else find_longest(there)
    if not 1 <= deal.n_trials <= most:
        raise BadDesign(
            f"{deal.n_trials:,} trials per rater, and the outputs that exist allow {most:,} at most."
        )
    item, columns = _split_items(there, int(there.sum()) // deal.n_trials if returning else None)
    dealer = _Dealer(deal, columns, systems[item])
    lists = np.array([dealer.deal_list() for _ in range(n_raters)], dtype=np.int64)
    lists = lists.reshape(n_raters, deal.n_trials, 2)
    return Allocation(item[lists[:, :, 0]], lists[:, :, 1])


def _split_items(there: Bools, size: int | None) -> tuple[Longs, Bools]:
    """Return the columns from which a list takes at most one cell each, and the item of each column."""
    items, columns = [], []
    for item, own in enumerate(there):
        kinds = np.flatnonzero(own)
        n_parts = 1 if size is None else -(-len(kinds) // size)
        for part in range(n_parts):
            column = np.zeros(len(own), dtype=bool)
            column[kinds[part::n_parts]] = True
            items.append(item)
            columns.append(column)
    return np.array(items, dtype=np.int64), np.array(columns, dtype=bool)


@dataclass(frozen=True)
class _Share:
    """What a list takes of a round: a number of cells, bounds for each kind, and columns it must not miss."""

    size: int
    low: Longs
    high: Longs
    must: Bools
    barred: Longs


class _Dealer:
    """Deals list after list; ``left`` are the cells of the round that no list has yet."""

    def __init__(self, deal: Deal, there: Bools, systems: Bools) -> None:
        self.deal, self.there, self.systems = deal, there, systems
        self.left = np.zeros_like(there)
        self.lists_left = 0
        self.tail: list[tuple[int, int]] = []
        self.place = 0
        self.priced = bool((systems[there].sum(axis=1) > 1).any()) and not bool(systems[there].all())

    def deal_list(self) -> list[tuple[int, int]]:
        """Return the columns and kinds of the next list."""
        self.noise = self.deal.draw(self.there.size, "cells", self.place).reshape(self.there.shape)
        self.place += 1
        k = self.deal.n_trials
        if not self.lists_left:
            begun, self.tail = self.tail, []
            taken = begun + self._open_round(begun)
            if len(taken) == k:
                return taken
        self.lists_left -= 1
        if self.lists_left == 0:
            return self._remove(list(zip(*(axis.tolist() for axis in np.nonzero(self.left)), strict=True)))
        return self._take(self._share(k, self.left.sum(axis=1) > self.lists_left, np.zeros(0, np.int64)))

    def _open_round(self, begun: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return what completes a list begun in the round before; the end of the new round is set aside."""
        k = self.deal.n_trials
        self.left = self.there.copy()
        size = k - len(begun) if begun else 0
        self.lists_left, rest = divmod(int(self.left.sum()) - size, k)
        head: list[tuple[int, int]] = []
        if size:
            own = np.bincount([kind for _, kind in begun], minlength=self.there.shape[1])
            columns = np.array([column for column, _ in begun], dtype=np.int64)
            many = self.left.sum(axis=1) > self.lists_left
            head = self._take(self._share(size, many, columns, own))
        if rest:
            many = self.left.sum(axis=1) > self.lists_left
            self.tail = self._take(self._share(rest, many, np.zeros(0, np.int64)))
        return head

    def _share(self, size: int, must: Bools, barred: Longs, own: Longs | None = None) -> _Share:
        """Return the share of a list: each kind as often as it occurs, less what the list has already."""
        kinds = self.left.sum(axis=0)
        whole = size + (0 if own is None else int(own.sum()))
        wanted = kinds * (whole / kinds.sum())
        low, high = np.floor(wanted + 1e-9).astype(np.int64), np.ceil(wanted - 1e-9).astype(np.int64)
        if own is not None:
            low, high = np.maximum(low - own, 0), np.maximum(high - own, 0)
        return _Share(size, low, high, must, barred)

    def _take(self, share: _Share) -> list[tuple[int, int]]:
        """Return the cells of a share, and take them out of the round."""
        base = np.where(self.left, self.noise + OUTSIDE - MUST * share.must[:, None], np.inf)
        base[share.barred] = np.inf
        best = self._assign(base, share)
        if not self.priced:
            return self._remove(best)
        shown = self.systems * self.left[:, :, None]
        wanted = shown.sum(axis=(0, 1)) * (share.size / self.left.sum())
        prices = np.zeros(len(wanted))
        least = np.inf
        tried = best
        for _ in range(PRICES):
            found = np.array(tried, dtype=np.int64)
            gap: Floats = self.systems[found[:, 0], found[:, 1]].sum(axis=0) - wanted
            if float(gap @ gap) < least:
                least, best = float(gap @ gap), tried
            if np.abs(gap).max() < 1:
                break
            prices += 0.2 * gap
            tried = self._assign(base + self.systems @ prices, share)
        return self._remove(best)

    def _assign(self, cost: Floats, share: _Share) -> list[tuple[int, int]]:
        """Return the cheapest cells of a share: rows are slots of kinds, columns items, or left empty."""
        from scipy.optimize import linear_sum_assignment

        n_columns = len(cost)
        available = np.isfinite(cost).sum(axis=0)
        most = np.minimum(np.maximum(share.high, share.low) + SPARE, available)
        kinds = np.repeat(np.arange(len(most)), most)
        number = np.arange(len(kinds)) - np.repeat(np.cumsum(most) - most, most)
        must, spare = number < share.low[kinds], number >= share.high[kinds]
        n_empty = len(kinds) - share.size
        if n_empty < 0:
            return self._choose_greedily(cost, share)
        matrix = np.empty((len(kinds), n_columns + n_empty))
        matrix[:, :n_columns] = cost.T[kinds] + KIND * spare[:, None]
        matrix[:, n_columns:] = KIND * must[:, None]
        try:
            rows, columns = linear_sum_assignment(matrix)
        except ValueError:  # the slots beyond the shares are too few
            return self._choose_greedily(cost, share)
        real = columns < n_columns
        return list(zip(columns[real].tolist(), kinds[rows[real]].tolist(), strict=True))

    def _choose_greedily(self, cost: Floats, share: _Share) -> list[tuple[int, int]]:
        """Return cells column by column, those that must be taken first, of the kind most behind."""
        order = np.argsort(cost.min(axis=1), kind="stable")[: share.size]
        owed = share.high.astype(np.float64)
        taken = []
        for column in order.tolist():
            kind = int(np.argmin(np.where(np.isfinite(cost[column]), cost[column] - KIND * owed, np.inf)))
            owed[kind] -= 1
            taken.append((column, kind))
        return taken

    def _remove(self, cells: list[tuple[int, int]]) -> list[tuple[int, int]]:
        for column, kind in cells:
            self.left[column, kind] = False
        return cells
