"""Which kind of trial an item gets in which round, so that everything differs by at most one at any time.

Trials are dealt in rounds: a round holds every item once, and slot i of round r holds kind (i + o_r) mod T.
If the offsets o_r of T rounds in a row (a block) are all different, every item meets every kind once in a
block. A rater takes k slots in a row. Inside a round these are kinds in a row, so their counts differ by at
most one; where a rater's k slots lie across two rounds, a of them before and b after, the kinds go on in a
row if o_{r+1} = o_r + n (mod T), and the counts still differ by at most one if a further step delta is taken
that keeps the a mod T left-over kinds before and the b mod T left-over kinds after apart, or lets them cover
all kinds. With q = k mod T these steps are 0 … T - q where a mod T ≤ q, and -q … 0 where it is greater; any
step where q = 0 and a mod T = 0. The two constructions below take only such steps:

- T does not divide n, or T divides k. With g = gcd(n, T) < T, steps of n alone visit the T/g offsets that are
  equal modulo g. Then a further step leads to the next such class, upwards if q ≥ g - 1 (by 1, or by 1 - g
  where only steps down are open), else downwards (by -1, or by g - 1); T ≥ 2g leaves room for both.
- T divides n and not k. Steps of -q, which are open everywhere, visit the T/d offsets that are equal modulo
  d = gcd(q, T); then a further step leads to the class below (by -1, or by d - 1 where only steps up are
  open).
"""

from collections.abc import Iterator
from itertools import count
from math import gcd

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


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


def repeat_offsets(n_items: int, n_kinds: int) -> Ints:
    """Return the T offsets of a block for lists longer than a round (k > n); the block comes again and again.

    So the cells of n T trials in a row are all different, and no rater meets an output twice. The kinds of a
    rater differ by at most one where T divides k, or k is n T, and by at most two elsewhere.
    """
    rounds = np.arange(n_kinds, dtype=np.int64)
    cycle = n_kinds // gcd(n_items, n_kinds)
    return (rounds * n_items + rounds // cycle) % n_kinds
