"""Findings and whether they hold (type IV results): stated in the study, or every order of two systems.

P, as QRA3 counts it: over all pairs of studies and all pairs of systems, the share in which the sign of the
difference is the same; a tie is a separate outcome, so that a tie in both counts as agreement, and a tie
against an order does not. P ignores uncertainty. So every finding gets a verdict on each repeat's own
analysis (verdicts.py), and three rules are kept in addition: ``direction``, the same sign of the scores'
difference; ``significant``, a test that says so (of a difference that way, or of equivalence for ``=``);
``interval``, the repeat's estimate where the original predicts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan, nan

import numpy as np
from numpy.typing import ArrayLike

from panelist.core.errors import BadReproduction
from panelist.reproduction.measures.pair_tests import PairTest, PairTests
from panelist.reproduction.measures.verdicts import NOT_UPHELD, UNDECIDED, UPHELD, find_margin, judge, predict
from panelist.study.sections.findings import Finding, parse_finding

SIGNS = {1: ">", 0: "=", -1: "<"}
RULES = ("direction", "significant", "interval")


@dataclass(frozen=True)
class Evidence:
    """What one repeat says about a finding; a rule that cannot be applied is None.

    ``difference`` with its ``p``, ``low`` and ``high`` come from one analysis of the repeat; ``scores`` is
    the difference of its scores, and both are the same where there is no analysis. ``predicted_low`` and
    ``predicted_high`` say where the original expects the difference.
    """

    repeat: str
    scores: float
    difference: float
    p: float
    low: float
    high: float
    p_equivalent: float
    predicted_low: float
    predicted_high: float
    direction: bool
    significant: bool | None
    interval: bool | None
    verdict: str
    reason: str


@dataclass(frozen=True)
class FindingCheck:
    """A finding, what the original says about it, and what each repeat does.

    ``original`` is the difference of ``first`` and ``second`` in the original's analysis, ``original_p`` its
    p, and ``original_scores`` the difference of its scores. ``shown`` says whether the original shows the
    finding itself; None where that takes a test that it lacks. ``margin`` is the smallest difference that
    matters, in units of the scores.
    """

    first: str
    sign: str
    second: str
    stated: bool
    original: float
    original_scores: float
    original_p: float
    shown: bool | None
    margin: float
    evidence: tuple[Evidence, ...]

    @property
    def finding(self) -> str:
        """The finding as a study file writes it, without its criterion."""
        return f"{self.first} {self.sign} {self.second}"

    @property
    def verdict(self) -> str:
        """What the repeats say together: upheld by all, not upheld by one, or undecided."""
        said = {one.verdict for one in self.evidence}
        if NOT_UPHELD in said:
            return NOT_UPHELD
        return UPHELD if said == {UPHELD} else UNDECIDED

    @property
    def tested(self) -> bool:
        """Whether every repeat has a test of it."""
        return all(not isnan(one.p) for one in self.evidence)

    def upheld(self, rule: str = "direction") -> bool | None:
        """Return whether every repeat upholds it by the rule; None where the rule cannot be applied.

        That two systems are the same is never upheld by the scores' order alone, but by its verdict.
        """
        if rule == "direction" and self.sign == "=":
            return self.verdict == UPHELD
        found = [getattr(one, rule) for one in self.evidence]
        return None if any(one is None for one in found) else all(found)


def count_agreements(scores: ArrayLike) -> tuple[int, int]:
    """Return in how many comparisons (pairs of studies × pairs of systems) the order agrees, and of how many.

    >>> count_agreements([[56, 68, 48, 80], [76, 92, 68, 68]])
    (3, 6)
    """
    X = np.asarray(scores, dtype=np.float64)
    i, j = np.triu_indices(X.shape[1], 1)
    signs = [[find_sign(row[a] - row[b], row) for a, b in zip(i, j, strict=True)] for row in X]
    pairs = list(combinations(signs, 2))
    agree = sum(a == b for one, other in pairs for a, b in zip(one, other, strict=True))
    return agree, len(pairs) * len(i)


def find_sign(difference: float, values: ArrayLike) -> int:
    """Return the sign of a difference, 0 where it is nothing but rounding."""
    size = float(np.max(np.abs(np.asarray(values, dtype=np.float64)), initial=1.0))
    return 0 if abs(difference) <= 1e-9 * size else int(np.sign(difference))


def list_stated(
    texts: Sequence[str], criterion: str, systems: Sequence[str]
) -> tuple[list[Finding], list[str]]:
    """Return the findings stated on a criterion, and notes on those about systems that are not compared."""
    found, notes = [], []
    for text in texts:
        finding = parse_finding(text)
        if finding is None:
            raise BadReproduction(
                f"A finding is written as 'fluency: tuned > rules' (or < or =). Got {text!r}."
            )
        if finding.criterion != criterion:
            continue
        if unknown := [name for name in (finding.first, finding.second) if name not in systems]:
            notes.append(f"The finding {text!r} names {unknown[0]!r}, which is not in every study: left out.")
            continue
        found.append(finding)
    return found, notes


def derive_findings(criterion: str, tests: PairTests, systems: Sequence[str]) -> list[Finding]:
    """Return the order of every pair of systems in the original, the higher one first."""
    found = []
    for a, b in combinations(systems, 2):
        sign = find_sign(tests.of(a, b).difference, [one.difference for one in tests.pairs.values()])
        first, second = (b, a) if sign < 0 else (a, b)
        found.append(Finding(criterion, first, "=" if sign == 0 else ">", second))
    return found


def check_finding(
    finding: Finding,
    original: PairTests,
    repeats: Sequence[tuple[str, PairTests]],
    *,
    stated: bool,
    confidence: float = 0.95,
    margin: float | None = None,
) -> FindingCheck:
    """Return the finding with the evidence of the original and of every repeat."""
    there = original.of(finding.first, finding.second)
    reach = find_margin(there, margin, confidence)
    return FindingCheck(
        first=finding.first,
        sign=finding.sign,
        second=finding.second,
        stated=stated,
        original=there.best,
        original_scores=there.difference,
        original_p=there.p,
        shown=_is_shown(finding, original, confidence),
        margin=reach,
        evidence=tuple(_weigh(finding, label, tests, there, reach, confidence) for label, tests in repeats),
    )


def _is_shown(finding: Finding, original: PairTests, confidence: float) -> bool | None:
    """Return whether the original shows the finding: by the order of its scores, or by a test of no order."""
    there = original.of(finding.first, finding.second)
    if finding.sign != "=":
        return SIGNS[_sign(original, finding)] == finding.sign
    return there.p >= 1 - confidence if there.tested else None


def _weigh(
    finding: Finding, label: str, tests: PairTests, there: PairTest, margin: float, confidence: float
) -> Evidence:
    here = tests.of(finding.first, finding.second)
    direction = SIGNS[_sign(tests, finding)] == finding.sign
    found = judge(finding.sign, there, here, margin, confidence)
    significant: bool | None = None
    if finding.sign == "=":
        significant = None if isnan(found.p_equivalent) else found.p_equivalent < 1 - confidence
    elif here.tested:
        significant = found.verdict == UPHELD
    low, high = predict(there, here, confidence)
    return Evidence(
        repeat=label,
        scores=here.difference,
        difference=here.best,
        p=here.p,
        low=here.low,
        high=here.high,
        p_equivalent=found.p_equivalent,
        predicted_low=low,
        predicted_high=high,
        direction=direction,
        significant=significant,
        interval=None if isnan(low) else low <= here.estimate <= high,
        verdict=found.verdict,
        reason=found.reason,
    )


def _sign(tests: PairTests, finding: Finding) -> int:
    values = [one.difference for one in tests.pairs.values()] or [nan]
    return find_sign(tests.of(finding.first, finding.second).difference, values)
