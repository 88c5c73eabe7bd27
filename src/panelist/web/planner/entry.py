"""The planner as pages of the dashboard. What it computes with is loaded when it is first opened."""

import asyncio
from importlib import import_module
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from panelist.web.dashboard.access import Visitor, researchers
from panelist.web.static_files import make_static_routes

HOME = "/dashboard/planner"
STATIC = Path(__file__).parent / "static"


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
    """Return the routes; the models behind them take a second to load, and raters must not wait for that."""
    return await asyncio.to_thread(import_module, "panelist.web.planner.routes")


ROUTES = (
    Route(HOME, researchers(show_planner), methods=["GET"]),
    Route(f"{HOME}/live", stream, methods=["GET"]),
    *make_static_routes(STATIC, HOME),
)
