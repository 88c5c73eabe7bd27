"""How the mode follows when ψ moves, to first order: by −H⁻¹ times the change of ∇h.

Eight directions are taken at once; a single one would take as long, nearly all of it for look-ups.
"""

from typing import NamedTuple

from panelist.models.blocks.elimination import solve_eight
from panelist.models.blocks.products import ENTRIES
from panelist.models.likelihoods.adjacent_rows import sum_step_change
from panelist.models.likelihoods.laplace import LaplaceWorkspace, Ordinal
from panelist.models.likelihoods.link_functions import A_TILT, ADJACENT, B_TILT, D1, W
from panelist.models.likelihoods.spread_rows import C_TILT, sum_spread_change
from panelist.numerics.arrays import Floats
from panelist.numerics.kernel import inner, noinline
from panelist.numerics.simd import broadcast, empty_f64x8, fma, get, load, store


class Directions(NamedTuple):
    """What eight directions are taken in, by f64x8."""

    change: Floats  # (k,) of ψ
    edges: Floats  # (T + 2,) of the thresholds, with one that never moves at either end
    push: Floats  # (columns,) of the mode
    sums: Floats  # (T + 2,) by threshold
    slopes: Floats  # (p + q,)


def make_directions(model: Ordinal) -> Directions:
    """Return what eight directions in the parameters of this model are taken in."""
    s, p, r = model.J.shape[1], model.X.shape[1], int(model.tau_slot.max(initial=-1)) + 1
    q = model.S.shape[1]
    columns = int((model.pattern.sizes * model.pattern.widths).sum())
    last = len(model.J) + 2
    return Directions(
        empty_f64x8(s + p + q + r),
        empty_f64x8(last),
        empty_f64x8(columns),
        empty_f64x8(last),
        empty_f64x8(p + q),
    )


@inner
def push_modes(model: Ordinal, work: LaplaceWorkspace, directions: Directions) -> None:
    """Fill the changes of the mode and of the thresholds when ψ moves by ``directions.change``.

    Uses the factor, the row table and V of the latest evaluation, so call it right after one.
    """
    noinline()
    change, edges, push = directions.change, directions.edges, directions.push
    pattern, X, J = model.pattern, model.X, model.J
    place, start, Z, V = pattern.place.reshape(-1), pattern.start, pattern.Z.reshape(-1), work.V.reshape(-1)
    tau_row, tau_column, tau_slot = model.tau_row, model.tau_column, model.tau_slot
    rows, count = work.rows.reshape(-1), work.rows.shape[1]
    s, p, r, m1, m2 = J.shape[1], X.shape[1], len(tau_row), pattern.widths[0], pattern.place.shape[1]
    m, dense, u, first = m1 + m2, (len(start) - 1) * m1, work.u, s + p + model.S.shape[1]
    spread, adjacent, S, tilts = model.S.shape[1] > 0, model.link == ADJACENT, model.S, work.spreads
    lower, joined, steps = model.lower, model.joined, work.steps
    for k in range(len(J) + 2):
        moved = broadcast(0.0)
        if 0 < k <= len(J):
            for a in range(s):
                moved = fma(load(change, a), J[k - 1, a], moved)
        store(edges, k, moved)
    for k in range(len(push)):
        store(push, k, broadcast(0.0))
    if pattern.two_by_two and r == ENTRIES:
        _pull_two_by_two(model, work, change, edges, push)
        solve_eight(pattern, work.blocks, push)
        return
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            moved, d1 = broadcast(0.0), get(rows, D1 * count + i)
            for b in range(p):
                moved = fma(load(change, s + b), X[i, b], moved)
            for t in range(r):
                c = get(tau_column, t)
                at = j * m1 + c if c < m1 else dense + get(place, i * m2 + c - m1)
                shift = load(change, first + get(tau_slot, t)) * get(Z, i * m + get(tau_row, t))
                moved = fma(shift, get(u, at), moved)
                store(push, at, fma(shift, -d1, load(push, at)))
            moved *= -get(rows, W * count + i)
            moved = fma(load(edges, get(model.upper, i)), -get(rows, A_TILT * count + i), moved)
            moved = fma(load(edges, get(model.lower, i)), -get(rows, B_TILT * count + i), moved)
            if spread:  # whole tuples are not handed on row by row: that takes longer than all the rest
                moved = fma(sum_spread_change(S, change, s + p, i), -tilts[C_TILT, i], moved)
            if adjacent:
                moved -= sum_step_change(lower, joined, steps, edges, i)
            for c in range(m):
                at = j * m1 + c if c < m1 else dense + get(place, i * m2 + c - m1)
                store(push, at, fma(moved, get(V, i * m + c), load(push, at)))
    solve_eight(pattern, work.blocks, push)


@inner
def _pull_two_by_two(
    model: Ordinal, work: LaplaceWorkspace, change: Floats, edges: Floats, push: Floats
) -> None:
    """Add the changes of −∇h to ``push``, for an intercept and a slope of each of two factors."""
    noinline()
    X, u, V = model.X.reshape(-1), work.u, work.V.reshape(-1)
    place, start, Z = model.pattern.place.reshape(-1), model.pattern.start, model.pattern.Z.reshape(-1)
    rows, count, s, p = work.rows.reshape(-1), work.rows.shape[1], model.J.shape[1], model.X.shape[1]
    dense, t = 2 * (len(start) - 1), s + p + model.S.shape[1]
    spread, adjacent, S, tilts = model.S.shape[1] > 0, model.link == ADJACENT, model.S, work.spreads
    lower, joined, steps = model.lower, model.joined, work.steps
    t0, t1, t2 = load(change, t), load(change, t + 1), load(change, t + 2)
    t3, t4, t5 = load(change, t + 3), load(change, t + 4), load(change, t + 5)
    for j in range(len(start) - 1):
        push0, push1, u0, u1 = broadcast(0.0), broadcast(0.0), get(u, 2 * j), get(u, 2 * j + 1)
        for i in range(start[j], start[j + 1]):
            z, c, d1 = 4 * i, dense + get(place, 2 * i), -get(rows, D1 * count + i)
            one, other = fma(t1, get(Z, z + 1), t0 * get(Z, z)), t2 * get(Z, z + 1)
            three, four = fma(t4, get(Z, z + 3), t3 * get(Z, z + 2)), t5 * get(Z, z + 3)
            moved = fma(one, u0, fma(other, u1, fma(three, get(u, c), four * get(u, c + 1))))
            for b in range(p):
                moved = fma(load(change, s + b), get(X, i * p + b), moved)
            moved *= -get(rows, W * count + i)
            moved = fma(load(edges, get(model.upper, i)), -get(rows, A_TILT * count + i), moved)
            moved = fma(load(edges, get(model.lower, i)), -get(rows, B_TILT * count + i), moved)
            if spread:
                moved = fma(sum_spread_change(S, change, s + p, i), -tilts[C_TILT, i], moved)
            if adjacent:
                moved -= sum_step_change(lower, joined, steps, edges, i)
            push0 = fma(one, d1, fma(moved, get(V, z), push0))
            push1 = fma(other, d1, fma(moved, get(V, z + 1), push1))
            store(push, c, fma(three, d1, fma(moved, get(V, z + 2), load(push, c))))
            store(push, c + 1, fma(four, d1, fma(moved, get(V, z + 3), load(push, c + 1))))
        store(push, 2 * j, push0)
        store(push, 2 * j + 1, push1)
