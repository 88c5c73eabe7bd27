"""Where an ordinal search starts, and the first guess of its inverse Hessian.

A good first metric saves a third of the evaluations: the information of (α, β) with the random
effects profiled out is exact for the penalised likelihood, and for τ the Fisher information of the
variance components is taken as if every level had the average number of ratings.
"""

import numpy as np

from panelist.models.blocks.pattern import Pattern
from panelist.models.likelihoods.laplace import LaplaceWorkspace, Ordinal
from panelist.models.likelihoods.link_functions import A_TILT, B_TILT, D1, A, B, W
from panelist.models.likelihoods.tangent import Directions, push_modes
from panelist.numerics import lapack
from panelist.numerics.arrays import Floats, Longs
from panelist.numerics.kernel import inner, noinline, part
from panelist.numerics.simd import WIDTH, broadcast, fma, get, load, store


@inner
def profile_information(model: Ordinal, work: LaplaceWorkspace, directions: Directions) -> Floats:
    """Return the information of (α, β) with u profiled out, at the latest evaluation."""
    noinline()
    J, X, codes, pattern = model.J, model.X, model.codes, model.pattern
    (last, s), p, m1, m2 = J.shape, X.shape[1], pattern.widths[0], pattern.place.shape[1]
    start, place, V = pattern.start, pattern.place.reshape(-1), work.V.reshape(-1)
    rows, count, dense, m = work.rows.reshape(-1), work.rows.shape[1], (len(start) - 1) * m1, m1 + m2
    change, edges, push, sums, slopes = (
        directions.change,
        directions.edges,
        directions.push,
        directions.sums,
        directions.slopes,
    )
    information = np.zeros((s + p, s + p))
    for first in range(0, s + p, WIDTH):
        change[:] = 0.0
        sums[:] = 0.0
        slopes[:] = 0.0
        for lane in range(min(WIDTH, s + p - first)):
            change[first + lane, lane] = 1.0
        push_modes(model, work, directions)
        for j in range(len(start) - 1):
            for i in range(start[j], start[j + 1]):
                eta = broadcast(0.0)
                for c in range(m):
                    at = j * m1 + c if c < m1 else dense + get(place, i * m2 + c - m1)
                    eta = fma(load(push, at), get(V, i * m + c), eta)
                for b in range(p):
                    eta = fma(load(change, s + b), X[i, b], eta)
                k, d1 = codes[i], get(rows, D1 * count + i)
                a, b, w = get(rows, A * count + i), get(rows, B * count + i), get(rows, W * count + i)
                a_tilt, b_tilt = get(rows, A_TILT * count + i), get(rows, B_TILT * count + i)
                upper, lower = load(edges, k + 1) - eta, load(edges, k) - eta
                change_p = upper * a - lower * b
                store(sums, k + 1, load(sums, k + 1) - upper * (a_tilt + d1 * a) + change_p * a)
                store(sums, k, load(sums, k) + lower * (d1 * b - b_tilt) - change_p * b)
                bend = eta * w + load(edges, k + 1) * a_tilt + load(edges, k) * b_tilt
                for c in range(p):
                    store(slopes, c, fma(bend, X[i, c], load(slopes, c)))
        for lane in range(min(WIDTH, s + p - first)):
            for c in range(p):
                information[first + lane, s + c] = slopes[c, lane]
            for k in range(last):
                for c in range(s):
                    information[first + lane, c] += J[k, c] * sums[k + 1, lane]
    return information


@part
def component_information(
    pattern: Pattern, tau_row: Longs, tau_column: Longs, tau: Floats, weight: float
) -> Floats:
    """Return the approximate Fisher information of τ: ½ tr(U dΣ_a U dΣ_b) per level, U = K(I + ΣK)⁻¹.

    ``weight`` is the information in a rating, assumed to be the same for all; K is that in a level, on
    average. With Σ = FF', entry a moves Σ by e f' + f e', where f is its column of F and e the unit vector of
    its row. So the trace is 2 (f_a'Ue_b · e_a'Uf_b + f_a'Uf_b · e_a'Ue_b), of the matrices UF, F'UF and U.
    """
    Z, m, r = pattern.Z, pattern.Z.shape[1], len(tau)
    U, UF, F, inner = np.empty((m, m)), np.empty((m, m)), np.empty((m, m)), np.empty((m, m))
    levels, information = np.empty(m), np.empty((r, r))
    first = 0
    for f in range(len(pattern.widths)):
        last = first + pattern.widths[f]
        for a in range(first, last):
            levels[a] = pattern.sizes[f]
            for b in range(m):
                U[a, b] = F[a, b] = 0.0
            for b in range(first, last):
                total = 0.0
                for i in range(Z.shape[0]):
                    total += Z[i, a] * Z[i, b]
                U[a, b] = weight * total / levels[a]  # K so far
            U[a, a] += 1e-8
        first = last
    for e in range(r):
        F[tau_row[e], tau_column[e]] = tau[e]
    _multiply(U, F, UF, inner)
    for a in range(m):  # I + F'KF has a Cholesky factor, and U = K − KF (I + F'KF)⁻¹ F'K
        inner[a, a] += 1.0
    lapack.factor_upper(pattern.routines, inner)
    for a in range(m):  # KF times the inverse of that factor, row by row
        for b in range(m):
            for c in range(b):
                UF[a, b] -= inner[c, b] * UF[a, c]
            UF[a, b] /= inner[b, b]
    for a in range(m):
        for b in range(m):
            for c in range(m):
                U[a, b] -= UF[a, c] * UF[b, c]
    _multiply(U, F, UF, inner)
    for a in range(r):
        i, c = tau_row[a], tau_column[a]
        for b in range(r):
            j, d = tau_row[b], tau_column[b]
            information[a, b] = levels[i] * (UF[j, c] * UF[i, d] + inner[c, d] * U[i, j])
    return information


@inner
def _multiply(U: Floats, F: Floats, UF: Floats, FUF: Floats) -> None:
    """Fill in UF and F'UF, of small square matrices."""
    m = U.shape[0]
    for a in range(m):
        for b in range(m):
            UF[a, b] = 0.0
            for c in range(m):
                UF[a, b] += U[a, c] * F[c, b]
    for a in range(m):
        for b in range(m):
            FUF[a, b] = 0.0
            for c in range(m):
                FUF[a, b] += F[c, a] * UF[c, b]


@inner
def set_component_metric(
    pattern: Pattern, tau_row: Longs, tau_column: Longs, point: Floats, weight: float, metric: Floats
) -> None:
    """Set the part of an inverse Hessian that belongs to the entries of Λ, which come last in ``point``.

    It is the inverse of the component information, kept away from singularity.
    """
    noinline()
    r = len(tau_row)
    first = len(point) - r
    information = component_information(pattern, tau_row, tau_column, point[first:], weight)
    for a in range(r):
        information[a, a] = 1.05 * information[a, a] + 1e-3
    lapack.factor_upper(pattern.routines, information)
    lapack.invert_upper(pattern.routines, information)
    for a in range(r):
        for b in range(r):
            metric[first + a, first + b] = information[a, b]


@part
def set_fixed_metric(model: Ordinal, work: LaplaceWorkspace, directions: Directions, metric: Floats) -> None:
    """Set the part of an inverse Hessian that belongs to (α, β); call it right after an evaluation."""
    information = profile_information(model, work, directions)
    k = len(information)
    for a in range(k):
        for b in range(a):
            information[b, a] = 0.5 * (information[a, b] + information[b, a])
        information[a, a] *= 1.0 + 1e-8
        metric[a, a] = 1.0 / max(abs(information[a, a]), 1e-8)  # what is left where there is no inverse
    if lapack.factor_upper(model.pattern.routines, information):
        lapack.invert_upper(model.pattern.routines, information)
        for a in range(k):
            for b in range(k):
                metric[a, b] = information[a, b]
