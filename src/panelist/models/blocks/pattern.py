"""The matrix H = V'WV + I of a mixed model: its pattern, and the arrays of its factor (see elimination).

The grouping factor with the most columns *leads*: rows are sorted by its levels, and its part of H is
block diagonal, one block D_j of m₁ × m₁ per level. It is eliminated first; what is left, the Schur
complement S over the columns of all other factors, is factorised densely:

    H = [ D   C' ]        D_j = L_j L_j',   Ĉ_j = L_j⁻¹ C_j,   S = S₀ − Σ_j Ĉ_j' Ĉ_j = L_S L_S'
        [ C   S₀ ]

C_j has entries only in the columns of the levels that share a row with lead level j: its *neighbours*. Rows
of C_j, S and S⁻¹ are filled up to a multiple of eight, so that vector code needs no ends. Where S is large,
levels of the second factor that no lead level connects are put into *parts* of their own (see bordered).
"""

from typing import NamedTuple

import numpy as np

from panelist.models.blocks.dense import MOST
from panelist.models.formulas.grouping import Factor
from panelist.numerics import lapack
from panelist.numerics.arrays import Floats, Ints, Longs, Places
from panelist.numerics.rows import fill_variances, lay_rows, mark_neighbours, sort_rows
from panelist.numerics.simd import WIDTH

_MOST_CELLS = 40_000_000  # lead levels × dense columns that are checked one by one
_SMALLEST_PART = 64  # columns: smaller parts are put together, because each costs a few calls


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
    padded: Longs  # (J + 1,) as reach, but in vectors of eight, each level filled up to whole ones
    sizes: Longs  # (F,) levels of each factor
    widest: int  # the largest number of neighbours
    q: int  # dense columns: all but the lead factor's
    two_by_two: bool  # whether there are two factors with two columns each, say an intercept and a slope
    routines: Longs  # addresses of LAPACK in this process
    slots: Longs  # where each level of the second factor stands among its levels in S; empty: in its place
    bounds: Longs  # the first dense column of each part, then of the border


class Blocks(NamedTuple):
    """The factor of H, and the dense inverse."""

    D: Floats  # (J, m₁, m₁) lower Cholesky factors L_j, their diagonals inverted
    C: Floats  # Ĉ_j, row-major, one after the other; every row filled up to whole vectors
    S: Floats  # (q, q filled up) L_S', above the diagonal
    T: Floats  # (q, q filled up) S⁻¹, full
    M: Floats  # L_S⁻¹, and eight numbers more; empty where LAPACK is faster
    N: Floats  # (J, m₁, m₁) the lead blocks of H⁻¹
    E: Floats  # (m₁, widest filled up) of one level: −E is the block of H⁻¹ beside the lead block
    near: Floats  # (widest, widest filled up) S⁻¹ over the neighbours of one level


def find_pattern(factors: tuple[Factor, ...]) -> Pattern:
    """Return the pattern of H for these grouping factors, which come largest first."""
    lead = factors[0]
    n, levels = len(lead.index), len(lead.levels)
    order, start = np.empty(n, dtype=np.int64), np.empty(levels + 1, dtype=np.int64)
    sort_rows(lead.index, order, start)
    widths = [factor.Z.shape[1] for factor in factors]
    sizes = [len(factor.levels) for factor in factors]
    m, m1 = sum(widths), widths[0]
    Z, place = np.empty((n, m)), np.empty((n, m - m1), dtype=np.uint32)
    slots, bounds = _find_parts(factors)
    first = q = 0
    for number, (factor, width, size) in enumerate(zip(factors, widths, sizes, strict=True)):
        moved = number == 1 and len(slots) > 0
        index = slots[factor.index].astype(factor.index.dtype) if moved else factor.index
        lay_rows(index, factor.Z, order, Z, first, place, first - m1, q)
        q += width * size if first else 0
        first += width
    local, reach, columns, widest = _find_neighbours(lead.index, order, start, place, q)
    padded = np.zeros(len(reach), dtype=np.int64)
    np.cumsum((reach[1:] - reach[:-1] + WIDTH - 1) // WIDTH, out=padded[1:])
    return Pattern(
        order,
        start,
        Z,
        np.array(widths, dtype=np.int64),
        place,
        local,
        reach,
        columns,
        padded,
        np.array(sizes, dtype=np.int64),
        widest,
        q,
        widths == [2, 2],
        lapack.routines(),
        slots,
        bounds,
    )


def _find_parts(factors: tuple[Factor, ...]) -> tuple[Longs, Longs]:
    """Return the slots of the second factor's levels, parts in turn, and the bounds; none for a small S."""
    none = np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    if sum(len(factor.levels) * factor.Z.shape[1] for factor in factors[1:]) <= MOST:
        return none
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    lead, second = factors[:2]
    J, levels = len(lead.levels), len(second.levels)
    meet = coo_array((np.ones(len(lead.index)), (lead.index, J + second.index)), shape=(J + levels,) * 2)
    found = connected_components(meet, directed=False)[1][J:]
    sizes = np.unique(found, return_counts=True)[1] * second.Z.shape[1]
    bounds, end = [0], 0
    for size in sizes.tolist():
        end += size
        if end - bounds[-1] >= _SMALLEST_PART:
            bounds.append(end)
    if len(bounds) < 3:
        return none
    bounds[-1] = end
    slots = np.empty(levels, dtype=np.int64)
    slots[np.argsort(found, kind="stable")] = np.arange(levels)
    return slots, np.array(bounds, dtype=np.int64)


def put_back(pattern: Pattern, number: int, values: Floats) -> Floats:
    """Return a factor's values, one row per level as it is in S, in the order of its levels."""
    return values[pattern.slots] if number == 1 and len(pattern.slots) else values


def make_blocks(pattern: Pattern) -> Blocks:
    """Return empty arrays for one factorisation."""
    m1, J = int(pattern.widths[0]), len(pattern.start) - 1
    q = pattern.q
    long, wide = fill_up(q), fill_up(pattern.widest)
    return Blocks(
        np.empty((J, m1, m1)),
        np.empty(m1 * WIDTH * int(pattern.padded[-1])),
        np.zeros((q, long)),
        np.zeros((q, long)),
        np.empty(q * long + WIDTH if q <= MOST else 0),
        np.empty((J, m1, m1)),
        np.zeros(m1 * wide),
        np.zeros(pattern.widest * wide),
    )


def fill_up(count: int) -> int:
    """Return the next multiple of eight."""
    return -(-count // WIDTH) * WIDTH


def largest_block(pattern: Pattern) -> int:
    """Return the columns of the largest part of S, or of its border: what dense arithmetic is done on."""
    return int(np.diff(pattern.bounds, append=pattern.q).max(initial=0))


def level_variances(pattern: Pattern, blocks: Blocks, lambdas: tuple[Floats, ...]) -> tuple[Floats, ...]:
    """Return the diagonals of ΛH⁻¹Λ' for each factor (levels, m), after `invert_rows`."""
    found = [
        np.empty((int(levels), len(block))) for levels, block in zip(pattern.sizes, lambdas, strict=True)
    ]
    fill_variances(lambdas[0], blocks.N.reshape(-1, len(lambdas[0])), 0, False, found[0])
    first = 0
    for block, variances in zip(lambdas[1:], found[1:], strict=True):
        fill_variances(block, blocks.T, first, True, variances)
        first += variances.size
    return tuple(put_back(pattern, number, variances) for number, variances in enumerate(found))


def _find_neighbours(
    lead: Ints, order: Longs, start: Longs, place: Places, q: int
) -> tuple[Places, Longs, Places, int]:
    """Return where each row's columns are among the neighbours of its lead level, and those neighbours.

    The last is the largest number of neighbours.
    """
    levels = len(start) - 1
    if place.shape[1] == 0:
        return place, np.zeros(levels + 1, dtype=np.int64), np.empty(0, dtype=np.uint32), 0
    if levels * q <= _MOST_CELLS:  # checking them all is faster than sorting them
        local, reach = np.empty(place.shape, dtype=np.uint32), np.empty(levels + 1, dtype=np.int64)
        columns, widest = mark_neighbours(start, place, q, local, reach)
        return local, reach, columns, widest
    sorted_lead = lead[order].astype(np.int64)
    pairs, where = np.unique(sorted_lead[:, None] * q + place, return_inverse=True)
    owner, dense = np.divmod(pairs, q)
    reach = np.searchsorted(owner, np.arange(levels + 1))
    local = (where.reshape(place.shape) - reach[sorted_lead][:, None]).astype(np.uint32)
    return local, reach, dense.astype(np.uint32), int(np.diff(reach).max())
