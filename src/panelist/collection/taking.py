"""What follows from each kind of page that a rater sends."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from panelist.collection.agenda import PlanPage, Sitting
from panelist.collection.answering import (
    LONGEST_REASON,
    check_values,
    clean_words,
    collect_values,
    make_answer,
    read_number,
)
from panelist.collection.booklet import Booklet
from panelist.collection.briefing_pages import TIME_UP, make_background_page, make_consent_page
from panelist.collection.grading import grade_checks, grade_practice
from panelist.collection.history import History, Visiting
from panelist.collection.moves import Outcome, close_sitting, end_visit, go_to, move_to, open_page
from panelist.collection.policies import judge_checks, judge_practice
from panelist.collection.sheets import find_fields, make_rating_page
from panelist.collection.store.answers import Answer, Move, PageDone
from panelist.collection.store.ops import NewEvent

PRACTICE_FAILED, SCREENED_OUT = "practice failed", "screened out"
LONGEST_COMMENT = 20_000
SLACK = 0.25  # seconds by which the timer of a page may run early


def take_consent(booklet: Booklet, visit: Visiting, form: Mapping[str, str]) -> Outcome:
    """Return the way on for who agrees, the end for who does not, of whom nothing is kept."""
    if form.get("consent") == "no":
        return Outcome(
            move=end_visit(visit, "declined", "", booklet.study.file.collecting.outcomes.declined.code)
        )
    boxes = booklet.study.file.information.consent
    if any(f"box{n}" not in form for n in range(1, len(boxes) + 1)):
        return Outcome(again=make_consent_page(booklet, visit.place, form))
    agreed = NewEvent("consent", {"agreed": list(boxes)})
    return Outcome(move=go_to(booklet, visit, "background"), events=(agreed,))


def take_background(booklet: Booklet, visit: Visiting, form: Mapping[str, str]) -> Outcome:
    """Return the way on with what the rater said, and the group that follows from it."""
    page = make_background_page(booklet, form)
    if page.missing:
        return Outcome(again=page)
    said: dict[str, str] = {}
    group: str | None = None
    for question, asked in zip(booklet.study.file.background, page.questions, strict=True):
        said[question.name] = clean_words(asked.value, LONGEST_REASON)
        group = question.groups.get(asked.value, group)
    event = NewEvent("background", said)
    return Outcome(move=go_to(booklet, visit, "instructions"), events=(event,), group=group)


def take_comments(
    booklet: Booklet, visit: Visiting, form: Mapping[str, str], history: History, draw: Callable[[], str]
) -> Outcome:
    """Return the end, with the comment if there is one."""
    comment = clean_words(form.get("comments", ""), LONGEST_COMMENT)
    events = (NewEvent("comments", {"text": comment}),) if comment else ()
    return Outcome(move=close_sitting(booklet, visit, history, draw()), events=events)


def take_page(
    booklet: Booklet,
    visit: Visiting,
    form: Mapping[str, str],
    history: History,
    elapsed: float | None,
    draw: Callable[[], str],
) -> Outcome:
    """Return what follows from a page of the plan: its answers, and the next page or what is missing."""
    sitting = booklet.agenda.sitting(visit.place, visit.occasion)
    page = sitting.page(visit.page)
    if page is None:
        return Outcome()
    collecting = booklet.study.file.collecting
    given = collect_values(booklet, page, form)
    limit = collecting.page_seconds
    # The page says that the time is up, and the server's clock whether that is so.
    out_of_time = bool(
        form.get("timed_out") and limit is not None and elapsed is not None and elapsed >= limit - SLACK
    )
    good, problems = check_values(booklet, page, given, collecting.forced)
    answers = make_answers(booklet, page, good, form)
    if problems and not out_of_time:
        reasons = {name: form[name] for name in form if name.endswith("-why")}
        again = make_rating_page(booklet, sitting, visit.occasion, page, given | reasons, problems)
        return Outcome(answers=answers, again=again)
    seconds = cap_seconds(read_number(form.get("seconds"), 1e7), elapsed)
    outcome = Outcome(answers=answers, done=PageDone(None, elapsed if seconds is None else seconds))
    if out_of_time:
        outcome = replace(
            outcome, events=(NewEvent("timed out", {"page": visit.page, "occasion": visit.occasion}),)
        )
    if page.phase == "practice":
        return _follow_practice(booklet, visit, sitting, page, good, history, outcome, draw)
    return _follow_trial(booklet, visit, sitting, page, good, history, outcome, draw)


def cap_seconds(said: float | None, elapsed: float | None) -> float | None:
    """Return how long something took, as the page says, but never longer than the server has seen.

    >>> cap_seconds(42.5, 0.04), cap_seconds(3.0, 3.2), cap_seconds(None, 3.2)
    (0.04, 3.0, None)
    """
    return said if said is None or elapsed is None else min(said, elapsed)


def make_answers(
    booklet: Booklet, page: PlanPage, good: Mapping[str, str], form: Mapping[str, str]
) -> tuple[Answer, ...]:
    """Return the answers of a form, with the keys under which the page may have sent them before."""
    values = dict(good)
    if booklet.study.file.collecting.reasons:
        for name in find_fields(booklet, page):
            if reason := clean_words(form.get(f"{name}-why", ""), LONGEST_REASON):
                values[f"{name}-why"] = reason
    return tuple(
        make_answer(booklet, page, name, value, {"key": form.get(f"key-{name}", "")})
        for name, value in values.items()
    )


def take_feedback(
    booklet: Booklet, visit: Visiting, form: Mapping[str, str], history: History, draw: Callable[[], str]
) -> Outcome:
    """Return the way on after feedback: the same item again, the next one, or the end of the practice."""
    sitting = booklet.agenda.sitting(visit.place, visit.occasion)
    page = sitting.page(visit.page)
    if page is None:
        return Outcome()
    if form.get("again"):
        return Outcome(move=open_page(visit, page))
    move, events = _leave_practice(booklet, visit, sitting, page, history, (), draw)
    return Outcome(move=move, events=events)


def _follow_practice(
    booklet: Booklet,
    visit: Visiting,
    sitting: Sitting,
    page: PlanPage,
    answers: Mapping[str, str],
    history: History,
    outcome: Outcome,
    draw: Callable[[], str],
) -> Outcome:
    """Return the outcome of a practice page: its feedback where there is any."""
    right = grade_practice(booklet, page, answers).right
    attempt = _count_attempts(visit, history)
    event = NewEvent(
        "practice", {"occasion": visit.occasion, "page": page.order, "attempt": attempt, "right": right}
    )
    events = (*outcome.events, event)
    if right is not None or booklet.practice_item(page).why:
        return replace(outcome, move=move_to(visit, "feedback"), events=events)
    move, more = _leave_practice(booklet, visit, sitting, page, history, (event.detail,), draw)
    return replace(outcome, move=move, events=(*events, *more))


def _count_attempts(visit: Visiting, history: History) -> int:
    failed = [
        detail for detail in history.events(PRACTICE_FAILED) if detail.get("occasion") == visit.occasion
    ]
    return 1 + len(failed)


def _leave_practice(
    booklet: Booklet,
    visit: Visiting,
    sitting: Sitting,
    page: PlanPage,
    history: History,
    new: Sequence[Mapping[str, Any]],
    draw: Callable[[], str],
) -> tuple[Move, tuple[NewEvent, ...]]:
    """Return where a rater goes from a practice page, and what is noted; first answers to items count."""
    following = sitting.after(page.order)
    if following is not None and following.phase == "practice":
        return open_page(visit, following), ()
    practice = booklet.study.file.practice
    assert practice is not None, "practice pages come from the study"
    attempt = _count_attempts(visit, history)
    first: dict[int, bool] = {}
    for detail in (*history.events("practice"), *new):
        if detail.get("occasion") == visit.occasion and detail.get("attempt") == attempt:
            first.setdefault(int(detail["page"]), bool(detail["right"]))
    follows = judge_practice(practice, sum(first.values()), attempt)
    detail = {"occasion": visit.occasion, "attempt": attempt, "reason": follows.reason}
    if follows.kind == "again":
        return move_to(visit, "again", 1), (NewEvent(PRACTICE_FAILED, detail),)
    if follows.kind == "screen out":
        code = booklet.study.file.collecting.outcomes.screened_out.code or draw()
        return end_visit(visit, "screened_out", follows.reason, code), (NewEvent(PRACTICE_FAILED, detail),)
    events = (NewEvent("flag", detail),) if follows.kind == "flag" else ()
    if following is None:
        return move_to(visit, "comments"), events  # a plan of practice only
    return open_page(visit, following), events


def _follow_trial(
    booklet: Booklet,
    visit: Visiting,
    sitting: Sitting,
    page: PlanPage,
    good: Mapping[str, str],
    history: History,
    outcome: Outcome,
    draw: Callable[[], str],
) -> Outcome:
    """Return the outcome of a trial or check: checks graded, what follows from them, and the way on."""
    following = sitting.after(page.order)
    on = open_page(visit, following) if following else close_sitting(booklet, visit, history, draw())
    events = list(outcome.events)
    kind = "none"
    if page.due:
        now = _grade(booklet, visit, sitting, page, good, history)
        before = {
            str(detail["check"]): bool(detail["passed"]) for detail in _here(visit, history.events("check"))
        }
        events += [
            NewEvent("check", {"occasion": visit.occasion, "check": name, "passed": passed})
            for name, passed in now.items()
        ]
        follows = judge_checks(booklet.study.file.checks, before, now)
        kind = follows.kind
        if kind != "none":
            events.append(NewEvent(_EVENT[kind], {"occasion": visit.occasion, "reason": follows.reason}))
        if kind == "screen out":
            outcomes = booklet.study.file.collecting.outcomes
            code = outcomes.failed_checks.code or outcomes.screened_out.code or draw()
            return replace(
                outcome, move=end_visit(visit, "screened_out", follows.reason, code), events=tuple(events)
            )
        if kind == "exclude" and on.state == "finished":
            on = end_visit(visit, "excluded", follows.reason, on.code)
    if following is not None:
        on = _stop(booklet, visit, sitting, page, following, history, outcome, on, kind)
    return replace(outcome, move=on, events=tuple(events))


_EVENT = {"flag": "flag", "warn": "warning", "screen out": SCREENED_OUT, "exclude": "exclude"}


def _here(visit: Visiting, details: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [detail for detail in details if detail.get("occasion") == visit.occasion]


def _grade(
    booklet: Booklet,
    visit: Visiting,
    sitting: Sitting,
    page: PlanPage,
    good: Mapping[str, str],
    history: History,
) -> dict[str, bool]:
    """Return the checks that are due, graded with the answers of this page and of those they repeat."""
    wanted = {sitting.check(name).order for name in page.due} | {
        sitting.originals.get(name, 0) for name in page.due
    }
    answers = {order: history.answers(visit.occasion, order) for order in wanted - {0, page.order}}
    return grade_checks(booklet, sitting, page, {**answers, page.order: good})


def place_breaks(pages: int, every: int) -> frozenset[int]:
    """Return after how many pages there is a break: about every so many, in parts of equal length.

    So one that comes halfway comes once, and none comes just before the end.

    >>> sorted(place_breaks(14, 6)), sorted(place_breaks(40, 10))
    ([7], [10, 20, 30])
    """
    parts = (2 * pages + every) // (2 * every)
    return frozenset(-(-pages * part // parts) for part in range(1, parts))


def _stop(
    booklet: Booklet,
    visit: Visiting,
    sitting: Sitting,
    page: PlanPage,
    following: PlanPage,
    history: History,
    outcome: Outcome,
    on: Move,
    kind: str,
) -> Move:
    """Return the way on, by way of a warning or a break, or the end where the time is up."""
    minutes = booklet.study.file.collecting.minutes
    if minutes is not None:
        spent = history.seconds(visit.occasion) + ((outcome.done.seconds if outcome.done else None) or 0.0)
        if spent >= 60 * minutes:
            return end_visit(visit, "released", TIME_UP)
    if kind == "warn":
        return move_to(visit, "warning", following.order)
    breaks = booklet.study.file.breaks
    if breaks is not None and sitting.count_done(page) in place_breaks(len(sitting.counted), breaks.every):
        return move_to(visit, "break", following.order)
    return on
