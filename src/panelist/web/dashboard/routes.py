"""The researcher's routes: what can be seen. What can be done is in action_routes.py."""

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from panelist.collection.monitor.answer_lines import AnswerLine, tell_answers
from panelist.collection.monitor.given_ratings import collect_ratings
from panelist.collection.monitor.system_means import CriterionMeans, average_systems
from panelist.collection.store.changes import read_revisions
from panelist.collection.store.records import StoredEvent
from panelist.study.study import Study
from panelist.web.dashboard import access, preview, release
from panelist.web.dashboard import action_routes as actions
from panelist.web.dashboard import recruiting_routes as recruiting
from panelist.web.dashboard.access import HOME, LOGIN, Visitor, researchers
from panelist.web.dashboard.background import run_aside
from panelist.web.dashboard.causes import CAUSES, show_causes
from panelist.web.dashboard.charts import find_axis
from panelist.web.dashboard.view import FLAGS, are_results_shown, name_criteria
from panelist.web.state import AppState

MOST_ACTIONS = 1000


async def show_board(visitor: Visitor) -> Response:
    """Show the state of data collection."""
    view = await visitor.board.look()
    return visitor.show("index", overview=view.overview, parts=view.parts)


async def stream(request: Request) -> Response:
    """Send the state of data collection, each time that it has changed."""
    site: AppState = request.app.state.site
    if await site.find_session(request) is None:
        return Response("Please log in again.\n", 401)
    board = access.find_board(request)

    async def watch() -> AsyncIterator[str]:
        async for message in board.watch():
            if await site.find_session(request) is None:  # logged out meanwhile, perhaps in another window
                return
            yield message

    # No proxy may hold it back until it is complete: it never is.
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(watch(), media_type="text/event-stream", headers=headers)


async def show_raters(visitor: Visitor) -> Response:
    """Show all raters, or those with a flag."""
    overview = (await visitor.board.look()).overview
    wanted = visitor.request.query_params.get("flag", "")
    flag = wanted if wanted in dict(FLAGS) else ""
    lines = [line for line in overview.raters if not flag or flag in {one.kind for one in line.flags}]
    return visitor.show("raters", overview=overview, lines=lines, flag=flag, flags=FLAGS)


async def show_rater(visitor: Visitor) -> Response:
    """Show one rater: answers, times, what happened."""
    return await show_one(visitor, identity=False)


async def show_identity(visitor: Visitor) -> Response:
    """Show one rater with the outside id; that is on record."""
    number = visitor.request.path_params["visit"]
    await asyncio.to_thread(visitor.researcher.note, "looked up an id", f"visit {number}", visit=number)
    return await show_one(visitor, identity=True)


async def show_one(visitor: Visitor, identity: bool) -> Response:
    """Return the page of one rater."""
    view = await visitor.board.look()
    number = visitor.request.path_params["visit"]
    folder = visitor.board.ledger.folders.get(number)
    if folder is None:
        return actions.show_unknown(visitor)
    line = next(one for one in view.overview.raters if one.id == number)
    site = visitor.site

    def read() -> tuple[list[AnswerLine], list[StoredEvent]]:
        answers = read_revisions(site.store, number)
        return tell_answers(answers, site.booklet(), folder.visit.place), site.store.visit_events(number)

    answers, events = await asyncio.to_thread(read)
    rest = view.agreement.with_rest.get(number) if view.agreement and folder.answers else None
    return visitor.show(
        "rater",
        here="/dashboard/raters",
        overview=view.overview,
        line=line,
        visit=folder.visit,
        tally=folder.tally,
        with_rest=rest,
        identity=(folder.visit.outside_id or "") if identity else None,
        answers=answers,
        events=events,
        occasions=max((one.occasion for one in answers), default=1),
    )


async def show_log(visitor: Visitor) -> Response:
    """Show what researchers did."""
    done = await asyncio.to_thread(visitor.site.store.actions, MOST_ACTIONS)
    return visitor.show("log", actions=done)


async def show_results(visitor: Visitor) -> Response:
    """Show how the systems compare, if that may be seen now."""
    site, board = visitor.site, visitor.board
    state = await asyncio.to_thread(site.store.state)
    if not are_results_shown(site.study, state):
        return visitor.show(
            "message",
            403,
            heading="Hidden until collecting ends",
            words="How the systems compare is shown once collecting has ended. To show it before, the study "
            "file would have to say results: shown under collecting:.",
        )
    overview = (await board.look()).overview

    def average() -> tuple[CriterionMeans, ...]:
        folders = list(board.ledger.folders.values())
        given = collect_ratings(folders, site.booklet().agenda, site.study)
        return average_systems(given, site.study.systems)

    found = await run_aside(average)
    means = [(one, find_axis(_list_values(one), _find_bounds(one, site.study))) for one in found]
    return visitor.show(
        "results", means=means, headings=name_criteria(site.study), simulated=overview.simulated
    )


def _list_values(one: CriterionMeans) -> list[float]:
    if one.compared:
        return [0.0, 1.0]
    return [value for system in one.systems for value in (system.low, system.mean, system.high)]


def _find_bounds(one: CriterionMeans, study: Study) -> tuple[float, float] | None:
    """Return between which values a mean can lie; None for a scale without ends."""
    scale = next(criterion.scale for criterion in study.criteria if criterion.name == one.criterion)
    if one.compared:
        return (0.0, 1.0)
    low, high = scale.lowest, scale.highest
    return None if low is None or high is None else (low, high)


ROUTES = [
    Route(HOME, researchers(show_board), methods=["GET"]),
    Route(LOGIN, access.show_login, methods=["GET"]),
    Route(LOGIN, access.log_in, methods=["POST"]),
    Route(f"{HOME}/logout", researchers(access.log_out), methods=["POST"]),
    Route(f"{HOME}/live", stream, methods=["GET"]),
    Route(f"{HOME}/raters", researchers(show_raters), methods=["GET"]),
    Route(f"{HOME}/raters/{{visit:int}}", researchers(show_rater), methods=["GET"]),
    Route(f"{HOME}/raters/{{visit:int}}/identity", researchers(show_identity), methods=["POST"]),
    Route(f"{HOME}/log", researchers(show_log), methods=["GET"]),
    Route(CAUSES, researchers(show_causes), methods=["GET"]),
    Route(f"{HOME}/results", researchers(show_results), methods=["GET"]),
    *recruiting.ROUTES,
    *actions.ROUTES,
    *preview.ROUTES,
    *release.ROUTES,
]
"""Everything under /dashboard."""
