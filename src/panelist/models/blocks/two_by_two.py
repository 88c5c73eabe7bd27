"""The most frequent model, unrolled: an intercept and a slope for each of two factors.

Every row of V has four entries then, and neighbours come in pairs; loops over two numbers cost more than the
arithmetic in them. `find_pattern` says where this holds (``Pattern.two_by_two``), and the functions of
elimination, inversion and products choose by that. Each algorithm is written once, for single numbers and for
f64x8 (see simd): for one matrix and one right-hand side, one matrix and eight, eight matrices and eight.
"""

from typing import Any

from panelist.models.blocks.pattern import Pattern
from panelist.numerics.arrays import Floats, Places
from panelist.numerics.kernel import inner, noinline
from panelist.numerics.simd import WIDTH, broadcast, constant, fma, get, load, per_vector, put, sqrt, store


@inner
def fill_V(Z: Floats, n: int, tau: Floats, first: int, V: Floats) -> None:
    """Fill V = ZΛ, with the six entries of Λ from ``tau[first]`` on."""
    a, b, c = get(tau, first), get(tau, first + 1), get(tau, first + 2)
    d, e, f = get(tau, first + 3), get(tau, first + 4), get(tau, first + 5)
    for i in range(0, 4 * n, 4):
        put(V, i, a * get(Z, i) + b * get(Z, i + 1))
        put(V, i + 1, c * get(Z, i + 1))
        put(V, i + 2, d * get(Z, i + 2) + e * get(Z, i + 3))
        put(V, i + 3, f * get(Z, i + 3))


@inner
def multiply_row(V: Floats, z: int, u0: Any, u1: Any, u: Floats, c: int) -> Any:
    """Return a row of V, which begins at z, times u: u₀ and u₁ at its lead columns, and u from c on."""
    value = get(V, z) * u0 + get(V, z + 1) * u1
    return value + get(V, z + 2) * get(u, c) + get(V, z + 3) * get(u, c + 1)


@inner
def multiply(pattern: Pattern, V: Floats, u: Floats, out: Floats) -> None:
    """Fill out (n,) with Vu."""
    start, place = pattern.start, pattern.place.reshape(-1)
    dense = 2 * (len(start) - 1)
    for j in range(len(start) - 1):
        one, other = get(u, 2 * j), get(u, 2 * j + 1)
        for i in range(start[j], start[j + 1]):
            put(out, i, multiply_row(V, 4 * i, one, other, u, dense + get(place, 2 * i)))


@inner
def multiply_transposed(
    pattern: Pattern, V: Floats, row: Floats, first: int, stride: int, out: Floats
) -> None:
    """Add V'row to out; the entry of row i is ``row[first + i · stride]``."""
    start, place = pattern.start, pattern.place.reshape(-1)
    dense = 2 * (len(start) - 1)
    for j in range(len(start) - 1):
        one, other = get(out, 2 * j), get(out, 2 * j + 1)
        for i in range(start[j], start[j + 1]):
            value, k = get(row, first + i * stride), dense + get(place, 2 * i)
            one, other = fma(get(V, 4 * i), value, one), fma(get(V, 4 * i + 1), value, other)
            put(out, k, fma(get(V, 4 * i + 2), value, get(out, k)))
            put(out, k + 1, fma(get(V, 4 * i + 3), value, get(out, k + 1)))
        put(out, 2 * j, one)
        put(out, 2 * j + 1, other)


@inner
def eliminate(
    pattern: Pattern,
    V: Floats,
    w: Floats,
    first: int,
    stride: int,
    D: Floats,
    C: Floats,
    S: Floats,
    long: int,
) -> None:
    """Fill L_j and Ĉ_j of every lead level, and S; what has no factor leaves nan or infinity in D.

    The weight of row i is ``w[first + i · stride]``. One S is filled above its diagonal, eight below.
    """
    noinline()
    start, reach, padded = pattern.start, pattern.reach, pattern.padded
    place, local, seen = pattern.place.reshape(-1), pattern.local.reshape(-1), pattern.columns
    per = per_vector(C)
    down = 1 if per_vector(S) > 1 else long
    across = long + 1 - down
    for j in range(len(start) - 1):
        width, c0, row = reach[j + 1] - reach[j], 2 * WIDTH * padded[j], WIDTH * (padded[j + 1] - padded[j])
        c1, vectors = c0 + row, (width + per - 1) // per
        upper_at, lower_at = c0 // per, c1 // per
        for k in range(vectors):
            store(C, upper_at + k, broadcast(0.0))
            store(C, lower_at + k, broadcast(0.0))
        d0, d1, d2 = constant(D, 1.0), constant(D, 0.0), constant(D, 1.0)
        for i in range(start[j], start[j + 1]):
            one, other, three, four = get(V, 4 * i), get(V, 4 * i + 1), get(V, 4 * i + 2), get(V, 4 * i + 3)
            weight = get(w, first + i * stride)
            w1, w2, w3, w4 = weight * one, weight * other, weight * three, weight * four
            d0, d1, d2 = fma(w1, one, d0), fma(w2, one, d1), fma(w2, other, d2)
            c, s = get(local, 2 * i), get(place, 2 * i) * (long + 1)
            put(C, c0 + c, fma(w1, three, get(C, c0 + c)))
            put(C, c0 + c + 1, fma(w1, four, get(C, c0 + c + 1)))
            put(C, c1 + c, fma(w2, three, get(C, c1 + c)))
            put(C, c1 + c + 1, fma(w2, four, get(C, c1 + c + 1)))
            put(S, s, fma(w3, three, get(S, s)))
            put(S, s + down, fma(w4, three, get(S, s + down)))
            put(S, s + long + 1, fma(w4, four, get(S, s + long + 1)))
        inverse = 1.0 / sqrt(d0)
        low = d1 * inverse
        second = 1.0 / sqrt(d2 - low * low)
        put(D, 4 * j, inverse)
        put(D, 4 * j + 2, low)
        put(D, 4 * j + 3, second)
        for k in range(vectors):
            upper = load(C, upper_at + k) * inverse
            store(C, upper_at + k, upper)
            store(C, lower_at + k, (load(C, lower_at + k) - upper * low) * second)
        _take_off(seen, reach[j], width, C, c0, c1, S, down, across)


@inner
def _take_off(
    seen: Places, first: int, width: int, C: Floats, c0: int, c1: int, S: Floats, down: int, across: int
) -> None:
    """Subtract Ĉ_j'Ĉ_j from S, where rows of Ĉ_j begin at c0 and c1."""
    for c in range(0, width, 2):
        begin = get(seen, first + c) * down
        a0, a1 = get(C, c0 + c) * -1.0, get(C, c1 + c) * -1.0
        b0, b1 = get(C, c0 + c + 1) * -1.0, get(C, c1 + c + 1) * -1.0
        for d in range(0, c + 1, 2):
            s = begin + get(seen, first + d) * across
            x0, x1, y0, y1 = get(C, c0 + d), get(C, c1 + d), get(C, c0 + d + 1), get(C, c1 + d + 1)
            put(S, s, fma(a0, x0, fma(a1, x1, get(S, s))))
            put(S, s + down, fma(b0, x0, fma(b1, x1, get(S, s + down))))
            last = s + across  # where c = d, the first of these two is not used
            put(S, last, fma(a0, y0, fma(a1, y1, get(S, last))))
            put(S, last + down, fma(b0, y0, fma(b1, y1, get(S, last + down))))


@inner
def forward(pattern: Pattern, D: Floats, C: Floats, x: Floats) -> None:
    """Overwrite the lead columns of x by L⁻¹x, and subtract what they explain from the others.

    This, `substitute` and `multiply_near` need two lead columns only.
    """
    reach, padded, seen = pattern.reach, pattern.padded, pattern.columns
    dense = 2 * (len(pattern.start) - 1)
    for j in range(len(pattern.start) - 1):
        first, width, begin = reach[j], reach[j + 1] - reach[j], 2 * WIDTH * padded[j]
        below = begin + WIDTH * (padded[j + 1] - padded[j])
        one = get(x, 2 * j) * get(D, 4 * j)
        other = (get(x, 2 * j + 1) - one * get(D, 4 * j + 2)) * get(D, 4 * j + 3)
        put(x, 2 * j, one)
        put(x, 2 * j + 1, other)
        for c in range(width):
            k = dense + get(seen, first + c)
            put(x, k, get(x, k) - one * get(C, begin + c) - other * get(C, below + c))


@inner
def substitute(pattern: Pattern, D: Floats, C: Floats, x: Floats) -> None:
    """Overwrite the lead columns of x by what the others, already solved for, leave of them."""
    reach, padded, seen = pattern.reach, pattern.padded, pattern.columns
    dense = 2 * (len(pattern.start) - 1)
    for j in range(len(pattern.start) - 1):
        first, width, begin = reach[j], reach[j + 1] - reach[j], 2 * WIDTH * padded[j]
        below = begin + WIDTH * (padded[j + 1] - padded[j])
        one, other = get(x, 2 * j), get(x, 2 * j + 1)
        for c in range(width):
            value = get(x, dense + get(seen, first + c))
            one, other = one - value * get(C, begin + c), other - value * get(C, below + c)
        other *= get(D, 4 * j + 3)
        put(x, 2 * j + 1, other)
        put(x, 2 * j, (one - other * get(D, 4 * j + 2)) * get(D, 4 * j))


@inner
def gather(seen: Places, first: int, width: int, row: int, T: Floats, long: int, near: Floats) -> None:
    """Fill ``near`` with S⁻¹ over the neighbours of a level."""
    for c in range(0, width, 2):
        line, at = get(seen, first + c) * long, c * row
        for d in range(0, width, 2):
            s = line + get(seen, first + d)
            put(near, at + d, get(T, s))
            put(near, at + d + 1, get(T, s + 1))
            put(near, at + row + d, get(T, s + long))
            put(near, at + row + d + 1, get(T, s + long + 1))


@inner
def multiply_near(near: Floats, width: int, C: Floats, at: int, vectors: int, E: Floats) -> None:
    """Fill E with Ĉ_jS⁻¹ over the neighbours of a level, both rows at once: every vector is read once."""
    begin, below = at * WIDTH, (at + vectors) * WIDTH
    for k in range(vectors):
        upper, lower = broadcast(0.0), broadcast(0.0)
        for c in range(width):
            value = load(near, c * vectors + k)
            upper, lower = fma(value, get(C, begin + c), upper), fma(value, get(C, below + c), lower)
        store(E, k, upper)
        store(E, vectors + k, lower)


@inner
def multiply_in_place(
    seen: Places, first: int, width: int, T: Floats, long: int, C: Floats, begin: int, row: int, E: Floats
) -> None:
    """Fill E with Ĉ_jS⁻¹ over the neighbours of a level, read in place: for eight matrices."""
    for d in range(0, width, 2):
        column = get(seen, first + d)
        a0 = a1 = b0 = b1 = constant(E, 0.0)
        for c in range(width):
            s = get(seen, first + c) * long + column
            x, y, upper, lower = get(T, s), get(T, s + 1), get(C, begin + c), get(C, begin + row + c)
            a0, a1 = fma(upper, x, a0), fma(upper, y, a1)
            b0, b1 = fma(lower, x, b0), fma(lower, y, b1)
        put(E, d, a0)
        put(E, d + 1, a1)
        put(E, row + d, b0)
        put(E, row + d + 1, b1)


@inner
def fill_rows(
    begin: int,
    end: int,
    V: Floats,
    place: Places,
    local: Places,
    N: Floats,
    square: int,
    E: Floats,
    row: int,
    T: Floats,
    long: int,
    P: Floats,
) -> None:
    """Fill P for the rows of a lead level from the blocks of H⁻¹ that they touch."""
    n0, n1, n2 = get(N, square), get(N, square + 1), get(N, square + 3)
    for i in range(begin, end):
        one, other, three, four = get(V, 4 * i), get(V, 4 * i + 1), get(V, 4 * i + 2), get(V, 4 * i + 3)
        c, s = get(local, 2 * i), get(place, 2 * i) * (long + 1)
        a, b, d, e = get(E, c), get(E, c + 1), get(E, row + c), get(E, row + c + 1)
        put(P, 4 * i, n0 * one + n1 * other - a * three - b * four)
        put(P, 4 * i + 1, n1 * one + n2 * other - d * three - e * four)
        put(P, 4 * i + 2, get(T, s) * three + get(T, s + 1) * four - a * one - d * other)
        put(P, 4 * i + 3, get(T, s + 1) * three + get(T, s + long + 1) * four - b * one - e * other)


@inner
def add_slopes(
    pattern: Pattern,
    slope: Floats,
    rows: Floats,
    w: int,
    d: int,
    stride: int,
    P: Floats,
    u: Floats,
    r: Floats,
    out: Floats,
    first: int,
) -> None:
    """Fill the six sums over rows of z times (slope · u + w · P − d · r), from ``out[first]`` on.

    The entries w and d of row i are ``rows[w + i · stride]`` and ``rows[d + i · stride]``.
    """
    start, place, Z = pattern.start, pattern.place.reshape(-1), pattern.Z.reshape(-1)
    dense = 2 * (len(start) - 1)
    g0 = g1 = g2 = g3 = g4 = g5 = constant(out, 0.0)
    for j in range(len(start) - 1):
        u0, u1, r0, r1 = get(u, 2 * j), get(u, 2 * j + 1), get(r, 2 * j), get(r, 2 * j + 1)
        for i in range(start[j], start[j + 1]):
            z, c, tilt = 4 * i, dense + get(place, 2 * i), get(slope, i)
            weight, pull = get(rows, w + i * stride), get(rows, d + i * stride)
            one = u0 * tilt + weight * get(P, z) - pull * r0
            other = u1 * tilt + weight * get(P, z + 1) - pull * r1
            three = get(u, c) * tilt + weight * get(P, z + 2) - pull * get(r, c)
            four = get(u, c + 1) * tilt + weight * get(P, z + 3) - pull * get(r, c + 1)
            g0, g1 = fma(one, get(Z, z), g0), fma(one, get(Z, z + 1), g1)
            g2, g5 = fma(other, get(Z, z + 1), g2), fma(four, get(Z, z + 3), g5)
            g3, g4 = fma(three, get(Z, z + 2), g3), fma(three, get(Z, z + 3), g4)
    put(out, first, g0)
    put(out, first + 1, g1)
    put(out, first + 2, g2)
    put(out, first + 3, g3)
    put(out, first + 4, g4)
    put(out, first + 5, g5)


@inner
def add_pulls(
    pattern: Pattern,
    P: Floats,
    e: Floats,
    first: int,
    stride: int,
    precision: float,
    u: Floats,
    at: int,
    out: Floats,
) -> None:
    """Fill the six sums over rows of twice z times (P − e · u / σ²), u from ``u[at]`` on."""
    start, place, Z = pattern.start, pattern.place.reshape(-1), pattern.Z.reshape(-1)
    dense = at + 2 * (len(start) - 1)
    g0 = g1 = g2 = g3 = g4 = g5 = constant(out, 0.0)
    for j in range(len(start) - 1):
        u0, u1 = get(u, at + 2 * j), get(u, at + 2 * j + 1)
        for i in range(start[j], start[j + 1]):
            z, c, pull = 4 * i, dense + get(place, 2 * i), get(e, first + i * stride) * precision
            one, other = get(P, z) - pull * u0, get(P, z + 1) - pull * u1
            three, four = get(P, z + 2) - pull * get(u, c), get(P, z + 3) - pull * get(u, c + 1)
            g0, g1 = fma(one, get(Z, z), g0), fma(one, get(Z, z + 1), g1)
            g2, g5 = fma(other, get(Z, z + 1), g2), fma(four, get(Z, z + 3), g5)
            g3, g4 = fma(three, get(Z, z + 2), g3), fma(three, get(Z, z + 3), g4)
    put(out, 0, 2.0 * g0)
    put(out, 1, 2.0 * g1)
    put(out, 2, 2.0 * g2)
    put(out, 3, 2.0 * g3)
    put(out, 4, 2.0 * g4)
    put(out, 5, 2.0 * g5)
