"""Where the rows of an outputs file stand, for people: found only when there is something to say."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from panelist.core.errors import did_you_mean
from panelist.core.readers import READERS, find_ending
from panelist.study.problems import Problem, count, list_some

TEXT_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Rows:
    """The rows of a file, by the place they have in its table (the first row below the header is 0)."""

    path: Path
    name: str
    n_columns: int

    def problem(self, places: Places, key: str, message: str) -> Problem:
        """Return the problem of these rows, at the line of the first."""
        line = self.lines[int(places[0])] if self.lines else None
        return Problem(self.name, line, key, message)

    def name_places(self, places: Places) -> str:
        """Return where rows are, in words: ``lines 4 and 9``."""
        numbers = [self.lines[place] if self.lines else place + 1 for place in places.tolist()]
        word = "line" if self.lines else "row"
        below = "" if self.lines else " below the header"
        return f"{word}{'s' * (len(numbers) > 1)} {list_some(f'{number}' for number in numbers)}{below}"

    @cached_property
    def lines(self) -> Sequence[int]:
        """The line at which each row begins; none for files that have no lines."""
        ending = find_ending(self.path)
        if ending in (".jsonl", ".ndjson"):
            with self.path.open(encoding="utf-8-sig") as file:
                return [number for number, line in enumerate(file, start=1) if line.strip()]
        if ending in (".csv", ".tsv"):
            return list(islice(self._separated_lines(), 1, None))  # without the header
        return []

    def _separated_lines(self) -> Iterator[int]:
        with self.path.open(encoding="utf-8-sig", newline="") as file:
            limit = csv.field_size_limit(2**31 - 1)  # a text may be longer than the csv module expects
            try:
                first = next(line for line in file if line.strip())
                separator = next(
                    mark
                    for mark in ",;\t"
                    if len(next(csv.reader([first], delimiter=mark))) == self.n_columns
                )
                file.seek(0)
                reader = csv.reader(file, delimiter=separator)
                begun = 1
                for row in reader:
                    if row:
                        yield begun
                    begun = reader.line_num + 1
            finally:
                csv.field_size_limit(limit)

    def find_formulas(self, columns: Sequence[int]) -> Iterator[Problem]:
        """Give a note on the cells of a workbook that are formulas: what they last showed was read."""
        import openpyxl

        book = openpyxl.load_workbook(self.path, read_only=True)
        try:
            sheet = book.worksheets[0]
            sheet.reset_dimensions()
            cells = [
                cell.coordinate
                for row in sheet.iter_rows()
                for place, cell in enumerate(row)
                if place in columns and cell.data_type == "f"
            ]
        finally:
            book.close()
        if cells:
            words = (
                f"{count(len(cells), 'cell')} ({list_some(cells)}) with a formula, of which the value last "
                "shown was read. If it should be text, put an apostrophe before it in the spreadsheet."
            )
            yield Problem(self.name, None, "", words, grave=False)


def find_unreadable(path: Path) -> tuple[str, int | None] | None:
    """Return why an outputs file cannot be read, and the line: it is not there, empty or not UTF-8."""
    if path.is_dir():
        return f"{path} is a folder; name the file of outputs in it.", None
    if not path.exists():
        near = [other.name for other in path.parent.glob("*") if other.suffix.casefold() in READERS]
        hint = did_you_mean(path.name, near) if near else "It has the columns item, system, output."
        return f"there is no file {str(path)!r}. {hint}", None
    if path.suffix.casefold() not in TEXT_ENDINGS:
        return None
    try:
        content = path.read_bytes()
    except OSError as error:
        return f"the file cannot be read: {error.strerror or error}.", None
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "the file is UTF-16 text; save it as UTF-8.", None
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = len(re.findall(rb"\r\n|\r|\n", content[: error.start])) + 1
        byte = content[error.start : error.start + 1]
        return (
            f"the line is not UTF-8 text: it holds the byte {byte[0]:#04x}, which older Windows programs "
            f"write for {byte.decode('cp1252', 'replace')!r}. Save the file as UTF-8 (in Excel: CSV UTF-8).",
            line,
        )
    least = 2 if path.suffix.casefold() in (".csv", ".tsv") else 1
    if len(list(islice((line for line in content.splitlines()[:1000] if line.strip()), least))) < least:
        return "the file holds no outputs; below the header item,system,output stands a row for each.", None
    return None
