"""The Laplace likelihood of an ordinal mixed model, and its exact gradient (docs/method.md, section 3).

ψ = (α, β, τ): threshold parameters with t = Jα, fixed effects, free entries of the block-diagonal
lower-triangular Λ. Rows are in the order of the pattern. N(ψ) = h(û) + ½ log|H|, where û minimises

    h(u) = −Σ log p + ½ u'u,        H = V'diag(W)V + I,        V = ZΛ
"""

from typing import NamedTuple

import numpy as np

from panelist.models.arrays import Floats, Ints, Longs
from panelist.models.solvers.blocks import Blocks, Pattern, dense_size, make_blocks
from panelist.models.solvers.elimination import factorise, solve
from panelist.models.solvers.inversion import invert_rows
from panelist.models.solvers.kernel import inner, part, stay_apart
from panelist.models.solvers.lapack import copy_into
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
    fill_probit_rows,
    fill_rows,
)
from panelist.models.solvers.normal import FAR
from panelist.models.solvers.octets import WIDTH, get, put
from panelist.models.solvers.products import multiply, multiply_transposed

_INNER_STEPS = 100
_CHEAP_FROM = 80  # dense columns from which a step with an old factor is worth while
FIRST, FINAL = 1e-3, 1e-14  # accuracy of the mode: where a search starts, and where it ends
TRUSTED = 1.0  # a step so short that the tangent of the mode needs no correction


class Ordinal(NamedTuple):
    """An ordinal mixed model of one data set; nothing in it changes during a fit."""

    pattern: Pattern
    X: Floats  # (n, p)
    codes: Ints  # (n,) category of each rating, 0 … K−1
    link: int
    J: Floats  # (K − 1, s): thresholds are Jα
    tau_row: Longs  # (r,) where each entry of τ stands in Λ
    tau_column: Longs


class Workspace(NamedTuple):
    """What one evaluation leaves behind for the next."""

    V: Floats  # (n, m)
    P: Floats  # (n, m) H⁻¹v_i at the columns of v_i
    fixed: Floats  # (n,) Xβ
    eta: Floats  # (n,), as the next four filled up to whole octets
    high: Floats  # (n,) the threshold above each rating, for the probit link
    low: Floats  # (n,) and below
    p: Floats  # (n,)
    rows: Floats  # (9, n) see links
    u: Floats  # the mode
    push: Floats  # a direction in u
    kept: Floats  # the mode at the best point so far
    spare: Floats  # (n,)
    thresholds: Floats  # (K − 1,)
    blocks: Blocks
    counts: Longs  # evaluations, passes over the rows, whether the factor can be used


def make_workspace(model: Ordinal) -> Workspace:
    """Return room for fitting ``model``, the mode at zero."""
    n, m = model.pattern.Z.shape
    whole = -(-n // WIDTH) * WIDTH
    columns = int(model.pattern.sizes[0] * model.pattern.widths[0]) + dense_size(model.pattern)
    return Workspace(
        V=np.empty((n, m)),
        P=np.empty((n, m)),
        fixed=np.empty(n),
        eta=np.zeros(whole),
        high=np.full(whole, FAR),
        low=np.full(whole, -FAR),
        p=np.empty(whole),
        rows=np.empty((N_ENTRIES, whole)),
        u=np.zeros(columns),
        push=np.zeros(columns),
        kept=np.zeros(columns),
        spare=np.empty(n),
        thresholds=np.empty(len(model.J)),
        blocks=make_blocks(model.pattern),
        counts=np.zeros(3, dtype=np.int64),
    )


@inner
def _unpack(model: Ordinal, psi: Floats, work: Workspace) -> None:
    """Fill the thresholds, Xβ and V = ZΛ from ψ."""
    stay_apart()
    s, p = model.J.shape[1], model.X.shape[1]
    work.thresholds[:] = 0.0
    for k in range(len(work.thresholds)):
        for a in range(s):
            work.thresholds[k] += model.J[k, a] * psi[a]
    Z, X, V = model.pattern.Z, model.X, work.V
    edges = np.empty(len(work.thresholds) + 2)
    edges[0], edges[-1] = -FAR, FAR
    for k in range(len(work.thresholds)):
        edges[k + 1] = work.thresholds[k]
    flat_X, low, high, codes = X.reshape(-1), work.low, work.high, model.codes
    for i in range(len(codes)):
        put(low, i, get(edges, codes[i]))
        put(high, i, get(edges, codes[i] + 1))
        total = 0.0
        for b in range(p):
            total += get(flat_X, i * p + b) * get(psi, s + b)
        put(work.fixed, i, total)
    if model.pattern.usual and len(model.tau_row) == 6:
        a, b, c = psi[s + p], psi[s + p + 1], psi[s + p + 2]
        d, e, f = psi[s + p + 3], psi[s + p + 4], psi[s + p + 5]
        flat_Z, flat_V = Z.reshape(-1), V.reshape(-1)
        for i in range(0, 4 * len(codes), 4):
            put(flat_V, i, get(flat_Z, i) * a + get(flat_Z, i + 1) * b)
            put(flat_V, i + 1, get(flat_Z, i + 1) * c)
            put(flat_V, i + 2, get(flat_Z, i + 2) * d + get(flat_Z, i + 3) * e)
            put(flat_V, i + 3, get(flat_Z, i + 3) * f)
        return
    for i in range(len(codes)):
        for k in range(V.shape[1]):
            V[i, k] = 0.0
        for t in range(len(model.tau_row)):
            V[i, model.tau_column[t]] += Z[i, model.tau_row[t]] * psi[s + p + t]


@part
def _measure(model: Ordinal, work: Workspace) -> float:
    """Return h(u), and leave the row table at u."""
    multiply(model.pattern, work.V, work.u, work.eta)
    for i in range(len(work.fixed)):
        work.eta[i] += work.fixed[i]
    penalty = 0.0
    for c in range(len(work.u)):
        penalty += work.u[c] * work.u[c]
    work.counts[1] += 1
    if model.link == PROBIT:
        lost = fill_probit_rows(work.high, work.low, work.eta, work.rows, work.p)
    else:
        lost = fill_rows(model.link, model.codes, work.thresholds, work.eta, work.rows)
    return lost + 0.5 * penalty


@part
def find_mode(model: Ordinal, psi: Floats, work: Workspace, accuracy: float) -> float:
    """Move u close to the mode for ψ by Newton steps; return h(û) + ½ log|H|, with the factor of H.

    The steps end when the Newton decrement g'H⁻¹g falls below ``accuracy``; ``work.push`` then is the step
    that was not taken, and h(û) is the value it would reach. The first few are taken with the
    factor of the previous point, if there is one and it is large: to solve is far cheaper than to factorise.
    """
    _unpack(model, psi, work)
    for k in range(1, len(work.thresholds)):
        if not work.thresholds[k] > work.thresholds[k - 1]:
            return np.inf
    cheap = work.counts[2] == 1 and work.blocks.S.shape[0] > _CHEAP_FROM and accuracy != TRUSTED
    u, push = work.u, work.push
    h, decrement, before, logdet, step = np.inf, 0.0, np.inf, 0.0, 1.0
    for passes in range(_INNER_STEPS):
        trial = _measure(model, work)
        if passes == 0 and not np.isfinite(trial):  # a warm start that lost a probability: begin at zero
            u[:] = 0.0
            push[:] = 0.0
            trial = _measure(model, work)
        if not (np.isfinite(trial) and trial <= h - 1e-4 * step * decrement + 1e-12 * abs(h)):
            step *= 0.5  # too far: halve the step, from the other end
            if step < 1e-8 or not np.isfinite(h):
                return np.inf
            for c in range(len(u)):
                u[c] += step * push[c]
            continue
        h = trial
        fresh = not cheap
        if fresh:
            logdet = factorise(model.pattern, work.V, work.rows[W], work.blocks)
            work.counts[2] = not np.isnan(logdet)
            if np.isnan(logdet):  # only cauchit: step with the part of the weights that is positive
                for i in range(len(work.spare)):
                    work.spare[i] = max(work.rows[W, i], 0.0)
                factorise(model.pattern, work.V, work.spare, work.blocks)
        if accuracy == TRUSTED and work.counts[2]:  # u came along its tangent, and is the mode
            push[:] = 0.0
            return h + 0.5 * logdet
        copy_into(push, u)
        multiply_transposed(model.pattern, work.V, work.rows[D1], push)
        decrement = solve(model.pattern, work.blocks, push)
        if decrement < accuracy and fresh:
            return h - 0.5 * decrement + 0.5 * logdet
        cheap = cheap and accuracy < decrement < 0.1 * before
        before, step = decrement, 1.0
        if fresh or cheap:
            for c in range(len(u)):
                u[c] -= push[c]
        else:  # stay here, and factorise
            decrement, h = 0.0, np.inf
    return np.inf


@inner
def evaluate(model: Ordinal, psi: Floats, work: Workspace, gradient: Floats, accuracy: float) -> float:
    """Return N(ψ) and fill its gradient; u starts where the workspace has it and ends at the mode."""
    stay_apart()
    work.counts[0] += 1
    value = find_mode(model, psi, work, accuracy)
    if not np.isfinite(value):
        return np.inf
    pattern, rows, V, P = model.pattern, work.rows, work.V, work.P
    (n, m), s = V.shape, model.J.shape[1]
    invert_rows(pattern, V, work.blocks, P)
    kappa, flat_V, flat_P = work.spare, V.reshape(-1), P.reshape(-1)
    for i in range(n):
        total = 0.0
        for c in range(i * m, (i + 1) * m):
            total += get(flat_V, c) * get(flat_P, c)
        put(kappa, i, 0.5 * total)
        put(work.fixed, i, 0.5 * total * rows[W_SLOPE, i])  # ½κW'; Xβ is no longer needed
    # The last Newton step, not taken because it was short, still moves N to first order.
    multiply(pattern, V, work.push, work.eta)  # η itself is no longer needed
    for i in range(n):
        value -= work.fixed[i] * work.eta[i]
    for c in range(len(work.u)):
        work.u[c] -= work.push[c]
    # The adjoint of the mode, r = H⁻¹V'(½κW'): one solve serves every parameter.
    r = work.push
    r[:] = 0.0
    multiply_transposed(pattern, V, work.fixed, r)
    solve(pattern, work.blocks, r)
    multiply(pattern, V, r, work.eta)  # Vr
    gradient[:] = 0.0
    by_threshold = np.zeros(len(work.thresholds) + 2)
    _sum_slopes(model, work, kappa, r, by_threshold, gradient)
    for k in range(len(work.thresholds)):
        for a in range(s):
            gradient[a] += model.J[k, a] * by_threshold[k + 1]
    return value


@inner
def _sum_slopes(
    model: Ordinal, work: Workspace, kappa: Floats, r: Floats, by_threshold: Floats, gradient: Floats
) -> None:
    """Add up what each row gives to the slopes in t, β and τ; ``work.fixed`` holds ½κW', ``work.eta`` Vr."""
    stay_apart()
    pattern, X, codes, u, half = model.pattern, model.X.reshape(-1), model.codes, work.u, work.fixed
    rows, count, P, Z = work.rows.reshape(-1), work.rows.shape[1], work.P.reshape(-1), pattern.Z.reshape(-1)
    start, place, m1, m2 = pattern.start, pattern.place.reshape(-1), pattern.widths[0], pattern.place.shape[1]
    s, p, m, dense = model.J.shape[1], model.X.shape[1], m1 + m2, (len(start) - 1) * m1
    usual = pattern.usual and len(model.tau_row) == 6
    tau_row, tau_column, t = model.tau_row, model.tau_column, s + p
    g0 = g1 = g2 = g3 = g4 = g5 = 0.0
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            Vr, w, d1 = get(work.eta, i), get(rows, W * count + i), get(rows, D1 * count + i)
            slope = d1 + get(half, i) - w * Vr
            for b in range(p):
                put(gradient, s + b, get(gradient, s + b) + get(X, i * p + b) * slope)
            k, bend = codes[i], get(kappa, i)
            upper = bend * get(rows, A_BEND * count + i) - get(rows, A_TILT * count + i) * Vr
            lower = bend * get(rows, B_BEND * count + i) - get(rows, B_TILT * count + i) * Vr
            by_threshold[k + 1] += upper - get(rows, A * count + i)
            by_threshold[k] += lower + get(rows, B * count + i)
            if usual:
                a, c, z = 2 * j, dense + get(place, 2 * i), 4 * i
                one = get(u, a) * slope + w * get(P, z) - d1 * get(r, a)
                other = get(u, a + 1) * slope + w * get(P, z + 1) - d1 * get(r, a + 1)
                three = get(u, c) * slope + w * get(P, z + 2) - d1 * get(r, c)
                four = get(u, c + 1) * slope + w * get(P, z + 3) - d1 * get(r, c + 1)
                g0, g1, g2 = g0 + get(Z, z) * one, g1 + get(Z, z + 1) * one, g2 + get(Z, z + 1) * other
                g3, g4, g5 = g3 + get(Z, z + 2) * three, g4 + get(Z, z + 3) * three, g5 + get(Z, z + 3) * four
                continue
            for e in range(len(tau_row)):
                c = get(tau_column, e)
                at = j * m1 + c if c < m1 else dense + get(place, i * m2 + c - m1)
                pull = get(u, at) * slope + w * get(P, i * m + c) - d1 * get(r, at)
                put(gradient, t + e, get(gradient, t + e) + get(Z, i * m + get(tau_row, e)) * pull)
    if usual:
        gradient[t], gradient[t + 1], gradient[t + 2] = g0, g1, g2
        gradient[t + 3], gradient[t + 4], gradient[t + 5] = g3, g4, g5
