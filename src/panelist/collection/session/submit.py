"""What follows from each kind of page that a rater sends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from panelist.collection.pages.agenda import PlanPage
from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.briefing_pages import TIME_UP, make_background_page, make_consent_page
from panelist.collection.pages.grading import grade_checks, grade_practice
from panelist.collection.pages.sheets import find_fields, make_rating_page
from panelist.collection.session.answering import (
    LONGEST_REASON,
    check_values,
    clean_words,
    collect_values,
    make_answer,
    read_number,
)
from panelist.collection.session.page_facts import FAILED, find_failed, list_unrated, read_facts
from panelist.collection.session.turn import Turn, TurnOutcome
from panelist.collection.store.operations.ops import NewEvent
from panelist.collection.store.operations.saving import Answer, Move, PageDone
from panelist.study.sections.briefing import Practice
from panelist.study.sections.checks import Checks

PRACTICE_FAILED, SCREENED_OUT = "practice failed", "screened out"
LONGEST_COMMENT = 20_000
SLACK = 0.25  # seconds by which the timer of a page may run early


def follow_consent(turn: Turn) -> TurnOutcome:
    """Return the next step for people who agree, and the end, without a trace, for people who decline."""
    file, form = turn.booklet.study.file, turn.form
    if form.get("consent") == "no":
        return TurnOutcome(move=turn.end("declined", "", file.collecting.outcomes.declined.code))
    boxes = file.information.consent
    if any(f"box{n}" not in form for n in range(1, len(boxes) + 1)):
        return TurnOutcome(again=make_consent_page(turn.booklet, turn.visit.place, form))
    agreed = NewEvent("consent", {"agreed": list(boxes)})
    return TurnOutcome(move=turn.go_to("background"), events=(agreed,))


def follow_background(turn: Turn) -> TurnOutcome:
    """Return the next step with what the rater said, and the group that follows from it."""
    page = make_background_page(turn.booklet, turn.form)
    if page.missing:
        return TurnOutcome(again=page)
    said: dict[str, str] = {}
    group: str | None = None
    for question, asked in zip(turn.booklet.study.file.background, page.questions, strict=True):
        said[question.name] = clean_words(asked.value, LONGEST_REASON)
        group = question.groups.get(asked.value, group)
    event = NewEvent("background", said)
    return TurnOutcome(move=turn.go_to("sound"), events=(event,), group=group)


def follow_comments(turn: Turn) -> TurnOutcome:
    """Return the end, with the comment if there is one."""
    comment = clean_words(turn.form.get("comments", ""), LONGEST_COMMENT)
    events = (NewEvent("comments", {"text": comment}),) if comment else ()
    return TurnOutcome(move=turn.close_sitting(), events=events)


def follow_page(turn: Turn) -> TurnOutcome:
    """Return what follows from a page of the plan: its answers, and the next page or what is missing."""
    page = turn.page
    if page is None:
        return TurnOutcome()
    booklet, visit, form, elapsed = turn.booklet, turn.visit, turn.form, turn.elapsed
    collecting = booklet.study.file.collecting
    given = collect_values(booklet, page, form)
    limit = collecting.page_seconds
    # The page says that the time is up; the server's clock decides whether it is.
    out_of_time = bool(
        form.get("timed_out") and limit is not None and elapsed is not None and elapsed >= limit - SLACK
    )
    good, problems = check_values(booklet, page, given, collecting.forced)
    failed = find_failed(booklet, page, visit.occasion, form)
    for name in (unrated := list_unrated(booklet, page, failed)):
        good.pop(name, None)
        problems.pop(name, None)
    answers = make_answers(booklet, page, good, form) + _take_back(turn, page, unrated)
    if problems and not out_of_time:
        reasons = {name: form[name] for name in form if name.endswith("-why")}
        again = make_rating_page(booklet, turn.sitting, visit.occasion, page, given | reasons, problems)
        return TurnOutcome(answers=answers, again=again)
    seconds = cap_seconds(read_number(form.get("seconds"), 1e7), elapsed)
    done = PageDone(None, elapsed if seconds is None else seconds, read_facts(form, page, failed))
    here = {"page": visit.page, "occasion": visit.occasion}
    events: tuple[NewEvent, ...] = (NewEvent("timed out", here),) if out_of_time else ()
    if failed:
        events += (NewEvent(FAILED, {**here, "outputs": sorted(failed)}),)
    outcome = TurnOutcome(answers=answers, done=done, events=events)
    follow = _follow_practice if page.phase == "practice" else _follow_trial
    return follow(turn, page, good, outcome)


def _take_back(turn: Turn, page: PlanPage, names: frozenset[str]) -> tuple[Answer, ...]:
    """Return the answers that take back what was answered about something that does not play after all."""
    if not names:
        return ()
    before = turn.history.answers(turn.visit.occasion, page.order)
    return tuple(make_answer(turn.booklet, page, name, "", {}) for name in sorted(names) if before.get(name))


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


def follow_feedback(turn: Turn) -> TurnOutcome:
    """Return the next page after feedback: the same item again, the next one, or the end of the practice."""
    page = turn.page
    if page is None:
        return TurnOutcome()
    if turn.form.get("again"):
        return TurnOutcome(move=turn.open_page(page))
    move, events = _leave_practice(turn, page)
    return TurnOutcome(move=move, events=events)


def _follow_practice(
    turn: Turn, page: PlanPage, good: Mapping[str, str], outcome: TurnOutcome
) -> TurnOutcome:
    """Return the outcome of a practice page: its feedback where there is any."""
    right = grade_practice(turn.booklet, page, good).right
    attempt = _count_attempts(turn)
    event = NewEvent(
        "practice", {"occasion": turn.visit.occasion, "page": page.order, "attempt": attempt, "right": right}
    )
    events = (*outcome.events, event)
    if right is not None or turn.booklet.practice_item(page).why:
        return replace(outcome, move=turn.move_to("feedback"), events=events)
    move, more = _leave_practice(turn, page, (event.detail,))
    return replace(outcome, move=move, events=(*events, *more))


def _count_attempts(turn: Turn) -> int:
    return 1 + len(turn.events(PRACTICE_FAILED))


def _leave_practice(
    turn: Turn, page: PlanPage, new: Sequence[Mapping[str, Any]] = ()
) -> tuple[Move, tuple[NewEvent, ...]]:
    """Return where a rater goes from a practice page, and what is noted; first answers to items count."""
    following = turn.sitting.after(page.order)
    if following is not None and following.phase == "practice":
        return turn.open_page(following), ()
    file = turn.booklet.study.file
    assert file.practice is not None, "practice pages come from the study"
    attempt = _count_attempts(turn)
    first: dict[int, bool] = {}
    for detail in (*turn.events("practice"), *new):
        if detail.get("attempt") == attempt:
            first.setdefault(int(detail["page"]), bool(detail["right"]))
    follows = judge_practice(file.practice, sum(first.values()), attempt)
    detail = {"occasion": turn.visit.occasion, "attempt": attempt, "reason": follows.reason}
    if follows.kind == "again":
        return turn.move_to("again", 1), (NewEvent(PRACTICE_FAILED, detail),)
    if follows.kind == "screen out":
        code = file.collecting.outcomes.screened_out.code or turn.draw()
        return turn.end("screened_out", follows.reason, code), (NewEvent(PRACTICE_FAILED, detail),)
    events = (NewEvent("flag", {**detail, "about": "practice"}),) if follows.kind == "flag" else ()
    if following is None:
        return turn.move_to("comments"), events  # a plan of practice only
    return turn.open_page(following), events


def _follow_trial(turn: Turn, page: PlanPage, good: Mapping[str, str], outcome: TurnOutcome) -> TurnOutcome:
    """Return the outcome of a trial or check: checks graded, what follows from them, and the next page."""
    following = turn.sitting.after(page.order)
    on = turn.open_page(following) if following else turn.close_sitting()
    events = list(outcome.events)
    kind = "none"
    if page.due:
        occasion = turn.visit.occasion
        now = _grade(turn, page, good)
        before = {str(detail["check"]): bool(detail["passed"]) for detail in turn.events("check")}
        events += [
            NewEvent("check", {"occasion": occasion, "check": name, "passed": passed})
            for name, passed in now.items()
        ]
        follows = judge_checks(turn.booklet.study.file.checks, before, now)
        kind = follows.kind
        if kind != "none":
            events.append(NewEvent(_EVENT[kind], {"occasion": occasion, "reason": follows.reason}))
        if kind == "screen out":
            outcomes = turn.booklet.study.file.collecting.outcomes
            code = outcomes.failed_checks.code or outcomes.screened_out.code or turn.draw()
            on = turn.end("screened_out", follows.reason, code)
            return replace(outcome, move=on, events=tuple(events))
        if kind == "exclude" and on.state == "finished":
            on = turn.end("excluded", follows.reason, on.code)
    if following is not None:
        seconds = (outcome.done.seconds if outcome.done else None) or 0.0
        on = _stop(turn, page, following, seconds, kind) or on
    return replace(outcome, move=on, events=tuple(events))


_EVENT = {"flag": "flag", "warn": "warning", "screen out": SCREENED_OUT, "exclude": "exclude"}


def _grade(turn: Turn, page: PlanPage, good: Mapping[str, str]) -> dict[str, bool]:
    """Return the checks that are due, graded with the answers of this page and of those they repeat."""
    sitting = turn.sitting
    wanted = {sitting.check(name).order for name in page.due} | {
        sitting.originals.get(name, 0) for name in page.due
    }
    occasion = turn.visit.occasion
    answers = {order: turn.history.answers(occasion, order) for order in wanted - {0, page.order}}
    return grade_checks(turn.booklet, sitting, page, {**answers, page.order: good})


def place_breaks(pages: int, every: int) -> frozenset[int]:
    """Return after how many pages there is a break: about every ``every`` pages, in parts of equal length.

    So a break halfway comes once, and none comes just before the end.

    >>> sorted(place_breaks(14, 6)), sorted(place_breaks(40, 10))
    ([7], [10, 20, 30])
    """
    parts = (2 * pages + every) // (2 * every)
    return frozenset(-(-pages * part // parts) for part in range(1, parts))


def _stop(turn: Turn, page: PlanPage, following: PlanPage, seconds: float, kind: str) -> Move | None:
    """Return the move to a warning or a break, or the end where the time is up; None where neither is due."""
    minutes = turn.booklet.study.file.collecting.minutes
    if minutes is not None and turn.history.seconds(turn.visit.occasion) + seconds >= 60 * minutes:
        return turn.end("released", TIME_UP)
    if kind == "warn":
        return turn.move_to("warning", following.order)
    breaks, sitting = turn.booklet.study.file.breaks, turn.sitting
    if breaks is not None and sitting.count_done(page) in place_breaks(len(sitting.counted), breaks.every):
        return turn.move_to("break", following.order)
    return None


@dataclass(frozen=True)
class Consequence:
    """What follows, and why: ``none``, ``flag``, ``warn``, ``screen out``, ``exclude`` or ``again``."""

    kind: str = "none"
    reason: str = ""


def judge_checks(checks: Checks | None, before: Mapping[str, bool], now: Mapping[str, bool]) -> Consequence:
    """Return what follows from the checks graded now; ``before`` has those graded earlier.

    Nothing follows from a check that was passed, nor while no more have failed than the study allows.
    """
    if checks is None or all(now.values()):
        return Consequence()
    results = {**before, **now}
    failed = sorted(name for name, passed in results.items() if not passed)
    if len(failed) <= checks.allowed:
        return Consequence()
    reason = f"failed {len(failed)} of {len(results)} checks ({', '.join(failed)}), {checks.allowed} allowed"
    return Consequence(checks.then, reason)


def judge_practice(practice: Practice, right: int, attempt: int) -> Consequence:
    """Return what follows from an attempt at the practice: ``again`` while there are attempts left."""
    if right >= practice.pass_mark:
        return Consequence()
    total = len(practice.items)
    reason = f"{right} of {total} practice items right, {practice.pass_mark} needed, attempt {attempt}"
    return Consequence("again" if attempt < practice.attempts else practice.failed, reason)
