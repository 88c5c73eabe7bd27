"""Frames that were read before: one that has not changed since is not read again.

Whoever fits ten models to a frame hands it over ten times, and reading it takes longer than a small fit. So
what became of the last few frames is kept as long as the frames themselves. A frame is taken for unchanged
only where every cell is: columns that Arrow holds cannot change, numbers are compared, and objects must be
the very same ones.
"""

import weakref
from operator import is_
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

MOST_FRAMES = 4
MOST_ROWS = 100_000  # of frames worth keeping: reading more is nothing beside the fit


class _Reading(NamedTuple):
    frame: "weakref.ref[pd.DataFrame]"
    columns: list[Any]
    cells: list[Any]
    made: Any


_kept: dict[int, _Reading] = {}


def recall(frame: pd.DataFrame) -> Any:
    """Return what was made of this very frame, None where that is not known or the frame has changed."""
    found = _kept.get(id(frame))
    if found is None or found.frame() is not frame or found.columns != list(frame.columns):
        return None
    cells = _list_cells(frame)
    if cells is None or not all(map(_is_same, found.cells, cells)):
        return None
    return found.made


def remember(frame: pd.DataFrame, made: Any) -> None:
    """Keep what was made of a frame, and forget frames that are gone, or that came long ago."""
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
    look = getattr(frame, "_get_column_array", None)  # pandas keeps it for such uses, and to itself
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
