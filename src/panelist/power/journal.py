"""The journal: results written as they come, one line per chunk, so that a killed run can continue."""

import json
import os
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from panelist.core.errors import BadFile
from panelist.power.tally import Tally

_FORMAT = "panelist power journal 1"
Key = tuple[str, int]


class Journal:
    """A file of chunks. ``done`` holds what it had when it was opened, and what was added since."""

    def __init__(self, path: Path, grid: str) -> None:
        self.path, self.grid = path, grid
        self.done: dict[Key, dict[str, Tally]] = {}
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        whole = self._read()
        try:
            if whole is not None and whole < self.path.stat().st_size:
                os.truncate(self.path, whole)  # a line that was being written when the run was killed
            self._file = self.path.open("a", encoding="utf-8")
            if not whole:
                self._write({"format": _FORMAT, "grid": self.grid})
        except OSError as error:
            raise BadFile(f"The journal {self.path} cannot be written: {error.strerror or error}.") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, key: Key, tallies: dict[str, Tally]) -> None:
        """Write what a chunk gave, at once."""
        self.done[key] = tallies
        found = {model: tally.to_dict() for model, tally in tallies.items()}
        self._write({"cell": key[0], "chunk": key[1], "tallies": found})

    def _write(self, line: dict[str, Any]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
        self._file.flush()

    def _read(self) -> int | None:
        """Read what is there; return the length of its whole lines, None where there is no file."""
        if not self.path.exists():
            return None
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise BadFile(f"The journal {self.path} cannot be read: {error.strerror or error}.") from None
        whole = content.rfind(b"\n") + 1
        lines = content[:whole].splitlines()
        if not lines and content:
            raise self._stranger()
        for place, line in enumerate(lines):
            try:
                entry = json.loads(line)
                if place == 0:
                    self._check(entry)
                    continue
                tallies = {model: Tally.from_dict(found) for model, found in entry["tallies"].items()}
                self.done[str(entry["cell"]), int(entry["chunk"])] = tallies
            except (ValueError, KeyError, TypeError, AttributeError):
                raise self._stranger(place + 1) from None
        return whole

    def _check(self, entry: dict[str, Any]) -> None:
        if entry.get("format") != _FORMAT:
            raise self._stranger()
        if entry.get("grid") != self.grid:
            raise BadFile(
                f"The journal {self.path} belongs to another grid: other cells, models, seed or options. "
                "Name another file, or delete it to begin again."
            )

    def _stranger(self, line: int = 1) -> BadFile:
        return BadFile(
            f"{self.path} is not a journal of a power study, or was changed (line {line}). Name another file."
        )
