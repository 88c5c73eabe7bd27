"""What the coefficients do not show: equal ratings, raters' levels, and agreement category by category.

The agreement on one category is specific agreement: of the pairs of ratings of an output in which one is this
category, the share in which the other is it too. Cicchetti, D. V. & Feinstein, A. R. (1990). High agreement
but low kappa: II. Resolving the paradoxes. Journal of Clinical Epidemiology 43, 551-558.
"""

from dataclasses import dataclass
from math import nan

import numpy as np

from panelist.agreement.coefficient import COEFFICIENTS, Undefined
from panelist.agreement.criterion_table import RatingTable
from panelist.agreement.statistics.rater_variances import MeanSquares

RARE = 0.2  # of the ratings: a category with a smaller share is rare
MOST_NAMED = 3


@dataclass(frozen=True)
class Margins:
    """How the ratings are distributed: the share of ``equal`` pairs, the most frequent category and its
    share.

    ``level`` is the share of the disagreement between raters (as numbers) that lies between their means; nan
    where ratings are labels.
    """

    equal: float = nan
    most: str = ""
    most_share: float = nan
    level: float = nan


@dataclass(frozen=True)
class OnCategory:
    """One category: its share of the ratings, and how often a second rater gives it where a first one did."""

    label: str
    share: float
    agreement: float


def describe_margins(table: RatingTable) -> Margins:
    """Return how the ratings of a table are distributed."""
    if not table.n_ratings:
        return Margins()
    share = np.bincount(table.code, minlength=len(table.categories)) / table.n_ratings
    most = int(share.argmax())
    return Margins(
        equal=COEFFICIENTS["percent_agreement"](table),
        most=table.label(table.categories[most]),
        most_share=float(share[most]),
        level=_between_raters(table),
    )


def agree_on_categories(table: RatingTable) -> tuple[OnCategory, ...]:
    """Return the specific agreement on every category that was given where others rated too.

    >>> from panelist.agreement.criterion_table import from_matrix
    >>> found = agree_on_categories(from_matrix([[1, 1], [1, 2], [1, 1]]))
    >>> [(one.label, round(one.agreement, 2)) for one in found]
    [('1', 0.8), ('2', 0.0)]
    """
    counts = table.counts().astype(np.float64)
    counts = counts[counts.sum(axis=1) > 1]
    ratings = counts.sum(axis=0)
    both = (counts * (counts - 1)).sum(axis=0)
    one = (counts * (counts.sum(axis=1, keepdims=True) - 1)).sum(axis=0)
    return tuple(
        OnCategory(table.label(value), float(ratings[k] / ratings.sum()), float(both[k] / one[k]))
        for k, value in enumerate(table.categories)
        if one[k] > 0
    )


def say_rare(categories: tuple[OnCategory, ...]) -> str:
    """Return how raters agree on the rare categories, the rarest first; nothing where none is rare."""
    rare = sorted((one for one in categories if one.share < RARE), key=lambda one: one.share)
    said = [
        f"{one.label} ({100 * one.share:.1f} % of all) is given again by another rater in "
        f"{100 * one.agreement:.0f} %"
        for one in rare[:MOST_NAMED]
    ]
    return f"of the rare ratings {', '.join(said)}" if said else ""


def _between_raters(table: RatingTable) -> float:
    if table.labels or table.measurement == "nominal":
        return nan
    try:
        parts = MeanSquares.prepare(table, "interval").weigh().two_way
    except Undefined:
        return nan
    between = max(parts.rater, 0.0)
    whole = between + max(parts.error, 0.0)
    return between / whole if whole > 0 else nan
