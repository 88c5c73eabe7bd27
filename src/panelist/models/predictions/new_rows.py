"""The rows to predict for: those of the fit, or new ones, coded as in the fit."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from panelist.core.errors import BadModel, BadRatings, did_you_mean
from panelist.core.tables.cells import read_identifiers, settle
from panelist.core.tables.columns import IDENTIFIERS, find_role
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.models.formulas.coding import code_columns
from panelist.models.formulas.grouping import Factor, Recipe
from panelist.models.formulas.matrices import FixedPart, ModelMatrices
from panelist.models.formulas.variables import Variable, match_levels, match_numbers, read_labels
from panelist.numerics.arrays import Floats, Longs


@dataclass(frozen=True, eq=False)
class Grouped:
    """A grouping factor in some rows: the level of each, -1 where the fit has not seen it, and Z."""

    factor: Factor
    index: Longs
    Z: Floats


@dataclass(frozen=True, eq=False)
class DesignRows:
    """Rows of a design, new or old; ``labels`` is the index that answers about them carry."""

    X: Floats
    groups: tuple[Grouped, ...]
    labels: "pd.Index[Any]"
    nominal: Floats | None = None  # columns of nominal and of scale effects
    scale: Floats | None = None
    stretch: Longs | None = None  # the level whose spread a row has, -1 where the fit has not seen it


def own_rows(design: ModelMatrices) -> DesignRows:
    """Return the rows of the fit, labelled by their places in the table that was fitted."""
    groups = tuple(Grouped(f, f.index.astype(np.int64), f.Z) for f in design.factors)
    nominal, scale = (side.matrix if side is not None else None for side in (design.nominal, design.scale))
    stretch = None if design.stretch is None else design.stretch.index.astype(np.int64)
    return DesignRows(design.X, groups, pd.Index(design.rows), nominal, scale, stretch)


def read_rows(design: ModelMatrices, data: Any, *, levels: bool, slopes: bool) -> DesignRows:
    """Return new rows, coded as in the fit; ``levels`` and ``slopes`` say what of the random part is needed.

    ``data`` is a frame, a path or a Ratings with the columns that the formula uses; the response may be
    missing, and without ``levels`` the grouping columns as well. Raises BadModel where a column or a value
    is missing, or where a factor of the formula has a level that the fit has not seen.
    """
    frame = _as_frame(data)
    fixed = design.fixed
    X = _code_fixed(fixed, frame)
    nominal, scale = (
        _code_fixed(side.part, frame) if side is not None else None for side in (design.nominal, design.scale)
    )

    def find(recipe: Recipe | None) -> Longs:
        assert recipe is not None
        return _find_levels(recipe, frame) if levels else np.full(len(frame), -1)

    groups = []
    for factor in design.factors if slopes else ():
        assert factor.recipe is not None
        groups.append(Grouped(factor, find(factor.recipe), _code_effects(factor.recipe, frame)))
    stretch = None if design.stretch is None else find(design.stretch.recipe)
    return DesignRows(X, tuple(groups), frame.index, nominal, scale, stretch)


def _code_fixed(fixed: FixedPart, frame: pd.DataFrame) -> Floats:
    return fixed.matrix(_pick(frame, {name: fixed.sources[name] for name in fixed.variables}))[0]


def _as_frame(data: Any) -> pd.DataFrame:
    if isinstance(data, pd.DataFrame):
        return data
    if isinstance(data, Ratings | str | PathLike):
        return read_ratings(data).frame
    if isinstance(data, Mapping):
        return pd.DataFrame({name: np.atleast_1d(np.asarray(column)) for name, column in data.items()})
    found = nw.from_native(data, pass_through=True)
    if isinstance(found, nw.LazyFrame):
        found = found.collect()
    if not isinstance(found, nw.DataFrame):
        raise BadRatings(
            f"A {type(data).__name__} is not a table to predict for. Give a pandas or polars frame, a path, "
            "or what load_ratings returned."
        )
    return found.to_pandas()


def _pick(frame: pd.DataFrame, sources: Mapping[str, str], hint: str = "") -> pd.DataFrame:
    """Return the columns under the names of the formula, their cells read as those of a ratings table."""
    picked: dict[str, pd.Series[Any]] = {}
    for name, source in sources.items():
        column = frame[_find_column(frame, name, source, hint)]
        picked[name] = read_identifiers(column) if source in IDENTIFIERS else settle(column)
    return pd.DataFrame(picked, index=frame.index)


def _find_column(frame: pd.DataFrame, name: str, source: str, hint: str) -> Any:
    for known in (name, source):
        count = np.count_nonzero(frame.columns == known)
        if count == 1:
            return known
        if count > 1:
            raise BadModel(f"The new data have {count} columns called {known!r}; rename all but one.")
    alike = [column for column in frame.columns if find_role(str(column)) == source]
    if len(alike) == 1:
        return alike[0]
    raise BadModel(
        f"The new data have no column {name!r}. {did_you_mean(name, map(str, frame.columns))}{hint}"
    )


def _code_effects(recipe: Recipe, frame: pd.DataFrame) -> Floats:
    """Return the columns whose effects vary over the levels."""
    picked = _pick(frame, {name: recipe.sources[name] for name in recipe.variables})
    variables: dict[str, Variable] = {
        name: match_numbers(picked[name], name)
        if levels is None
        else match_levels(picked[name], name, levels)
        for name, levels in recipe.variables.items()
    }
    blocks = [code_columns(text, variables, len(frame), spec).matrix for text, spec in recipe.blocks]
    return np.ascontiguousarray(np.concatenate(blocks, axis=1))


def _find_levels(recipe: Recipe, frame: pd.DataFrame) -> Longs:
    """Return each row's level of the grouping factor, -1 where the fit has not seen it."""
    hint = " Add it, or predict for a new level of it with effects='population'."
    picked = _pick(frame, {name: recipe.sources[name] for name in recipe.grouping}, hint)
    key = np.zeros(len(frame), dtype=np.int64)
    known = np.zeros(len(recipe.members), dtype=np.int64)
    for place, (name, levels) in enumerate(recipe.grouping.items()):
        labels = read_labels(picked[name])
        if labels.missing.any():
            rows = np.flatnonzero(labels.missing) + 1
            first = ", ".join(map(str, rows[:5])) + ", …" * (len(rows) > 5)
            raise BadModel(
                f"{name} is missing in {len(rows):,} of {len(frame):,} rows of the new data ({first}). Fill "
                "it in, give it a new name, or predict for a new level of it with effects='population'."
            )
        code = {level: code for code, level in enumerate(levels)}
        codes = np.array([code.get(level, -1) for level in labels.levels] or [0], dtype=np.int64)
        found = codes[labels.codes]
        key = np.where((key < 0) | (found < 0), -1, key * len(levels) + found)
        # The keys that occur are renumbered, or many crossed columns would overflow.
        kept, known = np.unique(known * len(levels) + recipe.members[:, place], return_inverse=True)
        spot = np.minimum(np.searchsorted(kept, key), len(kept) - 1)
        key = np.where(kept[spot] == key, spot, -1)
    level_of = np.empty(len(known), dtype=np.int64)
    level_of[known] = np.arange(len(known))
    return np.where(key < 0, -1, level_of[key])
