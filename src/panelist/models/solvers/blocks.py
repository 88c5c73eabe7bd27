"""The matrix H = V'WV + I of a mixed model: its pattern, its factor, its inverse where we need it.

The grouping factor with the most columns *leads*: rows are sorted by its levels, and its part of H is
block diagonal, a block D_j of m₁ × m₁ a level. It is eliminated first; what is left, the Schur
complement S over the columns of all other factors, is factorised densely:

    H = [ D   C' ]        D_j = L_j L_j',   Ĉ_j = L_j⁻¹ C_j,   S = S₀ − Σ_j Ĉ_j' Ĉ_j = L_S L_S'
        [ C   S₀ ]

C_j has entries only in the columns of the levels that share a row with lead level j: its *neighbours*.
"""

from typing import NamedTuple

import numpy as np

from panelist.models.arrays import Floats, Ints, Longs, Places
from panelist.models.formulas.grouping import Factor
from panelist.models.solvers import lapack
from panelist.models.solvers.kernel import kernel, stay_apart

_MOST_CELLS = 4_000_000  # lead levels × dense columns that are marked in a table


class Pattern(NamedTuple):
    """Which columns meet which, found once for a data set; rows are in the order ``order``."""

    order: Longs  # (n,) the input row that stands at each place, sorted by lead level
    start: Longs  # (J + 1,) rows start[j]:start[j+1] belong to lead level j
    Z: Floats  # (n, m) columns of all factors, the lead factor's first
    widths: Longs  # (F,) columns a level has in each factor
    place: Places  # (n, m - m₁) dense columns of this row, those of all other factors, ascending
    local: Places  # (n, m - m₁) the same, counted among the neighbours of the row's lead level
    reach: Longs  # (J + 1,) neighbours of lead level j are columns[reach[j]:reach[j+1]]
    columns: Places  # dense columns, ascending for each lead level
    sizes: Longs  # (F,) levels of each factor
    widest: int  # the largest number of neighbours
    routines: Longs  # addresses of LAPACK in this process


class Blocks(NamedTuple):
    """Room for the factor of H, and for the dense inverse."""

    D: Floats  # (J, m₁, m₁) lower Cholesky factors L_j
    C: Floats  # (m₁ · total neighbours,) Ĉ_j, row-major, one after the other
    S: Floats  # (q, q) lower Cholesky factor L_S
    T: Floats  # (q, q) S⁻¹, full
    N: Floats  # (J, m₁, m₁) the lead blocks of H⁻¹


def find_pattern(factors: tuple[Factor, ...]) -> Pattern:
    """Return the pattern of H for these grouping factors, which come largest first."""
    lead, others = factors[0], factors[1:]
    order = np.argsort(lead.index, kind="stable")
    n = len(order)
    start = np.zeros(len(lead.levels) + 1, dtype=np.int64)
    np.cumsum(np.bincount(lead.index, minlength=len(lead.levels)), out=start[1:])
    widths = np.array([factor.Z.shape[1] for factor in factors], dtype=np.int64)
    sizes = np.array([len(factor.levels) for factor in factors], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(widths[1:] * sizes[1:])])
    place = np.empty((n, int(widths[1:].sum())), dtype=np.uint32)
    at = 0
    for factor, offset, width in zip(others, offsets, widths[1:], strict=False):
        for b in range(width):
            place[:, at] = offset + factor.index[order] * width + b
            at += 1
    Z = np.empty((n, int(widths.sum())))
    first = 0
    for factor, width in zip(factors, widths, strict=True):
        Z[:, first : first + width] = factor.Z[order]
        first += width
    local, reach, columns = _find_neighbours(lead.index[order], place, len(lead.levels), int(offsets[-1]))
    widest = int(np.diff(reach).max())
    return Pattern(order, start, Z, widths, place, local, reach, columns, sizes, widest, lapack.routines())


def make_blocks(pattern: Pattern) -> Blocks:
    """Return empty room for one factorisation."""
    m1, J = int(pattern.widths[0]), len(pattern.start) - 1
    q = dense_size(pattern)
    return Blocks(
        np.empty((J, m1, m1)),
        np.empty(m1 * len(pattern.columns)),
        np.empty((q, q)),
        np.empty((q, q)),
        np.empty((J, m1, m1)),
    )


def dense_size(pattern: Pattern) -> int:
    """Return q, the number of columns left after the lead factor."""
    return int((pattern.widths[1:] * pattern.sizes[1:]).sum())


def level_variances(pattern: Pattern, blocks: Blocks, lambdas: tuple[Floats, ...]) -> tuple[Floats, ...]:
    """Return the diagonals of ΛH⁻¹Λ' for each factor (levels, m), after `invert_rows`."""
    m1 = int(pattern.widths[0])
    found = [np.einsum("ab,jbc,ac->ja", lambdas[0], blocks.N.reshape(-1, m1, m1), lambdas[0])]
    first = 0
    for block, levels in zip(lambdas[1:], pattern.sizes[1:], strict=True):
        at = first + np.arange(levels * len(block)).reshape(int(levels), len(block))
        square = blocks.T[at[:, :, None], at[:, None, :]]
        found.append(np.einsum("ab,jbc,ac->ja", block, square, block))
        first += at.size
    return tuple(found)


def _find_neighbours(lead: Ints, place: Places, levels: int, q: int) -> tuple[Places, Longs, Places]:
    """Return where each row's columns stand among the neighbours of its lead level, and those neighbours."""
    if place.shape[1] == 0:
        return place, np.zeros(levels + 1, dtype=np.int64), np.empty(0, dtype=np.uint32)
    keys = lead.astype(np.int64)[:, None] * q + place
    if levels * q <= _MOST_CELLS:  # to mark them is faster than to sort them
        seen = np.zeros(levels * q, dtype=np.bool_)
        seen[keys] = True
        pairs, where = np.flatnonzero(seen), (np.cumsum(seen) - 1)[keys]
    else:
        pairs, where = np.unique(keys.ravel(), return_inverse=True)
    owner, columns = np.divmod(pairs, q)
    reach = np.searchsorted(owner, np.arange(levels + 1))
    local = where.reshape(place.shape) - reach[lead][:, None]
    return local.astype(np.uint32), reach, columns.astype(np.uint32)


@kernel
def factorise(pattern: Pattern, V: Floats, w: Floats, blocks: Blocks) -> float:
    """Fill ``blocks`` with the factor of V'diag(w)V + I; return its log-determinant, nan if there is none."""
    stay_apart()
    reach, columns, C, S = pattern.reach, pattern.columns, blocks.C, blocks.S
    m1, q = pattern.widths[0], S.shape[0]
    S[:] = 0.0
    for c in range(q):
        S[c, c] = 1.0
    logdet = 0.0
    for j in range(len(pattern.start) - 1):
        D, width = blocks.D[j], reach[j + 1] - reach[j]
        Cj = C[m1 * reach[j] : m1 * reach[j + 1]].reshape((m1, width))
        _sum_level(pattern, V, w, j, D, Cj, S)
        for a in range(m1):  # L_j, in place
            for b in range(a + 1):
                total = D[a, b]
                for k in range(b):
                    total -= D[a, k] * D[b, k]
                if a > b:
                    D[a, b] = total / D[b, b]
                elif total > 0.0:
                    D[a, a] = np.sqrt(total)
                    logdet += np.log(total)
                else:
                    return np.nan
        _eliminate_level(D, Cj, columns[reach[j] : reach[j + 1]], S)
    if not lapack.cholesky(pattern.routines, S):
        return np.nan
    for c in range(q):
        logdet += 2.0 * np.log(S[c, c])
    return logdet


@kernel
def _sum_level(pattern: Pattern, V: Floats, w: Floats, j: int, D: Floats, Cj: Floats, S: Floats) -> None:
    """Sum w v v' over the rows of lead level j: D_j and C_j anew, what belongs to the others into S."""
    place, local = pattern.place, pattern.local
    m1, m2 = pattern.widths[0], place.shape[1]
    first, last = pattern.start[j], pattern.start[j + 1]
    Cj[:] = 0.0
    D[:] = 0.0
    for a in range(m1):
        D[a, a] = 1.0
    if m1 == 2 and m2 == 2:  # an intercept and a slope for each of two factors: spelt out, for speed
        for i in range(first, last):
            one, other, three, four = V[i, 0], V[i, 1], V[i, 2], V[i, 3]
            w1, w2, w3, w4 = w[i] * one, w[i] * other, w[i] * three, w[i] * four
            D[0, 0] += w1 * one
            D[1, 0] += w2 * one
            D[1, 1] += w2 * other
            c, d = local[i, 0], local[i, 1]
            Cj[0, c] += w1 * three
            Cj[0, d] += w1 * four
            Cj[1, c] += w2 * three
            Cj[1, d] += w2 * four
            c, d = place[i, 0], place[i, 1]
            S[c, c] += w3 * three
            S[d, c] += w4 * three
            S[d, d] += w4 * four
        return
    for i in range(first, last):
        for a in range(m1):
            weighted = w[i] * V[i, a]
            for b in range(a + 1):
                D[a, b] += weighted * V[i, b]
            for b in range(m2):
                Cj[a, local[i, b]] += weighted * V[i, m1 + b]
        for b in range(m2):
            weighted = w[i] * V[i, m1 + b]
            row_S = S[place[i, b]]
            for d in range(b + 1):
                row_S[place[i, d]] += weighted * V[i, m1 + d]


@kernel
def _eliminate_level(D: Floats, Cj: Floats, seen: Places, S: Floats) -> None:
    """Turn C_j into Ĉ_j = L_j⁻¹C_j, and take Ĉ_j'Ĉ_j off S at the neighbours ``seen``."""
    m1, width = Cj.shape
    for a in range(m1):
        for k in range(a):
            scale = D[a, k]
            for c in range(width):
                Cj[a, c] -= scale * Cj[k, c]
        inverse = 1.0 / D[a, a]
        for c in range(width):
            Cj[a, c] *= inverse
    if m1 == 2:
        for c in range(width):
            row_S, one, other = S[seen[c]], Cj[0, c], Cj[1, c]
            for d in range(c + 1):
                row_S[seen[d]] -= one * Cj[0, d] + other * Cj[1, d]
        return
    for c in range(width):
        row_S = S[seen[c]]
        for a in range(m1):
            one = Cj[a, c]
            for d in range(c + 1):
                row_S[seen[d]] -= one * Cj[a, d]


@kernel
def solve(pattern: Pattern, blocks: Blocks, x: Floats) -> float:
    """Overwrite x, lead columns first, by H⁻¹x; return x'H⁻¹x."""
    stay_apart()
    start, reach, columns, m1 = pattern.start, pattern.reach, pattern.columns, pattern.widths[0]
    D, C, S = blocks.D, blocks.C, blocks.S
    J = len(start) - 1
    dense = x[J * m1 :]
    square = 0.0
    for j in range(J):
        width = reach[j + 1] - reach[j]
        Cj = C[m1 * reach[j] : m1 * reach[j + 1]].reshape((m1, width))
        seen = columns[reach[j] : reach[j + 1]]
        at = j * m1
        for a in range(m1):
            total = x[at + a]
            for b in range(a):
                total -= D[j, a, b] * x[at + b]
            total /= D[j, a, a]
            x[at + a] = total
            square += total * total
            for c in range(width):
                dense[seen[c]] -= Cj[a, c] * total
    lapack.solve_triangle(pattern.routines, S, dense, False)
    for c in range(len(dense)):
        square += dense[c] * dense[c]
    lapack.solve_triangle(pattern.routines, S, dense, True)
    for j in range(J):
        width = reach[j + 1] - reach[j]
        Cj = C[m1 * reach[j] : m1 * reach[j + 1]].reshape((m1, width))
        seen = columns[reach[j] : reach[j + 1]]
        at = j * m1
        for a in range(m1 - 1, -1, -1):
            total = x[at + a]
            for c in range(width):
                total -= Cj[a, c] * dense[seen[c]]
            for b in range(a + 1, m1):
                total -= D[j, b, a] * x[at + b]
            x[at + a] = total / D[j, a, a]
    return square


@kernel
def invert_rows(pattern: Pattern, V: Floats, blocks: Blocks, P: Floats) -> None:
    """Fill row i of P (n, m) with H⁻¹v_i at the columns where v_i has entries, and T and N on the way."""
    stay_apart()
    reach, columns, C, T = pattern.reach, pattern.columns, blocks.C, blocks.T
    m1 = pattern.widths[0]
    lapack.copy_into(T, blocks.S)
    lapack.invert_from_cholesky(pattern.routines, T)
    room = np.empty(m1 * pattern.widest)
    near_room = np.empty(pattern.widest * pattern.widest)
    for j in range(len(pattern.start) - 1):
        D, inner = blocks.D[j], blocks.N[j]
        width = reach[j + 1] - reach[j]
        Cj = C[m1 * reach[j] : m1 * reach[j + 1]].reshape((m1, width))
        seen = columns[reach[j] : reach[j + 1]]
        E = room[: m1 * width].reshape((m1, width))
        near = near_room[: width * width].reshape((width, width))
        E[:] = 0.0
        for c in range(width):  # near = T over the neighbours, E = Ĉ_j near
            row_T = T[seen[c]]
            for d in range(width):
                near[c, d] = row_T[seen[d]]
            for a in range(m1):
                value = Cj[a, c]
                for d in range(width):
                    E[a, d] += value * near[c, d]
        for a in range(m1):  # I + E Ĉ_j'
            for b in range(m1):
                total = 1.0 if a == b else 0.0
                for c in range(width):
                    total += E[a, c] * Cj[b, c]
                inner[a, b] = total
        _apply_inverse_transpose(D, inner)
        for a in range(m1):  # the same from the right: inner ← inner L_j⁻¹
            for b in range(m1 - 1, -1, -1):
                total = inner[a, b]
                for k in range(b + 1, m1):
                    total -= inner[a, k] * D[k, b]
                inner[a, b] = total / D[b, b]
        _apply_inverse_transpose(D, E)  # −E is now the block of H⁻¹ beside the lead block
        _invert_level(pattern, V, j, inner, E, near, P)


@kernel
def _invert_level(
    pattern: Pattern, V: Floats, j: int, inner: Floats, E: Floats, near: Floats, P: Floats
) -> None:
    """Fill P for the rows of lead level j from the blocks of H⁻¹ that they touch."""
    local = pattern.local
    m1, m2 = inner.shape[0], local.shape[1]
    first, last = pattern.start[j], pattern.start[j + 1]
    if m1 == 2 and m2 == 2:
        for i in range(first, last):
            one, other, three, four = V[i, 0], V[i, 1], V[i, 2], V[i, 3]
            c, d = local[i, 0], local[i, 1]
            P[i, 0] = inner[0, 0] * one + inner[0, 1] * other - E[0, c] * three - E[0, d] * four
            P[i, 1] = inner[1, 0] * one + inner[1, 1] * other - E[1, c] * three - E[1, d] * four
            P[i, 2] = near[c, c] * three + near[c, d] * four - E[0, c] * one - E[1, c] * other
            P[i, 3] = near[d, c] * three + near[d, d] * four - E[0, d] * one - E[1, d] * other
        return
    for i in range(first, last):
        for a in range(m1):
            total = 0.0
            for b in range(m1):
                total += inner[a, b] * V[i, b]
            for b in range(m2):
                total -= E[a, local[i, b]] * V[i, m1 + b]
            P[i, a] = total
        for b in range(m2):
            at = local[i, b]
            total = 0.0
            for a in range(m1):
                total -= E[a, at] * V[i, a]
            for d in range(m2):
                total += near[at, local[i, d]] * V[i, m1 + d]
            P[i, m1 + b] = total


@kernel
def _apply_inverse_transpose(L: Floats, B: Floats) -> None:
    """Overwrite B by L⁻ᵀB, for a small lower triangle L."""
    m = L.shape[0]
    for a in range(m - 1, -1, -1):
        for k in range(a + 1, m):
            for c in range(B.shape[1]):
                B[a, c] -= L[k, a] * B[k, c]
        for c in range(B.shape[1]):
            B[a, c] /= L[a, a]


@kernel
def multiply(pattern: Pattern, V: Floats, u: Floats, out: Floats) -> None:
    """Fill out (n,) with Vu."""
    stay_apart()
    start, place = pattern.start, pattern.place
    m1, m2, J = pattern.widths[0], place.shape[1], len(start) - 1
    dense = J * m1
    for j in range(J):
        for i in range(start[j], start[j + 1]):
            total = 0.0
            for a in range(m1):
                total += V[i, a] * u[j * m1 + a]
            for b in range(m2):
                total += V[i, m1 + b] * u[dense + place[i, b]]
            out[i] = total


@kernel
def multiply_transposed(pattern: Pattern, V: Floats, row: Floats, out: Floats) -> None:
    """Add V'row to out, lead columns first."""
    stay_apart()
    start, place = pattern.start, pattern.place
    m1, m2, J = pattern.widths[0], place.shape[1], len(start) - 1
    dense = J * m1
    for j in range(J):
        for i in range(start[j], start[j + 1]):
            for a in range(m1):
                out[j * m1 + a] += V[i, a] * row[i]
            for b in range(m2):
                out[dense + place[i, b]] += V[i, m1 + b] * row[i]
