"""The one writing thread of a process: whatever has come in is committed together.

While one batch is being written to disk, the next one gathers. So a disk that syncs a hundred times a second
still takes thousands of answers a second, and nobody is told "saved" before the disk has said so.
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

from panelist.collection.store.engine import Database, Link, is_away
from panelist.collection.store.errors import StoreAway, StoreError, StoreMoved
from panelist.collection.store.ops import Desk, Operation
from panelist.collection.store.plans import PlanShelf

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
class Tally:
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
    shelf: PlanShelf
    patience: float = PATIENCE_SECONDS
    tally: Tally = field(default_factory=Tally)
    _queue: "queue.SimpleQueue[_Waiting | None]" = field(default_factory=queue.SimpleQueue, repr=False)
    _link: Link | None = None
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
        if self._link is not None:
            self._link.close()

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
        """Commit the batch; while the database is away, try again as long as each one's patience lasts."""
        pause = FIRST_PAUSE
        while batch:
            try:
                batch.sort(key=lambda waiting: waiting.op.order)
                self._commit(batch)
            except Exception as error:
                if isinstance(error, StoreMoved) and self._link is not None:
                    self.database.rescue(self._link)
                self._drop_link()
                if not is_away(error):  # a fault of ours: say so to those who wait, and go on
                    return _resolve(batch, error)
                self.tally.lost += 1
                if isinstance(error, StoreMoved):  # it does not come back by itself: say so at once
                    return _resolve(batch, error)
                next_try = monotonic() + pause
                over = [waiting for waiting in batch if waiting.until < next_try]
                _resolve(over, error if isinstance(error, StoreAway) else self.database.away(error))
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
        first = self._link is None
        if self._link is None:
            self._link = self.database.connect()
        link, desk = self._link, Desk(self._link, self.shelf)
        link.begin()
        try:
            for waiting in batch:
                waiting.result = waiting.op.run(desk)
                waiting.error = None
        except Exception as error:
            if is_away(error):  # a full disk has taken everything back already, and the link is dropped
                raise
            link.rollback()
            self.tally.repeated += 1
            link.begin()
            self._run_apart(batch, desk)
        link.commit()
        self.database.check_written(first)

    def _run_apart(self, batch: list[_Waiting], desk: Desk) -> None:
        """Run each operation so that one that fails takes back only what it did itself."""
        for waiting in batch:
            waiting.error = None
            try:
                with desk.link.savepoint():
                    waiting.result = waiting.op.run(desk)
            except Exception as error:
                if is_away(error):
                    raise
                waiting.error = error

    def _drop_link(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            with suppress(sqlite3.Error, psycopg.Error):  # it may be dead already
                link.close()  # which also takes back what was begun


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
