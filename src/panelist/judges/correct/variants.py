"""Variants of the correction's model, each chosen beforehand and refused where a table is too small."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from panelist.core.errors import BadModel, UnknownName, did_you_mean
from panelist.judges.match import JudgedRatings

BY_SYSTEM, RANDOM_SLOPES, THESE_ITEMS, ORDINAL = "by-system", "random-slopes", "these-items", "ordinal"
VARIANTS = {
    BY_SYSTEM: "a slope of the judge's scores for each system",
    RANDOM_SLOPES: "raters and items differ on each system with spreads of its own",
    THESE_ITEMS: "about these items, a fixed test set, not about items like these",
    ORDINAL: "beside it an ordinal model with the judge's scores as covariates",
}
FEWEST_RATERS = 24  # for random slopes; below, they widen intervals by a tenth and gain nothing
ITEMS_A_SYSTEM = 10  # rated items for each system, for slopes by system


def read_variants(words: Iterable[str]) -> frozenset[str]:
    """Return the variants, once their names are checked."""
    found = frozenset(words)
    for word in sorted(found - set(VARIANTS)):
        raise UnknownName(f"No variant of the correction is called {word!r}. {did_you_mean(word, VARIANTS)}")
    return found


def check_variants(beside: JudgedRatings, variants: frozenset[str]) -> None:
    """Raise where a table is too small for a variant, or its ratings are not of its kind."""
    if {RANDOM_SLOPES, THESE_ITEMS} <= variants:
        raise BadModel(
            f"{THESE_ITEMS} belongs to the default random part: leave out {RANDOM_SLOPES} or {THESE_ITEMS}."
        )
    n, S, R = int(beside.labelled.sum()), len(beside.systems), len(beside.raters)
    if BY_SYSTEM in variants and n < ITEMS_A_SYSTEM * S:
        raise BadModel(
            f"A slope for each of {S} systems needs {ITEMS_A_SYSTEM * S} rated items or more; on "
            f"{beside.criterion!r} there are {n}. Leave {BY_SYSTEM} out: one slope for all is the default."
        )
    if RANDOM_SLOPES in variants and R < FEWEST_RATERS:
        raise BadModel(
            f"Random slopes need {FEWEST_RATERS} raters or more; on {beside.criterion!r} there are {R}. "
            f"Leave {RANDOM_SLOPES} out: raters by system and items by system are in the model without it."
        )
    points = np.unique(beside.y)
    if ORDINAL in variants and (len(points) > 20 or (points != np.round(points)).any()):
        raise BadModel(
            f"An ordinal model needs ratings on up to 20 whole points; those of {beside.criterion!r} have "
            f"{len(points):,} values. Leave {ORDINAL} out."
        )
