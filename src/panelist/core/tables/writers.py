"""Tables written to files, by the same endings as readers.py, so that what is written reads back the same."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa

from panelist.core.errors import BadFile
from panelist.core.tables.readers import find_ending

EXCEL_ROWS = 1_048_576
EXCEL_TEXT = 32_767


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write the table into a file whose ending says the format."""
    write = WRITERS[find_ending(path)]
    if not path.parent.is_dir():
        raise BadFile(f"{path} cannot be written: the folder {path.parent} does not exist. Make it first.")
    try:
        write(frame, path)
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error.strerror or error}.") from None
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise BadFile(f"{path} cannot be written: {error}.") from None


def _write_csv(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False, lineterminator="\n")


def _write_tsv(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False, lineterminator="\n", sep="\t")


def _write_json_lines(frame: pd.DataFrame, path: Path) -> None:
    path.write_text("".join(line + "\n" for line in _json_lines(frame)), encoding="utf-8")


def _write_json(frame: pd.DataFrame, path: Path) -> None:
    path.write_text("[\n" + ",\n".join(_json_lines(frame)) + "\n]\n", encoding="utf-8")


def _json_lines(frame: pd.DataFrame) -> list[str]:
    # pandas would round to 15 decimals.
    records = frame.astype(object).where(frame.notna(), None).to_dict(orient="records")
    return [json.dumps(record, ensure_ascii=False, default=str) for record in records]


def _write_parquet(frame: pd.DataFrame, path: Path) -> None:
    frame.to_parquet(path, index=False)


def _write_excel(frame: pd.DataFrame, path: Path) -> None:
    import openpyxl
    from openpyxl.cell import WriteOnlyCell

    _check_excel(frame, path)
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("ratings")

    def cell(value: object) -> object:
        if not isinstance(value, str | float):
            return value
        made = WriteOnlyCell(sheet, str(value))
        # Text that begins with = is text, not a formula; and openpyxl would round a number to 16 digits.
        made.data_type = "s" if isinstance(value, str) else "n"
        return made

    sheet.append([cell(str(name)) for name in frame.columns])
    for row in frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None):
        sheet.append([cell(value) for value in row])
    book.save(path)


def _check_excel(frame: pd.DataFrame, path: Path) -> None:
    """Refuse what does not fit into Excel, before anything is written."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if len(frame) >= EXCEL_ROWS:
        raise BadFile(
            f"{path}: an Excel sheet ends at row {EXCEL_ROWS}, and there are {len(frame)}; write .parquet."
        )
    for name in frame.columns:
        for text in {str(name), *(value for value in frame[name].unique() if isinstance(value, str))}:
            if len(text) > EXCEL_TEXT:
                raise BadFile(
                    f"{path}: a cell of Excel holds {EXCEL_TEXT} characters; column {name!r} has a longer "
                    "text; write .csv."
                )
            if ILLEGAL_CHARACTERS_RE.search(text):
                raise BadFile(
                    f"{path}: Excel allows no control characters, and column {name!r} has one; write .csv."
                )


WRITERS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".jsonl": _write_json_lines,
    ".ndjson": _write_json_lines,
    ".json": _write_json,
    ".parquet": _write_parquet,
    ".xlsx": _write_excel,
    ".xlsm": _write_excel,
}
