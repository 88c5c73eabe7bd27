"""A study file from a datasheet: what HEDS 3.0 or 2.x says about criteria, raters and procedure."""

import re
from pathlib import Path
from typing import Any

from panelist.reports.datasheet.convert.versions import convert_sheet
from panelist.reports.datasheet.files.read import read_sheet
from panelist.reports.datasheet.sheet import Sheet
from panelist.reports.repeat.from_ratings import LINE, Row

MOST_ITEMS, MOST_RATERS, WIDEST = 500, 10_000, 11
UNKNOWN_SYSTEMS = ("system-1", "system-2")
NOTHING = {"", "n/a", "na", "none", "unknown", "unclear"}
_NUMBER = re.compile(r"\d[\d,]*")
_TYPE = {"1": "correctness", "2": "goodness", "3": "feature"}
_ASPECT = {"1": "form", "2": "content", "3": "both"}
_REFERENCE = {"1": "own", "2": "input", "3": "external"}
_PAID = {"1": "money", "2": "other", "3": "no"}


def read_sheet_study(path: Path) -> tuple[dict[str, Any], list[Row], list[str]]:
    """Return the study file that a datasheet implies, outputs to be filled in, and what was guessed."""
    read = read_sheet(path)
    sheet = read if read.version == "3.0" else convert_sheet(read, "3.0").sheet
    notes = [
        f"HEDS {read.version}: compare this study.yaml with the sheet; the sheet is in original/heds.json.",
        *read.notes,
    ]
    criteria = []
    for name in sheet.criteria or ("quality",):
        made, note = _read_criterion(sheet, name)
        criteria.append(made)
        notes.append(note)
    file: dict[str, Any] = {
        "title": f"A repeat of {_shorten(_say(sheet, '1.1.2'), 80) or path.stem}",
        "outputs": "outputs.csv",
        "criteria": criteria,
    }
    relative = any(one["scale"]["type"] == "pairs" for one in criteria)
    file["design"] = {"type": "pairs" if relative else "lists"}
    file["raters"] = _read_raters(sheet)
    training = _say(sheet, "3.2.4")
    if training:
        file["instructions"] = f"(to fill in; the sheet says about training: {training})"
    if ethics := _say(sheet, "5.1"):
        notes.append(f"The original's ethics approval, which is not yours: {_shorten(ethics)}")
    aggregation = [_say(sheet, "4.3.9", name) for name in sheet.criteria]
    if any(aggregation):
        file["analysis"] = {"aggregation": next(filter(None, aggregation))}
    n_items = min(_find_number(_say(sheet, "3.1.1")) or 10, MOST_ITEMS)
    outputs = [(f"i{number:03d}", system) for number in range(1, n_items + 1) for system in UNKNOWN_SYSTEMS]
    notes.append(
        f"The sheet does not name systems: outputs.csv has {n_items} items of {len(UNKNOWN_SYSTEMS)}, to be "
        "replaced."
    )
    return file, outputs, notes


def _read_criterion(sheet: Sheet, name: str) -> tuple[dict[str, Any], str]:
    clean = re.sub(r"[\x00-\x1f,;|=]+", " ", name).strip()[:80] or "quality"
    made: dict[str, Any] = {"name": clean}
    shown = _say(sheet, "4.3.1.1", name)
    if shown and shown.casefold() != clean.casefold():
        made["label"] = _shorten(shown, 120)
    made["question"] = _say(sheet, "4.3.7", name) or "(to fill in: the question that raters read)"
    if definition := _say(sheet, "4.3.2", name):
        made["definition"] = definition
    made["scale"], note = _read_scale(sheet, name)
    quality = _read_quality(sheet, name)
    if quality:
        made["quality"] = quality
    return made, f"{clean}: {note}"


def _read_scale(sheet: Sheet, name: str) -> tuple[dict[str, Any], str]:
    """Return the scale that 4.2.2, 4.3.3 to 4.3.5 imply, and what was read."""
    if "2" in sheet.answer("4.2.2", name).codes:
        return {"type": "pairs"}, "outputs are judged against each other; read as pairs"
    values = _say(sheet, "4.3.4", name)
    size = _find_number(_say(sheet, "4.3.3", name))
    said = f"“{_shorten(values, 60)}”" if values else f"size {size}"
    if "3" in sheet.answer("4.3.5", name).codes or "continuous" in _say(sheet, "4.3.3", name).casefold():
        return LINE, "a slider; read as a line"
    words = [word.strip() for word in re.split(r"[,;/\n]|\bor\b", values) if word.strip()]
    numbers = [int(word) for word in words if re.fullmatch(r"-?\d{1,3}", word)]
    if len(words) == 2 and (not numbers or sorted(numbers) == [0, 1]):
        labels = {} if numbers else {"labels": [word[:300] for word in words]}
        return {"type": "binary", **labels}, f"{said}, read as one of two"
    if (
        words
        and len(numbers) == len(words)
        and min(numbers) in (0, 1)
        and 2 <= len(words) == max(numbers) - min(numbers) + 1 <= WIDEST
    ):
        return {"type": "likert", "points": len(words), "start": min(numbers)}, f"{said}, as numbered points"
    if 2 < len(words) <= WIDEST and not numbers and len(set(map(str.casefold, words))) == len(words):
        return {
            "type": "verbal",
            "points": [word[:300] for word in words],
        }, f"{said}, as words; check their order"
    if size and 2 <= size <= WIDEST:
        return {"type": "likert", "points": size}, f"{size} points, by the size of the instrument"
    return {"type": "likert", "points": 5}, f"could not be read from {said}; 5 points are used instead"


def _read_quality(sheet: Sheet, name: str) -> dict[str, str]:
    found = {
        key: words[codes[0]]
        for key, number, words in (
            ("type", "4.1.1", _TYPE),
            ("aspect", "4.1.2", _ASPECT),
            ("reference", "4.1.3", _REFERENCE),
        )
        if (codes := sheet.answer(number, name).codes) and codes[0] in words
    }
    if len(found) < 3:
        return {}
    if "1" in sheet.answer("4.2.1", name).codes:
        found["judgement"] = "objective"
    if "2" in sheet.answer("4.2.3", name).codes:
        found["effect"] = "extrinsic"
    return found


def _read_raters(sheet: Sheet) -> dict[str, Any]:
    made: dict[str, Any] = {}
    count = _find_number(_say(sheet, "3.2.1"))
    if count and count <= MOST_RATERS:
        made["count"] = count
    for key, number in (("description", "3.2.5"), ("recruitment", "3.2.3")):
        if text := _say(sheet, number):
            made[key] = text
    paid = sheet.answer("3.2.2.2").codes
    if paid and paid[0] in _PAID:
        made["paid"] = _PAID[paid[0]]
    for key, number in (
        ("experts", "3.2.2.1"),
        ("known_to_authors", "3.2.2.3"),
        ("authors_among_them", "3.2.2.4"),
    ):
        codes = sheet.answer(number).codes
        if codes and codes[0] in ("1", "2"):
            made[key] = codes[0] == "1"
    return made


def _say(sheet: Sheet, number: str, criterion: str = "") -> str:
    """Return the text of an answer; empty where it says that there is nothing."""
    text = sheet.answer(number, criterion).text.strip()
    return "" if text.casefold().rstrip(".") in NOTHING else text


def _find_number(text: str) -> int | None:
    found = _NUMBER.search(text)
    number = int(found[0].replace(",", "")) if found else 0
    return number or None


def _shorten(text: str, most: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
