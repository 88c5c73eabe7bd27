"""The application: routes, and how errors are answered. Everything else is elsewhere."""

import asyncio
import ctypes
import logging
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Match
from starlette.types import ASGIApp

from panelist.collection.pages.models import EndPage
from panelist.collection.store.errors import StoreUnavailable
from panelist.web import api
from panelist.web.config import WebConfig
from panelist.web.dashboard import routes as dashboard_routes
from panelist.web.dashboard.recruiting_routes import poll
from panelist.web.ending import EndingMiddleware
from panelist.web.planner import entry as planner
from panelist.web.prefix import PrefixMiddleware
from panelist.web.rater import hit_routes
from panelist.web.rater import join as join_routes
from panelist.web.rater import routes as rater_routes
from panelist.web.rendering import compile_templates
from panelist.web.security import SecurityMiddleware, TooLarge, refuse, say_too_large
from panelist.web.state import AppState, open_app_state
from panelist.web.static_files import make_static_routes

RETRY_SECONDS = 5
TELL_AGAIN_SECONDS = 60.0
_SLASHED = re.compile(r"(/[A-Za-z0-9_-]+)+/")  # nothing that a browser could mistake for another host

log = logging.getLogger("panelist.web")


class Application(Starlette):
    """Starlette with the security middleware outside of everything, error pages included."""

    def __init__(self, config: WebConfig, **settings: Any) -> None:
        self.config = config
        super().__init__(**settings)

    def build_middleware_stack(self) -> ASGIApp:
        """Return the layers that a request passes."""
        inner = EndingMiddleware(super().build_middleware_stack())
        secured = SecurityMiddleware(inner, self.config.hosts, self.config.url)
        return PrefixMiddleware(secured, self.config.prefix) if self.config.prefix else secured


def make_app(config: WebConfig) -> Application:
    """Return the application of a study; its ``state.site`` exists once it has started."""
    app = Application(
        config,
        routes=[
            *join_routes.ROUTES,
            *rater_routes.ROUTES,
            *hit_routes.ROUTES,
            *planner.ROUTES,
            *dashboard_routes.ROUTES,
            *make_static_routes(),
            *api.ROUTES,
        ],
        lifespan=_live,
        exception_handlers={
            StoreUnavailable: _tell_away,
            TooLarge: _tell_too_large,
            ClientDisconnect: _tell_nobody,
            HTTPException: _tell_refusal,
            Exception: _tell_fault,
        },
    )
    # It would name a host and a scheme, which a proxy may have changed.
    app.router.redirect_slashes = False
    return app


@asynccontextmanager
async def _live(app: Starlette) -> AsyncIterator[None]:
    """Open the store, do periodic work while the server runs, and write what is waiting at the end."""
    assert isinstance(app, Application)
    site = app.state.site = await open_app_state(app.config)
    await asyncio.to_thread(compile_templates, site.words)
    chores = [asyncio.create_task(work) for work in (site.sweep(), poll(site), site.render_ahead())]
    if app.config.parent is not None:
        chores.append(asyncio.create_task(follow_parent(app.config.parent)))
    try:
        yield
    finally:
        for chore in chores:
            chore.cancel()
            with suppress(asyncio.CancelledError):
                await chore
        await asyncio.to_thread(site.store.close)


async def _tell_away(request: Request, error: Exception) -> Response:
    """Say that the database cannot be reached: pages keep what they have, and try again."""
    site: AppState | None = getattr(request.app.state, "site", None)
    if site is None or site.note_once(str(error), TELL_AGAIN_SECONDS):  # not for every try
        log.warning("%s", error)
    return _tell(request, 503, "The database is unavailable. Please send this again.", str(RETRY_SECONDS))


async def _tell_too_large(request: Request, error: Exception) -> Response:
    """Say how much may be sent at once."""
    assert isinstance(error, TooLarge)
    return refuse(request.url.path, 413, say_too_large(error.most))


async def _tell_nobody(request: Request, error: Exception) -> Response:
    """Answer a request whose sender went away in the middle: nobody reads it, and nothing failed here."""
    return Response(status_code=400)


async def _tell_refusal(request: Request, error: Exception) -> Response:
    """Say that there is no such page, or that it does not allow this method; an extra slash is ignored."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404 and (path := _find_without_slash(request)):
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(path + query, 307)
    return _tell(request, error.status_code, str(error.detail), headers=error.headers)


def _find_without_slash(request: Request) -> str:
    """Return the path of a page that was requested with an extra slash; empty where there is none."""
    path = request.url.path
    if request.method not in ("GET", "HEAD") or _SLASHED.fullmatch(path) is None:
        return ""
    scope = {**request.scope, "path": path.rstrip("/")}
    known = any(route.matches(scope)[0] is Match.FULL for route in request.app.router.routes)
    return path.rstrip("/") if known else ""


async def _tell_fault(request: Request, error: Exception) -> Response:
    """Say that something went wrong here; the cause is in the log, never on the page."""
    return _tell(request, 500, "Something went wrong on our side.")


def _tell(request: Request, status: int, problem: str, retry: str = "", headers: Any = None) -> Response:
    more = dict(headers or {}) | ({"Retry-After": retry} if retry else {})
    site: AppState | None = getattr(request.app.state, "site", None)
    if request.url.path.endswith("/answer") or site is None:
        return JSONResponse({"saved": False, "problem": problem}, status, more)
    kind = "unknown" if status < 500 else "trouble"
    return rater_routes.show(site, EndPage(id=f"end-{kind}", kind=kind), status, more)


LOOK_SECONDS = 0.5
_PR_SET_PDEATHSIG = 1  # of prctl(2): which signal to get when the parent ends


async def follow_parent(parent: int) -> None:
    """End this process once its parent is gone: at once where the system says so, else within a second."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    while os.getppid() == parent:
        await asyncio.sleep(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
