"""What is asked of the planner: a design, the difference to be found, and the analysis."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any
from urllib.parse import urlencode


@dataclass(frozen=True)
class PlannerQuery:
    """A design of two or more systems, and what it should find. ``effect`` is in threshold distances."""

    preset: str
    criterion: str
    effect: float
    systems: int
    items: int
    ratings_per_item: int
    outputs_per_rater: int
    model: str
    power: float
    pay: float | None
    """What one rater gets; None is what the pay rule of the study says."""

    @property
    def load(self) -> int:
        """How many texts a rater sees: no more than there are items, because none is shown twice."""
        return min(self.outputs_per_rater, self.items)

    def encode(self, **changes: Any) -> str:
        """Return the query as the parameters of an address."""
        told = {**vars(self), **changes}
        return urlencode({name: f"{value}" for name, value in told.items() if value is not None})


@dataclass(frozen=True)
class Number:
    """A number of the form: its name and label, and what is allowed."""

    name: str
    label: str
    low: float
    high: float
    step: float = 1

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are meant."""
        return self.step == 1

    def read(self, text: str) -> float:
        """Return the number, or raise ValueError with a sentence that says what is allowed."""
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        kind = "a whole number" if self.whole else "a number"
        if not isfinite(number) or not self.low <= number <= self.high or (self.whole and number % 1):
            shown = text.strip()[:20] or "nothing"
            raise ValueError(f"{self.label}: {kind} from {self.low:g} to {self.high:g}. Got {shown}.")
        return number


EFFECT = Number("effect", "Smallest difference that matters", 0.05, 2, 0.05)
SYSTEMS = Number("systems", "Systems", 2, 6)
ITEMS = Number("items", "Items", 5, 500)
RATINGS = Number("ratings_per_item", "Ratings per item", 1, 20)
TEXTS = Number("outputs_per_rater", "Outputs per rater", 1, 500)
POWER = Number("power", "Target power", 0.5, 0.99, 0.01)
PAY = Number("pay", "Pay per rater", 0, 10_000, 0.01)
NUMBERS = (EFFECT, SYSTEMS, ITEMS, RATINGS, TEXTS, POWER)


def read_query(
    given: Mapping[str, str], usual: PlannerQuery, choices: Mapping[str, Mapping[str, str]]
) -> tuple[PlannerQuery, dict[str, str]]:
    """Return the query that parameters name, and a sentence for each that cannot be used.

    What is not named, or cannot be used, is as in ``usual``. ``choices`` has the allowed values of the
    fields that are chosen from a list, with their labels.
    """
    found: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for number in NUMBERS:
        if (text := given.get(number.name)) is not None:
            try:
                value = number.read(text)
                found[number.name] = int(value) if number.whole else value
            except ValueError as error:
                problems[number.name] = str(error)
    if text := given.get(PAY.name, "").strip():
        try:
            found["pay"] = PAY.read(text)
        except ValueError as error:
            problems["pay"] = str(error)
    for name, allowed in choices.items():
        if (text := given.get(name)) is None:
            continue
        if text in allowed:
            found[name] = text
        else:
            problems[name] = (
                f"There is no {name} {text[:40]!r} here. These can be chosen: {', '.join(allowed)}."
            )
    return PlannerQuery(**{**vars(usual), **found}), problems
