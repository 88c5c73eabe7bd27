"""From a sheet to the JSON that the official form of its version loads without a warning."""

from panelist.reports.datasheet.files.card import Card, Entries, SheetLayout
from panelist.reports.datasheet.files.read import read_answers
from panelist.reports.datasheet.heds_questions import CRITERIA_KEY, OTHER_TEXT, SheetQuestion, list_questions
from panelist.reports.datasheet.sheet import Sheet


def write_json(sheet: Sheet) -> bytes:
    """Return the sheet as a file of its form; one that was read and not changed comes back as it was."""
    card = sheet.card
    if card is not None and _is_unchanged(sheet, card):
        return card.layout.write(card.entries)
    return SheetLayout().write(make_entries(sheet))


def make_entries(sheet: Sheet) -> Entries:
    """Return the entries of a card, in the order of the form.

    3.0 holds every key and numbers each; 2.x holds what was touched: texts, explanations, ticked options.
    """
    numbered = sheet.version == "3.0"
    shown = sheet.shown if sheet.shown in sheet.criteria else next(iter(sheet.criteria), "")
    control = {name: name == shown for name in sheet.criteria}
    first = {"data": {}, "control": control} | ({"number": ""} if numbered else {}) | {"text": {}}
    entries: Entries = {CRITERIA_KEY: first}
    for question in list_questions(sheet.version):
        entries |= _make_choice(sheet, question) if question.is_choice else _make_text(sheet, question)
    return entries


def _make_text(sheet: Sheet, question: SheetQuestion) -> Entries:
    data = {slot: sheet.answer(question.number, slot).text for slot in _slots(sheet, question)}
    return {question.key: {"data": data, "control": {}} | _number(sheet, question.number)}


def _make_choice(sheet: Sheet, question: SheetQuestion) -> Entries:
    slots = _slots(sheet, question)
    made: Entries = {}
    for option in question.options:
        ticked = {slot: option.code in sheet.answer(question.number, slot).codes for slot in slots}
        if sheet.version == "2.x" and not any(ticked.values()):
            continue
        labels = {slot: option.label if on else "" for slot, on in ticked.items()}
        entry = {"data": ticked, "control": {}, "text": labels} | _number(sheet, question.number)
        made[f"{question.key}-{option.code}"] = entry
    texts = {slot: sheet.answer(question.number, slot).text for slot in slots}
    made[f"{question.key}-{OTHER_TEXT}"] = {"data": texts, "control": {}} | _number(sheet, None)
    return made


def _slots(sheet: Sheet, question: SheetQuestion) -> tuple[str, ...]:
    return sheet.criteria if question.per_criterion else ("",)


def _number(sheet: Sheet, number: str | None) -> Entries:
    return {"number": number} if sheet.version == "3.0" else {}


def _is_unchanged(sheet: Sheet, card: Card) -> bool:
    answers = {place: one for place, one in sheet.answers.items() if one.codes or one.text}
    control = card.entries.get(CRITERIA_KEY, {}).get("control", {})
    return sheet.criteria == tuple(control) and answers == read_answers(
        card.entries, sheet.version, sheet.criteria
    )
