"""From a sheet and its mapping to the long table: a row a rating, or a row an option that was shown."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from panelist.collection.legacy.mapping import Cell, Comparison, Criterion, Mapping, Taken
from panelist.collection.legacy.patterns import PLACEHOLDER, Slot, find_slots
from panelist.collection.legacy.sheet import LeftOut, Sheet
from panelist.core.errors import BadFile
from panelist.study.problems import list_some

ROW, SLOT = "_row", "_slot"
TIE = "tie"
_TRUE = {"true", "1", "yes", "on", "x"}


@dataclass
class Tally:
    """What was met on the way, to be told afterwards."""

    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def leave(self, what: str, n: int, names: Sequence[str] = ()) -> None:
        """Count what was left out, if anything was."""
        if n:
            self.left_out.append(LeftOut(what, n, tuple(names)))


def build_rows(sheet: Sheet, mapping: Mapping, tally: Tally) -> pd.DataFrame:
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


def _rate(sheet: Sheet, mapping: Mapping, criterion: Criterion, tally: Tally) -> pd.DataFrame:
    slots = find_slots(criterion.answer, sheet.columns)
    parts, unread = [], Counter[str]()
    silent = several = 0
    counts = criterion.values  # noqa: PD011  a key of the mapping, not a frame's array
    values = {word.strip().casefold(): value for word, value in counts.items()}
    for place, slot in enumerate(slots):
        answers, twice = _read_slot(sheet, slot)
        several += twice
        asked = sheet.has(slot.column)
        part = _frame(sheet, mapping, slot, place, criterion.item, criterion.system)
        code = slot.given.get("criterion", "")
        part["criterion"] = criterion.name or mapping.rename.criterion.get(code, code)
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
    tally.leave(f"answers on {name} that are empty", silent)
    tally.leave(f"answers on {name} with several options marked", several)
    tally.leave(
        f"answers on {name} that the mapping gives no value", sum(unread.values()), [repr(w) for w in unread]
    )
    whole: pd.DataFrame = pd.concat(parts, ignore_index=True)
    return whole


def _read_slot(sheet: Sheet, slot: Slot) -> tuple[np.ndarray, int]:
    """Return the answers at one place as text, and how many rows marked several options."""
    if not slot.options:
        return _texts(sheet, slot.column), 0
    marked = np.array(
        [[word.casefold() in _TRUE for word in _texts(sheet, name)] for _, name in slot.options.items()]
    )
    options = np.array([*slot.options, ""], dtype=object)
    times = marked.sum(axis=0)
    return options[np.where(times == 1, marked.argmax(axis=0), -1)], int((times > 1).sum())


def _compare(sheet: Sheet, mapping: Mapping, comparison: Comparison, tally: Tally) -> pd.DataFrame:
    asked = comparison.best or comparison.worst or ""
    words = [word.strip().casefold() for word in comparison.shows]
    ties = {word.strip().casefold() for word in comparison.ties}
    parts, unread = [], Counter[str]()
    silent = clash = 0
    for place, slot in enumerate(find_slots(asked, sheet.columns)):
        said = {
            key: _texts(sheet, slot.fill(column))
            for key, column in (("best", comparison.best), ("worst", comparison.worst))
            if column is not None
        }
        lower = {key: np.array([word.casefold() for word in texts]) for key, texts in said.items()}
        asked_here = sheet.has(slot.column)
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
            part = _frame(sheet, mapping, slot, place, comparison.item, column)
            part["criterion"] = comparison.name
            part["position"] = at + 1
            choice = np.full(len(sheet), "", dtype=object)
            for key, texts in lower.items():
                choice[(texts == words[at]) & ~both] = key
            part["choice"] = choice
            part["answer"] = np.where(tied, TIE, first)
            parts.append(part[asked_here])
    note = f"answers on {comparison.name} that name none of {', '.join(comparison.shows)}"
    if unread:
        tally.notes.append(
            f"{sum(unread.values()):,} {note} ({list_some(repr(word) for word in unread)}): the trials are "
            "kept without a choice"
        )
    if clash:
        tally.notes.append(f"{clash:,} trials on {comparison.name} name one output best and worst: no choice")
    if silent:
        tally.notes.append(f"{silent:,} trials on {comparison.name} are without an answer")
    frame = pd.concat(parts, ignore_index=True)
    return frame.sort_values([ROW, SLOT, "position"], kind="stable", ignore_index=True)


def _frame(
    sheet: Sheet, mapping: Mapping, slot: Slot, place: int, item: Cell | None, system: Cell | None
) -> pd.DataFrame:
    """Return a row for each submission with item and system, and the number of the place."""
    part = pd.DataFrame({ROW: np.arange(len(sheet)), SLOT: place})
    for name, own, general in (("item", item, mapping.item), ("system", system, mapping.system)):
        # A general column with {n} is not meant for an answer that has no number.
        cell = own or (general if general is not None and not _is_open(general, slot) else None)
        codes = _read_cell(sheet, cell, slot) if cell is not None else None
        if codes is None and name in slot.given:
            codes = np.full(len(sheet), slot.given[name], dtype=object)
        if codes is not None:
            new = getattr(mapping.rename, name)
            part[name] = [new.get(code, code) for code in codes]
    if "n" in slot.given:
        part["position"] = int(slot.given["n"])
    for name, column in mapping.keep.items():
        part[name] = _texts(sheet, slot.fill(column))
    part["_n"] = "-".join(slot.given.values())
    return part


def _is_open(cell: Cell, slot: Slot) -> bool:
    return bool(PLACEHOLDER.search(slot.fill(cell.column if isinstance(cell, Taken) else cell)))


def _read_cell(sheet: Sheet, cell: Cell, slot: Slot) -> np.ndarray:
    """Return the cells of a column, or the part of them that an expression takes."""
    column = slot.fill(cell.column if isinstance(cell, Taken) else cell)
    if column not in sheet.frame:
        left = PLACEHOLDER.search(column)
        why = f"; nothing fills {left[0]}" if left else ""
        raise BadFile(
            f"There is no column {column!r} for the answer in {slot.column!r}{why}. Mend the mapping."
        )
    texts = _texts(sheet, column)
    if not isinstance(cell, Taken):
        return texts
    matcher = re.compile(cell.match)
    taken = [matcher.fullmatch(text) for text in texts]
    odd = [at for at, found in enumerate(taken) if found is None]
    if odd:
        raise BadFile(
            f"{sheet.place(odd[0])}: {column} holds {texts[odd[0]]!r}, which {cell.match!r} does not fit "
            f"({len(odd):,} such rows). Mend match: in the mapping."
        )
    return np.array([found[1] for found in taken if found], dtype=object)


def _texts(sheet: Sheet, column: str) -> np.ndarray:
    if column not in sheet.frame:
        raise BadFile(
            f"There is no column {column!r}, which the mapping's pattern leads to. Mend the mapping."
        )
    return np.array([str(cell).strip() for cell in sheet.frame[column]], dtype=object)
