"""Kenward and Roger's small-sample tests of fixed effects, for linear mixed models fitted by REML.

y ~ N(Xβ, Σ) with Σ = Σ_r γ_r G_r: γ are the variances and covariances of the random effects and the residual
variance. Φ = (X'Σ⁻¹X)⁻¹ underestimates the covariance of the estimated β; Φ_A corrects it, and a scaled Wald
statistic is referred to an F whose denominator matches its first two moments.

Kenward & Roger (1997), Small sample inference for fixed effects from restricted maximum likelihood,
doi:10.2307/2533558; in the form of Halekoh & Højsgaard (2014), doi:10.18637/jss.v059.i09, whose pbkrtest is
the reference for the tests.

Nothing here has n x n entries. With Z the n x c matrix of all random effects, D their covariance over σ² and
D = ΛΛ' for any Λ, M = I + Λ'Z'ZΛ,

    S = Σ⁻¹ = (I − Z N Z')/σ²,   N = ΛM⁻¹Λ',   E = I − N Z'Z,   T = Z'SZ,   U = Z'SX

and G_r = Z B_r Z' with B_r a pattern of ones. M has no eigenvalue below 1, so variances of zero are harmless.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.sparse import csr_array

from panelist.core.errors import BadModel
from panelist.models.formulas.matrices import Factor
from panelist.models.inference.hypotheses import UNTESTABLE, FTest, f_tail
from panelist.numerics.arrays import Floats

MOST_COLUMNS = 4000  # of Z; five dense matrices of this size take 0.6 GB
_RANK = 1e-10  # smaller eigenvalues of the scaled information, or singular values of L, count as zero


@dataclass(frozen=True, eq=False)
class KenwardRoger:
    """What the tests need; standard errors are the roots of the diagonal of ``adjusted``.

    ``vcov`` is Φ, ``adjusted`` Φ_A, ``slopes`` (k, p, p) the derivatives P_r = ∂Φ⁻¹/∂γ_r, ``W`` (k, k) the
    covariance of the estimated γ.
    """

    vcov: Floats
    adjusted: Floats
    slopes: Floats
    W: Floats

    def degrees(self, L: Floats) -> Floats:
        """Return the degrees of freedom of t for each row of L."""
        return np.array([self._approximate(row[None, :])[0] for row in np.atleast_2d(L)])

    def test(self, L: Floats, beta: Floats) -> FTest:
        """Return the F-test of Lβ = 0, with numdf the rank of L.

        Where the data say so little about the variances that the approximation has no positive scale, F is
        the unscaled statistic; p is nan where it has no positive ``ddf``.
        """
        L = _independent_rows(np.atleast_2d(L))
        q = len(L)
        if q == 0:
            return UNTESTABLE
        ddf, scale = self._approximate(L)
        difference = L @ beta
        F = float(scale * difference @ np.linalg.solve(L @ self.adjusted @ L.T, difference) / q)
        return FTest(F, q, ddf, f_tail(F, q, ddf))

    def _approximate(self, L: Floats) -> tuple[float, float]:
        """Return the denominator degrees of freedom and the scale of F for independent rows."""
        q = len(L)
        V = L @ self.vcov
        whole = np.linalg.solve(V @ L.T, np.einsum("qi,kij,rj->kqr", V, self.slopes, V))
        traces = np.einsum("kqq->k", whole)
        A1 = float(traces @ self.W @ traces)
        A2 = float(np.einsum("kl,kqr,lrq->", self.W, whole, whole))
        with np.errstate(divide="ignore", invalid="ignore"):
            return _match_moments(np.float64(A1), np.float64(A2), q)


def kenward_roger(
    X: Floats, factors: Sequence[Factor], covariances: Sequence[Floats], sigma: float
) -> KenwardRoger:
    """Return the adjusted covariance of β and what its tests need.

    ``covariances`` gives for each factor the covariance of its effects, ``sigma`` is the residual deviation;
    both must be REML estimates. The elements inside the blocks of a factor are the parameters, zeros between
    them are not. Raises BadModel where the random effects are too many for dense matrices.
    """
    parts = _Parts.make(X, factors, covariances, sigma)
    pairs = [
        pair for factor, start in zip(factors, parts.starts, strict=True) for pair in _pairs(factor, start)
    ]
    Phi = _invert(X.T @ parts.SX)
    P, Q = _slopes_and_products(parts, pairs)
    PhiP = Phi @ P
    information = (
        _traces(parts, pairs) - 2 * np.einsum("ij,rsji->rs", Phi, Q) + np.einsum("rij,sji->rs", PhiP, PhiP)
    )
    W = 2 * _pseudo_invert(information)
    excess = np.einsum("rs,rsij->ij", W, Q) - np.einsum("rs,rij,sjk->ik", W, P, PhiP)
    adjusted = Phi + 2 * Phi @ excess @ Phi
    return KenwardRoger(Phi, (adjusted + adjusted.T) / 2, P, W)


class _Pair(NamedTuple):
    """One (co)variance: G_r = Σ Z_i Z_j' over ``ordered``, slices of Z that hold the levels of one column."""

    ordered: tuple[tuple[slice, slice], ...]


def _pairs(factor: Factor, start: int) -> list[_Pair]:
    size = len(factor.levels)

    def at(column: int) -> slice:
        return slice(start + column * size, start + (column + 1) * size)

    pairs = []
    for low, high in factor.blocks:
        for b in range(low, high):
            for a in range(b, high):
                both = ((at(a), at(b)), (at(b), at(a)))
                pairs.append(_Pair(both if a != b else both[:1]))
    return pairs


@dataclass(frozen=True, eq=False)
class _Parts:
    """The matrices of the docstring above; columns of Z go by factor, then column, then level."""

    starts: tuple[int, ...]  # where each factor begins in Z
    SX: Floats  # (n, p)
    U: Floats  # (c, p) Z'SX
    E: Floats  # (c, c)
    T: Floats  # (c, c)
    SSX: Floats  # (c, p) Z'S²X
    SSSX: Floats  # (p, p) X'S³X
    trace: float  # tr(S²)
    variance: float

    @staticmethod
    def make(X: Floats, factors: Sequence[Factor], covariances: Sequence[Floats], sigma: float) -> "_Parts":
        """Return them; c³ operations."""
        Z, starts = _gather(factors, len(X))
        variance = sigma**2
        c = Z.shape[1]
        if c == 0:
            none, empty = np.empty((0, 0)), np.empty((0, X.shape[1]))
            SX = X / variance
            return _Parts(
                starts, SX, empty, none, none, empty, SX.T @ SX / variance, len(X) / variance**2, variance
            )
        roots = [_root(covariance / variance) for covariance in covariances]
        ZZ = (Z.T @ Z).toarray()
        across = _turn([root.T for root in roots], starts, ZZ)
        M = _turn([root.T for root in roots], starts, across.T)
        M[np.diag_indices(c)] += 1.0
        chol = cholesky(M, lower=True, overwrite_a=True, check_finite=False)
        half = solve_triangular(chol, across, lower=True, check_finite=False)
        T = (ZZ - half.T @ half) / variance
        E = -_turn(roots, starts, solve_triangular(chol, half, lower=True, trans="T", check_finite=False))
        E[np.diag_indices(c)] += 1.0

        def shrink(right: Floats) -> Floats:
            inner = _turn([root.T for root in roots], starts, right)
            return _turn(roots, starts, cho_solve((chol, True), inner, check_finite=False))

        SX = (X - Z @ shrink(Z.T @ X)) / variance
        U = Z.T @ SX
        SSSX = (SX.T @ SX - U.T @ shrink(U)) / variance
        trace = (len(X) - c + float(np.einsum("ij,ji->", E, E))) / variance**2
        return _Parts(starts, SX, U, E, T, E.T @ U / variance, SSSX, trace, variance)


def _turn(roots: Sequence[Floats], starts: Sequence[int], right: Floats) -> Floats:
    """Return Λ right, where Λ has the Kronecker products root ⊗ I of the factors on its diagonal."""
    turned = np.empty_like(right)
    for root, start, stop in zip(roots, starts, [*starts[1:], len(right)], strict=True):
        rows = right[start:stop].reshape(len(root), -1)
        turned[start:stop] = (root @ rows).reshape(stop - start, -1)
    return turned


def _gather(factors: Sequence[Factor], n: int) -> tuple[csr_array, tuple[int, ...]]:
    """Return Z of all factors, and where each begins."""
    sizes = [len(factor.levels) * factor.Z.shape[1] for factor in factors]
    c = sum(sizes)
    if c > MOST_COLUMNS:
        largest = factors[int(np.argmax(sizes))].name
        raise BadModel(
            f"Kenward-Roger tests need dense matrices with a row for every random effect, and this model has "
            f"{c:,} of them, most of them for {largest}; at most {MOST_COLUMNS:,} are allowed. Ask for "
            "Satterthwaite's tests, which have no such limit."
        )
    starts = tuple(int(start) for start in np.cumsum([0, *sizes])[:-1])
    places, values = [], []
    for factor, start in zip(factors, starts, strict=True):
        columns = np.arange(factor.Z.shape[1]) * len(factor.levels)
        places.append(start + columns + factor.index[:, None])
        values.append(factor.Z)
    if not factors:
        return csr_array((n, 0)), starts
    indices, data = np.concatenate(places, axis=1), np.concatenate(values, axis=1)
    width = indices.shape[1]
    Z = csr_array((data.ravel(), indices.ravel(), np.arange(0, n * width + 1, width)), shape=(n, c))
    return Z, starts


def _slopes_and_products(parts: _Parts, pairs: list[_Pair]) -> tuple[Floats, Floats]:
    """Return P_r = −X'S G_r S X and Q_rs = X'S G_r S G_s S X; the residual variance is the last parameter."""
    k, p = len(pairs) + 1, parts.U.shape[1]
    spread = np.zeros((k - 1, len(parts.U), p))  # G_r S X = Z spread_r
    for r, pair in enumerate(pairs):
        for i, j in pair.ordered:
            spread[r, i] += parts.U[j]
    P, Q = np.empty((k, p, p)), np.empty((k, k, p, p))
    P[:-1] = -(parts.U.T @ spread)
    P[-1] = -(parts.SX.T @ parts.SX)
    flat = spread.transpose(1, 0, 2).reshape(len(parts.U), (k - 1) * p)
    inner = flat.T @ (parts.T @ flat)
    Q[:-1, :-1] = inner.reshape(k - 1, p, k - 1, p).transpose(0, 2, 1, 3)
    Q[:-1, -1] = spread.transpose(0, 2, 1) @ parts.SSX
    Q[-1, :-1] = Q[:-1, -1].transpose(0, 2, 1)
    Q[-1, -1] = parts.SSSX
    return P, Q


def _traces(parts: _Parts, pairs: list[_Pair]) -> Floats:
    """Return tr(G_r S G_s S); for two pairs it is Σ tr(T_jk T_li), elementwise sums of slices of T."""
    k = len(pairs) + 1
    traces = np.empty((k, k))
    for r, one in enumerate(pairs):
        for s, other in enumerate(pairs[: r + 1]):
            total = sum(
                float(np.einsum("ij,ij->", parts.T[j, a], parts.T[i, b]))
                for i, j in one.ordered
                for a, b in other.ordered
            )
            traces[r, s] = traces[s, r] = total
        alone = sum(  # Z'S²Z = T E/σ², of which only these diagonals are needed
            float(np.einsum("ij,ji->", parts.T[j], parts.E[:, i])) for i, j in one.ordered
        )
        traces[r, -1] = traces[-1, r] = alone / parts.variance
    traces[-1, -1] = parts.trace
    return traces


def _match_moments(A1: np.float64, A2: np.float64, q: int) -> tuple[float, float]:
    """Return the denominator degrees of freedom and the scale (Kenward & Roger 1997, section 3.2)."""
    B = (A1 + 6 * A2) / (2 * q)
    g = ((q + 1) * A1 - (q + 4) * A2) / ((q + 2) * A2)
    c = 3 * q + 2 * (1 - g)
    top, low, high = 1 + g / c * B, 1 - (q - g) / c * B, 1 - (q + 2 - g) / c * B
    if abs(top) < 1e-10:
        top = np.float64(0.0)
    mean = 1 - A2 / q
    ratio = np.float64(1.0) if max(abs(mean), abs(low)) < 1e-14 else mean / low
    rho = ratio**2 * top / high / q
    ddf = float(4 + (q + 2) / (q * rho - 1))
    if np.isinf(ddf):
        return float("inf"), float(mean)
    scale = ddf * float(mean) / (ddf - 2) if abs(ddf - 2) >= 0.01 else 1.0
    return ddf, scale if scale > 0 else 1.0


def _root(covariance: Floats) -> Floats:
    """Return some R with RR' = covariance, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _invert(precision: Floats) -> Floats:
    chol = cholesky(precision, lower=True)
    return np.asarray(cho_solve((chol, True), np.eye(len(precision))))


def _pseudo_invert(information: Floats) -> Floats:
    """Return the inverse; parameters that the data cannot separate share what is known about them.

    The rank is judged on the scale of correlations, so that the unit of the ratings does not matter.
    """
    size = np.sqrt(np.maximum(np.diag(information), 0.0))
    size[size == 0] = 1.0
    values, vectors = np.linalg.eigh(information / np.outer(size, size))
    kept = values > _RANK * values[-1]
    vectors = vectors[:, kept] / size[:, None]
    return np.asarray((vectors / values[kept]) @ vectors.T)


def _independent_rows(L: Floats) -> Floats:
    """Return an orthonormal basis of the rows of L."""
    _, values, rows = np.linalg.svd(L, full_matrices=False)
    return np.asarray(rows[values > _RANK * values.max(initial=0.0)])
