"""Import results: read the files, find or take the mapping, check it, build the table, use pseudonyms."""

import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
from pydantic import ValidationError

from panelist.collection.imports.answer_notes import note_answers
from panelist.collection.imports.building import ROW, ImportCounts, build_rows
from panelist.collection.imports.demographics import (
    gather_background,
    is_place,
    make_names,
    mask_ids,
    read_raters,
)
from panelist.collection.imports.files.unfolding import unfold
from panelist.collection.imports.guessing.draft import Draft, draft_mapping
from panelist.collection.imports.imported import Imported
from panelist.collection.imports.mapping import Mapping, TableLayout, columns_of
from panelist.collection.imports.mapping_file import check_columns, find_unused, load_mapping
from panelist.collection.imports.programs.detect import read_sources
from panelist.collection.imports.programs.prolific import PERSON
from panelist.collection.imports.recognising import draft_tables, find_reading
from panelist.collection.imports.source_sheet import SourceSheet
from panelist.collection.imports.times import read_time
from panelist.core.errors import BadFile
from panelist.core.prose import count, inflect, listing
from panelist.study.yaml_lines import YamlText

ORDER = (
    *("rater", "item", "system", "criterion", "trial", "rating", "choice", "grade", "answer", "position"),
    *("seconds", "work_seconds", "accepted", "submitted", "status", "excluded"),
)
UNKNOWN = (
    "who rated what is not in the file: the raters are unknown, their column is empty, and nothing that "
    "distinguishes raters can be computed"
)
Files = str | PathLike[str] | Iterable[str | PathLike[str]]


def import_results(
    files: Files,
    mapping: str | PathLike[str] | Mapping | None = None,
    *,
    source: str | None = None,
    keep_ids: bool = False,
    salt: str | None = None,
    reading: int | None = None,
    header: Sequence[str] = (),
) -> Imported:
    """Return the ratings in the files of one study, from a closed platform, another tool, or any table.

    ``mapping`` is a file, or a Mapping; without it the columns suggest one, and where they leave something
    open BadFile says what. ``source`` is mturk, potato, label-studio, prolific, wide or table; without it the
    files say it themselves. Where they can be read in several ways, ``reading`` is the number of the right
    one; ``header`` names the columns of a file that has no header line. Raters get pseudonyms made with
    ``salt`` (hexadecimal; a new one if not given) unless ``keep_ids``.
    """
    paths = _list_paths(files)
    chosen, text = _take_mapping(mapping)
    layout = chosen.layout if chosen else TableLayout(header=tuple(header))
    read = read_sources(paths, source or (chosen.source if chosen else None), layout)
    salt = None if keep_ids else _check_salt(salt)
    draft: Draft | None = None
    recognised: tuple[tuple[str, str], ...] = ()
    if read.tables and chosen is None:
        found = find_reading(read.tables, paths, layout, reading)
        draft, sheet, recognised = found.draft, found.sheet, found.recognised
    elif read.tables and chosen is not None:
        sheet = unfold(read.tables, chosen.unfold)
    elif read.sheet is not None:
        sheet = read.sheet
        draft = draft_mapping(sheet) if chosen is None else None
    else:
        assert read.people is not None
        return _import_people(read.people, salt)
    if chosen is None:
        assert draft is not None
        chosen = _mapping_of(draft, paths)
    if chosen.source != sheet.source:
        raise BadFile(f"The mapping is for {chosen.source}, and the files are of {sheet.source}.")
    name = Path(mapping).name if isinstance(mapping, str | PathLike) else "mapping"
    check_columns(chosen, sheet.columns, sheet.files, name, text)
    made = import_sheet(sheet, chosen, read.people, salt)
    if recognised and (unused := find_unused(chosen, sheet.columns)):
        recognised = (*recognised[:-1], ("not used", listing(unused, 8)), recognised[-1])
    return replace(made, recognised=recognised, draft=draft)


def draft_for(
    files: Files, source: str | None = None, *, reading: int | None = None, header: Sequence[str] = ()
) -> Draft:
    """Return the drafted mapping for files: where they can be read in several ways, of the one asked for."""
    paths, layout = _list_paths(files), TableLayout(header=tuple(header))
    read = read_sources(paths, source, layout)
    if read.tables:
        return draft_tables(read.tables, paths, layout, reading)
    if read.sheet is None:
        raise BadFile("A demographics export of Prolific needs no mapping: import it as it is.")
    return draft_mapping(read.sheet)


def _list_paths(files: Files) -> list[Path]:
    return [Path(files)] if isinstance(files, str | PathLike) else [Path(file) for file in files]


def _take_mapping(mapping: str | PathLike[str] | Mapping | None) -> tuple[Mapping | None, YamlText | None]:
    if mapping is None or isinstance(mapping, Mapping):
        return mapping, None
    return load_mapping(Path(mapping))


def _mapping_of(draft: Draft, paths: Sequence[Path]) -> Mapping:
    """Return the drafted mapping if it leaves nothing open."""
    if not draft.open:
        try:
            return draft.mapping()
        except ValidationError:
            pass
    asked = ("; ".join(draft.open) or "what do the columns rate").rstrip("?")
    named = " ".join(map(str, paths[:2])) + (" …" if len(paths) > 2 else "")
    raise BadFile(
        f"A person has to decide: {asked}? Write a draft with: panelist import {named} --draft, correct it, "
        "and import with --mapping mapping.yaml."
    )


def import_sheet(
    sheet: SourceSheet, mapping: Mapping, people: SourceSheet | None, salt: str | None
) -> Imported:
    """Return the ratings in a sheet by a mapping whose columns are there; without a salt, ids are kept."""
    tally = ImportCounts(list(sheet.left_out), list(sheet.notes))
    _refuse_duplicates(sheet, mapping)
    sheet, aside = _choose_rows(sheet, mapping, tally)
    frame = build_rows(sheet, mapping, tally)
    rows = frame.pop(ROW).to_numpy()
    names = _name_raters(frame, sheet, mapping, rows, salt)
    salt = salt if any(one != name for one, name in names.items()) else None
    _add_trials(frame, sheet, mapping, rows, names)
    _add_times(frame, sheet, mapping, rows, tally)
    if mapping.status is not None:
        frame["status"] = sheet.frame[mapping.status].to_numpy()[rows]
        if any(aside):
            frame["excluded"] = np.array(aside, dtype=object)[rows]
    if "item" not in frame:
        tally.notes.append("no item is mapped: the table has none")
    if "system" not in frame:
        tally.notes.append("no system is mapped: raters can be compared, systems cannot")
    mask_ids(frame, names, skip=("rater",))
    background, told = gather_background(sheet, mapping, people, names, salt)
    if not names:
        told.append(UNKNOWN)
    told += note_answers(frame, mapping)
    columns = [name for name in ORDER if name in frame]
    columns += [str(name) for name in frame if name not in columns and not str(name).startswith("_")]
    tally.notes += [*_note_odd(sheet, mapping), *told]
    return Imported(
        frame=frame[columns],
        mapping=mapping,
        files=sheet.files + (people.files if people else ()),
        n_submissions=len(sheet),
        background=background,
        left_out=tuple(tally.left_out) + (people.left_out if people else ()),
        notes=tuple(tally.notes),
        salt=salt,
    )


def _name_raters(
    frame: pd.DataFrame, sheet: SourceSheet, mapping: Mapping, rows: np.ndarray, salt: str | None
) -> dict[str, str]:
    """Put the raters into the table and return the name of each id; none where the raters are unknown."""
    if mapping.rater is not None:
        ids = read_raters(sheet, mapping)
        names = make_names(ids, salt)
        frame["rater"] = np.array([names[one] for one in ids], dtype=object)[rows]
    elif "rater" in frame:
        ids = [str(one) for one in frame["rater"]]
        # A number with a word before it, such as annotator1, does not say who it is.
        names = make_names(ids, salt) | {one: one for one in ids if is_place(one)}
        frame["rater"] = [names[one] for one in ids]
    else:
        names = {}
        frame["rater"] = ""
    return names


def _import_people(people: SourceSheet, salt: str | None) -> Imported:
    """Return the background alone."""
    ids = [str(cell).strip() for cell in people.frame[PERSON]]
    names = make_names(ids, salt)
    mapping = Mapping(source="prolific", rater=PERSON)
    background, notes = gather_background(None, mapping, people, names, salt)
    return Imported(
        frame=pd.DataFrame(),
        mapping=mapping,
        files=people.files,
        n_submissions=len(people),
        background=background,
        left_out=people.left_out,
        notes=(*people.notes, *notes),
        salt=salt,
    )


def _refuse_duplicates(sheet: SourceSheet, mapping: Mapping) -> None:
    column = mapping.submission
    if column is None:
        return
    ids = sheet.frame[column].astype(str).str.strip()
    again = ids.duplicated(keep=False) & ids.ne("")
    if not again.any():
        return
    first = ids[again].iloc[0]
    places = [sheet.place(int(at)) for at in np.flatnonzero((ids == first).to_numpy())]
    raise BadFile(
        f"{count(ids[again].nunique(), column)} occur more than once, the first ({first}) in "
        f"{listing(places)}. Nothing was imported: leave out the rows or the file that repeat them."
    )


def _choose_rows(sheet: SourceSheet, mapping: Mapping, tally: ImportCounts) -> tuple[SourceSheet, list[str]]:
    """Return the rows to import, and for each why it is set aside, or nothing."""
    frame = sheet.frame
    unit = "rows" if mapping.source == "table" else "submissions"
    gone = np.zeros(len(frame), dtype=bool)
    for column, values in mapping.leave_out.items():
        said = frame[column].astype(str).str.strip().str.casefold()
        hit = said.isin([value.strip().casefold() for value in values]).to_numpy() & ~gone
        tally.leave(f"{unit} whose {column} is {listing(values)}", int(hit.sum()))
        gone |= hit
    if mapping.rater is not None:
        nameless = np.array([one == "" for one in read_raters(sheet, mapping)], dtype=bool) & ~gone
        column = " and ".join(columns_of(mapping.rater))
        _refuse_gaps(sheet, mapping, nameless)
        tally.leave(f"{unit} without a rater ({column} is empty)", int(nameless.sum()))
        gone |= nameless
    aside = _explain_rejections(frame, mapping, tally, gone)
    if mapping.rejected == "leave out":
        hit = np.array([bool(why) for why in aside]) & ~gone
        named = Counter(why for why, out in zip(aside, hit, strict=True) if out)
        tally.leave(
            "rejected submissions", int(hit.sum()), [f"{why!r} {n}" for why, n in named.most_common()]
        )
        gone |= hit
    if mapping.rejected != "mark":
        aside = [""] * len(frame)
    if gone.all():
        raise BadFile(f"No submission is left: {'; '.join(map(str, tally.left_out))}. Nothing was imported.")
    return sheet.only(~gone), [why for why, out in zip(aside, gone, strict=True) if not out]


def _refuse_gaps(sheet: SourceSheet, mapping: Mapping, nameless: np.ndarray) -> None:
    """Raise BadFile where most rows with answers name no rater: a name may count for the rows below it."""
    columns = [one.answer for one in mapping.criteria if one.answer in sheet.frame]
    named_in = " and ".join(columns_of(mapping.rater or ""))
    if mapping.source != "table" or not columns:
        return
    answered = sheet.frame[columns].astype(str).apply(lambda cells: cells.str.strip() != "").any(axis=1)
    n, most = int((nameless & answered).sum()), int(answered.sum())
    if n > most / 2:
        raise BadFile(
            f"{n:,} of {most:,} rows with answers name no rater ({named_in} is empty). Where a "
            "name counts for the rows below it as well, write it into each of them; where the "
            "raters are unknown, leave rater: out of the mapping."
        )


def _explain_rejections(
    frame: pd.DataFrame, mapping: Mapping, tally: ImportCounts, gone: np.ndarray
) -> list[str]:
    """Return for each row why it was rejected: its reason, or that it was."""
    if mapping.status is None:
        return [""] * len(frame)
    status = frame[mapping.status].astype(str).str.strip().str.casefold()
    reasons = [frame[column].astype(str).str.strip() for column in mapping.reasons]
    aside = []
    for at in range(len(frame)):
        why = next((text.iloc[at] for text in reasons if text.iloc[at] not in ("", "x", "X")), "")
        marked = "Reject" in mapping.reasons and bool(frame["Reject"].iloc[at].strip())
        rejected = status.iloc[at] == "rejected" or (marked and status.iloc[at] == "submitted")
        aside.append((f"rejected: {why}" if why else "rejected") if rejected else "")
    n = sum(bool(why) and not out for why, out in zip(aside, gone, strict=True))
    if n and mapping.rejected == "mark":
        tally.notes.append(f"{count(n, 'rejected submission')} marked in the column excluded")
    elif n and mapping.rejected == "keep":
        tally.notes.append(f"{count(n, 'rejected submission')} kept like the others, as the mapping says")
    return aside


def _add_trials(
    frame: pd.DataFrame, sheet: SourceSheet, mapping: Mapping, rows: np.ndarray, names: dict[str, str]
) -> None:
    """Name the trials: the submission, and the place in it where a submission has several."""
    if not mapping.comparisons:
        return
    if mapping.submission is not None and mapping.submission != mapping.rater:
        known = sheet.frame[mapping.submission].astype(str).str.strip().to_numpy(dtype=object)
    else:
        known = np.array([f"t{at + 1:05d}" for at in range(len(sheet))], dtype=object)
    trials = [f"{name}-{n}" if n else str(name) for name, n in zip(known[rows], frame["_n"], strict=True)]
    compared = frame["choice"].notna()
    frame["trial"] = [name if is_one else None for name, is_one in zip(trials, compared, strict=True)]


def _add_times(
    frame: pd.DataFrame, sheet: SourceSheet, mapping: Mapping, rows: np.ndarray, tally: ImportCounts
) -> None:
    """Add when the work was done, and its seconds; seconds of one answer only where a submission has one."""
    for name, column in (("accepted", mapping.times.accepted), ("submitted", mapping.times.submitted)):
        if column is None:
            continue
        given = [str(cell).strip() for cell in sheet.frame[column]]
        read = [read_time(text) if text else "" for text in given]
        odd = [text for text, time in zip(given, read, strict=True) if time is None]
        if odd:
            tally.notes.append(
                f"{count(len(odd), 'cell')} of {column} {inflect(len(odd), 'is no time', 'are not times')} "
                f"that can be read ({odd[0]!r}): as before"
            )
        frame[name] = np.array(
            [text if t is None else t for text, t in zip(given, read, strict=True)], dtype=object
        )[rows]
    if mapping.times.seconds is None:
        return
    cells = sheet.frame[mapping.times.seconds]
    seconds = pd.to_numeric(cells, errors="coerce").to_numpy()
    if unread := int((np.isnan(seconds) & cells.ne("").to_numpy()).sum()):
        tally.notes.append(
            f"{count(unread, 'cell')} of {mapping.times.seconds} "
            f"{inflect(unread, 'is no number', 'are not numbers')} of seconds: left empty"
        )
    several = pd.DataFrame({"row": rows, "n": frame["_n"], "criterion": frame["criterion"]}).drop_duplicates()
    if several["row"].duplicated().any():
        frame["work_seconds"] = seconds[rows]
        tally.notes.append(
            f"{mapping.times.seconds} is the time of a whole submission with several answers: it is in "
            "work_seconds, and no time of a single answer is known"
        )
    else:
        frame["seconds"] = seconds[rows]


def _note_odd(sheet: SourceSheet, mapping: Mapping) -> list[str]:
    """Return what is odd: raters who are not known, or who did a task twice, which was not allowed."""
    if mapping.rater is not None and mapping.rater == mapping.submission:
        return [f"the raters are not known: every submission counts as a separate rater ({mapping.rater})"]
    if mapping.source != "mturk" or "HITId" not in sheet.frame or mapping.rater is None:
        return []
    again = sheet.frame.duplicated(["HITId", *columns_of(mapping.rater)]) & sheet.frame["HITId"].ne("")
    if not again.any():
        return []
    return [f"{count(int(again.sum()), 'assignment')} of a worker who had done the same HIT before"]


def _check_salt(salt: str | None) -> str:
    if salt is None:
        return secrets.token_hex(16)
    try:
        if len(bytes.fromhex(salt)) >= 8:
            return salt
    except ValueError:
        pass
    raise BadFile("A salt is at least 16 hexadecimal digits (0-9, a-f). Leave it out to have one made.")
