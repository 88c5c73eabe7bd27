"""What spreadsheets make of text: a cell that begins like a formula is run when the file is opened."""

import re
from collections.abc import Callable

import pandas as pd

# A spreadsheet reads a cell that begins like this as a formula, and a number as a number.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")


def disarm(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return the table with an apostrophe before each text that a spreadsheet would run, and their number.

    ``rearm`` removes it again. Numbers stay numbers, and a text that reads as a number stays as it is.

    >>> disarm(pd.DataFrame({"text": ["=1+1", "-3", "fine"]}))[0]["text"].tolist()
    ["'=1+1", '-3', 'fine']
    """
    return _change_texts(frame, lambda cell: f"'{cell}" if _runs(cell) else cell)


def rearm(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return the table as it was before ``disarm``, and the number of cells changed.

    >>> rearm(pd.DataFrame({"text": ["'=1+1", "-3", "fine"]}))[0]["text"].tolist()
    ['=1+1', '-3', 'fine']
    """
    return _change_texts(frame, lambda cell: cell[1:] if cell.startswith("'") and _runs(cell[1:]) else cell)


def _runs(cell: str) -> bool:
    return bool(_FORMULA.match(cell)) and not _NUMBER.fullmatch(cell)


def _change_texts(frame: pd.DataFrame, change: Callable[[str], str]) -> tuple[pd.DataFrame, int]:
    changed, count = frame.copy(deep=False), 0
    for name in frame.columns:
        if pd.api.types.is_numeric_dtype(frame[name].dtype):
            continue
        cells = frame[name].astype(object)
        new = [change(cell) if isinstance(cell, str) else cell for cell in cells]
        here = sum(one is not other for one, other in zip(new, cells, strict=True))
        if here:
            changed[name] = pd.Series(new, index=frame.index, dtype=object)
            count += here
    return changed, count
