"""Ordinal mixed models: start, search, curvature, polish (docs/method.md, section 3)."""

from collections.abc import Iterator
from math import inf, isfinite, sqrt
from typing import NamedTuple

import numpy as np

from panelist.models.blocks.pattern import largest_block
from panelist.models.blocks.workspaces import lend_workspace
from panelist.models.formulas.grouping import Factor
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.covariance import first_entries
from panelist.models.likelihoods.laplace import LaplaceWorkspace, Ordinal, make_laplace_workspace
from panelist.models.likelihoods.link_functions import LATENT_SD, LINKS, link_code
from panelist.models.likelihoods.tangent import Directions, make_directions
from panelist.models.likelihoods.thresholds import Thresholds
from panelist.models.search.bfgs import Search, make_search
from panelist.models.search.laplace_hessian import LaplaceLanes, make_laplace_lanes
from panelist.models.search.ordinal import search_ordinal
from panelist.models.search.phases import ONCE, PHASE, POSITIVE, SearchState, begin_search
from panelist.models.search.starts import start_alpha
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


def solve_clmm(design: ModelMatrices, link: str, thresholds: Thresholds) -> Solution:
    """Return the Laplace estimates of an ordinal mixed model."""
    prepare("ordinal")
    model = make_model(design, link, thresholds)
    with single_threaded_blas(largest_block(model.pattern)), lend_workspace(make_workspace, model) as space:
        space.work.counts[:] = 0
        found = find_estimates(model, design.factors, link, thresholds, space)
        return _describe(model, design, space.work, found)


def make_model(design: ModelMatrices, link: str, thresholds: Thresholds) -> Ordinal:
    """Return the model in the form that compiled code takes."""
    assert design.codes is not None
    pattern, X, rows, columns = lay_out(design)
    return Ordinal(pattern, X, design.codes[pattern.order], link_code(link), thresholds.J, rows, columns)


def find_estimates(
    model: Ordinal, factors: tuple[Factor, ...], link: str, thresholds: Thresholds, space: OrdinalWorkspace
) -> Found:
    """Return the best optimum from several starts, of which the first nearly always does.

    The workspace is left at the optimum.
    """

    def search(scale: float) -> Iterator[Found]:
        yield _find_from(model, factors, link, thresholds, scale, space)

    tried = try_starts(search, lambda found: found.converged(len(model.codes)))
    best = min(tried, key=lambda found: found.value)
    if best is not tried[-1]:
        evaluate(model, best.point, space)
    return best


def _find_from(
    model: Ordinal,
    factors: tuple[Factor, ...],
    link: str,
    thresholds: Thresholds,
    scale: float,
    space: OrdinalWorkspace,
) -> Found:
    unit = _unit(link)
    tau = first_entries(factors, scale * unit)
    spread = sqrt(1.0 + float(tau @ tau) / unit**2)  # of the latent judgements behind the ratings
    alpha = start_alpha(model.codes, thresholds, link, spread)
    psi = np.concatenate([alpha, np.zeros(model.X.shape[1]), tau])
    found = _search(model, psi, space)
    if found.finite:
        found = _leave_saddle(model, found, space)
    if isfinite(found.value):
        found = _try_zero(model, found, space)
    return found


def _unit(link: str) -> float:
    return LATENT_SD[link] if link != "cauchit" else 1.5


def _search(model: Ordinal, start: Floats, space: OrdinalWorkspace) -> Found:
    search = make_search(start)
    progress = begin_search(len(start), columns=len(space.work.u), pausing=len(space.lanes.psi) > 0)
    value = _run(model, space, search, progress)
    finite = isfinite(value) and isfinite(float(progress.hessian.sum()))  # one nan makes the sum nan
    positive = bool(progress.marks[POSITIVE])
    return Found(value, search.point, progress.gradient, progress.hessian, search.state, finite, positive)


def _run(model: Ordinal, space: OrdinalWorkspace, search: Search, progress: SearchState) -> float:
    weight = _WEIGHT / _unit(LINKS[model.link]) ** 2
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
        other = _search(model, start, space)
        if other.value < found.value - 1e-6:
            return other
    evaluate(model, found.point, space)
    return found


def _try_zero(model: Ordinal, found: Found, space: OrdinalWorkspace) -> Found:
    """Put diagonal entries of Λ that are nearly zero at zero, if that costs nothing."""
    first = len(found.point) - len(model.tau_row)
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
    s, p = model.J.shape[1], model.X.shape[1]
    psi, hessian = found.point, found.hessian
    covariance = invert_information(hessian, s + p) if found.finite else np.full((s + p, s + p), np.nan)
    return describe(
        design,
        model,
        found,
        work.blocks,
        work.u,
        evaluations=int(work.counts[0]),
        condition=scaled_condition(hessian) if found.finite else inf,
        loglik=-found.value,
        n_parameters=len(psi),
        beta=psi[s : s + p].copy(),
        vcov=covariance[s:, s:],
        alpha=psi[:s].copy(),
        joint_vcov=covariance,
        psi=psi,
        hessian=hessian,
    )


def invert_information(hessian: Floats, fixed: int) -> Floats:
    """Return the covariance of (α, β): the inverse Hessian, variances at their boundary left out.

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
