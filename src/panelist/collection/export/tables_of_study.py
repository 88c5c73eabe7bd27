"""What was collected as files: the ratings table, and the visits, answers, events and actions behind it.

Nothing is left out: practice and checks are marked (``check``), what does not count says why (``excluded``),
and answers that came after the end of a visit are marked (``late``). Raters have pseudonyms; outside ids are
exported only where they are asked for.
"""

import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from panelist.collection.export.fact_columns import FACTS, count_failed, list_facts
from panelist.collection.export.rating_rows import find_turns, read_answers
from panelist.collection.monitor.flags import find_flags, find_usual
from panelist.collection.monitor.ledger import collect_folders, name_texts
from panelist.collection.monitor.overview import find_pace
from panelist.collection.monitor.plan_facts import count_plan
from panelist.collection.pseudonyms import make_pseudonym
from panelist.collection.store.errors import BadStore
from panelist.collection.store.reading import Snapshot
from panelist.collection.study_changes import JUDGED, find_changes, find_gaps, list_changes, refuse_names
from panelist.core.errors import BadFile, UnknownName, did_you_mean
from panelist.core.prose import count, list_words
from panelist.core.tables.columns import SIMULATED, SIMULATED_YES
from panelist.core.tables.readers import find_ending
from panelist.core.tables.spreadsheets import disarm
from panelist.core.tables.writers import write_table
from panelist.study.study import Study

if TYPE_CHECKING:
    from panelist.design.plan import Plan

SPREADSHEETS = {".csv", ".tsv", ".xlsx", ".xlsm"}
DRAW = ("probability", "stratum")
"""How the item was drawn, where people rate a sample: of sample.csv, and what an analysis must know."""
COLUMNS = (
    *list_words("rater place item system turn criterion trial rating choice grade answer text reason"),
    *list_words("occasion group wave order position seconds list phase check excluded finished"),
    *("changes", "seconds_first", "raw", "width", *FACTS, "late", "given", *DRAW, SIMULATED),
)
OPTIONAL = ("turn", "trial", "choice", "grade", "answer", "text", "reason", "wave", *FACTS, *DRAW, SIMULATED)
"""Columns of the ratings table that are left out where the study has nothing to put there."""
SHORTEST_ID = 4  # a shorter id would match ordinary words


@dataclass(frozen=True, eq=False)
class Exported:
    """A table of what was collected, and notes about it: each is a sentence without a full stop."""

    frame: pd.DataFrame
    notes: tuple[str, ...] = ()


def export_ratings(snapshot: Snapshot, study: Study, plan: "Plan", *, ids: bool = False) -> Exported:
    """Return the ratings table: one row per rating, and for comparisons one row per option shown.

    The notes say what could not be read as its scale says.
    """
    changes = check_study(snapshot, study, plan)
    if study.file.hit is not None:
        from panelist.collection.imports.mturk_batch import export_hit_ratings

        table = export_hit_ratings(snapshot, study, ids=ids)
        return replace(table, notes=(*changes, *table.notes))
    people = name_people(snapshot, ids)
    rows, notes = read_answers(snapshot.answers, people, study, plan)
    frame = rows.merge(people.drop(columns=["place", "group"]), left_on="visit", right_on="id", how="left")
    frame["trial"] = _name_trials(frame, study)
    frame["seconds"] = _fill_seconds(frame, snapshot.pages_done)
    frame["given"] = _write_times(frame["given"])
    frame["rating"] = _settle(frame["rating"])
    frame = frame.assign(**list_facts(frame, snapshot.pages_done), **_list_draw(frame["item"], study))
    if not ids:
        _mask_own(frame, _find_ids(snapshot), ("text", "answer", "reason"))
    left_out = {name for name in OPTIONAL if (frame[name].astype(object).fillna("").astype(str) == "").all()}
    if "grade" not in left_out:  # which is the grade of a choice: both are there, or neither
        left_out.discard("choice")
    columns = [name for name in COLUMNS if name not in left_out]
    if ids:
        columns.insert(1, "outside_id")
    frame = frame[columns].reset_index(drop=True)
    simulated = int((people[SIMULATED] != "").sum())
    marked = (
        f"{simulated} of {count(len(people), 'rater', 'raters')} "
        f"simulated; column {SIMULATED} marks their rows"
    )
    failed = count_failed(snapshot.pages_done)
    return Exported(frame, (*changes, *([marked] if simulated else []), *failed, *notes))


def _list_draw(items: pd.Series, study: Study) -> dict[str, pd.Series]:
    """Return with which probability each item was drawn, and its stratum; empty where there was no draw."""
    known = {} if study.draw is None else study.draw.table.set_index("item")[list(DRAW)].to_dict()
    return {name: items.map(known.get(name, {})).astype(object).fillna("") for name in DRAW}


def check_study(snapshot: Snapshot, study: Study, plan: "Plan") -> tuple[str, ...]:
    """Return what to note about changes of the study; raise BadStore where answers would be misread.

    Answers are read by the current study. So what they are about must be in it, and questions, scales and
    texts must be those that raters saw, unless a change of them was allowed by name.
    """
    if gaps := find_gaps(plan, study):
        raise BadStore(
            f"Raters judged what this study does not have:\n{list_changes(gaps)}\nExport with the study file "
            "and the outputs that they saw."
        )
    versions = snapshot.study_versions
    notes = [
        f"the study changed on {datetime.fromtimestamp(one.made, UTC):%Y-%m-%d}, after "
        f"{count(one.visits, 'visit')} ({'; '.join(one.changed)}); "
        f"allowed: {', '.join(one.allowed) or 'nothing by name'}"
        for one in versions
        if one.changed and one.visits
    ]
    if snapshot.study.hash == study.hash:
        return tuple(notes)
    changes = find_changes(versions[-1].declared, study) if versions else []
    if judged := [one for one in changes if one.name in JUDGED]:
        names = ",".join(dict.fromkeys(one.name for one in judged))
        raise BadStore(
            f"What raters judged has changed since then:\n{list_changes(judged)}\nPut the old files back. "
            f"Where you mean it, allow it by name: panelist export STUDY -o FILE --study-changed {names}. It "
            "is then recorded permanently."
        )
    said = f" ({'; '.join(one.text for one in changes)})" if changes else ""
    notes.append(
        f"the study file has changed since collecting began; answers were read by the current one{said}"
    )
    return tuple(notes)


def is_allowed(snapshot: Snapshot, study: Study, plan: "Plan", allowed: Collection[str]) -> bool:
    """Return whether the study has changed, and these names allow everything that answers depend on."""
    if snapshot.study.hash == study.hash or find_gaps(plan, study):
        return False
    versions = snapshot.study_versions
    changes = find_changes(versions[-1].declared if versions else {}, study)
    return not refuse_names([one for one in changes if one.name in JUDGED], allowed)


def export_visits(snapshot: Snapshot, study: Study, plan: "Plan", *, ids: bool = False) -> Exported:
    """Return one row for each visit: where it is, how far it got, how long it took, why it does not count."""
    people = name_people(snapshot, ids)
    frame = snapshot.visits.merge(people[["id", "rater", "excluded", "finished", *_marks(people)]], on="id")
    done = snapshot.pages_done.groupby("visit", observed=True)["seconds"].agg(["count", "size", "sum"])
    given = snapshot.answers.groupby("visit", observed=True).size()
    frame["pages"] = frame["id"].map(done["size"]).fillna(0).astype("int64")
    frame["seconds"] = frame["id"].map(done["sum"]).fillna(0.0).astype("float64")
    frame["answers"] = frame["id"].map(given).fillna(0).astype("int64")
    frame["flags"] = frame["id"].map(_find_flags(snapshot, study, plan))
    for name in ("created", "opened", "seen", "ended"):
        frame[name] = _write_times(frame[name])
    columns = [*list_words("rater place grp state occasion page pages answers seconds flags excluded")]
    columns += ["finished", "left_at", "created", "opened", "seen", "ended", *_marks(people)]
    columns += ["outside_id", "params", "code"] if ids else []
    return Exported(frame[columns].rename(columns={"grp": "group"}))


def _find_flags(snapshot: Snapshot, study: Study, plan: "Plan") -> dict[int, str]:
    """Return the flags of each visit in words, as the dashboard has them: those about the visit alone."""
    folders = collect_folders(snapshot, name_texts(study))
    facts = count_plan(plan, study)
    usual = find_usual(folder.tally for folder in folders.values())
    found = {}
    for number, folder in folders.items():
        pace = find_pace(folder, facts.places.get(folder.visit.place or ""))
        flags = find_flags(folder.visit, folder.tally, now=0.0, pace=pace, usual_seconds=usual)
        found[number] = "; ".join(flag.text for flag in flags)
    return found


def export_answers(snapshot: Snapshot, study: Study, plan: "Plan", *, ids: bool = False) -> Exported:
    """Return every answer as it came in, each change in a separate row."""
    people = name_people(snapshot, ids)
    columns = ["id", "rater", "place", *(["outside_id"] if ids else []), *_marks(people), "excluded"]
    frame = snapshot.answers.drop(columns=["id", "key"]).merge(
        people[columns], left_on="visit", right_on="id", how="left"
    )
    frame["given"] = _write_times(frame["given"])
    turns = find_turns(frame["name"])
    if turns.notna().any():
        frame.insert(list(frame.columns).index("system") + 1, "turn", turns)
    if not ids:
        _mask_own(frame, _find_ids(snapshot), ("value",))
    first = columns[1:-1]
    frame = frame.rename(columns={"check_name": "check", "page": "order"})
    return Exported(frame[[*first, *(name for name in frame if name not in {*first, "id", "visit"})]])


def export_events(snapshot: Snapshot, study: Study, plan: "Plan", *, ids: bool = False) -> Exported:
    """Return what happened in each visit: consent, background answers, warnings, comments."""
    people = name_people(snapshot, ids)
    columns = ["id", "rater", "place", *(["outside_id"] if ids else []), *_marks(people)]
    frame = snapshot.events.drop(columns=["id", "key"]).merge(
        people[columns], left_on="visit", right_on="id", how="left"
    )
    frame["time"] = _write_times(frame["time"])
    if not ids:
        _mask_own(frame, _find_ids(snapshot), ("detail",))
    return Exported(frame[[*columns[1:], "time", "kind", "detail"]])


def export_actions(snapshot: Snapshot, study: Study, plan: "Plan", *, ids: bool = False) -> Exported:
    """Return what researchers did, in order."""
    frame = snapshot.actions.drop(columns=["id", "key"])
    frame["time"] = _write_times(frame["time"])
    known = [outside for outside in _find_ids(snapshot).values() if len(outside) >= SHORTEST_ID]
    if known and not ids:
        any_id = re.compile("|".join(re.escape(outside) for outside in sorted(known, key=len, reverse=True)))
        for name in ("target", "reason", "detail"):
            frame[name] = [any_id.sub("[id]", cell) for cell in frame[name]]
    return Exported(frame)


def export_batch(snapshot: Snapshot, study: Study, plan: "Plan", *, ids: bool = False) -> Exported:
    """Return what raters did with an old HIT, as batch results of Mechanical Turk."""
    from panelist.collection.imports.mturk_batch import make_batch

    return make_batch(snapshot, study, ids=ids)


Exporter = Callable[..., Exported]
EXPORTS: dict[str, Exporter] = {
    "ratings": export_ratings,
    "visits": export_visits,
    "answers": export_answers,
    "events": export_events,
    "actions": export_actions,
}
OF_HITS: dict[str, Exporter] = {"batch": export_batch}
"""Tables that only a study with an old HIT has."""


def find_exporter(what: str) -> Exporter:
    """Return the function that makes this table."""
    every = EXPORTS | OF_HITS
    if what not in every:
        raise UnknownName(f"Nothing called {what!r} can be exported. {did_you_mean(what, every)}")
    return every[what]


def write_export(frame: pd.DataFrame, path: Path, private: bool = False) -> int:
    """Write the table; return how many cells were made harmless, which only spreadsheets' formats need.

    A ``private`` table says who the raters are: its file is readable by its owner alone from the beginning.
    """
    count = 0
    if find_ending(path) in SPREADSHEETS:
        frame, count = disarm(frame)
    if private and path.parent.is_dir():
        make_private(path)
    write_table(frame, path)
    return count


def make_private(path: Path) -> None:
    """Make an empty file that only its owner can read, in place of what is there."""
    try:
        path.unlink(missing_ok=True)
        path.touch(mode=0o600, exist_ok=False)
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error.strerror or error}.") from None


def name_people(snapshot: Snapshot, ids: bool) -> pd.DataFrame:
    """Return a row for each visit: its rater's pseudonym, its place, and whether it counts."""
    visits, salt = snapshot.visits, snapshot.study.salt
    known = [
        make_pseudonym(salt, f"id {outside}" if isinstance(outside, str) else f"visit {token}")
        for outside, token in zip(visits["outside_id"], visits["token"], strict=True)
    ]
    excluded = [
        "" if valid else state.replace("_", " ") + (f": {reason}" if reason else "")
        for valid, state, reason in zip(visits["valid"], visits["state"], visits["reason"], strict=True)
    ]
    people = visits[["id", "place"]].assign(
        group=visits["grp"],
        rater=known,
        excluded=excluded,
        finished=(visits["state"] == "finished") | (visits["left_at"] == "finished"),
        **{
            SIMULATED: [
                SIMULATED_YES if SIMULATED in json.loads(params) else "" for params in visits["params"]
            ]
        },
    )
    if ids:
        return people.assign(outside_id=visits["outside_id"])
    people["visit"] = people["id"]
    _mask_own(people, _find_ids(snapshot), ("excluded",))
    return people.drop(columns="visit")


def _marks(people: pd.DataFrame) -> list[str]:
    """Return the column that marks simulated raters, where there are some."""
    return [SIMULATED] if (people[SIMULATED] != "").any() else []


def _find_ids(snapshot: Snapshot) -> dict[int, str]:
    visits = snapshot.visits
    return {
        int(visit): outside
        for visit, outside in zip(visits["id"], visits["outside_id"], strict=True)
        if isinstance(outside, str)
    }


def _mask_own(frame: pd.DataFrame, ids: dict[int, str], columns: tuple[str, ...]) -> None:
    """Put the pseudonym in place of an outside id that a rater wrote into a text."""
    for name in columns:
        frame[name] = [
            cell.replace(ids[visit], rater)
            if isinstance(cell, str) and visit in ids and len(ids[visit]) >= SHORTEST_ID
            else cell
            for cell, visit, rater in zip(frame[name], frame["visit"], frame["rater"], strict=True)
        ]


def _fill_seconds(frame: pd.DataFrame, done: pd.DataFrame) -> "pd.Series[float]":
    """Return the seconds of each answer; where its browser sent none, those of its page.

    Rules about speed depend on them: forms that no script of ours sent have times too, by the server's clock.
    """
    pages = done.set_index(["visit", "occasion", "page"])["seconds"]
    keys = pd.MultiIndex.from_frame(frame[["visit", "occasion", "order"]])
    known = pd.Series(pages.reindex(keys).to_numpy(dtype=float), index=frame.index)
    return frame["seconds"].astype("float64").fillna(known)


def _name_trials(frame: pd.DataFrame, study: Study) -> list[str]:
    compared = {criterion.name for criterion in study.criteria if criterion.scale.comparative}
    return [
        f"{rater}-{occasion}-{order}" + ("" if pd.isna(turn) else f"-{turn}") if criterion in compared else ""
        for rater, occasion, order, turn, criterion in zip(
            *(frame[name] for name in ("rater", "occasion", "order", "turn", "criterion")), strict=True
        )
    ]


def _write_times(times: "pd.Series[Any]") -> list[str]:
    return [
        "" if np.isnan(time) else datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds")
        for time in times.to_numpy(dtype=float)
    ]


def _settle(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return the ratings as whole numbers if they all are, else as numbers; a row without one is missing."""
    numbers = values.astype("float64")
    given = numbers.dropna()
    if (given == given.round()).all():
        return numbers.astype("int64" if len(given) == len(numbers) else "Int64")
    return numbers
