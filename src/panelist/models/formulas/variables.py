"""Columns of a table as models see them: labels with sorted levels, or numbers."""

import re
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from panelist.core.errors import BadModel, BadRatings
from panelist.core.prose import quoted
from panelist.numerics.arrays import Bools, Floats, Longs

_WHOLE = re.compile(r"-?[0-9]{1,18}")

_known: dict[int, tuple[Any, "Labels"]] = {}  # by identity: what was read from a column, while it lives

# Columns that name things: categorical even where the names are numbers.
IDENTIFIERS = frozenset(
    (
        *("rater", "item", "system", "turn", "criterion", "group", "wave", "list", "occasion", "trial"),
        "text_type",
    )
)


@dataclass(frozen=True, eq=False)
class Labels:
    """A categorical column: ``codes`` point into ``levels``; -1 where nothing was filled in.

    ``whole`` says that nothing is missing and every level occurs; False that it is not known.
    """

    codes: Longs
    levels: tuple[str, ...]
    whole: bool = False

    @property
    def missing(self) -> Bools:
        """Where nothing was filled in."""
        return self.codes < 0

    def at(self, rows: Longs) -> "Labels":
        """Return the column for these rows, with all its levels."""
        return Labels(self.codes[rows], self.levels)


@dataclass(frozen=True, eq=False)
class Numbers:
    """A numeric column; nan where nothing was filled in. ``whole``: as for labels, and all are finite."""

    floats: Floats
    whole: bool = False

    @property
    def missing(self) -> Bools:
        """Where nothing was filled in."""
        return np.isnan(self.floats)

    def at(self, rows: Longs) -> "Numbers":
        """Return the column for these rows."""
        return Numbers(self.floats[rows])


Variable = Labels | Numbers


def open_column(frame: pd.DataFrame, name: str) -> Any:
    """Return a column to read from: its array where that is of numbers or Arrow's text, else the Series.

    Making a Series takes longer than reading a few hundred numbers from it.
    """
    look = getattr(frame, "_get_column_array", None)  # pandas keeps it for such uses, as a private attribute
    place = frame.columns.get_loc(name) if look is not None else None
    if look is not None and isinstance(place, int):
        array = look(place)
        if hasattr(array, "__arrow_array__") or (isinstance(array, np.ndarray) and array.dtype.kind in "iuf"):
            return array
    return frame[name]


def read_variable(series: Any, identifier: bool) -> Variable:
    """Return the column as numbers if it holds numbers and names nothing, else as labels."""
    if not identifier and _holds_numbers(series):
        return Numbers(as_floats(series))
    return read_labels(series)


def read_labels(series: Any) -> Labels:
    """Return a Series, or its array, as labels: a Categorical keeps its order, numbers and text are sorted.

    >>> read_labels(pd.Series(["10", "9", None, "10"]))
    Labels(codes=array([ 1,  0, -1,  1]), levels=('9', '10'), whole=False)
    """
    array: Any = getattr(series, "array", series)
    if isinstance(array, pd.Categorical):
        levels = tuple(label(value) for value in array.categories)
        if len(set(levels)) == len(levels):
            return Labels(np.asarray(array.codes, dtype=np.int64), levels)
        array = np.asarray(array, dtype=object)
    if hasattr(array, "__arrow_array__"):
        return _read_once(array)
    return _sort_labels(array)


def _read_once(array: Any) -> Labels:
    """Return the labels of a column that Arrow holds, which cannot change: it is read once for all fits."""
    held = array.__arrow_array__()
    found = _known.get(id(held))
    if found is None or found[0]() is not held:
        # Fits in other threads add to it meanwhile, so a copy is searched.
        for key in [key for key, (owner, _) in list(_known.items()) if owner() is None]:
            _known.pop(key, None)
        labels = _sort_labels(array)
        labels.codes.flags.writeable = False  # every fit that asks gets the same
        found = _known[id(held)] = (weakref.ref(held), labels)
    return found[1]


def _sort_labels(array: Any) -> Labels:
    if isinstance(array, pd.arrays.NumpyExtensionArray):
        array = array.to_numpy()  # pandas 2 deprecates the wrapper here
    codes, values = pd.factorize(array)
    found = [label(value) for value in np.asarray(values, dtype=object).tolist()]
    levels = tuple(sorted_levels(set(found)))
    place = {level: code for code, level in enumerate(levels)}
    # The -1 of a missing value picks the last entry, which is -1 again.
    ranks = np.array([place[level] for level in found] + [-1], dtype=np.int64)
    return Labels(ranks[codes], levels, bool(len(codes)) and int(codes.min()) >= 0)


def sorted_levels(levels: set[str]) -> list[str]:
    """Return the levels in the order that a reader expects: 2 before 10 if all are whole numbers."""
    if all(map(_WHOLE.fullmatch, levels)):
        return sorted(levels, key=lambda level: (int(level), level))
    return sorted(levels)


def label(value: object) -> str:
    """Return a value as a level: 4.0 is '4'.

    >>> label(4.0), label(3.5), label(True), label("a")
    ('4', '3.5', 'True', 'a')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def drop_unused(labels: Labels, name: str) -> tuple[Labels, str]:
    """Return the column without the levels that no row has, and a note about them ('' if there are none)."""
    if labels.whole:
        return labels, ""
    counts = np.bincount(labels.codes, minlength=len(labels.levels))
    if np.count_nonzero(counts) == len(counts):
        return labels, ""
    used = counts > 0
    unused = [level for level, is_used in zip(labels.levels, used, strict=True) if not is_used]
    levels = tuple(level for level, is_used in zip(labels.levels, used, strict=True) if is_used)
    note = f"{name}: no row has {quoted(unused)}, left out of its levels"
    return Labels((np.cumsum(used) - 1)[labels.codes], levels), note


def match_levels(series: "pd.Series[Any]", name: str, levels: Sequence[str]) -> Labels:
    """Return a column of new data as labels with these levels, or raise BadModel about one never seen."""
    new = read_labels(series)
    if new.missing.any():
        raise BadModel(f"{name} is missing in {_rows(new.missing)} of the new data. Fill it in.")
    place = {level: code for code, level in enumerate(levels)}
    strange = [level for level in new.levels if level not in place]
    if strange:
        raise BadModel(
            f"{name} has {quoted(strange)} in the new data, which the model has not seen. "
            f"It knows {quoted(levels, 12)}."
        )
    return Labels(
        np.array([place[level] for level in new.levels] or [0], dtype=np.int64)[new.codes], tuple(levels)
    )


def match_numbers(series: "pd.Series[Any]", name: str) -> Numbers:
    """Return a column of new data as numbers, or raise BadModel if it is not."""
    if not _holds_numbers(series):
        raise BadModel(f"{name} is text in the new data, and the model needs numbers there.")
    numbers = Numbers(as_floats(series))
    if numbers.missing.any():
        raise BadModel(f"{name} is missing in {_rows(numbers.missing)} of the new data. Fill it in.")
    refuse_infinite(numbers, name)
    return numbers


def refuse_infinite(variable: Variable, name: str) -> None:
    """Raise BadRatings if a number is infinite."""
    if (
        isinstance(variable, Numbers)
        and not variable.whole
        and np.count_nonzero(infinite := np.isinf(variable.floats))
    ):
        raise BadRatings(
            f"{name} is infinite in {_rows(infinite)}. A model needs finite numbers: correct these rows or "
            "leave them empty."
        )


def as_pandas(variable: Variable) -> Any:
    """Return the column as pandas and formulaic take it."""
    if isinstance(variable, Numbers):
        return variable.floats
    return pd.Categorical.from_codes(variable.codes, categories=pd.Index(variable.levels))


def _rows(mask: Bools) -> str:
    places = np.flatnonzero(mask)
    first = ", ".join(str(place + 1) for place in places[:5])
    return (
        f"row {first}" if len(places) == 1 else f"{len(places):,} rows ({first}{', …' * (len(places) > 5)})"
    )


def _holds_numbers(series: Any) -> bool:
    kind = getattr(series.dtype, "kind", "O")
    if kind in "iuf" and not isinstance(series.dtype, pd.CategoricalDtype):
        return True
    # A column of Python numbers keeps the dtype object when it was put together by hand.
    return bool(series.dtype == object) and pd.api.types.infer_dtype(series, skipna=True) in (
        "integer",
        "floating",
        "mixed-integer-float",
        "decimal",
    )


def as_floats(series: Any) -> Floats:
    """Return a column of numbers, nan where nothing was filled in."""
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iuf":
        return np.asarray(series).astype(np.float64)
    return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)
