"""Strata: one comparison for each language, data set or other part of a ratings table."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd

from panelist.analysis.systems.comparison import Comparison
from panelist.core.errors import BadRatings, PanelistError
from panelist.core.prose import count
from panelist.core.tables.cells import label
from panelist.core.tables.ratings import Ratings

MOST_STRATA = 50
NOT_STRATA = ("rating", "system", "criterion", "choice", "grade")


def compare_strata(ratings: Ratings, by: str, compare: Callable[[Ratings], Comparison]) -> Comparison:
    """Return the comparison of every stratum in one; its criteria are named for their stratum.

    ``by`` is the column whose values are the strata; ``compare`` makes the comparison of one. A stratum that
    cannot be compared is named in the notes, and raises if no other is left.
    """
    column, strata = split_strata(ratings, by)
    done, failed, notes = list[Any](), dict[str, PanelistError](), list[str]()
    for name, part in strata.items():
        try:
            found = compare(part)
        except PanelistError as error:
            failed[name] = error
            continue
        notes += [f"{by} {name}: {note}" for note in found.notes]
        done += [
            replace(one, criterion=f"{one.criterion} ({by}: {name})", by=by, stratum=name)
            for one in found.criteria
        ]
    if not done:
        raise next(iter(failed.values()))
    said = _say_strata(ratings, by, column, strata, len(failed))
    said += [
        f"Left out, because it cannot be compared: {by} {name}. {error}" for name, error in failed.items()
    ]
    return Comparison(
        source=ratings.source,
        criteria=tuple(done),
        notes=(*ratings.notes, *said, *dict.fromkeys(notes)),
        by=by,
    )


def name_strata(ratings: Ratings, by: str) -> Ratings:
    """Return the ratings with every criterion named for its stratum, so that each is analysed separately."""
    column, strata = split_strata(ratings, by)
    frame = ratings.frame
    criterion = frame["criterion"] if "criterion" in frame else pd.Series("rating", frame.index, dtype="str")
    known = frame[column].notna()
    named = (
        criterion.astype(str) + f" ({by}: " + frame[column].map(label, na_action="ignore").astype(str) + ")"
    )
    notes = _say_strata(ratings, by, column, strata)
    return replace(
        ratings,
        frame=frame.assign(criterion=named.where(known & criterion.notna())),
        notes=(*ratings.notes, *notes),
    )


def _say_strata(
    ratings: Ratings, by: str, column: str, strata: dict[str, Ratings], failed: int = 0
) -> list[str]:
    counts = ", ".join(f"{name} ({len(part):,} rows)" for name, part in strata.items())
    said = [f"One analysis for each {by}: {counts}.", *_say_multiplicity(by, len(strata) - failed)]
    if missing := int(ratings.frame[column].isna().sum()):
        said.append(f"{count(missing, f'row without {by} is', f'rows without {by} are')} left out.")
    return said


def split_strata(ratings: Ratings, by: str) -> tuple[str, dict[str, Ratings]]:
    """Return the column, and the ratings of each of its values, in the order of the values."""
    column = ratings.find(by)
    if column in NOT_STRATA:
        raise BadRatings(
            f"The ratings cannot be split by {by!r}: {', '.join(NOT_STRATA)} are what is compared. Split by "
            "a column such as language or data set."
        )
    values = ratings.levels(column)
    if not 1 <= len(values) <= MOST_STRATA:
        raise BadRatings(
            f"Column {by!r} has {len(values):,} different values, and each would be a separate analysis; "
            f"at most {MOST_STRATA} are allowed. Split by a column such as language or data set."
        )
    parts = {value: replace(ratings.where(**{column: value}), notes=()) for value in values}
    return column, parts


def _say_multiplicity(by: str, count: int) -> list[str]:
    if count < 2:
        return []
    return [
        f"Tests are adjusted within each {by} and criterion, not over the {count} of them: the more there "
        "are, the more likely is a difference by chance in one of them. That a difference is shown in one "
        "and not in another is not evidence that the two differ."
    ]
