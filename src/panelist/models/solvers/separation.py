"""Separated data: fixed effects that predict the ratings so well that they have no finite estimate.

The data are separated if some direction δ in (α, β) makes no rating less likely and at least one more
likely, however far one goes: then the likelihood has no maximum. For a rating in category k that asks
J_kδ_α − x'δ_β ≥ 0 of its upper threshold and ≤ 0 of its lower one, so that one linear programme
decides it exactly (Konis 2007, https://ora.ox.ac.uk/objects/uuid:8f9ee0d0-d78e-4101-9ab4-f9cbceed2a2a, for
binary responses).
"""

from dataclasses import replace

import numpy as np

from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.cells import find_cells, lay_rows
from panelist.models.likelihoods.thresholds import Edges, Thresholds
from panelist.models.solvers.solution import Solution
from panelist.numerics.arrays import Bools, Floats, Ints
from panelist.numerics.spectra import condition_of, invert_fixed, routine

_FAR = 4.0  # latent standard deviations: effects on a scale hardly ever reach further
_CONDITION = 1e6
_MOST_ROWS = 50  # distinct rows of X up to which overlap is looked for


def mark_separated(
    solution: Solution, design: ModelMatrices, thresholds: Thresholds, unit: float
) -> Solution:
    """Return the solution with unknown standard errors where there is no finite estimate.

    ``unit`` is the latent standard deviation.
    """
    lost, covariance = hold_lost(
        solution.beta,
        solution.joint_vcov,
        solution.hessian,
        solution.optimum.condition,
        design,
        thresholds,
        unit,
    )
    if not lost.any():
        return solution
    s, p = len(solution.alpha), len(solution.beta)
    return replace(solution, joint_vcov=covariance, vcov=covariance[s : s + p, s : s + p])


def hold_lost(
    beta: Floats,
    covariance: Floats,
    hessian: Floats,
    condition: float,
    design: ModelMatrices,
    thresholds: Thresholds,
    unit: float,
) -> tuple[Bools, Floats]:
    """Return which of (α, β, ζ) have no finite estimate, and the covariance of the others, nan for the lost.

    What is lost is held where the search left it. The likelihood is flat there, so that its second
    derivatives are rounding errors; inverted with the whole Hessian they would reach every standard error.
    """
    lost = find_lost(beta, len(covariance), condition, design, thresholds, unit)
    if not lost.any():
        return lost, covariance
    held = _hold(covariance, hessian, lost)
    between = np.sqrt(np.diag(held)) > 100.0 * unit  # thresholds that only lie between two that are lost
    if between.any():
        lost |= between
        held = _hold(covariance, hessian, lost)
    return lost, held


def _hold(covariance: Floats, hessian: Floats, lost: Bools) -> Floats:
    """Return the covariance of the parameters that are not lost, from the Hessian of ψ where there is one."""
    size, kept = len(lost), np.flatnonzero(~lost)
    held = np.full_like(covariance, np.nan)
    own = covariance[np.ix_(kept, kept)]
    if len(hessian):
        free = np.concatenate([kept, np.arange(size, len(hessian))])
        own = np.empty((len(kept), len(kept)))
        invert_fixed(routine(), np.ascontiguousarray(hessian[np.ix_(free, free)]), len(kept), own)
    held[np.ix_(kept, kept)] = own
    return held


def find_lost(
    beta: Floats, size: int, condition: float, design: ModelMatrices, thresholds: Thresholds, unit: float
) -> Bools:
    """Return which of the ``size`` parameters (α, β, ζ) run off along a direction that separates the ratings.

    It is only checked where something looks unusual.
    """
    none = np.zeros(size, dtype=np.bool_)
    if not _looks_strange(beta, condition, design.X, unit) or design.codes is None:
        return none
    plain = design.nominal is None and thresholds.family == "cumulative"
    if plain and thresholds.kind == "flexible" and overlaps(design.codes, design.X, len(thresholds.J) + 1):
        return none
    laid, edges = lay_rows(design, find_cells(design, thresholds))
    gains = list_gains(edges, laid.X, thresholds.family)
    return np.pad(_run_off(gains), (0, size - gains.shape[1]))


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


def list_gains(edges: Edges, X: Floats, family: str) -> Floats:
    """Return what each kind of rating gains from a move of (α, β); none may lose where data are separated.

    It gains by what its upper threshold rises above η, and by what its lower one falls below it; a rating in
    adjacent categories by what its q rises above that of each other category.
    """
    upper, lower, J, joined = edges
    cases = np.unique(np.column_stack([upper, lower, X]), axis=0)
    up, low, x = cases[:, 0].astype(int), cases[:, 1].astype(int), cases[:, 2:]
    if family != "adjacent":
        above = np.hstack([J[np.clip(up - 1, 0, len(J) - 1)], -x])[(up > 0) & (up <= len(J))]
        below = np.hstack([-J[np.clip(low - 1, 0, len(J) - 1)], x])[(low > 0) & (low <= len(J))]
        return np.vstack([above, below])
    gains = []
    size = int(np.flatnonzero(joined == 0)[1]) if (joined == 0).sum() > 1 else len(J)
    for first, y, row in zip(low - 1, up - low, x, strict=True):
        sums = np.vstack([np.zeros(J.shape[1]), np.cumsum(J[first : first + size], axis=0)])
        for k in range(size + 1):
            if k != y:
                gains.append(np.concatenate([sums[k] - sums[y], (y - k) * row]))
    return np.unique(np.array(gains), axis=0)


def _run_off(gains: Floats) -> Bools:
    """Return which of (α, β) take part in a direction that separates the data."""
    from scipy.optimize import linprog

    count = gains.shape[1]
    found = linprog(-gains.sum(axis=0), A_ub=-gains, b_ub=np.zeros(len(gains)), bounds=[(-1.0, 1.0)] * count)
    direction = found.x if found.success and found.x is not None else np.zeros(count)
    if (gains @ direction).sum() < 1e-7:
        return np.zeros(count, dtype=np.bool_)
    # Where the thresholds move with the effects there may be several directions: all that can move are lost.
    lost: Bools = np.abs(direction) > 1e-7
    return lost


def is_separated(design: ModelMatrices, thresholds: Thresholds) -> bool:
    """Return whether the ratings leave a fixed effect or a threshold without a finite estimate."""
    assert design.codes is not None
    plain = design.nominal is None and thresholds.family == "cumulative" and thresholds.kind == "flexible"
    if plain and overlaps(design.codes, design.X, len(thresholds.J) + 1):
        return False
    laid, edges = lay_rows(design, find_cells(design, thresholds))
    return bool(_run_off(list_gains(edges, laid.X, thresholds.family)).any())


def find_loose(L: Floats, design: ModelMatrices, thresholds: Thresholds) -> Bools:
    """Return which rows of Lβ the likelihood alone leaves without a limit: some direction that makes no
    rating less likely moves them. A prior gives them an estimate all the same.
    """
    from scipy.optimize import linprog

    loose = np.zeros(len(L), dtype=np.bool_)
    if not is_separated(design, thresholds):
        return loose
    laid, edges = lay_rows(design, find_cells(design, thresholds))
    gains = list_gains(edges, laid.X, thresholds.family)
    none, bounds = np.zeros(len(gains)), [(-1.0, 1.0)] * gains.shape[1]
    for place, row in enumerate(L):
        aim = np.concatenate([np.zeros(gains.shape[1] - len(row)), row])
        ends = [linprog(sign * aim, A_ub=-gains, b_ub=none, bounds=bounds).fun for sign in (1.0, -1.0)]
        loose[place] = min(end for end in (*ends, 0.0) if end is not None) < -1e-7
    return loose


def scaled_condition(hessian: Floats) -> float:
    """Return the condition number of the Hessian in units of each parameter's own curvature."""
    return float(condition_of(routine(), np.ascontiguousarray(hessian)))


def scaled_conditions(hessians: Floats) -> Floats:
    """Return the condition number of each Hessian of a stack, infinite where it has none."""
    return np.array([scaled_condition(hessian) for hessian in hessians])
