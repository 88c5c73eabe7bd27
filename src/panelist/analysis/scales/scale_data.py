"""The ratings of one criterion on one scale, in codes, and their sums by item for the bootstrap."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.core.errors import BadRatings
from panelist.numerics.arrays import Floats, Longs

if TYPE_CHECKING:
    import pandas as pd

    from panelist.core.tables.ratings import Ratings


@dataclass(frozen=True, eq=False)
class ScaleData:
    """Ratings of one criterion on one scale: ``value``, and for each the codes of system, item and rater.

    ``systems`` and ``items`` are those of both scales together, so that codes agree between them.
    ``text_type`` is the column of that name, or the item where there is none (``text_type_name`` says which).
    """

    label: str
    criterion: str
    systems: tuple[str, ...]
    items: tuple[str, ...] = field(repr=False)
    raters: tuple[str, ...] = field(repr=False)
    value: Floats = field(repr=False)
    system: Longs = field(repr=False)
    item: Longs = field(repr=False)
    rater: Longs = field(repr=False)
    text_type: Longs = field(repr=False)
    text_type_name: str
    notes: tuple[str, ...] = ()

    def sums(self, columns: Longs, n_columns: int) -> tuple[Any, Any, Any]:
        """Return counts, sums and sums of squares by item and ``columns``, sparse (items × columns)."""
        from scipy.sparse import csr_array

        shape = (len(self.items), n_columns)
        centred = self.value - self.value.mean()  # squares of large values would lose digits
        return tuple(
            csr_array((part, (self.item, columns)), shape=shape)
            for part in (np.ones(len(centred)), centred, centred**2)
        )  # type: ignore[return-value]


def clean_ratings(ratings: Ratings, label: str, criterion: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the usable rows of one criterion on the first occasion, and what was left out."""
    import pandas as pd

    ratings.require("rating", "system", "item", "rater")
    frame, notes = ratings.frame, list[str]()
    if criterion and "criterion" in frame:
        frame = frame[(frame["criterion"] == criterion).to_numpy()]
    if not pd.api.types.is_numeric_dtype(frame["rating"]):
        raise BadRatings(
            f"{label}: the ratings of {criterion!r} are not numbers. Number the points of the scale from the "
            "lowest up."
        )
    occasions = sorted_occasions(frame) if "occasion" in frame else []
    if len(occasions) > 1:
        first = occasions[0]
        held = (frame["occasion"].astype(str) == first).to_numpy()
        notes.append(
            f"{label}: all but stability is from occasion {first}, {held.sum():,} of {len(frame):,} rows."
        )
        frame = frame[held]
    complete = frame[["rating", "system", "item", "rater"]].notna().all(axis=1).to_numpy()
    if not complete.all():
        notes.append(f"{label}: {(~complete).sum():,} of {len(frame):,} rows are incomplete and left out.")
    if not complete.any():
        raise BadRatings(f"{label} has no complete rating of {criterion!r}.")
    return frame[complete], notes


def sorted_occasions(frame: pd.DataFrame) -> list[str]:
    """Return the occasions in order: 2 before 10, numbers before words."""

    def key(name: str) -> tuple[bool, float, str]:
        try:
            return (False, float(name), name)
        except ValueError:
            return (True, 0.0, name)

    return sorted({str(one) for one in frame["occasion"].dropna()}, key=key)


def make_scale_data(
    frame: pd.DataFrame, label: str, criterion: str, systems: tuple[str, ...], items: tuple[str, ...]
) -> ScaleData:
    """Return the rows whose system is among ``systems``, in codes."""
    import pandas as pd

    rows = frame[frame["system"].astype(str).isin(systems).to_numpy()]
    at_system, at_item = ({name: at for at, name in enumerate(names)} for names in (systems, items))
    rater, raters = pd.factorize(rows["rater"].astype(str), sort=True)
    typed = "text_type" in rows and rows["text_type"].notna().all() and len(rows["text_type"].unique()) > 1
    text_type, _ = pd.factorize(rows["text_type" if typed else "item"].astype(str), sort=True)
    return ScaleData(
        label=label,
        criterion=criterion,
        systems=systems,
        items=items,
        raters=tuple(map(str, raters)),
        value=rows["rating"].to_numpy(dtype=np.float64),
        system=np.array([at_system[name] for name in rows["system"].astype(str)], dtype=np.int64),
        item=np.array([at_item[name] for name in rows["item"].astype(str)], dtype=np.int64),
        rater=np.asarray(rater, dtype=np.int64),
        text_type=np.asarray(text_type, dtype=np.int64),
        text_type_name="text type" if typed else "text type (item)",
    )
