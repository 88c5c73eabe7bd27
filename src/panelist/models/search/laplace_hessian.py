"""The Hessian of the Laplace likelihood: differences of its exact gradient, eight parameters at a time.

Column c is (∇N(ψ + h_c e_c) − ∇N(ψ)) / h_c. The eight points share data and pattern, and the mode at each is
known to second order from its tangent; so the gradient of laplace.evaluate is taken for all eight at once, by
the same code, compiled for f64x8 (see two_by_two). That is for an intercept and a slope of each of two
factors, in small data; in other models one column after the other is as fast.
"""

from typing import Any, NamedTuple

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
from panelist.models.likelihoods.laplace import LaplaceWorkspace, Ordinal, sum_row_slopes, weigh_rows
from panelist.models.likelihoods.link_functions import (
    A_BEND,
    A_TILT,
    ADJACENT,
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
from panelist.models.likelihoods.tangent import Directions, push_modes
from panelist.models.search.phases import SearchState
from panelist.numerics.arrays import Floats
from panelist.numerics.kernel import inner, noinline, part
from panelist.numerics.normal import FAR, move_probit_row
from panelist.numerics.simd import WIDTH, broadcast, empty_f64x8, fma, get, load, store


class LaplaceLanes(NamedTuple):
    """What eight gradients are taken in, by f64x8; empty where columns come one after the other."""

    psi: Floats  # (k,)
    gradient: Floats  # (k,)
    edges: Floats  # (T + 2,) thresholds, with ±FAR around them
    V: Floats  # (n, m)
    P: Floats  # (n, m)
    rows: Floats  # (n, 9)
    kappa: Floats  # (n,)
    half: Floats  # (n,) κW'/2, then the slope in η
    Vr: Floats  # (n,)
    u: Floats  # (columns,)
    r: Floats  # (columns,)
    blocks: LaneBlocks


def make_laplace_lanes(model: Ordinal) -> LaplaceLanes:
    """Return what the columns of this model's Hessian are taken in."""
    (n, m), q = model.pattern.Z.shape, model.pattern.q
    k = model.J.shape[1] + model.X.shape[1] + len(model.tau_row)
    plain = model.S.shape[1] == 0 and model.link != ADJACENT
    columns = int(model.pattern.sizes[0] * model.pattern.widths[0]) + q
    if plain and fits_lanes(model.pattern) and len(model.tau_row) == ENTRIES:
        blocks = make_lane_blocks(model.pattern)
    else:
        n, m, k, columns, blocks = 0, 0, 0, 0, no_lane_blocks()
    return LaplaceLanes(
        empty_f64x8(k),
        empty_f64x8(k),
        empty_f64x8(len(model.J) + 2),
        empty_f64x8(n * m),
        empty_f64x8(n * m),
        empty_f64x8(n * N_ENTRIES),
        empty_f64x8(n),
        empty_f64x8(n),
        empty_f64x8(n),
        empty_f64x8(columns),
        empty_f64x8(columns),
        blocks,
    )


@part
def fill_columns(
    model: Ordinal,
    work: LaplaceWorkspace,
    point: Floats,
    progress: SearchState,
    directions: Directions,
    lanes: LaplaceLanes,
) -> None:
    """Fill the Hessian at ``point``, where an estimation has paused before these columns."""
    k, gradient, steps, push = len(point), progress.gradient, progress.steps, directions.push
    for first in range(0, k, WIDTH):
        for a in range(k):
            for lane in range(WIDTH):
                column = min(first + lane, k - 1)  # spare lanes repeat the last
                step = steps[a] if a == column else 0.0
                directions.change[a, lane], lanes.psi[a, lane] = step, point[a] + step
        push_modes(model, work, directions)
        for c in range(len(work.u)):
            store(lanes.u, c, load(push, c) + get(work.u, c))
        _fill_rows(model, work, point, lanes)
        _fill_gradients(model, lanes)
        for lane in range(min(WIDTH, k - first)):
            for b in range(k):
                slope = lanes.gradient[b, lane]
                progress.hessian[first + lane, b] = (slope - gradient[b]) / steps[first + lane]


@part
def _fill_gradients(model: Ordinal, lanes: LaplaceLanes) -> None:
    """Fill the gradients of the eight points from their modes and row tables, as laplace.evaluate does."""
    pattern, V, P, rows, half, r = model.pattern, lanes.V, lanes.P, lanes.rows, lanes.half, lanes.r
    sums, first = lanes.edges, model.J.shape[1] + model.X.shape[1]  # the thresholds are no longer needed
    factorise_lanes(pattern, V, rows, W, N_ENTRIES, lanes.blocks)
    invert_rows_lanes(pattern, V, lanes.blocks, P)
    weigh_rows(V, P, pattern.Z.shape[1], rows, W_SLOPE, N_ENTRIES, lanes.kappa, half)
    r[:] = 0.0
    two_by_two.multiply_transposed(pattern, V, half, 0, 1, r)
    solve_lanes(pattern, lanes.blocks, r)
    two_by_two.multiply(pattern, V, r, lanes.Vr)
    sums[:] = 0.0
    sum_row_slopes(model, rows, 1, N_ENTRIES, lanes.kappa, half, lanes.Vr, sums, lanes.gradient)
    two_by_two.add_slopes(pattern, half, rows, W, D1, N_ENTRIES, P, lanes.u, r, lanes.gradient, first)


@inner
def _fill_rows(model: Ordinal, work: LaplaceWorkspace, point: Floats, lanes: LaplaceLanes) -> None:
    """Fill V and the row tables at the eight points ψ with the modes u."""
    noinline()
    pattern, X, J = model.pattern, model.X.reshape(-1), model.J
    psi, edges, V, u, Z = lanes.psi, lanes.edges, lanes.V, lanes.u, pattern.Z.reshape(-1)
    place, start, here, V0 = pattern.place.reshape(-1), pattern.start, work.edges, work.V.reshape(-1)
    (last, s), p, dense, probit = J.shape, model.X.shape[1], 2 * (len(start) - 1), model.link == PROBIT
    store(edges, 0, broadcast(-FAR))
    store(edges, last + 1, broadcast(FAR))
    for k in range(last):
        total = broadcast(0.0)
        for a in range(s):
            total = fma(load(psi, a), J[k, a], total)
        store(edges, k + 1, total)
    two_by_two.fill_V(Z, len(model.upper), psi, s + p, V)
    for j in range(len(start) - 1):
        u0, u1, v0, v1 = load(u, 2 * j), load(u, 2 * j + 1), get(work.u, 2 * j), get(work.u, 2 * j + 1)
        for i in range(start[j], start[j + 1]):
            z, above, below, c = 4 * i, get(model.upper, i), get(model.lower, i), dense + get(place, 2 * i)
            eta = two_by_two.multiply_row(V, z, u0, u1, u, c)
            for b in range(p):
                eta = fma(load(psi, s + b), get(X, i * p + b), eta)
            if not probit:
                _fill_row_lanes(model.link, above, below, eta, i, lanes)
                continue
            before = two_by_two.multiply_row(V0, z, v0, v1, work.u, c)
            for b in range(p):
                before += get(X, i * p + b) * get(point, s + b)
            up, low = load(edges, above) - eta, load(edges, below) - eta
            a, b = get(work.rows[A], i), get(work.rows[B], i)
            entries = move_probit_row(get(here, above) - before, get(here, below) - before, a, b, up, low)
            _store_row(lanes.rows, i, entries)


@inner
def _fill_row_lanes(link: int, above: int, below: int, eta: Any, i: int, lanes: LaplaceLanes) -> None:
    """Fill the row tables of rating i, between two edges, lane by lane: for a link without vector code."""
    store(lanes.kappa, i, eta)
    for lane in range(WIDTH):
        high, low = lanes.edges[above, lane], lanes.edges[below, lane]
        at, stride = i * N_ENTRIES * WIDTH + lane, WIDTH + 0 * i  # a literal would compile another `fill_row`
        fill_row(link, high, low, lanes.kappa[i, lane], lanes.rows.reshape(-1), at, stride)


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
