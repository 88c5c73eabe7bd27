"""Backup and restore: everything that was collected, as one file, while collecting continues.

The file is an SQLite database, whatever database the study is in: so a backup also moves a study from one
to the other.
"""

import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, MetaData, func, insert, select, text

from panelist.collection.store.database.copies import copy_file, settle_file
from panelist.collection.store.database.engine import Database, find_url
from panelist.collection.store.database.migrate import find_version, migrate, read_version
from panelist.collection.store.errors import BadStore
from panelist.core.prose import count

CHUNK = 5000
_VERSIONS = "alembic_version"


@dataclass(frozen=True)
class Copied:
    """What a backup or a restore carried over."""

    hash: str
    """The study's, as the database has it."""
    title: str
    counts: dict[str, int]
    """Rows by table."""


def back_up(database: Database, file: Path, force: bool = False) -> Copied:
    """Write everything in the database into one new file, as it is at one moment; return what was written."""
    if file.exists() and not force:
        raise BadStore(f"{file} exists already. Name another file, or add --force to replace it.")
    if not file.parent.is_dir():
        raise BadStore(f"{file} cannot be written: there is no folder {file.parent}. Make it first.")
    with database.reaching():
        return _back_up(database, file)


def _back_up(database: Database, file: Path) -> Copied:
    version = read_version(database)
    if not version:
        raise BadStore(f"{database.name} holds no study; there is nothing to back up.")
    with tempfile.TemporaryDirectory(prefix=".panelist-", dir=file.parent) as folder:
        made = Path(folder) / "backup.db"
        made.touch(mode=0o600)  # it holds the outside ids of people
        if database.file is not None:
            copy_file(database.file, made)
        else:
            target = _open(made)
            migrate(target, to=version)
            _copy_rows(database, target)
            target.close()
        settle_file(made)
        copied = _count(made)
        made.replace(file)
    return copied


def restore(file: Path, database: Database, force: bool = False) -> Copied:
    """Put a backup into a database that holds no answers; with ``force``, replace whatever it holds."""
    _check_backup(file)
    with database.reaching():
        return _restore(file, database, force)


def _restore(file: Path, database: Database, force: bool) -> Copied:
    if not force and (there := _count_answers(database)):
        raise BadStore(
            f"{database.name} holds {count(there, 'answer')}. Back it up first; then add --force to "
            "replace it."
        )
    with tempfile.TemporaryDirectory(prefix="panelist-") as folder:
        copy = Path(folder) / "restore.db"
        copy_file(file, copy)
        source = _open(copy)
        migrate(source, keep=False)  # a backup may be older than the current tables
        if database.file is None:
            migrate(database)
            _copy_rows(source, database)
        source.close()
        settle_file(copy)
        if database.file is not None:
            if not database.file.exists():
                database.file.touch(mode=0o600)
            copy_file(copy, database.file)
        return _count(copy)


def _open(file: Path) -> Database:
    return Database(find_url(file, file.parent))


def _copy_rows(source: Database, target: Database) -> None:
    """Replace every row of the target by those of the source, from one snapshot and in one transaction."""
    metadata = MetaData()
    metadata.reflect(target.engine)
    tables = [table for table in metadata.sorted_tables if table.name != _VERSIONS]
    with source.engine.begin() as reading, target.engine.begin() as writing:
        if source.file is None:
            reading.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        for table in reversed(tables):
            writing.execute(table.delete())
        for table in tables:
            rows = reading.execute(select(table), execution_options={"yield_per": CHUNK})
            for chunk in rows.mappings().partitions(CHUNK):
                writing.execute(insert(table), [dict(row) for row in chunk])
        if target.file is None:
            _set_counters(writing, [table.name for table in tables if "id" in table.c])


def _set_counters(connection: Connection, tables: list[str]) -> None:
    """Let PostgreSQL number new rows after those that were copied with their numbers."""
    for name in tables:
        connection.execute(
            text(
                f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), "
                f"COALESCE((SELECT max(id) FROM {name}), 1), EXISTS (SELECT 1 FROM {name}))"
            )
        )


def _check_backup(file: Path) -> None:
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    except sqlite3.Error as error:
        raise BadStore(f"{file} cannot be read as a backup: {error}.") from None
    if not {_VERSIONS, "studies", "answers"} <= found:
        raise BadStore(f"{file} is not a backup of a study. Give a file that panelist backup wrote.")


def _count_answers(database: Database) -> int:
    if database.file is not None and not (database.file.exists() and database.file.stat().st_size):
        return 0
    with database.engine.connect() as connection:
        if not find_version(connection):
            return 0
        return int(connection.execute(text("SELECT count(*) FROM answers")).scalar_one())


def _count(file: Path) -> Copied:
    database = _open(file)
    metadata = MetaData()
    metadata.reflect(database.engine)
    with database.engine.connect() as connection:
        counts = {
            table.name: int(connection.execute(select(func.count()).select_from(table)).scalar_one())
            for table in metadata.sorted_tables
            if table.name != _VERSIONS
        }
        row = connection.execute(text("SELECT hash, title FROM studies")).first()
    database.close()
    settle_file(file)
    return Copied(row[0] if row else "", row[1] if row else "", counts)
