"""Frames of any library as a pandas frame with plain column names and numbered rows."""

import weakref
from collections.abc import Sequence
from operator import is_
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from panelist.core.errors import BadRatings
from panelist.core.tables.readers import Raw


def read_frame(source: Any) -> tuple[Raw, str]:
    """Return a copy of a frame of any library that narwhals knows, and what to call it."""
    if isinstance(source, pd.DataFrame):
        frame = copy_apart(source)
        origin = "a pandas frame"
        if any(name is not None for name in frame.index.names):
            frame = frame.reset_index(drop=set(frame.index.names) <= set(frame.columns))
    else:
        frame, origin = _convert_frame(source)
    if isinstance(frame.columns, pd.MultiIndex):
        raise BadRatings(
            "The frame has column names on several levels; a ratings table has one name per column."
        )
    if frame.shape[1] == 0 or len(frame) == 0:
        shape = f"{len(frame)} rows and {frame.shape[1]} columns"
        raise BadRatings(f"The frame is empty ({shape}); a ratings table has one row per rating.")
    if not all(isinstance(name, str) for name in frame.columns):
        frame.columns = pd.Index([str(name) for name in frame.columns])
    return Raw(number_rows(frame)), origin


def copy_apart(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a copy that no change reaches; since version 3 pandas copies the cells when they are changed."""
    return frame.copy(deep=int(pd.__version__.split(".")[0]) < 3)


def number_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with its rows numbered from 0; one that already is so numbered is not copied."""
    index = frame.index
    plain = isinstance(index, pd.RangeIndex) and (index.start, index.step, index.name) == (0, 1, None)
    return frame if plain else frame.reset_index(drop=True)


def _convert_frame(source: Any) -> tuple[pd.DataFrame, str]:
    import narwhals as nw  # takes a while, and files and pandas frames do without

    found = nw.from_native(source, pass_through=True)
    if isinstance(found, nw.LazyFrame):
        found = found.collect()
    if not isinstance(found, nw.DataFrame):
        raise BadRatings(
            f"An object of type {type(source).__name__} is not a ratings table. Give the path of a file "
            "(CSV, TSV, JSONL, Parquet, Excel), or a pandas, polars or pyarrow frame."
        )
    many = len(found) > MOST_ROWS  # for few rows, starting threads takes longer than the rows
    schema = found.schema
    texts = [name for name, kind in schema.items() if isinstance(kind, nw.Categorical)]
    table = _spell_out(found.to_arrow(), texts)
    frame = table.to_pandas(integer_object_nulls=True, use_threads=many)
    for name, kind in schema.items():
        if isinstance(kind, nw.Enum):  # what polars calls an ordered categorical
            frame[name] = frame[name].astype(pd.CategoricalDtype(list(kind.categories), ordered=True))
    return frame, f"a {type(source).__module__.split('.')[0]} frame"


def _spell_out(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return the table with unordered categories of text as text, which they are read as in any case."""
    for name in names:
        place = table.schema.get_field_index(name)
        kind = table.schema.field(place).type
        if pa.types.is_dictionary(kind) and pa.types.is_large_string(kind.value_type) and not kind.ordered:
            table = table.set_column(place, name, table.column(place).cast(kind.value_type))
    return table


MOST_FRAMES = 4
MOST_ROWS = 100_000  # frames worth keeping: for larger ones reading costs nothing compared with the fit


class _Reading(NamedTuple):
    frame: "weakref.ref[pd.DataFrame]"
    columns: list[Any]
    cells: list[Any]
    made: Any


_kept: dict[int, _Reading] = {}


def recall(frame: pd.DataFrame) -> Any:
    """Return what was made from this very frame; None where that is not known or the frame has changed."""
    found = _kept.get(id(frame))
    if found is None or found.frame() is not frame or found.columns != list(frame.columns):
        return None
    cells = _list_cells(frame)
    if cells is None or not all(map(_is_same, found.cells, cells)):
        return None
    return found.made


def remember(frame: pd.DataFrame, made: Any) -> None:
    """Keep what was made from a frame, and forget frames that are gone or old."""
    if len(frame) > MOST_ROWS:
        return
    cells = _list_cells(frame)
    if cells is None:
        return
    for key in [key for key, reading in list(_kept.items()) if reading.frame() is None]:
        _kept.pop(key, None)
    while len(_kept) >= MOST_FRAMES:
        _kept.pop(next(iter(_kept)), None)
    _kept[id(frame)] = _Reading(weakref.ref(frame), list(frame.columns), cells, made)


def _list_cells(frame: pd.DataFrame) -> list[Any] | None:
    """Return the content of each column in a form that can be compared, None where it cannot be."""
    look = getattr(frame, "_get_column_array", None)  # pandas keeps it for such uses, as a private attribute
    index = frame.index
    if look is None or not isinstance(index, pd.RangeIndex) or index.name is not None:
        return None
    cells: list[Any] = []
    for place in range(frame.shape[1]):
        array = look(place)
        if isinstance(array, np.ndarray) and array.dtype == object:
            cells.append(array.tolist())
        elif isinstance(array, np.ndarray) and array.dtype.kind in "iufb":
            cells.append((array.dtype.str, array.tobytes()))
        elif hasattr(array, "__arrow_array__"):
            cells.append(array.__arrow_array__())
        else:
            return None
    return cells


def _is_same(before: Any, now: Any) -> bool:
    if isinstance(before, tuple):
        return bool(before == now)
    if isinstance(before, list):
        return isinstance(now, list) and len(before) == len(now) and all(map(is_, before, now))
    return before is now
