"""The integral of one level's likelihood over one random effect, to as many digits as are asked for.

Along a line through the mode, x being the distance from it, a level of a mixed model has

    h(x) − h(0) = −Σ_i log p_i(η_i + v_i x) + Σ_i log p_i(η_i) + tilt·x + ½·bend·x²

and its share of the likelihood is ∫ exp(h(0) − h(x)) dx. The trapezoidal rule takes nodes at equal steps
outwards from the mode until what they add is nothing. Its error falls as exp(−c/step²) for an integrand as
smooth as a normal density, and as exp(−2πd/step) for one that is analytic within d of the real line
(Trefethen & Weideman 2014, doi:10.1137/130932132). So the step follows from the sharpest bend that h can
have, bend + s·Σv², whatever the curvature at the mode: where a level is unanimous h is nearly flat on one
side of the mode and steep on the other, and nodes scaled by the curvature there miss most of the mass.
"""

import math

import numpy as np

from panelist.models.arrays import Floats, Ints
from panelist.models.solvers.kernel import inner, stay_apart
from panelist.models.solvers.links import CAUCHIT, SMALLEST, evaluate_link

E_A, E_B, E_PULL = range(3)  # rows of what `integrate_line` fills
N_MEANS = 3

# The bend of −log p in η that the step has to resolve: for most links from how far F is analytic.
_SHARPNESS = (1.0, 1.0, 4.0, 4.0, 11.0)
MOST_NODES = 4000.0  # about; only a standard deviation beyond a hundred would need more
_WIDEST = 17.0  # prior standard deviations that the nodes may have to span


@inner
def count_nodes(link: int, v: Floats, bend: float, fineness: float) -> float:
    """Return how many nodes the integral may take at most, if none is spared."""
    sharpest = bend
    for i in range(len(v)):
        sharpest += _SHARPNESS[link] * v[i] * v[i]
    return _WIDEST * math.sqrt(sharpest / bend) / fineness


@inner
def integrate_line(
    link: int,
    codes: Ints,
    thresholds: Floats,
    eta: Floats,
    v: Floats,
    tilt: float,
    bend: float,
    fineness: float,
    cut: float,
    means: Floats,
) -> float:
    """Return log ∫ exp(h(0) − h(x)) dx; nan where a probability is lost at the mode itself.

    The step is ``fineness`` over the root of the sharpest bend: 0.9 gives ten digits, 1.3 five. Nodes end
    where h has risen by ``cut``. ``means`` (3, n at least) receives, for each row, the means of A = f_a/p,
    B = f_b/p and (A − B)x under the density that is integrated. But for their signs they are the slopes of
    the result in the row's upper threshold, lower threshold, and v.
    """
    stay_apart()
    n, last = len(codes), len(thresholds)
    step = _WIDEST / math.sqrt(bend) / min(count_nodes(link, v, bend, fineness), MOST_NODES)
    upper, lower = np.empty(n), np.empty(n)
    means[:, :n] = 0.0
    total, base = 0.0, 0.0
    for side in range(2):
        node, before = (0, 0.0) if side == 0 else (-1, 0.0)
        while True:
            x = node * step
            lost, product = 0.0, 1.0
            for i in range(n):
                k, at = codes[i], eta[i] + v[i] * x
                fa = fb = 0.0
                below_a, above_a, below_b, above_b = 1.0, 0.0, 0.0, 1.0
                if k < last:
                    below_a, above_a, fa, _, _ = evaluate_link(link, thresholds[k] - at)
                if k > 0:
                    below_b, above_b, fb, _, _ = evaluate_link(link, thresholds[k - 1] - at)
                p = below_a - below_b if above_b > 0.5 else above_b - above_a
                if not p > SMALLEST:
                    lost = np.inf
                    break
                upper[i], lower[i] = fa / p, fb / p
                product *= p
                if product < 1e-15:
                    lost -= math.log(product)
                    product = 1.0
            lost -= math.log(product)
            if node == 0:
                if not np.isfinite(lost):
                    return np.nan
                base = lost
            prior = tilt * x + 0.5 * bend * x * x
            rise = lost - base + prior
            if not np.isfinite(rise):
                break
            weight = math.exp(-rise)
            total += weight
            for i in range(n):
                a, b = weight * upper[i], weight * lower[i]
                means[E_A, i] += a
                means[E_B, i] += b
                means[E_PULL, i] += (a - b) * x
            # Only cauchit's h can fall again once it has risen, and never below what the prior alone gives.
            if (prior - base if link == CAUCHIT else rise) > cut and rise >= before:
                break
            before = rise
            node += 1 if side == 0 else -1
    for i in range(n):
        for k in range(N_MEANS):
            means[k, i] /= total
    return math.log(total * step)
