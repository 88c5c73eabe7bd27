"""Saving answers: each is one row the moment it is given, however often it is sent.

A field of a page has one row for each change. The same key with the same value is the same answer
sent again; so is another key with the current value (two tabs, a form sent twice): one row.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from panelist.collection.store.database import statements as sql
from panelist.collection.store.database.engine import Connection
from panelist.collection.store.database.tables import ENDS
from panelist.collection.store.errors import TooManyChanges
from panelist.collection.store.operations.places import end_fields, load_visit, save_visit
from panelist.collection.store.records import Acknowledged, Saved, Visit, clean_text

MOST_REVISIONS = 300
"""How often one answer may be changed on one page; no rater comes near it, and scripts are stopped."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer on a page, as it was given; ``value`` is the text that the scale parses."""

    name: str
    criterion: str
    item: str
    value: str
    key: str
    system: str = ""
    position: int = 1
    phase: str = "trial"
    check: str = ""
    seconds_first: float | None = None
    seconds: float | None = None
    changes: int = 0
    raw: float | None = None
    width: int | None = None


@dataclass(frozen=True, slots=True)
class PageDone:
    """A page was left complete: when it was shown, for how long, and what it noticed meanwhile (JSON)."""

    shown: float | None = None
    seconds: float | None = None
    facts: str = ""


@dataclass(frozen=True, slots=True)
class Move:
    """Where a visit goes next; only if it still is where ``seen_at`` says (state, occasion, page)."""

    state: str
    occasion: int
    page: int
    seen_at: tuple[str, int, int] | None = None
    reason: str = ""
    code: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the link to keep, besides those that the visit has."""


def save_answers(
    db: Connection,
    visit_id: int,
    occasion: int,
    page: int,
    answers: tuple[Answer, ...],
    done: PageDone | None,
    move: Move | None,
    time: float,
) -> Saved:
    """Store the answers of one page, and move the visit on; return what is there now."""
    visit = load_visit(db, visit_id)  # and nobody else writes for this visit until the commit
    acknowledged = _save_page(db, visit, occasion, page, answers, time) if answers else ()
    if done is not None:
        row = {"visit": visit_id, "occasion": occasion, "page": page, "done": time}
        db.run(sql.PAGE_DONE, row | {"shown": done.shown, "seconds": done.seconds, "facts": done.facts})
    moved = move_visit(db, visit, move, time) if move is not None else None
    if moved is None and not visit.over:
        db.run(sql.SEE_VISIT, {"id": visit_id, "seen": time})
        visit = replace(visit, seen=time)
    return Saved(acknowledged, moved or visit, moved is not None)


def move_visit(db: Connection, visit: Visit, move: Move, time: float) -> Visit | None:
    """Return the visit after its move; nothing where it has ended, or somebody else moved it before."""
    if visit.over or move.seen_at not in (None, (visit.state, visit.occasion, visit.page)):
        return None
    fields: dict[str, Any] = {"state": move.state, "occasion": move.occasion, "page": move.page}
    fields |= {"seen": time, "moved": time}
    fields["opened"] = time if visit.opened is None else visit.opened
    if move.code:
        fields["code"] = move.code
    if move.params:
        fields["params"] = {**visit.params, **move.params}
    if move.state in ENDS:
        fields |= end_fields(visit, move.state, move.reason, time)
    if move.state == "declined":  # only the count is kept of people who decline
        fields |= {"outside_id": None, "params": {}}
        db.run(sql.FORGET_EVENTS, {"visit": visit.id})
    return save_visit(db, replace(visit, **fields))


def _save_page(
    db: Connection, visit: Visit, occasion: int, page: int, answers: tuple[Answer, ...], time: float
) -> tuple[Acknowledged, ...]:
    where = {"visit": visit.id, "occasion": occasion, "page": page}
    return tuple(_save_one(db, where, _clean(answer), visit.over, time) for answer in answers)


def _save_one(db: Connection, where: dict[str, Any], answer: Answer, late: bool, time: float) -> Acknowledged:
    last = same_key = None
    for revision, value, key, was_late in db.rows(
        sql.KNOWN_ANSWERS, {**where, "name": answer.name, "key": answer.key}
    ):
        found = (revision, value, bool(was_late))
        last = found if last is None or revision > last[0] else last
        same_key = found if key == answer.key else same_key
    for known in (same_key, last):
        if known is not None and known[1] == answer.value:
            return Acknowledged(answer.name, known[0], known[2], True)
    revision = last[0] + 1 if last is not None else 0
    if revision >= MOST_REVISIONS:
        raise TooManyChanges(
            f"This answer was changed {MOST_REVISIONS} times on this page, the most that is kept. The last "
            "one stands."
        )
    # A key that comes with another value is still a change, and must not be lost.
    key = answer.key if same_key is None else f"{answer.key}~{revision}"
    db.run(sql.NEW_ANSWER, _make_row(where, answer, revision, key, time, late))
    return Acknowledged(answer.name, revision, late, False)


def _clean(answer: Answer) -> Answer:
    value, key = clean_text(answer.value), clean_text(answer.key)
    if value is answer.value and key is answer.key:
        return answer
    return replace(answer, value=value, key=key)


def _make_row(
    where: dict[str, Any], answer: Answer, revision: int, key: str, time: float, late: bool
) -> dict[str, Any]:
    return {
        **where,
        "name": answer.name,
        "criterion": answer.criterion,
        "item": answer.item,
        "system": answer.system,
        "position": answer.position,
        "phase": answer.phase,
        "check_name": answer.check,
        "value": answer.value,
        "revision": revision,
        "key": key,
        "given": time,
        "seconds_first": answer.seconds_first,
        "seconds": answer.seconds,
        "changes": answer.changes,
        "raw": answer.raw,
        "width": answer.width,
        "late": late,
    }
