"""Tables as papers print them: one row per system and one column per criterion, or the other way round."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pandas as pd

from panelist.core.errors import BadReproduction, list_shortly
from panelist.core.prose import count

if TYPE_CHECKING:
    from panelist.core.tables.ratings import Ratings

# A number as it is printed: 4.71, −12, 76 %, **0.89**, 3.5*, 4.2 ± 0.3, 4.2 (0.3)
_NUMBER = re.compile(r"[*_\s]*([-−+]?\d+(?:\.\d+)?|[-−+]?\.\d+)\s*(%)?[*_†‡§\s]*(?:(?:±|\(|\[|\\pm).*)?")


def read_printed(table: Ratings) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Return the scores by criterion and system, and what was left out or is doubtful."""
    frame = table.frame
    turned = "criterion" in frame and "system" not in frame
    key = "criterion" if turned else "system" if "system" in frame else _first_text(frame)
    if key is None:
        raise BadReproduction(
            f"{table.source} is none of the tables that can be compared; its columns are "
            f"{list_shortly(frame.columns)}. Give raw ratings (rater, item, system, criterion, rating), "
            "choices, a scores table (criterion, system, score), or a printed table with one row per system "
            "and one column per criterion."
        )
    names = [str(cell).strip() for cell in frame[key]]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise BadReproduction(
            f"{table.source} has {repeated[0]!r} in two rows of its column {key}. Name it once."
        )
    cells: dict[str, dict[str, float]] = {}
    dressed, left = 0, []
    for column in frame.columns:
        if column == key:
            continue
        read = [_read_cell(cell) for cell in frame[column]]
        if not any(value is not None for value, _ in read):
            left.append(str(column))
            continue
        dressed += sum(extra for _, extra in read)
        cells[str(column)] = {
            name: value for name, (value, _) in zip(names, read, strict=True) if value is not None
        }
    if not cells:
        raise BadReproduction(
            f"{table.source} has no column of numbers besides {key!r}, so it holds no scores."
        )
    notes = [f"columns without numbers left out: {', '.join(left)}"] if left else []
    if dressed:
        notes.append(
            f"{count(dressed, 'cell holds', 'cells hold')} "
            "more than a number (%, *, ± …): the first number was taken"
        )
    if key not in ("system", "criterion"):
        notes.append(f"column {key} is read as system")
    return (_turn(cells) if turned else cells), notes


def _read_cell(cell: Any) -> tuple[float | None, bool]:
    """Return the number in a cell, None where there is none, and whether there is anything else in it."""
    if cell is None or cell is pd.NA or (isinstance(cell, float) and cell != cell):
        return None, False
    if isinstance(cell, bool):
        return None, False
    try:
        return float(cell), False
    except (TypeError, ValueError):
        found = _NUMBER.fullmatch(str(cell).strip())
    return (float(found[1].replace("−", "-")), True) if found else (None, False)


def _first_text(frame: pd.DataFrame) -> str | None:
    """Return the first column, if its cells are names."""
    first = str(frame.columns[0])
    column = frame[first]
    if frame.shape[1] < 2 or pd.api.types.is_numeric_dtype(column) or column.isna().any():
        return None
    return first if all(_read_cell(cell)[0] is None for cell in column) else None


def _turn(cells: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return the same with rows and columns swapped."""
    turned: dict[str, dict[str, float]] = {}
    for system, row in cells.items():
        for criterion, score in row.items():
            turned.setdefault(criterion, {})[system] = score
    return turned
