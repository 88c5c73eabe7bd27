"""The sentences to quote: what was found on a criterion, with its size in points of the scale."""

from math import isfinite
from typing import TYPE_CHECKING

from panelist.analysis.comparison import CriterionComparison
from panelist.analysis.effects import Effect, Effects
from panelist.analysis.missing import Missing
from panelist.core.formats import interval, number

if TYPE_CHECKING:
    from panelist.analysis.analysis_result import CriterionAnalysis

CAUTION = "may look surer than they are"  # what notes say of a model that leaves out what raters share


def tell_finding(one: "CriterionAnalysis") -> str:
    """Return the finding on one criterion in a sentence or two, or why there is none."""
    if isinstance(one.comparison, Missing):
        return f"No comparison of systems on {one.criterion}. {one.comparison.reason}"
    size = "" if isinstance(one.effects, Missing) else _tell_size(one.comparison, one.effects)
    said = [one.comparison.finding(size), one.comparison.why]
    if any(CAUTION in note for note in one.comparison.notes):
        said.append("This may look surer than it is: see how it was modelled.")
    return " ".join(text for text in said if text)


def _tell_size(comparison: CriterionComparison, effects: Effects) -> str:
    """Return the largest difference shown, or how small one that was not shown must be."""
    alpha = 1 - comparison.level
    shown = [one for one in effects.pairs if one.p_adjusted < alpha and isfinite(one.points)]
    level = f"{comparison.level * 100:g} % interval"
    if shown:
        most = max(shown, key=lambda one: abs(one.points))
        a, b, size, low, high = _upward(most)
        which = "The difference" if len(effects.pairs) == 1 else f"The largest difference, {a} over {b},"
        both = ", which includes 0: they differ in spread as well" if low <= 0 <= high else ""
        return f". {which} is {_points(size)} ({level} {interval(low, high)}{both})"
    known = [one for one in effects.pairs if isfinite(one.points_low) and isfinite(one.points_high)]
    if not known or len(known) > 10:
        return ""
    farthest = max(max(abs(one.points_low), abs(one.points_high)) for one in known)
    return f"; if there is a difference, it is below {_points(farthest)} ({level})"


def _upward(one: Effect) -> tuple[str, str, float, float, float]:
    """Return the pair with the higher system first: names, difference, interval."""
    if one.points >= 0:
        return one.a, one.b, one.points, one.points_low, one.points_high
    return one.b, one.a, -one.points, -one.points_high, -one.points_low


def _points(size: float) -> str:
    text = number(size, 2)
    return f"{text} point{'' if text == '1.00' else 's'} of the scale"


def count(n: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun.

    >>> count(1, "rater"), count(2304, "rating"), count(2, "criterion", "criteria")
    ('1 rater', '2,304 ratings', '2 criteria')
    """
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"


def listing(names: "list[str] | tuple[str, ...]", most: int = 8) -> str:
    """Return names in a row, the last ones counted where there are many.

    >>> listing(["a", "b", "c"])
    'a, b and c'
    """
    shown = list(names) if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} others"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""
