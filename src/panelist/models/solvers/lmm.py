"""Linear mixed models by ML or REML, with what Satterthwaite's degrees of freedom need."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from panelist.models.blocks.pattern import largest_block
from panelist.models.blocks.workspaces import lend_workspace
from panelist.models.formulas.grouping import Factor
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.covariance import first_entries
from panelist.models.likelihoods.deviance import DevianceWorkspace, Linear, make_deviance_workspace
from panelist.models.search.bfgs import EVALUATIONS, ITERATIONS, REASON, Search, make_search
from panelist.models.search.deviance_hessian import DevianceLanes, make_deviance_lanes
from panelist.models.search.linear import search_linear
from panelist.models.search.phases import AT_ZERO, ONCE, PHASE, SearchState, begin_search
from panelist.models.solvers.estimates import (
    FREE,
    NEARLY_ZERO,
    Found,
    describe,
    find_small,
    lay_out,
    try_starts,
)
from panelist.models.solvers.separation import scaled_condition
from panelist.models.solvers.solution import Solution
from panelist.numerics.arrays import Floats
from panelist.numerics.blas_threads import single_threaded_blas
from panelist.numerics.compile_ahead import prepare
from panelist.numerics.rows import spread_of
from panelist.numerics.spectra import fill_moments, routine

_SMALL = 0.03  # below this they are tried at zero, and stay there if it is no worse
_STEEP = 0.2  # below this the curvature changes so fast that its columns are taken once more, from both sides
_FLAT = 1e-3  # largest slope of an optimum


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """How the covariance of β̂ itself varies: φ = (θ, σ), A = Var(φ̂), slopes ∂Var(β̂)/∂φ (k, p, p)."""

    slopes: Floats
    A: Floats


class LinearWorkspace(NamedTuple):
    """What the solver works in; a search leaves nothing in it that the next one uses."""

    work: DevianceWorkspace
    lanes: DevianceLanes


def make_workspace(model: Linear) -> LinearWorkspace:
    """Return a workspace for all responses to this model's design."""
    return LinearWorkspace(make_deviance_workspace(model), make_deviance_lanes(model))


class Settled(NamedTuple):
    """The fixed effects and the spread of the residuals at an optimum, in units of the spread of y."""

    beta: Floats
    R: Floats  # lower Cholesky factor of X'H̃⁻¹X
    sigma: float
    slopes: Floats  # ∂(X'H̃⁻¹X)⁻¹/∂θ
    curvature: Floats


class LinearMoments(NamedTuple):
    """What is said about β, and how well the variances behind it are known."""

    beta: Floats
    vcov: Floats
    sigma: float
    uncertainty: Uncertainty


def solve_lmm(design: ModelMatrices, reml: bool) -> tuple[Solution, Uncertainty]:
    """Return the estimates of a linear mixed model, and the uncertainty of their covariance."""
    prepare("linear")
    model, unit = set_response(make_linear(design, reml), design.y)
    with single_threaded_blas(largest_block(model.pattern)), lend_workspace(make_workspace, model) as space:
        found = find_estimates(model, design.factors, space)
        moments = find_moments(read_settled(model, space.work, found), unit)
        return _describe(model, design, space.work, found, moments, unit), moments.uncertainty


def make_linear(design: ModelMatrices, reml: bool) -> Linear:
    """Return the model in the form that compiled code takes, still without its response."""
    pattern, X, rows, columns, slots = lay_out(design)
    return Linear(pattern, X, np.zeros(len(X)), rows, columns, slots, reml)


def set_response(model: Linear, y: Floats) -> tuple[Linear, float]:
    """Return the model of this response, and its unit.

    Everything is scaled by the spread of y, so that tolerances mean the same on every scale.
    """
    unit = spread_of(np.ascontiguousarray(y, dtype=np.float64)) or 1.0
    return model._replace(y=y[model.pattern.order] / unit), unit


def find_estimates(model: Linear, factors: tuple[Factor, ...], space: LinearWorkspace) -> Found:
    """Return the best optimum, the workspace settled there; other starts are tried only where needed."""

    def search(scale: float) -> Iterator[Found]:
        found = _find_from(model, space, first_entries(factors, scale))
        yield found
        # Near a corner of the parameters the search slows down before it gets there: continue with a new
        # metric.
        yield _find_from(model, space, found.point, near=found)

    tried = try_starts(search, lambda found: found.steepest < _FLAT)
    best = min(tried, key=lambda found: found.value)
    for small in _sets_near_zero(model, best.point):
        zero = best.point.copy()
        zero[small] = 0.0
        size = np.abs(best.point[small]).max()
        at_zero = _settle_at(model, space, zero, best) if size < AT_ZERO else None
        tried.append(at_zero or _find_from(model, space, zero, near=best))
        allowed = FREE if size < NEARLY_ZERO else 1e-11 * (1.0 + abs(best.value))
        if tried[-1].value <= best.value + allowed:
            best = tried[-1]
            break
    if best is not tried[-1]:  # the workspace must be settled where the answer is
        tried.append(_settle_at(model, space, best.point, best))
        best = tried[-1]
    for found in tried[:-1]:
        for place in (ITERATIONS, EVALUATIONS):
            best.state[place] += found.state[place]
    return _sharpen(model, space, best)


def _sets_near_zero(model: Linear, theta: Floats) -> list[list[int]]:
    """Return which spreads are worth trying at zero: all small ones at once, then one by one."""
    small = find_small(model, theta, _SMALL)
    return [small, *([e] for e in small)] if len(small) > 1 else [small] if small else []


def _sharpen(model: Linear, space: LinearWorkspace, found: Found) -> Found:
    """Return what was found, with the curvature of small spreads from both sides, the workspace settled.

    One-sided differences err by about 1.5 step / θ there, and with them the degrees of freedom: by 4 % at
    θ = .004. The gradient is that of the deviance profiled over σ, so what σ absorbs is added back.
    """
    theta, hessian = found.point, found.hessian
    small = find_small(model, theta, _STEEP)
    if not small or not np.isfinite(hessian).all():
        return found
    whole = hessian.copy()
    for e in small:
        step = abs(theta[e]) / 100.0
        ends = []
        for sign in (1.0, -1.0):
            moved = theta.copy()
            moved[e] += sign * step
            ends.append(_settle_at(model, space, moved, found).gradient)
        column = 2.0 * (ends[0] - ends[1]) / (2.0 * step)  # of the deviance, −2 log L
        column = column + whole[-1, :-1] * whole[-1, e] / whole[-1, -1]
        whole[:-1, e] = whole[e, :-1] = column
    back = _settle_at(model, space, theta, found)
    return back._replace(hessian=whole, state=found.state)


def _find_from(model: Linear, space: LinearWorkspace, start: Floats, near: Found | None = None) -> Found:
    """Search from ``start``, with the metric that the design gives, or that of an optimum ``near`` by."""
    r = len(start)
    metric = None if near is None else _curvature_metric(near)
    search = make_search(start, np.full((r, r), np.nan) if metric is None else metric)
    progress = begin_search(r, sigma=1, fixed=model.X.shape[1])
    value = float(search_linear(model, space.work, space.lanes, search, progress))
    return _read_end(value, search, progress, progress.hessian)


def _settle_at(model: Linear, space: LinearWorkspace, theta: Floats, near: Found) -> Found:
    """Return what was found so near that its curvature holds here too, with the workspace settled here."""
    search = make_search(theta, np.eye(len(theta)))
    progress = begin_search(len(theta), sigma=1, fixed=model.X.shape[1])
    progress.marks[PHASE] = ONCE
    value = float(search_linear(model, space.work, space.lanes, search, progress))
    search.state[REASON], search.state[EVALUATIONS] = near.state[REASON], 1.0
    return _read_end(value, search, progress, near.hessian)


def _read_end(value: float, search: Search, progress: SearchState, hessian: Floats) -> Found:
    return Found(value, search.point, search.gradient, hessian, search.state, slopes=progress.slopes)


def _curvature_metric(found: Found) -> Floats | None:
    """Return the inverse Hessian of −log L over θ, σ profiled out; None where it is not a metric."""
    whole = found.hessian
    hessian = 0.5 * (whole[:-1, :-1] - np.outer(whole[-1, :-1], whole[-1, :-1]) / whole[-1, -1])
    if not np.isfinite(hessian).all():
        return None
    values, vectors = np.linalg.eigh(hessian)
    if values[0] <= 1e-6 * values[-1]:
        return None
    metric: Floats = np.ascontiguousarray((vectors / values) @ vectors.T)
    return metric


def read_settled(model: Linear, work: DevianceWorkspace, found: Found) -> Settled:
    """Return what the workspace holds of the optimum, before another search takes its place."""
    n, p = model.X.shape
    sigma = sqrt(max(float(work.scalars[0]), 0.0) / (n - p if model.reml else n))
    R = work.R.copy()
    np.fill_diagonal(R, 1.0 / np.diag(R))  # which is kept inverted
    return Settled(work.beta.copy(), R, sigma, found.slopes, found.hessian)


def find_moments(settled: Settled, unit: float) -> LinearMoments:
    """Return the fixed effects of a fit and their covariance, in the units of its y."""
    R, curvature, slopes = settled.R, settled.curvature, settled.slopes
    vcov, A, sizes = np.empty(R.shape), np.empty(curvature.shape), np.array([settled.sigma, unit])
    fill_moments(routine(), R, curvature, sizes, vcov, slopes, A)
    return LinearMoments(settled.beta * unit, vcov, settled.sigma * unit, Uncertainty(slopes, A))


def log_likelihood(model: Linear, found: Found, unit: float) -> float:
    """Return the log-likelihood, restricted for REML, in the units of y."""
    n, p = model.X.shape
    count: int = n - p if model.reml else n
    return -found.value - count * log(unit)


def _describe(
    model: Linear,
    design: ModelMatrices,
    work: DevianceWorkspace,
    found: Found,
    moments: LinearMoments,
    unit: float,
) -> Solution:
    return describe(
        design,
        model,
        found,
        work.blocks,
        work.u,
        evaluations=int(found.state[EVALUATIONS]),
        condition=scaled_condition(found.hessian),
        unit=unit,
        sigma=moments.sigma,
        loglik=log_likelihood(model, found, unit),
        n_parameters=model.X.shape[1] + len(found.point) + 1,
        beta=moments.beta,
        vcov=moments.vcov,
    )
