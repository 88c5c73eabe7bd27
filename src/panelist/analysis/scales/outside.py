"""The outside measure for validity: one number per system, from a table of scores or of single results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from panelist.core.errors import BadRatings, did_you_mean
from panelist.core.tables.columns import IDENTIFIERS
from panelist.core.tables.ratings import read_ratings


@dataclass(frozen=True)
class Outside:
    """An outside measure: its name, and the mean of each system."""

    name: str
    source: str
    means: dict[str, float]


def read_outside(source: Any, measure: str | None = None, criterion: str | None = None) -> Outside:
    """Return the measure of each system: the named column, else ``score``, else the only column of numbers.

    Where a table has several rows per system (single results), their mean is taken; where it has a column
    ``criterion`` that holds this criterion, only its rows.
    """
    table = read_ratings(source)
    table.require("system")
    frame = table.frame
    numeric = [
        str(name)
        for name in frame.columns
        if name not in IDENTIFIERS and pd.api.types.is_numeric_dtype(frame[name])
    ]
    if measure is not None:
        column = table.names.get(measure, measure)
        if column not in numeric:
            near = did_you_mean(measure, numeric)
            raise BadRatings(f"{table.source} has no column of numbers called {measure!r}. {near}")
    elif "rating" in numeric:
        column = "rating"
    elif len(numeric) == 1:
        column = numeric[0]
    else:
        listed = ", ".join(map(repr, numeric)) or "none"
        raise BadRatings(
            f"{table.source} must say which column is the measure; its columns of numbers: {listed}. Name "
            "one with --measure (in Python: measure='NAME')."
        )
    if criterion is not None and "criterion" in frame and (frame["criterion"] == criterion).any():
        frame = frame[(frame["criterion"] == criterion).to_numpy()]
    means = frame.dropna(subset=[column, "system"]).groupby("system", observed=True)[column].mean()
    original = next((old for old, new in table.names.items() if new == column), column)
    found = {str(name): float(value) for name, value in means.items() if np.isfinite(value)}
    return Outside(original, table.source, found)
