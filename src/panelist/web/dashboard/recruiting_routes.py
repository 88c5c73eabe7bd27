"""Recruiting on the dashboard: its state, the same actions as the command, and messages from Prolific."""

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

from panelist.collection.recruiting.errors import BadRecruiting, PanelRefused, TokenRefused
from panelist.collection.recruiting.offer import Offer
from panelist.collection.recruiting.panel import PANEL, describe_panel
from panelist.collection.recruiting.payments import PaymentResult
from panelist.collection.recruiting.prolific.client import TOKEN_VARIABLE, open_client
from panelist.collection.recruiting.prolific.endpoints import Api
from panelist.collection.recruiting.recruiter import Recruiter
from panelist.collection.recruiting.repository import RecruitingRepository
from panelist.collection.recruiting.status import RecruitingState
from panelist.collection.recruiting.webhooks import SECRET_VARIABLE, Forged, check_message, take_message
from panelist.collection.store.errors import StoreUnavailable
from panelist.core.errors import PanelistError
from panelist.web.dashboard.access import HOME, Visitor, researchers
from panelist.web.dashboard.action_routes import ask, show_unknown
from panelist.web.dashboard.causes import lead_on
from panelist.web.state import AppState

PAGE = f"{HOME}/recruiting"
POLL_SECONDS = 60.0

log = logging.getLogger("panelist.recruiting")


@dataclass(frozen=True)
class RecruitingView:
    """What the page shows."""

    state: RecruitingState | None = None
    offer: Offer | None = None
    problem: str = ""
    lines: tuple[str, ...] = ()


@contextmanager
def open_recruiter(site: AppState, who: str) -> Iterator[Recruiter]:
    """Open the connection to Prolific with the token that the server was started with."""
    client = open_client()
    try:
        yield Recruiter(
            site.study, RecruitingRepository(site.store), Api(client), who, site.store.study.secret
        )
    finally:
        client.close()


async def show_recruiting(visitor: Visitor) -> Response:
    """Show the state of recruiting."""
    site = visitor.site
    if site.study.file.recruiting is None:
        return show_unknown(visitor)
    view = await asyncio.to_thread(_look, site, visitor.who)
    token = bool(os.environ.get(TOKEN_VARIABLE))
    return visitor.show(
        "recruiting", view=view, state=view.state, panel=site.study.file.recruiting.panel, token=token
    )


def _look(site: AppState, who: str) -> RecruitingView:
    recruiting = site.study.file.recruiting
    if recruiting is None or recruiting.panel != PANEL:
        lines = describe_panel(site.study, site.config.url, site.store.study.secret)
        return RecruitingView(lines=tuple(lines))
    try:
        with open_recruiter(site, who) as recruiter:
            known = recruiter.repository.campaign(PANEL)
            if known is None or not known.outside_id:
                return RecruitingView(offer=recruiter.make_offer())
            return RecruitingView(recruiter.look())
    except StoreUnavailable:
        raise
    except PanelistError as error:
        return RecruitingView(problem=lead_on(error))


@dataclass(frozen=True)
class RecruitingAction:
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


Settle = Callable[[Recruiter, RecruitingState, list[str]], PaymentResult]


def _settle(do: Settle) -> Callable[[Recruiter, Visitor], str]:
    """Return the action that settles exactly the submissions that were shown on the page that asked."""

    def settle(recruiter: Recruiter, visitor: Visitor) -> str:
        chosen = [name for name in visitor.form.get("chosen", "").split(",") if name]
        if not chosen:
            raise BadRecruiting("There is nobody to whom this applies.")
        return say_settled(do(recruiter, recruiter.look(), chosen))

    return settle


def say_settled(settled: PaymentResult) -> str:
    """Return what happened to submissions, in a sentence or two."""
    said = [f"{len(settled.done)} done."]
    if settled.later:
        said.append(f"{len(settled.later)} not settled yet: try again in a while.")
    said += [f"{name}: {why}" for name, why in settled.refused.items()]
    return " ".join(said)


def _read_places(visitor: Visitor) -> int:
    text = visitor.form.get("number", "")
    if not text.isascii() or not text.isdecimal() or len(text) > 6:
        raise BadRecruiting(f"Give a whole number of places, such as 24. Got {text[:40]!r}.")
    return int(text)


DEEDS = {
    "draft": RecruitingAction(
        "Make the draft on Prolific",
        ("Nothing is shown to anybody yet, and nothing is paid. You can look at it on Prolific first.",),
        "Make the draft",
        lambda recruiter, visitor: (
            f"Draft {recruiter.draft(visitor.site.config.url)[0].outside_id} is on Prolific."
        ),
    ),
    "test": RecruitingAction(
        "Test the study",
        ("Prolific makes a copy that only a test participant of yours sees.",),
        "Test it",
        lambda recruiter, visitor: recruiter.test(),
    ),
    "publish": RecruitingAction(
        "Publish on Prolific?",
        ("People can take part at once, and everyone who finishes must be paid.",),
        "Publish",
        lambda recruiter, visitor: recruiter.publish(),
        danger=True,
    ),
    "pause": RecruitingAction(
        "Pause recruiting",
        ("Nobody new can join on Prolific. Raters who have begun continue.",),
        "Pause",
        lambda recruiter, visitor: recruiter.pause(),
    ),
    "resume": RecruitingAction(
        "Resume recruiting",
        ("People can join on Prolific again.",),
        "Go on",
        lambda recruiter, visitor: recruiter.resume(),
    ),
    "places": RecruitingAction(
        "Ask for more raters",
        ("Give the number in all. On Prolific it can grow, never shrink.",),
        "Ask for them",
        lambda recruiter, visitor: recruiter.set_places(_read_places(visitor)),
        field="number",
        label="Raters in all",
    ),
    "approve": RecruitingAction(
        "Approve those who finished?",
        ("Each of these is paid the reward. It cannot be undone.",),
        "Approve",
        _settle(Recruiter.approve),
        list="approve",
    ),
    "reject": RecruitingAction(
        "Reject by the study's rules?",
        ("These are not paid, and their places open again. Each reads the message below.",),
        "Reject",
        _settle(Recruiter.reject),
        danger=True,
        list="reject",
    ),
    "screen-out": RecruitingAction(
        "Screen out with pay?",
        ("Each of these is paid what the study declares for people who are screened out.",),
        "Screen out",
        _settle(Recruiter.screen_out),
        list="screen out",
    ),
    "bonus": RecruitingAction(
        "Pay the bonus?",
        (
            "Everybody below took longer than their pay covers. The bonus brings each to the hourly rate "
            "that the study promises. Each is paid once, however often you ask.",
        ),
        "Pay the bonus",
        _settle(Recruiter.pay_bonuses),
        list="bonus",
    ),
    "close": RecruitingAction(
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
    except StoreUnavailable:
        raise
    except PanelistError as error:
        return await _ask(visitor, deed, lead_on(error))
    return visitor.go(PAGE, said)


async def _ask(visitor: Visitor, deed: RecruitingAction, problem: str = "") -> Response:
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
    """Return the submissions that an action is about."""
    return tuple(state.bonuses) if what == "bonus" else tuple(one.submission for one in state.advised(what))


def list_chosen(state: RecruitingState, what: str) -> tuple[str, ...]:
    """Return a line for each submission that an action is about."""
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
    """Take a message from Prolific: signed by it, handled once."""
    site: AppState = request.app.state.site
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


def _take(site: AppState, headers: dict[str, str], body: bytes) -> None:
    repository = RecruitingRepository(site.store)
    if (
        not os.environ.get(TOKEN_VARIABLE)
        or site.study.file.recruiting is None
        or repository.campaign(PANEL) is None
    ):
        take_message(repository, None, headers, body)
        return
    with open_recruiter(site, "") as recruiter:
        take_message(repository, recruiter, headers, body)


async def poll(site: AppState) -> None:
    """Poll Prolific, where the study recruits there and the server has the token."""
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


def _follow(site: AppState) -> None:
    known = RecruitingRepository(site.store).campaign(PANEL)
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
