"""Linear mixed models by ML or REML, with what Satterthwaite's degrees of freedom need."""

from dataclasses import dataclass
from math import isfinite, log, nan, sqrt
from typing import NamedTuple

import numpy as np

from panelist.models.arrays import Floats
from panelist.models.compiling import prepare
from panelist.models.formulas.grouping import Factor
from panelist.models.formulas.matrices import Design
from panelist.models.solvers.blocks import find_pattern, largest_block
from panelist.models.solvers.deviance import Linear, LinearWorkspace, make_linear_workspace
from panelist.models.solvers.deviance_columns import LinearLanes, make_linear_lanes
from panelist.models.solvers.estimate_linear import AT_ZERO, RETURN, TOLERANCE, make_progress
from panelist.models.solvers.optimise import EVALUATIONS, ITERATIONS, REASON, REASONS, make_search
from panelist.models.solvers.rooms import lend_room
from panelist.models.solvers.rows import spread_of
from panelist.models.solvers.search_linear import search_linear
from panelist.models.solvers.separation import scaled_condition
from panelist.models.solvers.solution import Optimum, Solution
from panelist.models.solvers.spectra import fill_moments, routine
from panelist.models.solvers.threads import single_threaded_blas
from panelist.models.solvers.variances import (
    describe_singular,
    first_entries,
    free_entries,
    level_effects,
    split_lambda,
)

_NEARLY_ZERO = 1e-3  # diagonal entries of Λ below this are put at zero, if that costs nothing to speak of
_SMALL = 0.03  # below this they are tried at zero, and stay there if it is no worse
_STEEP = 0.2  # below this the curvature changes so fast that its columns are taken once more, from both sides
_FLAT = 1e-3  # largest slope of an optimum
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


def make_room(model: Linear) -> Room:
    """Return room for all responses to this model's design."""
    return Room(make_linear_workspace(model), make_linear_lanes(model))


class Found(NamedTuple):
    """Where a search ended: −log L and its slopes at θ, and the Hessian of the deviance over (θ, σ)."""

    value: float
    theta: Floats
    gradient: Floats
    curvature: Floats
    slopes: Floats  # ∂(X'H̃⁻¹X)⁻¹/∂θ, with room for σ's
    state: Floats  # of the search

    def converged(self, n: int) -> bool:
        """Whether the slopes vanish, for ``n`` ratings."""
        return self.steepest < 1e-3 * max(1.0, 1e-4 * n) and isfinite(self.value)

    @property
    def steepest(self) -> float:
        """The largest absolute slope; nan where one is."""
        slopes = self.gradient.tolist()
        return max(map(abs, slopes)) if all(map(isfinite, slopes)) else nan


class Settled(NamedTuple):
    """The fixed effects and the spread of the residuals at an optimum, in units of the spread of y."""

    beta: Floats
    R: Floats  # lower Cholesky factor of X'H̃⁻¹X
    sigma: float
    slopes: Floats  # ∂(X'H̃⁻¹X)⁻¹/∂θ
    curvature: Floats


class Moments(NamedTuple):
    """What is said about β, and how well the variances behind it are known."""

    beta: Floats
    vcov: Floats
    sigma: float
    uncertainty: Uncertainty


def solve_lmm(design: Design, reml: bool) -> tuple[Solution, Uncertainty]:
    """Return the estimates of a linear mixed model, and the uncertainty of their covariance."""
    prepare("linear")
    model, unit = set_response(make_linear(design, reml), design.y)
    with single_threaded_blas(largest_block(model.pattern)), lend_room(make_room, model) as room:
        found = find_estimates(model, design.factors, room)
        moments = find_moments(read_settled(model, room.work, found), unit)
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
    unit = spread_of(np.ascontiguousarray(y, dtype=np.float64)) or 1.0
    return model._replace(y=y[model.pattern.order] / unit), unit


def find_estimates(model: Linear, factors: tuple[Factor, ...], room: Room) -> Found:
    """Return the best optimum, the workspace settled there; other starts are tried only in need."""
    tried: list[Found] = []
    for scale in _STARTS:
        tried.append(_find_from(model, room, first_entries(factors, scale)))
        if tried[-1].steepest < _FLAT:
            break
        # Near a corner of the parameters the search slows down before it is there: look on with a new metric.
        tried.append(_find_from(model, room, tried[-1].theta, near=tried[-1]))
        if tried[-1].steepest < _FLAT:
            break
    best = min(tried, key=lambda found: found.value)
    for small in _sets_near_zero(model, best.theta):
        zero = best.theta.copy()
        zero[small] = 0.0
        size = np.abs(best.theta[small]).max()
        at_zero = _settle_at(model, room, zero, best) if size < AT_ZERO else None
        tried.append(at_zero or _find_from(model, room, zero, near=best))
        allowed = 1e-5 if size < _NEARLY_ZERO else 1e-11 * (1.0 + abs(best.value))
        if tried[-1].value <= best.value + allowed:
            best = tried[-1]
            break
    if best is not tried[-1]:  # the workspace must be settled where the answer is
        tried.append(_settle_at(model, room, best.theta, best))
        best = tried[-1]
    for found in tried[:-1]:
        for place in (ITERATIONS, EVALUATIONS):
            best.state[place] += found.state[place]
    return _sharpen(model, room, best)


def _sets_near_zero(model: Linear, theta: Floats) -> list[list[int]]:
    """Return which spreads are worth trying at zero: all small ones at once, then one by one."""
    diagonal = np.flatnonzero(model.tau_row == model.tau_column).tolist()
    small = [e for e in diagonal if 0.0 < abs(theta[e]) < _SMALL]
    return [small, *([e] for e in small)] if len(small) > 1 else [small] if small else []


def _sharpen(model: Linear, room: Room, found: Found) -> Found:
    """Return what was found, with the curvature of small spreads from both sides, the workspace settled.

    One-sided differences err by about 1.5 step / θ there, and with them the degrees of freedom: by 4 % at
    θ = .004. The gradient is that of the deviance profiled over σ, so what σ takes up is put back.
    """
    theta, curvature = found.theta, found.curvature
    small = [
        e for e in np.flatnonzero(model.tau_row == model.tau_column).tolist() if 0.0 < abs(theta[e]) < _STEEP
    ]
    if not small or not np.isfinite(curvature).all():
        return found
    whole = curvature.copy()
    for e in small:
        step = abs(theta[e]) / 100.0
        ends = []
        for sign in (1.0, -1.0):
            moved = theta.copy()
            moved[e] += sign * step
            ends.append(_settle_at(model, room, moved, found).gradient)
        column = 2.0 * (ends[0] - ends[1]) / (2.0 * step)  # of the deviance, −2 log L
        column = column + whole[-1, :-1] * whole[-1, e] / whole[-1, -1]
        whole[:-1, e] = whole[e, :-1] = column
    back = _settle_at(model, room, theta, found)
    return back._replace(curvature=whole, state=found.state)


def _find_from(model: Linear, room: Room, start: Floats, near: Found | None = None) -> Found:
    """Search from ``start``, with the metric that the design gives, or that of an optimum ``near`` by."""
    r = len(start)
    metric = None if near is None else _curvature_metric(near)
    search = make_search(start, np.full((r, r), np.nan) if metric is None else metric)
    progress = make_progress(r, model.X.shape[1])
    value = float(search_linear(model, room.work, room.lanes, search, progress))
    return Found(value, search.point, search.gradient, progress.curvature, progress.slopes, search.state)


def _settle_at(model: Linear, room: Room, theta: Floats, near: Found) -> Found:
    """Return what was found so near that its curvature holds here too, with the workspace settled here."""
    search, progress = make_search(theta, np.eye(len(theta))), make_progress(len(theta), model.X.shape[1])
    progress.numbers[2] = RETURN
    value = float(search_linear(model, room.work, room.lanes, search, progress))
    search.state[REASON], search.state[EVALUATIONS] = near.state[REASON], 1.0
    return Found(value, search.point, search.gradient, near.curvature, progress.slopes, search.state)


def _curvature_metric(found: Found) -> Floats | None:
    """Return the inverse Hessian of −log L over θ, σ profiled out; None where it is no metric."""
    whole = found.curvature
    hessian = 0.5 * (whole[:-1, :-1] - np.outer(whole[-1, :-1], whole[-1, :-1]) / whole[-1, -1])
    if not np.isfinite(hessian).all():
        return None
    values, vectors = np.linalg.eigh(hessian)
    if values[0] <= 1e-6 * values[-1]:
        return None
    metric: Floats = np.ascontiguousarray((vectors / values) @ vectors.T)
    return metric


def read_settled(model: Linear, work: LinearWorkspace, found: Found) -> Settled:
    """Return what the workspace holds of the optimum, before another search takes its place."""
    n, p = model.X.shape
    sigma = sqrt(max(float(work.scalars[0]), 0.0) / (n - p if model.reml else n))
    return Settled(work.beta.copy(), work.R.copy(), sigma, found.slopes, found.curvature)


def find_moments(settled: Settled, unit: float) -> Moments:
    """Return the fixed effects of a fit and their covariance, in the units of its y."""
    R, curvature, slopes = settled.R, settled.curvature, settled.slopes
    vcov, A, sizes = np.empty(R.shape), np.empty(curvature.shape), np.array([settled.sigma, unit])
    fill_moments(routine(), R, curvature, sizes, vcov, slopes, A)
    return Moments(settled.beta * unit, vcov, settled.sigma * unit, Uncertainty(slopes, A))


def log_likelihood(model: Linear, found: Found, unit: float) -> float:
    """Return the log-likelihood, restricted for REML, in the units of y."""
    n, p = model.X.shape
    count: int = n - p if model.reml else n
    return -found.value - count * log(unit)


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
        gradient=found.steepest,
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
        modes=tuple(np.multiply(mode, unit, out=mode) for mode in modes),
        deviations=tuple(np.multiply(deviation, moments.sigma, out=deviation) for deviation in deviations),
        optimum=optimum,
        notes=tuple(singular),
        singular=bool(singular),
    )
