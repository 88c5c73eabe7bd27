"""Questions about the instructions: asked before the first rating, answered in two attempts or more."""

from collections.abc import Mapping

from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.models import BackgroundQuestion, ComprehensionPage
from panelist.collection.pages.safe_html import render_markdown
from panelist.collection.session.turn import Turn, TurnOutcome
from panelist.collection.store.operations.ops import NewEvent

STATE, FAILED = "comprehension", "comprehension failed"


def make_comprehension_page(
    booklet: Booklet, attempt: int = 1, form: Mapping[str, str] | None = None
) -> ComprehensionPage:
    """Return the questions; with a form, say which answers it lacks. Nothing says which answers are right."""
    comprehension = booklet.study.file.comprehension
    assert comprehension is not None, "the step exists only where the study has it"
    questions = []
    for n, asked in enumerate(comprehension.questions, start=1):
        value = (form or {}).get(f"q{n}", "").strip()
        problem = "please_choose" if form is not None and value not in asked.options else ""
        questions.append(
            BackgroundQuestion(f"q{n}", asked.question, "choice", asked.options, True, value, problem)
        )
    return ComprehensionPage(
        id=STATE if attempt == 1 else f"{STATE}-{attempt}",
        questions=tuple(questions),
        instructions=render_markdown(booklet.study.file.instructions),
        left=comprehension.attempts - attempt + 1 if attempt > 1 else 0,
    )


def count_attempts(turn: Turn) -> int:
    """Return the number of a rater's current attempt."""
    return 1 + len(turn.events(FAILED))


def has_passed(turn: Turn) -> bool:
    """Return whether a rater has shown in this sitting that the instructions are understood."""
    comprehension = turn.booklet.study.file.comprehension
    if comprehension is None:
        return True
    needed = comprehension.pass_mark or len(comprehension.questions)
    return any(int(detail.get("right", 0)) >= needed for detail in turn.events(STATE))


def follow_comprehension(turn: Turn) -> TurnOutcome:
    """Return the next page after enough right answers, else another attempt, and the end after the last."""
    comprehension = turn.booklet.study.file.comprehension
    assert comprehension is not None, "the step exists only where the study has it"
    attempt, occasion = count_attempts(turn), turn.visit.occasion
    page = make_comprehension_page(turn.booklet, attempt, turn.form)
    if turn.form.get("page") != page.id:
        return TurnOutcome()  # an attempt that was counted already
    if page.missing:
        return TurnOutcome(again=page)
    answers = {asked.question: asked.value for asked in page.questions}
    right = sum(
        asked.value in question.right
        for asked, question in zip(page.questions, comprehension.questions, strict=True)
    )
    needed = comprehension.pass_mark or len(page.questions)
    detail = {"occasion": occasion, "attempt": attempt, "right": right, "answers": answers}
    asked_now = NewEvent(STATE, detail)
    if right >= needed:
        return TurnOutcome(move=turn.go_to("pages"), events=(asked_now,))
    total = len(page.questions)
    reason = f"{right} of {total} comprehension questions right, {needed} needed, attempt {attempt}"
    failed = NewEvent(FAILED, {"occasion": occasion, "attempt": attempt, "reason": reason})
    if attempt < comprehension.attempts:
        return TurnOutcome(move=turn.move_to(STATE), events=(asked_now, failed))
    if comprehension.failed == "screen out":
        code = turn.booklet.study.file.collecting.outcomes.screened_out.code or turn.draw()
        return TurnOutcome(move=turn.end("screened_out", reason, code), events=(asked_now, failed))
    flag = NewEvent("flag", {**failed.detail, "about": STATE})
    return TurnOutcome(move=turn.go_to("pages"), events=(asked_now, failed, flag))
