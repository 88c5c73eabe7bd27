"""The writer: together where possible, each separately where one fails, and nothing confirmed too soon."""

import asyncio
import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from panelist.collection.store.errors import NoVisit, StoreError, StoreUnavailable
from panelist.collection.store.operations.ops import (
    AddAction,
    AddEvent,
    EndVisit,
    Join,
    MakeLinks,
    Operation,
    SaveAnswers,
    Transaction,
)
from panelist.collection.store.store import Store, open_store
from panelist.design.plan import Plan
from panelist.study.study import Study
from tests.collection.store.postgres import Server, drop_database, make_database
from tests.collection.store.studies import answer
from tests.patience import PATIENCE


@dataclass(frozen=True, slots=True)
class WriteThenFail(Operation[None]):
    """Adds an event and then fails: nothing of it may stay."""

    visit: int

    def run(self, tx: Transaction) -> None:
        AddEvent(self.visit, "half done").run(tx)
        raise ValueError("on purpose")


@dataclass(frozen=True, slots=True)
class BreakTheDatabase(Operation[None]):
    """Breaks a rule of the database itself."""

    visit: int

    def run(self, tx: Transaction) -> None:
        AddEvent(self.visit, "half done").run(tx)
        tx.db.raw.execute("INSERT INTO events (id) VALUES (1)")


@dataclass(frozen=True, slots=True)
class Wait(Operation[None]):
    """Holds the writer up, so that others gather behind it."""

    gate: threading.Event

    def run(self, tx: Transaction) -> None:
        self.gate.wait(PATIENCE)


@pytest.mark.parametrize("bad", [WriteThenFail, BreakTheDatabase])
def test_one_that_fails_takes_nobody_else_down(
    store: Store, bad: type[WriteThenFail] | type[BreakTheDatabase]
) -> None:
    visit = store.join()
    gate = threading.Event()
    store.writer.submit(Wait(gate))
    good = [store.writer.submit(SaveAnswers(visit.id, 1, page, (answer(),))) for page in range(1, 6)]
    failing = store.writer.submit(bad(visit.id))
    good += [store.writer.submit(SaveAnswers(visit.id, 1, page, (answer(),))) for page in range(6, 11)]
    gate.set()
    assert [future.result().answers[0].revision for future in good] == [0] * 10
    assert failing.exception() is not None
    assert not isinstance(failing.exception(), StoreError)
    assert len(store.snapshot().answers) == 10
    assert store.visit_events(visit.id) == []


def test_what_gathers_is_committed_together(store: Store) -> None:
    visit = store.join()
    gate = threading.Event()
    before = store.writer.tally.commits
    store.writer.submit(Wait(gate))
    futures = [store.writer.submit(SaveAnswers(visit.id, 1, page, (answer(),))) for page in range(200)]
    gate.set()
    assert all(not future.result().answers[0].again for future in futures)
    assert store.writer.tally.commits - before <= 4


def test_nobody_is_told_before_the_commit(store: Store, database_url: str, study: Study) -> None:
    visit = store.join()
    with open_store(database_url, study) as other:
        for page in range(1, 30):
            store.do(SaveAnswers(visit.id, 1, page, (answer(),)))
            assert "c1p1" in other.visit_answers(visit.id, 1, page)


def test_event_loops_wait_without_blocking(store: Store) -> None:
    visit = store.join()

    async def send_all() -> list[int]:
        ops = [SaveAnswers(visit.id, 1, page, (answer(),)) for page in range(50)]
        saved = await asyncio.gather(*(store.writer.send(op) for op in ops))
        with pytest.raises(NoVisit):
            await store.writer.send(SaveAnswers(4711, 1, 1, (answer(),)))
        return [one.answers[0].revision for one in saved]

    assert asyncio.run(send_all()) == [0] * 50


def test_closing_writes_what_waits_and_refuses_more(store: Store) -> None:
    visit = store.join()
    gate = threading.Event()
    store.writer.submit(Wait(gate))
    futures = [store.writer.submit(SaveAnswers(visit.id, 1, page, (answer(),))) for page in range(20)]
    threading.Timer(0.05, gate.set).start()
    store.writer.close()
    assert all(future.done() and future.exception() is None for future in futures)
    with pytest.raises(StoreError, match="closed"):
        store.writer.submit(SaveAnswers(visit.id, 1, 99, (answer(),)))


def test_an_operation_run_again_changes_nothing(store: Store) -> None:
    join = Join(params={"a": 1})
    visit = store.do(join)
    operations: list[Operation[Any]] = [
        join,
        AddEvent(visit.id, "comment", {"text": "hello"}),
        SaveAnswers(visit.id, 1, 1, (answer(),)),
        AddAction("A. Researcher", "looked"),
        MakeLinks(2),
        EndVisit(visit.id, "released", "returned", "A. Researcher"),
    ]
    for op in operations:
        first, before = store.do(op), store.snapshot()
        second, after = store.do(op), store.snapshot()
        for name in ("visits", "answers", "events", "actions"):
            assert getattr(before, name).equals(getattr(after, name)), (op, name)
        if isinstance(op, Join | MakeLinks | EndVisit):
            assert second == first


def test_a_locked_file_is_waited_for(tmp_path: Path, study: Study, plan: Plan) -> None:
    file = tmp_path / "study.db"
    with open_store(file, study, plan) as store, closing(sqlite3.connect(file)) as other:
        visit = store.join()
        assert store.writer._db is not None
        store.writer._db.raw.execute("PRAGMA busy_timeout=10")
        store.database.engine.dispose()
        other.isolation_level = None
        other.execute("BEGIN IMMEDIATE")
        waiting = store.writer.submit(SaveAnswers(visit.id, 1, 1, (answer(),)))
        time.sleep(0.2)
        assert not waiting.done()
        other.execute("ROLLBACK")
        assert waiting.result(timeout=PATIENCE).answers[0].revision == 0


def test_a_server_that_restarts_loses_nothing(postgres_server: Server, study: Study, plan: Plan) -> None:
    url = make_database(postgres_server.url())
    with open_store(url, study, plan) as store:
        visit = store.join()
        store.do(SaveAnswers(visit.id, 1, 1, (answer(),)))
        postgres_server.stop()
        try:
            waiting = [store.writer.submit(SaveAnswers(visit.id, 1, page, (answer(),))) for page in (2, 3)]
            with pytest.raises(StoreUnavailable, match="cannot be reached"):
                store.find_visit(visit.token)
            time.sleep(0.5)
            assert not any(future.done() for future in waiting)
        finally:
            postgres_server.start()
        assert [future.result(timeout=PATIENCE).answers[0].revision for future in waiting] == [0, 0]
        assert store.find_visit(visit.token) is not None
        assert store.writer.tally.lost > 0
        assert len(store.snapshot().answers) == 3
    drop_database(url)


def test_a_server_that_stays_away_is_given_up_with_a_sentence(
    postgres_server: Server, study: Study, plan: Plan
) -> None:
    url = make_database(postgres_server.url())
    with open_store(url, study, plan, patience=0.5) as store:
        visit = store.join()
        postgres_server.stop()
        try:
            with pytest.raises(StoreUnavailable, match="cannot be reached"):
                store.do(SaveAnswers(visit.id, 1, 1, (answer(),)))
        finally:
            postgres_server.start()
        assert store.do(SaveAnswers(visit.id, 1, 1, (answer(),))).answers[0].revision == 0
    drop_database(url)
