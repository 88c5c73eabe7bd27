"""Comma-separated files as people keep them: other encodings, an index column, rows cut short.

Harmless faults are corrected and reported; what would move answers into other columns is refused.
"""

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

from panelist.core.errors import BadFile
from panelist.core.prose import count, listing
from panelist.core.tables.cells import label
from panelist.core.tables.workbooks import read_sheet

csv.field_size_limit(2**27)
WORKBOOK = b"PK\x03\x04"

_INDEX_NAMES = re.compile(r"|index|Unnamed: 0(_level_\d+)?|X|\.\.\.1", re.IGNORECASE)


@dataclass(frozen=True)
class TextTable:
    """The header and rows of a file, all rows as long as the header, and what was corrected."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    short: tuple[tuple[int, int], ...] = ()
    """Row numbers (from 1 below the header) and lengths of rows that ended early."""


def read_bytes(path: Path) -> bytes:
    """Return what a file holds, or say why it cannot be read."""
    if path.is_dir():
        raise BadFile(f"{path} is a folder; name the files in it.")
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BadFile(f"There is no file {path}.") from None
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}.") from None
    if not content.strip():
        raise BadFile(f"{path} is empty: there is nothing to import.")
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        raise BadFile(f"{path} is an old workbook; save the sheet as CSV (UTF-8) and import that.")
    return content


def decode(content: bytes, name: str) -> tuple[str, list[str]]:
    """Return the text, and a note where it is not UTF-8.

    UTF-16 is known by its mark. Bytes that are not UTF-8 are read as Windows-1252, as spreadsheets save on
    Windows, and as Latin-1 where even that has no such byte.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16"), [f"{name} is UTF-16 text"]
        except UnicodeDecodeError:
            raise BadFile(
                f"{name} begins as UTF-16 text and is not; save it as UTF-8 and import that."
            ) from None
    if silent := _find_utf16(content):
        return content.decode(silent), [f"{name} is UTF-16 text without a byte order mark"]
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        pass
    for encoding, words in (("cp1252", "Windows-1252"), ("latin-1", "Latin-1")):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return text, [f"{name} is not UTF-8; read as {words}: look at a text with accents or quotes"]
    raise AssertionError("Latin-1 has every byte")


def _find_utf16(content: bytes) -> str:
    """Return the encoding of UTF-16 text without its mark: nearly every second byte is zero, no other is."""
    start = content[:4000]
    half = len(start) // 2
    for encoding, zeros, others in (
        ("utf-16-le", start[1::2], start[::2]),
        ("utf-16-be", start[::2], start[1::2]),
    ):
        if half and len(content) % 2 == 0 and zeros.count(0) > 0.7 * half and not others.count(0):
            try:
                content.decode(encoding)
            except UnicodeDecodeError:
                return ""
            return encoding
    return ""


def read_text_table(content: bytes, name: str) -> TextTable:
    """Return the table in a file's bytes; raise BadFile where cells could be confused."""
    rows, notes = _read_workbook(content, name) if content.startswith(WORKBOOK) else _read_text(content, name)
    if not rows:
        raise BadFile(f"{name} holds nothing but empty lines: there is nothing to import.")
    header = [cell.strip() for cell in rows[0]]
    body = rows[1:]
    again = [row for row in body if [cell.strip() for cell in row] == header]
    if again:
        body = [row for row in body if [cell.strip() for cell in row] != header]
        notes.append(f"{name}: {count(len(again), 'repeated header line')} skipped")
    while header and not header[-1]:
        header.pop()
    body, short = _even_out(body, len(header), name, header)
    if header and _is_index(header[0], [row[0] for row in body]):
        notes.append(f"{name}: the first column only numbers the rows; it is not used")
        header, body = header[1:], [row[1:] for row in body]
    header = [cell or f"column_{place}" for place, cell in enumerate(header, start=1)]
    if repeated := sorted({cell for cell in header if header.count(cell) > 1}):
        raise BadFile(f"{name} has several columns called {listing(repeated)}; rename all but one.")
    return TextTable(name, tuple(header), tuple(map(tuple, body)), tuple(notes), tuple(short))


def _read_text(content: bytes, name: str) -> tuple[list[list[str]], list[str]]:
    """Return the rows of comma-separated text that are not empty."""
    text, notes = decode(content, name)
    if "\x00" in text:
        raise BadFile(
            f"{name} holds zero bytes: it is not text, or not in the encoding that its byte order mark says."
        )
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_find_delimiter(text), strict=True)
    try:
        return [row for row in reader if any(row)], notes
    except csv.Error as error:
        raise BadFile(
            f"{name}, line {reader.line_num}, is not a table: {error}. A quotation mark is not closed, or "
            "is inside a text (write it twice there)."
        ) from None


def _read_workbook(content: bytes, name: str) -> tuple[list[list[str]], list[str]]:
    """Return the rows of the first sheet of an Excel workbook that are not empty, as text."""
    sheet = read_sheet(content, name)
    cells = [[label(cell) or "" if cell is not None else "" for cell in row] for row in sheet.rows]
    rows = [row for row in cells if any(row)]
    width = len(rows[0]) if rows else 0
    return [[*row, *[""] * (width - len(row))] for row in rows], [
        f"{name}: the first sheet of the workbook was read"
    ]


def _even_out(
    body: list[list[str]], width: int, name: str, header: list[str]
) -> tuple[list[list[str]], list[tuple[int, int]]]:
    """Return the rows at the header's length, and which were shorter; refuse those with too much."""
    even, short = [], []
    for number, row in enumerate(body, start=1):
        if len(row) > width:
            if any(cell.strip() for cell in row[width:]):
                raise BadFile(
                    f"{name}, row {number}: {len(row)} cells, and the header has {width}. A text with a "
                    "comma or a quotation mark is not in quotation marks; correct that row."
                )
            row = row[:width]
        elif len(row) < width:
            short.append((number, len(row)))
            row = [*row, *[""] * (width - len(row))]
        even.append(row)
    return even, short


def _find_delimiter(text: str) -> str:
    line = text[: text.find("\n")] if "\n" in text else text
    return max(",;\t", key=lambda mark: len(next(csv.reader([line], delimiter=mark), [])))


def _is_index(name: str, cells: list[str]) -> bool:
    """Return whether a column only numbers the rows: from 0 or 1, without a gap, under no real name."""
    if not _INDEX_NAMES.fullmatch(name.strip()) or not cells:
        return False
    start = cells[0].strip()
    if start not in ("0", "1"):
        return not name.strip() and all(cell.strip().isdecimal() for cell in cells)
    return [cell.strip() for cell in cells] == [str(int(start) + place) for place in range(len(cells))]
