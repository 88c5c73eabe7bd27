"""What the Laplace approximation of an ordinal mixed model gets wrong, and how that moves with ψ.

For each level of each grouping factor, the effects of the other factors held at their mode, the integral over
the level's own effects u is taken twice: by Laplace, and by the trapezoidal rule (see integration). Along
the axes d of the level, x being the distance from the mode,

    c = log ∫ exp(h(0) − h(x)) dx − ½ log 2π + ½ log d'Hd

One effect has one axis, and two are integrated over their plane; more are taken along their principal axes,
one at a time. The sum of all c is what the log-likelihood lacks, exactly so with one factor of one or two
effects. Its slopes follow from the means of A, B and D1·x under the integrand (E below), from how ½ log|H|
moves, and from how the mode moves, by the adjoint q = H⁻¹∂c/∂u as in laplace:

    g_i = Σ_f [D1 − E(D1) + ½κW'],     ∂c/∂u_f = V_f'(g − [D1 − E_f(D1)])
    ∂c/∂β = X'(g − W∘Vq),     ∂c/∂λ_zc = Σ_i z_i {û_c g_i − E(D1 x_c) + W_i P_ic − D1_i q_c − W_i û_c (Vq)_i}
"""

import math
from typing import NamedTuple

import numpy as np

from panelist.models.blocks.elimination import solve
from panelist.models.blocks.products import multiply, multiply_transposed
from panelist.models.likelihoods.integration import E_A, E_B, E_PULL, N_MEANS, integrate_line
from panelist.models.likelihoods.laplace import LaplaceWorkspace, Ordinal
from panelist.models.likelihoods.link_functions import A_BEND, A_TILT, B_BEND, B_TILT, D1, W_SLOPE, A, B, W
from panelist.numerics.arrays import Floats, Longs
from panelist.numerics.kernel import inner, kernel, noinline
from panelist.numerics.spectra import decompose

_FINENESS, _CUT = 1.3, 14.0  # five digits are enough for the size of an error
_HALF_LOG_2PI = 0.9189385332046727


@inner
def _sort_factor(model: Ordinal, column: int, width: int, f: int, order: Longs, start: Longs) -> None:
    """Fill in the rows of each level of the factor whose first column this is, and where they begin."""
    pattern = model.pattern
    first = 0
    for g in range(1, f):
        first += pattern.sizes[g] * pattern.widths[g]
    start[:] = 0
    n, m1 = len(order), pattern.widths[0]
    for i in range(n):
        start[(pattern.place[i, column - m1] - first) // width + 1] += 1
    for j in range(len(start) - 1):
        start[j + 1] += start[j]
    for i in range(n):
        j = (pattern.place[i, column - m1] - first) // width
        order[start[j]] = i
        start[j] += 1
    for j in range(len(start) - 1, 0, -1):
        start[j] = start[j - 1]
    start[0] = 0


@inner
def _integrate_plane(
    link: int, high: Floats, low: Floats, eta: Floats, a: Floats, tilt: Floats, bend: Floats, means: Floats
) -> float:
    """Return log ∫∫ exp(h(0) − h(x)) dx and fill ``means`` (4, n): of A, B, D1·x₁ and D1·x₂."""
    noinline()
    n = len(high)
    moved, part = np.empty(n), np.empty((N_MEANS, n))
    sharpest = bend[0, 0]
    for i in range(n):
        sharpest += a[i, 0] * a[i, 0]
    step = _FINENESS / math.sqrt(sharpest)
    means[:, :n] = 0.0
    total, origin, best = 0.0, 0.0, 0.0
    for side in range(2):
        node, before = (0, 0.0) if side == 0 else (-1, 0.0)
        while node * node * step * step < 1e4:
            x = node * step
            for i in range(n):
                moved[i] = eta[i] + a[i, 0] * x
            across = tilt[1] + bend[0, 1] * x
            integral, base = integrate_line(
                link, high, low, moved, a[:, 1], across, bend[1, 1], _FINENESS, _CUT, part
            )
            if node == 0:
                origin = base
            height = integral - (base - origin + tilt[0] * x + 0.5 * bend[0, 0] * x * x)
            if not np.isfinite(height):
                break
            if node == 0:
                best = height
            weight = math.exp(height - best)
            total += weight
            for i in range(n):
                pull = part[E_A, i] - part[E_B, i]
                means[E_A, i] += weight * part[E_A, i]
                means[E_B, i] += weight * part[E_B, i]
                means[E_PULL, i] += weight * pull * x
                means[E_PULL + 1, i] += weight * part[E_PULL, i]
            if height < best - _CUT and height <= before:
                break
            before = height
            node += 1 if side == 0 else -1
    for i in range(n):
        for k in range(N_MEANS + 1):
            means[k, i] /= total
    return best + math.log(total * step)


@inner
def _find_axes(routine: Longs, H: Floats, axes: Floats) -> float:
    """Fill in the axes, a row each, with d'Hd = 1; return log|H|."""
    m = len(H)
    if m == 1:
        axes[0, 0] = 1.0 / math.sqrt(H[0, 0])
        return math.log(H[0, 0])
    values = np.empty(m)
    for c in range(m):
        for d in range(m):
            axes[c, d] = H[c, d]
    decompose(routine, axes, values, True)
    logdet = 0.0
    for c in range(m):
        logdet += math.log(values[c])
        for d in range(m):
            axes[c, d] /= math.sqrt(values[c])
    return logdet


class Errors(NamedTuple):
    """What the levels of all factors give to each row, summed as they are measured."""

    g: Floats  # (n,) by η
    upper: Floats  # (n,) by the threshold above
    lower: Floats  # (n,) and below
    excess: Floats  # (factors, n) D1 − E_f(D1)
    pulls: Floats  # (n, m) E(D1 x_c)
    P: Floats  # (n, m) H_f⁻¹v_i
    adjoint: Floats  # ∂c/∂u of lines that move with the mode; then q


@kernel
def fill_errors(
    model: Ordinal, psi: Floats, work: LaplaceWorkspace, routine: Longs, errors: Floats, slopes: Floats
) -> None:
    """Fill in the error of each factor and the slopes of their sum; ``work`` is at the mode for ψ."""
    pattern, V, u = model.pattern, work.V, work.u
    (n, m), s, p = V.shape, model.J.shape[1], model.X.shape[1]
    factors = len(pattern.widths)
    eta = np.empty(len(work.eta))
    multiply(pattern, V.reshape(-1), u, eta)
    for i in range(n):
        for b in range(p):
            eta[i] += model.X[i, b] * psi[s + b]
    found = Errors(
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros((factors, n)),
        np.zeros((n, m)),
        np.zeros((n, m)),
        np.zeros(len(u)),
    )
    order = np.empty(n, dtype=np.int64)
    column, at = 0, 0
    for f in range(factors):
        width, levels = pattern.widths[f], pattern.sizes[f]
        start = pattern.start
        if f == 0:
            for i in range(n):
                order[i] = i
        else:
            start = np.empty(levels + 1, dtype=np.int64)
            _sort_factor(model, column, width, f, order, start)
        errors[f] = 0.0
        for j in range(levels):
            own = order[start[j] : start[j + 1]]
            errors[f] += _add_level(model, work, eta, own, f, column, at + j * width, width, routine, found)
        column += width
        at += width * levels
    _sum_slopes(model, work, found, slopes)


@inner
def _add_level(
    model: Ordinal,
    work: LaplaceWorkspace,
    eta: Floats,
    own: Longs,
    f: int,
    column: int,
    at: int,
    m: int,
    routine: Longs,
    found: Errors,
) -> float:
    """Return the error of one level of factor f, whose rows are ``own``; add what it gives to each row.

    Its m effects are columns of V from ``column`` on, and stand in u from ``at`` on.
    """
    noinline()
    n, rows, u = len(own), work.rows, work.u
    high, low, near, v = np.empty(n), np.empty(n), np.empty(n), np.empty((n, m))
    H, axes = np.zeros((m, m)), np.empty((m, m))
    for c in range(m):
        H[c, c] = 1.0
    for r in range(n):
        i = own[r]
        high[r], low[r], near[r] = work.high[i], work.low[i], eta[i]
        for c in range(m):
            v[r, c] = work.V[i, column + c]
        for c in range(m):
            for d in range(m):
                H[c, d] += rows[W, i] * v[r, c] * v[r, d]
    _find_axes(routine, H, axes)
    a = np.zeros((n, m))  # v_i along the axes
    tilt, bend = np.zeros(m), np.zeros((m, m))
    for c in range(m):
        for d in range(m):
            tilt[c] += axes[c, d] * u[at + d]
            for e in range(m):
                bend[c, d] += axes[c, e] * axes[d, e]
            for r in range(n):
                a[r, c] += axes[c, d] * v[r, d]
    means = np.empty((N_MEANS + 1, n))
    error, flat = 0.0, m == 2
    for c in range(1 if flat else m):
        if flat:
            error += _integrate_plane(model.link, high, low, near, a, tilt, bend, means)
            error -= 2.0 * _HALF_LOG_2PI
        else:
            line = np.ascontiguousarray(a[:, c])
            integral, _ = integrate_line(
                model.link, high, low, near, line, tilt[c], bend[c, c], _FINENESS, _CUT, means
            )
            error += integral - _HALF_LOG_2PI
            if m > 1:  # the line moves with the mode, but for a move along itself
                mean = tilt[c]
                for r in range(n):
                    mean += line[r] * (means[E_A, r] - means[E_B, r])
                for d in range(m):
                    found.adjoint[at + d] += axes[c, d] * mean / bend[c, c]
                    for r in range(n):
                        found.adjoint[at + d] += v[r, d] * (rows[D1, own[r]] - means[E_A, r] + means[E_B, r])
        for r in range(n):
            i = own[r]
            found.upper[i] += means[E_A, r] - rows[A, i]
            found.lower[i] += rows[B, i] - means[E_B, r]
            less = rows[D1, i] - means[E_A, r] + means[E_B, r]
            found.excess[f, i] += less
            found.g[i] += less
            for d in range(m):
                found.pulls[i, column + d] += axes[c, d] * means[E_PULL, r]
                if flat:
                    found.pulls[i, column + d] += axes[1, d] * means[E_PULL + 1, r]
    _add_bends(rows, own, column, axes, a, found)
    return error


@inner
def _add_bends(rows: Floats, own: Longs, column: int, axes: Floats, a: Floats, found: Errors) -> None:
    """Add how ½ log|H| of one level moves with each of its rows, which are ``own``."""
    m = len(axes)
    for r in range(len(own)):
        i, kappa = own[r], 0.0
        for c in range(m):
            kappa += a[r, c] * a[r, c]
            for d in range(m):
                found.P[i, column + d] += axes[c, d] * a[r, c]
        found.g[i] += 0.5 * kappa * rows[W_SLOPE, i]
        found.upper[i] += 0.5 * kappa * rows[A_BEND, i]
        found.lower[i] += 0.5 * kappa * rows[B_BEND, i]


@inner
def _sum_slopes(model: Ordinal, work: LaplaceWorkspace, found: Errors, slopes: Floats) -> None:
    """Fill in the slopes of the sum of all errors in ψ."""
    noinline()
    pattern, rows, V, u, X = model.pattern, work.rows, work.V, work.u, model.X
    (n, m), s, p, m1 = V.shape, model.J.shape[1], X.shape[1], pattern.widths[0]
    q, Vq, alone = found.adjoint, np.zeros(len(work.eta)), np.empty((n, m))
    column = 0
    for f in range(len(pattern.widths)):
        for c in range(column, column + pattern.widths[f]):
            for i in range(n):
                alone[i, c] = V[i, c] * (found.g[i] - found.excess[f, i])
        column += pattern.widths[f]
    multiply_transposed(pattern, alone.reshape(-1), np.ones(n), 0, q)
    solve(pattern, work.blocks, q)
    multiply(pattern, V.reshape(-1), q, Vq)
    slopes[:] = 0.0
    by_edge = np.zeros(model.J.shape[0] + 2)
    dense = (len(pattern.start) - 1) * m1
    for j in range(len(pattern.start) - 1):
        for i in range(pattern.start[j], pattern.start[j + 1]):
            by_edge[model.upper[i]] += found.upper[i] - rows[A_TILT, i] * Vq[i]
            by_edge[model.lower[i]] += found.lower[i] - rows[B_TILT, i] * Vq[i]
            slope = found.g[i] - rows[W, i] * Vq[i]
            for b in range(p):
                slopes[s + b] += X[i, b] * slope
            for e in range(len(model.tau_row)):
                c = model.tau_column[e]
                at = j * m1 + c if c < m1 else dense + pattern.place[i, c - m1]
                pull = u[at] * slope - found.pulls[i, c] + rows[W, i] * found.P[i, c] - rows[D1, i] * q[at]
                slopes[s + p + model.tau_slot[e]] += pattern.Z[i, model.tau_row[e]] * pull
    for a in range(s):
        for k in range(model.J.shape[0]):
            slopes[a] += model.J[k, a] * by_edge[k + 1]
