"""How the codes of HEDS 2.x and 3.0 answer each other; a code is never copied without looking here.

Codes shift between the versions (English is 41 in 2.x and 42 in 3.0), some options exist in one only, and
eight questions are a text in one version and a choice in the other. Whoever loads a 2.x file into the form
of 3.0 gets no warning: it shows another language. What one version cannot say in an option it says in the
explanation, in words that are known again on the way back.
"""

from dataclasses import dataclass

from panelist.reports.heds.questions import Question, Version


@dataclass(frozen=True)
class Goes:
    """Where a code goes: the other version's code, and what must be said in words because it has none."""

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


def map_code(question: Question, code: str, to: Version) -> Goes:
    """Return where a code of a question goes in the other version.

    >>> from panelist.reports.heds.questions import find_question
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
