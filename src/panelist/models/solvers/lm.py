"""Linear models by least squares."""

import numpy as np

from panelist.core.errors import BadModel
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.solvers.solution import Optimum, Solution


def solve_lm(design: ModelMatrices) -> Solution:
    """Return the least squares estimates; σ² has n − p in its denominator, the log-likelihood has n."""
    n, p = design.X.shape
    if n <= p:
        raise BadModel(
            f"A linear model with {p} columns needs more than {p} rows; there are {n}. Use fewer terms."
        )
    Q, R = np.linalg.qr(design.X)
    beta = np.linalg.solve(R, Q.T @ design.y)
    residual = design.y - design.X @ beta
    square = float(residual @ residual)
    root = np.linalg.inv(R)
    sigma = float(np.sqrt(square / (n - p)))
    optimum = Optimum(
        method="least squares by QR",
        converged=True,
        reason="solved directly",
        steps=0,
        evaluations=1,
        gradient=0.0,
        condition=float(np.linalg.cond(R)) ** 2,
        tolerance=0.0,
    )
    return Solution(
        loglik=-0.5 * n * (1.0 + float(np.log(2.0 * np.pi * square / n))),
        n_parameters=p + 1,
        beta=beta,
        vcov=sigma**2 * root @ root.T,
        sigma=sigma,
        optimum=optimum,
    )
