"""Cumulative link models without random effects: damped Newton on (α, β) with the exact Hessian."""

import numpy as np

from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.link_functions import (
    A_TILT,
    B_TILT,
    D1,
    N_ENTRIES,
    A,
    B,
    fill_rows,
    link_code,
)
from panelist.models.likelihoods.thresholds import Thresholds
from panelist.models.search.starts import start_alpha
from panelist.models.solvers.separation import scaled_condition
from panelist.models.solvers.solution import Optimum, Solution
from panelist.numerics.arrays import Floats, Ints
from panelist.numerics.compile_ahead import prepare
from panelist.numerics.kernel import kernel

_STEPS, _TOLERANCE = 100, 1e-12


def solve_clm(design: ModelMatrices, link: str, thresholds: Thresholds) -> Solution:
    """Return the maximum likelihood estimates of a cumulative link model."""
    prepare("clm")
    assert design.codes is not None
    p, s = design.X.shape[1], thresholds.J.shape[1]
    psi = np.concatenate([start_alpha(design.codes, thresholds, link, 1.0), np.zeros(p)])
    gradient, hessian = np.empty(s + p), np.empty((s + p, s + p))
    value, steps, found = find_optimum(
        link_code(link), design.codes, design.X, thresholds.J, psi, gradient, hessian, _STEPS, _TOLERANCE
    )
    covariance = np.linalg.pinv(hessian, hermitian=True)
    optimum = Optimum(
        method="Newton with the exact Hessian",
        converged=bool(found),
        reason="the predicted gain of another step is below the tolerance"
        if found
        else "the limit on steps was reached, or no step improves the likelihood",
        steps=int(steps),
        evaluations=int(steps) + 1,
        gradient=float(np.abs(gradient).max()),
        condition=scaled_condition(hessian),
        tolerance=_TOLERANCE,
    )
    return Solution(
        loglik=-float(value),
        n_parameters=s + p,
        beta=psi[s:],
        vcov=covariance[s:, s:],
        alpha=psi[:s],
        joint_vcov=covariance,
        optimum=optimum,
    )


@kernel
def _measure(link: int, codes: Ints, X: Floats, J: Floats, psi: Floats, rows: Floats) -> float:
    s, p = J.shape[1], X.shape[1]
    thresholds = np.zeros(J.shape[0])
    for k in range(J.shape[0]):
        for a in range(s):
            thresholds[k] += J[k, a] * psi[a]
        if k > 0 and not thresholds[k] > thresholds[k - 1]:
            return np.inf
    eta = np.zeros(len(codes))
    for i in range(len(codes)):
        for b in range(p):
            eta[i] += X[i, b] * psi[s + b]
    return fill_rows(link, codes, thresholds, eta, rows)


@kernel
def _derive(codes: Ints, X: Floats, J: Floats, rows: Floats, gradient: Floats, hessian: Floats) -> None:
    """Fill gradient and Hessian of −log L: each row is a function of a = t_y − η and b = t_{y−1} − η."""
    last, s = J.shape
    p = X.shape[1]
    gradient[:] = 0.0
    hessian[:] = 0.0
    upper, lower = np.zeros(s + p), np.zeros(s + p)
    for i in range(len(codes)):
        k = codes[i]
        for c in range(s):
            upper[c] = J[k, c] if k < last else 0.0
            lower[c] = J[k - 1, c] if k > 0 else 0.0
        for c in range(p):
            upper[s + c] = lower[s + c] = -X[i, c]
        a, b = rows[A, i], rows[B, i]
        aa = a * a - (rows[A_TILT, i] + rows[D1, i] * a)
        bb = b * b + rows[D1, i] * b - rows[B_TILT, i]
        for c in range(s + p):
            gradient[c] += b * lower[c] - a * upper[c]
            by_a = aa * upper[c] - a * b * lower[c]
            by_b = bb * lower[c] - a * b * upper[c]
            for d in range(c + 1):
                hessian[c, d] += by_a * upper[d] + by_b * lower[d]
    for c in range(s + p):
        for d in range(c):
            hessian[d, c] = hessian[c, d]


@kernel
def find_optimum(
    link: int,
    codes: Ints,
    X: Floats,
    J: Floats,
    psi: Floats,
    gradient: Floats,
    hessian: Floats,
    max_steps: int,
    tolerance: float,
) -> tuple[float, int, bool]:
    """Move ψ to the optimum, fill gradient and Hessian; return −log L, the steps, and whether it is one."""
    rows = np.empty((N_ENTRIES, len(codes)))
    value = _measure(link, codes, X, J, psi, rows)
    k = len(psi)
    for step in range(max_steps):
        _derive(codes, X, J, rows, gradient, hessian)
        ridge = 0.0
        while True:
            push = np.linalg.solve(hessian + ridge * np.eye(k), gradient)
            gain = 0.0
            for c in range(k):
                gain += push[c] * gradient[c]
            if gain >= 0.0:
                break
            ridge = max(10.0 * ridge, 1e-3 * np.abs(hessian).max())  # cauchit is not concave everywhere
        if gain < tolerance:
            return value, step, True
        size = 1.0
        while True:
            trial = psi - size * push
            reached = _measure(link, codes, X, J, trial, rows)
            if reached <= value - 1e-4 * size * gain + 1e-13 * abs(value):
                break
            size *= 0.5
            if size < 1e-10:
                _measure(link, codes, X, J, psi, rows)
                return value, step, False
        psi[:] = trial
        value = reached
    return value, max_steps, False
