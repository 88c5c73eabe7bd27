"""The ratings of an archive: as collected or from a file, without what points to a person."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from panelist.collection.study_files import FoundRatings, StudyFiles
from panelist.core.errors import BadFile
from panelist.core.prose import count, list_words
from panelist.core.tables.review import is_placeholder, say_simulated
from panelist.core.tables.spreadsheets import disarm

if TYPE_CHECKING:
    import pandas as pd

    from panelist.design.plan import Plan

NAMES = list_words("rater item system turn criterion occasion list group wave check phase")
"""Columns of words that the analysis compares with the study's own: never changed, except raters."""
PERSONAL = frozenset(
    list_words(
        "outsideid prolificpid prolificid participantid workerid annotatorid raterid evaluatorid judgeid "
        "userid email mail emailaddress ip ipaddress token code params sessionid assignmentid hitid "
        "surveycode responseid name username firstname lastname fullname phone useragent completioncode"
    )
)
"""Columns, by their letters alone, that identify a person or lead to one."""
SHORTEST_ID = 4  # a shorter name would match ordinary words
_OWN = re.compile(r"r\d{3,}|p[a-z2-7]{9}")  # places of a plan, and pseudonyms of an export
_LIKE_ID = re.compile(
    r"\b[0-9a-f]{24}\b"  # Prolific
    r"|\bA(?=[0-9A-Z]*\d)[0-9A-Z]{11,14}\b"  # Mechanical Turk
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|\b(?:\d{1,3}\.){3}\d{1,3}\b"
)


@dataclass(frozen=True, eq=False)
class Gathered:
    """The ratings as they go into an archive: the bytes of ratings.csv, and what was done to them."""

    table: bytes
    notes: tuple[str, ...] = ()
    last_day: date | None = None
    """The day of the last answer, where the ratings have times."""
    plan: "Plan | None" = None
    """The plan that the ratings were collected by, where the database has it."""


def gather_ratings(
    files: StudyFiles, *, ids: bool = False, columns: Mapping[str, str] | None = None
) -> Gathered | None:
    """Return the ratings of a study, None where it has none yet."""
    found = files.find_ratings(ids=ids)
    if found is None or found.empty:
        return None
    if isinstance(found.table, Path):
        return _gather_file(found.table, ids, columns)
    return _gather_collected(found, found.table, ids)


def _gather_collected(found: FoundRatings, frame: "pd.DataFrame", ids: bool) -> Gathered:
    notes = [f"{note}." for note in found.notes]
    if not ids and found.snapshot is not None:
        visits = found.snapshot.visits
        known = {
            str(word): "[id]" for name in ("outside_id", "token", "code") for word in visits[name].dropna()
        }
        frame, masked = _mask_texts(frame, known)
        notes += _tell_masked(masked)
    return Gathered(_write_csv(frame), tuple(notes), _find_last_day(frame), found.plan)


def _gather_file(path: Path, ids: bool, columns: Mapping[str, str] | None) -> Gathered:
    from panelist.analysis.cleaning.everything import read_everything

    everything = read_everything(path, columns)
    frame = everything.ratings.frame.copy()
    mark = say_simulated(everything.ratings.n_simulated, len(frame))
    for name, marks in (("check", everything.check), ("excluded", everything.excluded)):
        if any(marks):
            frame[name] = marks
    notes: list[str] = []
    if not ids:
        frame, notes = hide_people(frame)
    untouched = not notes and not columns and path.suffix.casefold() == ".csv"
    try:
        table = path.read_bytes() if untouched else _write_csv(frame)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}.") from None
    return Gathered(table, (*([f"{mark}."] if mark else []), *notes), _find_last_day(frame))


def hide_people(frame: "pd.DataFrame") -> tuple["pd.DataFrame", list[str]]:
    """Return a table of ratings without what points to people, and a note for everything that was done.

    Raters are renamed r001, r002 … in order of appearance, unless they have such names or pseudonyms already,
    or are placeholders (na, unknown), which must stay recognisable;
    columns that hold ids are left out; ids and addresses inside texts are masked.
    """
    notes = []
    dropped = [str(name) for name in frame.columns if re.sub(r"[^a-z]", "", str(name).lower()) in PERSONAL]
    if dropped:
        frame = frame.drop(columns=dropped)
        notes.append(f"Left out, since they may say who raters are: {', '.join(dropped)}.")
    renamed: dict[str, str] = {}
    if "rater" in frame:
        raters = [str(name) for name in frame["rater"].dropna().unique() if not is_placeholder(str(name))]
        if not all(_OWN.fullmatch(name) for name in raters):
            width = max(3, len(str(len(raters))))
            renamed = {old: f"r{place:0{width}d}" for place, old in enumerate(raters, start=1)}
            frame = frame.assign(rater=[renamed.get(str(name), name) for name in frame["rater"]])
            notes.append(f"Raters were renamed, {len(renamed):,} of them, in order of appearance.")
    frame, masked = _mask_texts(frame, renamed)
    return frame, notes + _tell_masked(masked)


def _mask_texts(frame: "pd.DataFrame", renamed: Mapping[str, str]) -> tuple["pd.DataFrame", int]:
    """Return the table with ids and addresses inside its texts masked, and the number of cells changed."""
    import pandas as pd

    known = sorted((old for old in renamed if len(old) >= SHORTEST_ID), key=len, reverse=True)
    any_rater = re.compile("|".join(map(re.escape, known))) if known else None
    changed, count = frame.copy(deep=False), 0
    for name in frame.columns:
        if name in NAMES or pd.api.types.is_numeric_dtype(frame[name].dtype):
            continue
        new: list[Any] = []
        for cell in frame[name]:
            text = cell
            if isinstance(cell, str):
                text = any_rater.sub(lambda found: renamed[found[0]], cell) if any_rater else cell
                text = text if name == "given" else _LIKE_ID.sub("[id]", text)
            new.append(text)
            count += text is not cell and text != cell
        changed[name] = pd.Series(new, index=frame.index, dtype=frame[name].dtype)
    return changed, count


def _tell_masked(cells: int) -> list[str]:
    return [f"Ids or addresses were masked in {count(cells, 'cell')}."] if cells else []


def _write_csv(frame: "pd.DataFrame") -> bytes:
    """Return the table as CSV; texts that a spreadsheet would run are made harmless, names stay."""
    texts = [name for name in frame.columns if name not in NAMES]
    safe, _ = disarm(frame[texts])
    whole = frame.assign(**{str(name): safe[name] for name in texts})
    return whole.to_csv(index=False, lineterminator="\n").encode("utf-8", "surrogatepass")


def _find_last_day(frame: "pd.DataFrame") -> date | None:
    if "given" not in frame:
        return None
    times = [time for time in frame["given"] if isinstance(time, str) and time]
    try:
        return date.fromisoformat(max(times)[:10]) if times else None
    except ValueError:
        return None
