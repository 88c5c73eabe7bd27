"""Nested entries as rows: lists unfolded, keys of objects made a column, everything else flattened.

A mapping says what is unfolded (``unfold:``); ``propose`` finds out what a file needs.
"""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from panelist.collection.imports.files.nested_records import Records
from panelist.collection.imports.mapping import Unfolding
from panelist.collection.imports.source_sheet import FILE as SOURCE_FILE
from panelist.collection.imports.source_sheet import ROW, SourceSheet, write_leaf
from panelist.collection.imports.vocabulary import names_raters
from panelist.core.errors import BadFile, did_you_mean

SAMPLE = 2_000
LONGEST_LIST, LONGEST_TUPLE, LONGEST_CELL = 60, 4, 100_000
LONGEST_LABEL, MOST_ROWS = 30, 5_000_000
PLACE = ".place"
"""The ending of the columns that unfolding a list adds: the place in it, which names nobody."""
_NUMBERS = re.compile(r"\[?\s*([+-]?\d+(\.\d*)?)((\s*[;|]\s*|\s+|\s*,\s+|,)([+-]?\d+(\.\d*)?))+\s*\]?")
_DECIMAL = re.compile(r"[+-]?\d+,\d+")

Row = dict[str, Any]


@dataclass
class UnfoldedRows:
    """Rows in the making, and the entry that each comes from."""

    rows: list[Row]
    origin: list[int] = field(default_factory=list)


def unfold(files: Sequence[Records], steps: Sequence[Unfolding]) -> SourceSheet:
    """Return the sheet of the files' entries: one row for each entry of what is unfolded, cells as text."""
    import pandas as pd

    rows, places = [], []
    for one in files:
        for number, row in enumerate(one.rows, start=1):
            rows.append(row)
            places.append((one.name, number))
    made = UnfoldedRows(rows, list(range(len(rows))))
    for step in steps:
        made = unfold_keys(made, step.keys) if step.keys else unfold_lists(made, step.lists)
        if len(made.rows) > MOST_ROWS:
            raise BadFile(f"Unfolding gives more than {MOST_ROWS:,} rows; no table of ratings is that long.")
    flat = flatten_rows(made.rows)
    header = list(dict.fromkeys(name for row in flat for name in row))
    cells = [[write_cell(row.get(name)) for name in header] for row in flat]
    frame = pd.DataFrame(cells, columns=header, dtype=object)
    frame[SOURCE_FILE] = [places[at][0] for at in made.origin]
    frame[ROW] = [places[at][1] for at in made.origin]
    notes = tuple(note for one in files for note in one.notes)
    by_file = (
        {one.name: frozenset(name for row in flatten_rows(one.rows) for name in row) for one in files}
        if len(files) > 1 and not steps
        else {}
    )
    return SourceSheet("table", frame, tuple(one.name for one in files), notes, (), by_file)


def write_cell(value: Any) -> str:
    """Return a value as the text of a cell; what is still nested as JSON."""
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=str)
    return write_leaf(value).strip()


def read_list(cell: Any) -> list[Any] | None:
    """Return the list that a cell is or spells; None where there is none.

    >>> read_list("[4, 5, 3]"), read_list("4;5"), read_list("[4 5 3]"), read_list("4,5"), read_list("a, b")
    ([4, 5, 3], ['4', '5'], ['4', '5', '3'], None, None)
    """
    if isinstance(cell, list):
        return cell
    if not isinstance(cell, str) or len(cell) > LONGEST_CELL:
        return None
    text = cell.strip()
    if text[:1] in ("[", "(") and text[-1:] in ("]", ")"):
        for read in (json.loads, ast.literal_eval):
            try:
                found = read(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            return list(found) if isinstance(found, list | tuple) else None
    if _NUMBERS.fullmatch(text) and not _DECIMAL.fullmatch(text) and (text[:1] == "[" or _is_list(text)):
        return re.findall(r"[+-]?\d+(?:\.\d*)?", text)
    return None


def _is_list(text: str) -> bool:
    """Return whether numbers with signs between them are a list: not a date, not a number with spaces."""
    return bool(re.search(r"[;|]", text) or text.count(",") > 1 or re.search(r"\d, \d", text))


def read_object(cell: Any) -> dict[str, Any] | None:
    """Return the object that a cell is or spells; None where there is none."""
    if isinstance(cell, dict):
        return cell
    if not isinstance(cell, str) or not cell.strip().startswith("{") or len(cell) > LONGEST_CELL:
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(cell.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return {str(key): value for key, value in found.items()} if isinstance(found, dict) else None
    return None


def open_path(row: Row, path: str) -> Row:
    """Return the row with what encloses a path opened, so that the path is one of its columns."""
    while path not in row:
        outer = next(
            (
                name
                for name in sorted(row, key=len, reverse=True)
                if path.startswith(f"{name}.") and read_object(row[name]) is not None
            ),
            None,
        )
        if outer is None:
            return row
        inner = read_object(row[outer]) or {}
        row = _replace(row, outer, {f"{outer}.{key}": value for key, value in inner.items()})
    return row


def _replace(row: Row, name: str, new: Row) -> Row:
    """Return the row with other columns in the place of one."""
    made: Row = {}
    for key, value in row.items():
        made |= new if key == name else {key: value}
    return made


def unfold_lists(made: UnfoldedRows, paths: Sequence[str]) -> UnfoldedRows:
    """Return a row for each entry of the lists, those of several columns side by side."""
    out = UnfoldedRows([])
    met = 0
    for row, origin in zip(made.rows, made.origin, strict=True):
        for path in paths:
            row = open_path(row, path)
        lists = [read_list(row.get(path)) for path in paths]
        met += any(one is not None for one in lists)
        longest = max((len(one) for one in lists if one is not None), default=0)
        for place in range(longest):
            new = dict(row)
            for path, one in zip(paths, lists, strict=True):
                new[path] = one[place] if one is not None and place < len(one) else None
            new[f"{paths[0]}{PLACE}"] = place + 1
            out.rows.append(new)
            out.origin.append(origin)
    if not met:
        raise BadFile(_say_nothing(made.rows, paths[0], "lists", "a list"))
    return out


def unfold_keys(made: UnfoldedRows, paths: Sequence[str]) -> UnfoldedRows:
    """Return a row for each key of the objects, the key in a column of its own; several go side by side."""
    out = UnfoldedRows([])
    met = 0
    for row, origin in zip(made.rows, made.origin, strict=True):
        for path in paths:
            row = open_path(row, path)
        found = [read_object(row.get(path)) for path in paths]
        met += any(one is not None for one in found)
        name = f"{paths[0]}.key"
        number = 2
        while name in row:
            name, number = f"{paths[0]}.key{number}", number + 1
        for key in dict.fromkeys(key for one in found for key in one or {}):
            new = _replace(row, paths[0], {name: key, paths[0]: row.get(paths[0])})
            new |= {path: (one or {}).get(key) for path, one in zip(paths, found, strict=True)}
            out.rows.append(new)
            out.origin.append(origin)
    if not met:
        raise BadFile(_say_nothing(made.rows, paths[0], "keys", "an object"))
    return out


def _say_nothing(rows: Sequence[Row], path: str, key: str, what: str) -> str:
    names = list(dict.fromkeys(name for row in flatten_rows(rows[:SAMPLE]) for name in row))
    return (
        f"The mapping cannot be used: unfold: {key}: {path!r} is nowhere {what} in the files. "
        f"{did_you_mean(path, names)}"
    )


def flatten_rows(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with objects as dotted columns, and short lists of unlike things as numbered ones."""
    flat = [dict(flatten(row)) for row in rows]
    tuples = _find_tuples(flat)
    if not tuples:
        return flat
    return [
        {
            key: value
            for name, cell in row.items()
            for key, value in (
                [(f"{name}.{place}", one) for place, one in enumerate(cell, start=1)]
                if name in tuples and isinstance(cell, list)
                else [(name, cell)]
            )
        }
        for row in flat
    ]


def flatten(row: Row, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of an entry with their dotted names; lists are leaves."""
    for key, value in row.items():
        name = f"{before}{key}"
        if isinstance(value, dict) and value:
            yield from flatten(value, f"{name}.")
        else:
            yield name, value


def _find_tuples(rows: Sequence[Row]) -> set[str]:
    """Return the columns of short lists, all of one length, whose entries differ in kind: ["human", "A1"]."""
    sizes: dict[str, set[int]] = {}
    words: dict[str, list[set[str]]] = {}
    for row in rows[:SAMPLE]:
        for name, value in row.items():
            if isinstance(value, list):
                plain = all(not isinstance(one, dict | list) for one in value)
                sizes.setdefault(name, set()).add(len(value) if plain else 0)
                places = words.setdefault(name, [set() for _ in range(LONGEST_TUPLE)])
                for place, one in enumerate(value[:LONGEST_TUPLE]):
                    places[place].add(str(one))
    found = set()
    for name, lengths in sizes.items():
        length = next(iter(lengths))
        parent = name.rpartition(".")[0]
        beside = [
            other
            for other in sizes
            if other != name
            and sizes[other] == lengths
            and (other.rpartition(".")[0] == parent or names_raters(name))
        ]
        if len(lengths) > 1 or not 2 <= length <= LONGEST_TUPLE or beside:
            continue  # lists of the same length belong together, entry by entry
        places = words[name][:length]
        if not any(a & b for at, a in enumerate(places) for b in places[at + 1 :]) and not all(
            is_number(word) for place in places for word in place
        ):
            found.add(name)
    return found


def is_number(word: Any) -> bool:
    """Return whether a value is a number, or text that is one."""
    if isinstance(word, bool):
        return False
    if isinstance(word, int | float):
        return True
    return isinstance(word, str) and re.fullmatch(r"\s*[+-]?\d+([.,]\d+)?\s*", word) is not None
