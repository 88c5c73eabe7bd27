"""The versions of the study used while collecting: what each asked, and what was allowed to change."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import func, select

from panelist.collection.store.database.engine import Connection, Statement
from panelist.collection.store.database.statements import insert_row
from panelist.collection.store.database.tables import study_versions
from panelist.collection.store.records import write_json

_ALL = Statement(select(*study_versions.c).order_by(study_versions.c.version))
_LAST = Statement(select(func.max(study_versions.c.version)))
_NEW = Statement(insert_row(study_versions, ()))


@dataclass(frozen=True)
class StudyVersion:
    """One version of the study."""

    version: int
    hash: str
    made: float
    declared: Mapping[str, Any] = field(repr=False)
    """What study_changes.declare made of it; empty where it was not recorded."""
    changed: tuple[str, ...] = ()
    """What differed from the version before, in words."""
    allowed: tuple[str, ...] = ()
    """The names under which that was allowed."""
    visits: int = 0
    """How many visits there were before it."""


def read_versions(db: Connection) -> tuple[StudyVersion, ...]:
    """Return every version, the oldest first."""
    found = []
    for version, digest, made, declared, note in db.rows(_ALL):
        said = json.loads(note)
        found.append(
            StudyVersion(
                version,
                digest,
                made,
                json.loads(declared),
                tuple(said.get("changed", ())),
                tuple(said.get("allowed", ())),
                int(said.get("visits", 0)),
            )
        )
    return tuple(found)


def add_version(db: Connection, new: StudyVersion) -> None:
    """Add a version after those that are there; its own number does not count."""
    row = db.row(_LAST)
    number = (row[0] or 0) + 1 if row is not None else 1
    note = {"changed": new.changed, "allowed": new.allowed, "visits": new.visits}
    db.run(
        _NEW,
        {
            "version": number,
            "hash": new.hash,
            "made": new.made,
            "declared": write_json(new.declared),
            "note": write_json(note),
        },
    )
