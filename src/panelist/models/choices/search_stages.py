"""Estimates of choices with random preferences: BFGS with the exact gradient, Hessian, Newton."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from panelist.models.choices.stages import ChoiceStages, LaplaceValue, evaluate_stages
from panelist.numerics.arrays import Floats, Longs

_STEP = 1e-4  # of the differences of gradients that make the Hessian
_NEARLY_ZERO = 1e-3  # standard deviations below this are put at zero, if that costs nothing
_FREE = 1e-5  # log-likelihood that counts as nothing
_FLAT = 1e-3  # the largest slope at an optimum
FIRST_SPREAD = 0.5


@dataclass(frozen=True, eq=False)
class StageEstimates:
    """The estimates: ψ = (β, ω), the covariance of β, and the modes b = ωu of each term."""

    beta: Floats
    vcov: Floats = field(repr=False)
    sds: Floats
    loglik: float
    modes: tuple[Floats, ...] = field(repr=False)  # (levels, width) each
    gradient: float
    evaluations: int
    converged: bool


def estimate_stages(model: ChoiceStages, start: Floats) -> StageEstimates:
    """Return the Laplace estimates, from a start for β; the spreads start at 0.5."""
    from scipy.optimize import minimize

    count = model.X.shape[1]
    u, calls = np.zeros(model.n_effects), 0

    def evaluate(psi: Floats) -> LaplaceValue:
        nonlocal u, calls
        found = evaluate_stages(model, psi, u)
        u, calls = found.u, calls + 1
        return found

    def objective(psi: Floats) -> tuple[float, Floats]:
        found = evaluate(psi)
        return (found.value, found.gradient) if np.isfinite(found.value) else (1e300, np.zeros(len(psi)))

    psi = np.concatenate([start, np.full(len(model.terms), FIRST_SPREAD)])
    psi = minimize(objective, psi, jac=True, method="BFGS", options={"gtol": 1e-5}).x
    psi = _try_zero(psi, count, evaluate)
    free = np.flatnonzero((psi != 0.0) | (np.arange(len(psi)) < count)).astype(np.int64)
    for _ in range(3):
        hessian = _differentiate(psi, free, evaluate)
        here = evaluate(psi)
        if not np.isfinite(hessian).all() or np.linalg.eigvalsh(hessian)[0] <= 0:
            break
        trial = psi.copy()
        trial[free] -= np.linalg.solve(hessian, here.gradient[free])
        there = evaluate(trial)
        if not there.value <= here.value + 1e-9 * (1 + abs(here.value)):
            break
        psi = trial
        if np.abs(there.gradient[free]).max() < 1e-7:
            break
    last = evaluate(psi)
    inverse = np.linalg.pinv(hessian, hermitian=True)
    steepest = float(np.abs(last.gradient).max())
    return StageEstimates(
        beta=psi[:count],
        vcov=np.asarray(inverse[:count, :count], dtype=np.float64),
        sds=np.abs(psi[count:]),
        loglik=-last.value,
        modes=_find_modes(model, psi[count:], last.u),
        gradient=steepest,
        evaluations=calls,
        converged=bool(np.isfinite(last.value) and np.isfinite(hessian).all() and steepest < _FLAT),
    )


def _find_modes(model: ChoiceStages, omega: Floats, u: Floats) -> tuple[Floats, ...]:
    modes, first = [], 0
    for spread, term in zip(omega, model.terms, strict=True):
        modes.append(spread * u[first : first + term.size].reshape(len(term.levels), term.width))
        first += term.size
    return tuple(modes)


def _try_zero(psi: Floats, count: int, evaluate: Callable[[Floats], LaplaceValue]) -> Floats:
    """Return ψ with spreads that are nearly zero at zero, if that costs nothing."""
    small = count + np.flatnonzero((np.abs(psi[count:]) < _NEARLY_ZERO) & (psi[count:] != 0.0))
    if not len(small):
        return psi
    trial = psi.copy()
    trial[small] = 0.0
    return trial if evaluate(trial).value <= evaluate(psi).value + _FREE else psi


def _differentiate(psi: Floats, free: Longs, evaluate: Callable[[Floats], LaplaceValue]) -> Floats:
    """Return the Hessian over the free parameters, by central differences of the exact gradient."""
    hessian = np.empty((len(free), len(free)))
    for row, place in enumerate(free):
        step = np.zeros(len(psi))
        step[place] = _STEP
        hessian[row] = (evaluate(psi + step).gradient - evaluate(psi - step).gradient)[free] / (2 * _STEP)
    return 0.5 * (hessian + hessian.T)
