"""The ratings table: one long table, one row per rating, whatever file or frame it came from."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from panelist.core.display.result import NamedValues, Part, Result, json_object
from panelist.core.errors import IMPORT, BadRatings, did_you_mean, list_shortly, nearest, suggest
from panelist.core.prose import listing
from panelist.core.tables.cells import (
    code_identifiers,
    holds_texts,
    is_set,
    label,
    read_other_text,
    read_ratings_column,
    settle,
)
from panelist.core.tables.columns import (
    IDENTIFIERS,
    find_absent,
    find_role,
    name_columns,
    parse_columns,
    parse_where,
    say_rivals,
)
from panelist.core.tables.frames import copy_apart, number_rows, read_frame, recall, remember
from panelist.core.tables.readers import Raw, read_table
from panelist.core.tables.review import (
    Coded,
    check_drops,
    count_gaps,
    count_simulated,
    drop_unknown,
    review_rows,
)
from panelist.core.tables.writers import write_table

__all__ = ["Ratings", "parse_columns", "parse_where", "read_ratings", "write_ratings"]

SET_ASIDE = ("excluded", "check")
MAY_BE_EMPTY = ("group", "list")  # the columns of an export that not every study fills


@dataclass(frozen=True, eq=False)
class Ratings(Result):
    """A ratings table with our column names, and the record of how it was made.

    ``frame`` has the identifiers as text and ``rating`` as numbers wherever it holds numbers. ``names`` maps
    a column's name in the source to its name here; ``notes`` says what was renamed, left out or missing.
    ``absent`` are the columns that, as the user said, do not exist; ``unsure`` those for which there are
    several candidates.
    """

    frame: pd.DataFrame = field(repr=False)
    names: Mapping[str, str] = field(default_factory=dict)
    source: str = "a frame"
    notes: tuple[str, ...] = ()
    absent: frozenset[str] = frozenset()
    unsure: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria, sorted; none where the table has no such column."""
        return self.levels("criterion") if "criterion" in self.frame else ()

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, sorted; none where the table has no such column."""
        return self.levels("system") if "system" in self.frame else ()

    @property
    def n_simulated(self) -> int:
        """How many rows are by simulated raters, as their column ``simulated`` says."""
        return count_simulated(self.frame)

    def levels(self, column: str) -> tuple[str, ...]:
        """Return the distinct values of a column as text, sorted."""
        return tuple(
            sorted({label(value) or "" for value in self.frame[self.find(column)].dropna().unique()})
        )

    def find(self, name: str) -> str:
        """Return the frame's name for a column, given by its name in the source or by a synonym."""
        if name in self.frame:
            return name
        for other in (self.names.get(name), find_role(name)):
            if other is not None and other in self.frame:
                return other
        raise BadRatings(self._lacks([name]))

    def require(self, *columns: str) -> None:
        """Raise BadRatings, with the columns that exist, unless the table has all these columns."""
        missing = []
        for name in columns:
            try:
                self.find(name)
            except BadRatings:
                missing.append(name)
        if missing:
            raise BadRatings(self._lacks(missing))

    def where(self, **equals: Any) -> "Ratings":
        """Return the rows in which every named column has the given value, or one of the given values.

        Values are compared as text, so ``where(list=3)`` and ``where(list="3")`` are the same.
        """
        kept = np.ones(len(self), dtype=bool)
        said = []
        for name, value in equals.items():
            values = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
            column = self.frame[self.find(name)]
            wanted = {_as_label(one, column) for one in values}
            known = {one: label(one) for one in column.dropna().unique()}
            if unknown := sorted(str(one) for one in wanted - set(known.values())):
                near = did_you_mean(unknown[0], (text for text in known.values() if text is not None))
                raise BadRatings(f"No row of {self.source} has {name} {unknown[0]!r}. {near}")
            kept &= column.isin([one for one, text in known.items() if text in wanted]).to_numpy()
            said.append(f"{name} is {' or '.join(str(one) for one in values)}")
        if not kept.any():
            raise BadRatings(f"No row of {self.source} has {' and '.join(said)} together.")
        if kept.all():
            return self
        note = f"{kept.sum()} of {len(self)} rows kept, where {' and '.join(said)}"
        return replace(self, frame=self.frame[kept].reset_index(drop=True), notes=(*self.notes, note))

    def only(self, criterion: str) -> "Ratings":
        """Return the rows of one criterion."""
        return self.where(criterion=criterion)

    def title(self) -> str:
        """Return the heading."""
        return f"Ratings from {self.source}"

    def parts(self) -> list[Part]:
        """Return the counts, the systems and criteria by name, and the notes."""
        rows = [("rows", str(len(self)))]
        for name in ("rater", "item"):
            if name in self.frame:
                rows.append((f"{name}s", str(self.frame[name].nunique())))
        for name, values in (("systems", self.systems), ("criteria", self.criteria)):
            if values:
                rows.append((name, f"{len(values)}: {_list_some(values)}"))
        if "rating" in self.frame:
            rows.append(("ratings", _describe_ratings(self.frame["rating"])))
        rows.append(("columns", ", ".join(self.frame.columns)))
        return [NamedValues([*rows, *(("note", note) for note in self.notes)])]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, names and notes; the table itself is written by write_ratings."""
        counts = {
            f"n_{name}s": self.frame[name].nunique() for name in ("rater", "item") if name in self.frame
        }
        whole = {"source": self.source, "n_rows": len(self), **counts, "systems": self.systems}
        whole |= {"criteria": self.criteria, "columns": list(self.frame.columns), "notes": self.notes}
        return json_object(whole)

    def _lacks(self, missing: list[str]) -> str:
        if rivals := self.unsure.get(missing[0]):
            return say_rivals(missing[0], rivals)
        names = f"column{'s' * (len(missing) > 1)} {listing(map(repr, missing), None)}"
        present = list_shortly(self.frame.columns, missing[0])
        texts = [str(name) for name in self.frame.columns if find_role(name) == "rating" != name]
        if missing[0] == "rating" and texts:
            present += f" ({' and '.join(map(repr, texts))} holds texts, and a text is not a rating)"
        hint = suggest(nearest(missing[0], [*self.frame.columns, *self.names]))
        return (
            f"{self.source} has no {names}; its columns are {present}.{hint} "
            f"Map one with --columns {missing[0]}=NAME (in Python: columns={{{missing[0]!r}: 'NAME'}}). "
            + IMPORT
        )


def read_ratings(
    source: Any,
    columns: Mapping[str, str | None] | None = None,
    *,
    drop: str | Iterable[str] = (),
    review: bool = True,
) -> Ratings:
    """Return the ratings table in a file, in a pandas, polars or other frame, or in a Ratings.

    ``columns`` says which column is what where the names do not: ``{"rater": "WorkerId"}``, or None for what
    the table does not have. Rows that are ``excluded`` or a ``check`` are set aside and counted in the notes.
    ``drop`` leaves out what is otherwise refused or kept with a note: "invalid" (words among numbers),
    "placeholders" (raters such as na, who are not people) and "duplicates" (copies of a row). The source is
    never modified. ``review=False`` does not look for such rows.
    """
    asked = check_drops(drop)
    if isinstance(source, Ratings):
        ratings = source if not columns else _rename_again(source, columns)
        return _drop_rows(ratings, asked) if asked else ratings
    if isinstance(source, str | PathLike):
        return _build(read_table(Path(source)), str(source), columns, asked, review)
    plain = isinstance(source, pd.DataFrame) and review and not columns and not asked
    made: Ratings | None = recall(source) if plain else None
    if made is None:
        made = _build(*read_frame(source), columns, asked, review)
        if plain:
            remember(source, made)
    # Changing the frame of one reading changes no other.
    return replace(made, frame=copy_apart(made.frame)) if plain else made


def write_ratings(ratings: Ratings, path: str | PathLike[str]) -> None:
    """Write the table into a file, whose ending determines the format; load_ratings reads it back."""
    unknown = "rater" in ratings.absent and "rater" not in ratings.frame
    write_table(ratings.frame.assign(rater=None) if unknown else ratings.frame, Path(path))


def _build(
    raw: Raw,
    origin: str,
    columns: Mapping[str, str | None] | None,
    drop: frozenset[str] = frozenset(),
    review: bool = True,
) -> Ratings:
    frame = raw.frame
    repeated = [str(name) for name, count in Counter(frame.columns).items() if count > 1]
    if repeated:
        raise BadRatings(
            f"{origin} has several columns called {', '.join(map(repr, repeated))}; rename all but one."
        )
    present = frame.columns.tolist()
    unsure: dict[str, tuple[str, ...]] = {}
    texts = find_texts(frame, columns)
    renamed = name_columns(present, columns, texts=texts, unsure=unsure)
    frame = frame.rename(columns=renamed) if renamed else frame
    names = {old: new for old, new in renamed.items() if not new.startswith(f"{old}_original")}
    notes = [*raw.notes, *(f"column {old} is read as {new}" for old, new in renamed.items())]
    notes += [f"column {name} holds texts, so it is not read as the rating" for name in texts]
    frame, unknown = drop_unknown(frame, notes)

    frame, aside = _set_aside(frame, origin)
    called = next((old for old, new in names.items() if new == "rating"), "rating")
    frame, found, coded = _read_cells(frame, raw, called, "invalid" in drop)
    here, judged = set(frame.columns.tolist()), _leave_checks(frame)
    gaps = [
        f"{name} is missing in {count} of {len(judged)} rows"
        for name in ("rating", *IDENTIFIERS)
        if name in here
        and (coded[name].n_missing if name in coded else frame["rating"].dtype != "int64")
        and (count := count_gaps(judged, name))
        and not (name in MAY_BE_EMPTY and count == len(judged))
    ]
    ratings = Ratings(
        number_rows(frame),
        names,
        origin,
        (*notes, *aside, *found, *gaps),
        unknown.union(find_absent(present, columns)),
        unsure,
    )
    return _drop_rows(ratings, drop, coded) if review else ratings


def find_texts(frame: pd.DataFrame, columns: Mapping[str, str | None] | None = None) -> list[str]:
    """Return the columns that could be the rating by their names but hold texts, of those not mapped."""
    mapped = set((columns or {}).values())
    return [
        name
        for name in frame.columns
        if name not in mapped
        and name.strip().casefold() != "rating"
        and find_role(name) == "rating"
        and holds_texts(frame[name])
    ]


def _drop_rows(ratings: Ratings, drop: frozenset[str], coded: Mapping[str, Coded] | None = None) -> Ratings:
    """Return the ratings with notes on what a reader should know, without the rows to leave out."""
    kept, notes = review_rows(ratings.frame, drop, coded)
    fresh = [note for note in notes if note not in ratings.notes]
    if kept is not None:
        if not kept.any():
            raise BadRatings(f"{ratings.source}: nothing is left, {'; '.join(notes)}.")
        ratings = replace(ratings, frame=ratings.frame[kept].reset_index(drop=True))
    return replace(ratings, notes=(*fresh, *ratings.notes)) if fresh else ratings


def _leave_checks(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are no answers to checks, which need not be about a system."""
    marks = hide_mark("check")
    return frame[frame[marks].isna() | (frame[marks] == "")] if marks in frame.columns else frame


def hide_mark(name: str) -> str:
    """Return what a column of marks is called while its rows are kept, to be set aside later."""
    return f"{name} (marked)"


def _set_aside(frame: pd.DataFrame, origin: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows that are neither excluded nor a check, and how many were, with their reasons."""
    notes = []
    total = len(frame)
    for name in SET_ASIDE:
        if name not in frame:
            continue
        out = is_set(frame[name])
        if not out.any():
            continue
        reasons = Counter(str(label(value)) for value in frame[name][out])
        listed = ", ".join(f"{reason!r} {count}" for reason, count in reasons.most_common(5))
        more = f" and {len(reasons) - 5} other reasons" if len(reasons) > 5 else ""
        notes.append(f"{out.sum()} of {total} rows set aside by their column {name} ({listed}{more})")
        frame = frame[~out]
    if total and frame.empty:
        raise BadRatings(
            f"{origin}: nothing is left, {'; '.join(notes)}. "
            "Rename these columns if they mean something else."
        )
    return frame, notes


def _read_cells(
    frame: pd.DataFrame, raw: Raw, called: str, drop: bool
) -> tuple[pd.DataFrame, list[str], dict[str, Coded]]:
    """Return the frame with every column in its type, what was found on the way, and names as numbers."""
    read, notes, changed = dict[str, Any](), list[str](), False
    coded: dict[str, Coded] = {}
    for name, column in frame.items():
        found: list[str] = []
        if name in IDENTIFIERS:
            cells, codes, texts = code_identifiers(column)
            coded[name] = Coded(codes, texts)
        elif name == "rating":
            groups = frame.get("criterion")
            cells, found = read_ratings_column(column, raw.decimal, name=called, groups=groups, drop=drop)
        elif raw.typed:
            cells = settle(column)
        else:
            cells, found = read_other_text(column, raw.decimal)
        notes += found
        changed |= cells is not column
        read[str(name)] = cells.array  # without its index, which is the same
    return (pd.DataFrame(read, frame.index, copy=False) if changed else frame), notes, coded


def _rename_again(ratings: Ratings, columns: Mapping[str, str | None]) -> Ratings:
    """Return the ratings with columns mapped again; a column may be given by its name in the source."""
    here = {target: ratings.names.get(name or "", name) for target, name in columns.items()}
    again = _build(Raw(ratings.frame), ratings.source, here)
    names = {old: again.names.get(new, new) for old, new in ratings.names.items()} | dict(again.names)
    kept = [note for note in again.notes if note not in ratings.notes]
    absent = again.absent | {name for name in ratings.absent if name not in again.frame}
    return replace(again, names=names, notes=(*ratings.notes, *kept), absent=absent)


def _as_label(value: Any, column: pd.Series) -> str | None:
    """Return the value as the column would write it: in a column of numbers ``"3.0"`` is 3."""
    if isinstance(value, str) and pd.api.types.is_numeric_dtype(column) and column.dtype != bool:
        try:
            return label(float(value))
        except ValueError:
            return value
    return label(value)


def _describe_ratings(ratings: pd.Series) -> str:
    if pd.api.types.is_numeric_dtype(ratings):
        return (
            f"numbers from {label(ratings.min())} to {label(ratings.max())}"
            if ratings.notna().any()
            else "none"
        )
    values = (
        ratings.cat.categories
        if isinstance(ratings.dtype, pd.CategoricalDtype)
        else sorted(set(ratings.dropna()))
    )
    return f"text: {_list_some([str(value) for value in values])}"


def _list_some(values: Iterable[str]) -> str:
    shown = list(values)
    return ", ".join(shown[:8]) + (f", … ({len(shown) - 8} more)" if len(shown) > 8 else "")
