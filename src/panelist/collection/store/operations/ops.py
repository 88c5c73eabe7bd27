"""The operations: everything that is written is one of these, small and frozen, and may be run twice.

A commit whose acknowledgement was lost is run again. So each operation carries what identifies it (a key, a
token, the time), and finds what it did before instead of doing it twice.
"""

import secrets
import time as clock
from base64 import b32encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from panelist.collection.store.database import statements as sql
from panelist.collection.store.database.engine import Connection
from panelist.collection.store.database.tables import STUDY_STATES
from panelist.collection.store.errors import BadStore
from panelist.collection.store.operations import places as people
from panelist.collection.store.operations.plans import PlanCache
from panelist.collection.store.operations.saving import Answer, Move, PageDone, move_visit, save_answers
from panelist.collection.store.records import Saved, Visit, clean_text, write_json

T = TypeVar("T")


@dataclass(frozen=True)
class Transaction:
    """What an operation works with: the connection of the writer, and the plan."""

    db: Connection
    plans: PlanCache


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
    """Whether it locks the study: those go before the others, so that two processes never deadlock."""

    @property
    def order(self) -> int:
        """The place in a batch: locks are taken in one order everywhere."""
        return -1 if self.first else getattr(self, "visit", 0)

    def run(self, tx: Transaction) -> T:
        """Do it, inside the transaction of the batch."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event that goes with answers or a move."""

    kind: str
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SaveAnswers(Operation[Saved]):
    """Answers of one page; with ``done`` the page is complete, with ``move`` the visit moves on."""

    visit: int
    occasion: int
    page: int
    answers: tuple[Answer, ...] = ()
    done: PageDone | None = None
    move: Move | None = None
    events: tuple[NewEvent, ...] = ()

    def run(self, tx: Transaction) -> Saved:
        """Return what was stored and where the visit is now."""
        saved = save_answers(
            tx.db, self.visit, self.occasion, self.page, self.answers, self.done, self.move, self.time
        )
        if self.move is None or saved.moved:  # a form that came second tells nothing new
            _add_events(tx.db, saved.visit, self.events, self.time, self.key)
        return saved


@dataclass(frozen=True, slots=True)
class MoveVisit(Operation[Saved]):
    """A visit goes to another step, with what happened on the way."""

    visit: int
    move: Move
    events: tuple[NewEvent, ...] = ()

    def run(self, tx: Transaction) -> Saved:
        """Return the visit, and whether it moved."""
        visit = people.load_visit(tx.db, self.visit)
        moved = move_visit(tx.db, visit, self.move, self.time)
        if moved is not None:
            _add_events(tx.db, moved, self.events, self.time, self.key)
        return Saved((), moved or visit, moved is not None)


@dataclass(frozen=True, slots=True)
class AddEvent(Operation[None]):
    """Something that happened in a visit."""

    visit: int
    kind: str
    detail: Mapping[str, Any] = field(default_factory=dict)

    def run(self, tx: Transaction) -> None:
        """Add the row."""
        visit = people.load_visit(tx.db, self.visit)
        _add_events(tx.db, visit, (NewEvent(self.kind, self.detail),), self.time, self.key)


@dataclass(frozen=True, slots=True)
class SeeVisit(Operation[None]):
    """A sign of life from a visit in progress: its place is held from now again."""

    visit: int

    def run(self, tx: Transaction) -> None:
        """Set the time."""
        if not people.load_visit(tx.db, self.visit).over:
            tx.db.run(sql.SEE_VISIT, {"id": self.visit, "seen": self.time})


@dataclass(frozen=True, slots=True)
class Join(Operation[Visit]):
    """A person came by the open link."""

    group: str | None = None
    outside_id: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    state: str = "consent"
    token: str = field(default_factory=new_token, repr=False)
    first: ClassVar[bool] = True

    def run(self, tx: Transaction) -> Visit:
        """Return the visit of this person."""
        return people.join(
            tx.db,
            tx.plans.newest(tx.db).places,
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

    def run(self, tx: Transaction) -> Visit:
        """Return the visit with its place."""
        places = tx.plans.newest(tx.db).places
        return people.assign(tx.db, places, self.visit, self.group, self.time)


@dataclass(frozen=True, slots=True)
class MakeLinks(Operation[tuple[Visit, ...]]):
    """Links to hand out: one for each free place, or for ``count`` of them."""

    count: int | None = None
    group: str | None = None
    who: str = ""
    first: ClassVar[bool] = True

    def run(self, tx: Transaction) -> tuple[Visit, ...]:
        """Return the visits of the links."""
        made = people.make_links(
            tx.db,
            tx.plans.newest(tx.db).places,
            count=self.count,
            group=self.group,
            secret=self.key,
            time=self.time,
        )
        detail = {"places": [visit.place for visit in made]}
        add_action(tx.db, self, self.who, "made links", str(len(made)), "", detail)
        return made


@dataclass(frozen=True, slots=True)
class EndVisit(Operation[Visit]):
    """A visit is released or excluded, by a person (``who``) or by a rule: its place is free again."""

    visit: int
    state: str
    reason: str
    who: str = ""

    def run(self, tx: Transaction) -> Visit:
        """Return the visit as it is now."""
        visit, changed = people.end_visit(tx.db, self.visit, self.state, self.reason, self.time)
        if changed:
            event = NewEvent(self.state, {"reason": self.reason, "place": visit.place})
            _add_events(tx.db, visit, (event,), self.time, self.key)
            if self.who:
                target = visit.place or f"visit {visit.id}"
                add_action(tx.db, self, self.who, self.state, target, self.reason, {"visit": visit.id})
        return visit


@dataclass(frozen=True, slots=True)
class ReleaseStale(Operation[tuple[Visit, ...]]):
    """Visits where nobody was seen for long give their places back, unless their ``seen`` has changed."""

    stale: tuple[tuple[int, float], ...]
    first: ClassVar[bool] = True

    def run(self, tx: Transaction) -> tuple[Visit, ...]:
        """Return the visits that were released."""
        gone = people.release_stale(tx.db, self.stale, self.time)
        for visit in gone:
            event = NewEvent("released", {"reason": visit.reason, "place": visit.place})
            _add_events(tx.db, visit, (event,), self.time, f"{self.key}-{visit.id}")
        return gone


@dataclass(frozen=True, slots=True)
class Reopen(Operation[Visit]):
    """A person whose visit timed out is back; with ``params``, through the panel in a new submission."""

    visit: int
    params: Mapping[str, Any] | None = None
    first: ClassVar[bool] = True

    def run(self, tx: Transaction) -> Visit:
        """Return the visit, continuing where it was if its place is still free."""
        reasons = (people.TIMED_OUT,) if self.params is None else (people.TIMED_OUT, *people.COMING_BACK)
        visit = people.reopen(tx.db, self.visit, self.time, reasons, self.params)
        if not visit.over:
            _add_events(tx.db, visit, (NewEvent("resumed"),), self.time, self.key)
        return visit


@dataclass(frozen=True, slots=True)
class AddAction(Operation[None]):
    """Something that a researcher did."""

    who: str
    what: str
    target: str = ""
    reason: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)

    def run(self, tx: Transaction) -> None:
        """Add the row."""
        add_action(tx.db, self, self.who, self.what, self.target, self.reason, self.detail)


@dataclass(frozen=True, slots=True)
class SetState(Operation[str]):
    """The study is opened, paused or closed."""

    state: str
    who: str
    reason: str = ""
    first: ClassVar[bool] = True

    def run(self, tx: Transaction) -> str:
        """Return the state."""
        if self.state not in STUDY_STATES:
            raise BadStore(f"A study is {', '.join(STUDY_STATES)}. Got {self.state!r}.")
        study = people.lock_study(tx.db)
        if study.state != self.state:
            row = {"id": study.id, "state": self.state, "hash": study.hash, "title": study.title}
            tx.db.run(sql.SET_STUDY, row)
            add_action(tx.db, self, self.who, f"study {self.state}", "study", self.reason, {})
        return self.state


@dataclass(frozen=True, slots=True)
class Beat(Operation[None]):
    """Writes what is there already, to find out whether answers can be saved."""

    first: ClassVar[bool] = True

    def run(self, tx: Transaction) -> None:
        """Write."""
        tx.db.run(sql.BEAT)


@dataclass(frozen=True, slots=True)
class AddPlan(Operation[int]):
    """A new version of the plan; ``row`` is what plans.pack_plan made of it."""

    row: Mapping[str, Any] = field(repr=False)
    places: int
    who: str = ""
    first: ClassVar[bool] = True

    def run(self, tx: Transaction) -> int:
        """Return the number of the version in force."""
        people.lock_study(tx.db)
        version = tx.plans.newest(tx.db)
        if version.plan.hash == self.row["hash"]:
            return version.number
        tx.db.run(sql.NEW_PLAN, dict(self.row) | {"version": version.number + 1})
        detail = {"version": version.number + 1, "places": self.places}
        add_action(tx.db, self, self.who, "changed the plan", "plan", self.row["note"], detail)
        return version.number + 1


def add_action(
    db: Connection,
    op: "Operation[Any]",
    who: str,
    what: str,
    target: str,
    reason: str,
    detail: Mapping[str, Any],
) -> None:
    """Add a row to the record of what researchers did; once for each operation."""
    row = {"time": op.time, "who": who, "what": what, "target": target, "reason": clean_text(reason)}
    db.run(sql.NEW_ACTION, row | {"detail": write_json(detail), "key": op.key})


def _add_events(db: Connection, visit: Visit, new: tuple[NewEvent, ...], time: float, key: str) -> None:
    if visit.state == "declined":
        new = tuple(event for event in new if event.kind == "declined")  # nothing else is kept of them
    for number, event in enumerate(new):
        row = {"visit": visit.id, "time": time, "kind": event.kind, "detail": write_json(event.detail)}
        db.run(sql.NEW_EVENT, row | {"key": f"{key}-{number}"})
