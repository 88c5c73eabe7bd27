"""The five links: F, its tails and its derivatives, and what one row of an ordinal model needs from them.

P(y ≤ k) = F(t_k − η). With a = t_y − η, b = t_{y−1} − η and p = F(a) − F(b), a row contributes

    D1 = (f_a − f_b)/p      ∂(−log p)/∂η
    W  = D1² − D2           its second derivative, D2 = (f'_a − f'_b)/p
    W' = D3 − 3 D1 D2 + 2 D1³

and the same quantities split into the part of the upper threshold (A) and of the lower one (B).
"""

import math

import numpy as np

from panelist.core.errors import UnknownName, did_you_mean
from panelist.numerics.arrays import Floats
from panelist.numerics.kernel import inner, noinline
from panelist.numerics.normal import FAR, probit_row
from panelist.numerics.simd import WIDTH, load, store

LINKS = ("probit", "logit", "cloglog", "loglog", "cauchit")
PROBIT, LOGIT, CLOGLOG, LOGLOG, CAUCHIT = range(5)
ADJACENT = 5  # in the place of a link: the logit of adjacent categories (see adjacent_rows)

# The spread of each latent residual: what an effect is divided by to be in standard deviations.
LATENT_SD = {
    "probit": 1.0,
    "logit": math.pi / math.sqrt(3.0),
    "cloglog": math.pi / math.sqrt(6.0),
    "loglog": math.pi / math.sqrt(6.0),
    "cauchit": math.nan,  # a Cauchy variable has no variance
}

# Rows of the table that `fill_rows` writes, one entry per rating.
D1, W, W_SLOPE, A, B, A_TILT, B_TILT, A_BEND, B_BEND = range(9)
N_ENTRIES = 9

SMALLEST = 1e-290  # below this a probability is lost to rounding, and the trial point is refused


def link_code(name: str) -> int:
    """Return the number of a link in compiled code."""
    if name not in LINKS:
        raise UnknownName(f"No link is called {name!r}. {did_you_mean(name, LINKS)}")
    return LINKS.index(name)


@inner
def evaluate_link(link: int, x: float) -> tuple[float, float, float, float, float]:
    """Return F(x), 1 − F(x), f(x), f'(x), f''(x), each accurate in its own tail."""
    if link == PROBIT:
        f = 0.3989422804014327 * math.exp(-0.5 * x * x)
        upper = 0.5 * math.erfc(abs(x) * 0.7071067811865476)
        lower = 1.0 - upper
        if x < 0.0:
            lower, upper = upper, lower
        return lower, upper, f, -x * f, (x * x - 1.0) * f
    if link == LOGIT:
        e = math.exp(-abs(x))
        upper = e / (1.0 + e)
        lower = 1.0 / (1.0 + e)
        if x < 0.0:
            lower, upper = upper, lower
        f = lower * upper
        tilt = upper - lower
        return lower, upper, f, f * tilt, f * (tilt * tilt - 2.0 * f)
    if link == CLOGLOG:
        e = math.exp(min(x, 700.0))
        upper = math.exp(-e)
        f = e * upper
        return -math.expm1(-e), upper, f, f * (1.0 - e), f * (1.0 - 3.0 * e + e * e)
    if link == LOGLOG:
        e = math.exp(min(-x, 700.0))
        lower = math.exp(-e)
        f = e * lower
        return lower, -math.expm1(-e), f, f * (e - 1.0), f * (1.0 - 3.0 * e + e * e)
    square = 1.0 + x * x
    f = 0.3183098861837907 / square
    upper = math.atan2(1.0, abs(x)) * 0.3183098861837907
    lower = 1.0 - upper
    if x < 0.0:
        lower, upper = upper, lower
    return lower, upper, f, -2.0 * x * f / square, f * (6.0 * x * x - 2.0) / (square * square)


@inner
def fill_row(link: int, high: float, low: float, eta: float, rows: Floats, at: int, stride: int) -> float:
    """Write the nine entries of a rating between two edges at ``at``, ``at + stride``, …; return p."""
    noinline()
    fa = fa1 = fa2 = fb = fb1 = fb2 = 0.0
    lower_a, upper_a, lower_b, upper_b = 1.0, 0.0, 0.0, 1.0
    if high < FAR:
        lower_a, upper_a, fa, fa1, fa2 = evaluate_link(link, high - eta)
    if low > -FAR:
        lower_b, upper_b, fb, fb1, fb2 = evaluate_link(link, low - eta)
    # The difference of two numbers near 1 loses its digits; take the tail that both are in.
    p = lower_a - lower_b if upper_b > 0.5 else upper_b - upper_a
    share = 1.0 / p
    a, a1, a2 = fa * share, fa1 * share, fa2 * share
    b, b1, b2 = fb * share, fb1 * share, fb2 * share
    d1, d2, d3 = a - b, a1 - b1, a2 - b2
    rows[at + D1 * stride] = d1
    rows[at + W * stride] = d1 * d1 - d2
    rows[at + W_SLOPE * stride] = d3 - 3.0 * d1 * d2 + 2.0 * d1 * d1 * d1
    rows[at + A * stride] = a
    rows[at + B * stride] = b
    tilt = a1 - d1 * a
    rows[at + A_TILT * stride] = tilt
    rows[at + A_BEND * stride] = 2.0 * d1 * tilt - a2 + d2 * a
    tilt = d1 * b - b1
    rows[at + B_TILT * stride] = tilt
    rows[at + B_BEND * stride] = 2.0 * d1 * tilt + b2 - d2 * b
    return p


@inner
def fill_rows(link: int, high: Floats, low: Floats, eta: Floats, rows: Floats) -> float:
    """Fill the row table (9, n) at η; return −Σ log p, or inf where a probability is lost.

    ``high`` and ``low`` are the thresholds around each rating, ±FAR where there is none.
    ``*_TILT`` is how D1 moves with the upper (A) or lower (B) threshold; ``*_BEND`` is how W does.
    """
    noinline()
    total, product, flat, stride = 0.0, 1.0, rows.reshape(-1), rows.shape[1]
    for i in range(len(eta)):
        p = fill_row(link, high[i], low[i], eta[i], flat, i, stride)
        if not p > SMALLEST:
            return np.inf
        product *= p
        if product < 1e-15 or (i & 7) == 7:  # one logarithm for up to eight rows
            total -= math.log(product)
            product = 1.0
    return total - math.log(product)


@inner
def fill_probit_rows(high: Floats, low: Floats, eta: Floats, rows: Floats, p: Floats) -> float:
    """Fill the row table as ``fill_rows`` does, for the probit link and eight ratings at once.

    ``high`` and ``low`` are the thresholds around each rating. All arrays are filled up to a multiple of
    eight, with ratings that have no threshold; ``p`` receives the probabilities.
    """
    noinline()
    count, flat = len(eta) // WIDTH, rows.reshape(-1)
    for i in range(count):
        at = load(eta, i)
        share, entries = probit_row(load(high, i) - at, load(low, i) - at)
        d1, w, w_slope, a, b, a_tilt, b_tilt, a_bend, b_bend = entries
        store(p, i, share)
        store(flat, D1 * count + i, d1)
        store(flat, W * count + i, w)
        store(flat, W_SLOPE * count + i, w_slope)
        store(flat, A * count + i, a)
        store(flat, B * count + i, b)
        store(flat, A_TILT * count + i, a_tilt)
        store(flat, B_TILT * count + i, b_tilt)
        store(flat, A_BEND * count + i, a_bend)
        store(flat, B_BEND * count + i, b_bend)
    total, product = 0.0, 1.0
    for i in range(len(p)):
        if not p[i] > SMALLEST:
            return np.inf
        product *= p[i]
        if product < 1e-15:  # one logarithm for many rows
            total -= math.log(product)
            product = 1.0
    return total - math.log(product)
