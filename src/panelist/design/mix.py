"""Exchanges between the lists of one round, for rounds so short that nothing else would mix them."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def mix_round(
    items: Ints, kinds: Ints, r: int, n_trials: int, n_kinds: int, numbers: NDArray[np.float64]
) -> None:
    """Exchange cells between the lists that have slots in round r, in place.

    Each number proposes a partner for one slot. The two cells change places only if both lists keep kinds
    that differ by at most one, and items that are all different; lists that begin in the round before or end
    in the one after are looked at as a whole, so rounds r - 1 to r + 1 must be there.
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
