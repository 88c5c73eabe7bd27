"""The one writing thread of a process: whatever has come in is committed together.

While one batch is being written to disk, the next one gathers. So a disk that syncs a hundred times a second
still takes thousands of answers a second, and no page says "saved" before the disk has confirmed it.
"""

import asyncio
import queue
import sqlite3
import threading
from collections import defaultdict
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeAlias, TypeVar

import psycopg

from panelist.collection.store.database.engine import Connection, Database, is_away
from panelist.collection.store.errors import StoreError, StoreMoved, StoreUnavailable
from panelist.collection.store.operations.ops import Operation, Transaction
from panelist.collection.store.operations.plans import PlanCache

T = TypeVar("T")
Promise: TypeAlias = "Future[Any] | asyncio.Future[Any]"

LARGEST_BATCH = 500
PATIENCE_SECONDS = 30.0
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0


@dataclass(slots=True)
class _Waiting:
    op: "Operation[Any]"
    promise: Promise
    until: float
    result: Any = None
    error: BaseException | None = None


@dataclass(slots=True)
class WriterCounts:
    """What the writer has done so far."""

    operations: int = 0
    commits: int = 0
    largest: int = 0
    repeated: int = 0
    """Batches that were run again, one operation at a time, because one of them failed."""
    lost: int = 0
    """How often the database was found out of reach."""


@dataclass(eq=False)
class Writer:
    """Takes operations from any thread or event loop, and resolves their futures after the commit."""

    database: Database
    plans: PlanCache
    patience: float = PATIENCE_SECONDS
    tally: WriterCounts = field(default_factory=WriterCounts)
    _queue: "queue.SimpleQueue[_Waiting | None]" = field(default_factory=queue.SimpleQueue, repr=False)
    _db: Connection | None = None
    _closed: bool = False

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._work, name="panelist-writer", daemon=True)
        self._thread.start()

    def submit(self, op: "Operation[T]") -> "Future[T]":
        """Return a future that holds the result once it is on disk."""
        future: Future[T] = Future()
        self._take(op, future)
        return future

    async def send(self, op: "Operation[T]", patience: float | None = None) -> T:
        """Return the result once it is on disk, without blocking the event loop."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._take(op, future, patience)
        return await future

    def close(self) -> None:
        """Write what is waiting, then end the thread."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            self._thread.join()

    def _take(self, op: "Operation[Any]", promise: Promise, patience: float | None = None) -> None:
        if self._closed:
            raise StoreError("The store is closed; nothing more can be written to it.")
        until = monotonic() + (self.patience if patience is None else patience)
        self._queue.put(_Waiting(op, promise, until))

    def _work(self) -> None:
        going_on = True
        while going_on:
            batch: list[_Waiting] = []
            going_on = self._gather(batch)
            if batch:
                self._write(batch)
        if self._db is not None:
            self._db.close()

    def _gather(self, batch: list[_Waiting]) -> bool:
        """Fill the batch with all that is there, at least one; return whether there may be more later."""
        found = self._queue.get()
        try:
            while found is not None:
                batch.append(found)
                if len(batch) >= LARGEST_BATCH:
                    return True
                found = self._queue.get_nowait()
        except queue.Empty:
            return True
        return False

    def _write(self, batch: list[_Waiting]) -> None:
        """Commit the batch; while the database is unavailable, retry as long as each one's patience lasts."""
        pause = FIRST_PAUSE
        while batch:
            try:
                batch.sort(key=lambda waiting: waiting.op.order)
                self._commit(batch)
            except Exception as error:
                if isinstance(error, StoreMoved) and self._db is not None:
                    self.database.rescue(self._db)
                self._disconnect()
                if not is_away(error):  # a bug of ours: report it to those who wait, and continue
                    return _resolve(batch, error)
                self.tally.lost += 1
                if isinstance(error, StoreMoved):  # it will not recover: report it at once
                    return _resolve(batch, error)
                next_try = monotonic() + pause
                over = [waiting for waiting in batch if waiting.until < next_try]
                _resolve(over, error if isinstance(error, StoreUnavailable) else self.database.away(error))
                batch = [waiting for waiting in batch if waiting.until >= next_try]
                threading.Event().wait(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                self.tally.operations += len(batch)
                self.tally.commits += 1
                self.tally.largest = max(self.tally.largest, len(batch))
                return _resolve(batch)
        return None

    def _commit(self, batch: list[_Waiting]) -> None:
        first = self._db is None
        if self._db is None:
            self._db = self.database.connect()
        db, tx = self._db, Transaction(self._db, self.plans)
        db.begin()
        try:
            for waiting in batch:
                waiting.result = waiting.op.run(tx)
                waiting.error = None
        except Exception as error:
            if is_away(
                error
            ):  # a full disk has already rolled everything back, and the connection is dropped
                raise
            db.rollback()
            self.tally.repeated += 1
            db.begin()
            self._run_apart(batch, tx)
        db.commit()
        self.database.check_written(first)

    def _run_apart(self, batch: list[_Waiting], tx: Transaction) -> None:
        """Run each operation so that one that fails rolls back only what it did itself."""
        for waiting in batch:
            waiting.error = None
            try:
                with tx.db.savepoint():
                    waiting.result = waiting.op.run(tx)
            except Exception as error:
                if is_away(error):
                    raise
                waiting.error = error

    def _disconnect(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            with suppress(sqlite3.Error, psycopg.Error):  # it may be dead already
                db.close()  # which also rolls back what was begun


def _resolve(batch: list[_Waiting], error: BaseException | None = None) -> None:
    """Tell everybody; an event loop is woken once for all of its own."""
    loops: defaultdict[asyncio.AbstractEventLoop, list[_Waiting]] = defaultdict(list)
    for waiting in batch:
        if error is not None:
            waiting.error = error
        if isinstance(waiting.promise, asyncio.Future):
            loops[waiting.promise.get_loop()].append(waiting)
        elif waiting.promise.set_running_or_notify_cancel():
            _settle(waiting)
    for loop, own in loops.items():
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle_all, own)


def _settle_all(batch: list[_Waiting]) -> None:
    for waiting in batch:
        if not waiting.promise.done():
            _settle(waiting)


def _settle(waiting: _Waiting) -> None:
    if waiting.error is not None:
        waiting.promise.set_exception(waiting.error)
    else:
        waiting.promise.set_result(waiting.result)
