"""From HEDS 2.x to 3.0 and back: answers by their meaning, and a list of what has no counterpart."""

import re
from dataclasses import dataclass

from panelist.reports.heds.code_maps import NEITHER, map_code
from panelist.reports.heds.questions import Question, Version, find_question, has_question, list_questions
from panelist.reports.heds.sheet import BLANK, Answer, Place, Sheet, say_missing
from panelist.reports.heds.text_choices import NOT_APPLICABLE, TEXT_TO_CHOICE, choice_to_text

DESCRIPTION = "3.2.2.5"  # of 2.x alone
CHARACTERISTICS = "3.2.5"
KIND = "Kind of evaluators: "
_WANTED = {
    "no answer": "an answer",
    "no option": "an option",
    "say which option; the text is there": "an option",
    "an explanation is missing": "an explanation",
}


@dataclass(frozen=True)
class Lost:
    """What did not go over as it was: the question, the criterion, and what became of it."""

    number: str
    criterion: str
    text: str

    def __str__(self) -> str:
        where = f" ({self.criterion})" if self.criterion else ""
        return f"{self.number}{where}: {self.text}"


@dataclass(frozen=True, eq=False)
class Converted:
    """A sheet in the other version, and what did not go over as it was."""

    sheet: Sheet
    lost: tuple[Lost, ...]


def convert_sheet(sheet: Sheet, to: Version) -> Converted:
    """Return the sheet in another version; one of that version already comes back as it is."""
    if sheet.version == to:
        return Converted(sheet, ())
    answers: dict[Place, Answer] = {}
    lost: list[Lost] = []
    for question, criterion in sheet.places():
        answer = sheet.answer(question.number, criterion)
        if answer == BLANK:
            continue
        target = _find_target(question, to)
        if target is None:
            lost += _say_no_target(sheet, question, criterion, answer)
            continue
        made, remarks = _convert_answer(question, target, answer)
        answers[target.number, criterion] = made
        if not remarks and say_missing(target, made) and not say_missing(question, answer):
            remarks = [f"the form of {to} also asks for {_WANTED[say_missing(target, made)]}"]
        lost += [Lost(target.number, criterion, remark) for remark in remarks]
    _move_description(sheet, answers)
    notes = [note for note in sheet.notes if "written back" not in note]
    whole = Sheet(to, sheet.criteria, answers, sheet.title, sheet.shown, None, tuple(notes))
    return Converted(whole, (*lost, *_list_orphaned(sheet)))


def _find_target(question: Question, to: Version) -> Question | None:
    """Return the question of the other version that asks the same, None if it has none."""
    if question.version == "2.x":
        return find_question(to, question.now) if has_question(to, question.now) else None
    return next((one for one in list_questions(to) if one.now == question.number), None)


def _say_no_target(sheet: Sheet, question: Question, criterion: str, answer: Answer) -> list[Lost]:
    """Say what becomes of an answer whose question the other version lacks."""
    if question.number != DESCRIPTION:
        said = f"2.x has no such question; the answer is left out: {answer.text!r}"
    elif answer.text in sheet.answer(CHARACTERISTICS).text:
        said = f"3.0 has no such question; {CHARACTERISTICS} says the same"
    elif _is_nothing(answer.text):
        said = f"3.0 has no such question; {answer.text.strip()!r} is left out"
    else:
        said = f"3.0 has no such question; its text now ends {CHARACTERISTICS}"
    return [Lost(question.number, criterion, said)]


def _move_description(sheet: Sheet, answers: dict[Place, Answer]) -> None:
    """Append what 2.x asks in 3.2.2.5 to 3.2.5 of 3.0, in words that are known again on the way back."""
    here = answers.get((CHARACTERISTICS, ""), BLANK)
    if sheet.version == "2.x":
        moved = sheet.answer(DESCRIPTION)
        if not _is_nothing(moved.text) and moved.text not in here.text:
            text = here.text + ("\n" if here.text else "") + KIND + moved.text
            answers[CHARACTERISTICS, ""] = Answer(
                (), text, here.source or moved.source, here.draft or moved.draft
            )
        return
    before, found, after = here.text.rpartition(KIND)
    if found and (not before or before.endswith("\n")):
        answers[DESCRIPTION, ""] = Answer((), after, here.source, here.draft)
        answers[CHARACTERISTICS, ""] = Answer((), before.removesuffix("\n"), here.source, here.draft)


def _is_nothing(text: str) -> bool:
    return not text.strip() or NOT_APPLICABLE.fullmatch(text.strip()) is not None


def _convert_answer(question: Question, target: Question, answer: Answer) -> tuple[Answer, list[str]]:
    if question.is_choice and target.is_choice:
        codes, text, remarks = _convert_codes(question, target, answer)
    elif target.is_choice:
        codes, text, remarks = TEXT_TO_CHOICE[target.now](answer.text)
    elif question.is_choice:
        text, remarks = choice_to_text(question, answer)
        codes = ()
    else:
        codes, text, remarks = (), answer.text, []
    return Answer(codes, text, answer.source, answer.draft), remarks


def _convert_codes(
    question: Question, target: Question, answer: Answer
) -> tuple[tuple[str, ...], str, list[str]]:
    """Return codes and explanation in the other version; words that stand for an old code become it again."""
    text, back = _take_words(target, question, answer)
    codes, words, remarks = list(back), [], []
    only_words = not text.strip() or target.now == "3.3.5"
    carriers = _find_carriers(target, question, back) if only_words else set()
    for code in answer.codes:
        if code not in question.by_code:
            remarks.append(f"{question.version} has no option {code}; it is left out")
            continue
        goes = map_code(question, code, target.version)
        if goes.code in carriers:
            continue  # it was ticked only to carry the words
        if goes.words and goes.words not in text and not (goes.code == code and text.strip()):
            words.append(goes.words)
            said = "says more than its counterpart" if goes.code == code else "has no counterpart"
            remarks.append(f"{question.by_code[code].label!r} {said}; it is put into the explanation")
        if goes.code is not None and goes.code not in codes:
            codes.append(goes.code)
    if not codes and words and target.now == "3.3.5":
        codes.append(NEITHER[target.version])
    order = [option.code for option in target.options]
    codes.sort(key=order.index)
    return tuple(codes), "; ".join([*words, *([text] if text.strip() else [])]), remarks


def _take_words(target: Question, question: Question, answer: Answer) -> tuple[str, list[str]]:
    """Return the explanation without the words that stand for codes of the target, and those codes."""
    text, codes = answer.text, []
    for option in target.options:
        goes = map_code(target, option.code, question.version)
        if (
            goes.words
            and re.match(re.escape(goes.words) + r"(; |$)", text)
            and _carries(goes.code, answer, question)
        ):
            text = text[len(goes.words) :].removeprefix("; ")
            codes.append(option.code)
    return text, codes


def _carries(code: str | None, answer: Answer, question: Question) -> bool:
    """Return whether the code that words would stand beside is ticked."""
    return code in answer.codes if code is not None else question.now == "3.3.5"


def _find_carriers(target: Question, question: Question, back: list[str]) -> set[str | None]:
    """Return the codes that the carriers of the words taken back would become."""
    carriers = {map_code(target, code, question.version).code for code in back}
    if None in carriers:
        carriers = (carriers - {None}) | {NEITHER[question.version]}
    return {map_code(question, code, target.version).code for code in carriers if code is not None}


def _list_orphaned(sheet: Sheet) -> list[Lost]:
    if sheet.card is None:
        return []
    from panelist.reports.heds.read import find_orphans

    orphans = find_orphans(sheet.card.entries, sheet.criteria)
    return [
        Lost("4", name, "not among the criteria of the file; its answers are left out") for name in orphans
    ]
