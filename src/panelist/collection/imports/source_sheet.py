"""A sheet: what another platform wrote, one row per submission, every cell as text.

Each source (mturk.py, potato.py …) turns its files into a sheet; a mapping says what the columns mean.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from panelist.core.errors import BadFile
from panelist.core.prose import count, listing

FILE, ROW = "source file", "source row"
"""Two columns that every sheet has: where a row comes from. Rows count from 1 below the header."""


@dataclass(frozen=True)
class SkippedData:
    """Something that was not taken over: what, how often, and which."""

    what: str
    n: int
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        named = f" ({listing(self.names)})" if self.names else ""
        first, _, rest = self.what.partition(" ")
        if self.n == 1:
            return f"1 {first.removesuffix('s')} {rest.replace('that are', 'that is')}{named}"
        return f"{self.n:,} {self.what}{named}"


@dataclass(frozen=True, eq=False)
class SourceSheet:
    """One row per submission; cells are text, an empty one is ``""``."""

    source: str
    frame: pd.DataFrame = field(repr=False)
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[SkippedData, ...] = ()
    by_file: Mapping[str, frozenset[str]] = field(default_factory=dict, repr=False)
    """The columns of each file, where several were joined that differ."""

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def columns(self) -> list[str]:
        """The columns of the source."""
        return [name for name in self.frame.columns if name not in (FILE, ROW)]

    def has(self, column: str) -> "NDArray[np.bool_]":
        """Return for each row whether its file has the column: what was not asked is not unanswered."""
        lacking = {name for name, columns in self.by_file.items() if column not in columns}
        there: NDArray[np.bool_] = ~self.frame[FILE].isin(lacking).to_numpy()
        return there

    def only(self, kept: "NDArray[np.bool_]") -> "SourceSheet":
        """Return the sheet with these rows."""
        return replace(self, frame=self.frame[kept].reset_index(drop=True))

    def place(self, at: int) -> str:
        """Return where a row is, in words."""
        return f"{self.frame[FILE].iloc[at]}, row {self.frame[ROW].iloc[at]}"


def make_sheet(
    source: str,
    name: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    notes: Iterable[str] = (),
    left_out: Iterable[SkippedData] = (),
) -> SourceSheet:
    """Return the sheet of one file, or say that it has no rows."""
    frame = pd.DataFrame(list(rows), columns=list(header), dtype=object)
    if frame.empty:
        raise BadFile(f"{name} has a header but no rows: there is nothing to import.")
    frame[FILE] = name
    frame[ROW] = range(1, len(frame) + 1)
    return SourceSheet(source, frame.fillna(""), (name,), tuple(notes), tuple(left_out))


def join_sheets(sheets: Sequence[SourceSheet]) -> SourceSheet:
    """Return the sheets one below the other; a column that only some have is empty in the others."""
    if len(sheets) == 1:
        return sheets[0]
    everywhere = [set(sheet.columns) for sheet in sheets]
    some = sorted(name for name in set().union(*everywhere) if not all(name in one for one in everywhere))
    notes = [note for sheet in sheets for note in sheet.notes]
    if some:
        notes.append(f"{count(len(some), 'column')} not in every file: {listing(some)}")
    whole = pd.concat([sheet.frame for sheet in sheets], ignore_index=True).fillna("")
    return SourceSheet(
        sheets[0].source,
        whole,
        tuple(name for sheet in sheets for name in sheet.files),
        tuple(notes),
        tuple(one for sheet in sheets for one in sheet.left_out),
        {sheet.files[0]: frozenset(sheet.columns) for sheet in sheets},
    )


def flatten(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of nested JSON with their dotted names.

    >>> dict(flatten({"fluency": {"4": True, "5": False}, "why": None}))
    {'fluency.4': 'true', 'fluency.5': 'false', 'why': ''}
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        if any(isinstance(inner, dict | list) for inner in value):
            for place, inner in enumerate(value, start=1):
                yield from flatten(inner, f"{name}.{place}" if name else str(place))
        else:
            yield name, "|".join(write_leaf(inner) for inner in value)
    else:
        yield name, write_leaf(value)


def write_leaf(value: object) -> str:
    """Return a single JSON value as the text of a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
