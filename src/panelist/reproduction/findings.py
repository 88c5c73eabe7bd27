"""Findings and whether they hold (type IV results): stated in the study, or every order of two systems.

P, as QRA3 counts it: over all pairs of studies and all pairs of systems, the share in which the sign of the
difference is the same; a tie is an outcome of its own, so that a tie in both counts as agreement, and a tie
against an order does not. P knows no uncertainty. So every finding is also held against each repeat by three
rules: ``direction``, the same sign; ``significant``, the same sign and a test that says so; ``interval``, the
same sign and the original's difference inside the repeat's interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan, nan

import numpy as np
from numpy.typing import ArrayLike

from panelist.core.errors import BadReproduction
from panelist.reproduction.pair_tests import PairTests
from panelist.study.findings import Finding, parse_finding

SIGNS = {1: ">", 0: "=", -1: "<"}
RULES = ("direction", "significant", "interval")


@dataclass(frozen=True)
class Evidence:
    """What one repeat says of a finding; a rule that cannot be applied is None."""

    repeat: str
    difference: float
    p: float
    low: float
    high: float
    direction: bool
    significant: bool | None
    interval: bool | None


@dataclass(frozen=True)
class FindingCheck:
    """A finding, what the original says of it, and what each repeat does.

    ``original`` is the difference of the scores of ``first`` and ``second`` there, ``original_p`` the p of
    its test where there are raw data. ``shown`` says whether the original's own scores show the finding.
    """

    first: str
    sign: str
    second: str
    stated: bool
    original: float
    original_p: float
    shown: bool
    evidence: tuple[Evidence, ...]

    @property
    def finding(self) -> str:
        """The finding as a study file writes it, without its criterion."""
        return f"{self.first} {self.sign} {self.second}"

    def upheld(self, rule: str = "direction") -> bool | None:
        """Return whether every repeat upholds it by the rule; None where the rule cannot be applied."""
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
    level: float = 0.95,
) -> FindingCheck:
    """Return the finding with the evidence of the original and of every repeat."""
    there = original.of(finding.first, finding.second)
    evidence = tuple(_weigh(finding, label, tests, there.difference, level) for label, tests in repeats)
    return FindingCheck(
        first=finding.first,
        sign=finding.sign,
        second=finding.second,
        stated=stated,
        original=there.difference,
        original_p=there.p,
        shown=SIGNS[_sign(original, finding)] == finding.sign,
        evidence=evidence,
    )


def _weigh(finding: Finding, label: str, tests: PairTests, original: float, level: float) -> Evidence:
    here = tests.of(finding.first, finding.second)
    direction = SIGNS[_sign(tests, finding)] == finding.sign
    alike = finding.sign == "="
    significant: bool | None = None
    if not isnan(here.p):
        differs = here.p < 1 - level
        significant = not differs if alike else (direction and differs)
    inside: bool | None = None
    if not isnan(here.low) and not isnan(original):
        inside = here.low <= original <= here.high and (direction or alike)
    return Evidence(label, here.difference, here.p, here.low, here.high, direction, significant, inside)


def _sign(tests: PairTests, finding: Finding) -> int:
    values = [one.difference for one in tests.pairs.values()] or [nan]
    return find_sign(tests.of(finding.first, finding.second).difference, values)
