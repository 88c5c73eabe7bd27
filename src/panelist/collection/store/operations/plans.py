"""The plan in force: kept in the database in versions, so that every process uses the same one."""

import gzip
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.collection.store.database import statements as sql
from panelist.collection.store.database.engine import Connection, Row
from panelist.collection.store.errors import BadStore, NoPlace
from panelist.core.errors import did_you_mean
from panelist.study.file_names import PLAN_RECORD, PLAN_TABLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from panelist.design.plan import Plan

LOOK_AGAIN_SECONDS = 1.0


@dataclass(frozen=True)
class PlanPlaces:
    """The places of a plan in their order, each with its group (empty where the plan has none)."""

    groups: dict[str, str] = field(repr=False)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The groups, in order of appearance."""
        return tuple(dict.fromkeys(self.groups.values()))

    @property
    def grouped(self) -> bool:
        """Whether the group decides which places a person may have."""
        return self.names not in ((), ("",))

    def group(self, place: str) -> str:
        """Return the group of a place."""
        return self.groups[place]

    def of_group(self, group: str | None) -> tuple[str, ...]:
        """Return the places of one group, or of all."""
        return tuple(self.groups) if group is None else self._by_group.get(group, ())

    def check_group(self, group: str) -> None:
        """Raise NoPlace, with the groups there are, for one that the plan does not have."""
        if self.grouped and group not in self._by_group:
            raise NoPlace(f"The plan has no group {group!r}. {did_you_mean(group, self.names)}")

    @cached_property
    def _by_group(self) -> dict[str, tuple[str, ...]]:
        return {
            name: tuple(place for place, group in self.groups.items() if group == name) for name in self.names
        }


@dataclass(frozen=True)
class Version:
    """One version of the plan."""

    number: int
    plan: "Plan" = field(repr=False)
    places: PlanPlaces = field(repr=False)


class PlanCache:
    """The newest version of the plan, read again only when there is a newer one."""

    def __init__(self, load: "Callable[[Row], Plan] | None" = None) -> None:
        self._load = load or unpack_plan
        self._lock = threading.Lock()
        self._version: Version | None = None
        self._looked = 0.0

    def newest(self, db: Connection) -> Version:
        """Return the version in force, as this transaction sees it."""
        row = db.row(sql.LATEST_VERSION)
        number = row[0] if row is not None else None
        if number is None:
            raise BadStore(
                "The database has no plan. Open it with one: panelist plan STUDY, then panelist serve."
            )
        with self._lock:
            if self._version is None or self._version.number != number:
                whole = db.row(sql.PLAN, {"version": number})
                assert whole is not None
                plan = self._load(whole)
                self._version = Version(whole[0], plan, find_places(plan))
            self._looked = monotonic()
            return self._version

    def put(self, number: int, plan: "Plan") -> None:
        """Take a version that was just stored, so that nobody waits while it is read again."""
        with self._lock:
            if self._version is None or self._version.number < number:
                self._version = Version(number, plan, find_places(plan))

    def recent(self, read: "Callable[[Callable[[Connection], Version]], Version]") -> Version:
        """Return the version in force; the database is asked at most once a second."""
        version = self._version
        if version is not None and monotonic() - self._looked < LOOK_AGAIN_SECONDS:
            return version
        return read(self.newest)


def find_places(plan: "Plan") -> PlanPlaces:
    """Return the places of a plan with their groups."""
    first = plan.table.drop_duplicates("rater")
    groups = dict(zip(first["rater"].astype(str), first["group"].astype(str), strict=True))
    return PlanPlaces({place: groups.get(place, "") for place in plan.raters})


def pack_plan(plan: "Plan", version: int, note: str, time: float) -> dict[str, Any]:
    """Return the row that holds a plan: its two files, the table gzipped."""
    from panelist.design.plan_files import write_plan

    with TemporaryDirectory(prefix="panelist-") as folder:
        write_plan(plan, Path(folder))
        # A plan repeats itself: the first level makes it small, the ninth takes twenty times as long.
        table = gzip.compress((Path(folder) / PLAN_TABLE).read_bytes(), compresslevel=1, mtime=0)
        about = (Path(folder) / PLAN_RECORD).read_text(encoding="utf-8")
    return {"version": version, "hash": plan.hash, "made": time, "table": table, "about": about, "note": note}


def unpack_plan(row: Row) -> "Plan":
    """Return the plan in a row of its table."""
    from panelist.design.plan_files import read_plan

    with TemporaryDirectory(prefix="panelist-") as folder:
        (Path(folder) / PLAN_TABLE).write_bytes(gzip.decompress(row[3]))
        (Path(folder) / PLAN_RECORD).write_text(row[4], encoding="utf-8")
        return read_plan(Path(folder))


def find_moved(old: "Plan", new: "Plan") -> list[str]:
    """Return the places whose pages are not the same in both plans."""
    old_spans, new_spans = _find_spans(old), _find_spans(new)
    moved = {
        place
        for place, (start, end) in old_spans.items()
        if place not in new_spans or end - start != new_spans[place][1] - new_spans[place][0]
    }
    kept = [place for place in old_spans if place not in moved]
    rows = [_list_rows([spans[place] for place in kept]) for spans in (old_spans, new_spans)]
    differs = np.zeros(len(rows[0]), dtype=bool)
    for name in old.table.columns:
        differs |= _take_codes(old, old, name)[rows[0]] != _take_codes(new, old, name)[rows[1]]
    owners = old.table["rater"].cat.codes.to_numpy()[rows[0][differs]]
    moved |= {old.raters[code] for code in np.unique(owners).tolist()}
    return [place for place in old.raters if place in moved]


def _find_spans(plan: "Plan") -> dict[str, tuple[int, int]]:
    """Return where the rows of each place begin and end; they are adjacent."""
    codes = plan.table["rater"].cat.codes.to_numpy()
    begins = np.flatnonzero(np.diff(codes, prepend=-1))
    names = [plan.raters[code] for code in codes[begins].tolist()]
    ends = [*begins[1:].tolist(), len(codes)]
    return dict(zip(names, zip(begins.tolist(), ends, strict=True), strict=True))


def _list_rows(spans: list[tuple[int, int]]) -> "NDArray[np.int64]":
    parts = [np.arange(start, end) for start, end in spans]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _take_codes(plan: "Plan", like: "Plan", name: str) -> "NDArray[Any]":
    """Return a column as numbers: words by their index among those of another plan, -1 where it has none."""
    column = plan.table[name]
    if not hasattr(column, "cat"):
        return column.to_numpy()
    if plan is like:
        return column.cat.codes.to_numpy()
    number = {str(word): code for code, word in enumerate(like.table[name].cat.categories.tolist())}
    codes = [number.get(str(word), -1) for word in column.cat.categories.tolist()]
    return np.array(codes, dtype=np.int64)[column.cat.codes.to_numpy()]
