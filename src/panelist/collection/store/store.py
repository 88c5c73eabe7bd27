"""The store of a study: the only access to its database, safe to use from any thread."""

import secrets
import threading
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from panelist.collection.store import reading
from panelist.collection.store.database import statements as sql
from panelist.collection.store.database.engine import Connection, Database, find_url
from panelist.collection.store.database.migrate import migrate, read_version
from panelist.collection.store.errors import BadStore
from panelist.collection.store.operations import ops
from panelist.collection.store.operations.plans import PlanCache, PlanPlaces, Version, find_moved, pack_plan
from panelist.collection.store.operations.study_versions import StudyVersion, add_version, read_versions
from panelist.collection.store.records import (
    StoredAction,
    StoredAnswer,
    StoredEvent,
    StudyRecord,
    Visit,
    make_action,
    make_answer,
    make_event,
    make_visit,
)
from panelist.collection.store.writer import PATIENCE_SECONDS, Writer
from panelist.collection.study_changes import declare, find_changes

if TYPE_CHECKING:
    from panelist.design.plan import Plan
    from panelist.study.study import Study

T = TypeVar("T")


class Store:
    """What was collected, and the way to add to it.

    Reads go to the database at once. What is written goes through ``writer``: ``store.do(op)`` waits until it
    is on disk, ``await store.writer.send(op)`` does the same in an event loop.
    """

    def __init__(
        self, database: Database, plans: PlanCache, hold_seconds: float, patience: float = PATIENCE_SECONDS
    ) -> None:
        self.database = database
        self.hold_seconds = hold_seconds
        self._plans = plans
        self._patience = patience
        self._writer: Writer | None = None
        self._lock = threading.Lock()
        database.note_file()  # from here on it must stay the same
        self.study: StudyRecord = database.read(reading.read_study)
        """What does not change while it is open: salt, secret and the like."""

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def writer(self) -> Writer:
        """The writing thread; started when something is written for the first time."""
        if self._writer is None:
            with self._lock:  # one writer, made by the first thread that needs it
                self._writer = self._writer or Writer(self.database, self._plans, self._patience)
        return self._writer

    def close(self) -> None:
        """Write what is waiting, and close every connection."""
        if self._writer is not None:
            self._writer.close()
        self.database.close()

    def do(self, op: "ops.Operation[T]") -> T:
        """Return what the operation returns, once it is on disk."""
        return self.writer.submit(op).result()

    # Reading

    def find_visit(self, token: str) -> Visit | None:
        """Return the visit that a link opens, if there is one."""
        return self.database.read(lambda db: reading.find_visit(db, token))

    def find_messaged(self, token: str) -> tuple[Visit | None, bool]:
        """Return the visit that a link opens, and whether a message to its rater was not shown yet."""
        return self.database.read(lambda db: reading.find_messaged(db, token))

    def get_visit(self, visit: int) -> Visit | None:
        """Return the visit of this number."""
        row = self.database.read(lambda db: db.row(sql.FIND_VISIT_NUMBER, {"id": visit}))
        return make_visit(row) if row is not None else None

    def find_outside(self, outside_id: str) -> Visit | None:
        """Return the visit of a person with this outside id."""
        row = self.database.read(lambda db: db.row(sql.FIND_OUTSIDE, {"outside_id": outside_id}))
        return make_visit(row) if row is not None else None

    def visits(self) -> list[Visit]:
        """Return all visits, in the order in which they were made."""
        return [make_visit(row) for row in self.database.read(lambda db: db.rows(sql.ALL_VISITS))]

    def visit_answers(self, visit: int, occasion: int, page: int) -> dict[str, StoredAnswer]:
        """Return the answer that counts for each field of one page."""
        return self.database.read(lambda db: reading.read_page_answers(db, visit, occasion, page))

    def all_answers(self, visit: int) -> dict[tuple[int, int], dict[str, StoredAnswer]]:
        """Return the answers that count in a whole visit, by occasion and page."""
        return self.database.read(lambda db: reading.read_visit_answers(db, visit))

    def answers_after(self, after: int = 0) -> list[StoredAnswer]:
        """Return every answer stored under a later number, changes included, in that order.

        PostgreSQL may commit a lower number a moment after a higher one: when following, go back a few.
        """
        rows = self.database.read(lambda db: db.rows(sql.ANSWERS_AFTER, {"after": after}))
        return [make_answer(row) for row in rows]

    def done_pages(self, visit: int) -> set[tuple[int, int]]:
        """Return the pages left complete, as (occasion, page)."""
        return set(self.database.read(lambda db: db.rows(sql.DONE_PAGES, {"visit": visit})))

    def occasion_times(self, visit: int, occasion: int) -> tuple[float, float | None]:
        """Return the seconds on the pages of one sitting, and when the last of them was done."""
        where = {"visit": visit, "occasion": occasion}
        ((seconds, done),) = self.database.read(lambda db: db.rows(sql.OCCASION_TIMES, where))
        return float(seconds or 0.0), done

    def visit_events(self, visit: int) -> list[StoredEvent]:
        """Return what happened in a visit, in order."""
        rows = self.database.read(lambda db: db.rows(sql.VISIT_EVENTS, {"visit": visit}))
        return [make_event(row) for row in rows]

    def actions(self, most: int = 100) -> list[StoredAction]:
        """Return what researchers did, the latest first."""
        rows = self.database.read(lambda db: db.rows(sql.LATEST_ACTIONS, {"most": most}))
        return [make_action(row) for row in rows]

    def plan(self) -> "Plan":
        """Return the plan in force; a new version is noticed within a second."""
        return self.version().plan

    def places(self) -> PlanPlaces:
        """Return the places of the plan in force, with their groups."""
        return self.version().places

    def version(self) -> Version:
        """Return the plan in force with its number."""
        return self._plans.recent(self.database.read)

    def study_versions(self) -> tuple[StudyVersion, ...]:
        """Return the versions of the study used while collecting, the oldest first."""
        return self.database.read(read_versions)

    def state(self) -> str:
        """Return whether the study is open, paused or closed."""
        return self.database.read(reading.read_study).state

    def overview(self) -> reading.StoreCounts:
        """Return the state of data collection, all counts from one moment."""
        return self._read_whole(lambda db: reading.read_overview(db, self._plans.newest(db)))

    def snapshot(self) -> reading.Snapshot:
        """Return every table as it is at one moment, while collecting continues."""
        return self._read_whole(reading.read_snapshot)

    def _read_whole(self, work: Callable[[Connection], T]) -> T:
        def inside(db: Connection) -> T:
            db.begin_reading()
            try:
                return work(db)
            finally:
                db.rollback()

        return self.database.read(inside)

    # Writing

    def join(
        self,
        group: str | None = None,
        outside_id: str | None = None,
        params: Mapping[str, Any] | None = None,
        state: str = "consent",
    ) -> Visit:
        """Return a visit at the lowest free place, or the one that this person has already."""
        return self.do(ops.Join(group, outside_id, params or {}, state))

    def make_links(
        self, count: int | None = None, group: str | None = None, who: str = ""
    ) -> tuple[Visit, ...]:
        """Return visits for links to hand out: for each free place, or for ``count`` of them."""
        return self.do(ops.MakeLinks(count, group, who))

    def release(self, visit: int, reason: str, who: str = "") -> Visit:
        """Release a visit: its place is offered again, and what still comes from it is kept as late."""
        return self.do(ops.EndVisit(visit, "released", reason, who))

    def exclude(self, visit: int, reason: str, who: str = "") -> Visit:
        """Exclude a visit, for this reason, even a finished one: its place is offered again."""
        return self.do(ops.EndVisit(visit, "excluded", reason, who))

    def going(self) -> list[tuple[int, float]]:
        """Return every visit that holds a place as long as its rater is seen, with when that was."""
        found = self.database.read(lambda db: db.rows(sql.GOING_VISITS, {"waiting": "waiting"}))
        return [(visit, seen) for visit, seen in found]

    def release_stale(self, now: float | None = None) -> tuple[Visit, ...]:
        """Release every visit where nobody was seen for the time that the study holds a place; return them.

        It uses the time of day; a running server uses its own clock (``holds``).
        """
        before = (time.time() if now is None else now) - self.hold_seconds
        return self.do(ops.ReleaseStale(tuple(one for one in self.going() if one[1] < before)))

    def set_state(self, state: str, who: str, reason: str = "") -> str:
        """Open, pause or close the study."""
        return self.do(ops.SetState(state, who, reason))

    def change_plan(self, plan: "Plan", note: str, who: str = "") -> int:
        """Put a plan with more places in force; return its version. No existing place may change."""
        old = self._read_whole(self._plans.newest)
        _refuse_moved(self.database, old.plan, plan)
        number = self.do(ops.AddPlan(pack_plan(plan, 0, note, time.time()), len(plan.raters), who))
        self._plans.put(number, plan)
        return number


def open_store(
    place: str | Path | None,
    study: "Study",
    plan: "Plan | None" = None,
    *,
    create: bool = True,
    patience: float = PATIENCE_SECONDS,
    salt: str | None = None,
    allowed: Collection[str] = (),
) -> Store:
    """Return the store of a study: at a URL, in a file, or (``None``) in study.db beside the study file.

    The tables are made, or migrated to the present version, on the way. A plan goes into an empty database,
    and must otherwise be the one in force or add places to it. With ``create=False`` only what is there is
    opened. ``salt`` (in hex) is drawn unless it is given, as for simulated raters, whose pseudonyms may be
    known. Where the study has changed, what differs is recorded permanently, with the names
    under which it was ``allowed``; whether that is allowed is for the caller to decide (study_changes).
    """
    database = find_database(place, study, create)
    try:
        with database.reaching():
            if create:
                _make_file(database)
            elif not read_version(database):
                raise BadStore(
                    f"{database.name} holds no study. Start collecting first: panelist serve STUDY."
                )
            migrate(database)
            if create:
                _enter_study(database, study, plan, salt, allowed)
            return Store(database, PlanCache(), study.file.collecting.hold_minutes * 60.0, patience)
    except Exception:
        database.close()
        raise


def find_database(place: str | Path | None, study: "Study", create: bool = True) -> Database:
    """Return the database of a study, not opened yet; with ``create=False`` it must be there."""
    database = Database(find_url(place, study.folder))
    file = database.file
    if file is None:
        return database
    if not file.parent.is_dir():
        raise BadStore(f"{file} cannot be made: there is no folder {file.parent}. Make it first.")
    if not file.exists() and not create:
        raise BadStore(f"{file} does not exist: nothing was collected yet. Start with: panelist serve STUDY.")
    if file.exists() and (file.is_dir() or (file.stat().st_size and not _is_sqlite(file))):
        raise BadStore(f"{file} is not a database of Panelist. Give the study.db of a study.")
    return database


def _make_file(database: Database) -> None:
    """Make the file readable by its owner alone: it holds the outside ids of people."""
    if database.file is not None:
        try:
            database.file.touch(mode=0o600)
        except OSError as error:
            raise BadStore(f"{database.file} cannot be made: {error.strerror or error}.") from None


def _is_sqlite(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(15) == b"SQLite format 3"


def _enter_study(
    database: Database, study: "Study", plan: "Plan | None", salt: str | None, allowed: Collection[str]
) -> None:
    """Write the study and its plan into the database, or check that they match what is there."""
    now = time.time()
    plans = PlanCache()
    db = database.connect()
    try:
        db.begin(alone=True)
        row = db.row(sql.STUDY)
        if row is None:
            new = {"id": 1, "hash": study.hash, "title": study.title, "state": "open", "created": now}
            drawn = {"salt": salt or secrets.token_hex(16), "secret": secrets.token_hex(32)}
            db.run(sql.NEW_STUDY, new | drawn)
            add_version(db, StudyVersion(1, study.hash, now, declare(study)))
        else:
            _note_change(db, StudyRecord(*row), study, now, allowed)
        if plan is not None:
            _enter_plan(database, db, plans, plan, now)
        db.commit()
    finally:
        db.close()


def _note_change(
    db: Connection, known: StudyRecord, study: "Study", now: float, allowed: Collection[str]
) -> None:
    """Keep on record that the study is no longer the one that collecting began with, and what differs."""
    versions = read_versions(db)
    if known.hash == study.hash:
        if not versions:  # a database from before versions were kept: this is the one that it has
            add_version(db, StudyVersion(1, study.hash, now, declare(study)))
        return
    if not versions:
        add_version(db, StudyVersion(1, known.hash, known.created, {}))
    changes = find_changes(versions[-1].declared if versions else {}, study)
    ((visits,),) = db.rows(sql.VISITS_COUNTED)
    changed = tuple(f"{one.name}: {one.text}" for one in changes)
    add_version(db, StudyVersion(0, study.hash, now, declare(study), changed, tuple(sorted(allowed)), visits))
    db.run(sql.SET_STUDY, {"id": known.id, "state": known.state, "hash": study.hash, "title": study.title})
    op = ops.AddAction("", "study file changed", time=now)
    detail = {"before": known.hash, "after": study.hash, "changed": changed, "allowed": sorted(allowed)}
    ops.add_action(db, op, "", "study file changed", "study", "", detail)


def _enter_plan(database: Database, db: Connection, plans: PlanCache, plan: "Plan", now: float) -> None:
    row = db.row(sql.LATEST_VERSION)
    number = row[0] if row is not None and row[0] is not None else 0
    if number:
        old = plans.newest(db).plan
        if old.hash == plan.hash:
            return
        if db.rows(sql.ANY_VISIT) != [(None,)]:
            _refuse_moved(database, old, plan)
    db.run(
        sql.NEW_PLAN, pack_plan(plan, number + 1, "first plan" if not number else "plan file changed", now)
    )


def _refuse_moved(database: Database, old: "Plan", new: "Plan") -> None:
    """Raise BadStore for a plan that takes pages away from people who have them."""
    if moved := find_moved(old, new):
        shown = ", ".join(moved[:5]) + (", …" if len(moved) > 5 else "")
        raise BadStore(
            f"This is not the plan that {database.name} uses: {len(moved)} of its "
            f"{len(old.raters)} places are missing or have other pages ({shown}). Add places to the old "
            "plan, or collect into another database (--db)."
        )
