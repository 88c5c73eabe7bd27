"""Squares and rounds: Williams rows, in which every system follows every other, and all pairs in rounds."""

import numpy as np

from panelist.numerics.arrays import Longs


def make_williams_rows(n: int) -> Longs:
    """Return rows of a Williams square of n systems: n rows where n is even, 2 n where it is odd.

    Every system is in every place equally often, and directly after every other equally often: once
    where n is even, twice where it is odd. The first row steps to and fro, 0, 1, n-1, 2, n-2, …, so that its
    n - 1 differences are all different modulo n; the others add 1, 2, … to it; an odd n needs the mirror
    images too.

    >>> make_williams_rows(4).tolist()
    [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]]

    Williams, E. J. (1949). Experimental designs balanced for the estimation of residual effects of
    treatments. Australian Journal of Scientific Research A 2, 149-168. https://doi.org/10.1071/CH9490149
    """
    steps = np.arange(n)
    first = np.where(steps % 2 == 1, (steps + 1) // 2, (n - steps // 2) % n)
    rows = (first + steps[:, None]) % n
    return rows if n % 2 == 0 or n == 1 else np.concatenate([rows, rows[:, ::-1]])


def make_pairs(n: int) -> Longs:
    """Return all pairs of n systems, ordered in rounds so that any run of pairs holds all systems equally
    often.

    They are the rounds of a tournament: in each round every system has at most one partner.

    >>> make_pairs(4).tolist()
    [[0, 3], [1, 2], [1, 3], [0, 2], [2, 3], [0, 1]]
    """
    whole = n + n % 2  # with an odd number one system sits out in each round
    pairs = []
    for fixed in range(whole - 1):
        partners = [(fixed, whole - 1)]
        for step in range(1, whole // 2):
            a, b = (fixed + step) % (whole - 1), (fixed - step) % (whole - 1)
            partners.append((min(a, b), max(a, b)))
        pairs += [pair for pair in partners if pair[1] < n]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
