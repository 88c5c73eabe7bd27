"""Description: what was answered, per system and per item, before any model."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from panelist.analysis.checks.extremes import find_crowding
from panelist.core.display.formats import TEXT, Cell, decimals
from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.errors import BadRatings
from panelist.core.tables.cells import label
from panelist.scales.base import RatingScale, Scale

MOST_POINTS = 11
BINS = 5
ALL = "all"


@dataclass(frozen=True)
class SystemDescription:
    """One system: counts, mean, spread, and the share of each point; nan where ratings are words."""

    system: str
    n: int
    n_raters: int
    n_items: int
    mean: float
    sd: float
    median: float
    shares: tuple[float, ...]


@dataclass(frozen=True)
class ItemDescription:
    """One item: how often it was rated, and how."""

    item: str
    n: int
    mean: float
    sd: float


@dataclass(frozen=True, kw_only=True)
class Description(Result):
    """The ratings of one criterion; ``points`` are what ``shares`` are shares of, from low to high."""

    criterion: str
    n: int
    n_missing: int
    points: tuple[str, ...]
    labels: tuple[str, ...] = ()
    binned: bool = False
    ends: tuple[str, ...] = ()
    """The ends of the line, where the points are ranges on it."""
    systems: tuple[SystemDescription, ...] = ()
    items: tuple[ItemDescription, ...] = ()
    notes: tuple[str, ...] = ()

    def title(self) -> str:
        """Return the heading."""
        return f"What was answered on {self.criterion}"

    def parts(self) -> list[Part]:
        """Return the table of systems, and where ratings pile up at an end of the scale."""
        return [self.table(), *(Sentence(note) for note in self.notes)]

    def table(self) -> Table:
        """Return one row per system: counts, mean, spread and shares in per cent."""
        header = ("system", "ratings", "raters", "items", "mean", "SD", "median")
        rows: list[tuple[Cell, ...]] = [
            (s.system, s.n, s.n_raters, s.n_items, s.mean, s.sd, s.median, *(100 * x for x in s.shares))
            for s in self.systems
        ]
        points = [f"{point} %" for point in self.points]
        formats = {"system": TEXT, "mean": decimals(2), "SD": decimals(2), "median": decimals(1)}
        formats |= {point: decimals(0) for point in points}
        return Table(f"Ratings of {self.criterion}", (*header, *points), rows, formats)

    def to_dict(self) -> dict[str, Any]:
        """Return systems and items."""
        return asdict(self)


def describe_ratings(
    frame: pd.DataFrame, criterion: str, systems: Sequence[str] = (), scale: Scale | None = None
) -> Description:
    """Return the description of one criterion's rows, systems in the given order, others after them."""
    given = frame[frame["rating"].notna()]
    if given.empty:
        raise BadRatings(f"On {criterion!r} no rating was given: every cell is empty.")
    numbers = pd.api.types.is_numeric_dtype(given["rating"])
    place, points, edges = _place(given["rating"], scale)
    column = given["system"] if "system" in given else pd.Series(ALL, index=given.index)
    order = [name for name in systems if (column == name).any()]
    order += sorted(set(column.dropna().astype(str)) - set(order))
    described = []
    for name, index in ((one, np.flatnonzero((column == one).to_numpy())) for one in order):
        part = given.iloc[index]
        values = part["rating"].to_numpy(dtype=float) if numbers else np.array([nan])
        shares = np.bincount(place[index], minlength=len(points))[: len(points)] / len(index)
        described.append(
            SystemDescription(
                system=name,
                n=len(part),
                n_raters=_distinct(part, "rater"),
                n_items=_distinct(part, "item"),
                mean=float(values.mean()),
                sd=float(values.std(ddof=1)) if len(values) > 1 else nan,
                median=float(np.median(values)),
                shares=tuple(float(share) for share in shares),
            )
        )
    return Description(
        criterion=criterion,
        n=len(given),
        n_missing=len(frame) - len(given),
        points=points,
        labels=_name_points(points, scale),
        binned=bool(edges),
        ends=edges[:1] + edges[-1:],
        systems=tuple(described),
        items=_describe_items(given) if numbers else (),
        notes=tuple(find_crowding(given, *((None, None) if scale is None else (scale.lowest, scale.highest))))
        if numbers
        else (),
    )


def mean_ratings(frame: pd.DataFrame) -> dict[str, float]:
    """Return the mean rating of each system; nothing where ratings are words without numbers."""
    numbers = pd.to_numeric(frame["rating"].astype(object), errors="coerce").astype(float)
    if numbers.isna().any():
        return {}
    means = numbers.groupby(frame["system"].astype(str), observed=True).mean()
    return {str(name): float(mean) for name, mean in means.items()}


def _place(
    rating: "pd.Series[Any]", scale: Scale | None
) -> tuple["np.ndarray[Any, Any]", tuple[str, ...], tuple[str, ...]]:
    """Return the point of each rating, the points, and their edges where they are ranges on a line."""
    if isinstance(rating.dtype, pd.CategoricalDtype):
        return np.asarray(rating.cat.codes), tuple(map(str, rating.cat.categories)), ()
    if not pd.api.types.is_numeric_dtype(rating):
        values = sorted(set(map(str, rating)))
        if len(values) > MOST_POINTS:
            return np.zeros(len(rating), dtype=int), (), ()
        return pd.Categorical(rating.astype(str), values).codes, tuple(values), ()
    numbers = rating.to_numpy(dtype=float)
    low, high = _ends(numbers, scale)
    observed = np.unique(numbers)
    if (observed == np.round(observed)).all() and high - low < MOST_POINTS:
        points = np.arange(int(low), int(high) + 1)
        return (numbers - low).astype(int), tuple(str(point) for point in points), ()
    if len(observed) <= MOST_POINTS:
        return np.searchsorted(observed, numbers), tuple(label(point) or "" for point in observed), ()
    edges = np.linspace(low, high, BINS + 1)
    place = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, BINS - 1)
    named = tuple(f"{edge:g}" for edge in edges)
    return place, tuple(f"{a} to {b}" for a, b in pairwise(named)), named


def _ends(numbers: "np.ndarray[Any, Any]", scale: Scale | None) -> tuple[float, float]:
    """Return the ends of the scale; where it is not known, or ratings lie off it, those of the ratings."""
    low, high = float(numbers.min()), float(numbers.max())
    if scale is not None and scale.lowest is not None:
        low = min(low, scale.lowest)
    if scale is not None and scale.highest is not None:
        high = max(high, scale.highest)
    return low, high


def _name_points(points: tuple[str, ...], scale: Scale | None) -> tuple[str, ...]:
    """Return the words beside the points, as raters saw them; none where the scale has none."""
    if not isinstance(scale, RatingScale):
        return ()
    words = {str(scale.parse(option.value)): option.label for option in scale.options()}
    return tuple(words.get(point, "") for point in points) if any(words.values()) else ()


def _describe_items(given: pd.DataFrame) -> tuple[ItemDescription, ...]:
    if "item" not in given:
        return ()
    found = given.groupby("item", observed=True)["rating"].agg(["count", "mean", "std"])
    rows = zip(found.index, found["count"], found["mean"], found["std"], strict=True)
    return tuple(ItemDescription(str(item), int(n), float(mean), float(sd)) for item, n, mean, sd in rows)


def _distinct(frame: pd.DataFrame, name: str) -> int:
    return int(frame[name].nunique()) if name in frame else 0
