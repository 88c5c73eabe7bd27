"""Open questions asked one by one; every answer is in the study file before the next is asked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from panelist.reports.datasheet.answers_file import Given, save_answers
from panelist.reports.datasheet.fill import rename_criteria
from panelist.reports.datasheet.fill.given import read_answer
from panelist.reports.datasheet.heds_questions import SheetQuestion
from panelist.reports.datasheet.sheet import Blank, Sheet, SheetAnswer, describe_answer, say_missing
from panelist.study.study import Study

MOST_LISTED = 30  # options from which a list would fill the screen
HELP = "Enter leaves a question open, q stops; you can continue another time."


@dataclass(frozen=True)
class AskedQuestion:
    """The result of asking: the study with the answers, how many were given, and whether all were asked."""

    study: Study
    n_answered: int
    finished: bool


def ask_open(
    study: Study, fill: Callable[[Study], Sheet], read: Callable[[str], str], say: Callable[[str], None]
) -> AskedQuestion:
    """Ask for every open answer; ``fill`` makes the sheet of a study, ``read`` shows a prompt and waits.

    An EOFError or KeyboardInterrupt out of ``read`` stops like ``q``: what was answered is kept.
    """
    blanks = fill(study).open()
    say(f"{len(blanks)} questions are open. {HELP}" if blanks else "No question is open.")
    answered = 0
    for place, blank in enumerate(blanks, start=1):
        try:
            given = _ask(blank, f"{place}/{len(blanks)}", read, say)
        except (EOFError, KeyboardInterrupt):
            given = None
        if given is None:
            return AskedQuestion(study, answered, finished=False)
        if given:
            study = save_answers(study, _place_answer(study, blank, given))
            answered += 1
    return AskedQuestion(study, answered, finished=True)


def _ask(
    blank: Blank, place: str, read: Callable[[str], str], say: Callable[[str], None]
) -> tuple[str, ...] | None:
    """Return the answer in words, empty if it was left open, None to stop."""
    question = blank.question
    say("")
    say(
        f"[{place}] {question.number} {question.title}" + (f" ({blank.criterion})" if blank.criterion else "")
    )
    _show_options(question, say)
    while True:
        line = read("> ").strip()
        if line.casefold() == "q":
            return None
        if not line or not question.is_choice:
            if (
                question.kind == "whole"
                and line
                and not (line.isascii() and line.isdigit())
                and line != "N/A"
            ):
                say("Please give a whole number, or N/A.")
                continue
            return (line,) if line else ()
        answer = _read_choice(question, line, say)
        if answer is None:
            continue
        if say_missing(question, answer) == "an explanation is missing":
            text = read("Please explain: ").strip()
            if not text:
                say("This option needs an explanation; the question stays open.")
                return ()
            answer = SheetAnswer(answer.codes, text)
        words = tuple(describe_answer(question, answer))
        if read_answer(question, words) == answer:
            return words
        say("That explanation reads like another option; please use more words.")


def _show_options(question: SheetQuestion, say: Callable[[str], None]) -> None:
    if len(question.options) > MOST_LISTED:
        say("    (the name of a language, or several with semicolons)")
        return
    for option in question.options:
        say(f"    {option.number}. {option.words}")
    if question.kind == "many":
        say("    (several with semicolons: 1; 3)")


def _read_choice(question: SheetQuestion, line: str, say: Callable[[str], None]) -> SheetAnswer | None:
    """Return the options that a line names, None where one of its words is not an option."""
    words = [word.strip() for word in line.split(";")] if question.kind == "many" else [line]
    codes: list[str] = []
    for word in filter(None, words):
        found = read_answer(question, word).codes
        if not found:
            known = ", ".join(one.number for one in question.options[:MOST_LISTED])
            say(
                f"{word!r} is not one of the options. "
                + (f"Known: {known}." if len(question.options) <= MOST_LISTED else "")
            )
            return None
        codes += [code for code in found if code not in codes]
    if len(codes) > 1 and any(question.by_code[code].alone for code in codes):
        say("One of these options excludes all others.")
        return None
    return SheetAnswer(tuple(codes))


def _place_answer(study: Study, blank: Blank, words: tuple[str, ...]) -> Mapping[str, Given]:
    """Return the answer as it is written under heds: a text, a list, or one of these for each criterion."""
    question = blank.question
    value: Given = words if question.is_choice else words[0]
    if not question.per_criterion:
        return {question.number: value}
    here = study.file.heds.get(question.number, {})
    kept: dict[str, Given] = {}
    if isinstance(here, Mapping):
        kept = dict(here)
    else:  # one answer for all criteria so far
        kept = {one.name: here if not isinstance(here, bool) else str(here) for one in study.criteria}
    # The sheet may use another name for a criterion, where the form could not read its own.
    old = {new: name for name, new in rename_criteria([one.name for one in study.criteria]).items()}
    return {question.number: {**kept, old[blank.criterion]: value}}
