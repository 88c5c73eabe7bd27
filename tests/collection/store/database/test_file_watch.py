"""A file that is deleted, replaced or overwritten while it is in use: no page says "saved" any more."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from panelist.collection.store.errors import StoreMoved
from panelist.collection.store.operations.ops import Beat, SaveAnswers
from panelist.collection.store.records import Visit
from panelist.collection.store.store import Store, open_store
from panelist.design.plan import Plan
from panelist.study.study import Study
from tests.collection.store.studies import answer


@pytest.fixture
def file(study: Study) -> Path:
    return study.folder / "study.db"


@pytest.fixture
def opened(file: Path, study: Study, plan: Plan) -> Iterator[tuple[Store, Visit]]:
    with open_store(file, study, plan, patience=20.0) as store:
        visit = store.join()
        store.do(SaveAnswers(visit.id, 1, 1, (answer(key="before"),)))
        yield store, visit


def move_away(file: Path) -> None:
    file.rename(file.with_name("elsewhere.db"))


def replace_by_copy(file: Path) -> None:
    copy = file.with_name("copy.db")
    shutil.copy(file, copy)
    copy.replace(file)


def delete_journal(file: Path) -> None:
    Path(f"{file}-wal").unlink()


def empty(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(0)


@pytest.mark.parametrize("harm", [Path.unlink, move_away, replace_by_copy, delete_journal, empty])
def test_nothing_is_acknowledged_that_went_into_a_lost_file(
    harm: Callable[[Path], None], opened: tuple[Store, Visit], file: Path
) -> None:
    store, visit = opened
    harm(file)
    for number in range(20):
        with pytest.raises(StoreMoved):
            store.do(SaveAnswers(visit.id, 1, 2, (answer(key=f"after-{number}", value=str(1 + number % 5)),)))
    with pytest.raises(StoreMoved):
        store.do(Beat())
    assert store.writer.tally.lost == 21, "each is told at once, and nothing is tried again"


def test_a_deleted_file_does_not_come_back_empty(opened: tuple[Store, Visit], file: Path) -> None:
    store, visit = opened
    file.unlink()
    for _ in range(3):
        with pytest.raises(StoreMoved, match="deleted or moved away"):
            store.do(SaveAnswers(visit.id, 1, 2, (answer(),)))
    assert not file.exists()


@pytest.mark.parametrize("harm", [Path.unlink, move_away, replace_by_copy])
def test_what_was_collected_is_rescued_from_a_lost_file(
    harm: Callable[[Path], None], opened: tuple[Store, Visit], file: Path, study: Study
) -> None:
    store, visit = opened
    harm(file)
    for _ in range(2):
        with pytest.raises(StoreMoved):
            store.do(SaveAnswers(visit.id, 1, 2, (answer(),)))
    (rescued,) = file.parent.glob("study.rescued-*.db")
    assert rescued.stat().st_mode & 0o077 == 0
    with open_store(rescued, study, create=False) as again:
        assert {one.key for one in again.visit_answers(visit.id, 1, 1).values()} == {"before"}


def test_a_file_that_is_put_back_is_written_to_again(opened: tuple[Store, Visit], file: Path) -> None:
    store, visit = opened
    move_away(file)
    with pytest.raises(StoreMoved):
        store.do(SaveAnswers(visit.id, 1, 2, (answer(key="lost-key"),)))
    file.with_name("elsewhere.db").rename(file)
    saved = store.do(SaveAnswers(visit.id, 1, 2, (answer(key="lost-key"),)))
    assert saved.answers[0].revision == 0
    with closing(sqlite3.connect(file)) as aside:
        assert aside.execute("SELECT count(*) FROM answers WHERE page = 2").fetchone() == (1,)


def test_what_came_after_a_file_was_put_back_is_rescued_as_well(
    opened: tuple[Store, Visit], file: Path, study: Study
) -> None:
    store, visit = opened
    move_away(file)
    with pytest.raises(StoreMoved):
        store.do(SaveAnswers(visit.id, 1, 2, (answer(key="again"),)))
    file.with_name("elsewhere.db").rename(file)
    store.do(SaveAnswers(visit.id, 1, 3, (answer(key="later"),)))
    file.unlink()
    with pytest.raises(StoreMoved):
        store.do(SaveAnswers(visit.id, 1, 4, (answer(key="lost"),)))
    rescued = list(file.parent.glob("study.rescued-*.db"))
    assert len(rescued) == 2, "in the same second, too, no copy takes the place of another"
    kept = []
    for one in rescued:
        with open_store(one, study, create=False) as copy:
            kept.append(len(copy.visit_answers(visit.id, 1, 3)))
    assert sorted(kept) == [0, 1]


def test_a_full_disk_is_told_and_the_next_answer_finds_room_again(
    opened: tuple[Store, Visit], file: Path, study: Study
) -> None:
    _, visit = opened
    with open_store(file, study, patience=0.2) as store:
        store.do(Beat())
        db = store.writer._db
        assert db is not None
        (pages,) = db.raw.execute("PRAGMA page_count").fetchone()
        db.raw.execute(f"PRAGMA max_page_count = {pages}")
        long = "x" * 20_000
        # The full connection is dropped and another opened, whose file may grow: so it is saved after all.
        store.do(SaveAnswers(visit.id, 1, 3, (answer(value=long),)))
        assert store.writer.tally.lost == 1
    with closing(sqlite3.connect(file)) as aside:
        assert aside.execute("SELECT value FROM answers WHERE page = 3").fetchone() == (long,)
