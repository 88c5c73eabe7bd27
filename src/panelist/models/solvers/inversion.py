"""The inverse of H = V'WV + I where rows have entries (see blocks for the form, and elimination)."""

from panelist.models.arrays import Floats, Places
from panelist.models.solvers.blocks import Blocks, Pattern
from panelist.models.solvers.bordered import copy_upper, invert_bordered
from panelist.models.solvers.dense import MOST, invert_dense
from panelist.models.solvers.kernel import inner, stay_apart
from panelist.models.solvers.octets import WIDTH, fma, get, load, put, spread, store, total


@inner
def invert_rows(pattern: Pattern, V: Floats, blocks: Blocks, P: Floats) -> None:
    """Fill row i of P (n, m) with H⁻¹v_i at the columns where v_i has entries, and T and N on the way.

    Only T and N are filled where P has no rows.
    """
    stay_apart()
    C, D, E, N, T = blocks.C, blocks.D.reshape(-1), blocks.E, blocks.N.reshape(-1), blocks.T.reshape(-1)
    near, (q, long) = blocks.near, blocks.T.shape
    if q <= MOST:
        invert_dense(blocks.S.reshape(-1), T, blocks.M, q, long)
    else:
        copy_upper(pattern.bounds, blocks.S.reshape(-1), T, q, long)
        invert_bordered(pattern.routines, pattern.bounds, T, q, long)
    start, reach, padded, seen, m1 = (
        pattern.start,
        pattern.reach,
        pattern.padded,
        pattern.columns,
        pattern.widths[0],
    )
    place, local, m2 = pattern.place.reshape(-1), pattern.local.reshape(-1), pattern.place.shape[1]
    rows, out, usual = V.reshape(-1), P.reshape(-1), pattern.usual
    for j in range(len(start) - 1):
        first, width, octets = reach[j], reach[j + 1] - reach[j], padded[j + 1] - padded[j]
        at, square = m1 * padded[j], j * m1 * m1
        if usual:
            _gather_pairs(seen, first, width, octets * WIDTH, T, long, near)
        else:
            _gather(seen, first, width, octets * WIDTH, T, long, near)
        _multiply_near(near, width, C, at, octets, m1, E)
        _invert_lead(C, at, octets, D, square, m1, E, N)
        if len(out) == 0:
            continue
        if usual:
            _fill_pairs(start[j], start[j + 1], rows, place, local, N, square, E, octets, T, long, out)
        else:
            _fill_rows(start[j], start[j + 1], rows, place, local, m1, m2, N, square, E, octets, T, long, out)


@inner
def _gather(seen: Places, first: int, width: int, row: int, T: Floats, long: int, near: Floats) -> None:
    """Fill ``near`` with S⁻¹ over the neighbours of a level."""
    for c in range(width):
        line = get(seen, first + c) * long
        for d in range(width):
            put(near, c * row + d, get(T, line + get(seen, first + d)))


@inner
def _gather_pairs(seen: Places, first: int, width: int, row: int, T: Floats, long: int, near: Floats) -> None:
    """Fill ``near`` with S⁻¹ over the neighbours of a level, which come in pairs."""
    for c in range(0, width, 2):
        line, at = get(seen, first + c) * long, c * row
        for d in range(0, width, 2):
            s = line + get(seen, first + d)
            put(near, at + d, get(T, s))
            put(near, at + d + 1, get(T, s + 1))
            put(near, at + row + d, get(T, s + long))
            put(near, at + row + d + 1, get(T, s + long + 1))


@inner
def _multiply_near(near: Floats, width: int, C: Floats, at: int, octets: int, m1: int, E: Floats) -> None:
    """Fill E with Ĉ_jS⁻¹ over the neighbours of a level."""
    if m1 == 2:  # both rows at once, so that every octet is read once
        begin, other = at * WIDTH, (at + octets) * WIDTH
        for k in range(octets):
            upper, lower = spread(0.0), spread(0.0)
            for c in range(width):
                value = load(near, c * octets + k)
                upper, lower = fma(value, get(C, begin + c), upper), fma(value, get(C, other + c), lower)
            store(E, k, upper)
            store(E, octets + k, lower)
        return
    for a in range(m1):
        begin = (at + a * octets) * WIDTH
        for k in range(octets):
            value = spread(0.0)
            for c in range(width):
                value = fma(load(near, c * octets + k), get(C, begin + c), value)
            store(E, a * octets + k, value)


@inner
def _invert_lead(
    C: Floats, at: int, octets: int, D: Floats, square: int, m1: int, E: Floats, N: Floats
) -> None:
    """Turn Ĉ_jS⁻¹ into E, where −E is the block of H⁻¹ beside the lead block, and fill the lead block N_j."""
    for a in range(m1):  # I + Ĉ_jS⁻¹Ĉ_j', which is symmetric
        for b in range(a + 1):
            value = spread(0.0)
            for k in range(octets):
                value = fma(load(E, a * octets + k), load(C, at + b * octets + k), value)
            entry = total(value) + (1.0 if a == b else 0.0)
            put(N, square + a * m1 + b, entry)
            put(N, square + b * m1 + a, entry)
    for a in range(m1 - 1, -1, -1):  # L_j⁻ᵀ from the left, of both
        inverse = get(D, square + a * m1 + a)
        for k in range(octets):
            value = load(E, a * octets + k)
            for b in range(a + 1, m1):
                value -= load(E, b * octets + k) * get(D, square + b * m1 + a)
            store(E, a * octets + k, value * inverse)
        for c in range(m1):
            entry = get(N, square + a * m1 + c)
            for b in range(a + 1, m1):
                entry -= get(D, square + b * m1 + a) * get(N, square + b * m1 + c)
            put(N, square + a * m1 + c, entry * inverse)
    for a in range(m1):  # and N ← N L_j⁻¹
        for b in range(m1 - 1, -1, -1):
            entry = get(N, square + a * m1 + b)
            for k in range(b + 1, m1):
                entry -= get(N, square + a * m1 + k) * get(D, square + k * m1 + b)
            put(N, square + a * m1 + b, entry * get(D, square + b * m1 + b))


@inner
def _fill_pairs(
    begin: int,
    end: int,
    V: Floats,
    place: Places,
    local: Places,
    N: Floats,
    square: int,
    E: Floats,
    octets: int,
    T: Floats,
    long: int,
    P: Floats,
) -> None:
    """Fill P for the rows of a lead level in the usual case."""
    row = octets * WIDTH
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
def _fill_rows(
    begin: int,
    end: int,
    V: Floats,
    place: Places,
    local: Places,
    m1: int,
    m2: int,
    N: Floats,
    square: int,
    E: Floats,
    octets: int,
    T: Floats,
    long: int,
    P: Floats,
) -> None:
    """Fill P for the rows of a lead level from the blocks of H⁻¹ that they touch."""
    m, row = m1 + m2, octets * WIDTH
    for i in range(begin, end):
        for a in range(m1):
            value = 0.0
            for b in range(m1):
                value += get(N, square + a * m1 + b) * get(V, i * m + b)
            for b in range(m2):
                value -= get(E, a * row + get(local, i * m2 + b)) * get(V, i * m + m1 + b)
            put(P, i * m + a, value)
        for b in range(m2):
            value = 0.0
            for a in range(m1):
                value -= get(E, a * row + get(local, i * m2 + b)) * get(V, i * m + a)
            for d in range(m2):
                k = get(place, i * m2 + b) * long + get(place, i * m2 + d)
                value += get(T, k) * get(V, i * m + m1 + d)
            put(P, i * m + m1 + b, value)
