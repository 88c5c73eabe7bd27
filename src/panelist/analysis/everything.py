"""A ratings table with nothing set aside yet: what is a check, what was excluded, and the hash of it all.

``read_ratings`` leaves out checks and excluded rows at once, which is right for one analysis; a report must
say what was left out and what would follow from the rest.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from panelist.core.cells import is_set, label, read_other_text, read_ratings_column
from panelist.core.columns import IDENTIFIERS, name_columns
from panelist.core.ratings import SET_ASIDE, Ratings, read_ratings
from panelist.core.readers import Raw, read_table

_HIDDEN = {name: f"{name} (marked)" for name in SET_ASIDE}


@dataclass(frozen=True, eq=False)
class Everything:
    """All rows; ``check`` and ``excluded`` hold each row's check and reason, empty where there is none."""

    ratings: Ratings
    check: NDArray[np.object_]
    excluded: NDArray[np.object_]
    hash: str
    hash_of: str


def read_everything(source: Any, columns: Mapping[str, str] | None = None) -> Everything:
    """Return all rows of a file, a frame or a Ratings, with the marks of those that do not count."""
    notes: tuple[str, ...] = ()
    names: Mapping[str, str] = {}
    if isinstance(source, Ratings):
        frame, origin, notes, names = source.frame, source.source, source.notes, source.names
        columns = {new: names.get(old, old) for new, old in (columns or {}).items()}
    elif isinstance(source, str | PathLike):
        raw, origin = read_table(Path(source)), Path(source).name
        notes = raw.notes
        frame, columns = _hide_marks(raw.frame, columns)
        if not raw.typed:
            frame, found = _read_text(frame, raw, columns)
            notes = (*notes, *found)
    else:
        frame, origin = source, ""
    if isinstance(frame, pd.DataFrame):
        frame, columns = _hide_marks(frame, columns)
    else:
        frame, columns = _hide_marks_elsewhere(frame, columns)
    ratings = read_ratings(frame, columns or None)
    fresh = [note for note in ratings.notes if note not in notes]
    ratings = replace(
        ratings,
        source=origin or ratings.source,
        notes=(*notes, *fresh),
        names=dict(names) | dict(ratings.names),
    )
    hash_, hash_of = _hash(source, ratings.frame)
    check, excluded = (_marks(ratings.frame, _HIDDEN[name]) for name in ("check", "excluded"))
    kept = ratings.frame.drop(columns=[name for name in _HIDDEN.values() if name in ratings.frame])
    return Everything(replace(ratings, frame=kept), check, excluded, hash_, hash_of)


def _hide_marks(
    frame: pd.DataFrame, columns: Mapping[str, str] | None
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the frame with the marks under names that nobody sets aside, and the mapping without them."""
    hidden = _find_marks([str(name) for name in frame.columns], columns)
    return frame.rename(columns=hidden), _without_marks(columns)


def _hide_marks_elsewhere(frame: Any, columns: Mapping[str, str] | None) -> tuple[Any, dict[str, str]]:
    """Return the same for a frame of another library; what is none is left to ``read_ratings`` to refuse."""
    found = nw.from_native(frame, pass_through=True)
    if not isinstance(found, nw.DataFrame | nw.LazyFrame):
        return frame, dict(columns or {})
    hidden = _find_marks(found.collect_schema().names(), columns)
    return found.rename(hidden).to_native(), _without_marks(columns)


def _find_marks(present: list[str], columns: Mapping[str, str] | None) -> dict[str, str]:
    if len(set(present)) < len(present):
        return {}  # read_ratings says what is wrong
    renamed = name_columns(present, columns)
    return {name: _HIDDEN[new] for name in present if (new := renamed.get(name, name)) in _HIDDEN}


def _without_marks(columns: Mapping[str, str] | None) -> dict[str, str]:
    return {new: old for new, old in (columns or {}).items() if new not in _HIDDEN}


def _read_text(
    frame: pd.DataFrame, raw: Raw, columns: Mapping[str, str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return a table of text cells with its numbers read, as ``read_ratings`` reads those of a file."""
    present = [str(name) for name in frame.columns]
    if len(set(present)) < len(present):
        return frame, ()
    renamed = name_columns(present, columns or None)
    read, notes = {}, list[str]()
    for name in present:
        new = renamed.get(name, name)
        if new in IDENTIFIERS or name in _HIDDEN.values():
            read[name], found = frame[name], list[str]()
        elif new == "rating":
            read[name], found = read_ratings_column(frame[name], raw.decimal)
        else:
            read[name], found = read_other_text(frame[name], raw.decimal)
        notes += found
    return pd.DataFrame(read, index=frame.index), tuple(notes)


def _marks(frame: pd.DataFrame, name: str) -> NDArray[np.object_]:
    marks = np.full(len(frame), "", dtype=object)
    if name in frame:
        here = is_set(frame[name])
        marks[here] = [label(value) or "" for value in frame[name][here]]
    return marks


def _hash(source: Any, frame: pd.DataFrame) -> tuple[str, str]:
    if isinstance(source, str | PathLike):
        path = Path(source)
        return hashlib.sha256(path.read_bytes()).hexdigest(), f"the file {path.name}"
    text = frame.to_csv(index=False, lineterminator="\n")
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), "the table as CSV"
