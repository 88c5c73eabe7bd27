"""The Laplace likelihood of an ordinal mixed model whose raters have random spreads, and its exact gradient.

log σ_i = s_i'ζ + ωv with v ~ N(0, 1) for each rater, so that the random effects w = (u, v) move two
predictors of a row, x = (η, log σ). With G_i = ∂x_i/∂w and M_i the second derivatives of −log p_i by x,

    N = h(ŵ) + ½ log|H|,    h(w) = −Σ log p_i + ½w'w,    H = G'MG + I

p = F(a) − F(b) with a = (t_k − η)/σ and b alike, so that all derivatives, to the third, follow by the chain
rule from those of −log p in a and b. K_i = G_iH⁻¹G_i' and the adjoint r = H⁻¹G'(½ Σ_jk M'_jk K_jk) carry the
slopes to every parameter, as in likelihoods/laplace.py.

M has negative directions where a rating is far out, so that away from the mode H may have none of its
factors; the step then is that of the positive part of M. Effects are eliminated as in blocks/sparse.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from panelist.models.blocks.sparse import SparseFactor, factorise, invert
from panelist.models.formulas.grouping import Factor
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.cells import find_cells, lay_rows
from panelist.models.likelihoods.covariance import free_entries
from panelist.models.likelihoods.link_functions import (
    A_BEND,
    A_TILT,
    B_BEND,
    B_TILT,
    D1,
    N_ENTRIES,
    A,
    B,
    W,
    link_code,
)
from panelist.models.likelihoods.thresholds import Thresholds
from panelist.models.search.entry_points import fill_rows
from panelist.numerics.arrays import Floats, Longs
from panelist.numerics.normal import FAR

ETA, LOG_SIGMA, UPPER, LOWER = range(4)  # what a row depends on; the last two are its thresholds
_STEPS = 100
_ACCURACY = 1e-12  # of the Newton decrement at which one step is left: N needs the mode itself to 10⁻¹²
_WIDEST = 30.0  # log σ beyond which no spread lies


class RowSlopes(NamedTuple):
    """Derivatives of −log p of each row: by all it depends on, and again by η and log σ, once and twice."""

    first: Floats  # (n, 4)
    second: Floats  # (n, 4, 2)
    third: Floats  # (n, 4, 2, 2)


class Mode(NamedTuple):
    """Where h has its minimum, and what is known there."""

    value: float
    w: Floats
    slopes: RowSlopes
    factor: SparseFactor


def find_slopes(
    link: int, high: Floats, low: Floats, eta: Floats, log_sigma: Floats
) -> tuple[float, RowSlopes | None]:
    """Return −Σ log p and the derivatives of every row; inf and None where a probability is lost."""
    with np.errstate(over="ignore"):
        s = np.exp(-log_sigma)
    if not (np.abs(log_sigma) < _WIDEST).all() or not np.isfinite(eta).all():
        return np.inf, None
    has_a, has_b = high < FAR, low > -FAR
    upper, lower = np.where(has_a, high * s, FAR), np.where(has_b, low * s, -FAR)
    rows = np.empty((N_ENTRIES, len(eta)))
    lost = float(fill_rows(link, upper, lower, eta * s, rows))
    if not np.isfinite(lost):
        return np.inf, None
    a, b = np.where(has_a, upper - eta * s, 0.0), np.where(has_b, lower - eta * s, 0.0)
    return lost, _chain(_by_ends(rows), a, b, s)


def _by_ends(rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the derivatives of −log(F(a) − F(b)) by (a, b): (n, 2), (n, 2, 2) and (n, 2, 2, 2)."""
    n, d1 = rows.shape[1], rows[D1]
    d2, fa, fb = d1 * d1 - rows[W], rows[A], rows[B]
    fa1, fb1 = rows[A_TILT] + d1 * fa, d1 * fb - rows[B_TILT]
    fa2 = 2.0 * d1 * rows[A_TILT] - rows[A_BEND] + d2 * fa
    fb2 = rows[B_BEND] - 2.0 * d1 * rows[B_TILT] + d2 * fb
    one, two, three = np.empty((n, 2)), np.empty((n, 2, 2)), np.empty((n, 2, 2, 2))
    one[:, 0], one[:, 1] = -fa, fb
    two[:, 0, 0], two[:, 1, 1] = fa * fa - fa1, fb * fb + fb1
    two[:, 0, 1] = two[:, 1, 0] = -fa * fb
    three[:, 0, 0, 0] = 3.0 * fa * fa1 - fa2 - 2.0 * fa**3
    three[:, 1, 1, 1] = 3.0 * fb * fb1 + fb2 + 2.0 * fb**3
    three[:, 0, 0, 1] = three[:, 0, 1, 0] = three[:, 1, 0, 0] = (2.0 * fa * fa - fa1) * fb
    three[:, 0, 1, 1] = three[:, 1, 0, 1] = three[:, 1, 1, 0] = -fa * (2.0 * fb * fb + fb1)
    return one, two, three


def _chain(ends: tuple[Floats, Floats, Floats], a: Floats, b: Floats, s: Floats) -> RowSlopes:
    """Return the derivatives by (η, log σ, thresholds) of a function of a and b; s is 1/σ."""
    (one, two, three), n = ends, len(s)
    D, D2, D3 = np.zeros((n, 2, 4)), np.zeros((n, 2, 4, 2)), np.zeros((n, 2, 4, 2, 2))
    for end, (value, own) in enumerate(((a, UPPER), (b, LOWER))):
        D[:, end, ETA], D[:, end, LOG_SIGMA], D[:, end, own] = -s, -value, s
        D2[:, end, ETA, LOG_SIGMA] = D2[:, end, LOG_SIGMA, ETA] = s
        D2[:, end, LOG_SIGMA, LOG_SIGMA], D2[:, end, own, LOG_SIGMA] = value, -s
        for place in ((ETA, 1, 1), (LOG_SIGMA, 0, 1), (LOG_SIGMA, 1, 0)):
            D3[:, end, *place] = -s
        D3[:, end, LOG_SIGMA, 1, 1], D3[:, end, own, 1, 1] = -value, s
    x, x2 = D[:, :, :2], D2[:, :, :2]
    bent = np.einsum("nab,nai->nib", two, D)  # (n, 4, 2)
    second = np.einsum("nib,nbj->nij", bent, x) + np.einsum("na,naij->nij", one, D2)
    third = np.einsum("nabc,nai,nbj,nck->nijk", three, D, x, x, optimize=True)
    third += np.einsum("nib,nbjk->nijk", bent, x2)
    across = np.einsum("naij,nab,nbk->nijk", D2, two, x, optimize=True)
    third += across + np.swapaxes(across, 2, 3) + np.einsum("na,naijk->nijk", one, D3)
    return RowSlopes(np.einsum("na,nai->ni", one, D), second, third)


@dataclass(frozen=True, eq=False)
class _Columns:
    """Where the effects of a row stand in w, factor by factor, v last."""

    place: Longs  # (n, m + 1)
    Z: Floats  # (n, m)
    lead: int  # effects of the first factor
    width: int  # and of one of its levels
    count: int


def _lay_columns(factors: tuple[Factor, ...], stretch: Factor) -> _Columns:
    places, first = [], 0
    for factor in (*factors, stretch):
        wide = len(factor.columns)
        places.append(first + factor.index.astype(np.int64)[:, None] * wide + np.arange(wide))
        first += len(factor.levels) * wide
    lead = len(factors[0].levels) * len(factors[0].columns)
    Z = np.hstack([factor.Z for factor in factors])
    return _Columns(np.hstack(places), Z, lead, len(factors[0].columns), first)


class SpreadEffects:
    """−log L of a design with random spreads, over ψ = (α, β, ζ, τ, ω); searches begin at the last mode."""

    def __init__(self, design: ModelMatrices, link: str, thresholds: Thresholds) -> None:
        assert design.stretch is not None
        laid, self.edges = lay_rows(design, find_cells(design, thresholds))
        self.design, self.link, self.X = design, link_code(link), laid.X
        self.S = design.scale.matrix if design.scale is not None else np.empty((len(self.X), 0))
        self.columns = _lay_columns(design.factors, design.stretch)
        self.entries = free_entries(design.factors)
        self.sizes = self.edges.J.shape[1], self.X.shape[1], self.S.shape[1]
        self.w = np.zeros(self.columns.count)
        self.evaluations = 0

    def make_lambda(self, psi: Floats) -> Floats:
        """Return Λ of all factors of the location, block after block."""
        rows, columns, slots = self.entries
        whole = np.zeros((self.columns.Z.shape[1],) * 2)
        whole[rows, columns] = psi[sum(self.sizes) + slots]
        return whole

    def evaluate(self, psi: Floats) -> tuple[float, Floats]:
        """Return N(ψ) and its gradient; inf where ψ is impossible or no mode is found."""
        self.evaluations += 1
        mode = self.find_mode(psi)
        if mode is None:
            return np.inf, np.zeros(len(psi))
        self.w = mode.w
        V, (first, second, third) = self.columns.Z @ self.make_lambda(psi), mode.slopes
        G = self._predictors(V, psi[-1])
        reached = self._reach(V, psi[-1], mode.factor)  # (n, 2, m + 1): H⁻¹ of each row of G
        own, place, omega = self.columns.place[:, :-1], self.columns.place, psi[-1]
        K = np.empty((len(V), 2, 2))
        K[:, 0, 0] = np.einsum("nm,nm->n", V, reached[:, 0, :-1])
        K[:, 1, 1] = omega * reached[:, 1, -1]
        K[:, 0, 1] = K[:, 1, 0] = omega * reached[:, 0, -1]
        half = 0.5 * np.einsum("nijk,njk->ni", third, K)
        r = mode.factor.solve(G[0].T @ half[:, ETA] + G[1].T @ half[:, LOG_SIGMA])
        along = np.stack([G[0] @ r, G[1] @ r], axis=1)
        slope = first + half - np.einsum("nij,nj->ni", second, along)
        # What moves with Λ and ω is G itself: h through x, log|H| through G, the mode through ∂h/∂w.
        bent = np.einsum("nij,njm->nim", second[:, :2], reached)  # (n, 2, m + 1)
        u, low = mode.w[own], r[own]
        moved = slope[:, ETA, None] * u + bent[:, ETA, :-1] - first[:, ETA, None] * low
        by_lambda = self.columns.Z.T @ moved
        rows, cols, slots = self.entries
        by_tau = np.bincount(slots, by_lambda[rows, cols])
        v, last = mode.w[place[:, -1]], r[place[:, -1]]
        by_omega = slope[:, LOG_SIGMA] @ v + bent[:, LOG_SIGMA, -1].sum() - first[:, LOG_SIGMA] @ last
        upper, lower, J, _ = self.edges
        size = len(J) + 2
        by_edge = np.bincount(upper, slope[:, UPPER], size) + np.bincount(lower, slope[:, LOWER], size)
        fixed = [J.T @ by_edge[1:-1], self.X.T @ slope[:, ETA], self.S.T @ slope[:, LOG_SIGMA]]
        return mode.value, np.concatenate([*fixed, by_tau, [by_omega]])

    def find_mode(self, psi: Floats) -> Mode | None:
        """Return the mode of the random effects, by Newton steps from where the last one was."""
        (s, p, q), (upper, lower, J, joined) = self.sizes, self.edges
        edges = np.concatenate([[-FAR], J @ psi[:s], [FAR]])
        if not np.all(np.diff(edges[:-1])[joined == 1] > 0.0):
            return None
        G = self._predictors(self.columns.Z @ self.make_lambda(psi), psi[-1])
        fixed, spread = self.X @ psi[s : s + p], self.S @ psi[s + p : s + p + q]

        def measure(w: Floats) -> tuple[float, RowSlopes | None]:
            lost, slopes = find_slopes(
                self.link, edges[upper], edges[lower], fixed + G[0] @ w, spread + G[1] @ w
            )
            return lost + 0.5 * float(w @ w), slopes

        w = self.w
        h, slopes = measure(w)
        if slopes is None:
            w = np.zeros_like(w)
            h, slopes = measure(w)
        close = False
        for _ in range(_STEPS):
            if slopes is None:
                return None
            factor = self._factorise(G, slopes.second[:, :2])
            whole = factor is not None
            if factor is None:
                factor = self._factorise(G, _positive_part(slopes.second[:, :2]))
            if factor is None:
                return None
            gradient = G[0].T @ slopes.first[:, ETA] + G[1].T @ slopes.first[:, LOG_SIGMA] + w
            push = factor.solve(gradient)
            decrement, size = float(gradient @ push), 1.0
            if close:
                return Mode(h + 0.5 * factor.logdet, w, slopes, factor) if whole else None
            close = whole and decrement < _ACCURACY
            while True:
                trial, found = measure(w - size * push)
                if trial <= h - 1e-4 * size * decrement + 1e-12 * abs(h) or size < 1e-8:
                    break
                size *= 0.5
            if size < 1e-8:
                return None
            w, h, slopes = w - size * push, trial, found
        return None

    def effect_variances(self, factor: SparseFactor) -> list[Floats]:
        """Return H⁻¹ within each level, (levels, m, m), of every factor and of the spreads."""
        inverse, found, first = invert(factor), [], 0
        assert self.design.stretch is not None
        for one in (*self.design.factors, self.design.stretch):
            count, wide = len(one.levels), len(one.columns)
            at = first + np.arange(count * wide).reshape(count, wide)
            i, j = np.broadcast_arrays(at[:, :, None], at[:, None, :])
            found.append(inverse.entries(i.ravel(), j.ravel()).reshape(count, wide, wide))
            first += count * wide
        return found

    def _predictors(self, V: Floats, omega: float) -> tuple[Any, Any]:
        """Return G as two sparse matrices, of η and of log σ."""
        from scipy.sparse import csr_array

        place, count = self.columns.place, self.columns.count
        n, m = V.shape
        of_eta = csr_array((V.ravel(), place[:, :-1].ravel(), np.arange(0, n * m + 1, m)), shape=(n, count))
        of_spread = csr_array((np.full(n, omega), place[:, -1], np.arange(n + 1)), shape=(n, count))
        return of_eta, of_spread

    def _factorise(self, G: tuple[Any, Any], M: Floats) -> SparseFactor | None:
        from scipy.sparse import eye_array

        across = G[0].T @ G[1].multiply(M[:, 0, 1][:, None]).tocsr()
        H = G[0].T @ G[0].multiply(M[:, 0, 0][:, None]).tocsr() + across + across.T
        H = H + G[1].T @ G[1].multiply(M[:, 1, 1][:, None]).tocsr()
        H = (H + eye_array(self.columns.count, format="csr")).tocsr()
        return factorise(H, self.columns.width, self.columns.lead)

    def _reach(self, V: Floats, omega: float, factor: SparseFactor) -> Floats:
        """Return H⁻¹ times both rows of G_i, at the columns where they have entries."""
        inverse, place = invert(factor), self.columns.place
        n, m = V.shape
        found = np.zeros((n, 2, m + 1))
        for c in range(m + 1):
            for d in range(m + 1):
                entry = inverse.entries(place[:, c], place[:, d])
                if d < m:
                    found[:, 0, c] += entry * V[:, d]
                else:
                    found[:, 1, c] = entry * omega
        return found


def _positive_part(M: Floats) -> Floats:
    """Return symmetric 2 × 2 matrices without their negative directions."""
    values, vectors = np.linalg.eigh(M)
    kept: Floats = np.einsum("nik,nk,njk->nij", vectors, np.maximum(values, 0.0), vectors)
    return kept
