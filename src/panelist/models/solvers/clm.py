"""Ordinal models without random effects: damped Newton on (α, β) with the exact Hessian.

Spreads that differ, and adjacent categories, are searched as a mixed model is, with no random effects in it.
"""

from dataclasses import replace

import numpy as np

from panelist.models.formulas.grouping import Factor
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.cells import find_cells, lay_rows
from panelist.models.likelihoods.laplace import Ordinal
from panelist.models.likelihoods.link_functions import (
    A_TILT,
    B_TILT,
    D1,
    N_ENTRIES,
    A,
    B,
    fill_rows,
    link_code,
)
from panelist.models.likelihoods.priors import NO_PENALTY, Penalty, add_penalty, measure_penalty
from panelist.models.likelihoods.thresholds import Thresholds
from panelist.models.search.starts import start_cells
from panelist.models.solvers.clmm import make_model, make_workspace, search_from, subtract_prior
from panelist.models.solvers.estimates import record_search
from panelist.models.solvers.separation import scaled_condition
from panelist.models.solvers.solution import Optimum, Solution
from panelist.numerics.arrays import Floats, Ints, Longs
from panelist.numerics.compile_ahead import prepare
from panelist.numerics.kernel import kernel
from panelist.numerics.normal import FAR

_STEPS, _TOLERANCE = 100, 1e-12


def solve_clm(
    design: ModelMatrices, link: str, thresholds: Thresholds, penalty: Penalty = NO_PENALTY
) -> Solution:
    """Return the maximum likelihood estimates of an ordinal model without random effects; with a prior, its
    mode.
    """
    if design.scale is not None or thresholds.family == "adjacent":
        return _search_flat(design, link, thresholds, penalty)
    prepare("clm")
    laid, edges = lay_rows(design, find_cells(design, thresholds))
    p, s = design.X.shape[1], edges.J.shape[1]
    psi = np.concatenate([start_cells(design, thresholds, link, 1.0), np.zeros(p)])
    gradient, hessian = np.empty(s + p), np.empty((s + p, s + p))
    value, steps, found = find_optimum(
        link_code(link), *edges, laid.X, penalty, psi, gradient, hessian, _STEPS, _TOLERANCE
    )
    covariance = np.linalg.pinv(hessian, hermitian=True)
    optimum = Optimum(
        method="Newton with the exact Hessian",
        converged=bool(found),
        reason="the predicted gain of another step is below the tolerance"
        if found
        else "the limit on steps was reached, or no step improves the likelihood",
        steps=int(steps),
        evaluations=int(steps) + 1,
        gradient=float(np.abs(gradient).max()),
        condition=scaled_condition(hessian),
        tolerance=_TOLERANCE,
    )
    return Solution(
        loglik=-float(value) + (0.0 if penalty.is_empty else measure_penalty(penalty, psi)),
        n_parameters=s + p,
        beta=psi[s:],
        vcov=covariance[s:, s:],
        alpha=psi[:s],
        joint_vcov=covariance,
        optimum=optimum,
    )


def make_flat_model(design: ModelMatrices, link: str, thresholds: Thresholds) -> Ordinal:
    """Return the model as a mixed one whose only random effect is always zero, and no τ."""
    n = len(design.X)
    nobody = Factor("", ("",), np.zeros(n, dtype=np.int32), ("",), np.zeros((n, 1)), ((0, 1),))
    none = np.empty(0, dtype=np.int64)
    model = make_model(replace(design, factors=(nobody,)), link, thresholds)
    return model._replace(tau_row=none, tau_column=none, tau_slot=none)


def _search_flat(design: ModelMatrices, link: str, thresholds: Thresholds, penalty: Penalty) -> Solution:
    """Return the estimates by the search of mixed models."""
    prepare("ordinal")
    model = make_flat_model(design, link, thresholds)._replace(penalty=penalty)
    s, p, q = model.J.shape[1], model.X.shape[1], model.S.shape[1]
    space = make_workspace(model)
    start = np.concatenate([start_cells(design, thresholds, link, 1.0), np.zeros(p + q)])
    found = search_from(model, start, space)
    nothing = np.full((s + p + q,) * 2, np.nan)
    covariance: Floats = nothing
    if found.finite:
        covariance = np.linalg.pinv(found.hessian, hermitian=True).astype(np.float64)
    return Solution(
        loglik=-subtract_prior(model, found),
        n_parameters=s + p + q,
        beta=found.point[s : s + p].copy(),
        vcov=covariance[s : s + p, s : s + p],
        alpha=found.point[:s].copy(),
        zeta=found.point[s + p :].copy(),
        joint_vcov=covariance,
        optimum=record_search(model, found, int(space.work.counts[0])),
        psi=found.point,
        hessian=found.hessian,
    )


@kernel
def _measure(
    link: int, upper: Ints, lower: Ints, J: Floats, joined: Longs, X: Floats, psi: Floats, rows: Floats
) -> float:
    (last, s), p = J.shape, X.shape[1]
    edges = np.zeros(last + 2)
    edges[0], edges[last + 1] = -FAR, FAR
    for k in range(last):
        for a in range(s):
            edges[k + 1] += J[k, a] * psi[a]
        if joined[k] == 1 and not edges[k + 1] > edges[k]:
            return np.inf
    eta = np.zeros(len(upper))
    for i in range(len(upper)):
        for b in range(p):
            eta[i] += X[i, b] * psi[s + b]
    return fill_rows(link, edges[upper], edges[lower], eta, rows)


@kernel
def _derive(
    above: Ints, below: Ints, J: Floats, X: Floats, rows: Floats, gradient: Floats, hessian: Floats
) -> None:
    """Fill gradient and Hessian of −log L: each row is a function of a = t_y − η and b = t_{y−1} − η."""
    last, s = J.shape
    p = X.shape[1]
    gradient[:] = 0.0
    hessian[:] = 0.0
    upper, lower = np.zeros(s + p), np.zeros(s + p)
    for i in range(len(above)):
        high, low = above[i] - 1, below[i] - 1
        for c in range(s):
            upper[c] = J[high, c] if 0 <= high < last else 0.0
            lower[c] = J[low, c] if 0 <= low < last else 0.0
        for c in range(p):
            upper[s + c] = lower[s + c] = -X[i, c]
        a, b = rows[A, i], rows[B, i]
        aa = a * a - (rows[A_TILT, i] + rows[D1, i] * a)
        bb = b * b + rows[D1, i] * b - rows[B_TILT, i]
        for c in range(s + p):
            gradient[c] += b * lower[c] - a * upper[c]
            by_a = aa * upper[c] - a * b * lower[c]
            by_b = bb * lower[c] - a * b * upper[c]
            for d in range(c + 1):
                hessian[c, d] += by_a * upper[d] + by_b * lower[d]
    for c in range(s + p):
        for d in range(c):
            hessian[d, c] = hessian[c, d]


@kernel
def find_optimum(
    link: int,
    upper: Ints,
    lower: Ints,
    J: Floats,
    joined: Longs,
    X: Floats,
    penalty: Penalty,
    psi: Floats,
    gradient: Floats,
    hessian: Floats,
    max_steps: int,
    tolerance: float,
) -> tuple[float, int, bool]:
    """Move ψ to the optimum, fill gradient and Hessian; return the minimum, the steps, and if it is one.

    It is that of −log L, less log π where there is a prior.
    """
    rows = np.empty((N_ENTRIES, len(upper)))
    k, nothing = len(psi), np.empty((0, 0))
    value = _measure(link, upper, lower, J, joined, X, psi, rows)
    value += add_penalty(penalty, psi, np.zeros(k), nothing)
    for step in range(max_steps):
        _derive(upper, lower, J, X, rows, gradient, hessian)
        add_penalty(penalty, psi, gradient, hessian)
        ridge = 0.0
        while True:
            push = np.linalg.solve(hessian + ridge * np.eye(k), gradient)
            gain = 0.0
            for c in range(k):
                gain += push[c] * gradient[c]
            if gain >= 0.0:
                break
            ridge = max(10.0 * ridge, 1e-3 * np.abs(hessian).max())  # cauchit is not concave everywhere
        if gain < tolerance:
            return value, step, True
        size = 1.0
        while True:
            trial = psi - size * push
            reached = _measure(link, upper, lower, J, joined, X, trial, rows)
            reached += add_penalty(penalty, trial, np.zeros(k), nothing)
            if reached <= value - 1e-4 * size * gain + 1e-13 * abs(value):
                break
            size *= 0.5
            if size < 1e-10:
                _measure(link, upper, lower, J, joined, X, psi, rows)
                return value, step, False
        psi[:] = trial
        value = reached
    return value, max_steps, False
