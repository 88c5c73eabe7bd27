"""The recruiting section of a study file: the panel that raters come from, and what is sent to it."""

from decimal import Decimal
from typing import Any, Literal

from pydantic import Field, PositiveInt

from panelist.core.schema import Name, StudyPart, Text
from panelist.study.sections.pay import Money

RejectionCategory = Literal[
    "TOO_QUICKLY",
    "TOO_SLOWLY",
    "FAILED_INSTRUCTIONS",
    "INCOMP_LONGITUDINAL",
    "FAILED_CHECK",
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "BAD_CODE",
    "NO_DATA",
    "UNSUPP_DEVICE",
    "OTHER",
]
"""Prolific's words for why a submission is rejected."""


class Codes(StudyPart):
    """The code of each end of a visit; one that is left out is drawn, or not handed out."""

    finished: str = ""
    screened_out: str = ""
    failed_checks: str = ""
    declined: str = ""
    incompatible: str = ""
    full: str = ""


class Panel(StudyPart):
    """Where raters come from: how its links name a person, and where they go back to."""

    name: Name
    id: Name
    """The parameter of the link that holds a person's id."""
    extra: tuple[Name, ...] = ()
    """Other parameters that are kept with the visit."""
    link: str = ""
    """Where the panel should send people: ``{join}`` stands for the address of the open link, ``{key}`` for
    the key of the study."""
    redirect: str = ""
    """The https address after the last page; ``{code}`` and ``{id}`` are filled in."""
    codes: Codes = Codes()
    ids: Literal["secret", "guessable", "keyed", "signed"] = "guessable"
    """``secret``: nobody can guess an id, so it opens its person's visit in any browser. Any other id works
    only in the browser that began; with ``keyed`` the link must also have the key that ``{key}`` stands for,
    and with ``signed`` it must be one of those that ``panelist links --ids`` writes."""
    personal: bool = False
    """Whether everybody who finishes gets an individual code."""
    notes: str = ""
    """What to do on the panel's own pages."""


class ScreenOut(StudyPart):
    """What people who are screened out are paid."""

    reward: Money = Field(default=Decimal(0), gt=0)
    """In the currency of ``pay``."""
    places: PositiveInt = 10
    """The most people who are paid this."""


class Rejection(StudyPart):
    """When a submission may be rejected. A person confirms each."""

    when: Literal["failed checks", "too fast", "no data"]
    more_than: PositiveInt = 1
    """With ``failed checks``: more than this many."""
    seconds_per_page: float = Field(default=1.0, gt=0)
    """With ``too fast``: fewer seconds than this on the median page."""
    category: RejectionCategory | None = None
    """By default the one that goes with ``when``."""
    message: str = Field(default="", max_length=2000)
    """What the person reads, at least 100 characters; by default one is written from what happened."""


class Recruiting(StudyPart):
    """How raters are recruited."""

    panel: Name = "prolific"
    """``prolific``, ``connect``, ``sona``, ``class``, or the name of one under ``panels``."""
    panels: tuple[Panel, ...] = ()
    """Other panels, declared here."""
    name: str = ""
    """What people on the panel read as the title; by default that of the study."""
    description: str = ""
    """What they read below it (Prolific takes some HTML); by default the description of the study."""
    internal_name: str = ""
    """What only you see."""
    project: str = ""
    """The id of the Prolific project that pays."""
    filters: tuple[dict[str, Any], ...] = ()
    """Who may take part, in Prolific's words: ``{filter_id: age, selected_range: {lower: 18}}``."""
    filter_set: str = ""
    """The id of a set of filters saved on Prolific, in place of ``filters``."""
    minutes: PositiveInt | None = None
    """The minutes announced; by default those of the plan, rounded up."""
    most_minutes: PositiveInt | None = None
    """After how many minutes a submission times out; by default three times those announced, plus two."""
    reward: Money | None = None
    """What a submission is paid; by default by the pay rule. Never below the hourly rate promised."""
    approve: Literal["by hand", "at once"] = "by hand"
    """Whether those who finish are approved by you, or by Prolific as soon as they hand in the code."""
    screen_out: ScreenOut | None = None
    """Pay for people who are screened out; without it they are asked to return the study."""
    rejections: tuple[Rejection, ...] = ()
    """When a submission may be rejected; without any, none is."""


class ComprehensionQuestion(StudyPart):
    """A question about the instructions."""

    question: Text
    options: tuple[Text, ...] = Field(min_length=2)
    right: tuple[Text, ...] = Field(min_length=1)
    """The options that are right."""


class Comprehension(StudyPart):
    """Questions that show whether the instructions were understood, before the first rating."""

    questions: tuple[ComprehensionQuestion, ...] = Field(min_length=1)
    pass_mark: PositiveInt | None = None
    """How many must be right; by default all."""
    attempts: int = Field(default=2, ge=2, le=10)
    """How often a rater may try; Prolific requires two at least."""
    failed: Literal["screen out", "flag"] = "screen out"
    """What happens to raters who do not reach the pass mark."""
