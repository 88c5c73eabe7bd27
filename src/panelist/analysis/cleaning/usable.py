"""The ratings of one criterion that a comparison can use, or what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from panelist.core.errors import BadModel, BadRatings
from panelist.core.tables.ratings import Ratings

if TYPE_CHECKING:
    import pandas as pd


def find_usable(table: Ratings, criterion: str) -> tuple[Ratings, list[str]]:
    """Return the rows that have a rating and everything that names it, or raise with what to do."""
    import pandas as pd

    frame = table.frame
    rating = frame["rating"]
    ordered = isinstance(rating.dtype, pd.CategoricalDtype) and rating.dtype.ordered
    if not ordered and not pd.api.types.is_numeric_dtype(rating):
        numbers = pd.to_numeric(rating, errors="coerce")
        words = list(dict.fromkeys(rating[numbers.isna() & rating.notna()]))
        if words:
            raise BadRatings(_say_words(criterion, words))
        frame = frame.assign(rating=numbers)  # another criterion has labels, so the table holds texts
    empty = frame.loc[frame["system"].notna()].groupby("system", observed=True)["rating"].count()
    silent = [str(name) for name in empty.index[empty == 0]]
    if silent:
        raise BadModel(
            f"On {criterion!r} no rating was given to {', '.join(map(repr, silent))}. Leave out the rows, or "
            "fill in the ratings."
        )
    if len(empty) < 2:
        there = f"only one system, {empty.index[0]!r}" if len(empty) else "no system"
        raise BadModel(
            f"On {criterion!r} there is {there}, and a comparison needs at least two. If another column "
            "names the systems, map it: --columns system=NAME (in Python: columns={'system': 'NAME'})."
        )
    needed = ["rating", "system", *(name for name in ("rater", "item", "turn") if count_levels(frame, name))]
    complete = frame[needed].notna().all(axis=1).to_numpy()
    notes = []
    if not complete.all():
        gaps = [
            f"{int(frame[name].isna().sum()):,} without {name}" for name in needed if frame[name].isna().any()
        ]
        notes.append(f"{int((~complete).sum()):,} of {len(frame):,} rows left out: {', '.join(gaps)}.")
    if count_levels(frame, "occasion") > 1:
        notes.append(f"Ratings of {count_levels(frame, 'occasion')} occasions are analysed together.")
    return replace(table, frame=frame[complete].reset_index(drop=True)), notes


def _say_words(criterion: str, words: Sequence[object]) -> str:
    found = ", ".join(repr(str(word)) for word in words[:4])
    return (
        f"The ratings of {criterion!r} are not numbers (found {found}). Ordered words can be numbered "
        "from the lowest up, or made an ordered pandas Categorical; mistyped cells can be corrected "
        "or emptied. Choices between systems (A, B, similar) are not ratings: name both systems in "
        "columns system_a and system_b, and Bradley and Terry's model compares them."
    )


def count_levels(frame: pd.DataFrame, name: str) -> int:
    """Return how many different values a column has; none where it is missing."""
    return int(frame[name].nunique()) if name in frame else 0
