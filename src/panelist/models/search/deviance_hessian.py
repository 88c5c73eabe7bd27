"""The Hessian of a linear mixed model's deviance: differences of its exact gradient, eight at once.

As laplace_hessian does for ordinal models: the gradient of deviance, moved in eight entries of θ, by the same
code where that is compiled for f64x8.
"""

from typing import NamedTuple

import numpy as np

from panelist.models.blocks import two_by_two
from panelist.models.blocks.batch8 import (
    LaneBlocks,
    factorise_lanes,
    fits_lanes,
    invert_rows_lanes,
    make_lane_blocks,
    no_lane_blocks,
    solve_lanes,
)
from panelist.models.blocks.products import ENTRIES
from panelist.models.likelihoods.deviance import Linear, factor_small, solve_small
from panelist.models.search.phases import PRECISION, SearchState
from panelist.numerics.arrays import Floats
from panelist.numerics.kernel import inner, noinline, part
from panelist.numerics.simd import WIDTH, broadcast, empty_f64x8, fma, get, load, put, store


class DevianceLanes(NamedTuple):
    """What eight gradients are taken in, by f64x8; empty where the model is too large for them."""

    theta: Floats  # (r,)
    gradient: Floats  # (r,)
    V: Floats  # (n, m)
    P: Floats  # (n, m)
    one: Floats  # (1,) the weight of every row, one number
    x: Floats  # (columns,) V'X_a and V'y, then H⁻¹ of them
    HVXY: Floats  # (p + 1, columns) H⁻¹V'X, and the mode u last
    Q: Floats  # (n, p + 1) H̃⁻¹X, and the residuals e last
    R: Floats  # (p, p) the factor of X'H̃⁻¹X, its diagonal inverted
    target: Floats  # (p,) β
    blocks: LaneBlocks


def make_deviance_lanes(model: Linear) -> DevianceLanes:
    """Return what the columns of this model's Hessian are taken in."""
    (n, m), p, r = model.pattern.Z.shape, model.X.shape[1], len(model.tau_row)
    columns = int(model.pattern.sizes[0] * model.pattern.widths[0]) + model.pattern.q
    if fits_lanes(model.pattern) and r == ENTRIES:
        blocks = make_lane_blocks(model.pattern)
    else:
        n, m, r, columns, blocks = 0, 0, 0, 0, no_lane_blocks()
    return DevianceLanes(
        empty_f64x8(r),
        empty_f64x8(r),
        empty_f64x8(n * m),
        empty_f64x8(n * m),
        np.ones(1),
        empty_f64x8(columns),
        empty_f64x8((p + 1) * columns),
        empty_f64x8(n * (p + 1)),
        empty_f64x8(p * p),
        empty_f64x8(p),
        blocks,
    )


@part
def fill_deviance_columns(model: Linear, point: Floats, progress: SearchState, lanes: DevianceLanes) -> None:
    """Fill the columns of θ in the Hessian at ``point``, where an estimation has paused before them."""
    r, steps, here = len(point), progress.steps, progress.gradient
    for first in range(0, r, WIDTH):
        for t in range(r):
            for lane in range(WIDTH):
                moved = t == min(first + lane, r - 1)  # spare lanes repeat the last
                lanes.theta[t, lane] = point[t] + (steps[t] if moved else 0.0)
        two_by_two.fill_V(model.pattern.Z.reshape(-1), len(model.y), lanes.theta, 0, lanes.V)
        factorise_lanes(model.pattern, lanes.V, lanes.one, 0, 0, lanes.blocks)
        invert_rows_lanes(model.pattern, lanes.V, lanes.blocks, lanes.P)
        _settle(model, lanes)
        _sum_slopes(model, lanes, progress.centre[PRECISION])
        for lane in range(min(WIDTH, r - first)):
            for t in range(r):
                slope = lanes.gradient[t, lane]
                progress.hessian[first + lane, t] = (slope - here[t]) / steps[first + lane]


@inner
def _settle(model: Linear, lanes: DevianceLanes) -> None:
    """Find H⁻¹V'X, H̃⁻¹X, the factor of X'H̃⁻¹X, β, u and e."""
    noinline()
    X, y, V, Q, R, target = model.X.reshape(-1), model.y, lanes.V, lanes.Q, lanes.R, lanes.target
    start, place = model.pattern.start, model.pattern.place.reshape(-1)
    (n, p), columns, dense = model.X.shape, len(lanes.x), 2 * (len(start) - 1)
    R[:] = 0.0
    target[:] = 0.0
    for a in range(p + 1):
        lanes.x[:] = 0.0
        column, at, stride = (X, a, p) if a < p else (y, 0, 1)
        two_by_two.multiply_transposed(model.pattern, V, column, at, stride, lanes.x)
        solve_lanes(model.pattern, lanes.blocks, lanes.x)
        for c in range(columns):
            store(lanes.HVXY, a * columns + c, load(lanes.x, c))
        for j in range(len(start) - 1):
            one, other = load(lanes.x, 2 * j), load(lanes.x, 2 * j + 1)
            for i in range(start[j], start[j + 1]):
                total = broadcast(get(column, at + i * stride))
                total -= two_by_two.multiply_row(V, 4 * i, one, other, lanes.x, dense + get(place, 2 * i))
                store(Q, i * (p + 1) + a, total)
                for b in range(min(a + 1, p)):
                    if a < p:
                        store(R, a * p + b, fma(total, get(X, i * p + b), load(R, a * p + b)))
                    else:  # X'H̃⁻¹y
                        store(target, b, fma(total, get(X, i * p + b), load(target, b)))
    factor_small(R, p)
    solve_small(R, target, 0, p)
    for c in range(columns):  # u = H⁻¹V'(y − Xβ)
        total = load(lanes.HVXY, p * columns + c)
        for a in range(p):
            total -= load(lanes.HVXY, a * columns + c) * load(target, a)
        store(lanes.HVXY, p * columns + c, total)
    for i in range(n):  # e = H̃⁻¹(y − Xβ)
        total = load(Q, i * (p + 1) + p)
        for a in range(p):
            total -= load(Q, i * (p + 1) + a) * load(target, a)
        store(Q, i * (p + 1) + p, total)


@inner
def _sum_slopes(model: Linear, lanes: DevianceLanes, precision: float) -> None:
    """Fill the gradients, as deviance.slopes does."""
    noinline()
    pattern, P, Q, x, p, columns = model.pattern, lanes.P, lanes.Q, lanes.HVXY, model.X.shape[1], len(lanes.x)
    start, place = pattern.start, pattern.place.reshape(-1)
    for j in range(len(start) - 1 if model.reml else 0):
        for i in range(start[j], start[j + 1]):
            z, c = 4 * i, 2 * (len(start) - 1) + get(place, 2 * i)
            one, other, three, four = get(P, z), get(P, z + 1), get(P, z + 2), get(P, z + 3)
            solve_small(lanes.R, Q, i * (p + 1), p)
            for a in range(p):
                share, at = get(Q, i * (p + 1) + a), a * columns
                one, other = one - share * get(x, at + 2 * j), other - share * get(x, at + 2 * j + 1)
                three, four = three - share * get(x, at + c), four - share * get(x, at + c + 1)
            put(P, z, one)
            put(P, z + 1, other)
            put(P, z + 2, three)
            put(P, z + 3, four)
    two_by_two.add_pulls(pattern, P, Q, p, p + 1, precision, x, p * columns, lanes.gradient)
