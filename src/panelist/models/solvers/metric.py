"""Where an ordinal search starts, and the first guess of its inverse Hessian.

A good first metric saves a third of the evaluations: the information of (α, β) with the random
effects profiled out is exact for the penalised likelihood, and for τ the Fisher information of the
variance components is taken as if every level had the average number of ratings.
"""

import numpy as np

from panelist.models.arrays import Floats, Longs
from panelist.models.solvers import lapack
from panelist.models.solvers.blocks import Pattern, multiply
from panelist.models.solvers.kernel import part
from panelist.models.solvers.laplace import Ordinal, Workspace, push_mode
from panelist.models.solvers.links import A_TILT, B_TILT, D1, A, B, W


@part
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


def component_information(
    pattern: Pattern, tau_row: Longs, tau_column: Longs, tau: Floats, weight: float
) -> Floats:
    """Return the approximate Fisher information of τ: ½ tr(U dΣ_a U dΣ_b) a level, U = K(I + ΣK)⁻¹.

    ``weight`` is the information in a rating, taken as the same for all.
    """
    m, r = pattern.Z.shape[1], len(tau)
    owner = np.repeat(np.arange(len(pattern.widths)), pattern.widths)
    levels = pattern.sizes[owner].astype(float)
    K = weight * (pattern.Z.T @ pattern.Z)
    K = np.where(owner[:, None] == owner, K / levels, 0.0) + 1e-8 * np.eye(m)
    factor = np.zeros((m, m))
    factor[tau_row, tau_column] = tau
    U = K @ np.linalg.inv(np.eye(m) + factor @ factor.T @ K)
    slopes = np.zeros((r, m, m))
    slopes[np.arange(r), tau_row] = factor.T[tau_column]
    slopes += slopes.transpose(0, 2, 1)
    turned = (U @ slopes).reshape(r, m * m)
    across = (U @ slopes).transpose(0, 2, 1).reshape(r, m * m)
    information: Floats = 0.5 * (turned @ across.T) * levels[tau_row]
    return 0.5 * (information + information.T)


def component_metric(
    pattern: Pattern, tau_row: Longs, tau_column: Longs, tau: Floats, weight: float
) -> Floats:
    """Return the inverse of the component information, kept away from singularity."""
    information = component_information(pattern, tau_row, tau_column, tau, weight)
    information[np.diag_indices(len(tau))] = 1.05 * np.diag(information) + 1e-3
    metric: Floats = np.linalg.inv(information).astype(np.float64)
    return metric


@part
def set_fixed_metric(model: Ordinal, work: Workspace, metric: Floats) -> None:
    """Set the part of an inverse Hessian that belongs to (α, β); call it right after an evaluation."""
    information = profile_information(model, work, len(metric))
    k = len(information)
    for a in range(k):
        for b in range(a):
            information[a, b] = 0.5 * (information[a, b] + information[b, a])
        information[a, a] *= 1.0 + 1e-8
        metric[a, a] = 1.0 / max(abs(information[a, a]), 1e-8)  # what is left where there is no inverse
    if lapack.cholesky(model.pattern.routines, information):
        lapack.invert_from_cholesky(model.pattern.routines, information)
        for a in range(k):
            for b in range(k):
                metric[a, b] = information[a, b]
