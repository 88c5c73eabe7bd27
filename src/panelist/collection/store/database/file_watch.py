"""Whether the file that is written to is still the one under its name.

A file that somebody deletes or replaces stays open: SQLite continues to write into a file that nobody will
ever find again, and reports success. So after each commit, before a page says "saved", the names are looked
up again: database and journal must be the files that were opened, and the database must not have shrunk.
"""

import logging
import os
import secrets
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from panelist.collection.store.errors import StoreMoved

WAL = "-wal"

log = logging.getLogger("panelist.store")
File = tuple[int, int]
"""Device and number of a file."""


@dataclass(eq=False)
class FileWatch:
    """The files of one SQLite database, as they were when it was opened."""

    path: Path
    _file: File | None = None
    _journal: File | None = None
    _size: int = 0
    _lost: str = ""
    _rescued: bool = False

    def check(self) -> None:
        """Raise StoreMoved unless the database under this name is the one that was first seen there."""
        if self._lost:
            raise StoreMoved(self._lost)
        found = _stat(self.path)
        if found is None:
            raise StoreMoved(self._say("was deleted or moved away", "Put it back, or restore a copy"))
        this = (found.st_dev, found.st_ino)
        if self._file is None:
            self._file = this
        if this != self._file:
            raise StoreMoved(self._say("was replaced by another file", "Put the first one back"))
        if found.st_size < self._size:  # a database in use grows, or stays as it is
            self._lost = self._say("was overwritten", "Stop the server and restore a backup")
            raise StoreMoved(self._lost)
        self._size = found.st_size
        self._rescued = False  # it exists, perhaps again: what is lost from now on is rescued automatically

    def check_written(self, first: bool) -> None:
        """Raise StoreMoved unless what was just committed is in files that can be found by their names.

        ``first``: by a connection that has just been opened; only then may the journal be a different one.
        """
        self.check()
        found = _stat(Path(f"{self.path}{WAL}"))
        journal = (found.st_dev, found.st_ino) if found is not None else None
        if first:
            self._journal = journal
        if journal is None or journal != self._journal:
            self._lost = self._say(f"lost its journal {self.path.name}{WAL}", "Stop the server")
            raise StoreMoved(self._lost)

    def rescue(self, opened: sqlite3.Connection) -> None:
        """Write what a connection still has of a file that is gone into a new one beside it, once."""
        if self._rescued:
            return
        self._rescued = True
        moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        # Each process rescues what it sees, and no copy replaces another.
        name = f"{self.path.stem}.rescued-{moment}-{secrets.token_hex(2)}{self.path.suffix}"
        copy = self.path.with_name(name)
        try:
            copy.touch(mode=0o600, exist_ok=False)
            with closing(sqlite3.connect(copy)) as target:
                opened.backup(target)
        except (OSError, sqlite3.Error) as error:
            copy.unlink(missing_ok=True)
            log.warning("What was collected could not be rescued to %s: %s.", copy, error)
        else:
            log.warning("What was collected until then is rescued in %s; panelist restore reads it.", copy)

    def _say(self, what: str, remedy: str) -> str:
        return f"The database {self.path} {what} while it was in use: nothing is saved any more. {remedy}."


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None
