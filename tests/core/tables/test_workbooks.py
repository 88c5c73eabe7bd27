"""Workbooks of others: each trap is refused with a sentence, soon, by whatever command reads it."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import parquet

from panelist.collection.imports.importer import import_results
from panelist.core.errors import BadFile
from panelist.core.tables import workbooks
from panelist.core.tables.ratings import read_ratings
from panelist.core.tables.workbooks import read_sheet

SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
STRINGS, SHEET = "xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"
LAUGHS = (
    '<!DOCTYPE l [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + f"]><sst {SPACE}><si><t>&j;</t></si></sst>"
)


def write_book(path: Path, **parts: str | bytes) -> Path:
    """Return a workbook of two ratings, some of its parts exchanged for others."""
    book = openpyxl.Workbook()
    for row in (["rater", "item", "system", "rating"], ["a", "1", "x", 3], ["b", "1", "y", 4]):
        book.active.append(row)
    whole = io.BytesIO()
    book.save(whole)
    changed = {{"strings": STRINGS, "sheet": SHEET}.get(name, name): part for name, part in parts.items()}
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name in {*source.namelist(), *changed}:
            target.writestr(name, changed.get(name, source.read(name) if name in source.namelist() else b""))
    return path


def rows_of(*rows: str) -> str:
    return f"<worksheet {SPACE}><sheetData>{''.join(rows)}</sheetData></worksheet>"


@pytest.mark.slow
@pytest.mark.parametrize("read", [read_ratings, import_results])
@pytest.mark.parametrize(
    ("part", "content", "message"),
    [
        ("strings", LAUGHS, "declares a document type"),
        ("strings", f'<?xml version="1.0" encoding="utf-16"?>{LAUGHS}'.encode("utf-16"), "document type"),
        ("strings", f"<!--{'x' * 2**21}-->{LAUGHS}", "declares a document type"),
        ("strings", f"<sst {SPACE}>{'<si><t>a</t></si>' * 1_000_000}</sst>", "as only a malicious file does"),
        ("sheet", rows_of('<row r="99999999999"><c r="A99999999999"><v>1</v></c></row>'), "reaches beyond"),
        ("sheet", "<worksheet", "damaged Excel workbook"),
    ],
)
def test_a_workbook_that_is_a_trap_is_refused(
    read: Callable[[Path], Any], part: str, content: str | bytes, message: str, tmp_path: Path
) -> None:
    path = write_book(tmp_path / "r.xlsx", **{part: content})
    with pytest.raises(BadFile, match=message):
        read(path)


def test_cells_far_to_the_right_do_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbooks, "MOST_CELLS", 200_000)
    far = "".join(f'<row r="{n}"><c r="XFD{n}"><v>{n}</v></c></row>' for n in range(1, 20))
    with pytest.raises(BadFile, match="reaches beyond"):
        read_sheet(write_book(tmp_path / "far.xlsx", sheet=rows_of(far)), "far.xlsx")
    one = '<row r="1"><c r="AAA1"><v>1</v></c></row>'
    short = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(2, 1000))
    with pytest.raises(BadFile, match="reaches beyond"):
        read_sheet(write_book(tmp_path / "one.xlsx", sheet=rows_of(one, short)), "one.xlsx")


def test_too_large_and_too_many_parts_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_book(tmp_path / "r.xlsx")
    monkeypatch.setattr(workbooks, "MOST_PART_BYTES", 100)
    with pytest.raises(BadFile, match=r"100 and .* are allowed"):
        read_sheet(path, "r.xlsx")
    monkeypatch.setattr(workbooks, "MOST_PARTS", 3)
    with pytest.raises(BadFile, match="3 are allowed"):
        read_sheet(path, "r.xlsx")
    with zipfile.ZipFile(tmp_path / "many.xlsx", "w") as archive:
        for number in range(200):
            archive.writestr(f"xl/part-with-a-long-name-{number}.xml", "")
    with pytest.raises(BadFile, match=r"its list of contents has .* bytes; 3 files are allowed"):
        read_sheet(tmp_path / "many.xlsx", "many.xlsx")


def test_a_sheet_is_taken_by_its_name_and_the_others_are_named(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "notes"
    book.create_sheet("ratings").append(["rater", "rating"])
    book.save(tmp_path / "r.xlsx")
    found = read_sheet(tmp_path / "r.xlsx", "r.xlsx", "ratings")
    assert (found.rows, found.others) == ([("rater", "rating")], ("notes",))
    with pytest.raises(BadFile, match=r"no sheet 'rating'\. Did you mean 'ratings'"):
        read_sheet(tmp_path / "r.xlsx", "r.xlsx", "rating")


@pytest.mark.parametrize("read", [read_ratings, import_results])
def test_a_parquet_file_that_says_billions_is_refused(
    read: Callable[[Path], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet.write_table(pa.table({"rating": [1] * 1000}), tmp_path / "r.parquet")
    monkeypatch.setattr("panelist.core.tables.readers.MOST_PARQUET_CELLS", 999)
    with pytest.raises(BadFile, match="is refused: it unpacks to 1,000 cells"):
        read(tmp_path / "r.parquet")


@pytest.mark.parametrize(
    ("part", "message"),
    [("ratings.csv", "and not an Excel workbook; unpack it and name the file in it .'ratings.csv'"),
     ("content.xml", "is an OpenDocument file; save the sheet as .xlsx")],
)  # fmt: skip
def test_another_zip_archive_is_told_from_a_workbook(part: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(part, "rater,item,rating\n")
    with pytest.raises(BadFile, match=message):
        read_sheet(path.read_bytes(), path.name)
