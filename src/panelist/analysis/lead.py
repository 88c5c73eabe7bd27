"""Which analysis of a criterion leads, and what is said where another one contradicts it.

Ordered categories are analysed by an ordinal model, unless its Laplace approximation is not to be trusted
(models/inference/laplace_error.py measures it): where raters are nearly unanimous, the integral over an
output is far from normal, and estimates can be wrong by any amount. Then the linear mixed model leads. It
needs no approximation, and its tests of differences hold their level for two or three raters, two or five
points, half or nearly all outputs unanimous (docs/method.md has the simulation). The ordinal model stands
beside it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.analysis.comparison import CriterionComparison, list_pairs
from panelist.analysis.contradictions import find_contradictions
from panelist.analysis.marginal import estimate_marginal, find_term, make_grid
from panelist.core.errors import PanelistError
from panelist.models.inference.contrasts import contrast_pairs, estimate_means
from panelist.models.inference.laplace_error import worst_of
from panelist.models.inference.small_sample import SmallSample
from panelist.models.predictions.predict import category_points

if TYPE_CHECKING:
    import pandas as pd

    from panelist.models.fitted import Fit


def choose_lead(
    main: CriterionComparison,
    used: "pd.DataFrame",
    compare_by: Callable[[str], CriterionComparison],
    free: bool,
) -> CriterionComparison:
    """Return the comparison that leads, with what contradicts it; ``main`` is the one that was made.

    ``compare_by`` makes the comparison by another model; ``free`` says that the model was not asked for.
    """
    if not main.fit.ordinal:
        return replace(main, contradictions=find_contradictions(main, None, used, {}))
    reason = distrust(main.fit, find_term(main))
    if reason and free:
        try:
            linear = compare_by("lmm" if main.model == "clmm" else "lm")
        except PanelistError:
            reason = f"{reason} No linear model could be fitted in its place."
        else:
            why = f"{reason} The linear mixed model leads; the ordinal one stands beside it."
            found = find_contradictions(linear, None, used, {})
            return replace(linear, why=why, beside=main, contradictions=found)
    found = find_contradictions(main, _read_analogue(main), used, _expect(main))
    return replace(main, why=reason, contradictions=found)


def distrust(fit: "Fit", term: str) -> str:
    """Return why the Laplace approximation behind a fit is not to be trusted, "" where it is.

    It must hold for the differences between the levels of ``term``. A fit in which a level is separated is
    not judged by it: separated.py mends that.
    """
    error = getattr(fit, "laplace_error", None)
    if error is None or np.isnan(fit.vcov).any():
        return ""
    rows = estimate_means(fit, term).L
    pairs = np.array([a - b for a, b in combinations(rows, 2)])
    if error.holds_for(pairs):
        return ""
    worst = worst_of(error.shift_of(pairs))
    size = f", here by about {worst:.1f} standard errors of a difference" if 0.1 < worst < np.inf else ""
    return (
        "The ordinal model is not to be trusted here: the approximation behind it fails, as it does where "
        f"the few ratings of an output nearly all agree{size}."
    )


def _read_analogue(main: CriterionComparison) -> CriterionComparison | None:
    """Return the linear analysis with the same formula, which the tests of the ordinal one fitted already."""
    small: Any = main.fit.uncertainty
    if not isinstance(small, SmallSample):
        small = SmallSample(main.fit.design) if main.model == "clmm" else None
    if small is None or small.linear is None:
        return None
    pairs = contrast_pairs(
        small.as_fitted(), find_term(main), main.adjust, main.level, reference=main.reference
    )
    return replace(main, model="lmm", link=None, pairs=list_pairs(pairs, pairs.estimate * nan))


def _expect(main: CriterionComparison) -> Mapping[str, float]:
    """Return the rating that the model expects of each system, averaged over raters and items."""
    points = category_points(main.fit)
    if points is None:
        return {}
    try:
        grid = make_grid(main.fit, find_term(main))
        expected = estimate_marginal(main.fit, grid) @ points
    except PanelistError:
        return {}
    return {name: float(value) for name, value in zip(grid.systems, expected, strict=True)}
