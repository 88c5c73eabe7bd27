"""What one study says about every pair of systems: the difference of their scores, and one analysis of it.

The estimate, its standard error, interval and p come from the same analysis, in units of the scores, so that
they agree with each other and can be compared with another study's difference. For means of ratings and
percentages of yes it is a linear mixed model with Satterthwaite's degrees of freedom, which holds its level
with few raters and items (docs/method.md); for medians, majorities and choices, Student's t over items, which
takes the raters as given. Nothing is adjusted for the number of pairs: a repeat tests each finding of its
original once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan, nan, sqrt

import numpy as np

from panelist.analysis.choices.trials import DECIDED, read_trials
from panelist.analysis.compare import compare_systems
from panelist.core.errors import PanelistError
from panelist.models.inference.adjust import two_sided_quantile
from panelist.numerics.arrays import Floats
from panelist.reproduction.aggregate import Aggregation, usable_rows, value_outputs
from panelist.reproduction.sources import Given

MODELLED = {"mean": 1.0, "votes": 100.0}  # rules whose scores are means of single answers, times this factor


@dataclass(frozen=True)
class PairTest:
    """Two systems a and b in one study; nan where something is unknown.

    ``difference`` is that of their scores. ``estimate`` is the same difference in the analysis, and ``se``,
    ``df``, ``p``, ``low`` and ``high`` belong to it.
    """

    difference: float
    estimate: float = nan
    se: float = nan
    df: float = nan
    p: float = nan
    low: float = nan
    high: float = nan

    @property
    def tested(self) -> bool:
        """Whether there is an analysis that can tell the difference from zero."""
        return not isnan(self.p)

    @property
    def best(self) -> float:
        """The estimate of the analysis, or the difference of the scores where there is none."""
        return self.difference if isnan(self.estimate) else self.estimate

    def turn(self) -> PairTest:
        """Return the same pair in the other order."""
        return replace(
            self, difference=-self.difference, estimate=-self.estimate, low=-self.high, high=-self.low
        )


@dataclass(frozen=True)
class PairTests:
    """Every pair of systems in one study, and the analysis in words."""

    pairs: Mapping[tuple[str, str], PairTest]
    analysis: str = ""
    notes: tuple[str, ...] = ()

    def of(self, a: str, b: str) -> PairTest:
        """Return the test of a against b, whichever way round it was made."""
        return self.pairs[a, b] if (a, b) in self.pairs else self.pairs[b, a].turn()


def check_pairs(
    given: Given,
    scores: Mapping[str, float],
    systems: Sequence[str],
    rule: Aggregation,
    *,
    confidence: float = 0.95,
    fit_models: bool = True,
) -> PairTests:
    """Return the differences of all pairs; with raw data and ``fit_models`` also their analysis."""
    pairs = {(a, b): PairTest(scores[a] - scores[b]) for a, b in combinations(systems, 2)}
    if given.rows is None or not fit_models or len(systems) < 2:
        return PairTests(pairs)
    notes: list[str] = []
    narrowed = _only(given, systems)
    analysis, found = (
        _by_linear_model(narrowed, rule, confidence, notes) if rule.name in MODELLED else ("", {})
    )
    if not found:
        analysis, found = _over_items(narrowed, rule, systems, confidence, notes)
    whole = {pair: replace(found.get(pair, one), difference=one.difference) for pair, one in pairs.items()}
    if found and not any(one.tested for one in whole.values()):
        notes.append("No test of the differences: the ratings leave nothing to estimate chance from.")
    return PairTests(whole, analysis, tuple(notes))


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


def _by_linear_model(
    given: Given, rule: Aggregation, confidence: float, notes: list[str]
) -> tuple[str, dict[tuple[str, str], PairTest]]:
    """Return the linear mixed model's answers, or a linear one's where nothing says who rated what."""
    assert given.rows is not None
    frame = usable_rows(given)[0].reset_index(drop=True)
    rows = replace(given.rows, frame=frame.assign(rating=MODELLED[rule.name] * frame["rating"]))
    trouble = ""
    for model, words in (("lmm", "linear mixed model"), ("lm", "linear model, ratings taken as independent")):
        try:
            compared = compare_systems(rows, model=model, adjust="none", confidence=confidence).criteria[0]
        except PanelistError as error:
            trouble = str(error)
            continue
        found = {}
        for pair in compared.pairs:
            one = PairTest(nan, pair.difference, pair.se, pair.df, pair.p, pair.low, pair.high)
            found[pair.a, pair.b], found[pair.b, pair.a] = one, one.turn()
        return f"{words} {compared.formula}", found
    notes.append(f"No linear model of the differences: {trouble}")
    return "", {}


def _over_items(
    given: Given, rule: Aggregation, systems: Sequence[str], confidence: float, notes: list[str]
) -> tuple[str, dict[tuple[str, str], PairTest]]:
    """Return Student's t over items, whose values are made by the rule."""
    assert given.rows is not None
    try:
        if given.choices and DECIDED not in read_trials(given.rows, given.name).counts():
            notes.append("No test of the differences: no comparison was decided.")
            return "", {}
        values = value_outputs(given, rule)
    except PanelistError as error:
        notes.append(f"No test of the differences: {error}")
        return "", {}
    if "item" not in values:
        notes.append("No test of the differences: there is no column item.")
        return "", {}
    wide = values.groupby(["item", "system"], observed=True)["value"].mean().unstack()
    found = {}
    for a, b in combinations(systems, 2):
        if {a, b} <= set(wide.columns):
            found[a, b] = _paired(wide[[a, b]].dropna().to_numpy(dtype=np.float64), confidence)
    return "t over items, the raters taken as given", found


def _paired(values: Floats, confidence: float) -> PairTest:
    """Return the t test of the mean difference of two columns; without a p where the items do not differ."""
    from scipy.special import stdtr

    gap = values[:, 0] - values[:, 1]
    n = len(gap)
    if n < 2:
        return PairTest(nan)
    mean, se, df = float(gap.mean()), float(gap.std(ddof=1)) / sqrt(n), n - 1.0
    if se <= 1e-12 * max(1.0, abs(mean)):  # nothing to estimate chance from
        return PairTest(nan, mean)
    reach = float(two_sided_quantile(confidence, np.array(df))) * se
    p = 2 * float(stdtr(df, -abs(mean) / se))
    return PairTest(nan, mean, se, df, p, mean - reach, mean + reach)
