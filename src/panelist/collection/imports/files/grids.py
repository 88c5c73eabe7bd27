"""Tables as people keep them: where the header is, whether there is one, and where the table ends."""

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from panelist.collection.imports.files.text_tables import WORKBOOK, decode
from panelist.collection.imports.mapping import TableLayout
from panelist.collection.imports.vocabulary import is_known_name
from panelist.core.errors import BadFile
from panelist.core.prose import count, listing
from panelist.core.tables.cells import label
from panelist.core.tables.workbooks import read_sheet

MOST_TITLE = 12  # rows above a header
MOST_CHECKED = 20_000  # rows inspected to find out what a column holds
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
OVERLONG = (
    "A text with a comma or a quotation mark is not in quotation marks; correct that row.",
    "Give every column a name, in one header row without merged cells.",
)
"""What to do where a row is longer than the header: in text, and in a workbook."""
_MARKUP = re.compile(r"\s*<(!doctype|html|table|\?xml|head|body)", re.IGNORECASE)


@dataclass(frozen=True)
class TextGrid:
    """A header and rows of text, all as long as the header, and what was done to get them."""

    header: tuple[str, ...]
    rows: list[list[str]]
    notes: tuple[str, ...] = ()
    skip: int = 0
    headless: bool = False
    """Whether the first row reads as data: the names of the columns are then made up."""


def read_grid(content: bytes, name: str, layout: TableLayout = TableLayout()) -> TextGrid:  # noqa: B008  it is frozen
    """Return the table in a text file or workbook."""
    lines, said = _read_lines(content, name, layout.sheet)
    notes = list(said)
    filled = [line for line in lines if any(line)]
    if not filled:
        raise BadFile(f"{name} holds nothing but empty lines: there is nothing to import.")
    width = Counter(_count(line) for line in filled[:MOST_CHECKED]).most_common(1)[0][0]
    skip = _find_header(filled, width) if layout.skip is None else min(layout.skip, len(filled) - 1)
    if skip:
        notes.append(f"{name}: {count(skip, 'row')} above the header skipped ({listing(_say(filled[0]))})")
    body = filled[skip:]
    headless = not layout.header and is_headless(body)
    if layout.header:
        header = list(layout.header)
        if max(map(_reach, body)) > len(header):
            raise BadFile(
                f"{name} has {max(map(_reach, body))} columns, and the header that was given names "
                f"{len(header)} ({listing(header, 8)}). Name every column; those that are not needed as well."
            )
    elif headless:
        header = [f"column_{place}" for place in range(1, max(map(len, body)) + 1)]
    else:
        header, body = [cell.strip() for cell in body[0]], body[1:]
        _refuse_two_tables(lines, filled[skip], name)
    body, told = _trim(body, header, name, is_workbook=content.startswith(WORKBOOK))
    header, body, dropped = _drop_empty_columns(header, body)
    if repeated := sorted({cell for cell in header if header.count(cell) > 1}):
        raise BadFile(
            f"{name} has several columns called {listing(repeated)}. Rename all but one; where two tables "
            "are side by side, save each in a separate file; where the header has two rows, join them to one "
            "with names such as fluency_anna."
        )
    if not body:
        raise BadFile(f"{name} has a header but no rows: there is nothing to import.")
    return TextGrid(tuple(header), body, (*notes, *told, *dropped), skip, headless)


def is_headless(rows: list[list[str]]) -> bool:
    """Return whether the first row reads as data like the rows below it.

    A header has names: words that do not occur again below, and no numbers where numbers follow.
    """
    first, below = rows[0], rows[1:MOST_CHECKED]
    if not below or any(is_known_name(cell) for cell in first):
        return False
    numbers = again = 0
    for place, cell in enumerate(first):
        column = [row[place] for row in below if place < len(row) and row[place]]
        if not cell or not column:
            continue
        if NUMBER.fullmatch(cell):
            numbers += all(NUMBER.fullmatch(other) for other in column)
        else:
            again += cell in column
    words = sum(bool(cell) and not NUMBER.fullmatch(cell) for cell in first)
    return numbers > 0 and (again > 0 or words == 0)


@lru_cache(maxsize=1)  # what wrote a file is found out first, and large workbooks take a while
def _read_lines(content: bytes, name: str, sheet_name: str | None) -> tuple[list[list[str]], list[str]]:
    """Return the rows, empty ones as empty lists."""
    if content.startswith(WORKBOOK):
        sheet = read_sheet(content, name, sheet_name)
        lines = [
            [(label(cell) or "").strip() if cell is not None else "" for cell in row] for row in sheet.rows
        ]
        return [line if any(line) else [] for line in lines], []
    text, notes = decode(content, name)
    if "\x00" in text:
        raise BadFile(f"{name} holds zero bytes: it is not text, and not a table in a known format.")
    if _MARKUP.match(text):
        raise BadFile(f"{name} is a web page or XML, whatever its name says; save the table itself as CSV.")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_find_delimiter(text), strict=True)
    try:
        lines = [[cell.strip() for cell in row] for row in reader]
    except csv.Error as error:
        raise BadFile(
            f"{name}, line {reader.line_num}, is not a table: {error}. A quotation mark is not closed, or "
            "is inside a text (write it twice there)."
        ) from None
    return [line if any(line) else [] for line in lines], notes


def _find_delimiter(text: str) -> str:
    """Return the character that splits most of the first lines into equally many cells, at least two."""
    lines = [line for line in text[:200_000].splitlines()[:40] if line.strip()]

    def rate(mark: str) -> tuple[int, int]:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=mark) if len(row) > 1)
        width, n = widths.most_common(1)[0] if widths else (0, 0)
        return n, width

    return max(",;\t|", key=rate)


def _count(line: list[str]) -> int:
    return sum(bool(cell) for cell in line)


def _reach(line: list[str]) -> int:
    """Return the place of the last cell that says something."""
    return max((place for place, cell in enumerate(line, start=1) if cell), default=0)


def _find_header(filled: list[list[str]], width: int) -> int:
    """Return how many rows are above the header: they have far fewer cells than the table."""
    for place, line in enumerate(filled[:MOST_TITLE]):
        if _count(line) >= max(1, 0.5 * width) and (width < 3 or _count(line) > 1):
            return place
    return 0


def _say(line: list[str]) -> list[str]:
    return [repr(cell[:40]) for cell in line if cell][:2]


def _refuse_two_tables(lines: list[list[str]], header: list[str], name: str) -> None:
    """Raise BadFile where a second header follows an empty row."""
    start = next(place for place, line in enumerate(lines) if line == header)
    gaps = [place for place in range(start + 1, len(lines) - 1) if not lines[place] and lines[place + 1]]
    for gap in gaps:
        above = [line for line in lines[start + 1 : gap] if line]
        below = [line for line in lines[gap + 2 :] if line]
        second = lines[gap + 1]
        if not above or not below or _count(second) < 2 or second == header:
            continue
        for place, cell in enumerate(second):
            if not cell or NUMBER.fullmatch(cell):
                continue
            column = [line[place] for line in above if place < len(line) and line[place]]
            after = [line[place] for line in below[:20] if place < len(line) and line[place]]
            if all(column_of and all(map(NUMBER.fullmatch, column_of)) for column_of in (column, after)):
                raise BadFile(
                    f"{name} holds two tables: the first has its header in row {start + 1}, another begins "
                    f"in row {gap + 2} ({listing(cell for cell in second if cell)}). Save each in a separate "
                    "file."
                )


def _trim(
    body: list[list[str]], header: list[str], name: str, *, is_workbook: bool
) -> tuple[list[list[str]], list[str]]:
    """Return the rows at the header's length, without repeated headers and notes below the table."""
    width, notes = len(header), []
    again = sum(row == header for row in body)
    if again:
        body = [row for row in body if row != header]
        notes.append(f"{name}: {count(again, 'repeated header line')} skipped")
    end = len(body)
    while (
        width > 2 and end > 1 and _count(body[end - 1]) == 1 and body[end - 1][0] and " " in body[end - 1][0]
    ):
        end -= 1
    if end < len(body):
        notes.append(
            f"{name}: {count(len(body) - end, 'row')} below the table skipped ({_say(body[end])[0]})"
        )
    even = []
    for number, row in enumerate(body[:end], start=1):
        if any(row[width:]):
            raise BadFile(
                f"{name}, row {number}: {len(row)} cells, and the header has {width}. {OVERLONG[is_workbook]}"
            )
        even.append([*row[:width], *[""] * (width - len(row))])
    return even, notes


def _drop_empty_columns(
    header: list[str], body: list[list[str]]
) -> tuple[list[str], list[list[str]], list[str]]:
    """Return the table without columns that have neither a name nor a cell; others get a name."""
    kept = [place for place, cell in enumerate(header) if cell or any(row[place] for row in body)]
    names = [header[place] or f"column_{place + 1}" for place in kept]
    rows = [[row[place] for place in kept] for row in body] if len(kept) < len(header) else body
    return names, rows, []
