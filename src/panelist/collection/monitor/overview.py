"""The state of data collection at one moment: everything that the dashboard shows of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from statistics import median

from panelist.collection.monitor.flags import QUIET_MINUTES, Flag, find_flags, find_usual, quiet_minutes
from panelist.collection.monitor.ledger import Folder, Ledger, VisitTally
from panelist.collection.monitor.plan_facts import PlaceFacts, PlanFacts, count_cells
from panelist.collection.monitor.real_pay import PaySoFar, find_bonus, find_hourly, measure_pay
from panelist.collection.pages.reading_pace import Pace, measure_pace
from panelist.collection.pseudonyms import make_pseudonym
from panelist.collection.store.operations.places import TIMED_OUT
from panelist.collection.store.records import Visit
from panelist.study.study import Study

MOST_LISTS = 12  # more lists than these are shown together
FINISHED, RATING, INVITED, OPEN = "finished", "rating", "invited", "open"

STATES = {
    "invited": "Link not opened",
    "waiting": "Waiting for the next sitting",
    "comments": "Commenting",
    "finished": "Finished",
    "declined": "Declined",
    "screened_out": "Screened out",
    "released": "Released",
    "excluded": "Excluded",
}
READING = ("consent", "background", "sound", "instructions", "examples", "comprehension")
PRACTISING = ("practice", "feedback", "again")


@dataclass(frozen=True)
class RaterLine:
    """One rater in the table."""

    id: int
    name: str
    """The pseudonym; its end is what the table shows."""
    place: str
    list: str
    group: str
    state: str
    """In words."""
    over: bool
    counts: bool
    """Whether it is finished and fills its place."""
    pages: int
    of_pages: int
    seconds: float
    hourly: float | None
    bonus: Decimal
    """What would bring the pay to the floor."""
    passed: int
    checks: int
    flags: tuple[Flag, ...]
    last: float
    """When something was last seen of it."""

    @property
    def short(self) -> str:
        """The end of the pseudonym."""
        return f"…{self.name[-4:]}"


@dataclass(frozen=True)
class PlaceRow:
    """The places of one list, or of several together: the state of each, in order."""

    label: str
    states: tuple[str, ...]

    def count(self, state: str) -> int:
        """Return how many places are in this state."""
        return self.states.count(state)


@dataclass(frozen=True)
class Overview:
    """The state of data collection."""

    state: str
    since: float
    places: int
    finished: int
    ratings: int
    of_ratings: int
    per_output: tuple[int, int]
    """The least and most ratings that an output has from raters who finished."""
    of_per_output: tuple[int, int]
    outputs_by_ratings: Mapping[int, int]
    """How many outputs have how many ratings."""
    median_seconds: float | None
    pay: PaySoFar
    by: str
    """What the rows of places are: list, group or all."""
    rows: tuple[PlaceRow, ...]
    gone: int
    """Visits that began and gave their place back."""
    refilled: int
    """Of these, those whose place another rater has by now."""
    raters: tuple[RaterLine, ...] = field(repr=False)
    """The latest first."""
    open_places: int
    quiet: tuple[int, ...]
    """The numbers of visits where nobody has been seen for a while."""
    simulated: int = 0
    """How many of those who came are simulated raters."""

    @property
    def flagged(self) -> int:
        """How many raters have a flag."""
        return sum(bool(line.flags) for line in self.raters)


def make_overview(
    ledger: Ledger,
    study: Study,
    facts: PlanFacts,
    now: float,
    agrees: Mapping[int, float] | None = None,
    paid: Mapping[int, Decimal] | None = None,
    follows: Mapping[int, str] | None = None,
) -> Overview:
    """Return the state of data collection; ``agrees`` has the correlation of each visit with the rest.

    ``paid`` has what a panel really pays for visits; the others are paid as planned. ``follows`` has the
    judge whose scores a visit's answers follow beyond what the others explain.
    """
    folders = list(ledger.folders.values())
    holders = {
        folder.visit.place: folder.visit
        for folder in folders
        if folder.visit.place is not None and not folder.visit.freed
    }
    done = [folder for folder in folders if folder.visit.state == "finished" and folder.visit.valid]
    got, wanted = count_cells(facts, [folder.visit.place or "" for folder in done])
    real = paid or {}
    pay = measure_pay(
        study, [(_find_pay(folder.visit, facts, real), folder.tally.seconds) for folder in done]
    )
    by, rows = _lay_out_places(facts, holders)
    gone = [folder.visit for folder in folders if folder.visit.freed and folder.visit.opened is not None]
    return Overview(
        state=ledger.study.state,
        since=ledger.since,
        places=len(facts.places),
        finished=len(done),
        ratings=sum(folder.tally.ratings for folder in folders if not folder.visit.freed),
        of_ratings=facts.ratings,
        per_output=(int(got.min()) if len(got) else 0, int(got.max(initial=0))),
        of_per_output=(int(wanted.min()) if len(wanted) else 0, int(wanted.max(initial=0))),
        outputs_by_ratings=dict(sorted(Counter(got.tolist()).items())),
        median_seconds=median(folder.tally.seconds for folder in done) if done else None,
        pay=pay,
        by=by,
        rows=rows,
        gone=len(gone),
        refilled=sum((visit.place or "") in holders for visit in gone),
        raters=_list_raters(
            folders,
            study,
            facts,
            pay,
            holders,
            ledger.study.salt,
            ledger.study.state,
            now,
            agrees or {},
            real,
            follows or {},
        ),
        open_places=len(facts.places) - sum(place in facts.places for place in holders),
        quiet=tuple(
            folder.visit.id
            for folder in folders
            if ledger.study.state == "open" and quiet_minutes(folder.visit, now) >= QUIET_MINUTES
        ),
        simulated=sum(folder.visit.simulated for folder in folders),
    )


def _find_pay(visit: Visit, facts: PlanFacts, paid: Mapping[int, Decimal]) -> Decimal | None:
    known = facts.places.get(visit.place or "")
    return paid.get(visit.id, known.pay if known is not None else None)


def name_visit(visit: Visit, salt: str) -> str:
    """Return the pseudonym of a visit's rater, the same as in exports."""
    return make_pseudonym(salt, f"id {visit.outside_id}" if visit.outside_id else f"visit {visit.token}")


def say_state(visit: Visit, refilled: bool, closed: bool = False) -> str:
    """Return the state of a visit in words; once the study is closed, nobody continues."""
    if closed and not visit.over and visit.state != "invited":
        return "Not finished"
    if visit.state in READING:
        return "Reading in"
    if visit.state in PRACTISING:
        return "Practising"
    said = STATES.get(visit.state, "Rating now")
    if visit.state == "released":
        said = "Timed out" if visit.reason == TIMED_OUT else "Released"
    if visit.freed and visit.place is not None:
        said += ", place refilled" if refilled else ", place open"
    return said


def _list_raters(
    folders: Sequence[Folder],
    study: Study,
    facts: PlanFacts,
    pay: PaySoFar,
    holders: Mapping[str, Visit],
    salt: str,
    state: str,
    now: float,
    agrees: Mapping[int, float],
    paid: Mapping[int, Decimal],
    follows: Mapping[int, str],
) -> tuple[RaterLine, ...]:
    usual = find_usual(folder.tally for folder in folders)
    lines = []
    for folder in folders:
        visit, tally = folder.visit, folder.tally
        place = facts.places.get(visit.place or "")
        amount = _find_pay(visit, facts, paid)
        hourly = find_hourly(amount, tally.seconds) if place and visit.state == "finished" else None
        flags = find_flags(
            visit, tally, now=now if state == "open" else 0.0, pace=find_pace(folder, place),
            usual_seconds=usual,
            hourly=hourly, floor=pay.floor,
            agrees=agrees.get(visit.id) if folder.answers else None,  # erased since it was measured
            follows=follows.get(visit.id) if folder.answers else None,
        )  # fmt: skip
        lines.append(
            RaterLine(
                id=visit.id,
                name=name_visit(visit, salt),
                place=visit.place or "",
                list=place.list if place else "",
                group=visit.group,
                state=say_state(visit, (visit.place or "") in holders, state == "closed"),
                over=visit.over,
                counts=visit.state == "finished" and visit.valid,
                pages=len(tally.pages - place.practice) if place else 0,
                of_pages=place.pages if place else 0,
                seconds=tally.seconds,
                hourly=hourly,
                bonus=_find_bonus(amount, tally, hourly, pay),
                passed=sum(tally.checks.values()),
                checks=len(tally.checks),
                flags=flags,
                last=max(visit.seen or 0.0, visit.ended or 0.0, visit.created if not visit.opened else 0.0),
            )
        )
    return tuple(sorted(lines, key=lambda line: (-line.last, -line.id)))


def find_pace(folder: Folder, place: PlaceFacts | None) -> Pace | None:
    """Return how fast a visit went through its pages; counted again only when there are more of them."""
    if place is None:
        return None
    if folder.pace is None or folder.pace[0] != len(folder.pages):
        timed = [
            (seconds, place.words[page])
            for page, seconds in folder.pages.items()
            if seconds is not None and page in place.words
        ]
        folder.pace = (len(folder.pages), measure_pace(timed))
    return folder.pace[1]


def _find_bonus(amount: Decimal | None, tally: VisitTally, hourly: float | None, pay: PaySoFar) -> Decimal:
    if amount is None or hourly is None or pay.floor is None:
        return Decimal(0)
    return find_bonus(amount, tally.seconds, pay.floor)


def _lay_out_places(facts: PlanFacts, holders: Mapping[str, Visit]) -> tuple[str, tuple[PlaceRow, ...]]:
    """Return the places by list where there are few lists, else by group, else all together."""
    lists = dict.fromkeys(place.list for place in facts.places.values())
    groups = dict.fromkeys(place.group for place in facts.places.values())
    by = "list" if 1 < len(lists) <= MOST_LISTS else "group" if 1 < len(groups) <= MOST_LISTS else "all"
    rows: dict[str, list[str]] = {}
    for name, place in facts.places.items():
        label = {"list": place.list, "group": place.group}.get(by, "All")
        rows.setdefault(label, []).append(_find_place_state(holders.get(name)))
    return by, tuple(
        PlaceRow(label, tuple(sorted(states, key=_RANK.__getitem__))) for label, states in rows.items()
    )


_RANK = {FINISHED: 0, RATING: 1, INVITED: 2, OPEN: 3}


def _find_place_state(holder: Visit | None) -> str:
    if holder is None:
        return OPEN
    return {"finished": FINISHED, "invited": INVITED}.get(holder.state, RATING)
