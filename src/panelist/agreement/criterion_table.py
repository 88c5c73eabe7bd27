"""The table that every coefficient starts from: the ratings of one criterion, one row per rating, in codes.

``make_tables`` (in cleaning.py) makes one for each criterion of a ratings file.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from panelist.core.errors import BadRatings
from panelist.numerics.arrays import Bools, Floats, Ints, Longs
from panelist.numerics.kernel import kernel

MOST_POINTS = 11  # whole numbers on up to this many points are read as an ordinal scale


@dataclass(frozen=True, eq=False)
class RatingTable:
    """The ratings of one criterion on one occasion, sorted by unit; at most one per unit and rater.

    A unit is what is judged: an output. ``unit``, ``rater`` and ``value`` are the columns (positions in
    ``units`` and ``raters``, and numbers); ``items`` gives the input that each unit belongs to. Text labels
    are coded by their place in ``labels``. ``categories`` are the values that could be given, sorted: all
    points of the scale where it is known, else those seen.
    """

    units: tuple[str, ...] = field(repr=False)
    raters: tuple[str, ...]
    unit: Ints = field(repr=False)
    rater: Ints = field(repr=False)
    value: Floats = field(repr=False)
    items: Ints = field(repr=False)
    categories: Floats = field(repr=False)
    labels: tuple[str, ...] = ()
    unit_name: str = "item"
    measurement: Literal["nominal", "ordinal", "interval", "ratio"] = "ordinal"

    @property
    def n_units(self) -> int:
        """How many units have a rating."""
        return len(self.units)

    @property
    def n_raters(self) -> int:
        """How many raters gave a rating."""
        return len(self.raters)

    @property
    def n_ratings(self) -> int:
        """How many ratings there are."""
        return len(self.value)

    @property
    def n_inputs(self) -> int:
        """How many inputs the units belong to: several outputs may share one."""
        return int(self.items.max()) + 1 if len(self.items) else 0

    @cached_property
    def code(self) -> Ints:
        """Each rating's position in ``categories``."""
        return np.searchsorted(self.categories, self.value).astype(np.int32)

    @cached_property
    def start(self) -> Longs:
        """Where each unit's ratings begin; one longer than the units."""
        return np.concatenate([[0], np.cumsum(self.ratings_per_unit)]).astype(np.int64)

    @cached_property
    def ratings_per_unit(self) -> Longs:
        """How many ratings each unit has."""
        return np.bincount(self.unit, minlength=self.n_units).astype(np.int64)

    @cached_property
    def ratings_per_rater(self) -> Longs:
        """How many ratings each rater gave."""
        return np.bincount(self.rater, minlength=self.n_raters).astype(np.int64)

    @cached_property
    def complete(self) -> Bools:
        """Which units were rated by every rater."""
        return np.asarray(self.ratings_per_unit == self.n_raters)

    def matrix(self) -> Floats:
        """Return the units × raters matrix of values, nan where a rater did not see a unit."""
        whole = np.full((self.n_units, self.n_raters), np.nan)
        whole[self.unit, self.rater] = self.value
        return whole

    def counts(self) -> Longs:
        """Return the units × categories matrix of how often each category was given."""
        cell = self.unit.astype(np.int64) * len(self.categories) + self.code
        shape = (self.n_units, len(self.categories))
        return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)

    def only(self, units: Bools | None = None, raters: Bools | None = None) -> "RatingTable":
        """Return the table of these units and raters, without those that have no rating left."""
        kept = np.ones(self.n_ratings, dtype=bool)
        if units is not None:
            kept &= np.asarray(units, dtype=bool)[self.unit]
        if raters is not None:
            kept &= np.asarray(raters, dtype=bool)[self.rater]
        left, unit = np.unique(self.unit[kept], return_inverse=True)
        stay, rater = np.unique(self.rater[kept], return_inverse=True)
        items = np.unique(self.items[left], return_inverse=True)[1]
        return replace(
            self,
            units=tuple(self.units[i] for i in left),
            raters=tuple(self.raters[i] for i in stay),
            unit=unit.astype(np.int32),
            rater=rater.astype(np.int32),
            value=self.value[kept],
            items=items.astype(np.int32),
        )

    def label(self, value: float) -> str:
        """Return a value as the ratings file wrote it."""
        return self.labels[int(value)] if self.labels else f"{value:g}"


def make_table(
    unit: Any,
    rater: Any,
    rating: Any,
    *,
    item: Any = None,
    categories: Sequence[float] | None = None,
    measurement: str | None = None,
    unit_name: str = "item",
) -> RatingTable:
    """Return the table of three columns: what was rated, by whom, and how; no missing cells, no repeats.

    >>> table = make_table(["a", "a", "b", "b"], ["x", "y", "x", "y"], [1, 2, 5, 5])
    >>> table.matrix().tolist(), table.categories.tolist(), table.measurement
    ([[1.0, 2.0], [5.0, 5.0]], [1.0, 2.0, 5.0], 'ordinal')
    """
    import pandas as pd

    units, names = pd.factorize(_texts(unit), sort=True)
    raters, rater_names = pd.factorize(_texts(rater), sort=True)
    values, labels = _numbers(rating)
    codes, seen = pd.factorize(values, sort=True)
    points = seen if categories is None else np.unique(np.asarray(categories, dtype=np.float64))
    if categories is not None:
        _check_scale(seen, points)
        codes = np.searchsorted(points, seen)[codes]
    order = _order(units, codes, len(names), len(points))
    units, raters, values, codes = units[order], raters[order], values[order], codes[order]
    items = pd.factorize(_texts(item), sort=True)[0][order] if item is not None else units
    first = np.flatnonzero(np.diff(units, prepend=-1))
    inputs = np.unique(items[first], return_inverse=True)[1]
    made = RatingTable(
        units=tuple(map(str, names)),
        raters=tuple(map(str, rater_names)),
        unit=units.astype(np.int32),
        rater=raters.astype(np.int32),
        value=values,
        items=inputs.astype(np.int32),
        categories=points,
        labels=labels,
        unit_name=unit_name,
        measurement=measurement or guess_level(points, labels),  # type: ignore[arg-type]
    )
    made.__dict__["code"] = codes.astype(np.int32)  # they exist already
    return made


def _check_scale(seen: Floats, points: Floats) -> None:
    off = [f"{value:g}" for value in seen[~np.isin(seen, points)]]
    if off:
        raise BadRatings(
            f"{len(off)} values lie off the scale: {', '.join(off[:8])}. "
            f"Its points are {', '.join(f'{p:g}' for p in points)}; exclude these ratings or widen the scale."
        )


@kernel
def _order(unit: Longs, code: Longs, n_units: int, n_codes: int) -> Longs:
    """Return the positions sorted by unit and then by code, by counting: first the codes, then the units."""
    n = len(unit)
    place, by_code = np.zeros(n_codes + 1, np.int64), np.empty(n, np.int64)
    for i in range(n):
        place[code[i] + 1] += 1
    for c in range(n_codes):
        place[c + 1] += place[c]
    for i in range(n):
        by_code[place[code[i]]] = i
        place[code[i]] += 1
    start, order = np.zeros(n_units + 1, np.int64), np.empty(n, np.int64)
    for i in range(n):
        start[unit[i] + 1] += 1
    for u in range(n_units):
        start[u + 1] += start[u]
    for i in range(n):
        at = by_code[i]
        order[start[unit[at]]] = at
        start[unit[at]] += 1
    return order


def from_matrix(
    rows: Any, categories: Sequence[float] | None = None, measurement: str | None = None
) -> RatingTable:
    """Return the table of a units × raters matrix; nan or None where a rater did not see a unit."""
    cells = np.asarray(rows)
    if cells.dtype.kind in "biuf":
        held = ~np.isnan(cells) if cells.dtype.kind == "f" else np.ones(cells.shape, dtype=bool)
    else:
        cells = np.asarray(rows, dtype=object)
        held = np.array([[cell is not None and cell == cell for cell in row] for row in cells])
    unit, rater = np.nonzero(held)
    made = make_table(unit, rater, cells[held] if cells.dtype != object else list(cells[held]),
                      categories=categories, measurement=measurement)  # fmt: skip
    wide = len(str(max(cells.shape)))
    named = replace(made, units=_number(unit, "u", wide), raters=_number(rater, "r", wide))
    named.__dict__["code"] = made.code
    return named


def _number(places: Longs, letter: str, wide: int) -> tuple[str, ...]:
    """Return names for the places that occur, in their order."""
    return tuple([f"{letter}{place:0{wide}}" for place in np.flatnonzero(np.bincount(places)).tolist()])


def guess_level(points: Floats, labels: tuple[str, ...]) -> str:
    """Return the level that these values suggest: text or two values nominal, few whole numbers ordinal."""
    if labels or len(points) <= 2:
        return "nominal"
    whole = bool(np.all(points == np.round(points)))
    return "ordinal" if whole and points[-1] - points[0] < MOST_POINTS else "interval"


def _texts(column: Any) -> Any:
    """Return what pandas can number: a column or array of its own as it is, anything else as objects."""
    import pandas as pd

    if isinstance(column, pd.Series) or (isinstance(column, np.ndarray) and column.dtype.kind in "iu"):
        return column
    return np.asarray(column, dtype=object)


def _numbers(column: Any) -> tuple[Floats, tuple[str, ...]]:
    """Return ratings as numbers, and the labels they stand for where they are text."""
    import pandas as pd

    cells = np.asarray(column)
    if cells.dtype.kind in "iufb":
        return cells.astype(np.float64), ()
    try:
        return np.asarray(list(column), dtype=np.float64), ()
    except (TypeError, ValueError):
        codes, names = pd.factorize(np.asarray([str(cell) for cell in column], dtype=object), sort=True)
        return codes.astype(np.float64), tuple(map(str, names))
