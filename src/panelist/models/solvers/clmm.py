"""Ordinal mixed models: start, search, curvature, polish (docs/method.md, section 3)."""

import numpy as np

from panelist.models.arrays import Floats
from panelist.models.formulas.matrices import Design
from panelist.models.solvers.blocks import dense_size, find_pattern
from panelist.models.solvers.estimate import TOLERANCE, estimate
from panelist.models.solvers.kernel import announce_compiling
from panelist.models.solvers.laplace import FINAL, FIRST, Ordinal, Workspace, evaluate, make_workspace
from panelist.models.solvers.links import LATENT_SD, link_code
from panelist.models.solvers.metric import first_metric
from panelist.models.solvers.optimise import ITERATIONS, LOST, REASON, REASONS, Search, make_search
from panelist.models.solvers.separation import scaled_condition
from panelist.models.solvers.solution import Optimum, Solution
from panelist.models.solvers.start import start_alpha
from panelist.models.solvers.threads import single_threaded_blas
from panelist.models.solvers.thresholds import Thresholds
from panelist.models.solvers.variances import (
    describe_singular,
    first_entries,
    free_entries,
    level_effects,
    split_lambda,
)

_NEARLY_ZERO = 1e-3  # diagonal entries of Λ below this are tried at zero
_STARTS = (1.0, 0.2, 3.0)  # factors on the starting values of τ


def solve_clmm(design: Design, link: str, thresholds: Thresholds) -> Solution:
    """Return the Laplace estimates of an ordinal mixed model."""
    announce_compiling(estimate)
    model = make_model(design, link, thresholds)
    found: list[Solution] = []
    with single_threaded_blas(dense_size(model.pattern)):
        for scale in _STARTS:
            found.append(_solve_from(model, design, link, thresholds, scale))
            if found[-1].optimum.converged:
                break
    return max(found, key=lambda solution: solution.loglik)


def make_model(design: Design, link: str, thresholds: Thresholds) -> Ordinal:
    """Return the model in the form that compiled code takes."""
    assert design.codes is not None
    pattern = find_pattern(design.factors)
    rows, columns = free_entries(design.factors)
    X = np.ascontiguousarray(design.X[pattern.order])
    return Ordinal(pattern, X, design.codes[pattern.order], link_code(link), thresholds.J, rows, columns)


def _solve_from(model: Ordinal, design: Design, link: str, thresholds: Thresholds, scale: float) -> Solution:
    unit = LATENT_SD[link] if link != "cauchit" else 1.5
    tau = first_entries(design.factors, scale * unit)
    spread = float(np.sqrt(1.0 + (tau**2).sum() / unit**2))
    alpha = start_alpha(model.codes, thresholds, link, spread)
    start = np.concatenate([alpha, np.zeros(model.X.shape[1]), tau])
    work = make_workspace(model)
    search = make_search(start, np.eye(len(start)))
    gradient, hessian = np.zeros(len(start)), np.full((len(start), len(start)), np.nan)
    value = _search(model, work, search, gradient, hessian)
    if np.isfinite(value):
        value = _leave_saddle(model, work, search, gradient, hessian, value)
        value = _try_zero(model, work, search, gradient, value)
    return _describe(model, design, work, search, gradient, hessian, value)


def _search(model: Ordinal, work: Workspace, search: Search, gradient: Floats, hessian: Floats) -> float:
    work.u[:] = 0.0
    work.counts[2] = 0
    first = evaluate(model, search.trial, work, search.trial_gradient, FIRST)
    if not np.isfinite(first):
        search.state[REASON] = LOST
        return float("inf")
    search.metric[:] = first_metric(model, search.trial, work)
    return float(estimate(model, work, search, first, gradient, hessian))


def _leave_saddle(
    model: Ordinal, work: Workspace, search: Search, gradient: Floats, hessian: Floats, value: float
) -> float:
    """Where the Hessian bends down the search sits on a saddle, zero being stationary: move off."""
    if not np.all(np.isfinite(hessian)):
        return value
    values, vectors = np.linalg.eigh(hessian)
    if values[0] > -1e-3 * max(1.0, abs(values[-1]) * 1e-6):
        return value
    for sign in (1.0, -1.0):
        trial = make_search(search.point + sign * 0.1 * vectors[:, 0], np.eye(len(search.point)))
        slope, curvature = gradient.copy(), hessian.copy()
        reached = _search(model, work, trial, slope, curvature)
        if reached < value - 1e-6:
            search.point[:] = trial.point
            search.state[:] = trial.state
            gradient[:], hessian[:] = slope, curvature
            return reached
    evaluate(model, search.point, work, gradient, FINAL)
    return value


def _try_zero(model: Ordinal, work: Workspace, search: Search, gradient: Floats, value: float) -> float:
    """Put diagonal entries of Λ that are nearly zero at zero, if that costs nothing."""
    first = len(search.point) - len(model.tau_row)
    on_diagonal = np.flatnonzero(model.tau_row == model.tau_column) + first
    small = [k for k in on_diagonal if 0.0 < abs(search.point[k]) < _NEARLY_ZERO]
    if not small:
        return value
    trial, slope = search.point.copy(), gradient.copy()
    trial[small] = 0.0
    reached = evaluate(model, trial, work, slope, FINAL)
    if reached <= value + 1e-5:
        search.point[:] = trial
        gradient[:] = slope
        return float(reached)
    return float(evaluate(model, search.point, work, gradient, FINAL))


def _describe(
    model: Ordinal,
    design: Design,
    work: Workspace,
    search: Search,
    gradient: Floats,
    hessian: Floats,
    value: float,
) -> Solution:
    s, p = model.J.shape[1], model.X.shape[1]
    psi = search.point
    lambdas = split_lambda(design.factors, psi[s + p :])
    finite = bool(np.isfinite(value)) and bool(np.all(np.isfinite(hessian)))
    covariance = _invert(hessian, s + p) if finite else np.full((s + p, s + p), np.nan)
    largest = float(np.abs(gradient).max()) if finite else float("nan")
    converged = finite and largest < 1e-3 * max(1.0, 1e-4 * len(model.codes))
    reason = REASONS[float(search.state[REASON])]
    optimum = Optimum(
        method="BFGS with the exact gradient, then Newton",
        converged=converged,
        reason=reason,
        steps=int(search.state[ITERATIONS]),
        evaluations=int(work.counts[0]),
        gradient=largest,
        condition=scaled_condition(hessian) if finite else float("inf"),
        tolerance=TOLERANCE,
    )
    modes, deviations = level_effects(design.factors, psi[s + p :], model.pattern, work.blocks, work.u)
    singular = describe_singular(design.factors, lambdas)
    return Solution(
        loglik=-float(value),
        n_parameters=len(psi),
        beta=psi[s : s + p].copy(),
        vcov=covariance[s:, s:],
        alpha=psi[:s].copy(),
        joint_vcov=covariance,
        lambdas=lambdas,
        modes=modes,
        deviations=deviations,
        optimum=optimum,
        notes=tuple(singular),
        singular=bool(singular),
    )


def _invert(hessian: Floats, fixed: int) -> Floats:
    """Return the covariance of (α, β): the inverse Hessian, variances at their boundary left out.

    A variance at zero is at a symmetric minimum: its cross derivatives with everything else vanish, so
    that leaving it out changes no other standard error. Flat directions among the variances (the rotation
    of a factor whose first column is zero) are left out by their eigenvalue.
    """
    cross, components = hessian[:fixed, fixed:], hessian[fixed:, fixed:]
    scale = np.sqrt(np.maximum(np.abs(np.diag(components)), 1e-6 * np.abs(np.diag(hessian)).max()))
    values, vectors = np.linalg.eigh(components / np.outer(scale, scale))
    good = values > 1e-6
    across = (cross / scale) @ vectors[:, good]
    information = hessian[:fixed, :fixed] - (across / values[good]) @ across.T
    own = np.sqrt(np.abs(np.diag(information)))
    own[own == 0.0] = 1.0
    values, vectors = np.linalg.eigh(information / np.outer(own, own))
    covariance: Floats = (vectors / np.maximum(values, 1e-14)) @ vectors.T / np.outer(own, own)
    return covariance
