"""Adaptive Gauss-Hermite quadrature for an ordinal model with one scalar random effect.

Given ψ = (α, β, τ) the levels j of the grouping factor are independent. With v_i = z_i τ and
h_j(u) = −Σ_i log p_i(x_i'β + v_i u) + ½u², the mode û_j, H_j = h_j''(û_j), s = √(2/H_j) and nodes (x_h, w_h),

    log L_j = log s − ½ log 2π + log Σ_h exp(log w_h + x_h² − h_j(û_j + s x_h))

One node is the Laplace approximation; more nodes converge to the integral itself
(Pinheiro & Bates 1995, doi:10.1080/10618600.1995.10474663). Rows are sorted by level.
"""

import math
from typing import NamedTuple

import numpy as np

from panelist.core.errors import BadModel
from panelist.models.arrays import Floats, Ints, Longs
from panelist.models.formulas.matrices import Design
from panelist.models.solvers.kernel import kernel
from panelist.models.solvers.links import (
    A_BEND,
    A_TILT,
    B_BEND,
    B_TILT,
    D1,
    LATENT_SD,
    N_ENTRIES,
    W_SLOPE,
    A,
    B,
    W,
    fill_rows,
    link_code,
)
from panelist.models.solvers.optimise import (
    EVALUATIONS,
    ITERATIONS,
    REASON,
    REASONS,
    Search,
    begin,
    judge,
    make_search,
    propose,
)
from panelist.models.solvers.separation import scaled_condition
from panelist.models.solvers.solution import Optimum, Solution
from panelist.models.solvers.start import start_alpha
from panelist.models.solvers.thresholds import Thresholds
from panelist.models.solvers.variances import describe_singular

MOST_POINTS = 100  # numpy's nodes are tested up to here
_TOLERANCE = 1e-11  # predicted gain in log-likelihood at which the search ends
_MAX_STEPS = 500
_NEARLY_ZERO = 1e-3  # τ below this is tried at zero
_STARTS = (1.0, 0.2, 3.0)  # factors on the starting value of τ
_NEWTON_STEPS = 100


class Scalar(NamedTuple):
    """An ordinal model with one scalar random effect; nothing in it changes during a fit."""

    start: Longs  # (J + 1,) rows start[j]:start[j+1] belong to level j
    z: Floats  # (n,)
    X: Floats  # (n, p)
    codes: Ints  # (n,)
    link: int
    J: Floats  # (K − 1, s): thresholds are Jα
    nodes: Floats  # (h,)
    logs: Floats  # (h,) log w_h + x_h²


def make_scalar_model(design: Design, link: str, thresholds: Thresholds, points: int) -> Scalar:
    """Return the model with its rows sorted by level; BadModel where quadrature cannot be had."""
    if points > MOST_POINTS:
        raise BadModel(
            f"Adaptive quadrature takes at most {MOST_POINTS} points; {points} were asked for. "
            "Ten or twenty are enough for almost any data."
        )
    if len(design.factors) != 1 or len(design.factors[0].columns) != 1:
        found = ", ".join(f"{f.name} ({', '.join(f.columns)})" for f in design.factors)
        raise BadModel(
            "Adaptive quadrature needs exactly one random effect, such as (1 | rater); this model has "
            f"{found}. Take quadrature=1, the Laplace approximation, or keep a single scalar term."
        )
    assert design.codes is not None
    (factor,) = design.factors
    order = np.argsort(factor.index, kind="stable")
    start = np.zeros(len(factor.levels) + 1, dtype=np.int64)
    np.cumsum(np.bincount(factor.index, minlength=len(factor.levels)), out=start[1:])
    nodes, weights = np.polynomial.hermite.hermgauss(points)
    return Scalar(
        start=start,
        z=np.ascontiguousarray(factor.Z[order, 0]),
        X=np.ascontiguousarray(design.X[order]),
        codes=design.codes[order],
        link=link_code(link),
        J=thresholds.J,
        nodes=nodes,
        logs=np.log(weights) + nodes**2,
    )


def solve_by_quadrature(design: Design, link: str, thresholds: Thresholds, points: int) -> Solution:
    """Return the estimates of an ordinal model with one scalar random effect, by adaptive quadrature."""
    model = make_scalar_model(design, link, thresholds, points)
    unit = LATENT_SD[link] if link != "cauchit" else 1.5
    best: tuple[Search, Floats] | None = None
    for scale in _STARTS:
        tau = 0.6 * scale * unit
        alpha = start_alpha(model.codes, thresholds, link, float(np.hypot(1.0, tau / unit)))
        point = np.concatenate([alpha, np.zeros(model.X.shape[1]), [tau]])
        search, modes = make_search(point, np.eye(len(point))), np.zeros(len(model.start) - 1)
        _minimise(model, modes, search, _TOLERANCE, _MAX_STEPS)
        if best is None or search.state[0] < best[0].state[0]:
            best = search, modes
        if np.isfinite(best[0].state[0]) and np.abs(best[0].gradient).max() < 1e-3:
            break
    assert best is not None
    search, modes = best
    _try_zero(model, modes, search)
    return _describe(model, design, modes, search)


def points_of(method: str) -> int:
    """Return the number of points from the name that a fit gives its method.

    >>> points_of("adaptive quadrature with 10 points")
    10
    """
    return next(int(word) for word in method.split() if word.isdigit())


@kernel
def _minimise(model: Scalar, modes: Floats, search: Search, tolerance: float, max_steps: int) -> None:
    begin(search, evaluate_quadrature(model, search.trial, modes, search.trial_gradient))
    for c in range(len(search.point)):  # a first step of moderate length in every direction
        search.metric[c, c] = 1.0 / max(1.0, 2.0 * abs(search.gradient[c]), 0.2 * len(model.codes))
    while propose(search, tolerance, max_steps):
        judge(search, evaluate_quadrature(model, search.trial, modes, search.trial_gradient))


@kernel
def _find_mode(
    model: Scalar, j: int, thresholds: Floats, fixed: Floats, tau: float, u: float, rows: Floats
) -> tuple[float, float]:
    """Return û_j and H_j, with the row table at û_j; H_j is nan where there is no mode."""
    first, last = model.start[j], model.start[j + 1]
    codes, z, linear = model.codes[first:last], model.z[first:last], fixed[first:last]
    eta = np.empty(last - first)
    h = np.inf
    for start in (u, 0.0):
        u = start
        for i in range(len(eta)):
            eta[i] = linear[i] + z[i] * tau * u
        h = fill_rows(model.link, codes, thresholds, eta, rows) + 0.5 * u * u
        if np.isfinite(h):
            break
    if not np.isfinite(h):
        return u, np.nan
    for _ in range(_NEWTON_STEPS):
        slope, bend, safe = u, 1.0, 1.0
        for i in range(len(eta)):
            v = z[i] * tau
            slope += v * rows[D1, i]
            bend += v * v * rows[W, i]
            safe += v * v * max(rows[W, i], 0.0)  # only cauchit has weights below zero
        push = slope / (bend if bend > 0.0 else safe)
        if abs(push * slope) < 1e-24 * (1.0 + u * u):
            return u, bend if bend > 0.0 else np.nan
        step = 1.0
        while True:
            trial = u - step * push
            for i in range(len(eta)):
                eta[i] = linear[i] + z[i] * tau * trial
            reached = fill_rows(model.link, codes, thresholds, eta, rows) + 0.5 * trial * trial
            if reached <= h - 1e-4 * step * push * slope + 1e-14 * (1.0 + abs(h)):
                break
            step *= 0.5
            if step < 1e-10:
                return u, np.nan
        if abs(trial - u) < 1e-15 * (1.0 + abs(u)):
            return trial, bend if bend > 0.0 else np.nan
        u, h = trial, reached
    return u, np.nan


@kernel
def evaluate_quadrature(model: Scalar, psi: Floats, modes: Floats, gradient: Floats) -> float:
    """Return −log L(ψ) by quadrature and fill its exact gradient; ``modes`` holds û and is moved along."""
    s, p, last = model.J.shape[1], model.X.shape[1], model.J.shape[0]
    thresholds = model.J @ psi[:s]
    for k in range(1, last):
        if not thresholds[k] > thresholds[k - 1]:
            return np.inf
    tau = psi[s + p]
    fixed = model.X @ psi[s : s + p]
    longest = 0
    for j in range(len(modes)):
        longest = max(longest, model.start[j + 1] - model.start[j])
    rows, eta = np.empty((N_ENTRIES, longest)), np.empty(longest)
    size = last + p + 1  # derivatives by (t, β, τ); turned into (α, β, τ) at the end
    total, at_node = np.zeros(size), np.zeros((len(model.nodes), size))
    heights, slopes = np.empty(len(model.nodes)), np.empty(len(model.nodes))
    shift, widen = np.zeros(size), np.zeros(size)
    value = 0.0
    for j in range(len(modes)):
        first, stop = model.start[j], model.start[j + 1]
        u, H = _find_mode(model, j, thresholds, fixed, tau, modes[j], rows)
        if not H > 0.0:
            return np.inf
        modes[j] = u
        _follow_mode(model, j, tau, u, H, rows, shift, widen)
        scale = math.sqrt(2.0 / H)
        top = -np.inf
        for h in range(len(model.nodes)):
            here = u + scale * model.nodes[h]
            for i in range(first, stop):
                eta[i - first] = fixed[i] + model.z[i] * tau * here
            lost = fill_rows(model.link, model.codes[first:stop], thresholds, eta[: stop - first], rows)
            heights[h] = model.logs[h] - lost - 0.5 * here * here
            if not np.isfinite(lost):  # a node so far out that its share is nothing
                heights[h] = -np.inf
                continue
            top = max(top, heights[h])
            slopes[h] = _slope_at(model, j, tau, here, rows, at_node[h])
        share = 0.0
        for h in range(len(model.nodes)):
            share += math.exp(heights[h] - top)
        value -= math.log(scale) - 0.9189385332046727 + top + math.log(share)
        by_centre, by_scale = 0.0, 1.0 / scale
        for h in range(len(model.nodes)):
            weight = math.exp(heights[h] - top) / share
            if weight > 0.0:
                by_centre -= weight * slopes[h]
                by_scale -= weight * slopes[h] * model.nodes[h]
                for c in range(size):
                    total[c] += weight * at_node[h, c]
        for c in range(size):
            total[c] -= by_centre * shift[c] + by_scale * widen[c]
    for a in range(s):
        gradient[a] = 0.0
        for k in range(last):
            gradient[a] += model.J[k, a] * total[k]
    gradient[s:] = total[last:]
    return value


@kernel
def _slope_at(model: Scalar, j: int, tau: float, u: float, rows: Floats, out: Floats) -> float:
    """Fill ∂h_j/∂(t, β, τ) at u; return ∂h_j/∂u."""
    last, p = model.J.shape[0], model.X.shape[1]
    out[:] = 0.0
    slope, first = u, model.start[j]
    for i in range(first, model.start[j + 1]):
        k, d = model.codes[i], rows[D1, i - first]
        if k < last:
            out[k] -= rows[A, i - first]
        if k > 0:
            out[k - 1] += rows[B, i - first]
        for b in range(p):
            out[last + b] += d * model.X[i, b]
        out[last + p] += d * model.z[i] * u
        slope += d * model.z[i] * tau
    return slope


@kernel
def _follow_mode(
    model: Scalar, j: int, tau: float, u: float, H: float, rows: Floats, shift: Floats, widen: Floats
) -> None:
    """Fill how the mode and the scale √(2/H) move with (t, β, τ); the row table is at the mode."""
    last, p = model.J.shape[0], model.X.shape[1]
    shift[:] = 0.0  # first ∂h'/∂·, then divided by −H
    widen[:] = 0.0  # first ∂H/∂·
    third, first = 0.0, model.start[j]
    for i in range(first, model.start[j + 1]):
        r, k, z = i - first, model.codes[i], model.z[i]
        v = z * tau
        third += v * v * v * rows[W_SLOPE, r]
        if k < last:
            shift[k] += v * rows[A_TILT, r]
            widen[k] += v * v * rows[A_BEND, r]
        if k > 0:
            shift[k - 1] += v * rows[B_TILT, r]
            widen[k - 1] += v * v * rows[B_BEND, r]
        for b in range(p):
            shift[last + b] += v * rows[W, r] * model.X[i, b]
            widen[last + b] += v * v * rows[W_SLOPE, r] * model.X[i, b]
        shift[last + p] += z * rows[D1, r] + v * rows[W, r] * z * u
        widen[last + p] += 2.0 * z * v * rows[W, r] + v * v * rows[W_SLOPE, r] * z * u
    for c in range(len(shift)):
        shift[c] /= -H
        widen[c] = -0.5 * math.sqrt(2.0 / H) / H * (widen[c] + third * shift[c])


def _try_zero(model: Scalar, modes: Floats, search: Search) -> None:
    """Put τ at zero if it is nearly there and that costs nothing."""
    if 0.0 < abs(search.point[-1]) < _NEARLY_ZERO:
        trial, slope = search.point.copy(), np.empty(len(search.point))
        trial[-1] = 0.0
        if evaluate_quadrature(model, trial, modes, slope) <= search.state[0] + 1e-5:
            search.point[:] = trial


def _describe(model: Scalar, design: Design, modes: Floats, search: Search) -> Solution:
    s, p = model.J.shape[1], model.X.shape[1]
    psi, gradient = search.point, np.full(len(search.point), np.nan)
    value = float(evaluate_quadrature(model, psi, modes, gradient))
    hessian = curvature_at(model, psi, modes)
    finite = bool(np.isfinite(value)) and bool(np.all(np.isfinite(hessian)))
    # A variance at zero is at a symmetric minimum: it tells nothing about the others, and is left out.
    used = hessian if psi[-1] != 0.0 else hessian[:-1, :-1]
    covariance = np.full((s + p, s + p), np.nan)
    if finite:
        covariance = np.linalg.pinv(used, hermitian=True)[: s + p, : s + p]
        polished = psi.copy()
        polished[: len(used)] -= np.linalg.pinv(used, hermitian=True) @ gradient[: len(used)]
        slope = gradient.copy()
        reached = float(evaluate_quadrature(model, polished, modes, slope))
        if reached <= value + 1e-9 * (1.0 + abs(value)) and np.abs(slope).max() < np.abs(gradient).max():
            psi, value, gradient = polished, reached, slope
    largest = float(np.abs(gradient).max())
    bends = level_curvatures(model, psi, modes)
    lambdas = (np.array([[abs(psi[-1])]]),)
    singular = describe_singular(design.factors, lambdas)
    return Solution(
        loglik=-value,
        n_parameters=len(psi),
        beta=psi[s : s + p].copy(),
        vcov=covariance[s:, s:],
        alpha=psi[:s].copy(),
        joint_vcov=covariance,
        lambdas=lambdas,
        modes=((psi[-1] * modes)[:, None],),
        deviations=((abs(psi[-1]) / np.sqrt(bends))[:, None],),
        optimum=Optimum(
            method="BFGS with the exact gradient, then Newton",
            converged=finite and largest < 1e-3 * max(1.0, 1e-4 * len(model.codes)),
            reason=REASONS[float(search.state[REASON])],
            steps=int(search.state[ITERATIONS]),
            evaluations=int(search.state[EVALUATIONS]),
            gradient=largest,
            condition=scaled_condition(used),
            tolerance=_TOLERANCE,
        ),
        notes=tuple(singular),
        singular=bool(singular),
    )


def curvature_at(model: Scalar, psi: Floats, modes: Floats) -> Floats:
    """Return the Hessian of −log L by central differences of the exact gradient."""
    k = len(psi)
    hessian, up, down = np.empty((k, k)), np.empty(k), np.empty(k)
    for c in range(k):
        step = np.zeros(k)
        step[c] = 1e-4
        ends = [
            evaluate_quadrature(model, psi + step, modes, up),
            evaluate_quadrature(model, psi - step, modes, down),
        ]
        hessian[c] = (up - down) / 2e-4 if np.all(np.isfinite(ends)) else np.nan
    return 0.5 * (hessian + hessian.T)


def level_curvatures(model: Scalar, psi: Floats, modes: Floats) -> Floats:
    """Return H_j at the mode of each level."""
    s, p = model.J.shape[1], model.X.shape[1]
    thresholds, fixed = model.J @ psi[:s], model.X @ psi[s : s + p]
    rows = np.empty((N_ENTRIES, int(np.diff(model.start).max())))
    return np.array(
        [
            _find_mode(model, j, thresholds, fixed, float(psi[-1]), float(modes[j]), rows)[1]
            for j in range(len(modes))
        ]
    )
