"""The end of a search by quadrature: the curvature there, and one Newton step where it leads further."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from panelist.numerics.arrays import Floats


@dataclass(frozen=True)
class Polished:
    """Where the search ended; −log L, its gradient and curvature there."""

    psi: Floats
    value: float
    gradient: Floats
    covariance: Floats
    """Without the standard deviations, which are last; NaN where the curvature is not finite."""
    curvature: Floats
    """Without the standard deviations that are zero."""
    finite: bool


def polish(psi: Floats, size: int, evaluate: Callable[[Floats], tuple[float, Floats]]) -> Polished:
    """Return psi after a Newton step, or psi itself where the step does not help; ``size`` parameters come
    before the standard deviations.
    """
    hessian = _find_curvature(psi, evaluate)
    value, gradient = evaluate(psi)
    # A variance at zero is at a symmetric minimum: it says nothing about the others, and is left out.
    kept = np.flatnonzero((psi != 0.0) | (np.arange(len(psi)) < size))
    used = hessian[np.ix_(kept, kept)]
    finite = bool(np.isfinite(value)) and bool(np.isfinite(hessian).all())
    covariance = np.full((size, size), np.nan)
    if finite:
        inverse = np.linalg.pinv(used, hermitian=True)
        covariance = inverse[:size, :size]
        further = psi.copy()
        further[kept] -= inverse @ gradient[kept]
        reached, slope = evaluate(further)
        if reached <= value + 1e-9 * (1.0 + abs(value)) and np.abs(slope).max() < np.abs(gradient).max():
            psi, value, gradient = further, reached, slope
    return Polished(psi, value, gradient, covariance, used, finite)


def _find_curvature(psi: Floats, evaluate: Callable[[Floats], tuple[float, Floats]]) -> Floats:
    """Return the Hessian of −log L by central differences of the exact gradient, NaN where −log L is not
    finite.
    """
    rows = []
    for step in 1e-4 * np.eye(len(psi)):
        (up, upward), (down, downward) = evaluate(psi + step), evaluate(psi - step)
        finite = np.isfinite(up) and np.isfinite(down)
        rows.append((upward - downward) / 2e-4 if finite else np.full(len(psi), np.nan))
    hessian = np.array(rows)
    return 0.5 * (hessian + hessian.T)
