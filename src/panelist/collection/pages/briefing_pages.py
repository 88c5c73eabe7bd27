"""The pages around the ratings: information, background, instructions, examples, feedback and the end."""

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

from markupsafe import escape

from panelist.collection.pages.agenda import PlanPage, Sitting
from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.grading import grade_practice
from panelist.collection.pages.models import (
    BackgroundPage,
    BackgroundQuestion,
    BreakPage,
    CommentsPage,
    ConsentPage,
    EndPage,
    ExamplesPage,
    FeedbackPage,
    InstructionsPage,
    WorkedExample,
)
from panelist.collection.pages.questions import name_output
from panelist.collection.pages.safe_html import NOTHING, render_line, render_markdown
from panelist.collection.pages.sheets import find_sheets, make_output, make_outputs, page_name, show_beside
from panelist.collection.pages.turn_rows import make_rows
from panelist.collection.store.operations.places import TIMED_OUT
from panelist.formats.sanitise import name_regions
from panelist.study.sections.briefing import Example

_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
TIME_UP = "the time for the sitting was over"


def has_step(booklet: Booklet, step: str) -> bool:
    """Return whether a study has a step of the briefing."""
    file = booklet.study.file
    information = file.information
    return {
        "consent": bool(information.text or information.facts or information.consent or information.headline),
        "background": bool(file.background),
        "sound": file.sound_check is not None,
        "instructions": bool(file.instructions),
        "examples": bool(file.examples),
        "comprehension": file.comprehension is not None,
        "comments": bool(file.closing.comments),
    }.get(step, True)


def make_consent_page(
    booklet: Booklet, place: str | None, form: Mapping[str, str] | None = None
) -> ConsentPage:
    """Return the information sheet; with a form, the one that was not complete."""
    information = booklet.study.file.information
    return ConsentPage(
        id="consent",
        headline=information.headline or booklet.study.title,
        text=render_markdown(information.text),
        facts=tuple((fact.label, render_line(fact.text)) for fact in information.facts),
        boxes=tuple(information.consent),
        ticked=tuple(f"box{n}" in (form or {}) for n in range(1, len(information.consent) + 1)),
        ethics=information.ethics,
        contact=information.contact,
        minutes=booklet.minutes(place),
        missing=form is not None,
    )


def make_background_page(booklet: Booklet, form: Mapping[str, str] | None = None) -> BackgroundPage:
    """Return the questions about the rater; with a form, say which answers it lacks."""
    questions = []
    for n, question in enumerate(booklet.study.file.background, start=1):
        value = (form or {}).get(f"b{n}", "").strip()
        problem = (
            "" if form is None else _find_problem(question.type, question.options, question.required, value)
        )
        questions.append(
            BackgroundQuestion(
                f"b{n}", question.question, question.type, question.options, question.required, value, problem
            )
        )
    return BackgroundPage(id="background", questions=tuple(questions))


def _find_problem(kind: str, options: tuple[str, ...], required: bool, value: str) -> str:
    if not value:
        return ("please_choose" if kind == "choice" else "please_words") if required else ""
    if kind == "choice" and value not in options:
        return "please_choose"
    if kind == "number" and _NUMBER.fullmatch(value) is None:
        return "please_number"
    return ""


def make_instructions_page(booklet: Booklet) -> InstructionsPage:
    """Return the instructions, with what each criterion means."""
    questions = tuple(
        booklet.question(one.name, 2 if one.scale.comparative else 1) for one in booklet.study.criteria
    )
    defined = tuple(question for question in questions if question.definition)
    return InstructionsPage(
        id="instructions", text=render_markdown(booklet.study.file.instructions), questions=defined
    )


def make_examples_page(booklet: Booklet) -> ExamplesPage:
    """Return the worked examples."""
    examples, say = booklet.study.file.examples, booklet.words.say
    made = tuple(
        _work(booklet, example, number, say("example", number, total=len(examples)))
        for number, example in enumerate(examples, start=1)
    )
    texts = (text for one in made for text in (one.context, *(output.text for output in one.outputs)))
    return ExamplesPage(id="examples", examples=made, sheets=find_sheets(booklet, *texts))


def _work(booklet: Booklet, example: Example, number: int, title: str) -> WorkedExample:
    texts, make_cell = example.outputs or (example.output,), booklet.study.outputs.make_cell
    shown = len(texts)
    names = [
        name_output(booklet.noun, place, booklet.lettered) if shown > 1 else ""
        for place in range(1, shown + 1)
    ]
    answers = []
    for name, given in example.answers.items():
        criterion = booklet.criterion(name)
        each = (given,) if isinstance(given, str) else given
        question = booklet.question(name, shown if criterion.scale.comparative else 1)
        for place, answer in enumerate(each):
            label = f"{criterion.heading}, {names[place]}" if len(each) > 1 else criterion.heading
            answers.append((label, question.tell(answer)))
    made = [
        make_output(booklet, text, name, place, f"examples-{number}o{place}")
        for place, (text, name) in enumerate(zip(texts, names, strict=True), start=1)
    ]
    outputs = tuple(replace(output, text=name_regions(output.text, title)) for output in made)
    beside = show_beside(booklet, example.context, "context", f"examples-{number}context")
    context = name_regions(beside, title)
    return WorkedExample(
        context,
        outputs,
        tuple(answers),
        render_markdown(example.why) if example.why else NOTHING,
        make_rows(booklet, [make_cell("output", text) for text in texts], f"examples-{number}o"),
    )


def make_feedback_page(
    booklet: Booklet, sitting: Sitting, occasion: int, page: PlanPage, answers: Mapping[str, str]
) -> FeedbackPage:
    """Return what we would have answered on a practice page, and why."""
    result = grade_practice(booklet, page, answers)
    item, name = booklet.practice_item(page), page_name(occasion, page.order)
    context = show_beside(booklet, item.context, "context", f"{name}-context")
    outputs = make_outputs(booklet, page, name)
    return FeedbackPage(
        id=f"feedback-{occasion}-{page.order}",
        n=sitting.practice.index(page) + 1,
        total=len(sitting.practice),
        headline=f"feedback_{result.direction}",
        noun=booklet.noun,
        context=context,
        outputs=outputs,
        rows=make_rows(booklet, booklet.cells(page), f"{name}-"),
        sheets=find_sheets(booklet, context, *(one.text for one in outputs)),
        marks=result.marks,
        why=render_markdown(item.why) if item.why else NOTHING,
        language=booklet.study.file.text_language,
    )


def make_break_page(booklet: Booklet, sitting: Sitting, occasion: int, page: int, kind: str) -> BreakPage:
    """Return a stop before a page: a break, a pause, a warning, or another round of practice."""
    breaks = booklet.study.file.breaks
    counted = sitting.counted
    return BreakPage(
        id=f"{kind}-{occasion}-{page}",
        kind=kind,
        n=sum(one.order < page for one in counted) if kind != "again" else 0,
        total=len(counted) if kind != "again" else 0,
        text=render_markdown(breaks.text) if kind == "break" and breaks and breaks.text else NOTHING,
        hold_minutes=booklet.study.file.collecting.hold_minutes,
    )


def make_comments_page(booklet: Booklet) -> CommentsPage:
    """Return the box for comments."""
    return CommentsPage(id="comments", question=booklet.study.file.closing.comments)


def make_end_page(
    booklet: Booklet,
    state: str,
    code: str = "",
    outside_id: str | None = None,
    reason: str = "",
    cause: str = "",
) -> EndPage:
    """Return the page of an end: raters who are excluded are thanked like everybody else.

    ``cause`` says why a rater was screened out: ``practice``, ``comprehension`` or ``checks``.
    """
    file = booklet.study.file
    kind = {"excluded": "finished"}.get(state, "timed_out" if reason == TIME_UP else state)
    outcomes = file.collecting.outcomes
    outcome = getattr(outcomes, kind) if kind in type(outcomes).model_fields else None
    if kind == "screened_out" and code and code == outcomes.failed_checks.code:
        outcome = outcomes.failed_checks
    code = code or (outcome.code if outcome else "")
    redirect = outcome.redirect if outcome else ""
    if redirect:
        filled = {"{code}": code, "{id}": outside_id or ""}
        for blank, value in filled.items():
            redirect = redirect.replace(blank, quote(value, safe=""))
    text = render_markdown(file.closing.thanks) if kind == "finished" and file.closing.thanks else NOTHING
    if kind == "incompatible":
        text = escape(", ".join(booklet.words.say(f"device_{one}") for one in file.collecting.devices))
    lines, amount = _find_lines(booklet, kind, reason, cause)
    return EndPage(
        id=f"end-{kind}", kind=kind, text=text, code=code, redirect=redirect, lines=lines, amount=amount
    )


def make_away_page(booklet: Booklet, study_state: str) -> EndPage:
    """Return the page for a rater who was away for long, and whose place is still free."""
    if study_state != "open":
        return make_stopped_page(booklet, study_state)
    return EndPage(id="end-away", kind="away", lines=("so_far_saved",))


def make_stopped_page(booklet: Booklet, state: str) -> EndPage:
    """Return the page for a rater in progress while the study is paused, or once it is closed."""
    paid = ("pay_ask",) if state == "closed" and booklet.study.file.pay is not None else ()
    return EndPage(id=f"end-{state}", kind=state, lines=("so_far_saved", *paid))


def _find_lines(booklet: Booklet, kind: str, reason: str, cause: str) -> tuple[tuple[str, ...], str]:
    """Return what an end says about its cause and about pay, and the amount where one is promised."""
    file = booklet.study.file
    asks = ("pay_ask",) if file.pay is not None else ()
    if kind == "screened_out":
        why = (f"screened_out_{cause}",) if cause else ()
        if file.recruiting is None:
            return (*why, *asks), ""
        paid = file.recruiting.screen_out
        if paid is None:
            return (*why, "pay_return"), ""
        currency = file.pay.currency if file.pay else ""
        return (*why, "pay_amount"), booklet.words.money(paid.reward, currency)
    if kind == "released":
        return (*(("released_late",) if reason == TIMED_OUT else ()), *asks), ""
    return (asks, "") if kind == "timed_out" else ((), "")


def make_waiting_page(booklet: Booklet, occasion: int, ended: float | None, now: float) -> EndPage:
    """Return the page between two occasions."""
    opens = (ended if ended is not None else now) + 86_400 * booklet.study.file.design.days_between
    return EndPage(id=f"waiting-{occasion}", kind="waiting", opens=opens, open=now >= opens)
