"""A first guess of how many items it takes, before anything is simulated: from the variances alone.

With n items the means of the systems are estimated with the covariance

    (slopes of items + slopes of raters · m / (S k) + residuals / k) / n,

m outputs a rater, S systems, k ratings of each output, and residuals half as large again as they are for
what thresholds lose. Two systems have a formula. Of more systems every pair that differs has to be found, by
tests that allow for the number of pairs: how often that happens is counted in draws of the means.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from panelist.core.seeds import stream
from panelist.power.truth import Truth

Floats = NDArray[np.float64]

USUAL = 0.8
_LOST = 1.5  # residual variance that thresholds make of one
_DRAWS = 4000
_LEAST, _MOST = 1.0, 1e7


@dataclass(frozen=True)
class Guess:
    """The size at which a power of .8 is expected, and where a line of power begins at size 0."""

    items: float
    alpha: float
    """Twice the power of that line at size 0."""


def guess_size(
    truth: Truth,
    effects: tuple[float, ...],
    ratings_per_item: int,
    outputs_per_rater: int,
    alpha: float,
    adjusted: bool = True,
) -> Guess:
    """Return the guess for systems with these latent effects."""
    from scipy.special import ndtr, ndtri

    systems = len(effects)
    share = outputs_per_rater / (systems * ratings_per_item)
    covariance = truth.items.covariance(systems) + truth.raters.covariance(systems) * share
    covariance = covariance + np.eye(systems) * _LOST * truth.residual**2 / ratings_per_item
    if systems == 2:
        z = float(ndtri(1 - alpha / 2) + ndtri(USUAL))
        variance = float(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
        return Guess(variance * (z / (effects[1] - effects[0])) ** 2, alpha)
    sizes = _find_sizes(covariance, effects, _find_critical(systems, alpha, adjusted))
    half, usual = (float(np.quantile(sizes, power)) for power in (0.5, USUAL))
    slope = float(ndtri(USUAL)) / (np.sqrt(usual) - np.sqrt(half))
    return Guess(usual, float(np.clip(2 * ndtr(-slope * np.sqrt(half)), 1e-12, 0.5)))


def _find_sizes(covariance: Floats, effects: tuple[float, ...], critical: float) -> Floats:
    """Return, for each draw of the means, the size from which on every pair that differs is found.

    At size n a pair of difference d and standard deviation s has the statistic √n d / s + z, with z the same
    at all sizes: it is found from √n = (critical − z) s / d on.
    """
    root = np.linalg.cholesky(covariance)
    z = stream(1, "first guess", len(effects)).standard_normal((_DRAWS, len(effects))) @ root.T
    least = np.full(_DRAWS, _LEAST)
    for a in range(len(effects)):
        for b in range(a + 1, len(effects)):
            gap = abs(effects[b] - effects[a])
            if gap > 0:
                spread = float(np.sqrt(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]))
                noise = (z[:, b] - z[:, a]) * np.sign(effects[b] - effects[a])
                least = np.maximum(least, np.maximum(critical * spread - noise, 0.0) / gap)
    sizes: Floats = np.minimum(least**2, _MOST)
    return sizes


@lru_cache(maxsize=64)
def _find_critical(systems: int, alpha: float, adjusted: bool) -> float:
    """Return how large the statistic of a pair has to be: by Tukey's test, whatever the adjustment is."""
    from panelist.models.inference.adjust import Family, find_adjustment

    chosen = find_adjustment("tukey" if adjusted else "none")
    family = Family(np.zeros(1), np.full(1, np.inf), systems)
    return float(chosen.critical(1 - alpha, family)[0])
