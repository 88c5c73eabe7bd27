"""The profiled deviance of a linear mixed model, and its exact gradient (docs/method.md, section 2).

y = Xβ + Vu + e with V = ZΛ(θ), u ~ N(0, σ²I), e ~ N(0, σ²I), and H = V'V + I. With β and σ at their best
for θ, and N = n for ML or n − p for REML,

    d(θ) = log|H| + N (1 + log(2π r²/N)) + [REML] log|X'H̃⁻¹X|,      H̃ = I + VV'

Rows are in the order of the pattern.
"""

from typing import NamedTuple

import numpy as np

from panelist.models.blocks import two_by_two
from panelist.models.blocks.elimination import factorise, solve_eight
from panelist.models.blocks.inversion import invert_rows
from panelist.models.blocks.pattern import Blocks, Pattern, make_blocks
from panelist.models.blocks.products import ENTRIES, fill_V, multiply_transposed
from panelist.numerics.arrays import Floats, Longs
from panelist.numerics.kernel import inner, kernel, noinline
from panelist.numerics.lapack import copy_into
from panelist.numerics.simd import WIDTH, broadcast, empty_f64x8, fma, get, hsum, load, put, sqrt, store


class Linear(NamedTuple):
    """A linear mixed model of one data set; nothing in it changes during a fit."""

    pattern: Pattern
    X: Floats  # (n, p)
    y: Floats  # (n,)
    tau_row: Longs  # (entries,) where each free entry of Λ stands
    tau_column: Longs
    tau_slot: Longs  # (entries,) which θ it is; ascending, and several may be one
    reml: bool


class DevianceWorkspace(NamedTuple):
    """What one evaluation leaves behind. X and y are taken together, eight columns in one f64x8."""

    V: Floats  # (n, m)
    P: Floats  # (n, m) H⁻¹v_i at the columns of v_i
    ones: Floats  # (n,)
    XY: Floats  # (B, n) f64x8: X, then y in lane p
    Q: Floats  # (B, n) f64x8: H̃⁻¹X and H̃⁻¹y
    HVXY: Floats  # (B, columns) f64x8: H⁻¹V'X and H⁻¹V'y
    sums: Floats  # (B, p + 1) f64x8: H̃⁻¹[X y] times the columns of X, and y
    e: Floats  # (n,) y − Xβ − Vu
    theta: Floats  # (r,)
    beta: Floats  # (p,)
    u: Floats  # (columns,)
    R: Floats  # (p, p) lower Cholesky factor of X'H̃⁻¹X, its diagonal inverted
    blocks: Blocks
    scalars: Floats  # r², log|H|, log|X'H̃⁻¹X|


def make_deviance_workspace(model: Linear) -> DevianceWorkspace:
    """Return a workspace for fitting ``model``."""
    (n, m), p = model.pattern.Z.shape, model.X.shape[1]
    columns = int(model.pattern.sizes[0] * model.pattern.widths[0]) + model.pattern.q
    batches = -(-(p + 1) // WIDTH)
    return DevianceWorkspace(
        V=np.empty((n, m)),
        P=np.empty((n, m)),
        ones=np.ones(n),
        XY=np.zeros((batches * n, WIDTH)),
        Q=empty_f64x8(batches * n),
        HVXY=empty_f64x8(batches * columns),
        sums=empty_f64x8(batches * (p + 1)),
        e=np.empty(n),
        theta=np.empty(int(model.tau_slot[-1]) + 1),
        beta=np.empty(p),
        u=np.empty(columns),
        R=np.empty((p, p)),
        blocks=make_blocks(model.pattern),
        scalars=np.empty(3),
    )


@inner
def settle(model: Linear, theta: Floats, work: DevianceWorkspace) -> bool:
    """Find β, u and r² for θ; return False where X'H̃⁻¹X has no factor."""
    noinline()
    pattern, X, y, R, beta = model.pattern, model.X, model.y, work.R.reshape(-1), work.beta
    (n, p), columns, V = X.shape, len(work.u), work.V.reshape(-1)
    copy_into(work.theta, theta)
    fill_V(pattern, model.tau_row, model.tau_column, model.tau_slot, theta, 0, V)
    for i in range(n):
        for a in range(p):
            work.XY[a // WIDTH * n + i, a % WIDTH] = X[i, a]
        work.XY[p // WIDTH * n + i, p % WIDTH] = y[i]
    work.scalars[1] = factorise(pattern, V, work.ones, work.blocks)
    for batch in range(p // WIDTH + 1):
        x = work.HVXY[batch * columns : (batch + 1) * columns]
        x[:] = 0.0
        multiply_transposed(pattern, V, work.XY, batch * n, x)
        solve_eight(pattern, work.blocks, x)
        _leave_rows(model, work, x, batch)
    for a in range(p):
        first, lane = a // WIDTH * (p + 1), a % WIDTH
        for b in range(a + 1):
            R[a * p + b] = work.sums[first + b, lane]
        beta[a] = work.sums[first + p, lane]
    factor_small(R, p)
    work.scalars[2] = 0.0
    for a in range(p):
        if not 0.0 < R[a * p + a] < np.inf:
            return False
        work.scalars[2] -= 2.0 * np.log(R[a * p + a])
    solve_small(R, beta, 0, p)
    work.scalars[0] = _combine(work.Q, n, beta, work.e) + _combine(work.HVXY, columns, beta, work.u)
    return True


@inner
def _leave_rows(model: Linear, work: DevianceWorkspace, x: Floats, batch: int) -> None:
    """Fill H̃⁻¹[X y] = [X y] − Vx, and its products with X and y."""
    noinline()
    pattern, X, y, V, XY = model.pattern, model.X.reshape(-1), model.y, work.V.reshape(-1), work.XY
    Q, sums, start, place = work.Q, work.sums, pattern.start, pattern.place.reshape(-1)
    (n, p), m1, m2 = model.X.shape, pattern.widths[0], pattern.place.shape[1]
    m, dense, out = m1 + m2, (len(start) - 1) * m1, batch * (p + 1)
    for b in range(p + 1):
        store(sums, out + b, broadcast(0.0))
    with_y, pairs = broadcast(0.0), pattern.two_by_two
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            row = load(XY, batch * n + i)
            if pairs:
                k = dense + get(place, 2 * i)
                row -= load(x, 2 * j) * get(V, 4 * i) + load(x, 2 * j + 1) * get(V, 4 * i + 1)
                row -= load(x, k) * get(V, 4 * i + 2) + load(x, k + 1) * get(V, 4 * i + 3)
            for a in range(0 if pairs else m1):
                row -= load(x, j * m1 + a) * get(V, i * m + a)
            for b in range(0 if pairs else m2):
                row -= load(x, dense + get(place, i * m2 + b)) * get(V, i * m + m1 + b)
            store(Q, batch * n + i, row)
            with_y = fma(row, get(y, i), with_y)
            for b in range(p):
                store(sums, out + b, fma(row, get(X, i * p + b), load(sums, out + b)))
    store(sums, out + p, with_y)


@inner
def _combine(lanes: Floats, count: int, beta: Floats, out: Floats) -> float:
    """Fill out with y's lane minus X's lanes times β; return the sum of squares."""
    p, square = len(beta), 0.0
    shares = np.zeros((p // WIDTH + 1) * WIDTH)
    for a in range(p):
        shares[a] = -beta[a]
    shares[p] = 1.0
    for i in range(count):
        value = 0.0
        for batch in range(p // WIDTH + 1):
            value += hsum(load(lanes, batch * count + i) * load(shares, batch))
        put(out, i, value)
        square += value * value
    return square


@inner
def factor_small(R: Floats, p: int) -> None:
    """Overwrite a small lower triangle by its factor, the diagonal inverted: nan or infinite where none."""
    for a in range(p):
        for b in range(a + 1):
            value = get(R, a * p + b)
            for k in range(b):
                value -= get(R, a * p + k) * get(R, b * p + k)
            put(R, a * p + b, 1.0 / sqrt(value) if a == b else value * get(R, b * p + b))


@inner
def solve_small(R: Floats, x: Floats, first: int, p: int) -> None:
    """Overwrite p elements of x by (RR')⁻¹x for a small lower triangle, its diagonal inverted."""
    for a in range(p):
        value = get(x, first + a)
        for b in range(a):
            value -= get(R, a * p + b) * get(x, first + b)
        put(x, first + a, value * get(R, a * p + a))
    for a in range(p - 1, -1, -1):
        value = get(x, first + a)
        for b in range(a + 1, p):
            value -= get(R, b * p + a) * get(x, first + b)
        put(x, first + a, value * get(R, a * p + a))


@inner
def deviance_at(model: Linear, work: DevianceWorkspace) -> float:
    """Return d(θ) at the settled point."""
    n, p = model.X.shape
    count = n - p if model.reml else n
    value = work.scalars[1] + count * (1.0 + np.log(2.0 * np.pi * work.scalars[0] / count))
    return float(value + work.scalars[2] if model.reml else value)


@inner
def slopes(model: Linear, work: DevianceWorkspace, precision: float, gradient: Floats) -> None:
    """Fill ∂d/∂θ at the settled point, with 1/σ² = ``precision`` held fixed (the envelope of β and σ)."""
    noinline()
    pattern, V, P, e, u = model.pattern, work.V.reshape(-1), work.P.reshape(-1), work.e, work.u
    pairs = pattern.two_by_two and len(model.tau_row) == ENTRIES
    if pairs and not model.reml and _is_regular(work.theta):
        invert_rows(pattern, V, work.blocks, P[:0])
        _sum_levels(pattern, work, precision, gradient)
        return
    invert_rows(pattern, V, work.blocks, P)
    if model.reml:
        _take_off_fixed(model, work)
    if pairs:
        two_by_two.add_pulls(pattern, P, e, 0, 1, precision, u, 0, gradient)
        return
    start, place, m1, m2 = pattern.start, pattern.place.reshape(-1), pattern.widths[0], pattern.place.shape[1]
    m, dense, Z = m1 + m2, (len(start) - 1) * m1, pattern.Z.reshape(-1)
    tau_row, tau_column, tau_slot = model.tau_row, model.tau_column, model.tau_slot
    gradient[:] = 0.0
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            pull = precision * get(e, i)
            for t in range(len(tau_row)):
                c, slot = get(tau_column, t), get(tau_slot, t)
                at = j * m1 + c if c < m1 else dense + get(place, i * m2 + c - m1)
                slope = get(P, i * m + c) - pull * get(u, at)
                put(gradient, slot, get(gradient, slot) + 2.0 * get(Z, i * m + get(tau_row, t)) * slope)


@inner
def _is_regular(theta: Floats) -> bool:
    """Whether both Λ of two by two can be divided by, to about ten digits."""
    return bool(min(abs(theta[0]), abs(theta[2]), abs(theta[3]), abs(theta[5])) > 1e-4)


@inner
def _sum_levels(pattern: Pattern, work: DevianceWorkspace, precision: float, gradient: Floats) -> None:
    """Fill ∂d/∂θ for two by two from sums over levels, which are fewer than rows.

    H⁻¹V'Z = (I − H⁻¹)Λ⁻¹ and Z'e = Λ⁻ᵀu, so that with G = Σ_l (I − N_l − u_l u_l'/σ²) over the levels of a
    factor the slope in entry (i, j) of its λ is twice entry (j, i) of Gλ⁻¹.
    """
    N, T, u, long = work.blocks.N.reshape(-1), work.blocks.T.reshape(-1), work.u, work.blocks.T.shape[1]
    J = len(pattern.start) - 1
    for factor in range(2):
        levels, first = (J, 0) if factor == 0 else (pattern.q // 2, 2 * J)
        g0, g1, g2 = float(levels), 0.0, float(levels)
        for level in range(levels):
            one, other = get(u, first + 2 * level), get(u, first + 2 * level + 1)
            g0, g1, g2 = (
                g0 - precision * one * one,
                g1 - precision * one * other,
                g2 - precision * other * other,
            )
            if factor == 0:
                at = 4 * level
                g0, g1, g2 = g0 - get(N, at), g1 - get(N, at + 1), g2 - get(N, at + 3)
            else:
                at = 2 * level * (long + 1)
                g0, g1, g2 = g0 - get(T, at), g1 - get(T, at + 1), g2 - get(T, at + long + 1)
        a, b, c = work.theta[3 * factor], work.theta[3 * factor + 1], work.theta[3 * factor + 2]
        gradient[3 * factor] = 2.0 * (g0 - g1 * b / c) / a
        gradient[3 * factor + 1] = 2.0 * g1 / c
        gradient[3 * factor + 2] = 2.0 * g2 / c


@inner
def _take_off_fixed(model: Linear, work: DevianceWorkspace) -> None:
    """Subtract REML's determinant from P: rows of H̃⁻¹X (X'H̃⁻¹X)⁻¹ times H⁻¹V'X at their columns."""
    noinline()
    pattern, (n, p), columns = model.pattern, model.X.shape, len(work.u)
    start, place, m1, m2 = pattern.start, pattern.place.reshape(-1), pattern.widths[0], pattern.place.shape[1]
    m, dense, P, Q = m1 + m2, (len(start) - 1) * m1, work.P.reshape(-1), work.Q.reshape(-1)
    batches, R, x = p // WIDTH + 1, work.R.reshape(-1), work.HVXY
    inverse, tilted = np.zeros(p * batches * WIDTH), np.zeros(batches * WIDTH)
    for a in range(p):
        inverse[a * batches * WIDTH + a] = 1.0
        solve_small(R, inverse, a * batches * WIDTH, p)
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            for batch in range(batches):
                value = broadcast(0.0)
                for b in range(p):
                    share = get(Q, (b // WIDTH * n + i) * WIDTH + b % WIDTH)
                    value = fma(load(inverse, b * batches + batch), share, value)
                store(tilted, batch, value)
            for c in range(m):
                at = j * m1 + c if c < m1 else dense + get(place, i * m2 + c - m1)
                value = load(tilted, 0) * load(x, at)
                for batch in range(1, batches):
                    value = fma(load(tilted, batch), load(x, batch * columns + at), value)
                put(P, i * m + c, get(P, i * m + c) - hsum(value))


@kernel
def evaluate_deviance(
    model: Linear, theta: Floats, precision: float, work: DevianceWorkspace, gradient: Floats
) -> float:
    """Return d(θ) and fill its gradient, with 1/σ² = ``precision``, or σ at its best where that is zero.

    Returns inf where X'H̃⁻¹X has no factor.
    """
    if not settle(model, theta, work):
        return np.inf
    n, p = model.X.shape
    best = (n - p if model.reml else n) / work.scalars[0]
    slopes(model, work, precision if precision > 0.0 else best, gradient)
    return deviance_at(model, work)
