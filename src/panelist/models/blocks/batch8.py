"""Eight factorisations of one pattern at once, for an intercept and a slope of each of two factors.

The matrices H = V'diag(w)V + I of eight points have one pattern, so that every index is looked up once for
all of them. For the lead factor it is the code of a single matrix, compiled for f64x8 (see two_by_two); dense
factors are lower triangles here, their diagonals inverted. A matrix that has no factor leaves nan in its own
lane, and in no other.
"""

from typing import NamedTuple

from panelist.models.blocks import two_by_two
from panelist.models.blocks.inversion import invert_lead
from panelist.models.blocks.pattern import Pattern, fill_up
from panelist.numerics.arrays import Floats
from panelist.numerics.kernel import inner, noinline
from panelist.numerics.simd import WIDTH, broadcast, empty_f64x8, fma, load, sqrt, store

_MOST_COLUMNS, _MOST_ROWS = 120, 4000


class LaneBlocks(NamedTuple):
    """Eight factors, as in pattern.Blocks; every element is an f64x8."""

    D: Floats  # (J, 2, 2)
    C: Floats  # (2, neighbours) of each level, filled up
    S: Floats  # (q, q) L_S, its diagonal inverted
    T: Floats  # (q, q) S⁻¹
    M: Floats  # (q, q) L_S⁻¹
    N: Floats  # (2, 2) of one level
    E: Floats  # (2, widest filled up)


def make_lane_blocks(pattern: Pattern) -> LaneBlocks:
    """Return empty arrays for eight factorisations."""
    J, q = len(pattern.start) - 1, pattern.q
    return LaneBlocks(
        empty_f64x8(4 * J),
        empty_f64x8(2 * WIDTH * int(pattern.padded[-1])),
        empty_f64x8(q * q),
        empty_f64x8(q * q),
        empty_f64x8(q * q),
        empty_f64x8(4),
        empty_f64x8(2 * fill_up(pattern.widest)),
    )


def no_lane_blocks() -> LaneBlocks:
    """Return arrays of nothing."""
    return LaneBlocks(*(empty_f64x8(0) for _ in LaneBlocks._fields))


def fits_lanes(pattern: Pattern) -> bool:
    """Return whether eight factors at once are faster than one by one: they must stay in the cache."""
    return pattern.two_by_two and pattern.q <= _MOST_COLUMNS and len(pattern.order) <= _MOST_ROWS


@inner
def factorise_lanes(
    pattern: Pattern, V: Floats, w: Floats, first: int, stride: int, blocks: LaneBlocks
) -> None:
    """Fill the factors of V'diag(w)V + I; the weight of row i is ``w[first + i · stride]``."""
    noinline()
    S, q = blocks.S, pattern.q
    for k in range(q * q):
        store(S, k, broadcast(0.0))
    for c in range(q):
        store(S, c * q + c, broadcast(1.0))
    two_by_two.eliminate(pattern, V, w, first, stride, blocks.D, blocks.C, S, q)
    _cholesky_lanes(S, q)


@inner
def _cholesky_lanes(S: Floats, q: int) -> None:
    """Overwrite the lower triangle by its factor, the diagonal inverted; four columns at a time."""
    for i in range(q):
        j = 0
        while j < i:
            four = min(4, i - j)
            if four == 4:
                t0, t1 = load(S, i * q + j), load(S, i * q + j + 1)
                t2, t3 = load(S, i * q + j + 2), load(S, i * q + j + 3)
                for k in range(j):
                    x = load(S, i * q + k) * -1.0
                    t0 = fma(x, load(S, j * q + k), t0)
                    t1 = fma(x, load(S, (j + 1) * q + k), t1)
                    t2 = fma(x, load(S, (j + 2) * q + k), t2)
                    t3 = fma(x, load(S, (j + 3) * q + k), t3)
                store(S, i * q + j, t0)
                store(S, i * q + j + 1, t1)
                store(S, i * q + j + 2, t2)
                store(S, i * q + j + 3, t3)
                done = j
            else:
                done = 0
            for c in range(j, j + four):  # what is left of each sum, and the division
                total = load(S, i * q + c)
                for k in range(done, c):
                    total -= load(S, i * q + k) * load(S, c * q + k)
                store(S, i * q + c, total * load(S, c * q + c))
            j += four
        total = load(S, i * q + i)
        for k in range(i):
            x = load(S, i * q + k)
            total -= x * x
        store(S, i * q + i, 1.0 / sqrt(total))


@inner
def _invert_lanes(S: Floats, T: Floats, M: Floats, q: int) -> None:
    """Fill T with (LL')⁻¹, given L in S; M receives L⁻¹."""
    noinline()
    for i in range(q):  # M = L⁻¹, row by row
        inverse = load(S, i * q + i)
        less = inverse * -1.0
        store(M, i * q + i, inverse)
        j = 0
        while j < i:
            if i - j >= 4:
                t0 = t1 = t2 = t3 = broadcast(0.0)
                for k in range(j + 3, i):
                    x = load(S, i * q + k)
                    t0 = fma(x, load(M, k * q + j), t0)
                    t1 = fma(x, load(M, k * q + j + 1), t1)
                    t2 = fma(x, load(M, k * q + j + 2), t2)
                    t3 = fma(x, load(M, k * q + j + 3), t3)
                x0, x1, x2 = load(S, i * q + j), load(S, i * q + j + 1), load(S, i * q + j + 2)
                t0 += x0 * load(M, j * q + j) + x1 * load(M, (j + 1) * q + j) + x2 * load(M, (j + 2) * q + j)
                t1 += x1 * load(M, (j + 1) * q + j + 1) + x2 * load(M, (j + 2) * q + j + 1)
                t2 += x2 * load(M, (j + 2) * q + j + 2)
                store(M, i * q + j, less * t0)
                store(M, i * q + j + 1, less * t1)
                store(M, i * q + j + 2, less * t2)
                store(M, i * q + j + 3, less * t3)
                j += 4
                continue
            total = broadcast(0.0)
            for k in range(j, i):
                total = fma(load(S, i * q + k), load(M, k * q + j), total)
            store(M, i * q + j, less * total)
            j += 1
    for i in range(q):  # T = M'M
        j = 0
        while j <= i:
            if i + 1 - j >= 4:
                t0 = t1 = t2 = t3 = broadcast(0.0)
                for k in range(i, q):
                    x = load(M, k * q + i)
                    t0 = fma(x, load(M, k * q + j), t0)
                    t1 = fma(x, load(M, k * q + j + 1), t1)
                    t2 = fma(x, load(M, k * q + j + 2), t2)
                    t3 = fma(x, load(M, k * q + j + 3), t3)
                store(T, i * q + j, t0)
                store(T, i * q + j + 1, t1)
                store(T, i * q + j + 2, t2)
                store(T, i * q + j + 3, t3)
                j += 4
                continue
            total = broadcast(0.0)
            for k in range(i, q):
                total = fma(load(M, k * q + i), load(M, k * q + j), total)
            store(T, i * q + j, total)
            j += 1
    for i in range(q):
        for j in range(i):
            store(T, j * q + i, load(T, i * q + j))


@inner
def solve_lanes(pattern: Pattern, blocks: LaneBlocks, x: Floats) -> None:
    """Overwrite x, lead columns first, by H⁻¹x."""
    noinline()
    S, q, dense = blocks.S, pattern.q, 2 * (len(pattern.start) - 1)
    two_by_two.forward(pattern, blocks.D, blocks.C, x)
    for i in range(q):
        total = load(x, dense + i)
        for k in range(i):
            total -= load(S, i * q + k) * load(x, dense + k)
        store(x, dense + i, total * load(S, i * q + i))
    for i in range(q - 1, -1, -1):
        total = load(x, dense + i) * load(S, i * q + i)
        store(x, dense + i, total)
        for k in range(i):
            store(x, dense + k, load(x, dense + k) - total * load(S, i * q + k))
    two_by_two.substitute(pattern, blocks.D, blocks.C, x)


@inner
def invert_rows_lanes(pattern: Pattern, V: Floats, blocks: LaneBlocks, P: Floats) -> None:
    """Fill row i of P with H⁻¹v_i at the columns of v_i."""
    noinline()
    start, reach, padded, seen = pattern.start, pattern.reach, pattern.padded, pattern.columns
    place, local = pattern.place.reshape(-1), pattern.local.reshape(-1)
    C, D, E, N, T, q = blocks.C, blocks.D, blocks.E, blocks.N, blocks.T, pattern.q
    _invert_lanes(blocks.S, T, blocks.M, q)
    for j in range(len(start) - 1):
        width, begin = reach[j + 1] - reach[j], 2 * WIDTH * padded[j]
        row = WIDTH * (padded[j + 1] - padded[j])
        two_by_two.multiply_in_place(seen, reach[j], width, T, q, C, begin, row, E)
        invert_lead(C, begin, row, width, D, 4 * j, 2, E, N, 0)
        two_by_two.fill_rows(start[j], start[j + 1], V, place, local, N, 0, E, row, T, q, P)
