"""Each rater's numbers compared with those of the others on the same units, for all raters at once."""

from typing import Any

import numpy as np

from panelist.agreement.criterion_table import RatingTable
from panelist.numerics.arrays import Bools, Floats


def summarise_raters(table: RatingTable, confidence: float = 0.95) -> list[dict[str, Any]]:
    """Return for each rater: counts, mean, part of alpha, correlation with the rest, leniency and spread.

    What needs others is computed on the units that others rated too, and is nan where there are none.
    Means and what is made of them are nan for text labels, which have none.
    """
    shared = table.ratings_per_unit[table.unit] >= 2
    agreement = share_alpha(table)
    rest = _mean_of_others(table)
    rows = []
    order = np.argsort(table.rater, kind="stable")
    ends = np.cumsum(table.ratings_per_rater)
    for place, rater in enumerate(table.raters):
        mine = order[ends[place] - table.ratings_per_rater[place] : ends[place]]
        both = mine[shared[mine]]
        own, others = table.value[both], rest[both]
        row: dict[str, Any] = {
            "rater": rater,
            "n_ratings": len(mine),
            "n_items": len(both),
            "agreement": float(agreement[place]),
            "mean": np.nan,
            "correlation": np.nan,
            "spread": np.nan,
        }
        row |= dict.fromkeys(("leniency", "leniency_low", "leniency_high"), np.nan)
        if not table.labels:
            ranked = table.measurement == "ordinal"
            row["mean"] = float(table.value[mine].mean())
            row["correlation"] = correlate(*((_rank(own), _rank(others)) if ranked else (own, others)))
            row["spread"] = _compare_spread(own, _values_of_others(table, both, place))
            ends_of = mean_interval(own - others, confidence)
            row |= dict(zip(("leniency", "leniency_low", "leniency_high"), ends_of, strict=True))
        rows.append(row)
    return rows


def share_alpha(table: RatingTable) -> Floats:
    """Return each rater's part of Krippendorff's alpha at the table's level; nan where it is undefined.

    Alpha is 1 - Do/De. Do is a mean over pairable ratings of their disagreement with the others of the unit,
    so that the mean of it over one rater's ratings gives that rater's part.
    """
    m = table.ratings_per_unit[table.unit]
    pairable = m >= 2
    parts = np.full(table.n_raters, np.nan)
    if pairable.sum() < 2:
        return parts
    value, unit = _spread_points(table, pairable), table.unit
    if table.measurement in ("nominal", "ratio"):
        disagreement, expected = _by_categories(table, pairable)
    else:
        weight = pairable.astype(np.float64)
        total = np.bincount(unit, weights=value * weight, minlength=table.n_units)[unit]
        squares = np.bincount(unit, weights=value**2 * weight, minlength=table.n_units)[unit]
        disagreement = m * value**2 - 2 * value * total + squares
        v = value[pairable]
        n = len(v)
        centred = v - v.mean()
        expected = 2 * float(centred @ centred) / (n - 1)
    if expected <= 0:
        return parts
    each = np.where(pairable, disagreement / np.maximum(m - 1, 1), 0.0)
    n_pairable = np.bincount(table.rater, weights=pairable, minlength=table.n_raters)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = np.bincount(table.rater, weights=each, minlength=table.n_raters) / n_pairable
    return np.asarray(1 - observed / expected, dtype=np.float64)


def mean_interval(values: Floats, confidence: float) -> tuple[float, float, float]:
    """Return the mean with its t interval; nan for the ends of fewer than two values."""
    n = len(values)
    if n == 0:
        return np.nan, np.nan, np.nan
    mean = float(values.mean())
    if n < 2:
        return mean, np.nan, np.nan
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, 0.5 + confidence / 2)) * float(values.std(ddof=1)) / float(np.sqrt(n))
    return mean, mean - half, mean + half


def correlate(x: Floats, y: Floats) -> float:
    """Return Pearson's correlation; nan where either does not vary, or there are fewer than three pairs."""
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan
    a, b = x - x.mean(), y - y.mean()
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1.0, 1.0))


def _rank(values: Floats) -> Floats:
    """Return mid-ranks."""
    _, place, count = np.unique(np.round(values, 10), return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place], dtype=np.float64)


def _mean_of_others(table: RatingTable) -> Floats:
    m = table.ratings_per_unit[table.unit]
    total = np.bincount(table.unit, weights=table.value, minlength=table.n_units)[table.unit]
    return np.asarray((total - table.value) / np.maximum(m - 1, 1), dtype=np.float64)


def _values_of_others(table: RatingTable, both: Any, place: int) -> Floats:
    """Return what other raters gave to these units."""
    starts, stops = table.start[table.unit[both]], table.start[table.unit[both] + 1]
    if not len(starts):
        return np.zeros(0)
    rows = np.concatenate([np.arange(a, b) for a, b in zip(starts, stops, strict=True)])
    return np.asarray(table.value[rows[table.rater[rows] != place]], dtype=np.float64)


def _compare_spread(own: Floats, others: Floats) -> float:
    """Return the ratio of the standard deviations; nan where the others do not vary."""
    if len(own) < 2 or len(others) < 2 or np.ptp(others) == 0:
        return np.nan
    return float(own.std(ddof=1) / others.std(ddof=1))


def _spread_points(table: RatingTable, pairable: Bools) -> Floats:
    """Return the values whose squared differences are the level's distances: for ordinal, mid-ranks."""
    if table.measurement != "ordinal":
        return table.value
    totals = np.bincount(table.code[pairable], minlength=len(table.categories))
    return np.asarray((np.cumsum(totals) - totals / 2)[table.code], dtype=np.float64)


def _by_categories(table: RatingTable, pairable: Bools) -> tuple[Floats, float]:
    """Return each rating's summed distance to the others of its unit, and the expected distance.

    The work is that of the distinct values squared, at most: fine for labels and a few hundred magnitudes.
    """
    points = table.categories
    if table.measurement == "nominal":
        distance = (points[:, None] != points).astype(np.float64)
    else:
        sums = np.abs(points[:, None] + points)
        gaps = points[:, None] - points
        distance = np.divide(gaps, sums, out=np.zeros_like(gaps), where=sums > 0) ** 2
    totals = np.bincount(table.code[pairable], minlength=len(points)).astype(np.float64)
    n = totals.sum()
    expected = float(totals @ distance @ totals / (n * (n - 1)))
    summed = np.zeros(table.n_ratings)
    size = max(1, 2_000_000 // max(len(points), 1))  # units at a time, so that memory stays small
    for first in range(0, table.n_units, size):
        last = min(first + size, table.n_units)
        rows = slice(int(table.start[first]), int(table.start[last]))
        counts = np.zeros((last - first, len(points)))
        np.add.at(counts, (table.unit[rows] - first, table.code[rows]), 1.0)
        summed[rows] = (counts @ distance)[table.unit[rows] - first, table.code[rows]]
    return summed, expected
