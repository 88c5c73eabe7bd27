"""Estimates that ran off: data that some combination of the fixed effects predicts without error."""

import numpy as np

from panelist.models.arrays import Floats

_FAR = 6.0  # latent standard deviations
_LOOSE = 50.0  # a standard error this many times the median one


def scaled_condition(hessian: Floats) -> float:
    """Return the condition number of the Hessian in units of each parameter's own curvature."""
    diagonal = np.sqrt(np.abs(np.diag(hessian)))
    if not np.all(np.isfinite(hessian)):
        return float("inf")
    diagonal[diagonal == 0.0] = 1.0
    values = np.linalg.eigvalsh(hessian / np.outer(diagonal, diagonal))
    return float(values[-1] / values[0]) if values[0] > 0.0 else float("inf")
