"""The left side of a model: ratings as numbers, or as the ordered categories of an ordinal model."""

from itertools import pairwise
from math import gcd
from typing import Any

import numpy as np
import pandas as pd

from panelist.core.errors import BadModel, BadRatings
from panelist.core.prose import count
from panelist.models.formulas.variables import Labels, Numbers, Variable, as_floats, label, refuse_infinite
from panelist.numerics.arrays import Floats, Ints
from panelist.numerics.rows import number_points

MOST_CATEGORIES = 50
MOST_STEPS = 1000
MOST_POINTS = 11  # 0 to 10 is still a scale of points
STEPS = (1.0, 0.5, 0.25)  # between the points of a scale; anything finer is measured


def read_response(series: Any, name: str, ordinal: bool) -> Variable:
    """Return the ratings, of a Series or its array: labels where the table orders its text, else numbers.

    Text that is not a number raises BadRatings with the values and their rows.
    """
    array = getattr(series, "array", series)
    if ordinal and isinstance(array, pd.Categorical) and array.ordered:
        return Labels(np.asarray(array.codes, dtype=np.int64), tuple(label(c) for c in array.categories))
    if getattr(series.dtype, "kind", "O") in "biuf":
        floats = as_floats(series)
        numbers = Numbers(floats, np.count_nonzero(np.isfinite(floats)) == len(floats))
    else:
        values = np.asarray(series, dtype=object)
        numbers = Numbers(np.asarray(pd.to_numeric(pd.Series(values), errors="coerce"), dtype=np.float64))
        _refuse_text(values, numbers, name, ordinal)
    refuse_infinite(numbers, name)
    return numbers


def code_response(response: Variable, name: str) -> tuple[Floats, Ints, tuple[str, ...], list[str]]:
    """Return the ratings as numbers and as codes 0..K-1, the K categories, and notes; for ordinal models."""
    if isinstance(response, Labels):
        counts = np.bincount(response.codes, minlength=len(response.levels))
        used = np.flatnonzero(counts)
        codes = np.searchsorted(used, response.codes).astype(np.int32)
        unused = [level for level, count in zip(response.levels, counts, strict=True) if not count]
        categories = tuple(response.levels[place] for place in used)
        try:
            points = np.array([float(category) for category in categories])
        except ValueError:  # words have no numbers, so they count from 1
            points = used + 1.0
        values = points[codes]
    else:
        values = response.floats
        points, codes = _find_points(values)
        categories = tuple(label(point) for point in points.tolist())
        unused = _gaps(points) if len(points) <= MOST_CATEGORIES else []
    if len(categories) > MOST_CATEGORIES:
        raise BadModel(
            f"{name} has {len(categories):,} different values, and an ordinal model takes at most "
            f"{MOST_CATEGORIES} ordered categories. For sliders and other continuous scales use the linear "
            "model lmm (lm without random terms)."
        )
    if len(categories) == 1:
        raise BadModel(
            f"Every {name} is {categories[0]}, so there is nothing to model. An ordinal model needs at least "
            "two different values."
        )
    notes = []
    if unused:
        used_points = f"the model has thresholds between the {len(categories)} used points"
        notes.append(f"{_name_unused(unused, categories, name)}: {used_points}")
    return np.ascontiguousarray(values), codes, categories, notes


def check_linear(values: Floats, name: str) -> None:
    """Raise BadModel if every rating is the same."""
    if len(values) and np.count_nonzero(values == values[0]) == len(values):
        raise BadModel(f"Every {name} is {label(float(values[0]))}, so there is nothing to model.")


def choose_family(values: Floats, *, ordered: bool = False) -> tuple[bool, str]:
    """Return whether the ratings are ordered categories (else they are measured), and why.

    >>> choose_family(np.array([1.0, 4.0, 5.0, 4.0]))
    (True, 'The ratings take 3 whole values (1 to 5): ordered categories, hence an ordinal model.')
    >>> choose_family(np.array([1.0, 1.5, 2.0, 5.0]))[1]
    'The ratings take 4 values in steps of 0.5 (1 to 5): ordered categories, hence an ordinal model.'
    """
    points = np.unique(values)
    if not len(points):
        raise BadModel("Every rating is missing, so there is nothing to model.")
    if ordered:
        return True, f"The ratings are {len(points)} ordered categories, hence an ordinal model."
    step = next((step for step in STEPS if (points / step == np.round(points / step)).all()), None)
    if step is not None and len(points) <= MOST_POINTS:
        kind = "whole values" if step == 1.0 else f"values in steps of {step:g}"
        found = f"{len(points)} {kind} ({points[0]:g} to {points[-1]:g})"
        return True, f"The ratings take {found}: ordered categories, hence an ordinal model."
    return False, f"The ratings take {len(points):,} different values: measured, hence a linear model."


def _refuse_text(
    values: "np.ndarray[tuple[int], np.dtype[np.object_]]", numbers: Numbers, name: str, ordinal: bool
) -> None:
    strange = numbers.missing & ~np.asarray(pd.isna(values))
    if not strange.any():
        return
    places = np.flatnonzero(strange)
    quoted = ", ".join(f"{str(values[place])!r} in row {place + 1}" for place in places[:5])
    more = f" and {len(places) - 5:,} more" if len(places) > 5 else ""
    todo = (
        "Correct or empty these cells; if the categories are words, give their order with "
        f"pandas.Categorical(frame[{name!r}], categories=[lowest, …, highest], ordered=True)."
        if ordinal
        else "Correct or empty these cells; for ordered categories use an ordinal model (clmm or clm)."
    )
    raise BadRatings(
        f"{name} must be a number, and {count(len(places), 'value is', 'values are')} "
        f"not: {quoted}{more}. {todo}"
    )


def _name_unused(unused: list[str], categories: tuple[str, ...], name: str) -> str:
    if len(unused) <= len(categories):
        return f"no {name} is {', '.join(unused)}"
    whole = len(unused) + len(categories)  # hardly a scale with gaps: a slider, or a few points of many
    return f"only {len(categories)} of the {whole} points from {categories[0]} to {categories[-1]} occur"


def _gaps(points: Floats) -> list[str]:
    """Return the points that a scale of whole numbers skips; its step is the largest that fits all points."""
    floats = points.tolist()
    if (
        len(floats) < 3
        or max(abs(floats[0]), abs(floats[-1])) > 1e9
        or not all(map(float.is_integer, floats))
    ):
        return []
    whole = [int(point) for point in floats]
    step = gcd(*(b - a for a, b in pairwise(whole)))
    if (whole[-1] - whole[0]) // step > 1000:
        return []
    return [str(point) for point in range(whole[0], whole[-1], step) if point not in set(whole)]


def _find_points(values: Floats) -> tuple[Floats, Ints]:
    """Return the different values, ascending, and which of them each one is."""
    codes = np.empty(len(values), dtype=np.int32)
    points = number_points(np.ascontiguousarray(values), MOST_STEPS, codes)
    if len(points):
        return points, codes
    points, places = np.unique(values, return_inverse=True)
    return points, places.astype(np.int32)
