"""One rater's way through the study: which page comes next, and what follows from what was sent.

It is pure: it is told where the visit is and what lies behind it, and says what to show or to store. Steps
are the states of a visit; between pages a visit can also stand at ``feedback`` (after a practice page),
``again`` (the practice is repeated), ``break``, ``pause`` and ``warning``. The number of the page says where
it goes on.
"""

from collections.abc import Callable, Mapping
from typing import Any

from panelist.collection import briefing_pages as briefing
from panelist.collection.agenda import PlanPage, Sitting
from panelist.collection.answering import NotAsked, check_values, collect_values, take_answer
from panelist.collection.booklet import Booklet
from panelist.collection.comprehension import (
    FAILED,
    STATE,
    count_attempts,
    has_passed,
    make_comprehension_page,
    take_comprehension,
)
from panelist.collection.history import History, Visiting
from panelist.collection.moves import (
    ENDS,
    STEPS,
    STOPS,
    Outcome,
    draw_code,
    find_id,
    find_state,
    go_to,
    move_to,
    open_page,
)
from panelist.collection.pages import EndPage, Page
from panelist.collection.sheets import make_rating_page
from panelist.collection.store.answers import Answer, Move
from panelist.collection.taking import (
    PRACTICE_FAILED,
    SCREENED_OUT,
    make_answers,
    take_background,
    take_comments,
    take_consent,
    take_feedback,
    take_page,
)

__all__ = ["Outcome", "draw_code", "find_state", "go_back", "next_page", "pause", "take", "take_one"]


def next_page(
    booklet: Booklet, visit: Visiting, history: History, now: float, study_state: str = "open"
) -> Page:
    """Return the page that a visit shows now."""
    state = find_state(booklet, visit)
    if state in ENDS:
        cause = find_cause(booklet, history) if state == "screened_out" else ""
        return briefing.make_end_page(booklet, state, visit.code, visit.outside_id, visit.reason, cause)
    if study_state != "open":
        if state == "consent":  # nothing of theirs is there so far
            return EndPage(id=f"end-{study_state}", kind=study_state)
        return briefing.make_stopped_page(booklet, study_state)
    if state in _BRIEFING:
        return _BRIEFING[state](booklet, visit)
    if state == STATE:
        return make_comprehension_page(booklet, count_attempts(visit, history))
    if state == "waiting":
        return briefing.make_waiting_page(booklet, visit.occasion, history.ended(visit.occasion), now)
    sitting = booklet.agenda.sitting(visit.place, visit.occasion)
    if state in STOPS:
        return briefing.make_break_page(booklet, sitting, visit.occasion, visit.page, state)
    page = sitting.page(visit.page)
    if page is None:
        # No place, or one that the plan does not have.
        return briefing.make_end_page(booklet, "full", "", visit.outside_id)
    if state == "feedback":
        answers = history.answers(visit.occasion, page.order)
        return briefing.make_feedback_page(booklet, sitting, visit.occasion, page, answers)
    # Practice begins empty: what was answered in an earlier attempt is no answer in this one.
    before = {} if page.phase == "practice" else history.answers(visit.occasion, page.order)
    return make_rating_page(booklet, sitting, visit.occasion, page, before)


def find_cause(booklet: Booklet, history: History) -> str:
    """Return why somebody was screened out, as far as the pages did it: by the last thing that was failed."""
    if history.events(SCREENED_OUT):
        return "checks"
    practice = booklet.study.file.practice
    if practice is not None and len(history.events(PRACTICE_FAILED)) >= practice.attempts:
        return "practice"
    return "comprehension" if history.events(FAILED) else ""


_BRIEFING: dict[str, Callable[[Booklet, Visiting], Page]] = {
    "consent": lambda booklet, visit: briefing.make_consent_page(booklet, visit.place),
    "background": lambda booklet, visit: briefing.make_background_page(booklet),
    "instructions": lambda booklet, visit: briefing.make_instructions_page(booklet),
    "examples": lambda booklet, visit: briefing.make_examples_page(booklet),
    "comments": lambda booklet, visit: briefing.make_comments_page(booklet),
}


def take(
    booklet: Booklet,
    visit: Visiting,
    form: Mapping[str, str],
    history: History,
    now: float,
    elapsed: float | None = None,
    draw: Callable[[], str] = draw_code,
) -> Outcome:
    """Return what follows from a form; ``elapsed`` is for how long the server knows the page was shown."""
    state = find_state(booklet, visit)
    if state == STATE:
        return take_comprehension(booklet, visit, form, history, draw)
    if form.get("page") != find_id(state, visit):
        return Outcome()
    if state in ("practice", "rating"):
        return take_page(booklet, visit, form, history, elapsed, draw)
    if state == "feedback":
        return take_feedback(booklet, visit, form, history, draw)
    if state == "consent":
        return take_consent(booklet, visit, form)
    if state == "background":
        return take_background(booklet, visit, form)
    if state == "comments":
        return take_comments(booklet, visit, form, history, draw)
    return Outcome(move=_move_on(booklet, visit, state, history, now))


def _move_on(booklet: Booklet, visit: Visiting, state: str, history: History, now: float) -> Move | None:
    """Return the move from a page on which there is nothing to answer."""
    if state in ("instructions", "examples"):
        move = go_to(booklet, visit, STEPS[STEPS.index(state) + 1])
        asked_before = move.state == STATE and has_passed(booklet, visit, history)
        return go_to(booklet, visit, "pages") if asked_before else move
    if state == "again":
        return go_to(booklet, visit, "instructions")
    if state == "waiting":
        waiting = briefing.make_waiting_page(booklet, visit.occasion, history.ended(visit.occasion), now)
        return go_to(booklet, visit, "instructions", visit.occasion + 1) if waiting.open else None
    page = booklet.agenda.sitting(visit.place, visit.occasion).page(visit.page)
    return open_page(visit, page) if state in STOPS and page is not None else None


def take_one(booklet: Booklet, visit: Visiting, message: Mapping[str, Any]) -> tuple[int, int, Answer]:
    """Return the occasion, the page and the answer that a page sends the moment it is given.

    Answers to pages that a rater has seen are taken, also from a page left since: they waited for a
    connection. What nobody asked raises NotAsked, what is no answer BadAnswer.
    """
    occasion, _, order = str(message.get("page", "")).partition("-")
    if not all(part.isascii() and part.isdigit() and len(part) < 8 for part in (occasion, order)):
        raise NotAsked("There is no such page.")
    page = booklet.agenda.sitting(visit.place, int(occasion)).page(int(order))
    if page is None or (int(occasion), int(order)) > (visit.occasion, visit.page):
        raise NotAsked("There is no such page.")
    return int(occasion), int(order), take_answer(booklet, page, message)


def pause(booklet: Booklet, visit: Visiting, form: Mapping[str, str]) -> Outcome:
    """Return what follows from Pause: what was answered is kept, and the visit waits."""
    return _leave(booklet, visit, form, lambda _, page: move_to(visit, "pause", page.order))


def go_back(booklet: Booklet, visit: Visiting, form: Mapping[str, str]) -> Outcome:
    """Return what follows from Back: what was answered is kept, and the page before comes again."""

    def find(sitting: Sitting, page: PlanPage) -> Move | None:
        before = sitting.before(page.order)
        return None if before is None or before.phase == "practice" else open_page(visit, before)

    return _leave(booklet, visit, form, find) if booklet.study.file.collecting.back else Outcome()


def _leave(
    booklet: Booklet,
    visit: Visiting,
    form: Mapping[str, str],
    find: Callable[[Sitting, PlanPage], Move | None],
) -> Outcome:
    """Return what a rater leaves on a page that is not complete, and where the visit goes."""
    sitting = booklet.agenda.sitting(visit.place, visit.occasion)
    page = sitting.page(visit.page)
    state = find_state(booklet, visit)
    if page is None or state not in ("practice", "rating") or form.get("page") != find_id(state, visit):
        return Outcome()
    good, _ = check_values(booklet, page, collect_values(booklet, page, form), forced=False)
    return Outcome(answers=make_answers(booklet, page, good, form), move=find(sitting, page))
