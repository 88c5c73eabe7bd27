"""Passes over the rows of a table, compiled: for a few hundred rows numpy takes longer to be called.

None of them takes an argument for which numba would compile again: arrays are contiguous and writable.
"""

import numpy as np

from panelist.numerics.arrays import Floats, Ints, Longs, Places
from panelist.numerics.kernel import kernel


@kernel
def sort_rows(index: Ints, order: Longs, start: Longs) -> None:
    """Fill ``order`` with the rows sorted by level, stably, and ``start`` with the bounds."""
    levels = len(start) - 1
    for j in range(levels + 1):
        start[j] = 0
    for i in range(len(index)):
        start[index[i] + 1] += 1
    free = np.empty(levels, dtype=np.int64)
    for j in range(levels):
        free[j] = start[j]
        start[j + 1] += start[j]
    for i in range(len(index)):
        j = index[i]
        order[free[j]] = i
        free[j] += 1


@kernel
def lay_rows(
    index: Ints, own: Floats, order: Longs, Z: Floats, first: int, place: Places, at: int, offset: int
) -> None:
    """Put a factor's columns into Z from column ``first`` on, rows sorted, and its dense columns into place.

    These are from column ``at`` of ``place`` on, and count from ``offset``; the lead factor's ``at`` is
    negative, because it has none.
    """
    width = own.shape[1]
    for i in range(len(order)):
        row = order[i]
        for b in range(width):
            Z[i, first + b] = own[row, b]
        if at >= 0:
            dense = offset + index[row] * width
            for b in range(width):
                place[i, at + b] = dense + b


@kernel
def mark_neighbours(start: Longs, place: Places, q: int, local: Places, reach: Longs) -> tuple[Places, int]:
    """Return the columns that meet each lead level, ascending, and how many meet one level at most.

    Fills in their bounds, and where each row's columns are among them. It checks every one of the q
    columns for every lead level.
    """
    levels, width = len(start) - 1, place.shape[1]
    seen = np.empty(q, dtype=np.int64)
    for c in range(q):
        seen[c] = -1
    reach[0] = widest = 0
    for j in range(levels):
        count = 0
        for i in range(start[j], start[j + 1]):
            for b in range(width):
                c = place[i, b]
                if seen[c] != j:
                    seen[c] = j
                    count += 1
        reach[j + 1] = reach[j] + count
        widest = max(widest, count)
    columns = np.empty(reach[levels], dtype=np.uint32)
    where = np.empty(q, dtype=np.uint32)
    for j in range(levels):
        for i in range(start[j], start[j + 1]):
            for b in range(width):
                seen[place[i, b]] = levels + j
        at = reach[j]
        for c in range(q):
            if seen[c] == levels + j:
                columns[at] = c
                where[c] = at - reach[j]
                at += 1
        for i in range(start[j], start[j + 1]):
            for b in range(width):
                local[i, b] = where[place[i, b]]
    return columns, widest


@kernel
def fill_lambda(
    rows: Longs, columns: Longs, slots: Longs, tau: Floats, first: int, block: Floats, upright: bool
) -> None:
    """Fill a factor's Λ, zero before, with its entries of τ; ``upright`` turns columns to a diagonal ≥ 0."""
    for e in range(len(rows)):
        block[rows[e], columns[e]] = tau[first + slots[e]] + 0.0  # never −0
    if upright:
        for c in range(block.shape[1]):
            if block[c, c] < 0.0:
                for a in range(block.shape[0]):
                    block[a, c] = 0.0 - block[a, c]


@kernel
def fill_modes(block: Floats, u: Floats, first: int, modes: Floats) -> None:
    """Fill in b = Λu, one row per level, for a factor whose part of u begins at ``first``."""
    levels, m = modes.shape
    for j in range(levels):
        for a in range(m):
            total = 0.0
            for b in range(m):
                total += block[a, b] * u[first + j * m + b]
            modes[j, a] = total


@kernel
def fill_variances(block: Floats, inverse: Floats, first: int, dense: bool, variances: Floats) -> None:
    """Fill in diag(ΛH⁻¹Λ'), one row per level, for a factor whose part of H⁻¹ begins in row ``first``.

    Its blocks are on the diagonal of ``inverse``, or below each other, where that is not ``dense``.
    """
    levels, m = variances.shape
    for j in range(levels):
        row = first + j * m
        column = row if dense else 0
        for a in range(m):
            total = 0.0
            for b in range(m):
                part = 0.0
                for c in range(m):
                    part += inverse[row + b, column + c] * block[a, c]
                total += block[a, b] * part
            variances[j, a] = max(total, 0.0)


@kernel
def varies_within(index: Ints, levels: int, Z: Floats, start: int, stop: int) -> bool:
    """Return whether one of the columns start:stop of Z differs between two rows of one level."""
    first = np.empty(levels, dtype=np.int64)
    for j in range(levels):
        first[j] = -1
    for i in range(len(index)):
        j = index[i]
        if first[j] < 0:
            first[j] = i
            continue
        for b in range(start, stop):
            if Z[i, b] != Z[first[j], b]:
                return True
    return False


@kernel
def spread_of(y: Floats) -> float:
    """Return the standard deviation of y, over n."""
    n, mean, square = len(y), 0.0, 0.0
    for i in range(n):
        mean += y[i]
    mean /= n
    for i in range(n):
        square += (y[i] - mean) ** 2
    return float(np.sqrt(square / n))


@kernel
def number_points(values: Floats, most: int, codes: Ints) -> Floats:
    """Return the different values, ascending, and fill in which of them each one is.

    Returns nothing unless all values lie in whole steps, ``most`` at the most, above the lowest.
    """
    low, high = np.inf, -np.inf
    for i in range(len(values)):
        low, high = min(low, values[i]), max(high, values[i])
    if not high - low <= most:
        return np.empty(0)
    span = int(high - low) + 1
    place = np.empty(span, dtype=np.int32)
    for k in range(span):
        place[k] = -1
    for i in range(len(values)):
        step = int(values[i] - low)
        if low + step != values[i]:
            return np.empty(0)
        place[step] = 0
    count = 0
    points = np.empty(span)
    for k in range(span):
        if place[k] == 0:
            place[k] = count
            points[count] = low + k
            count += 1
    for i in range(len(values)):
        codes[i] = place[int(values[i] - low)]
    return points[:count].copy()
