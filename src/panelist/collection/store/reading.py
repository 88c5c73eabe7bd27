"""Reading what was collected: a visit for the pages, counts for the dashboard, everything for the export."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from sqlalchemy import Table, select

from panelist.collection.store.database import statements as sql
from panelist.collection.store.database.engine import Connection, Row, Statement
from panelist.collection.store.database.tables import actions, answers, events, pages_done, plans, visits
from panelist.collection.store.errors import BadStore
from panelist.collection.store.operations.plans import Version
from panelist.collection.store.operations.study_versions import StudyVersion, read_versions
from panelist.collection.store.records import (
    StoredAnswer,
    StudyRecord,
    Visit,
    find_latest,
    make_answer,
    make_visit,
)

_WHOLE = {
    table.name: (table, Statement(select(*table.c).order_by(*table.primary_key)))
    for table in (visits, answers, pages_done, events, actions)
}
_VERSIONS = Statement(
    select(*(column for column in plans.c if column.name != "table")).order_by(plans.c.version)
)


@dataclass(frozen=True)
class VisitProgress:
    """How far a visit has come."""

    visit: Visit
    pages: int
    """Pages left complete, practice and checks included."""
    seconds: float
    """Seconds on these pages."""


@dataclass(frozen=True)
class StoreCounts:
    """The state of data collection, from one snapshot."""

    taken: float
    state: str
    places: int
    held: int
    """Places whose visit is in progress, or whose link has not been opened yet."""
    filled: int
    """Places with a valid completion."""
    free: int
    states: Mapping[str, int]
    """Visits by state."""
    answers: int
    """Answers stored, changes included."""
    last_answer: float | None
    visits: tuple[VisitProgress, ...] = field(repr=False)


@dataclass(frozen=True)
class Snapshot:
    """Everything that was collected, as it was at one moment; one frame per table."""

    taken: float
    study: StudyRecord
    visits: pd.DataFrame = field(repr=False)
    answers: pd.DataFrame = field(repr=False)
    pages_done: pd.DataFrame = field(repr=False)
    events: pd.DataFrame = field(repr=False)
    actions: pd.DataFrame = field(repr=False)
    plans: pd.DataFrame = field(repr=False)
    study_versions: tuple[StudyVersion, ...] = field(repr=False)


def find_visit(db: Connection, token: str) -> Visit | None:
    """Return the visit that a link opens."""
    row = db.row(sql.FIND_VISIT, {"token": token})
    return make_visit(row) if row is not None else None


def find_messaged(db: Connection, token: str) -> tuple[Visit | None, bool]:
    """Return the visit that a link opens, and whether a message waits there."""
    row = db.row(sql.FIND_VISIT_MESSAGED, {"token": token})
    return (make_visit(row[:-1]), bool(row[-1])) if row is not None else (None, False)


def read_page_answers(db: Connection, visit: int, occasion: int, page: int) -> dict[str, StoredAnswer]:
    """Return the answer that counts for each field of a page."""
    rows = db.rows(sql.PAGE_ANSWERS_WHOLE, {"visit": visit, "occasion": occasion, "page": page})
    return find_latest([make_answer(row) for row in rows])


def read_visit_answers(db: Connection, visit: int) -> dict[tuple[int, int], dict[str, StoredAnswer]]:
    """Return the answers that count in a whole visit, by occasion and page."""
    pages: dict[tuple[int, int], list[StoredAnswer]] = {}
    for row in db.rows(sql.VISIT_ANSWERS, {"visit": visit}):
        answer = make_answer(row)
        pages.setdefault((answer.occasion, answer.page), []).append(answer)
    return {page: find_latest(found) for page, found in sorted(pages.items())}


def read_study(db: Connection) -> StudyRecord:
    """Return what the database knows about its study."""
    row = db.row(sql.STUDY)
    if row is None:
        raise BadStore("The database holds no study. Start collecting first: panelist serve STUDY.")
    return StudyRecord(*row)


def read_overview(db: Connection, version: Version) -> StoreCounts:
    """Return the counts of the dashboard. The connection must be inside one reading transaction."""
    progress = {visit: (pages, seconds) for visit, pages, seconds in db.rows(sql.PROGRESS)}
    found = [make_visit(row) for row in db.rows(sql.ALL_VISITS)]
    holding = [visit for visit in found if visit.place is not None and not visit.freed]
    filled = sum(visit.state == "finished" for visit in holding)
    states: dict[str, int] = {}
    for visit in found:
        states[visit.state] = states.get(visit.state, 0) + 1
    ((count, last),) = db.rows(sql.ANSWERS_COUNTED)
    places = len(version.places.groups)
    return StoreCounts(
        taken=time.time(),
        state=read_study(db).state,
        places=places,
        held=len(holding) - filled,
        filled=filled,
        free=places - len(holding),
        states=states,
        answers=count,
        last_answer=last,
        visits=tuple(_measure_progress(visit, progress.get(visit.id)) for visit in found),
    )


def read_snapshot(db: Connection) -> Snapshot:
    """Return every table. The connection must be inside one reading transaction."""
    study = read_study(db)  # the first read fixes the moment
    taken = time.time()
    frames = {name: make_frame(table, db.rows(statement)) for name, (table, statement) in _WHOLE.items()}
    versions = pd.DataFrame.from_records(
        db.rows(_VERSIONS), columns=[column.name for column in plans.c if column.name != "table"]
    )
    kept = read_versions(db)
    return Snapshot(taken=taken, study=study, plans=versions, study_versions=kept, **frames)


def make_frame(table: Table, rows: list[Row]) -> pd.DataFrame:
    """Return rows of a table as a frame; the types depend neither on the database nor on the rows."""
    frame = pd.DataFrame.from_records(rows, columns=list(table.c.keys()))
    kinds: dict[type, Any] = {bool: "bool", float: "float64", int: "Int64"}
    for column in table.c:
        frame[column.name] = frame[column.name].astype(kinds.get(column.type.python_type, object))
    return frame


def _measure_progress(visit: Visit, found: tuple[int, float | None] | None) -> VisitProgress:
    pages, seconds = found or (0, None)
    return VisitProgress(visit, pages, float(seconds or 0.0))
