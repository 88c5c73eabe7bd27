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
    faults = find_faults(main.fit, find_term(main))
    if not faults:
        found = find_contradictions(main, _read_analogue(main), used, _expect(main))
        return replace(main, contradictions=found)
    main = replace(main, notes=(_tell_faults(faults), *main.notes))
    off = f"its approximation is off here, {faults[0]}"
    if free:
        try:
            linear = compare_by("lmm" if main.model == "clmm" else "lm")
        except PanelistError:
            off += ", and no linear model could be fitted in its place"
        else:
            found = find_contradictions(linear, None, used, {})
            why = f"The linear model leads, for the ordinal one is not to be trusted: {off}."
            notes = (_tell_faults(faults), *linear.notes)
            return replace(linear, why=why, beside=main, contradictions=found, notes=notes)
    found = find_contradictions(main, _read_analogue(main), used, _expect(main))
    return replace(main, why=f"The ordinal model is not to be trusted: {off}.", contradictions=found)


def find_faults(fit: "Fit", term: str) -> list[str]:
    """Return what is off in the Laplace approximation behind a fit, nothing where it is to be trusted.

    It must hold for the differences between the levels of ``term``. A fit in which a level is separated is
    not judged by it: separated.py mends that.
    """
    error = getattr(fit, "laplace_error", None)
    if error is None or np.isnan(fit.vcov).any():
        return []
    rows = estimate_means(fit, term).L
    pairs = np.array([a - b for a, b in combinations(rows, 2)])
    return [] if error.holds_for(pairs) else list(error.faults(pairs))


def _tell_faults(faults: list[str]) -> str:
    return (
        "The Laplace approximation of the ordinal model is not to be trusted here. Measured level by level, "
        f"it is off: {'; '.join(faults)}. That happens where outputs have few ratings that nearly all agree."
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
