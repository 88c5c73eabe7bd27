"""The Hessian of a linear mixed model's deviance: differences of its exact gradient, eight at once.

As models/solvers/columns does for ordinal models: the gradient of models/solvers/deviance, by eight entries
of θ, with an octet in the place of each number.
"""

from typing import NamedTuple

import numpy as np

from panelist.models.arrays import Floats
from panelist.models.solvers.blocks import dense_size
from panelist.models.solvers.deviance import Linear
from panelist.models.solvers.estimate_linear import Progress
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
from panelist.models.solvers.octets import WIDTH, fma, get, load, octets, root, spread, store


class LinearLanes(NamedTuple):
    """Room for eight gradients; flat arrays of octets, empty where the model is too large for them."""

    theta: Floats  # (r,)
    gradient: Floats  # (r,)
    V: Floats  # (n, m)
    P: Floats  # (n, m)
    one: Floats  # (1,) the weight of every row
    x: Floats  # (columns,) V'X_a and V'y, then H⁻¹ of them
    spread: Floats  # (p + 1, columns) H⁻¹V'X, and the mode u last
    Q: Floats  # (n, p + 1) H̃⁻¹X, and the residuals e last
    R: Floats  # (p, p) the factor of X'H̃⁻¹X, its diagonal inverted
    target: Floats  # (p,) β
    blocks: LaneBlocks


def make_linear_lanes(model: Linear) -> LinearLanes:
    """Return room for the columns of this model's Hessian."""
    (n, m), p, r = model.pattern.Z.shape, model.X.shape[1], len(model.tau_row)
    columns = int(model.pattern.sizes[0] * model.pattern.widths[0]) + dense_size(model.pattern)
    if fits_lanes(model.pattern) and r == 6:
        blocks = make_lane_blocks(model.pattern)
    else:
        n, m, r, columns, blocks = 0, 0, 0, 0, no_lane_blocks()
    return LinearLanes(
        octets(r),
        octets(r),
        octets(n * m),
        octets(n * m),
        np.ones(WIDTH),
        octets(columns),
        octets((p + 1) * columns),
        octets(n * (p + 1)),
        octets(p * p),
        octets(p),
        blocks,
    )


@part
def fill_deviance_columns(model: Linear, point: Floats, progress: Progress, room: LinearLanes) -> None:
    """Fill the columns of θ in the curvature at ``point``, where an estimation has paused before them."""
    r, steps, here = len(point), progress.steps, progress.here
    for first in range(0, r, WIDTH):
        for t in range(r):
            for lane in range(WIDTH):
                moved = t == min(first + lane, r - 1)  # lanes to spare repeat the last
                room.theta[t * WIDTH + lane] = point[t] + (steps[t] if moved else 0.0)
        _fill_V(model, room)
        factorise_lanes(model.pattern, room.V, room.one, 0, room.blocks)
        invert_rows_lanes(model.pattern, room.V, room.blocks, room.P)
        _settle(model, room)
        _sum_slopes(model, room, progress.numbers[1])
        for lane in range(min(WIDTH, r - first)):
            for t in range(r):
                slope = room.gradient[t * WIDTH + lane]
                progress.curvature[first + lane, t] = (slope - here[t]) / steps[first + lane]


@part
def _fill_V(model: Linear, room: LinearLanes) -> None:
    """Fill V = ZΛ at the eight points."""
    Z, V, theta, tau_row, tau_column = model.pattern.Z, room.V, room.theta, model.tau_row, model.tau_column
    n, m = Z.shape
    for i in range(n):
        for c in range(m):
            store(V, i * m + c, spread(0.0))
        for t in range(len(tau_row)):
            at = i * m + tau_column[t]
            store(V, at, fma(load(theta, t), Z[i, tau_row[t]], load(V, at)))


@inner
def _settle(model: Linear, room: LinearLanes) -> None:
    """Find H⁻¹V'X, H̃⁻¹X, the factor of X'H̃⁻¹X, β, u and e."""
    stay_apart()
    X, y, V, Q, R, target = model.X.reshape(-1), model.y, room.V, room.Q, room.R, room.target
    start, place = model.pattern.start, model.pattern.place.reshape(-1)
    (n, p), columns, dense = model.X.shape, len(room.x) // WIDTH, 2 * (len(start) - 1)
    R[:] = 0.0
    target[:] = 0.0
    for a in range(p + 1):
        for c in range(columns):
            store(room.x, c, spread(0.0))
        for j in range(len(start) - 1):
            one, other = spread(0.0), spread(0.0)
            for i in range(start[j], start[j + 1]):
                value, z, c = get(X, i * p + a) if a < p else get(y, i), 4 * i, dense + get(place, 2 * i)
                one, other = fma(load(V, z), value, one), fma(load(V, z + 1), value, other)
                store(room.x, c, fma(load(V, z + 2), value, load(room.x, c)))
                store(room.x, c + 1, fma(load(V, z + 3), value, load(room.x, c + 1)))
            store(room.x, 2 * j, one)
            store(room.x, 2 * j + 1, other)
        solve_lanes(model.pattern, room.blocks, room.x)
        for c in range(columns):
            store(room.spread, a * columns + c, load(room.x, c))
        for j in range(len(start) - 1):
            one, other = load(room.x, 2 * j), load(room.x, 2 * j + 1)
            for i in range(start[j], start[j + 1]):
                z, c = 4 * i, dense + get(place, 2 * i)
                total = spread(get(X, i * p + a) if a < p else get(y, i))
                total -= load(V, z) * one + load(V, z + 1) * other
                total -= load(V, z + 2) * load(room.x, c) + load(V, z + 3) * load(room.x, c + 1)
                store(Q, i * (p + 1) + a, total)
                for b in range(min(a + 1, p)):
                    if a < p:
                        store(R, a * p + b, fma(total, get(X, i * p + b), load(R, a * p + b)))
                    else:  # X'H̃⁻¹y
                        store(target, b, fma(total, get(X, i * p + b), load(target, b)))
    for a in range(p):
        for b in range(a + 1):
            total = load(R, a * p + b)
            for k in range(b):
                total -= load(R, a * p + k) * load(R, b * p + k)
            store(R, a * p + b, 1.0 / root(total) if a == b else total * load(R, b * p + b))
    solve_small_lanes(R, target, 0 * p, p)
    for c in range(columns):  # u = H⁻¹V'(y − Xβ)
        total = load(room.spread, p * columns + c)
        for a in range(p):
            total -= load(room.spread, a * columns + c) * load(target, a)
        store(room.spread, p * columns + c, total)
    for i in range(n):  # e = H̃⁻¹(y − Xβ)
        total = load(Q, i * (p + 1) + p)
        for a in range(p):
            total -= load(Q, i * (p + 1) + a) * load(target, a)
        store(Q, i * (p + 1) + p, total)


@inner
def solve_small_lanes(R: Floats, x: Floats, first: int, p: int) -> None:
    """Overwrite p octets of x by (RR')⁻¹x."""
    for a in range(p):
        total = load(x, first + a)
        for b in range(a):
            total -= load(R, a * p + b) * load(x, first + b)
        store(x, first + a, total * load(R, a * p + a))
    for a in range(p - 1, -1, -1):
        total = load(x, first + a)
        for b in range(a + 1, p):
            total -= load(R, b * p + a) * load(x, first + b)
        store(x, first + a, total * load(R, a * p + a))


@inner
def _sum_slopes(model: Linear, room: LinearLanes, precision: float) -> None:
    """Fill the gradients, as deviance.slopes does."""
    stay_apart()
    start, place, Z = model.pattern.start, model.pattern.place.reshape(-1), model.pattern.Z.reshape(-1)
    P, Q, x, out, p, columns = (
        room.P,
        room.Q,
        room.spread,
        room.gradient,
        model.X.shape[1],
        len(room.x) // WIDTH,
    )
    dense, u = 2 * (len(start) - 1), p * columns
    g0 = g1 = g2 = g3 = g4 = g5 = spread(0.0)
    for j in range(len(start) - 1):
        u0, u1 = load(x, u + 2 * j), load(x, u + 2 * j + 1)
        for i in range(start[j], start[j + 1]):
            z, c, e = 4 * i, dense + get(place, 2 * i), load(Q, i * (p + 1) + p) * precision
            one, other = load(P, z) - e * u0, load(P, z + 1) - e * u1
            three, four = load(P, z + 2) - e * load(x, u + c), load(P, z + 3) - e * load(x, u + c + 1)
            if model.reml:
                solve_small_lanes(room.R, Q, i * (p + 1), p)
                for a in range(p):
                    share, at = load(Q, i * (p + 1) + a), a * columns
                    one -= share * load(x, at + 2 * j)
                    other -= share * load(x, at + 2 * j + 1)
                    three -= share * load(x, at + c)
                    four -= share * load(x, at + c + 1)
            g0, g1 = fma(one, get(Z, z), g0), fma(one, get(Z, z + 1), g1)
            g2, g5 = fma(other, get(Z, z + 1), g2), fma(four, get(Z, z + 3), g5)
            g3, g4 = fma(three, get(Z, z + 2), g3), fma(three, get(Z, z + 3), g4)
    store(out, 0, g0 * 2.0)
    store(out, 1, g1 * 2.0)
    store(out, 2, g2 * 2.0)
    store(out, 3, g3 * 2.0)
    store(out, 4, g4 * 2.0)
    store(out, 5, g5 * 2.0)
