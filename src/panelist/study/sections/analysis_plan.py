"""The analysis section of a study file: what will be done with the ratings, declared before there are any."""

import re
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from panelist.core.errors import BadModel
from panelist.core.margin import read_margin
from panelist.core.schema import StudyPart, Text
from panelist.models.prior_words import parse_prior


def _check_prior(words: str) -> str:
    try:
        parse_prior(words)
    except BadModel as error:
        raise ValueError(str(error)) from error
    return words


PriorWords = Annotated[Text, AfterValidator(_check_prior)]


def _write_margin(given: Any) -> Any:
    """Return a margin as a file holds it: points as a number, so that both spellings are one study."""
    if not isinstance(given, str | int | float) or isinstance(given, bool):
        return given
    try:
        found = read_margin(given)
    except BadModel as error:
        raise ValueError(str(error)) from None
    return found.written if found is not None else None


StudyMargin = Annotated[
    PositiveFloat | Annotated[str, Field(pattern=r"^[0-9.e+-]+ latent$")] | None,
    BeforeValidator(_write_margin),
]


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
    family: Literal["cumulative", "sequential", "adjacent"] = "cumulative"
    """How the categories of an ordinal model come about: cuts of one scale, steps up from the lowest, or each
    against the next (``link: logit``)."""
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    adjust: Literal["tukey", "holm", "bonferroni", "bh", "none"] = "tukey"
    """How p-values allow for the number of pairs."""
    across_criteria: Literal["none", "holm", "bonferroni"] = "none"
    """How p-values allow for the number of criteria; ``none`` tests each criterion separately."""
    margin: StudyMargin = None
    """The largest difference that does not matter, in points of the scale (0.5) or in residual SDs
    (``0.3 latent``): pairs are tested for equivalence and non-inferiority."""
    prior: PriorWords | None = None
    """Of ordinal models: ``weak``, or such as ``normal(2.5)``, ``t(3, 2.5), wishart``; by default none."""
    style: tuple[Text, ...] = ()
    """In choices: what else differs between outputs and is controlled for, such as ``[words]``: what can be
    counted in them, or a column of numbers of the outputs file."""
    claim: Literal["equivalence", "non-inferiority"] | None = None
    """What the study is planned to show with its margin; by default differences."""
    allow: tuple[Literal["scale", "nominal"], ...] = ()
    """What systems may have of their own where tests ask for it: a spread (scale), thresholds (nominal)."""
    looks: tuple[PositiveInt, ...] = ()
    """Numbers of raters after which the ratings are looked at, the last at the end: ``[12, 24]``."""
    spending: Literal["obrien-fleming", "pocock"] = "obrien-fleming"
    """How much of alpha early looks may spend: hardly any, or nearly as much as the last."""
    information: tuple[float, ...] = ()
    """Shares of the information at each look, the last 1; without them, by usual spreads of raters and
    items."""
    exclude: Exclusions = Exclusions()
    findings: tuple[Text, ...] = ()
    """Findings expected or claimed, such as ``fluency: tuned > rules``; a repeat is compared with them."""
    aggregation: str = ""
    """How single ratings become scores, in words, where the model does not do it."""

    @property
    def style_columns(self) -> tuple[str, ...]:
        """The columns that style names, without the logarithm."""
        return tuple(re.sub(r"^log\((.+)\)$", r"\1", name.strip()).strip() for name in self.style)

    @model_validator(mode="after")
    def _claim_needs_margin(self) -> "AnalysisPlan":
        if self.claim is not None and self.margin is None:
            raise ValueError(
                f"a claim of {self.claim} needs the largest difference that does not matter. Add margin: 0.5 "
                "(points of the scale), or margin: 0.3 latent"
            )
        return self

    @model_validator(mode="after")
    def _looks_rise(self) -> "AnalysisPlan":
        if len(self.looks) == 1 or any(a >= b for a, b in pairwise(self.looks)):
            raise ValueError(
                f"looks are two or more rising numbers of raters, such as [12, 24]; found {list(self.looks)}"
            )
        shares = self.information
        if shares and (
            len(shares) != len(self.looks)
            or any(a >= b for a, b in pairwise((0.0, *shares)))
            or shares[-1] != 1
        ):
            raise ValueError(
                f"information has a rising share for each of the {len(self.looks)} looks, the last 1, such "
                f"as [0.77, 1]; found {list(shares)}"
            )
        return self
