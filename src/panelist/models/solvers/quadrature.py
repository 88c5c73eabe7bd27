"""Adaptive quadrature for an ordinal model with one scalar random effect.

Given ψ = (α, β, τ) the levels j of the grouping factor are independent. With v_i = z_i τ and
h_j(u) = −Σ_i log p_i(x_i'β + v_i u) + ½u², the likelihood of a level is

    L_j = (2π)^(−½) ∫ exp(−h_j(u)) du

which the trapezoidal rule gives to ten digits and more, with nodes outwards from the mode û_j (see
integration). The step adapts to each level, so that no number of points is too small. A rule that is so
nearly exact has the slopes of the integral itself: those of h_j, averaged. Levels with the same ratings of
the same rows have the same integral, which is taken once.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from panelist.core.errors import BadModel
from panelist.models.arrays import Floats, Ints, Longs
from panelist.models.formulas.matrices import Design
from panelist.models.solvers.integration import (
    E_A,
    E_B,
    E_PULL,
    MOST_NODES,
    N_MEANS,
    count_nodes,
    integrate_line,
)
from panelist.models.solvers.kernel import kernel
from panelist.models.solvers.links import D1, LATENT_SD, N_ENTRIES, W, fill_rows, link_code
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

MOST_POINTS = 100
_TOLERANCE = 1e-11  # predicted gain in log-likelihood at which the search ends
_MAX_STEPS = 500
_NEARLY_ZERO = 1e-3  # τ below this is tried at zero
_STARTS = (1.0, 0.2, 3.0)  # factors on the starting value of τ
_NEWTON_STEPS = 100
_FINENESS = 0.8  # of the nodes, see integration
_CUT = 36.0  # how far h rises before nodes end: they then weigh 1e-16
_USUAL = 22  # points that a level with a nearly normal integrand takes at that


class Scalar(NamedTuple):
    """An ordinal model with one scalar random effect; nothing in it changes during a fit.

    A *kind* is a set of levels that share everything, so that one of them stands for all.
    """

    start: Longs  # (kinds + 1,) rows start[j]:start[j+1] belong to kind j
    levels: Floats  # (kinds,) how many levels there are of each
    kind: Longs  # (levels,) of each level
    z: Floats  # (n,)
    X: Floats  # (n, p)
    codes: Ints  # (n,)
    link: int
    J: Floats  # (K − 1, s): thresholds are Jα
    fineness: float


def make_scalar_model(design: Design, link: str, thresholds: Thresholds, points: int) -> Scalar:
    """Return the model with its rows sorted by level; BadModel where quadrature cannot be had."""
    if points > MOST_POINTS:
        raise BadModel(
            f"Adaptive quadrature takes at most {MOST_POINTS} points; {points} were asked for. It takes more "
            "by itself for levels that need them, so that ten are enough for any data."
        )
    if len(design.factors) != 1 or len(design.factors[0].columns) != 1:
        found = ", ".join(f"{f.name} ({', '.join(f.columns)})" for f in design.factors)
        raise BadModel(
            "Adaptive quadrature needs exactly one random effect, such as (1 | rater); this model has "
            f"{found}. Take quadrature=1, the Laplace approximation, whose error the fit measures "
            "(fit.laplace_error), or keep a single scalar term."
        )
    assert design.codes is not None
    (factor,) = design.factors
    codes, z, X = design.codes, factor.Z[:, 0], design.X
    order = np.lexsort((*X.T, z, codes, factor.index))
    start = np.zeros(len(factor.levels) + 1, dtype=np.int64)
    np.cumsum(np.bincount(factor.index, minlength=len(factor.levels)), out=start[1:])
    table = np.ascontiguousarray(np.column_stack([codes, z, X])[order])
    first, count, kind = _find_kinds(table, start)
    rows = np.concatenate([order[start[j] : start[j + 1]] for j in first])
    lengths = np.diff(start)[first]
    return Scalar(
        start=np.concatenate([[0], np.cumsum(lengths)]),
        levels=count,
        kind=kind,
        z=np.ascontiguousarray(z[rows]),
        X=np.ascontiguousarray(X[rows]),
        codes=codes[rows],
        link=link_code(link),
        J=thresholds.J,
        fineness=_FINENESS * min(1.0, _USUAL / points),
    )


def _find_kinds(table: Floats, start: Longs) -> tuple[Longs, Floats, Longs]:
    """Return a level of each kind, the number of its levels, and the kind of each level."""
    known: dict[bytes, int] = {}
    kind = np.empty(len(start) - 1, dtype=np.int64)
    for j in range(len(kind)):
        kind[j] = known.setdefault(table[start[j] : start[j + 1]].tobytes(), len(known))
    _, first, count = np.unique(kind, return_index=True, return_counts=True)
    return first.astype(np.int64), count.astype(np.float64), kind


def solve_by_quadrature(design: Design, link: str, thresholds: Thresholds, points: int) -> Solution:
    """Return the estimates of an ordinal model with one scalar random effect, by adaptive quadrature.

    Levels get ``points`` points or more, as many as their integral needs.
    """
    model = make_scalar_model(design, link, thresholds, points)
    unit = LATENT_SD[link] if link != "cauchit" else 1.5
    best: tuple[Search, Floats] | None = None
    for scale in _STARTS:
        tau = 0.6 * scale * unit
        assert design.codes is not None
        alpha = start_alpha(design.codes, thresholds, link, float(np.hypot(1.0, tau / unit)))
        point = np.concatenate([alpha, np.zeros(model.X.shape[1]), [tau]])
        search, modes = make_search(point, np.eye(len(point))), np.zeros(len(model.levels))
        _minimise(model, modes, search, _TOLERANCE, _MAX_STEPS)
        if best is None or search.state[0] < best[0].state[0]:
            best = search, modes
        if np.isfinite(best[0].state[0]) and np.abs(best[0].gradient).max() < 1e-3:
            break
    assert best is not None
    search, modes = best
    _try_zero(model, modes, search)
    return replace(_describe(model, design, modes, search), points=points)


@kernel
def _minimise(model: Scalar, modes: Floats, search: Search, tolerance: float, max_steps: int) -> None:
    begin(search, evaluate_quadrature(model, search.trial, modes, search.trial_gradient))
    ratings = 0.0
    for j in range(len(modes)):
        ratings += model.levels[j] * (model.start[j + 1] - model.start[j])
    for c in range(len(search.point)):  # a first step of moderate length in every direction
        search.metric[c, c] = 1.0 / max(1.0, 2.0 * abs(search.gradient[c]), 0.2 * ratings)
    while propose(search, tolerance, max_steps):
        judge(search, evaluate_quadrature(model, search.trial, modes, search.trial_gradient))


@kernel
def _find_mode(
    model: Scalar, j: int, thresholds: Floats, fixed: Floats, tau: float, u: float, rows: Floats
) -> tuple[float, float, float]:
    """Return û_j, H_j and h_j there; H_j is nan where there is no mode."""
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
        return u, np.nan, h
    for _ in range(_NEWTON_STEPS):
        slope, bend, safe = u, 1.0, 1.0
        for i in range(len(eta)):
            v = z[i] * tau
            slope += v * rows[D1, i]
            bend += v * v * rows[W, i]
            safe += v * v * max(rows[W, i], 0.0)  # only cauchit has weights below zero
        push = slope / (bend if bend > 0.0 else safe)
        if abs(push * slope) < 1e-24 * (1.0 + u * u):
            return u, bend if bend > 0.0 else np.nan, h
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
                return u, np.nan, h
        if abs(trial - u) < 1e-15 * (1.0 + abs(u)):
            return trial, bend if bend > 0.0 else np.nan, reached
        u, h = trial, reached
    return u, np.nan, h


@kernel
def evaluate_quadrature(model: Scalar, psi: Floats, modes: Floats, gradient: Floats) -> float:
    """Return −log L(ψ) by quadrature and fill its gradient; ``modes`` holds û and is moved along."""
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
    rows, eta, v = np.empty((N_ENTRIES, longest)), np.empty(longest), np.empty(longest)
    means = np.empty((N_MEANS, longest))
    by_threshold = np.zeros(last + 2)
    gradient[:] = 0.0
    value = 0.0
    for j in range(len(modes)):
        first, size = model.start[j], model.start[j + 1] - model.start[j]
        u, H, h = _find_mode(model, j, thresholds, fixed, tau, modes[j], rows)
        if not H > 0.0:
            return np.inf
        modes[j] = u
        for i in range(size):
            v[i] = model.z[first + i] * tau
            eta[i] = fixed[first + i] + v[i] * u
        codes = model.codes[first : first + size]
        integral, _ = integrate_line(
            model.link, codes, thresholds, eta[:size], v[:size], u, 1.0, model.fineness, _CUT, means
        )
        if not np.isfinite(integral):
            return np.inf
        count = model.levels[j]
        value += count * (h + 0.9189385332046727 - integral)
        for i in range(size):
            k, slope = codes[i], count * (means[E_A, i] - means[E_B, i])
            by_threshold[k + 1] -= count * means[E_A, i]
            by_threshold[k] += count * means[E_B, i]
            for b in range(p):
                gradient[s + b] += slope * model.X[first + i, b]
            gradient[s + p] += model.z[first + i] * (slope * u + count * means[E_PULL, i])
    for a in range(s):
        for k in range(last):
            gradient[a] += model.J[k, a] * by_threshold[k + 1]
    return value


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
    bounded = _most_nodes(model, float(psi[-1])) <= MOST_NODES
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
        modes=((psi[-1] * modes)[model.kind, None],),
        deviations=((abs(psi[-1]) / np.sqrt(bends))[model.kind, None],),
        optimum=Optimum(
            method="BFGS with the exact gradient, then Newton",
            converged=finite and bounded and largest < 1e-3 * max(1.0, 1e-4 * len(design.rows)),
            reason=REASONS[float(search.state[REASON])] if bounded else _say_unbounded(design),
            steps=int(search.state[ITERATIONS]),
            evaluations=int(search.state[EVALUATIONS]),
            gradient=largest,
            condition=scaled_condition(used),
            tolerance=_TOLERANCE,
        ),
        notes=tuple(singular),
        singular=bool(singular),
    )


def _say_unbounded(design: Design) -> str:
    name = design.factors[0].name
    return (
        f"the ratings of each {name} agree so closely that the standard deviation over {name} grows without "
        "bound, and every estimate with it"
    )


@kernel
def _most_nodes(model: Scalar, tau: float) -> float:
    """Return the most nodes that the integral of a level should have at τ."""
    most = 0.0
    for j in range(len(model.levels)):
        v = model.z[model.start[j] : model.start[j + 1]] * tau
        most = max(most, count_nodes(model.link, v, 1.0, model.fineness))
    return most


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
    """Return H_j at the mode of each kind."""
    s, p = model.J.shape[1], model.X.shape[1]
    thresholds, fixed = model.J @ psi[:s], model.X @ psi[s : s + p]
    rows = np.empty((N_ENTRIES, int(np.diff(model.start).max())))
    return np.array(
        [
            _find_mode(model, j, thresholds, fixed, float(psi[-1]), float(modes[j]), rows)[1]
            for j in range(len(modes))
        ]
    )
