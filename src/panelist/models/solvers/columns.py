"""The Hessian of the Laplace likelihood: differences of its exact gradient, eight parameters at a time.

Column c is (∇N(ψ + h_c e_c) − ∇N(ψ)) / h_c. The eight points share data and pattern, and the mode at each is
known to second order from its tangent; so the gradient of laplace.evaluate is taken for all eight at once, an
octet in the place of each number (see lanes). That is for an intercept and a slope of each of two factors, in
small data; in other models a column after the other is as fast.
"""

from typing import Any, NamedTuple

import numpy as np

from panelist.models.arrays import Floats
from panelist.models.solvers.blocks import dense_size
from panelist.models.solvers.estimate import Progress
from panelist.models.solvers.following import Directions, push_modes
from panelist.models.solvers.kernel import inner, part, stay_apart
from panelist.models.solvers.lanes import (
    LaneBlocks,
    factorise_lanes,
    fits_lanes,
    invert_rows_lanes,
    make_lane_blocks,
    no_lane_blocks,
    solve_lanes,
)
from panelist.models.solvers.laplace import Ordinal, Workspace
from panelist.models.solvers.links import (
    A_BEND,
    A_TILT,
    B_BEND,
    B_TILT,
    D1,
    N_ENTRIES,
    PROBIT,
    W_SLOPE,
    A,
    B,
    W,
    fill_row,
)
from panelist.models.solvers.normal import FAR, move_probit_row
from panelist.models.solvers.octets import WIDTH, fma, get, load, octets, spread, store


class LaneRoom(NamedTuple):
    """Room for eight gradients; flat arrays of octets, empty where columns come one after the other."""

    psi: Floats  # (k,)
    gradient: Floats  # (k,)
    edges: Floats  # (K + 1,) thresholds, with ±FAR around them
    V: Floats  # (n, m)
    P: Floats  # (n, m)
    rows: Floats  # (n, 9)
    kappa: Floats  # (n,)
    u: Floats  # (columns,)
    r: Floats  # (columns,)
    blocks: LaneBlocks
    threshold: Floats  # (K − 1,) of one lane


def make_lane_room(model: Ordinal) -> LaneRoom:
    """Return room for the columns of this model's Hessian."""
    (n, m), q = model.pattern.Z.shape, dense_size(model.pattern)
    k = model.J.shape[1] + model.X.shape[1] + len(model.tau_row)
    columns = int(model.pattern.sizes[0] * model.pattern.widths[0]) + q
    if fits_lanes(model.pattern) and len(model.tau_row) == 6:
        blocks = make_lane_blocks(model.pattern)
    else:
        n, m, k, columns, blocks = 0, 0, 0, 0, no_lane_blocks()
    return LaneRoom(
        octets(k),
        octets(k),
        octets(len(model.J) + 2),
        octets(n * m),
        octets(n * m),
        octets(n * N_ENTRIES),
        octets(n),
        octets(columns),
        octets(columns),
        blocks,
        np.zeros(len(model.J)),
    )


@part
def fill_columns(
    model: Ordinal, work: Workspace, point: Floats, progress: Progress, directions: Directions, room: LaneRoom
) -> None:
    """Fill the Hessian at ``point``, where an estimation has paused before these columns."""
    k, gradient, steps, push = len(point), progress.gradient, progress.steps, directions.push
    for first in range(0, k, WIDTH):
        for a in range(k):
            for lane in range(WIDTH):
                column = min(first + lane, k - 1)  # lanes to spare repeat the last
                step = steps[a] if a == column else 0.0
                directions.change[a * WIDTH + lane], room.psi[a * WIDTH + lane] = step, point[a] + step
        push_modes(model, work, directions)
        for c in range(len(work.u)):
            store(room.u, c, load(push, c) + get(work.u, c))
        _fill_rows(model, work, point, room)
        factorise_lanes(model.pattern, room.V, room.rows[W * WIDTH :], N_ENTRIES, room.blocks)
        invert_rows_lanes(model.pattern, room.V, room.blocks, room.P)
        _pull_modes(model, room)
        solve_lanes(model.pattern, room.blocks, room.r)
        _sum_slopes(model, room)
        for lane in range(min(WIDTH, k - first)):
            for b in range(k):
                slope = room.gradient[b * WIDTH + lane]
                progress.hessian[first + lane, b] = (slope - gradient[b]) / steps[first + lane]


@inner
def _fill_rows(model: Ordinal, work: Workspace, point: Floats, room: LaneRoom) -> None:
    """Fill V and the row tables at the eight points ψ with the modes u."""
    stay_apart()
    pattern, X, codes, J = model.pattern, model.X.reshape(-1), model.codes, model.J
    psi, edges, V, u, Z = room.psi, room.edges, room.V, room.u, pattern.Z.reshape(-1)
    place, start, here, V0 = pattern.place.reshape(-1), pattern.start, work.thresholds, work.V.reshape(-1)
    (last, s), p, dense, probit = J.shape, model.X.shape[1], 2 * (len(start) - 1), model.link == PROBIT
    store(edges, 0, spread(-FAR))
    store(edges, last + 1, spread(FAR))
    for k in range(last):
        total = spread(0.0)
        for a in range(s):
            total = fma(load(psi, a), J[k, a], total)
        store(edges, k + 1, total)
    t0, t1, t2 = load(psi, s + p), load(psi, s + p + 1), load(psi, s + p + 2)
    t3, t4, t5 = load(psi, s + p + 3), load(psi, s + p + 4), load(psi, s + p + 5)
    for j in range(len(start) - 1):
        u0, u1 = load(u, 2 * j), load(u, 2 * j + 1)
        for i in range(start[j], start[j + 1]):
            z, k, c = 4 * i, codes[i], dense + get(place, 2 * i)
            one, other = fma(t1, get(Z, z + 1), t0 * get(Z, z)), t2 * get(Z, z + 1)
            three, four = fma(t4, get(Z, z + 3), t3 * get(Z, z + 2)), t5 * get(Z, z + 3)
            store(V, z, one)
            store(V, z + 1, other)
            store(V, z + 2, three)
            store(V, z + 3, four)
            eta = fma(one, u0, fma(other, u1, fma(three, load(u, c), four * load(u, c + 1))))
            for b in range(p):
                eta = fma(load(psi, s + b), get(X, i * p + b), eta)
            if not probit:
                _fill_row_lanes(model.link, k, eta, i, room)
                continue
            before = get(V0, z) * get(work.u, 2 * j) + get(V0, z + 1) * get(work.u, 2 * j + 1)
            before += get(V0, z + 2) * get(work.u, c) + get(V0, z + 3) * get(work.u, c + 1)
            for b in range(p):
                before += get(X, i * p + b) * get(point, s + b)
            above = here[k] if k < last else FAR
            below = here[k - 1] if k > 0 else -FAR
            up, low = load(edges, k + 1) - eta, load(edges, k) - eta
            a, b = get(work.rows[A], i), get(work.rows[B], i)
            _store_row(room.rows, i, move_probit_row(above - before, below - before, a, b, up, low))


@inner
def _fill_row_lanes(link: int, k: int, eta: Any, i: int, room: LaneRoom) -> None:
    """Fill the row tables of rating i in category k lane by lane, for a link without vector code."""
    store(room.kappa, i, eta)
    for lane in range(WIDTH):
        for e in range(len(room.threshold)):
            room.threshold[e] = room.edges[(e + 1) * WIDTH + lane]
        at, stride = i * N_ENTRIES * WIDTH + lane, WIDTH + 0 * i  # a literal would compile another `fill_row`
        fill_row(link, k, room.threshold, room.kappa[i * WIDTH + lane], room.rows, at, stride)


@part
def _store_row(rows: Floats, i: int, entries: Any) -> None:
    """Store the nine entries of a row, which come in the order of links."""
    d1, w, w_slope, a, b, a_tilt, b_tilt, a_bend, b_bend = entries
    first = i * N_ENTRIES
    store(rows, first + D1, d1)
    store(rows, first + W, w)
    store(rows, first + W_SLOPE, w_slope)
    store(rows, first + A, a)
    store(rows, first + B, b)
    store(rows, first + A_TILT, a_tilt)
    store(rows, first + B_TILT, b_tilt)
    store(rows, first + A_BEND, a_bend)
    store(rows, first + B_BEND, b_bend)


@inner
def _pull_modes(model: Ordinal, room: LaneRoom) -> None:
    """Fill κ and V'(½κW'), which turns into the adjoint of the mode."""
    stay_apart()
    place, start = model.pattern.place.reshape(-1), model.pattern.start
    V, P, r, rows, kappas, dense = (
        room.V,
        room.P,
        room.r,
        room.rows,
        room.kappa,
        2 * (len(model.pattern.start) - 1),
    )
    for k in range(len(r) // WIDTH):
        store(r, k, spread(0.0))
    for j in range(len(start) - 1):
        r0, r1 = spread(0.0), spread(0.0)
        for i in range(start[j], start[j + 1]):
            z, c = 4 * i, dense + get(place, 2 * i)
            one, other, three, four = load(V, z), load(V, z + 1), load(V, z + 2), load(V, z + 3)
            kappa = fma(one, load(P, z), fma(other, load(P, z + 1), three * load(P, z + 2)))
            kappa = fma(four, load(P, z + 3), kappa) * 0.5
            store(kappas, i, kappa)
            pull = kappa * load(rows, i * N_ENTRIES + W_SLOPE)
            r0, r1 = fma(one, pull, r0), fma(other, pull, r1)
            store(r, c, fma(three, pull, load(r, c)))
            store(r, c + 1, fma(four, pull, load(r, c + 1)))
        store(r, 2 * j, r0)
        store(r, 2 * j + 1, r1)


@inner
def _sum_slopes(model: Ordinal, room: LaneRoom) -> None:
    """Fill the gradients, as laplace._sum_slopes does."""
    stay_apart()
    X, codes, J, Z = model.X.reshape(-1), model.codes, model.J, model.pattern.Z.reshape(-1)
    place, start = model.pattern.place.reshape(-1), model.pattern.start
    V, P, r, u, rows, kappas, out, sums = (
        room.V,
        room.P,
        room.r,
        room.u,
        room.rows,
        room.kappa,
        room.gradient,
        room.edges,  # the thresholds themselves are no longer needed
    )
    (last, s), p, dense = J.shape, model.X.shape[1], 2 * (len(start) - 1)
    out[:] = 0.0
    sums[:] = 0.0
    g0 = g1 = g2 = g3 = g4 = g5 = spread(0.0)
    for j in range(len(start) - 1):
        r0, r1, u0, u1 = load(r, 2 * j), load(r, 2 * j + 1), load(u, 2 * j), load(u, 2 * j + 1)
        for i in range(start[j], start[j + 1]):
            k, first, z, c = codes[i], i * N_ENTRIES, 4 * i, dense + get(place, 2 * i)
            r2, r3 = load(r, c), load(r, c + 1)
            Vr = fma(load(V, z), r0, fma(load(V, z + 1), r1, fma(load(V, z + 2), r2, load(V, z + 3) * r3)))
            w, d1, kappa = load(rows, first + W), load(rows, first + D1), load(kappas, i)
            slope = d1 + kappa * load(rows, first + W_SLOPE) - w * Vr
            for b in range(p):
                store(out, s + b, fma(slope, get(X, i * p + b), load(out, s + b)))
            upper = (
                kappa * load(rows, first + A_BEND) - load(rows, first + A) - load(rows, first + A_TILT) * Vr
            )
            lower = (
                kappa * load(rows, first + B_BEND) + load(rows, first + B) - load(rows, first + B_TILT) * Vr
            )
            store(sums, k + 1, load(sums, k + 1) + upper)
            store(sums, k, load(sums, k) + lower)
            one = u0 * slope + w * load(P, z) - d1 * r0
            three = load(u, c) * slope + w * load(P, z + 2) - d1 * r2
            g0, g1 = fma(one, get(Z, z), g0), fma(one, get(Z, z + 1), g1)
            g2 = fma(u1 * slope + w * load(P, z + 1) - d1 * r1, get(Z, z + 1), g2)
            g3, g4 = fma(three, get(Z, z + 2), g3), fma(three, get(Z, z + 3), g4)
            g5 = fma(load(u, c + 1) * slope + w * load(P, z + 3) - d1 * r3, get(Z, z + 3), g5)
    for k in range(last):
        for a in range(s):
            store(out, a, fma(load(sums, k + 1), J[k, a], load(out, a)))
    t = s + p
    store(out, t, g0)
    store(out, t + 1, g1)
    store(out, t + 2, g2)
    store(out, t + 3, g3)
    store(out, t + 4, g4)
    store(out, t + 5, g5)
