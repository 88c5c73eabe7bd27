"""Frames of one text column and some columns of numbers, put together without a look at every column."""

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.models.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd


def make_frame(
    label: str, words: tuple[str, ...], columns: tuple[str, ...], numbers: Floats
) -> "pd.DataFrame":
    """Return a frame: ``words`` in the column ``label``, and ``numbers`` (columns × rows), which it keeps."""
    make = _find_maker()
    if make is None or not words:
        import pandas as pd

        return pd.DataFrame({label: list(words), **dict(zip(columns, numbers, strict=True))})
    text, header, index, places = _make_text(label, words, columns)
    # A copy of the text and views of the names: what becomes of this frame must not reach the next.
    blocks = [(text.copy(), places[0]), (numbers, places[1])]
    frame: pd.DataFrame = make(blocks, index.view(), header.view())
    return frame


@lru_cache(maxsize=256)
def _make_text(label: str, words: tuple[str, ...], columns: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the text column, and the names of columns and rows, as pandas holds them, and the places."""
    import pandas as pd

    frame = pd.DataFrame({label: list(words), **{name: np.zeros(len(words)) for name in columns}})
    places = (np.array([0]), np.arange(1, len(columns) + 1))
    return frame[label].array, frame.columns, frame.index, places


@lru_cache(maxsize=1)
def _find_maker() -> Any:
    """Return pandas' own way from arrays to a frame, which versions before 3 do not have."""
    try:
        return import_module("pandas.api.internals").create_dataframe_from_blocks
    except ImportError:
        return None
