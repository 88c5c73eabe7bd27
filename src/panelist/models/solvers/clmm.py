"""Ordinal mixed models: start, search, curvature, polish (docs/method.md, section 3)."""

from collections.abc import Callable, Iterator
from functools import partial
from math import inf, isfinite, sqrt
from typing import NamedTuple

import numpy as np

from panelist.models.blocks.pattern import largest_block
from panelist.models.blocks.workspaces import lend_workspace
from panelist.models.formulas.grouping import Factor
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.cells import family_code, find_cells, lay_rows
from panelist.models.likelihoods.covariance import first_entries
from panelist.models.likelihoods.laplace import LaplaceWorkspace, Ordinal, make_laplace_workspace
from panelist.models.likelihoods.link_functions import ADJACENT, LATENT_SD, LINKS
from panelist.models.likelihoods.priors import NO_PENALTY, Penalty, measure_penalty
from panelist.models.likelihoods.tangent import Directions, make_directions
from panelist.models.likelihoods.thresholds import Thresholds
from panelist.models.search.bfgs import Search, make_search
from panelist.models.search.laplace_hessian import LaplaceLanes, make_laplace_lanes
from panelist.models.search.ordinal import search_ordinal
from panelist.models.search.phases import ONCE, PHASE, POSITIVE, SearchState, begin_search
from panelist.models.search.starts import start_cells
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
from panelist.numerics.spectra import invert_fixed, routine

_WEIGHT = 0.8  # about the information in a rating, as a share of that in the latent judgement


class OrdinalWorkspace(NamedTuple):
    """What the solver works in; a search leaves nothing in it that the next one uses."""

    work: LaplaceWorkspace
    directions: Directions
    lanes: LaplaceLanes


def make_workspace(model: Ordinal) -> OrdinalWorkspace:
    """Return a workspace for models with the pattern and the number of thresholds of this one."""
    return OrdinalWorkspace(make_laplace_workspace(model), make_directions(model), make_laplace_lanes(model))


def solve_clmm(
    design: ModelMatrices, link: str, thresholds: Thresholds, penalty: Penalty = NO_PENALTY
) -> Solution:
    """Return the Laplace estimates of an ordinal mixed model; with a prior, its mode."""
    prepare("ordinal")
    model = make_model(design, link, thresholds)._replace(penalty=penalty)
    with single_threaded_blas(largest_block(model.pattern)), lend_workspace(make_workspace, model) as space:
        space.work.counts[:] = 0
        start = partial(start_cells, design, thresholds, link)
        found = find_estimates(model, design.factors, link, start, space)
        return _describe(model, design, space.work, found)


def make_model(design: ModelMatrices, link: str, thresholds: Thresholds) -> Ordinal:
    """Return the model in the form that compiled code takes."""
    laid, edges = lay_rows(design, find_cells(design, thresholds))
    pattern, X, rows, columns, slots = lay_out(laid)
    order = pattern.order
    return Ordinal(
        pattern,
        X,
        edges.upper[order],
        edges.lower[order],
        family_code(thresholds.family, link),
        edges.J,
        edges.joined,
        rows,
        columns,
        slots,
        np.ascontiguousarray(laid.scale.matrix[order]) if laid.scale is not None else np.empty((len(X), 0)),
        laid.scale.ridge if laid.scale is not None else np.empty((0, 0)),
    )


def find_estimates(
    model: Ordinal,
    factors: tuple[Factor, ...],
    link: str,
    start: Callable[[float], Floats],
    space: OrdinalWorkspace,
) -> Found:
    """Return the best optimum from several starts, of which the first nearly always does.

    ``start`` gives the first α for a latent spread.

    The workspace is left at the optimum.
    """

    def search(scale: float) -> Iterator[Found]:
        yield _find_from(model, factors, link, start, scale, space)

    tried = try_starts(search, lambda found: found.converged(len(model.upper)))
    best = min(tried, key=lambda found: found.value)
    if best is not tried[-1]:
        evaluate(model, best.point, space)
    return best


def _find_from(
    model: Ordinal,
    factors: tuple[Factor, ...],
    link: str,
    start: Callable[[float], Floats],
    scale: float,
    space: OrdinalWorkspace,
) -> Found:
    unit = _unit(link)
    tau = first_entries(factors, scale * unit)
    spread = sqrt(1.0 + float(tau @ tau) / unit**2)  # of the latent judgements behind the ratings
    psi = np.concatenate([start(spread), np.zeros(model.X.shape[1] + model.S.shape[1]), tau])
    found = search_from(model, psi, space)
    if found.finite:
        found = _leave_saddle(model, found, space)
    if isfinite(found.value) and not len(model.penalty.spread):  # a prior keeps spreads from zero
        found = _try_zero(model, found, space)
    return found


def _unit(link: str) -> float:
    return LATENT_SD[link] if link != "cauchit" else 1.5


def search_from(model: Ordinal, start: Floats, space: OrdinalWorkspace) -> Found:
    """Return where one search of N ends."""
    search = make_search(start)
    progress = begin_search(len(start), columns=len(space.work.u), pausing=len(space.lanes.psi) > 0)
    value = _run(model, space, search, progress)
    finite = isfinite(value) and isfinite(float(progress.hessian.sum()))  # one nan makes the sum nan
    positive, hessian = bool(progress.marks[POSITIVE]), progress.hessian
    if finite and not len(model.tau_row):
        hessian = _take_curvature(model, search.point, hessian, space)
    return Found(value, search.point, progress.gradient, hessian, search.state, finite, positive)


def _take_curvature(model: Ordinal, psi: Floats, hessian: Floats, space: OrdinalWorkspace) -> Floats:
    """Return the Hessian of a model without random effects by central differences of the exact gradient.

    It then is as good as the exact one of models that `clm` fits itself; the search takes them forward.
    """
    found = np.empty_like(hessian)
    for c, bend in enumerate(np.diag(hessian)):
        step = np.zeros(len(psi))
        step[c] = 1e-3 / sqrt(max(float(bend), 1.0))
        up, down = (evaluate(model, psi + sign * step, space)[1].copy() for sign in (1.0, -1.0))
        found[c] = (up - down) / (2.0 * step[c])
    evaluate(model, psi, space)
    return 0.5 * (found + found.T)


def _run(model: Ordinal, space: OrdinalWorkspace, search: Search, progress: SearchState) -> float:
    weight = _WEIGHT / _unit("logit" if model.link == ADJACENT else LINKS[model.link]) ** 2
    return float(search_ordinal(model, space.work, space.directions, space.lanes, search, progress, weight))


def evaluate(model: Ordinal, psi: Floats, space: OrdinalWorkspace) -> tuple[float, Floats]:
    """Return N and its gradient, by the code that is compiled already."""
    progress = begin_search(len(psi))
    progress.marks[PHASE] = ONCE
    value = _run(model, space, make_search(psi), progress)
    return value, progress.gradient


def _leave_saddle(model: Ordinal, found: Found, space: OrdinalWorkspace) -> Found:
    """Where the Hessian bends down the search is at a saddle, zero being stationary: move away."""
    if found.positive:
        return found
    values, vectors = np.linalg.eigh(found.hessian)
    if values[0] > -1e-3 * max(1.0, abs(values[-1]) * 1e-6):
        return found
    for sign in (1.0, -1.0):
        start = found.point + sign * 0.1 * vectors[:, 0]
        other = search_from(model, start, space)
        if other.value < found.value - 1e-6:
            return other
    evaluate(model, found.point, space)
    return found


def _try_zero(model: Ordinal, found: Found, space: OrdinalWorkspace) -> Found:
    """Put diagonal entries of Λ that are nearly zero at zero, if that costs nothing."""
    first = len(found.point) - 1 - int(model.tau_slot.max(initial=-1))
    small = [first + place for place in find_small(model, found.point[first:], NEARLY_ZERO)]
    if not small:
        return found
    psi = found.point.copy()
    psi[small] = 0.0
    value, gradient = evaluate(model, psi, space)
    if value <= found.value + FREE:
        return found._replace(value=value, point=psi, gradient=gradient)
    value, gradient = evaluate(model, found.point, space)
    return found._replace(value=value, gradient=gradient)


def _describe(model: Ordinal, design: ModelMatrices, work: LaplaceWorkspace, found: Found) -> Solution:
    s, p, q = model.J.shape[1], model.X.shape[1], model.S.shape[1]
    psi, hessian, size = found.point, found.hessian, s + p + q
    covariance = invert_information(hessian, size) if found.finite else np.full((size, size), np.nan)
    return describe(
        design,
        model,
        found,
        work.blocks,
        work.u,
        evaluations=int(work.counts[0]),
        condition=scaled_condition(hessian) if found.finite else inf,
        loglik=-subtract_prior(model, found),
        n_parameters=len(psi),
        beta=psi[s : s + p].copy(),
        vcov=covariance[s : s + p, s : s + p],
        alpha=psi[:s].copy(),
        zeta=psi[s + p : size].copy(),
        joint_vcov=covariance,
        psi=psi,
        hessian=hessian,
    )


def subtract_prior(model: Ordinal, found: Found) -> float:
    """Return N where a search of N − log π ended, priors of spreads included."""
    if not isfinite(found.value):
        return found.value
    s, p, q = model.J.shape[1], model.X.shape[1], model.S.shape[1]
    zeta = found.point[s + p : s + p + q]
    ridge = 0.5 * float(zeta @ model.ridge @ zeta) if len(model.ridge) else 0.0
    penalty = 0.0 if model.penalty.is_empty else measure_penalty(model.penalty, found.point)
    return found.value - ridge - penalty


def invert_information(hessian: Floats, fixed: int) -> Floats:
    """Return the covariance of (α, β, ζ): the inverse Hessian, variances at their boundary left out.

    A variance at zero is at a symmetric minimum: its cross derivatives with everything else vanish, so
    that leaving it out changes no other standard error. Flat directions among the variances (the rotation
    of a factor whose first column is zero) are left out by their eigenvalue. Takes a stack of Hessians too.
    """
    covariance = np.empty((*hessian.shape[:-2], fixed, fixed))
    if hessian.ndim == 2:
        invert_fixed(routine(), np.ascontiguousarray(hessian), fixed, covariance)
        return covariance
    for at, one in enumerate(hessian):
        invert_fixed(routine(), np.ascontiguousarray(one), fixed, covariance[at])
    return covariance
