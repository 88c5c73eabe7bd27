"""Linear mixed models by ML or REML, with what Satterthwaite's degrees of freedom need."""

from dataclasses import dataclass

import numpy as np

from panelist.models.arrays import Floats
from panelist.models.formulas.matrices import Design
from panelist.models.solvers.blocks import dense_size, find_pattern
from panelist.models.solvers.deviance import (
    TOLERANCE,
    Linear,
    LinearWorkspace,
    covariance_slopes,
    estimate_deviance,
    make_linear_workspace,
)
from panelist.models.solvers.kernel import announce_compiling
from panelist.models.solvers.metric import component_metric
from panelist.models.solvers.optimise import EVALUATIONS, ITERATIONS, REASON, REASONS, Search, make_search
from panelist.models.solvers.separation import scaled_condition
from panelist.models.solvers.solution import Optimum, Solution
from panelist.models.solvers.threads import single_threaded_blas
from panelist.models.solvers.variances import (
    describe_singular,
    first_entries,
    free_entries,
    level_effects,
    split_lambda,
)

_NEARLY_ZERO = 1e-3  # diagonal entries of Λ below this are tried at zero
_STARTS = (1.0, 0.2, 3.0)


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """How the covariance of β̂ itself varies: φ = (θ, σ), A = Var(φ̂), slopes ∂Var(β̂)/∂φ (k, p, p)."""

    slopes: Floats
    A: Floats


def solve_lmm(design: Design, reml: bool) -> tuple[Solution, Uncertainty]:
    """Return the estimates of a linear mixed model, and the uncertainty of their covariance."""
    announce_compiling(estimate_deviance)
    pattern = find_pattern(design.factors)
    rows, columns = free_entries(design.factors)
    # Everything is scaled by the spread of y, so that tolerances mean the same on every scale.
    unit = float(np.std(design.y)) or 1.0
    X = np.ascontiguousarray(design.X[pattern.order])
    model = Linear(pattern, X, design.y[pattern.order] / unit, rows, columns, reml)
    with single_threaded_blas(dense_size(pattern)):
        work = make_linear_workspace(model)
        search, value, curvature = _search(model, work, design)
        slopes = np.empty((len(search.point), X.shape[1], X.shape[1]))
        covariance_slopes(model, work, slopes)
    return _describe(model, design, work, search, value, curvature, slopes, unit)


def _search(model: Linear, work: LinearWorkspace, design: Design) -> tuple[Search, float, Floats]:
    """Return the best search, its value, and the curvature there; other starts are tried only in need."""
    tried = []
    for scale in _STARTS:
        tried.append(_search_from(model, work, first_entries(design.factors, scale)))
        if np.abs(tried[-1][0].gradient).max() < 1e-3:
            break
    best = min(tried, key=lambda found: found[1])
    theta, value = best[0].point, best[1]
    small = (model.tau_row == model.tau_column) & (np.abs(theta) < _NEARLY_ZERO) & (theta != 0.0)
    if small.any():  # put what is nearly zero at zero, if that costs nothing
        tried.append(_search_from(model, work, np.where(small, 0.0, theta)))
        best = tried[-1] if tried[-1][1] <= value + 1e-5 else best
    if best is not tried[-1]:  # the workspace must be settled where the answer is
        tried.append(_search_from(model, work, best[0].point))
        best = tried[-1]
    for found in tried[:-1]:
        best[0].state[[ITERATIONS, EVALUATIONS]] += found[0].state[[ITERATIONS, EVALUATIONS]]
    return best


def _search_from(model: Linear, work: LinearWorkspace, start: Floats) -> tuple[Search, float, Floats]:
    search = make_search(
        start, component_metric(model.pattern, model.tau_row, model.tau_column, start, work.ones)
    )
    curvature = np.full((len(start) + 1, len(start) + 1), np.nan)
    value = float(estimate_deviance(model, work, search, curvature))
    return search, value, curvature


def _describe(
    model: Linear,
    design: Design,
    work: LinearWorkspace,
    search: Search,
    value: float,
    curvature: Floats,
    slopes: Floats,
    unit: float,
) -> tuple[Solution, Uncertainty]:
    n, p = model.X.shape
    count = n - p if model.reml else n
    sigma = float(np.sqrt(work.scalars[0] / count))
    lambdas = split_lambda(design.factors, search.point)
    root = np.linalg.inv(np.tril(work.R))
    relative = root.T @ root  # (X'H̃⁻¹X)⁻¹
    vcov = sigma**2 * relative
    slopes_phi = np.concatenate([sigma**2 * slopes, 2.0 * sigma * relative[None]]) * unit**2
    values, vectors = np.linalg.eigh(curvature)
    good = values > 1e-8
    A = 2.0 * (vectors[:, good] / values[good]) @ vectors[:, good].T
    largest = float(np.abs(search.gradient).max())
    optimum = Optimum(
        method="BFGS with the exact gradient, then Newton",
        converged=bool(np.isfinite(value)) and largest < 1e-3 * max(1.0, 1e-4 * n),
        reason=REASONS[float(search.state[REASON])],
        steps=int(search.state[ITERATIONS]),
        evaluations=int(search.state[EVALUATIONS]),
        gradient=largest,
        condition=scaled_condition(curvature),
        tolerance=TOLERANCE,
    )
    singular = describe_singular(design.factors, lambdas)
    modes, deviations = level_effects(design.factors, search.point, model.pattern, work.blocks, work.u)
    solution = Solution(
        loglik=-float(value) - count * float(np.log(unit)),
        n_parameters=p + len(search.point) + 1,
        beta=work.beta * unit,
        vcov=vcov * unit**2,
        sigma=sigma * unit,
        lambdas=lambdas,
        modes=tuple(mode * unit for mode in modes),
        deviations=tuple(deviation * sigma * unit for deviation in deviations),
        optimum=optimum,
        notes=tuple(singular),
        singular=bool(singular),
    )
    return solution, Uncertainty(slopes_phi, A)
