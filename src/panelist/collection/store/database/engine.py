"""Connections: how a database is found, opened and used.

SQLAlchemy builds the statements, keeps the pool and runs the migrations. The statements of every answer go
straight to the driver, compiled once: Core's own execution costs several times what SQLite needs for the row.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar

import psycopg
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import Dialect, make_url
from sqlalchemy.engine.url import URL
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, TimeoutError
from sqlalchemy.sql.expression import Executable

from panelist.collection.store.database.file_watch import FileWatch
from panelist.collection.store.errors import BadStore, StoreUnavailable
from panelist.study.file_names import DATABASE_FILE

T = TypeVar("T")
Row = tuple[Any, ...]
Values = dict[str, Any]

BUSY_SECONDS = 10.0
POOL, POOL_OVERFLOW = 4, 4
ADVISORY_LOCK = 0x70616E656C  # PostgreSQL numbers these locks; one number for all of ours
PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    f"busy_timeout={BUSY_SECONDS * 1000:.0f}",
)
# Busy, locked, read-only, input/output, full, cannot open, protocol: out of reach, not a wrong statement.
SQLITE_AWAY = {5, 6, 8, 10, 13, 14, 15}
SQLITE_DAMAGED = {11, 26}  # corrupt, not a database
# Connection, transaction rollback, resources, object in use, operator intervention, system error.
POSTGRES_AWAY = {"08", "40", "53", "55", "57", "58"}


class Statement:
    """A statement compiled once for each kind of database; every value comes from the caller."""

    __slots__ = ("_texts", "clause")

    def __init__(self, clause: Executable) -> None:
        self.clause = clause
        self._texts: dict[str, str] = {}

    def text(self, dialect: Dialect) -> str:
        """Return the SQL in the dialect of this database, with named parameters."""
        found = self._texts.get(dialect.name)
        if found is None:
            compiled = self.clause.compile(dialect=dialect)  # type: ignore[attr-defined]
            assert not any(value is not None for value in compiled.params.values()), "spell constants out"
            found = self._texts[dialect.name] = str(compiled)
        return found


class Connection:
    """One connection to the database, at the driver's own speed."""

    __slots__ = ("_execute", "dialect", "raw")

    def __init__(self, raw: Any, dialect: Dialect) -> None:
        self.raw = raw
        self.dialect = dialect
        self._execute = raw.execute

    def rows(self, statement: Statement, values: Values | None = None) -> list[Row]:
        """Return the rows of a query, or of an insert that returns some."""
        found: list[Row] = self._execute(statement.text(self.dialect), values or {}).fetchall()
        return found

    def row(self, statement: Statement, values: Values | None = None) -> Row | None:
        """Return the first row of a query, if there is one."""
        found: Row | None = self._execute(statement.text(self.dialect), values or {}).fetchone()
        return found

    def run(self, statement: Statement, values: Values | None = None) -> int:
        """Run a statement; return how many rows it touched."""
        touched: int = self._execute(statement.text(self.dialect), values or {}).rowcount
        return touched

    def run_many(self, statement: Statement, values: Sequence[Values]) -> None:
        """Run a statement once for each set of values."""
        if len(values) == 1:
            self._execute(statement.text(self.dialect), values[0])
        elif values:
            self.raw.cursor().executemany(statement.text(self.dialect), values)

    def begin(self, alone: bool = False) -> None:
        """Begin to write; ``alone`` if no other process may do the same. (On SQLite nobody else ever may.)"""
        self._execute("BEGIN IMMEDIATE" if self.dialect.name == "sqlite" else "BEGIN")
        if alone and self.dialect.name != "sqlite":
            self._execute(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})")

    def begin_reading(self) -> None:
        """Begin to read from one snapshot, however long it takes."""
        sqlite = self.dialect.name == "sqlite"
        self._execute("BEGIN" if sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def commit(self) -> None:
        """Commit; when this returns, everything since ``begin`` is on disk."""
        self._execute("COMMIT")

    def rollback(self) -> None:
        """Roll back everything since ``begin``."""
        self._execute("ROLLBACK")

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Roll back only what happened inside, if that raises."""
        self._execute("SAVEPOINT one_operation")
        try:
            yield
        except BaseException:
            self._execute("ROLLBACK TO SAVEPOINT one_operation")
            self._execute("RELEASE SAVEPOINT one_operation")
            raise
        self._execute("RELEASE SAVEPOINT one_operation")

    def close(self) -> None:
        """Close the connection, whatever state it is in."""
        self.raw.close()


SECRETS = ("password", "sslpassword")
"""Parameters of an address that nobody should read; a password may be among them, too."""


class _Kept:
    """A connection that closes with the thread that keeps it."""

    __slots__ = ("db",)

    def __init__(self, db: Connection) -> None:
        self.db = db

    def __del__(self) -> None:
        self.db.close()


class Database:
    """A database that can be reached: connections for reading, and new ones for the writer.

    A file is read over a connection that each thread keeps: taking one from the pool and giving it back
    costs as much as the query. Connections to a server are expensive, so there all threads share the pool.
    """

    def __init__(self, url: URL) -> None:
        self.url = url
        self.engine = _make_engine(url)
        self.dialect = self.engine.dialect
        self._keeping = threading.local() if self.file is not None else None
        self._watch = FileWatch(self.file) if self.file is not None else None

    @property
    def name(self) -> str:
        """The address, without its password."""
        if self.file is not None:
            return str(self.file)
        plain = self.url.set(drivername="postgresql").difference_update_query(SECRETS)
        return plain.render_as_string(hide_password=True)

    @property
    def file(self) -> Path | None:
        """The file, where the database is one."""
        return Path(self.url.database or "") if self.url.get_backend_name() == "sqlite" else None

    def connect(self) -> Connection:
        """Return a new connection that belongs to the caller."""
        self.note_file()
        try:
            return self._connect()
        except (DBAPIError, TimeoutError, psycopg.Error, sqlite3.Error) as error:
            raise self.away(error) from None

    def note_file(self) -> None:
        """Note which file the database is, or raise StoreMoved where it is no longer the one noted before."""
        if self._watch is not None:
            self._watch.check()

    def check_written(self, first: bool = False) -> None:
        """Raise StoreMoved where what was committed just now went into a file that nobody finds again.

        ``first``: it was the first commit of its connection. A database server looks after its own files.
        """
        if self._watch is not None:
            self._watch.check_written(first)

    def rescue(self, db: Connection) -> None:
        """Keep what a connection still has of a file that was deleted or replaced."""
        if self._watch is not None:
            self._watch.rescue(db.raw)

    def _connect(self) -> Connection:
        fairy = self.engine.raw_connection()
        raw = fairy.driver_connection
        fairy.detach()
        return Connection(raw, self.dialect)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Return what ``work`` reads; a connection that died is replaced once."""
        try:
            return self._read_once(work)
        except (sqlite3.Error, psycopg.Error, DBAPIError, TimeoutError) as error:
            if not is_away(error):
                raise
        try:
            return self._read_once(work)
        except (sqlite3.Error, psycopg.Error, DBAPIError, TimeoutError) as error:
            if is_away(error):
                raise self.away(error) from None
            raise

    def _read_once(self, work: Callable[[Connection], T]) -> T:
        keeping = self._keeping
        return self._read_pooled(work) if keeping is None else self._read_kept(work, keeping)

    def _read_kept(self, work: Callable[[Connection], T], keeping: threading.local) -> T:
        kept: _Kept | None = getattr(keeping, "kept", None)
        if kept is None:
            kept = keeping.kept = _Kept(self._connect())
        try:
            return work(kept.db)
        except sqlite3.Error:
            keeping.kept = None
            raise

    def _read_pooled(self, work: Callable[[Connection], T]) -> T:
        fairy = self.engine.raw_connection()
        try:
            found = work(Connection(fairy.driver_connection, self.dialect))
        except (sqlite3.Error, psycopg.Error) as error:
            fairy.invalidate(error)
            self.engine.pool.dispose()  # the others died with it
            raise
        finally:
            fairy.close()
        return found

    @contextmanager
    def reaching(self) -> Iterator[None]:
        """Raise StoreAway or BadStore, in words, where the database cannot be reached or is damaged."""
        try:
            yield
        except (sqlite3.Error, psycopg.Error, DBAPIError, TimeoutError) as error:
            if is_away(error):
                raise self.away(error) from None
            cause = getattr(error, "orig", None) or error
            if (getattr(cause, "sqlite_errorcode", 0) or 0) & 0xFF in SQLITE_DAMAGED:
                raise BadStore(f"{self.name} cannot be used: {cause}. Restore a backup of it.") from None
            raise

    def away(self, error: BaseException) -> StoreUnavailable:
        """Return the error that says that the database cannot be reached."""
        cause = getattr(error, "orig", None) or error
        why = " ".join(str(cause).split()).rstrip(".")
        return StoreUnavailable(
            f"The database {self.name} cannot be reached ({why}). Try again when it is back."
        )

    def close(self) -> None:
        """Close every connection for reading, those in use as soon as they are not."""
        if self._keeping is not None:
            self._keeping = threading.local()  # the connections of all threads go with the old one
        self.engine.dispose()


def is_away(error: BaseException) -> bool:
    """Return whether the database is out of reach for now, rather than the statement wrong."""
    if isinstance(error, DBAPIError):
        return error.orig is not None and is_away(error.orig)
    if isinstance(error, sqlite3.Error):
        return (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF in SQLITE_AWAY
    if isinstance(error, psycopg.Error):
        lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        return (lost and error.sqlstate is None) or (error.sqlstate or "")[:2] in POSTGRES_AWAY
    return isinstance(error, StoreUnavailable | TimeoutError)


def find_url(place: str | Path | None, folder: Path) -> URL:
    """Return the address of a database: a URL, a file, or study.db in the study's folder."""
    if place is None or not str(place).strip():
        return URL.create("sqlite", database=str(folder / DATABASE_FILE))
    if isinstance(place, Path) or "://" not in place:
        return URL.create("sqlite", database=str(place))
    try:
        url = make_url(place)
    except ArgumentError:
        url = URL.create("?")
    if url.drivername == "sqlite" and url.database not in (None, "", ":memory:"):
        return url
    if url.drivername in ("postgres", "postgresql", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    shown = place.split("://")[0] + "://…"  # the rest may hold a password
    raise BadStore(
        f"{shown} is not a database for a study. Give a file (study.db), sqlite:///path/study.db or "
        "postgresql://user:password@host/name."
    )


def _make_engine(url: URL) -> Engine:
    settings: dict[str, Any] = {
        "pool_size": POOL,
        "max_overflow": POOL_OVERFLOW,
        "pool_timeout": BUSY_SECONDS,
    }
    settings["pool_reset_on_return"] = None  # everything outside begin and commit is committed at once
    try:
        if url.get_backend_name() == "sqlite":
            arguments: dict[str, Any] = {
                "check_same_thread": False,
                "timeout": BUSY_SECONDS,
                "isolation_level": None,
            }
            # Opened only where it exists: a database that was deleted must not come back empty.
            place = Path(url.database or "").absolute().as_uri() + "?mode=rw"
            engine = create_engine(
                url, paramstyle="named", creator=lambda: _open_file(place, arguments), **settings
            )
            event.listen(engine, "connect", _set_pragmas)
        else:
            arguments = {"autocommit": True, "connect_timeout": 5, "application_name": "panelist"}
            engine = create_engine(url, connect_args=arguments, **settings)
    except (NoSuchModuleError, ArgumentError) as error:
        raise BadStore(f"The database address cannot be used: {error}.") from None
    # Drivers that begin transactions automatically begin them too late for migrations and snapshots.
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine


def _open_file(place: str, arguments: dict[str, Any]) -> sqlite3.Connection:
    opened: sqlite3.Connection = sqlite3.connect(place, uri=True, **arguments)
    return opened


def _set_pragmas(raw: sqlite3.Connection, _: object) -> None:
    until = monotonic() + BUSY_SECONDS
    for pragma in PRAGMAS:
        while True:
            try:
                raw.execute(f"PRAGMA {pragma}").fetchall()
                break
            except (
                sqlite3.OperationalError
            ) as error:  # SQLite does not wait while another process sets the mode
                if not is_away(error) or monotonic() > until:
                    raise
                sleep(0.02)
