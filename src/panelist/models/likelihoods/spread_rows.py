"""Rows whose latent residual has a spread of its own: P(y ≤ k) = F((t_k − η)/σ) with log σ = z'ζ.

The row table is filled at (t/σ, η/σ), whatever the link, and stretched: one factor 1/σ for each derivative in
η or t. By log σ, with a and b as in links but divided by σ,

    C      = (a f_a − b f_b)/p                                                     ∂(−log p)/∂log σ
    C_TILT = −(a f'_a − b f'_b)/(pσ) + D1 (C − 1)                                  ∂D1/∂log σ
    C_BEND = 2 D1 C_TILT + (a f''_a − b f''_b)/(pσ²) − D2 (C − 2)                  ∂W/∂log σ
"""

from typing import Any

import numpy as np

from panelist.models.likelihoods.link_functions import A_BEND, A_TILT, B_BEND, B_TILT, D1, W_SLOPE, A, B, W
from panelist.numerics.arrays import Floats
from panelist.numerics.kernel import inner, noinline
from panelist.numerics.normal import FAR
from panelist.numerics.simd import fma, load, put

# Entries of a row in the table of spreads; ENDS are a and b, zero where a rating has no threshold.
C, C_TILT, C_BEND, HIGH_END, LOW_END = range(5)
N_SPREADS = 5


@inner
def find_shrinkage(S: Floats, psi: Floats, first: int, shrink: Floats, high: Floats, low: Floats) -> None:
    """Fill 1/σ of every row from ζ, which begins at ``psi[first]``, and divide its thresholds by σ."""
    noinline()
    n, q = S.shape
    for i in range(n):
        total = 0.0
        for c in range(q):
            total -= S[i, c] * psi[first + c]
        inverse = np.exp(total)
        put(shrink, i, inverse)
        if high[i] < FAR:
            high[i] *= inverse
        if low[i] > -FAR:
            low[i] *= inverse


@inner
def stretch_rows(
    rows: Floats, shrink: Floats, high: Floats, low: Floats, eta: Floats, spreads: Floats
) -> None:
    """Turn the row table at (t/σ, η/σ) into that at (t, η), and fill the table of spreads (5, n)."""
    noinline()
    for i in range(len(shrink)):
        one = shrink[i]
        two, three = one * one, one * one * one
        a = high[i] - eta[i] if high[i] < FAR else 0.0
        b = low[i] - eta[i] if low[i] > -FAR else 0.0
        d1, w, fa, fb = rows[D1, i], rows[W, i], rows[A, i], rows[B, i]
        a_tilt, b_tilt, a_bend, b_bend = rows[A_TILT, i], rows[B_TILT, i], rows[A_BEND, i], rows[B_BEND, i]
        d2 = d1 * d1 - w
        fa1, fb1 = a_tilt + d1 * fa, d1 * fb - b_tilt
        fa2, fb2 = 2.0 * d1 * a_tilt - a_bend + d2 * fa, b_bend - 2.0 * d1 * b_tilt + d2 * fb
        c = a * fa - b * fb
        c_tilt = b * fb1 - a * fa1 + d1 * (c - 1.0)
        spreads[C, i] = c
        spreads[C_TILT, i] = c_tilt * one
        spreads[C_BEND, i] = (2.0 * d1 * c_tilt + a * fa2 - b * fb2 - d2 * (c - 2.0)) * two
        spreads[HIGH_END, i], spreads[LOW_END, i] = a, b
        rows[D1, i], rows[A, i], rows[B, i] = d1 * one, fa * one, fb * one
        rows[W, i], rows[A_TILT, i], rows[B_TILT, i] = w * two, a_tilt * two, b_tilt * two
        rows[W_SLOPE, i] *= three
        rows[A_BEND, i], rows[B_BEND, i] = a_bend * three, b_bend * three


@inner
def add_spread_slopes(
    S: Floats, spreads: Floats, kappa: Floats, Vr: Floats, first: int, gradient: Floats
) -> None:
    """Fill the slopes in ζ, from ``gradient[first]`` on; ``kappa`` is κ/2 of every row."""
    noinline()
    n, q = S.shape
    for i in range(n):
        slope = spreads[C, i] + kappa[i] * spreads[C_BEND, i] - spreads[C_TILT, i] * Vr[i]
        for c in range(q):
            gradient[first + c] = fma(slope, S[i, c], gradient[first + c])


@inner
def sum_spread_change(S: Floats, change: Floats, first: int, i: int) -> Any:
    """Return the change of log σ of row i in eight directions; ζ begins at ``change[first]``."""
    moved = load(change, first) * S[i, 0]
    for c in range(1, S.shape[1]):
        moved = fma(load(change, first + c), S[i, c], moved)
    return moved
