"""Copies of a whole database: of a file page by page, of a schema of PostgreSQL table by table."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from panelist.collection.store.database.engine import Database
from panelist.collection.store.errors import BadStore


def copy_file(source: Path, target: Path) -> None:
    """Copy an SQLite database page by page; writers may continue meanwhile."""
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(target, timeout=10)) as other:
        one.backup(other)


def settle_file(file: Path) -> None:
    """Make one file of the database and its journal."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE").fetchall()


def keep_copy(database: Database, connection: Connection, version: str) -> str:
    """Keep everything as it is before its tables change; return where. Nobody else may write meanwhile.

    The copy of a file is another file beside it, which ``panelist restore`` reads; that of a database on a
    server is a second schema in it, made in the same transaction.
    """
    moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    if database.file is None:
        return _copy_schema(database, connection, f"panelist_{version}_{moment.replace('-', '_')}")
    file = _find_name(database.file, f"before-{version}-{moment}")
    try:
        file.touch(mode=0o600, exist_ok=False)  # it holds the outside ids of people
        copy_file(database.file, file)
        settle_file(file)
    except (OSError, sqlite3.Error) as error:
        file.unlink(missing_ok=True)
        raise BadStore(
            f"{database.file} has tables of an earlier version ({version}), and no copy of it could be made "
            f"before they change: {error}. Nothing was changed. Make room or give write access to "
            f"{database.file.parent}, then start again."
        ) from None
    return str(file)


def _find_name(file: Path, word: str) -> Path:
    """Return an unused name beside the file."""
    number, wanted = 1, file.with_name(f"{file.stem}.{word}{file.suffix}")
    while wanted.exists():
        number += 1
        wanted = file.with_name(f"{file.stem}.{word}-{number}{file.suffix}")
    return wanted


def _copy_schema(database: Database, connection: Connection, schema: str) -> str:
    tables = inspect(connection).get_table_names()
    try:
        connection.execute(text(f'CREATE SCHEMA "{schema}"'))
        for table in tables:
            connection.execute(text(f'CREATE TABLE "{schema}"."{table}" AS TABLE "{table}"'))
    except DBAPIError as error:
        why = " ".join(str(error.orig).split())
        raise BadStore(
            f"{database.name} has tables of an earlier version, and no copy of them could be made before "
            f"they change: {why}. Nothing was changed. Let the user make a schema (GRANT CREATE ON "
            "DATABASE), then start again; you can also make a copy with panelist backup at any time."
        ) from None
    return f"schema {schema}"
