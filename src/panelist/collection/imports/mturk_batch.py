"""What was collected with an old HIT: as batch results, column by column, and by the mapping as ratings."""

import json
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from panelist.collection.export.rating_rows import keep_latest
from panelist.collection.export.tables_of_study import Exported, name_people
from panelist.collection.imports.importer import import_sheet
from panelist.collection.imports.mapping_file import check_columns, load_mapping
from panelist.collection.imports.programs.mturk import COLUMNS, LAST
from panelist.collection.imports.source_sheet import make_sheet
from panelist.collection.imports.times import MONTHS
from panelist.collection.pseudonyms import make_pseudonym
from panelist.collection.store.reading import Snapshot
from panelist.core.errors import PanelistError
from panelist.core.prose import count
from panelist.core.tables.columns import SIMULATED
from panelist.study.sections.hit import Hit, list_rows
from panelist.study.study import Study

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def make_batch(snapshot: Snapshot, study: Study, *, ids: bool = False) -> Exported:
    """Return one row for each assignment that was submitted, in the columns and order of the platform.

    What does not count (a visit that was released or excluded) is Rejected, with the reason as feedback.
    """
    hit = _find_hit(study)
    rows_of = list_rows(study.outputs)
    people: dict[Any, dict[Any, Any]] = name_people(snapshot, ids).set_index("id").to_dict("index")
    tokens = dict(zip(snapshot.visits["id"], snapshot.visits["token"], strict=True))
    done = {
        (one["visit"], one["occasion"], one["page"]): one for one in snapshot.pages_done.to_dict("records")
    }
    made: list[dict[str, str]] = []
    unread = 0
    for answer in keep_latest(snapshot.answers).to_dict("records"):
        fields = _read_fields(str(answer["value"]))
        item, visit = str(answer["item"]), answer["visit"]
        if fields is None or item not in rows_of:
            unread += 1
            continue
        person = people[visit]
        row = _describe(
            study, hit, item, float(answer["given"]), done.get((visit, answer["occasion"], answer["page"]))
        )
        row["WorkerId"] = str((person["outside_id"] if ids else "") or person["rater"])
        place = f"assignment {tokens[visit]} {answer['occasion']} {answer['page']}"
        row["AssignmentId"] = make_pseudonym(snapshot.study.salt, place).upper()
        why = "late: the place had been given to another rater" if answer["late"] else str(person["excluded"])
        row |= {"AssignmentStatus": "Rejected" if why else "Submitted", "RequesterFeedback": why}
        row |= {f"Input.{name}": cell for name, cell in rows_of[item].items()}
        row |= {f"Answer.{name}": value for name, value in fields.items()}
        made.append(row)
    frame = _arrange(made, list(next(iter(rows_of.values()))))
    notes = (
        [f"{count(unread, 'answer is', 'answers are')} not the fields of a form: left out"] if unread else []
    )
    if simulated := sum(person[SIMULATED] != "" for person in people.values()):
        told = f"{simulated} of {len(people)} raters are simulated"
        notes.append(f"{told}, which batch results have no column for")
    return Exported(frame, tuple(notes))


def export_hit_ratings(snapshot: Snapshot, study: Study, *, ids: bool = False) -> Exported:
    """Return the ratings table of an old HIT that was run again, read by the mapping of the original."""
    hit = _find_hit(study)
    if not hit.mapping:
        raise PanelistError(
            "The study does not say how the form of its HIT is read as ratings. Name a mapping file (hit: "
            "mapping:), or export the batch results: --what batch."
        )
    batch = make_batch(snapshot, study, ids=ids)
    mapping, text = load_mapping(study.folder / hit.mapping)
    columns, rows = list(batch.frame.columns), batch.frame.to_numpy().tolist()
    sheet = make_sheet("mturk", "what was collected", columns, rows)
    check_columns(mapping, sheet.columns, sheet.files, hit.mapping, text)
    found = import_sheet(sheet, mapping, None, None)
    frame = _mark_simulated(found.frame.copy(), snapshot, ids)
    left = [f"left out: {one}" for one in found.left_out]
    return Exported(frame, (*batch.notes, *left, *found.notes))


def _mark_simulated(frame: pd.DataFrame, snapshot: Snapshot, ids: bool) -> pd.DataFrame:
    """Return the ratings with those of simulated raters marked; unchanged where there are none."""
    people = name_people(snapshot, ids)
    people = people[people[SIMULATED] != ""]
    names = {str(name) for column in ("rater", "outside_id") if column in people for name in people[column]}
    marks = ["yes" if str(name) in names else "" for name in frame["rater"]]
    return frame.assign(**{SIMULATED: marks}) if any(marks) else frame


def _find_hit(study: Study) -> Hit:
    if study.file.hit is None:
        raise PanelistError("Only a study with an old HIT has batch results (hit: in the study file).")
    return study.file.hit


def _read_fields(value: str) -> dict[str, str] | None:
    """Return the fields of a form; None where the answer is not one."""
    try:
        fields = json.loads(value)
    except ValueError:
        return None
    if not isinstance(fields, dict) or not all(isinstance(one, str) for one in fields.values()):
        return None
    return fields


def _describe(study: Study, hit: Hit, item: str, given: float, where: Any) -> dict[str, str]:
    """Return what the platform said about an assignment, as far as it is known here."""
    seconds = where["seconds"] if where is not None and pd.notna(where["seconds"]) else None
    ended = float(where["done"]) if where is not None else given
    begun = ended - float(seconds) if seconds is not None else ended
    return {
        "HITId": item,
        "HITTypeId": study.hash[:16],
        "Title": study.title,
        "Description": study.file.description,
        "MaxAssignments": str(hit.assignments),
        "AcceptTime": write_time(begun),
        "SubmitTime": write_time(ended),
        "WorkTimeInSeconds": "" if seconds is None else f"{float(seconds):.0f}",
    }


def write_time(moment: float) -> str:
    """Return a time as batch files have it.

    >>> write_time(1684765704.0)
    'Mon May 22 14:28:24 UTC 2023'
    """
    at = datetime.fromtimestamp(moment, UTC)
    return f"{DAYS[at.weekday()]} {MONTHS[at.month - 1]} {at:%d %H:%M:%S} UTC {at.year}"


def _arrange(made: list[dict[str, str]], inputs: list[str]) -> pd.DataFrame:
    shown = [f"Input.{name}" for name in inputs]
    answers = sorted({name for row in made for name in row if name.startswith("Answer.")})
    header = [*COLUMNS, *shown, *answers, *LAST]
    return pd.DataFrame(
        [[row.get(name, "") for name in header] for row in made], columns=header, dtype=object
    )
