"""What the store gives back: visits, answers and what was acknowledged, as frozen records."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from panelist.collection.store.database.engine import Row
from panelist.collection.store.database.tables import ENDS, FREEING
from panelist.core.tables.columns import SIMULATED

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Visit:
    """One person at one place of the plan: what a link opens. Times are seconds since 1970."""

    id: int
    token: str
    place: str | None
    group: str
    outside_id: str | None
    params: Mapping[str, Any] = field(repr=False)
    state: str
    occasion: int
    page: int
    opened: float | None
    seen: float | None
    ended: float | None
    left_at: str
    """The state in which an ended visit was before."""
    reason: str
    code: str
    valid: bool
    created: float
    moved: float | None = None
    """When it came to where it is: the page there can have been read since then, and not before."""

    @property
    def simulated(self) -> bool:
        """Whether a simulated rater is here: it says so when it comes."""
        return SIMULATED in self.params

    @property
    def over(self) -> bool:
        """Whether the visit has ended, in whatever way."""
        return self.state in ENDS

    @property
    def freed(self) -> bool:
        """Whether the visit ended in a way that gave its place back."""
        return self.state in FREEING


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """One revision of one answer, as it was stored."""

    id: int
    visit: int
    occasion: int
    page: int
    name: str
    criterion: str
    item: str
    system: str
    position: int
    phase: str
    check: str
    value: str
    revision: int
    key: str
    given: float
    seconds_first: float | None
    seconds: float | None
    changes: int
    raw: float | None
    width: int | None
    late: bool


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """One answer that is on disk: ``again`` where it was there before, under this key or with this value."""

    name: str
    revision: int
    late: bool
    again: bool


@dataclass(frozen=True, slots=True)
class Saved:
    """What was stored: the answers, the visit as it is now, and whether it moved as asked."""

    answers: tuple[Acknowledged, ...]
    visit: Visit
    moved: bool


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """Something that happened in a visit."""

    id: int
    visit: int
    time: float
    kind: str
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StoredAction:
    """Something that a researcher did."""

    id: int
    time: float
    who: str
    what: str
    target: str
    reason: str
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StudyRecord:
    """What the database knows about its study."""

    id: int
    hash: str
    title: str
    salt: str = field(repr=False)
    secret: str = field(repr=False)
    state: str
    created: float


def make_visit(row: Row) -> Visit:
    """Return the visit in a row of its table."""
    params = json.loads(row[5]) if row[5] != "{}" else {}
    return Visit(*(*row[:5], params, *row[6:15], bool(row[15]), *row[16:18]))


def make_answer(row: Row) -> StoredAnswer:
    """Return the answer in a row of its table."""
    return StoredAnswer(*(*row[:20], bool(row[20])))


def make_event(row: Row) -> StoredEvent:
    """Return the event in a row of its table."""
    return StoredEvent(*(*row[:4], json.loads(row[4])))


def make_action(row: Row) -> StoredAction:
    """Return the action in a row of its table."""
    return StoredAction(*(*row[:6], json.loads(row[6])))


_AFTER_ALL_IN_TIME = 2**32  # more than there are revisions
Count = TypeVar("Count", int, "pd.Series[Any]")


def rank_answer(revision: Count, late: Count) -> Count:
    """Return the rank of an answer among those to one field; the highest counts.

    That is the last that came in time, or the last of all where each came late. Columns are ranked as well.
    """
    return revision - late * _AFTER_ALL_IN_TIME


def find_latest(found: Iterable[StoredAnswer]) -> dict[str, StoredAnswer]:
    """Return the answer that counts for each field."""
    latest: dict[str, StoredAnswer] = {}
    for new in found:
        known = latest.setdefault(new.name, new)
        if rank_answer(new.revision, new.late) > rank_answer(known.revision, known.late):
            latest[new.name] = new
    return latest


def write_json(value: object) -> str:
    """Return a value as the JSON text that is stored."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return clean_text(text.replace("\\u0000", "\ufffd"))


def clean_text(text: str) -> str:
    """Return a text that every database takes: NUL and halves of letters become the replacement character.

    >>> clean_text("a\\x00b"), clean_text("für")
    ('a\ufffdb', 'für')
    """
    if text.isascii():
        return text.replace("\0", "\ufffd") if "\0" in text else text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")
