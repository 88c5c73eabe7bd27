"""The planner as pages of the dashboard. What it computes with is loaded when somebody first opens it."""

import asyncio
from importlib import import_module
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from panelist.collection.web.dashboard_access import Visitor, researchers
from panelist.collection.web.extension import Extension

HOME = "/dashboard/planner"
STATIC = Path(__file__).parent / "static"


def make_planner() -> Extension:
    """Return the planner, for the server to add to its pages."""
    routes = (
        Route(HOME, researchers(show_planner), methods=["GET"]),
        Route(f"{HOME}/live", stream, methods=["GET"]),
    )
    return Extension(routes, HOME, "Plan", STATIC)


async def show_planner(visitor: Visitor) -> Response:
    """Show the form, and what it gives."""
    reply: Response = await (await _load()).show_planner(visitor)
    return reply


async def stream(request: Request) -> Response:
    """Send what is simulated, as it becomes known."""
    if await request.app.state.site.find_session(request) is None:
        return Response("Please log in again.\n", 401)
    reply: Response = await (await _load()).stream(request)
    return reply


async def _load() -> Any:
    """Return the routes; the models behind them take a second to load, in which raters shall not wait."""
    return await asyncio.to_thread(import_module, "panelist.reports.planner.routes")
