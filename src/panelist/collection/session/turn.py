"""A rater's turn: where a visit is, its history, what was sent, and where it can go from here."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from panelist.collection.pages.agenda import PlanPage, Sitting
from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.briefing_pages import has_step
from panelist.collection.pages.models import Page
from panelist.collection.pages.sheets import page_name
from panelist.collection.session.history import History, Memory, Visiting
from panelist.collection.store.operations.ops import NewEvent
from panelist.collection.store.operations.saving import Answer, Move, PageDone

STEPS = (
    *("consent", "background", "sound", "instructions", "examples", "comprehension"),
    *("pages", "comments", "finished"),
)
STOPS = ("again", "break", "pause", "warning")
ENDS = ("finished", "declined", "screened_out", "released", "excluded")
CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # none that look alike


@dataclass(frozen=True, kw_only=True)
class TurnOutcome:
    """What follows from a form: what to store, where the visit goes, or the page that is not yet complete.

    Nothing at all means that the form came from a page that the rater has left: show the current one.
    """

    answers: tuple[Answer, ...] = ()
    done: PageDone | None = None
    move: Move | None = None
    events: tuple[NewEvent, ...] = ()
    again: Page | None = None
    """The page to show again, with what is missing."""
    group: str | None = None
    """The group that the background questions put the rater into: give the visit a place there."""


def draw_code() -> str:
    """Return a completion code that nobody can guess."""
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(8))


@dataclass(frozen=True)
class Turn:
    """Everything that decides one request of a rater. It never changes; the history is read when needed."""

    booklet: Booklet
    visit: Visiting
    history: History = field(default_factory=Memory)
    form: Mapping[str, str] = field(default_factory=dict)
    """What was sent; empty where a page is only shown."""
    now: float = 0.0
    elapsed: float | None = None
    """For how many seconds the page was shown, as far as the server knows."""
    draw: Callable[[], str] = draw_code
    """Where completion codes come from."""

    @cached_property
    def state(self) -> str:
        """The step of the visit; one that was only invited is at the first."""
        return self.go_to("consent").state if self.visit.state == "invited" else self.visit.state

    @cached_property
    def sitting(self) -> Sitting:
        """The pages of this place at this occasion."""
        return self.booklet.agenda.sitting(self.visit.place, self.visit.occasion)

    @property
    def page(self) -> PlanPage | None:
        """The page of the plan at which the visit is; None without a place, or with one the plan lacks."""
        return self.sitting.page(self.visit.page)

    @property
    def page_id(self) -> str:
        """The id of the page that the visit shows."""
        state, visit = self.state, self.visit
        if state in ("practice", "rating"):
            return page_name(visit.occasion, visit.page)
        if state == "feedback" or state in STOPS:
            return f"{state}-{visit.occasion}-{visit.page}"
        return f"waiting-{visit.occasion}" if state == "waiting" else state

    def events(self, kind: str) -> Sequence[Mapping[str, Any]]:
        """Return the details of the events of a kind at this occasion, oldest first."""
        return [
            detail for detail in self.history.events(kind) if detail.get("occasion") == self.visit.occasion
        ]

    def move_to(self, state: str, page: int | None = None, occasion: int | None = None) -> Move:
        """Return the move of the visit to a state, on condition that nobody else has moved it."""
        visit = self.visit
        return Move(
            state,
            visit.occasion if occasion is None else occasion,
            visit.page if page is None else page,
            (visit.state, visit.occasion, visit.page),
        )

    def end(self, state: str, reason: str = "", code: str = "") -> Move:
        """Return the move of the visit to its end."""
        visit = self.visit
        seen_at = (visit.state, visit.occasion, visit.page)
        return Move(state, visit.occasion, visit.page, seen_at, reason, code)

    def open_page(self, page: PlanPage, occasion: int | None = None) -> Move:
        """Return the move of the visit to a page of the plan."""
        return self.move_to("practice" if page.phase == "practice" else "rating", page.order, occasion)

    def go_to(self, step: str, occasion: int | None = None) -> Move:
        """Return the move to a step of the briefing, or to the first after it that the study has."""
        for name in STEPS[STEPS.index(step) : STEPS.index("pages")]:
            if has_step(self.booklet, name):
                return self.move_to(name, 1 if occasion else None, occasion)
        sitting = self.booklet.agenda.sitting(self.visit.place, occasion) if occasion else self.sitting
        if sitting.pages:
            return self.open_page(sitting.pages[0], occasion)
        return self.move_to("rating", 1, occasion)  # without a place there are no pages: it waits for one

    def close_sitting(self) -> Move:
        """Return the move after the last page: to the next occasion, the comments or the end."""
        if self.visit.occasion < self.booklet.agenda.occasions(self.visit.place):
            return self.move_to("waiting")
        if self.visit.state != "comments" and has_step(self.booklet, "comments"):
            return self.move_to("comments")
        code = self.booklet.study.file.collecting.outcomes.finished.code or self.draw()
        excluded = self.history.events("exclude")
        if excluded:
            return self.end("excluded", str(excluded[-1].get("reason", "")), code)
        return self.end("finished", "", code)
