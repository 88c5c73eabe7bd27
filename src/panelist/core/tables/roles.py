"""Who rated and what was rated: asked for where the names of the columns do not say it."""

import pandas as pd

from panelist.core.errors import IMPORT, BadRatings, list_shortly
from panelist.core.tables.columns import CANONICAL, SYNONYMS, say_rivals
from panelist.core.tables.ratings import Ratings

MOST_LISTED = 4
_WHY = {"rater": "the ratings of one rater are correlated", "item": "the ratings of one item are correlated"}


def ask_for(ratings: Ratings, *roles: str) -> None:
    """Raise BadRatings unless the table has a column for each role, or the user said that it has none.

    Without them all ratings would be treated as independent, which makes differences look surer than they
    are.
    """
    for role in roles:
        if role in ratings.frame or role in ratings.absent:
            continue
        if rivals := ratings.unsure.get(role):
            raise BadRatings(f"{say_rivals(role, rivals)} {_say_none(role)}")
        known = ", ".join([role, *(word for word, meant in SYNONYMS.items() if meant == role)][:4])
        near = _find_candidates(ratings.frame, role)
        name = near[0][0] if near else "NAME"
        by_values = ", ".join(f"{name!r} ({count:,} different values)" for name, count in near)
        raise BadRatings(
            f"{ratings.source} has no column that is known to be the {role} (such as {known}), and "
            f"{_WHY.get(role, 'it is needed')}. Its columns are {list_shortly(ratings.frame.columns, role)}. "
            + (f"By their values it could be {by_values}. " if near else "")
            + f"Write --columns {role}={name} (in Python: load_ratings(…, columns={{{role!r}: {name!r}}})). "
            + f"{_say_none(role)} {IMPORT}"
        )


def _say_none(role: str) -> str:
    return f"If there is none, say so: --columns {role}=none (in Python: columns={{{role!r}: None}})."


def _find_candidates(frame: pd.DataFrame, role: str) -> list[tuple[str, int]]:
    """Return the columns whose values repeat as those of the role would, the likeliest first.

    Items are many and meet several systems; raters are fewer and meet several items.
    """
    found = []
    for name in frame.columns:
        column = frame[name]
        if name in CANONICAL or pd.api.types.is_float_dtype(column):
            continue
        count = int(column.nunique())
        if not 2 < count <= len(frame) / 2:
            continue
        share = 1.0
        if "system" in frame:
            met = frame["system"].groupby(column, observed=True).nunique()
            share = float((met > 1).mean())
        if share >= 0.5:
            found.append((str(name), count))
    many_first = 1 if role == "item" else -1
    return sorted(found, key=lambda one: -many_first * one[1])[:MOST_LISTED]
