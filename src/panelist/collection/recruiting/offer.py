"""What a panel is offered: places, minutes and reward, by plan and pay rule."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil

from panelist.collection.recruiting.errors import BadRecruiting
from panelist.collection.store.operations.recruits import Recruit
from panelist.collection.store.records import Visit
from panelist.design.assess.plan_cost import cost_plan
from panelist.design.plan import Plan
from panelist.study.sections.recruiting import Recruiting
from panelist.study.sections.wages import exact, find_pay, find_wage, round_up
from panelist.study.study import Study


@dataclass(frozen=True)
class Offer:
    """Places, time and money; ``reward`` is in pence or cents."""

    places: int
    minutes: int
    reward: int
    wage: Decimal
    """What an hour is promised."""
    currency: str
    fee_percent: float

    @property
    def total(self) -> Decimal:
        """What all places cost, with the panel's fee."""
        bare = Fraction(self.places * self.reward, 100)
        return round_up(bare * (1 + exact(self.fee_percent) / 100))

    @property
    def hourly(self) -> Decimal:
        """The hourly pay of a rater who takes the minutes announced."""
        return Decimal(self.reward * 60 // self.minutes).scaleb(-2)


def make_offer(study: Study, plan: Plan, places: int) -> Offer:
    """Return the offer for ``places`` places; raise BadRecruiting where it pays less than promised."""
    pay, recruiting = study.file.pay, study.file.recruiting or Recruiting()
    cost = cost_plan(plan, study)
    if pay is None or not cost.wage:
        raise BadRecruiting(
            "The study promises no wage, so there is no price. Add hourly, living_wage or minimum_wage under "
            "pay: in the study file."
        )
    if len(cost.occasions) > 1:
        raise BadRecruiting(
            f"The plan has {len(cost.occasions)} sittings, and a Prolific submission is one. Recruit for "
            "each sitting by hand, or ask for one (occasions: 1 under design:)."
        )
    needed = cost.occasions[0].minutes
    if needed is None:
        raise BadRecruiting(
            "The study file does not say how long a page takes. Add minutes_per_trial under pay:, from a "
            "pilot or a guess."
        )
    minutes = recruiting.minutes or ceil(needed[1])
    fair = find_pay(pay, max(Fraction(minutes), exact(needed[1])))
    reward = fair if recruiting.reward is None else round_up(Fraction(recruiting.reward))
    if reward < fair:
        raise BadRecruiting(
            f"{reward} {pay.currency} for {max(minutes, ceil(needed[1]))} minutes is less than the "
            f"{cost.wage} {pay.currency} an hour that the study promises: that takes {fair}. Raise reward "
            "under recruiting:, or leave it out."
        )
    return Offer(places, minutes, int(reward * 100), cost.wage, pay.currency, pay.fee_percent)


def check_promise(study: Study, reward: int, minutes: int) -> None:
    """Raise BadRecruiting where a study on a panel pays less for its minutes than an hour is promised."""
    pay = study.file.pay
    wage = find_wage(pay) if pay is not None else Decimal(0)
    if pay is not None and Fraction(reward, 100) * 60 < Fraction(wage) * minutes:
        raise BadRecruiting(
            f"On the panel the study pays {Decimal(reward).scaleb(-2)} {pay.currency} for {minutes} minutes, "
            f"less than the {wage} {pay.currency} an hour promised. Set the reward to "
            f"{find_pay(pay, minutes)} there, or make the draft again."
        )


def count_capacity(
    places: Iterable[str], visits: Iterable[Visit], recruits: Iterable[Recruit], took: Iterable[str]
) -> int:
    """Return how many submissions a study on a panel can have in all: the places that the plan has for

    it. These are the places that nobody from elsewhere holds. One that was taken there for good (``took``:
    the statuses in which it is) without filling its place here needs another.
    """
    wanted, by_id = set(places), {visit.id: visit for visit in visits}
    ours = {one.visit for one in recruits if one.visit is not None}
    elsewhere = {v.place for v in by_id.values() if v.id not in ours and v.place in wanted and not v.freed}
    gone = set(took)
    lost = sum(
        one.status in gone and (one.visit is None or by_id[one.visit].freed)
        for one in recruits
        if one.visit is None or one.visit in by_id
    )
    return len(wanted) - len(elsewhere) + lost
