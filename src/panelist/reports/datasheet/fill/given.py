"""Answers that a person wrote into study.yaml under heds, by question number."""

import re
from collections.abc import Mapping, Sequence

from panelist.core.errors import BadStudy, PanelistError
from panelist.reports.datasheet.convert.versions import DESCRIPTION
from panelist.reports.datasheet.heds_questions import NEWEST, SheetOption, SheetQuestion, find_question
from panelist.reports.datasheet.sheet import Place, SheetAnswer
from panelist.study.study import Study

SOURCE = "study.yaml, heds"
OLDER = {"1.2.1": "1.2", "4.3.1": "4.3.1.1"}  # numbers of 2.x that people may use
YES_NO = {True: "Yes", False: "No"}


class BadGiven(PanelistError):
    """An answer under heds that does not answer its question."""


def read_given(study: Study) -> dict[Place, SheetAnswer]:
    """Return the answers under ``heds:``, or raise BadStudy that names every one that cannot be used."""
    answers: dict[Place, SheetAnswer] = {}
    wrong: list[str] = []
    names = [one.name for one in study.criteria]
    for number, value in study.file.heds.items():
        try:
            question = _find_question(number)
            each = (
                value
                if isinstance(value, Mapping)
                else dict.fromkeys(names if question.per_criterion else [""], value)
            )
            _check_criteria(question, each, names)
            answers |= {(question.number, name): read_answer(question, one) for name, one in each.items()}
        except PanelistError as error:
            wrong.append(f"  heds.{number}: {error}")
    if wrong:
        what = "an answer" if len(wrong) == 1 else f"{len(wrong)} answers"
        raise BadStudy("\n".join([f"The study has {what} for the datasheet that cannot be used:", *wrong]))
    return answers


def read_answer(question: SheetQuestion, value: str | bool | Sequence[str]) -> SheetAnswer:
    """Return the answer that words mean; in a choice, what is not an option is the explanation.

    An option may be given by its label, by the number of the label, or by the beginning of its words.
    """
    words = (
        [YES_NO[value]]
        if isinstance(value, bool)
        else [value]
        if isinstance(value, str)
        else [str(one) for one in value]
    )
    if not question.is_choice:
        return SheetAnswer((), "\n".join(words).strip(), SOURCE)
    codes: list[str] = []
    texts: list[str] = []
    for word in words:
        option = _match(question, word)
        # After the one option that is allowed, "No" is an explanation; only a whole label is an option.
        if option is None or (question.kind == "one" and codes and not _is_label(option, word)):
            texts.append(word.strip())
        elif option.code not in codes:
            codes.append(option.code)
    if question.kind == "one" and len(codes) > 1:
        raise BadGiven(f"one option is allowed; found {len(codes)}: {', '.join(map(repr, words))}.")
    order = [option.code for option in question.options]
    return SheetAnswer(
        tuple(sorted(codes, key=order.index)), "\n".join(text for text in texts if text), SOURCE
    )


def _match(question: SheetQuestion, word: str) -> SheetOption | None:
    """Return the option that a word means, None if it is not one."""
    plain = _simplify(word)
    for option in question.options:
        if _is_label(option, word) or plain in (option.number, f"{option.number}.", option.words.casefold()):
            return option
    bare = re.sub(r"^\d+\.\s*", "", plain)  # numbers differ between versions; the words are what is meant
    for option in question.options:
        if bare == option.words.casefold():
            return option
    begun = [one for one in question.options if _begins(one.words.casefold(), plain)]
    return begun[0] if len(begun) == 1 else None


def _is_label(option: SheetOption, word: str) -> bool:
    return _simplify(word) in (f"{option.number}. {option.words}".casefold(), option.label.casefold())


def _simplify(word: str) -> str:
    return " ".join(word.split()).casefold()


def _begins(words: str, plain: str) -> bool:
    """Return whether the words begin with these, whole words only."""
    return len(plain) > 1 and words.startswith(plain) and not words[len(plain) : len(plain) + 1].isalnum()


def _find_question(number: str) -> SheetQuestion:
    if number == DESCRIPTION:
        return find_question("2.x", number)
    return find_question(NEWEST, OLDER.get(number, number))


def _check_criteria(question: SheetQuestion, each: Mapping[str, object], names: list[str]) -> None:
    unknown = [name for name in each if name not in names]
    if question.per_criterion and unknown:
        raise BadGiven(f"the study has no criterion {unknown[0]!r}. Known: {', '.join(names)}.")
    if not question.per_criterion and list(each) != [""]:
        raise BadGiven("this question is not asked for each criterion; give one answer.")
