"""When a random part proves too large for the ratings: which of its terms are at fault.

The start is the largest random part that the design supports (models/random_part.py). If the fit is singular
or does not converge, the factors at fault step down (Bates, Kliegl, Vasishth & Baayen 2015,
https://arxiv.org/abs/1506.04967); stepping.py says how far. A zero variance of ``cells`` or ``intercept`` is
not a reason to step down: leaving that term out gives the same likelihood and the same estimates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from panelist.models.identify import Shape
from panelist.models.random_part import RandomPart, choose_random
from panelist.numerics.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RandomPart", "choose_random", "groups_at_fault", "zero_terms"]


def groups_at_fault(covariances: Mapping[str, Floats], shapes: Mapping[str, Shape]) -> set[str]:
    """Return the groups whose slopes have a covariance without full rank; others are not at fault."""
    return {
        group
        for group, shape in shapes.items()
        if shape == "slopes" and group in covariances and _lacks_rank(covariances[group])
    }


def zero_terms(random: pd.DataFrame) -> list[str]:
    """Return the terms, as ``group`` or ``group (term)``, whose standard deviation is zero."""
    spread = random["sd"].to_numpy(dtype=float)
    rows = random[spread <= 1e-3 * max(float(np.nanmax(spread, initial=0.0)), 1e-12)]
    return [str(group) for group in dict.fromkeys(rows["group"])]


def _lacks_rank(covariance: Floats) -> bool:
    if not np.isfinite(covariance).all():
        return True
    eigenvalues = np.linalg.eigvalsh(covariance)
    return bool(eigenvalues[0] <= 1e-6 * max(float(eigenvalues[-1]), 1e-12))
