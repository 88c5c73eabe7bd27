"""The dashboard as it is now: counted once for everybody who watches, and sent to them when it has changed.

One query serves all: however many browsers are open, the database is asked at most every two seconds, and not
at all while nobody watches. Counting runs in a thread, so that raters do not wait for it.
"""

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic

from panelist.collection.monitor.agreement_so_far import AgreementSoFar, measure_so_far
from panelist.collection.monitor.given_ratings import collect_ratings
from panelist.collection.monitor.ledger import Ledger, name_texts
from panelist.collection.monitor.overview import Overview, make_overview
from panelist.collection.monitor.plan_facts import PlanFacts, count_plan
from panelist.collection.monitor.warming import Warming
from panelist.collection.recruiting.repository import RecruitingRepository, find_paid
from panelist.collection.store.errors import StoreUnavailable
from panelist.web.dashboard.background import run_aside
from panelist.web.dashboard.following import follow_so_far
from panelist.web.state import AppState

LOOK_SECONDS, FRESH_SECONDS, HEARTBEAT_SECONDS = 2.0, 0.5, 15.0
ENDING_SECONDS, WARMING_SECONDS = 0.5, 0.1
AGREEMENT_SECONDS, AGREEMENT_SHARE, AGREEMENT_LONGEST = 5.0, 10.0, 60.0
"""Agreement is measured at most every five seconds; where it takes long, less often, up to once a minute."""
RETRY_MILLISECONDS = 3000


@dataclass(frozen=True)
class LiveView:
    """What there is to show at one moment."""

    overview: Overview
    agreement: AgreementSoFar | None
    version: str
    """Differs as soon as any part looks different."""
    parts: dict[str, str]
    """The parts of the page as HTML, by their names."""


Draw = Callable[[Overview, AgreementSoFar | None], dict[str, str]]


class Board:
    """The dashboard of one process."""

    def __init__(self, site: AppState, draw: Draw) -> None:
        self.site = site
        self.ledger = Ledger(site.store, name_texts(site.study))
        self.agreement: AgreementSoFar | None = None
        self.follows: Mapping[int, str] = {}
        self._draw = draw
        self._facts: tuple[int, PlanFacts] | None = None
        self._view: LiveView | None = None
        self._looked = -LOOK_SECONDS
        self._looking = asyncio.Lock()
        self._measured: frozenset[int] | None = None
        self._measure_again = 0.0
        self._measuring: asyncio.Task[None] | None = None
        self._warming = Warming()

    async def look(self, age: float = FRESH_SECONDS) -> LiveView:
        """Return what there is to show, not older than ``age`` seconds."""
        async with self._looking:  # requests that come meanwhile share this result
            if self._view is None or monotonic() - self._looked >= age:
                self._view = await run_aside(self._count)
                self._looked = monotonic()
                self._follow_agreement()
            return self._view

    async def watch(self) -> AsyncIterator[str]:
        """Return the messages for one browser: one at once, then one after each change, and signs of life."""
        yield f"retry: {RETRY_MILLISECONDS}\n\n"
        seen, sent, spoke = "", -LOOK_SECONDS, monotonic()
        while not is_ending():
            with suppress(StoreUnavailable):  # the page keeps what it has
                view = await self._look_or_end()
                if view is not None and view.version != seen and monotonic() - sent >= LOOK_SECONDS:
                    seen, sent = view.version, monotonic()
                    spoke = sent
                    yield write_message(view)
            if monotonic() - spoke >= HEARTBEAT_SECONDS:
                spoke = monotonic()
                yield ": still here\n\n"
            await asyncio.sleep(ENDING_SECONDS)

    async def _look_or_end(self) -> LiveView | None:
        """Return what there is to show; nothing once the server is to end, because counting takes long."""
        looking = asyncio.ensure_future(self.look(LOOK_SECONDS))
        while not is_ending():
            done, _ = await asyncio.wait({looking}, timeout=ENDING_SECONDS)
            if done:
                return looking.result()
        looking.cancel()
        return None

    def facts(self) -> PlanFacts:
        """Return what the plan in force asks for; reads the store."""
        version = self.site.store.version()
        if self._facts is None or self._facts[0] != version.number:
            self._facts = (version.number, count_plan(version.plan, self.site.study))
        return self._facts[1]

    def _count(self) -> LiveView:
        self.ledger.look()
        with_rest = self.agreement.with_rest if self.agreement is not None else {}
        paid = (
            find_paid(RecruitingRepository(self.site.store))
            if self.site.study.file.recruiting is not None
            else {}
        )
        overview = make_overview(
            self.ledger, self.site.study, self.facts(), time.time(), with_rest, paid, self.follows
        )
        parts = self._draw(overview, self.agreement)
        whole = sha256(json.dumps([overview.state, parts]).encode()).hexdigest()[:16]
        return LiveView(overview, self.agreement, whole, parts)

    def _follow_agreement(self) -> None:
        """Have the agreement measured again, in a thread, if others have finished and it is time."""
        done = frozenset(
            folder.visit.id
            for folder in self.ledger.folders.values()
            if folder.visit.state == "finished" and folder.visit.valid
        )
        idle = self._measuring is None or self._measuring.done()
        if idle and done != self._measured and monotonic() >= self._measure_again:
            self._measured = done
            self._measuring = asyncio.get_running_loop().create_task(self._measure())

    async def _measure(self) -> None:
        while not self._warming.over:  # meanwhile the server may end
            await asyncio.sleep(WARMING_SECONDS)
        began = monotonic()

        def work() -> tuple[AgreementSoFar, dict[int, str]]:
            folders = list(self.ledger.folders.values())
            given = collect_ratings(folders, self.site.booklet().agenda, self.site.study)
            return measure_so_far(given), follow_so_far(given, self.site.study)

        try:
            self.agreement, self.follows = await run_aside(work)
            self._looked = -LOOK_SECONDS  # the next look shows it
        finally:
            took = monotonic() - began
            pause = min(AGREEMENT_LONGEST, AGREEMENT_SHARE * took)
            self._measure_again = monotonic() + max(AGREEMENT_SECONDS, pause)


def write_message(view: LiveView) -> str:
    """Return the event that tells browsers the current state."""
    said = {"version": view.version, "state": view.overview.state, "parts": view.parts}
    return f"event: board\ndata: {json.dumps(said, separators=(',', ':'))}\n\n"


def is_ending() -> bool:
    """Return whether the server of this process was told to end.

    It waits for every reply to be complete, and these never are; but it does not say that it waits. It
    has, however, registered a handler for the signal to end.
    """
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return bool(getattr(server, "should_exit", False))
