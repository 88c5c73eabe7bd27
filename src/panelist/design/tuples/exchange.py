"""Exchanges of systems between tuples, until every pair of systems occurs equally often."""

import numpy as np

from panelist.numerics.arrays import Longs

Table = list[list[int]]
MOST_STEPS = 200_000  # exchanges tried in one batch: a second or two
MOST_SWEEPS = 400
PATIENCE = 5  # sweeps without a better state before things may get a little worse


def level_pairs(batch: Longs, before: Longs, n_systems: int, numbers: np.random.Generator) -> Longs:
    """Return the batch (items × tuples × shown) with systems exchanged so that pairs are balanced.

    ``before`` holds the pairs counted elsewhere, which are balanced too. An exchange takes a system x from
    one tuple and y from another, so each system stays as frequent as it is; between two items it is made only
    where both keep systems that differ by at most one. It must not raise the sum of squared pair counts over
    all items, or, that being equal, within the item; it may do so slightly now and then, so that the search
    does not get stuck. No exchange gives an item the same tuple twice. The most balanced state found is
    returned.
    """
    n_items, b, m = batch.shape
    if n_items * b < 2 or m in (1, n_systems):
        return batch
    state = _State(batch, before, n_systems)
    goal = state.least_spread()
    per_sweep = n_items * b * m
    n_sweeps = max(1, min(MOST_SWEEPS, MOST_STEPS // per_sweep))
    best, best_score = state.copy(), state.score()
    stalled = 0
    for sweep in range(n_sweeps):
        if best_score[0] == 0 and best_score[1] <= goal:
            break
        patient = stalled % PATIENCE < PATIENCE - 1
        state.careful = sweep % 2 == 0
        state.sweep(numbers.random((per_sweep, 5)).tolist(), 0 if patient else 1 + stalled // PATIENCE % 2)
        stalled += 1
        if (score := state.score()) < best_score:
            best, best_score, stalled = state.copy(), score, 0
    return np.array([[sorted(shown) for shown in item] for item in best], dtype=np.int64)


class _State:
    """The tuples as sets, and the pair counts over all items and within each."""

    def __init__(self, batch: Longs, before: Longs, n_systems: int) -> None:
        self.n_items, self.b, self.m = batch.shape
        self.careful = True  # whether exchanges that change nothing over all may make an item worse
        self.tuples = [[set(shown) for shown in item] for item in batch.tolist()]
        self.pairs: Table = (before + _count(batch, n_systems)).tolist()
        self.within: list[Table] = [_count(item[None], n_systems).tolist() for item in batch]
        often = self.b * self.m // n_systems
        self.spare = [set(np.flatnonzero(_times(item, n_systems) > often).tolist()) for item in batch]

    def copy(self) -> list[list[set[int]]]:
        return [list(item) for item in self.tuples]

    def least_spread(self) -> int:
        """Return how far the pair counts must differ at least: 0 if they can all be equal."""
        n = len(self.pairs)
        return int(sum(map(sum, self.pairs)) % (n * (n - 1)) != 0)

    def score(self) -> tuple[int, int, int]:
        """Return tuples that an item has twice, the spread of pair counts, and their sum of squares."""
        counts = [row[j] for i, row in enumerate(self.pairs) for j in range(i)]
        twice = sum(self.b - len(set(map(frozenset, item))) for item in self.tuples)
        return twice, max(counts) - min(counts), sum(count * count for count in counts)

    def sweep(self, numbers: list[list[float]], allowed: int) -> None:
        """Try one exchange for each row of numbers, and make those that help."""
        b, n_items = self.b, self.n_items
        for step, (u, v, w, y, z) in enumerate(numbers):
            item = step % n_items
            i = int(u * b)
            other = item
            if self.spare[item] and (b == 1 or v < 0.3):
                other = int(w * n_items)
            if other != item:
                j = int(v / 0.3 * b) if b > 1 else 0
            elif b > 1:
                j = (i + 1 + int(w * (b - 1))) % b
            else:
                continue
            self._exchange(item, i, other, j, y, z, allowed)

    def _exchange(self, item: int, i: int, other: int, j: int, y: float, z: float, allowed: int) -> None:
        first, second = self.tuples[item][i], self.tuples[other][j]
        only_first, only_second = first - second, second - first
        if other != item:
            only_first &= self.spare[item] - self.spare[other]
            only_second &= self.spare[other] - self.spare[item]
        if not only_first or not only_second:
            return
        p = sorted(only_first)[int(y * len(only_first))]
        q = sorted(only_second)[int(z * len(only_second))]
        rest_first, rest_second = first - {p}, second - {q}
        change = _change(self.pairs, p, q, rest_first, rest_second)
        twice = self.tuples[item].count(first) > 1 or self.tuples[other].count(second) > 1
        if change > allowed and not twice:
            return
        if self.careful and change == 0 and not twice and other == item:
            inside = _change(self.within[item], p, q, rest_first, rest_second)
            if inside > allowed:
                return
        new_first, new_second = rest_first | {q}, rest_second | {p}
        if new_first in self.tuples[item] or new_second in self.tuples[other]:
            return
        for table in (self.pairs, self.within[item]):
            _replace(table, p, q, rest_first)
        for table in (self.pairs, self.within[other]):
            _replace(table, q, p, rest_second)
        if other != item:
            self.spare[item] = self.spare[item] - {p} | {q}
            self.spare[other] = self.spare[other] - {q} | {p}
        self.tuples[item][i], self.tuples[other][j] = new_first, new_second


def _change(table: Table, x: int, y: int, rest_first: set[int], rest_second: set[int]) -> int:
    """Return half the change of the sum of squares if x and y changed places."""
    of_x, of_y = table[x], table[y]
    change = 0
    for z in rest_first - rest_second:
        change += of_y[z] - of_x[z] + 1
    for z in rest_second - rest_first:
        change += of_x[z] - of_y[z] + 1
    return change


def _replace(table: Table, old: int, new: int, rest: set[int]) -> None:
    """Stop counting the pairs of ``old`` with the rest of its tuple, and count those of ``new`` instead."""
    of_old, of_new = table[old], table[new]
    for z in rest:
        of_old[z] -= 1
        table[z][old] -= 1
        of_new[z] += 1
        table[z][new] += 1


def _times(tuples: Longs, n_systems: int) -> Longs:
    return np.bincount(tuples.reshape(-1), minlength=n_systems)


def _count(batch: Longs, n_systems: int) -> Longs:
    flat = batch.reshape(-1, batch.shape[-1])
    shown = np.zeros((len(flat), n_systems), dtype=np.int64)
    np.put_along_axis(shown, flat, 1, axis=1)
    table = shown.T @ shown
    np.fill_diagonal(table, 0)
    return np.asarray(table)
