"""Where an ordinal search starts, and the first guess of its inverse Hessian.

A good first metric saves a third of the evaluations: the information of (α, β) with the random
effects profiled out is exact for the penalised likelihood, and for τ the Fisher information of the
variance components is taken as if every level had the average number of ratings.
"""

import numpy as np
from numba import njit

from panelist.models.arrays import Floats, Longs
from panelist.models.blocks import Pattern, multiply
from panelist.models.laplace import Ordinal, Workspace, push_mode
from panelist.models.links import A_TILT, B_TILT, D1, A, B, W


@njit(cache=True, nogil=True, error_model="numpy")
def profile_information(model: Ordinal, work: Workspace, size: int) -> Floats:
    """Return the information of (α, β) with u profiled out, at the latest evaluation."""
    s, p = model.J.shape[1], model.X.shape[1]
    rows, codes, last = work.rows, model.codes, len(work.thresholds)
    information = np.zeros((s + p, s + p))
    change = np.zeros(size)
    by_threshold = np.zeros(last + 2)
    for e in range(s + p):
        change[:] = 0.0
        change[e] = 1.0
        push_mode(model, change, work)
        multiply(model.pattern, work.V, work.push, work.spare)
        by_threshold[:] = 0.0
        for i in range(len(codes)):
            k = codes[i]
            eta = work.spare[i]
            if e >= s:
                eta += model.X[i, e - s]
            upper = -eta + (model.J[k, e] if e < s and k < last else 0.0)
            lower = -eta + (model.J[k - 1, e] if e < s and k > 0 else 0.0)
            a, b = rows[A, i], rows[B, i]
            change_p = a * upper - b * lower
            by_threshold[k + 1] -= (rows[A_TILT, i] + rows[D1, i] * a) * upper - a * change_p
            by_threshold[k] += (rows[D1, i] * b - rows[B_TILT, i]) * lower - b * change_p
            bend = rows[W, i] * eta + rows[A_TILT, i] * (upper + eta) + rows[B_TILT, i] * (lower + eta)
            for c in range(p):
                information[e, s + c] += model.X[i, c] * bend
        for k in range(last):
            for c in range(s):
                information[e, c] += model.J[k, c] * by_threshold[k + 1]
    return information


@njit(cache=True, nogil=True, error_model="numpy")
def component_information(
    pattern: Pattern, tau_row: Longs, tau_column: Longs, tau: Floats, w: Floats
) -> Floats:
    """Return the approximate Fisher information of τ: ½ tr(U dΣ_a U dΣ_b) a level, U = K(I + ΣK)⁻¹."""
    m, r = pattern.Z.shape[1], len(tau)
    K, Lambda = np.zeros((m, m)), np.zeros((m, m))
    owner, level_count = np.empty(m, dtype=np.int64), np.empty(m)
    first = 0
    for f in range(len(pattern.widths)):
        owner[first : first + pattern.widths[f]] = f
        level_count[first : first + pattern.widths[f]] = pattern.sizes[f]
        first += pattern.widths[f]
    for i in range(len(w)):
        for a in range(m):
            for b in range(a + 1):
                K[a, b] += w[i] * pattern.Z[i, a] * pattern.Z[i, b]
    for a in range(m):
        for b in range(a + 1):
            K[a, b] = K[a, b] / level_count[a] if owner[a] == owner[b] else 0.0
            K[b, a] = K[a, b]
        K[a, a] += 1e-8
    for t in range(r):
        Lambda[tau_row[t], tau_column[t]] = tau[t]
    U = K @ np.linalg.inv(np.eye(m) + Lambda @ Lambda.T @ K)
    information = np.zeros((r, r))
    turned = np.zeros((r, m, m))
    for t in range(r):
        d = np.zeros((m, m))
        for c in range(m):
            d[tau_row[t], c] += Lambda[c, tau_column[t]]
            d[c, tau_row[t]] += Lambda[c, tau_column[t]]
        turned[t] = U @ d
    for t in range(r):
        for v in range(t + 1):
            total = 0.0
            for a in range(m):
                for b in range(m):
                    total += turned[t, a, b] * turned[v, b, a]
            information[t, v] = information[v, t] = 0.5 * total * level_count[tau_row[t]]
    return information


@njit(cache=True, nogil=True, error_model="numpy")
def first_metric(model: Ordinal, psi: Floats, work: Workspace) -> Floats:
    """Return the inverse Hessian to start from; call it right after an evaluation at ψ."""
    k, fixed = len(psi), model.J.shape[1] + model.X.shape[1]
    metric = np.zeros((k, k))
    information = profile_information(model, work, k)
    information = 0.5 * (information + information.T)
    for a in range(fixed):
        information[a, a] *= 1.0 + 1e-8
    metric[:fixed, :fixed] = np.linalg.inv(information)
    components = component_information(
        model.pattern, model.tau_row, model.tau_column, psi[fixed:], work.rows[W]
    )
    for t in range(k - fixed):
        components[t, t] = 1.05 * components[t, t] + 1e-3
    metric[fixed:, fixed:] = np.linalg.inv(components)
    return metric
