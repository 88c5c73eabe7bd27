"""Excel workbooks, read within limits: no zip file or XML is trusted to be small or harmless."""

import io
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from panelist.core.errors import BadFile, did_you_mean
from panelist.core.prose import listing
from panelist.core.zip_files import check_directory

MOST_PARTS = 2_000
MOST_PART_BYTES, MOST_BYTES = 96 * 1024**2, 128 * 1024**2  # of XML, unpacked: half a minute's reading
BOMB_BYTES, BOMB_RATIO = 16 * 1024**2, 400  # honest sheets stay below 100
MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384  # what Excel itself allows
MOST_CELLS = 20_000_000  # with the empty ones to the left of a far one
CHUNK = 1024**2
CONTENTS = "[Content_Types].xml"
"""The part that every workbook has."""
# Entities that expand are declared in a DTD, which no workbook has. In a cell's text the sign is escaped.
_DTD = tuple(
    sign.encode(code) for sign in ("<!DOCTYPE", "<!ENTITY") for code in ("utf-8", "utf-16-le", "utf-16-be")
)


class SheetRows(NamedTuple):
    """The rows of one sheet, empty ones included, and the names of the workbook's other sheets."""

    title: str
    rows: list[tuple[Any, ...]]
    others: tuple[str, ...]


def read_sheet(content: Path | bytes, name: str, sheet: str | None = None) -> SheetRows:
    """Return the rows of a sheet (the first where none is named); raise BadFile where it is not harmless."""
    import openpyxl

    def source() -> Any:
        return io.BytesIO(content) if isinstance(content, bytes) else content

    try:
        _check_parts(source(), name)
        book = openpyxl.load_workbook(source(), read_only=True, data_only=True)
        try:
            titles = [one.title for one in book.worksheets]
            if sheet is not None and sheet not in titles:
                raise BadFile(f"{name} has no sheet {sheet!r}. {did_you_mean(sheet, titles)}")
            if not titles:
                raise BadFile(f"{name} has no sheet with cells.")
            chosen = book.worksheets[titles.index(sheet) if sheet is not None else 0]
            chosen.reset_dimensions()  # some programs write wrong dimensions, and rows would be cut off
            rows = list(_take_rows(chosen.iter_rows(values_only=True), name))
            filled = [len(row) for row in rows if row]
            if len(filled) * max(filled, default=0) > MOST_CELLS:  # rows are padded to the widest
                raise BadFile(_say_too_large(name))
        finally:
            book.close()
    except (BadFile, PermissionError):
        raise
    except MemoryError:
        raise BadFile(f"{name} is refused: it needs more memory than there is.") from None
    except Exception as error:  # on damaged bytes the library raises anything
        raise BadFile(
            f"{name} is a damaged Excel workbook ({type(error).__name__}: {str(error)[:150]}); save it again."
        ) from error
    return SheetRows(chosen.title, rows, tuple(title for title in titles if title != chosen.title))


def list_sheets(content: bytes, name: str) -> list[str]:
    """Return the names of the sheets with cells; raise BadFile where the workbook is not harmless."""
    first = read_sheet(content, name)
    return [first.title, *first.others]


def _check_parts(source: Any, name: str) -> None:
    """Raise BadFile for a workbook that would unpack to too many bytes, or whose XML declares entities."""
    check_directory(source.getvalue() if isinstance(source, io.BytesIO) else source, name, MOST_PARTS)
    with zipfile.ZipFile(source) as archive:
        parts = [part for part in archive.infolist() if not part.is_dir()]
        if CONTENTS not in archive.namelist():
            raise BadFile(_say_no_workbook(name, [part.filename for part in parts]))
        if len(parts) > MOST_PARTS:
            raise BadFile(f"{name} is refused: it holds {len(parts):,} parts; {MOST_PARTS:,} are allowed.")
        texts = [part for part in parts if part.filename.casefold().endswith((".xml", ".rels", ".vml"))]
        total = 0
        for part in texts:
            total += part.file_size
            if part.file_size > BOMB_BYTES and part.file_size > BOMB_RATIO * max(part.compress_size, 1):
                raise BadFile(
                    f"{name} is refused: {part.filename[:60]!a} in it would grow from "
                    f"{part.compress_size:,} to {part.file_size:,} bytes, as only a malicious file does."
                )
            if part.file_size > MOST_PART_BYTES or total > MOST_BYTES:
                raise BadFile(
                    f"{name} is refused: {part.filename[:60]!a} in it unpacks to {part.file_size:,} bytes, "
                    f"{total:,} with those before; {MOST_PART_BYTES:,} and {MOST_BYTES:,} are allowed. "
                    "Save the sheet with the ratings as CSV."
                )
        for part in texts:
            if _declares_entities(archive, part):
                raise BadFile(
                    f"{name} is refused: {part.filename[:60]!a} in it declares a document type, which no "
                    "program that saves workbooks does. Save the sheet with the ratings as CSV."
                )


def _declares_entities(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    kept = b""
    with archive.open(part) as file:
        while chunk := file.read(CHUNK):
            window = kept + chunk
            if any(sign in window for sign in _DTD):
                return True
            kept = window[-32:]
    return False


def _take_rows(rows: Iterable[tuple[Any, ...]], name: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows without their empty ends; stop at more than a sheet can hold."""
    cells = 0
    for place, row in enumerate(rows, start=1):
        cells += len(row)
        if place > MOST_ROWS or len(row) > MOST_COLUMNS or cells > MOST_CELLS:
            raise BadFile(_say_too_large(name))
        end = len(row)
        while end and row[end - 1] in (None, ""):
            end -= 1
        yield row[:end]


def _say_no_workbook(name: str, parts: list[str]) -> str:
    if "content.xml" in parts:
        return f"{name} is an OpenDocument file; save the sheet as .xlsx or as CSV."
    found = listing([repr(part[:60]) for part in parts], 4) or "nothing"
    return f"{name} is a zip archive and not an Excel workbook; unpack it and name the file in it ({found})."


def _say_too_large(name: str) -> str:
    return (
        f"{name} is refused: its sheet reaches beyond {MOST_ROWS:,} rows, {MOST_COLUMNS:,} columns or "
        f"{MOST_CELLS:,} cells. Save the part with the ratings as CSV."
    )
