"""Tables in files: CSV, TSV, JSON, JSON lines, Parquet and Excel, distinguished by the end of the name.

A reader gives the table as it is in the file; what the columns mean is decided in core/tables/ratings.py.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow_csv

from panelist.core.errors import IMPORT, BadFile, nearest, suggest
from panelist.core.registry import Registry
from panelist.core.tables.workbooks import read_sheet


@dataclass(frozen=True)
class Raw:
    """A table as a file gives it."""

    frame: pd.DataFrame
    typed: bool = True  # False: every cell is text, and it is not yet known which columns are numbers
    decimal: str = "."
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kind:
    """What there is to know about files with the same ending."""

    words: str
    magic: bytes  # the first bytes of such a file, where they are certain
    read: Callable[[Path], Raw]


READERS = Registry[Kind]("file ending")
MOST_PARQUET_CELLS, MOST_PARQUET_BYTES = 50_000_000, 1024**3  # a few bytes can encode a billion equal rows

COMPRESSED = {
    b"\x1f\x8b": ("gzip", "gunzip"),
    b"BZh": ("bzip2", "bunzip2"),
    b"\xfd7zXZ": ("xz", "unxz"),
    b"\x28\xb5\x2f\xfd": ("Zstandard", "unzstd"),
}
"""How compressed files begin: the format, and the program that unpacks it."""
UNPACKERS = {".gz": "gunzip", ".bz2": "bunzip2", ".xz": "unxz", ".zst": "unzstd", ".zip": "unzip"}
BEGINNINGS = {
    b"PK\x03\x04": "an Excel workbook (or another zip archive)",
    b"PAR1": "a Parquet file",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook (.xls)",
    **{magic: f"compressed with {words}" for magic, (words, _) in COMPRESSED.items()},
    b"%PDF": "a PDF",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


def read_table(path: Path) -> Raw:
    """Return the table in a file, with at least one column and one row."""
    kind = _find_kind(path)
    try:
        with path.open("rb") as file:
            start = file.read(8)
        if not start:
            raise BadFile(f"{path} is empty; a table has a header line and one row or more below it.")
        _check_beginning(path, kind, start)
        raw = kind.read(path)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise BadFile(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#04x} at position {error.start}); "
            "save it again as UTF-8."
        ) from None
    if len(raw.frame) == 0:
        raise BadFile(f"{path} has a header but no rows: there is nothing in it to read.")
    return raw


def find_ending(path: Path) -> str:
    """Return the ending of a file that can be read and written, or say which can be."""
    ending = path.suffix.casefold()
    if ending == ".xls":
        raise BadFile(f"{path} is an old Excel workbook; save it as .xlsx.")
    if ending in UNPACKERS:
        raise BadFile(
            f"{path} ends in {ending}, and compressed tables are neither read nor written; "
            f"unpack it first ({UNPACKERS[ending]} {path.name}), or write {path.stem}."
        )
    if ending not in READERS:
        has = f"ends in {ending!r}, which is not the ending of a table format" if ending else "has no ending"
        raise BadFile(f"{path} {has}. Allowed: {', '.join(READERS)}. Save or rename it as one of these.")
    return ending


def _find_kind(path: Path) -> Kind:
    if path.is_dir():
        raise BadFile(f"{path} is a folder; name the file with the ratings in it.")
    if not path.exists():
        folder = path.parent
        if not folder.is_dir():
            raise BadFile(f"There is no file {path}: the folder {folder} does not exist.")
        tables = [other.name for other in folder.iterdir() if other.suffix.casefold() in READERS]
        raise BadFile(f"There is no file {path}.{suggest(nearest(path.name, tables))}")
    return READERS[find_ending(path)]


def _check_beginning(path: Path, kind: Kind, start: bytes) -> None:
    if kind.magic and start.startswith(kind.magic):
        return
    for magic, words in BEGINNINGS.items():
        if start.startswith(magic):
            raise BadFile(
                f"{path} should be {kind.words} by its name but is {words}; rename it, or save it again."
            )
    if kind.magic:
        raise BadFile(f"{path} should be {kind.words} by its name but is not; rename it, or save it again.")


def _reads(
    words: str, *endings: str, magic: bytes = b""
) -> Callable[[Callable[[Path], Raw]], Callable[[Path], Raw]]:
    """Return the decorator that registers a reader for its endings."""

    def register(read: Callable[[Path], Raw]) -> Callable[[Path], Raw]:
        for ending in endings:
            READERS.register(ending)(Kind(words, magic, read))
        return read

    return register


@_reads("comma-separated text", ".csv")
def _read_csv(path: Path) -> Raw:
    return _read_separated(path, ",;\t")


@_reads("tab-separated text", ".tsv")
def _read_tsv(path: Path) -> Raw:
    return _read_separated(path, "\t,;")


def _read_separated(path: Path, separators: str) -> Raw:
    """Return the table of a text file whose separator is the one that its header line has most of."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        line = next((line for line in file if line.strip()), "")
    if not line:
        raise BadFile(
            f"{path} holds nothing but empty lines; a ratings table has a header line and one row per rating."
        )
    counts = {mark: len(next(csv.reader([line], delimiter=mark))) for mark in separators}
    separator = max(separators, key=lambda mark: counts[mark])  # the first of equals

    # The header is read as a row, so that arrow guesses no types: 007 must stay 007.
    table = _parse_separated(path, separator, counts[separator])
    _check_quotes(path, table)
    header = [str(table.column(i)[0].as_py() or "").strip() for i in range(table.num_columns)]
    header = [name or f"column_{place}" for place, name in enumerate(header, start=1)]
    frame = table.slice(1).rename_columns([str(i) for i in range(len(header))]).to_pandas()
    frame.columns = pd.Index(header)
    return Raw(frame, typed=False, decimal="," if separator == ";" else ".")


def _parse_separated(path: Path, separator: str, n_columns: int, *, threads: bool = True) -> pa.Table:
    names = [f"f{position}" for position in range(n_columns)]
    try:
        return arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(
                autogenerate_column_names=True, use_threads=threads, block_size=2**25
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid as error:
        if threads:  # only the slow way knows the row
            return _parse_separated(path, separator, n_columns, threads=False)
        path.read_text(encoding="utf-8-sig")  # where it is not UTF-8, this raises and says where
        words = str(error).removeprefix("CSV parse error: ")
        raise BadFile(
            f"{path} is not a table: {words[:200]}. Every row must have as many cells as the header (row #1, "
            f"{n_columns} here); put a cell that holds the separator {separator!r} in quotation marks."
        ) from None


def _check_quotes(path: Path, table: pa.Table) -> None:
    """Refuse a file whose last cell swallowed the rest because a closing quotation mark is missing."""
    last = [str(column[-1].as_py() or "") for column in table.columns]
    if any("\n" in cell for cell in last) and path.read_bytes().count(b'"') % 2:
        cell = next(cell for cell in last if "\n" in cell)
        raise BadFile(
            f"{path} opens a quotation mark and never closes it, before {cell.splitlines()[0][:60]!r}."
        )


@_reads("JSON lines", ".jsonl", ".ndjson")
def _read_json_lines(path: Path) -> Raw:
    records = []
    with path.open(encoding="utf-8-sig") as file:
        for place, line in enumerate(file, start=1):
            if text := line.strip():
                records.append(_parse_json(text, path, place))
    return Raw(_gather(path, records, "line"))


@_reads("JSON", ".json")
def _read_json(path: Path) -> Raw:
    records = _parse_json(path.read_text(encoding="utf-8-sig").strip(), path)
    if not isinstance(records, list):
        raise BadFile(f"{path} is not a table: it must hold a list of objects, one for each rating. {IMPORT}")
    return Raw(_gather(path, records, "entry"))


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError(f"it names a column twice: {_repeated(name for name, _ in pairs)}")
    return record


_DECODER = json.JSONDecoder(object_pairs_hook=_record)


def _parse_json(text: str, path: Path, line: int | None = None) -> Any:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        hint = " A file with one object per line should end in .jsonl." if _begins_whole(text) else ""
        where = f"{path}, line {line}," if line else str(path)
        raise BadFile(f"{where} is not a JSON table: {error}.{hint}") from None


def _begins_whole(text: str) -> bool:
    """Return whether a text that is not JSON begins with a whole value, as files with several values do."""
    try:
        _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def _gather(path: Path, records: list[Any], unit: str) -> pd.DataFrame:
    for place, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise BadFile(
                f"{path} is not a table: {unit} {place} is {json.dumps(record)[:60]}; every {unit} must be "
                f'an object such as {{"rater": "P1", "item": "1", "system": "a", "rating": 4}}. {IMPORT}'
            )
    columns = list(dict.fromkeys(name for record in records for name in record))
    # Python objects until the type is known: as doubles, long identifiers beside a gap would lose digits.
    return pd.DataFrame(records, columns=columns, dtype=object)


@_reads("a Parquet file", ".parquet", magic=b"PAR1")
def _read_parquet(path: Path) -> Raw:
    with _may_be_damaged(path, "Parquet file"):
        table = read_parquet(path, str(path))
        if repeated := _repeated(table.column_names):
            raise BadFile(f"{path} has several columns with one name: {repeated}. Rename them.")
        return Raw(table.to_pandas(integer_object_nulls=True))


def read_parquet(source: Any, name: str) -> pa.Table:
    """Return the table of a Parquet file whose size, as it says itself, is within limits."""
    from pyarrow import parquet  # imported late: it brings TLS and the readers of distant files with it

    found = parquet.ParquetFile(source).metadata
    groups = [found.row_group(place) for place in range(found.num_row_groups)]
    size = sum(group.total_byte_size for group in groups)
    cells = found.num_rows * found.num_columns
    if cells > MOST_PARQUET_CELLS or size > MOST_PARQUET_BYTES:
        raise BadFile(
            f"{name} is refused: it unpacks to {cells:,} cells of {size:,} bytes; {MOST_PARQUET_CELLS:,} and "
            f"{MOST_PARQUET_BYTES:,} are allowed."
        )
    return parquet.read_table(source)


@_reads("an Excel workbook", ".xlsx", ".xlsm", magic=b"PK\x03\x04")
def _read_excel(path: Path) -> Raw:
    """Return the first sheet; its first row that is not empty is the header."""
    sheet = read_sheet(path, str(path))
    rows = [row for row in sheet.rows if row]
    if not rows:
        raise BadFile(f"{path}: the first sheet, {sheet.title!r}, is empty.")
    width = max(len(row) for row in rows)
    rows = [(*row, *[None] * (width - len(row))) for row in rows]
    header = [str(name or "").strip() or f"column_{place}" for place, name in enumerate(rows[0], start=1)]
    left = ", ".join(map(repr, sheet.others))
    notes = (f"sheet {sheet.title!r} was read; the workbook also has {left}",) if left else ()
    frame = pd.DataFrame(rows[1:], columns=pd.Index(header), dtype=object)
    return Raw(frame, notes=notes)


@contextmanager
def _may_be_damaged(path: Path, kind: str) -> Iterator[None]:
    """Turn every exception of a decoder into BadFile: on damaged bytes these libraries can raise anything."""
    try:
        yield
    except (BadFile, PermissionError):
        raise
    except Exception as error:
        raise BadFile(
            f"{path} is a damaged {kind} ({type(error).__name__}: {str(error)[:150]}); save it again."
        ) from error


def _repeated(names: Iterable[str]) -> str:
    """Return the names that occur more than once, in words; nothing where there are none."""
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    return ", ".join(repr(name) for name, count in seen.items() if count > 1)
