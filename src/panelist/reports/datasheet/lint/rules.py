"""Rules about what answers mean together, and about a card itself: what the form would misread."""

import re
from collections.abc import Iterator

from panelist.core.prose import count
from panelist.reports.datasheet.convert.text_choices import NOT_ASSESSED
from panelist.reports.datasheet.files.card import keys_of, list_keys
from panelist.reports.datasheet.files.read import find_orphans
from panelist.reports.datasheet.heds_questions import CRITERIA_KEY, VERSIONS, list_questions
from panelist.reports.datasheet.lint.lint_sheet import LintFinding, rule
from panelist.reports.datasheet.sheet import Sheet

SIZE, VALUES, SHOWN_AS, TASK = "4.3.3", "4.3.4", "4.3.5", "4.3.6"
NO_INSTRUMENT = "4"  # of 4.3.5
RELATIVE, ABSOLUTE = "2", "1"  # of 4.2.2
CONTROLLED = {"2", "4", "6"}  # of 3.3.7
PLATFORMS = re.compile(r"prolific|mechanical turk|mturk", re.IGNORECASE)
PAID_IN_MONEY = "1"  # of 3.2.2.2


def _is_na(text: str) -> bool:
    return text.strip().rstrip(".").casefold() == "n/a"


def read_size(sheet: Sheet, criterion: str) -> str:
    """Return the size of the instrument in the words of 3.0: a number, ``continuous``, ``N/A``, or a text."""
    answer = sheet.answer(SIZE, criterion)
    by_code = {"2": "continuous", "3": "N/A"}
    code = answer.codes[0] if answer.codes else ""
    return by_code.get(code, answer.text.strip())


def count_values(text: str) -> int | None:
    """Return how many values a list names, None where it is a range or cannot be counted.

    >>> count_values("1 (bad), 2, 3, 4 (good)"), count_values("1-5"), count_values("0 to 100")
    (4, 5, None)
    >>> count_values("1 (none, or nearly), 2 (all)"), count_values("yes; no")
    (2, 2)
    """
    bare, inner = text, r"\([^()]*\)|\[[^\[\]]*\]"
    while re.search(inner, bare):
        bare = re.sub(inner, "", bare)
    bare = bare.strip().rstrip(".")
    if set(bare) & set("()[]"):
        return None
    if span := re.fullmatch(r"(\d+)\s*(?:-|–|\.\.\.?|…)\s*(\d+)", bare):
        return int(span[2]) - int(span[1]) + 1
    if re.search(r"\d\s*(?:to|-|–)\s*\d", bare):
        return None
    for mark in ("\n", ";", ","):
        if mark in bare:
            return len([part for part in bare.split(mark) if part.strip()])
    return None


@rule("size-and-values")
def size_equals_the_number_of_values(sheet: Sheet) -> Iterator[LintFinding]:
    """4.3.3 is the number of values in 4.3.4, unless it is continuous."""
    for criterion in sheet.criteria:
        size, listed = read_size(sheet, criterion), count_values(sheet.answer(VALUES, criterion).text)
        if re.fullmatch(r"\d+", size) and listed is not None and int(size) != listed:
            yield LintFinding(
                "size-and-values", SIZE, criterion, f"the size is {size}, and {VALUES} lists {listed} values"
            )


@rule("task-or-instrument")
def task_is_described_only_without_instrument(sheet: Sheet) -> Iterator[LintFinding]:
    """4.3.6 is filled only if 4.3.3 to 4.3.5 are N/A, else it is N/A itself."""
    for criterion in sheet.criteria:
        size, values = read_size(sheet, criterion), sheet.answer(VALUES, criterion).text
        shown, task = sheet.answer(SHOWN_AS, criterion).codes, sheet.answer(TASK, criterion).text.strip()
        if not (size and values.strip() and shown and task):
            continue
        without = [_is_na(size), _is_na(values), NO_INSTRUMENT in shown]
        if any(without) and not all(without):
            said = f"{SIZE}, {VALUES} and {SHOWN_AS} say N/A together or not at all"
            yield LintFinding("task-or-instrument", SIZE, criterion, said)
        elif all(without) and _is_na(task):
            said = f"there is no instrument ({SIZE} to {SHOWN_AS}), so the task must be described"
            yield LintFinding("task-or-instrument", TASK, criterion, said)
        elif not any(without) and not _is_na(task):
            said = f"there is an instrument ({SIZE} to {SHOWN_AS}), so this should be N/A"
            yield LintFinding("task-or-instrument", TASK, criterion, said)


@rule("relative")
def relative_judgements_are_elicited_so(sheet: Sheet) -> Iterator[LintFinding]:
    """4.2.2 relative goes with 4.3.8 relative estimation; agreement and direct estimation are absolute."""
    for criterion in sheet.criteria:
        mode, form = sheet.answer("4.2.2", criterion).codes, sheet.answer("4.3.8", criterion).codes
        if RELATIVE in mode and form and "3" not in form:
            said = f"judged relative to others, and 4.3.8 is option {form[0]} rather than 3"
            yield LintFinding("relative", "4.2.2", criterion, said)
        if ABSOLUTE in mode and "3" in form:
            yield LintFinding(
                "relative", "4.2.2", criterion, "judged by itself, and 4.3.8 is relative estimation (3)"
            )


@rule("quality-details")
def details_of_quality_assurance_are_given(sheet: Sheet) -> Iterator[LintFinding]:
    """3.3.3.2 is N/A only where 3.3.3.1 is none of the above."""
    methods, text = sheet.answer("3.3.3.1").codes, sheet.answer("3.3.3.2").text
    if methods and "7" not in methods and _is_na(text):
        yield LintFinding(
            "quality-details", "3.3.3.2", "", "methods are ticked in 3.3.3.1, so their details are due"
        )


@rule("conditions")
def conditions_vary_only_without_control(sheet: Sheet) -> Iterator[LintFinding]:
    """3.3.8 is N/A where 3.3.7 says that conditions are controlled."""
    place, text = sheet.answer("3.3.7").codes, sheet.answer("3.3.8").text
    if CONTROLLED & set(place) and text.strip() and not _is_na(text):
        said = "conditions are controlled (3.3.7), so this should be N/A"
        yield LintFinding("conditions", "3.3.8", "", said)


@rule("preregistration")
def preregistration_has_one_address(sheet: Sheet) -> Iterator[LintFinding]:
    """1.1.1 = 3 (3.0) goes with 3.3.1 = 1 and the same address."""
    paper, registered = sheet.answer("1.1.1"), sheet.answer("3.3.1")
    if sheet.version != "3.0" or "3" not in paper.codes or not registered.codes:
        return
    if "1" not in registered.codes:
        said = "the sheet is a preregistration (1.1.1), and this says that there is none"
        yield LintFinding("preregistration", "3.3.1", "", said)
    elif paper.text.strip() and registered.text.strip() and paper.text.strip() != registered.text.strip():
        said = f"the address {registered.text.strip()!r} is not that of 1.1.1, {paper.text.strip()!r}"
        yield LintFinding("preregistration", "3.3.1", "", said)


@rule("authors-known")
def authors_know_themselves(sheet: Sheet) -> Iterator[LintFinding]:
    """Where authors evaluate (3.2.2.4), they were known to the authors (3.2.2.3)."""
    if "1" in sheet.answer("3.2.2.4").codes and "2" in sheet.answer("3.2.2.3").codes:
        said = "authors are among the evaluators (3.2.2.4), so some were known"
        yield LintFinding("authors-known", "3.2.2.3", "", said)


@rule("agreement-value")
def agreement_has_a_value(sheet: Sheet) -> Iterator[LintFinding]:
    """A method of agreement goes with a value, or with “planned”; no method goes with none."""
    for method, value, word in (("4.3.11.1", "4.3.11.2", "InterAA"), ("4.3.12.1", "4.3.12.2", "IntraAA")):
        for criterion in sheet.criteria:
            how, what = sheet.answer(method, criterion), sheet.answer(value, criterion).text.strip()
            none = "2" in how.codes or how.text.strip() == NOT_ASSESSED[method]
            assessed = "1" in how.codes or (not how.codes and how.text.strip() and not none)
            if (
                assessed
                and not _is_na(how.text)
                and (not what or _is_na(what) or what == f"{word} not assessed")
            ):
                said = f"{method} names a method; give the value, or write “planned” until there is one"
                yield LintFinding("agreement-value", value, criterion, said)
            if none and re.search(r"\d", what):
                said = f"{method} says that it was not assessed, and here is a value"
                yield LintFinding("agreement-value", value, criterion, said)


@rule("pay-amount")
def pay_is_told(sheet: Sheet) -> Iterator[LintFinding]:
    """Amount, currency and time have no separate question: they belong in 3.2.3."""
    if PAID_IN_MONEY in sheet.answer("3.2.2.2").codes:
        text = sheet.answer("3.2.3").text
        if text.strip() and not re.search(r"\d", text + sheet.answer("3.2.5").text):
            said = "evaluators are paid (3.2.2.2): say here how much, for how long, in which currency"
            yield LintFinding("pay-amount", "3.2.3", "", said, grave=False)


@rule("platform-ids")
def platform_ids_are_personal_data(sheet: Sheet) -> Iterator[LintFinding]:
    """Identifiers of a platform are personal data where they are kept (5.2)."""
    found = PLATFORMS.search(" ".join(sheet.answer(number).text for number in ("3.2.3", "3.3.2")))
    answer = sheet.answer("5.2")
    says_no = (
        "1" in answer.codes
        if sheet.version == "3.0"
        else re.match(r"no\b", answer.text.strip(), re.IGNORECASE)
    )
    if found and says_no:
        said = f"identifiers of {found[0]} are personal data if they are kept"
        yield LintFinding("platform-ids", "5.2", "", said, grave=False)


@rule("one-option")
def single_choices_have_one_option(sheet: Sheet) -> Iterator[LintFinding]:
    """A single choice has one option."""
    for question, criterion in sheet.places():
        codes = sheet.answer(question.number, criterion).codes
        if question.kind == "one" and len(codes) > 1:
            said = f"one option can be ticked, and {', '.join(codes)} are"
            yield LintFinding("one-option", question.number, criterion, said)


@rule("alone")
def exclusive_options_stand_alone(sheet: Sheet) -> Iterator[LintFinding]:
    """“None of the above” and “N/A” exclude all other options (3.3.3.1, 3.3.5, 3.3.6, 2.4, 2.5)."""
    for question, criterion in sheet.places():
        codes = sheet.answer(question.number, criterion).codes
        alone = [one for one in question.options if one.alone and one.code in codes]
        if alone and len(codes) > 1:
            said = f"{alone[0].label!r} cannot be combined with other options"
            yield LintFinding("alone", question.number, criterion, said)


@rule("whole")
def numbers_are_numbers(sheet: Sheet) -> Iterator[LintFinding]:
    """3.2.1 is a whole number, or N/A."""
    for question, criterion in sheet.places():
        text = sheet.answer(question.number, criterion).text
        if question.kind == "whole" and text.strip() and not re.fullmatch(r"[0-9]+|N/A", text):
            yield LintFinding(
                "whole", question.number, criterion, f"a whole number or N/A is asked for; found {text!r}"
            )


@rule("criterion-names")
def criteria_have_names_that_the_form_can_read(sheet: Sheet) -> Iterator[LintFinding]:
    """The form joins names by | and reads them back as HTML; it shows one of the criteria."""
    for name in sheet.criteria:
        if bad := sorted(set(name) & set("|&<>")):
            said = f"the form garbles {' '.join(bad)} in the name of a criterion; rename it"
            yield LintFinding("criterion-names", "4", name, said)
    if not sheet.criteria:
        yield LintFinding("criterion-names", "4", "", "the sheet has no criterion")
    elif sheet.card is not None:
        shown = sum(sheet.card.entries.get(CRITERIA_KEY, {}).get("control", {}).values())
        if shown != 1:
            said = (
                f"{count(shown, 'criterion is', 'criteria are')} "
                f"marked as shown, and the form needs exactly one"
            )
            yield LintFinding("criterion-names", "4", "", said)


@rule("orphans")
def no_criterion_is_orphaned(sheet: Sheet) -> Iterator[LintFinding]:
    """A criterion deleted in the form leaves its answers behind; they stay in the file unseen."""
    if sheet.card is not None:
        for name in find_orphans(sheet.card.entries, sheet.criteria):
            said = "its answers are in the file, but it is not among the criteria: deleted in the form?"
            yield LintFinding("orphans", "4", name, said, grave=False)


@rule("mixed-versions")
def keys_are_of_one_version(sheet: Sheet) -> Iterator[LintFinding]:
    """A 2.x file loaded into the form of 3.0 shows other languages without a warning."""
    if sheet.card is None:
        return
    other = next(version for version in VERSIONS if version != sheet.version)
    mine = set(list_keys(sheet.version))
    for question in list_questions(other):
        keys = [key for key in keys_of(question) if key not in mine and key in sheet.card.entries]
        if keys:
            said = f"the key {keys[0]!r} is of HEDS {other}: convert such a file, its codes mean other things"
            yield LintFinding("mixed-versions", question.number, "", said)


@rule("labels")
def labels_are_those_of_the_form(sheet: Sheet) -> Iterator[LintFinding]:
    """A ticked option carries its label; another label means that the code was copied from elsewhere."""
    if sheet.card is None:
        return
    for question, criterion in sheet.places():
        for code in sheet.answer(question.number, criterion).codes:
            entry = sheet.card.entries[f"{question.key}-{code}"]
            label = entry.get("text", {}).get(criterion)
            if label != question.by_code[code].label:
                said = f"option {code} is {question.by_code[code].label!r}, and the file says {label!r}"
                yield LintFinding("labels", question.number, criterion, said)


@rule("stale-text")
def hidden_texts_are_empty(sheet: Sheet) -> Iterator[LintFinding]:
    """An explanation that no ticked option asks for stays in the file, unseen."""
    for question, criterion in sheet.places():
        answer = sheet.answer(question.number, criterion)
        wanted = any(
            question.by_code[code].needs_text or "(please" in question.by_code[code].label
            for code in answer.codes
        )
        if question.is_choice and answer.codes and answer.text.strip() and not wanted:
            said = f"the form hides the explanation, but it is in the file: {answer.text.strip()[:60]!r}"
            yield LintFinding("stale-text", question.number, criterion, said, grave=False)
