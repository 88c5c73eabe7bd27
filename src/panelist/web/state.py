"""What the routes work with: the study, its store, and the pages made ready from the plan in force."""

import asyncio
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from math import inf
from time import monotonic
from typing import Any, TypeVar

from starlette.requests import Request

from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.models import Page
from panelist.collection.pages.renderings import NotRendered, Renderings, defer_rendering
from panelist.collection.pages.translations import load_words
from panelist.collection.recruiting.outcomes import dress_study
from panelist.collection.recruiting.panel import find_id_parameters
from panelist.collection.store.errors import StoreUnavailable
from panelist.collection.store.holds import Holds
from panelist.collection.store.operations.logouts import Logouts
from panelist.collection.store.operations.ops import Beat, Operation, ReleaseStale
from panelist.collection.store.records import Visit
from panelist.collection.store.store import Store, open_store
from panelist.study.panels import find_panel
from panelist.study.reading.load import load_study
from panelist.study.study import Study
from panelist.web.config import WebConfig
from panelist.web.dashboard.login import Login, Session
from panelist.web.rater.device_cookie import DeviceCookie
from panelist.web.rater.skeletons import draw_page
from panelist.web.rendering import Frame
from panelist.web.security import Limiter

T = TypeVar("T")
STATE_SECONDS = 1.0
OPENING_SECONDS, OPENING_PAUSE = 60.0, 0.5
SHOWN_KEPT = 100_000
YIELD_SECONDS = 0.0005
JOINS_AT_ONCE = 4
"""The minutes' worth of places that one address may take at once: a class that begins together."""
HEALTH_SECONDS, HEALTH_PATIENCE = 1.0, 3.0


class AppState:
    """A study that is being served by this process. The dashboard uses it, too, as ``app.state.site``."""

    def __init__(self, config: WebConfig, study: Study, store: Store) -> None:
        self.config = config
        self.study = study
        self.shown_study = dress_study(study, store.study.secret)
        """The study with the codes of its panel, as the pages show it."""
        self.store = store
        self.id_parameters = find_id_parameters(study, config.id_parameters)
        self.login = Login(store.study.secret, config.password, config.https, prefix=config.prefix)
        self._logouts = Logouts()
        self._noted: dict[str, float] = {}
        self.devices = DeviceCookie(store.study.secret, config.https, config.prefix)
        self.panel = find_panel(study.file.recruiting) if study.file.recruiting is not None else None
        self.joins = Limiter(config.joins_a_minute, at_once=JOINS_AT_ONCE)
        self.words = load_words(study.file.language)
        self.renderings = Renderings(self.shown_study.outputs, self.words)
        self._rendering = ThreadPoolExecutor(1, "rendering")
        self.shown = ShownPages()
        self.holds = Holds(store.hold_seconds)
        self._inline = store.database.file is not None
        self._booklet: tuple[int, Booklet] | None = None
        self._state: tuple[float, str] = (-STATE_SECONDS, "")
        self._health: tuple[float, bool] = (-HEALTH_SECONDS, False)
        self._examining = asyncio.Lock()

    async def read(self, look: Callable[[], T]) -> T:
        """Return what ``look`` reads from the store: at once from a file, in a thread from a server.

        Where it shows a text that was never shown, the text is rendered aside first and ``look`` asked again.
        """
        while True:
            try:
                with defer_rendering():
                    return look() if self._inline else await asyncio.to_thread(look)
            except NotRendered as text:
                await self.render_aside(text.render)

    async def render_aside(self, render: Callable[[], object]) -> None:
        """Render a text in the one thread for it, so that other requests are answered meanwhile."""
        await asyncio.get_running_loop().run_in_executor(self._rendering, partial(_yield_often, render))

    async def render_ahead(self) -> None:
        """Render all outputs before they are asked for, taking half the time of a processor at most."""
        for cell, column in self.renderings.list_all():
            began = monotonic()
            await self.render_aside(partial(self.renderings.prepare, cell, column))
            await asyncio.sleep(monotonic() - began)

    async def write(self, op: "Operation[T]") -> T:
        """Return what the operation returns, once it is on disk."""
        return await self.store.writer.send(op)

    def note_once(self, what: str, seconds: float = inf) -> bool:
        """Return whether this is the first time in so many seconds that it is noted in this process."""
        now = monotonic()
        first = now - self._noted.get(what, -inf) >= seconds
        if first:
            self._noted[what] = now
        return first

    async def find_session(self, request: Request) -> Session | None:
        """Return the login of a request, if it has one that has not been ended since, here or elsewhere."""
        session = self.login.find(request)
        if session is None:
            return None
        ended = await self.read(lambda: self.store.database.read(self._logouts.look))
        return None if self.login.mark(session) in ended else session

    def booklet(self) -> Booklet:
        """Return the pages of the plan in force; call it inside ``read``."""
        version = self.store.version()
        if self._booklet is None or self._booklet[0] != version.number:
            self._booklet = (
                version.number,
                Booklet(self.shown_study, version.plan, self.words, self.renderings),
            )
        return self._booklet[1]

    def render(
        self,
        page: Page,
        token: str = "",
        messages: tuple[str, ...] = (),
        action: str = "",
        fields: tuple[tuple[str, str], ...] = (),
    ) -> str:
        """Return the HTML of a page; its forms lead to the visit of this token, or to ``action``."""
        file = self.study.file
        home = f"/r/{token}" if token else ""
        theme = file.collecting.theme
        frame = Frame(
            file.title, home, file.information.contact, theme, messages=messages, action=action, fields=fields
        )
        return draw_page(page, self.words, frame)

    def state(self) -> str:
        """Return whether the study is open, paused or closed, as of a second ago; call it inside ``read``."""
        if monotonic() - self._state[0] >= STATE_SECONDS:
            self._state = (monotonic(), self.store.state())
        return self._state[1]

    def measure(self, visit: Visit, page: str, now: float) -> float:
        """Return for how many seconds a visit has had its page before it, by the clock of the server.

        Another process may have shown it, or nobody asked for it at all: then since the visit came there.
        """
        shown = self.shown.since(visit.id, page)
        came = visit.moved or visit.opened or visit.created
        return max(0.0, now - came) if shown is None else shown

    async def read_state(self) -> str:
        """Return the state of the study, asked of the database now."""
        return await self.read(self.store.state)

    async def is_well(self) -> bool:
        """Return whether answers can be saved: something is really written, at most once a second."""
        async with self._examining:  # requests that come meanwhile share the result
            if monotonic() - self._health[0] >= HEALTH_SECONDS:
                try:
                    await self.read_state()
                    await asyncio.wait_for(
                        self.store.writer.send(Beat(), HEALTH_PATIENCE), 2 * HEALTH_PATIENCE
                    )
                    well = True
                except (StoreUnavailable, TimeoutError):
                    well = False
                self._health = (monotonic(), well)
            return self._health[1]

    async def sweep(self) -> None:
        """Release places that are held too long, again and again."""
        while True:
            await asyncio.sleep(self.config.sweep_seconds)
            with suppress(StoreUnavailable):  # the next round finds them as well
                await self.release_stale()

    async def release_stale(self) -> None:
        """Release the places where nobody was seen for as long as the study holds them."""
        going = await self.read(self.store.going)
        if stale := self.holds.find_stale(going, time.time()):
            await self.write(ReleaseStale(stale))


def _yield_often(render: Callable[[], object]) -> None:
    """Call ``render`` so that other threads get their turn within a millisecond.

    A request gives the turn away at every look into the database, and waits for it each time. At the usual
    5 ms that came to a tenth of a second. Only one thread renders, so nobody else sets this meanwhile.
    """
    usual = sys.getswitchinterval()
    sys.setswitchinterval(YIELD_SECONDS)
    try:
        render()
    finally:
        sys.setswitchinterval(usual)


class ShownPages:
    """When each visit was first shown the page it is at, by a clock that cannot be set."""

    def __init__(self, most: int = SHOWN_KEPT, clock: Callable[[], float] = monotonic) -> None:
        self._most = most
        self._clock = clock
        self._times: OrderedDict[int, tuple[str, float]] = OrderedDict()

    def note(self, visit: int, page: str) -> None:
        """Note that a page is shown, unless it was already."""
        if self._times.get(visit, ("", 0.0))[0] != page:
            self._times[visit] = (page, self._clock())
            self._times.move_to_end(visit)
            if len(self._times) > self._most:
                self._times.popitem(last=False)

    def since(self, visit: int, page: str) -> float | None:
        """Return for how many seconds a page has been shown, None where this process did not show it."""
        noted = self._times.get(visit)
        return self._clock() - noted[1] if noted is not None and noted[0] == page else None


class StoredHistory:
    """The history of a visit, read from the store when a page asks for it."""

    def __init__(self, store: Store, visit: Visit) -> None:
        self._store = store
        self._visit = visit.id
        self._pages: dict[tuple[int, int], dict[str, str]] = {}

    def answers(self, occasion: int, page: int) -> Mapping[str, str]:
        """Return the current answers on a page, by field."""
        found = self._pages.get((occasion, page))
        if found is None:
            stored = self._store.visit_answers(self._visit, occasion, page)
            found = self._pages[occasion, page] = {name: answer.value for name, answer in stored.items()}
        return found

    def events(self, kind: str) -> Sequence[Mapping[str, Any]]:
        """Return the details of the events of a kind, oldest first."""
        return [event.detail for event in self._store.visit_events(self._visit) if event.kind == kind]

    def seconds(self, occasion: int) -> float:
        """Return how long the pages of an occasion took so far."""
        return self._store.occasion_times(self._visit, occasion)[0]

    def ended(self, occasion: int) -> float | None:
        """Return when the last page of an occasion was done, in seconds since 1970."""
        return self._store.occasion_times(self._visit, occasion)[1]


async def open_app_state(config: WebConfig) -> AppState:
    """Return the site of a study; waits for an unavailable database, as when both machines start together."""
    study = load_study(config.study)
    until = monotonic() + OPENING_SECONDS
    while True:
        try:
            store = await asyncio.to_thread(
                open_store, config.database, study, None, patience=config.patience_seconds
            )
            return AppState(config, study, store)
        except StoreUnavailable:
            if monotonic() > until:
                raise
            await asyncio.sleep(OPENING_PAUSE)
