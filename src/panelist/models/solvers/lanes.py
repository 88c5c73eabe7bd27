"""Eight factorisations of one pattern at once, for an intercept and a slope of each of two factors.

As in elimination, with an octet in the place of each number: the matrices H = V'diag(w)V + I of eight points
have one pattern, so that every index is looked up once for all of them. Dense factors are lower triangles
here, their diagonals inverted. A matrix that has no factor leaves nan in its own lane, and in no other.
"""

from typing import Any, NamedTuple

from panelist.models.arrays import Floats, Places
from panelist.models.solvers.blocks import Pattern, dense_size
from panelist.models.solvers.kernel import inner, stay_apart
from panelist.models.solvers.octets import fma, get, load, octets, root, spread, store

_MOST_COLUMNS, _MOST_ROWS = 120, 4000


class LaneBlocks(NamedTuple):
    """Room for eight factors, as in blocks.Blocks; flat arrays of octets."""

    D: Floats  # (J, 3) the inverse of L_j's first diagonal, what is below it, the inverse of the second
    C: Floats  # 2 · total neighbours
    S: Floats  # (q, q) L_S, its diagonal inverted
    T: Floats  # (q, q) S⁻¹
    M: Floats  # (q, q) L_S⁻¹
    E: Floats  # (2, widest)


def make_lane_blocks(pattern: Pattern) -> LaneBlocks:
    """Return room for eight factorisations."""
    J, q = len(pattern.start) - 1, dense_size(pattern)
    return LaneBlocks(
        octets(3 * J),
        octets(2 * len(pattern.columns)),
        octets(q * q),
        octets(q * q),
        octets(q * q),
        octets(2 * pattern.widest),
    )


def no_lane_blocks() -> LaneBlocks:
    """Return no room at all."""
    return LaneBlocks(*(octets(0) for _ in LaneBlocks._fields))


def fits_lanes(pattern: Pattern) -> bool:
    """Return whether eight factors at once are faster than one by one: they must stay in the cache."""
    return pattern.usual and dense_size(pattern) <= _MOST_COLUMNS and len(pattern.order) <= _MOST_ROWS


@inner
def factorise_lanes(pattern: Pattern, V: Floats, w: Floats, stride: int, blocks: LaneBlocks) -> None:
    """Fill the factors of V'diag(w)V + I; the weight of row i is octet i · stride of ``w``."""
    stay_apart()
    start, reach, seen = pattern.start, pattern.reach, pattern.columns
    place, local = pattern.place.reshape(-1), pattern.local.reshape(-1)
    D, C, S, q = blocks.D, blocks.C, blocks.S, pattern.q
    for k in range(q * q):
        store(S, k, spread(0.0))
    for c in range(q):
        store(S, c * q + c, spread(1.0))
    for j in range(len(start) - 1):
        width, c0 = reach[j + 1] - reach[j], 2 * reach[j]
        c1 = c0 + width
        for k in range(2 * width):
            store(C, c0 + k, spread(0.0))
        d0, d1, d2 = spread(1.0), spread(0.0), spread(1.0)
        for i in range(start[j], start[j + 1]):
            one, other, three, four = (
                load(V, 4 * i),
                load(V, 4 * i + 1),
                load(V, 4 * i + 2),
                load(V, 4 * i + 3),
            )
            weight = load(w, i * stride)
            w1, w2, w3, w4 = weight * one, weight * other, weight * three, weight * four
            d0, d1, d2 = fma(w1, one, d0), fma(w2, one, d1), fma(w2, other, d2)
            c, s = get(local, 2 * i), get(place, 2 * i) * (q + 1)
            store(C, c0 + c, fma(w1, three, load(C, c0 + c)))
            store(C, c0 + c + 1, fma(w1, four, load(C, c0 + c + 1)))
            store(C, c1 + c, fma(w2, three, load(C, c1 + c)))
            store(C, c1 + c + 1, fma(w2, four, load(C, c1 + c + 1)))
            store(S, s, fma(w3, three, load(S, s)))
            store(S, s + q, fma(w4, three, load(S, s + q)))
            store(S, s + q + 1, fma(w4, four, load(S, s + q + 1)))
        first = 1.0 / root(d0)
        low = d1 * first
        second = 1.0 / root(d2 - low * low)
        store(D, 3 * j, first)
        store(D, 3 * j + 1, low)
        store(D, 3 * j + 2, second)
        for c in range(width):
            upper = load(C, c0 + c) * first
            store(C, c0 + c, upper)
            store(C, c1 + c, (load(C, c1 + c) - upper * low) * second)
        _take_off_lanes(seen, reach[j], width, C, c0, c1, S, q)
    _cholesky_lanes(S, q)


@inner
def _take_off_lanes(
    seen: Places, first: int, width: int, C: Floats, c0: int, c1: int, S: Floats, q: int
) -> None:
    """Take Ĉ_j'Ĉ_j off S; neighbours come in pairs."""
    for c in range(0, width, 2):
        row = get(seen, first + c) * q
        a0, a1 = load(C, c0 + c) * -1.0, load(C, c1 + c) * -1.0
        b0, b1 = load(C, c0 + c + 1) * -1.0, load(C, c1 + c + 1) * -1.0
        for d in range(0, c + 1, 2):
            s = row + get(seen, first + d)
            x0, x1, y0, y1 = load(C, c0 + d), load(C, c1 + d), load(C, c0 + d + 1), load(C, c1 + d + 1)
            store(S, s, fma(a0, x0, fma(a1, x1, load(S, s))))
            store(S, s + 1, fma(a0, y0, fma(a1, y1, load(S, s + 1))))  # where c = d, nobody looks at it
            store(S, s + q, fma(b0, x0, fma(b1, x1, load(S, s + q))))
            store(S, s + q + 1, fma(b0, y0, fma(b1, y1, load(S, s + q + 1))))


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
        store(S, i * q + i, 1.0 / root(total))


@inner
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


@inner
def solve_lanes(pattern: Pattern, blocks: LaneBlocks, x: Floats) -> None:
    """Overwrite x, lead columns first, by H⁻¹x."""
    stay_apart()
    reach, seen, D, C, S = pattern.reach, pattern.columns, blocks.D, blocks.C, blocks.S
    J, q = len(pattern.start) - 1, pattern.q
    dense = 2 * J
    for j in range(J):
        first, width, c0 = reach[j], reach[j + 1] - reach[j], 2 * reach[j]
        one = load(x, 2 * j) * load(D, 3 * j)
        other = (load(x, 2 * j + 1) - one * load(D, 3 * j + 1)) * load(D, 3 * j + 2)
        store(x, 2 * j, one)
        store(x, 2 * j + 1, other)
        for c in range(width):
            k = dense + get(seen, first + c)
            store(x, k, load(x, k) - one * load(C, c0 + c) - other * load(C, c0 + width + c))
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
        first, width, c0 = reach[j], reach[j + 1] - reach[j], 2 * reach[j]
        one, other = load(x, 2 * j), load(x, 2 * j + 1)
        for c in range(width):
            rest = load(x, dense + get(seen, first + c))
            one -= load(C, c0 + c) * rest
            other -= load(C, c0 + width + c) * rest
        other *= load(D, 3 * j + 2)
        store(x, 2 * j + 1, other)
        store(x, 2 * j, (one - other * load(D, 3 * j + 1)) * load(D, 3 * j))


@inner
def invert_rows_lanes(pattern: Pattern, V: Floats, blocks: LaneBlocks, P: Floats) -> None:
    """Fill row i of P with H⁻¹v_i at the columns of v_i."""
    stay_apart()
    start, reach, seen = pattern.start, pattern.reach, pattern.columns
    place, local = pattern.place.reshape(-1), pattern.local.reshape(-1)
    C, D, E, T, q = blocks.C, blocks.D, blocks.E, blocks.T, pattern.q
    _invert_lanes(blocks.S, T, blocks.M, q)
    for j in range(len(start) - 1):
        width, c0 = reach[j + 1] - reach[j], 2 * reach[j]
        n0, n1, n2 = _invert_lead_lanes(seen, reach[j], width, C, c0, D, 3 * j, T, q, E)
        for i in range(start[j], start[j + 1]):
            one, other, three, four = (
                load(V, 4 * i),
                load(V, 4 * i + 1),
                load(V, 4 * i + 2),
                load(V, 4 * i + 3),
            )
            c, s = get(local, 2 * i), get(place, 2 * i) * (q + 1)
            a, b, d, e = load(E, c), load(E, c + 1), load(E, width + c), load(E, width + c + 1)
            t = load(T, s + q)
            store(P, 4 * i, n0 * one + n1 * other - a * three - b * four)
            store(P, 4 * i + 1, n1 * one + n2 * other - d * three - e * four)
            store(P, 4 * i + 2, load(T, s) * three + t * four - a * one - d * other)
            store(P, 4 * i + 3, t * three + load(T, s + q + 1) * four - b * one - e * other)


@inner
def _invert_lead_lanes(
    seen: Places, first: int, width: int, C: Floats, c0: int, D: Floats, at: int, T: Floats, q: int, E: Floats
) -> Any:
    """Fill E of a lead level, −E being the block of H⁻¹ beside its own; return the entries of that one."""
    n0, n1, n2 = spread(1.0), spread(0.0), spread(1.0)
    for d in range(0, width, 2):  # Ĉ_jS⁻¹ over the neighbours, a pair of columns at a time
        column = get(seen, first + d)
        a0 = a1 = b0 = b1 = spread(0.0)
        for c in range(width):
            s = get(seen, first + c) * q + column
            x, y, upper, lower = load(T, s), load(T, s + 1), load(C, c0 + c), load(C, c0 + width + c)
            a0, a1 = fma(upper, x, a0), fma(upper, y, a1)
            b0, b1 = fma(lower, x, b0), fma(lower, y, b1)
        upper, other = load(C, c0 + d), load(C, c0 + d + 1)  # I + Ĉ_jS⁻¹Ĉ_j'
        n0, n1 = fma(a0, upper, fma(a1, other, n0)), fma(b0, upper, fma(b1, other, n1))
        n2 = fma(b0, load(C, c0 + width + d), fma(b1, load(C, c0 + width + d + 1), n2))
        store(E, d, a0)
        store(E, d + 1, a1)
        store(E, width + d, b0)
        store(E, width + d + 1, b1)
    upper, low, lower = load(D, at), load(D, at + 1), load(D, at + 2)
    for d in range(width):  # L_j⁻ᵀ from the left
        below = load(E, width + d) * lower
        store(E, width + d, below)
        store(E, d, (load(E, d) - low * below) * upper)
    n2 *= lower * lower  # and of the lead block, from both sides
    across = n1 * lower
    n1 = (across - low * n2) * upper
    n0 = ((n0 - low * across) * upper - low * n1) * upper
    return n0, n1, n2
