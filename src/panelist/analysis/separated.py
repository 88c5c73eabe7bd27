"""Systems whose ratings are all at one end of the scale: no finite estimate, but a test and a bound.

The likelihood of such a system grows as its effect runs off. Its difference from another one is tested by the
likelihood ratio of two models, one in which the two share an effect; the bound is where the likelihood has
fallen by as much as the level of confidence allows, with the other end open (Heinze & Schemper 2002,
doi:10.1002/sim.1047, discuss profile likelihoods under separation).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from panelist.core.errors import PanelistError
from panelist.models.inference.adjust import Family, find_adjustment
from panelist.models.inference.contrasts import Means, Pairs

if TYPE_CHECKING:
    from panelist.core.ratings import Ratings
    from panelist.models.fitted import Fit


@dataclass(frozen=True)
class Edge:
    """A pair of which one system is separated: the sign of its difference and the likelihood ratio."""

    sign: float  # of a − b; 0 where both run off the same way
    ratio: float  # twice the log-likelihood lost by one effect for both


def find_separated(fit: "Fit", term: str) -> dict[str, float]:
    """Return the levels of ``term`` whose ratings are all highest, with 1, or all lowest, with −1."""
    codes, top = fit.design.codes, len(fit.design.categories) - 1
    if codes is None or term not in fit.design.fixed.levels:
        return {}
    by_level = fit.design.fixed.data[term].to_numpy()
    ends = {}
    for level in fit.design.fixed.levels[term]:
        own = codes[by_level == level]
        if len(own) and (own.min() == top or own.max() == 0):
            ends[level] = 1.0 if own.min() == top else -1.0
    return ends


def fill_separated(
    pairs: Pairs,
    ends: dict[str, float],
    fit: "Fit",
    table: "Ratings",
    refit: "Callable[[str, Ratings], Fit]",
) -> Pairs:
    """Return the pairs with tests and bounds for those of separated systems, ``ends``.

    ``refit`` fits a formula to a table by the model of ``fit``.
    """
    unknown = np.flatnonzero(np.isnan(pairs.p)).tolist()
    columns: dict[str, Any] = {
        name: np.array(getattr(pairs, name), dtype=float)
        for name in ("estimate", "se", "df", "statistic", "low", "high")
    }
    edges = {
        place: _compare_ends(fit, table, refit, pairs.a[place], pairs.b[place], ends) for place in unknown
    }
    told = {place: edge for place, edge in edges.items() if edge is not None}
    for place, edge in told.items():
        columns["estimate"][place] = edge.sign * inf if edge.sign else 0.0
        columns["statistic"][place] = edge.sign * sqrt(edge.ratio)
        columns["df"][place] = fewest_levels(fit)
        columns["se"][place] = nan
    method = find_adjustment(pairs.adjust)
    family = Family(columns["statistic"], columns["df"], len(pairs.levels))
    critical = np.broadcast_to(method.critical(pairs.level, family), len(pairs.a))
    for place, edge in told.items():
        if edge.sign:
            level = float(2.0 * ndtr(critical[place]) - 1.0)
            bound = _bound(fit, table, refit, pairs, place, edge.sign, level)
            low, high = (bound, inf) if edge.sign > 0 else (-inf, bound)
            columns["low"][place], columns["high"][place] = low, high
    named = " and of ".join(f"{name} are {'highest' if end > 0 else 'lowest'}" for name, end in ends.items())
    note = (
        f"All ratings of {named}: how far that is from the others has no limit on one side. These pairs are "
        "tested by likelihood ratios, and their intervals are open."
    )
    p, adjusted = family.p, method.adjust(family)
    return replace(pairs, **columns, p=p, p_adjusted=adjusted, notes=(*pairs.notes, note))


def _bound(
    fit: "Fit",
    table: "Ratings",
    refit: "Callable[[str, Ratings], Fit]",
    pairs: Pairs,
    place: int,
    sign: float,
    level: float,
) -> float:
    """Return the finite end of the interval of a − b by the profile likelihood, nan where there is none.

    Slopes have one spread for all systems here: that of a separated system has no estimate of its own, and
    a profile over it takes minutes.
    """
    a, b = pairs.a[place], pairs.b[place]
    coded = f"C({pairs.term}, Treatment({b!r}))"
    formula = fit.formula.replace(f"~ {pairs.term}", f"~ {coded}", 1)
    slopes = rf"\({re.escape(pairs.term)} \| (\w+)\)"
    formula = re.sub(slopes, rf"(1 | \1) + (1 | \1:{pairs.term})", formula)
    try:
        again = refit(formula, table)
        name = next(term for term in again.names if term.endswith(f"[T.{a}]"))
        found = again.intervals("profile", level=level, terms=name)
    except (PanelistError, StopIteration):
        return nan
    return found.low[0] if sign > 0 else found.high[0]


def run_off(means: Means, ends: dict[str, float]) -> Means:
    """Return the means with those of separated systems at the infinity that they run off to."""
    estimate = means.estimate.copy()
    for level, end in ends.items():
        estimate[means.levels.index(level)] = end * inf
    return replace(means, estimate=estimate)


def fewest_levels(fit: "Fit") -> float:
    """Return the levels of the smallest grouping factor less one, infinite without one."""
    sizes = [len(factor.levels) for factor in fit.design.factors]
    return float(max(min(sizes) - 1, 1)) if sizes else inf


def _compare_ends(
    fit: "Fit",
    table: "Ratings",
    refit: "Callable[[str, Ratings], Fit]",
    a: str,
    b: str,
    ends: dict[str, float],
) -> Edge | None:
    if a not in ends and b not in ends:
        return None
    if ends.get(a) == ends.get(b):
        return Edge(0.0, 0.0)
    sign = ends[a] if a in ends else -ends[b]
    frame = table.frame.assign(system=table.frame["system"].astype(str).replace({b: a}))
    try:
        merged = refit(fit.formula, replace(table, frame=frame))
    except PanelistError:
        return None
    return Edge(sign, max(2.0 * (fit.loglik - merged.loglik), 0.0))
