"""The integral of one level's likelihood over one random effect, to as many digits as are asked for.

Along a line through the mode, x being the distance from it, a level of a mixed model has

    h(x) − h(0) = −Σ_i log p_i(η_i + v_i x) + Σ_i log p_i(η_i) + tilt·x + ½·bend·x²

and its share of the likelihood is ∫ exp(h(0) − h(x)) dx. The trapezoidal rule takes nodes at equal steps
outwards from the mode until they add nothing. Its error falls as exp(−c/step²) for an integrand as
smooth as a normal density, and as exp(−2πd/step) for one that is analytic within d of the real line
(Trefethen & Weideman 2014, doi:10.1137/130932132). So the step follows from the sharpest bend that h can
have, bend + s·Σv², whatever the curvature at the mode: where a level is unanimous h is nearly flat on one
side of the mode and steep on the other, and nodes scaled by the curvature there miss most of the mass.
"""

import math

import numpy as np

from panelist.models.likelihoods.link_functions import CAUCHIT, PROBIT, SMALLEST, evaluate_link
from panelist.numerics.arrays import Floats
from panelist.numerics.kernel import inner, noinline
from panelist.numerics.normal import FAR, evaluate_normal
from panelist.numerics.simd import WIDTH, broadcast, fma, hsum, load, store, where_less

E_A, E_B, E_PULL = range(3)  # rows of what `integrate_line` fills
N_MEANS = 3

# The bend of −log p in η that the step has to resolve: for most links from how far F is analytic.
SHARPNESS = (1.0, 1.0, 4.0, 4.0, 11.0)
MOST_NODES = 4000.0  # about; only a standard deviation beyond a hundred would need more
WIDEST = 17.0  # prior standard deviations that the nodes may have to span


@inner
def count_nodes(link: int, v: Floats, bend: float, fineness: float) -> float:
    """Return how many nodes the integral may take at most, if none is spared."""
    sharpest = bend
    for i in range(len(v)):
        sharpest += SHARPNESS[link] * v[i] * v[i]
    return WIDEST * math.sqrt(sharpest / bend) / fineness


@inner
def integrate_line(
    link: int,
    high: Floats,
    low: Floats,
    eta: Floats,
    v: Floats,
    tilt: float,
    bend: float,
    fineness: float,
    cut: float,
    means: Floats,
) -> tuple[float, float]:
    """Return log ∫ exp(h(0) − h(x)) dx, nan where a probability is lost at x = 0; and −Σ log p there.

    The step is ``fineness`` over the root of the sharpest bend: 0.9 gives ten digits, 1.3 five. Nodes end
    where h has risen by ``cut``. ``means`` (3, n at least) receives, for each row, the means of A = f_a/p,
    B = f_b/p and (A − B)x under the density that is integrated. Except for their signs they are the slopes of
    the result in the row's upper threshold, lower threshold, and v.
    """
    noinline()
    n = len(high)
    step = WIDEST / math.sqrt(bend) / min(count_nodes(link, v, bend, fineness), MOST_NODES)
    upper, lower, sums = np.empty(WIDTH * n), np.empty(WIDTH * n), np.zeros(N_MEANS * WIDTH * n)
    x, losses, weights = np.empty(WIDTH), np.empty(WIDTH), np.empty(WIDTH)
    share, base = 0.0, 0.0
    for side in range(2):
        sign, node, before, going = (1.0, 0, 0.0, True) if side == 0 else (-1.0, 1, 0.0, True)
        while going:  # eight nodes at a time
            for lane in range(WIDTH):
                x[lane] = sign * (node + lane) * step
            if link == PROBIT:
                _fill_probit(high, low, eta, v, x, upper, lower, losses)
            else:
                _fill_any(link, high, low, eta, v, x, upper, lower, losses)
            if side == 0 and node == 0:
                base = losses[0]
                if not np.isfinite(base):
                    return np.nan, base
            for lane in range(WIDTH):
                weights[lane] = 0.0
                prior = (tilt + 0.5 * bend * x[lane]) * x[lane]
                rise = losses[lane] - base + prior
                going = going and np.isfinite(rise)
                if going:
                    weights[lane] = math.exp(-rise)
                    share += weights[lane]
                    # Only cauchit's h can fall again once it rises, and not below what the prior alone gives.
                    going = (prior - base if link == CAUCHIT else rise) <= cut or rise < before
                    before = rise
            w, at = load(weights, 0), load(x, 0)
            for i in range(n):
                above, below, k = load(upper, i) * w, load(lower, i) * w, N_MEANS * i
                store(sums, k + E_A, load(sums, k + E_A) + above)
                store(sums, k + E_B, load(sums, k + E_B) + below)
                store(sums, k + E_PULL, fma(above - below, at, load(sums, k + E_PULL)))
            node += WIDTH
    for i in range(n):
        for k in range(N_MEANS):
            means[k, i] = hsum(load(sums, N_MEANS * i + k)) / share
    return math.log(share * step), base


@inner
def _fill_probit(
    high: Floats, low: Floats, eta: Floats, v: Floats, x: Floats, upper: Floats, lower: Floats, losses: Floats
) -> None:
    """Fill in A and B of every row, an f64x8 each, and −Σ log p, at eight distances x from the mode."""
    noinline()
    away, products = load(x, 0), np.empty(WIDTH)
    product = broadcast(1.0)
    for lane in range(WIDTH):
        losses[lane] = 0.0
    for i in range(len(high)):
        at = fma(away, v[i], eta[i])
        a, b = (high[i] if high[i] < FAR else low[i]) - at, low[i] - at
        fa, below_a, above_a = evaluate_normal(a)
        if not low[i] > -FAR:
            p, fb = below_a, broadcast(0.0)
        elif not high[i] < FAR:
            p, fb, fa = above_a, fa, broadcast(0.0)
        else:
            fb, below_b, above_b = evaluate_normal(b)
            p = where_less(b, 0.0, below_a - below_b, above_b - above_a)
        inverse = 1.0 / where_less(p, SMALLEST, 1.0, p)
        store(upper, i, fa * inverse)
        store(lower, i, fb * inverse)
        product = product * where_less(p, SMALLEST, 0.0, p)
        if (i & 7) == 7 or i == len(high) - 1:  # smaller than any float is lost, and counts for nothing
            store(products, 0, product)
            product = broadcast(1.0)
            for lane in range(WIDTH):
                losses[lane] -= math.log(products[lane])


@inner
def _fill_any(
    link: int,
    high: Floats,
    low: Floats,
    eta: Floats,
    v: Floats,
    x: Floats,
    upper: Floats,
    lower: Floats,
    losses: Floats,
) -> None:
    """Fill in what `_fill_probit` does, for any link."""
    noinline()
    for lane in range(WIDTH):
        losses[lane] = 0.0
        for i in range(len(high)):
            at = eta[i] + v[i] * x[lane]
            fa = fb = 0.0
            below_a, above_a, below_b, above_b = 1.0, 0.0, 0.0, 1.0
            if high[i] < FAR:
                below_a, above_a, fa, _, _ = evaluate_link(link, high[i] - at)
            if low[i] > -FAR:
                below_b, above_b, fb, _, _ = evaluate_link(link, low[i] - at)
            p = below_a - below_b if above_b > 0.5 else above_b - above_a
            if p > SMALLEST:
                losses[lane] -= math.log(p)
                upper[WIDTH * i + lane], lower[WIDTH * i + lane] = fa / p, fb / p
            else:
                losses[lane] = np.inf
                upper[WIDTH * i + lane] = lower[WIDTH * i + lane] = 0.0
