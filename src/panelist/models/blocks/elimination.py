"""The factor of H = V'WV + I, and solutions with it (see blocks for the form).

Inner loops are written with vectors along a row, or with ``get`` and ``put`` on flat arrays: views of arrays
cost more at each level than the arithmetic in them.
"""

import numpy as np

from panelist.models.blocks import two_by_two
from panelist.models.blocks.bordered import (
    factor_bordered,
    set_identity,
    solve_bordered,
    solve_eight_bordered,
)
from panelist.models.blocks.dense import MOST, factor_dense
from panelist.models.blocks.pattern import Blocks, Pattern
from panelist.numerics.arrays import Floats
from panelist.numerics.kernel import inner, noinline
from panelist.numerics.simd import WIDTH, broadcast, get, load, put, store


@inner
def factorise(pattern: Pattern, V: Floats, w: Floats, blocks: Blocks) -> float:
    """Fill ``blocks`` with the factor of V'diag(w)V + I; return its log-determinant, nan if there is none."""
    noinline()
    S, (q, long), D = blocks.S.reshape(-1), blocks.S.shape, blocks.D.reshape(-1)
    set_identity(pattern.bounds, S, q, long)
    if pattern.two_by_two:
        two_by_two.eliminate(pattern, V, w, 0, 1, D, blocks.C, S, long)
    else:
        _eliminate(pattern, V, w, D, blocks.C, S, long)
    logdet = _sum_logs(D, len(pattern.start) - 1, pattern.widths[0])
    if np.isnan(logdet):
        return np.nan
    if q <= MOST:
        return logdet + factor_dense(S, q, long)
    return logdet + factor_bordered(pattern.routines, pattern.bounds, S, q, long)


@inner
def _sum_logs(D: Floats, J: int, m1: int) -> float:
    """Return Σ log|D_j| from the inverted diagonals of the L_j, nan where one is not a positive number."""
    logdet, product = 0.0, 1.0
    for j in range(J):
        for a in range(m1):
            inverse = get(D, (j * m1 + a) * m1 + a)
            if not 0.0 < inverse < np.inf:
                return np.nan
            product *= inverse
        if not 1e-100 < product < 1e100:  # one logarithm for many levels
            logdet -= 2.0 * np.log(product)
            product = 1.0
    return float(logdet - 2.0 * np.log(product))


@inner
def _eliminate(pattern: Pattern, V: Floats, w: Floats, D: Floats, C: Floats, S: Floats, long: int) -> None:
    """Fill L_j and Ĉ_j of every lead level, and S; what has no factor leaves nan or infinity in D."""
    noinline()
    start, reach, padded, m1 = pattern.start, pattern.reach, pattern.padded, pattern.widths[0]
    place, local, m2 = pattern.place.reshape(-1), pattern.local.reshape(-1), pattern.place.shape[1]
    seen = pattern.columns
    for j in range(len(start) - 1):
        square, at, vectors = j * m1 * m1, m1 * padded[j], padded[j + 1] - padded[j]
        for k in range(m1 * vectors):
            store(C, at + k, broadcast(0.0))
        for a in range(m1):
            for b in range(m1):
                put(D, square + a * m1 + b, 1.0 if a == b else 0.0)
        for i in range(start[j], start[j + 1]):
            v, weight = i * (m1 + m2), get(w, i)
            for a in range(m1):
                weighted = weight * get(V, v + a)
                for b in range(a + 1):
                    k = square + a * m1 + b
                    put(D, k, get(D, k) + weighted * get(V, v + b))
                for b in range(m2):
                    k = (at + a * vectors) * WIDTH + get(local, i * m2 + b)
                    put(C, k, get(C, k) + weighted * get(V, v + m1 + b))
            for b in range(m2):
                weighted = weight * get(V, v + m1 + b)
                for d in range(b + 1):
                    k = get(place, i * m2 + d) * long + get(place, i * m2 + b)
                    put(S, k, get(S, k) + weighted * get(V, v + m1 + d))
        for a in range(m1):  # L_j, in place
            for b in range(a + 1):
                value = get(D, square + a * m1 + b)
                for k in range(b):
                    value -= get(D, square + a * m1 + k) * get(D, square + b * m1 + k)
                put(
                    D,
                    square + a * m1 + b,
                    value * get(D, square + b * m1 + b) if a > b else 1.0 / np.sqrt(value),
                )
        for k in range(vectors):  # Ĉ_j = L_j⁻¹C_j
            for a in range(m1):
                column = load(C, at + a * vectors + k)
                for b in range(a):
                    column -= load(C, at + b * vectors + k) * get(D, square + a * m1 + b)
                store(C, at + a * vectors + k, column * get(D, square + a * m1 + a))
        for a in range(m1):
            begin = (at + a * vectors) * WIDTH
            for c in range(reach[j + 1] - reach[j]):
                column, value = get(seen, reach[j] + c), get(C, begin + c)
                for d in range(c + 1):
                    k = get(seen, reach[j] + d) * long + column
                    put(S, k, get(S, k) - value * get(C, begin + d))


@inner
def solve(pattern: Pattern, blocks: Blocks, x: Floats) -> float:
    """Overwrite x, lead columns first, by H⁻¹x; return x'H⁻¹x."""
    noinline()
    D, C, square = blocks.D.reshape(-1), blocks.C, 0.0
    dense = (len(pattern.start) - 1) * pattern.widths[0]
    _forward(pattern, D, C, x)
    for c in range(dense):
        square += get(x, c) * get(x, c)
    S, long = blocks.S.reshape(-1), blocks.S.shape[1]
    square += solve_bordered(pattern.routines, pattern.bounds, S, x[dense:], long)
    _substitute(pattern, D, C, x)
    return square


@inner
def solve_eight(pattern: Pattern, blocks: Blocks, x: Floats) -> None:
    """Overwrite x, an f64x8 for each column, by H⁻¹x, for eight right-hand sides."""
    noinline()
    D, C, S, (q, long) = blocks.D.reshape(-1), blocks.C, blocks.S.reshape(-1), blocks.S.shape
    _forward(pattern, D, C, x)
    solve_eight_bordered(pattern.bounds, S, x, (len(pattern.start) - 1) * pattern.widths[0], q, long)
    _substitute(pattern, D, C, x)


@inner
def _forward(pattern: Pattern, D: Floats, C: Floats, x: Floats) -> None:
    """Overwrite the lead columns of x by L⁻¹x, and subtract what they explain from the others."""
    reach, padded, seen, m1 = pattern.reach, pattern.padded, pattern.columns, pattern.widths[0]
    if m1 == 2:
        two_by_two.forward(pattern, D, C, x)
        return
    dense = (len(pattern.start) - 1) * m1
    for j in range(len(pattern.start) - 1):
        first, width, row = reach[j], reach[j + 1] - reach[j], (padded[j + 1] - padded[j]) * WIDTH
        begin = m1 * padded[j] * WIDTH
        for a in range(m1):
            value = get(x, j * m1 + a)
            for b in range(a):
                value -= get(x, j * m1 + b) * get(D, (j * m1 + a) * m1 + b)
            value *= get(D, (j * m1 + a) * m1 + a)
            put(x, j * m1 + a, value)
            for c in range(width):
                k = dense + get(seen, first + c)
                put(x, k, get(x, k) - value * get(C, begin + a * row + c))


@inner
def _substitute(pattern: Pattern, D: Floats, C: Floats, x: Floats) -> None:
    """Overwrite the lead columns of x by what the others, already solved for, leave of them."""
    reach, padded, seen, m1 = pattern.reach, pattern.padded, pattern.columns, pattern.widths[0]
    if m1 == 2:
        two_by_two.substitute(pattern, D, C, x)
        return
    dense = (len(pattern.start) - 1) * m1
    for j in range(len(pattern.start) - 1):
        first, width, row = reach[j], reach[j + 1] - reach[j], (padded[j + 1] - padded[j]) * WIDTH
        begin = m1 * padded[j] * WIDTH
        for a in range(m1 - 1, -1, -1):
            value = get(x, j * m1 + a)
            for c in range(width):
                value -= get(x, dense + get(seen, first + c)) * get(C, begin + a * row + c)
            for b in range(a + 1, m1):
                value -= get(x, j * m1 + b) * get(D, (j * m1 + b) * m1 + a)
            put(x, j * m1 + a, value * get(D, (j * m1 + a) * m1 + a))
