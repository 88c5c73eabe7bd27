"""Equivalence and non-inferiority: whether two systems differ by less than a margin.

Two one-sided tests (Schuirmann 1987, doi:10.1007/BF01068419) on the degrees of freedom of the comparison. A
system is not inferior to another where the test that it is worse by the margin or more rejects; two systems
are equivalent where both tests reject, which is where the interval of level 1 − 2α (90 % for α = .05) lies
within the margin. Points are differences of expected ratings with delta-method standard errors, latent units
residual standard deviations. Single claims among several pairs are adjusted by Holm's method. Not rejecting
a difference is never equivalence.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite, nan
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, stdtr

from panelist.analysis.missing import Missing, attempt
from panelist.analysis.systems.comparison import CriterionComparison, PairDifference
from panelist.analysis.systems.marginal import (
    MarginalGrid,
    estimate_marginal,
    find_term,
    list_params,
    make_grid,
)
from panelist.analysis.systems.margins import Equivalence, NonInferiority, Outcome
from panelist.analysis.systems.ranks import Better
from panelist.core.margin import Margin, find_level
from panelist.models.inference.adjust import adjust_holm, two_sided_quantile
from panelist.models.inference.contrasts import row_variances
from panelist.models.likelihoods.link_functions import LATENT_SD
from panelist.models.predictions.predict import category_points
from panelist.numerics.arrays import Floats

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit

Measured = tuple[list[float], list[float]]
"""The differences of pairs in the unit of a margin, and their standard errors."""
_MANY = 1e10


def find_equivalence(comparison: CriterionComparison, margin: Margin) -> CriterionComparison:
    """Return the comparison with each pair tested for a difference smaller than the margin.

    A note says why where the ratings have no differences in its unit.
    """
    found = attempt(lambda: _measure(comparison, margin))
    if isinstance(found, Missing):
        note = f"Equivalence within {margin.words} was not tested: {found.reason.rstrip('.')}."
        return replace(comparison, notes=(*comparison.notes, note))
    tests = find_claims(
        comparison.pairs,
        *found,
        margin,
        round(1 - comparison.confidence, 12),
        comparison.better,
        comparison.reference,
    )
    return replace(comparison, equivalence=tests)


def _measure(comparison: CriterionComparison, margin: Margin) -> Measured | Missing:
    """Return the pairs in the unit of the margin; or why they have none."""
    fit: Fit | None = comparison.fit
    pairs = comparison.pairs
    if fit is None:
        return Missing("answers that are choices have no points")
    if margin.unit == "points":
        if not fit.ordinal:
            return [pair.difference for pair in pairs], [pair.se for pair in pairs]
        points = category_points(fit)
        if points is None:
            return Missing("the ratings are words without numbers")
        return measure_points(fit, make_grid(fit, find_term(comparison)), points, pairs)
    if not fit.ordinal:
        return Missing("a linear model has no latent scale; give the margin in points")
    if fit.family != "cumulative":
        return Missing(f"{fit.family} categories have no one latent scale; give the margin in points")
    if not fit.is_plain:
        return Missing("systems differ in spread or thresholds; give the margin in points")
    unit = LATENT_SD[str(fit.link)]
    if not isfinite(unit):
        return Missing(f"the {fit.link} link's distribution has no SD; give the margin in points")
    return [pair.difference / unit for pair in pairs], [pair.se / unit for pair in pairs]


def measure_points(
    fit: "Fit", grid: MarginalGrid, points: Floats, pairs: Sequence[PairDifference]
) -> Measured:
    """Return each pair's difference of expected ratings, and its standard error by the delta method.

    Thresholds and effects vary, the variances of raters and items stay as estimated; with few raters the
    standard error is as much larger as that of the latent difference.
    """
    params, vcov = list_params(fit)
    expected = estimate_marginal(fit, grid) @ points
    slopes = differentiate(fit, grid, points, params)
    rows = grid.average(grid.X)
    place = {name: at for at, name in enumerate(grid.systems)}
    first, second = (np.array([place[getattr(pair, end)] for pair in pairs]) for end in ("a", "b"))
    variance = row_variances(slopes[first] - slopes[second], vcov)
    se = np.sqrt(variance) * np.asarray(fit.widen(rows[first] - rows[second]))
    tested = np.array([isfinite(pair.se) for pair in pairs])
    return (expected[first] - expected[second]).tolist(), np.where(tested, se, nan).tolist()


def differentiate(fit: "Fit", grid: MarginalGrid, points: Floats, params: Floats) -> Floats:
    """Return the slopes of each system's expected rating by all parameters, by central differences."""
    return slope_of(lambda psi: estimate_marginal(fit, grid, params=psi) @ points, params)


def slope_of(find: Callable[[Floats], Floats], params: Floats) -> Floats:
    """Return the slopes of some numbers by all parameters, by central differences."""
    columns = []
    for at in range(len(params)):
        step = np.zeros(len(params))
        step[at] = 1e-5 * max(1.0, abs(params[at]))
        columns.append((find(params + step) - find(params - step)) / (2 * step[at]))
    return np.column_stack(columns)


def find_one_sided(difference: float, se: float, df: float, margin: float) -> tuple[float, float]:
    """Return the p of a difference of −margin or less, and that of one of margin or more.

    >>> [round(p, 4) for p in find_one_sided(0.1, 0.2, 10.0, 0.5)]
    [0.0067, 0.0367]
    """
    if not se > 0 or not df > 0:
        return nan, nan
    below, above = ((margin + way * difference) / se for way in (1, -1))
    return (_upper(below, df), _upper(above, df))


def _upper(t: float, df: float) -> float:
    return float(ndtr(-t) if df >= _MANY else stdtr(df, -t))


def find_claims(
    pairs: Sequence[PairDifference],
    differences: Sequence[float],
    se: Sequence[float],
    margin: Margin,
    alpha: float,
    better: Better = "higher",
    reference: str | None = None,
) -> tuple[Equivalence, ...]:
    """Return each pair's tests, from its difference in the unit of the margin and its standard error.

    With a ``reference`` the others are tested for non-inferiority to it, else each system of a pair to the
    other.
    """
    sides = [
        (nan, nan) if pair.prior else find_one_sided(d, own, pair.df, margin.size)
        for pair, d, own in zip(pairs, differences, se, strict=True)
    ]
    both = np.array([max(one) if isfinite(one[0]) else nan for one in sides])
    adjusted = adjust_holm(both)
    claims = _claim(pairs, sides, find_level("non-inferiority", alpha), better, reference)
    level = find_level("equivalence", alpha)
    found = []
    for at, pair in enumerate(pairs):
        reach = float(two_sided_quantile(1 - 2 * level, np.array([pair.df]))[0]) * se[at]
        own = tuple(one for one in claims if {one.system, one.to} == {pair.a, pair.b})
        outcome = _conclude(pair.p_adjusted < alpha, adjusted[at] < level, own)
        ends = (differences[at] - reach, differences[at] + reach)
        p = (float(both[at]), float(adjusted[at]))
        found.append(
            Equivalence(
                pair.a, pair.b, margin.size, differences[at], *ends, *p, outcome, margin.unit, se[at], own
            )
        )
    return tuple(found)


def _claim(
    pairs: Sequence[PairDifference],
    sides: Sequence[tuple[float, float]],
    level: float,
    better: Better,
    reference: str | None,
) -> list[NonInferiority]:
    """Return the claims of non-inferiority, adjusted for their number."""
    claims = []
    for at, (pair, (below, above)) in enumerate(zip(pairs, sides, strict=True)):
        first, second = (below, above) if better == "higher" else (above, below)
        claims += [
            (at, system, to, p)
            for system, to, p in ((pair.a, pair.b, first), (pair.b, pair.a, second))
            if reference is None or to == reference
        ]
    adjusted = adjust_claims(np.array([p for *_, p in claims]), [at for at, *_ in claims])
    return [
        NonInferiority(system, to, p, float(own), bool(own < level))
        for (_, system, to, p), own in zip(claims, adjusted, strict=True)
    ]


def adjust_claims(p: Floats, pairs: Sequence[int]) -> Floats:
    """Return Holm's p-values of one-sided claims, two of a pair being one: at most one of them is false.

    What multiplies a p is the number of pairs with claims that are not yet shown (Shaffer 1986,
    doi:10.1080/01621459.1986.10478341); where every pair has one claim this is Holm's method.

    >>> adjust_claims(np.array([0.001, 0.9, 0.02, 0.01]), [0, 0, 1, 1]).round(3).tolist()
    [0.002, 0.9, 0.04, 0.02]
    """
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted, last = np.full(len(p), nan), 0.0
    for rank, at in enumerate(order):
        left = len({pairs[other] for other in order[rank:]})
        last = max(last, min(left * float(p[at]), 1.0))
        adjusted[at] = last
    return adjusted


def _conclude(different: bool, equivalent: bool, claims: Sequence[NonInferiority]) -> Outcome:
    if different and equivalent:
        return "different and equivalent"
    if different or equivalent:
        return "different" if different else "equivalent"
    return "non-inferior" if any(one.shown for one in claims) else "undecided"
