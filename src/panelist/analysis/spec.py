"""How an analysis is made, in one object: made once, passed down, and printed into the result."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from panelist.analysis.choices.models.choice_model import check_cluster
from panelist.analysis.systems.across import check_across
from panelist.analysis.systems.equivalence import check_margin
from panelist.analysis.systems.ranks import Better, check_better
from panelist.models.inference.adjust import find_adjustment

if TYPE_CHECKING:
    from panelist.study.study import Study

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
    margin: float | None = None
    better: Better | None = None
    """None: as the study says for each criterion, else higher."""
    reference: str | None = None
    confidence: float = 0.95
    df: str = "t"
    """For the ordinal mixed model: t, which allows for few raters and items, or z."""
    cluster: str = "both"
    """Which choices are correlated; for ratings the model says it."""
    resamples: int = 1000
    seed: int = 0
    columns: Mapping[str, str | None] = field(default_factory=dict, hash=False)
    drop: tuple[str, ...] = ()
    by: str | None = None
    method: str = "REML"
    """Of linear mixed models in simulations; one that is not simulated is always fitted by REML."""
    as_compared: bool = True
    """Whether simulated data are analysed as ``compare`` would: smaller models where the largest is singular,
    systems at one end of the scale tested nevertheless, the linear model where it leads."""

    def __post_init__(self) -> None:
        check_cluster(self.cluster)
        check_margin(self.margin)
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
            formula=plan.formula,
            adjust=plan.adjust,
            across_criteria=plan.across_criteria,
            margin=plan.margin,
            confidence=1 - plan.alpha,
        )

    def override(
        self, *, margin: float | None, better: Better | None, across_criteria: str | None
    ) -> "AnalysisSpec":
        """Return the spec with what was asked for in place of what a study declares; None leaves it."""
        return replace(
            self,
            margin=self.margin if margin is None else margin,
            better=better or self.better,
            across_criteria=across_criteria or self.across_criteria,
        )

    def as_released(self) -> "AnalysisSpec":
        """Return the analysis of Howcroft & Rieser's released script: ML, z, and the largest model always."""
        return replace(self, method="ML", df="z", as_compared=False)

    @property
    def alpha(self) -> float:
        """The level of the tests."""
        return round(1 - self.confidence, 12)  # 1 - 0.95 is not 0.05 in binary

    def to_dict(self) -> dict[str, Any]:
        """Return names and values of what an analysis of ratings can differ in."""
        return {name: value for name, value in asdict(self).items() if name not in _OF_SIMULATIONS}
