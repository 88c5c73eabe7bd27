"""Where an ordinal search starts, and the first guess of its inverse Hessian.

A good first metric saves a third of the evaluations: the information of (α, β) with the random
effects profiled out is exact for the penalised likelihood, and for τ the Fisher information of the
variance components is taken as if every level had the average number of ratings.
"""

from typing import Any

import numpy as np

from panelist.models.blocks.pattern import Pattern
from panelist.models.blocks.products import count_tau
from panelist.models.likelihoods.adjacent_rows import VAR_Q, add_step_information, sum_step_change
from panelist.models.likelihoods.laplace import LaplaceWorkspace, Ordinal
from panelist.models.likelihoods.link_functions import A_TILT, ADJACENT, B_TILT, D1, A, B, W
from panelist.models.likelihoods.spread_rows import HIGH_END, LOW_END, sum_spread_change
from panelist.models.likelihoods.tangent import Directions, push_modes
from panelist.numerics import lapack
from panelist.numerics.arrays import Floats, Ints, Longs
from panelist.numerics.kernel import inner, noinline, part
from panelist.numerics.simd import WIDTH, broadcast, fma, get, load, store


@inner
def profile_information(model: Ordinal, work: LaplaceWorkspace, directions: Directions) -> Floats:
    """Return the information of (α, β, ζ) with u profiled out, at the latest evaluation."""
    noinline()
    J, X, pattern = model.J, model.X, model.pattern
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
    q, adjacent, S, joined, table = model.S.shape[1], model.link == ADJACENT, model.S, model.joined, work.rows
    shrink, spreads, steps = work.shrink, work.spreads, work.steps
    size = s + p + q
    information = np.zeros((size, size))
    for first in range(0, size, WIDTH):
        change[:] = 0.0
        sums[:] = 0.0
        slopes[:] = 0.0
        for lane in range(min(WIDTH, size - first)):
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
                if adjacent or q > 0:
                    moved = sum_spread_change(S, change, s + p, i) if q > 0 else broadcast(0.0)
                    if adjacent:  # ζ apart: this is only where a search starts
                        add_step_information(
                            model.upper, model.lower, joined, steps, shrink, edges, eta, i, sums
                        )
                        for c in range(q):
                            own = moved * (spreads[VAR_Q, i] * S[i, c])
                            store(slopes, p + c, load(slopes, p + c) + own)
                        bend = eta * table[W, i] + sum_step_change(model.lower, joined, steps, edges, i)
                    else:
                        bend = _add_spread(
                            S, model.upper, model.lower, table, shrink, spreads, moved, edges, eta, p, i,
                            sums, slopes,
                        )  # fmt: skip
                    for c in range(p):
                        store(slopes, c, fma(bend, X[i, c], load(slopes, c)))
                    continue
                above, below, d1 = get(model.upper, i), get(model.lower, i), get(rows, D1 * count + i)
                a, b, w = get(rows, A * count + i), get(rows, B * count + i), get(rows, W * count + i)
                a_tilt, b_tilt = get(rows, A_TILT * count + i), get(rows, B_TILT * count + i)
                upper, lower = load(edges, above) - eta, load(edges, below) - eta
                change_p = upper * a - lower * b
                store(sums, above, load(sums, above) - upper * (a_tilt + d1 * a) + change_p * a)
                store(sums, below, load(sums, below) + lower * (d1 * b - b_tilt) - change_p * b)
                bend = eta * w + load(edges, above) * a_tilt + load(edges, below) * b_tilt
                for c in range(p):
                    store(slopes, c, fma(bend, X[i, c], load(slopes, c)))
        for lane in range(min(WIDTH, size - first)):
            for c in range(p + q):
                information[first + lane, s + c] = slopes[c, lane]
            for k in range(last):
                for c in range(s):
                    information[first + lane, c] += J[k, c] * sums[k + 1, lane]
    return information


@inner
def _add_spread(
    S: Floats,
    upper: Ints,
    lower: Ints,
    rows: Floats,
    shrink: Floats,
    spreads: Floats,
    moved: Any,
    edges: Floats,
    eta: Any,
    p: int,
    i: int,
    sums: Floats,
    slopes: Floats,
) -> Any:
    """Return the change of D1 of row i, and add those of its slopes in thresholds and ζ.

    As in profile_information, for rows with a spread of their own; ``moved`` is the change of log σ. It takes
    arrays: whole tuples, handed on row by row, would take longer than all the rest.
    """
    q, d1, one = S.shape[1], rows[D1, i], shrink[i]
    above, below, high, low = upper[i], lower[i], spreads[HIGH_END, i], spreads[LOW_END, i]
    a, b, sigma = rows[A, i] / one, rows[B, i] / one, 1.0 / one
    a_slope = (rows[A_TILT, i] + d1 * rows[A, i]) * sigma * sigma
    b_slope = (d1 * rows[B, i] - rows[B_TILT, i]) * sigma * sigma
    upper_change = (load(edges, above) - eta) * one - moved * high
    lower_change = (load(edges, below) - eta) * one - moved * low
    change_p = upper_change * a - lower_change * b
    change_a, change_b = upper_change * a_slope - change_p * a, lower_change * b_slope - change_p * b
    own_a, own_b = (change_a - moved * a) * one, (change_b - moved * b) * one
    store(sums, above, load(sums, above) - own_a)
    store(sums, below, load(sums, below) + own_b)
    by_spread = upper_change * a + change_a * high - lower_change * b - change_b * low
    for c in range(q):
        store(slopes, p + c, fma(by_spread, S[i, c], load(slopes, p + c)))
    return own_a - own_b


@part
def component_information(
    pattern: Pattern, tau_row: Longs, tau_column: Longs, tau_slot: Longs, tau: Floats, weight: float
) -> Floats:
    """Return the approximate Fisher information of τ: ½ tr(U dΣ_a U dΣ_b) per level, U = K(I + ΣK)⁻¹.

    ``weight`` is the information in a rating, assumed to be the same for all; K is that in a level, on
    average. With Σ = FF', entry a moves Σ by e f' + f e', where f is its column of F and e the unit vector of
    its row. So the trace is 2 (f_a'Ue_b · e_a'Uf_b + f_a'Uf_b · e_a'Ue_b), of the matrices UF, F'UF and U.
    Entries that are one τ are summed.
    """
    Z, m, r = pattern.Z, pattern.Z.shape[1], len(tau)
    U, UF, F, inner = np.empty((m, m)), np.empty((m, m)), np.empty((m, m)), np.empty((m, m))
    levels, information = np.empty(m), np.zeros((r, r))
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
    for e in range(len(tau_row)):
        F[tau_row[e], tau_column[e]] = tau[tau_slot[e]]
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
    for a in range(len(tau_row)):
        i, c = tau_row[a], tau_column[a]
        for b in range(len(tau_row)):
            j, d = tau_row[b], tau_column[b]
            information[tau_slot[a], tau_slot[b]] += levels[i] * (UF[j, c] * UF[i, d] + inner[c, d] * U[i, j])
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
    pattern: Pattern,
    tau_row: Longs,
    tau_column: Longs,
    tau_slot: Longs,
    point: Floats,
    weight: float,
    metric: Floats,
) -> None:
    """Set the part of an inverse Hessian that belongs to τ, which comes last in ``point``.

    It is the inverse of the component information, kept away from singularity.
    """
    noinline()
    r = count_tau(tau_slot)
    first = len(point) - r
    if r == 0:
        return
    information = component_information(pattern, tau_row, tau_column, tau_slot, point[first:], weight)
    for a in range(r):
        information[a, a] = 1.05 * information[a, a] + 1e-3
    lapack.factor_upper(pattern.routines, information)
    lapack.invert_upper(pattern.routines, information)
    for a in range(r):
        for b in range(r):
            metric[first + a, first + b] = information[a, b]


@part
def set_fixed_metric(model: Ordinal, work: LaplaceWorkspace, directions: Directions, metric: Floats) -> None:
    """Set the part of an inverse Hessian that belongs to (α, β, ζ); call it right after an evaluation."""
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
