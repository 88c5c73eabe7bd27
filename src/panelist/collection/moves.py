"""Where a visit goes: from step to step, from page to page, and what there is to store on the way."""

import secrets
from dataclasses import dataclass

from panelist.collection.agenda import PlanPage
from panelist.collection.booklet import Booklet
from panelist.collection.briefing_pages import has_step
from panelist.collection.history import History, Visiting
from panelist.collection.pages import Page
from panelist.collection.sheets import page_name
from panelist.collection.store.answers import Answer, Move, PageDone
from panelist.collection.store.ops import NewEvent

STEPS = (
    *("consent", "background", "instructions", "examples", "comprehension"),
    *("pages", "comments", "finished"),
)
STOPS = ("again", "break", "pause", "warning")
ENDS = ("finished", "declined", "screened_out", "released", "excluded")
CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # none that look alike


@dataclass(frozen=True, kw_only=True)
class Outcome:
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


def find_state(booklet: Booklet, visit: Visiting) -> str:
    """Return the step of a visit; one that was only invited stands at the first."""
    return go_to(booklet, visit, "consent").state if visit.state == "invited" else visit.state


def find_id(state: str, visit: Visiting) -> str:
    """Return the id of the page that a visit shows in a state."""
    if state in ("practice", "rating"):
        return page_name(visit.occasion, visit.page)
    if state == "feedback" or state in STOPS:
        return f"{state}-{visit.occasion}-{visit.page}"
    return f"waiting-{visit.occasion}" if state == "waiting" else state


def move_to(visit: Visiting, state: str, page: int | None = None, occasion: int | None = None) -> Move:
    """Return the move of a visit to a state, on condition that nobody else has moved it."""
    return Move(
        state,
        visit.occasion if occasion is None else occasion,
        visit.page if page is None else page,
        (visit.state, visit.occasion, visit.page),
    )


def end_visit(visit: Visiting, state: str, reason: str = "", code: str = "") -> Move:
    """Return the move of a visit to its end."""
    return Move(state, visit.occasion, visit.page, (visit.state, visit.occasion, visit.page), reason, code)


def open_page(visit: Visiting, page: PlanPage, occasion: int | None = None) -> Move:
    """Return the move of a visit to a page of the plan."""
    return move_to(visit, "practice" if page.phase == "practice" else "rating", page.order, occasion)


def go_to(booklet: Booklet, visit: Visiting, step: str, occasion: int | None = None) -> Move:
    """Return the move to a step of the briefing, or to the first after it that the study has."""
    for name in STEPS[STEPS.index(step) : STEPS.index("pages")]:
        if has_step(booklet, name):
            return move_to(visit, name, 1 if occasion else None, occasion)
    sitting = booklet.agenda.sitting(visit.place, occasion or visit.occasion)
    if sitting.pages:
        return open_page(visit, sitting.pages[0], occasion)
    return move_to(visit, "rating", 1, occasion)  # without a place there are no pages: it waits for one


def close_sitting(booklet: Booklet, visit: Visiting, history: History, code: str) -> Move:
    """Return the move after the last page: to the next occasion, the comments or the end."""
    if visit.occasion < booklet.agenda.occasions(visit.place):
        return move_to(visit, "waiting")
    if visit.state != "comments" and has_step(booklet, "comments"):
        return move_to(visit, "comments")
    code = booklet.study.file.collecting.outcomes.finished.code or code
    excluded = history.events("exclude")
    if excluded:
        return end_visit(visit, "excluded", str(excluded[-1].get("reason", "")), code)
    return end_visit(visit, "finished", "", code)
