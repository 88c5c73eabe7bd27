"""What was collected, kept in memory for the dashboard: each look adds what is new.

Only visits with something new are counted again, so that a look costs what has happened since, not what there
is.
"""

import threading
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from panelist.collection.monitor.real_pay import measure_time
from panelist.collection.pages.reading_pace import Pace
from panelist.collection.store.changes import ANSWER_COLUMNS, News, ReadPosition, read_news
from panelist.collection.store.operations.erasing import is_forgotten
from panelist.collection.store.reading import Snapshot
from panelist.collection.store.records import (
    StoredEvent,
    StudyRecord,
    Visit,
    make_event,
    make_visit,
    rank_answer,
)
from panelist.collection.store.store import Store
from panelist.study.study import Study

if TYPE_CHECKING:
    import pandas as pd

REASON = "-why"
ABOUT = ("practice", "comprehension", "sound check")
"""What a rater may be flagged for before the first rating."""
BY_OTHERS = {"message", "released", "excluded", "readmitted"}
"""Events that are not a sign of life: the rater need not have been there."""
Field = tuple[int, int, str]
"""Occasion, page and name of a field."""


class CountedAnswer(NamedTuple):
    """The answer that counts for a field."""

    criterion: str
    item: str
    phase: str
    value: str
    revision: int
    late: bool


@dataclass(frozen=True)
class VisitTally:
    """What a visit has done so far."""

    pages: frozenset[tuple[int, int]] = frozenset()
    """Pages left complete, as (occasion, order)."""
    ratings: int = 0
    """Answers to trials that stand."""
    seconds: float = 0.0
    """Time at work, pauses left out."""
    page_seconds: float | None = None
    """The median time on a page."""
    checks: Mapping[tuple[int, str], bool] = field(default_factory=dict)
    """Which checks were passed, by sitting and name."""
    same: tuple[int, int] = (0, 0)
    """How often the most frequent answer to one question was given, and of how many."""
    notes: tuple[str, ...] = ()
    """Reasons of flags that the pages themselves raised."""


@dataclass
class Folder:
    """All that is known about one visit."""

    visit: Visit
    answers: dict[Field, CountedAnswer] = field(default_factory=dict)
    pages: dict[tuple[int, int], float | None] = field(default_factory=dict)
    moments: set[float] = field(default_factory=set)
    events: dict[int, StoredEvent] = field(default_factory=dict)
    tally: VisitTally = VisitTally()
    pace: tuple[int, Pace | None] | None = None
    """How fast the rater went through the pages, and how many there were when that was measured."""


def name_texts(study: Study) -> frozenset[str]:
    """Return the criteria that ask for words."""
    return frozenset(one.name for one in study.criteria if one.scale.measurement == "text")


class Ledger:
    """Everything that was collected, as of the last look. ``look`` may be called from any thread."""

    def __init__(self, store: Store, texts: frozenset[str] = frozenset()) -> None:
        self._store = store
        self._texts = texts
        """Criteria that ask for words: that nobody writes the same twice says nothing."""
        self._lock = threading.Lock()
        self._mark = ReadPosition()
        self.folders: dict[int, Folder] = {}
        self.study: StudyRecord = store.study
        self.since = store.study.created
        self.looks = 0
        """How many looks found something new."""

    def look(self) -> None:
        """Read what is new."""
        with self._lock:
            news = read_news(self._store, self._mark)
            if self._lost_somebody(news):
                # What is erased must not be shown from memory, and SQLite reuses its row numbers.
                self.folders, self._mark = {}, ReadPosition()
                news = read_news(self._store, self._mark)
            changed = _file(self.folders, news)
            for number in changed:
                folder = self.folders[number]
                folder.tally = count_folder(folder, self._texts)
            if changed or news.study.state != self.study.state:
                self.looks += 1
            self.study, self.since, self._mark = news.study, news.since, news.mark

    def _lost_somebody(self, news: News) -> bool:
        """Return whether a person was erased since the last look."""
        gone = (visit.id for visit in news.visits if is_forgotten(visit))
        return any(number in self.folders and not is_forgotten(self.folders[number].visit) for number in gone)


def collect_folders(snapshot: Snapshot, texts: frozenset[str] = frozenset()) -> dict[int, Folder]:
    """Return all that is known of each visit at one moment, as a ledger would have it."""
    folders: dict[int, Folder] = {}
    news = News(
        study=snapshot.study,
        since=snapshot.study.created,
        visits=tuple(make_visit(row) for row in _list_rows(snapshot.visits)),
        answers=_list_rows(snapshot.answers[list(ANSWER_COLUMNS)]),
        pages=_list_rows(snapshot.pages_done[["visit", "occasion", "page", "done", "seconds"]]),
        events=[make_event(row) for row in _list_rows(snapshot.events)],
        mark=ReadPosition(),
    )
    for number in _file(folders, news):
        folders[number].tally = count_folder(folders[number], texts)
    return folders


def _list_rows(frame: "pd.DataFrame") -> list[tuple[Any, ...]]:
    plain = frame.astype(object)
    return list(plain.where(plain.notna(), None).itertuples(index=False, name=None))


def _file(folders: dict[int, Folder], news: News) -> set[int]:
    """Store what is new; return the visits that it concerns."""
    changed: set[int] = set()
    for visit in news.visits:
        folder = folders.get(visit.id)
        if folder is None:
            folders[visit.id] = Folder(visit)
            changed.add(visit.id)
        elif folder.visit != visit:
            folder.visit = visit
            changed.add(visit.id)
    for row in news.answers:
        if _file_answer(folders[row[0]], row):
            changed.add(row[0])
    for number, occasion, page, done, seconds in news.pages:
        folder = folders[number]
        if (occasion, page) not in folder.pages:
            folder.pages[occasion, page] = seconds
            folder.moments.add(done)
            changed.add(number)
    for event in news.events:
        folder = folders[event.visit]
        if event.id not in folder.events:
            folder.events[event.id] = event
            if event.kind not in BY_OTHERS:
                folder.moments.add(event.time)
            changed.add(event.visit)
    return changed


def _file_answer(folder: Folder, row: tuple[Any, ...]) -> bool:
    """Keep an answer if it counts more than the one that is there; return whether there is anything new."""
    _, occasion, page, name, criterion, item, phase, _, value, revision, given, late, _ = row
    known = folder.answers.get((occasion, page, name))
    new = CountedAnswer(criterion, item, phase, value, revision, bool(late))
    if known == new:
        return False
    folder.moments.add(given)
    if known is None or rank_answer(new.revision, new.late) > rank_answer(known.revision, known.late):
        folder.answers[occasion, page, name] = new
        return True
    return False


def count_folder(folder: Folder, texts: frozenset[str]) -> VisitTally:
    """Return what a visit has done so far."""
    visit = folder.visit
    trials = [
        (key, given)
        for key, given in folder.answers.items()
        if given.phase == "trial" and given.value != "" and not key[2].endswith(REASON)
    ]
    by_question: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for _, given in trials:
        if given.criterion not in texts:
            by_question[given.criterion][given.value] += 1
    same = max(
        ((count.most_common(1)[0][1], count.total()) for count in by_question.values()),
        key=lambda pair: pair[0] / pair[1],
        default=(0, 0),
    )
    checks, notes = {}, []
    for _, event in sorted(folder.events.items()):
        if event.kind == "check":
            name = (int(event.detail.get("occasion", 1)), str(event.detail.get("check", "")))
            checks[name] = bool(event.detail.get("passed"))
        elif event.kind == "flag" and event.detail.get("about") in ABOUT:
            notes.append(str(event.detail["reason"]))
    ends = [time for time in (visit.opened, visit.ended if visit.state == "finished" else None) if time]
    timed = [seconds for seconds in folder.pages.values() if seconds is not None]
    return VisitTally(
        pages=frozenset(folder.pages),
        ratings=len(trials),
        seconds=measure_time([*ends, *folder.moments]),
        page_seconds=median(timed) if timed else None,
        checks=checks,
        same=same,
        notes=tuple(notes),
    )
