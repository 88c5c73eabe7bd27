"""A place is taken only when a person agrees to take part; refusals are only counted."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from panelist.collection.store.database import statements as sql
from panelist.collection.store.database.engine import Connection
from panelist.collection.store.operations import places as people
from panelist.collection.store.operations.ops import NewEvent, Operation, Transaction
from panelist.collection.store.operations.plans import PlanPlaces
from panelist.collection.store.records import Visit, clean_text, make_visit, write_json

PASSED_ON = "id passed on"


@dataclass(frozen=True, slots=True)
class TakePlace(Operation[Visit]):
    """A person agreed on the open link. The token was drawn for the page: a form sent twice is one visit."""

    token: str = field(repr=False)
    group: str | None = None
    outside_id: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    state: str = "background"
    events: tuple[NewEvent, ...] = ()
    pass_on: bool = False
    """Whether the id is taken from a visit that was released: the person behind it may be another."""
    first: ClassVar[bool] = True

    def run(self, tx: Transaction) -> Visit:
        """Return the visit of this person, with what they agreed to."""
        people.lock_study(tx.db)
        if self.pass_on and self.outside_id:
            _take_id(tx.db, self)
        visit = people.join(
            tx.db,
            tx.plans.newest(tx.db).places,
            token=self.token,
            group=self.group,
            outside_id=self.outside_id,
            params=self.params,
            state=self.state,
            time=self.time,
        )
        if visit.token == self.token:
            for number, event in enumerate(self.events):
                # Known by the token: sending the form again agrees to nothing more.
                _add_event(tx.db, visit, event, self.time, f"{self.token}-joined-{number}")
        return visit


@dataclass(frozen=True, slots=True)
class Decline(Operation[Visit]):
    """A person read the information and declined: only the count is kept."""

    token: str = field(repr=False)
    code: str = ""
    first: ClassVar[bool] = True

    def run(self, tx: Transaction) -> Visit:
        """Return a visit that has no place and nothing about the person."""
        people.lock_study(tx.db)
        if (row := tx.db.row(sql.FIND_VISIT, {"token": self.token})) is not None:
            return make_visit(row)  # a retry: the acknowledgement was lost
        visit = people.new_visit(self.token, None, "", "consent", self.time)
        ended = people.end_fields(visit, "declined", "", self.time)
        fields = ended | {"code": self.code, "opened": self.time, "seen": self.time}
        return people.add_visit(tx.db, replace(visit, **fields))


def has_place(db: Connection, places: PlanPlaces, group: str | None) -> bool:
    """Return whether a place is free now: of a group, or any."""
    row = db.row(sql.HELD_NAMES)
    held = set(row[0].split(sql.HELD_SEPARATOR)) if row is not None and row[0] is not None else set()
    return any(place not in held for place in places.of_group(group if places.grouped else None))


def is_held(db: Connection, place: str | None) -> bool:
    """Return whether a person has a place."""
    return place is not None and db.row(sql.FIND_HOLDER, {"place": place}) is not None


def _take_id(db: Connection, op: TakePlace) -> None:
    row = db.row(sql.FIND_OUTSIDE, {"outside_id": clean_text(op.outside_id or "")})
    before = make_visit(row) if row is not None else None
    if before is not None and before.state == "released" and before.token != op.token:
        people.save_visit(db, replace(before, outside_id=None))
        _add_event(db, before, NewEvent(PASSED_ON), op.time, f"{op.token}-passed-on")


def _add_event(db: Connection, visit: Visit, event: NewEvent, time: float, key: str) -> None:
    row = {"visit": visit.id, "time": time, "kind": event.kind, "detail": write_json(event.detail)}
    db.run(sql.NEW_EVENT, row | {"key": key})
