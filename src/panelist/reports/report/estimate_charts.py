"""What the chart of each criterion shows: marks, words, and the axis that charts of one label share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING

from panelist.analysis.missing import Missing
from panelist.reports.report.page_charts import Axis, Mark, find_axis

if TYPE_CHECKING:
    from panelist.analysis.analysis_result import CriterionAnalysis


@dataclass(frozen=True)
class Chart:
    """The marks of one criterion, the words on its axis and under its title, and the ends of its scale."""

    marks: tuple[Mark, ...]
    label: str
    note: str
    ends: tuple[float, float] = (-inf, inf)


def make_chart(one: CriterionAnalysis) -> Chart | Missing:
    """Return the chart of a criterion: expected ratings where there are some, else estimates."""
    if isinstance(one.comparison, Missing):
        return one.comparison
    heading = f"{one.comparison.confidence * 100:g} % interval"
    if not isinstance(one.effects, Missing) and any(isfinite(s.estimate) for s in one.effects.systems):
        marks = tuple(Mark(s.system, s.estimate, s.low, s.high) for s in one.effects.systems)
        words, ends = _name_ends(one)
        return Chart(marks, f"Expected rating{words}", f"Expected rating with {heading}", ends)
    marks = tuple(Mark(s.system, s.estimate, s.low, s.high) for s in one.comparison.systems)
    words = "Log-strength" if one.comparative else "Latent scale"
    return Chart(marks, words, f"{words} with {heading}")


def share_axes(charts: Iterable[Chart]) -> dict[str, Axis]:
    """Return one axis for each label: charts of the same quantity are compared with each other."""
    found: dict[str, Axis] = {}
    every = list(charts)
    for label in dict.fromkeys(chart.label for chart in every):
        same = [chart for chart in every if chart.label == label]
        marks = [one for chart in same for one in chart.marks if one.known]
        if marks:
            low, high = min(one.low for one in marks), max(one.high for one in marks)
            inner = min(one.estimate for one in marks), max(one.estimate for one in marks)
            first, last = min(chart.ends[0] for chart in same), max(chart.ends[1] for chart in same)
            found[label] = find_axis(low, high, (min(first, inner[0]), max(last, inner[1])))
    return found


def _name_ends(one: CriterionAnalysis) -> tuple[str, tuple[float, float]]:
    """Return the ends of the scale in words and, where they are numbers, as numbers."""
    nowhere = (-inf, inf)
    if isinstance(one.description, Missing) or not one.description.points:
        return "", nowhere
    points = one.description.ends or one.description.points
    first, last = points[0], points[-1]
    try:
        ends = float(first), float(last)
    except ValueError:
        ends = nowhere
    return f", {first} to {last}", ends
