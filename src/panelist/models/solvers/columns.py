"""The Hessian of the Laplace likelihood: differences of its exact gradient, eight parameters at a time.

Column c is (∇N(ψ + h_c e_c) − ∇N(ψ)) / h_c. The eight points share data and pattern, and the mode at each is
known to second order from its tangent; so the gradient of laplace.evaluate is taken for all eight at once, an
octet in the place of each number (see lanes).
"""

from typing import NamedTuple

import numpy as np

from panelist.models.arrays import Floats
from panelist.models.solvers.blocks import dense_size
from panelist.models.solvers.estimate import Progress
from panelist.models.solvers.kernel import kernel, part, stay_apart
from panelist.models.solvers.lanes import (
    LaneBlocks,
    factorise_lanes,
    fits_lanes,
    invert_rows_lanes,
    make_lane_blocks,
    no_lane_blocks,
    solve_lanes,
)
from panelist.models.solvers.laplace import Ordinal
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
from panelist.models.solvers.normal import FAR, probit_row
from panelist.models.solvers.octets import WIDTH, fma, load, octets, spread, store


class LaneRoom(NamedTuple):
    """Room for eight gradients; flat arrays of octets, empty where the model is too large for them."""

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
    if fits_lanes(model.pattern):
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
def fill_columns(model: Ordinal, point: Floats, mode: Floats, progress: Progress, room: LaneRoom) -> None:
    """Fill the Hessian at ``point`` with its mode, where an estimation has paused before these columns."""
    k, gradient, steps, pushes = len(point), progress.gradient, progress.steps, progress.pushes
    for first in range(0, k, WIDTH):
        for a in range(k):
            for lane in range(WIDTH):
                column = min(first + lane, k - 1)  # lanes to spare repeat the last
                room.psi[a * WIDTH + lane] = point[a] + (steps[a] if a == column else 0.0)
        for c in range(len(mode)):
            for lane in range(WIDTH):
                room.u[c * WIDTH + lane] = mode[c] + pushes[min(first + lane, k - 1), c]
        _fill_rows(model, room)
        factorise_lanes(model.pattern, room.V, room.rows[W * WIDTH :], N_ENTRIES, room.blocks)
        invert_rows_lanes(model.pattern, room.V, room.blocks, room.P)
        _pull_modes(model, room)
        solve_lanes(model.pattern, room.blocks, room.r)
        _sum_slopes(model, room)
        for lane in range(min(WIDTH, k - first)):
            for b in range(k):
                slope = room.gradient[b * WIDTH + lane]
                progress.hessian[first + lane, b] = (slope - gradient[b]) / steps[first + lane]


@kernel
def _fill_rows(model: Ordinal, room: LaneRoom) -> None:
    """Fill V and the row tables at the eight points ψ with the modes u."""
    stay_apart()
    pattern, X, codes, J = model.pattern, model.X, model.codes, model.J
    psi, edges, V, rows, u, eta_room = room.psi, room.edges, room.V, room.rows, room.u, room.kappa
    place, start, Z, m1, m = pattern.place, pattern.start, pattern.Z, pattern.widths[0], pattern.Z.shape[1]
    tau_row, tau_column = model.tau_row, model.tau_column
    (last, s), p, dense = J.shape, X.shape[1], (len(pattern.start) - 1) * m1
    store(edges, 0, spread(-FAR))
    store(edges, last + 1, spread(FAR))
    for k in range(last):
        total = spread(0.0)
        for a in range(s):
            total = fma(load(psi, a), J[k, a], total)
        store(edges, k + 1, total)
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            for c in range(m):
                store(V, i * m + c, spread(0.0))
            for t in range(len(tau_row)):
                at = i * m + tau_column[t]
                store(V, at, fma(load(psi, s + p + t), Z[i, tau_row[t]], load(V, at)))
            eta = spread(0.0)
            for b in range(p):
                eta = fma(load(psi, s + b), X[i, b], eta)
            for c in range(m):
                at = j * m1 + c if c < m1 else dense + place[i, c - m1]
                eta = fma(load(V, i * m + c), load(u, at), eta)
            k, first = codes[i], i * N_ENTRIES
            if model.link != PROBIT:
                store(eta_room, i, eta)
                for lane in range(WIDTH):
                    for e in range(last):
                        room.threshold[e] = edges[(e + 1) * WIDTH + lane]
                    at = first * WIDTH + lane
                    fill_row(model.link, k, room.threshold, eta_room[i * WIDTH + lane], rows, at, WIDTH)
                continue
            _, d1, w, w_slope, one, other, a_tilt, b_tilt, a_bend, b_bend = probit_row(
                load(edges, k + 1) - eta, load(edges, k) - eta
            )
            store(rows, first + D1, d1)
            store(rows, first + W, w)
            store(rows, first + W_SLOPE, w_slope)
            store(rows, first + A, one)
            store(rows, first + B, other)
            store(rows, first + A_TILT, a_tilt)
            store(rows, first + B_TILT, b_tilt)
            store(rows, first + A_BEND, a_bend)
            store(rows, first + B_BEND, b_bend)


@kernel
def _pull_modes(model: Ordinal, room: LaneRoom) -> None:
    """Fill κ and V'(½κW'), which turns into the adjoint of the mode."""
    stay_apart()
    place, start, m1 = model.pattern.place, model.pattern.start, model.pattern.widths[0]
    V, P, r, rows, kappas = room.V, room.P, room.r, room.rows, room.kappa
    m, dense = model.pattern.Z.shape[1], (len(start) - 1) * m1
    r[:] = 0.0
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            total = spread(0.0)
            for c in range(m):
                total = fma(load(V, i * m + c), load(P, i * m + c), total)
            kappa = total * 0.5
            store(kappas, i, kappa)
            pull = kappa * load(rows, i * N_ENTRIES + W_SLOPE)
            for c in range(m):
                at = j * m1 + c if c < m1 else dense + place[i, c - m1]
                store(r, at, fma(load(V, i * m + c), pull, load(r, at)))


@kernel
def _sum_slopes(model: Ordinal, room: LaneRoom) -> None:
    """Fill the gradients, as laplace._sum_slopes does."""
    stay_apart()
    pattern, X, codes, J = model.pattern, model.X, model.codes, model.J
    place, start, Z, m1, m = pattern.place, pattern.start, pattern.Z, pattern.widths[0], pattern.Z.shape[1]
    V, P, r, u, rows, kappas, out = room.V, room.P, room.r, room.u, room.rows, room.kappa, room.gradient
    tau_row, tau_column = model.tau_row, model.tau_column
    (last, s), p, dense = J.shape, X.shape[1], (len(start) - 1) * m1
    out[:] = 0.0
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            k, first = codes[i], i * N_ENTRIES
            Vr = spread(0.0)
            for c in range(m):
                at = j * m1 + c if c < m1 else dense + place[i, c - m1]
                Vr = fma(load(V, i * m + c), load(r, at), Vr)
            w, d1, kappa = load(rows, first + W), load(rows, first + D1), load(kappas, i)
            slope = d1 + kappa * load(rows, first + W_SLOPE) - w * Vr
            for b in range(p):
                store(out, s + b, fma(slope, X[i, b], load(out, s + b)))
            upper = kappa * load(rows, first + A_BEND) - load(rows, first + A)
            upper -= load(rows, first + A_TILT) * Vr
            lower = kappa * load(rows, first + B_BEND) + load(rows, first + B)
            lower -= load(rows, first + B_TILT) * Vr
            for a in range(s):
                if k < last and J[k, a] != 0.0:
                    store(out, a, fma(upper, J[k, a], load(out, a)))
                if k > 0 and J[k - 1, a] != 0.0:
                    store(out, a, fma(lower, J[k - 1, a], load(out, a)))
            for t in range(len(tau_row)):
                c = tau_column[t]
                at = j * m1 + c if c < m1 else dense + place[i, c - m1]
                pull = load(u, at) * slope + w * load(P, i * m + c) - d1 * load(r, at)
                store(out, s + p + t, fma(pull, Z[i, tau_row[t]], load(out, s + p + t)))
