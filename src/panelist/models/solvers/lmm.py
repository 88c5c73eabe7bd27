"""Linear mixed models by ML or REML, with what Satterthwaite's degrees of freedom need."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from panelist.models.arrays import Floats
from panelist.models.formulas.grouping import Factor
from panelist.models.formulas.matrices import Design
from panelist.models.solvers.blocks import dense_size, find_pattern
from panelist.models.solvers.deviance import (
    COLUMN,
    TOLERANCE,
    Linear,
    LinearWorkspace,
    covariance_slopes,
    estimate_deviance,
    make_linear_workspace,
    make_progress,
)
from panelist.models.solvers.deviance_columns import LinearLanes, fill_deviance_columns, make_linear_lanes
from panelist.models.solvers.kernel import announce_compiling
from panelist.models.solvers.metric import component_metric
from panelist.models.solvers.optimise import EVALUATIONS, ITERATIONS, REASON, REASONS, make_search
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


class Room(NamedTuple):
    """What the solver works in; a search leaves nothing in it that the next one looks at."""

    work: LinearWorkspace
    lanes: LinearLanes
    metrics: dict[float | None, Floats]  # by the scale of the start


def make_room(model: Linear) -> Room:
    """Return room for all responses to this model's design."""
    return Room(make_linear_workspace(model), make_linear_lanes(model), {})


class Found(NamedTuple):
    """Where a search ended: −log L and its slopes at θ, and the Hessian of the deviance over (θ, σ)."""

    value: float
    theta: Floats
    gradient: Floats
    curvature: Floats
    state: Floats  # of the search

    def converged(self, n: int) -> bool:
        """Whether the slopes vanish, for ``n`` ratings."""
        flat = float(np.abs(self.gradient).max()) < 1e-3 * max(1.0, 1e-4 * n)
        return flat and bool(np.isfinite(self.value))


class Moments(NamedTuple):
    """What is said about β, and how well the variances behind it are known."""

    beta: Floats
    vcov: Floats
    sigma: float
    uncertainty: Uncertainty


def solve_lmm(design: Design, reml: bool) -> tuple[Solution, Uncertainty]:
    """Return the estimates of a linear mixed model, and the uncertainty of their covariance."""
    announce_compiling(estimate_deviance)
    model, unit = set_response(make_linear(design, reml), design.y)
    with single_threaded_blas(dense_size(model.pattern)):
        room = make_room(model)
        found = find_estimates(model, design.factors, room)
        moments = find_moments(model, room.work, found, unit)
    return _describe(model, design, room.work, found, moments, unit), moments.uncertainty


def make_linear(design: Design, reml: bool) -> Linear:
    """Return the model in the form that compiled code takes, still without its response."""
    pattern = find_pattern(design.factors)
    rows, columns = free_entries(design.factors)
    X = np.ascontiguousarray(design.X[pattern.order])
    return Linear(pattern, X, np.zeros(len(X)), rows, columns, reml)


def set_response(model: Linear, y: Floats) -> tuple[Linear, float]:
    """Return the model of this response, and the unit that it is counted in.

    Everything is scaled by the spread of y, so that tolerances mean the same on every scale.
    """
    unit = float(np.std(y)) or 1.0
    return model._replace(y=y[model.pattern.order] / unit), unit


def find_estimates(model: Linear, factors: tuple[Factor, ...], room: Room) -> Found:
    """Return the best optimum, the workspace settled there; other starts are tried only in need."""
    tried: list[Found] = []
    for scale in _STARTS:
        tried.append(_find_from(model, room, first_entries(factors, scale), scale))
        if np.abs(tried[-1].gradient).max() < 1e-3:
            break
    best = min(tried, key=lambda found: found.value)
    theta = best.theta
    small = (model.tau_row == model.tau_column) & (np.abs(theta) < _NEARLY_ZERO) & (theta != 0.0)
    if small.any():  # put what is nearly zero at zero, if that costs nothing
        tried.append(_find_from(model, room, np.where(small, 0.0, theta)))
        best = tried[-1] if tried[-1].value <= best.value + 1e-5 else best
    if best is not tried[-1]:  # the workspace must be settled where the answer is
        tried.append(_find_from(model, room, best.theta))
        best = tried[-1]
    for found in tried[:-1]:
        best.state[[ITERATIONS, EVALUATIONS]] += found.state[[ITERATIONS, EVALUATIONS]]
    return best


def _find_from(model: Linear, room: Room, start: Floats, scale: float | None = None) -> Found:
    """Search from ``start``; at a given scale it depends on the design alone, and so does its metric."""
    metric = room.metrics.get(scale)
    if metric is None:
        metric = component_metric(model.pattern, model.tau_row, model.tau_column, start, 1.0)
    if scale is not None:
        room.metrics[scale] = metric
    search = make_search(start, metric)
    progress = make_progress(len(start))
    pausing = len(room.lanes.theta) > 0
    value = float(estimate_deviance(model, room.work, search, progress, pausing))
    if progress.numbers[2] == COLUMN:
        fill_deviance_columns(model, search.point, progress, room.lanes)
        value = float(estimate_deviance(model, room.work, search, progress, pausing))
    return Found(value, search.point, search.gradient, progress.curvature, search.state)


def find_moments(model: Linear, work: LinearWorkspace, found: Found, unit: float) -> Moments:
    """Return the fixed effects and their covariance in the units of y; the workspace is at the optimum."""
    n, p = model.X.shape
    slopes = np.empty((len(found.theta), p, p))
    covariance_slopes(model, work, slopes)
    sigma = float(np.sqrt(work.scalars[0] / (n - p if model.reml else n)))
    root = np.linalg.inv(np.tril(work.R))
    relative = root.T @ root  # (X'H̃⁻¹X)⁻¹
    slopes_phi = np.concatenate([sigma**2 * slopes, 2.0 * sigma * relative[None]]) * unit**2
    values, vectors = np.linalg.eigh(found.curvature)
    good = values > 1e-8
    A = 2.0 * (vectors[:, good] / values[good]) @ vectors[:, good].T
    vcov = (sigma * unit) ** 2 * relative
    return Moments(work.beta * unit, vcov, sigma * unit, Uncertainty(slopes_phi, A))


def log_likelihood(model: Linear, found: Found, unit: float) -> float:
    """Return the log-likelihood, restricted for REML, in the units of y."""
    n, p = model.X.shape
    count: int = n - p if model.reml else n
    return float(-found.value - count * np.log(unit))


def _describe(
    model: Linear, design: Design, work: LinearWorkspace, found: Found, moments: Moments, unit: float
) -> Solution:
    n, p = model.X.shape
    lambdas = split_lambda(design.factors, found.theta)
    optimum = Optimum(
        method="BFGS with the exact gradient, then Newton",
        converged=found.converged(n),
        reason=REASONS[float(found.state[REASON])],
        steps=int(found.state[ITERATIONS]),
        evaluations=int(found.state[EVALUATIONS]),
        gradient=float(np.abs(found.gradient).max()),
        condition=scaled_condition(found.curvature),
        tolerance=TOLERANCE,
    )
    singular = describe_singular(design.factors, lambdas)
    modes, deviations = level_effects(design.factors, found.theta, model.pattern, work.blocks, work.u)
    return Solution(
        loglik=log_likelihood(model, found, unit),
        n_parameters=p + len(found.theta) + 1,
        beta=moments.beta,
        vcov=moments.vcov,
        sigma=moments.sigma,
        lambdas=lambdas,
        modes=tuple(mode * unit for mode in modes),
        deviations=tuple(deviation * moments.sigma for deviation in deviations),
        optimum=optimum,
        notes=tuple(singular),
        singular=bool(singular),
    )
