"""What the cells of a ratings table mean: identifiers, numbers, yes and no, and what counts as missing."""

import json
import re
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from panelist.core.errors import IMPORT, BadRatings

TEXT_TYPE = pd.StringDtype(na_value=np.nan)
MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "null", "none"})
FALSE_WORDS = MISSING_WORDS | {"0", "0.0", "false", "no", "f", "n"}
MOST_LABELS = 50  # of a nominal scale; more different words are texts or ids
MOST_PLAIN = 12  # labels that need not repeat
MOST_GAPS = 4  # between the words of a label, on average
LONGEST_LABEL = 60
LARGEST_EXACT = 2**53  # whole numbers beyond it have no exact double

_NUMBER = re.compile(
    r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf(?:inity)?", re.ASCII | re.IGNORECASE
)
_CODE = re.compile(r"[+-]?(?:0\d+|\d{16,})", re.ASCII)  # 007 and long account numbers are names, not amounts
_ODD_TEXT = r"[^0-9.eE+-]|^[+-]?0[0-9]|^[+-]?[0-9]{16}"  # not certainly a plain number


def read_identifiers(column: pd.Series) -> pd.Series:
    """Return the column as text: 3.0 is ``"3"``, an empty cell is missing, ``"NA"`` is a name like others."""
    return code_identifiers(column)[0]


def code_identifiers(column: pd.Series) -> tuple[pd.Series, NDArray[np.intp], list[str | None]]:
    """Return the column as text, the number of each cell (-1 where missing), and the text of each number."""
    codes, cells = _factorise(column)
    names = [label(cell) for cell in cells]
    if column.dtype == TEXT_TYPE and None not in names:
        return column, codes, names  # already in the target form
    if isinstance(column.dtype, pd.StringDtype) and None not in names:
        return column.astype(TEXT_TYPE), codes, names
    return _text(names, codes, column.index), codes, names


def is_blank(column: pd.Series) -> bool:
    """Return whether no cell of a column says anything."""
    first = column.iloc[0] if len(column) else None
    if pd.api.types.is_list_like(first) or (not pd.isna(first) and str(first).strip()):
        return False
    said = column[column.notna()]
    return bool(said.empty or said.astype(str).str.strip().eq("").all())


def holds_texts(column: pd.Series) -> bool:
    """Return whether the column holds texts, ids or lists: nothing that could be ratings."""
    if _is_numeric(column) or isinstance(column.dtype, pd.CategoricalDtype) or _cast(column) is not None:
        return False
    try:
        codes, cells = _factorise(column)
    except BadRatings:
        return True
    wordy = np.array([_is_word(cell) for cell in cells], dtype=bool)
    return are_texts([str(cell) for cell, word in zip(cells, wordy, strict=True) if word],
                     int(np.isin(codes, np.flatnonzero(wordy)).sum()))  # fmt: skip


def are_texts(words: Sequence[str], n: int) -> bool:
    """Return whether the different words of ``n`` cells are texts or ids, and not the labels of a scale.

    Labels are few and short, and repeat.

    >>> are_texts(["very poor", "neither good nor poor", "very good"], 90), are_texts(["yes", "no"], 2)
    (False, False)
    >>> are_texts([f"W{n}" for n in range(20)], 20), are_texts(["It is a place to eat in the city."], 1)
    (True, True)
    """
    if not words:
        return False
    gaps = sum(len(word.split()) - 1 for word in words) / len(words)
    length = sum(map(len, words)) / len(words)
    many = len(words) > MOST_PLAIN and (2 * len(words) > n or gaps >= 2)
    return len(words) > MOST_LABELS or many or gaps > MOST_GAPS or length > LONGEST_LABEL


def read_ratings_column(
    column: pd.Series,
    decimal: str = ".",
    *,
    name: str = "rating",
    groups: pd.Series | None = None,
    drop: bool = False,
) -> tuple[pd.Series, list[str]]:
    """Return the ratings, and what is worth saying about them.

    Numbers if every cell that is not missing is one, or is text that says one; labels if none is. An ordered
    categorical keeps its order, unless its categories are increasing numbers: then the numbers are enough.
    Texts are refused, and so is a word among numbers, unless ``drop`` makes it a missing cell; ``groups`` are
    the criteria, each of which has numbers or labels of its own. ``name`` is the column's in the source.
    """
    if isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered:
        steps = [_number(category, decimal) for category in column.cat.categories]
        rising = [step for step in steps if step is not None]
        if len(rising) < len(steps) or any(low >= high for low, high in pairwise(rising)):
            return column, []
    numbers_at_once = column if _is_numeric(column) else _cast(column)
    if numbers_at_once is not None:
        return _check_finite(_whole(numbers_at_once)), []

    codes, cells = _factorise(column)
    missing = np.array(
        [isinstance(cell, str) and cell.strip().casefold() in MISSING_WORDS for cell in cells], dtype=bool
    )
    numbers = [None if gone else _number(cell, decimal) for cell, gone in zip(cells, missing, strict=True)]
    wordy = np.array([x is None for x in numbers], dtype=bool) & ~missing
    notes = _note_missing(column, cells, missing.tolist(), codes)
    if wordy.any():
        stray = _find_stray(codes, wordy, ~wordy & ~missing, groups)
        if stray.any() and not drop:
            raise BadRatings(_say_stray(column, stray, name))
        if stray.any():
            notes.append(_note_stray(column, stray, name))
            codes = np.where(stray, -1, codes)
            wordy[np.setdiff1d(np.flatnonzero(wordy), codes)] = False
        _refuse_texts(column, cells, codes, wordy, name)
        amid = np.append(~wordy & ~missing, False)[codes] if groups is None else np.zeros(1, dtype=bool)
        if amid.any():
            count = f"{int(amid.sum()):,} of {len(column):,} cells"
            notes.append(
                f"{name} holds labels; the numbers in {count} are labels as well: {_list_cells(column, amid)}"
            )
    if not wordy.any():
        values = np.array([*(np.nan if x is None else x for x in numbers), np.nan])
        return _check_finite(_whole(pd.Series(values[codes], column.index, name=column.name))), notes
    texts = [None if gone else label(cell) for cell, gone in zip(cells, missing, strict=True)]
    return _text(texts, codes, column.index), notes


def _is_word(cell: Any) -> bool:
    return (
        isinstance(cell, str) and cell.strip().casefold() not in MISSING_WORDS and _number(cell, ",") is None
    )


def _find_stray(
    codes: NDArray[np.intp], wordy: NDArray[np.bool_], numeric: NDArray[np.bool_], groups: pd.Series | None
) -> NDArray[np.bool_]:
    """Return the cells that are words where at least as many of their criterion are numbers."""
    word, number = (np.append(kind, False)[codes] for kind in (wordy, numeric))
    group = np.zeros(len(codes), dtype=np.intp)
    if groups is not None and number.any():
        group = pd.factorize(groups, use_na_sentinel=False)[0]
    numbers, words = (np.bincount(group, weights=kind) for kind in (number, word))
    return np.asarray(word & ((numbers > 0) & (numbers >= words))[group])


def _say_stray(column: pd.Series, stray: NDArray[np.bool_], name: str) -> str:
    count = int(stray.sum())
    which = "one cell is" if count == 1 else f"{count:,} cells are"
    return (
        f"Column {name!r} holds numbers, but {which} not: {_list_cells(column, stray)} (rows count from 1 "
        "below the header). Ratings are numbers throughout, or labels throughout. Correct or empty what is "
        "wrong, or leave it out with --drop invalid (in Python: load_ratings(…, drop='invalid'))."
    )


def _note_stray(column: pd.Series, stray: NDArray[np.bool_], name: str) -> str:
    count = int(stray.sum())
    verb = "is not a number and was" if count == 1 else "are not numbers and were"
    return f"{count:,} of {len(column):,} cells of {name} {verb} left out: {_list_cells(column, stray)}"


def _list_cells(column: pd.Series, marked: NDArray[np.bool_]) -> str:
    places = np.flatnonzero(marked)
    listed = ", ".join(
        f"{_shorten(column.iloc[place])} in row {int(column.index[place]) + 1}" for place in places[:5]
    )
    return listed + (f" and {len(places) - 5:,} more" if len(places) > 5 else "")


def _refuse_texts(
    column: pd.Series, cells: list[Any], codes: NDArray[np.intp], wordy: NDArray[np.bool_], name: str
) -> None:
    """Raise BadRatings where the words are texts or ids; labels of a scale pass."""
    words = [str(cell) for cell, word in zip(cells, wordy, strict=True) if word]
    here = np.append(wordy, False)[codes]
    if are_texts(words, int(here.sum())):
        first = int(here.argmax())
        raise BadRatings(
            f"Column {name!r} holds texts or ids, not ratings: {len(words):,} different ones in "
            f"{int(here.sum()):,} rows, such as {_list_cells(column, np.arange(len(column)) == first)}. A "
            f"rating is a number, or one of at most {MOST_LABELS} short labels. Say which column holds the "
            "ratings: --columns rating=NAME (in Python: columns={'rating': 'NAME'})."
        )


def read_other_text(column: pd.Series, decimal: str = ".") -> tuple[pd.Series, list[str]]:
    """Return a column of a text file: numbers, or true and false, where every cell is one; else text."""
    numbers_at_once = _cast(column)
    if numbers_at_once is not None:
        return _whole(numbers_at_once), []
    codes, cells = _factorise(column)
    missing = [cell.strip().casefold() in MISSING_WORDS for cell in cells]
    said = [cell.strip() for cell, gone in zip(cells, missing, strict=True) if not gone]
    if said and not any(_CODE.fullmatch(cell) for cell in said):
        numbers = [
            None if gone else _number(cell, decimal) for cell, gone in zip(cells, missing, strict=True)
        ]
        if sum(x is not None for x in numbers) == len(said):
            values = np.array([*(np.nan if x is None else x for x in numbers), np.nan])
            read = _whole(pd.Series(values[codes], column.index))
            return read, _note_missing(column, cells, missing, codes)
    if (
        said
        and {cell.casefold() for cell in said} <= {"true", "false"}
        and codes.min() >= 0
        and not any(missing)
    ):
        return pd.Series(
            np.array([cell.strip().casefold() == "true" for cell in cells])[codes], column.index
        ), []
    return column.astype(TEXT_TYPE), []


def settle(column: pd.Series) -> pd.Series:
    """Return a column of mixed Python objects with one type: numbers, true and false, dates, or text.

    Columns that have a type keep it; empty text is missing everywhere.
    """
    if isinstance(column.dtype, pd.StringDtype):
        return column.mask(column == "").astype(TEXT_TYPE)
    if column.dtype != object:
        return column
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in {"integer", "floating", "mixed-integer-float", "decimal", "empty"}:
        return _whole(pd.Series([_number(cell, ".") for cell in column], column.index, dtype="float64"))
    if (kind == "boolean" and column.notna().all()) or kind in {
        "date",
        "datetime",
        "datetime64",
        "timedelta",
    }:
        return column.infer_objects()
    return _text([_describe(cell) for cell in column], np.arange(len(column)), column.index)


def is_set(column: pd.Series) -> NDArray[np.bool_]:
    """Return which cells mean yes: true, 1, yes, or a reason in words; not 0, false, no or an empty cell."""
    return _each(column, _says_yes).astype(bool)


def label(value: Any) -> str | None:
    """Return the text that stands for a value, or None for an empty one.

    >>> label(3.0), label("3.0"), label(2.5), label(" a"), label("")
    ('3', '3.0', '2.5', ' a', None)
    """
    if isinstance(value, str):
        return str(value) or None
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, Real | Decimal) and not isinstance(value, Integral):
        return f"{value:.0f}" if float(value).is_integer() else str(value)
    if isinstance(value, date):
        return value.isoformat().removesuffix("T00:00:00")
    return str(value)


def _number(value: Any, decimal: str) -> float | None:
    """Return the number that a cell holds or spells, or None."""
    if isinstance(value, str):
        text = value.strip()
        if decimal != "." and "." not in text:
            text = text.replace(decimal, ".", 1)
        return float(text) if _NUMBER.fullmatch(text) else None
    return float(value) if isinstance(value, Real | Decimal | np.bool_) else None


def _cast(column: pd.Series) -> pd.Series | None:
    """Return plain number texts as numbers, or None where the cells must be looked at one by one."""
    if not isinstance(column.dtype, pd.StringDtype):
        return None
    texts = pa.array(column, type=pa.large_string(), from_pandas=True)
    if len(texts) == texts.null_count or pc.any(pc.match_substring_regex(texts, _ODD_TEXT)).as_py():
        return None
    try:
        values = pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    return pd.Series(values, column.index, name=column.name)


def _is_numeric(column: pd.Series) -> bool:
    kinds = pd.api.types
    return kinds.is_integer_dtype(column) or kinds.is_float_dtype(column) or kinds.is_bool_dtype(column.dtype)


def _whole(column: pd.Series) -> pd.Series:
    """Return numbers as int64 where all are whole, else as float64: every format gives the same table."""
    if column.dtype == np.int64:
        return column
    if pd.api.types.is_signed_integer_dtype(column) and not column.hasnans:
        return column.astype("int64")
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    with np.errstate(invalid="ignore"):
        whole = bool(np.all((values == np.floor(values)) & (np.abs(values) < LARGEST_EXACT)))
    return pd.Series(values.astype(np.int64) if whole else values, column.index, name=column.name)


def _check_finite(ratings: pd.Series) -> pd.Series:
    infinite = np.isinf(ratings.to_numpy(dtype=np.float64))
    if infinite.any():
        row = int(ratings.index[int(infinite.argmax())]) + 1
        raise BadRatings(
            f"The rating in row {row} is infinite ({int(infinite.sum())} such in all; rows count from 1 "
            "below the header). A rating must be finite: correct it, or leave the cell empty."
        )
    return ratings


def _note_missing(
    column: pd.Series, cells: list[Any], missing: list[bool], codes: NDArray[np.intp]
) -> list[str]:
    """Return the note that counts the words read as missing; empty cells need no note."""
    words = [position for position, gone in enumerate(missing) if gone and cells[position].strip()]
    count = int(np.isin(codes, words).sum())
    listed = ", ".join(sorted({repr(cells[position].strip()) for position in words}))
    return [f"{column.name}: {count} cell{'s' * (count > 1)} {listed} read as missing"] if count else []


def _says_yes(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().casefold() not in FALSE_WORDS
    return bool(value)


def _describe(cell: Any) -> str | None:
    """Return the text of one cell of a mixed column; lists and objects become JSON text."""
    if isinstance(cell, dict | list | tuple | np.ndarray):
        return json.dumps(
            cell, ensure_ascii=False, default=lambda x: x.tolist() if hasattr(x, "tolist") else str(x)
        )
    return None if pd.isna(cell) else label(cell)


def _each(column: pd.Series, change: Callable[[Any], Any]) -> NDArray[np.object_]:
    """Return each cell converted, once for each distinct one; missing cells give None."""
    codes, cells = _factorise(column)
    return _take([change(cell) for cell in cells], codes)


def _factorise(column: pd.Series) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the number of each cell (-1 where missing) and the distinct cells."""
    wrapped: Any = column.array  # quicker than the column
    array = wrapped.to_numpy() if isinstance(wrapped, pd.arrays.NumpyExtensionArray) else wrapped
    try:
        codes, cells = pd.factorize(array)
    except TypeError:
        raise BadRatings(
            f"Column {column.name!r} holds lists or objects, where each cell must hold one value. {IMPORT}"
        ) from None
    if isinstance(cells, pd.Categorical):
        names = cells.categories.tolist()
        return codes, [names[place] for place in cells.codes.tolist()]
    return codes, cells.tolist() if isinstance(column.dtype, pd.StringDtype) else list(cells)


def _take(values: list[Any], codes: NDArray[np.intp]) -> NDArray[np.object_]:
    table = np.empty(len(values) + 1, dtype=object)  # the last, which -1 picks, stays None
    table[:-1] = values
    return table[codes]


def _text(names: Sequence[str | None], codes: NDArray[np.intp], index: pd.Index) -> pd.Series:
    """Return the text of each number, none for -1, as a column; pandas would look at each cell first."""
    kind: Any = TEXT_TYPE
    table = pa.array([*names, None], type=pa.large_string())
    texts = table.take(pa.array(np.where(codes < 0, len(names), codes)))
    return pd.Series(kind.__from_arrow__(texts), index, copy=False)


def _shorten(text: Any) -> str:
    whole = repr(str(text))
    return whole if len(whole) <= 40 else whole[:38] + "…'"
