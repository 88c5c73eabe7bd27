"""The Laplace likelihood of a chain of choices with random preferences, and its exact gradient.

A stage is one choice among alternatives with utilities η = Xβ + Vu, p = softmax(η); V = Σ_t ω_t Z_t with one
standard deviation for each term, u ~ N(0, I). With N = h(û) + ½ log|H|,

    h(u) = −Σ log p_chosen + ½u'u,        H = V'MV + I,        M = diag(p) − pp' in each stage

and K = V H⁻¹V' within a stage, the slope of ½ log|H| in η_a is ½p_a{K_aa − 2(Kp)_a − Σ_b p_bK_bb + 2p'Kp}.
The adjoint r = H⁻¹V'(that slope) carries it to every parameter, as in likelihoods/laplace.py.

Rankings (the best of all, the best of the rest, …), choices of one, best-worst sets and pairs are such
chains, with the signs of X and Z turned where the worst is chosen. McFadden & Train (2000, Mixed MNL models
for discrete response, Journal of Applied Econometrics 15).
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from panelist.models.blocks.sparse import SparseFactor, SparseInverse, factorise, invert
from panelist.models.choices.preferences import RandomPreferences
from panelist.numerics.arrays import Bools, Floats, Longs

_STEPS = 60
_ACCURACY = 1e-13  # of the Newton decrement


@dataclass(frozen=True, eq=False)
class ChoiceStages:
    """Alternatives in the order of their stages; nothing changes during a fit. ψ = (β, ω)."""

    X: Floats = field(repr=False)  # (n, p)
    of_stage: Longs = field(repr=False)  # (n,)
    chosen: Bools = field(repr=False)  # (n,)
    terms: tuple[RandomPreferences, ...]  # the one with the most effects first

    @cached_property
    def starts(self) -> Longs:
        """The first row of each stage."""
        return np.flatnonzero(np.diff(self.of_stage, prepend=-1))

    @cached_property
    def Z(self) -> tuple[Any, ...]:
        """Z of each term, sparse."""
        return tuple(term.matrix() for term in self.terms)

    @cached_property
    def couples(self) -> tuple[Longs, Longs]:
        """All pairs of rows that belong to one stage, (a, b)."""
        sizes = np.diff(np.append(self.starts, len(self.of_stage)))
        first, second = [], []
        for m in np.unique(sizes):
            rows = self.starts[sizes == m][:, None] + np.arange(m)
            first.append(np.repeat(rows, m, axis=1).ravel())
            second.append(np.tile(rows, (1, m)).ravel())
        return np.concatenate(first), np.concatenate(second)

    @property
    def n_effects(self) -> int:
        """How many random effects there are."""
        return sum(term.size for term in self.terms)


class _Mode(NamedTuple):
    value: float
    u: Floats
    p: Floats
    V: Any
    factor: SparseFactor


class LaplaceValue(NamedTuple):
    """N and its gradient at ψ, and the mode of the random effects; N is infinite where there is none."""

    value: float
    gradient: Floats
    u: Floats


def evaluate_stages(model: ChoiceStages, psi: Floats, u: Floats) -> LaplaceValue:
    """Return N(ψ), its gradient, and the mode, which is searched for from ``u``."""
    mode = _find_mode(model, psi, u)
    if mode is None:
        return LaplaceValue(np.inf, np.full(len(psi), np.nan), u)
    count, p = model.X.shape[1], mode.p
    omega = psi[count:]
    a, b = model.couples
    inverse = invert(mode.factor)
    K, by_term = _couple(model, omega, inverse)
    n = len(p)
    Kp = np.bincount(a, weights=K * p[b], minlength=n)
    own = np.zeros(n)
    own[a[a == b]] = K[a == b]
    inside = _per_stage(model, p * own) - 2.0 * _per_stage(model, p * Kp)
    half = 0.5 * p * (own - 2.0 * Kp - inside[model.of_stage])
    r = mode.factor.solve(mode.V.T @ half)
    miss = p - model.chosen
    Vr = mode.V @ r
    slope = miss + half - p * (Vr - _per_stage(model, p * Vr)[model.of_stage])
    gradient = np.empty(len(psi))
    gradient[:count] = model.X.T @ slope
    M = np.where(a == b, p[a], 0.0) - p[a] * p[b]
    first = 0
    for t, (term, Z) in enumerate(zip(model.terms, model.Z, strict=True)):
        mine = slice(first, first + term.size)
        pull = slope @ (Z @ mode.u[mine]) - miss @ (Z @ r[mine])
        gradient[count + t] = pull + float((M * by_term[t]).sum())
        first += term.size
    return LaplaceValue(mode.value, gradient, mode.u)


def _find_mode(model: ChoiceStages, psi: Floats, u: Floats) -> _Mode | None:
    """Return the mode by Newton's method, which has one answer: h is convex."""
    from scipy.sparse import csr_array, eye_array, hstack

    count = model.X.shape[1]
    V = hstack([w * Z for w, Z in zip(psi[count:], model.Z, strict=True)], format="csr")
    fixed = model.X @ psi[:count]
    rows = np.arange(len(fixed))
    lead = model.terms[0]
    shape = (len(model.starts), len(fixed))
    h, p = _measure(model, fixed + V @ u, u)
    if not np.isfinite(h):
        u = np.zeros_like(u)
        h, p = _measure(model, fixed, u)
    for _ in range(_STEPS):
        mean = csr_array((p, (model.of_stage, rows)), shape=shape) @ V
        H = V.T @ V.multiply(p[:, None]).tocsr() - mean.T @ mean + eye_array(len(u), format="csr")
        factor = factorise(H, lead.width, lead.size)
        if factor is None:
            return None
        gradient = V.T @ (p - model.chosen) + u
        push = factor.solve(gradient)
        decrement, size = float(gradient @ push), 1.0
        if decrement < _ACCURACY:
            return _Mode(h - 0.5 * decrement + 0.5 * factor.logdet, u, p, V, factor)
        while size > 1e-8:
            trial = u - size * push
            new, p = _measure(model, fixed + V @ trial, trial)
            if new <= h - 1e-4 * size * decrement or decrement < 1e-9:
                break
            size /= 2
        u, h = trial, new
    return None


def _measure(model: ChoiceStages, eta: Floats, u: Floats) -> tuple[float, Floats]:
    """Return h(u) and the choice probabilities."""
    top = np.maximum.reduceat(eta, model.starts)
    weight = np.exp(eta - top[model.of_stage])
    total = np.add.reduceat(weight, model.starts)
    lost = float((top + np.log(total)).sum() - eta[model.chosen].sum())
    return lost + 0.5 * float(u @ u), weight / total[model.of_stage]


def _couple(model: ChoiceStages, omega: Floats, inverse: SparseInverse) -> tuple[Floats, list[Floats]]:
    """Return K = v_a'H⁻¹v_b for all rows of one stage, and z_a'H⁻¹v_b of each term in the place of v_a."""
    a, b = model.couples
    columns: list[tuple[int, Longs, Floats]] = []
    first = 0
    for t, term in enumerate(model.terms):
        for c in range(term.place.shape[1]):
            columns.append((t, first + term.place[:, c], term.value[:, c]))
        first += term.size
    by_term = [np.zeros(len(a)) for _ in model.terms]
    for t, place, value in columns:
        reached = np.zeros(len(a))
        for s, other, weight in columns:
            reached += omega[s] * weight[b] * inverse.entries(place[a], other[b])
        by_term[t] += value[a] * reached
    return sum((w * one for w, one in zip(omega, by_term, strict=True)), np.zeros(len(a))), by_term


def _per_stage(model: ChoiceStages, values: Floats) -> Floats:
    total: Floats = np.add.reduceat(values, model.starts)
    return total
