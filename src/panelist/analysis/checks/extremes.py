"""Ratings that pile up at an end of their scale, where better or worse can no longer be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from panelist.core.display.formats import number
from panelist.models.formulas.response import choose_family

if TYPE_CHECKING:
    import pandas as pd

MOST_AT_END = {"two": 0.95, "points": 0.8, "measured": 0.25}
"""The share of a system's ratings at one end that is worth a note: on two points, on more, or on a slider."""
MOST_NAMED = 6


def find_crowding(
    frame: pd.DataFrame, lowest: float | None = None, highest: float | None = None
) -> list[str]:
    """Return a sentence for each end of the scale at which the ratings of a system pile up.

    ``lowest`` and ``highest`` are the ends of the scale; where unknown, those of the ratings.
    """
    import pandas as pd

    values = pd.to_numeric(frame["rating"].astype(object), errors="coerce").to_numpy(dtype=float)
    known = np.isfinite(values)
    if not known.any() or values[known].min() == values[known].max():
        return []
    values = values[known]
    system = (
        frame["system"].astype(str).to_numpy()[known] if "system" in frame else np.full(len(values), "all")
    )
    points = len(np.unique(values))
    kind = "two" if points == 2 else "points" if choose_family(values)[0] else "measured"
    said = []
    for end, name in ((highest, "top"), (lowest, "bottom")):
        at = end if end is not None else float(values.max() if name == "top" else values.min())
        shares = {one: float((values[system == one] == at).mean()) for one in sorted(set(system))}
        crowded = {one: share for one, share in shares.items() if share >= MOST_AT_END[kind]}
        if crowded:
            said.append(_say(name, at, crowded))
    return said


def _say(name: str, at: float, crowded: dict[str, float]) -> str:
    most = sorted(crowded, key=lambda one: -crowded[one])
    named = [f"{one} {100 * crowded[one]:.0f} %" for one in most[:MOST_NAMED]]
    if len(most) > MOST_NAMED:
        named.append(f"and {len(most) - MOST_NAMED} more systems")
    return (
        f"Many ratings are at the {name} of the scale ({number(at, 2) if at % 1 else f'{at:.0f}'}): "
        f"{', '.join(named)}. What would lie beyond cannot be seen, so differences there look smaller than "
        "they are."
    )
