"""The collecting section of a study file: how the pages behave, and where raters go afterwards."""

from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt

from panelist.core.schema import Part

Device = Literal["desktop", "tablet", "mobile"]
DEVICES: tuple[Device, ...] = ("desktop", "tablet", "mobile")


class Outcome(Part):
    """What a rater gets at the end: a code to hand in, and a page to go to."""

    code: str = ""
    """The completion code; without it one is drawn."""
    redirect: str = ""
    """An https address; ``{code}`` and ``{id}`` are filled in."""


class Outcomes(Part):
    """The ends a visit can have."""

    finished: Outcome = Outcome()
    screened_out: Outcome = Outcome()
    failed_checks: Outcome = Outcome()
    """For who is screened out by attention checks; without it, as ``screened_out``."""
    declined: Outcome = Outcome()
    incompatible: Outcome = Outcome()
    """For who comes with a device that the study does not allow."""
    full: Outcome = Outcome()
    """For who finds no place free."""


class Collecting(Part):
    """How the rating pages behave."""

    forced: bool = True
    """Whether every question must be answered before a rater goes on."""
    back: bool = False
    """Whether raters may go back and change their mind; changes are recorded, never overwritten."""
    reasons: bool = False
    """Whether a box for a reason stands beside each answer."""
    page_seconds: PositiveFloat | None = None
    """The most time for one page, after which it goes on without an answer."""
    minutes: PositiveFloat | None = None
    """The most time for the whole sitting."""
    hold_minutes: PositiveInt = 120
    """How long a place is held for a rater who is away; then it is offered again."""
    devices: tuple[Device, ...] = Field(default=DEVICES, min_length=1)
    """The devices that raters may come with; others are told so, and take no place."""
    shared_devices: bool = False
    """Whether several people take part on one device, one after the other, as in a laboratory; otherwise a
    browser takes one place."""
    theme: Literal["auto", "light", "dark"] = "auto"
    results: Literal["hidden", "shown"] = "hidden"
    """Whether the dashboard shows how systems compare while collecting goes on."""
    outcomes: Outcomes = Outcomes()
