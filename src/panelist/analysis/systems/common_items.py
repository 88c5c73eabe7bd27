"""Systems that were judged on different items: what each has, and the plain means on the items of all."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING

from panelist.core.display.formats import number
from panelist.core.notes import Note
from panelist.core.prose import listing

if TYPE_CHECKING:
    import pandas as pd

MOST_TOLD = 6


@dataclass(frozen=True)
class SystemItems:
    """The items on which a system was judged, and its mean rating on all of them and on the common ones."""

    system: str
    items: int
    mean: float
    common_mean: float


def find_common_items(frame: pd.DataFrame) -> tuple[int, tuple[SystemItems, ...]]:
    """Return how many items all systems were judged on, and what each system has.

    Nothing is returned for systems where they were all judged on the same items, or items are unknown.
    """
    import pandas as pd

    if "item" not in frame or "system" not in frame or frame["item"].nunique() == 0:
        return 0, ()
    cells = frame[["system", "item"]].dropna().drop_duplicates()
    items = cells.groupby("system", observed=True)["item"].nunique()
    shared = cells.groupby("item", observed=True)["system"].nunique()
    common = shared.index[shared == len(items)]
    if len(common) == len(shared):
        return len(common), ()
    rated = "rating" in frame and pd.api.types.is_numeric_dtype(frame["rating"])
    inside = frame[frame["item"].isin(common)]
    means, on_common = (
        part.groupby("system", observed=True)["rating"].mean() if rated else pd.Series(dtype=float)
        for part in (frame, inside)
    )
    return len(common), tuple(
        SystemItems(str(name), int(n), float(means.get(name, nan)), float(on_common.get(name, nan)))
        for name, n in items.items()
    )


def note_unequal_items(frame: pd.DataFrame) -> list[str]:
    """Return the note on systems that were judged on different items; none where no item is common to all."""
    common, systems = find_common_items(frame)
    if not systems or not common:
        return []
    each = listing([f"{one.system} {one.items:,}" for one in systems], MOST_TOLD)
    said = f"Systems were judged on different items ({each}; {common:,} in common)."
    known = [one for one in systems if isfinite(one.common_mean)]
    if known and len(known) <= MOST_TOLD:
        means = listing([f"{one.system} {number(one.common_mean, 2)}" for one in known], None)
        said += f" Plain means over different items are not comparable; on the common items they are {means}."
    return [Note("items", said)]
