"""Erasing one person: what they answered, what happened to them, and whatever says who they are.

The row of the visit stays, emptied: that somebody withdrew has to be told with the study. So does the journal
of payments, which is the account of money that was spent.
"""

import json
from dataclasses import dataclass, replace
from typing import ClassVar

from sqlalchemy import bindparam, func, select, update

from panelist.collection.store import people
from panelist.collection.store.engine import Link, Statement
from panelist.collection.store.ops import Desk, Operation, add_action, new_token
from panelist.collection.store.records import Visit, write_json
from panelist.collection.store.tables import actions, answers, events, pages_done, payments, recruits, visits

WITHDREW = "withdrew; what was collected is erased"
_TABLES = {"answers": answers, "pages": pages_done, "events": events, "submissions": recruits}
_COUNTS = {
    name: Statement(select(func.count()).select_from(table).where(table.c.visit == bindparam("visit")))
    for name, table in _TABLES.items()
}
_DELETES = [
    Statement(table.delete().where(table.c.visit == bindparam("visit"))) for table in _TABLES.values()
]
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


def count_traces(link: Link, visit: int) -> Traces:
    """Return what the database holds about the person of a visit."""
    found = {name: _count(link, statement, visit) for name, statement in _COUNTS.items()}
    return Traces(**found, notes=len(_find_notes(link, visit)), payments=_count(link, _PAYMENTS, visit))


@dataclass(frozen=True, slots=True)
class Forget(Operation[Traces]):
    """One person is erased; the key of their link opens nothing from now on."""

    visit: int
    who: str
    first: ClassVar[bool] = True

    def run(self, desk: Desk) -> Traces:
        """Return what was erased."""
        people.lock_study(desk.link)
        visit = people.load_visit(desk.link, self.visit)
        traces = count_traces(desk.link, self.visit)
        if is_forgotten(visit):  # a retry: the acknowledgement was lost
            return traces
        if desk.link.dialect.name == "sqlite":
            desk.link.raw.execute("PRAGMA secure_delete=ON")  # what is deleted is overwritten, not only left
        for statement in _DELETES:
            desk.link.run(statement, {"visit": self.visit})
        for number in _find_notes(desk.link, self.visit):
            row = {"id": number, "reason": "", "detail": write_json({"visit": self.visit})}
            desk.link.run(_EMPTY_ACTION, row)
        people.save_visit(desk.link, _empty(visit))
        desk.link.run(_NEW_TOKEN, {"id": self.visit, "token": new_token(), "created": self.time})
        detail = {"visit": self.visit, "answers": traces.answers, "pages": traces.pages}
        add_action(desk.link, self, self.who, "erased a person", visit.place or "", WITHDREW, detail)
        return traces


def is_forgotten(visit: Visit) -> bool:
    """Return whether the person of a visit was erased before."""
    return visit.state == "released" and visit.reason == WITHDREW


def _empty(visit: Visit) -> Visit:
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


def _count(link: Link, statement: Statement, visit: int) -> int:
    row = link.row(statement, {"visit": visit})
    return int(row[0]) if row is not None else 0


def _find_notes(link: Link, visit: int) -> list[int]:
    """Return the actions about a visit that have words in them."""
    about = {number: (reason, json.loads(detail)) for number, reason, detail in link.rows(_ACTIONS)}
    return [
        number
        for number, (reason, detail) in about.items()
        if detail.get("visit") == visit and (reason or set(detail) != {"visit"})
    ]
