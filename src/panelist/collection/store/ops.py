"""The operations: everything that is written is one of these, small and frozen, and may be run twice.

A commit whose acknowledgement was lost is run again. So each operation carries what makes it itself (a key, a
token, the time), and finds what it did before instead of doing it twice.
"""

import secrets
import time as clock
from base64 import b32encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from panelist.collection.store import people
from panelist.collection.store import statements as sql
from panelist.collection.store.answers import Answer, Move, PageDone, move_visit, save_answers
from panelist.collection.store.engine import Link
from panelist.collection.store.errors import BadStore
from panelist.collection.store.plans import PlanShelf
from panelist.collection.store.records import Saved, Visit, clean_text, write_json
from panelist.collection.store.tables import STUDY_STATES

T = TypeVar("T")


@dataclass(frozen=True)
class Desk:
    """What an operation works with: the connection of the writer, and the plan."""

    link: Link
    shelf: PlanShelf


def new_token() -> str:
    """Return 128 random bits as 26 letters and digits."""
    return b32encode(secrets.token_bytes(16)).decode().rstrip("=")


def new_key() -> str:
    """Return a key that no other operation has."""
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Generic[T]):
    """Something to write. ``run`` returns what its future will hold once it is on disk."""

    time: float = field(default_factory=clock.time)
    key: str = field(default_factory=new_key, repr=False)
    first: ClassVar[bool] = False
    """Whether it locks the study: those go before the others, so that two processes never wait crosswise."""

    @property
    def order(self) -> int:
        """The place in a batch: locks are taken in one order everywhere."""
        return -1 if self.first else getattr(self, "visit", 0)

    def run(self, desk: Desk) -> T:
        """Do it, inside the transaction of the batch."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event that goes with answers or a move."""

    kind: str
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SaveAnswers(Operation[Saved]):
    """Answers of one page; with ``done`` the page is complete, with ``move`` the visit goes on."""

    visit: int
    occasion: int
    page: int
    answers: tuple[Answer, ...] = ()
    done: PageDone | None = None
    move: Move | None = None
    events: tuple[NewEvent, ...] = ()

    def run(self, desk: Desk) -> Saved:
        """Return what was stored and where the visit is now."""
        saved = save_answers(
            desk.link, self.visit, self.occasion, self.page, self.answers, self.done, self.move, self.time
        )
        if self.move is None or saved.moved:  # a form that came second tells nothing new
            _add_events(desk.link, saved.visit, self.events, self.time, self.key)
        return saved


@dataclass(frozen=True, slots=True)
class MoveVisit(Operation[Saved]):
    """A visit goes to another step, with what happened on the way."""

    visit: int
    move: Move
    events: tuple[NewEvent, ...] = ()

    def run(self, desk: Desk) -> Saved:
        """Return the visit, and whether it moved."""
        visit = people.load_visit(desk.link, self.visit)
        moved = move_visit(desk.link, visit, self.move, self.time)
        if moved is not None:
            _add_events(desk.link, moved, self.events, self.time, self.key)
        return Saved((), moved or visit, moved is not None)


@dataclass(frozen=True, slots=True)
class AddEvent(Operation[None]):
    """Something that happened in a visit."""

    visit: int
    kind: str
    detail: Mapping[str, Any] = field(default_factory=dict)

    def run(self, desk: Desk) -> None:
        """Add the row."""
        visit = people.load_visit(desk.link, self.visit)
        _add_events(desk.link, visit, (NewEvent(self.kind, self.detail),), self.time, self.key)


@dataclass(frozen=True, slots=True)
class SeeVisit(Operation[None]):
    """A sign of life from a visit that goes on: its place is held from now again."""

    visit: int

    def run(self, desk: Desk) -> None:
        """Set the time."""
        if not people.load_visit(desk.link, self.visit).over:
            desk.link.run(sql.SEE_VISIT, {"id": self.visit, "seen": self.time})


@dataclass(frozen=True, slots=True)
class Join(Operation[Visit]):
    """Somebody came by the open link."""

    group: str | None = None
    outside_id: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    state: str = "consent"
    token: str = field(default_factory=new_token, repr=False)
    first: ClassVar[bool] = True

    def run(self, desk: Desk) -> Visit:
        """Return the visit of this person."""
        return people.join(
            desk.link,
            desk.shelf.newest(desk.link).places,
            token=self.token,
            group=self.group,
            outside_id=self.outside_id,
            params=self.params,
            state=self.state,
            time=self.time,
        )


@dataclass(frozen=True, slots=True)
class Assign(Operation[Visit]):
    """The group of a visit is known now: give it a place."""

    visit: int
    group: str
    first: ClassVar[bool] = True

    def run(self, desk: Desk) -> Visit:
        """Return the visit with its place."""
        places = desk.shelf.newest(desk.link).places
        return people.assign(desk.link, places, self.visit, self.group, self.time)


@dataclass(frozen=True, slots=True)
class MakeLinks(Operation[tuple[Visit, ...]]):
    """Links to hand out: one for each free place, or for ``count`` of them."""

    count: int | None = None
    group: str | None = None
    who: str = ""
    first: ClassVar[bool] = True

    def run(self, desk: Desk) -> tuple[Visit, ...]:
        """Return the visits of the links."""
        made = people.make_links(
            desk.link,
            desk.shelf.newest(desk.link).places,
            count=self.count,
            group=self.group,
            secret=self.key,
            time=self.time,
        )
        detail = {"places": [visit.place for visit in made]}
        add_action(desk.link, self, self.who, "made links", str(len(made)), "", detail)
        return made


@dataclass(frozen=True, slots=True)
class EndVisit(Operation[Visit]):
    """A visit is released or excluded, by a person (``who``) or by a rule: its place is free again."""

    visit: int
    state: str
    reason: str
    who: str = ""

    def run(self, desk: Desk) -> Visit:
        """Return the visit as it is now."""
        visit, changed = people.end_visit(desk.link, self.visit, self.state, self.reason, self.time)
        if changed:
            event = NewEvent(self.state, {"reason": self.reason, "place": visit.place})
            _add_events(desk.link, visit, (event,), self.time, self.key)
            if self.who:
                target = visit.place or f"visit {visit.id}"
                add_action(desk.link, self, self.who, self.state, target, self.reason, {"visit": visit.id})
        return visit


@dataclass(frozen=True, slots=True)
class ReleaseStale(Operation[tuple[Visit, ...]]):
    """Visits where nobody was seen for long give their places back, unless their ``seen`` is another now."""

    stale: tuple[tuple[int, float], ...]
    first: ClassVar[bool] = True

    def run(self, desk: Desk) -> tuple[Visit, ...]:
        """Return the visits that were let go."""
        gone = people.release_stale(desk.link, self.stale, self.time)
        for visit in gone:
            event = NewEvent("released", {"reason": visit.reason, "place": visit.place})
            _add_events(desk.link, visit, (event,), self.time, f"{self.key}-{visit.id}")
        return gone


@dataclass(frozen=True, slots=True)
class Reopen(Operation[Visit]):
    """Somebody whose visit timed out is back; ``params``: by the panel again, with another submission."""

    visit: int
    params: Mapping[str, Any] | None = None
    first: ClassVar[bool] = True

    def run(self, desk: Desk) -> Visit:
        """Return the visit, going on where it was if its place is still free."""
        reasons = (people.TIMED_OUT,) if self.params is None else (people.TIMED_OUT, *people.COMING_BACK)
        visit = people.reopen(desk.link, self.visit, self.time, reasons, self.params)
        if not visit.over:
            _add_events(desk.link, visit, (NewEvent("resumed"),), self.time, self.key)
        return visit


@dataclass(frozen=True, slots=True)
class AddAction(Operation[None]):
    """Something that a researcher did."""

    who: str
    what: str
    target: str = ""
    reason: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)

    def run(self, desk: Desk) -> None:
        """Add the row."""
        add_action(desk.link, self, self.who, self.what, self.target, self.reason, self.detail)


@dataclass(frozen=True, slots=True)
class SetState(Operation[str]):
    """The study is opened, paused or closed."""

    state: str
    who: str
    reason: str = ""
    first: ClassVar[bool] = True

    def run(self, desk: Desk) -> str:
        """Return the state."""
        if self.state not in STUDY_STATES:
            raise BadStore(f"A study is {', '.join(STUDY_STATES)}. Got {self.state!r}.")
        study = people.lock_study(desk.link)
        if study.state != self.state:
            row = {"id": study.id, "state": self.state, "hash": study.hash, "title": study.title}
            desk.link.run(sql.SET_STUDY, row)
            add_action(desk.link, self, self.who, f"study {self.state}", "study", self.reason, {})
        return self.state


@dataclass(frozen=True, slots=True)
class Beat(Operation[None]):
    """Writes what is there already: whether that can be done is whether answers can be saved."""

    first: ClassVar[bool] = True

    def run(self, desk: Desk) -> None:
        """Write."""
        desk.link.run(sql.BEAT)


@dataclass(frozen=True, slots=True)
class AddPlan(Operation[int]):
    """A new version of the plan; ``row`` is what plans.pack_plan made of it."""

    row: Mapping[str, Any] = field(repr=False)
    places: int
    who: str = ""
    first: ClassVar[bool] = True

    def run(self, desk: Desk) -> int:
        """Return the number of the version in force."""
        people.lock_study(desk.link)
        version = desk.shelf.newest(desk.link)
        if version.plan.hash == self.row["hash"]:
            return version.number
        desk.link.run(sql.NEW_PLAN, dict(self.row) | {"version": version.number + 1})
        detail = {"version": version.number + 1, "places": self.places}
        add_action(desk.link, self, self.who, "changed the plan", "plan", self.row["note"], detail)
        return version.number + 1


def add_action(
    link: Link, op: "Operation[Any]", who: str, what: str, target: str, reason: str, detail: Mapping[str, Any]
) -> None:
    """Add a row to the record of what researchers did; once for each operation."""
    row = {"time": op.time, "who": who, "what": what, "target": target, "reason": clean_text(reason)}
    link.run(sql.NEW_ACTION, row | {"detail": write_json(detail), "key": op.key})


def _add_events(link: Link, visit: Visit, new: tuple[NewEvent, ...], time: float, key: str) -> None:
    if visit.state == "declined":
        new = tuple(event for event in new if event.kind == "declined")  # nothing else is kept of them
    for number, event in enumerate(new):
        row = {"visit": visit.id, "time": time, "kind": event.kind, "detail": write_json(event.detail)}
        link.run(sql.NEW_EVENT, row | {"key": f"{key}-{number}"})
