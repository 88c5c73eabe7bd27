"""The mapping: which column of another platform's file is what. A small YAML file that ``--draft`` writes."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from panelist.core.schema import Name, StudyPart, Text

Column = Annotated[str, StringConstraints(min_length=1)]
"""A column; with {n}, {item}, {system} or {criterion} for what varies where an answer repeats in a row."""

SOURCES = ("mturk", "potato", "label-studio", "prolific", "wide", "table")
Source = Literal["mturk", "potato", "label-studio", "prolific", "wide", "table"]


class TableLayout(StudyPart):
    """How a table is laid out in its file."""

    skip: int | None = Field(None, ge=0, le=1000)
    """How many rows are above the header, such as a title; empty rows do not count. Without it the header
    is the first row that is as wide as the table."""
    header: tuple[Column, ...] = ()
    """The names of the columns, for a file without a header line."""
    sheet: Text | None = None
    """The sheet of a workbook; without it the first."""


class Unfolding(StudyPart):
    """What becomes several rows: the entries of lists, or the keys of an object."""

    lists: tuple[Column, ...] = ()
    """A column of lists: one row for each entry. Several columns are unfolded side by side."""
    keys: tuple[Column, ...] = ()
    """A column of objects: one row for each key, which then is in COLUMN.key. ``file`` is the file.
    Several columns whose objects have the same keys are unfolded side by side."""

    @field_validator("keys", mode="before")
    @classmethod
    def _take_one(cls, keys: Any) -> Any:
        return (keys,) if isinstance(keys, str) else keys

    @model_validator(mode="after")
    def _says_one(self) -> "Unfolding":
        if bool(self.lists) == bool(self.keys):
            raise ValueError("takes either lists: [COLUMN, …] or keys: COLUMN (or [COLUMN, …]).")
        return self


class Taken(StudyPart):
    """A part of a column's cells, or their numbers."""

    column: Column
    """The column."""
    match: Text | None = None
    """A regular expression that fits the whole cell; what is in its first brackets is taken."""
    numbered: bool = False
    """Different cells are numbered in order of appearance: for texts, which make long names."""

    @model_validator(mode="after")
    def _does_something(self) -> "Taken":
        if self.match is None and not self.numbered:
            raise ValueError("needs match: (a part of the cell) or numbered: true.")
        return self

    @field_validator("match")
    @classmethod
    def _has_brackets(cls, match: str | None) -> str | None:
        import re

        if match is None:
            return None
        try:
            groups = re.compile(match).groups
        except re.error as error:
            raise ValueError(f"is not a regular expression: {error}; found {match!r}.") from None
        if groups != 1:
            raise ValueError(f"needs exactly one pair of brackets around the part to take; found {match!r}.")
        return match


Cell = Column | Taken | tuple[Column, ...]
"""A column, a part of one, or several columns that say it together."""


def columns_of(cell: Cell) -> tuple[str, ...]:
    """Return the columns that a cell is read from."""
    if isinstance(cell, Taken):
        return (cell.column,)
    return (cell,) if isinstance(cell, str) else cell


class MappedCriterion(StudyPart):
    """A criterion that was rated one output at a time."""

    name: Name | None = None
    """The criterion. Not needed where the answer's column has {criterion} in it, or a column names it."""
    named_by: Column | None = None
    """The column that names the criterion, where each row is on one of several."""
    answer: Column
    """The column of the answer. {option} stands for columns that are true for the option chosen."""
    by: Name | None = None
    """The rater whose answers these are, where raters have a column each."""
    of: Name | None = None
    """The system that was rated, where systems have a column each."""
    values: dict[str, Name] = Field(default_factory=dict)
    """What each answer counts as, such as Very good: 5. Without it answers are taken as they are."""
    item: Cell | None = None
    """The item, where this criterion has another than the mapping's."""
    system: Cell | None = None
    """The system, where this criterion has another than the mapping's."""

    @model_validator(mode="after")
    def _is_named(self) -> "MappedCriterion":
        if self.name is None and self.named_by is None and "{criterion}" not in self.answer:
            raise ValueError(
                "the key 'name' is missing; or put {criterion} into the answer's column if that says it, or "
                "write named_by: COLUMN if a column does."
            )
        return self


class MappedComparison(StudyPart):
    """A criterion on which outputs side by side were compared."""

    name: Name
    """The criterion."""
    named_by: Column | None = None
    """The column that names the criterion, where each row is on one of several."""
    shows: dict[str, Column] = Field(min_length=2)
    """For each answer that names an output, the column with that output's system, in the order shown."""
    best: Column | None = None
    """The column that says which was best."""
    worst: Column | None = None
    """The column that says which was worst."""
    words: dict[str, Text] = Field(default_factory=dict)
    """Other words for the answers in ``shows``: A is better: A."""
    named: bool = False
    """Whether answers may be the names of the systems themselves."""
    ties: tuple[Text, ...] = ()
    """Answers that mean that none is better."""
    grades: dict[str, int] = Field(default_factory=dict)
    """For each answer of a scale from one of two outputs to the other, by how many steps the first in
    ``shows`` is better: below 0 where the second is, 0 for a tie. In place of ``words`` and ``ties``."""
    by: Name | None = None
    """The rater whose answers these are, where raters have a column each."""
    item: Cell | None = None
    """The item, where this criterion has another than the mapping's."""

    @model_validator(mode="after")
    def _asks_something(self) -> "MappedComparison":
        if self.best is None and self.worst is None:
            raise ValueError("needs the column of the best, of the worst, or both: best: COLUMN.")
        if self.grades and (len(self.shows) != 2 or self.best is None or self.worst is not None):
            raise ValueError("has grades, which are for two outputs in shows and one column, best: COLUMN.")
        if self.grades and (self.words or self.ties):
            raise ValueError("has grades, which say which is better as well: leave out words and ties.")
        return self

    @property
    def sides(self) -> dict[str, str]:
        """Other words for the answers in ``shows``, in lower case: those in ``words``, and grades but 0."""
        first, *_, second = self.shows
        graded = {word: first if grade > 0 else second for word, grade in self.grades.items() if grade}
        return {
            word.strip().casefold(): key.strip().casefold() for word, key in (self.words | graded).items()
        }

    @property
    def ties_said(self) -> frozenset[str]:
        """The answers that mean that none is better, in lower case."""
        said = (*self.ties, *(word for word, grade in self.grades.items() if grade == 0))
        return frozenset(word.strip().casefold() for word in said)


class Times(StudyPart):
    """When a submission was made, and how long it took."""

    accepted: Column | None = None
    """When the work was accepted."""
    submitted: Column | None = None
    """When it was submitted."""
    seconds: Column | None = None
    """How long the whole submission took, in seconds."""


class Renaming(StudyPart):
    """Other names for the codes in the file."""

    system: dict[str, Name] = Field(default_factory=dict)
    """Systems: sys0: gold."""
    item: dict[str, Name] = Field(default_factory=dict)
    """Items."""
    criterion: dict[str, Name] = Field(default_factory=dict)
    """Criteria that {criterion} found."""


class Mapping(StudyPart):
    """Which column is what."""

    source: Source
    """What wrote the files: mturk, potato, label-studio, prolific or wide; or table, for any other."""
    layout: TableLayout = TableLayout()
    """How the table is laid out in the file (source: table)."""
    unfold: tuple[Unfolding, ...] = ()
    """What becomes several rows, in this order (source: table)."""
    rater: Cell | None = None
    """The column with the rater. Not needed where an answer's column has {rater} in it or says by:. Without
    any of these the raters are unknown (source: table)."""
    item: Cell | None = None
    """The column with the item; not needed where an answer's column has {item} in it."""
    system: Cell | None = None
    """The column with the system whose output was rated; not needed where a column has {system} in it."""
    criteria: tuple[MappedCriterion, ...] = ()
    """Criteria that were rated."""
    comparisons: tuple[MappedComparison, ...] = ()
    """Criteria on which outputs were compared."""
    submission: Column | None = None
    """The column that is different for every submission; two alike are refused."""
    status: Column | None = None
    """The column with Submitted, Approved or Rejected."""
    reasons: tuple[Column, ...] = ()
    """Columns with the reason of a rejection; the first that is not empty counts."""
    rejected: Literal["mark", "leave out", "keep"] = "mark"
    """Rejected work is marked in the column excluded with its reason (analyses then set it aside), is left
    out of the table, or is kept like any other."""
    leave_out: dict[Column, tuple[str, ...]] = Field(default_factory=dict)
    """Rows to leave out: a column, and the values that mark them."""
    stray: Literal["leave out", "keep"] = "keep"
    """Words where a criterion is answered by numbers: left out and counted, or kept as they are."""
    times: Times = Times()
    """When, and how long."""
    keep: dict[Name, Column] = Field(default_factory=dict)
    """More columns for the ratings table: its name there, and the column."""
    background: dict[Name, Column] = Field(default_factory=dict)
    """What raters said about themselves: written to a separate file, one row per rater."""
    rename: Renaming = Renaming()
    """Other names for systems, items and criteria."""

    @model_validator(mode="after")
    def _says_what_was_asked(self) -> "Mapping":
        if not self.criteria and not self.comparisons and self.source != "prolific":
            raise ValueError("names no criterion; give criteria: (ratings) or comparisons: (choices).")
        if self.rater is None and self.source != "table":
            raise ValueError("the key 'rater' is missing; name the column with the rater: rater: COLUMN.")
        if self.source != "table" and (self.unfold or self.layout != TableLayout()):
            raise ValueError("layout: and unfold: are only for source: table.")
        return self
