"""Systems compared by expected ratings, where their model has no one latent difference.

Thresholds of their own (nominal effects) and the sequential and adjacent families have none. Standard errors
are by the delta method, widened and tested on the degrees of freedom of the differences in location.
"""

from typing import TYPE_CHECKING

import numpy as np

from panelist.analysis.spec import AnalysisSpec
from panelist.analysis.systems.equivalence import differentiate
from panelist.analysis.systems.marginal import estimate_marginal, list_params, make_grid
from panelist.analysis.systems.pairwise import adjust_pairs
from panelist.core.errors import BadModel
from panelist.models.inference.adjust import two_sided_quantile
from panelist.models.inference.contrasts import (
    Means,
    MeasuredPairs,
    PairContrasts,
    row_variances,
    tabulate_pairs,
)
from panelist.models.inference.single_step import find_directions
from panelist.models.predictions.predict import category_points
from panelist.numerics.arrays import Floats, Longs

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit


def contrast_in_points(
    fit: "Fit", location: "Fit", term: str, spec: AnalysisSpec
) -> tuple[Means, PairContrasts, PairContrasts]:
    """Return expected ratings, all pairs, and those to show; ``location`` has the degrees of freedom.

    ``location`` is the model with one shift for each system: the fit itself, or the one without nominal
    effects.
    """
    points = category_points(fit)
    if points is None:
        raise BadModel("the ratings are words without numbers, which have no expected rating.")
    grid, beside = make_grid(fit, term), make_grid(location, term)
    psi, vcov = list_params(fit)
    expected = estimate_marginal(fit, grid) @ points
    slopes = differentiate(fit, grid, points, psi)
    L = beside.average(beside.X)

    def measure(first: Longs, second: Longs) -> MeasuredPairs:
        D, rows = slopes[first] - slopes[second], L[first] - L[second]
        se = np.sqrt(row_variances(D, vcov)) * np.asarray(location.widen(rows))
        df = np.asarray(location.degrees(rows), dtype=float)
        loose = fit.find_loose(rows) if fit.family != "cumulative" and fit.prior is not None else None
        return MeasuredPairs(expected[first] - expected[second], se, df, find_directions(D, vcov), loose)

    def contrast(adjust: str, reference: str | None) -> PairContrasts:
        return tabulate_pairs(term, grid.systems, measure, adjust, spec.confidence, reference)

    every, shown = adjust_pairs(contrast, spec.adjust, spec.reference)
    whole = np.column_stack([np.ones(len(L)), L])
    se = np.sqrt(row_variances(slopes, vcov)) * np.asarray(location.widen(whole))
    df = np.asarray(location.degrees(whole), dtype=float)
    reach = two_sided_quantile(spec.confidence, df) * se
    ends = (expected - reach, expected + reach)
    means = Means(term, grid.systems, expected, se, df, *ends, spec.confidence, "rating", L)
    return means, every, shown


def measure_shifts(fit: "Fit", pairs: PairContrasts) -> Floats:
    """Return the differences of the pairs in η."""
    grid = make_grid(fit, pairs.term)
    eta = dict(zip(grid.systems, grid.average(grid.X) @ fit.beta, strict=True))
    return np.array([eta[a] - eta[b] for a, b in zip(pairs.a, pairs.b, strict=True)])
