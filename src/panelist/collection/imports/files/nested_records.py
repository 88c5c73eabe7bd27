"""Any file as records: JSON and Parquet as nested as they are, tables with text in their cells."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from panelist.collection.imports.files.grids import read_grid
from panelist.collection.imports.files.text_tables import WORKBOOK, decode
from panelist.collection.imports.mapping import TableLayout
from panelist.core.errors import BadFile
from panelist.core.prose import inflect, listing
from panelist.core.tables.readers import COMPRESSED, read_parquet
from panelist.core.tables.workbooks import list_sheets

PARQUET, POINTER = b"PAR1", b"version https://git-lfs"
FILE = "file"
"""The column that holds the whole of a JSON file that is one object."""
DEEPEST = 30


@dataclass(frozen=True)
class Records:
    """The entries of one file, nested where the file is; a table's cells are text."""

    name: str
    rows: list[dict[str, Any]] = field(repr=False)
    notes: tuple[str, ...] = ()
    skip: int = 0
    headless: bool = False


def holds_json(content: bytes, name: str) -> bool:
    """Return whether a file is JSON, by its name or by how it begins."""
    if Path(name).suffix.casefold() in (".json", ".jsonl", ".ndjson"):
        return True
    if (start := content.lstrip(b"\xef\xbb\xbf \r\n\t"))[:1] not in (b"{", b"["):
        return False
    return Path(name).suffix.casefold() not in (".csv", ".tsv") or start.startswith((b'{"', b'[{"', b"[\n"))


def read_records(content: bytes, name: str, layout: TableLayout = TableLayout()) -> Records:  # noqa: B008  it is frozen
    """Return the entries of a file in any format that is known."""
    for magic, (words, program) in COMPRESSED.items():
        if content.startswith(magic):
            raise BadFile(f"{name} is compressed with {words}; unpack it first ({program} {name}).")
    if content.startswith(POINTER):
        raise BadFile(f"{name} is a pointer of Git LFS and not the table itself; fetch that: git lfs pull.")
    if content.startswith(PARQUET):
        return Records(name, _read_parquet(content, name))
    if holds_json(content, name):
        text, notes = decode(content, name)
        return Records(name, list_entries(parse_json(text, name), name), tuple(notes))
    grid = read_grid(content, name, layout)
    rows = [dict(zip(grid.header, row, strict=True)) for row in grid.rows]
    return Records(name, rows, grid.notes, grid.skip, grid.headless)


def read_tables(content: bytes, name: str, layout: TableLayout = TableLayout()) -> list[Records]:  # noqa: B008  it is frozen
    """Return the tables in a file: of a workbook the first sheet that has one, and all with its header."""
    if not content.startswith(WORKBOOK) or layout.sheet is not None:
        return [read_records(content, name, layout)]
    titles = list_sheets(content, name)
    found: dict[str, Records] = {}
    refused: dict[str, BadFile] = {}
    for title in titles:
        try:
            one = read_records(content, name, layout.model_copy(update={"sheet": title}))
        except BadFile as error:
            refused[title] = error
            continue
        if len(one.rows[0]) > 1 and (
            not found or list(one.rows[0]) == list(next(iter(found.values())).rows[0])
        ):
            found[title] = one
    if not found:
        raise (
            refused[titles[0]]
            if titles[0] in refused
            else BadFile(
                f"{name} has no sheet with a table of several columns (its sheets: {listing(titles)})."
            )
        )
    if len(titles) == 1:
        return [*found.values()]
    others = [title for title in titles if title not in found]
    first = next(iter(found))
    verb = f"sheet {first!r} was" if len(found) == 1 else f"sheets {listing(map(repr, found), 8)} were"
    rest = f"; there {inflect(len(others), 'is', 'are')} also {listing(map(repr, others))}" if others else ""
    said = f"{name}: {verb} read{rest}"
    tables = [replace(one, name=f"{name} [{title}]") for title, one in found.items()]
    if len(tables) == 1:
        tables = [replace(tables[0], name=name)]
    return [replace(tables[0], notes=(said, *tables[0].notes)), *tables[1:]]


def parse_json(text: str, name: str) -> Any:
    """Return what JSON text says: one value, or the list of the values of its lines."""
    text = text.strip()
    try:
        try:
            whole = json.loads(text)
        except json.JSONDecodeError as error:
            if "\n" not in text or not text.startswith(("{", "[")):
                raise BadFile(f"{name}, line {error.lineno}, is not JSON: {error.msg}.") from None
            whole = _parse_lines(text, name, error)
    except RecursionError:
        raise BadFile(
            f"{name} is nested more than {DEEPEST} levels deep, as no table of ratings is."
        ) from None
    _check_depth(whole, name)
    return whole


def list_entries(data: Any, name: str) -> list[dict[str, Any]]:
    """Return the entries of JSON data as rows: those of a list, or the whole object as ``file``."""
    if isinstance(data, list) and len(data) == 1 and isinstance(data[0], dict):
        data = data[0] if _holds_more(data[0]) else data
    if isinstance(data, list):
        odd = next((place for place, one in enumerate(data) if not isinstance(one, dict)), None)
        if odd is not None:
            raise BadFile(
                f"{name}: entry {odd + 1} of its list is {json.dumps(data[odd])[:60]}; every entry must be "
                'an object such as {"rater": "P1", "item": "1", "system": "a", "fluency": 4}.'
            )
        rows = data
    elif isinstance(data, dict):
        rows = _turn_columns(data) or [{FILE: data}]
    else:
        rows = []
    if not rows:
        raise BadFile(f"{name} holds no entries: there is nothing to import.")
    return rows


def _parse_lines(text: str, name: str, whole: json.JSONDecodeError) -> list[Any]:
    """Return the values of JSON lines; raise with the line, or the place where it is not JSON lines."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError as error:
                at = number if found else whole.lineno
                said = error.msg if found else whole.msg
                raise BadFile(f"{name}, line {at}, is not JSON: {said}.") from None
    return found


def _check_depth(data: Any, name: str) -> None:
    level: list[Any] = [data]
    for _ in range(DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise BadFile(f"{name} is nested more than {DEEPEST} levels deep, as no table of ratings is.")


def _holds_more(entry: Mapping[str, Any]) -> bool:
    return any(isinstance(value, dict | list) for value in entry.values())


def _turn_columns(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a frame saved as columns, {"rater": {"0": "A1", …}, …} or {"rater": ["A1", …]}."""
    columns = list(data.values())
    if len(columns) < 2 or not all(isinstance(column, dict | list) and column for column in columns):
        return []
    if all(isinstance(column, list) for column in columns):
        nested = any(isinstance(one, dict) for column in columns for one in column)
        if nested or len(set(map(len, columns))) > 1:
            return []
        return [dict(zip(data, row, strict=True)) for row in zip(*columns, strict=True)]
    index = [str(n) for n in range(len(columns[0]))]
    if not all(isinstance(column, dict) and list(column) == index for column in columns):
        return []
    return [{name: column[place] for name, column in data.items()} for place in index]


def _read_parquet(content: bytes, name: str) -> list[dict[str, Any]]:
    try:
        table = read_parquet(io.BytesIO(content), name)
        rows: list[dict[str, Any]] = table.to_pylist()
    except BadFile:
        raise
    except Exception as error:  # on damaged bytes the library raises anything
        raise BadFile(
            f"{name} is a damaged Parquet file ({type(error).__name__}: {str(error)[:150]}); save it again."
        ) from error
    if not rows:
        raise BadFile(f"{name} holds no rows: there is nothing to import.")
    _check_depth(rows[:1000], name)
    rows = [{key: value for key, value in row.items() if not key.startswith("__index_level")} for row in rows]
    return [{key: _plain(value) for key, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    """Return a Parquet value as JSON would have it: a map, which comes as pairs, as an object."""
    if isinstance(value, list):
        if value and all(isinstance(one, tuple) and len(one) == 2 for one in value):
            return {str(key): _plain(inner) for key, inner in value}
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    return value


def join_rows(files: Sequence[Records]) -> list[dict[str, Any]]:
    """Return the entries of all files."""
    return [row for one in files for row in one.rows]
