"""The factor of a sparse H = V'MV + I whose M is not diagonal, its inverse where rows have entries, in numpy.

The part of H of the factor with the most effects is block diagonal and eliminated first; what is left over
the others, S, is dense, as in blocks/pattern.py. Models that need it, choices and random spreads, are fitted
one at a time and small, so that nothing has to be compiled.
"""

from typing import Any, NamedTuple

import numpy as np

from panelist.numerics.arrays import Floats, Longs


class SparseFactor(NamedTuple):
    """The factor of H: the lead blocks first, then S over all others."""

    L: Floats  # (J, w, w) of the lead blocks
    C: Floats  # (J · w, q) L⁻¹ of what stands beside them
    S: Floats  # (q, q) lower factor of the Schur complement

    @property
    def logdet(self) -> float:
        """log |H|."""
        found = 2.0 * float(np.log(np.diagonal(self.L, axis1=1, axis2=2)).sum())
        return found + 2.0 * float(np.log(np.diag(self.S)).sum())

    def solve(self, v: Floats) -> Floats:
        """Return H⁻¹v."""
        from scipy.linalg import solve_triangular

        J, w, _ = self.L.shape
        first = np.linalg.solve(self.L, v[: J * w].reshape(J, w, 1)).reshape(-1)
        rest = v[J * w :]
        if len(rest):
            rest = solve_triangular(self.S, rest - self.C.T @ first, lower=True)
            rest = solve_triangular(self.S, rest, lower=True, trans="T")
            first = first - self.C @ rest
        upper = np.swapaxes(self.L, 1, 2)
        return np.concatenate([np.linalg.solve(upper, first.reshape(J, w, 1)).reshape(-1), rest])


class SparseInverse(NamedTuple):
    """The entries of H⁻¹ that rows need."""

    lead: Floats  # (J, w, w)
    beside: Floats  # (J · w, q)
    rest: Floats  # (q, q)

    def entries(self, i: Longs, j: Longs) -> Floats:
        """Return H⁻¹ at (i, j), elementwise; two lead columns are in one block."""
        first, w = self.beside.shape[0], self.lead.shape[1]
        low, high = np.minimum(i, j), np.maximum(i, j)
        found = np.empty(len(i))
        both, none = high < first, low >= first
        found[both] = self.lead[low[both] // w, low[both] % w, high[both] % w]
        found[none] = self.rest[low[none] - first, high[none] - first]
        mixed = ~both & ~none
        found[mixed] = self.beside[low[mixed], high[mixed] - first]
        return found


def factorise(H: Any, width: int, lead: int) -> SparseFactor | None:
    """Return the factor of a sparse H, None if it has none; ``lead`` columns are in blocks of ``width``."""
    from scipy.linalg import LinAlgError, cholesky

    H = H.tocsr()
    J = lead // width
    corner = H[:lead, :lead].tocoo()
    D = np.zeros((J, width, width))
    np.add.at(D, (corner.row // width, corner.row % width, corner.col % width), corner.data)
    q = H.shape[0] - lead
    try:
        L: Floats = np.linalg.cholesky(D).astype(np.float64, copy=False)
        C = np.linalg.solve(L, H[:lead, lead:].toarray().reshape(J, width, q)).reshape(lead, q)
        S = cholesky(H[lead:, lead:].toarray() - C.T @ C, lower=True) if q else np.empty((0, 0))
    except (np.linalg.LinAlgError, LinAlgError, ValueError):
        return None
    return SparseFactor(L, C, S)


def invert(factor: SparseFactor) -> SparseInverse:
    """Return the entries of H⁻¹ in the blocks of rows."""
    from scipy.linalg import cho_solve

    J, w, _ = factor.L.shape
    q = len(factor.S)
    rest = cho_solve((factor.S, True), np.eye(q)) if q else np.empty((0, 0))
    upper = np.swapaxes(factor.L, 1, 2)
    F = np.linalg.solve(upper, factor.C.reshape(J, w, q))
    half = np.linalg.solve(factor.L, np.broadcast_to(np.eye(w), (J, w, w)))
    FT = F @ rest
    lead = np.swapaxes(half, 1, 2) @ half + FT @ np.swapaxes(F, 1, 2)
    return SparseInverse(lead, -FT.reshape(J * w, q), rest)
