"""What can be wrong with the rows of an outputs file: one function per mistake."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from panelist.core.prose import count, listing, quoted
from panelist.core.tables.cells import TEXT_TYPE
from panelist.core.tables.readers import find_ending
from panelist.formats import FORMATS, Stimulus
from panelist.study.problems import Problem
from panelist.study.sections.outputs_file import OutputsFile

Places = NDArray[np.intp]
PLAN = "outputs: {missing: plan} in the study file"
LONG = 3000
"""The words from which on an output is pointed out; ``PACE`` is how many people read in a minute."""
PACE = 240
_SHORTEST_WORDS = 2  # characters of a word and the space after it: shorter texts need no counting


@dataclass(frozen=True)
class Rows:
    """The rows of a file, by the place they have in its table (the first row below the header is 0)."""

    path: Path
    name: str
    n_columns: int

    def problem(self, places: Places, key: str, message: str) -> Problem:
        """Return the problem of these rows, at the line of the first."""
        line = self.lines[int(places[0])] if self.lines else None
        return Problem(self.name, line, key, message)

    def name_places(self, places: Places) -> str:
        """Return where rows are, in words: ``lines 4 and 9``."""
        numbers = [self.lines[place] if self.lines else place + 1 for place in places.tolist()]
        word = "line" if self.lines else "row"
        below = "" if self.lines else " below the header"
        return f"{word}{'s' * (len(numbers) > 1)} {listing(f'{number}' for number in numbers)}{below}"

    @cached_property
    def lines(self) -> Sequence[int]:
        """The line at which each row begins; none for files that have no lines."""
        ending = find_ending(self.path)
        if ending in (".jsonl", ".ndjson"):
            with self.path.open(encoding="utf-8-sig") as file:
                return [number for number, line in enumerate(file, start=1) if line.strip()]
        if ending in (".csv", ".tsv"):
            return list(islice(self._separated_lines(), 1, None))  # without the header
        return []

    def _separated_lines(self) -> Iterator[int]:
        with self.path.open(encoding="utf-8-sig", newline="") as file:
            limit = csv.field_size_limit(2**31 - 1)  # a text may be longer than the csv module expects
            try:
                first = next(line for line in file if line.strip())
                separator = next(
                    mark
                    for mark in ",;\t"
                    if len(next(csv.reader([first], delimiter=mark))) == self.n_columns
                )
                file.seek(0)
                reader = csv.reader(file, delimiter=separator)
                begun = 1
                for row in reader:
                    if row:
                        yield begun
                    begun = reader.line_num + 1
            finally:
                csv.field_size_limit(limit)

    def find_formulas(self, columns: Sequence[int]) -> Iterator[Problem]:
        """Give a note on the cells of a workbook that are formulas: what they last showed was read."""
        import openpyxl

        book = openpyxl.load_workbook(self.path, read_only=True)
        try:
            sheet = book.worksheets[0]
            sheet.reset_dimensions()
            cells = [
                cell.coordinate
                for row in sheet.iter_rows()
                for place, cell in enumerate(row)
                if place in columns and cell.data_type == "f"
            ]
        finally:
            book.close()
        if cells:
            words = (
                f"{count(len(cells), 'cell')} ({listing(cells)}) with a formula, of which the value last "
                "shown was read. If it should be text, put an apostrophe before it in the spreadsheet."
            )
            yield Problem(self.name, None, "", words, grave=False)


def find_nameless(frame: pd.DataFrame, rows: Rows) -> Iterator[Problem]:
    """Give the rows that do not say their item or system."""
    for target in ("item", "system"):
        places = np.flatnonzero((frame[target] == "").to_numpy())
        if len(places):
            yield rows.problem(
                places, target, f"{count(len(places), 'row')} without {target}: {rows.name_places(places)}."
            )


def find_repeated(frame: pd.DataFrame, rows: Rows) -> Iterator[Problem]:
    """Give the rows whose item and system another row has already."""
    named = frame[(frame["item"] != "") & (frame["system"] != "")]
    again = named.duplicated(["item", "system"])
    if not again.any():
        return
    every = named[named.duplicated(["item", "system"], keep=False)]
    groups: dict[tuple[str, str], list[int]] = {}
    for place, item, system in zip(every.index, every["item"], every["system"], strict=True):
        groups.setdefault((item, system), []).append(place)
    told = [
        f"item {item!r}, system {system!r} ({rows.name_places(np.array(places))})"
        for (item, system), places in list(groups.items())[:5]
    ]
    more = f"; and {len(groups) - 5:,} more" if len(groups) > 5 else ""
    yield rows.problem(
        np.array(named.index[again]),
        "item",
        f"{'one output is' if len(groups) == 1 else f'{len(groups):,} outputs are'} there more than once: "
        f"{'; '.join(told)}{more}. Every item has one output of each system; delete the others or rename "
        "the item.",
    )


def find_missing(frame: pd.DataFrame, rows: Rows) -> Iterator[Problem]:
    """Give the outputs that are not there, item by item."""
    named = frame[(frame["item"] != "") & (frame["system"] != "")]
    item_codes, items = pd.factorize(named["item"])
    system_codes, systems = pd.factorize(named["system"])
    there = np.zeros((len(items), len(systems)), dtype=bool)
    there[item_codes, system_codes] = True
    lacking = np.flatnonzero(~there.all(axis=1))
    if not len(lacking):
        return
    told = [
        f"item {items[place]!r} lacks {listing((repr(system) for system in systems[~there[place]]), 4)}"
        for place in lacking[:5]
    ]
    more = f"; and {len(lacking) - 5:,} more items" if len(lacking) > 5 else ""
    yield Problem(
        rows.name,
        None,
        "system",
        f"{(~there).sum():,} of {there.size:,} outputs ({count(len(items), 'item')} × "
        f"{count(len(systems), 'system')}) are missing: {'; '.join(told)}{more}. Add the rows, "
        f"leave those items out, or plan on the outputs that exist: {PLAN}.",
    )


def find_empty(frame: pd.DataFrame, rows: Rows) -> Iterator[Problem]:
    """Give the rows whose output is empty, unless a picture stands in for it."""
    empty = frame["output"].str.strip() == ""
    if "image" in frame:
        empty &= frame["image"] == ""
    places = np.flatnonzero(empty.to_numpy())
    if len(places):
        rest = frame.iloc[places]
        told = [
            f"item {item!r}, system {system!r}"
            for item, system in zip(rest["item"], rest["system"], strict=True)
        ]
        yield rows.problem(
            places,
            "output",
            f"{count(len(places), 'output is', 'outputs are')} empty: "
            f"{listing(told)} ({rows.name_places(places)}). Write what raters shall see, (no text) for "
            f"example; or say {PLAN}: then raters see (nothing).",
        )


def find_spaces(frame: pd.DataFrame, rows: Rows) -> Iterator[Problem]:
    """Give the names that begin or end with a space: kept, but two that look alike may differ."""
    for target in ("item", "system"):
        names = pd.Series(frame[target].unique(), dtype=TEXT_TYPE)
        odd = names[names != names.str.strip()]
        if len(odd):
            words = f"{count(len(odd), target + ' name')} with a space at an end, kept as written: "
            yield Problem(rows.name, None, target, words + f"{quoted(odd)}.", grave=False)


def list_cells(frame: pd.DataFrame, column: str, options: OutputsFile) -> list[Stimulus]:
    """Return the cells of a column that raters see, each with what other columns of its row say about it."""
    texts = frame[column].tolist()
    named = options.code.column in frame
    languages = frame[options.code.column].tolist() if named else [""] * len(texts)
    judged = column == "output"
    return [
        Stimulus(text, language=language, judged=judged)
        for text, language in zip(texts, languages, strict=True)
    ]


def find_misshaped(frame: pd.DataFrame, rows: Rows, options: OutputsFile) -> Iterator[Problem]:
    """Give the cells that are not what the format of their column says, the first of each mistake by line."""
    for column, name in options.formats:
        if column not in frame:
            continue
        wrong: dict[tuple[str, bool], list[int]] = {}
        for place, cell in zip(frame.index.tolist(), list_cells(frame, column, options), strict=True):
            for look, grave in ((FORMATS[name].find_problem, True), (FORMATS[name].find_note, False)):
                if cell.text and (said := look(cell, options)):
                    wrong.setdefault((said, grave), []).append(place)
        for (said, grave), places in wrong.items():
            words = f"as {name}, {rows.name_places(np.array(places))}: {said}"
            yield replace(rows.problem(np.array(places), column, words), grave=grave)


def find_long(frame: pd.DataFrame, rows: Rows, options: OutputsFile) -> Iterator[Problem]:
    """Give a note on outputs that take many minutes to read."""
    if FORMATS[options.formats.output].kinds:
        return
    candidates = np.flatnonzero(frame["output"].str.len().to_numpy() > _SHORTEST_WORDS * LONG)
    counted = {place: len(frame["output"].iloc[place].split()) for place in candidates.tolist()}
    long = [place for place, words in counted.items() if words > LONG]
    if long:
        most = max(counted.values())
        places = frame.index.to_numpy()[long]
        yield replace(
            rows.problem(
                places,
                "output",
                f"{count(len(long), 'output has', 'outputs have')} more than {LONG:,} words "
                f"({rows.name_places(places[:5])}{' and more' if len(long) > 5 else ''}); the longest takes "
                f"about {most / PACE:.0f} minutes at {PACE} words a minute. Raters tire: parts of a text may "
                "be items of their own.",
            ),
            grave=False,
        )
