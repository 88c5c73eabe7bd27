"""What an original's p-value promises for a repeat (van Zwet & Goodman 2022, doi:10.1002/sim.9406).

The signal-to-noise ratio of a study is drawn from a mixture of normals with mean 0; given the original's z it
has a posterior, and a repeat with k times the sample a predictive distribution: Σ q N(√k · mean, k · variance
+ 1). The mixture is that of van Zwet, Schwab & Senn (2021, doi:10.1002/sim.9173), from 23,747 trials in
medicine. No such collection exists for evaluations of language systems, so its answers are a guide; another
can be given.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log, sqrt

import numpy as np

from panelist.core.errors import BadReproduction
from panelist.numerics.arrays import Floats

MOST = 1e7  # a factor beyond which there is none


@dataclass(frozen=True)
class Mixture:
    """A mixture of normals with mean 0: weights that add up to 1, and standard deviations."""

    weights: tuple[float, ...]
    sds: tuple[float, ...]

    def __post_init__(self) -> None:
        if (
            len(self.weights) != len(self.sds)
            or not self.weights
            or min(self.weights) < 0
            or min(self.sds) <= 0
        ):
            raise BadReproduction(
                "A mixture has as many weights as standard deviations, all of them positive."
            )
        if abs(sum(self.weights) - 1) > 1e-6:
            raise BadReproduction(f"The weights of a mixture add up to 1. These give {sum(self.weights):g}.")


COCHRANE = Mixture((0.32, 0.31, 0.30, 0.07), (0.61, 1.42, 2.16, 5.64))


@dataclass(frozen=True)
class ShrunkPower:
    """For an original p: the power of a repeat of the same size, whether its sign is right, factors on n.

    ``power`` counts significance in either direction, as the paper does; ``power_same`` in the original's
    alone. A factor is infinite where no sample is large enough.
    """

    p: float
    z: float
    power: float
    power_same: float
    sign: float
    factor_80: float
    factor_80_same: float
    factor_90: float
    factor_90_same: float


def shrink_power(p: float, mixture: Mixture = COCHRANE) -> ShrunkPower:
    """Return what a two-sided p of the original promises for a repeat.

    >>> found = shrink_power(0.05)
    >>> round(found.power, 3), round(found.sign, 3), round(found.factor_80, 1)
    (0.301, 0.927, 16.6)
    """
    from scipy.special import ndtr, ndtri

    if not 0 < p < 1:
        raise BadReproduction(f"The original's p-value lies between 0 and 1. Got {p:g}.")
    z = -float(ndtri(p / 2))
    if not np.isfinite(z):
        raise BadReproduction(f"The p-value {p:g} is too small to work with.")
    posterior = _update(z, mixture)
    q, mean, variance = posterior
    return ShrunkPower(
        p=p,
        z=z,
        power=find_power(1.0, posterior, same=False),
        power_same=find_power(1.0, posterior, same=True),
        sign=float((q * ndtr(mean / np.sqrt(variance))).sum()),
        factor_80=_find_factor(0.8, posterior, same=False),
        factor_80_same=_find_factor(0.8, posterior, same=True),
        factor_90=_find_factor(0.9, posterior, same=False),
        factor_90_same=_find_factor(0.9, posterior, same=True),
    )


def _update(z: float, mixture: Mixture) -> tuple[Floats, Floats, Floats]:
    """Return weights, means and variances of the signal-to-noise ratio given z."""
    prior, tau2 = np.array(mixture.weights), np.array(mixture.sds) ** 2
    weight = np.log(prior + 1e-300) - 0.5 * np.log(tau2 + 1) - 0.5 * z * z / (tau2 + 1)
    q = np.exp(weight - weight.max())
    shrink = tau2 / (tau2 + 1)
    return q / q.sum(), z * shrink, shrink


def find_power(k: float, posterior: tuple[Floats, Floats, Floats], *, same: bool) -> float:
    """Return the power of a repeat with k times the sample, in the same direction or in either."""
    from scipy.special import ndtr, ndtri

    q, mean, variance = posterior
    critical = float(ndtri(0.975))
    centre, sd = sqrt(k) * mean, np.sqrt(k * variance + 1)
    found = ndtr((centre - critical) / sd)
    if not same:
        found = found + ndtr((-centre - critical) / sd)
    return float((q * found).sum())


def _find_factor(power: float, posterior: tuple[Floats, Floats, Floats], *, same: bool) -> float:
    from scipy.optimize import brentq

    if find_power(MOST, posterior, same=same) < power:
        return inf
    low = log(1e-6)
    found = brentq(lambda x: find_power(exp(x), posterior, same=same) - power, low, log(MOST), xtol=1e-12)
    return exp(float(found))
