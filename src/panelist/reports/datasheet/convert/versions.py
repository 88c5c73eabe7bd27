"""From HEDS 2.x to 3.0 and back: answers by their meaning, and a list of what has no counterpart."""

import re
from dataclasses import dataclass

from panelist.core.notes import has_note
from panelist.reports.datasheet.convert.text_choices import NOT_APPLICABLE, TEXT_TO_CHOICE, choice_to_text
from panelist.reports.datasheet.heds_questions import (
    SheetQuestion,
    Version,
    find_question,
    has_question,
    list_questions,
)
from panelist.reports.datasheet.sheet import BLANK, Place, Sheet, SheetAnswer, say_missing


@dataclass(frozen=True)
class Goes:
    """Where a code goes: the other version's code, and what goes into the explanation because it has none."""

    code: str | None
    words: str = ""


_MAPS: dict[str, dict[str, Goes]] = {
    # 2.x -> 3.0, by the number in 3.0; codes not listed stay as they are.
    "2.1": {"14": Goes("14", "Human generation")},
    "2.2": {"13": Goes("14", "Human-generated outputs")},
    "3.1.2": {"3": Goes("4"), "4": Goes("5"), "5": Goes("6")},
    "3.3.5": {"1": Goes("2"), "2": Goes("4"), "3": Goes("5")},
    "3.3.6": {"1": Goes("4", "Evaluators are told that they can ask questions before the evaluation starts")},
}
_BACK: dict[str, dict[str, Goes]] = {
    # 3.0 -> 2.x
    "2.2": {"13": Goes("14", "No input")},
    "3.1.2": {
        "3": Goes("5", "Non-random automatic selection"),
        "4": Goes("3"),
        "5": Goes("4"),
        "6": Goes("5"),
    },
    "3.3.5": {
        "1": Goes(None, "Evaluators must work at a specific time or date"),
        "2": Goes("1"),
        "3": Goes(None, "Evaluators must finish the whole evaluation within a set time"),
        "4": Goes("2"),
        "5": Goes("3"),
    },
    "3.3.6": {"1": Goes("4", "Evaluators can ask questions during the evaluation")},
}
NEITHER = {"3.0": "5", "2.x": "3"}  # of 3.3.5: no limit of time applies
LANGUAGES = ("2.4", "2.5")


def map_code(question: SheetQuestion, code: str, to: Version) -> Goes:
    """Return where a code of a question goes in the other version.

    >>> from panelist.reports.datasheet.heds_questions import find_question
    >>> map_code(find_question("2.x", "2.5"), "41", "3.0").code
    '42'
    >>> map_code(find_question("3.0", "3.1.2"), "4", "2.x").code
    '3'
    """
    if question.now in LANGUAGES:
        last = len(question.options)
        if to == "3.0":
            return Goes("1" if code == str(last) else str(int(code) + 1))
        return Goes(str(last) if code == "1" else str(int(code) - 1))
    maps = _MAPS if to == "3.0" else _BACK
    return maps.get(question.now, {}).get(code, Goes(code))


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
    """What was not converted unchanged: the question, the criterion, and what happened to it."""

    number: str
    criterion: str
    text: str

    def __str__(self) -> str:
        where = f" ({self.criterion})" if self.criterion else ""
        return f"{self.number}{where}: {self.text}"


@dataclass(frozen=True, eq=False)
class Converted:
    """A sheet in the other version, and what was not converted unchanged."""

    sheet: Sheet
    lost: tuple[Lost, ...]


def convert_sheet(sheet: Sheet, to: Version) -> Converted:
    """Return the sheet in another version; one of that version already comes back as it is."""
    if sheet.version == to:
        return Converted(sheet, ())
    answers: dict[Place, SheetAnswer] = {}
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
    notes = [note for note in sheet.notes if not has_note([note], "layout")]
    whole = Sheet(to, sheet.criteria, answers, sheet.title, sheet.shown, None, tuple(notes))
    return Converted(whole, (*lost, *_list_orphaned(sheet)))


def _find_target(question: SheetQuestion, to: Version) -> SheetQuestion | None:
    """Return the question of the other version that asks the same, None if it has none."""
    if question.version == "2.x":
        return find_question(to, question.now) if has_question(to, question.now) else None
    return next((one for one in list_questions(to) if one.now == question.number), None)


def _say_no_target(sheet: Sheet, question: SheetQuestion, criterion: str, answer: SheetAnswer) -> list[Lost]:
    """Say what happens to an answer whose question the other version lacks."""
    if question.number != DESCRIPTION:
        said = f"2.x has no such question; the answer is left out: {answer.text!r}"
    elif answer.text in sheet.answer(CHARACTERISTICS).text:
        said = f"3.0 has no such question; {CHARACTERISTICS} says the same"
    elif _is_nothing(answer.text):
        said = f"3.0 has no such question; {answer.text.strip()!r} is left out"
    else:
        said = f"3.0 has no such question; its text now ends {CHARACTERISTICS}"
    return [Lost(question.number, criterion, said)]


def _move_description(sheet: Sheet, answers: dict[Place, SheetAnswer]) -> None:
    """Append what 2.x asks in 3.2.2.5 to 3.2.5 of 3.0, in words that can be recognised on the way back."""
    here = answers.get((CHARACTERISTICS, ""), BLANK)
    if sheet.version == "2.x":
        moved = sheet.answer(DESCRIPTION)
        if not _is_nothing(moved.text) and moved.text not in here.text:
            text = here.text + ("\n" if here.text else "") + KIND + moved.text
            answers[CHARACTERISTICS, ""] = SheetAnswer(
                (), text, here.source or moved.source, here.draft or moved.draft
            )
        return
    before, found, after = here.text.rpartition(KIND)
    if found and (not before or before.endswith("\n")):
        answers[DESCRIPTION, ""] = SheetAnswer((), after, here.source, here.draft)
        answers[CHARACTERISTICS, ""] = SheetAnswer((), before.removesuffix("\n"), here.source, here.draft)


def _is_nothing(text: str) -> bool:
    return not text.strip() or NOT_APPLICABLE.fullmatch(text.strip()) is not None


def _convert_answer(
    question: SheetQuestion, target: SheetQuestion, answer: SheetAnswer
) -> tuple[SheetAnswer, list[str]]:
    if question.is_choice and target.is_choice:
        codes, text, remarks = _convert_codes(question, target, answer)
    elif target.is_choice:
        codes, text, remarks = TEXT_TO_CHOICE[target.now](answer.text)
    elif question.is_choice:
        text, remarks = choice_to_text(question, answer)
        codes = ()
    else:
        codes, text, remarks = (), answer.text, []
    return SheetAnswer(codes, text, answer.source, answer.draft), remarks


def _convert_codes(
    question: SheetQuestion, target: SheetQuestion, answer: SheetAnswer
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
            continue  # it was ticked only to hold the words
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


def _take_words(target: SheetQuestion, question: SheetQuestion, answer: SheetAnswer) -> tuple[str, list[str]]:
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


def _carries(code: str | None, answer: SheetAnswer, question: SheetQuestion) -> bool:
    """Return whether the code that the words go with is ticked."""
    return code in answer.codes if code is not None else question.now == "3.3.5"


def _find_carriers(target: SheetQuestion, question: SheetQuestion, back: list[str]) -> set[str | None]:
    """Return the codes that the carriers of the words taken back would become."""
    carriers = {map_code(target, code, question.version).code for code in back}
    if None in carriers:
        carriers = (carriers - {None}) | {NEITHER[question.version]}
    return {map_code(question, code, target.version).code for code in carriers if code is not None}


def _list_orphaned(sheet: Sheet) -> list[Lost]:
    if sheet.card is None:
        return []
    from panelist.reports.datasheet.files.read import find_orphans

    orphans = find_orphans(sheet.card.entries, sheet.criteria)
    return [
        Lost("4", name, "not among the criteria of the file; its answers are left out") for name in orphans
    ]
