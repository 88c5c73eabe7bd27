"""How an analysis is made, in one object: made once, passed down, and printed into the result."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from panelist.analysis.choices.models.choice_model import check_cluster
from panelist.analysis.systems.across import check_across
from panelist.analysis.systems.ranks import Better, check_better
from panelist.core.errors import BadModel, UnknownName, did_you_mean
from panelist.core.margin import CLAIMS, Margin, read_margin
from panelist.models.family_words import check_family
from panelist.models.inference.adjust import find_adjustment
from panelist.models.prior_words import parse_prior

if TYPE_CHECKING:
    from panelist.study.study import Study

ALLOWED = ("scale", "nominal")
"""Effects of systems beside the location: a spread of their own, thresholds of their own."""
MAXIMAL = "maximal"
"""The formula that stands for the largest model that the design supports."""
_OF_SIMULATIONS = ("method", "as_compared")


@dataclass(frozen=True, kw_only=True)
class AnalysisSpec:
    """All that, with the data, repeats an analysis: of ratings, or of data sets simulated for their power."""

    model: str = "auto"
    link: str = "probit"
    formula: str | None = None
    """Exactly this model; None (or ``maximal``) is the largest that the design supports."""
    adjust: str = "tukey"
    across_criteria: str = "none"
    margin: Margin | None = None
    """The largest difference that does not matter; a number of points or a text is read as one."""
    claim: str | None = None
    """What is to be shown with the margin, equivalence or non-inferiority, in simulations of its power."""
    allow: tuple[str, ...] = ()
    """What systems of an ordinal model may have of their own, if tests ask for it: scale, nominal."""
    better: Better | None = None
    """None: as the study says for each criterion, else higher."""
    reference: str | None = None
    confidence: float = 0.95
    test: str = "t"
    """For the ordinal mixed model: t, which allows for few raters and items, or z."""
    family: str = "cumulative"
    """Of the ordinal models: how their categories come about, as ``fit`` has it."""
    prior: str | None = None
    """Of the ordinal models: weak, or what models/prior_words.py reads; None is the likelihood alone."""
    cluster: str = "both"
    """Which choices are correlated; for ratings the model says it."""
    style: tuple[str, ...] = ()
    """What else differs between outputs and is controlled for in choices: columns such as words."""
    resamples: int = 1000
    seed: int = 0
    columns: Mapping[str, str | None] = field(default_factory=dict, hash=False)
    drop: tuple[str, ...] = ()
    by: str | None = None
    look: str = ""
    """At which look at an unfinished study it is made, in words; empty where none was declared."""
    method: str = "REML"
    """Of linear mixed models in simulations; one that is not simulated is always fitted by REML."""
    as_compared: bool = True
    """Whether simulated data are analysed as ``compare`` would: smaller models where the largest is singular,
    systems at one end of the scale tested nevertheless, the linear model where it leads."""

    def __post_init__(self) -> None:
        if self.prior == "none":
            object.__setattr__(self, "prior", None)
        parse_prior(self.prior)
        check_family(self.family)
        check_cluster(self.cluster)
        object.__setattr__(self, "margin", read_margin(self.margin))
        _check_claim(self.claim, self.margin)
        object.__setattr__(self, "allow", read_allowed(self.allow))
        check_better(self.better or "higher")
        check_across(self.across_criteria)
        object.__setattr__(self, "adjust", find_adjustment(self.adjust).name)
        if self.formula == MAXIMAL:
            object.__setattr__(self, "formula", None)

    @classmethod
    def from_study(cls, study: "Study | None") -> "AnalysisSpec":
        """Return the analysis that a study declares; without a study, the defaults."""
        if study is None:
            return cls()
        plan = study.file.analysis
        return cls(
            model=plan.model,
            link=plan.link,
            family=plan.family,
            formula=plan.formula,
            adjust=plan.adjust,
            across_criteria=plan.across_criteria,
            margin=read_margin(plan.margin),
            claim=plan.claim,
            allow=tuple(plan.allow),
            confidence=1 - plan.alpha,
            prior=plan.prior,
            style=tuple(plan.style),
        )

    def override(
        self, *, margin: Margin | float | str | None, better: Better | None, across_criteria: str | None
    ) -> "AnalysisSpec":
        """Return the spec with what was asked for in place of what a study declares; None leaves it."""
        return replace(
            self,
            margin=self.margin if margin is None else read_margin(margin),
            better=better or self.better,
            across_criteria=across_criteria or self.across_criteria,
        )

    def as_released(self) -> "AnalysisSpec":
        """Return the analysis of Howcroft & Rieser's released script: ML, z, and the largest model always."""
        return replace(self, method="ML", test="z", as_compared=False)

    @property
    def alpha(self) -> float:
        """The level of the tests."""
        return round(1 - self.confidence, 12)  # 1 - 0.95 is not 0.05 in binary

    def to_dict(self) -> dict[str, Any]:
        """Return names and values of what an analysis of ratings can differ in."""
        values = {name: value for name, value in asdict(self).items() if name not in _OF_SIMULATIONS}
        return values | {"margin": None if self.margin is None else self.margin.written}


def read_allowed(words: str | Iterable[str]) -> tuple[str, ...]:
    """Return what is allowed, each once and in its order; UnknownName for another word.

    >>> read_allowed("nominal, scale")
    ('scale', 'nominal')
    """
    given = [word.strip() for word in (words.split(",") if isinstance(words, str) else words)]
    for word in filter(None, given):
        if word not in ALLOWED:
            raise UnknownName(
                f"No effect that can be allowed is called {word!r}. {did_you_mean(word, ALLOWED)}"
            )
    return tuple(name for name in ALLOWED if name in given)


def _check_claim(claim: str | None, margin: Margin | None) -> None:
    """Raise unless a claim is one of those there are, and has its margin."""
    if claim is None:
        return
    if claim not in CLAIMS:
        raise UnknownName(f"No claim is called {claim!r}. {did_you_mean(claim, CLAIMS)}")
    if margin is None:
        raise BadModel(
            f"A claim of {claim} needs the largest difference that does not matter, chosen before the data: "
            "--margin 0.5 (points of the scale) or --margin '0.3 latent'; in a study, analysis: margin:."
        )
