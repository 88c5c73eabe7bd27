"""The repeat section of a study file: what is repeated, why anything differs, and how far it has come."""

from typing import Literal

from pydantic import Field

from panelist.core.schema import StudyPart, Text

StepName = Literal[
    "original",
    "materials",
    "questions",
    "findings",
    "size",
    "pay",
    "ethics",
    "datasheet",
    "preregistration",
    "ratings",
    "reproduction",
    "report",
]
"""The twelve steps of a repeat, in order; reports/repeat/steps.py says what each is."""


class Step(StudyPart):
    """How far one step of a repeat has come."""

    state: Literal["open", "done", "not needed"] = "open"
    note: str = ""
    """What was done, where it is, or why it is not needed."""


class Repeat(StudyPart):
    """A repeat of another study."""

    of: Text
    """The original: its study file beside this one, or a reference where it has none."""
    reasons: dict[str, Text] = Field(default_factory=dict)
    """Why something differs from the original, by key: ``pay.hourly: …``; ``pay: …`` covers all of it."""
    steps: dict[StepName, Step] = Field(default_factory=dict)
    """The steps of a repeat that a person ticks; the others are looked up."""
