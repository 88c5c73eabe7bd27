"""The pairs of a comparison, adjusted by the method that suits them: Tukey, the multivariate t, or Dunnett.

``tukey`` stands for all pairs at once. Tukey's test is exact where all differences have one standard error;
up to a tenth apart it errs by less than .0002 at p = .05, and further apart the multivariate t takes over
(models/inference/single_step.py). With a reference system only its pairs are shown, and Dunnett's test covers
just these. Ranks come from all pairs either way.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from panelist.core.errors import BadModel
from panelist.models.inference.contrasts import PairContrasts
from panelist.models.likelihoods.link_functions import LATENT_SD
from panelist.numerics.arrays import Floats

UNITS = "points of the scale: the rating expected of a new rater and item"
"""Of comparisons without one latent difference: in_points.py."""
EQUAL = 1.1  # standard errors with a ratio below this count as equal
MOST_SYSTEMS = 60  # with more, Tukey's p-values: a little too large, and quick
_SINGLE_STEP = (
    "The standard errors of the pairs differ, so Tukey's test would only be approximate: p-values and "
    "intervals are single-step, by the multivariate t with the correlations of the differences."
)
_DUNNETT = (
    "Only the pairs with {} are tested: Dunnett's test covers these together (multivariate t with the "
    "correlations of the differences). The ranges of ranks rest on all pairs."
)


def adjust_pairs(
    contrast: Callable[[str, str | None], PairContrasts], adjust: str, reference: str | None = None
) -> tuple[PairContrasts, PairContrasts]:
    """Return all pairs, from which ranks are read, and those to show: the same, or the reference's.

    ``contrast`` makes the pairs, given an adjustment and a reference.
    """
    if adjust == "dunnett" and reference is None:
        raise BadModel(
            "Dunnett's adjustment is for the pairs with one system: name it as the reference (--reference). "
            "For all pairs use tukey."
        )
    whole = "tukey" if adjust == "dunnett" else adjust
    every, note = contrast(whole, None), ""
    if whole == "tukey" and differ_in_precision(every.se, len(every.levels)):
        every, note = contrast("mvt", None), _SINGLE_STEP
    shown = every
    if reference is not None:
        chosen = "dunnett" if adjust in ("tukey", "mvt") else adjust
        shown = contrast(chosen, reference)
        note = _DUNNETT.format(reference) if chosen == "dunnett" and len(every.levels) > 2 else ""
    return every, replace(shown, notes=(*shown.notes, note)) if note else shown


def differ_in_precision(se: Floats, n_systems: int) -> bool:
    """Return whether the standard errors of the pairs differ so much that Tukey's test is approximate."""
    known = se[np.isfinite(se) & (se > 0)]
    if not 2 < n_systems <= MOST_SYSTEMS or not len(known):
        return False
    return bool(known.max() > EQUAL * known.min())


def find_effect_unit(fitted: Any, used: pd.DataFrame) -> tuple[float, str, str]:
    """Return the length of one effect unit, and the words for the units of estimates and effects."""
    if not fitted.has_latent_differences:
        return 1.0, UNITS, f"η of the {fitted.link} link, {fitted.family} categories"
    if fitted.model in ("clm", "clmm"):
        units = f"latent scale ({fitted.link} link; 0 is the middle of the rating scale)"
        spread = LATENT_SD[str(fitted.link)]
        if np.isnan(spread):
            return (
                float("nan"),
                units,
                f"no standard unit, because the {fitted.link} link's distribution has no SD",
            )
        return spread, units, "residual SDs of the latent scale"
    groups = used.groupby("system", observed=True)["rating"]
    n, variance = groups.count(), groups.var(ddof=1).fillna(0.0)
    spread = float(((n - 1) * variance).sum() / max(int((n - 1).sum()), 1)) ** 0.5
    return spread or float("nan"), "rating scale", "SDs of the ratings within systems"
