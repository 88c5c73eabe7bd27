"""The state of recruiting: what the panel says, what our own pages say, and what there is to do."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from panelist.collection.monitor.real_pay import PaySoFar
from panelist.collection.recruiting import submission_review as advice
from panelist.collection.recruiting.prolific import submission as prolific
from panelist.collection.recruiting.submission_review import Reviewed
from panelist.collection.store.operations.recruits import Campaign
from panelist.core.display.formats import Cell
from panelist.core.display.result import Part, Result, Sentence, Table, pick
from panelist.core.prose import count


@dataclass(frozen=True)
class RecruitingState(Result):
    """How recruiting stands."""

    campaign: Campaign
    capacity: int
    """How many submissions the plan has places for in all."""
    free: int
    """Places of the plan that nobody holds."""
    finished: int
    places: int
    pay: PaySoFar
    reviewed: tuple[Reviewed, ...] = field(repr=False)
    names: Mapping[int, str] = field(repr=False)
    """The pseudonym of each visit."""
    freed: int = 0
    """Places freed at this look."""
    currency: str = ""
    unfinished: int = 0
    """Bonuses that were asked for and not acknowledged."""

    @property
    def statuses(self) -> Counter[str]:
        """How many submissions have each status."""
        return Counter(one.status for one in self.reviewed)

    @property
    def lacking(self) -> int:
        """How many more places the panel has to be asked for, so that the plan fills up."""
        return max(0, self.capacity - self.campaign.places)

    def advised(self, what: str) -> tuple[Reviewed, ...]:
        """Return the submissions for which the rules say this."""
        return tuple(one for one in self.reviewed if one.advice == what)

    @property
    def bonuses(self) -> dict[str, int]:
        """What each submission is short of the promised hourly rate, in pence or cents."""
        return {one.submission: one.bonus for one in self.reviewed if one.bonus}

    @property
    def people(self) -> dict[str, str]:
        """Whose submission it is, in the words of the panel."""
        return {one.submission: one.person for one in self.reviewed}

    def name(self, one: Reviewed) -> str:
        """Return the name of a rater on the dashboard."""
        return f"…{self.names[one.visit.id][-4:]}" if one.visit is not None else "–"

    def title(self) -> str:
        """Return the heading."""
        return f"Recruiting on {self.campaign.panel.capitalize()}: {self.campaign.status.lower()}"

    def parts(self) -> list[Part]:
        """Return counts, what there is to do, and the submissions it is about."""
        counts: list[tuple[Cell, ...]] = [
            (status.lower(), str(self.statuses[status]))
            for status in (*prolific.STATUSES, *sorted(set(self.statuses) - set(prolific.STATUSES)))
            if self.statuses[status]
        ]
        parts: list[Part] = [
            Sentence(
                f"{self.finished} of {self.places} raters have finished; {count(self.free, 'place')} free. "
                f"{self.campaign.panel.capitalize()} is asked for {self.campaign.places}."
            )
        ]
        if counts:
            parts.append(Table("Submissions", ("status", "submissions"), counts))
        rows: list[tuple[Cell, ...]] = [
            (one.submission, self.name(one), one.status.lower(), one.advice or "–", one.why)
            for one in self.reviewed
            if one.advice not in (advice.NOTHING,)
        ]
        if rows:
            parts.append(Table("To do", ("submission", "rater", "status", "advice", "why"), rows))
        said = self.sentences()
        return [*parts, *(Sentence(f"\n{one}" if not place else one) for place, one in enumerate(said))]

    def sentences(self) -> list[str]:
        """Return what there is to do, in words."""
        said = []
        if self.freed:
            said.append(f"{count(self.freed, 'place')} released just now, to be taken by others.")
        if self.lacking and self.campaign.status in ("ACTIVE", "PAUSED", "AWAITING REVIEW"):
            said.append(
                f"The plan has {self.lacking} more places than are asked for: panelist recruit STUDY places "
                f"{self.capacity}."
            )
        if self.pay.hourly:
            low, sign = self.pay.hourly[0], self.pay.sign
            said.append(
                f"Real pay: median {sign}{self.pay.median or 0:.2f} an hour, lowest {sign}{low:.2f}; "
                f"{sign}{self.pay.promised} is promised."
            )
        if self.unfinished:
            said.append(
                f"{count(self.unfinished, 'bonus payment')} begun and not acknowledged: panelist recruit "
                "STUDY bonus checks the state and continues."
            )
        if self.bonuses:
            total = Decimal(sum(self.bonuses.values())).scaleb(-2)
            said.append(
                f"{count(len(self.bonuses), 'rater')} paid less than promised for the time it took: a bonus "
                f"of {total} {self.currency} in all makes up for it (panelist recruit STUDY bonus)."
            )
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the submissions; without the ids of people."""
        return {
            "panel": self.campaign.panel,
            "study": self.campaign.outside_id,
            "status": self.campaign.status,
            "places": self.campaign.places,
            **pick(self, "capacity free finished"),
            "statuses": dict(self.statuses),
            "freed": self.freed,
            "reward": self.campaign.reward,
            "minutes": self.campaign.minutes,
            "pay": {
                "promised": None if self.pay.promised is None else str(self.pay.promised),
                "median": self.pay.median,
                "lowest": self.pay.hourly[0] if self.pay.hourly else None,
            },
            "bonuses": dict(self.bonuses),
            "unfinished": self.unfinished,
            "submissions": [
                {"submission": one.submission, "status": one.status, "advice": one.advice, "why": one.why}
                for one in self.reviewed
            ],
        }
