"""The raters' routes: in by a personal link, then always the right page (the open link: join.py).

The session reads forms itself: thousands of answers a minute come here.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from urllib.parse import parse_qsl

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from panelist.collection.pages.briefing_pages import make_away_page, make_end_page
from panelist.collection.pages.models import EndPage, HitPage, Page
from panelist.collection.recruiting.devices import find_device
from panelist.collection.session.answering import NotAsked, read_number
from panelist.collection.session.submit import cap_seconds
from panelist.collection.session.turn import Turn, TurnOutcome
from panelist.collection.session.visit_flow import next_page, submit, submit_answer
from panelist.collection.store.errors import NoPlace, TooManyChanges
from panelist.collection.store.operations import ops
from panelist.collection.store.operations.joining import is_held
from panelist.collection.store.operations.messages import ShowMessages
from panelist.collection.store.operations.places import TIMED_OUT
from panelist.collection.store.operations.saving import Answer
from panelist.collection.store.records import Visit
from panelist.core.tables.columns import SIMULATED
from panelist.scales.base import BadAnswer
from panelist.study.sections.collecting import DEVICES
from panelist.web.api import Message
from panelist.web.rater.hit_routes import AROUND_A_HIT
from panelist.web.rater.images import find_file, find_image, send_media
from panelist.web.rendering import Frame, render_page
from panelist.web.security import TOKEN, is_prefetch
from panelist.web.state import AppState, StoredHistory

MOST_PARAMETERS, LONGEST_NAME, LONGEST_VALUE = 20, 64, 500
SEEN_SECONDS = 60.0
NO_PLACE = "no place in the group"
MOST_FIELDS = 2000
BRIEFING = ("consent", "background", "sound", "instructions", "examples", "comprehension")


def fits_device(site: AppState, request: Request) -> bool:
    """Return whether the study allows the device that somebody came with."""
    allowed = site.study.file.collecting.devices
    headers = request.headers
    agent, hint = headers.get("user-agent", ""), headers.get("sec-ch-ua-mobile", "")
    return len(allowed) == len(DEVICES) or find_device(agent, hint) in allowed


async def show_end(site: AppState, kind: str, outside_id: str | None = None) -> Response:
    """Return the page for who cannot come in, with the code and the way back that the panel wants."""
    page = await site.read(lambda: make_end_page(site.booklet(), kind, "", outside_id))
    return show(site, page, 409)


async def open_visit(site: AppState, visit: Visit, params: Mapping[str, str]) -> Visit:
    """Return a visit at its first step, whose person is here for certain.

    A link of one's own that is only opened stays as it is until its first page is sent: programs open links
    that come by mail, and the place would be held for nobody.

    Of the parameters that somebody added to their own link only one is kept: that the rater is simulated.
    """
    move = await site.read(lambda: Turn(site.booklet(), visit).go_to("consent"))
    if SIMULATED in params:
        move = replace(move, params={SIMULATED: params[SIMULATED]})
    return (await site.write(ops.MoveVisit(visit.id, move))).visit


def keep_parameters(given: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of a link that are kept: so many, so long, and of each the last."""
    kept = [(name, value) for name, value in given.items() if 0 < len(name) <= LONGEST_NAME]
    return {name: value[:LONGEST_VALUE] for name, value in kept[:MOST_PARAMETERS]}


async def show_page(request: Request) -> Response:
    """Show the page at which a visit is."""
    site: AppState = request.app.state.site
    token = find_token(request)
    visit, waits = await site.read(lambda: site.store.find_messaged(token)) if token else (None, False)
    if visit is None:
        return show_unknown(site)
    now = time.time()
    if visit.state == "invited" and not fits_device(site, request):
        return await show_end(site, "incompatible", visit.outside_id)
    params = keep_parameters(request.query_params)
    here = visit.seen is not None or SIMULATED in params
    if visit.state == "invited" and here and not is_prefetch(request):
        visit = await open_visit(site, visit, params)
    if not is_prefetch(request):
        await note_alive(site, visit, now)

    def look() -> Page:
        state = site.state()
        if is_away(visit) and not is_given_away(site, visit):
            return make_away_page(site.booklet(), state)
        return next_page(Turn(site.booklet(), visit, StoredHistory(site.store, visit), now=now), state)

    page = await site.read(look)
    site.shown.note(visit.id, page.id)
    if not waits or is_prefetch(request):
        return show(site, page, token=visit.token)
    messages = await site.write(ShowMessages(visit.id))
    return show(site, page, token=visit.token, messages=messages)


def is_away(visit: Visit) -> bool:
    """Return whether a visit was let go because nobody was seen for long."""
    return visit.state == "released" and visit.reason == TIMED_OUT


def is_given_away(site: AppState, visit: Visit) -> bool:
    """Return whether a visit was let go and cannot go on: by a person, or since somebody has its place."""
    if visit.state != "released":
        return False
    return not is_away(visit) or site.store.database.read(lambda db: is_held(db, visit.place))


async def come_back(site: AppState, visit: Visit, now: float) -> Visit:
    """Return the visit of somebody who sends a form: let in again after a time-out, and known to be alive.

    Only a form does this. Programs open links by themselves, and would hold the place for nobody.
    """
    if is_away(visit):
        return await site.write(ops.Reopen(visit.id))
    await note_alive(site, visit, now)
    return visit


async def note_alive(site: AppState, visit: Visit, now: float) -> None:
    """Keep that somebody was here, now and then."""
    if not visit.over and visit.seen is not None and abs(now - visit.seen) > SEEN_SECONDS:
        await site.write(ops.SeeVisit(visit.id))


def follow_form(
    site: AppState, visit: Visit, form: Mapping[str, str], now: float, button: str
) -> TurnOutcome:
    """Return what follows from the form of a page."""
    elapsed = site.measure(visit, form.get("page", ""), now)
    if visit.simulated:  # it says how long it would have taken, and its ratings are marked
        elapsed = max(elapsed, read_number(form.get("seconds"), 1e7) or 0.0)
    outcome = submit(
        Turn(site.booklet(), visit, StoredHistory(site.store, visit), form, now, elapsed), button
    )
    if outcome.done is None:
        return outcome
    return replace(outcome, done=replace(outcome.done, shown=now - elapsed))


async def submit_form(request: Request, button: str) -> Response:
    """Store the form of a page and go where its button leads, or show it again with what is missing."""
    site: AppState = request.app.state.site
    visit = await find_visit(site, request)
    form = read_form(await request.body())
    if visit is None:
        return show_unknown(site)
    now = time.time()
    visit = await come_back(site, visit, now)
    # What comes from somebody whose place was passed on is kept, but leads nowhere.
    here = replace(visit, state=visit.left_at) if visit.freed and visit.left_at else visit
    outcome = await site.read(lambda: follow_form(site, here, form, now, button))
    problem = await store_outcome(site, visit, outcome)
    if problem is not None:
        return problem
    if outcome.again is not None and not visit.over:
        return show(site, outcome.again, 422, token=visit.token)
    reply = RedirectResponse(f"/r/{visit.token}", 303)
    if visit.state in ("invited", "consent"):
        site.devices.keep(reply, visit.token)  # the open link goes on here, too
    return reply


async def store_outcome(site: AppState, visit: Visit, outcome: TurnOutcome) -> Response | None:
    """Write what follows from a form; return a page only where that cannot be done."""
    move = None if visit.over else outcome.move
    if outcome.group is not None and not visit.over:
        first = await site.read(lambda: find_first_group(site, visit))
        try:
            if first not in ("", outcome.group):  # another answer makes nobody a member of another group
                return await show_end(site, "full", visit.outside_id)
            await site.write(ops.Assign(visit.id, outcome.group))
        except NoPlace:
            await site.write(ops.AddEvent(visit.id, NO_PLACE, {"group": outcome.group}))
            return await show_end(site, "full", visit.outside_id)
    # The same form sent twice at once is one step: what happened in it is noted under one key.
    key = f"{visit.id}-{visit.state}-{visit.occasion}-{visit.page}-{visit.seen}"
    if outcome.answers or outcome.done is not None:
        done, events = (None, ()) if visit.over else (outcome.done, outcome.events)
        page = (visit.id, visit.occasion, visit.page)
        try:
            await site.write(ops.SaveAnswers(*page, outcome.answers, done, move, events, key=key))
        except TooManyChanges:  # only a script comes so far; what was not stored is not passed over either
            return show(site, EndPage(id="end-trouble", kind="trouble"), 409)
    elif move is not None:
        await site.write(ops.MoveVisit(visit.id, move, outcome.events, key=key))
    return None


def find_first_group(site: AppState, visit: Visit) -> str:
    """Return the group that somebody was put into before and that had no place; empty if there is none."""
    events = site.store.visit_events(visit.id)
    return next((str(event.detail["group"]) for event in events if event.kind == NO_PLACE), "")


async def submit_one_answer(request: Request) -> Response:
    """Store one answer the moment it is given."""
    site: AppState = request.app.state.site
    body = await request.body()
    try:
        message = Message.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        if first["type"] == "json_invalid":
            return refuse_answer(400, "This is not JSON.")
        where = ".".join(str(part) for part in first["loc"]) or "body"
        return refuse_answer(422, f"{where}: {first['msg']}")
    visit = await find_visit(site, request)
    if visit is None:
        return refuse_answer(404, "There is no such link.")
    try:
        occasion, page, answer = await site.read(
            lambda: submit_answer(Turn(site.booklet(), visit), message.model_dump(exclude_none=True))
        )
    except (NotAsked, BadAnswer) as error:
        return refuse_answer(422, str(error))
    if problem := await site.read(lambda: find_problem(site, visit, occasion, page, answer)):
        return refuse_answer(409, problem)
    if not visit.simulated:
        here = (occasion, page) == (visit.occasion, visit.page)
        now = time.time()
        elapsed = site.measure(visit, message.page, now) if here else now - (visit.opened or visit.created)
        answer = replace(
            answer,
            seconds_first=cap_seconds(answer.seconds_first, elapsed),
            seconds=cap_seconds(answer.seconds, elapsed),
        )
    try:
        saved = await site.write(ops.SaveAnswers(visit.id, occasion, page, (answer,)))
    except TooManyChanges as error:
        return refuse_answer(409, str(error))
    receipt = saved.answers[0]
    return JSONResponse({"saved": True, "revision": receipt.revision, "late": receipt.late})


def find_problem(site: AppState, visit: Visit, occasion: int, page: int, answer: Answer) -> str:
    """Return why an answer to a page of this visit is not wanted now; nothing where it is.

    Of who declined nothing is kept. Nobody answers a page before it was shown, nor changes one that is done
    where the study does not let them go back; what was stored is confirmed, however often it is sent.
    """
    if visit.state == "declined":
        return "Nothing is kept of this visit."
    # Without a briefing whoever is only invited stands at the first page already.
    here = replace(visit, state=visit.left_at) if visit.over else visit
    if (occasion, page) == (visit.occasion, visit.page):
        return "This page was not shown yet." if Turn(site.booklet(), here).state in BRIEFING else ""
    if site.study.file.collecting.back:
        return ""
    stored = site.store.visit_answers(visit.id, occasion, page).get(answer.name)
    done = stored is not None and stored.value != answer.value
    return "This page is done; its answers are kept as they are." if done else ""


async def send_picture(request: Request) -> Response:
    """Send a picture of a page that the rater has reached, by its place there."""
    site: AppState = request.app.state.site
    visit = await find_visit(site, request)
    occasion, order, place = (request.path_params[name] for name in ("occasion", "order", "place"))
    if visit is None or (occasion, order) > (visit.occasion, visit.page):
        return show_unknown(site)

    def look() -> Response | None:
        booklet = site.booklet()
        page = booklet.agenda.sitting(visit.place, occasion).page(order)
        path = find_image(site.study.folder, booklet.image(page, place)) if page is not None else None
        return send_media(path) if path is not None else None

    return await site.read(look) or show_unknown(site)


async def send_file(request: Request) -> Response:
    """Send a media file of a page that the rater has reached, or of the one after it, by its place there."""
    site: AppState = request.app.state.site
    visit = await find_visit(site, request)
    if visit is None:
        return show_unknown(site)

    def look() -> Response | None:
        booklet, address = site.booklet(), request.path_params["address"]
        path = find_file(booklet, visit.place, address, (visit.occasion, visit.page))
        return send_media(path, site.store.study.salt) if path is not None else None

    return await asyncio.to_thread(look) or show_unknown(site)


async def find_visit(site: AppState, request: Request) -> Visit | None:
    """Return the visit of a link."""
    token = find_token(request)
    return await site.read(lambda: site.store.find_visit(token)) if token else None


def find_token(request: Request) -> str:
    """Return the token of a link; nothing where it cannot be one, which is then not looked up at all."""
    token: str = request.path_params["token"]
    return token if TOKEN.fullmatch(token) is not None else ""


def read_form(body: bytes) -> dict[str, str]:
    """Return the fields of a form; of each the last, as browsers send the one that is shown last."""
    try:
        text = body.decode("utf-8", "replace")
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:  # more fields than any page has
        return {}


def show(
    site: AppState,
    page: Page,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    token: str = "",
    messages: tuple[str, ...] = (),
) -> Response:
    """Return the HTML of a page."""
    if isinstance(page, HitPage):
        headers = {**AROUND_A_HIT, **(headers or {})}
    return Response(site.render(page, token, messages), status, headers, "text/html; charset=utf-8")


def show_unknown(site: AppState) -> Response:
    """Return the page for a link that leads nowhere; the same whether it never was one or is none now."""
    return show(site, EndPage(id="end-unknown", kind="unknown"), 404)


async def show_home(request: Request) -> Response:
    """Tell whoever comes without a link that raters need one, and researchers where the dashboard is.

    It is the same for every study, so that the address alone tells nothing about what is studied here.
    """
    site: AppState = request.app.state.site
    page = EndPage(id="end-home", kind="home")
    return Response(render_page(page, site.words, Frame("Panelist")), media_type="text/html; charset=utf-8")


def refuse_answer(status: int, problem: str) -> Response:
    """Return that an answer was not stored, and why."""
    return JSONResponse({"saved": False, "problem": problem}, status)


ROUTES = [
    Route("/r/{token}/answer", submit_one_answer, methods=["POST"]),
    Route("/r/{token}/page", partial(submit_form, button="page"), methods=["POST"]),
    Route("/r/{token}", show_page, methods=["GET"]),
    Route("/r/{token}/back", partial(submit_form, button="back"), methods=["POST"]),
    Route("/r/{token}/pause", partial(submit_form, button="pause"), methods=["POST"]),
    Route("/r/{token}/image/{occasion:int}-{order:int}-{place:int}", send_picture, methods=["GET"]),
    Route("/r/{token}/media/{address}", send_file, methods=["GET", "HEAD"]),
    Route("/", show_home, methods=["GET"]),
]
