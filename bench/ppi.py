"""PPI and PPI++ of a mean, one label an item and no raters: the rival that docs/judges.md sets beside ours.

Angelopoulos, Duchi & Zrnic 2023, PPI++ (arXiv:2311.01453); the numbers are those of ppi-python 0.2.3.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import ndtri

from panelist.numerics.arrays import Floats


@dataclass(frozen=True)
class Estimate:
    """An estimate with its interval; ``weight`` is λ, that of the judge."""

    value: float
    low: float
    high: float
    weight: float


def estimate_mean(y: Floats, f: Floats, others: Floats, weight: float | None = None) -> Estimate:
    """Return the mean of labels ``y``, given the judge on these items (``f``) and on all ``others``.

    Without a ``weight`` it is tuned for the smallest variance, within 0 and 1 as ppi-python does.
    """
    n, N = len(y), len(others)
    if weight is None:
        every = np.concatenate([f, others])
        covariance = float(((y - y.mean()) * (f - f.mean())).mean())
        weight = min(max(covariance / ((1 + n / N) * float(every.var(ddof=1))), 0.0), 1.0)
    value = weight * float(others.mean()) + float((y - weight * f).mean())
    reach = float(ndtri(0.975)) * sqrt(
        weight**2 * float(others.var()) / N + float((y - weight * f).var()) / n
    )
    return Estimate(value, value - reach, value + reach, weight)


def regress_mean(y: Floats, f: Floats, every: Floats) -> tuple[float, float, float]:
    """Return estimate, standard error and slope of the regression estimator of double sampling.

    Cochran 1977, Sampling Techniques, ch. 12: ȳ + γ (f̄_N − f̄_n), the residual variance on n − 2.
    """
    n, moved = len(y), float(every.mean() - f.mean())
    size = float(((f - f.mean()) ** 2).sum())
    slope = float(((f - f.mean()) * (y - y.mean())).sum()) / size
    left = float(((y - y.mean() - slope * (f - f.mean())) ** 2).sum()) / (n - 2)
    variance = left * (1 / n + moved**2 / size) + slope**2 * float(every.var(ddof=1)) / len(every)
    return float(y.mean()) + slope * moved, sqrt(variance), slope
