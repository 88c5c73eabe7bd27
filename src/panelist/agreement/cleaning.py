"""From a ratings file to the tables of its criteria: what is a unit, what is left out, who rated twice."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import pandas as pd

from panelist.agreement.coefficient import Level, check_level
from panelist.agreement.criterion_table import RatingTable, make_table
from panelist.core.errors import BadRatings, UnknownName, did_you_mean
from panelist.core.prose import count, inflect, listing
from panelist.core.tables.ratings import Ratings, read_ratings

Repeats: TypeAlias = Literal["first", "last", "separate"]
ALL = "all ratings"  # the name of the criterion where a file has none


class CriterionTable(NamedTuple):
    """The table of one criterion, and everything that was left out or decided on the way to it."""

    criterion: str
    table: RatingTable
    notes: tuple[str, ...]


def make_tables(
    ratings: Any,
    measurement: str | Mapping[str, str] | None = None,
    unit: str | Sequence[str] | None = None,
    *,
    repeats: Repeats = "first",
    occasion: str | None = None,
    scale: Sequence[float] | None = None,
) -> list[CriterionTable]:
    """Return a table for each criterion of a ratings file or frame, in the order of their names.

    What is judged is the column ``text`` where there is one, else item and system (and turn) together;
    ``unit`` names other columns. Where a rater rated a unit twice, ``repeats`` says which counts: the first,
    the last, or each as if by a separate rater (separate). Only one occasion is used: the named one, else the
    first.
    ``scale`` are the points that could be given; ratings off it are left out, counted and named.
    """
    if repeats not in get_args(Repeats):
        raise UnknownName(f"Repeats cannot be {repeats!r}. {did_you_mean(repeats, get_args(Repeats))}")
    whole = read_ratings(ratings)
    known = "rater" in whole.frame or "rater" not in whole.absent
    whole.require("rating", *(["rater"] if known else []))
    columns = _choose_unit(whole, unit)
    frame, notes = _choose_occasion(whole, occasion)
    made, empty = [], []
    for criterion, rows in _by_criterion(frame):
        clean, found = _drop_gaps(rows if known else _place_raters(rows, columns), [*columns, "rater"])
        if clean.empty:
            empty.append(criterion)
            continue
        clean, off = _drop_off_scale(clean, scale)
        if clean.empty:
            raise BadRatings(f"On {criterion!r} no rating lies on the scale: {off[0]}.")
        clean, twice = _settle_repeats(clean, columns, repeats)
        wanted = measurement.get(criterion) if isinstance(measurement, Mapping) else measurement
        made.append(
            CriterionTable(
                criterion,
                _build(clean, columns, check_level(wanted) if wanted else None, scale),
                (*notes, *found, *off, *twice),
            )
        )
    if not made:
        raise BadRatings(f"{whole.source} has no ratings: every cell of its column 'rating' is empty.")
    if empty:
        gone = f"without any rating, so left out: {listing(empty)}"
        made = [one._replace(notes=(*one.notes, gone)) for one in made]
    return made


def _place_raters(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return the rows with the place in their unit as the rater, where the raters are unknown."""
    rated = rows[rows["rating"].notna()]
    places = rated.groupby(columns, observed=True, dropna=False).cumcount() + 1
    return rated.assign(rater=[f"rating {place}" for place in places])


def _choose_unit(ratings: Ratings, unit: str | Sequence[str] | None) -> list[str]:
    """Return the columns that together say what was judged."""
    if unit is not None:
        return [ratings.find(name) for name in ([unit] if isinstance(unit, str) else unit)]
    frame = ratings.frame
    if "text" in frame and not _is_input(frame):
        return ["text"]
    ratings.require("item")
    turn = ["turn"] if "turn" in frame and frame["turn"].notna().all() else []
    return ["item", *(["system"] if "system" in frame else []), *turn]


def _is_input(frame: pd.DataFrame) -> bool:
    """Return whether the column text holds what systems were given: the same under most systems."""
    if "system" not in frame or frame["system"].nunique() < 2:
        return False
    systems = frame.groupby("text", observed=True)["system"].nunique()
    return bool((systems > 1).mean() > 0.5)


def _choose_occasion(ratings: Ratings, occasion: str | None) -> tuple[pd.DataFrame, list[str]]:
    if "occasion" not in ratings.frame:
        if occasion is not None:
            ratings.require("occasion")
        return ratings.frame, []
    known = ratings.levels("occasion")
    if occasion is None and len(known) < 2:
        return ratings.frame, []
    chosen = str(occasion) if occasion is not None else sorted(known, key=_natural)[0]
    kept = ratings.where(occasion=chosen).frame
    note = f"occasion {chosen} of {', '.join(known)} alone: {len(kept)} of {len(ratings)} rows"
    return kept, [note] if len(kept) < len(ratings) else []


def _natural(text: str) -> tuple[int, float, str]:
    """Return a key that puts 2 before 10, and numbers before words."""
    try:
        return (0, float(text), text)
    except ValueError:
        return (1, 0.0, text)


def _by_criterion(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    if "criterion" not in frame:
        return [(ALL, frame)]
    named = frame["criterion"]
    if (named == named.iloc[0]).all():
        return [(str(named.iloc[0]), frame)]
    groups = [(str(name), rows) for name, rows in frame.groupby("criterion", sort=True, observed=True)]
    if named.isna().any():
        groups.append(("no criterion named", frame[named.isna()]))
    return groups


def _drop_gaps(rows: pd.DataFrame, columns: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows with a rating, a rater and a unit, and how many lacked which."""
    notes = []
    for name in ["rating", *columns]:
        gap = rows[name].isna()
        if gap.any():
            count = int(gap.sum())
            notes.append(f"{count} of {len(rows)} rows left out: no {name}")
            rows = rows[~gap]
    return rows, notes


def _drop_off_scale(rows: pd.DataFrame, scale: Sequence[float] | None) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows whose rating is a point of the scale, and who gave how many others."""
    if scale is None or not pd.api.types.is_numeric_dtype(rows["rating"]):
        return rows, []
    off = ~rows["rating"].isin(list(scale))
    if not off.any():
        return rows, []
    values = listing([f"{value:g}" for value in sorted(rows.loc[off, "rating"].unique())])
    who = rows.loc[off, "rater"].value_counts()
    named = listing([f"{name} ({count})" for name, count in who.items()])
    points = listing([f"{point:g}" for point in scale])
    count = f"{int(off.sum())} of {len(rows)} ratings are off the scale ({points})"
    note = f"{count} and left out: {values}, by {named}"
    return rows[~off], [note]


def _settle_repeats(
    rows: pd.DataFrame, columns: list[str], repeats: Repeats
) -> tuple[pd.DataFrame, list[str]]:
    """Return at most one rating per unit and rater, and who had rated what twice."""
    key = [*columns, "rater"]
    if not rows.duplicated(key).any():
        return rows, []
    notes = []
    same = rows.duplicated()
    if same.any():
        notes.append(
            f"{count(int(same.sum()), 'row is an exact copy', 'rows are exact copies')} "
            f"of another: counted once"
        )
        rows = rows[~same]
    again = rows.duplicated(key)
    if not again.any():
        return rows, notes
    who = rows.loc[again, "rater"].value_counts()
    named = listing([f"{name} ({count})" for name, count in who.items()])
    rule = {
        "first": "the first of them counts",
        "last": "the last of them counts",
        "separate": "each counts as a separate rater",
    }[repeats]
    notes.append(
        f"{count(int(again.sum()), 'rating is', 'ratings are')} "
        f"a rater's second or later on the same {inflect(int(again.sum()), 'output')}: {named}; {rule}"
    )
    if repeats == "separate":
        nth = rows.groupby(key, observed=True).cumcount()
        raters = rows["rater"].where(nth == 0, rows["rater"] + " (" + (nth + 1).astype(str) + ")")
        return rows.assign(rater=raters), notes
    return rows.drop_duplicates(key, keep=repeats), notes


def _build(
    rows: pd.DataFrame, columns: list[str], measurement: Level | None, scale: Sequence[float] | None
) -> RatingTable:
    unit = _join([rows[name] for name in columns])
    apart = "item" in rows and columns != ["item"] and not rows["item"].isna().any()
    return make_table(
        unit,
        rows["rater"],
        rows["rating"],
        item=rows["item"] if apart else None,
        categories=scale,
        measurement=measurement,
        unit_name=" × ".join(columns),
    )


def _join(columns: list[pd.Series]) -> pd.Series:
    """Return several columns as one text, made once for each combination."""
    if len(columns) == 1:
        return columns[0] if columns[0].dtype == "str" else columns[0].astype(str)
    codes = np.zeros(len(columns[0]), dtype=np.int64)
    names: list[Any] = []
    for column in columns:
        code, levels = pd.factorize(column)
        codes = codes * len(levels) + code
        names.append(np.asarray(levels, dtype=object))
    place, distinct = pd.factorize(codes)
    parts: list[Any] = []
    for levels in reversed(names):
        parts.insert(0, levels[distinct % len(levels)])
        distinct = distinct // len(levels)
    joined = np.array([" / ".join(map(str, each)) for each in zip(*parts, strict=True)], dtype=object)
    return pd.Series(joined[place], index=columns[0].index)
