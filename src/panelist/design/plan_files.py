"""Plans as files: plan.csv for people and other tools, plan.json with its hash, seed and settings."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from panelist.core.display.result import json_ready
from panelist.core.errors import BadPlan
from panelist.design.plan import COLUMNS, NUMBERS, Plan, make_table
from panelist.study.file_names import PLAN_RECORD, PLAN_TABLE, SAMPLE_FILE
from panelist.study.study import Study

FORMAT = 1
ROWS_AT_ONCE = 500_000


def write_plan(plan: Plan, folder: str | Path, extra: Mapping[str, Any] | None = None) -> None:
    """Write plan.csv and plan.json into a folder; ``extra`` (balance, cost) goes into plan.json as it is."""
    folder = Path(folder)
    record = {"format": FORMAT, **plan.to_dict(), **(extra or {})}
    text = json.dumps(json_ready(record), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / PLAN_TABLE).open("wb") as file:
            file.write((",".join(COLUMNS) + "\n").encode())
            for first in range(0, len(plan), ROWS_AT_ONCE):
                file.write(_write_rows(plan.table.iloc[first : first + ROWS_AT_ONCE]))
        (folder / PLAN_RECORD).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadPlan(f"The plan cannot be written to {folder}: {error.strerror or error}.") from None


def write_sample(plan: Plan, study: Study, folder: Path | None = None) -> bool:
    """Write sample.csv beside a plan, if people rate a sample of the items; return whether it was written."""
    if study.draw is None or plan.sample != study.draw.hash:  # a plan of an older study keeps its own
        return False
    folder = study.folder if folder is None else folder
    try:
        (folder / SAMPLE_FILE).write_bytes(study.draw.text.encode())
    except OSError as error:
        raise BadPlan(f"The sample cannot be written to {folder}: {error.strerror or error}.") from None
    return True


def read_plan(folder: str | Path) -> Plan:
    """Return the plan in a folder, or raise BadPlan if it is missing, incomplete, or changed by hand."""
    folder = Path(folder)
    record = _read_record(folder / PLAN_RECORD)
    table = _read_rows(folder / PLAN_TABLE)
    plan = Plan(
        table=table,
        design=str(record["design"]),
        seed=int(record["seed"]),
        study_hash=str(record["study_hash"]),
        places=tuple(record["places"]),
        trials=int(record["trials"]),
        notes=tuple(record["notes"]),
        history=tuple(record["history"]),
        sample=str(record.get("sample_hash", "")),
    )
    if plan.hash != record["plan_hash"]:
        raise BadPlan(
            f"{folder / PLAN_TABLE} was changed after it was written: its hash is {plan.hash[:12]}…, and "
            f"{PLAN_RECORD} says {str(record['plan_hash'])[:12]}…. Put the old file back, or make the plan "
            "again."
        )
    return plan


def _write_rows(table: pd.DataFrame) -> bytes:
    """Return the rows as CSV: each word is quoted once, as a category, and then only looked up."""
    columns = []
    for name in COLUMNS:
        end = "\n" if name == COLUMNS[-1] else ""
        if name in NUMBERS:
            columns.append(pc.cast(pa.array(table[name].to_numpy()), pa.large_string()))
            continue
        words = pa.array(
            [_quote(str(word)) + end for word in table[name].cat.categories.tolist()], pa.large_string()
        )
        columns.append(words.take(pa.array(table[name].cat.codes.to_numpy())))
    lines = pc.binary_join_element_wise(*columns, pa.scalar(",", pa.large_string()))
    offsets = np.frombuffer(lines.buffers()[1], dtype=np.int64, count=len(lines) + 1)
    return bytes(lines.buffers()[2][int(offsets[0]) : int(offsets[-1])])


def _quote(word: str) -> str:
    """Return a word as a CSV cell: in quotes where it holds a comma, a quote, a line end or outer spaces."""
    if any(mark in word for mark in ',"\n\r') or word != word.strip():
        return '"' + word.replace('"', '""') + '"'
    return word


def _read_rows(path: Path) -> pd.DataFrame:
    """Return the table of plan.csv, every word as it was written."""
    if not path.is_file():
        raise BadPlan(f"There is no {path}. Make the plan first: panelist plan STUDY.")
    kinds = {
        name: pa.int32() if name in NUMBERS else pa.dictionary(pa.int32(), pa.string()) for name in COLUMNS
    }
    convert = pyarrow.csv.ConvertOptions(column_types=kinds, strings_can_be_null=False, null_values=[])
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
    try:
        rows = pyarrow.csv.read_csv(path, convert_options=convert, parse_options=parse)
    except (pa.ArrowInvalid, pa.ArrowKeyError, OSError) as error:
        raise BadPlan(f"{path} cannot be read as a plan: {str(error).splitlines()[0]}") from None
    if tuple(rows.column_names) != COLUMNS:
        raise BadPlan(
            f"{path} has the columns {', '.join(rows.column_names)}; a plan has "
            f"{', '.join(COLUMNS)}. Make it again."
        )
    numbers: dict[str, Any] = {}
    words: dict[str, list[str]] = {}
    for name in COLUMNS:
        column = rows[name].unify_dictionaries().combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0) if column.num_chunks else pa.array([], type=column.type)
        if name in NUMBERS:
            numbers[name] = column.to_numpy(zero_copy_only=False)
        else:
            numbers[name] = column.indices.to_numpy(zero_copy_only=False)
            words[name] = column.dictionary.to_pylist()
    return make_table(numbers, words)


def _read_record(path: Path) -> dict[str, Any]:
    """Return plan.json, or raise BadPlan that says what is wrong with it."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadPlan(f"There is no {path}. Make the plan first: panelist plan STUDY.") from None
    except (OSError, ValueError) as error:
        raise BadPlan(f"{path} cannot be read as JSON: {error}. Make the plan again.") from None
    needed = ("design", "seed", "study_hash", "plan_hash", "places", "trials", "notes", "history")
    missing = [name for name in needed if not isinstance(record, dict) or name not in record]
    if missing:
        raise BadPlan(f"{path} lacks {', '.join(missing)}. Make the plan again.")
    if record.get("format") != FORMAT:
        raise BadPlan(
            f"{path} is of format {record.get('format')!r}; this version reads format {FORMAT}. "
            "Make the plan again."
        )
    return dict(record)
