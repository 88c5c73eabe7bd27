"""LAPACK from inside compiled code, without a compiler and without losing numba's cache.

SciPy carries the addresses of its routines (``scipy.linalg.cython_lapack`` and ``cython_blas``). Baked
into compiled code as constants they would forbid caching, because they change from process to process;
so they travel as an ordinary array, made by ``routines``, and one intrinsic calls through them.

Matrices here are C-ordered and *lower* triangular, which Fortran sees as *upper*: hence ``U`` below.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import get_cython_function_address, intrinsic

from panelist.models.arrays import Floats, Longs
from panelist.models.solvers.kernel import kernel, stay_apart

_POTRF, _POTRI, _TRSV = range(3)


def routines() -> Longs:
    """Return the addresses of dpotrf, dpotri and dtrsv in this process."""
    names = (("lapack", "dpotrf"), ("lapack", "dpotri"), ("blas", "dtrsv"))
    return np.array(
        [get_cython_function_address(f"scipy.linalg.cython_{where}", name) for where, name in names],
        dtype=np.int64,
    )


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


_call: Any = intrinsic(_type_call)


@kernel
def copy_into(target: Floats, source: Floats) -> None:
    """Copy one contiguous array into another of the same size.

    ``target[:] = source`` would compile the formatting of an error message about shapes, for seconds.
    """
    to, values = target.ravel(), source.ravel()
    for i in range(len(to)):
        to[i] = values[i]


@kernel
def cholesky(routines: Longs, a: Floats) -> bool:
    """Overwrite the lower triangle of ``a`` with its Cholesky factor; return whether there is one."""
    stay_apart()
    n = a.shape[0]
    if n == 0:
        return True
    flags = np.array([85, 0], dtype=np.uint8)  # "U"
    ints = np.array([n, 0], dtype=np.int32)
    size, info = ints.ctypes.data, ints.ctypes.data + 4
    _call(routines[_POTRF], (flags.ctypes.data, size, a.ctypes.data, size, info))
    return bool(ints[1] == 0)


@kernel
def invert_from_cholesky(routines: Longs, factor: Floats) -> None:
    """Overwrite a lower Cholesky factor with the full symmetric inverse of its matrix."""
    stay_apart()
    n = factor.shape[0]
    if n == 0:
        return
    flags = np.array([85, 0], dtype=np.uint8)
    ints = np.array([n, 0], dtype=np.int32)
    size, info = ints.ctypes.data, ints.ctypes.data + 4
    _call(routines[_POTRI], (flags.ctypes.data, size, factor.ctypes.data, size, info))
    # Only the lower triangle was written; mirror it in tiles, since whole columns would miss the cache.
    tile = 32
    for i0 in range(0, n, tile):
        for j0 in range(0, i0 + 1, tile):
            for i in range(i0, min(i0 + tile, n)):
                for j in range(j0, min(j0 + tile, i)):
                    factor[j, i] = factor[i, j]


@kernel
def solve_triangle(routines: Longs, factor: Floats, x: Floats, transposed: bool) -> None:
    """Overwrite x by L⁻¹x, or by L⁻ᵀx if transposed."""
    stay_apart()
    n = factor.shape[0]
    if n == 0:
        return
    # Fortran holds U = Lᵀ, so solving with L is solving with Uᵀ.
    flags = np.array([85, 78 if transposed else 84, 78], dtype=np.uint8)
    ints = np.array([n, 1], dtype=np.int32)
    size, stride = ints.ctypes.data, ints.ctypes.data + 4
    uplo, trans, diag = flags.ctypes.data, flags.ctypes.data + 1, flags.ctypes.data + 2
    _call(routines[_TRSV], (uplo, trans, diag, size, factor.ctypes.data, size, x.ctypes.data, stride))
