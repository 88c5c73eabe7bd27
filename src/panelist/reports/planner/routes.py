"""The planner's routes: the page, which is a form that works without scripts, and the news of a run."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from time import monotonic

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from panelist.collection.web.dashboard_access import Visitor
from panelist.collection.web.live import HEARTBEAT_SECONDS, is_ending
from panelist.collection.web.site import Site
from panelist.reports.planner.page import render_page, render_parts
from panelist.reports.planner.runs import Planner, Run, Standing
from panelist.reports.planner.setting import Setting, make_setting
from panelist.reports.planner.wish import Wish, read_wish

NEWS_SECONDS = 0.25
"""No browser is told more often."""
PATIENCE_SECONDS = 5.0
"""So long a form that was sent without a script waits for what there is to show."""
DISPLACED = "Another window simulates now. Simulate goes on here."


@dataclass(frozen=True)
class Desk:
    """The planner of one process: what it knows of the study, and its runs."""

    setting: Setting
    planner: Planner

    def read(self, request: Request) -> tuple[Wish, dict[str, str]]:
        """Return what a request asks for, and what of it could not be taken."""
        usual = self.setting.usual
        named = request.query_params.get("criterion", usual.criterion)
        criterion = named if named in self.setting.criteria else usual.criterion
        given = dict(request.query_params)
        return read_wish(given, usual, self.setting.choices(criterion))


async def show_planner(visitor: Visitor) -> Response:
    """Show the form and, where it was sent, what could be simulated in a few seconds."""
    request = visitor.request
    desk = await find_desk(request)
    wish, problems = await asyncio.to_thread(desk.read, request)
    standing = Standing()
    sent = "items" in request.query_params and "live" not in request.query_params
    if sent and not problems:
        standing = await wait_for(desk.planner, wish)
        if standing.problem:
            problems = {"items": standing.problem}
    text = await asyncio.to_thread(render_page, desk.setting, wish, standing, problems, visitor.frame())
    return Response(text, 422 if problems else 200, media_type="text/html; charset=utf-8")


async def wait_for(planner: Planner, wish: Wish) -> Standing:
    """Return what a run has found once it is over, or after some seconds; it goes on when asked again."""
    run = planner.join(wish)
    try:
        until = monotonic() + PATIENCE_SECONDS
        while not (run.standing.over or run.stopped) and monotonic() < until and not is_ending():
            await asyncio.sleep(NEWS_SECONDS / 5)
        return run.standing
    finally:
        planner.leave(run)


async def stream(request: Request) -> Response:
    """Send what a run finds, as it finds it; it stops when the browser is gone. Who asks is logged in."""
    desk = await find_desk(request)
    wish, problems = await asyncio.to_thread(desk.read, request)
    if problems:
        return Response("\n".join(problems.values()) + "\n", 422)
    # No proxy may hold it back until it is complete.
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(watch(desk, wish), media_type="text/event-stream", headers=headers)


async def watch(desk: Desk, wish: Wish) -> AsyncIterator[str]:
    """Return the messages for one browser: one after each change, and a last one that says so."""
    run = desk.planner.join(wish)
    try:
        seen: Standing | None = None
        spoke = monotonic()
        while not is_ending():
            standing, displaced = run.standing, run.stopped
            last = standing.over or displaced
            if standing is not seen or last:
                seen, spoke = standing, monotonic()
                yield await asyncio.to_thread(write_message, desk, run, standing, displaced)
            elif monotonic() - spoke >= HEARTBEAT_SECONDS:
                spoke = monotonic()
                yield ": still here\n\n"
            if last:
                return
            await asyncio.sleep(NEWS_SECONDS)
    finally:
        desk.planner.leave(run)


def write_message(desk: Desk, run: Run, standing: Standing, displaced: bool) -> str:
    """Return the event that tells a browser how it stands."""
    parts = render_parts(desk.setting, run.wish, standing)
    problem = standing.problem or (DISPLACED if displaced and not standing.over else "")
    told = {"parts": parts, "over": standing.over or displaced, "problem": problem}
    return f"event: curve\ndata: {json.dumps(told, separators=(',', ':'))}\n\n"


async def find_desk(request: Request) -> Desk:
    """Return the planner of this process; it is made when somebody first asks for it."""
    state = request.app.state
    if getattr(state, "planner", None) is None:
        site: Site = state.site
        setting = await asyncio.to_thread(make_setting, site.study, site.store)
        if getattr(state, "planner", None) is None:  # others may have come meanwhile
            state.planner = Desk(setting, Planner(setting.find_truth))
    desk: Desk = state.planner
    return desk
