"""The factor of H = V'WV + I, and solutions with it (see blocks for the form).

Inner loops are written with octets, or with ``get`` and ``put`` on flat arrays: views of arrays cost more at
each level than the arithmetic in them. An intercept and a slope for each of two factors, the usual case, are
spelt out.
"""

import numpy as np

from panelist.models.arrays import Floats, Longs, Places
from panelist.models.solvers.blocks import Blocks, Pattern
from panelist.models.solvers.bordered import (
    factor_bordered,
    set_identity,
    solve_bordered,
    solve_octets_bordered,
)
from panelist.models.solvers.dense import MOST, factor_dense
from panelist.models.solvers.kernel import inner, stay_apart
from panelist.models.solvers.octets import WIDTH, get, load, put, spread, store


@inner
def factorise(pattern: Pattern, V: Floats, w: Floats, blocks: Blocks) -> float:
    """Fill ``blocks`` with the factor of V'diag(w)V + I; return its log-determinant, nan if there is none."""
    stay_apart()
    S, (q, long) = blocks.S.reshape(-1), blocks.S.shape
    set_identity(pattern.bounds, S, q, long)
    if pattern.usual:
        logdet = _eliminate_pairs(pattern, V.reshape(-1), w, blocks.D.reshape(-1), blocks.C, S, long)
    else:
        logdet = _eliminate(pattern, V.reshape(-1), w, blocks.D.reshape(-1), blocks.C, S, long)
    if np.isnan(logdet):
        return np.nan
    if q <= MOST:
        return logdet + factor_dense(S, q, long)
    return logdet + factor_bordered(pattern.routines, pattern.bounds, S, q, long)


@inner
def _eliminate_pairs(
    pattern: Pattern, V: Floats, w: Floats, D: Floats, C: Floats, S: Floats, long: int
) -> float:
    """Fill L_j and Ĉ_j of every lead level in the usual case, and S; return Σ log|D_j|."""
    stay_apart()
    start, reach, padded = pattern.start, pattern.reach, pattern.padded
    place, local, seen = pattern.place.reshape(-1), pattern.local.reshape(-1), pattern.columns
    logdet, product = 0.0, 1.0
    for j in range(len(start) - 1):
        at, octets = 2 * padded[j], padded[j + 1] - padded[j]
        c0, c1 = at * WIDTH, (at + octets) * WIDTH
        for k in range(2 * octets):
            store(C, at + k, spread(0.0))
        d0, d1, d2 = 1.0, 0.0, 1.0
        for i in range(start[j], start[j + 1]):
            one, other, three, four = get(V, 4 * i), get(V, 4 * i + 1), get(V, 4 * i + 2), get(V, 4 * i + 3)
            weight = get(w, i)
            w1, w2, w3, w4 = weight * one, weight * other, weight * three, weight * four
            d0, d1, d2 = d0 + w1 * one, d1 + w2 * one, d2 + w2 * other
            c, s = get(local, 2 * i), get(place, 2 * i) * (long + 1)
            put(C, c0 + c, get(C, c0 + c) + w1 * three)
            put(C, c0 + c + 1, get(C, c0 + c + 1) + w1 * four)
            put(C, c1 + c, get(C, c1 + c) + w2 * three)
            put(C, c1 + c + 1, get(C, c1 + c + 1) + w2 * four)
            put(S, s, get(S, s) + w3 * three)
            put(S, s + 1, get(S, s + 1) + w4 * three)
            put(S, s + long + 1, get(S, s + long + 1) + w4 * four)
        inverse = 1.0 / np.sqrt(d0)
        low = d1 * inverse
        d2 -= low * low
        if not (d0 > 0.0 and d2 > 0.0):
            return np.nan
        put(D, 4 * j, inverse)
        put(D, 4 * j + 2, low)
        put(D, 4 * j + 3, 1.0 / np.sqrt(d2))
        for k in range(octets):
            upper = load(C, at + k) * inverse
            store(C, at + k, upper)
            store(C, at + octets + k, (load(C, at + octets + k) - upper * low) * get(D, 4 * j + 3))
        _take_off_pairs(seen, reach[j], reach[j + 1] - reach[j], C, c0, c1, S, long)
        product *= d0 * d2
        if not 1e-100 < product < 1e100:  # one logarithm for many levels
            logdet += np.log(product)
            product = 1.0
    return float(logdet + np.log(product))


@inner
def _take_off_pairs(
    seen: Places, first: int, width: int, C: Floats, c0: int, c1: int, S: Floats, long: int
) -> None:
    """Take Ĉ_j'Ĉ_j off S, where rows of Ĉ_j begin at c0 and c1, and neighbours come in pairs."""
    for c in range(0, width, 2):
        column = get(seen, first + c)
        a0, a1, b0, b1 = get(C, c0 + c), get(C, c1 + c), get(C, c0 + c + 1), get(C, c1 + c + 1)
        for d in range(0, c + 1, 2):
            s = get(seen, first + d) * long + column
            x0, x1, y0, y1 = get(C, c0 + d), get(C, c1 + d), get(C, c0 + d + 1), get(C, c1 + d + 1)
            one, other, three, four = get(S, s), get(S, s + 1), get(S, s + long), get(S, s + long + 1)
            put(S, s, one - (a0 * x0 + a1 * x1))
            put(S, s + 1, other - (b0 * x0 + b1 * x1))
            put(S, s + long, three - (a0 * y0 + a1 * y1))  # where c = d, nobody looks at it
            put(S, s + long + 1, four - (b0 * y0 + b1 * y1))


@inner
def _eliminate(pattern: Pattern, V: Floats, w: Floats, D: Floats, C: Floats, S: Floats, long: int) -> float:
    """Fill L_j and Ĉ_j of every lead level, and S; return Σ log|D_j|."""
    stay_apart()
    start, reach, padded, m1 = pattern.start, pattern.reach, pattern.padded, pattern.widths[0]
    place, local, m2 = pattern.place.reshape(-1), pattern.local.reshape(-1), pattern.place.shape[1]
    seen = pattern.columns
    logdet, product = 0.0, 1.0
    for j in range(len(start) - 1):
        square, at, octets = j * m1 * m1, m1 * padded[j], padded[j + 1] - padded[j]
        for k in range(m1 * octets):
            store(C, at + k, spread(0.0))
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
                    k = (at + a * octets) * WIDTH + get(local, i * m2 + b)
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
                if a > b:
                    value *= get(D, square + b * m1 + b)
                elif value > 0.0:
                    product *= value
                    value = 1.0 / np.sqrt(value)
                else:
                    return np.nan
                put(D, square + a * m1 + b, value)
        for k in range(octets):  # Ĉ_j = L_j⁻¹C_j
            for a in range(m1):
                column = load(C, at + a * octets + k)
                for b in range(a):
                    column -= load(C, at + b * octets + k) * get(D, square + a * m1 + b)
                store(C, at + a * octets + k, column * get(D, square + a * m1 + a))
        for a in range(m1):
            begin = (at + a * octets) * WIDTH
            for c in range(reach[j + 1] - reach[j]):
                column, value = get(seen, reach[j] + c), get(C, begin + c)
                for d in range(c + 1):
                    k = get(seen, reach[j] + d) * long + column
                    put(S, k, get(S, k) - value * get(C, begin + d))
        if not 1e-100 < product < 1e100:  # one logarithm for many levels
            logdet += np.log(product)
            product = 1.0
    return float(logdet + np.log(product))


@inner
def solve(pattern: Pattern, blocks: Blocks, x: Floats) -> float:
    """Overwrite x, lead columns first, by H⁻¹x; return x'H⁻¹x."""
    stay_apart()
    reach, padded, seen, m1 = pattern.reach, pattern.padded, pattern.columns, pattern.widths[0]
    D, C, J = blocks.D.reshape(-1), blocks.C, len(pattern.start) - 1
    dense, square = J * m1, 0.0
    for j in range(J):
        first, width, row = reach[j], reach[j + 1] - reach[j], (padded[j + 1] - padded[j]) * WIDTH
        begin = m1 * padded[j] * WIDTH
        if m1 == 2:  # spelt out, since it is the most frequent
            one = get(x, 2 * j) * get(D, 4 * j)
            other = (get(x, 2 * j + 1) - one * get(D, 4 * j + 2)) * get(D, 4 * j + 3)
            put(x, 2 * j, one)
            put(x, 2 * j + 1, other)
            square += one * one + other * other
            for c in range(width):
                k = dense + get(seen, first + c)
                put(x, k, get(x, k) - one * get(C, begin + c) - other * get(C, begin + row + c))
            continue
        for a in range(m1):
            value = get(x, j * m1 + a)
            for b in range(a):
                value -= get(D, (j * m1 + a) * m1 + b) * get(x, j * m1 + b)
            value *= get(D, (j * m1 + a) * m1 + a)
            put(x, j * m1 + a, value)
            square += value * value
            for c in range(width):
                k = dense + get(seen, first + c)
                put(x, k, get(x, k) - value * get(C, begin + a * row + c))
    S, long = blocks.S.reshape(-1), blocks.S.shape[1]
    square += solve_bordered(pattern.routines, pattern.bounds, S, x[dense:], long)
    _substitute(reach, padded, seen, m1, D, C, x, J)
    return square


@inner
def _substitute(
    reach: Longs, padded: Longs, seen: Places, m1: int, D: Floats, C: Floats, x: Floats, J: int
) -> None:
    """Overwrite the lead columns of x by what the others, already solved for, leave of them."""
    dense = J * m1
    for j in range(J):
        first, width, row = reach[j], reach[j + 1] - reach[j], (padded[j + 1] - padded[j]) * WIDTH
        begin = m1 * padded[j] * WIDTH
        if m1 == 2:
            one, other = get(x, 2 * j), get(x, 2 * j + 1)
            for c in range(width):
                value = get(x, dense + get(seen, first + c))
                one, other = one - get(C, begin + c) * value, other - get(C, begin + row + c) * value
            other *= get(D, 4 * j + 3)
            put(x, 2 * j + 1, other)
            put(x, 2 * j, (one - other * get(D, 4 * j + 2)) * get(D, 4 * j))
            continue
        for a in range(m1 - 1, -1, -1):
            value = get(x, j * m1 + a)
            for c in range(width):
                value -= get(C, begin + a * row + c) * get(x, dense + get(seen, first + c))
            for b in range(a + 1, m1):
                value -= get(D, (j * m1 + b) * m1 + a) * get(x, j * m1 + b)
            put(x, j * m1 + a, value * get(D, (j * m1 + a) * m1 + a))


@inner
def solve_octets(pattern: Pattern, blocks: Blocks, x: Floats) -> None:
    """Overwrite x, an octet a column, by H⁻¹x, for eight right-hand sides."""
    stay_apart()
    reach, padded, seen, m1 = pattern.reach, pattern.padded, pattern.columns, pattern.widths[0]
    D, C, S, J = blocks.D.reshape(-1), blocks.C, blocks.S.reshape(-1), len(pattern.start) - 1
    (q, long), dense = blocks.S.shape, J * m1
    for j in range(J):
        first, width, row = reach[j], reach[j + 1] - reach[j], (padded[j + 1] - padded[j]) * WIDTH
        begin = m1 * padded[j] * WIDTH
        if m1 == 2:
            one = load(x, 2 * j) * get(D, 4 * j)
            other = (load(x, 2 * j + 1) - one * get(D, 4 * j + 2)) * get(D, 4 * j + 3)
            store(x, 2 * j, one)
            store(x, 2 * j + 1, other)
            for c in range(width):
                k = dense + get(seen, first + c)
                rest = load(x, k) - one * get(C, begin + c)
                store(x, k, rest - other * get(C, begin + row + c))
            continue
        for a in range(m1):
            value = load(x, j * m1 + a)
            for b in range(a):
                value -= load(x, j * m1 + b) * get(D, (j * m1 + a) * m1 + b)
            value *= get(D, (j * m1 + a) * m1 + a)
            store(x, j * m1 + a, value)
            for c in range(width):
                k = dense + get(seen, first + c)
                store(x, k, load(x, k) - value * get(C, begin + a * row + c))
    solve_octets_bordered(pattern.bounds, S, x, dense, q, long)
    _substitute_octets(reach, padded, seen, m1, D, C, x, J)


@inner
def _substitute_octets(
    reach: Longs, padded: Longs, seen: Places, m1: int, D: Floats, C: Floats, x: Floats, J: int
) -> None:
    """Overwrite the lead columns of x by what the others, already solved for, leave of them."""
    dense = J * m1
    for j in range(J):
        first, width, row = reach[j], reach[j + 1] - reach[j], (padded[j + 1] - padded[j]) * WIDTH
        begin = m1 * padded[j] * WIDTH
        if m1 == 2:
            one, other = load(x, 2 * j), load(x, 2 * j + 1)
            for c in range(width):
                value = load(x, dense + get(seen, first + c))
                one, other = one - value * get(C, begin + c), other - value * get(C, begin + row + c)
            other *= get(D, 4 * j + 3)
            store(x, 2 * j + 1, other)
            store(x, 2 * j, (one - other * get(D, 4 * j + 2)) * get(D, 4 * j))
            continue
        for a in range(m1 - 1, -1, -1):
            value = load(x, j * m1 + a)
            for c in range(width):
                value -= load(x, dense + get(seen, first + c)) * get(C, begin + a * row + c)
            for b in range(a + 1, m1):
                value -= load(x, j * m1 + b) * get(D, (j * m1 + b) * m1 + a)
            store(x, j * m1 + a, value * get(D, (j * m1 + a) * m1 + a))
