"""Small matrices and functions of their eigenvalues, compiled: numpy would take longer to be called."""

from functools import cache

import numpy as np
from numba.extending import get_cython_function_address

from panelist.numerics.arrays import Floats, Longs
from panelist.numerics.kernel import inner, kernel, noinline
from panelist.numerics.lapack import call

_VECTORS, _VALUES, _UPPER = 1, 2, 3  # places of the letters V, N and U


@cache
def routine() -> Longs:
    """Return the address of LAPACK's dsyev in this process, and the letters passed to it (see lapack.py)."""
    letters = np.zeros((3, 8), dtype=np.uint8)
    letters[:, 0] = [ord(letter) for letter in "VNU"]
    address = np.array([get_cython_function_address("scipy.linalg.cython_lapack", "dsyev")], dtype=np.int64)
    return np.concatenate([address, letters.view(np.int64).ravel()])


@inner
def decompose(routine: Longs, a: Floats, values: Floats, vectors: bool) -> bool:
    """Fill in the eigenvalues of ``a``, ascending, by its lower triangle; return whether they were found.

    Overwrites ``a``: by the eigenvectors, a row each, if these are wanted.
    """
    noinline()
    n = a.shape[0]
    if n == 0:
        return True
    work = np.empty(34 * n)
    ints = np.array([n, len(work), 0], dtype=np.int32)
    size, room, info = ints.ctypes.data, ints.ctypes.data + 4, ints.ctypes.data + 8
    letters = routine.ctypes.data
    job = letters + 8 * (_VECTORS if vectors else _VALUES)
    call(
        routine[0],
        (
            job,
            letters + 8 * _UPPER,
            size,
            a.ctypes.data,
            size,
            values.ctypes.data,
            work.ctypes.data,
            room,
            info,
        ),
    )
    return bool(ints[2] == 0 and work[0] > 0.0)  # work is used, so that it lives until here


@kernel
def condition_of(routine: Longs, hessian: Floats) -> float:
    """Return the condition number in units of each parameter's own curvature, infinite where it has none."""
    k = hessian.shape[0]
    scaled, values, own = np.empty((k, k)), np.empty(k), np.empty(k)
    for a in range(k):
        own[a] = np.sqrt(abs(hessian[a, a]))
        if own[a] == 0.0:
            own[a] = 1.0
    for a in range(k):
        for b in range(k):
            scaled[a, b] = hessian[a, b] / (own[a] * own[b])
            if not np.isfinite(scaled[a, b]):
                return np.inf
    if not decompose(routine, scaled, values, False) or not values[0] > 0.0:
        return np.inf
    return float(values[k - 1] / values[0])


@kernel
def invert_fixed(routine: Longs, hessian: Floats, fixed: int, covariance: Floats) -> None:
    """Fill in the inverse of the information of the first ``fixed`` parameters, the others profiled out.

    clmm.invert_information says how. All nan where the Hessian is not finite.
    """
    k = hessian.shape[0]
    r, largest, finite = k - fixed, 0.0, True
    for a in range(k):
        largest = max(largest, abs(hessian[a, a]))
        for b in range(k):
            finite = finite and np.isfinite(hessian[a, b])
    scale, values, components = np.empty(r), np.empty(r), np.empty((r, r))
    for a in range(r):
        scale[a] = np.sqrt(max(abs(hessian[fixed + a, fixed + a]), 1e-6 * largest))
    for a in range(r):
        for b in range(r):
            components[a, b] = hessian[fixed + a, fixed + b] / (scale[a] * scale[b])
    finite = finite and largest > 0.0 and decompose(routine, components, values, True)
    across, information, own = np.empty((fixed, r)), np.empty((fixed, fixed)), np.empty(fixed)
    for i in range(fixed):
        for c in range(r):
            total = 0.0
            for a in range(r):
                total += hessian[i, fixed + a] / scale[a] * components[c, a]
            across[i, c] = total
    for i in range(fixed):
        for j in range(fixed):
            total = hessian[i, j]
            for c in range(r):
                if values[c] > 1e-6:
                    total -= across[i, c] * across[j, c] / values[c]
            information[i, j] = total
        own[i] = np.sqrt(abs(information[i, i]))
        if own[i] == 0.0:
            own[i] = 1.0
    for i in range(fixed):
        for j in range(fixed):
            information[i, j] /= own[i] * own[j]
    sizes = np.empty(fixed)
    finite = finite and decompose(routine, information, sizes, True)
    for i in range(fixed):
        for j in range(fixed):
            total = 0.0
            for c in range(fixed):
                total += information[c, i] * information[c, j] / max(sizes[c], 1e-14)
            covariance[i, j] = total / (own[i] * own[j]) if finite else np.nan


@kernel
def fill_degrees(L: Floats, C: Floats, dC: Floats, A: Floats, degrees: Floats) -> None:
    """Fill in Satterthwaite's degrees of freedom, of which inference/hypotheses.py says what they are."""
    p, k = L.shape[1], A.shape[0]
    slopes = np.empty(k)
    for q in range(L.shape[0]):
        for e in range(k):
            slopes[e] = 0.0
        value, spread = 0.0, 0.0
        for i in range(p):
            for j in range(p):
                both = L[q, i] * L[q, j]
                if both != 0.0:
                    value += both * C[i, j]
                    for e in range(k):
                        slopes[e] += both * dC[e, i, j]
        for e in range(k):
            for f in range(k):
                spread += slopes[e] * A[e, f] * slopes[f]
        # A variance known exactly has infinitely many.
        degrees[q] = np.nan if np.isnan(spread) else 2.0 * value * value / max(spread, 0.0)


@kernel
def fill_tests(beta: Floats, vcov: Floats, numbers: Floats) -> None:
    """Fill in the rows estimate, standard error and estimate / error; the last is nan where there is none."""
    for a in range(len(beta)):
        error = np.sqrt(vcov[a, a])
        numbers[0, a], numbers[1, a] = beta[a], error
        numbers[2, a] = beta[a] / error if error > 0.0 else np.nan


@kernel
def fill_moments(
    routine: Longs, R: Floats, curvature: Floats, sizes: Floats, vcov: Floats, slopes: Floats, A: Floats
) -> None:
    """Fill in Var(β̂), and for φ = (θ, σ) finish its slopes and fill in Var(φ̂), nan where there is none.

    R is the lower Cholesky factor of X'H̃⁻¹X, ``curvature`` the Hessian of the deviance over φ, ``sizes``
    are σ and the unit of y; ``slopes`` come as those of (X'H̃⁻¹X)⁻¹ over θ, with room for σ's after them.
    """
    p, k, sigma, unit = R.shape[0], curvature.shape[0], sizes[0], sizes[1]
    root, turned, values = np.empty((p, p)), np.empty((k, k)), np.empty(k)
    known = True
    for b in range(p):  # R⁻¹, column by column
        for a in range(p):
            total = 1.0 if a == b else 0.0
            for c in range(b, a):
                total -= R[a, c] * root[c, b]
            root[a, b] = total / R[a, a] if a >= b else 0.0
            known = known and np.isfinite(root[a, b])
    for i in range(p):
        for j in range(p):
            total = 0.0 if known else np.nan
            for c in range(p):
                total += root[c, i] * root[c, j]
            vcov[i, j] = (sigma * unit) ** 2 * total
            for e in range(k - 1):
                slopes[e, i, j] *= (sigma * unit) ** 2
            slopes[k - 1, i, j] = 2.0 * sigma * unit * unit * total
    known = True
    for e in range(k):
        for f in range(k):
            turned[e, f] = curvature[e, f]
            known = known and np.isfinite(curvature[e, f])
    known = known and decompose(routine, turned, values, True)
    for e in range(k):
        for f in range(k):
            total = 0.0 if known else np.nan
            for c in range(k):
                if known and values[c] > 1e-8:
                    total += turned[c, e] * turned[c, f] / values[c]
            A[e, f] = 2.0 * total
