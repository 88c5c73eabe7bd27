"""The collecting section of a study file: how the pages behave, and where raters go afterwards."""

from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt

from panelist.core.schema import StudyPart

Device = Literal["desktop", "tablet", "mobile"]
DEVICES: tuple[Device, ...] = ("desktop", "tablet", "mobile")


class Outcome(StudyPart):
    """What a rater gets at the end: a code to hand in, and a page to go to."""

    code: str = ""
    """The completion code; by default one is drawn."""
    redirect: str = ""
    """An https address; ``{code}`` and ``{id}`` are filled in."""


class Outcomes(StudyPart):
    """The ends a visit can have."""

    finished: Outcome = Outcome()
    screened_out: Outcome = Outcome()
    failed_checks: Outcome = Outcome()
    """For raters who are screened out by attention checks; by default as ``screened_out``."""
    declined: Outcome = Outcome()
    incompatible: Outcome = Outcome()
    """For raters with a device that the study does not allow."""
    full: Outcome = Outcome()
    """For raters who find no free place."""


class Collecting(StudyPart):
    """How the rating pages behave."""

    forced: bool = True
    """Whether every question must be answered before a rater continues."""
    back: bool = False
    """Whether raters may go back and change their answers; changes are recorded, never overwritten."""
    reasons: bool = False
    """Whether there is a box for a reason beside each answer."""
    read: Literal["free", "end"] = "free"
    """Whether a rater continues only after the last line of each output was on the screen for a second."""
    played: Literal["free", "once", "whole"] = "free"
    """Whether a rater continues only after each sound or film was begun once, or was played as a whole."""
    page_seconds: PositiveFloat | None = None
    """The most time for one page, after which the next one follows without an answer."""
    minutes: PositiveFloat | None = None
    """The most time for the whole sitting."""
    hold_minutes: PositiveInt = 120
    """How long a place is held for a rater who is away; then it is offered again."""
    devices: tuple[Device, ...] = Field(default=DEVICES, min_length=1)
    """The devices that raters may use; people with others are turned away, and take no place."""
    shared_devices: bool = False
    """Whether several people take part on one device, one after the other, as in a laboratory; otherwise a
    browser takes one place."""
    theme: Literal["auto", "light", "dark"] = "auto"
    results: Literal["hidden", "shown"] = "hidden"
    """Whether the dashboard shows how systems compare while collecting continues."""
    outcomes: Outcomes = Outcomes()
