"""Dense factor and inverse for up to a few hundred columns, where calls of LAPACK are far from its best.

A matrix has q rows of ``long`` numbers, q filled up to a multiple of eight, in a flat array. Its factor U,
U'U = S, is *upper* triangular, so that inner loops run along rows. Nearly all the arithmetic is in
`_accumulate`.
"""

import numpy as np

from panelist.numerics.arrays import Floats
from panelist.numerics.kernel import inner, noinline
from panelist.numerics.simd import WIDTH, broadcast, fma, get, load, put, store

MOST = 400  # columns up to which this beats LAPACK
_ROWS = 4  # that are worked on together, two vectors of each


@inner
def _accumulate(A: Floats, i: int, B: Floats, k: int, begin: int, end: int, long: int, sums: Floats) -> None:
    """Fill ``sums`` with Σ_c A[c, i + r] B[c, o], r = 0 … 3, for the vectors o = k and k + 1 of a row."""
    noinline()
    row = long // WIDTH
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = broadcast(0.0)
    for c in range(begin, end):
        one, other, at = load(B, c * row + k), load(B, c * row + k + 1), c * long + i
        x = broadcast(get(A, at))
        a0, b0 = fma(one, x, a0), fma(other, x, b0)
        x = broadcast(get(A, at + 1))
        a1, b1 = fma(one, x, a1), fma(other, x, b1)
        x = broadcast(get(A, at + 2))
        a2, b2 = fma(one, x, a2), fma(other, x, b2)
        x = broadcast(get(A, at + 3))
        a3, b3 = fma(one, x, a3), fma(other, x, b3)
    store(sums, 0, a0)
    store(sums, 1, b0)
    store(sums, 2, a1)
    store(sums, 3, b1)
    store(sums, 4, a2)
    store(sums, 5, b2)
    store(sums, 6, a3)
    store(sums, 7, b3)


@inner
def factor_dense(S: Floats, q: int, long: int) -> float:
    """Overwrite the upper triangle of S by U; return log|S|, or nan where there is no factor.

    Below the diagonal S may hold anything.
    """
    noinline()
    row, sums = long // WIDTH, np.empty(2 * _ROWS * WIDTH)
    logdet, product = 0.0, 1.0
    begin = 0 * q  # a literal zero would compile another `_accumulate`
    for i in range(0, q, _ROWS):
        count = min(_ROWS, q - i)
        for k in range(i // WIDTH, row, 2):
            _accumulate(S, i, S, k, begin, i, long, sums)
            for r in range(count):
                at = (i + r) * row + k
                store(S, at, load(S, at) - load(sums, 2 * r))
                if k + 1 < row:
                    store(S, at + 1, load(S, at + 1) - load(sums, 2 * r + 1))
        for r in range(count):
            for s in range(r):
                share = get(S, (i + s) * long + i + r)
                for k in range(i // WIDTH, row):
                    at = (i + r) * row + k
                    store(S, at, load(S, at) - load(S, (i + s) * row + k) * share)
            pivot = get(S, (i + r) * (long + 1))
            if not pivot > 0.0:
                return np.nan
            inverse = 1.0 / np.sqrt(pivot)
            for k in range(i // WIDTH, row):
                store(S, (i + r) * row + k, load(S, (i + r) * row + k) * inverse)
            product *= pivot
            if not 1e-100 < product < 1e100:  # one logarithm for many columns
                logdet += np.log(product)
                product = 1.0
    return float(logdet + np.log(product))


@inner
def invert_dense(S: Floats, T: Floats, M: Floats, q: int, long: int) -> None:
    """Fill T with the inverse of U'U, given U in S; M is a workspace for U⁻ᵀ, eight numbers longer than S."""
    noinline()
    row, sums = long // WIDTH, np.empty(2 * _ROWS * WIDTH)
    for k in range(q * row):
        store(M, k, broadcast(0.0))
    for i in range(0, q, _ROWS):
        count, last = min(_ROWS, q - i), i // WIDTH
        for k in range(0, last + 1, 2):
            _accumulate(S, i, M, k, k * WIDTH, i, long, sums)
            for r in range(count):
                store(M, (i + r) * row + k, load(sums, 2 * r))
                if k < last:
                    store(M, (i + r) * row + k + 1, load(sums, 2 * r + 1))
        for r in range(count):
            for s in range(r):
                share = get(S, (i + s) * long + i + r)
                for k in range(last + 1):
                    at = (i + r) * row + k
                    store(M, at, fma(load(M, (i + s) * row + k), share, load(M, at)))
            inverse = 1.0 / get(S, (i + r) * (long + 1))
            for k in range(last + 1):
                store(M, (i + r) * row + k, load(M, (i + r) * row + k) * -inverse)
            put(M, (i + r) * (long + 1), inverse)
    for i in range(0, q, _ROWS):  # the lower triangle of T = M'M
        for k in range(0, i // WIDTH + 1, 2):
            _accumulate(M, i, M, k, i, q, long, sums)
            for r in range(min(_ROWS, q - i)):
                store(T, (i + r) * row + k, load(sums, 2 * r))
                if k + 1 < row:
                    store(T, (i + r) * row + k + 1, load(sums, 2 * r + 1))
    for first in range(0, q, WIDTH):  # its mirror image, in tiles, since whole columns would miss the cache
        for i in range(first, q):
            for c in range(first, min(first + WIDTH, i)):
                put(T, c * long + i, get(T, i * long + c))
