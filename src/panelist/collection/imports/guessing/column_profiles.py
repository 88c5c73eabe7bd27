"""What the cells of columns look like: numbers on a scale, labels, texts, times, names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from panelist.collection.imports.files.grids import NUMBER
from panelist.collection.imports.files.unfolding import PLACE
from panelist.collection.imports.source_sheet import SourceSheet
from panelist.collection.imports.vocabulary import (
    ANSWER_NAMES,
    CRITERION_NAMES,
    MEASURES,
    NO_RATING,
    OUTPUTS,
    is_criterion,
    last_part,
    split_name,
    squeeze,
)
from panelist.core.tables.cells import MISSING_WORDS
from panelist.core.tables.columns import CANONICAL, find_role

MOST_POINTS = 12
LEAST_NUMBERS = 0.9  # the share of numbers from which words among them are strays
LONG_TEXT = 40
_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ].*)?|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}.*|\w{3} \w{3} +\d+ [\d:]+ .*")
_ID = re.compile(r"[0-9a-f]{24}|A(?=[0-9A-Z]*\d)[0-9A-Z]{11,14}|[\w.+-]+@[\w-]+(\.[\w-]+)+")
_RATER = re.compile(
    r"(annotator|rater|worker|judge|coder|evaluator|assessor|turker|expert|participant|user|ann|[ARWPUS])"
    r"[ _-]?\d{1,5}",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a sheet."""

    name: str
    cells: pd.Series

    @cached_property
    def said(self) -> pd.Series:
        """The cells that say something."""
        plain = self.cells.str.casefold()
        return self.cells[~plain.isin(MISSING_WORDS)]

    @cached_property
    def distinct(self) -> list[str]:
        """The different values, in order of appearance."""
        return [str(word) for word in self.said.unique()]

    @cached_property
    def words(self) -> list[str]:
        """Those of them that are not numbers."""
        return [word for word in self.distinct if not NUMBER.fullmatch(word)]

    @cached_property
    def numbers(self) -> list[float]:
        """Those of them that are numbers."""
        return [float(word.replace(",", ".")) for word in self.distinct if NUMBER.fullmatch(word)]

    @cached_property
    def is_numeric(self) -> bool:
        """Whether the cells are numbers, except for a few strays."""
        if not self.numbers:
            return False
        n_words = int(self.said.isin(self.words).sum()) if self.words else 0
        return n_words <= (1 - LEAST_NUMBERS) * len(self.said)

    @cached_property
    def is_text(self) -> bool:
        """Whether the cells are texts: long, or many words."""
        words = self.words
        if not words or self.is_numeric:
            return False
        return sum(map(len, words)) / len(words) > LONG_TEXT or (
            len(words) > MOST_POINTS and sum(len(word.split()) for word in words) / len(words) > 5
        )

    @cached_property
    def is_time(self) -> bool:
        """Whether the cells are times: dates, or seconds since 1970."""
        if self.is_numeric:
            return all(1e9 <= abs(number) < 2.5e9 or 1e12 <= abs(number) < 2.5e12 for number in self.numbers)
        return bool(self.distinct) and all(_TIME.fullmatch(word) for word in self.distinct[:50])

    @cached_property
    def is_labels(self) -> bool:
        """Whether the cells are few short words that repeat, as the labels of a scale do."""
        words = self.distinct
        return (
            bool(words)
            and not self.is_numeric
            and len(words) <= MOST_POINTS
            and len(self.said) > len(words)
            and max(map(len, words)) <= LONG_TEXT
        )

    @cached_property
    def is_scale(self) -> bool:
        """Whether the cells are whole numbers with few values, or lie between 0 and 100."""
        if not self.is_numeric or self.is_time:
            return False
        numbers = self.numbers
        whole = all(number == int(number) for number in numbers if abs(number) < 1e15)
        few = len(numbers) <= MOST_POINTS and max(map(abs, numbers)) <= 100
        return (whole and few) or (min(numbers) >= -10 and max(numbers) <= 100)

    @property
    def is_constant(self) -> bool:
        """Whether there is at most one value."""
        return len(self.distinct) < 2

    @cached_property
    def are_people(self) -> bool:
        """Whether most values look like ids of people or as raters are numbered: A12, worker_3."""
        words = self.distinct[:200]
        hits = sum(bool(_ID.fullmatch(word) or _RATER.fullmatch(word)) for word in words)
        return bool(words) and hits > 0.5 * len(words)

    @cached_property
    def are_criteria(self) -> bool:
        """Whether most values are names of criteria."""
        words = self.distinct[:100]
        return bool(words) and sum(map(is_criterion, words)) > 0.5 * len(words)

    @cached_property
    def may_be_answers(self) -> bool:
        """Whether the cells could be answers: a scale or labels, under no name that says otherwise."""
        parts = split_name(last_part(self.name))
        role = find_role(last_part(self.name))
        if self.name.endswith(PLACE):
            return False
        open_ended = self.is_numeric and not self.is_time and role == "rating"  # magnitude estimation
        if MEASURES.search(self.name) or not (self.is_scale or self.is_labels or open_ended):
            return False
        if is_criterion(self.name) or role == "rating" or squeeze(last_part(self.name)) in ANSWER_NAMES:
            return True
        if role is not None or squeeze(self.name) in CANONICAL or squeeze(self.name) in CRITERION_NAMES:
            return False
        if squeeze(last_part(self.name)) in OUTPUTS:
            return False  # what systems said, which may be numbers as well
        if set(parts) & NO_RATING and not (len(parts) > 1 and parts[-1].isdecimal()):
            return False
        # A number that never repeats in its column numbers the rows, or measures something.
        return self.is_scale and (
            len(self.numbers) <= MOST_POINTS or len(self.numbers) < 0.3 * len(self.said)
        )


def list_columns(sheet: SourceSheet) -> list[Column]:
    """Return the columns of a sheet that say anything."""
    found = [Column(name, sheet.frame[name].astype(str)) for name in sheet.columns]
    return [column for column in found if column.distinct]


def count_together(columns: Sequence[Column]) -> int:
    """Return how many different combinations the columns have."""
    if not columns:
        return 1
    return len(pd.concat([column.cells for column in columns], axis=1).drop_duplicates())


def crosses(column: Column, other: Column) -> float:
    """Return the share of a column's values that meet more than one value of another."""
    met = other.cells.groupby(column.cells, observed=True).nunique()
    return float((met > 1).mean())
