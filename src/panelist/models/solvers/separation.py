"""Separated data: fixed effects that predict the ratings so well that they have no finite estimate.

The data are separated if some direction δ in (α, β) makes no rating less likely and at least one more
likely, however far one goes: then the likelihood has no maximum. For a rating in category k that asks
J_kδ_α − x'δ_β ≥ 0 of its upper threshold and ≤ 0 of its lower one, so that one linear programme
decides it exactly (Konis 2007, https://ora.ox.ac.uk/objects/uuid:8f9ee0d0-d78e-4101-9ab4-f9cbceed2a2a, for
binary responses).
"""

from dataclasses import replace

import numpy as np

from panelist.models.solvers.solution import Solution
from panelist.numerics.arrays import Bools, Floats, Ints
from panelist.numerics.spectra import condition_of, routine

_FAR = 4.0  # latent standard deviations: effects on a scale hardly ever reach further
_CONDITION = 1e6
_MOST_ROWS = 50  # distinct rows of X up to which overlap is looked for


def mark_separated(solution: Solution, codes: Ints, X: Floats, J: Floats, unit: float) -> Solution:
    """Return the solution with unknown standard errors where there is no finite estimate.

    ``unit`` is the latent standard deviation.
    """
    condition = solution.optimum.condition
    if not _looks_strange(solution.beta, condition, X, unit):
        return solution
    lost = find_lost(solution.beta, solution.joint_vcov, condition, codes, X, J, unit)
    if not lost.any():
        return solution
    s = J.shape[1]
    covariance = solution.joint_vcov.copy()
    covariance[lost, :] = np.nan
    covariance[:, lost] = np.nan
    return replace(solution, joint_vcov=covariance, vcov=covariance[s:, s:])


def find_lost(
    beta: Floats, covariance: Floats, condition: float, codes: Ints, X: Floats, J: Floats, unit: float
) -> Bools:
    """Return which of (α, β) have no finite estimate; it is only checked where something looks unusual."""
    s, p = J.shape[1], X.shape[1]
    none = np.zeros(s + p, dtype=np.bool_)
    if not _looks_strange(beta, condition, X, unit):
        return none
    if J.shape[0] == s and overlaps(codes, X, s + 1):
        return none
    lost = _run_off(codes, X, J)
    if lost.any():
        lost |= np.sqrt(np.diag(covariance)) > 100.0 * unit  # thresholds that only lie in between
    return lost


def _looks_strange(beta: Floats, condition: float, X: Floats, unit: float) -> bool:
    """Return whether an effect reaches further than effects do, or the Hessian is nearly singular."""
    if not len(beta):
        return False
    reach = np.abs(beta) * (X.max(axis=0) - X.min(axis=0))
    return condition > _CONDITION or bool(reach.max() > _FAR * unit)


def overlaps(codes: Ints, X: Floats, categories: int) -> bool:
    """Return whether the ratings, thresholds being free, certainly have a finite estimate; quickly.

    A direction that separates must order the shifts of the thresholds and of the distinct rows of X:
    t_{k−1} ≤ x'δ ≤ t_k for every category k in which a row x occurs. What is ordered both ways is equal;
    where all thresholds are, and enough of the rows to span X, there is no direction but zero.
    """
    rows, where = np.unique(X, axis=0, return_inverse=True)
    if len(rows) > _MOST_ROWS:
        return False
    seen = np.zeros((len(rows), categories), dtype=np.bool_)
    seen[where.ravel(), codes] = True
    last = categories - 1
    below = np.eye(
        last + len(rows), dtype=np.bool_
    )  # thresholds, then rows: whether one is at most the other
    below[:last, last:] = seen[:, 1:].T
    below[last:, :last] = seen[:, :-1]
    for k in range(len(below)):
        below |= below[:, k : k + 1] & below[k]
    same = below[0] & below[:, 0]
    spread = rows[same[last:]]
    if not same[:last].all() or not len(spread):
        return False
    return bool(np.linalg.matrix_rank(spread - spread[0]) == X.shape[1])


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
    return float(condition_of(routine(), np.ascontiguousarray(hessian)))


def scaled_conditions(hessians: Floats) -> Floats:
    """Return the condition number of each Hessian of a stack, infinite where it has none."""
    return np.array([scaled_condition(hessian) for hessian in hessians])
