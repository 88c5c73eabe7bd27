"""The mapping: which column of another platform's file is what. A small YAML file that ``--draft`` writes."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from panelist.core.schema import Name, Part, Text

Column = Annotated[str, StringConstraints(min_length=1)]
"""A column; with {n}, {item}, {system} or {criterion} for what varies where an answer repeats in a row."""

SOURCES = ("mturk", "potato", "label-studio", "prolific", "wide")
Source = Literal["mturk", "potato", "label-studio", "prolific", "wide"]


class Taken(Part):
    """A part of a column's cells."""

    column: Column
    """The column."""
    match: Text
    """A regular expression that fits the whole cell; what stands in its first brackets is taken."""

    @field_validator("match")
    @classmethod
    def _has_brackets(cls, match: str) -> str:
        import re

        try:
            groups = re.compile(match).groups
        except re.error as error:
            raise ValueError(f"is no regular expression: {error}; found {match!r}.") from None
        if groups != 1:
            raise ValueError(f"needs exactly one pair of brackets around the part to take; found {match!r}.")
        return match


Cell = Column | Taken


class Criterion(Part):
    """A criterion that was rated one output at a time."""

    name: Name | None = None
    """The criterion. Not needed where the answer's column has {criterion} in it."""
    answer: Column
    """The column of the answer. {option} stands for columns that are true for the option chosen."""
    values: dict[str, Name] = Field(default_factory=dict)
    """What each answer counts as, such as Very good: 5. Without it answers are taken as they are."""
    item: Cell | None = None
    """The item, where this criterion has another than the mapping's."""
    system: Cell | None = None
    """The system, where this criterion has another than the mapping's."""

    @model_validator(mode="after")
    def _is_named(self) -> "Criterion":
        if self.name is None and "{criterion}" not in self.answer:
            raise ValueError(
                "the key 'name' is missing; or put {criterion} into the answer's column if that says it."
            )
        return self


class Comparison(Part):
    """A criterion on which outputs side by side were compared."""

    name: Name
    """The criterion."""
    shows: dict[str, Column] = Field(min_length=2)
    """For each answer that names an output, the column with that output's system, in the order shown."""
    best: Column | None = None
    """The column that says which was best."""
    worst: Column | None = None
    """The column that says which was worst."""
    ties: tuple[Name, ...] = ()
    """Answers that mean that none is better."""
    item: Cell | None = None
    """The item, where this criterion has another than the mapping's."""

    @model_validator(mode="after")
    def _asks_something(self) -> "Comparison":
        if self.best is None and self.worst is None:
            raise ValueError("needs the column of the best, of the worst, or both: best: COLUMN.")
        return self


class Times(Part):
    """When a submission was made, and how long it took."""

    accepted: Column | None = None
    """When the work was accepted."""
    submitted: Column | None = None
    """When it was submitted."""
    seconds: Column | None = None
    """How long the whole submission took, in seconds."""


class Renaming(Part):
    """Other names for what the file calls by codes."""

    system: dict[str, Name] = Field(default_factory=dict)
    """Systems: sys0: gold."""
    item: dict[str, Name] = Field(default_factory=dict)
    """Items."""
    criterion: dict[str, Name] = Field(default_factory=dict)
    """Criteria that {criterion} found."""


class Mapping(Part):
    """Which column is what."""

    source: Source
    """What wrote the files: mturk, potato, label-studio, prolific or wide."""
    rater: Column
    """The column with the rater."""
    item: Cell | None = None
    """The column with the item; not needed where an answer's column has {item} in it."""
    system: Cell | None = None
    """The column with the system whose output was rated; not needed where a column has {system} in it."""
    criteria: tuple[Criterion, ...] = ()
    """Criteria that were rated."""
    comparisons: tuple[Comparison, ...] = ()
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
    """Rows to leave out: a column, and the values that mean so."""
    times: Times = Times()
    """When, and how long."""
    keep: dict[Name, Column] = Field(default_factory=dict)
    """More columns for the ratings table: its name there, and the column."""
    background: dict[Name, Column] = Field(default_factory=dict)
    """What raters said of themselves: written apart, one row a rater."""
    rename: Renaming = Renaming()
    """Other names for systems, items and criteria."""

    @model_validator(mode="after")
    def _says_what_was_asked(self) -> "Mapping":
        if not self.criteria and not self.comparisons and self.source != "prolific":
            raise ValueError("names no criterion; give criteria: (ratings) or comparisons: (choices).")
        return self
