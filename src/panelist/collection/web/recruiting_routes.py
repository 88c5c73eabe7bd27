"""Recruiting on the dashboard: how it stands, the same deeds as the command, and messages from Prolific."""

import asyncio
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from panelist.collection.crowd.books import Books
from panelist.collection.crowd.errors import BadRecruiting, PanelRefused, TokenRefused
from panelist.collection.crowd.hooks import SECRET_VARIABLE, Forged, check_message, take_message
from panelist.collection.crowd.offer import Offer
from panelist.collection.crowd.panel import PANEL, describe_panel
from panelist.collection.crowd.paying import Settled
from panelist.collection.crowd.prolific.api import Api
from panelist.collection.crowd.prolific.wire import TOKEN_VARIABLE, open_wire
from panelist.collection.crowd.recruiter import Recruiter
from panelist.collection.crowd.state import RecruitingState
from panelist.collection.store.errors import StoreAway
from panelist.collection.web.dashboard_access import HOME, Visitor, researchers
from panelist.collection.web.dashboard_actions import ask, show_unknown
from panelist.collection.web.site import Site
from panelist.core.errors import PanelistError

PAGE = f"{HOME}/recruiting"
POLL_SECONDS = 60.0

log = logging.getLogger("panelist.recruiting")


@dataclass(frozen=True)
class View:
    """What the page shows."""

    state: RecruitingState | None = None
    offer: Offer | None = None
    problem: str = ""
    lines: tuple[str, ...] = ()


@contextmanager
def open_recruiter(site: Site, who: str) -> Iterator[Recruiter]:
    """Open the way to Prolific with the token that the server was started with."""
    wire = open_wire()
    try:
        yield Recruiter(site.study, Books(site.store), Api(wire), who, site.store.study.secret)
    finally:
        wire.close()


async def show_recruiting(visitor: Visitor) -> Response:
    """Show how recruiting stands."""
    site = visitor.site
    if site.study.file.recruiting is None:
        return show_unknown(visitor)
    view = await asyncio.to_thread(_look, site, visitor.who)
    token = bool(os.environ.get(TOKEN_VARIABLE))
    return visitor.show(
        "recruiting", view=view, state=view.state, panel=site.study.file.recruiting.panel, token=token
    )


def _look(site: Site, who: str) -> View:
    recruiting = site.study.file.recruiting
    if recruiting is None or recruiting.panel != PANEL:
        lines = describe_panel(site.study, site.config.url, site.store.study.secret)
        return View(lines=tuple(lines))
    try:
        with open_recruiter(site, who) as recruiter:
            known = recruiter.books.campaign(PANEL)
            if known is None or not known.outside_id:
                return View(offer=recruiter.make_offer())
            return View(recruiter.look())
    except StoreAway:
        raise
    except PanelistError as error:
        return View(problem=str(error))


@dataclass(frozen=True)
class Deed:
    """Something to do about recruiting: the page that asks, and what it does."""

    heading: str
    sentences: tuple[str, ...]
    button: str
    do: Callable[[Recruiter, Visitor], str]
    field: str = ""
    label: str = ""
    danger: bool = False
    list: str = ""
    """Which submissions it is about: those for which the rules say so."""


Settle = Callable[[Recruiter, RecruitingState, list[str]], Settled]


def _settle(do: Settle) -> Callable[[Recruiter, Visitor], str]:
    """Return the deed that settles exactly the submissions that were shown when it was asked."""

    def settle(recruiter: Recruiter, visitor: Visitor) -> str:
        chosen = [name for name in visitor.form.get("chosen", "").split(",") if name]
        if not chosen:
            raise BadRecruiting("There is nobody to whom this applies.")
        return say_settled(do(recruiter, recruiter.look(), chosen))

    return settle


def say_settled(settled: Settled) -> str:
    """Return what became of submissions, in a sentence or two."""
    said = [f"{len(settled.done)} done."]
    if settled.later:
        said.append(f"{len(settled.later)} not yet: try again in a while.")
    said += [f"{name}: {why}" for name, why in settled.refused.items()]
    return " ".join(said)


def _read_places(visitor: Visitor) -> int:
    text = visitor.form.get("number", "")
    if not text.isascii() or not text.isdecimal() or len(text) > 6:
        raise BadRecruiting(f"Give a whole number of places, such as 24. Got {text[:40]!r}.")
    return int(text)


DEEDS = {
    "draft": Deed(
        "Make the draft on Prolific",
        ("Nothing is shown to anybody yet, and nothing is paid. You can look at it on Prolific first.",),
        "Make the draft",
        lambda recruiter, visitor: (
            f"Draft {recruiter.draft(visitor.site.config.url)[0].outside_id} is on Prolific."
        ),
    ),
    "test": Deed(
        "Test the study",
        ("Prolific makes a copy that only a test participant of yours sees.",),
        "Test it",
        lambda recruiter, visitor: recruiter.test(),
    ),
    "publish": Deed(
        "Publish on Prolific?",
        ("People can take part at once, and each who finishes is to be paid.",),
        "Publish",
        lambda recruiter, visitor: recruiter.publish(),
        danger=True,
    ),
    "pause": Deed(
        "Pause recruiting",
        ("Nobody new is let in on Prolific. Who has begun goes on.",),
        "Pause",
        lambda recruiter, visitor: recruiter.pause(),
    ),
    "resume": Deed(
        "Go on recruiting",
        ("People are let in on Prolific again.",),
        "Go on",
        lambda recruiter, visitor: recruiter.resume(),
    ),
    "places": Deed(
        "Ask for more raters",
        ("Say how many in all. Prolific lets them become more, never fewer.",),
        "Ask for them",
        lambda recruiter, visitor: recruiter.set_places(_read_places(visitor)),
        field="number",
        label="Raters in all",
    ),
    "approve": Deed(
        "Approve those who finished?",
        ("Each of these is paid the reward. It cannot be taken back.",),
        "Approve",
        _settle(Recruiter.approve),
        list="approve",
    ),
    "reject": Deed(
        "Reject by the study's rules?",
        ("These are not paid, and their places open again. Each reads the message below.",),
        "Reject",
        _settle(Recruiter.reject),
        danger=True,
        list="reject",
    ),
    "screen-out": Deed(
        "Screen out with pay?",
        ("Each of these is paid what the study declares for who is screened out.",),
        "Screen out",
        _settle(Recruiter.screen_out),
        list="screen out",
    ),
    "bonus": Deed(
        "Pay the bonus?",
        (
            "Everybody below took longer than their pay covers. The bonus brings each to the hourly rate "
            "that the study promises. Each is paid once, however often you ask.",
        ),
        "Pay the bonus",
        _settle(Recruiter.pay_bonuses),
        list="bonus",
    ),
    "close": Deed(
        "Close recruiting?",
        ("Nobody else can take part through Prolific. It cannot be opened again.",),
        "Close recruiting",
        lambda recruiter, visitor: recruiter.close(),
        danger=True,
    ),
}


async def ask_deed(visitor: Visitor) -> Response:
    """Show the page that asks before something is done."""
    deed = DEEDS.get(visitor.request.path_params["deed"])
    if deed is None or visitor.site.study.file.recruiting is None:
        return show_unknown(visitor)
    return await _ask(visitor, deed)


async def do_deed(visitor: Visitor) -> Response:
    """Do it."""
    deed = DEEDS.get(visitor.request.path_params["deed"])
    if deed is None or visitor.site.study.file.recruiting is None:
        return show_unknown(visitor)

    def work() -> str:
        with open_recruiter(visitor.site, visitor.who) as recruiter:
            return deed.do(recruiter, visitor)

    try:
        said = await asyncio.to_thread(work)
    except StoreAway:
        raise
    except PanelistError as error:
        return await _ask(visitor, deed, str(error))
    return visitor.go(PAGE, said)


async def _ask(visitor: Visitor, deed: Deed, problem: str = "") -> Response:
    sentences, value = deed.sentences, ""
    chosen: tuple[str, ...] = ()
    if deed.list or deed.field:
        view = await asyncio.to_thread(_look, visitor.site, visitor.who)
        problem = problem or view.problem
        if view.state is not None:
            value = str(view.state.capacity)
            chosen = find_names(view.state, deed.list)
            sentences = (*sentences, *(list_chosen(view.state, deed.list) if deed.list else ()))
    return ask(
        visitor,
        deed.heading,
        sentences,
        deed.button,
        problem=problem,
        field=deed.field,
        label=deed.label,
        danger=deed.danger,
        value=visitor.form.get("number", value),
        cancel=PAGE,
        chosen=chosen,
    )


def find_names(state: RecruitingState, what: str) -> tuple[str, ...]:
    """Return the submissions that a deed is about."""
    return tuple(state.bonuses) if what == "bonus" else tuple(one.submission for one in state.advised(what))


def list_chosen(state: RecruitingState, what: str) -> tuple[str, ...]:
    """Return a line for each submission that a deed is about."""
    if what == "bonus":
        names = {one.submission: state.name(one) for one in state.reviewed}
        lines = [
            f"{names[name]}: {amount / 100:.2f} {state.currency}" for name, amount in state.bonuses.items()
        ]
    else:
        lines = [
            f"{state.name(one)} ({one.submission}): {one.why}. {one.message}".strip()
            for one in state.advised(what)
        ]
    return tuple(lines) or ("There is nobody to whom this applies now.",)


async def take_hook(request: Request) -> Response:
    """Take a message from Prolific: signed by it, dealt with once."""
    site: Site = request.app.state.site
    body = await request.body()
    try:
        check_message(os.environ.get(SECRET_VARIABLE, ""), request.headers, body, time.time())
        await asyncio.to_thread(_take, site, dict(request.headers), body)
    except Forged as error:
        return JSONResponse({"taken": False, "problem": str(error)}, 401)
    except PanelRefused as error:  # it comes again, and the next look at the panel finds it as well
        log.warning("%s", error)
        return JSONResponse({"taken": False, "problem": "Please send this again."}, 503)
    return JSONResponse({"taken": True})


def _take(site: Site, headers: dict[str, str], body: bytes) -> None:
    books = Books(site.store)
    if (
        not os.environ.get(TOKEN_VARIABLE)
        or site.study.file.recruiting is None
        or books.campaign(PANEL) is None
    ):
        take_message(books, None, headers, body)
        return
    with open_recruiter(site, "") as recruiter:
        take_message(books, recruiter, headers, body)


async def poll(site: Site) -> None:
    """Look at Prolific again and again, where the study recruits there and the server has the token."""
    recruiting = site.study.file.recruiting
    if recruiting is None or recruiting.panel != PANEL or not os.environ.get(TOKEN_VARIABLE):
        return
    while True:
        await asyncio.sleep(POLL_SECONDS)
        try:
            await asyncio.to_thread(_follow, site)
        except TokenRefused as error:
            log.warning("%s", error)
            return
        except PanelistError as error:
            log.warning("%s", error)


def _follow(site: Site) -> None:
    known = Books(site.store).campaign(PANEL)
    if known is None or known.status in ("UNPUBLISHED", "COMPLETED") or not known.outside_id:
        return
    with open_recruiter(site, "") as recruiter:
        recruiter.follow()


ROUTES = [
    Route("/hooks/prolific", take_hook, methods=["POST"]),
    Route(PAGE, researchers(show_recruiting), methods=["GET"]),
    Route(f"{PAGE}/{{deed}}", researchers(ask_deed), methods=["GET"]),
    Route(f"{PAGE}/{{deed}}", researchers(do_deed), methods=["POST"]),
]
