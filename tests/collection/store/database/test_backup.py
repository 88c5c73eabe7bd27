"""Backup and restore: whole, while collecting continues, from one kind of database to the other."""

import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from panelist.collection.store.database.backup import back_up, restore
from panelist.collection.store.database.engine import Database, find_url
from panelist.collection.store.errors import BadStore
from panelist.collection.store.operations.ops import AddEvent, SaveAnswers
from panelist.collection.store.operations.saving import PageDone
from panelist.collection.store.store import Store, open_store
from panelist.study.study import Study
from tests.collection.store.postgres import drop_database, make_database
from tests.collection.store.studies import answer

TABLES = ("visits", "answers", "pages_done", "events", "actions", "plans")


def fill(store: Store) -> None:
    for number in range(3):
        visit = store.join(outside_id=f"PID {number}", params={"é": number})
        store.do(AddEvent(visit.id, "consent", {"boxes": [True]}))
        store.do(SaveAnswers(visit.id, 1, 1, (answer("4", "a"),), PageDone(None, 1.25)))
    store.exclude(2, "because", who="A. Researcher")


def at(url: str | Path) -> Database:
    return Database(find_url(url, Path()))


@pytest.mark.parametrize("target", ["sqlite", "postgresql"])
def test_a_restored_study_is_the_same_and_goes_on(
    store: Store, study: Study, tmp_path: Path, target: str, request: pytest.FixtureRequest
) -> None:
    fill(store)
    done = back_up(store.database, tmp_path / "backup.db")
    assert (done.counts["answers"], done.counts["visits"], done.hash) == (3, 3, study.hash)
    assert stat.S_IMODE((tmp_path / "backup.db").stat().st_mode) == 0o600
    url = str(tmp_path / "restored.db") if target == "sqlite" else request.getfixturevalue("second_postgres")
    database = at(url)
    restore(tmp_path / "backup.db", database)
    database.close()
    before = store.snapshot()
    with open_store(url, study) as other:
        after = other.snapshot()
        for name in TABLES:
            pd.testing.assert_frame_equal(getattr(after, name), getattr(before, name))
        assert (other.study.salt, other.study.secret) == (store.study.salt, store.study.secret)
        assert other.plan().hash == store.plan().hash
        new = other.join()  # new rows are numbered after the old ones
        assert (new.place, new.id) == ("r002", 4)
        assert other.do(SaveAnswers(new.id, 1, 1, (answer(),))).answers[0].revision == 0


@pytest.fixture
def second_postgres(request: pytest.FixtureRequest) -> Iterator[str]:
    made = make_database(request.getfixturevalue("postgres"))
    yield made
    drop_database(made)


def test_a_backup_taken_while_raters_work_is_of_one_moment(
    store: Store, tmp_path: Path, study: Study
) -> None:
    visit = store.join()
    stop = threading.Event()

    def rate() -> None:
        page = 0
        while not stop.is_set():
            page += 1
            store.do(SaveAnswers(visit.id, 1, page, (answer("4", "a"),), PageDone(1.0, 2.0)))

    thread = threading.Thread(target=rate)
    thread.start()
    try:
        for number in range(3):
            done = back_up(store.database, tmp_path / f"{number}.db")
            assert done.counts["answers"] == done.counts["pages_done"]
    finally:
        stop.set()
        thread.join()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".panelist")] == []
    assert not list(tmp_path.glob("?.db-*"))


def test_answers_are_not_overwritten_unless_that_is_said(store: Store, tmp_path: Path) -> None:
    fill(store)
    file = tmp_path / "backup.db"
    back_up(store.database, file)
    visit = store.join()
    store.do(SaveAnswers(visit.id, 1, 1, (answer(),)))
    with pytest.raises(BadStore, match="holds 4 answers"):
        restore(file, store.database)
    with pytest.raises(BadStore, match="exists already"):
        back_up(store.database, file)
    store.writer.close()
    restore(file, store.database, force=True)
    assert len(store.snapshot().answers) == 3


@pytest.mark.parametrize("content", [b"", b"item,system,output\n", None])
def test_what_is_no_backup_is_refused(store: Store, tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "x.db"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BadStore, match=r"x\.db (is not|cannot be read as) a backup"):
        restore(file, store.database)
