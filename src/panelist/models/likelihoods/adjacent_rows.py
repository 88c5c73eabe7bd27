"""Adjacent categories: log P(y = k + 1)/P(y = k) = (η − t_k)/σ, with the logit link alone.

With q_k = Σ_{j<k} (η − t_j)/σ a row has p = softmax(q), and with E = Σ k p_k

    D1 = (E − y)/σ     W = Var(y)/σ²     W' = μ₃(y)/σ³
    by t_j:    ([y > j] − P(y > j))/σ,   tilt −Cov(y, [y > j])/σ²,   bend −E[(y − E)²([y > j] − P(y > j))]/σ³
    by log σ:  q_y − E q,                tilt −D1 − Cov(y, q)/σ,     bend −2W − E[(y − E)²(q − E q)]/σ²

Every threshold of its cell takes part in a row. ``Ordinal.lower`` is the first of them, ``Ordinal.upper``
as many edges further as the rating has categories below it; ``joined`` says which thresholds follow in the
same cell. They need not be in order.
"""

import math
from typing import Any

import numpy as np

from panelist.models.likelihoods.link_functions import D1, N_ENTRIES, SMALLEST, W_SLOPE, W
from panelist.models.likelihoods.spread_rows import C_BEND, C_TILT, HIGH_END, C
from panelist.numerics.arrays import Floats, Ints, Longs
from panelist.numerics.kernel import inner, noinline
from panelist.numerics.simd import broadcast, fma, load, store

STEP, STEP_TILT, STEP_BEND = range(3)  # entries of a threshold in the table of steps (n, thresholds, 3)
VAR_Q = HIGH_END  # entry of the table of spreads: Var(q)


@inner
def count_cell(joined: Longs, first: int) -> int:
    """Return how many thresholds the cell has that begins at edge ``first``."""
    count = 1
    while first + count - 1 < len(joined) and joined[first + count - 1] == 1:
        count += 1
    return count


@inner
def fill_adjacent_rows(
    upper: Ints,
    lower: Ints,
    joined: Longs,
    edges: Floats,
    eta: Floats,
    shrink: Floats,
    rows: Floats,
    steps: Floats,
    spreads: Floats,
) -> float:
    """Fill the tables of rows, steps and spreads at η; return −Σ log p, or inf where one is lost.

    ``shrink`` is 1/σ of every row, or empty. What belongs to an upper and a lower threshold is zero.
    """
    noinline()
    most = steps.shape[1] + 1
    q, p = np.empty(most), np.empty(most)
    total = 0.0
    for i in range(len(upper)):
        first, y = lower[i], upper[i] - lower[i]
        count = count_cell(joined, first)
        one = shrink[i] if len(shrink) else 1.0
        q[0] = top = 0.0
        for k in range(count):
            q[k + 1] = q[k] + (eta[i] - edges[first + k]) * one
            top = max(top, q[k + 1])
        whole = 0.0
        for k in range(count + 1):
            p[k] = math.exp(q[k] - top)
            whole += p[k]
        if not p[y] / whole > SMALLEST:
            return np.inf
        total += math.log(whole) - (q[y] - top)
        E = Q = 0.0
        for k in range(count + 1):
            p[k] /= whole
            E += p[k] * k
            Q += p[k] * q[k]
        m2 = m3 = with_q = bend_q = square_q = 0.0
        for k in range(count + 1):
            away, off = k - E, q[k] - Q
            share = p[k] * away
            m2 += share * away
            m3 += share * away * away
            with_q += share * off
            bend_q += share * away * off
            square_q += p[k] * off * off
        above = tilt = bend = 0.0  # sums over the categories above a threshold
        for k in range(count, 0, -1):
            away = k - E
            above += p[k]
            tilt += p[k] * away
            bend += p[k] * away * away
            steps[i, k - 1, STEP] = ((1.0 if y >= k else 0.0) - above) * one
            steps[i, k - 1, STEP_TILT] = -tilt * one * one
            steps[i, k - 1, STEP_BEND] = (above * m2 - bend) * one * one * one
        for e in range(N_ENTRIES):
            rows[e, i] = 0.0
        rows[D1, i], rows[W, i], rows[W_SLOPE, i] = (E - y) * one, m2 * one * one, m3 * one * one * one
        if len(shrink):
            spreads[C, i] = q[y] - Q
            spreads[C_TILT, i] = -(rows[D1, i] + with_q * one)
            spreads[C_BEND, i] = -2.0 * rows[W, i] - bend_q * one * one
            spreads[VAR_Q, i] = square_q
    return total


@inner
def add_step_slopes(
    lower: Ints,
    joined: Longs,
    steps: Floats,
    J: Floats,
    kappa: Floats,
    Vr: Floats,
    by_edge: Floats,
    gradient: Floats,
) -> None:
    """Add the slopes in α to the gradient, and leave those of every edge, zero before; ``kappa`` is κ/2."""
    noinline()
    for i in range(len(lower)):
        first = lower[i]
        for k in range(count_cell(joined, first)):
            slope = steps[i, k, STEP] + kappa[i] * steps[i, k, STEP_BEND] - steps[i, k, STEP_TILT] * Vr[i]
            by_edge[first + k] += slope
    for k in range(J.shape[0]):
        for a in range(J.shape[1]):
            gradient[a] += by_edge[k + 1] * J[k, a]


@inner
def sum_step_change(lower: Ints, joined: Longs, steps: Floats, edges: Floats, i: int) -> Any:
    """Return Σ_j tilt_j Δt_j of row i in eight directions."""
    total, first = broadcast(0.0), lower[i]
    for k in range(count_cell(joined, first)):
        total = fma(load(edges, first + k), steps[i, k, STEP_TILT], total)
    return total


@inner
def add_step_information(
    upper: Ints,
    lower: Ints,
    joined: Longs,
    steps: Floats,
    shrink: Floats,
    edges: Floats,
    eta: Any,
    i: int,
    sums: Floats,
) -> None:
    """Add the changes of the slopes in the thresholds of row i, in eight directions of thresholds and η."""
    first, one = lower[i], shrink[i] if len(shrink) else 1.0
    count, y = count_cell(joined, first), upper[i] - lower[i]
    for k in range(count):
        change = eta * steps[i, k, STEP_TILT]
        own = (1.0 if y > k else 0.0) - steps[i, k, STEP] / one
        for j in range(count):
            other = (1.0 if y > j else 0.0) - steps[i, j, STEP] / one
            change = fma(
                load(edges, first + j), ((own if k > j else other) - own * other) * one * one, change
            )
        store(sums, first + k, load(sums, first + k) + change)
