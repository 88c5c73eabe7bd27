"""The planner's routes: the page, which is a form that works without scripts, and the progress of a run."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from time import monotonic

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from panelist.web.dashboard.access import Visitor
from panelist.web.dashboard.background import run_aside
from panelist.web.dashboard.live import HEARTBEAT_SECONDS, is_ending
from panelist.web.planner.page import render_page, render_parts
from panelist.web.planner.query import PlannerQuery, read_query
from panelist.web.planner.runs import Planner, PlannerRun, RunState
from panelist.web.planner.setting import Setting, make_setting
from panelist.web.state import AppState

NEWS_SECONDS = 0.25
"""Browsers get updates at most this often."""
PATIENCE_SECONDS = 5.0
"""How long a form that was sent without a script waits for results."""
DISPLACED = "Another window is simulating now. Press Simulate to continue here."


@dataclass(frozen=True)
class PlannerService:
    """The planner of one process: what it knows about the study, and its runs."""

    setting: Setting
    planner: Planner

    def read(self, request: Request) -> tuple[PlannerQuery, dict[str, str]]:
        """Return what a request asks for, and what of it could not be used."""
        usual = self.setting.usual
        named = request.query_params.get("criterion", usual.criterion)
        criterion = named if named in self.setting.criteria else usual.criterion
        given = dict(request.query_params)
        return read_query(given, usual, self.setting.choices(criterion))


async def show_planner(visitor: Visitor) -> Response:
    """Show the form and, where it was sent, what could be simulated in a few seconds."""
    request = visitor.request
    service = await find_service(request)
    query, problems = await run_aside(partial(service.read, request))
    state = RunState()
    sent = "items" in request.query_params and "live" not in request.query_params
    if sent and not problems:
        state = await wait_for(service.planner, query)
        if state.problem:
            problems = {"items": state.problem}
    text = await asyncio.to_thread(render_page, service.setting, query, state, problems, visitor.frame())
    return Response(text, 422 if problems else 200, media_type="text/html; charset=utf-8")


async def wait_for(planner: Planner, query: PlannerQuery) -> RunState:
    """Return what a run has found once it is over, or after some seconds; it continues when asked again."""
    run = planner.join(query)
    try:
        until = monotonic() + PATIENCE_SECONDS
        while not (run.state.over or run.stopped) and monotonic() < until and not is_ending():
            await asyncio.sleep(NEWS_SECONDS / 5)
        return run.state
    finally:
        planner.leave(run)


async def stream(request: Request) -> Response:
    """Send what a run finds, as it finds it, until the browser is gone. The caller has checked the login."""
    service = await find_service(request)
    query, problems = await run_aside(partial(service.read, request))
    if problems:
        return Response("\n".join(problems.values()) + "\n", 422)
    # No proxy may hold it back until it is complete.
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(watch(service, query), media_type="text/event-stream", headers=headers)


async def watch(service: PlannerService, query: PlannerQuery) -> AsyncIterator[str]:
    """Return the messages for one browser: one after each change, and a last one that says so."""
    run = service.planner.join(query)
    try:
        seen: RunState | None = None
        spoke = monotonic()
        while not is_ending():
            state, displaced = run.state, run.stopped
            last = state.over or displaced
            if state is not seen or last:
                seen, spoke = state, monotonic()
                yield await asyncio.to_thread(write_message, service, run, state, displaced)
            elif monotonic() - spoke >= HEARTBEAT_SECONDS:
                spoke = monotonic()
                yield ": still here\n\n"
            if last:
                return
            await asyncio.sleep(NEWS_SECONDS)
    finally:
        service.planner.leave(run)


def write_message(service: PlannerService, run: PlannerRun, state: RunState, displaced: bool) -> str:
    """Return the event that tells a browser the current state."""
    parts = render_parts(service.setting, run.query, state)
    problem = state.problem or (DISPLACED if displaced and not state.over else "")
    told = {"parts": parts, "over": state.over or displaced, "problem": problem}
    return f"event: curve\ndata: {json.dumps(told, separators=(',', ':'))}\n\n"


async def find_service(request: Request) -> PlannerService:
    """Return the planner of this process; it is made when it is first needed."""
    state = request.app.state
    if getattr(state, "planner", None) is None:
        site: AppState = state.site
        setting = await run_aside(partial(make_setting, site.study, site.store))
        if getattr(state, "planner", None) is None:  # others may have come meanwhile
            state.planner = PlannerService(setting, Planner(setting.find_truth))
    service: PlannerService = state.planner
    return service
