"""When a random part proves too large for the ratings: which of its terms are at fault.

The start is the largest random part that the design can bear (models/random_part.py). If the fit is singular
or does not converge, the factors at fault step down (Bates, Kliegl, Vasishth & Baayen 2015,
https://arxiv.org/abs/1506.04967); stepping.py says how far. A zero variance of ``cells`` or ``intercept`` is
no reason to step down: leaving that term out gives the same likelihood and the same estimates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from panelist.models.identify import Shape
from panelist.models.random_part import RandomPart, choose_random

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RandomPart", "choose_random", "groups_at_fault", "zero_terms"]


def groups_at_fault(random: pd.DataFrame, correlations: pd.DataFrame, shapes: dict[str, Shape]) -> set[str]:
    """Return the groups whose slopes have a covariance without full rank; others are not at fault."""
    slopes = {group for group, shape in shapes.items() if shape == "slopes"}
    return {group for group in slopes if _lacks_rank(random, correlations, group)}


def zero_terms(random: pd.DataFrame) -> list[str]:
    """Return the terms, as ``group`` or ``group (term)``, whose standard deviation is zero."""
    spread = random["sd"].to_numpy(dtype=float)
    rows = random[spread <= 1e-3 * max(float(np.nanmax(spread, initial=0.0)), 1e-12)]
    return [str(group) for group in dict.fromkeys(rows["group"])]


def _lacks_rank(random: pd.DataFrame, correlations: pd.DataFrame, group: str) -> bool:
    rows = random[random["group"] == group]
    if rows.empty:
        return False
    names = [str(name) for name in rows["term"]]
    sd = rows["sd"].to_numpy(dtype=float)
    R = np.eye(len(names))
    mine = correlations[correlations["group"] == group] if len(correlations) else correlations
    for a, b, r in zip(mine["a"], mine["b"], mine["r"], strict=True) if len(mine) else ():
        i, j = names.index(str(a)), names.index(str(b))
        R[i, j] = R[j, i] = r
    if not np.isfinite(R).all() or not np.isfinite(sd).all():
        return True  # a correlation with something that does not vary
    eigenvalues = np.linalg.eigvalsh(R * np.outer(sd, sd))
    return bool(eigenvalues[0] <= 1e-6 * max(float(eigenvalues[-1]), 1e-12))
