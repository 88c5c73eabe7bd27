"""The Laplace likelihood of an ordinal mixed model, and its exact gradient (docs/method.md, section 3).

ψ = (α, β, ζ, τ): threshold parameters with t = Jα, fixed effects, effects on log σ, free entries of the
block-diagonal lower-triangular Λ. Rows are in the order of the pattern. N(ψ) = h(û) + ½ log|H|, where û
minimises

    h(u) = −Σ log p + ½ u'u,        H = V'diag(W)V + I,        V = ZΛ
"""

from typing import NamedTuple

import numpy as np

from panelist.models.blocks import two_by_two
from panelist.models.blocks.elimination import factorise, solve
from panelist.models.blocks.inversion import invert_rows
from panelist.models.blocks.pattern import Blocks, Pattern, make_blocks
from panelist.models.blocks.products import ENTRIES, fill_V, multiply, multiply_transposed
from panelist.models.likelihoods.adjacent_rows import add_step_slopes, fill_adjacent_rows
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
    fill_probit_rows,
    fill_rows,
)
from panelist.models.likelihoods.priors import NO_PENALTY, Penalty
from panelist.models.likelihoods.spread_rows import N_SPREADS, add_spread_slopes, find_shrinkage, stretch_rows
from panelist.numerics.arrays import Floats, Ints, Longs
from panelist.numerics.kernel import inner, noinline, part
from panelist.numerics.lapack import copy_into
from panelist.numerics.normal import FAR
from panelist.numerics.simd import WIDTH, fma, get, put

_INNER_STEPS = 100
_CHEAP_FROM = 80  # dense columns from which a step with an old factor is worthwhile
FIRST, FINAL = 1e-3, 1e-14  # accuracy of the mode: where a search starts, and where it ends
TRUSTED = 1.0  # a step so short that the tangent of the mode needs no correction


class Ordinal(NamedTuple):
    """An ordinal mixed model of one data set; nothing in it changes during a fit."""

    pattern: Pattern
    X: Floats  # (n, p)
    upper: Ints  # (n,) the edge above each rating: 0 and the last are ∓FAR, the others thresholds, in order
    lower: Ints  # (n,) and below
    link: int
    J: Floats  # (T, s): thresholds are Jα, those of all cells one after another
    joined: Longs  # (T,) one where a threshold must lie above the one before it
    tau_row: Longs  # (entries,) where each free entry of Λ stands
    tau_column: Longs
    tau_slot: Longs  # (entries,) which τ it is; ascending, and several may be one
    S: Floats = np.empty((0, 0))  # (n, q): log σ = Sζ; no columns where no spread differs
    ridge: Floats = np.empty((0, 0))  # (q, q): ½ζ'Rζ is added to N, a normal prior; empty: none
    penalty: Penalty = NO_PENALTY  # −log π, which a search adds to N


class LaplaceWorkspace(NamedTuple):
    """What one evaluation leaves behind for the next."""

    V: Floats  # (n, m)
    P: Floats  # (n, m) H⁻¹v_i at the columns of v_i
    fixed: Floats  # (n,) Xβ
    eta: Floats  # (n,), as the next four filled up to whole vectors of eight
    high: Floats  # (n,) the threshold above each rating, for the probit link
    low: Floats  # (n,) and below
    p: Floats  # (n,)
    rows: Floats  # (9, n) see links
    u: Floats  # the mode
    push: Floats  # a direction in u
    kept: Floats  # the mode at the best point so far
    spare: Floats  # (n,)
    edges: Floats  # (T + 2,) the thresholds, between −FAR and FAR
    shrink: Floats  # (n,) 1/σ; empty where no spread differs, as the next
    spreads: Floats  # (5, n) see spread_rows
    steps: Floats  # (n, thresholds of a cell, 3) see adjacent_rows; empty for other families
    blocks: Blocks
    counts: Longs  # evaluations, passes over the rows, whether the factor can be used


def make_laplace_workspace(model: Ordinal) -> LaplaceWorkspace:
    """Return a workspace for fitting ``model``, the mode at zero."""
    n, m = model.pattern.Z.shape
    whole = -(-n // WIDTH) * WIDTH
    columns = int(model.pattern.sizes[0] * model.pattern.widths[0]) + model.pattern.q
    spread = model.S.shape[1] > 0
    return LaplaceWorkspace(
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
        edges=np.empty(len(model.J) + 2),
        shrink=np.empty(n if spread else 0),
        spreads=np.empty((N_SPREADS, n if spread else 0)),
        steps=np.empty((n if model.link == ADJACENT else 0, longest_cell(model.joined), 3)),
        blocks=make_blocks(model.pattern),
        counts=np.zeros(3, dtype=np.int64),
    )


def longest_cell(joined: Longs) -> int:
    """Return the most thresholds that a cell has."""
    first = np.flatnonzero(joined == 0)
    return int(np.diff(first, append=len(joined)).max())


@inner
def _unpack(model: Ordinal, psi: Floats, work: LaplaceWorkspace) -> None:
    """Fill the thresholds, Xβ and V = ZΛ from ψ."""
    noinline()
    s, p, q = model.J.shape[1], model.X.shape[1], model.S.shape[1]
    edges, last = work.edges, model.J.shape[0]
    edges[0], edges[last + 1] = -FAR, FAR
    for k in range(last):
        total = 0.0
        for a in range(s):
            total += model.J[k, a] * psi[a]
        edges[k + 1] = total
    X, low, high = model.X.reshape(-1), work.low, work.high
    for i in range(len(model.upper)):
        put(low, i, get(edges, get(model.lower, i)))
        put(high, i, get(edges, get(model.upper, i)))
        total = 0.0
        for b in range(p):
            total += get(X, i * p + b) * get(psi, s + b)
        put(work.fixed, i, total)
    if q > 0:
        find_shrinkage(model.S, psi, s + p, work.shrink, high, low)
    rows, columns, slots = model.tau_row, model.tau_column, model.tau_slot
    fill_V(model.pattern, rows, columns, slots, psi, s + p + q, work.V.reshape(-1))


@part
def _measure(model: Ordinal, work: LaplaceWorkspace) -> float:
    """Return h(u), and leave the row table at u."""
    multiply(model.pattern, work.V.reshape(-1), work.u, work.eta)
    for i in range(len(work.fixed)):
        work.eta[i] += work.fixed[i]
    penalty = 0.0
    for c in range(len(work.u)):
        penalty += work.u[c] * work.u[c]
    work.counts[1] += 1
    shrink, spread = work.shrink, len(work.shrink) > 0 and model.link != ADJACENT
    if spread:
        for i in range(len(shrink)):
            work.eta[i] *= shrink[i]
    if model.link == PROBIT:
        lost = fill_probit_rows(work.high, work.low, work.eta, work.rows, work.p)
    elif model.link == ADJACENT:
        upper, lower, joined, edges = model.upper, model.lower, model.joined, work.edges
        lost = fill_adjacent_rows(
            upper, lower, joined, edges, work.eta, shrink, work.rows, work.steps, work.spreads
        )
    else:
        lost = fill_rows(model.link, work.high, work.low, work.eta, work.rows)
    if spread:
        stretch_rows(work.rows, shrink, work.high, work.low, work.eta, work.spreads)
    return lost + 0.5 * penalty


@part
def find_mode(model: Ordinal, psi: Floats, work: LaplaceWorkspace, accuracy: float) -> float:
    """Move u close to the mode for ψ by Newton steps; return h(û) + ½ log|H|, with the factor of H.

    The steps end when the Newton decrement g'H⁻¹g falls below ``accuracy``; ``work.push`` then is the step
    that was not taken, and h(û) is the value it would reach. The first few are taken with the
    factor of the previous point, if there is one and it is large: solving is far cheaper than factorising.
    """
    _unpack(model, psi, work)
    for k in range(len(model.joined)):
        if model.joined[k] == 1 and not work.edges[k + 1] > work.edges[k] and model.link != ADJACENT:
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
            logdet = factorise(model.pattern, work.V.reshape(-1), work.rows[W], work.blocks)
            work.counts[2] = not np.isnan(logdet)
            if np.isnan(logdet):  # only cauchit: step with the part of the weights that is positive
                for i in range(len(work.spare)):
                    work.spare[i] = max(work.rows[W, i], 0.0)
                factorise(model.pattern, work.V.reshape(-1), work.spare, work.blocks)
        if accuracy == TRUSTED and work.counts[2]:  # u followed its tangent, and is the mode
            push[:] = 0.0
            return h + 0.5 * logdet
        copy_into(push, u)
        multiply_transposed(model.pattern, work.V.reshape(-1), work.rows[D1], 0, push)
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
def evaluate(model: Ordinal, psi: Floats, work: LaplaceWorkspace, gradient: Floats, accuracy: float) -> float:
    """Return N(ψ) and fill its gradient; u starts where the workspace has it and ends at the mode."""
    noinline()
    work.counts[0] += 1
    value = find_mode(model, psi, work, accuracy)
    if not np.isfinite(value):
        return np.inf
    pattern, V, P, kappa = model.pattern, work.V.reshape(-1), work.P.reshape(-1), work.spare
    rows, count, m, s = work.rows.reshape(-1), work.rows.shape[1], work.V.shape[1], model.J.shape[1]
    half, u, r = work.fixed, work.u, work.push  # Xβ and the push are no longer needed
    invert_rows(pattern, V, work.blocks, P)
    weigh_rows(V, P, m, rows, W_SLOPE * count, 1, kappa, half)
    # The last Newton step, not taken because it was short, still moves N to first order.
    multiply(pattern, V, work.push, work.eta)  # η itself is no longer needed
    for i in range(len(half)):
        value -= half[i] * work.eta[i]
    for c in range(len(u)):
        u[c] -= work.push[c]
    # The adjoint of the mode, r = H⁻¹V'(½κW'): one solve serves every parameter.
    r[:] = 0.0
    multiply_transposed(pattern, V, half, 0, r)
    solve(pattern, work.blocks, r)
    multiply(pattern, V, r, work.eta)
    by_edge = np.zeros(len(work.edges))
    sum_row_slopes(model, rows, count, 1, kappa, half, work.eta, by_edge, gradient)
    first = s + model.X.shape[1]
    if model.link == ADJACENT:
        add_step_slopes(model.lower, model.joined, work.steps, model.J, kappa, work.eta, by_edge, gradient)
    if len(work.shrink) > 0:
        add_spread_slopes(model.S, work.spreads, kappa, work.eta, first, gradient)
        for a in range(len(model.ridge)):
            for b in range(len(model.ridge)):
                value += 0.5 * psi[first + a] * model.ridge[a, b] * psi[first + b]
                gradient[first + a] += model.ridge[a, b] * psi[first + b]
        first += model.S.shape[1]
    if pattern.two_by_two and len(model.tau_row) == ENTRIES:
        w, d = W * count, D1 * count
        two_by_two.add_slopes(pattern, half, rows, w, d, 1, P, u, r, gradient, first)
    else:
        _add_slopes(model, half, rows, count, P, u, r, gradient, first)
    return value


@inner
def weigh_rows(
    V: Floats, P: Floats, m: int, rows: Floats, slope: int, stride: int, kappa: Floats, half: Floats
) -> None:
    """Fill κ/2 = ½v'H⁻¹v of every row, and κW'/2; W' of row i is ``rows[slope + i · stride]``."""
    for i in range(len(kappa)):
        total = get(V, i * m) * get(P, i * m)
        for c in range(i * m + 1, (i + 1) * m):
            total = fma(get(V, c), get(P, c), total)
        put(kappa, i, 0.5 * total)
        put(half, i, 0.5 * total * get(rows, slope + i * stride))


@inner
def sum_row_slopes(
    model: Ordinal,
    rows: Floats,
    entry: int,
    stride: int,
    kappa: Floats,
    half: Floats,
    Vr: Floats,
    by_edge: Floats,
    gradient: Floats,
) -> None:
    """Fill the slopes in α and β, zeros in ζ and τ, and the slope in η of every row, in the place of κW'/2.

    Entry e of row i is ``rows[e · entry + i · stride]``; ``by_edge`` is zero.
    """
    noinline()
    X, J, (last, s), p = model.X.reshape(-1), model.J, model.J.shape, model.X.shape[1]
    gradient[:] = 0.0
    for i in range(len(model.upper)):
        at, bend, along = i * stride, get(kappa, i), get(Vr, i)
        slope = get(rows, D1 * entry + at) + get(half, i) - get(rows, W * entry + at) * along
        put(half, i, slope)
        for b in range(p):
            put(gradient, s + b, fma(slope, get(X, i * p + b), get(gradient, s + b)))
        upper = bend * get(rows, A_BEND * entry + at) - get(rows, A * entry + at)
        upper -= get(rows, A_TILT * entry + at) * along
        lower = bend * get(rows, B_BEND * entry + at) + get(rows, B * entry + at)
        lower -= get(rows, B_TILT * entry + at) * along
        above, below = get(model.upper, i), get(model.lower, i)
        put(by_edge, above, get(by_edge, above) + upper)
        put(by_edge, below, get(by_edge, below) + lower)
    for k in range(last):
        for a in range(s):
            put(gradient, a, fma(get(by_edge, k + 1), J[k, a], get(gradient, a)))


@inner
def _add_slopes(
    model: Ordinal,
    slope: Floats,
    rows: Floats,
    count: int,
    P: Floats,
    u: Floats,
    r: Floats,
    gradient: Floats,
    first: int,
) -> None:
    """Fill the slopes in τ, from ``gradient[first]`` on, as two_by_two.add_slopes does."""
    noinline()
    pattern, tau_row, tau_column, tau_slot = model.pattern, model.tau_row, model.tau_column, model.tau_slot
    start, place, m1, m2 = pattern.start, pattern.place.reshape(-1), pattern.widths[0], pattern.place.shape[1]
    m, dense, Z = m1 + m2, (len(start) - 1) * m1, pattern.Z.reshape(-1)
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            tilt, w, d1 = get(slope, i), get(rows, W * count + i), get(rows, D1 * count + i)
            for t in range(len(tau_row)):
                c = get(tau_column, t)
                at = j * m1 + c if c < m1 else dense + get(place, i * m2 + c - m1)
                pull = get(u, at) * tilt + w * get(P, i * m + c) - d1 * get(r, at)
                slot = first + get(tau_slot, t)
                put(gradient, slot, get(gradient, slot) + get(Z, i * m + get(tau_row, t)) * pull)
