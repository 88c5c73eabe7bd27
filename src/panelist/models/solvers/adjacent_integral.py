"""Adjacent categories with one scalar random effect, integrated as quadrature.py does the other families.

A row of adjacent categories depends on all thresholds of its cell, for which the compiled integrals of the
other families have no room. So these are taken in numpy, level by level: the trapezoidal rule with steps of

    min(0.8 / √(1 + Σ s_i v_i²), π / (4 (K − 1) max|v_i|/σ_i)),    s_i = ((K − 1) / 2σ_i)²

s_i v_i² being the sharpest bend that a row can have, and π/(K − 1) how far the softmax is analytic.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from panelist.core.errors import BadModel
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.cells import find_cells
from panelist.models.likelihoods.covariance import describe_singular
from panelist.models.likelihoods.link_functions import LATENT_SD
from panelist.models.likelihoods.nests import find_fineness
from panelist.models.likelihoods.thresholds import Thresholds
from panelist.models.search.starts import start_cells
from panelist.models.solvers.polish import polish
from panelist.models.solvers.separation import scaled_condition
from panelist.models.solvers.solution import Optimum, Solution
from panelist.numerics.arrays import Floats, Longs

_WIDEST = 20.0  # prior standard deviations within which a mode is looked for
_CUT = 40.0  # how far h rises before the rest adds nothing
_COARSE = 0.25
_TOLERANCE = 1e-8  # slope at which a search ends
_STARTS = (1.0, 0.2, 3.0)  # factors on the starting value of τ
_NEARLY_ZERO = 1e-3


@dataclass(frozen=True, eq=False)
class _Row:
    """The derivatives of −log p at the nodes of a level: by η, by each threshold, by log σ; and Var(y)."""

    loss: Floats  # (rows, nodes)
    slope: Floats
    steps: Floats  # (rows, nodes, K − 1)
    spread: Floats
    variance: Floats


class Integral:
    """The likelihood of a design with one scalar random effect, and its gradient by (α, β, ζ, τ)."""

    def __init__(self, design: ModelMatrices, thresholds: Thresholds, points: int) -> None:
        self.fineness = find_fineness(points)
        if len(design.factors) != 1 or len(design.factors[0].columns) != 1:
            found = ", ".join(f"{one.name} ({', '.join(one.columns)})" for one in design.factors)
            raise BadModel(
                "Adaptive quadrature of adjacent categories needs one random effect, such as (1 | rater); "
                f"this model has {found}. Use quadrature=1, the Laplace approximation, or leave terms out."
            )
        assert design.codes is not None
        (factor,) = design.factors
        self.X, self.codes, self.z = design.X, np.asarray(design.codes, dtype=np.int64), factor.Z[:, 0]
        self.S = design.scale.matrix if design.scale is not None else np.empty((len(self.X), 0))
        self.cells = find_cells(design, thresholds)
        order = np.argsort(factor.index, kind="stable")
        ends = np.cumsum(np.bincount(factor.index, minlength=len(factor.levels)))
        self.levels: list[Longs] = np.split(order, ends[:-1])
        self.evaluations = 0

    def evaluate(self, psi: Floats) -> tuple[float, Floats]:
        """Return −log L and its gradient."""
        self.evaluations += 1
        s, p, q = self.cells.table.shape[2], self.X.shape[1], self.S.shape[1]
        by_threshold = np.zeros((len(self.X), self.cells.table.shape[1]))
        by_eta, by_spread = np.zeros(len(self.X)), np.zeros(len(self.X))
        total, by_tau = 0.0, 0.0
        for rows in self.levels:
            u, h, row = self._integrate(psi, rows)
            least = logsumexp(-h)
            weights = np.exp(-h - least)
            total -= float(least) + float(np.log(u[1] - u[0])) - 0.5 * float(np.log(2.0 * np.pi))
            by_eta[rows] = row.slope @ weights
            by_spread[rows] = row.spread @ weights
            by_threshold[rows] = np.einsum("imk,m->ik", row.steps, weights)
            by_tau += float(self.z[rows] @ row.slope @ (weights * u))
        alpha = np.einsum("ik,iks->s", by_threshold, self.cells.table[self.cells.index])
        gradient = np.concatenate([alpha, self.X.T @ by_eta, self.S.T @ by_spread, [by_tau]])
        assert len(gradient) == s + p + q + 1
        return (total, gradient) if np.isfinite(total) else (np.inf, np.zeros(len(psi)))

    def find_mode(self, psi: Floats, rows: Longs) -> tuple[float, float]:
        """Return û of a level, and 1/h''(û)."""
        u, h, _ = self._integrate(psi, rows)
        mode, v = float(u[h.argmin()]), self.z[rows] * psi[-1]
        bend = 1.0
        for _ in range(3):
            row = self._fill(psi, rows, np.array([mode]))
            bend = 1.0 + float(v**2 @ row.variance[:, 0])
            mode -= (mode + float(v @ row.slope[:, 0])) / bend
        return mode, 1.0 / bend

    def _integrate(self, psi: Floats, rows: Longs) -> tuple[Floats, Floats, _Row]:
        """Return the nodes of a level, h there, and the derivatives of its rows."""
        K = self.cells.table.shape[1] + 1
        v = np.abs(self.z[rows] * psi[-1]) * np.exp(-self._spread(psi, rows))
        step = self.fineness / np.sqrt(1.0 + 0.25 * (K - 1) ** 2 * float(v @ v))
        step = min(step, 0.25 * np.pi / ((K - 1) * max(float(v.max()), 1e-6)))
        coarse = np.arange(-_WIDEST, _WIDEST + _COARSE, _COARSE)
        h = self._fill(psi, rows, coarse).loss.sum(axis=0) + 0.5 * coarse**2
        near = coarse[h <= h.min() + _CUT]
        u = np.arange(near[0] - _COARSE, near[-1] + _COARSE + step, step)
        row = self._fill(psi, rows, u)
        return u, row.loss.sum(axis=0) + 0.5 * u**2, row

    def _spread(self, psi: Floats, rows: Longs) -> Floats:
        """Return log σ of rows."""
        first = self.cells.table.shape[2] + self.X.shape[1]
        return np.asarray(self.S[rows] @ psi[first : first + self.S.shape[1]])

    def _fill(self, psi: Floats, rows: Longs, u: Floats) -> _Row:
        s, p = self.cells.table.shape[2], self.X.shape[1]
        t = self.cells.values(psi[:s])[self.cells.index[rows]]
        one, k = np.exp(-self._spread(psi, rows))[:, None], np.arange(t.shape[1] + 1.0)
        fixed = self.X[rows] @ psi[s : s + p]
        eta = fixed[:, None] + (self.z[rows] * psi[-1])[:, None] * u
        sums = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(t, axis=1)], axis=1)
        q = (k * eta[..., None] - sums[:, None, :]) * one[..., None]
        y = self.codes[rows]
        own, whole = np.take_along_axis(q, y[:, None, None], axis=2)[..., 0], logsumexp(q, axis=2)
        shares = np.exp(q - whole[..., None])
        mean = shares @ k
        above = np.cumsum(shares[..., ::-1], axis=2)[..., ::-1][..., 1:]  # P(y > j)
        steps = ((y[:, None] > np.arange(t.shape[1]))[:, None, :] - above) * one[..., None]
        variance = (shares @ k**2 - mean**2) * one**2
        spread = own - np.einsum("imk,imk->im", shares, q)
        return _Row(whole - own, (mean - y[:, None]) * one, steps, spread, variance)


def solve_integral(design: ModelMatrices, thresholds: Thresholds, points: int) -> Solution:
    """Return the estimates of adjacent categories with one scalar random effect, by quadrature."""
    from scipy.optimize import minimize

    model, unit = Integral(design, thresholds, points), LATENT_SD["logit"]
    best = None
    for scale in _STARTS:
        tau = 0.6 * scale * unit
        alpha = start_cells(design, thresholds, "logit", float(np.hypot(1.0, tau / unit)))
        start = np.concatenate([alpha, np.zeros(model.X.shape[1] + model.S.shape[1]), [tau]])
        found = minimize(model.evaluate, start, jac=True, method="BFGS", options={"gtol": _TOLERANCE})
        if best is None or found.fun < best.fun:
            best = found
        if np.isfinite(best.fun) and np.abs(best.jac).max() < 1e-3:
            break
    assert best is not None
    return _describe(model, design, best, points)


def _describe(model: Integral, design: ModelMatrices, best: object, points: int) -> Solution:
    """Return the solution: a Newton step from where the search ended, and the curvature there."""
    psi: Floats = np.array(best.x, dtype=np.float64)  # type: ignore[attr-defined]
    steps = int(best.nit)  # type: ignore[attr-defined]
    size = len(psi) - 1
    if 0.0 < abs(psi[-1]) < _NEARLY_ZERO:
        zero = np.append(psi[:-1], 0.0)
        if model.evaluate(zero)[0] <= model.evaluate(psi)[0] + 1e-5:
            psi = zero
    end = polish(psi, size, model.evaluate)
    psi, covariance = end.psi, end.covariance
    s, p, largest = model.cells.table.shape[2], model.X.shape[1], float(np.abs(end.gradient).max())
    lambdas = (np.array([[abs(psi[-1])]]),)
    modes = np.array([model.find_mode(psi, rows) for rows in model.levels])
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
        modes=(psi[-1] * modes[:, :1],),
        deviations=(abs(psi[-1]) * np.sqrt(modes[:, 1:]),),
        optimum=Optimum(
            method="BFGS with the exact gradient, then Newton",
            converged=end.finite and largest < 1e-3 * max(1.0, 1e-4 * len(design.rows)),
            reason="the slope is below the tolerance" if largest < 1e-3 else "the limit on steps was reached",
            steps=steps,
            evaluations=model.evaluations,
            gradient=largest,
            condition=scaled_condition(end.curvature),
            tolerance=_TOLERANCE,
        ),
        notes=tuple(singular),
        singular=bool(singular),
        points=points,
    )
