"""Profile likelihood: how far a parameter can be moved before the best fit with it held there is too bad.

With N(φ) = −log L and φ_k held at v, ζ(v) = sign(v − φ̂_k) √(2 (min N − N̂)) is nearly linear in v, and the
interval ends where it reaches ± the normal quantile (Bates & Watts 1988, Nonlinear Regression Analysis, 6.1;
as R's confint for clm and lmer). Every parameter is one coordinate of φ:

    clm, clmm   φ = (α, β, ζ, τ)
    lmm         φ = (σθ, log σ), with β at its best; or (σθ, log σ, β_k), with the others at their best

The standard deviation of a random effect is a coordinate where its column comes first in its block, because
then Λ₁₁ is all of it; so the columns are put in that order, which changes nothing else.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from panelist.core.errors import BadModel
from panelist.models.blocks.pattern import find_pattern
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.cells import find_cells, lay_rows
from panelist.models.likelihoods.covariance import free_entries
from panelist.models.likelihoods.deviance import Linear, evaluate_deviance, make_deviance_workspace
from panelist.models.likelihoods.laplace import FINAL, make_laplace_workspace
from panelist.models.likelihoods.link_functions import D1, N_ENTRIES, A, B, link_code
from panelist.models.search.bfgs import F, make_search
from panelist.models.search.entry_points import begin, evaluate, fill_rows, judge, propose
from panelist.models.solvers.solution import rectify
from panelist.numerics.arrays import Floats, Longs
from panelist.numerics.normal import FAR

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit

_TOLERANCE = 1e-10  # predicted gain in log-likelihood at which a constrained search ends
_MAX_STEPS = 300
_CLOSE = 1e-6  # of a standard error: how precisely an end of the interval is found
_FARTHEST = 1e3  # standard errors: an end that is not found within these is infinite


class Objective(Protocol):
    """−log L over φ, with its gradient."""

    def evaluate(self, phi: Floats) -> tuple[float, Floats]:
        """Return value and gradient; inf where φ is impossible."""


@dataclass(frozen=True, eq=False)
class ProfileTarget:
    """A parameter to profile: coordinate ``place`` of an objective whose optimum is ``optimum``."""

    objective: Objective
    optimum: Floats
    scales: Floats  # about the standard error of each coordinate
    place: int
    diagonal: tuple[int, ...] = ()  # coordinates that are diagonal entries of Λ
    positive: bool = False  # a standard deviation: symmetric about zero, never below it
    logarithmic: bool = False  # the coordinate is the logarithm of the parameter
    unit: float = 1.0  # what the parameter is to be multiplied by


@dataclass(frozen=True)
class Ends:
    """A profile interval; ``better`` is the log-likelihood by which a constrained fit beat the estimate."""

    low: float
    high: float
    better: float = 0.0


def find_ends(target: ProfileTarget, quantile: float) -> Ends:
    """Return where the profile reaches the quantile on either side; infinite where it never does."""
    profile = _Profile(target)
    centre = float(target.optimum[target.place])
    if not target.positive:
        low = profile.walk(-1.0, quantile)
    elif centre <= 0.0 or profile.zeta(0.0) > -quantile:
        low = 0.0
    else:
        low = profile.refine(0.0, centre, quantile)
    high = profile.walk(1.0, quantile)
    if target.logarithmic:
        low, high = float(np.exp(low)), float(np.exp(high))
    return Ends(target.unit * low, target.unit * high, profile.better)


class _Profile:
    """ζ(v) along one coordinate; each constrained fit starts from the nearest one before."""

    def __init__(self, target: ProfileTarget) -> None:
        self.target = target
        self.value, _ = target.objective.evaluate(target.optimum)
        if not np.isfinite(self.value):
            raise BadModel(
                "The likelihood is not finite at the estimates, so it has no profile. Refit the model."
            )
        self.free = np.delete(np.arange(len(target.optimum)), target.place)
        hessian = _curvature(target)
        self.metric = _invert_positive(hessian[np.ix_(self.free, self.free)])
        self.tangent = -self.metric @ hessian[self.free, target.place]
        information = hessian[target.place, target.place] + hessian[target.place, self.free] @ self.tangent
        scale = float(target.scales[target.place])
        self.se = min(1.0 / np.sqrt(information), 5.0 * scale) if information > 0.0 else scale
        self.known: dict[float, tuple[float, Floats]] = {
            float(target.optimum[target.place]): (0.0, target.optimum[self.free])
        }
        self.better = 0.0

    def zeta(self, v: float) -> float:
        """Return the signed root of twice the loss in log-likelihood with the coordinate held at v."""
        if v in self.known:
            return self.known[v][0]
        near = min(self.known, key=lambda w: abs(w - v))
        search = make_search(self.known[near][1] + (v - near) * self.tangent, self.metric)
        for place in self.target.diagonal:  # zero is stationary by symmetry, and so not a place to start from
            if place != self.target.place:
                at = int(np.searchsorted(self.free, place))
                search.trial[at] = max(abs(search.trial[at]), 0.05)
        begin(search, self._at(v, search.trial, search.trial_gradient))
        if not np.isfinite(search.state[F]):  # the tangent left the possible points
            search.trial[:] = self.known[near][1]
            begin(search, self._at(v, search.trial, search.trial_gradient))
        while propose(search, _TOLERANCE, _MAX_STEPS):
            judge(search, self._at(v, search.trial, search.trial_gradient))
        loss = float(search.state[F]) - self.value
        self.better = max(self.better, -loss)
        zeta = float(np.sign(v - self.target.optimum[self.target.place]) * np.sqrt(2.0 * max(loss, 0.0)))
        self.known[v] = (zeta, search.point.copy())
        return zeta

    def walk(self, sign: float, quantile: float) -> float:
        """Return the v on this side at which |ζ| is the quantile, or infinity."""
        inner = centre = float(self.target.optimum[self.target.place])
        inner_zeta, step = 0.0, quantile * self.se
        while abs(inner - centre) < _FARTHEST * self.se:
            v = inner + sign * step
            zeta = abs(self.zeta(v))
            if not np.isfinite(zeta) or zeta >= quantile:
                return self.refine(v, inner, quantile)
            # ζ is nearly linear: continue along the chord, a little further so as to pass the quantile.
            rise = max(zeta - inner_zeta, 1e-2 * quantile)
            step = min(1.1 * (quantile - zeta) / rise, 4.0) * step + 1e-3 * self.se
            inner, inner_zeta = v, zeta
        return sign * np.inf

    def refine(self, outer: float, inner: float, quantile: float) -> float:
        """Return the v between a point beyond the quantile and one within it."""
        from scipy.optimize import brentq

        while not np.isfinite(self.zeta(outer)):  # an impossible point is beyond, but has no chord
            middle = 0.5 * (outer + inner)
            if np.isfinite(self.zeta(middle)) and abs(self.zeta(middle)) < quantile:
                inner = middle
            else:
                outer = middle
            if abs(outer - inner) < _CLOSE * self.se:  # probabilities were lost to rounding, far out
                return float(np.copysign(np.inf, outer - inner))
        return float(brentq(lambda v: abs(self.zeta(v)) - quantile, inner, outer, xtol=_CLOSE * self.se))

    def _at(self, v: float, free: Floats, gradient: Floats) -> float:
        phi = np.insert(free, self.target.place, v)
        value, slope = self.target.objective.evaluate(phi)
        gradient[:] = slope[self.free]
        return value


def _curvature(target: ProfileTarget) -> Floats:
    """Return the Hessian at the optimum, by central differences of the exact gradient."""
    k = len(target.optimum)
    hessian = np.zeros((k, k))
    for c in range(k):
        step = np.zeros(k)
        step[c] = 1e-3 * target.scales[c]
        up, above = target.objective.evaluate(target.optimum + step)
        down, below = target.objective.evaluate(target.optimum - step)
        if np.isfinite(up) and np.isfinite(down):
            hessian[c] = (above - below) / (2.0 * step[c])
    return 0.5 * (hessian + hessian.T)


def _invert_positive(hessian: Floats) -> Floats:
    """Return the inverse with its eigenvalues made positive: a metric to start a search from."""
    size = np.sqrt(np.abs(np.diag(hessian)))
    size[~(size > 1e-6)] = 1.0
    values, vectors = np.linalg.eigh(hessian / np.outer(size, size))
    inverse: Floats = (vectors / np.maximum(np.abs(values), 1e-3)) @ vectors.T / np.outer(size, size)
    return inverse


def profile_least_squares(fit: "Fit", kind: str, place: int, quantile: float) -> Ends:
    """Return the profile interval of an effect or of σ in a linear model, whose likelihood is ML's.

    With β_k held, d grows by n log(1 + t²/(n − p)); σ² is profiled about RSS/n, so that the interval of σ
    need not be centred on the estimate with n − p.
    """
    from scipy.optimize import brentq

    n, p = fit.design.X.shape
    if kind == "effect":
        half = np.sqrt(fit.vcov[place, place] * (n - p) * np.expm1(quantile**2 / n))
        return Ends(float(fit.beta[place] - half), float(fit.beta[place] + half))
    best = fit.sigma * np.sqrt((n - p) / n)

    def excess(ratio: float) -> float:  # of the deviance at σ = ratio · best
        return float(n * (2.0 * np.log(ratio) + ratio**-2 - 1.0) - quantile**2)

    return Ends(best * brentq(excess, 1e-6, 1.0), best * brentq(excess, 1.0, 1e3))


# ---- targets -----------------------------------------------------------------------------------------------
def find_target(fit: "Fit", kind: str, group: str, place: int) -> ProfileTarget:
    """Return the target of a parameter by its kind: threshold, effect, scale, sd, stretch, or residual.

    ``place`` counts within the threshold parameters, the fixed effects, or the columns of the grouping
    factor ``group``. A linear mixed model must have been fitted by ML.
    """
    design, lambdas = fit.design, fit.solution.lambdas
    entry = 0
    if kind == "sd":
        design, lambdas, entry = _put_first(design, lambdas, group, place)
    rows, columns, slots = free_entries(design.factors)
    tau = _entries(lambdas, rows, columns)[np.unique(slots, return_index=True)[1]]
    diagonal = np.unique(slots[rows == columns])
    if fit.model == "lmm":
        unit = float(np.std(design.y)) or 1.0
        held = place if kind == "effect" else None
        sizes = fit.sigma / unit * np.append(tau, 1.0)
        optimum = np.append(sizes[:-1], np.log(sizes[-1]))
        scales = np.append(np.full(len(tau), 0.1), 0.05)
        if held is not None:
            optimum = np.append(optimum, fit.beta[held] / unit)
            scales = np.append(scales, np.sqrt(fit.vcov[held, held]) / unit)
        at = {"sd": entry, "residual": len(tau), "effect": len(tau) + 1}[kind]
        return ProfileTarget(
            _Deviance(design, held, unit),
            optimum,
            scales,
            at,
            tuple(map(int, diagonal)),
            positive=kind == "sd",
            logarithmic=kind == "residual",
            unit=unit,
        )
    s, p = len(fit.solution.alpha), len(fit.beta)
    spreads = [*tau, fit.solution.omega] if design.stretch is not None else tau
    optimum = np.concatenate([fit.solution.alpha, fit.beta, fit.solution.zeta, spreads])
    last = len(optimum) - 1
    size = len(optimum) - len(spreads)
    first = {"threshold": 0, "effect": s, "scale": s + p, "sd": size + entry - place, "stretch": last}
    errors = np.sqrt(np.abs(np.diag(fit.solution.joint_vcov)))
    scales = np.append(np.where(errors > 0.0, np.minimum(errors, 1.0), 0.1), np.full(len(spreads), 0.1))
    upright = (*(size + int(k) for k in diagonal), *range(size + len(tau), last + 1))
    objective, positive = _ordinal_objective(replace(fit, design=design)), kind in ("sd", "stretch")
    return ProfileTarget(objective, optimum, scales, first[kind] + place, upright, positive=positive)


def _put_first(
    design: ModelMatrices, lambdas: tuple[Floats, ...], group: str, place: int
) -> tuple[ModelMatrices, tuple[Floats, ...], int]:
    """Return design and Λ with a column of a grouping factor first in its block, and its entry in τ."""
    factors, turned = list(design.factors), list(lambdas)
    which = next(k for k, factor in enumerate(factors) if factor.name == group)
    factor = factors[which]
    start, stop = next(block for block in factor.blocks if block[0] <= place < block[1])
    order = np.arange(len(factor.columns))
    order[start:stop] = [place, *(c for c in range(start, stop) if c != place)]
    factors[which] = replace(
        factor, columns=tuple(factor.columns[c] for c in order), Z=np.ascontiguousarray(factor.Z[:, order])
    )
    if factor.shared:  # one standard deviation, whichever column
        order[:] = np.arange(len(order))
    # λ = R' of (Pλ)' = QR has the same covariance and is lower triangular again.
    turned[which] = rectify(np.tril(np.asarray(np.linalg.qr(lambdas[which][order].T, mode="r")).T))
    rows, columns, slots = free_entries(tuple(factors))
    at = sum(len(f.columns) for f in factors[:which]) + start
    entry = int(slots[(rows == at) & (columns == at)][0])
    return replace(design, factors=tuple(factors)), tuple(turned), entry


def _entries(lambdas: tuple[Floats, ...], rows: Longs, columns: Longs) -> Floats:
    """Return the free entries of the block-diagonal Λ."""
    size = sum(len(block) for block in lambdas)
    whole, first = np.zeros((size, size)), 0
    for block in lambdas:
        whole[first : first + len(block), first : first + len(block)] = block
        first += len(block)
    return whole[rows, columns]


# ---- objectives --------------------------------------------------------------------------------------------
def _ordinal_objective(fit: "Fit") -> Objective:
    if fit.model == "clm" and (fit.design.scale is not None or fit.family == "adjacent"):
        return _Laplace(fit)
    if fit.model == "clm":
        return _Flat(fit)
    if fit.design.stretch is not None:
        from panelist.models.solvers.spread_effects import SpreadEffects

        return SpreadEffects(fit.design, str(fit.link), fit.structure)  # type: ignore[arg-type]
    if fit.method != "Laplace" and fit.family == "adjacent":
        from panelist.models.solvers.adjacent_integral import Integral

        return Integral(fit.design, fit.structure, fit.solution.points)  # type: ignore[arg-type]
    return _Laplace(fit) if fit.method == "Laplace" else _Quadrature(fit)


class _Flat:
    """A cumulative link model without random effects."""

    def __init__(self, fit: "Fit") -> None:
        assert fit.structure is not None
        assert fit.link is not None
        laid, self.edges = lay_rows(fit.design, find_cells(fit.design, fit.structure))
        self.X, self.rows = laid.X, np.empty((N_ENTRIES, len(laid.X)))
        self.link = link_code(fit.link)

    def evaluate(self, phi: Floats) -> tuple[float, Floats]:
        """Return −log L and its gradient by (α, β)."""
        upper, lower, J, joined = self.edges
        s, count = J.shape[1], len(J)
        edges = np.concatenate([[-FAR], J @ phi[:s], [FAR]])
        if not np.all(np.diff(edges[:-1])[joined == 1] > 0.0):
            return np.inf, np.zeros(len(phi))
        value = float(fill_rows(self.link, edges[upper], edges[lower], self.X @ phi[s:], self.rows))
        if not np.isfinite(value):
            return np.inf, np.zeros(len(phi))
        above = np.bincount(upper, self.rows[A], count + 2)[1:-1]
        below = np.bincount(lower, self.rows[B], count + 2)[1:-1]
        return value, np.concatenate([J.T @ (below - above), self.X.T @ self.rows[D1]])


class _Laplace:
    """An ordinal mixed model by the Laplace approximation, or one without random effects."""

    def __init__(self, fit: "Fit") -> None:
        from panelist.models.solvers.clm import make_flat_model
        from panelist.models.solvers.clmm import make_model

        assert fit.structure is not None
        assert fit.link is not None
        make = make_model if fit.design.factors else make_flat_model
        self.model = make(fit.design, fit.link, fit.structure)
        self.work = make_laplace_workspace(self.model)

    def evaluate(self, phi: Floats) -> tuple[float, Floats]:
        """Return −log L and its gradient by (α, β, τ)."""
        gradient = np.zeros(len(phi))
        return float(evaluate(self.model, phi, self.work, gradient, FINAL)), gradient


class _Quadrature:
    """An ordinal model with one or two nested random effects, by adaptive quadrature."""

    def __init__(self, fit: "Fit") -> None:
        from panelist.models.likelihoods.nests import make_nest
        from panelist.models.solvers.quadrature import make_modes

        assert fit.structure is not None
        assert fit.link is not None
        self.model, _ = make_nest(fit.design, fit.link, fit.structure, fit.solution.points)
        self.modes = make_modes(self.model)

    def evaluate(self, phi: Floats) -> tuple[float, Floats]:
        """Return −log L and its gradient by (α, β, τ)."""
        from panelist.models.likelihoods.nested_likelihood import evaluate_quadrature

        gradient = np.zeros(len(phi))
        return float(evaluate_quadrature(self.model, phi, self.modes, gradient)), gradient


class _Deviance:
    """A linear mixed model by ML over (σθ, log σ) and, where it is held, β_k; the other β at their best."""

    def __init__(self, design: ModelMatrices, held: int | None, unit: float) -> None:
        pattern = find_pattern(design.factors)
        X, self.y = design.X[pattern.order], design.y[pattern.order] / unit
        self.x = None if held is None else X[:, held]
        X = np.ascontiguousarray(X if held is None else np.delete(X, held, axis=1))
        self.model = Linear(pattern, X, self.y.copy(), *free_entries(design.factors), False)
        self.work = make_deviance_workspace(self.model)

    def evaluate(self, phi: Floats) -> tuple[float, Floats]:
        """Return ½ d(θ, σ), the deviance not profiled over σ, and its gradient."""
        r, n, gradient = int(self.model.tau_slot[-1]) + 1, len(self.y), np.zeros(len(phi))
        sigma = float(np.exp(phi[r]))
        theta = phi[:r] / sigma
        if self.x is not None:
            self.model.y[:] = self.y - phi[-1] * self.x
        slopes, precision = np.zeros(r), 1.0 / sigma**2
        if not np.all(np.isfinite(theta)) or not np.isfinite(
            evaluate_deviance(self.model, theta, precision, self.work, slopes)
        ):
            return np.inf, gradient
        square, logdet = float(self.work.scalars[0]) / sigma**2, float(self.work.scalars[1])
        gradient[r] = n - square - 0.5 * float(theta @ slopes)
        gradient[:r] = 0.5 / sigma * slopes
        if self.x is not None:
            gradient[-1] = -float(self.x @ self.work.e) / sigma**2
        return 0.5 * (logdet + square + n * float(np.log(2.0 * np.pi * sigma**2))), gradient
