"""Orders in which systems follow each other evenly: rows of a Williams square, joined seam by seam."""

from itertools import pairwise, permutations

import numpy as np

from panelist.core.seeds import stream
from panelist.design.dealing.allocate import Word, draw_order
from panelist.design.dealing.squares import make_williams_rows
from panelist.numerics.arrays import Longs

MOST_PERMUTED = 5  # systems whose orders are all tried


def order_by_rows(systems: Longs, n_systems: int, seed: int, names: tuple[Word, ...]) -> Longs:
    """Return the order of each rater's trials (raters × trials), given the system of each trial.

    A list of j s trials (j of each of the s systems) is j rows of a Williams square, one after the other.
    Over as many raters as the square has rows, each row comes once in each place of the list, so inside rows
    every system follows every other equally often. Where row meets row, the differences modulo s from the
    last system of one to the first of the next go round from 1 to s - 1, so the seams are as even as can be,
    and no system follows itself. The rest of a list whose length is not a multiple of s is put at its end, in
    the order whose successions have occurred least often.
    """
    n_raters, k = systems.shape
    s = n_systems
    counts = np.zeros((n_raters, s), dtype=np.int64)
    np.add.at(counts, (np.arange(n_raters)[:, None], systems), 1)
    labels = draw_order(stream(seed, *names, "labels").random(s))
    followed, began = [[0] * s for _ in range(s)], [0] * s
    orders = np.empty((n_raters, k), dtype=np.int64)
    for rater in range(n_raters):
        numbers = stream(seed, *names, rater).random((2, max(k, s)))
        rows = labels[_join_rows(rater, int(counts[rater].min()), s, seed, names)].tolist()
        left = (counts[rater] - np.bincount(np.array(rows, dtype=np.int64), minlength=s)).tolist()
        sequence = _add_left(rows, left, followed, began, numbers[1, :s].tolist())
        began[sequence[0]] += 1
        for x, y in pairwise(sequence):
            followed[x][y] += 1
        # The trials of a system come in an order drawn at random.
        by_system = np.lexsort((numbers[0, :k], systems[rater]))
        orders[rater, np.argsort(sequence, kind="stable")] = by_system
    return orders


def count_carry_over(sequences: Longs, n_systems: int) -> Longs:
    """Return how often each system (column) directly follows each other (row) in the rows of a table."""
    codes = sequences[:, :-1] * n_systems + sequences[:, 1:]
    return np.bincount(codes.reshape(-1), minlength=n_systems**2).reshape(n_systems, n_systems)


def _join_rows(rater: int, n_rows: int, s: int, seed: int, names: tuple[Word, ...]) -> Longs:
    """Return this many rows of the Williams square, joined for this rater."""
    if n_rows == 0:
        return np.zeros(0, dtype=np.int64)
    rows = make_williams_rows(s)
    cycle, place = divmod(rater, len(rows))
    row = int(draw_order(stream(seed, *names, "cycle", cycle).random(len(rows)))[place])
    turn = cycle * len(rows) // s + row // s  # s raters whose rows begin in one half are one cycle
    parts = [rows[row]]
    for seam in range(n_rows - 1):
        difference = 1 + (turn * (n_rows - 1) + seam) % (s - 1)
        half = 1 - row // s if len(rows) > s else 0
        first = (parts[-1][-1] + difference) % s
        row = half * s + int((first - rows[half * s][0]) % s)
        parts.append(rows[row])
    return np.concatenate(parts)


def _add_left(
    rows: list[int], left: list[int], followed: list[list[int]], began: list[int], coins: list[float]
) -> list[int]:
    """Return the rows with the remaining systems, in the best order, at their end.

    A single system that is also the last of the rows is inserted where it repeats no succession.
    """
    rest = [system for system, often in enumerate(left) for _ in range(often)]
    rest.sort(key=lambda system: coins[system])
    if not rest:
        return rows
    if len(rest) <= MOST_PERMUTED:
        rest = list(min(permutations(rest), key=lambda way: _cost(rows[-1:], list(way), followed, began)))
    else:
        rest = _follow(rows[-1:], rest, followed, began)
    if rows and rest[0] == rows[-1]:
        first, rest = rest[0], rest[1:]
        ends = [-1, *rows, *rest[:1], -1]
        free = [i for i in range(len(rows)) if first not in ends[i : i + 2]]
        place = min(
            free, default=len(rows), key=lambda i: followed[rows[i - 1]][first] if i else began[first]
        )
        rows = [*rows[:place], first, *rows[place:]]
    return rows + rest


def _cost(last: list[int], way: list[int], followed: list[list[int]], began: list[int]) -> float:
    """Return how often these successions occurred before; following itself costs more than anything."""
    whole = [*last, *way]
    cost = 0.0 if last else float(began[way[0]])
    for x, y in pairwise(whole):
        cost += 1e9 if x == y else float(followed[x][y]) ** 2 + followed[x][y]
    return cost


def _follow(last: list[int], rest: list[int], followed: list[list[int]], began: list[int]) -> list[int]:
    """Return the systems, always with the one next that has followed the one before least often."""
    left, way = list(rest), list(last)
    while left:
        before = way[-1] if way else -1
        so_far = began if before < 0 else followed[before]
        chosen = min(left, key=lambda y, before=before, so_far=so_far: (y == before, so_far[y]))  # type: ignore[misc]
        left.remove(chosen)
        way.append(chosen)
    return way[len(last) :]
