"""Ordinal mixed models: start, search, curvature, polish (docs/method.md, section 3)."""

from math import inf, isfinite, nan, sqrt
from typing import NamedTuple

import numpy as np

from panelist.models.arrays import Floats
from panelist.models.compiling import prepare
from panelist.models.formulas.grouping import Factor
from panelist.models.formulas.matrices import Design
from panelist.models.solvers.blocks import find_pattern, largest_block
from panelist.models.solvers.columns import LaneRoom, make_lane_room
from panelist.models.solvers.estimate import ONCE, PHASE, POSITIVE, TOLERANCE, Progress, make_progress
from panelist.models.solvers.following import Directions, make_directions
from panelist.models.solvers.laplace import Ordinal, Workspace, make_workspace
from panelist.models.solvers.links import LATENT_SD, LINKS, link_code
from panelist.models.solvers.optimise import ITERATIONS, REASON, REASONS, Search, make_search
from panelist.models.solvers.rooms import lend_room
from panelist.models.solvers.search_ordinal import search_ordinal
from panelist.models.solvers.separation import scaled_condition
from panelist.models.solvers.solution import Optimum, Solution
from panelist.models.solvers.spectra import invert_fixed, routine
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
_WEIGHT = 0.8  # about the information in a rating, of that in the latent judgement itself


class Room(NamedTuple):
    """What the solver works in; a search leaves nothing in it that the next one looks at."""

    work: Workspace
    directions: Directions
    lanes: LaneRoom


def make_room(model: Ordinal) -> Room:
    """Return room for models with the pattern and the number of thresholds of this one."""
    return Room(make_workspace(model), make_directions(model), make_lane_room(model))


class Found(NamedTuple):
    """Where a search ended: N and its slopes at ψ; the Hessian is nan where it could not be taken."""

    value: float
    psi: Floats
    gradient: Floats
    hessian: Floats
    state: Floats  # of the search
    finite: bool  # whether there are estimates at all
    positive: bool  # whether the Hessian bends up in every direction

    def converged(self, n: int) -> bool:
        """Whether the slopes vanish, for ``n`` ratings."""
        return self.finite and self.steepest < 1e-3 * max(1.0, 1e-4 * n)

    @property
    def steepest(self) -> float:
        """The largest absolute slope; nan where one is."""
        slopes = self.gradient.tolist()
        return max(map(abs, slopes)) if all(map(isfinite, slopes)) else nan


def solve_clmm(design: Design, link: str, thresholds: Thresholds) -> Solution:
    """Return the Laplace estimates of an ordinal mixed model."""
    prepare("ordinal", "errors")
    model = make_model(design, link, thresholds)
    with single_threaded_blas(largest_block(model.pattern)), lend_room(make_room, model) as room:
        room.work.counts[:] = 0
        found = find_estimates(model, design.factors, link, thresholds, room)
        return _describe(model, design, room.work, found)


def make_model(design: Design, link: str, thresholds: Thresholds) -> Ordinal:
    """Return the model in the form that compiled code takes."""
    assert design.codes is not None
    pattern = find_pattern(design.factors)
    rows, columns = free_entries(design.factors)
    X = np.ascontiguousarray(design.X[pattern.order])
    return Ordinal(pattern, X, design.codes[pattern.order], link_code(link), thresholds.J, rows, columns)


def find_estimates(
    model: Ordinal, factors: tuple[Factor, ...], link: str, thresholds: Thresholds, room: Room
) -> Found:
    """Return the best optimum from several starts, of which the first nearly always does.

    The workspace is left at the optimum.
    """
    tried: list[Found] = []
    for scale in _STARTS:
        tried.append(_find_from(model, factors, link, thresholds, scale, room))
        if tried[-1].converged(len(model.codes)):
            break
    best = min(tried, key=lambda found: found.value)
    if best is not tried[-1]:
        _evaluate(model, best.psi, room)
    return best


def _find_from(
    model: Ordinal,
    factors: tuple[Factor, ...],
    link: str,
    thresholds: Thresholds,
    scale: float,
    room: Room,
) -> Found:
    unit = _unit(link)
    tau = first_entries(factors, scale * unit)
    spread = sqrt(1.0 + float(tau @ tau) / unit**2)  # of the latent judgements behind the ratings
    alpha = start_alpha(model.codes, thresholds, link, spread)
    psi = np.concatenate([alpha, np.zeros(model.X.shape[1]), tau])
    found = _search(model, psi, room)
    if found.finite:
        found = _leave_saddle(model, found, room)
    if isfinite(found.value):
        found = _try_zero(model, found, room)
    return found


def _unit(link: str) -> float:
    return LATENT_SD[link] if link != "cauchit" else 1.5


def _search(model: Ordinal, start: Floats, room: Room) -> Found:
    search = make_search(start)
    progress = make_progress(len(start), len(room.work.u), pausing=len(room.lanes.psi) > 0)
    value = _run(model, room, search, progress)
    finite = isfinite(value) and isfinite(float(progress.hessian.sum()))  # one nan makes nan of the sum
    positive = bool(progress.numbers[POSITIVE])
    return Found(value, search.point, progress.gradient, progress.hessian, search.state, finite, positive)


def _run(model: Ordinal, room: Room, search: Search, progress: Progress) -> float:
    weight = _WEIGHT / _unit(LINKS[model.link]) ** 2
    return float(search_ordinal(model, room.work, room.directions, room.lanes, search, progress, weight))


def _evaluate(model: Ordinal, psi: Floats, room: Room) -> tuple[float, Floats]:
    """Return N and its gradient, by the code that is compiled already."""
    progress = make_progress(len(psi), 0)
    progress.numbers[PHASE] = ONCE
    value = _run(model, room, make_search(psi), progress)
    return value, progress.gradient


def _leave_saddle(model: Ordinal, found: Found, room: Room) -> Found:
    """Where the Hessian bends down the search sits on a saddle, zero being stationary: move off."""
    if found.positive:
        return found
    values, vectors = np.linalg.eigh(found.hessian)
    if values[0] > -1e-3 * max(1.0, abs(values[-1]) * 1e-6):
        return found
    for sign in (1.0, -1.0):
        start = found.psi + sign * 0.1 * vectors[:, 0]
        other = _search(model, start, room)
        if other.value < found.value - 1e-6:
            return other
    _evaluate(model, found.psi, room)
    return found


def _try_zero(model: Ordinal, found: Found, room: Room) -> Found:
    """Put diagonal entries of Λ that are nearly zero at zero, if that costs nothing."""
    first = len(found.psi) - len(model.tau_row)
    entries = zip(model.tau_row.tolist(), model.tau_column.tolist(), found.psi[first:].tolist(), strict=True)
    small = [
        first + e
        for e, (row, column, size) in enumerate(entries)
        if row == column and 0.0 < abs(size) < _NEARLY_ZERO
    ]
    if not small:
        return found
    psi = found.psi.copy()
    psi[small] = 0.0
    value, gradient = _evaluate(model, psi, room)
    if value <= found.value + 1e-5:
        return found._replace(value=value, psi=psi, gradient=gradient)
    value, gradient = _evaluate(model, found.psi, room)
    return found._replace(value=value, gradient=gradient)


def _describe(model: Ordinal, design: Design, work: Workspace, found: Found) -> Solution:
    s, p = model.J.shape[1], model.X.shape[1]
    psi, hessian = found.psi, found.hessian
    lambdas = split_lambda(design.factors, psi[s + p :])
    covariance = invert_information(hessian, s + p) if found.finite else np.full((s + p, s + p), np.nan)
    optimum = Optimum(
        method="BFGS with the exact gradient, then Newton",
        converged=found.converged(len(model.codes)),
        reason=REASONS[float(found.state[REASON])],
        steps=int(found.state[ITERATIONS]),
        evaluations=int(work.counts[0]),
        gradient=found.steepest if found.finite else nan,
        condition=scaled_condition(hessian) if found.finite else inf,
        tolerance=TOLERANCE,
    )
    modes, deviations = level_effects(design.factors, psi[s + p :], model.pattern, work.blocks, work.u)
    singular = describe_singular(design.factors, lambdas)
    return Solution(
        loglik=-found.value,
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
