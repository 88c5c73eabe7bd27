"""Who holds which place: joining, links, releasing, excluding. Only valid completions fill a place.

Code that hands out a place first locks the one row of ``studies``, and code that writes for a visit locks its
row: so two processes never give away the same place. The partial unique index holds even without the locks.
"""

import hashlib
import hmac
from base64 import b32encode
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from panelist.collection.store.database import statements as sql
from panelist.collection.store.database.engine import Connection
from panelist.collection.store.database.tables import FREEING
from panelist.collection.store.errors import NoPlace, NotOpen, NoVisit
from panelist.collection.store.operations.plans import PlanPlaces
from panelist.collection.store.records import StudyRecord, Visit, clean_text, make_visit, write_json

TIMED_OUT = "timed out"
RETURNED_REASON, TIMED_OUT_REASON = "returned on Prolific", "timed out on Prolific"
COMING_BACK = (RETURNED_REASON, TIMED_OUT_REASON)
"""Why a visit was released whose person may come again through the panel, with another submission."""


def join(
    db: Connection,
    places: PlanPlaces,
    *,
    token: str,
    group: str | None,
    outside_id: str | None,
    params: Mapping[str, Any],
    state: str,
    time: float,
) -> Visit:
    """Return the visit of a person who came by the open link: a new one, or the one they have already.

    With no group given and several in the plan, the place is given by ``assign`` once the group is known.
    """
    study = lock_study(db)
    found = db.row(sql.FIND_VISIT, {"token": token})  # a retry: the acknowledgement was lost
    outside = clean_text(outside_id) if outside_id else None
    if found is None and outside is not None:
        found = db.row(sql.FIND_OUTSIDE, {"outside_id": outside})
    if found is not None:
        return make_visit(found)
    if study.state != "open":
        raise NotOpen(f"The study is {study.state}: nobody new can join. Open it on the dashboard.")
    place = None if group is None and places.grouped else _find_free(db, places, group or "")
    visit = new_visit(token, place, places.group(place) if place else group or "", state, time)
    return add_visit(
        db, replace(visit, outside_id=outside, params=params, opened=time, seen=time, moved=time)
    )


def assign(db: Connection, places: PlanPlaces, visit_id: int, group: str, time: float) -> Visit:
    """Return the visit with a place of the group; it keeps the one it has."""
    lock_study(db)
    visit = load_visit(db, visit_id)
    if visit.place is not None or visit.over:
        return visit
    return save_visit(db, replace(visit, place=_find_free(db, places, group), group=group, seen=time))


def make_links(
    db: Connection, places: PlanPlaces, *, count: int | None, group: str | None, secret: str, time: float
) -> tuple[Visit, ...]:
    """Return new visits that wait for their link to be opened: for each free place, or for ``count``."""
    lock_study(db)
    if group is not None:
        places.check_group(group)
    held: dict[str, str] = dict(db.rows(sql.HELD_PLACES))
    tokens = {place: derive_token(secret, place) for place in places.of_group(group)}
    before = [
        db.row(sql.FIND_VISIT, {"token": token})
        for place, token in tokens.items()
        if token == held.get(place)
    ]
    if before:  # a retry: the acknowledgement was lost
        return tuple(make_visit(row) for row in before if row is not None)
    free = [place for place in tokens if place not in held]
    if not free or len(free) < (count or 0):
        raise NoPlace(_say_full(places, group, wanted=count, free=len(free)))
    return tuple(
        add_visit(db, new_visit(tokens[place], place, places.group(place), "invited", time))
        for place in free[:count]
    )


def end_visit(db: Connection, visit_id: int, state: str, reason: str, time: float) -> tuple[Visit, bool]:
    """Return the visit after it was released or excluded, and whether that changed anything."""
    visit = load_visit(db, visit_id)
    if state == "released" and visit.state == "finished":
        raise NoVisit(f"Visit {visit_id} is finished: its place is filled. To free it, exclude the visit.")
    if visit.freed and not (state == "excluded" and visit.state in ("released", "screened_out")):
        return visit, False
    return save_visit(db, replace(visit, **end_fields(visit, state, reason, time))), True


def release_stale(db: Connection, stale: tuple[tuple[int, float], ...], time: float) -> tuple[Visit, ...]:
    """Return the visits that were released: those of ``stale`` with no sign of life since then."""
    lock_study(db)
    gone = []
    for visit_id, seen in stale:
        visit = load_visit(db, visit_id)  # locked now: it may have been seen in between
        if not visit.over and visit.seen == seen:
            gone.append(save_visit(db, replace(visit, **end_fields(visit, "released", TIMED_OUT, time))))
    return tuple(gone)


def reopen(
    db: Connection, visit_id: int, time: float, reasons: tuple[str, ...] = (TIMED_OUT,), params: Any = None
) -> Visit:
    """Return the visit where it was when it was released, if its place is still free; else unchanged."""
    lock_study(db)
    visit = load_visit(db, visit_id)
    if visit.state != "released" or visit.reason not in reasons:
        return visit
    if visit.place is not None and db.row(sql.FIND_HOLDER, {"place": visit.place}) is not None:
        return visit
    back = replace(visit, state=visit.left_at, left_at="", reason="", ended=None, valid=True)
    back = replace(back, seen=time, moved=time)
    return save_visit(db, back if params is None else replace(back, params=params))


def end_fields(visit: Visit, state: str, reason: str, time: float) -> dict[str, Any]:
    """Return what changes in a visit that ends in this way."""
    left_at = visit.left_at if visit.freed else visit.state
    ended = visit.ended if visit.ended is not None else time
    return {
        "state": state,
        "left_at": left_at,
        "ended": ended,
        "reason": clean_text(reason),
        "valid": state not in FREEING,
    }


def lock_study(db: Connection) -> StudyRecord:
    """Return the study; nobody else gives places away until the commit."""
    row = db.row(sql.LOCK_STUDY)
    assert row is not None, "open_store makes it"
    return StudyRecord(*row)


def load_visit(db: Connection, visit_id: int) -> Visit:
    """Return a visit for which nobody else writes until the commit."""
    row = db.row(sql.LOCK_VISIT, {"id": visit_id})
    if row is None:
        raise NoVisit(f"There is no visit {visit_id} in this database.")
    return make_visit(row)


def new_visit(token: str, place: str | None, group: str, state: str, time: float) -> Visit:
    """Return a visit that is not stored yet."""
    return Visit(
        id=0, token=token, place=place, group=group, outside_id=None, params={}, state=state, occasion=1,
        page=1, opened=None, seen=None, ended=None, left_at="", reason="", code="", valid=True, created=time,
    )  # fmt: skip


def add_visit(db: Connection, visit: Visit) -> Visit:
    """Store a new visit; return it with its number."""
    ((number,),) = db.rows(sql.NEW_VISIT, _make_row(visit))
    return replace(visit, id=number)


def save_visit(db: Connection, visit: Visit) -> Visit:
    """Store the visit as it is now, and return it."""
    db.run(sql.SAVE_VISIT, _make_row(visit))
    return visit


def derive_token(secret: str, place: str) -> str:
    """Return 128 bits that nobody can guess, in letters that survive being read aloud.

    >>> token = derive_token("a secret", "r001")
    >>> len(token), token == derive_token("a secret", "r001"), token == derive_token("a secret", "r002")
    (26, True, False)
    """
    digest = hmac.new(secret.encode(), place.encode(), hashlib.sha256).digest()[:16]
    return b32encode(digest).decode().rstrip("=")


def _make_row(visit: Visit) -> dict[str, Any]:
    row = {name: getattr(visit, name) for name in Visit.__slots__}
    row["grp"] = row.pop("group")
    row["params"] = write_json(visit.params) if visit.params else "{}"
    return row


def _find_free(db: Connection, places: PlanPlaces, group: str) -> str:
    """Return the lowest free place: plans are balanced at any prefix, so it is the least filled."""
    places.check_group(group)
    row = db.row(sql.HELD_NAMES)
    held = set(row[0].split(sql.HELD_SEPARATOR)) if row is not None and row[0] is not None else set()
    for place in places.of_group(group if places.grouped else None):
        if place not in held:
            return place
    raise NoPlace(_say_full(places, group, wanted=1, free=0))


def _say_full(places: PlanPlaces, group: str | None, *, wanted: int | None, free: int) -> str:
    whose = f" of group {group!r}" if group else ""
    count = len(places.of_group(group if places.grouped else None))
    asked = "" if wanted is None or wanted == 1 else f"; {wanted} were asked for"
    if free:
        return (
            f"Only {free} of the {count} places{whose} are free{asked}. Ask for fewer, or open more places."
        )
    return f"All {count} places{whose} are held or filled{asked}. Release one, or open more places."
