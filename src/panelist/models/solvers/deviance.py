"""The profiled deviance of a linear mixed model, and its exact gradient (docs/method.md, section 2).

y = Xβ + Vu + e with V = ZΛ(θ), u ~ N(0, σ²I), e ~ N(0, σ²I), and H = V'V + I. With β and σ at their best
for θ, and N = n for ML or n − p for REML,

    d(θ) = log|H| + N (1 + log(2π r²/N)) + [REML] log|X'H̃⁻¹X|,      H̃ = I + VV'

Rows are in the order of the pattern.
"""

from typing import NamedTuple

import numpy as np

from panelist.models.arrays import Floats, Longs
from panelist.models.solvers.blocks import Blocks, Pattern, dense_size, make_blocks
from panelist.models.solvers.elimination import factorise, solve_octets
from panelist.models.solvers.inversion import invert_rows
from panelist.models.solvers.kernel import inner, kernel, stay_apart
from panelist.models.solvers.lapack import copy_into
from panelist.models.solvers.octets import WIDTH, fma, get, load, put, spread, store, total


class Linear(NamedTuple):
    """A linear mixed model of one data set; nothing in it changes during a fit."""

    pattern: Pattern
    X: Floats  # (n, p)
    y: Floats  # (n,)
    tau_row: Longs  # (r,) where each entry of θ stands in Λ
    tau_column: Longs
    reml: bool


class LinearWorkspace(NamedTuple):
    """What one evaluation leaves behind. X and y are taken together, columns in the lanes of octets."""

    V: Floats  # (n, m)
    P: Floats  # (n, m) H⁻¹v_i at the columns of v_i
    ones: Floats  # (n,)
    XY: Floats  # (B, n) octets: X, then y in lane p
    Q: Floats  # (B, n) octets: H̃⁻¹X and H̃⁻¹y
    spread: Floats  # (B, columns) octets: H⁻¹V'X and H⁻¹V'y
    sums: Floats  # (B, p + 1) octets: H̃⁻¹[X y] times the columns of X, and y
    e: Floats  # (n,) y − Xβ − Vu
    theta: Floats  # (r,)
    beta: Floats  # (p,)
    u: Floats  # (columns,)
    R: Floats  # (p, p) lower Cholesky factor of X'H̃⁻¹X
    blocks: Blocks
    scalars: Floats  # r², log|H|, log|X'H̃⁻¹X|


def make_linear_workspace(model: Linear) -> LinearWorkspace:
    """Return room for fitting ``model``."""
    (n, m), p = model.pattern.Z.shape, model.X.shape[1]
    columns = int(model.pattern.sizes[0] * model.pattern.widths[0]) + dense_size(model.pattern)
    batches = -(-(p + 1) // WIDTH)
    return LinearWorkspace(
        V=np.empty((n, m)),
        P=np.empty((n, m)),
        ones=np.ones(n),
        XY=np.zeros(batches * n * WIDTH),
        Q=np.empty(batches * n * WIDTH),
        spread=np.empty(batches * columns * WIDTH),
        sums=np.empty(batches * (p + 1) * WIDTH),
        e=np.empty(n),
        theta=np.empty(len(model.tau_row)),
        beta=np.empty(p),
        u=np.empty(columns),
        R=np.empty((p, p)),
        blocks=make_blocks(model.pattern),
        scalars=np.empty(3),
    )


@inner
def settle(model: Linear, theta: Floats, work: LinearWorkspace) -> bool:
    """Find β, u and r² for θ; return False where X'H̃⁻¹X has no factor."""
    stay_apart()
    pattern, X, y, R, beta = model.pattern, model.X, model.y, work.R, work.beta
    (n, p), columns = X.shape, len(work.u)
    copy_into(work.theta, theta)
    _fill_V(model, theta, work.V)
    for i in range(n):
        for a in range(p):
            put(work.XY, (a // WIDTH * n + i) * WIDTH + a % WIDTH, X[i, a])
        put(work.XY, (p // WIDTH * n + i) * WIDTH + p % WIDTH, y[i])
    work.scalars[1] = factorise(pattern, work.V, work.ones, work.blocks)
    for batch in range(p // WIDTH + 1):
        x = work.spread[batch * columns * WIDTH : (batch + 1) * columns * WIDTH]
        _pull_columns(pattern, work.V, work.XY, batch * n, x)
        solve_octets(pattern, work.blocks, x)
        _leave_rows(model, work, x, batch)
    for a in range(p):
        lane = a // WIDTH * (p + 1) * WIDTH + a % WIDTH
        for b in range(a + 1):
            R[a, b] = get(work.sums, lane + b * WIDTH)
        beta[a] = get(work.sums, lane + p * WIDTH)
    if not _factor_small(R):
        return False
    solve_small(R, beta)
    square = _combine(work.Q, n, beta, work.e) + _combine(work.spread, columns, beta, work.u)
    work.scalars[0] = square
    work.scalars[2] = 0.0
    for a in range(p):
        work.scalars[2] += 2.0 * np.log(R[a, a])
    return True


@inner
def _fill_V(model: Linear, theta: Floats, V: Floats) -> None:
    """Fill V = ZΛ."""
    Z, out, m, n = model.pattern.Z.reshape(-1), V.reshape(-1), V.shape[1], V.shape[0]
    if model.pattern.usual and len(theta) == 6:
        a, b, c, d, e, f = theta[0], theta[1], theta[2], theta[3], theta[4], theta[5]
        for i in range(0, 4 * n, 4):
            put(out, i, get(Z, i) * a + get(Z, i + 1) * b)
            put(out, i + 1, get(Z, i + 1) * c)
            put(out, i + 2, get(Z, i + 2) * d + get(Z, i + 3) * e)
            put(out, i + 3, get(Z, i + 3) * f)
        return
    for i in range(n):
        for c in range(m):
            put(out, i * m + c, 0.0)
        for t in range(len(theta)):
            k = i * m + get(model.tau_column, t)
            put(out, k, get(out, k) + get(Z, i * m + get(model.tau_row, t)) * get(theta, t))


@inner
def _pull_columns(pattern: Pattern, V: Floats, XY: Floats, first: int, x: Floats) -> None:
    """Fill x with V'[X y], of the rows that begin at octet ``first``."""
    stay_apart()
    start, place, flat = pattern.start, pattern.place.reshape(-1), V.reshape(-1)
    m1, m2 = pattern.widths[0], pattern.place.shape[1]
    m, dense = m1 + m2, (len(start) - 1) * m1
    for c in range(len(x) // WIDTH):
        store(x, c, spread(0.0))
    usual = pattern.usual
    for j in range(len(start) - 1):
        one, other = spread(0.0), spread(0.0)
        for i in range(start[j], start[j + 1]):
            row = load(XY, first + i)
            if usual:
                k = dense + get(place, 2 * i)
                one, other = fma(row, get(flat, 4 * i), one), fma(row, get(flat, 4 * i + 1), other)
                store(x, k, fma(row, get(flat, 4 * i + 2), load(x, k)))
                store(x, k + 1, fma(row, get(flat, 4 * i + 3), load(x, k + 1)))
                continue
            for a in range(m1):
                k = j * m1 + a
                store(x, k, fma(row, get(flat, i * m + a), load(x, k)))
            for b in range(m2):
                k = dense + get(place, i * m2 + b)
                store(x, k, fma(row, get(flat, i * m + m1 + b), load(x, k)))
        if usual:
            store(x, 2 * j, one)
            store(x, 2 * j + 1, other)


@inner
def _leave_rows(model: Linear, work: LinearWorkspace, x: Floats, batch: int) -> None:
    """Fill H̃⁻¹[X y] = [X y] − Vx, and its products with X and y."""
    stay_apart()
    pattern, X, y, V, XY = model.pattern, model.X.reshape(-1), model.y, work.V.reshape(-1), work.XY
    Q, sums, start, place = work.Q, work.sums, pattern.start, pattern.place.reshape(-1)
    (n, p), m1, m2 = model.X.shape, pattern.widths[0], pattern.place.shape[1]
    m, dense, out = m1 + m2, (len(start) - 1) * m1, batch * (p + 1)
    for b in range(p + 1):
        store(sums, out + b, spread(0.0))
    with_y, usual = spread(0.0), pattern.usual
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            row = load(XY, batch * n + i)
            if usual:
                k = dense + get(place, 2 * i)
                row -= load(x, 2 * j) * get(V, 4 * i) + load(x, 2 * j + 1) * get(V, 4 * i + 1)
                row -= load(x, k) * get(V, 4 * i + 2) + load(x, k + 1) * get(V, 4 * i + 3)
            for a in range(0 if usual else m1):
                row -= load(x, j * m1 + a) * get(V, i * m + a)
            for b in range(0 if usual else m2):
                row -= load(x, dense + get(place, i * m2 + b)) * get(V, i * m + m1 + b)
            store(Q, batch * n + i, row)
            with_y = fma(row, get(y, i), with_y)
            for b in range(p):
                store(sums, out + b, fma(row, get(X, i * p + b), load(sums, out + b)))
    store(sums, out + p, with_y)


@inner
def _combine(lanes: Floats, count: int, beta: Floats, out: Floats) -> float:
    """Fill out with what is left of y's lane when X's are taken off, β each; return the sum of squares."""
    p, square = len(beta), 0.0
    shares = np.zeros((p // WIDTH + 1) * WIDTH)
    for a in range(p):
        shares[a] = -beta[a]
    shares[p] = 1.0
    for i in range(count):
        value = 0.0
        for batch in range(p // WIDTH + 1):
            value += total(load(lanes, batch * count + i) * load(shares, batch))
        put(out, i, value)
        square += value * value
    return square


@inner
def _factor_small(R: Floats) -> bool:
    """Overwrite a small lower triangle by its Cholesky factor; return whether there is one."""
    for a in range(R.shape[0]):
        for b in range(a + 1):
            value = R[a, b]
            for k in range(b):
                value -= R[a, k] * R[b, k]
            if a > b:
                R[a, b] = value / R[b, b]
            elif value > 0.0:
                R[a, a] = np.sqrt(value)
            else:
                return False
    return True


@inner
def deviance_at(model: Linear, work: LinearWorkspace) -> float:
    """Return d(θ) at the settled point."""
    n, p = model.X.shape
    count = n - p if model.reml else n
    value = work.scalars[1] + count * (1.0 + np.log(2.0 * np.pi * work.scalars[0] / count))
    return float(value + work.scalars[2] if model.reml else value)


@inner
def slopes(model: Linear, work: LinearWorkspace, precision: float, gradient: Floats) -> None:
    """Fill ∂d/∂θ at the settled point, with 1/σ² = ``precision`` held fixed (the envelope of β and σ)."""
    stay_apart()
    pattern = model.pattern
    if pattern.usual and len(gradient) == 6 and not model.reml and _is_regular(work.theta):
        invert_rows(pattern, work.V, work.blocks, work.P[:0])
        _sum_levels(pattern, work, precision, gradient)
        return
    invert_rows(pattern, work.V, work.blocks, work.P)
    start, place, m1, m2 = pattern.start, pattern.place.reshape(-1), pattern.widths[0], pattern.place.shape[1]
    m, dense = m1 + m2, (len(start) - 1) * m1
    P, e, u, Z = work.P.reshape(-1), work.e, work.u, pattern.Z.reshape(-1)
    tau_row, tau_column, usual = model.tau_row, model.tau_column, pattern.usual and len(gradient) == 6
    if model.reml:
        _take_off_fixed(model, work)
    gradient[:] = 0.0
    g0 = g1 = g2 = g3 = g4 = g5 = 0.0
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            pull = precision * get(e, i)
            if usual:
                z, c = 4 * i, dense + get(place, 2 * i)
                one = get(P, z) - pull * get(u, 2 * j)
                three = get(P, z + 2) - pull * get(u, c)
                g0, g1 = g0 + get(Z, z) * one, g1 + get(Z, z + 1) * one
                g2 += get(Z, z + 1) * (get(P, z + 1) - pull * get(u, 2 * j + 1))
                g3, g4 = g3 + get(Z, z + 2) * three, g4 + get(Z, z + 3) * three
                g5 += get(Z, z + 3) * (get(P, z + 3) - pull * get(u, c + 1))
                continue
            for t in range(len(gradient)):
                c = get(tau_column, t)
                at = j * m1 + c if c < m1 else dense + get(place, i * m2 + c - m1)
                slope = get(P, i * m + c) - pull * get(u, at)
                put(gradient, t, get(gradient, t) + get(Z, i * m + get(tau_row, t)) * slope)
    if usual:
        gradient[0], gradient[1], gradient[2] = g0, g1, g2
        gradient[3], gradient[4], gradient[5] = g3, g4, g5
    for t in range(len(gradient)):
        gradient[t] *= 2.0


@inner
def _is_regular(theta: Floats) -> bool:
    """Whether both Λ of the usual case can be divided by, to about ten digits."""
    return bool(min(abs(theta[0]), abs(theta[2]), abs(theta[3]), abs(theta[5])) > 1e-4)


@inner
def _sum_levels(pattern: Pattern, work: LinearWorkspace, precision: float, gradient: Floats) -> None:
    """Fill ∂d/∂θ in the usual case from sums over levels, which are fewer than rows.

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
def _take_off_fixed(model: Linear, work: LinearWorkspace) -> None:
    """Take off P what REML's determinant takes: rows of H̃⁻¹X (X'H̃⁻¹X)⁻¹ times H⁻¹V'X at their columns."""
    stay_apart()
    pattern, (n, p), columns = model.pattern, model.X.shape, len(work.u)
    start, place, m1, m2 = pattern.start, pattern.place.reshape(-1), pattern.widths[0], pattern.place.shape[1]
    m, dense, P, Q, x = m1 + m2, (len(start) - 1) * m1, work.P.reshape(-1), work.Q, work.spread
    batches = p // WIDTH + 1
    inverse, tilted = np.zeros((p, batches * WIDTH)), np.zeros(batches * WIDTH)
    for a in range(p):
        inverse[a, a] = 1.0
        solve_small(work.R, inverse[a, :p])
    flat = inverse.reshape(-1)
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            for batch in range(batches):
                value = spread(0.0)
                for b in range(p):
                    share = get(Q, (b // WIDTH * n + i) * WIDTH + b % WIDTH)
                    value = fma(load(flat, b * batches + batch), share, value)
                store(tilted, batch, value)
            for c in range(m):
                at = j * m1 + c if c < m1 else dense + get(place, i * m2 + c - m1)
                value = load(tilted, 0) * load(x, at)
                for batch in range(1, batches):
                    value = fma(load(tilted, batch), load(x, batch * columns + at), value)
                put(P, i * m + c, get(P, i * m + c) - total(value))


@inner
def solve_small(R: Floats, x: Floats) -> None:
    """Overwrite x by (RR')⁻¹x for a small lower triangle."""
    p = len(x)
    for a in range(p):
        for b in range(a):
            x[a] -= R[a, b] * x[b]
        x[a] /= R[a, a]
    for a in range(p - 1, -1, -1):
        for b in range(a + 1, p):
            x[a] -= R[b, a] * x[b]
        x[a] /= R[a, a]


@kernel
def evaluate_deviance(
    model: Linear, theta: Floats, precision: float, work: LinearWorkspace, gradient: Floats
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
