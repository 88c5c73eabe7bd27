"""Questions about the instructions: asked before the first rating, answered in two attempts or more."""

from collections.abc import Callable, Mapping

from panelist.collection.booklet import Booklet
from panelist.collection.history import History, Visiting
from panelist.collection.markdown import render_markdown
from panelist.collection.moves import Outcome, end_visit, go_to, move_to
from panelist.collection.pages import BackgroundQuestion, ComprehensionPage
from panelist.collection.store.ops import NewEvent

STATE, FAILED = "comprehension", "comprehension failed"


def make_comprehension_page(
    booklet: Booklet, attempt: int = 1, form: Mapping[str, str] | None = None
) -> ComprehensionPage:
    """Return the questions; with a form, say which answers it lacks. Nothing says which answers are right."""
    comprehension = booklet.study.file.comprehension
    assert comprehension is not None, "the step is there only where the study has it"
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


def count_attempts(visit: Visiting, history: History) -> int:
    """Return the number of the attempt that a rater is at."""
    before = [detail for detail in history.events(FAILED) if detail.get("occasion") == visit.occasion]
    return 1 + len(before)


def has_passed(booklet: Booklet, visit: Visiting, history: History) -> bool:
    """Return whether a rater has shown in this sitting that the instructions are understood."""
    comprehension = booklet.study.file.comprehension
    if comprehension is None:
        return True
    needed = comprehension.pass_mark or len(comprehension.questions)
    mine = (detail for detail in history.events(STATE) if detail.get("occasion") == visit.occasion)
    return any(int(detail.get("right", 0)) >= needed for detail in mine)


def take_comprehension(
    booklet: Booklet, visit: Visiting, form: Mapping[str, str], history: History, draw: Callable[[], str]
) -> Outcome:
    """Return the way on for who understood, another attempt for who did not, and the end after the last."""
    comprehension = booklet.study.file.comprehension
    assert comprehension is not None, "the step is there only where the study has it"
    attempt = count_attempts(visit, history)
    page = make_comprehension_page(booklet, attempt, form)
    if form.get("page") != page.id:
        return Outcome()  # an attempt that was counted already
    if page.missing:
        return Outcome(again=page)
    answers = {asked.question: asked.value for asked in page.questions}
    right = sum(
        asked.value in question.right
        for asked, question in zip(page.questions, comprehension.questions, strict=True)
    )
    needed = comprehension.pass_mark or len(page.questions)
    detail = {"occasion": visit.occasion, "attempt": attempt, "right": right, "answers": answers}
    asked_now = NewEvent(STATE, detail)
    if right >= needed:
        return Outcome(move=go_to(booklet, visit, "pages"), events=(asked_now,))
    total = len(page.questions)
    reason = f"{right} of {total} comprehension questions right, {needed} needed, attempt {attempt}"
    failed = NewEvent(FAILED, {"occasion": visit.occasion, "attempt": attempt, "reason": reason})
    if attempt < comprehension.attempts:
        return Outcome(move=move_to(visit, STATE), events=(asked_now, failed))
    if comprehension.failed == "screen out":
        code = booklet.study.file.collecting.outcomes.screened_out.code or draw()
        return Outcome(move=end_visit(visit, "screened_out", reason, code), events=(asked_now, failed))
    flag = NewEvent("flag", {"occasion": visit.occasion, "attempt": attempt, "reason": reason})
    return Outcome(move=go_to(booklet, visit, "pages"), events=(asked_now, failed, flag))
