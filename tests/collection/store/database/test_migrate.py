"""Migrations: a new database, an old one, one that is too new, and one that is not ours."""

import gzip
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from panelist.collection.store.database.engine import Database, find_url
from panelist.collection.store.database.migrate import FOLDER, migrate
from panelist.collection.store.database.tables import metadata
from panelist.collection.store.errors import BadStore
from panelist.collection.store.store import open_store
from panelist.design.plan import Plan
from panelist.study.study import Study
from tests.collection.store import old_study

OLD = Path(__file__).parents[1] / "study-v001.db.gz"


def open_database(url: str) -> Database:
    database = Database(find_url(url, Path()))
    if database.file is not None:
        database.file.touch()  # a file is opened only where there is one
    return database


def test_migrations_make_exactly_the_tables_of_today(database_url: str) -> None:
    database = open_database(database_url)
    had, has = migrate(database)
    assert (had, has) == ("", max(path.stem.split("_")[0] for path in (FOLDER / "versions").glob("v*.py")))
    with database.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    assert migrate(database) == (has, has)
    database.close()


def test_several_that_migrate_at_once_do_it_once(database_url: str) -> None:
    databases = [open_database(database_url) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(migrate, databases))
    assert [had for had, _ in done].count("") == 1
    for database in databases:
        database.close()


def test_an_old_study_opens_without_loss(tmp_path: Path) -> None:
    file = tmp_path / "study.db"
    file.write_bytes(gzip.decompress(OLD.read_bytes()))
    with closing(sqlite3.connect(file)) as connection:
        tables = old_study.read_everything(connection)
    with open_store(file, old_study.write(tmp_path / "study")) as store:
        snapshot = store.snapshot()
        assert store.plan().raters == tuple(f"r{number:03}" for number in range(1, 7))
        for name in ("visits", "answers", "pages_done", "events", "actions"):
            frame = getattr(snapshot, name)
            if name == "actions":  # a newer Panelist may see more in the same study file, and says so
                frame = frame[frame["what"] != "study file changed"]
            for old, new in zip(tables[name], frame.to_dict("records"), strict=True):
                given = {key: value for key, value in old.items() if value is not None}
                assert {key: new[key] for key in given} == given
        assert store.join(outside_id="PID 1").id == tables["visits"][0]["id"]
        assert store.join().place == "r003"


def test_a_later_migration_keeps_what_was_collected(
    database_url: str, study: Study, plan: Plan, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with open_store(database_url, study, plan) as store:
        visit = store.join()
    folder = tmp_path / "migrations"
    (folder / "versions").mkdir(parents=True)
    for path in [
        Path("env.py"),
        *(Path("versions") / one.name for one in (FOLDER / "versions").glob("v*.py")),
    ]:
        (folder / path).write_text((FOLDER / path).read_text(encoding="utf-8"), encoding="utf-8")
    head = max(path.stem.split("_")[0] for path in (FOLDER / "versions").glob("v*.py"))
    (folder / "versions" / "v999_next.py").write_text(
        "import sqlalchemy as sa\nfrom alembic import op\n"
        f"revision = 'v999'\ndown_revision = {head!r}\n"
        "def upgrade():\n"
        "    column = sa.Column('device', sa.Text, nullable=False, server_default='unknown')\n"
        "    op.add_column('visits', column)\n"
    )
    database = open_database(database_url)
    assert migrate(database, folder) == (head, "v999")
    with database.engine.connect() as connection:
        rows = connection.execute(text("SELECT token, device FROM visits")).all()
    assert [tuple(row) for row in rows] == [(visit.token, "unknown")]
    database.close()
    with pytest.raises(BadStore, match="newer version of Panelist"):
        open_store(database_url, study)
    assert f"migrated from tables {head} to v999" in caplog.text
    kept = caplog.text.split("kept in ")[1].split(".\n")[0]
    if database.file is not None:
        with closing(sqlite3.connect(kept)) as copy:
            assert copy.execute("SELECT version_num FROM alembic_version").fetchone() == (head,)
            assert copy.execute("SELECT token FROM visits").fetchall() == [(visit.token,)]
        assert Path(kept).stat().st_mode & 0o077 == 0
    else:
        name = kept.removeprefix("schema ")
        with database.engine.connect() as connection:
            assert connection.execute(text(f'SELECT token FROM "{name}".visits')).all() == [(visit.token,)]
        database.close()


def test_where_no_copy_can_be_made_the_tables_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "study.db"
    file.write_bytes(gzip.decompress(OLD.read_bytes()))
    before = sorted(tmp_path.iterdir())

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("panelist.collection.store.database.copies.copy_file", fail)
    with pytest.raises(BadStore, match=r"no copy of it could be made before they change: .*No space left"):
        open_store(file, old_study.write(tmp_path / "study"))
    assert [path for path in sorted(tmp_path.iterdir()) if path.suffix == ".db"] == before
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("v001",)


def test_a_database_of_somebody_else_is_refused_and_left_alone(
    database_url: str, study: Study, plan: Plan
) -> None:
    database = open_database(database_url)
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE answers (id INTEGER, mine TEXT)"))
    with pytest.raises(BadStore, match="Panelist did not make: answers"):
        open_store(database_url, study, plan)
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT count(mine) FROM answers")).scalar() == 0
    database.close()
