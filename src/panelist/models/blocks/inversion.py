"""The inverse of H = V'WV + I where rows have entries (see blocks for the form, and elimination)."""

from panelist.models.blocks import two_by_two
from panelist.models.blocks.bordered import copy_upper, invert_bordered
from panelist.models.blocks.dense import MOST, invert_dense
from panelist.models.blocks.pattern import Blocks, Pattern
from panelist.numerics.arrays import Floats, Places
from panelist.numerics.kernel import inner, noinline
from panelist.numerics.simd import WIDTH, broadcast, fma, fold, get, load, put, store


@inner
def invert_rows(pattern: Pattern, V: Floats, blocks: Blocks, P: Floats) -> None:
    """Fill row i of P with H⁻¹v_i at the columns where v_i has entries, and T and N on the way.

    Only T and N are filled where P has no rows.
    """
    noinline()
    C, D, E, N, T = blocks.C, blocks.D.reshape(-1), blocks.E, blocks.N.reshape(-1), blocks.T.reshape(-1)
    near, (q, long) = blocks.near, blocks.T.shape
    if q <= MOST:
        invert_dense(blocks.S.reshape(-1), T, blocks.M, q, long)
    else:
        copy_upper(pattern.bounds, blocks.S.reshape(-1), T, q, long)
        invert_bordered(pattern.routines, pattern.bounds, T, q, long)
    start, reach, padded, seen = pattern.start, pattern.reach, pattern.padded, pattern.columns
    place, local, m2 = pattern.place.reshape(-1), pattern.local.reshape(-1), pattern.place.shape[1]
    m1, pairs = pattern.widths[0], pattern.two_by_two
    for j in range(len(start) - 1):
        first, width, vectors = reach[j], reach[j + 1] - reach[j], padded[j + 1] - padded[j]
        at, square, row = m1 * padded[j], j * m1 * m1, vectors * WIDTH
        if pairs:
            two_by_two.gather(seen, first, width, row, T, long, near)
        else:
            _gather(seen, first, width, row, T, long, near)
        if m1 == 2:
            two_by_two.multiply_near(near, width, C, at, vectors, E)
        else:
            _multiply_near(near, width, C, at, vectors, m1, E)
        invert_lead(C, at, vectors, vectors, D, square, m1, E, N, square)
        if len(P) == 0:
            continue
        if pairs:
            two_by_two.fill_rows(start[j], start[j + 1], V, place, local, N, square, E, row, T, long, P)
        else:
            _fill_rows(start[j], start[j + 1], V, place, local, m1, m2, N, square, E, row, T, long, P)


@inner
def _gather(seen: Places, first: int, width: int, row: int, T: Floats, long: int, near: Floats) -> None:
    """Fill ``near`` with S⁻¹ over the neighbours of a level."""
    for c in range(width):
        line = get(seen, first + c) * long
        for d in range(width):
            put(near, c * row + d, get(T, line + get(seen, first + d)))


@inner
def _multiply_near(near: Floats, width: int, C: Floats, at: int, vectors: int, m1: int, E: Floats) -> None:
    """Fill E with Ĉ_jS⁻¹ over the neighbours of a level."""
    for a in range(m1):
        begin = (at + a * vectors) * WIDTH
        for k in range(vectors):
            value = broadcast(0.0)
            for c in range(width):
                value = fma(load(near, c * vectors + k), get(C, begin + c), value)
            store(E, a * vectors + k, value)


@inner
def invert_lead(
    C: Floats,
    at: int,
    row: int,
    vectors: int,
    D: Floats,
    square: int,
    m1: int,
    E: Floats,
    N: Floats,
    corner: int,
) -> None:
    """Turn Ĉ_jS⁻¹ into E, where −E is the block of H⁻¹ beside the lead block, and fill the lead block.

    The lead block begins at ``N[corner]``, Ĉ_j in vector ``at`` of C; rows of Ĉ_j and of E are ``row``
    vectors apart. Of one matrix a vector has eight columns, of eight matrices one.
    """
    for a in range(m1):  # I + Ĉ_jS⁻¹Ĉ_j', which is symmetric
        for b in range(a + 1):
            value = broadcast(0.0)
            for k in range(vectors):
                value = fma(load(E, a * row + k), load(C, at + b * row + k), value)
            entry = fold(N, value) + (1.0 if a == b else 0.0)
            put(N, corner + a * m1 + b, entry)
            put(N, corner + b * m1 + a, entry)
    for a in range(m1 - 1, -1, -1):  # L_j⁻ᵀ from the left, of both
        inverse = get(D, square + a * m1 + a)
        for k in range(vectors):
            value = load(E, a * row + k)
            for b in range(a + 1, m1):
                value -= load(E, b * row + k) * get(D, square + b * m1 + a)
            store(E, a * row + k, value * inverse)
        for c in range(m1):
            entry = get(N, corner + a * m1 + c)
            for b in range(a + 1, m1):
                entry -= get(D, square + b * m1 + a) * get(N, corner + b * m1 + c)
            put(N, corner + a * m1 + c, entry * inverse)
    for a in range(m1):  # and N ← N L_j⁻¹
        for b in range(m1 - 1, -1, -1):
            entry = get(N, corner + a * m1 + b)
            for k in range(b + 1, m1):
                entry -= get(N, corner + a * m1 + k) * get(D, square + k * m1 + b)
            put(N, corner + a * m1 + b, entry * get(D, square + b * m1 + b))


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
    row: int,
    T: Floats,
    long: int,
    P: Floats,
) -> None:
    """Fill P for the rows of a lead level from the blocks of H⁻¹ that they touch."""
    m = m1 + m2
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
