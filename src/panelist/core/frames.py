"""Frames of any library as a pandas frame with plain column names and numbered rows."""

from typing import Any

import narwhals as nw
import pandas as pd

from panelist.core.errors import BadRatings
from panelist.core.readers import Raw


def read_frame(source: Any) -> tuple[Raw, str]:
    """Return a copy of a frame of any library that narwhals knows, and what to call it."""
    if isinstance(source, pd.DataFrame):
        frame = source.copy()
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


def number_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with its rows numbered from 0; one that has them so is not copied."""
    index = frame.index
    plain = isinstance(index, pd.RangeIndex) and (index.start, index.step, index.name) == (0, 1, None)
    return frame if plain else frame.reset_index(drop=True)


def _convert_frame(source: Any) -> tuple[pd.DataFrame, str]:
    found = nw.from_native(source, pass_through=True)
    if isinstance(found, nw.LazyFrame):
        found = found.collect()
    if not isinstance(found, nw.DataFrame):
        raise BadRatings(
            f"A {type(source).__name__} is not a ratings table. Give the path of a file (CSV, TSV, JSONL, "
            "Parquet, Excel), or a pandas, polars or pyarrow frame."
        )
    frame = found.to_arrow().to_pandas(integer_object_nulls=True)
    for name, kind in found.schema.items():
        if isinstance(kind, nw.Enum):  # an ordered categorical in polars' words
            frame[name] = frame[name].astype(pd.CategoricalDtype(list(kind.categories), ordered=True))
    return frame, f"a {type(source).__module__.split('.')[0]} frame"
