"""The people: raters, their groups, and what they are asked about themselves."""

from typing import Literal

from pydantic import Field, PositiveInt

from panelist.core.schema import Name, StudyPart, Text


class Group(StudyPart):
    """A group of raters with places of its own, such as native speakers."""

    name: Name
    raters: PositiveInt | None = None
    """How many; by default as many as the ratings need."""
    description: str = ""


class Raters(StudyPart):
    """Who rates, and how many."""

    count: PositiveInt | None = None
    """How many in all; by default as many as the ratings need."""
    groups: tuple[Group, ...] = ()
    """Groups that are planned, filled and reported separately."""
    description: str = ""
    """Who they are, for the paper and the datasheet."""
    recruitment: str = ""
    """How they are found, for the paper and the datasheet."""
    paid: Literal["money", "other", "no"] = "money"
    experts: bool | None = None
    known_to_authors: bool | None = None
    authors_among_them: bool | None = None
    independent: bool | None = None
    """Whether they rated without seeing each other's ratings; on Panelist's own pages they do."""


class Question(StudyPart):
    """A question about the rater's background, asked before the first rating."""

    name: Name
    question: Text
    type: Literal["choice", "number", "text"] = "choice"
    options: tuple[str, ...] = ()
    """The answers to choose from."""
    groups: dict[str, Name] = Field(default_factory=dict)
    """Which answer puts a rater into which group: ``{yes: native, no: non-native}``."""
    required: bool = True
