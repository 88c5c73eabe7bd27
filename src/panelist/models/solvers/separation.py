"""Separated data: fixed effects that predict the ratings so well that they have no finite estimate.

The data are separated if some direction δ in (α, β) makes no rating less likely and at least one more
likely, however far one goes: then the likelihood has no maximum. For a rating in category k that asks
J_kδ_α − x'δ_β ≥ 0 of its upper threshold and ≤ 0 of its lower one, so that one linear programme
decides it exactly (Konis 2007, https://ora.ox.ac.uk/objects/uuid:8f9ee0d0-d78e-4101-9ab4-f9cbceed2a2a, for
binary responses).
"""

from dataclasses import replace

import numpy as np

from panelist.models.arrays import Bools, Floats, Ints
from panelist.models.solvers.solution import Solution

_FAR = 4.0  # latent standard deviations: effects on a scale hardly ever reach further
_CONDITION = 1e6


def mark_separated(solution: Solution, codes: Ints, X: Floats, J: Floats, unit: float) -> Solution:
    """Return the solution with unknown standard errors where there is no finite estimate.

    ``unit`` is the latent standard deviation. The programme is only solved where something looks strange.
    """
    s, p = J.shape[1], X.shape[1]
    if not p:
        return solution
    reach = np.abs(solution.beta) * (X.max(axis=0) - X.min(axis=0))
    if not (reach.max() > _FAR * unit or solution.optimum.condition > _CONDITION):
        return solution
    lost = _run_off(codes, X, J)
    if not lost.any():
        return solution
    lost |= np.sqrt(np.diag(solution.joint_vcov)) > 100.0 * unit  # thresholds that only lie in between
    covariance = solution.joint_vcov.copy()
    covariance[lost, :] = np.nan
    covariance[:, lost] = np.nan
    return replace(solution, joint_vcov=covariance, vcov=covariance[s:, s:])


def _run_off(codes: Ints, X: Floats, J: Floats) -> Bools:
    """Return which of (α, β) take part in a direction that separates the data."""
    from scipy.optimize import linprog

    last = len(J)
    cases = np.unique(np.column_stack([codes, X]), axis=0)
    k, x = cases[:, 0].astype(int), cases[:, 1:]
    upper = np.hstack([J[np.minimum(k, last - 1)], -x])[k < last]
    lower = np.hstack([-J[np.maximum(k - 1, 0)], x])[k > 0]
    gains = np.vstack([upper, lower])
    count = gains.shape[1]
    found = linprog(-gains.sum(axis=0), A_ub=-gains, b_ub=np.zeros(len(gains)), bounds=[(-1.0, 1.0)] * count)
    direction = found.x if found.success and found.x is not None else np.zeros(count)
    if (gains @ direction).sum() < 1e-7:
        return np.zeros(count, dtype=np.bool_)
    # Where the thresholds move with the effects there may be several directions: all that can move are lost.
    lost: Bools = np.abs(direction) > 1e-7
    return lost


def scaled_condition(hessian: Floats) -> float:
    """Return the condition number of the Hessian in units of each parameter's own curvature."""
    if not np.all(np.isfinite(hessian)):
        return float("inf")
    diagonal = np.sqrt(np.abs(np.diag(hessian)))
    diagonal[diagonal == 0.0] = 1.0
    values = np.linalg.eigvalsh(hessian / np.outer(diagonal, diagonal))
    return float(values[-1] / values[0]) if values[0] > 0.0 else float("inf")
