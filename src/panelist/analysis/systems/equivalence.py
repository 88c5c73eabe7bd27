"""Equivalence: whether two systems differ by less than a margin in points of the scale.

Two one-sided tests (Schuirmann 1987, doi:10.1007/BF01068419) of the difference in expected ratings, on the
degrees of freedom of the comparison: equivalent where both reject, which is where the interval of level
1 − 2α (90 % for α = .05) lies within the margin. Single claims among several pairs are adjusted by Holm's
method. Not rejecting a difference is never equivalence: a pair is different, equivalent, both, or undecided.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite, nan

import numpy as np
from scipy.special import ndtr, stdtr

from panelist.analysis.missing import Missing, attempt
from panelist.analysis.systems.comparison import CriterionComparison, PairDifference
from panelist.analysis.systems.effects import Effect, measure_effects
from panelist.analysis.systems.margins import Equivalence, Outcome
from panelist.core.errors import BadModel
from panelist.models.inference.adjust import adjust_holm, two_sided_quantile

_MANY = 1e10


def check_margin(margin: float | None) -> None:
    """Raise BadModel unless the margin is a positive number, or none was asked for."""
    if margin is not None and not (isfinite(margin) and margin > 0):
        raise BadModel(
            f"The margin of equivalence must be a number of points above 0, for example 0.5. Got {margin!r}."
        )


def find_equivalence(comparison: CriterionComparison, margin: float) -> CriterionComparison:
    """Return the comparison with each pair tested for a difference smaller than ``margin`` points.

    A note says why where the ratings have no points.
    """
    effects = attempt(lambda: measure_effects(comparison)) if comparison.fit is not None else None
    if effects is None:
        reason = "answers that are choices have no points"
    elif isinstance(effects, Missing):
        reason = effects.reason
    elif not any(isfinite(one.points) for one in effects.pairs):
        reason = "the ratings are words without numbers"
    else:
        known = {(one.a, one.b): one for one in effects.pairs}
        points = [known[pair.a, pair.b].points for pair in comparison.pairs]
        se = [_standard_error(pair, known[pair.a, pair.b]) for pair in comparison.pairs]
        found = test_points(comparison.pairs, points, se, margin, 1 - comparison.confidence)
        return replace(comparison, equivalence=found)
    note = f"Equivalence within {margin:g} points was not tested: {reason.rstrip('.')}."
    return replace(comparison, notes=(*comparison.notes, note))


def find_one_sided(points: float, se: float, df: float, margin: float) -> float:
    """Return the larger p of the two one-sided tests that a difference lies within ±margin.

    >>> round(find_one_sided(0.1, 0.2, 10.0, 0.5), 4)
    0.0367
    """
    if not se > 0 or not df > 0:
        return nan
    t = (margin - abs(points)) / se
    return float(ndtr(-t) if df >= _MANY else stdtr(df, -t))


def test_points(
    pairs: Sequence[PairDifference], points: Sequence[float], se: Sequence[float], margin: float, alpha: float
) -> tuple[Equivalence, ...]:
    """Return each pair's test of equivalence, from its difference in points and its standard error."""
    rows = []
    for pair, point, own in zip(pairs, points, se, strict=True):
        p = find_one_sided(point, own, pair.df, margin)
        reach = float(two_sided_quantile(1 - 2 * alpha, np.array([pair.df]))[0]) * own
        rows.append((pair, point, point - reach, point + reach, p))
    adjusted = adjust_holm(np.array([row[-1] for row in rows]))
    return tuple(
        Equivalence(pair.a, pair.b, margin, point, low, high, p, float(own), _conclude(pair, own, alpha))
        for (pair, point, low, high, p), own in zip(rows, adjusted, strict=True)
    )


def _standard_error(pair: PairDifference, effect: Effect) -> float:
    """Return the standard error in points: its interval has the same multiplier as the pair's own."""
    width, own = effect.points_high - effect.points_low, pair.high - pair.low
    return pair.se * width / own if own > 0 else nan


def _conclude(pair: PairDifference, p: float, alpha: float) -> Outcome:
    different, equivalent = pair.p_adjusted < alpha, p < alpha
    if different and equivalent:
        return "different and equivalent"
    return "different" if different else "equivalent" if equivalent else "undecided"
