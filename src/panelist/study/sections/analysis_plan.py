"""The analysis section of a study file: what will be done with the ratings, declared before there are any."""

from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveFloat

from panelist.core.schema import StudyPart, Text


class Exclusions(StudyPart):
    """Rules by which raters or ratings are set aside; each is reported with its count."""

    failed_checks: NonNegativeInt | None = None
    """Raters who fail more checks than this."""
    median_seconds_below: PositiveFloat | None = None
    """Raters whose median time on a page is shorter."""
    same_answer_share_above: float | None = Field(default=None, gt=0, lt=1)
    """Raters who give one and the same answer more often than this share (straight-lining)."""
    seconds_below: PositiveFloat | None = None
    """Single ratings that took less."""
    unfinished: bool = False
    """Raters who did not reach the end."""
    placeholders: bool = False
    """Placeholder raters: ``na``, ``unknown``, or one value throughout for what nobody else rated."""


class AnalysisPlan(StudyPart):
    """What ``analyse`` will do."""

    formula: Text = "maximal"
    """A formula, or ``maximal``: the largest random part that the design supports."""
    model: Literal["auto", "clmm", "clm", "lmm", "lm"] = "auto"
    link: Literal["probit", "logit", "cloglog", "loglog", "cauchit"] = "probit"
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    adjust: Literal["tukey", "holm", "bonferroni", "bh", "none"] = "tukey"
    """How p-values allow for the number of pairs."""
    across_criteria: Literal["none", "holm", "bonferroni"] = "none"
    """How p-values allow for the number of criteria; ``none`` tests each criterion separately."""
    margin: PositiveFloat | None = None
    """Points of the scale below which a difference does not matter: pairs are tested for equivalence."""
    exclude: Exclusions = Exclusions()
    findings: tuple[Text, ...] = ()
    """Findings expected or claimed, such as ``fluency: tuned > rules``; a repeat is compared with them."""
    aggregation: str = ""
    """How single ratings become scores, in words, where the model does not do it."""
