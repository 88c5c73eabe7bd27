"""What raters read before, between and after the ratings, and the practice that checks that they did."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, NonNegativeInt, PositiveInt, WithJsonSchema

from panelist.core.schema import Kept, Name, StudyPart, Text
from panelist.formats.base import write_canonical


def _write_cell(written: Any) -> Any:
    return write_canonical(written) if isinstance(written, list | tuple | dict) else written


Cell = Annotated[
    Kept,
    BeforeValidator(_write_cell),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "object"}}]}),
]
"""A cell as the outputs file has it: a text, or the list of turns of a dialogue."""


class Fact(StudyPart):
    """One line of the information sheet: time, pay, what is kept, whom to ask."""

    label: Text
    text: Text


class Information(StudyPart):
    """The information sheet and the consent that follows it."""

    headline: str = ""
    """The first line; by default the title of the study."""
    text: str = ""
    """A few sentences (Markdown)."""
    facts: tuple[Fact, ...] = ()
    consent: tuple[Text, ...] = ()
    """What a rater agrees to, one box each; none means that no consent is asked."""
    withdrawal: Literal["erase", "keep_ratings"] = "erase"
    """What the consent says about somebody who withdraws: everything is erased, or the ratings are kept
    without anything that says whose they are. ``panelist forget`` does it."""
    contact: str = ""
    """An address raters can write to."""
    ethics: str = ""
    """Who approved the study, and under which number."""


class Shown(StudyPart):
    """A text with its answers: the common part of worked examples and practice items."""

    context: Cell = ""
    output: Cell = ""
    """The text to judge; for comparisons and pages give ``outputs`` instead."""
    outputs: tuple[Cell, ...] = ()
    """The texts side by side, in the order shown."""
    why: str = ""
    """Why the answer is as it is (Markdown)."""


class Example(Shown):
    """A worked example, shown after the instructions."""

    answers: dict[Name, str | tuple[str, ...]] = Field(default_factory=dict)
    """The answer to each criterion; a list where several outputs are shown."""


class PracticeItem(Shown):
    """A practice item: raters answer it and read which answers are right, and why."""

    right: dict[Name, tuple[str, ...]] = Field(default_factory=dict)
    """For each criterion the answers that pass, or, where several outputs are rated on a page, the right
    answer for each of them in order; a criterion left out is not marked."""


class Practice(StudyPart):
    """Practice before the first rating, with feedback."""

    items: tuple[PracticeItem, ...] = Field(min_length=1)
    pass_mark: NonNegativeInt = 0
    """How many items must be answered correctly to continue; with 0 everybody continues."""
    attempts: PositiveInt = 2
    """How often a rater may try (Prolific requires two)."""
    failed: Literal["screen out", "flag"] = "screen out"
    """What happens to a rater who does not reach the pass mark."""


class SoundCheck(StudyPart):
    """A word that is played before anything is judged by ear; the rater types it."""

    file: Text
    """The sound, in the folder of media."""
    words: tuple[Text, ...] = Field(min_length=1)
    """What passes; capitals, accents and punctuation make no difference."""
    attempts: PositiveInt = 3
    failed: Literal["screen out", "flag"] = "flag"
    """What happens to a rater who does not understand it."""


class Breaks(StudyPart):
    """A break is offered after about this many pages, in equal parts; raters may continue at once."""

    every: PositiveInt
    text: str = ""


class Closing(StudyPart):
    """The last pages: a box for comments, and thanks."""

    comments: str = ""
    """The question above the box; without it there is no box."""
    thanks: str = ""
