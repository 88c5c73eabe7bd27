"""Starting values of the thresholds: the margins of the ratings, turned by the link."""

from collections.abc import Callable
from itertools import accumulate, pairwise
from statistics import NormalDist

import numpy as np

from panelist.models.likelihoods.thresholds import Thresholds
from panelist.numerics.arrays import Floats, Ints

_NORMAL = NormalDist()
_QUANTILES: dict[str, Callable[[Floats], Floats]] = {
    "probit": lambda c: np.array([_NORMAL.inv_cdf(share) for share in c.tolist()]),
    "logit": lambda c: np.log(c / (1.0 - c)),
    "cloglog": lambda c: np.log(-np.log1p(-c)),
    "loglog": lambda c: -np.log(-np.log(c)),
    "cauchit": lambda c: np.tan(np.pi * (c - 0.5)),
}


def start_alpha(codes: Ints, thresholds: Thresholds, link: str, spread: float) -> Floats:
    """Return α from the cumulative shares of the categories; ``spread`` is the latent standard deviation."""
    counts = np.bincount(codes, minlength=len(thresholds.between) + 1).tolist()
    shares = [below / len(codes) for below in accumulate(counts[:-1])]
    values = _QUANTILES[link](np.array(shares)) * spread
    alpha = thresholds.solve(values)
    if all(low < high for low, high in pairwise((thresholds.J @ alpha).tolist())):
        return alpha
    # The nearest structured thresholds are out of order: take evenly spaced ones.
    return thresholds.solve(np.linspace(values[0], values[-1], len(values)))
