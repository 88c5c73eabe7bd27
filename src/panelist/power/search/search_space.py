"""What a search for the smallest design is given: the difference to be found, and where it may look."""

from dataclasses import dataclass

import numpy as np

from panelist.core.errors import BadDesign, PanelistError
from panelist.core.numbers import check_count
from panelist.power.design_cost import Tariff
from panelist.power.layouts.pages import PageDesign

RATINGS = (2, 3, 5, 10)
MOST_RATINGS = 10_000
MOST_ITEMS = 2_000
GOALS = ("cost", "ratings", "raters", "items")


@dataclass(frozen=True)
class Target:
    """The difference between systems (in threshold distances) and how often it is to be found."""

    effect: float
    power: float = 0.8
    systems: int = 2
    pattern: str = "steps"
    claimed: bool = False
    """Whether the effect is that of a claim, a true difference in the unit of its margin, which may be 0."""

    def __post_init__(self) -> None:
        if not self.claimed and not (np.isfinite(self.effect) and self.effect != 0):
            raise PanelistError(
                "A sample size needs an effect other than 0, the difference worth finding. Got "
                f"{self.effect:g}."
            )
        if not 0.05 < self.power < 0.995:
            raise PanelistError(
                f"The target power must be between 0.05 and 0.995. Got {self.power:g}; 0.8 is usual."
            )


@dataclass(frozen=True)
class SearchSpace:
    """The designs to consider: families by ratings and loads, their limits, and what to minimise."""

    ratings_per_item: tuple[int, ...] = RATINGS
    outputs_per_rater: tuple[int | None, ...] = (None,)
    max_items: int = MOST_ITEMS
    max_raters: int | None = None
    tariff: Tariff | None = None
    budget: float | None = None
    goal: str | None = None
    pages: PageDesign | None = None
    """How outputs are compared; None where they are rated."""
    turns: int = 1
    """How many turns of an output are rated, each by itself."""

    def __post_init__(self) -> None:
        if self.budget is not None and self.tariff is None:
            raise PanelistError(
                "A budget needs a wage: add --pay-per-hour and --minutes-per-rating, or a --study."
            )
        if self.budget is not None and self.budget <= 0:
            raise PanelistError(f"The budget must be positive. Got {self.budget:g}.")
        if self.smallest not in GOALS or (self.smallest == "cost" and self.tariff is None):
            raise PanelistError(
                f"The goal is one of {', '.join(GOALS)}, and cost needs a wage. Got {self.smallest!r}."
            )

    @property
    def smallest(self) -> str:
        """What to minimise: the goal, else cost where a wage is known, else ratings."""
        return self.goal or ("cost" if self.tariff is not None else "ratings")

    def cap(self, ratings: int, systems: int) -> int:
        """Return the most items considered: what was allowed, within a limit on ratings in all."""
        check_count("ratings per item", ratings, error=BadDesign)
        if self.max_items < 10:
            raise BadDesign(f"The search needs room: allow at least 10 items. Got {self.max_items}.")
        judged = systems if self.pages is None else self.pages.pages_per_item
        return max(10, min(self.max_items, MOST_RATINGS // (judged * ratings)))

    def allows(self, cost: float | None, raters: int) -> bool:
        """Return whether a design of this cost and this many raters is within budget and limits."""
        paid = cost is None or self.budget is None or cost <= self.budget
        return paid and (self.max_raters is None or raters <= self.max_raters)
