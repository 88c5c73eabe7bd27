"""Style: what else differs between outputs shown together, such as their length, read from the table.

A long table has a column with a value for each option (``words``), a table of pairs one for each side, named
after it (``words_a`` and ``words_b``, ``left_words`` and ``right_words``). Lengths enter by their logarithm:
twice as long is then worth the same wherever one starts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from panelist.analysis.choices.pair_files import find_sides
from panelist.analysis.choices.trials import ChoiceTrials
from panelist.core.errors import BadRatings, did_you_mean
from panelist.core.prose import listing
from panelist.core.tables.ratings import Ratings
from panelist.numerics.arrays import Floats
from panelist.study.reading.output_features import MEASURED

LENGTHS = re.compile(
    r"(n_|num_|number_of_)?(words?|characters?|chars?|tokens?|length|len|sentences?)(_count)?"
)
_LOG = re.compile(r"log\((.+)\)")


def read_style(table: Ratings, trials: ChoiceTrials, names: Sequence[str]) -> dict[str, Floats]:
    """Return for each name, as the model calls it, the value of every option.

    ``words`` becomes log(words), as every length does; write ``log(x)`` for the logarithm of another column.
    """
    return dict(_read_one(table, trials, name.strip()) for name in names)


def name_end(side: str) -> str:
    """Return what tells a side apart: a of system_a."""
    return side.strip().casefold().removeprefix("system").removeprefix("model").strip("_ ")


def _read_one(table: Ratings, trials: ChoiceTrials, name: str) -> tuple[str, Floats]:
    logged = _LOG.fullmatch(name)
    plain = logged.group(1).strip() if logged else name
    columns = _find_columns(table.frame, plain)
    values = np.column_stack(
        [pd.to_numeric(table.frame[column], errors="coerce").to_numpy(dtype=np.float64) for column in columns]
    )
    if len(columns) == 2:
        side = np.arange(len(trials.system)) % 2
        found = values[trials.row, side]
    else:
        found = values[trials.row, 0]
    if missing := int((~np.isfinite(found)).sum()):
        raise BadRatings(
            f"{missing:,} of {len(found):,} outputs shown have no number in {' and '.join(columns)}, so "
            f"{plain} cannot be controlled for. Fill the gaps, or leave out these rows with --where."
        )
    if not logged and not LENGTHS.fullmatch(plain.casefold()):
        return plain, found
    if (found < 0).any():
        raise BadRatings(f"{plain} has negative values, which have no logarithm.")
    if (found == 0).any():
        return f"log({plain} + 1)", np.log1p(found)
    return f"log({plain})", np.log(found)


def _find_columns(frame: pd.DataFrame, name: str) -> tuple[str, ...]:
    """Return the column of each side, or the one of options."""
    known = {str(column).strip().casefold(): str(column) for column in frame.columns}
    sides = find_sides(frame)
    if sides is None:
        if name.casefold() in known:
            return (known[name.casefold()],)
        raise BadRatings(
            f"The table has no column {name!r}. {did_you_mean(name, list(known.values()))} In a study, "
            f"analysis: style: [{name}] takes it from the outputs file, and counts {listing(MEASURED, None)}."
        )
    ends = [name_end(side) for side in sides]
    for pattern in (f"{name}_{{}}", f"{name}{{}}", f"{{}}_{name}"):
        wanted = [pattern.format(end).casefold() for end in ends]
        if all(one in known for one in wanted):
            return known[wanted[0]], known[wanted[1]]
    raise BadRatings(
        f"To control for {name}, a table of pairs needs it for both sides: columns {name}_{ends[0]} and "
        f"{name}_{ends[1]}. Found {', '.join(map(repr, list(known.values())[:12]))}."
    )
