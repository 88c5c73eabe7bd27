"""From a card to a sheet: answers question by question, and notes on what the form would not show."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from panelist.core.errors import BadFile
from panelist.core.notes import Note
from panelist.reports.datasheet.files.card import PREFIX, Card, find_version, list_keys, parse_card
from panelist.reports.datasheet.heds_questions import (
    CRITERIA_KEY,
    OTHER_TEXT,
    SheetQuestion,
    Version,
    list_questions,
)
from panelist.reports.datasheet.sheet import Place, Sheet, SheetAnswer


def read_sheet(path: str | PathLike[str]) -> Sheet:
    """Return the datasheet in a JSON file of the official forms, HEDS 3.0 or 2.x."""
    file = Path(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise BadFile(f"{file} cannot be read: {error.strerror or error}.") from None
    return make_sheet_of(parse_card(content, file.name), file.name)


def make_sheet_of(card: Card, name: str) -> Sheet:
    """Return the datasheet that a card holds."""
    version = find_version(card.entries, name)
    control = card.entries.get(CRITERIA_KEY, {}).get("control", {})
    criteria = tuple(control)
    return Sheet(
        version=version,
        criteria=criteria,
        answers=read_answers(card.entries, version, criteria),
        title=name,
        shown=next((one for one, shown in control.items() if shown), ""),
        card=card,
        notes=tuple(_find_notes(card, version, criteria)),
    )


def read_answers(
    entries: Mapping[str, Any], version: Version, criteria: tuple[str, ...]
) -> dict[Place, SheetAnswer]:
    """Return the answers in the entries of a card; what is blank is left out."""
    answers = {}
    for question in list_questions(version):
        for criterion in criteria if question.per_criterion else ("",):
            answer = _read_answer(entries, question, criterion)
            if answer != SheetAnswer():
                answers[question.number, criterion] = answer
    return answers


def _read_answer(entries: Mapping[str, Any], question: SheetQuestion, slot: str) -> SheetAnswer:
    if not question.is_choice:
        return SheetAnswer(text=_read_text(entries, question.key, slot))
    ticked = tuple(
        option.code
        for option in question.options
        if entries.get(f"{question.key}-{option.code}", {}).get("data", {}).get(slot) is True
    )
    return SheetAnswer(ticked, _read_text(entries, f"{question.key}-{OTHER_TEXT}", slot))


def _read_text(entries: Mapping[str, Any], key: str, slot: str) -> str:
    value = entries.get(key, {}).get("data", {}).get(slot, "")
    return value if isinstance(value, str) else ""


def find_orphans(entries: Mapping[str, Any], criteria: tuple[str, ...]) -> list[str]:
    """Return the criteria that were deleted in the form but left their answers behind."""
    found = {
        slot
        for key, entry in entries.items()
        if key.startswith(f"{CRITERIA_KEY}-")
        for slot in entry.get("data", {})
    }
    return sorted(found - {*criteria, ""})


def _find_notes(card: Card, version: Version, criteria: tuple[str, ...]) -> list[str]:
    notes = []
    orphans = find_orphans(card.entries, criteria)
    if orphans:
        notes.append(
            f"The file still holds answers on {', '.join(map(repr, orphans))}, not among its criteria "
            f"({', '.join(map(repr, criteria)) or 'none'}): deleted in the form. They are kept and not shown."
        )
    foreign = [key for key in card.entries if not key.startswith(PREFIX)]
    if foreign:
        notes.append(
            f"{len(foreign)} keys do not belong to HEDS ({', '.join(foreign[:3])}): kept and not shown."
        )
    known = set(list_keys(version))
    unknown = [key for key in card.entries if key.startswith(PREFIX) and key not in known]
    if unknown:
        shown = ", ".join(unknown[:3])
        notes.append(f"{len(unknown)} keys are unknown to HEDS {version} ({shown}): kept and not shown.")
    if not card.exact:
        said = "The layout of the file is unusual; written back it is the same JSON, not the same bytes."
        notes.append(Note("layout", said))
    return notes
