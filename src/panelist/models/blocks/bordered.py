"""Factor, solutions and inverse of a large dense S whose first columns fall into parts that never meet.

Raters and items that each meet every system in their own way, (1 | rater:system) and (1 | item:system), leave
such an S: cells of two systems meet only through the raters and the items, the border. With the parts in
turn on the diagonal and the border last,

    S = [S₁₁ 0 S₁b; 0 S₂₂ S₂b; · · S_bb],   U'U = S has U_kk'U_kk = S_kk and U_kb = U_kk⁻ᵀS_kb,

and only the parts, their share of the border and the border are ever used. ``bounds`` has the
first column of each part and, last, of the border; without parts all columns are border. Where
a matrix is passed to Fortran, it sees its transpose (see lapack).
"""

import numpy as np

from panelist.numerics import lapack
from panelist.numerics.arrays import Floats, Longs
from panelist.numerics.kernel import inner, noinline, part
from panelist.numerics.lapack import (
    GEMM,
    GEMV,
    LOWER,
    MINUS,
    ONE,
    PLAIN,
    POTRF,
    RIGHT,
    SYRK,
    TRANSPOSED,
    TRSM,
    TRSV,
    ZERO,
    at,
    call,
)
from panelist.numerics.simd import broadcast, get, load, put, store

_TILE = 32


@inner
def set_identity(bounds: Longs, S: Floats, q: int, long: int) -> None:
    """Make S the identity where it is used."""
    border = bounds[len(bounds) - 1]
    for k in range(len(bounds)):
        begin, end = bounds[k], bounds[k + 1] if k + 1 < len(bounds) else q
        for i in range(begin, end):
            for c in range(begin, end):
                put(S, i * long + c, 0.0)
            for c in range(max(border, end), long):
                put(S, i * long + c, 0.0)
            put(S, i * (long + 1), 1.0)


@inner
def copy_upper(bounds: Longs, S: Floats, T: Floats, q: int, long: int) -> None:
    """Copy the upper triangle of S to T where it is used."""
    border = bounds[len(bounds) - 1]
    for k in range(len(bounds)):
        begin, end = bounds[k], bounds[k + 1] if k + 1 < len(bounds) else q
        for i in range(begin, end):
            for c in range(i, end):
                put(T, i * long + c, get(S, i * long + c))
            for c in range(max(border, end), q):
                put(T, i * long + c, get(S, i * long + c))


@inner
def factor_bordered(routines: Longs, bounds: Longs, S: Floats, q: int, long: int) -> float:
    """Overwrite the upper triangle of S by U; return log|S|, or nan where there is no factor."""
    noinline()
    parts, border = len(bounds) - 1, bounds[len(bounds) - 1]
    ints = np.array([0, long, 0, q - border, border], dtype=np.int32)
    first = ints.ctypes.data
    size, stride, info, rest, inner_size = first, first + 4, first + 8, first + 12, first + 16
    lower, plain, turned = at(routines, LOWER), at(routines, PLAIN), at(routines, TRANSPOSED)
    right, minus, one = at(routines, RIGHT), at(routines, MINUS), at(routines, ONE)
    here = S.ctypes.data
    for k in range(parts):
        begin = bounds[k]
        ints[0] = bounds[k + 1] - begin
        square, beside = here + 8 * begin * (long + 1), here + 8 * (begin * long + border)
        call(routines[POTRF], (lower, size, square, stride, info))
        if ints[2] != 0:
            return np.nan
        if border < q:
            call(
                routines[TRSM], (right, lower, turned, plain, rest, size, one, square, stride, beside, stride)
            )
    if border < q:
        corner = here + 8 * border * (long + 1)
        if parts > 0:
            call(
                routines[SYRK],
                (lower, plain, rest, inner_size, minus, here + 8 * border, stride, one, corner, stride),
            )
        call(routines[POTRF], (lower, rest, corner, stride, info))
        if ints[2] != 0:
            return np.nan
    logdet = 0.0 * ints[1]  # used once more, so that it lives until here
    for c in range(q):
        logdet += 2.0 * np.log(get(S, c * (long + 1)))
    return float(logdet)


@inner
def solve_bordered(routines: Longs, bounds: Longs, S: Floats, x: Floats, long: int) -> float:
    """Overwrite x by (U'U)⁻¹x; return x'(U'U)⁻¹x."""
    noinline()
    q, parts, border = len(x), len(bounds) - 1, bounds[len(bounds) - 1]
    if q == 0:
        return 0.0
    ints = np.array([0, long, 1, q - border, border], dtype=np.int32)
    first = ints.ctypes.data
    size, stride, step, rest, inner_size = first, first + 4, first + 8, first + 12, first + 16
    lower, plain, turned = at(routines, LOWER), at(routines, PLAIN), at(routines, TRANSPOSED)
    minus, one, here, there = at(routines, MINUS), at(routines, ONE), S.ctypes.data, x.ctypes.data
    beside, corner, last = here + 8 * border, here + 8 * border * (long + 1), there + 8 * border
    for k in range(parts):
        ints[0] = bounds[k + 1] - bounds[k]
        square, mine = here + 8 * bounds[k] * (long + 1), there + 8 * bounds[k]
        call(routines[TRSV], (lower, plain, plain, size, square, stride, mine, step))
    if border < q:
        if parts > 0:
            call(
                routines[GEMV], (plain, rest, inner_size, minus, beside, stride, there, step, one, last, step)
            )
        call(routines[TRSV], (lower, plain, plain, rest, corner, stride, last, step))
    total = 0.0
    for c in range(q):
        total += x[c] * x[c]
    if border < q:
        call(routines[TRSV], (lower, turned, plain, rest, corner, stride, last, step))
        if parts > 0:
            call(
                routines[GEMV],
                (turned, rest, inner_size, minus, beside, stride, last, step, one, there, step),
            )
    for k in range(parts):
        ints[0] = bounds[k + 1] - bounds[k]
        square, mine = here + 8 * bounds[k] * (long + 1), there + 8 * bounds[k]
        call(routines[TRSV], (lower, turned, plain, size, square, stride, mine, step))
    return float(total * ints[2])  # which is one, and used once more, so that it lives until here


@inner
def solve_eight_bordered(bounds: Longs, S: Floats, x: Floats, dense: int, q: int, long: int) -> None:
    """Overwrite rows ``dense`` … of x, an f64x8 each, by (U'U)⁻¹ times them."""
    noinline()
    border = bounds[len(bounds) - 1]
    for k in range(len(bounds)):
        begin, end = bounds[k], bounds[k + 1] if k + 1 < len(bounds) else q
        for c in range(begin, end):
            value = load(x, dense + c) * (1.0 / get(S, c * (long + 1)))
            store(x, dense + c, value)
            for i in range(c + 1, end):
                store(x, dense + i, load(x, dense + i) - value * get(S, c * long + i))
            for i in range(max(border, end), q):
                store(x, dense + i, load(x, dense + i) - value * get(S, c * long + i))
    for k in range(len(bounds) - 1, -1, -1):
        begin, end = bounds[k], bounds[k + 1] if k + 1 < len(bounds) else q
        for i in range(end - 1, begin - 1, -1):
            one, other = load(x, dense + i), broadcast(0.0)  # two sums, which do not wait for each other
            for c in range(i + 1, end - 1, 2):
                one -= load(x, dense + c) * get(S, i * long + c)
                other -= load(x, dense + c + 1) * get(S, i * long + c + 1)
            if (end - i) % 2 == 0:
                one -= load(x, dense + end - 1) * get(S, i * long + end - 1)
            for c in range(max(border, end), q):
                other -= load(x, dense + c) * get(S, i * long + c)
            store(x, dense + i, (one + other) * (1.0 / get(S, i * (long + 1))))


@inner
def invert_bordered(routines: Longs, bounds: Longs, T: Floats, q: int, long: int) -> None:
    """Overwrite U in T by the inverse of U'U: in full for parts and border, and what is between them.

    With W_k = U_kk⁻¹U_kb it is T_kb = −W_kT_bb beside the border, and S_kk⁻¹ − T_kbW_k' in part k.
    """
    noinline()
    parts, border = len(bounds) - 1, bounds[len(bounds) - 1]
    lapack.invert_block(routines, T, border * (long + 1), q - border, long)
    if parts == 0:
        return
    ints = np.array([0, long, q - border, border], dtype=np.int32)
    first = ints.ctypes.data
    size, stride, rest, inner_size = first, first + 4, first + 8, first + 12
    lower, plain, turned = at(routines, LOWER), at(routines, PLAIN), at(routines, TRANSPOSED)
    right, minus, one, zero = at(routines, RIGHT), at(routines, MINUS), at(routines, ONE), at(routines, ZERO)
    here = T.ctypes.data
    corner, above, below = here + 8 * border * (long + 1), here + 8 * border, here + 8 * border * long
    if border < q:
        for k in range(parts):
            ints[0] = bounds[k + 1] - bounds[k]
            square, beside = here + 8 * bounds[k] * (long + 1), here + 8 * (bounds[k] * long + border)
            call(
                routines[TRSM], (right, lower, plain, plain, rest, size, one, square, stride, beside, stride)
            )
        call(
            routines[GEMM],
            (
                turned,
                plain,
                inner_size,
                rest,
                rest,
                minus,
                above,
                stride,
                corner,
                stride,
                zero,
                below,
                stride,
            ),
        )
    for k in range(parts):
        begin = bounds[k]
        lapack.invert_block(routines, T, begin * (long + 1), bounds[k + 1] - begin, long)
        if border < q:
            ints[0] = bounds[k + 1] - begin
            square, beside = here + 8 * begin * (long + 1), here + 8 * (begin * long + border)
            below = here + 8 * (border * long + begin)
            call(
                routines[GEMM],
                (plain, plain, size, size, rest, minus, below, stride, beside, stride, one, square, stride),
            )
    if ints[1] == long:
        _mirror(T, border, q, long)


@part
def _mirror(T: Floats, border: int, q: int, long: int) -> None:
    """Copy what is below the parts to their right, in tiles, since whole columns would miss the cache."""
    for i0 in range(0, border, _TILE):
        for j0 in range(border, q, _TILE):
            for i in range(i0, min(i0 + _TILE, border)):
                for j in range(j0, min(j0 + _TILE, q)):
                    put(T, i * long + j, get(T, j * long + i))
