"""Questions that are a text in one version of HEDS and a choice in the other."""

import re
from collections.abc import Callable

from panelist.reports.datasheet.heds_questions import SheetQuestion
from panelist.reports.datasheet.sheet import SheetAnswer

Choice = tuple[tuple[str, ...], str, list[str]]
"""Codes, explanation, and remarks on what a person should check."""

NOT_APPLICABLE = re.compile(r"n\s*/\s*a\b\.?|not applicable|none\.?$", re.IGNORECASE)
NO = re.compile(r"no\b[.,:;]?", re.IGNORECASE)
YES = re.compile(r"yes\b[.,:;]?\s*", re.IGNORECASE)
PUBLISHED = re.compile(
    r"https?://(www\.)?(aclanthology\.org|doi\.org|dl\.acm\.org|ojs\.aaai\.org)/", re.IGNORECASE
)
REPORTS = {"1": "Paper: ", "2": "Unpublished report: ", "3": "Preregistration: "}
NO_REPORT = "N/A (no report, no preregistration planned)"
NOT_ASSESSED = {"4.3.11.1": "InterAA not assessed", "4.3.12.1": "IntraAA not assessed"}


def _read_reference(text: str) -> Choice:
    """1.1.1: which of paper, report and preregistration a text is, only where it says so."""
    if text.strip() == NO_REPORT:
        return ("4",), "", []
    for code, words in REPORTS.items():
        if text.startswith(words):
            return (code,), text.removeprefix(words), []
    if PUBLISHED.search(text):
        return ("1",), text, []
    return (
        (),
        text,
        ["say which it is: 1 a paper, 2 an unpublished report, 3 a preregistration; the text is kept"],
    )


def _read_resources(text: str) -> Choice:
    if NOT_APPLICABLE.match(text.strip()):
        return ("2",), "", []
    if NO.match(text.strip()):
        return ("2",), text, ["taken as “no resources shared”; the text is kept, but the form hides it"]
    return ("1",), text, []


def _read_data_protection(text: str) -> Choice:
    bare = text.strip()
    if NOT_APPLICABLE.match(bare):
        return (), text, ["“N/A” is neither yes nor no; say which"]
    if no := NO.match(bare):
        rest = bare[no.end() :].strip()
        remark = ["taken as no; the words after it are kept, but the form hides them"] if rest else []
        return ("1",), bare if rest else "", remark
    if yes := YES.match(bare):
        rest = bare[yes.end() :]
        return ("2",), rest, []
    return ("2",), text, ["taken as yes, since it does not begin with no; check it"]


def _read_size(text: str) -> Choice:
    bare = text.strip()
    if bare.casefold() == "continuous":
        return ("2",), "", []
    if NOT_APPLICABLE.fullmatch(bare):
        return ("3",), "", []
    if re.match(r"\d", bare):
        return ("1",), text, []
    return (), text, ["say whether it is 1 discrete, 2 continuous or 3 N/A; the text is kept"]


def _read_agreement(number: str) -> Callable[[str], Choice]:
    def read(text: str) -> Choice:
        if text.strip() == NOT_ASSESSED[number]:
            return ("2",), "", []
        if found := re.match(r"N/A(: |$)", text):
            return ("3",), text[found.end() :], []
        return ("1",), text, []

    return read


TEXT_TO_CHOICE: dict[str, Callable[[str], Choice]] = {
    "1.1.1": _read_reference,
    "1.2": _read_resources,
    "5.2": _read_data_protection,
    "5.3": _read_data_protection,
    "4.3.3": _read_size,
    "4.3.11.1": _read_agreement("4.3.11.1"),
    "4.3.12.1": _read_agreement("4.3.12.1"),
}


def choice_to_text(question: SheetQuestion, answer: SheetAnswer) -> tuple[str, list[str]]:
    """Return a choice as the text that the other version asks for, and remarks."""
    if not answer.codes:
        return answer.text, []
    code, text = answer.codes[0], answer.text
    more = [f"only option {code} of {', '.join(answer.codes)} is converted"] if len(answer.codes) > 1 else []
    if question.now == "1.1.1":
        if code == "4":
            return NO_REPORT, [*more, *_keep(text)]
        known = code == "1" and PUBLISHED.search(text)  # a text that can be recognised without its label
        return (text if known else REPORTS[code] + text), more
    if question.now == "1.2":
        return (text, more) if code == "1" else ("N/A", [*more, *_keep(text)])
    if question.now in ("5.2", "5.3"):
        if code == "1":
            return (text if NO.match(text) else "No", more if NO.match(text) else [*more, *_keep(text)])
        return (f"Yes: {text}" if text else "Yes", more)
    if question.now == "4.3.3":
        if code == "1":
            return text, more
        return ("continuous" if code == "2" else "N/A"), [*more, *_keep(text)]
    if code == "2":
        return NOT_ASSESSED[question.now], [*more, *_keep(text)]
    if code == "3":
        return (f"N/A: {text}" if text else "N/A"), more
    return text, more


def _keep(text: str) -> list[str]:
    return [f"the explanation has no place there and is left out: {text!r}"] if text.strip() else []
