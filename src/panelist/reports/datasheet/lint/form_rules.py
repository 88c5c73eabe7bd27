"""Rules about a card itself: what the form would misread, whatever the answers mean."""

import re
from collections.abc import Iterator

from panelist.core.prose import count
from panelist.reports.datasheet.files.card import keys_of, list_keys
from panelist.reports.datasheet.files.read import find_orphans
from panelist.reports.datasheet.heds_questions import CRITERIA_KEY, VERSIONS, list_questions
from panelist.reports.datasheet.lint.lint_sheet import LintFinding, rule
from panelist.reports.datasheet.sheet import Sheet


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
