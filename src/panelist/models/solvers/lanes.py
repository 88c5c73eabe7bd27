"""Eight factorisations of one pattern at once: blocks.py with an octet in the place of each number.

The matrices H = V'diag(w)V + I of eight points have one pattern, so that every index is looked up once for
all of them, and every operation is a vector instruction. Diagonals of the factors are kept inverted.
A matrix that has no factor leaves nan in its own lane, and in no other.
"""

from typing import NamedTuple

import numpy as np

from panelist.models.arrays import Floats, Places
from panelist.models.solvers.blocks import Pattern, dense_size
from panelist.models.solvers.kernel import kernel, stay_apart
from panelist.models.solvers.octets import WIDTH, fma, load, octets, root, spread, store

_MOST_COLUMNS, _MOST_ROWS = 120, 4000


class LaneBlocks(NamedTuple):
    """Room for eight factors, as in blocks.Blocks; flat arrays of octets."""

    D: Floats  # (J, m₁, m₁)
    C: Floats  # m₁ · total neighbours
    S: Floats  # (q, q)
    T: Floats  # (q, q) S⁻¹
    M: Floats  # (q, q) L_S⁻¹
    E: Floats  # (m₁, widest)
    N: Floats  # (m₁, m₁)


def make_lane_blocks(pattern: Pattern) -> LaneBlocks:
    """Return room for eight factorisations."""
    m1, J, q = int(pattern.widths[0]), len(pattern.start) - 1, dense_size(pattern)
    return LaneBlocks(
        octets(J * m1 * m1),
        octets(m1 * len(pattern.columns)),
        octets(q * q),
        octets(q * q),
        octets(q * q),
        octets(m1 * pattern.widest),
        octets(m1 * m1),
    )


def no_lane_blocks() -> LaneBlocks:
    """Return no room at all."""
    return LaneBlocks(*(octets(0) for _ in LaneBlocks._fields))


def fits_lanes(pattern: Pattern) -> bool:
    """Return whether eight factors at once fit into the cache; else one after the other is faster."""
    return dense_size(pattern) <= _MOST_COLUMNS and len(pattern.order) <= _MOST_ROWS


@kernel
def factorise_lanes(pattern: Pattern, V: Floats, w: Floats, stride: int, blocks: LaneBlocks) -> None:
    """Fill the factors of V'diag(w)V + I; the weight of row i is octet i · stride of ``w``."""
    stay_apart()
    start, reach, columns, place, local = (
        pattern.start,
        pattern.reach,
        pattern.columns,
        pattern.place,
        pattern.local,
    )
    D, C, S = blocks.D, blocks.C, blocks.S
    m1, m2, q = pattern.widths[0], place.shape[1], _side(blocks.S)
    m, one = m1 + m2, spread(1.0)
    D[:] = 0.0
    C[:] = 0.0
    S[:] = 0.0
    for c in range(q):
        store(S, c * q + c, one)
    for j in range(len(start) - 1):
        width, first, at = reach[j + 1] - reach[j], m1 * reach[j], j * m1 * m1
        for a in range(m1):
            store(D, at + a * m1 + a, one)
        for i in range(start[j], start[j + 1]):
            weight = load(w, i * stride)
            for a in range(m1):
                weighted = weight * load(V, i * m + a)
                for b in range(a + 1):
                    k = at + a * m1 + b
                    store(D, k, fma(weighted, load(V, i * m + b), load(D, k)))
                for b in range(m2):
                    k = first + a * width + local[i, b]
                    store(C, k, fma(weighted, load(V, i * m + m1 + b), load(C, k)))
            for b in range(m2):
                weighted = weight * load(V, i * m + m1 + b)
                for d in range(b + 1):
                    k = place[i, b] * q + place[i, d]
                    store(S, k, fma(weighted, load(V, i * m + m1 + d), load(S, k)))
        for a in range(m1):
            for b in range(a + 1):
                total = load(D, at + a * m1 + b)
                for k in range(b):
                    total -= load(D, at + a * m1 + k) * load(D, at + b * m1 + k)
                if a > b:
                    store(D, at + a * m1 + b, total * load(D, at + b * m1 + b))
                else:
                    store(D, at + a * m1 + a, 1.0 / root(total))
        _eliminate_lanes(D, at, C, first, m1, columns[reach[j] : reach[j + 1]], S, q)
    _cholesky_lanes(S, q)


@kernel
def _side(square: Floats) -> int:
    """Return the side of a square array of octets."""
    return int(np.sqrt(len(square) // WIDTH) + 0.5)


@kernel
def _eliminate_lanes(
    D: Floats, at: int, C: Floats, first: int, m1: int, seen: Places, S: Floats, q: int
) -> None:
    width = len(seen)
    for a in range(m1):
        for k in range(a):
            scale = load(D, at + a * m1 + k) * -1.0
            for c in range(width):
                here = first + a * width + c
                store(C, here, fma(scale, load(C, first + k * width + c), load(C, here)))
        inverse = load(D, at + a * m1 + a)
        for c in range(width):
            store(C, first + a * width + c, inverse * load(C, first + a * width + c))
    for a in range(m1):
        for c in range(width):
            row, value = seen[c] * q, load(C, first + a * width + c) * -1.0
            for d in range(c + 1):
                k = row + seen[d]
                store(S, k, fma(value, load(C, first + a * width + d), load(S, k)))


@kernel
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
        store(S, i * q + i, 1.0 / root(total))


@kernel
def _invert_lanes(S: Floats, T: Floats, M: Floats, q: int) -> None:
    """Fill T with (LL')⁻¹, given L in S; M is room for L⁻¹."""
    stay_apart()
    for i in range(q):  # M = L⁻¹, row by row
        inverse = load(S, i * q + i)
        less = inverse * -1.0
        store(M, i * q + i, inverse)
        j = 0
        while j < i:
            if i - j >= 4:
                t0 = t1 = t2 = t3 = spread(0.0)
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
            total = spread(0.0)
            for k in range(j, i):
                total = fma(load(S, i * q + k), load(M, k * q + j), total)
            store(M, i * q + j, less * total)
            j += 1
    for i in range(q):  # T = M'M
        j = 0
        while j <= i:
            if i + 1 - j >= 4:
                t0 = t1 = t2 = t3 = spread(0.0)
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
            total = spread(0.0)
            for k in range(i, q):
                total = fma(load(M, k * q + i), load(M, k * q + j), total)
            store(T, i * q + j, total)
            j += 1
    for i in range(q):
        for j in range(i):
            store(T, j * q + i, load(T, i * q + j))


@kernel
def solve_lanes(pattern: Pattern, blocks: LaneBlocks, x: Floats) -> None:
    """Overwrite x, lead columns first, by H⁻¹x."""
    stay_apart()
    reach, columns, m1 = pattern.reach, pattern.columns, pattern.widths[0]
    D, C, S = blocks.D, blocks.C, blocks.S
    J, q = len(pattern.start) - 1, _side(blocks.S)
    dense = J * m1
    for j in range(J):
        width = reach[j + 1] - reach[j]
        for a in range(m1):
            total = load(x, j * m1 + a)
            for b in range(a):
                total -= load(D, (j * m1 + a) * m1 + b) * load(x, j * m1 + b)
            total *= load(D, (j * m1 + a) * m1 + a)
            store(x, j * m1 + a, total)
            for c in range(width):
                k = dense + columns[reach[j] + c]
                store(x, k, load(x, k) - total * load(C, m1 * reach[j] + a * width + c))
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
    for j in range(J):
        width = reach[j + 1] - reach[j]
        for a in range(m1 - 1, -1, -1):
            total = load(x, j * m1 + a)
            for c in range(width):
                k = dense + columns[reach[j] + c]
                total -= load(C, m1 * reach[j] + a * width + c) * load(x, k)
            for b in range(a + 1, m1):
                total -= load(D, (j * m1 + b) * m1 + a) * load(x, j * m1 + b)
            store(x, j * m1 + a, total * load(D, (j * m1 + a) * m1 + a))


@kernel
def invert_rows_lanes(pattern: Pattern, V: Floats, blocks: LaneBlocks, P: Floats) -> None:
    """Fill row i of P with H⁻¹v_i at the columns of v_i."""
    stay_apart()
    start, reach, columns, place, local = (
        pattern.start,
        pattern.reach,
        pattern.columns,
        pattern.place,
        pattern.local,
    )
    C, D, E, N, T = blocks.C, blocks.D, blocks.E, blocks.N, blocks.T
    m1, m2, q = pattern.widths[0], place.shape[1], _side(blocks.S)
    m = m1 + m2
    _invert_lanes(blocks.S, T, blocks.M, q)
    for j in range(len(start) - 1):
        width = reach[j + 1] - reach[j]
        seen = columns[reach[j] : reach[j + 1]]
        _invert_level_lanes(C, m1 * reach[j], D, j * m1 * m1, T, q, seen, m1, E, N)
        for i in range(start[j], start[j + 1]):
            for a in range(m1):
                total = spread(0.0)
                for b in range(m1):
                    total = fma(load(N, a * m1 + b), load(V, i * m + b), total)
                for b in range(m2):
                    total -= load(E, a * width + local[i, b]) * load(V, i * m + m1 + b)
                store(P, i * m + a, total)
            for b in range(m2):
                total = spread(0.0)
                for d in range(m2):
                    total = fma(load(T, place[i, b] * q + place[i, d]), load(V, i * m + m1 + d), total)
                for a in range(m1):
                    total -= load(E, a * width + local[i, b]) * load(V, i * m + a)
                store(P, i * m + m1 + b, total)


@kernel
def _invert_level_lanes(
    C: Floats, first: int, D: Floats, at: int, T: Floats, q: int, seen: Places, m1: int, E: Floats, N: Floats
) -> None:
    """Fill E and N of a lead level: −E is the block of H⁻¹ beside the lead block, N the lead block."""
    width = len(seen)
    for a in range(
        m1
    ):  # E = Ĉ_j T over the neighbours, row by row of T: sums that do not wait for each other
        for d in range(width):
            store(E, a * width + d, spread(0.0))
        for c in range(width):
            value, row = load(C, first + a * width + c), seen[c] * q
            for d in range(width):
                store(E, a * width + d, fma(value, load(T, row + seen[d]), load(E, a * width + d)))
    for a in range(m1):  # I + E Ĉ_j'
        for b in range(m1):
            total = spread(1.0 if a == b else 0.0)
            for c in range(width):
                total = fma(load(E, a * width + c), load(C, first + b * width + c), total)
            store(N, a * m1 + b, total)
    for a in range(m1 - 1, -1, -1):  # L_j⁻ᵀ from the left, of E and of N
        inverse = load(D, at + a * m1 + a)
        for k in range(a + 1, m1):
            share = load(D, at + k * m1 + a) * -1.0
            for c in range(width):
                store(E, a * width + c, fma(share, load(E, k * width + c), load(E, a * width + c)))
            for c in range(m1):
                store(N, a * m1 + c, fma(share, load(N, k * m1 + c), load(N, a * m1 + c)))
        for c in range(width):
            store(E, a * width + c, inverse * load(E, a * width + c))
        for c in range(m1):
            store(N, a * m1 + c, inverse * load(N, a * m1 + c))
    for a in range(m1):  # and N ← N L_j⁻¹
        for b in range(m1 - 1, -1, -1):
            total = load(N, a * m1 + b)
            for k in range(b + 1, m1):
                total -= load(N, a * m1 + k) * load(D, at + k * m1 + b)
            store(N, a * m1 + b, total * load(D, at + b * m1 + b))
