"""Looks at a study before its end: which one this is, and the level that is left for it.

The share of the information at a look follows from the design and from spreads that were known before, never
from the standard errors of the look: a small one spends too much just where the statistic is large. What is
counted are raters; with the same items, half of them have more than half of the information.
"""

from dataclasses import dataclass, replace
from math import floor, log10
from typing import TYPE_CHECKING, Any

from panelist.analysis.spec import AnalysisSpec
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.models.inference.group_sequential import find_critical, find_variance

if TYPE_CHECKING:
    from panelist.study.sections.analysis_plan import AnalysisPlan
    from panelist.study.study import Study

GENERAL = (0.43, 0.77)
"""SDs, over raters and over items, of the difference of two systems: those of the preset ``general``."""


@dataclass(frozen=True)
class StudyLook:
    """One look: after how many raters, at which share of the information, tested at which two-sided level."""

    number: int
    of: int
    raters: int
    final: int
    information: float
    critical: float
    level: float
    spending: str
    declared: bool = True

    @property
    def last(self) -> bool:
        """Whether it is the planned end."""
        return self.raters >= self.final

    def sentence(self) -> str:
        """Return which look this is, and what it means for tests and intervals."""
        place = f"look {self.number} of {self.of}" if self.declared else "a look that was not declared"
        said = (
            f"This is {place}, after {self.raters} of {self.final} raters ({100 * self.information:.0f} % of "
            f"the information): by {self.spending} spending p is compared with {self.level:g}, and "
            f"intervals are repeated ones, of level {1 - self.level:.4g}."
        )
        if self.last:
            return said
        return f"{said} Estimates at a look that stops a study are too large on average."


def find_look(study: "Study", n_raters: int) -> StudyLook | None:
    """Return the look that a study is at with this many raters; None where it declares none."""
    plan = study.file.analysis
    if not plan.looks or n_raters < 1:
        return None
    final = plan.looks[-1]
    reached = min(n_raters, final)
    before = [raters for raters in plan.looks if raters < reached]
    each = plan_load(study)
    rates = [_share(plan, raters, len(study.items), each) for raters in (*before, reached)]
    critical = find_critical(rates, plan.spending, plan.alpha)[-1]
    number = sum(raters <= reached for raters in plan.looks)
    declared = n_raters in plan.looks
    return StudyLook(
        number=max(number, 1),
        of=len(plan.looks),
        raters=n_raters,
        final=final,
        information=rates[-1],
        critical=critical,
        level=_round_down(_nominal(critical)),
        spending=plan.spending,
        declared=declared,
    )


def mark_look(one: Any, spec: AnalysisSpec) -> Any:
    """Return a comparison that says at which look it was made."""
    return replace(one, look=spec.look) if spec.look and isinstance(one, CriterionComparison) else one


def plan_looks(study: "Study") -> list[StudyLook]:
    """Return every look that a study declares."""
    found = (find_look(study, raters) for raters in study.file.analysis.looks)
    return [look for look in found if look is not None]


def plan_load(study: "Study") -> float:
    """Return how many outputs of each system a rater is planned to rate, by the study file."""
    design, items, systems = study.file.design, len(study.items), max(len(study.systems), 1)
    pages = design.trials_per_rater or (items * systems if design.type == "full" else items)
    return min(float(items), max(1.0, pages / systems))


def look_at(spec: AnalysisSpec, look: StudyLook | None) -> AnalysisSpec:
    """Return the analysis at a look: by its level, and with Holm's adjustment, which any level allows."""
    if look is None:
        return spec
    return replace(spec, confidence=1 - look.level, adjust="holm", look=look.sentence())


def _share(plan: "AnalysisPlan", raters: int, items: int, each: float) -> float:
    """Return the share of the information that this many raters have."""
    final = plan.looks[-1]
    if raters >= final:
        return 1.0
    if plan.information:
        if raters in plan.looks:
            return plan.information[plan.looks.index(raters)]
        # As declared for the first look: a part of the variance falls with raters, the rest stays.
        first, share = plan.looks[0], plan.information[0]
        rest = max((1 / final - share / first) / (share - 1), 0.0)
        return (1 / final + rest) / (1 / raters + rest)
    variances = [find_variance(n, min(items, n * each), n * each, GENERAL) for n in (final, raters)]
    return variances[0] / variances[1]


def _nominal(critical: float) -> float:
    from scipy.special import ndtr

    return float(2 * ndtr(-critical))


def _round_down(level: float) -> float:
    """Return a level to three digits that can be printed, never above the one given.

    >>> _round_down(0.012345), _round_down(0.0458)
    (0.0123, 0.0458)
    """
    digits = 2 - floor(log10(level))
    return float(floor(level * 10.0**digits + 1e-9) / 10.0**digits)
