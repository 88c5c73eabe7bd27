"""LAPACK from inside compiled code, without a compiler and without losing numba's cache.

SciPy carries the addresses of its routines (``scipy.linalg.cython_lapack`` and ``cython_blas``). Baked
into compiled code as constants they would forbid caching, because they change from process to process;
so they are passed as an ordinary array, made by ``routines``, and one intrinsic calls through them.

Matrices here are C-ordered and *upper* triangular, S = U'U, which Fortran sees as *lower*: hence ``L`` below.
Their rows may be longer than they have columns, as vector code needs them; the rest is not touched.
"""

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import get_cython_function_address, intrinsic

from panelist.numerics.arrays import Floats, Longs
from panelist.numerics.kernel import inner, noinline, part

POTRF, _TRTRI, _LAUUM, TRSV, _TRMM, TRSM, SYRK, GEMM, GEMV = range(9)
LOWER, PLAIN, TRANSPOSED, RIGHT, MINUS, ONE, ZERO = range(9, 16)
_LEFT = LOWER  # both are called L
_SMALL = 48  # columns up to which dtrtri is as fast as it gets


@cache
def routines() -> Longs:
    """Return the addresses of what is called here in this process, and after them the constants that are
    passed to it.

    Fortran takes every argument by its address. An array made in compiled code is freed after its last use,
    and taking its address does not count as one: so what is constant lives here, as long as the process.
    """
    names = ("lapack.dpotrf", "lapack.dtrtri", "lapack.dlauum", "blas.dtrsv", "blas.dtrmm")
    more = ("blas.dtrsm", "blas.dsyrk", "blas.dgemm", "blas.dgemv")
    places = (name.split(".") for name in (*names, *more))
    addresses = [get_cython_function_address(f"scipy.linalg.cython_{where}", name) for where, name in places]
    letters = np.zeros((4, 8), dtype=np.uint8)
    letters[:, 0] = [ord(letter) for letter in "LNTR"]
    numbers = np.array([-1.0, 1.0, 0.0]).view(np.int64)
    return np.concatenate([np.array(addresses, dtype=np.int64), letters.view(np.int64).ravel(), numbers])


@part
def at(routines: Longs, place: int) -> int:
    """Return the address of a constant."""
    address: int = routines.ctypes.data + 8 * place
    return address


def _type_call(typingctx: Any, address: Any, pointers: Any) -> Any:
    """Call the void function at ``address`` with the integers in ``pointers`` as its pointers."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte_pointer = ir.IntType(8).as_pointer()
        count = len(signature.args[1])
        function_type = ir.FunctionType(ir.VoidType(), [byte_pointer] * count)
        function = builder.inttoptr(args[0], function_type.as_pointer())
        values = [builder.extract_value(args[1], i) for i in range(count)]
        builder.call(function, [builder.inttoptr(value, byte_pointer) for value in values])
        return context.get_dummy_value()

    return types.none(types.int64, pointers), codegen


call: Any = intrinsic(_type_call)


@inner
def copy_into(target: Floats, source: Floats) -> None:
    """Copy one contiguous array into another of the same size.

    ``target[:] = source`` would compile the formatting of an error message about shapes, for seconds.
    """
    to, values = target.ravel(), source.ravel()
    for i in range(len(to)):
        to[i] = values[i]


@inner
def factor_upper(routines: Longs, a: Floats) -> bool:
    """Overwrite the upper triangle of ``a`` by U; return whether there is one."""
    noinline()
    n = a.shape[0]
    if n == 0:
        return True
    ints = np.array([n, a.shape[1], 0], dtype=np.int32)
    size, stride, info = ints.ctypes.data, ints.ctypes.data + 4, ints.ctypes.data + 8
    call(routines[POTRF], (at(routines, LOWER), size, a.ctypes.data, stride, info))
    return bool(ints[2] == 0)


@inner
def solve_upper(routines: Longs, factor: Floats, x: Floats) -> float:
    """Overwrite x by (U'U)⁻¹x; return x'(U'U)⁻¹x."""
    noinline()
    n = factor.shape[0]
    if n == 0:
        return 0.0
    ints = np.array([n, factor.shape[1], 1], dtype=np.int32)
    size, stride, one = ints.ctypes.data, ints.ctypes.data + 4, ints.ctypes.data + 8
    lower, plain, transposed = at(routines, LOWER), at(routines, PLAIN), at(routines, TRANSPOSED)
    call(routines[TRSV], (lower, plain, plain, size, factor.ctypes.data, stride, x.ctypes.data, one))
    square = 0.0
    for c in range(n):
        square += x[c] * x[c]
    call(routines[TRSV], (lower, transposed, plain, size, factor.ctypes.data, stride, x.ctypes.data, one))
    return float(square * ints[2])  # which is one, and used once more, so that it lives until here


@part
def _invert_triangle(routines: Longs, first: int, n: int, lda: int) -> bool:
    """Overwrite the upper triangle at this address by its inverse; return whether it has one.

    OpenBLAS inverts triangles of a few hundred columns at a third of the speed at which it multiplies them.
    So only small blocks on the diagonal are inverted, and put together in pairs, until one is left: beside
    the inverses of A and C is −A⁻¹BC⁻¹, which Fortran sees from the other side.
    """
    width = n
    while width > _SMALL:
        width = (width + 1) // 2
    lower, plain = at(routines, LOWER), at(routines, PLAIN)
    left, right = at(routines, _LEFT), at(routines, RIGHT)
    minus, one = at(routines, MINUS), at(routines, ONE)
    ints = np.array([lda, 0, 0, 0], dtype=np.int32)
    stride, rows = ints.ctypes.data, ints.ctypes.data + 4
    columns, info = ints.ctypes.data + 8, ints.ctypes.data + 12
    for start in range(0, n, width):
        ints[1] = min(width, n - start)
        block = first + 8 * start * (lda + 1)
        call(routines[_TRTRI], (lower, plain, rows, block, stride, info))
        if ints[3] != 0:
            return False
    while width < n:
        for start in range(0, n - width, 2 * width):
            ints[1], ints[2] = min(width, n - start - width), width
            A, C = first + 8 * start * (lda + 1), first + 8 * (start + width) * (lda + 1)
            B = first + 8 * (start * lda + start + width)
            call(routines[_TRMM], (left, lower, plain, plain, rows, columns, minus, C, stride, B, stride))
            call(routines[_TRMM], (right, lower, plain, plain, rows, columns, one, A, stride, B, stride))
        width *= 2
    return bool(ints[0] == lda)


@inner
def invert_upper(routines: Longs, factor: Floats) -> None:
    """Overwrite a factor U by the full symmetric inverse of U'U."""
    n = factor.shape[0]
    invert_block(routines, factor.reshape(-1), 0 * n, n, factor.shape[1])


@inner
def invert_block(routines: Longs, flat: Floats, first: int, n: int, lda: int) -> None:
    """Overwrite a factor U of n columns, in a matrix with rows of ``lda``, by the inverse of U'U, in full."""
    noinline()
    if n == 0:
        return
    ints = np.array([n, lda, 0], dtype=np.int32)
    size, stride, info = ints.ctypes.data, ints.ctypes.data + 4, ints.ctypes.data + 8
    address = flat.ctypes.data + 8 * first
    if not _invert_triangle(routines, address, n, lda):
        for i in range(n):
            for j in range(n):
                flat[first + i * lda + j] = np.nan
        return
    call(routines[_LAUUM], (at(routines, LOWER), size, address, stride, info))
    if ints[2] != 0:
        return
    # Only the upper triangle was written; mirror it in tiles, since whole columns would miss the cache.
    tile = 32
    for i0 in range(0, n, tile):
        for j0 in range(0, i0 + 1, tile):
            for i in range(i0, min(i0 + tile, n)):
                for j in range(j0, min(j0 + tile, i)):
                    flat[first + i * lda + j] = flat[first + j * lda + i]
