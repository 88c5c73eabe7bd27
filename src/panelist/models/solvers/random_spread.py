"""Ordinal mixed models whose raters have random spreads: start, search, polish, and what they are called."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from panelist.core.errors import BadModel
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.covariance import describe_singular, split_lambda
from panelist.models.likelihoods.thresholds import Thresholds
from panelist.models.solvers.clmm import solve_clmm
from panelist.models.solvers.polish import Polished, polish
from panelist.models.solvers.separation import scaled_condition
from panelist.models.solvers.solution import Optimum, Solution
from panelist.models.solvers.spread_effects import SpreadEffects
from panelist.numerics.arrays import Floats

_STARTS = (0.3, 1.0)  # of ω; the model without it gives the rest
_LEAST = 0.1  # a spread that starts at zero would stay there
_NEARLY_ZERO = 1e-3  # spreads below this are tried at zero
_AT_ZERO = 1e-4  # spreads below this count as zero
_FREE = 1e-5  # log-likelihood that counts as nothing
_TOLERANCE = 1e-6  # slope at which a search ends
_FLAT = 1e-3  # largest slope of an optimum, for up to 10,000 ratings
MOST_EFFECTS = 2500  # beside those of the largest factor: these are in one dense matrix


def solve_random_spread(design: ModelMatrices, link: str, thresholds: Thresholds) -> Solution:
    """Return the Laplace estimates of a model with random effects on log σ."""
    from scipy.optimize import minimize

    _refuse_large(design)
    plain = solve_clmm(replace(design, stretch=None), link, thresholds)
    model = SpreadEffects(design, link, thresholds)
    best = None
    for omega in _STARTS:
        start = np.append(_spread_out(model, plain.psi), omega)
        model.w[:] = 0.0
        found = minimize(_guarded(model), start, jac=True, method="BFGS", options={"gtol": _TOLERANCE})
        if best is None or found.fun < best.fun:
            best = found
        if np.isfinite(best.fun) and np.abs(best.jac).max() < _FLAT:
            break
    assert best is not None
    psi = _try_zero(model, np.array(best.x, dtype=np.float64))
    end = polish(psi, sum(model.sizes), model.evaluate)
    return _describe(model, design, end, int(best.nit))


def _refuse_large(design: ModelMatrices) -> None:
    assert design.stretch is not None
    beside = sum(len(one.levels) * len(one.columns) for one in design.factors[1:])
    beside += len(design.stretch.levels)
    if beside > MOST_EFFECTS:
        raise BadModel(
            f"Random spreads are for up to {MOST_EFFECTS:,} random effects beside those of "
            f"{design.factors[0].name}, and this model has {beside:,}. Use a smaller random part, or leave "
            "scale out."
        )


def _guarded(model: SpreadEffects) -> Callable[[Floats], tuple[float, Floats]]:
    """Return the objective with a large number in place of infinity, which a line search cannot take."""

    def objective(psi: Floats) -> tuple[float, Floats]:
        value, gradient = model.evaluate(psi)
        return (value, gradient) if np.isfinite(value) else (1e300, gradient)

    return objective


def _spread_out(model: SpreadEffects, psi: Floats) -> Floats:
    """Return the start with every standard deviation at 0.1 or more."""
    rows, columns, slots = model.entries
    start = psi.copy()
    for slot in np.unique(slots[rows == columns]) + sum(model.sizes):
        start[slot] = max(abs(start[slot]), _LEAST) * (-1.0 if start[slot] < 0.0 else 1.0)
    return start


def _try_zero(model: SpreadEffects, psi: Floats) -> Floats:
    """Put at zero the standard deviations that are nearly there, if that costs nothing."""
    rows, columns, slots = model.entries
    places = [*(np.unique(slots[rows == columns]) + sum(model.sizes)), len(psi) - 1]
    small = [place for place in places if 0.0 < abs(psi[place]) < _NEARLY_ZERO]
    if not small:
        return psi
    trial = psi.copy()
    trial[small] = 0.0
    return trial if model.evaluate(trial)[0] <= model.evaluate(psi)[0] + _FREE else psi


def _describe(model: SpreadEffects, design: ModelMatrices, end: Polished, steps: int) -> Solution:
    psi, (s, p, _) = end.psi, model.sizes
    size, largest = sum(model.sizes), float(np.abs(end.gradient).max())
    converged = end.finite and largest < _FLAT * max(1.0, 1e-4 * len(design.rows))
    lambdas = split_lambda(design.factors, psi[size:-1])
    effects = _find_effects(model, psi)
    singular = [*describe_singular(design.factors, lambdas), *_say_one_spread(design, float(psi[-1]))]
    return Solution(
        loglik=-end.value,
        n_parameters=len(psi),
        beta=psi[s : s + p].copy(),
        vcov=end.covariance[s : s + p, s : s + p],
        alpha=psi[:s].copy(),
        zeta=psi[s + p : size].copy(),
        joint_vcov=end.covariance,
        lambdas=lambdas,
        modes=tuple(mode for mode, _ in effects[:-1]),
        deviations=tuple(deviation for _, deviation in effects[:-1]),
        omega=abs(float(psi[-1])),
        spread_modes=effects[-1][0][:, 0],
        spread_deviations=effects[-1][1][:, 0],
        optimum=Optimum(
            method="BFGS with the exact gradient, then Newton",
            converged=converged,
            reason="the slope is below the tolerance" if converged else "the search ended on a slope",
            steps=steps,
            evaluations=model.evaluations,
            gradient=largest,
            condition=scaled_condition(end.curvature) if end.finite else np.inf,
            tolerance=_TOLERANCE,
        ),
        notes=tuple(singular),
        singular=bool(singular),
    )


def _find_effects(model: SpreadEffects, psi: Floats) -> list[tuple[Floats, Floats]]:
    """Return the conditional modes of each factor and their deviations, (levels, m), the spreads last."""
    assert model.design.stretch is not None
    factors, mode = (*model.design.factors, model.design.stretch), model.find_mode(psi)
    if mode is None:
        return [(np.zeros((len(f.levels), len(f.columns))),) * 2 for f in factors]
    whole, variances, found = model.make_lambda(psi), model.effect_variances(mode.factor), []
    at = first = 0
    for factor, variance in zip(factors, variances, strict=True):
        count, wide = len(factor.levels), len(factor.columns)
        last = factor is model.design.stretch
        own = np.array([[psi[-1]]]) if last else whole[first : first + wide, first : first + wide]
        u = mode.w[at : at + count * wide].reshape(count, wide)
        spread = np.einsum("ij,njk,ik->ni", own, variance, own)
        found.append((u @ own.T, np.sqrt(np.maximum(spread, 0.0))))
        at, first = at + count * wide, first + wide
    return found


def _say_one_spread(design: ModelMatrices, omega: float) -> list[str]:
    assert design.stretch is not None
    if abs(omega) >= _AT_ZERO:
        return []
    name = design.stretch.name
    return [
        f"singular: one spread for every {name} is estimated (these data show no difference in spread "
        f"between {name}s, which does not mean that there is none); the estimates are valid, and a model "
        "without random spreads fits as well"
    ]
