"""Checks of a model: threshold spacing, proportional odds, predicted shares; residuals of a linear one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from panelist.analysis.checks.linear_checks import LinearChecks, check_linear_model
from panelist.analysis.checks.predicted_shares import PredictedShares, predict_shares
from panelist.analysis.checks.proportional_odds import ProportionalOdds, check_proportional_odds
from panelist.analysis.checks.remedies import Remedy, find_remedy
from panelist.analysis.checks.threshold_spacing import Spacing, measure_spacing
from panelist.analysis.missing import Missing, attempt
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.analysis.systems.marginal import find_term
from panelist.core.display.result import Part, Result, Sentence

if TYPE_CHECKING:
    from panelist.core.tables.ratings import Ratings
    from panelist.models.results.fitted import Fit


@dataclass(frozen=True)
class ModelChecks(Result):
    """The checks of one criterion's model, each with the reason where it could not be made."""

    criterion: str
    spacing: Spacing | Missing
    proportional_odds: ProportionalOdds | Missing
    shares: PredictedShares | Missing
    remedy: Remedy | Missing | None = None
    """What to do where thresholds are not shifted alike by an amount that matters; None where nothing is."""
    linear: LinearChecks | Missing | None = None
    """The residuals of a linear model, which has no thresholds; None where the model is ordinal."""

    def title(self) -> str:
        """Return the heading."""
        return f"Checks of the model of {self.criterion}"

    def parts(self) -> list[Part]:
        """Return the parts of each check."""
        if self.linear is not None:
            return [Sentence(self.linear.reason)] if isinstance(self.linear, Missing) else self.linear.parts()
        whole: list[Part] = []
        for check in (self.spacing, self.proportional_odds, self.shares):
            whole += [Sentence(check.reason)] if isinstance(check, Missing) else check.parts()
            if check is self.proportional_odds and self.remedy is not None:
                lost = isinstance(self.remedy, Missing)
                whole.append(Sentence(self.remedy.reason if lost else self.remedy.advice()))  # type: ignore[union-attr]
        return whole

    def to_dict(self) -> dict[str, Any]:
        """Return the checks by name."""
        if self.linear is not None:
            return {"linear": self.linear.to_dict()}
        return {
            "spacing": self.spacing.to_dict(),
            "proportional_odds": self.proportional_odds.to_dict(),
            "shares": self.shares.to_dict(),
            "remedy": None if self.remedy is None else self.remedy.to_dict(),
        }


def check_model(
    comparison: CriterionComparison, interval: CriterionComparison | Missing, rows: "Ratings | None" = None
) -> ModelChecks:
    """Return the checks of the model behind a comparison; ``interval`` is the interval analysis.

    With the ``rows`` that were fitted, a departure from proportional odds that matters gets its remedy.
    """
    fit: Fit = comparison.fit
    name = comparison.criterion
    term = find_term(comparison)
    if not fit.ordinal:
        none = Missing("The model is linear: it has no thresholds.")
        found = attempt(lambda: check_linear_model(fit, name, term))
        return ModelChecks(name, none, none, none, linear=found)
    linear = interval if isinstance(interval, Missing) else interval.fit
    own = "Systems have spreads or thresholds of their own here."
    stepped = f"{str(fit.family).capitalize()} categories have no thresholds on one latent scale."
    none = Missing(own if fit.family == "cumulative" else stepped)
    odds = attempt(lambda: check_proportional_odds(fit, name, term)) if fit.is_plain else none
    spacing = attempt(lambda: measure_spacing(fit, name)) if fit.has_latent_differences else none
    return ModelChecks(
        name,
        spacing,
        odds,
        attempt(lambda: predict_shares(fit, name, linear, term)),
        _find_remedy(comparison, odds, rows, term),
    )


def _find_remedy(
    comparison: CriterionComparison, odds: ProportionalOdds | Missing, rows: "Ratings | None", term: str
) -> Remedy | Missing | None:
    """Return what to do, where systems shift thresholds by different amounts that matter."""
    if isinstance(odds, Missing) or rows is None or not odds.matters:
        return None
    return attempt(
        lambda: find_remedy(
            rows, comparison.fit, comparison.criterion, term, comparison.confidence, links=True
        )
    )
