"""Starting values of the thresholds: the margins of the ratings, turned by the link."""

from collections.abc import Callable
from itertools import accumulate, pairwise
from statistics import NormalDist

import numpy as np

from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.cells import find_cells
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
    """Return α from the shares of the categories; ``spread`` is the latent standard deviation."""
    counts = np.bincount(codes, minlength=len(thresholds.between) + 1).tolist()
    if thresholds.family == "adjacent":  # η being zero, t_k is the log ratio of neighbouring shares
        sizes = np.log(np.maximum(counts, 0.5))
        return thresholds.solve(sizes[:-1] - sizes[1:])
    shares = [below / len(codes) for below in accumulate(counts[:-1])]
    if thresholds.family == "sequential":
        reached = len(codes) - np.array([0, *accumulate(counts[:-2])])
        stopped = np.clip(np.array(counts[:-1]) / reached, 0.5 / len(codes), 1.0 - 0.5 / len(codes))
        return thresholds.solve(_QUANTILES[link](stopped) * spread)
    nearly = 0.5 / len(codes)  # mirrored thresholds may have a category that was used on one side alone
    values = _QUANTILES[link](np.clip(shares, nearly, 1.0 - nearly)) * spread
    alpha = thresholds.solve(values)
    if all(low < high for low, high in pairwise((thresholds.J @ alpha).tolist())):
        return alpha
    # The nearest structured thresholds are out of order: take evenly spaced ones.
    return thresholds.solve(np.linspace(values[0], values[-1], len(values)))


def start_cells(design: ModelMatrices, thresholds: Thresholds, link: str, spread: float) -> Floats:
    """Return α of all cells: the same thresholds in each, and so no nominal effects."""
    assert design.codes is not None
    alpha = start_alpha(design.codes, thresholds, link, spread)
    if design.nominal is None:
        return alpha
    kept = find_cells(design, thresholds).kept
    return np.pad(alpha, (0, int(kept.max()) + 1))[kept]
