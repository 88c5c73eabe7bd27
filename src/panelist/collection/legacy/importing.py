"""Import results: read the files, find or take the mapping, check it, build the table, name nobody."""

import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
from pydantic import ValidationError

from panelist.collection.legacy.building import ROW, Tally, build_rows
from panelist.collection.legacy.draft import Draft, draft_mapping
from panelist.collection.legacy.imported import Imported
from panelist.collection.legacy.mapping import Mapping
from panelist.collection.legacy.mapping_file import check_columns, load_mapping
from panelist.collection.legacy.people import gather_background, make_names, mask_ids
from panelist.collection.legacy.prolific import PERSON
from panelist.collection.legacy.sheet import Sheet
from panelist.collection.legacy.sources import read_sources
from panelist.collection.legacy.times import read_time
from panelist.core.errors import BadFile
from panelist.study.problems import count, list_some
from panelist.study.yaml_lines import YamlText

ORDER = (
    *("rater", "item", "system", "criterion", "trial", "rating", "choice", "answer", "position", "seconds"),
    *("work_seconds", "accepted", "submitted", "status", "excluded"),
)
Files = str | PathLike[str] | Iterable[str | PathLike[str]]


def import_results(
    files: Files,
    mapping: str | PathLike[str] | Mapping | None = None,
    *,
    source: str | None = None,
    keep_ids: bool = False,
    salt: str | None = None,
) -> Imported:
    """Return the ratings in the files of one study, from a closed platform or another tool.

    ``mapping`` is a file, or a Mapping; without it the columns suggest one, and where they leave something
    open BadFile says what. ``source`` is mturk, potato, label-studio, prolific or wide; without it the files
    say it themselves. Raters get pseudonyms made with ``salt`` (hexadecimal; a new one if not given) unless
    ``keep_ids``.
    """
    paths = _list_paths(files)
    chosen, text = _take_mapping(mapping)
    read = read_sources(paths, source or (chosen.source if chosen else None))
    salt = None if keep_ids else _check_salt(salt)
    if read.sheet is None:
        assert read.people is not None
        return _import_people(read.people, salt)
    sheet = read.sheet
    if chosen is None:
        chosen = _mapping_of(draft_mapping(sheet), paths)
    if chosen.source != sheet.source:
        raise BadFile(f"The mapping is for {chosen.source}, and the files are of {sheet.source}.")
    name = Path(mapping).name if isinstance(mapping, str | PathLike) else "mapping"
    check_columns(chosen, sheet.columns, sheet.files, name, text)
    return import_sheet(sheet, chosen, read.people, salt)


def draft_for(files: Files, source: str | None = None) -> Draft:
    """Return the drafted mapping for files."""
    read = read_sources(_list_paths(files), source)
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
        f"A person has to say: {asked}? Write a draft with: panelist import {named} --draft, correct it, and "
        "import with --mapping mapping.yaml."
    )


def import_sheet(sheet: Sheet, mapping: Mapping, people: Sheet | None, salt: str | None) -> Imported:
    """Return the ratings in a sheet by a mapping whose columns are there; without a salt, ids are kept."""
    tally = Tally(list(sheet.left_out), list(sheet.notes))
    _refuse_duplicates(sheet, mapping)
    sheet, aside = _choose_rows(sheet, mapping, tally)
    frame = build_rows(sheet, mapping, tally)
    rows = frame.pop(ROW).to_numpy()
    ids = [str(cell).strip() for cell in sheet.frame[mapping.rater]]
    names = make_names(ids, salt)
    frame["rater"] = np.array([names[one] for one in ids], dtype=object)[rows]
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


def _import_people(people: Sheet, salt: str | None) -> Imported:
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


def _refuse_duplicates(sheet: Sheet, mapping: Mapping) -> None:
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
        f"{list_some(places)}. Nothing was imported: leave out the rows or the file that repeat them."
    )


def _choose_rows(sheet: Sheet, mapping: Mapping, tally: Tally) -> tuple[Sheet, list[str]]:
    """Return the rows to import, and for each why it is set aside, or nothing."""
    frame = sheet.frame
    gone = np.zeros(len(frame), dtype=bool)
    for column, values in mapping.leave_out.items():
        said = frame[column].astype(str).str.strip().str.casefold()
        hit = said.isin([value.strip().casefold() for value in values]).to_numpy() & ~gone
        tally.leave(f"submissions whose {column} is {list_some(values)}", int(hit.sum()))
        gone |= hit
    nameless = frame[mapping.rater].astype(str).str.strip().eq("").to_numpy() & ~gone
    tally.leave(f"submissions without a rater ({mapping.rater} is empty)", int(nameless.sum()))
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


def _explain_rejections(frame: pd.DataFrame, mapping: Mapping, tally: Tally, gone: np.ndarray) -> list[str]:
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
    frame: pd.DataFrame, sheet: Sheet, mapping: Mapping, rows: np.ndarray, names: dict[str, str]
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


def _add_times(frame: pd.DataFrame, sheet: Sheet, mapping: Mapping, rows: np.ndarray, tally: Tally) -> None:
    """Add when the work was done, and its seconds; seconds of one answer only where a submission has one."""
    for name, column in (("accepted", mapping.times.accepted), ("submitted", mapping.times.submitted)):
        if column is None:
            continue
        given = [str(cell).strip() for cell in sheet.frame[column]]
        read = [read_time(text) if text else "" for text in given]
        odd = [text for text, time in zip(given, read, strict=True) if time is None]
        if odd:
            tally.notes.append(
                f"{len(odd):,} cells of {column} are no time that can be read ({odd[0]!r}): as they are"
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
            f"{unread:,} cells of {mapping.times.seconds} are no number of seconds: left empty"
        )
    several = pd.DataFrame({"row": rows, "n": frame["_n"], "criterion": frame["criterion"]}).drop_duplicates()
    if several["row"].duplicated().any():
        frame["work_seconds"] = seconds[rows]
        tally.notes.append(
            f"{mapping.times.seconds} is the time of a whole submission with several answers: it stands in "
            "work_seconds, and no time of a single answer is known"
        )
    else:
        frame["seconds"] = seconds[rows]


def _note_odd(sheet: Sheet, mapping: Mapping) -> list[str]:
    """Return what is odd: raters who are not known, or who did a task twice, which was not allowed."""
    if mapping.rater == mapping.submission:
        return [f"the raters are not known: every submission counts as a rater of its own ({mapping.rater})"]
    if mapping.source != "mturk" or "HITId" not in sheet.frame:
        return []
    again = sheet.frame.duplicated(["HITId", mapping.rater]) & sheet.frame["HITId"].ne("")
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
    raise BadFile("A salt is at least 16 hexadecimal signs (0-9, a-f). Leave it out to have one made.")
