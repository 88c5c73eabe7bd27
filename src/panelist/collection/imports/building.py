"""From a sheet and its mapping to the long table: one row per rating, or per option that was shown."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from panelist.collection.imports.files.grids import NUMBER
from panelist.collection.imports.guessing.patterns import PLACEHOLDER, Slot, find_slots
from panelist.collection.imports.mapping import (
    Cell,
    MappedComparison,
    MappedCriterion,
    Mapping,
    Taken,
    columns_of,
)
from panelist.collection.imports.source_sheet import SkippedData, SourceSheet
from panelist.core.errors import BadFile
from panelist.core.prose import count, inflect, listing
from panelist.core.tables.cells import MISSING_WORDS
from panelist.core.tables.pair_answers import SILENT, drop_zeros

ROW, SLOT = "_row", "_slot"
TIE = "tie"
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_TRUE = {"true", "1", "yes", "on", "x"}


@dataclass
class ImportCounts:
    """What was found on the way, to be reported afterwards."""

    left_out: list[SkippedData] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def leave(self, what: str, n: int, names: Sequence[str] = ()) -> None:
        """Count what was left out, if anything was."""
        if n:
            self.left_out.append(SkippedData(what, n, tuple(names)))


def build_rows(sheet: SourceSheet, mapping: Mapping, tally: ImportCounts) -> pd.DataFrame:
    """Return the long table with the row of the sheet that each row comes from (``_row``)."""
    parts = [_rate(sheet, mapping, criterion, tally) for criterion in mapping.criteria]
    parts += [_compare(sheet, mapping, comparison, tally) for comparison in mapping.comparisons]
    parts = [part for part in parts if len(part)]
    if not parts:
        told = "; ".join(map(str, tally.left_out))
        raise BadFile(f"No answer could be read{f': {told}' if told else ''}. Nothing was imported.")
    frame = pd.concat(parts, ignore_index=True)
    frame = frame.sort_values([ROW], kind="stable").reset_index(drop=True)
    return frame.drop(columns=SLOT)


def _rate(
    sheet: SourceSheet, mapping: Mapping, criterion: MappedCriterion, tally: ImportCounts
) -> pd.DataFrame:
    slots = find_slots(criterion.answer, sheet.columns)
    parts, unread = [], Counter[str]()
    silent = several = 0
    counts = criterion.values  # noqa: PD011  a key of the mapping, not a frame's array
    values = {word.strip().casefold(): value for word, value in counts.items()}
    for place, slot in enumerate(slots):
        answers, twice = _read_slot(sheet, slot)
        several += twice
        asked = sheet.has(slot.column)
        part = _frame(sheet, mapping, slot, place, criterion)
        part["criterion"] = _name_criterion(sheet, mapping, criterion, slot)
        given = answers != ""
        silent += int((asked & ~given).sum()) - twice
        rating = answers
        if values:
            rating = np.array([values.get(word.casefold(), "") for word in answers], dtype=object)
            unread.update(answers[given & (rating == "")])
            given &= rating != ""
        part["rating"] = rating
        parts.append(part[given])
    name = criterion.name or criterion.answer
    if mapping.source == "table" and (criterion.named_by or "{" in criterion.answer or criterion.by):
        silent = 0  # where raters have a column each, or criteria share one, a gap was never asked
    tally.leave(f"answers on {name} that are empty", silent)
    tally.leave(f"answers on {name} with several options marked", several)
    tally.leave(
        f"answers on {name} that the mapping gives no value", sum(unread.values()), [repr(w) for w in unread]
    )
    whole: pd.DataFrame = pd.concat(parts, ignore_index=True)
    return _drop_stray(whole, name, tally) if mapping.stray == "leave out" and not values else whole


def _name_criterion(
    sheet: SourceSheet, mapping: Mapping, asked: MappedCriterion | MappedComparison, slot: Slot
) -> str | list[str]:
    """Return the name of the criterion, or that of each row where a column has it."""
    new = mapping.rename.criterion
    if asked.named_by is not None:
        return [new.get(code, code) or asked.name or "" for code in _texts(sheet, asked.named_by)]
    code = slot.given.get("criterion", "")
    return asked.name or new.get(code, code)


def _drop_stray(frame: pd.DataFrame, name: str, tally: ImportCounts) -> pd.DataFrame:
    """Return the answers without words where at least as many on the criterion are numbers."""
    number = np.array([NUMBER.fullmatch(word) is not None for word in frame["rating"]], dtype=bool)
    share = pd.Series(number, index=frame.index).groupby(frame["criterion"], observed=True).transform("mean")
    stray = ~number & (share.to_numpy() >= 0.5)
    words = Counter(frame["rating"][stray])
    tally.leave(f"answers on {name} that are words among numbers", int(stray.sum()), [repr(w) for w in words])
    return frame[~stray]


def _read_slot(sheet: SourceSheet, slot: Slot) -> tuple[np.ndarray, int]:
    """Return the answers at one place as text, and how many rows marked several options."""
    if not slot.options:
        answers = _texts(sheet, slot.column)
        if sheet.source == "table":
            answers = np.array(
                ["" if word.casefold() in MISSING_WORDS else word for word in answers], dtype=object
            )
            answers = _point(answers)
        return answers, 0
    marked = np.array(
        [[word.casefold() in _TRUE for word in _texts(sheet, name)] for _, name in slot.options.items()]
    )
    options = np.array([*slot.options, ""], dtype=object)
    times = marked.sum(axis=0)
    return options[np.where(times == 1, marked.argmax(axis=0), -1)], int((times > 1).sum())


def _point(answers: np.ndarray) -> np.ndarray:
    """Return numbers with a decimal comma with a point: 70,25 is 70.25; 1,500 may be fifteen hundred."""
    commas = [word for word in answers if "," in word]
    decimal = commas and all(map(NUMBER.fullmatch, commas)) and not all(map(_THOUSANDS.fullmatch, commas))
    return np.array([word.replace(",", ".") for word in answers], dtype=object) if decimal else answers


def _compare(
    sheet: SourceSheet, mapping: Mapping, comparison: MappedComparison, tally: ImportCounts
) -> pd.DataFrame:
    asked = comparison.best or comparison.worst or ""
    words = [word.strip().casefold() for word in comparison.shows]
    ties = comparison.ties_said
    parts, unread = [], Counter[str]()
    silent = clash = 0
    for place, slot in enumerate(find_slots(asked, sheet.columns)):
        said = {
            key: _texts(sheet, slot.fill(column))
            for key, column in (("best", comparison.best), ("worst", comparison.worst))
            if column is not None
        }
        lower = {key: _read_sides(sheet, comparison, texts) for key, texts in said.items()}
        asked_here = sheet.has(slot.column)
        if "rater" in slot.given or comparison.by is not None:
            asked_here &= next(iter(said.values())) != ""  # a rater who was not asked did not fail to answer
        both = np.zeros(len(sheet), dtype=bool)
        if len(lower) == 2:
            both = (lower["best"] == lower["worst"]) & np.isin(lower["best"], words)
        clash += int(both.sum())
        tied = np.logical_or.reduce([np.isin(texts, [*ties]) for texts in lower.values()])
        for key, texts in lower.items():
            odd = ~np.isin(texts, [*words, *ties, ""])
            unread.update(said[key][odd])
        silent += int(np.logical_and.reduce([asked_here, *(texts == "" for texts in lower.values())]).sum())
        first = next(iter(said.values()))
        for at, column in enumerate(comparison.shows.values()):
            part = _frame(sheet, mapping, slot, place, comparison, column)
            part["criterion"] = _name_criterion(sheet, mapping, comparison, slot)
            part["position"] = at + 1
            choice = np.full(len(sheet), "", dtype=object)
            for key, texts in lower.items():
                choice[(texts == words[at]) & ~both] = key
            part["choice"] = choice
            if comparison.grades:
                part["grade"] = _find_grades(comparison, first, at)
            part["answer"] = np.where(tied, TIE, first)
            parts.append(part[asked_here])
    note = f"answers on {comparison.name} that name none of {', '.join(comparison.shows)}"
    if unread:
        tally.notes.append(
            f"{sum(unread.values()):,} {note} ({listing(repr(word) for word in unread)}): the trials are "
            "kept without a choice"
        )
    if clash:
        tally.notes.append(
            f"{count(clash, 'trial')} on {comparison.name} {inflect(clash, 'names', 'name')} one output "
            "best and worst: no choice"
        )
    if silent:
        tally.notes.append(
            f"{count(silent, 'trial')} on {comparison.name} {inflect(silent, 'is', 'are')} without an answer"
        )
    frame = pd.concat(parts, ignore_index=True)
    return frame.sort_values([ROW, SLOT, "position"], kind="stable", ignore_index=True)


def _read_sides(sheet: SourceSheet, comparison: MappedComparison, texts: np.ndarray) -> np.ndarray:
    """Return the answers in lower case, other words and names of systems as the words in ``shows``."""
    plain = [drop_zeros(text).casefold() if sheet.source == "table" else text.casefold() for text in texts]
    said = [comparison.sides.get(text, text) for text in plain]
    if comparison.named:
        for key, column in comparison.shows.items():
            names = _texts(sheet, column)
            said = [
                key.strip().casefold() if word == name.casefold() else word
                for word, name in zip(said, names, strict=True)
            ]
    return np.array([find_word(word) for word in said] if sheet.source == "table" else said)


def _find_grades(comparison: MappedComparison, said: np.ndarray, at: int) -> "pd.Series[int]":
    """Return the grade of the first or the second output (``at``) in each row; missing without an answer."""
    sign = -1 if at else 1
    grades = {word.strip().casefold(): sign * grade for word, grade in comparison.grades.items()}
    return pd.Series([grades.get(drop_zeros(word).casefold()) for word in said], dtype="Int64")


def find_word(word: str) -> str:
    """Return an answer, or nothing where it is a word for none."""
    return "" if word in SILENT else word


def _frame(
    sheet: SourceSheet,
    mapping: Mapping,
    slot: Slot,
    place: int,
    asked: MappedCriterion | MappedComparison,
    shown: Cell | None = None,
) -> pd.DataFrame:
    """Return a row for each submission with item, system and rater, and the number of the place."""
    part = pd.DataFrame({ROW: np.arange(len(sheet)), SLOT: place})
    own_system = asked.system if isinstance(asked, MappedCriterion) else shown
    for name, own, general in (("item", asked.item, mapping.item), ("system", own_system, mapping.system)):
        # A general column with {n} is not meant for an answer that has no number.
        cell = own or (general if general is not None and not _is_open(general, slot) else None)
        codes = read_cell(sheet, cell, slot) if cell is not None else None
        if codes is None and name in slot.given:
            codes = np.full(len(sheet), slot.given[name], dtype=object)
        if name == "system" and isinstance(asked, MappedCriterion) and asked.of is not None:
            codes = np.full(len(sheet), asked.of, dtype=object)
        if codes is not None:
            new = getattr(mapping.rename, name)
            part[name] = [new.get(code, code) for code in codes]
    if asked.by is not None or "rater" in slot.given:
        part["rater"] = asked.by or name_place(asked, slot.given["rater"])
    if "n" in slot.given and mapping.rater is not None:  # for unknown raters it is not a place on a page
        part["position"] = int(slot.given["n"])
    for name, column in mapping.keep.items():
        part[name] = _texts(sheet, slot.fill(column))
    part["_n"] = "-".join([*slot.given.values(), *([asked.by] if asked.by is not None else [])])
    return part


def name_place(asked: MappedCriterion | MappedComparison, rater: str) -> str:
    """Return the name of a rater from a column's: a number with the word before it, annotator1."""
    pattern = asked.answer if isinstance(asked, MappedCriterion) else (asked.best or asked.worst or "")
    lead = re.search(r"([A-Za-z]+)[ _.-]*\{rater\}", pattern)
    return f"{lead[1]}{rater}" if lead and rater.isdecimal() else rater


def _is_open(cell: Cell, slot: Slot) -> bool:
    return any(PLACEHOLDER.search(slot.fill(column)) for column in columns_of(cell))


def read_cell(sheet: SourceSheet, cell: Cell, slot: Slot) -> np.ndarray:
    """Return the cells of a column, the part of them that an expression takes, or several together."""
    if isinstance(cell, tuple):
        several = [read_cell(sheet, column, slot) for column in cell]
        return np.array([" / ".join(parts) for parts in zip(*several, strict=True)], dtype=object)
    column = slot.fill(cell.column if isinstance(cell, Taken) else cell)
    if column not in sheet.frame:
        left = PLACEHOLDER.search(column)
        why = f"; nothing fills {left[0]}" if left else ""
        raise BadFile(
            f"There is no column {column!r} for the answer in {slot.column!r}{why}. Correct the mapping."
        )
    texts = _texts(sheet, column)
    if not isinstance(cell, Taken):
        return texts
    if cell.numbered:
        numbers = pd.factorize(texts)[0]
        return np.array(
            [str(number + 1) if text else "" for number, text in zip(numbers, texts, strict=True)],
            dtype=object,
        )
    matcher = re.compile(cell.match or "(.*)")
    taken = [matcher.fullmatch(text) for text in texts]
    odd = [at for at, found in enumerate(taken) if found is None]
    if odd:
        raise BadFile(
            f"{sheet.place(odd[0])}: {column} holds {texts[odd[0]]!r}, which {cell.match!r} does not fit "
            f"({len(odd):,} such rows). Correct match: in the mapping."
        )
    return np.array([found[1] for found in taken if found], dtype=object)


def _texts(sheet: SourceSheet, column: str) -> np.ndarray:
    if column not in sheet.frame:
        raise BadFile(
            f"There is no column {column!r}, which the mapping's pattern leads to. Correct the mapping."
        )
    return np.array([str(cell).strip() for cell in sheet.frame[column]], dtype=object)
