"""Who may see the dashboard: the login, and what comes with every request of a researcher."""

import asyncio
import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from panelist.collection.monitor.actions import Researcher
from panelist.collection.store.operations.logouts import LOGGED_OUT
from panelist.web.dashboard.live import Board
from panelist.web.dashboard.login import CSRF_FIELD, CSRF_HEADER, Refused, Session
from panelist.web.dashboard.view import Drawing, render
from panelist.web.rater.routes import read_form
from panelist.web.security import find_address
from panelist.web.state import AppState

HOME, LOGIN = "/dashboard", "/dashboard/login"
NOBODY, LONGEST_NAME = "researcher", 80
NAME_COOKIE = "panelist-who"


@dataclass(frozen=True)
class Visitor:
    """A researcher with a request."""

    request: Request
    site: AppState
    board: Board
    session: Session
    who: str
    form: Mapping[str, str]
    """What was sent; empty for a page that is only looked at."""

    @property
    def researcher(self) -> Researcher:
        """Who acts on what."""
        return Researcher(self.who, self.site.store, self.site.study)

    def show(self, name: str, status: int = 200, **context: Any) -> Response:
        """Return a page."""
        return Response(render(name, self.frame() | context), status, media_type="text/html; charset=utf-8")

    def frame(self) -> dict[str, Any]:
        """Return what every page says around its own words."""
        frame = {"csrf": self.session.csrf, "who": self.who, "said": self._find_said()}
        frame |= {"here": self.request.url.path, "title": self.site.study.title}
        return frame | {"recruits": self.site.study.file.recruiting is not None}

    def go(self, path: str, said: str) -> Response:
        """Return the redirect to a page that says what was done."""
        return RedirectResponse(f"{path}?{urlencode({'said': said, 'mark': self._mark(said)})}", 303)

    def _find_said(self) -> str:
        """Return what was done, if this server wrote it into the address."""
        said = self.request.query_params.get("said", "")
        mark = self.request.query_params.get("mark", "")
        return said if said and hmac.compare_digest(mark.encode(), self._mark(said).encode()) else ""

    def _mark(self, said: str) -> str:
        return _sign(self.session, "said", said)[:16]


Handler = Callable[[Visitor], Awaitable[Response]]


def researchers(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Return a route for those who are logged in; what they send must come from one of their pages."""

    async def answer(request: Request) -> Response:
        site: AppState = request.app.state.site
        session = await site.find_session(request)
        if session is None:
            return RedirectResponse(LOGIN, 303) if request.method != "POST" else _refuse_form()
        form = read_form(await request.body()) if request.method == "POST" else {}
        token = form.get(CSRF_FIELD) or request.headers.get(CSRF_HEADER)
        if request.method == "POST" and not site.login.is_ours(session, token):
            return _refuse_form()
        who = _find_name(request, session)
        return await handler(Visitor(request, site, find_board(request), session, who, form))

    return answer


def find_board(request: Request) -> Board:
    """Return the dashboard of this process; it is made when it is first needed."""
    state = request.app.state
    if getattr(state, "board", None) is None:
        state.board = Board(state.site, Drawing(state.site.study, state.site.config))
    board: Board = state.board
    return board


async def show_login(request: Request) -> Response:
    """Show the login, or the dashboard to researchers who are logged in already."""
    site: AppState = request.app.state.site
    if await site.find_session(request) is not None:
        return RedirectResponse(HOME, 303)
    return _show_door(site)


async def log_in(request: Request) -> Response:
    """Log in a person who knows the password."""
    site: AppState = request.app.state.site
    form = read_form(await request.body())
    name = " ".join(form.get("who", "").split())[:LONGEST_NAME]
    browser = site.login.find_browser(request)
    found = await site.login.enter(form.get("password", ""), find_address(request.scope), browser)
    if isinstance(found, Refused):
        if found.wait:
            wait = int(found.wait) + 1
            problem = f"Too many wrong passwords. Please wait {wait} seconds, then try again."
            return _show_door(site, problem, name, 429, {"Retry-After": str(wait)})
        return _show_door(site, "That is not the password. Please try again.", name, 403)
    reply = RedirectResponse(HOME, 303)
    site.login.keep(reply, found)
    packed = urlsafe_b64encode((name or NOBODY).encode("utf-8", "replace")).decode()
    reply.set_cookie(
        NAME_COOKIE, f"{packed}.{_sign(found, 'who', packed)}", path=HOME, secure=site.config.https,
        httponly=True, samesite="strict",
    )  # fmt: skip
    return reply


async def log_out(visitor: Visitor) -> Response:
    """End the login, in whichever browser its cookie is."""
    mark = visitor.site.login.mark(visitor.session)
    await asyncio.to_thread(lambda: visitor.researcher.note(LOGGED_OUT, "", login=mark))
    reply = RedirectResponse(LOGIN, 303)
    visitor.site.login.forget(reply)
    reply.delete_cookie(NAME_COOKIE, path=HOME)
    return reply


def _show_door(
    site: AppState,
    problem: str = "",
    name: str = "",
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    context = {"title": site.study.title, "problem": problem, "name": name}
    return Response(render("login", context), status, headers, "text/html; charset=utf-8")


def _refuse_form() -> Response:
    context = {
        "heading": "Please log in again",
        "words": "This form did not come from a page of your current login, so nothing was done. Go back to "
        "the dashboard and try again.",
    }
    return Response(render("message", context), 403, media_type="text/html; charset=utf-8")


def _find_name(request: Request, session: Session) -> str:
    """Return the name that was given at the login; it is bound to the session."""
    packed, _, mark = request.cookies.get(NAME_COOKIE, "").partition(".")
    if not packed or not hmac.compare_digest(mark.encode(), _sign(session, "who", packed).encode()):
        return NOBODY
    return urlsafe_b64decode(packed).decode("utf-8", "replace")


def _sign(session: Session, *parts: str) -> str:
    return hmac.new(session.csrf.encode(), "\n".join(parts).encode(), hashlib.sha256).hexdigest()
