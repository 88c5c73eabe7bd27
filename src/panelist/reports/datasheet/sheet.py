"""A datasheet: the answers to the questions of one version, by criterion where the form asks for it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from panelist.reports.datasheet.heds_questions import SheetQuestion, Version, find_question, list_questions

if TYPE_CHECKING:
    from panelist.reports.datasheet.files.card import Card

Place = tuple[str, str]
"""The number of a question, and the criterion; empty outside section 4."""


@dataclass(frozen=True)
class SheetAnswer:
    """An answer: ticked codes and an explanation, or a text alone."""

    codes: tuple[str, ...] = ()
    text: str = ""
    source: str = field(default="", compare=False)
    """Where it comes from: the study, the plan, the ratings, a person."""
    draft: bool = field(default=False, compare=False)
    """Whether it was made up from what the study says, and a person should read it."""


BLANK = SheetAnswer()


@dataclass(frozen=True)
class Blank:
    """A question that is open, and what is missing."""

    question: SheetQuestion
    criterion: str
    missing: str

    def __str__(self) -> str:
        where = f" ({self.criterion})" if self.criterion else ""
        return f"{self.question.number}{where}: {self.missing}"


@dataclass(frozen=True, eq=False)
class Sheet:
    """A datasheet of one version."""

    version: Version
    criteria: tuple[str, ...]
    answers: Mapping[Place, SheetAnswer]
    title: str = ""
    shown: str = ""
    """The criterion that the form shows first; without it the first."""
    card: "Card | None" = None
    """The file it was read from, so that it is written back as it was."""
    notes: tuple[str, ...] = ()
    """What its reader should know: what was found in the file and is not shown, what was not converted."""
    simulated: str = ""
    """What to say first where the ratings are not data from people."""

    def answer(self, number: str, criterion: str = "") -> SheetAnswer:
        """Return the answer to a question; a blank one where there is none."""
        return self.answers.get((number, criterion), BLANK)

    def question(self, number: str) -> SheetQuestion:
        """Return a question of this version."""
        return find_question(self.version, number)

    def places(self) -> Iterator[tuple[SheetQuestion, str]]:
        """Yield every question with every criterion it is asked for; section 4 criterion by criterion."""
        questions = list_questions(self.version)
        yield from ((one, "") for one in questions if one.section < "4")
        for criterion in self.criteria:
            yield from ((one, criterion) for one in questions if one.per_criterion)
        yield from ((one, "") for one in questions if one.section > "4")

    def open(self) -> list[Blank]:
        """Return what is still to be answered, as the form would mark it."""
        found = []
        for question, criterion in self.places():
            missing = say_missing(question, self.answer(question.number, criterion))
            if missing:
                found.append(Blank(question, criterion, missing))
        return found

    def drafts(self) -> list[tuple[SheetQuestion, str, SheetAnswer]]:
        """Return the answers that a person should read."""
        each = ((one, name, self.answer(one.number, name)) for one, name in self.places())
        return [(one, name, answer) for one, name, answer in each if answer.draft]

    def with_answers(self, more: Mapping[Place, SheetAnswer]) -> "Sheet":
        """Return the sheet with other answers in place of its own."""
        return replace(self, answers={**self.answers, **more})


def say_missing(question: SheetQuestion, answer: SheetAnswer) -> str:
    """Return what an answer lacks before the form takes it as given, empty if nothing."""
    if not question.is_choice:
        return "" if answer.text.strip() else "no answer"
    if not answer.codes:
        return "say which option; the text is there" if answer.text.strip() else "no option"
    needs = any(question.by_code[code].needs_text for code in answer.codes if code in question.by_code)
    return "an explanation is missing" if needs and not answer.text.strip() else ""


def describe_answer(question: SheetQuestion, answer: SheetAnswer) -> list[str]:
    """Return an answer in words: the ticked options, each a line, then the text."""
    lines = []
    for code in answer.codes:
        option = question.by_code.get(code)
        lines.append(f"{option.number}. {option.words}" if option else f"(unknown option {code})")
    if answer.text.strip():
        lines.append(answer.text.strip())
    return lines
