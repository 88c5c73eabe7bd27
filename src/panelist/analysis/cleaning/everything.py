"""A ratings table with nothing set aside yet: what is a check, what was excluded, and the hash of it all.

``read_ratings`` leaves out checks and excluded rows at once, which is right for one analysis; a report must
say what was left out and what the results would be with it.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from panelist.core.errors import BadRatings
from panelist.core.tables.cells import is_set, label, read_other_text, read_ratings_column
from panelist.core.tables.columns import IDENTIFIERS, name_columns
from panelist.core.tables.ratings import SET_ASIDE, Ratings, find_texts, hide_mark, read_ratings
from panelist.core.tables.readers import Raw, read_table
from panelist.core.tables.review import check_drops, review_rows

_HIDDEN = {name: hide_mark(name) for name in SET_ASIDE}


@dataclass(frozen=True, eq=False)
class Everything:
    """All rows; ``check`` and ``excluded`` hold each row's check and reason, empty where there is none."""

    ratings: Ratings
    check: NDArray[np.object_]
    excluded: NDArray[np.object_]
    hash: str
    hash_of: str
    from_file: bool


def read_everything(
    source: Any, columns: Mapping[str, str | None] | None = None, *, drop: str | Iterable[str] = ()
) -> Everything:
    """Return all rows of a file, a frame or a Ratings, with the marks of those that do not count.

    ``drop`` leaves out rows that count, as in ``read_ratings``.
    """
    asked = check_drops(drop)
    notes: tuple[str, ...] = ()
    names: Mapping[str, str] = {}
    absent: frozenset[str] = frozenset()
    if isinstance(source, Ratings):
        frame, origin, notes, names = source.frame, source.source, source.notes, source.names
        columns = {new: names.get(old or "", old) for new, old in (columns or {}).items()}
        absent = source.absent
    elif isinstance(source, str | PathLike):
        raw, origin = read_table(Path(source)), Path(source).name
        notes = raw.notes
        frame, columns = _hide_marks(raw.frame, columns)
        frame, found = _read_cells(frame, raw, columns, asked)
        notes = (*notes, *found)
    else:
        frame, origin = source, ""
    if isinstance(frame, pd.DataFrame):
        frame, columns = _hide_marks(frame, columns)
        if isinstance(source, pd.DataFrame) and isinstance(frame.index, pd.RangeIndex):
            frame, notes = _read_cells(frame, Raw(frame), columns, asked)
    else:
        frame, columns = _hide_marks_elsewhere(frame, columns)
    ratings = read_ratings(frame, columns or None, drop=asked & {"invalid"}, review=False)
    hash_, hash_of = _hash(source, ratings.frame)
    check, excluded = (_marks(ratings.frame, _HIDDEN[name]) for name in ("check", "excluded"))
    whole = ratings.frame.drop(columns=[name for name in _HIDDEN.values() if name in ratings.frame])
    left, said = _review(whole, (check == "") & (excluded == ""), asked)
    first = [note for note in said if note not in notes]
    rest = [note for note in ratings.notes if note not in notes]
    ratings = replace(
        ratings,
        frame=whole[left].reset_index(drop=True),
        source=origin or ratings.source,
        notes=(*first, *notes, *rest),
        names=dict(names) | dict(ratings.names),
        absent=ratings.absent | {name for name in absent if name not in whole},
    )
    from_file = isinstance(source, str | PathLike)
    return Everything(ratings, check[left], excluded[left], hash_, hash_of, from_file)


def _review(
    frame: pd.DataFrame, counts: NDArray[np.bool_], drop: frozenset[str]
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which rows stay, and what to know about those that count; the others all stay."""
    stay = np.ones(len(frame), dtype=bool)
    if not counts.any():
        return stay, []
    kept, notes = review_rows(frame[counts], drop)
    if kept is not None:
        if not kept.any():
            raise BadRatings(f"Nothing is left: {'; '.join(notes)}.")
        stay[np.flatnonzero(counts)[~kept]] = False
    return stay, notes


def _hide_marks(
    frame: pd.DataFrame, columns: Mapping[str, str | None] | None
) -> tuple[pd.DataFrame, dict[str, str | None]]:
    """Return the frame with the marks under names that are not set aside, and the mapping without them."""
    hidden = _find_marks([str(name) for name in frame.columns], columns)
    return frame.rename(columns=hidden), _without_marks(columns)


def _hide_marks_elsewhere(
    frame: Any, columns: Mapping[str, str | None] | None
) -> tuple[Any, dict[str, str | None]]:
    """Return the same for a frame of another library; anything else is left to ``read_ratings`` to refuse."""
    found = nw.from_native(frame, pass_through=True)
    if not isinstance(found, nw.DataFrame | nw.LazyFrame):
        return frame, dict(columns or {})
    hidden = _find_marks(found.collect_schema().names(), columns)
    return found.rename(hidden).to_native(), _without_marks(columns)


def _find_marks(present: list[str], columns: Mapping[str, str | None] | None) -> dict[str, str]:
    if len(set(present)) < len(present):
        return {}  # read_ratings says what is wrong
    renamed = name_columns(present, columns, unsure={})
    return {name: _HIDDEN[new] for name in present if (new := renamed.get(name, name)) in _HIDDEN}


def _without_marks(columns: Mapping[str, str | None] | None) -> dict[str, str | None]:
    return {new: old for new, old in (columns or {}).items() if new not in _HIDDEN}


def _read_cells(
    frame: pd.DataFrame, raw: Raw, columns: Mapping[str, str | None], drop: frozenset[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return a file's table with its numbers read, as ``read_ratings`` reads those of a file."""
    present = [str(name) for name in frame.columns]
    if len(set(present)) < len(present):
        return frame, ()
    renamed = name_columns(present, columns or None, texts=find_texts(frame, columns), unsure={})
    where = {renamed.get(name, name): name for name in present}
    read, notes = {}, list[str]()
    for name in present:
        new = renamed.get(name, name)
        found = list[str]()
        if new == "rating":
            groups = frame[where["criterion"]] if "criterion" in where else None
            read[name], found = _read_rating(frame, name, raw.decimal, groups, "invalid" in drop)
        elif raw.typed or new in IDENTIFIERS or name in _HIDDEN.values():
            read[name] = frame[name]
        else:
            read[name], found = read_other_text(frame[name], raw.decimal)
        notes += found
    return pd.DataFrame(read, index=frame.index), tuple(notes)


def _read_rating(
    frame: pd.DataFrame, name: str, decimal: str, groups: "pd.Series[Any] | None", drop: bool
) -> tuple["pd.Series[Any]", list[str]]:
    """Return the ratings; what was answered to checks may be words, and does not count as ratings."""
    aside = np.zeros(len(frame), dtype=bool)
    for mark in _HIDDEN.values():
        if mark in frame:
            aside |= is_set(frame[mark])
    column = frame[name]
    here = column[~aside] if aside.any() and not aside.all() else column
    groups = None if groups is None else groups[here.index]
    read, notes = read_ratings_column(here, decimal, name=name, groups=groups, drop=drop)
    if len(here) < len(column):
        rest = column[aside]
        if pd.api.types.is_numeric_dtype(read):
            rest = pd.to_numeric(rest.astype(object), errors="coerce")
        read = pd.concat([read, rest.astype(object) if read.dtype == object else rest]).loc[column.index]
    return read, notes


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
