"""The profiled deviance of a linear mixed model, and its exact gradient (docs/method.md, section 2).

y = Xβ + Vu + e with V = ZΛ(θ), u ~ N(0, σ²I), e ~ N(0, σ²I), and H = V'V + I. With β and σ at their best
for θ, and N = n for ML or n − p for REML,

    d(θ) = log|H| + N (1 + log(2π r²/N)) + [REML] log|X'H̃⁻¹X|,      H̃ = I + VV'

Rows are in the order of the pattern.
"""

from typing import NamedTuple

import numpy as np

from panelist.models.arrays import Floats, Longs
from panelist.models.solvers import lapack
from panelist.models.solvers.blocks import (
    Blocks,
    Pattern,
    dense_size,
    factorise,
    invert_rows,
    make_blocks,
    multiply,
    multiply_transposed,
    solve,
)
from panelist.models.solvers.kernel import kernel, part
from panelist.models.solvers.optimise import Search, begin, judge, propose

_MAX_STEPS = 500


class Linear(NamedTuple):
    """A linear mixed model of one data set; nothing in it changes during a fit."""

    pattern: Pattern
    X: Floats  # (n, p)
    y: Floats  # (n,)
    tau_row: Longs  # (r,) where each entry of θ stands in Λ
    tau_column: Longs
    reml: bool


class LinearWorkspace(NamedTuple):
    """What one evaluation leaves behind."""

    V: Floats  # (n, m)
    P: Floats  # (n, m) H⁻¹v_i at the columns of v_i
    ones: Floats  # (n,)
    e: Floats  # (n,) y − Xβ − Vu
    Q: Floats  # (p, n) rows of H̃⁻¹X
    spread: Floats  # (p, columns) H⁻¹V'X
    beta: Floats  # (p,)
    u: Floats  # (columns,)
    R: Floats  # (p, p) lower Cholesky factor of X'H̃⁻¹X
    blocks: Blocks
    scalars: Floats  # r², log|H|, log|X'H̃⁻¹X|


def make_linear_workspace(model: Linear) -> LinearWorkspace:
    """Return room for fitting ``model``."""
    (n, m), p = model.pattern.Z.shape, model.X.shape[1]
    columns = int(model.pattern.sizes[0] * model.pattern.widths[0]) + dense_size(model.pattern)
    return LinearWorkspace(
        V=np.empty((n, m)),
        P=np.empty((n, m)),
        ones=np.ones(n),
        e=np.empty(n),
        Q=np.empty((p, n)),
        spread=np.empty((p, columns)),
        beta=np.empty(p),
        u=np.empty(columns),
        R=np.empty((p, p)),
        blocks=make_blocks(model.pattern),
        scalars=np.empty(3),
    )


@kernel
def settle(model: Linear, theta: Floats, work: LinearWorkspace) -> bool:
    """Find β, u and r² for θ; return False where X'H̃⁻¹X has no factor."""
    pattern, X, V = model.pattern, model.X, work.V
    n, p = X.shape
    for i in range(n):
        for c in range(V.shape[1]):
            V[i, c] = 0.0
        for t in range(len(theta)):
            V[i, model.tau_column[t]] += pattern.Z[i, model.tau_row[t]] * theta[t]
    work.scalars[1] = factorise(pattern, V, work.ones, work.blocks)
    target = np.zeros(p)
    for a in range(p):
        spread, Q = work.spread[a], work.Q[a]
        for i in range(n):
            work.e[i] = X[i, a]
        spread[:] = 0.0
        multiply_transposed(pattern, V, work.e, spread)
        solve(pattern, work.blocks, spread)
        multiply(pattern, V, spread, Q)
        for i in range(n):
            Q[i] = X[i, a] - Q[i]
            target[a] += Q[i] * model.y[i]
        for b in range(a + 1):
            total = 0.0
            for i in range(n):
                total += Q[i] * X[i, b]
            work.R[a, b] = total
    if not lapack.cholesky(pattern.routines, work.R):
        return False
    lapack.solve_triangle(pattern.routines, work.R, target, False)
    lapack.solve_triangle(pattern.routines, work.R, target, True)
    lapack.copy_into(work.beta, target)
    for i in range(n):
        total = model.y[i]
        for a in range(p):
            total -= X[i, a] * target[a]
        work.e[i] = total
    work.u[:] = 0.0
    multiply_transposed(pattern, V, work.e, work.u)
    solve(pattern, work.blocks, work.u)
    square = 0.0
    for c in range(len(work.u)):
        square += work.u[c] * work.u[c]
    fitted = work.P.reshape(-1)[:n]  # P is free until `slopes` fills it
    multiply(pattern, V, work.u, fitted)
    for i in range(n):
        work.e[i] -= fitted[i]
        square += work.e[i] * work.e[i]
    work.scalars[0] = square
    work.scalars[2] = 0.0
    for a in range(p):
        work.scalars[2] += 2.0 * np.log(work.R[a, a])
    return True


@kernel
def deviance_at(model: Linear, work: LinearWorkspace) -> float:
    """Return d(θ) at the settled point."""
    n, p = model.X.shape
    count = n - p if model.reml else n
    value = work.scalars[1] + count * (1.0 + np.log(2.0 * np.pi * work.scalars[0] / count))
    return float(value + work.scalars[2] if model.reml else value)


@kernel
def slopes(model: Linear, work: LinearWorkspace, precision: float, gradient: Floats) -> None:
    """Fill ∂d/∂θ at the settled point, with 1/σ² = ``precision`` held fixed (the envelope of β and σ)."""
    pattern, X = model.pattern, model.X
    m, p = work.V.shape[1], X.shape[1]
    invert_rows(pattern, work.V, work.blocks, work.P)
    pull = np.empty(m)
    gradient[:] = 0.0
    start, place, m1 = pattern.start, pattern.place, pattern.widths[0]
    dense = (len(start) - 1) * m1
    P, Q, e, u, spread, Z = work.P, work.Q, work.e, work.u, work.spread, pattern.Z
    tau_row, tau_column = model.tau_row, model.tau_column
    tilted, inverse = np.zeros(p), np.zeros((p, p))
    if model.reml:
        for a in range(p):
            inverse[a, a] = 1.0
            _solve_small(work.R, inverse[a])
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            if model.reml:
                for a in range(p):
                    tilted[a] = 0.0
                    for b in range(p):
                        tilted[a] += inverse[a, b] * Q[b, i]
            for c in range(m):
                at = j * m1 + c if c < m1 else dense + place[i, c - m1]
                pull[c] = P[i, c] - precision * e[i] * u[at]
                if model.reml:
                    for a in range(p):
                        pull[c] -= tilted[a] * spread[a, at]
            for t in range(len(gradient)):
                gradient[t] += 2.0 * Z[i, tau_row[t]] * pull[tau_column[t]]


@kernel
def _solve_small(R: Floats, x: Floats) -> None:
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


TOLERANCE = 1e-7  # predicted gain in log-likelihood at which the search hands over to Newton
SEARCH, CENTRE, COLUMN, POLISH, RETURN, DONE = range(6)


class Progress(NamedTuple):
    """How far an estimation has come, and what it has found."""

    here: Floats  # (r,) ∂d/∂θ where the columns of the curvature are taken
    curvature: Floats  # (r + 1, r + 1) the Hessian of the unprofiled deviance over φ = (θ, σ)
    steps: Floats  # (r,) by which each entry is moved for its column
    numbers: Floats  # −log L at the centre, 1/σ² there, the phase


def make_progress(r: int) -> Progress:
    """Return the beginning of an estimation."""
    return Progress(np.zeros(r), np.full((r + 1, r + 1), np.nan), np.zeros(r), np.zeros(3))


@part
def estimate_deviance(
    model: Linear, work: LinearWorkspace, search: Search, progress: Progress, pausing: bool
) -> float:
    """Minimise −log L from ``search.trial``; return it, settled at ``search.point``, and fill the curvature.

    The curvature is taken where the search ends, and one Newton step goes on from there. Its columns of θ are
    differences of the exact gradient; those of σ have a closed form. If ``pausing``, the estimation returns
    before the columns of θ, in the phase COLUMN, for somebody else to fill them; then call it again. They are
    phases of one loop, as in models/solvers/estimate.
    """
    r, (n, p) = len(search.point), model.X.shape
    count = n - p if model.reml else n
    here, steps, curvature, push = progress.here, progress.steps, progress.curvature, np.empty(r)
    best, precision, phase = progress.numbers[0], progress.numbers[1], int(progress.numbers[2])
    begun, column, resumed = False, r, phase == COLUMN
    while True:
        value = np.inf
        if resumed:
            value = best
        elif settle(model, search.trial, work):
            value = 0.5 * deviance_at(model, work)
            if phase != COLUMN:
                precision = count / work.scalars[0]
            slopes(model, work, precision, search.trial_gradient)
        elif phase != SEARCH:
            return np.inf

        if phase == SEARCH:
            for t in range(r):
                search.trial_gradient[t] *= 0.5
            accepted = True
            if begun:
                accepted = judge(search, value)
            else:
                begin(search, value)
                begun = True
            if propose(search, TOLERANCE, _MAX_STEPS):
                continue
            lapack.copy_into(search.trial, search.point)
            phase = CENTRE
            if not accepted:
                continue
            for t in range(r):
                search.trial_gradient[t] = 2.0 * search.gradient[t]
        if phase == CENTRE:
            best = value
            _begin_columns(model, work, search, progress, precision)
            phase, column = COLUMN, 0
            if pausing:
                progress.numbers[0], progress.numbers[1], progress.numbers[2] = best, precision, phase
                return best
        elif phase == COLUMN and not resumed:
            for t in range(r):
                curvature[column, t] = (search.trial_gradient[t] - here[t]) / steps[column]
            column += 1
        elif phase == POLISH and not value <= best + 1e-9 * (1.0 + abs(best)):
            phase = RETURN
            lapack.copy_into(search.trial, search.point)
            continue
        elif phase >= POLISH:
            lapack.copy_into(search.point, search.trial)
            for t in range(r):
                search.gradient[t] = 0.5 * search.trial_gradient[t]
            progress.numbers[2] = DONE
            return value

        resumed = False
        lapack.copy_into(search.trial, search.point)
        if column < r:
            search.trial[column] += steps[column]
        elif _newton_step(model.pattern.routines, curvature, here, push) < 1e-4:
            phase = POLISH
            for t in range(r):
                search.trial[t] -= push[t]
        else:
            phase = RETURN


@kernel
def _begin_columns(
    model: Linear, work: LinearWorkspace, search: Search, progress: Progress, precision: float
) -> None:
    """Keep the slopes, choose the steps, and fill the row and column of σ in the curvature."""
    r, (n, p) = len(search.point), model.X.shape
    lapack.copy_into(progress.here, search.trial_gradient)
    pulled_by_fit(model, work, progress.steps)
    for t in range(r):  # ∂²d/∂σ∂θ_t = (4/σ³) e'ZΛ_t u
        progress.curvature[r, t] = progress.curvature[t, r] = 4.0 * precision**1.5 * progress.steps[t]
        progress.steps[t] = 1e-4 * min(max(np.sqrt(abs(search.metric[t, t])), 1e-3), 1.0)
    progress.curvature[r, r] = 4.0 * (n - p if model.reml else n) * precision


@kernel
def _newton_step(routines: Longs, curvature: Floats, slope: Floats, push: Floats) -> float:
    """Make the curvature symmetric; set push to the Newton step of the profiled deviance, return its gain."""
    r = len(push)
    factor = np.empty((r, r))
    for t in range(r):
        for s in range(t + 1):
            curvature[t, s] = curvature[s, t] = 0.5 * (curvature[t, s] + curvature[s, t])
            factor[t, s] = curvature[t, s] - curvature[r, t] * curvature[r, s] / curvature[r, r]
        push[t] = slope[t]
    if not lapack.cholesky(routines, factor):
        return np.inf
    lapack.solve_triangle(routines, factor, push, False)
    gain = 0.0
    for t in range(r):
        gain += 0.25 * push[t] * push[t]
    lapack.solve_triangle(routines, factor, push, True)
    return float(gain)


@kernel
def pulled_by_fit(model: Linear, work: LinearWorkspace, out: Floats) -> None:
    """Fill e'ZΛ_t u for each entry of θ at the settled point."""
    pattern = model.pattern
    start, place, m1 = pattern.start, pattern.place, pattern.widths[0]
    m, dense = work.V.shape[1], (len(start) - 1) * m1
    at = np.empty(m, dtype=np.int64)
    out[:] = 0.0
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            for c in range(m):
                at[c] = j * m1 + c if c < m1 else dense + place[i, c - m1]
            for t in range(len(out)):
                out[t] += work.e[i] * pattern.Z[i, model.tau_row[t]] * work.u[at[model.tau_column[t]]]


@kernel
def covariance_slopes(model: Linear, work: LinearWorkspace, slopes_out: Floats) -> None:
    """Fill ∂(X'H̃⁻¹X)⁻¹/∂θ_t (r, p, p) at the settled point: C₀G'(Λ_tΛ' + ΛΛ_t')GC₀."""
    pattern, p, m = model.pattern, model.X.shape[1], work.V.shape[1]
    start, place, m1 = pattern.start, pattern.place, pattern.widths[0]
    dense = (len(start) - 1) * m1
    at = np.empty(m, dtype=np.int64)
    both = np.zeros((m, m, p, p))
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            for c in range(m):
                at[c] = j * m1 + c if c < m1 else dense + place[i, c - m1]
            for a in range(m):
                for c in range(m):
                    for b in range(p):
                        scaled = pattern.Z[i, a] * work.Q[b, i]
                        for d in range(p):
                            both[a, c, b, d] += scaled * work.spread[d, at[c]]
    for t in range(len(model.tau_row)):
        G = both[model.tau_row[t], model.tau_column[t]]
        middle = G + G.T
        for b in range(p):
            _solve_small(work.R, middle[b])
        middle = middle.T.copy()
        for b in range(p):
            _solve_small(work.R, middle[b])
        lapack.copy_into(slopes_out[t], middle)
