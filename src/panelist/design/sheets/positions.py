"""Where outputs are on a page that shows several: counterbalanced, at random, or as listed."""

import numpy as np

from panelist.core.seeds import stream
from panelist.design.dealing.allocate import Word, draw_order
from panelist.numerics.arrays import Longs


def place_pairs(shown: Longs, kinds: Longs, seed: int, names: tuple[Word, ...]) -> Longs:
    """Return the pairs (raters × trials × 2) with left and right counterbalanced.

    Over all raters, at any number of them, the two orders of a pair of systems differ by at most one: every
    second showing is the reverse of the one before. The other showings are free, and are chosen so that each
    system of the rater is left and right as evenly as possible.
    """
    n_raters, k, _ = shown.shape
    coins = stream(seed, *names, "left").random((n_raters, k)).tolist()
    pending: dict[int, bool] = {}  # kind → whether its next showing must be reversed
    turned = np.zeros((n_raters, k), dtype=bool)
    lists = zip(shown.tolist(), kinds.tolist(), coins, strict=True)
    for rater, (pairs, own_kinds, own_coins) in enumerate(lists):
        turned[rater] = _turn_list(pairs, own_kinds, own_coins, pending)
    return np.where(turned[:, :, None], shown[:, :, ::-1], shown)


def _turn_list(
    pairs: list[list[int]], kinds: list[int], coins: list[float], pending: dict[int, bool]
) -> list[bool]:
    """Return which pairs of one rater are reversed, and keep ``pending`` up to date."""
    turns = [False] * len(pairs)
    lean: dict[int, int] = {}  # system → times left minus times right
    first_of: dict[int, int] = {}
    free: list[int] = []
    for trial, kind in enumerate(kinds):
        if kind in pending:
            turns[trial] = pending.pop(kind)
            _add(lean, pairs[trial], turns[trial])
        elif kind in first_of:  # twice in this list: the second is the first's reverse, so neither side gains
            turns[trial] = True
            free.remove(first_of.pop(kind))
        else:
            first_of[kind] = trial
            free.append(trial)
    for trial in free:
        a, b = pairs[trial]
        difference = lean.get(a, 0) - lean.get(b, 0)
        turns[trial] = difference > 0 or (difference == 0 and coins[trial] < 0.5)
        _add(lean, pairs[trial], turns[trial])
    _improve(turns, pairs, lean, free)
    for trial in free:
        pending[kinds[trial]] = not turns[trial]
    return turns


def _add(lean: dict[int, int], pair: list[int], turned: bool) -> None:
    left, right = (pair[1], pair[0]) if turned else (pair[0], pair[1])
    lean[left] = lean.get(left, 0) + 1
    lean[right] = lean.get(right, 0) - 1


def _improve(turns: list[bool], pairs: list[list[int]], lean: dict[int, int], free: list[int]) -> None:
    """Reverse chains of free pairs while that evens out how often two systems are on the left."""
    while True:
        low = min(lean.values(), default=0)
        starts = (system for system in lean if lean[system] >= low + 3)
        for start in sorted(starts, key=lambda x: (-lean[x], x)):
            chain = _find_chain(start, turns, pairs, lean, free)
            if chain:
                break
        else:
            return
        for trial in chain:
            turns[trial] = not turns[trial]
            _add(lean, pairs[trial], turns[trial])
            _add(lean, pairs[trial], turns[trial])


def _find_chain(
    start: int, turns: list[bool], pairs: list[list[int]], lean: dict[int, int], free: list[int]
) -> list[int]:
    """Return free pairs from left to right, the first with ``start`` on the left, whose reversal helps."""
    ways: dict[int, list[tuple[int, int]]] = {}
    for trial in free:
        a, b = pairs[trial]
        left, right = (b, a) if turns[trial] else (a, b)
        ways.setdefault(left, []).append((right, trial))
    came: dict[int, tuple[int, int] | None] = {start: None}
    queue = [start]
    for system in queue:
        if lean.get(system, 0) <= lean[start] - 3:  # reversing takes 2 from one end and gives 2 to the other
            chain = []
            step = came[system]
            while step is not None:
                chain.append(step[1])
                step = came[step[0]]
            return chain
        for right, trial in ways.get(system, []):
            if right not in came:
                came[right] = (system, trial)
                queue.append(right)
    return []


def shuffle_positions(shown: Longs, seed: int, names: tuple[Word, ...]) -> Longs:
    """Return the outputs of each page (raters × trials × m) in a random order for each."""
    order = draw_order(stream(seed, *names, "positions").random(shown.shape))
    return np.asarray(np.take_along_axis(shown, order, axis=-1))


def close_ranks(shown: Longs) -> Longs:
    """Return the pages with places that show nothing (-1) at the end, the others in their order."""
    if not (shown < 0).any():
        return shown
    return np.asarray(np.take_along_axis(shown, np.argsort(shown < 0, axis=-1, kind="stable"), axis=-1))


def place_unequal(shown: Longs, n_systems: int, seed: int, names: tuple[Word, ...]) -> Longs:
    """Return pages that show unequally many outputs, each system in each place as often as can be expected.

    On a page of a outputs each place is expected 1 / a times. Page by page, the outputs go where their counts
    are most behind, for the rater first and then for all raters before, so that a plan can grow.
    """
    from scipy.optimize import linear_sum_assignment

    n_raters, k, m = shown.shape
    draws = stream(seed, *names, "positions")
    overall = np.zeros((n_systems, m))
    placed = np.full_like(shown, -1)
    for rater in range(n_raters):
        own = np.zeros((n_systems, m))
        coins = draws.random((k, m, m))
        for page in range(k):
            systems = shown[rater, page]
            systems = systems[systems >= 0]
            a = len(systems)
            cost = m * own[systems, :a] + overall[systems, :a] + coins[page, :a, :a]
            at = linear_sum_assignment(cost)[1]
            placed[rater, page, at] = systems
            for counts in (own, overall):
                counts[systems, :a] -= 1 / a
                counts[systems, at] += 1
    return placed
