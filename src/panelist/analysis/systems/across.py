"""Several criteria: p-values that hold their level over all of them together, where that is asked for.

Each criterion's tests hold the familywise level over its own pairs. ``bonferroni`` multiplies their p-values
by the number of criteria. ``holm`` does so step by step: a criterion of which every pair is rejected passes
its share of the level on to the others (it must be every pair: a criterion with one true null left still
needs its share). With one pair in each criterion that is Holm's method (1979).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import isfinite, isnan
from typing import TYPE_CHECKING

from panelist.analysis.missing import Missing
from panelist.analysis.systems.comparison import CriterionComparison, SystemEstimate
from panelist.core.errors import UnknownName, did_you_mean

if TYPE_CHECKING:
    from panelist.analysis.analysis_result import CriterionAnalysis

ACROSS = ("none", "holm", "bonferroni")
_SEPARATE = (
    "The tests of each of the {} criteria hold their level separately: over all criteria together a "
    "difference by chance is more likely. To allow for that: across_criteria: holm (--across-criteria holm)."
)
_TOGETHER = (
    "P-values allow for all {} criteria together ({}); intervals are those of each criterion separately, and "
    "may exclude zero where the p-value does not show the difference."
)


def check_across(name: str) -> None:
    """Raise UnknownName unless this is a way to adjust over criteria."""
    if name not in ACROSS:
        raise UnknownName(f"No adjustment across criteria is called {name!r}. {did_you_mean(name, ACROSS)}")


def adjust_across(
    criteria: Sequence[CriterionComparison], how: str
) -> tuple[list[CriterionComparison], list[str]]:
    """Return the comparisons with p-values adjusted over criteria, and what to say about several criteria."""
    n = len(criteria)
    if n < 2:
        return list(criteria), []
    if how == "none":
        return list(criteria), [_SEPARATE.format(n)]
    families = [[pair.p_adjusted for pair in one.pairs] for one in criteria]
    adjusted = spread_bonferroni(families) if how == "bonferroni" else spread_holm(families)
    changed = [_change(one, values, how) for one, values in zip(criteria, adjusted, strict=True)]
    return changed, [_TOGETHER.format(n, how.capitalize())]


def adjust_criteria(
    criteria: Sequence["CriterionAnalysis"], how: str
) -> tuple[list["CriterionAnalysis"], list[str]]:
    """Return the analyses with the p-values of their comparisons adjusted over criteria, and what to say."""
    compared = {
        at: one.comparison for at, one in enumerate(criteria) if not isinstance(one.comparison, Missing)
    }
    adjusted, said = adjust_across(list(compared.values()), how)
    changed = list(criteria)
    for at, comparison in zip(compared, adjusted, strict=True):
        effects = criteria[at].effects
        if not isinstance(effects, Missing):
            p = {(pair.a, pair.b): pair.p_adjusted for pair in comparison.pairs}
            rows = tuple(replace(row, p_adjusted=p[row.a, row.b]) for row in effects.pairs)
            effects = replace(effects, pairs=rows)
        changed[at] = replace(criteria[at], comparison=comparison, effects=effects)
    return changed, said


def spread_bonferroni(families: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return each p-value times the number of families, at most 1."""
    return [[_limit(len(families) * p) for p in family] for family in families]


def spread_holm(families: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return p-values that hold over all families, each of which holds its own level already.

    >>> spread_holm([[0.01], [0.04], [0.03]])  # one test each: Holm's method
    [[0.03], [0.06], [0.06]]
    """
    n = len(families)
    order = sorted(range(n), key=lambda at: _largest(families[at]))
    done = [0.0]  # the level at which this many families are rejected as a whole
    for step, at in enumerate(order):
        done.append(max(done[-1], (n - step) * _largest(families[at])))
    adjusted: list[list[float]] = [[] for _ in families]
    for place, at in enumerate(order):
        adjusted[at] = [
            p if isnan(p) else _limit(min(max(done[step], (n - step) * p) for step in range(place + 1)))
            for p in families[at]
        ]
    return adjusted


def _largest(family: Sequence[float]) -> float:
    """Return the p-value at which a whole family is rejected: never where one is unknown."""
    return max(family) if family and all(map(isfinite, family)) else 1.0


def _limit(p: float) -> float:
    return p if isnan(p) else min(round(p, 15), 1.0)  # 3 * 0.01 is 0.03


def _change(one: CriterionComparison, p: Sequence[float], how: str) -> CriterionComparison:
    pairs = tuple(replace(pair, p_adjusted=value) for pair, value in zip(one.pairs, p, strict=True))
    told = tuple(
        replace(against, sentence=f"before the adjustment for several criteria, {against.sentence}")
        if against.code == "analyses"  # it quotes p-values of this criterion alone
        else against
        for against in one.contradictions
    )
    changed = replace(one, pairs=pairs, across_criteria=how, contradictions=told)
    return changed if one.reference else replace(changed, systems=_rank_again(changed))


def _rank_again(one: CriterionComparison) -> tuple[SystemEstimate, ...]:
    """Return the systems with the ranges of ranks that follow from the pairs as they are now."""
    sign, alpha = 1 if one.better == "higher" else -1, 1 - one.confidence
    winners, losers = [], []
    for pair in one.pairs:
        if pair.p_adjusted < alpha:
            ahead = sign * pair.difference > 0
            winners.append(pair.a if ahead else pair.b)
            losers.append(pair.b if ahead else pair.a)
    sizes = Counter(system.group for system in one.systems)
    return tuple(
        replace(
            system,
            rank_low=1 + losers.count(system.system),
            rank_high=sizes[system.group] - winners.count(system.system),
        )
        for system in one.systems
    )
