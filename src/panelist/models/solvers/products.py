"""Products with V, whose rows have entries in the columns of their own levels alone (see blocks)."""

from panelist.models.arrays import Floats
from panelist.models.solvers.blocks import Pattern
from panelist.models.solvers.kernel import inner, stay_apart
from panelist.models.solvers.octets import get, put


@inner
def multiply(pattern: Pattern, V: Floats, u: Floats, out: Floats) -> None:
    """Fill out (n,) with Vu."""
    stay_apart()
    start, place, flat = pattern.start, pattern.place, V.reshape(-1)
    m1, m2, J = pattern.widths[0], place.shape[1], len(start) - 1
    m, dense = m1 + m2, J * m1
    if pattern.usual:
        for j in range(J):
            one, other = get(u, 2 * j), get(u, 2 * j + 1)
            for i in range(start[j], start[j + 1]):
                k = dense + place[i, 0]
                value = get(flat, 4 * i) * one + get(flat, 4 * i + 1) * other
                put(out, i, value + get(flat, 4 * i + 2) * get(u, k) + get(flat, 4 * i + 3) * get(u, k + 1))
        return
    for j in range(J):
        for i in range(start[j], start[j + 1]):
            value = 0.0
            for a in range(m1):
                value += get(flat, i * m + a) * get(u, j * m1 + a)
            for b in range(m2):
                value += get(flat, i * m + m1 + b) * get(u, dense + place[i, b])
            put(out, i, value)


@inner
def multiply_transposed(pattern: Pattern, V: Floats, row: Floats, out: Floats) -> None:
    """Add V'row to out, lead columns first."""
    stay_apart()
    start, place, flat = pattern.start, pattern.place, V.reshape(-1)
    m1, m2, J = pattern.widths[0], place.shape[1], len(start) - 1
    m, dense = m1 + m2, J * m1
    if pattern.usual:
        for j in range(J):
            one, other = get(out, 2 * j), get(out, 2 * j + 1)
            for i in range(start[j], start[j + 1]):
                value, k = get(row, i), dense + place[i, 0]
                one, other = one + get(flat, 4 * i) * value, other + get(flat, 4 * i + 1) * value
                put(out, k, get(out, k) + get(flat, 4 * i + 2) * value)
                put(out, k + 1, get(out, k + 1) + get(flat, 4 * i + 3) * value)
            put(out, 2 * j, one)
            put(out, 2 * j + 1, other)
        return
    for j in range(J):
        for i in range(start[j], start[j + 1]):
            value = get(row, i)
            for a in range(m1):
                put(out, j * m1 + a, get(out, j * m1 + a) + get(flat, i * m + a) * value)
            for b in range(m2):
                k = dense + place[i, b]
                put(out, k, get(out, k) + get(flat, i * m + m1 + b) * value)
