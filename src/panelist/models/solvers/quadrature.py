"""Adaptive quadrature for an ordinal model with one scalar random effect, or two that are nested.

Given ψ = (α, β, τ) the levels j of the grouping factor are independent. With v_i = z_i τ and
h_j(u) = −Σ_i log p_i(x_i'β + v_i u) + ½u², the likelihood of a level is

    L_j = (2π)^(−½) ∫ exp(−h_j(u)) du

which the trapezoidal rule gives to ten digits and more, with nodes outwards from the mode û_j (see
integration). The step adapts to each level, so that no number of points is too small. A rule that is so
nearly exact has the slopes of the integral itself: those of h_j, averaged. Levels with the same ratings of
the same rows have the same integral, which is taken once (see nests).

Where the levels c of that factor are nested in those of another, with the effect t and the standard
deviation σ, given t they are independent as before: the likelihood of an outer level is

    (2π)^(−½) ∫ exp(−½t²) Π_c L_c(t) dt

by the same rule, with an inner integral for each node and each c. As a function of t, L_c is a normal density
of standard deviation |τ/σ| mixed over what the ratings leave open, so that it needs no finer step than that
density does, however sharply the ratings bend.
"""

from dataclasses import replace

import numpy as np

from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.covariance import describe_singular
from panelist.models.likelihoods.integration import MOST_NODES
from panelist.models.likelihoods.link_functions import LATENT_SD
from panelist.models.likelihoods.nested_likelihood import (
    count_outer,
    evaluate_quadrature,
    fill_effects,
    most_nodes,
    place_edges,
    shrink_edges,
    shrink_rows,
)
from panelist.models.likelihoods.nests import Nest, Places, make_nest
from panelist.models.likelihoods.thresholds import Thresholds
from panelist.models.search.bfgs import EVALUATIONS, ITERATIONS, REASON, REASONS, Search, make_search
from panelist.models.search.nested import minimise
from panelist.models.search.starts import start_cells
from panelist.models.solvers.polish import polish
from panelist.models.solvers.separation import scaled_condition
from panelist.models.solvers.solution import Optimum, Solution
from panelist.numerics.arrays import Floats
from panelist.numerics.compile_ahead import prepare

_TOLERANCE = 1e-11  # predicted gain in log-likelihood at which the search ends
_MAX_STEPS = 500
_NEARLY_ZERO = 1e-3  # τ below this is tried at zero
_STARTS = (1.0, 0.2, 3.0)  # factors on the starting value of τ


def solve_by_quadrature(design: ModelMatrices, link: str, thresholds: Thresholds, points: int) -> Solution:
    """Return the estimates of an ordinal model with one or two nested random effects, by quadrature.

    Levels get ``points`` points or more, as many as their integral needs.
    """
    if thresholds.family == "adjacent":
        from panelist.models.solvers.adjacent_integral import solve_integral

        return solve_integral(design, thresholds, points)
    prepare("quadrature")
    model, places = make_nest(design, link, thresholds, points)
    unit = LATENT_SD[link] if link != "cauchit" else 1.5
    best: tuple[Search, Floats] | None = None
    for scale in _STARTS:
        tau = np.full(len(model.taus), 0.6 * scale * unit)
        spread = float(np.hypot(1.0, np.linalg.norm(tau) / unit))
        alpha = start_cells(design, thresholds, link, spread)
        point = np.concatenate([alpha, np.zeros(model.X.shape[1] + model.S.shape[1]), tau])
        search, modes = make_search(point, np.eye(len(point))), make_modes(model)
        minimise(model, modes, search, _TOLERANCE, _MAX_STEPS)
        if best is None or search.state[0] < best[0].state[0]:
            best = search, modes
        if np.isfinite(best[0].state[0]) and np.abs(best[0].gradient).max() < 1e-3:
            break
    assert best is not None
    search, modes = best
    _try_zero(model, modes, search)
    return replace(_describe(model, places, design, modes, search), points=points)


def make_modes(model: Nest) -> Floats:
    """Return the arrays for û of every block, then for the middle of every outer level."""
    return np.zeros(len(model.start) - 1 + (len(model.copies) if len(model.outer) else 0))


def _try_zero(model: Nest, modes: Floats, search: Search) -> None:
    """Put at zero each τ that is nearly there, if that costs nothing."""
    for place in range(len(search.point) - len(model.taus), len(search.point)):
        if 0.0 < abs(search.point[place]) < _NEARLY_ZERO:
            trial, slope = search.point.copy(), np.empty(len(search.point))
            trial[place] = 0.0
            if evaluate_quadrature(model, trial, modes, slope) <= search.state[0] + 1e-5:
                search.point[:] = trial


def _describe(model: Nest, places: Places, design: ModelMatrices, modes: Floats, search: Search) -> Solution:
    s, p, q = model.J.shape[1], model.X.shape[1], model.S.shape[1]
    size = s + p + q

    def evaluate(psi: Floats) -> tuple[float, Floats]:
        gradient = np.full(len(psi), np.nan)
        return float(evaluate_quadrature(model, psi, modes, gradient)), gradient

    end = polish(search.point, size, evaluate)
    psi, covariance, largest = end.psi, end.covariance, float(np.abs(end.gradient).max())
    unbounded = _find_unbounded(model, psi)
    lambdas = tuple(np.array([[abs(tau)]]) for tau in psi[size:])
    effects = _find_effects(model, places, psi, modes)
    singular = describe_singular(design.factors, lambdas)
    return Solution(
        loglik=-end.value,
        n_parameters=len(psi),
        beta=psi[s : s + p].copy(),
        vcov=covariance[s : s + p, s : s + p],
        alpha=psi[:s].copy(),
        zeta=psi[s + p : size].copy(),
        joint_vcov=covariance,
        lambdas=lambdas,
        modes=tuple(mode[:, None] for mode, _ in effects),
        deviations=tuple(deviation[:, None] for _, deviation in effects),
        optimum=Optimum(
            method="BFGS with the exact gradient, then Newton",
            converged=end.finite and unbounded is None and largest < 1e-3 * max(1.0, 1e-4 * len(design.rows)),
            reason=REASONS[float(search.state[REASON])]
            if unbounded is None
            else _say_unbounded(design, unbounded),
            steps=int(search.state[ITERATIONS]),
            evaluations=int(search.state[EVALUATIONS]),
            gradient=largest,
            condition=scaled_condition(end.curvature),
            tolerance=_TOLERANCE,
        ),
        notes=tuple(singular),
        singular=bool(singular),
    )


def _say_unbounded(design: ModelMatrices, place: int) -> str:
    name = design.factors[place].name
    return (
        f"the ratings of each {name} agree so closely that the standard deviation over {name} grows without "
        "bound, and every estimate with it"
    )


def _find_unbounded(model: Nest, psi: Floats) -> int | None:
    """Return the place of the effect whose integral would need too many nodes, if there is one."""
    taus = psi[len(psi) - len(model.taus) :][model.taus]
    if most_nodes(model, float(taus[0])) > MOST_NODES:
        return int(model.taus[0])
    if len(taus) == 2:
        counts = [count_outer(model, g, float(taus[0]), float(taus[1])) for g in range(len(model.copies))]
        if max(counts) > MOST_NODES:
            return int(model.taus[1])
    return None


def _find_effects(model: Nest, places: Places, psi: Floats, modes: Floats) -> list[tuple[Floats, Floats]]:
    """Return the joint modes of the effects and their conditional deviations, factors as in the design."""
    s, p, size = model.J.shape[1], model.X.shape[1], len(psi) - len(model.taus)
    model, shrink = shrink_rows(model, psi)
    edges = place_edges(model.J, psi)
    ends = shrink_edges(edges, model.upper, shrink), shrink_edges(edges, model.lower, shrink)
    variances = np.full(len(modes), np.nan)
    fill_effects(model, *ends, model.X @ psi[s : s + p], psi[size:], modes, variances)
    found: list[tuple[Floats, Floats]] = [(np.empty(0), np.empty(0))] * len(model.taus)
    for which, place in enumerate(model.taus):
        tau = psi[size + place]
        at = places.block if which == 0 else len(model.start) - 1 + places.group
        found[place] = tau * modes[at], abs(tau) * np.sqrt(variances[at])
    return found
