"""The application: routes, and what becomes of errors. Everything else is elsewhere."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from panelist.collection.pages import EndPage
from panelist.collection.store.errors import StoreAway
from panelist.collection.web import api, dashboard_routes, hit_routes, join_routes, rater_routes
from panelist.collection.web.config import WebConfig
from panelist.collection.web.lifeline import follow_parent
from panelist.collection.web.prefix import Prefix
from panelist.collection.web.recruiting_routes import poll
from panelist.collection.web.security import Guard, TooLarge, refuse, say_too_large
from panelist.collection.web.site import Site, open_site
from panelist.collection.web.static_files import make_static_routes

RETRY_SECONDS = 5
_SLASHED = re.compile(r"(/[A-Za-z0-9_-]+)+/")  # nothing that a browser could take for another host

log = logging.getLogger("panelist.web")


class Application(FastAPI):
    """FastAPI with the guard outside of everything, error pages included."""

    def __init__(self, config: WebConfig, **settings: Any) -> None:
        self.config = config
        super().__init__(**settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, past FastAPI's telemetry: nobody else shall hear of raters' links."""
        await Starlette.__call__(self, scope, receive, send)

    def build_middleware_stack(self) -> ASGIApp:
        """Return the layers that a request passes."""
        guard = Guard(super().build_middleware_stack(), self.config.hosts, self.config.url)
        return Prefix(guard, self.config.prefix) if self.config.prefix else guard

    def openapi(self) -> dict[str, Any]:
        """Return the description of what programs may send."""
        if self.openapi_schema is None:
            self.openapi_schema = api.describe(self)
        return self.openapi_schema


def make_app(config: WebConfig) -> Application:
    """Return the application of a study; its ``state.site`` is there once it has started."""
    extensions = [make() for make in config.extensions]
    added: list[Route] = []
    for one in extensions:
        added += [*one.routes, *(make_static_routes(one.static, one.path) if one.static else ())]
    app = Application(
        config,
        routes=[
            *join_routes.ROUTES,
            *rater_routes.ROUTES,
            *hit_routes.ROUTES,
            *added,
            *dashboard_routes.ROUTES,
            *make_static_routes(),
        ],
        lifespan=_live,
        redirect_slashes=False,  # it would name a host and a scheme, which a proxy may have changed
        docs_url=None,  # their scripts come from elsewhere
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
        exception_handlers={
            StoreAway: _tell_away,
            TooLarge: _tell_too_large,
            ClientDisconnect: _tell_nobody,
            HTTPException: _tell_refusal,
            Exception: _tell_fault,
        },
    )
    app.include_router(api.router)
    app.state.tabs = tuple((one.path, one.tab) for one in extensions)
    return app


@asynccontextmanager
async def _live(app: FastAPI) -> AsyncIterator[None]:
    """Open the store, keep house while the server runs, and write what is waiting at the end."""
    assert isinstance(app, Application)
    site = app.state.site = await open_site(app.config)
    chores = [asyncio.create_task(site.sweep()), asyncio.create_task(poll(site))]
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
    log.warning("%s", error)
    return _tell(request, 503, "The database is away. Please send this again.", str(RETRY_SECONDS))


async def _tell_too_large(request: Request, error: Exception) -> Response:
    """Say how much may be sent at once."""
    assert isinstance(error, TooLarge)
    return refuse(request.url.path, 413, say_too_large(error.most))


async def _tell_nobody(request: Request, error: Exception) -> Response:
    """Answer a request whose sender went away in the middle: nobody reads it, and nothing of ours failed."""
    return Response(status_code=400)


async def _tell_refusal(request: Request, error: Exception) -> Response:
    """Say that there is no such page, or that it is not asked in this way; a slash too many is forgiven."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404 and (path := _find_without_slash(request)):
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(path + query, 307)
    return _tell(request, error.status_code, str(error.detail), headers=error.headers)


def _find_without_slash(request: Request) -> str:
    """Return the path of a page that was asked for with a slash too many; empty where there is none."""
    path = request.url.path
    if request.method not in ("GET", "HEAD") or _SLASHED.fullmatch(path) is None:
        return ""
    scope = {**request.scope, "path": path.rstrip("/")}
    known = any(route.matches(scope)[0] is Match.FULL for route in request.app.router.routes)
    return path.rstrip("/") if known else ""


async def _tell_fault(request: Request, error: Exception) -> Response:
    """Say that something went wrong here; what it was stands in the log, never on the page."""
    return _tell(request, 500, "Something went wrong on our side.")


def _tell(request: Request, status: int, problem: str, retry: str = "", headers: Any = None) -> Response:
    more = dict(headers or {}) | ({"Retry-After": retry} if retry else {})
    site: Site | None = getattr(request.app.state, "site", None)
    if request.url.path.endswith("/answer") or site is None:
        return JSONResponse({"saved": False, "problem": problem}, status, more)
    kind = "unknown" if status < 500 else "trouble"
    return rater_routes.show(site, EndPage(id=f"end-{kind}", kind=kind), status, more)
