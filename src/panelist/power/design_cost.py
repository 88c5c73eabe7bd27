"""What a design costs: raters are paid for their minutes, by the pay rule of a study."""

from dataclasses import dataclass
from decimal import Decimal

from panelist.core.errors import PanelistError
from panelist.study.sections.pay import Pay
from panelist.study.sections.wages import find_pay, find_wage


@dataclass(frozen=True)
class Tariff:
    """Pay and minutes; ``pay`` has the wage, the minutes before the first page and the panel's fee."""

    pay: Pay
    minutes_per_rating: float

    def __post_init__(self) -> None:
        if not self.minutes_per_rating > 0:
            raise PanelistError(f"A rating takes more than 0 minutes. Got {self.minutes_per_rating:g}.")
        if not find_wage(self.pay):
            raise PanelistError(
                "No wage is known, so there is no cost. Give --pay-per-hour, or add hourly under pay: in the "
                "study file."
            )

    @property
    def currency(self) -> str:
        """The currency of all amounts."""
        return self.pay.currency

    def find_cost(self, outputs_per_rater: list[int]) -> float:
        """Return the cost of raters who rate these numbers of outputs, the panel's fee included.

        >>> Tariff(Pay(hourly=Decimal(12), minutes_before=5), 1.0).find_cost([25, 25])
        12.0
        """
        counts: dict[int, int] = {}
        for count in outputs_per_rater:
            counts[count] = counts.get(count, 0) + 1
        total = Decimal(0)
        for count, raters in counts.items():
            minutes = self.pay.minutes_before + count * self.minutes_per_rating
            total += raters * find_pay(self.pay, minutes)
        return float(total) * (1 + self.pay.fee_percent / 100)


def make_tariff(
    pay: Pay | None, pay_per_hour: float | None, minutes_per_rating: float | None
) -> Tariff | None:
    """Return the tariff of a study's pay section or of given numbers; None where neither is given."""
    if pay is None and pay_per_hour is None:
        if minutes_per_rating is not None:
            raise PanelistError("--minutes-per-rating needs a wage: add --pay-per-hour, or name a --study.")
        return None
    if pay_per_hour is not None:
        if pay_per_hour <= 0:
            raise PanelistError(f"The pay per hour must be positive. Got {pay_per_hour:g}.")
        given = Decimal(str(pay_per_hour))
        pay = Pay(hourly=given, currency="") if pay is None else pay.model_copy(update={"hourly": given})
    assert pay is not None
    minutes = minutes_per_rating if minutes_per_rating is not None else pay.minutes_per_trial
    if minutes is None:
        raise PanelistError(
            "It is not known how long a rating takes. Give --minutes-per-rating, or add minutes_per_trial "
            "under pay: in the study file."
        )
    return Tariff(pay, minutes)
