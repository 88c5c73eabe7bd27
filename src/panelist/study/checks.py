"""Attention checks, and what becomes of a rater who fails them."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from panelist.core.schema import Name, Part, Text


class InstructedCheck(Part):
    """A page whose text says which answer to give."""

    kind: Literal["instructed"] = "instructed"
    text: Text
    """What raters read in place of an output."""
    answers: dict[Name, str] = Field(min_length=1)
    """The answer it asks for, by criterion."""


class RepeatCheck(Part):
    """An earlier trial shown again: the second answer should be near the first."""

    kind: Literal["repeat"] = "repeat"
    count: PositiveInt = 1
    distance: PositiveInt = 5
    """How many pages must lie between the two, where the list is long enough."""
    tolerance: NonNegativeFloat = 1.0
    """How far apart the two answers may be, in points of the scale."""


class DegradedCheck(Part):
    """A spoilt copy of an output that the rater also sees whole: it should be rated lower."""

    kind: Literal["degraded"] = "degraded"
    count: PositiveInt = 1
    how: Literal["shuffle words", "repeat words", "drop words"] = "shuffle words"
    margin: NonNegativeFloat = 0.0
    """By how much lower at least, in points of the scale."""


Check = Annotated[InstructedCheck | RepeatCheck | DegradedCheck, Field(discriminator="kind")]


class Checks(Part):
    """The checks of a study."""

    items: tuple[Check, ...] = Field(min_length=1)
    allowed: NonNegativeInt = 0
    """How many a rater may fail before anything follows."""
    then: Literal["flag", "warn", "screen out", "exclude"] = "flag"
    """What follows. A flag is a question to a person; the others are done as written."""
