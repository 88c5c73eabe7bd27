"""The rules by which raters or ratings are set aside, one function per rule.

A rule gets the trials, the number that the study gives it and the study, and returns which rows it meets; it
raises BadRatings where the table lacks what it needs. All rules see the same rows, so that their order
does not matter.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from panelist.analysis.cleaning.failed_checks import count_failed
from panelist.core.errors import BadRatings
from panelist.core.tables.cells import is_set
from panelist.core.tables.review import review_rows
from panelist.numerics.arrays import Bools
from panelist.study.study import Study


@dataclass(frozen=True, eq=False)
class RuleInput:
    """What rules see: the trials, and all rows with their column ``check``."""

    trials: pd.DataFrame
    everything: pd.DataFrame
    study: Study

    def by(self, raters: Collection[str]) -> Bools:
        """Return the trials of these raters."""
        return np.asarray(self.trials["rater"].isin(list(raters)), dtype=bool)

    def require(self, *columns: str) -> None:
        """Raise BadRatings unless the table has these columns."""
        missing = [name for name in columns if name not in self.trials]
        if missing:
            raise BadRatings(f"The rule could not be applied: the ratings have no column {missing[0]!r}.")


def more_failed_checks(rows: RuleInput, most: float) -> Bools:
    """Return the trials of raters who failed more checks than allowed."""
    rows.require("rater", "item", "system", "criterion")
    failed = count_failed(rows.everything, rows.study)
    return rows.by([rater for rater, count in failed.items() if count > most])


def lower_median_seconds(rows: RuleInput, least: float) -> Bools:
    """Return the trials of raters whose median time on a page is shorter."""
    rows.require("rater", "seconds")
    page = [name for name in ("rater", "occasion", "order") if name in rows.trials]
    pages = rows.trials.drop_duplicates(page) if "order" in page else rows.trials
    usual = pd.to_numeric(pages["seconds"], errors="coerce").groupby(pages["rater"], observed=True).median()
    return rows.by([str(rater) for rater in usual.index[usual < least]])


def higher_same_share(rows: RuleInput, most: float) -> Bools:
    """Return the trials of raters who give one answer to one question more often than this share."""
    rows.require("rater", "rating")
    given = rows.trials[rows.trials["rating"].notna()]
    keys = [name for name in ("rater", "criterion") if name in given]
    counts = given.groupby([*keys, "rating"], observed=True).size()
    share = counts.groupby(level=keys, observed=True).max() / counts.groupby(level=keys, observed=True).sum()
    highest = share.groupby(level="rater", observed=True).max()
    return rows.by([str(rater) for rater in highest.index[highest > most]])


def lower_seconds(rows: RuleInput, least: float) -> Bools:
    """Return the ratings that took less time."""
    rows.require("seconds")
    return np.asarray(pd.to_numeric(rows.trials["seconds"], errors="coerce") < least, dtype=bool)


def unfinished(rows: RuleInput, _: float) -> Bools:
    """Return the trials of raters who did not reach the end."""
    rows.require("rater", "finished")
    done = is_set(rows.trials["finished"])
    finished = set(rows.trials["rater"][done])
    return rows.by([rater for rater in rows.trials["rater"].dropna().unique() if rater not in finished])


def placeholders(rows: RuleInput, _: float) -> Bools:
    """Return the trials of placeholder raters: na, unknown, or one value for outputs nobody else rated."""
    rows.require("rater")
    kept, _notes = review_rows(rows.trials, frozenset({"placeholders"}))
    return np.zeros(len(rows.trials), dtype=bool) if kept is None else ~kept


RULES: dict[str, tuple[Callable[[RuleInput, float], Bools], str]] = {
    "failed_checks": (more_failed_checks, "raters who failed more than {0:g} checks"),
    "median_seconds_below": (lower_median_seconds, "raters with a median below {0:g} seconds per page"),
    "same_answer_share_above": (
        higher_same_share,
        "raters who gave one answer in more than {percent:g} % of cases",
    ),
    "seconds_below": (lower_seconds, "ratings given in less than {0:g} seconds"),
    "unfinished": (unfinished, "raters who did not reach the end"),
    "placeholders": (placeholders, "placeholder raters (na, unknown)"),
}
"""Each rule of the study file: its function, and the rule in words with its number."""


def say_rule(name: str, number: float) -> str:
    """Return a rule in words.

    >>> say_rule("failed_checks", 0), say_rule("failed_checks", 1)
    ('raters who failed a check', 'raters who failed more than one check')
    >>> say_rule("same_answer_share_above", 0.9)
    'raters who gave one answer in more than 90 % of cases'
    """
    if name == "failed_checks" and number in (0, 1):
        return "raters who failed more than one check" if number else "raters who failed a check"
    return RULES[name][1].format(float(number), percent=round(100 * number, 6))
