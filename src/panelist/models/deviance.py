"""The profiled deviance of a linear mixed model, and its exact gradient (docs/method.md, section 2).

y = Xβ + Vu + e with V = ZΛ(θ), u ~ N(0, σ²I), e ~ N(0, σ²I), and H = V'V + I. With β and σ at their best
for θ, and N = n for ML or n − p for REML,

    d(θ) = log|H| + N (1 + log(2π r²/N)) + [REML] log|X'H̃⁻¹X|,      H̃ = I + VV'

Rows are in the order of the pattern.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from panelist.models import lapack
from panelist.models.arrays import Floats, Longs
from panelist.models.blocks import (
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
from panelist.models.metric import component_information
from panelist.models.optimise import Search, begin, judge, propose


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


@njit(cache=True, nogil=True, error_model="numpy")
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
    beta = target.reshape((1, p))
    lapack.solve_triangle(pattern.routines, work.R, beta, False)
    lapack.solve_triangle(pattern.routines, work.R, beta, True)
    work.beta[:] = target
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


@njit(cache=True, nogil=True, error_model="numpy")
def deviance_at(model: Linear, work: LinearWorkspace) -> float:
    """Return d(θ) at the settled point."""
    n, p = model.X.shape
    count = n - p if model.reml else n
    value = work.scalars[1] + count * (1.0 + np.log(2.0 * np.pi * work.scalars[0] / count))
    return value + work.scalars[2] if model.reml else value


@njit(cache=True, nogil=True, error_model="numpy")
def slopes(model: Linear, work: LinearWorkspace, precision: float, gradient: Floats) -> None:
    """Fill ∂d/∂θ at the settled point, with 1/σ² = ``precision`` held fixed (the envelope of β and σ)."""
    pattern, X = model.pattern, model.X
    n, p = X.shape
    m = work.V.shape[1]
    invert_rows(pattern, work.V, work.blocks, work.P)
    by_column = np.zeros((m, m))
    start, widths, place = pattern.start, pattern.widths, pattern.place
    m1, others = widths[0], len(widths) - 1
    dense = (len(start) - 1) * m1
    at = np.empty(m, dtype=np.int64)
    tilted = np.zeros((1, p))
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            for a in range(m1):
                at[a] = j * m1 + a
            c = m1
            for f in range(others):
                for b in range(widths[f + 1]):
                    at[c] = dense + place[i, f] + b
                    c += 1
            if model.reml:
                for a in range(p):
                    tilted[0, a] = work.Q[a, i]
                _solve_small(work.R, tilted[0])
            for c in range(m):
                pull = work.P[i, c] - precision * work.e[i] * work.u[at[c]]
                if model.reml:
                    for a in range(p):
                        pull -= tilted[0, a] * work.spread[a, at[c]]
                for a in range(m):
                    by_column[a, c] += pattern.Z[i, a] * pull
    for t in range(len(gradient)):
        gradient[t] = 2.0 * by_column[model.tau_row[t], model.tau_column[t]]


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def evaluate_deviance(model: Linear, theta: Floats, work: LinearWorkspace, gradient: Floats) -> float:
    """Return ½ d(θ), which is −log L, and fill its gradient."""
    if not settle(model, theta, work):
        return np.inf
    n, p = model.X.shape
    count = n - p if model.reml else n
    slopes(model, work, count / work.scalars[0], gradient)
    for t in range(len(gradient)):
        gradient[t] *= 0.5
    return 0.5 * deviance_at(model, work)


@njit(cache=True, nogil=True, error_model="numpy")
def minimise_deviance(
    model: Linear, work: LinearWorkspace, search: Search, tolerance: float, max_steps: int
) -> None:
    """Run the search from its trial point to its end."""
    theta = search.trial
    information = component_information(model.pattern, model.tau_row, model.tau_column, theta, work.ones)
    for t in range(len(theta)):
        information[t, t] = 1.05 * information[t, t] + 1e-3
    search.metric[:] = np.linalg.inv(information)
    begin(search, evaluate_deviance(model, theta, work, search.trial_gradient))
    while propose(search, tolerance, max_steps):
        judge(search, evaluate_deviance(model, search.trial, work, search.trial_gradient))


@njit(cache=True, nogil=True, error_model="numpy")
def deviance_curvature(
    model: Linear, theta: Floats, work: LinearWorkspace, steps: Floats, hessian: Floats
) -> bool:
    """Fill the Hessian of the unprofiled deviance over φ = (θ, σ), σ at its estimate for θ.

    The columns of θ are differences of the exact gradient; those of σ have a closed form.
    """
    r, (n, p) = len(theta), model.X.shape
    count = n - p if model.reml else n
    if not settle(model, theta, work):
        return False
    precision = count / work.scalars[0]
    here, there, moved = np.empty(r), np.empty(r), theta.copy()
    slopes(model, work, 0.0, there)
    slopes(model, work, precision, here)
    for t in range(r):  # ∂²d/∂σ∂θ_t = (4/σ³) e'ZΛ_t u, and here − there holds −(2/σ²) e'ZΛ_t u
        hessian[r, t] = hessian[t, r] = -2.0 * np.sqrt(precision) * (here[t] - there[t])
    hessian[r, r] = 4.0 * count * precision
    for t in range(r):
        moved[t] = theta[t] + steps[t]
        if not settle(model, moved, work):
            return False
        slopes(model, work, precision, there)
        moved[t] = theta[t]
        for s in range(r):
            hessian[t, s] = (there[s] - here[s]) / steps[t]
    for t in range(r):
        for s in range(t):
            hessian[t, s] = hessian[s, t] = 0.5 * (hessian[t, s] + hessian[s, t])
    return settle(model, theta, work)


@njit(cache=True, nogil=True, error_model="numpy")
def covariance_slopes(model: Linear, work: LinearWorkspace, slopes_out: Floats) -> None:
    """Fill ∂(X'H̃⁻¹X)⁻¹/∂θ_t (r, p, p) at the settled point: C₀G'(Λ_tΛ' + ΛΛ_t')GC₀."""
    pattern, p, m = model.pattern, model.X.shape[1], work.V.shape[1]
    start, widths, place = pattern.start, pattern.widths, pattern.place
    m1, others = widths[0], len(widths) - 1
    dense = (len(start) - 1) * m1
    at = np.empty(m, dtype=np.int64)
    both = np.zeros((m, m, p, p))
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            for a in range(m1):
                at[a] = j * m1 + a
            c = m1
            for f in range(others):
                for b in range(widths[f + 1]):
                    at[c] = dense + place[i, f] + b
                    c += 1
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
        slopes_out[t] = middle
