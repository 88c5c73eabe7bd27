"""What one study says of every pair of systems: its difference in scores, a test, and an interval.

The test is that of ``compare_systems`` (an ordinal or linear mixed model, or a model of choices), adjusted
for the number of pairs. The interval is on the scale of the scores, without adjustment, so that another
study's difference can be looked for in it: a linear mixed model's for means of ratings, else Student's t over
items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan, sqrt

import numpy as np

from panelist.analysis.comparative.trials import DECIDED, read_trials
from panelist.analysis.compare import compare_systems
from panelist.core.errors import PanelistError
from panelist.models.arrays import Floats
from panelist.models.inference.adjust import two_sided_quantile
from panelist.reproduction.aggregate import Aggregation, usable_rows, value_outputs
from panelist.reproduction.sources import Given


@dataclass(frozen=True)
class PairTest:
    """Scores of a less scores of b, the p of a test of it, and an interval; nan where unknown.

    ``p`` is adjusted for the number of pairs, ``p_single`` is not.
    """

    difference: float
    p: float = nan
    p_single: float = nan
    low: float = nan
    high: float = nan


@dataclass(frozen=True)
class PairTests:
    """Every pair of systems in one study, and how it was tested."""

    pairs: Mapping[tuple[str, str], PairTest]
    model: str = ""
    interval: str = ""
    notes: tuple[str, ...] = ()

    def of(self, a: str, b: str) -> PairTest:
        """Return the test of a against b, whichever way round it was made."""
        if (a, b) in self.pairs:
            return self.pairs[a, b]
        found = self.pairs[b, a]
        return PairTest(-found.difference, found.p, found.p_single, -found.high, -found.low)


def check_pairs(
    given: Given,
    scores: Mapping[str, float],
    systems: Sequence[str],
    rule: Aggregation,
    *,
    level: float = 0.95,
    models: bool = True,
) -> PairTests:
    """Return the differences of all pairs; with raw data and ``models`` also their tests and intervals."""
    pairs = {(a, b): PairTest(scores[a] - scores[b]) for a, b in combinations(systems, 2)}
    if given.rows is None or not models or len(systems) < 2:
        return PairTests(pairs)
    notes: list[str] = []
    narrowed = _only(given, systems)
    model, tested = _find_p(narrowed, level, notes)
    interval, reached = _find_intervals(narrowed, rule, systems, level, notes)
    found = {}
    for a, b in pairs:
        low, high = reached.get((a, b), (nan, nan))
        p, p_single = tested.get(frozenset((a, b)), (nan, nan))
        found[a, b] = PairTest(pairs[a, b].difference, p, p_single, low, high)
    return PairTests(found, model, interval, tuple(notes))


def _only(given: Given, systems: Sequence[str]) -> Given:
    """Return the rows of these systems."""
    assert given.rows is not None
    frame = given.rows.frame
    if {"system_a", "system_b"} <= set(frame.columns):
        kept = frame["system_a"].isin(list(systems)) & frame["system_b"].isin(list(systems))
    else:
        kept = frame["system"].isin(list(systems))
    rows = replace(given.rows, frame=frame[kept.to_numpy()].reset_index(drop=True))
    return replace(given, rows=rows)


def _find_p(
    given: Given, level: float, notes: list[str]
) -> tuple[str, dict[frozenset[str], tuple[float, float]]]:
    assert given.rows is not None
    try:
        rows = given.rows
        if given.choices and DECIDED not in read_trials(rows, given.name).counts():
            notes.append("No test of the differences: no comparison was decided.")
            return "", {}
        if not given.choices:
            rows = replace(rows, frame=usable_rows(given)[0].reset_index(drop=True))
        compared = compare_systems(rows, level=level).criteria[0]
    except PanelistError as error:
        notes.append(f"No test of the differences: {error}")
        return "", {}
    tested = {frozenset((pair.a, pair.b)): (pair.p_adjusted, pair.p) for pair in compared.pairs}
    return f"{compared.model} {compared.formula}".strip(), tested


def _find_intervals(
    given: Given,
    rule: Aggregation,
    systems: Sequence[str],
    level: float,
    notes: list[str],
) -> tuple[str, dict[tuple[str, str], tuple[float, float]]]:
    """Return how the intervals were made, and the interval of each pair on the scale of the scores."""
    if rule.name == "mean":
        found = _by_linear_model(given, level)
        if found:
            return "linear mixed model", found
    try:
        values = value_outputs(given, rule)
    except PanelistError as error:
        notes.append(f"No intervals: {error}")
        return "", {}
    reached = {}
    for a, b in combinations(systems, 2):
        if "item" in values:
            wide = values.groupby(["item", "system"], observed=True)["value"].mean().unstack()
            reached[a, b] = _paired(wide[[a, b]].dropna().to_numpy(dtype=np.float64), level)
    return "t over items", reached


def _by_linear_model(given: Given, level: float) -> dict[tuple[str, str], tuple[float, float]]:
    assert given.rows is not None
    rows = replace(given.rows, frame=usable_rows(given)[0].reset_index(drop=True))
    for model in ("lmm", "lm"):
        try:
            compared = compare_systems(rows, model=model, adjust="none", level=level).criteria[0]
        except PanelistError:
            continue
        found = {}
        for pair in compared.pairs:
            found[pair.a, pair.b] = (pair.low, pair.high)
            found[pair.b, pair.a] = (-pair.high, -pair.low)
        return found
    return {}


def _paired(values: Floats, level: float) -> tuple[float, float]:
    """Return the t interval of the mean difference of two columns."""
    gap = values[:, 0] - values[:, 1]
    n = len(gap)
    if n < 2:
        return nan, nan
    reach = float(two_sided_quantile(level, np.array(n - 1.0))) * float(gap.std(ddof=1)) / sqrt(n)
    return float(gap.mean()) - reach, float(gap.mean()) + reach
