"""Tables of outputs: one row per output, or one row per item with a column for each system."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from panelist.collection.imports.outputs.base import (
    LAYOUTS,
    Findings,
    OutputLayout,
    OutputRow,
    ReadOptions,
    SourceFile,
)
from panelist.core.errors import BadFile, did_you_mean
from panelist.core.prose import quoted

COLUMNS = {
    "item": ("item", "item_id", "input_id", "id", "prompt_id", "question_id", "doc_id", "example_id"),
    "system": ("system", "system_id", "model", "model_name", "model_id", "generator"),
    "output": ("output", "output_text", "response", "completion", "generation", "prediction", "answer"),
    "context": ("context", "prompt", "input", "instruction", "question", "source"),
    "reference": ("reference", "target", "gold"),
    "status": ("status",),
}
"""The columns that are known by their names, whatever their case."""


class OutputTable(OutputLayout):
    """Any other table or list of entries."""

    title = "table"

    def recognises(self, entry: Mapping[str, Any]) -> bool:
        """Return whether it is an entry at all: this layout is tried last."""
        return True

    def read(self, file: SourceFile, options: ReadOptions, found: Findings) -> Iterator[OutputRow]:
        """Give the outputs of each row."""
        header = list(dict.fromkeys(name for entry in file.entries for name in entry))
        columns = _find_columns(file.name, header, options, found)
        several = options.systems or ((columns["output"],) if "output" in columns else ())
        if not several:
            raise BadFile(
                f"{file.name}: no column is known to hold outputs. Its columns are {quoted(header, 12)}. Say "
                "which with --columns output=NAME, or, with one column per system, --systems NAME,NAME."
            )
        for name in options.systems:
            if name not in header:
                raise BadFile(f"{file.name} has no column {name!r}. {did_you_mean(name, header)}")
        for number, entry in enumerate(file.entries, start=1):
            cells = {target: _write(entry.get(name)) for target, name in columns.items()}
            for column in several:
                system = column if options.systems else options.system or cells.get("system", "")
                yield OutputRow(
                    cells.get("item") or str(number),
                    system,
                    _write(entry.get(column)),
                    cells.get("context", ""),
                    cells.get("reference", ""),
                    cells.get("status", ""),
                )


def _find_columns(name: str, header: list[str], options: ReadOptions, found: Findings) -> dict[str, str]:
    """Return which column is what: as a person says, else by name."""
    columns = {}
    by_name = {column.strip().casefold(): column for column in reversed(header)}
    for target, known in COLUMNS.items():
        said = options.columns.get(target)
        if said is not None and said not in header:
            raise BadFile(f"{name} has no column {said!r}. {did_you_mean(said, header)}")
        column = said or next((by_name[word] for word in known if word in by_name), None)
        if column is not None and column not in options.systems:
            columns[target] = column
            if said is None and column != target:
                found.notes.append(f"{name}: the column {column!r} is read as {target}")
    if "item" not in columns:
        found.notes.append(f"{name}: no column names the items; they are numbered in the order of the rows")
    return columns


def _write(value: Any) -> str:
    """Return a cell as text, lists and objects as JSON."""
    if value is None or value != value:  # an empty cell of Parquet
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


LAYOUTS.register("table")(OutputTable())
