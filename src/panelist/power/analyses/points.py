"""Differences of many ordinal fits in the unit of a margin, as analysis/systems/equivalence.py has them."""

from typing import Any

import numpy as np

from panelist.models.likelihoods.link_functions import LATENT_SD
from panelist.models.predictions.categories import category_probabilities
from panelist.numerics.arrays import Floats
from panelist.power.analyses.base import SimulatedPairTests
from panelist.power.analyses.stepped import SteppedFits
from panelist.power.layouts.base import Layout

_STEP = 1e-4


def measure_claims(
    kept: list[SteppedFits], L: Floats, layout: Layout, unit: str, tests: SimulatedPairTests, responses: Any
) -> tuple[Floats, Floats]:
    """Return estimates and standard errors of all pairs in points or in residual standard deviations."""
    estimate, se = np.full(tests.se.shape, np.nan), np.full(tests.se.shape, np.nan)
    for one in kept:
        if unit == "latent":
            scale = LATENT_SD[str(one.batch.link)]
            estimate[one.places] = tests.estimate[one.places] / scale
            se[one.places] = tests.se[one.places] / scale
        else:
            highest = np.asarray(responses)[one.places].max(axis=1)
            found = _measure_points(one, L, layout, tests.se[one.places], highest)
            estimate[one.places], se[one.places] = found
    return estimate, se


def _measure_points(
    one: SteppedFits, L: Floats, layout: Layout, wide: Floats, highest: Any
) -> tuple[Floats, Floats]:
    """Return differences of expected ratings with delta-method standard errors, widened as ``wide`` is."""
    design, fits = one.batch.design, one.fits
    rows = np.array([np.flatnonzero(layout.system == s)[0] for s in range(layout.n_systems)])
    X = design.X[rows]
    Z = {factor.name: factor.Z[rows] for factor in design.factors}
    first, second = np.array(layout.pairs).T
    plain = np.sqrt(np.maximum(np.einsum("ij,njk,ik->ni", L, fits.vcov, L), 0.0))
    estimate, se = np.full(wide.shape, np.nan), np.full(wide.shape, np.nan)
    for at in np.flatnonzero(np.isfinite(fits.beta).all(axis=1)):
        variance = np.zeros(len(X))
        for name, z in Z.items():
            variance += np.einsum("ij,jk,ik->i", z, fits.covariances[name][at], z)
        used = np.flatnonzero(np.isfinite(fits.thresholds[at]))
        gaps = np.diff(np.append(used, highest[at])).astype(float)  # points to the next category that occurs
        cuts, eta = fits.thresholds[at, used], X @ fits.beta[at]
        expected, density = _expect(str(one.batch.link), cuts, eta, variance, gaps)
        # By a threshold the expected rating falls with its density; by η it rises with all of them.
        weighed = X * density.sum(axis=1)[:, None]
        slopes = np.hstack([density[first] - density[second], weighed[second] - weighed[first]])
        places = np.concatenate([used, fits.thresholds.shape[1] + np.arange(X.shape[1])])
        V = fits.joint[at][np.ix_(places, places)]
        estimate[at] = expected[second] - expected[first]
        se[at] = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", slopes, V, slopes), 0.0))
    ratio = np.divide(wide, plain, out=np.ones(wide.shape), where=plain > 0.0)
    return estimate, np.where(np.isfinite(wide), se * ratio, np.nan)


def _expect(
    link: str, thresholds: Floats, eta: Floats, variance: Floats, gaps: Floats
) -> tuple[Floats, Floats]:
    """Return the expected rating of each system above the lowest, and its density at each threshold."""
    n = len(eta)
    whole = np.concatenate([eta, eta + _STEP, eta - _STEP])
    p = category_probabilities(link, thresholds, whole, np.tile(variance, 3))
    above = 1.0 - np.cumsum(p, axis=1)[:, :-1]
    density = (above[n : 2 * n] - above[2 * n :]) / (2 * _STEP) * gaps
    return above[:n] @ gaps, density
