"""The likelihood of one scalar random effect, or of two nested ones, with its gradient (see quadrature)."""

import math

import numpy as np

from panelist.models.likelihoods.integration import (
    E_A,
    E_B,
    E_PULL,
    MOST_NODES,
    N_MEANS,
    SHARPNESS,
    WIDEST,
    count_nodes,
    integrate_line,
)
from panelist.models.likelihoods.link_functions import CAUCHIT, D1, N_ENTRIES, W, fill_rows
from panelist.models.likelihoods.nests import Nest
from panelist.numerics.arrays import Floats, Ints
from panelist.numerics.kernel import kernel
from panelist.numerics.normal import FAR

_NEWTON_STEPS = 100
_CUT = 36.0  # how far h rises before nodes end: they then weigh 1e-16
_LOG_ROOT_TAU = 0.9189385332046727  # ½ log 2π


@kernel
def place_edges(J: Floats, psi: Floats) -> Floats:
    """Return the thresholds Jα between −FAR and FAR; ψ begins with α."""
    edges = np.zeros(J.shape[0] + 2)
    edges[0], edges[-1] = -FAR, FAR
    for k in range(J.shape[0]):
        for a in range(J.shape[1]):
            edges[k + 1] += J[k, a] * psi[a]
    return edges


@kernel
def _find_mode(
    model: Nest, j: int, high: Floats, low: Floats, fixed: Floats, tau: float, u: float, rows: Floats
) -> tuple[float, float, float]:
    """Return û_j, H_j and h_j there; H_j is nan where there is no mode."""
    first, last = model.start[j], model.start[j + 1]
    above, below = high[first:last], low[first:last]
    z, linear = model.z[first:last], fixed[first:last]
    eta = np.empty(last - first)
    h = np.inf
    for start in (u, 0.0):
        u = start
        for i in range(len(eta)):
            eta[i] = linear[i] + z[i] * tau * u
        h = fill_rows(model.link, above, below, eta, rows) + 0.5 * u * u
        if np.isfinite(h):
            break
    if not np.isfinite(h):
        return u, np.nan, h
    for _ in range(_NEWTON_STEPS):
        slope, bend, safe = u, 1.0, 1.0
        for i in range(len(eta)):
            v = z[i] * tau
            slope += v * rows[D1, i]
            bend += v * v * rows[W, i]
            safe += v * v * max(rows[W, i], 0.0)  # only cauchit has weights below zero
        push = slope / (bend if bend > 0.0 else safe)
        if abs(push * slope) < 1e-24 * (1.0 + u * u):
            return u, bend if bend > 0.0 else np.nan, h
        step = 1.0
        while True:
            trial = u - step * push
            for i in range(len(eta)):
                eta[i] = linear[i] + z[i] * tau * trial
            reached = fill_rows(model.link, above, below, eta, rows) + 0.5 * trial * trial
            if reached <= h - 1e-4 * step * push * slope + 1e-14 * (1.0 + abs(h)):
                break
            step *= 0.5
            if step < 1e-10:
                return u, np.nan, h
        if abs(trial - u) < 1e-15 * (1.0 + abs(u)):
            return trial, bend if bend > 0.0 else np.nan, reached
        u, h = trial, reached
    return u, np.nan, h


@kernel
def shrink_rows(model: Nest, psi: Floats) -> tuple[Nest, Floats]:
    """Return the model with all that makes η divided by σ of each row, and 1/σ."""
    s, p, q = model.J.shape[1], model.X.shape[1], model.S.shape[1]
    shrink = np.exp(-(model.S @ psi[s + p : s + p + q]))
    X, z, outer = model.X.copy(), model.z * shrink, model.outer.copy()
    for i in range(len(shrink)):
        X[i] *= shrink[i]
        if len(outer) > 0:
            outer[i] *= shrink[i]
    return Nest(
        model.groups,
        model.start,
        model.copies,
        z,
        outer,
        X,
        model.upper,
        model.lower,
        model.link,
        model.J,
        model.joined,
        model.fineness,
        model.taus,
        model.S,
    ), shrink


@kernel
def shrink_edges(edges: Floats, which: Ints, shrink: Floats) -> Floats:
    """Return the edge of each row over its σ; those at infinity stay there."""
    found = edges[which]
    for i in range(len(found)):
        if abs(found[i]) < FAR:
            found[i] *= shrink[i]
    return found


@kernel
def evaluate_quadrature(model: Nest, psi: Floats, modes: Floats, gradient: Floats) -> float:
    """Return −log L(ψ) by quadrature and fill its gradient; ``modes`` is moved along."""
    s, p, last, q = model.J.shape[1], model.X.shape[1], model.J.shape[0], model.S.shape[1]
    edges = place_edges(model.J, psi)
    for k in range(last):
        if model.joined[k] == 1 and not edges[k + 1] > edges[k]:
            return np.inf
    shrink = np.ones(len(model.z))
    if q > 0:
        model, shrink = shrink_rows(model, psi)
    high, low = shrink_edges(edges, model.upper, shrink), shrink_edges(edges, model.lower, shrink)
    first = s + p + q
    tau, nested = psi[first + model.taus[0]], len(model.outer) > 0
    sigma = psi[first + model.taus[1]] if nested else 0.0
    fixed = model.X @ psi[s : s + p]
    linear = fixed.copy()
    means, at_node = np.zeros((N_MEANS + 1, len(fixed))), np.zeros((N_MEANS, len(fixed)))
    by_edge = np.zeros(last + 2)
    gradient[:] = 0.0
    value = 0.0
    for g in range(len(model.copies)):
        if nested:
            loss = _integrate_group(model, g, high, low, fixed, linear, tau, sigma, modes, at_node, means)
        else:
            loss = _integrate_block(model, g, high, low, fixed, tau, modes, means)
        if not np.isfinite(loss):
            return np.inf
        count = model.copies[g]
        value += count * loss
        for i in range(model.start[model.groups[g]], model.start[model.groups[g + 1]]):
            above, below = count * means[E_A, i], count * means[E_B, i]
            slope = above - below
            by_edge[model.upper[i]] -= above * shrink[i]
            by_edge[model.lower[i]] += below * shrink[i]
            for b in range(p):
                gradient[s + b] += slope * model.X[i, b]
            pull = count * model.z[i] * means[E_PULL, i]
            gradient[first + model.taus[0]] += pull
            by_spread = high[i] * above - low[i] * below - fixed[i] * slope - tau * pull
            if nested:
                pull = count * model.outer[i] * means[N_MEANS, i]
                gradient[first + model.taus[1]] += pull
                by_spread -= sigma * pull
            for c in range(q):
                gradient[s + p + c] += by_spread * model.S[i, c]
    for a in range(s):
        for k in range(last):
            gradient[a] += model.J[k, a] * by_edge[k + 1]
    return value


@kernel
def _integrate_block(
    model: Nest, b: int, high: Floats, low: Floats, linear: Floats, tau: float, modes: Floats, means: Floats
) -> float:
    """Return −log L_b at the linear predictors; its rows of ``means`` receive those of A, B and (A − B)u."""
    first, size = model.start[b], model.start[b + 1] - model.start[b]
    rows, eta, v, own = np.empty((N_ENTRIES, size)), np.empty(size), np.empty(size), np.empty((N_MEANS, size))
    u, H, h = _find_mode(model, b, high, low, linear, tau, modes[b], rows)
    if not H > 0.0:
        return np.inf
    modes[b] = u
    for i in range(size):
        v[i] = model.z[first + i] * tau
        eta[i] = linear[first + i] + v[i] * u
    above, below = high[first : first + size], low[first : first + size]
    integral, _ = integrate_line(model.link, above, below, eta, v, u, 1.0, model.fineness, _CUT, own)
    for i in range(size):
        means[E_A, first + i], means[E_B, first + i] = own[E_A, i], own[E_B, i]
        means[E_PULL, first + i] = own[E_PULL, i] + (own[E_A, i] - own[E_B, i]) * u
    return h + _LOG_ROOT_TAU - integral


@kernel
def count_outer(model: Nest, g: int, tau: float, sigma: float) -> float:
    """Return how many nodes the integral over the effect of an outer level may take at most."""
    sharpest = 1.0
    for b in range(model.groups[g], model.groups[g + 1]):
        first, by_ratings, ratio, same = model.start[b], 0.0, 0.0, tau != 0.0
        for i in range(first, model.start[b + 1]):
            by_ratings += SHARPNESS[model.link] * (model.outer[i] * sigma) ** 2
            same = (
                same
                and model.z[i] != 0.0
                and model.outer[i] * model.z[first] == model.outer[first] * model.z[i]
            )
        if same:
            ratio = (model.outer[first] * sigma / (model.z[first] * tau)) ** 2
        sharpest += min(by_ratings, ratio) if same else by_ratings
    return WIDEST * math.sqrt(sharpest) / model.fineness


@kernel
def _integrate_group(
    model: Nest,
    g: int,
    high: Floats,
    low: Floats,
    fixed: Floats,
    linear: Floats,
    tau: float,
    sigma: float,
    modes: Floats,
    at_node: Floats,
    means: Floats,
) -> float:
    """Return −log of an outer level's likelihood; the last row of ``means`` receives those of (A − B)t.

    Nodes go outwards from what was the mean of t at the last call; nothing depends on where they begin.
    """
    blocks, place = model.groups[g + 1] - model.groups[g], len(model.start) - 1 + g
    first, top, bottom = model.groups[g], model.start[model.groups[g]], model.start[model.groups[g + 1]]
    step = WIDEST / min(count_outer(model, g, tau, sigma), MOST_NODES)
    middle, base, share, sign, node, before = modes[place], 0.0, 0.0, 1.0, 0, 0.0
    found = np.empty(blocks)
    means[:, top:bottom] = 0.0
    while True:
        t = middle + sign * node * step
        loss = 0.5 * t * t + _LOG_ROOT_TAU
        for i in range(top, bottom):
            linear[i] = fixed[i] + model.outer[i] * sigma * t
        for b in range(first, first + blocks):
            loss += _integrate_block(model, b, high, low, linear, tau, modes, at_node)
        if node == 0:
            base = loss
            found[:] = modes[first : first + blocks]
            if not np.isfinite(base):
                if middle == 0.0:
                    return np.inf
                middle = 0.0
                continue
        rise = loss - base
        if rise < -200.0:  # the middle was far off: begin again from here, where weights stay within floats
            middle, share, sign, node, before = t, 0.0, 1.0, 0, 0.0
            means[:, top:bottom] = 0.0
            continue
        if np.isfinite(rise):
            weight = math.exp(-rise)
            share += weight
            for i in range(top, bottom):
                for k in range(N_MEANS):
                    means[k, i] += weight * at_node[k, i]
                means[N_MEANS, i] += weight * t * (at_node[E_A, i] - at_node[E_B, i])
        # Only cauchit's integrand can rise again once it falls, and not above what the prior alone gives.
        bound = 0.5 * t * t - base if model.link == CAUCHIT else rise
        if np.isfinite(rise) and (bound <= _CUT or rise < before):
            node, before = node + 1, rise
        elif sign > 0.0:
            sign, node, before = -1.0, 1, 0.0
            modes[first : first + blocks] = found
        else:
            break
    mean = 0.0
    for i in range(top, bottom):
        for k in range(N_MEANS + 1):
            means[k, i] /= share
        mean -= model.outer[i] * sigma * (means[E_A, i] - means[E_B, i])  # as ∫ d(t's density) = 0
    modes[first : first + blocks] = found
    modes[place] = mean
    return base - math.log(share * step)


@kernel
def most_nodes(model: Nest, tau: float) -> float:
    """Return the most nodes that the integral of a block should have at τ."""
    most = 0.0
    for b in range(len(model.start) - 1):
        v = model.z[model.start[b] : model.start[b + 1]] * tau
        most = max(most, count_nodes(model.link, v, 1.0, model.fineness))
    return most


@kernel
def fill_effects(
    model: Nest, high: Floats, low: Floats, fixed: Floats, taus: Floats, modes: Floats, variances: Floats
) -> None:
    """Fill in the joint modes of all blocks and outer levels, and their variances by the curvature there."""
    blocks, nested, tau = len(model.start) - 1, len(model.outer) > 0, taus[model.taus[0]]
    sigma = taus[model.taus[1]] if nested else 0.0
    linear, rows = fixed.copy(), np.empty((N_ENTRIES, len(fixed)))
    bends, ties = np.empty(blocks), np.zeros(blocks)
    for g in range(len(model.copies)):
        t, bend = modes[blocks + g] if nested else 0.0, 1.0
        for _ in range(_NEWTON_STEPS if nested else 1):
            slope, bend = t, 1.0
            for b in range(model.groups[g], model.groups[g + 1]):
                first, own = model.start[b], 0.0
                for i in range(first, model.start[b + 1]):
                    linear[i] = fixed[i] + (model.outer[i] * sigma * t if nested else 0.0)
                modes[b], bends[b], _ = _find_mode(model, b, high, low, linear, tau, modes[b], rows)
                ties[b] = 0.0
                for i in range(first, model.start[b + 1] if nested else first):
                    v, weight = model.outer[i] * sigma, rows[W, i - first]
                    slope += v * rows[D1, i - first]
                    own += v * v * weight
                    ties[b] += v * model.z[i] * tau * weight
                bend += own - ties[b] * ties[b] / bends[b]
            push = slope / max(bend, 1.0)  # it is at least 1 wherever log p is concave
            if abs(push) < 1e-12:
                break
            t -= push
        for b in range(model.groups[g], model.groups[g + 1]):
            variances[b] = 1.0 / bends[b] + (ties[b] / bends[b]) ** 2 / bend
        if nested:
            modes[blocks + g], variances[blocks + g] = t, 1.0 / bend
