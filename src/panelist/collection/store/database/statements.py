"""Every statement of the hot paths, as SQLAlchemy Core; each is compiled once for each kind of database."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Table,
    bindparam,
    case,
    desc,
    exists,
    func,
    insert,
    literal_column,
    select,
    union_all,
    update,
)
from sqlalchemy.sql.dml import Insert, Update

from panelist.collection.store.database.engine import Statement
from panelist.collection.store.database.tables import (
    HOLDS,
    actions,
    answers,
    events,
    pages_done,
    plans,
    studies,
    visits,
)

HELD_SEPARATOR = "\x1f"  # occurs in no place's name


def insert_row(table: Table, left_out: Iterable[str] = ("id",)) -> Insert:
    """Return the statement that adds one row."""
    kept = {column.name: _value(column) for column in table.columns if column.name not in set(left_out)}
    return insert(table).values(kept).inline()


def _insert_once(table: Table, known_by: Iterable[str]) -> Insert:
    """Insert a row unless one with the same key exists: a retry changes nothing."""
    columns = [column for column in table.columns if column.name != "id"]
    there = exists().where(*(table.c[name] == _value(table.c[name]) for name in known_by))
    return insert(table).from_select(
        [column.name for column in columns], select(*(_value(column) for column in columns)).where(~there)
    )


def _update(table: Table, names: Iterable[str], where: ColumnElement[bool]) -> Update:
    return update(table).where(where).values({name: _value(table.c[name]) for name in names})


def _value(column: "Column[object]") -> "ColumnElement[object]":
    return bindparam(column.name, type_=column.type)


_visit = select(*visits.c)
_this_visit = visits.c.id == bindparam("id")
FIND_VISIT = Statement(_visit.where(visits.c.token == bindparam("token")))
# Of messages to a rater and of pages that showed some, the later says whether any waits: both are written
# with the visit locked. One statement with the visit, so that visits without messages cost next to nothing.
MESSAGE, MESSAGE_SHOWN = "message", "message shown"


def _last(kind: str) -> "ColumnElement[int]":
    this: ColumnElement[str] = literal_column(f"'{kind}'")
    nought: ColumnElement[int] = literal_column("0")
    return func.max(case((events.c.kind == this, events.c.id), else_=nought))


_waits = select(_last(MESSAGE) > _last(MESSAGE_SHOWN)).where(events.c.visit == visits.c.id).scalar_subquery()
FIND_VISIT_MESSAGED = Statement(select(*visits.c, _waits).where(visits.c.token == bindparam("token")))
FIND_VISIT_NUMBER = Statement(_visit.where(_this_visit))
LOCK_VISIT = Statement(_visit.where(_this_visit).with_for_update())
FIND_OUTSIDE = Statement(_visit.where(visits.c.outside_id == bindparam("outside_id")))
FIND_HOLDER = Statement(_visit.where(HOLDS, visits.c.place == bindparam("place")))
ALL_VISITS = Statement(_visit.order_by(visits.c.id))
HELD_PLACES = Statement(select(visits.c.place, visits.c.token).where(HOLDS))
# All in one text, straight from the index: a row for each would cost several times as much at every join.
_separator: Any = literal_column(f"'{HELD_SEPARATOR}'")
HELD_NAMES = Statement(select(func.aggregate_strings(visits.c.place, _separator)).where(HOLDS))
GOING_VISITS = Statement(
    select(visits.c.id, visits.c.seen)
    .where(visits.c.ended.is_(None), visits.c.seen.is_not(None), visits.c.state != bindparam("waiting"))
    .order_by(visits.c.id)
)
NEW_VISIT = Statement(insert_row(visits).returning(visits.c.id))
SAVE_VISIT = Statement(
    _update(visits, [c.name for c in visits.c if c.name not in ("id", "token", "created")], _this_visit)
)
SEE_VISIT = Statement(_update(visits, ["seen"], _this_visit))

_page = [answers.c[name] == bindparam(name) for name in ("visit", "occasion", "page")]
# Of one field: the answer sent under a key, and the last one. Each is one step in an index, so that saving
# costs the same however often an answer was changed.
_field = [*_page, answers.c.name == bindparam("name")]
_known = select(answers.c.revision, answers.c.value, answers.c.key, answers.c.late)
_newest = answers.alias("newest")
_last_revision = (
    select(func.max(_newest.c.revision))
    .where(*(_newest.c[name] == bindparam(name) for name in ("visit", "occasion", "page", "name")))
    .scalar_subquery()
)
KNOWN_ANSWERS = Statement(
    union_all(
        _known.where(*_field, answers.c.key == bindparam("key")),
        _known.where(*_field, answers.c.revision == _last_revision),
    )
)
PAGE_ANSWERS_WHOLE = Statement(select(*answers.c).where(*_page).order_by(answers.c.revision))
VISIT_ANSWERS = Statement(
    select(*answers.c).where(answers.c.visit == bindparam("visit")).order_by(answers.c.revision)
)
ANSWERS_AFTER = Statement(select(*answers.c).where(answers.c.id > bindparam("after")).order_by(answers.c.id))
NEW_ANSWER = Statement(insert_row(answers))
PAGE_DONE = Statement(_insert_once(pages_done, ("visit", "occasion", "page")))
DONE_PAGES = Statement(
    select(pages_done.c.occasion, pages_done.c.page)
    .where(pages_done.c.visit == bindparam("visit"))
    .order_by(pages_done.c.occasion, pages_done.c.page)
)
OCCASION_TIMES = Statement(
    select(func.sum(pages_done.c.seconds), func.max(pages_done.c.done)).where(
        pages_done.c.visit == bindparam("visit"), pages_done.c.occasion == bindparam("occasion")
    )
)
NEW_EVENT = Statement(_insert_once(events, ("key",)))
VISIT_EVENTS = Statement(select(*events.c).where(events.c.visit == bindparam("visit")).order_by(events.c.id))
FORGET_EVENTS = Statement(events.delete().where(events.c.visit == bindparam("visit")))
NEW_ACTION = Statement(_insert_once(actions, ("key",)))
# SQLite's compiler adds an offset to a limit without one, as a parameter that nobody would give.
_NOUGHT: ColumnElement[int] = literal_column("0")
LATEST_ACTIONS = Statement(
    select(*actions.c).order_by(desc(actions.c.id)).limit(bindparam("most")).offset(_NOUGHT)
)

STUDY = Statement(select(*studies.c))
LOCK_STUDY = Statement(select(*studies.c).with_for_update())
NEW_STUDY = Statement(insert_row(studies, ()))
SET_STUDY = Statement(_update(studies, ["state", "hash", "title"], studies.c.id == bindparam("id")))
BEAT = Statement(update(studies).values(state=studies.c.state))
LATEST_VERSION = Statement(select(func.max(plans.c.version)))
PLAN = Statement(select(*plans.c).where(plans.c.version == bindparam("version")))
NEW_PLAN = Statement(insert_row(plans, ()))

ANSWERS_COUNTED = Statement(select(func.count(), func.max(answers.c.given)))
PROGRESS = Statement(
    select(pages_done.c.visit, func.count(), func.sum(pages_done.c.seconds)).group_by(pages_done.c.visit)
)
ANY_VISIT = Statement(select(func.min(visits.c.id)))
VISITS_COUNTED = Statement(select(func.count()).select_from(visits))
