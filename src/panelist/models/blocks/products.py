"""V = ZΛ, and products with it: its rows have entries in the columns of their own levels alone."""

from panelist.models.blocks import two_by_two
from panelist.models.blocks.pattern import Pattern
from panelist.numerics.arrays import Floats, Longs
from panelist.numerics.kernel import inner, noinline
from panelist.numerics.simd import fma, get, put

ENTRIES = 6  # of the Λ of a pattern that is two by two, unless some are zero or shared


@inner
def count_tau(tau_slot: Longs) -> int:
    """Return how many τ the entries of Λ are."""
    return int(tau_slot[len(tau_slot) - 1]) + 1 if len(tau_slot) > 0 else 0


@inner
def fill_V(
    pattern: Pattern, tau_row: Longs, tau_column: Longs, tau_slot: Longs, tau: Floats, first: int, V: Floats
) -> None:
    """Fill V = ZΛ; entry t of Λ is ``tau[first + tau_slot[t]]``."""
    Z, (n, m) = pattern.Z.reshape(-1), pattern.Z.shape
    if pattern.two_by_two and len(tau_row) == ENTRIES:
        two_by_two.fill_V(Z, n, tau, first, V)
        return
    for i in range(n):
        for c in range(m):
            put(V, i * m + c, 0.0)
        for t in range(len(tau_row)):
            k = i * m + get(tau_column, t)
            put(V, k, get(V, k) + get(Z, i * m + get(tau_row, t)) * get(tau, first + get(tau_slot, t)))


@inner
def multiply(pattern: Pattern, V: Floats, u: Floats, out: Floats) -> None:
    """Fill out (n,) with Vu."""
    noinline()
    if pattern.two_by_two:
        two_by_two.multiply(pattern, V, u, out)
        return
    start, place = pattern.start, pattern.place
    m1, m2, J = pattern.widths[0], place.shape[1], len(start) - 1
    m, dense = m1 + m2, J * m1
    for j in range(J):
        for i in range(start[j], start[j + 1]):
            value = 0.0
            for a in range(m1):
                value += get(V, i * m + a) * get(u, j * m1 + a)
            for b in range(m2):
                value += get(V, i * m + m1 + b) * get(u, dense + place[i, b])
            put(out, i, value)


@inner
def multiply_transposed(pattern: Pattern, V: Floats, row: Floats, first: int, out: Floats) -> None:
    """Add V'row to out, lead columns first, for one row or eight; it begins at ``row[first]``."""
    noinline()
    if pattern.two_by_two:
        two_by_two.multiply_transposed(pattern, V, row, first, 1, out)
        return
    start, place = pattern.start, pattern.place
    m1, m2, J = pattern.widths[0], place.shape[1], len(start) - 1
    m, dense = m1 + m2, J * m1
    for j in range(J):
        for i in range(start[j], start[j + 1]):
            value = get(row, first + i)
            for a in range(m1):
                put(out, j * m1 + a, fma(value, get(V, i * m + a), get(out, j * m1 + a)))
            for b in range(m2):
                k = dense + place[i, b]
                put(out, k, fma(value, get(V, i * m + m1 + b), get(out, k)))
