"""One rater's way through the study: which page comes next, and what follows from what was sent.

It is pure: it takes where the visit is and its history, and returns what to show or to store. Steps
are the states of a visit; between pages a visit can also be at ``feedback`` (after a practice page),
``again`` (the practice is repeated), ``break``, ``pause`` and ``warning``. The number of the page says where
it continues.
"""

from collections.abc import Callable, Mapping
from typing import Any

from panelist.collection.pages import briefing_pages as briefing
from panelist.collection.pages.models import EndPage, Page
from panelist.collection.pages.sheets import make_rating_page
from panelist.collection.session.answering import NotAsked, check_values, collect_values, read_answer
from panelist.collection.session.comprehension import (
    FAILED,
    STATE,
    count_attempts,
    follow_comprehension,
    has_passed,
    make_comprehension_page,
)
from panelist.collection.session.submit import (
    PRACTICE_FAILED,
    SCREENED_OUT,
    follow_background,
    follow_comments,
    follow_consent,
    follow_feedback,
    follow_page,
    make_answers,
)
from panelist.collection.session.turn import ENDS, STEPS, STOPS, Turn, TurnOutcome
from panelist.collection.store.operations.saving import Answer, Move


def next_page(turn: Turn, study_state: str = "open") -> Page:
    """Return the page that a visit shows now."""
    booklet, visit, state = turn.booklet, turn.visit, turn.state
    if state in ENDS:
        cause = find_cause(turn) if state == "screened_out" else ""
        return briefing.make_end_page(booklet, state, visit.code, visit.outside_id, visit.reason, cause)
    if study_state != "open":
        if state == "consent":  # nothing of theirs is stored so far
            return EndPage(id=f"end-{study_state}", kind=study_state)
        return briefing.make_stopped_page(booklet, study_state)
    if state in _BRIEFING:
        return _BRIEFING[state](turn)
    if state in STOPS:
        return briefing.make_break_page(booklet, turn.sitting, visit.occasion, visit.page, state)
    page = turn.page
    if page is None:
        # No place, or one that the plan does not have.
        return briefing.make_end_page(booklet, "full", "", visit.outside_id)
    if state == "feedback":
        answers = turn.history.answers(visit.occasion, page.order)
        return briefing.make_feedback_page(booklet, turn.sitting, visit.occasion, page, answers)
    # Practice begins empty: what was answered in an earlier attempt is not an answer in this one.
    before = {} if page.phase == "practice" else turn.history.answers(visit.occasion, page.order)
    return make_rating_page(booklet, turn.sitting, visit.occasion, page, before)


def find_cause(turn: Turn) -> str:
    """Return why a rater was screened out, as far as the pages did it: by what was failed last."""
    if turn.history.events(SCREENED_OUT):
        return "checks"
    practice = turn.booklet.study.file.practice
    if practice is not None and len(turn.history.events(PRACTICE_FAILED)) >= practice.attempts:
        return "practice"
    return "comprehension" if turn.history.events(FAILED) else ""


def _make_waiting_page(turn: Turn) -> EndPage:
    occasion = turn.visit.occasion
    return briefing.make_waiting_page(turn.booklet, occasion, turn.history.ended(occasion), turn.now)


_BRIEFING: dict[str, Callable[[Turn], Page]] = {
    "consent": lambda turn: briefing.make_consent_page(turn.booklet, turn.visit.place),
    "background": lambda turn: briefing.make_background_page(turn.booklet),
    "instructions": lambda turn: briefing.make_instructions_page(turn.booklet),
    "examples": lambda turn: briefing.make_examples_page(turn.booklet),
    STATE: lambda turn: make_comprehension_page(turn.booklet, count_attempts(turn)),
    "comments": lambda turn: briefing.make_comments_page(turn.booklet),
    "waiting": _make_waiting_page,
}


def submit(turn: Turn, button: str = "page") -> TurnOutcome:
    """Return what follows from a form sent by a button: ``page`` (continue), ``back`` or ``pause``."""
    # An attempt at the comprehension questions has an id of its own, which their page compares.
    if turn.state != STATE and turn.form.get("page") != turn.page_id:
        return TurnOutcome()
    if button != "page":
        return _leave(turn, button)
    follow = _FOLLOW.get(turn.state)
    return TurnOutcome(move=_move_on(turn)) if follow is None else follow(turn)


_FOLLOW: dict[str, Callable[[Turn], TurnOutcome]] = {
    "consent": follow_consent,
    "background": follow_background,
    STATE: follow_comprehension,
    "practice": follow_page,
    "feedback": follow_feedback,
    "rating": follow_page,
    "comments": follow_comments,
}


def _move_on(turn: Turn) -> Move | None:
    """Return the move from a page on which there is nothing to answer."""
    state = turn.state
    if state in ("instructions", "examples"):
        move = turn.go_to(STEPS[STEPS.index(state) + 1])
        return turn.go_to("pages") if move.state == STATE and has_passed(turn) else move
    if state == "again":
        return turn.go_to("instructions")
    if state == "waiting":
        is_open = _make_waiting_page(turn).open
        return turn.go_to("instructions", turn.visit.occasion + 1) if is_open else None
    return turn.open_page(turn.page) if state in STOPS and turn.page is not None else None


def _leave(turn: Turn, button: str) -> TurnOutcome:
    """Return what a rater leaves on a page that is not complete, and where the visit goes."""
    booklet, page = turn.booklet, turn.page
    if page is None or turn.state not in ("practice", "rating"):
        return TurnOutcome()
    if button == "back":
        if not booklet.study.file.collecting.back:
            return TurnOutcome()
        before = turn.sitting.before(page.order)
        move = None if before is None or before.phase == "practice" else turn.open_page(before)
    else:
        move = turn.move_to("pause", page.order)
    good, _ = check_values(booklet, page, collect_values(booklet, page, turn.form), forced=False)
    return TurnOutcome(answers=make_answers(booklet, page, good, turn.form), move=move)


def submit_answer(turn: Turn, message: Mapping[str, Any]) -> tuple[int, int, Answer]:
    """Return the occasion, the page and the answer that a page sends the moment it is given.

    Answers to pages that a rater has seen are accepted, even from a page left since: they waited for a
    connection. What was not asked raises NotAsked, what is not an answer BadAnswer.
    """
    visit = turn.visit
    occasion, _, order = str(message.get("page", "")).partition("-")
    if not all(part.isascii() and part.isdigit() and len(part) < 8 for part in (occasion, order)):
        raise NotAsked("There is no such page.")
    page = turn.booklet.agenda.sitting(visit.place, int(occasion)).page(int(order))
    if page is None or (int(occasion), int(order)) > (visit.occasion, visit.page):
        raise NotAsked("There is no such page.")
    return int(occasion), int(order), read_answer(turn.booklet, page, message)
