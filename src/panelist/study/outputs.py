"""The outputs: what each system made of each item, as text, exactly as the file has it."""

import csv
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from panelist.core.errors import BadFile, BadRatings, BadStudy, did_you_mean, nearest
from panelist.core.prose import count, listing, quoted
from panelist.core.tables.cells import TEXT_TYPE, read_identifiers
from panelist.core.tables.readers import READERS, find_ending, read_table
from panelist.study.problems import Problem

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
        return f"{word}{'s' * (len(numbers) > 1)} {listing(f'{number}' for number in numbers)}{below}"

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
                f"{count(len(cells), 'cell')} ({listing(cells)}) with a formula, of which the value last "
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


REQUIRED = ("item", "system", "output")
OPTIONAL = ("context", "reference", "text_type", "image")
SYNONYMS = {
    "item_id": "item",
    "input_id": "item",
    "model": "system",
    "system_id": "system",
    "text": "output",
    "output_text": "output",
    "input": "context",
    "source": "context",
    "target": "reference",
}


@dataclass(frozen=True, eq=False)
class Outputs:
    """The outputs of a study: ``frame`` has the columns item, system and output, and those optional ones
    (context, reference, text_type, image) that the file has; every cell is text, an empty one is ``""``."""

    frame: pd.DataFrame = field(repr=False)

    @cached_property
    def items(self) -> tuple[str, ...]:
        """The items, in the order of the file."""
        return tuple(self.frame["item"].unique().tolist())

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order of the file."""
        return tuple(self.frame["system"].unique().tolist())

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of names and cells, in order; the format of the file makes no difference."""
        digest = hashlib.sha256()
        for name in self.frame.columns:
            cells = pa.array(self.frame[name], type=pa.large_string())
            if isinstance(cells, pa.ChunkedArray):
                cells = cells.combine_chunks()
            _, bounds, letters = cells.buffers()
            ends = np.frombuffer(bounds, dtype=np.int64)[cells.offset : cells.offset + len(cells) + 1]
            digest.update(f"{name}\n{len(cells)}\n".encode())
            digest.update(np.diff(ends).astype("<i8").tobytes())
            digest.update(letters[ends[0] : ends[-1]] if letters else b"")
        return digest.hexdigest()

    @cached_property
    def _places(self) -> dict[tuple[str, str], int]:
        pairs = zip(self.frame["item"].tolist(), self.frame["system"].tolist(), strict=True)
        return {pair: place for place, pair in enumerate(pairs)}

    def text(self, item: str, system: str) -> str:
        """Return the output of a system for an item."""
        return self.field(item, system, "output")

    def field(self, item: str, system: str, name: str) -> str:
        """Return a cell of the row of an item and system; empty where the file has no such column."""
        place = self._places.get((item, system))
        if place is None:
            raise BadStudy(f"There is no output of system {system!r} for item {item!r}.")
        return str(self.frame[name].iloc[place]) if name in self.frame else ""


def read_outputs(path: str | Path) -> Outputs:
    """Return the outputs in a file, or raise BadStudy that lists all its problems."""
    outputs, problems = examine_outputs(Path(path))
    grave = [problem for problem in problems if problem.grave]
    if outputs is None or grave:
        raise BadStudy("\n".join(map(str, grave)), grave)
    return outputs


def examine_outputs(path: Path, name: str = "") -> tuple[Outputs | None, list[Problem]]:
    """Return the outputs in a file, None where they cannot be read at all, and every problem of the file.

    ``name`` is what problems call the file; without it, the last part of its path.
    """
    name = name or path.name
    if unreadable := find_unreadable(path):
        message, line = unreadable
        return None, [Problem(name, line, "", message)]
    try:
        raw = read_table(path)
    except BadFile as error:
        return None, [Problem(name, None, "", str(error).replace(str(path), "the file"))]
    problems = [Problem(name, None, "", note, grave=False) for note in raw.notes]
    columns, found = _choose_columns([str(column) for column in raw.frame.columns], name)
    problems += found
    if not set(REQUIRED) <= set(columns):
        return None, problems
    try:
        cells = {target: _read_text(raw.frame.iloc[:, place]) for target, place in columns.items()}
    except (BadRatings, UnicodeDecodeError) as error:
        return None, [*problems, Problem(name, None, "", str(error))]
    frame = pd.DataFrame(cells)[[column for column in (*REQUIRED, *OPTIONAL) if column in cells]]
    rows = Rows(path, name, len(raw.frame.columns))
    for look in (_find_nameless, _find_repeated, _find_missing, _find_empty, _find_spaces):
        problems += look(frame, rows)
    if find_ending(path) in (".xlsx", ".xlsm"):
        problems += rows.find_formulas(list(columns.values()))
    return Outputs(frame.reset_index(drop=True)), problems


def _choose_columns(header: list[str], name: str) -> tuple[dict[str, int], list[Problem]]:
    """Return where each of our columns is, and what is to be said about the others."""
    plain = [column.strip().casefold() for column in header]
    chosen: dict[str, int] = {}
    problems = []
    for target in (*REQUIRED, *OPTIONAL):
        places = [place for place, column in enumerate(plain) if column == target]
        places = places or [place for place, column in enumerate(plain) if SYNONYMS.get(column) == target]
        if len(places) > 1:
            listed = listing(repr(header[place]) for place in places)
            problems.append(
                Problem(name, 1, target, f"several columns could be the {target}: {listed}. Keep one.")
            )
        if places:
            chosen[target] = places[0]
            if plain[places[0]] != target:
                words = f"the column {header[places[0]]!r} is read as {target!r}."
                problems.append(Problem(name, 1, target, words, grave=False))
    rest = [column for place, column in enumerate(header) if place not in chosen.values()]
    for target in REQUIRED:
        if target not in chosen:
            near = nearest(target, rest)
            words = f"the file has no column {target!r}. " + (
                f"Is it {' or '.join(map(repr, near))}?"
                if near
                else f"Its columns are {quoted(header, 8)}; it needs item, system and output."
            )
            problems.append(Problem(name, 1, target, words))
    if rest and set(REQUIRED) <= set(chosen):
        words = f"not used: {'column' if len(rest) == 1 else 'columns'} {quoted(rest, 8)}."
        problems.append(Problem(name, 1, "", words, grave=False))
    return chosen, problems


def _read_text(column: "pd.Series[str]") -> "pd.Series[str]":
    if not isinstance(column.dtype, pd.StringDtype):
        column = read_identifiers(column)
    return column.astype(TEXT_TYPE).fillna("")


def _find_nameless(frame: pd.DataFrame, rows: Rows) -> Iterator[Problem]:
    """Give the rows that do not say their item or system."""
    for target in ("item", "system"):
        places = np.flatnonzero((frame[target] == "").to_numpy())
        if len(places):
            yield rows.problem(
                places, target, f"{count(len(places), 'row')} without {target}: {rows.name_places(places)}."
            )


def _find_repeated(frame: pd.DataFrame, rows: Rows) -> Iterator[Problem]:
    """Give the rows whose item and system another row has already."""
    named = frame[(frame["item"] != "") & (frame["system"] != "")]
    again = named.duplicated(["item", "system"])
    if not again.any():
        return
    every = named[named.duplicated(["item", "system"], keep=False)]
    groups: dict[tuple[str, str], list[int]] = {}
    for place, item, system in zip(every.index, every["item"], every["system"], strict=True):
        groups.setdefault((item, system), []).append(place)
    told = [
        f"item {item!r}, system {system!r} ({rows.name_places(np.array(places))})"
        for (item, system), places in list(groups.items())[:5]
    ]
    more = f"; and {len(groups) - 5:,} more" if len(groups) > 5 else ""
    yield rows.problem(
        np.array(named.index[again]),
        "item",
        f"{'one output is' if len(groups) == 1 else f'{len(groups):,} outputs are'} there more than once: "
        f"{'; '.join(told)}{more}. Every item has one output of each system; delete the others or rename "
        "the item.",
    )


def _find_missing(frame: pd.DataFrame, rows: Rows) -> Iterator[Problem]:
    """Give the outputs that are not there, item by item."""
    named = frame[(frame["item"] != "") & (frame["system"] != "")]
    item_codes, items = pd.factorize(named["item"])
    system_codes, systems = pd.factorize(named["system"])
    there = np.zeros((len(items), len(systems)), dtype=bool)
    there[item_codes, system_codes] = True
    lacking = np.flatnonzero(~there.all(axis=1))
    if not len(lacking):
        return
    told = [
        f"item {items[place]!r} lacks {listing((repr(system) for system in systems[~there[place]]), 4)}"
        for place in lacking[:5]
    ]
    more = f"; and {len(lacking) - 5:,} more items" if len(lacking) > 5 else ""
    yield Problem(
        rows.name,
        None,
        "system",
        f"{(~there).sum():,} of {there.size:,} outputs ({count(len(items), 'item')} × "
        f"{count(len(systems), 'system')}) are missing: {'; '.join(told)}{more}. Add the rows, or "
        "leave those items out.",
    )


def _find_empty(frame: pd.DataFrame, rows: Rows) -> Iterator[Problem]:
    """Give the rows whose output is empty, unless a picture stands in for it."""
    empty = frame["output"].str.strip() == ""
    if "image" in frame:
        empty &= frame["image"] == ""
    places = np.flatnonzero(empty.to_numpy())
    if len(places):
        rest = frame.iloc[places]
        told = [
            f"item {item!r}, system {system!r}"
            for item, system in zip(rest["item"], rest["system"], strict=True)
        ]
        yield rows.problem(
            places,
            "output",
            f"{count(len(places), 'output is', 'outputs are')} empty: {listing(told)} "
            f"({rows.name_places(places)}). Write what raters shall see, (no text) for example.",
        )


def _find_spaces(frame: pd.DataFrame, rows: Rows) -> Iterator[Problem]:
    """Give the names that begin or end with a space: kept, but two that look alike may differ."""
    for target in ("item", "system"):
        names = pd.Series(frame[target].unique(), dtype=TEXT_TYPE)
        odd = names[names != names.str.strip()]
        if len(odd):
            words = f"{count(len(odd), target + ' name')} with a space at an end, kept as written: "
            yield Problem(rows.name, None, target, words + f"{quoted(odd)}.", grave=False)
