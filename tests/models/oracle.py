"""Plain numpy versions of the likelihoods: dense, slow, and written another way than the code they check.

Random effects stand factor by factor, level by level, column by column, as in the solvers; rows are in the
order of the design. Derivatives are never taken from the package: they are differences of these values.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize, special

from panelist.models.blocks.pattern import find_pattern
from panelist.models.formulas.grouping import Factor
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.covariance import free_entries
from panelist.models.likelihoods.deviance import Linear, evaluate_deviance, make_deviance_workspace
from panelist.models.likelihoods.laplace import FINAL, Ordinal, make_laplace_workspace
from panelist.models.likelihoods.thresholds import Thresholds
from panelist.models.search.entry_points import evaluate
from panelist.models.solvers.clmm import make_model
from panelist.numerics.arrays import Floats, Ints

_ROOT = np.sqrt(2.0 * np.pi)

# F, 1 − F and f of each link, vectorised, each tail from the function that is accurate there.
LINKS: dict[str, tuple[Callable[[Floats], Floats], ...]] = {
    "probit": (special.ndtr, lambda x: special.ndtr(-x), lambda x: np.exp(-0.5 * x**2) / _ROOT),
    "logit": (special.expit, lambda x: special.expit(-x), lambda x: special.expit(x) * special.expit(-x)),
    "cloglog": (
        lambda x: -np.expm1(-np.exp(x)),
        lambda x: np.exp(-np.exp(x)),
        lambda x: np.exp(x - np.exp(x)),
    ),
    "loglog": (
        lambda x: np.exp(-np.exp(-x)),
        lambda x: -np.expm1(-np.exp(-x)),
        lambda x: np.exp(-x - np.exp(-x)),
    ),
    "cauchit": (
        lambda x: np.arctan2(1.0, -x) / np.pi,
        lambda x: np.arctan2(1.0, x) / np.pi,
        lambda x: 1.0 / (np.pi * (1.0 + x**2)),
    ),
}


def expand_z(factors: tuple[Factor, ...]) -> Floats:
    """Return Z (n, q) with every zero written out."""
    pieces = []
    for factor in factors:
        levels = factor.index[:, None] == np.arange(len(factor.levels))
        pieces.append((levels[:, :, None] * factor.Z[:, None, :]).reshape(len(factor.index), -1))
    return np.hstack(pieces)


def expand_lambda(factors: tuple[Factor, ...], tau: Floats) -> Floats:
    """Return Λ (q, q) with every zero written out; τ is column by column, block by block, as in lme4."""
    size = sum(len(factor.levels) * len(factor.columns) for factor in factors)
    whole, at, used = np.zeros((size, size)), 0, 0
    for factor in factors:
        small = np.zeros((len(factor.columns),) * 2)
        if factor.shared:
            small[:] = tau[used] * np.eye(len(small))
            used += 1
        for start, stop in factor.blocks if not factor.shared else ():
            for column in range(start, stop):
                small[column:stop, column] = tau[used : used + stop - column]
                used += stop - column
        for _ in factor.levels:
            whole[at : at + len(small), at : at + len(small)] = small
            at += len(small)
    assert used == len(tau)
    return whole


def negative_log_p(link: str, codes: Ints, thresholds: Floats, eta: Floats) -> Floats:
    """Return −log P(y_i = its category), a row a rating."""
    F, upper, _ = LINKS[link]
    a, b = _ends(codes, thresholds, eta)
    return -np.log(np.where(b > 0.0, upper(b) - upper(a), F(a) - F(b)))


def score(link: str, codes: Ints, thresholds: Floats, eta: Floats) -> Floats:
    """Return ∂(−log p)/∂η, a row a rating."""
    f = LINKS[link][2]
    p = np.exp(-negative_log_p(link, codes, thresholds, eta))
    density_a, density_b = (
        np.where(np.isinf(x), 0.0, f(np.where(np.isinf(x), 0.0, x))) for x in _ends(codes, thresholds, eta)
    )
    return (density_a - density_b) / p


def _ends(codes: Ints, thresholds: Floats, eta: Floats) -> tuple[Floats, Floats]:
    cut = np.concatenate([[-np.inf], thresholds, [np.inf]])
    return cut[codes + 1] - eta, cut[codes] - eta


def differences(function: Callable[[Floats], Floats | float], x: Floats, step: float = 1e-3) -> Floats:
    """Return the derivative of a function by each x, from four points on either side of it."""
    found = []
    for k in range(len(x)):
        e = np.zeros(len(x))
        e[k] = step
        near = np.asarray(function(x + e)) - np.asarray(function(x - e))
        far = np.asarray(function(x + 2.0 * e)) - np.asarray(function(x - 2.0 * e))
        found.append((8.0 * near - far) / (12.0 * step))
    return np.array(found)


def minimise(function: Callable[[Floats], float], start: Floats, **options: Any) -> tuple[float, Floats]:
    """Return the minimum that scipy finds, and where."""
    search: Any = optimize.minimize
    found = search(function, start, method="BFGS", **options)
    return float(found.fun), found.x


def laplace_value(design: ModelMatrices, link: str, J: Floats, psi: Floats) -> float:
    """Return N(ψ): the mode by scipy's trust region over all u at once, a dense determinant."""
    assert design.codes is not None
    codes, s, p = design.codes, J.shape[1], design.X.shape[1]
    thresholds, fixed = J @ psi[:s], design.X @ psi[s : s + p]
    V = expand_z(design.factors) @ expand_lambda(design.factors, psi[s + p :])

    def weights(eta: Floats) -> Floats:
        h = 1e-3
        near = score(link, codes, thresholds, eta + h) - score(link, codes, thresholds, eta - h)
        far = score(link, codes, thresholds, eta + 2 * h) - score(link, codes, thresholds, eta - 2 * h)
        return (8.0 * near - far) / (12.0 * h)

    def value(u: Floats) -> float:
        return float(negative_log_p(link, codes, thresholds, fixed + V @ u).sum() + 0.5 * u @ u)

    def slope(u: Floats) -> Floats:
        return V.T @ score(link, codes, thresholds, fixed + V @ u) + u

    def bend(u: Floats) -> Floats:
        return (V.T * weights(fixed + V @ u)) @ V + np.eye(len(u))

    u = optimize.minimize(
        value, np.zeros(V.shape[1]), jac=slope, hess=bend, method="trust-exact", options={"gtol": 1e-6}
    ).x
    for _ in range(3):
        u = u - np.linalg.solve(bend(u), slope(u))
    sign, logdet = np.linalg.slogdet(bend(u))
    assert sign > 0.0
    assert np.abs(slope(u)).max() < 1e-10
    return value(u) + 0.5 * float(logdet)


def deviance_value(design: ModelMatrices, theta: Floats, reml: bool) -> float:
    """Return d(θ) of a linear mixed model from the n × n covariance of y, β and σ at their best."""
    X, y = design.X, design.y
    V = expand_z(design.factors) @ expand_lambda(design.factors, theta)
    covariance = np.eye(len(y)) + V @ V.T
    inverse = np.linalg.inv(covariance)
    information = X.T @ inverse @ X
    residual = y - X @ np.linalg.solve(information, X.T @ inverse @ y)
    square = float(residual @ inverse @ residual)
    count = len(y) - X.shape[1] if reml else len(y)
    value: float = float(np.linalg.slogdet(covariance)[1]) + count * (
        1.0 + np.log(2.0 * np.pi * square / count)
    )
    return value + float(np.linalg.slogdet(information)[1]) if reml else value


# ---- the package's own values, with nothing in between -----------------------------------------------------


def make_ordinal(design: ModelMatrices, link: str, thresholds: Thresholds) -> Ordinal:
    """Return the model that the ordinal solver would evaluate."""
    return make_model(design, link, thresholds)


def package_laplace(model: Ordinal, psi: Floats) -> tuple[float, Floats]:
    """Return N(ψ) and its gradient from the package, the mode found from zero."""
    gradient = np.zeros(len(psi))
    return float(evaluate(model, psi, make_laplace_workspace(model), gradient, FINAL)), gradient


def make_linear(design: ModelMatrices, reml: bool) -> Linear:
    """Return the model that the linear solver would evaluate."""
    pattern = find_pattern(design.factors)
    X = np.ascontiguousarray(design.X[pattern.order])
    return Linear(pattern, X, design.y[pattern.order], *free_entries(design.factors), reml)


def package_deviance(model: Linear, theta: Floats) -> tuple[float, Floats, Floats]:
    """Return d(θ), its gradient and β from the package."""
    work = make_deviance_workspace(model)
    gradient = np.zeros(len(theta))
    value = evaluate_deviance(model, theta, 0.0, work, gradient)
    return value, gradient, work.beta.copy()


def starting_psi(design: ModelMatrices, thresholds: Thresholds, seed: int) -> Floats:
    """Return a ψ with thresholds in order, and effects and variances of moderate size."""
    rng = np.random.default_rng(seed)
    count = len(thresholds.between)
    values = np.sort(rng.uniform(-1.5, 1.5, count)) + 0.3 * np.arange(count)
    alpha = thresholds.solve(values)
    if not np.all(np.diff(thresholds.J @ alpha) > 0.05):
        alpha = thresholds.solve(np.linspace(-1.5, 1.8, count))
    rows, columns, slots = free_entries(design.factors)
    tau = np.where(rows == columns, rng.uniform(0.3, 0.9, len(rows)), rng.uniform(-0.4, 0.4, len(rows)))
    tau = tau[np.unique(slots, return_index=True)[1]]
    return np.concatenate([alpha, rng.uniform(-0.5, 0.5, design.X.shape[1]), tau])
