"""Erasing one person: what they answered, what happened to them, and whatever says who they are.

The row of the visit stays, emptied: that a person withdrew must be reported with the study. The journal
of payments stays, too, which is the account of money that was spent. Where the consent says that ratings
are kept, they stay without anything that says whose they are.
"""

import json
from dataclasses import dataclass, replace
from typing import ClassVar

from sqlalchemy import bindparam, func, select, update

from panelist.collection.store.database.engine import Connection, Statement
from panelist.collection.store.database.tables import (
    actions,
    answers,
    events,
    pages_done,
    payments,
    recruits,
    visits,
)
from panelist.collection.store.operations import places as people
from panelist.collection.store.operations.ops import Operation, Transaction, add_action, new_token
from panelist.collection.store.records import Visit, write_json

WITHDREW = "withdrew; what was collected is erased"
KEPT = "withdrew; the ratings are kept without the person"
_WITHOUT_WORDS = ("consent", "check", "flag", "timed out")  # events that say nothing about the person
_TABLES = {"answers": answers, "pages": pages_done, "events": events, "submissions": recruits}
_COUNTS = {
    name: Statement(select(func.count()).select_from(table).where(table.c.visit == bindparam("visit")))
    for name, table in _TABLES.items()
}
_DELETES = [
    Statement(table.delete().where(table.c.visit == bindparam("visit"))) for table in _TABLES.values()
]
_CRITERIA = Statement(select(answers.c.criterion).where(answers.c.visit == bindparam("visit")).distinct())
_DELETE_ANSWERS = Statement(
    answers.delete().where(
        answers.c.visit == bindparam("visit"), answers.c.criterion == bindparam("criterion")
    )
)
_DELETE_REASONS = Statement(
    answers.delete().where(answers.c.visit == bindparam("visit"), answers.c.name.like(bindparam("name")))
)
_KINDS = Statement(select(events.c.kind).where(events.c.visit == bindparam("visit")).distinct())
_DELETE_EVENTS = Statement(
    events.delete().where(events.c.visit == bindparam("visit"), events.c.kind == bindparam("kind"))
)
_DELETE_RECRUITS = Statement(recruits.delete().where(recruits.c.visit == bindparam("visit")))
_PAYMENTS = Statement(
    select(func.count())
    .select_from(payments.join(recruits, payments.c.submission == recruits.c.submission))
    .where(recruits.c.visit == bindparam("visit"))
)
_ACTIONS = Statement(select(actions.c.id, actions.c.reason, actions.c.detail))
_EMPTY_ACTION = Statement(
    update(actions)
    .where(actions.c.id == bindparam("id"))
    .values(reason=bindparam("reason"), detail=bindparam("detail"))
)
_NEW_TOKEN = Statement(
    update(visits)
    .where(visits.c.id == bindparam("id"))
    .values(token=bindparam("token"), created=bindparam("created"))
)


@dataclass(frozen=True, slots=True)
class Traces:
    """How many rows there are about one person."""

    answers: int
    pages: int
    events: int
    submissions: int
    notes: int
    """Actions of researchers that have words about this visit: a reason, a message."""
    payments: int
    """Lines of the journal of payments, which are kept."""


def count_traces(db: Connection, visit: int) -> Traces:
    """Return what the database holds about the person of a visit."""
    found = {name: _count(db, statement, visit) for name, statement in _COUNTS.items()}
    return Traces(**found, notes=len(_find_notes(db, visit)), payments=_count(db, _PAYMENTS, visit))


@dataclass(frozen=True, slots=True)
class Forget(Operation[Traces]):
    """One person is erased; the key of their link opens nothing from now on."""

    visit: int
    who: str
    keep: tuple[str, ...] = ()
    """Criteria whose answers stay, where the consent says that ratings are kept."""
    first: ClassVar[bool] = True

    def run(self, tx: Transaction) -> Traces:
        """Return what there was about the person."""
        people.lock_study(tx.db)
        visit = people.load_visit(tx.db, self.visit)
        traces = count_traces(tx.db, self.visit)
        if is_forgotten(visit):  # a retry: the acknowledgement was lost
            return traces
        if tx.db.dialect.name == "sqlite":
            tx.db.raw.execute("PRAGMA secure_delete=ON")  # what is deleted is overwritten, not only left
        if self.keep:
            self._delete_the_rest(tx.db)
        else:
            for statement in _DELETES:
                tx.db.run(statement, {"visit": self.visit})
        for number in _find_notes(tx.db, self.visit):
            row = {"id": number, "reason": "", "detail": write_json({"visit": self.visit})}
            tx.db.run(_EMPTY_ACTION, row)
        people.save_visit(tx.db, _empty(visit, keep_ratings=bool(self.keep)))
        tx.db.run(_NEW_TOKEN, {"id": self.visit, "token": new_token(), "created": self.time})
        detail = {"visit": self.visit, "answers": traces.answers, "pages": traces.pages}
        reason = KEPT if self.keep else WITHDREW
        add_action(tx.db, self, self.who, "erased a person", visit.place or "", reason, detail)
        return traces

    def _delete_the_rest(self, db: Connection) -> None:
        """Delete what the person wrote and what the panel knows; ratings, page times and checks stay."""
        for (criterion,) in db.rows(_CRITERIA, {"visit": self.visit}):
            if criterion not in self.keep:
                db.run(_DELETE_ANSWERS, {"visit": self.visit, "criterion": criterion})
        db.run(_DELETE_REASONS, {"visit": self.visit, "name": "%-why"})
        for (kind,) in db.rows(_KINDS, {"visit": self.visit}):
            if kind not in _WITHOUT_WORDS:
                db.run(_DELETE_EVENTS, {"visit": self.visit, "kind": kind})
        db.run(_DELETE_RECRUITS, {"visit": self.visit})


def is_forgotten(visit: Visit) -> bool:
    """Return whether the person of a visit was erased before."""
    return visit.reason == KEPT or (visit.state == "released" and visit.reason == WITHDREW)


def _empty(visit: Visit, *, keep_ratings: bool) -> Visit:
    if keep_ratings:  # a finished visit stays one; an unfinished one gives its place back
        state = visit.state if visit.ended is not None else "released"
        return replace(visit, outside_id=None, params={}, state=state, reason=KEPT, code="")
    return replace(
        visit,
        outside_id=None,
        params={},
        state="released",
        occasion=1,
        page=1,
        opened=None,
        seen=None,
        ended=None,
        left_at="",
        reason=WITHDREW,
        code="",
        valid=False,
    )


def _count(db: Connection, statement: Statement, visit: int) -> int:
    row = db.row(statement, {"visit": visit})
    return int(row[0]) if row is not None else 0


def _find_notes(db: Connection, visit: int) -> list[int]:
    """Return the actions about a visit that have words in them."""
    about = {number: (reason, json.loads(detail)) for number, reason, detail in db.rows(_ACTIONS)}
    return [
        number
        for number, (reason, detail) in about.items()
        if detail.get("visit") == visit and (reason or set(detail) != {"visit"})
    ]
