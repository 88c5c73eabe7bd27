"""Raters without their names, and what is known about them, kept separate from the ratings."""

import re
from collections.abc import Iterable, Sequence

import pandas as pd

from panelist.collection.imports.building import read_cell
from panelist.collection.imports.guessing.patterns import Slot
from panelist.collection.imports.mapping import Mapping
from panelist.collection.imports.programs.prolific import ABOUT_WORK, PERSON
from panelist.collection.imports.source_sheet import FILE, ROW, SourceSheet
from panelist.collection.imports.vocabulary import RATERS
from panelist.collection.pseudonyms import make_pseudonym
from panelist.core.errors import BadFile
from panelist.core.prose import count
from panelist.core.tables.review import is_placeholder

SHORTEST_ID = 4  # a shorter id would match ordinary words


def read_raters(sheet: SourceSheet, mapping: Mapping) -> list[str]:
    """Return the id of the rater of each row; the column, a part of it, or several together say it."""
    if mapping.rater is None:
        raise BadFile("The mapping names no column with the rater, so nothing can be said about raters.")
    return [str(one).strip() for one in read_cell(sheet, mapping.rater, Slot(""))]


def is_place(name: str) -> bool:
    """Return whether a name is a number with a word for raters before it: annotator1."""
    return re.fullmatch(rf"({'|'.join(RATERS)})\d+", name, re.IGNORECASE) is not None


def make_names(ids: Iterable[str], salt: str | None) -> dict[str, str]:
    """Return the name of each id: a pseudonym, the same as a study with this salt gives, or the id itself.

    A placeholder (na, unknown) keeps its name, so that every analysis recognises it.
    """
    return {
        one: make_pseudonym(salt, f"id {one}") if salt and not is_placeholder(one) else one
        for one in dict.fromkeys(ids)
    }


def mask_ids(frame: pd.DataFrame, names: dict[str, str], skip: Sequence[str] = ()) -> None:
    """Put the pseudonym wherever an id of a rater is a whole cell, or occurs in a text about that rater."""
    if all(one == name for one, name in names.items()):
        return
    ids = {name: one for one, name in names.items()}
    for column in frame.columns:
        if column in skip or pd.api.types.is_numeric_dtype(frame[column].dtype):
            continue
        cells = []
        for cell, rater in zip(frame[column], frame["rater"], strict=True):
            if isinstance(cell, str):
                own = ids.get(rater, "")
                cell = names.get(cell, cell) if len(cell) >= SHORTEST_ID else cell
                cell = cell.replace(own, rater) if len(own) >= SHORTEST_ID else cell
            cells.append(cell)
        frame[column] = pd.Series(cells, index=frame.index, dtype=object)


def gather_background(
    sheet: SourceSheet | None,
    mapping: Mapping,
    people: SourceSheet | None,
    names: dict[str, str],
    salt: str | None,
) -> tuple[pd.DataFrame | None, list[str]]:
    """Return one row for each rater with what is known about them, and notes on who is missing."""
    tables: list[pd.DataFrame] = []
    notes: list[str] = []
    if sheet is not None and mapping.background:
        said = pd.DataFrame(
            {name: sheet.frame[column].astype(str).str.strip() for name, column in mapping.background.items()}
        )
        said.insert(0, "rater", [names.get(one, one) for one in read_raters(sheet, mapping)])
        tables.append(_one_row_each(said, notes))
    if people is not None:
        tables.append(_describe_people(people, names, sheet is not None, salt, notes))
    if not tables:
        return None, notes
    whole = tables[0]
    for other in tables[1:]:
        whole = whole.merge(other, on="rater", how="outer", suffixes=("", "_panel"))
    mask_ids(whole, names, skip=("rater",))
    return whole.fillna(""), notes


def _one_row_each(said: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Return one row per rater; where a rater gave different answers, all of them separated by a bar."""
    several = 0
    rows = []
    for rater, part in said.groupby("rater", sort=False, observed=True):
        row = {"rater": rater}
        for name in part.columns[1:]:
            values = [value for value in dict.fromkeys(part[name]) if value]
            several += len(values) > 1
            row[name] = " | ".join(values)
        rows.append(row)
    if several:
        notes.append(
            f"{several:,} background answers differ from one submission of a rater to the next: all kept"
        )
    return pd.DataFrame(rows)


def _describe_people(
    people: SourceSheet, names: dict[str, str], joined: bool, salt: str | None, notes: list[str]
) -> pd.DataFrame:
    frame = people.frame.drop(columns=[FILE, ROW])
    ids = frame[PERSON].astype(str).str.strip()
    known = {**make_names(ids, salt), **names}
    about = [name for name in frame.columns if name not in ABOUT_WORK | {PERSON}]
    table = frame[[*(["Status"] if "Status" in frame else []), *about]].copy()
    table.insert(0, "rater", [known[one] for one in ids])
    if joined:
        there, wanted = set(ids), set(names)
        if missing := len(wanted - there):
            notes.append(f"{count(missing, 'rater')} of {len(wanted):,} are not in the demographics export")
        if extra := len(there - wanted):
            notes.append(
                f"{count(extra, 'person')} of the demographics export gave no rating; left out there"
            )
        table = table[ids.isin(wanted).to_numpy()]
    notes += [f"{name}" for name in people.notes]
    return _one_row_each(table.reset_index(drop=True), notes)
