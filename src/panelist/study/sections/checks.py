"""Attention checks, and what happens to a rater who fails them."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from panelist.core.schema import Name, StudyPart, Text
from panelist.core.seeds import stream


class InstructedCheck(StudyPart):
    """A page whose text says which answer to give."""

    kind: Literal["instructed"] = "instructed"
    text: Text
    """What raters read in place of an output."""
    answers: dict[Name, str] = Field(min_length=1)
    """The answer it asks for, by criterion."""


class RepeatCheck(StudyPart):
    """An earlier trial shown again: the second answer should be near the first."""

    kind: Literal["repeat"] = "repeat"
    count: PositiveInt = 1
    distance: PositiveInt = 5
    """How many pages must come between the two, where the list is long enough."""
    tolerance: NonNegativeFloat = 1.0
    """How far apart the two answers may be, in points of the scale."""


class DegradedCheck(StudyPart):
    """A degraded copy of an output that the rater also sees intact: it should be rated lower."""

    kind: Literal["degraded"] = "degraded"
    count: PositiveInt = 1
    how: Literal["shuffle words", "repeat words", "drop words"] = "shuffle words"
    margin: NonNegativeFloat = 0.0
    """By how much lower at least, in points of the scale."""


Check = Annotated[InstructedCheck | RepeatCheck | DegradedCheck, Field(discriminator="kind")]


class Checks(StudyPart):
    """The checks of a study."""

    items: tuple[Check, ...] = Field(min_length=1)
    allowed: NonNegativeInt = 0
    """How many a rater may fail without consequences."""
    then: Literal["flag", "warn", "screen out", "exclude"] = "flag"
    """What happens then. A flag is for a person to decide on; the others are carried out as written."""


def choose_spoilt(seed: int, outputs: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Return which output of a degraded page is degraded, as (item, system): the same in every order of them.

    Pages, simulated ratings and the analysis all call this, so that a check is graded on the right output.
    """
    ordered = sorted(outputs)
    if len(ordered) == 1:
        return ordered[0]
    names = [name for pair in ordered for name in pair]
    return ordered[int(stream(seed, "spoilt", *names).integers(len(ordered)))]
