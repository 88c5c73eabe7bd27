"""Tables into files, by the same endings as core/readers.py, so that what is written reads back the same."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa

from panelist.core.errors import BadFile
from panelist.core.readers import find_ending

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
    # pandas would round to 15 decimals on the way.
    records = frame.astype(object).where(frame.notna(), None).to_dict(orient="records")
    return [json.dumps(record, ensure_ascii=False, default=str) for record in records]


def _write_parquet(frame: pd.DataFrame, path: Path) -> None:
    frame.to_parquet(path, index=False)


def _write_excel(frame: pd.DataFrame, path: Path) -> None:
    import openpyxl
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.utils.exceptions import IllegalCharacterError

    if len(frame) >= EXCEL_ROWS:
        raise BadFile(
            f"{path}: an Excel sheet ends at row {EXCEL_ROWS}, and these are {len(frame)}; write .parquet."
        )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("ratings")

    def cell(value: object) -> object:
        if not isinstance(value, str):
            return value
        if len(value) > EXCEL_TEXT:
            raise BadFile(
                f"{path}: an Excel cell holds {EXCEL_TEXT} characters, one here has more; write .csv."
            )
        made = WriteOnlyCell(sheet, value)
        made.data_type = "s"  # text that begins with = is text, not a formula
        return made

    plain = frame.astype(object).where(frame.notna(), None)
    try:
        sheet.append([cell(str(name)) for name in frame.columns])
        for row in plain.itertuples(index=False, name=None):
            sheet.append([cell(value) for value in row])
    except IllegalCharacterError as error:
        raise BadFile(
            f"{path}: Excel allows no control characters, as in {str(error)[:60]!r}; write .csv."
        ) from None
    book.save(path)


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
