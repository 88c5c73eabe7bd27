"""How long outputs are, in words: from a table of outputs, by item and system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from panelist.core.errors import BadRatings, list_shortly
from panelist.core.tables.cells import read_identifiers
from panelist.core.tables.frames import read_frame
from panelist.core.tables.readers import read_table
from panelist.numerics.arrays import Floats


def read_lengths(source: Any) -> pd.Series:
    """Return the number of words of each output, from a column ``words``, or counted in ``output``."""
    raw, origin = (
        (read_table(Path(source)), str(source)) if isinstance(source, str | Path) else read_frame(source)
    )
    frame = raw.frame
    if lacking := [name for name in ("item", "system") if name not in frame]:
        raise BadRatings(
            f"{origin} has no column {' and no column '.join(map(repr, lacking))}; its columns are "
            f"{list_shortly(frame.columns)}. A table of outputs has item, system, and output or words."
        )
    if "words" in frame:
        words = pd.to_numeric(frame["words"], errors="coerce").astype(np.float64)
    elif "output" in frame:
        words = frame["output"].fillna("").astype(str).map(lambda text: float(len(text.split())))
    else:
        raise BadRatings(f"{origin} has neither a column words nor a column output to count them in.")
    keys = [read_identifiers(frame[name]) for name in ("item", "system")]
    made = pd.Series(words.to_numpy(), index=pd.MultiIndex.from_arrays(keys, names=["item", "system"]))
    return made[~made.index.duplicated()]


def spread_lengths(
    lengths: pd.Series | None, items: tuple[str, ...], systems: tuple[str, ...]
) -> Floats | None:
    """Return the lengths on a grid of items × systems, nan where unknown; None without lengths."""
    if lengths is None:
        return None
    grid = pd.MultiIndex.from_product([items, systems])
    return lengths.reindex(grid).to_numpy(dtype=np.float64).reshape(len(items), len(systems))
