"""Following what is collected: each look reads only what is new since the one before, in one transaction.

PostgreSQL may commit a lower number a moment after a higher one, so a look goes back a little, and followers
must accept seeing a row again.
"""

from dataclasses import dataclass, field

from sqlalchemy import bindparam, func, select

from panelist.collection.store.database import statements as sql
from panelist.collection.store.database.engine import Connection, Row, Statement
from panelist.collection.store.database.tables import actions, answers, events, pages_done
from panelist.collection.store.reading import read_study
from panelist.collection.store.records import (
    StoredAnswer,
    StoredEvent,
    StudyRecord,
    Visit,
    make_answer,
    make_event,
    make_visit,
)
from panelist.collection.store.store import Store

BACK_ROWS, BACK_SECONDS = 2000, 30.0

ANSWER_COLUMNS = (
    *("visit", "occasion", "page", "name", "criterion", "item", "phase"),
    *("check_name", "value", "revision", "given", "late", "id"),
)
_NEW_ANSWERS = Statement(
    select(*(answers.c[name] for name in ANSWER_COLUMNS))
    .where(answers.c.id > bindparam("after"))
    .order_by(answers.c.id)
)
_NEW_PAGES = Statement(
    select(*(pages_done.c[name] for name in ("visit", "occasion", "page", "done", "seconds"))).where(
        pages_done.c.done > bindparam("after")
    )
)
_NEW_EVENTS = Statement(select(*events.c).where(events.c.id > bindparam("after")).order_by(events.c.id))
_LAST_STATE = Statement(
    select(func.max(actions.c.time)).where(actions.c.what == bindparam("what"))  # since when it is so
)


@dataclass(frozen=True)
class ReadPosition:
    """How far a follower has read."""

    answer: int = 0
    event: int = 0
    page: float = 0.0


@dataclass(frozen=True)
class News:
    """What is new since a mark, and all visits as they are now."""

    study: StudyRecord
    since: float
    """When the study came into its state."""
    visits: tuple[Visit, ...] = field(repr=False)
    answers: list[Row] = field(repr=False)
    """visit, occasion, page, name, criterion, item, phase, check, value, revision, given, late, id"""
    pages: list[Row] = field(repr=False)
    """visit, occasion, page, done, seconds"""
    events: list[StoredEvent] = field(repr=False)
    mark: ReadPosition
    """Where the next look begins."""


def read_news(store: Store, mark: ReadPosition) -> News:
    """Return what is new since a mark, all from one moment."""
    back = 0 if store.database.file is not None else BACK_ROWS

    def look(db: Connection) -> News:
        db.begin_reading()
        try:
            return _read(db, mark, back)
        finally:
            db.rollback()

    return store.database.read(look)


def _read(db: Connection, mark: ReadPosition, back: int) -> News:
    study = read_study(db)
    since = db.row(_LAST_STATE, {"what": f"study {study.state}"})
    visits = tuple(make_visit(row) for row in db.rows(sql.ALL_VISITS))
    new_answers = db.rows(_NEW_ANSWERS, {"after": mark.answer - back})
    new_pages = db.rows(_NEW_PAGES, {"after": mark.page - BACK_SECONDS if mark.page else -1.0})
    new_events = [make_event(row) for row in db.rows(_NEW_EVENTS, {"after": mark.event - back})]
    return News(
        study=study,
        since=since[0] if since is not None and since[0] is not None else study.created,
        visits=visits,
        answers=new_answers,
        pages=new_pages,
        events=new_events,
        mark=ReadPosition(
            max(mark.answer, new_answers[-1][12] if new_answers else 0),
            max(mark.event, new_events[-1].id if new_events else 0),
            max([mark.page, *(row[3] for row in new_pages)]),
        ),
    )


def read_revisions(store: Store, visit: int) -> list[StoredAnswer]:
    """Return every answer of a visit, changes included, those to the same field in their order."""
    rows = store.database.read(lambda db: db.rows(sql.VISIT_ANSWERS, {"visit": visit}))
    return [make_answer(row) for row in rows]
