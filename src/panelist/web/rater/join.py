"""The open link: people who open it read what the study is about, and take a place by agreeing.

Opening it writes nothing: previews, pictures of other sites and robots take no place. Agreeing is a form that
only our own page can send. The browser keeps the key of its visit in a cookie, and goes on there.
"""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.briefing_pages import has_step, make_consent_page
from panelist.collection.pages.models import ConsentPage, EndPage
from panelist.collection.recruiting.badges import KEY, SIGNATURE, Badge, check_badge
from panelist.collection.recruiting.submissions import SESSION
from panelist.collection.session.turn import Turn
from panelist.collection.session.visit_flow import submit
from panelist.collection.store.errors import NoPlace, NotOpen
from panelist.collection.store.operations import ops
from panelist.collection.store.operations.joining import Decline, TakePlace, has_place
from panelist.collection.store.operations.places import COMING_BACK, TIMED_OUT, new_visit
from panelist.collection.store.records import Visit
from panelist.core.tables.columns import SIMULATED
from panelist.web.rater.routes import (
    BRIEFING,
    fits_device,
    is_given_away,
    keep_parameters,
    read_form,
    show,
    show_end,
    show_unknown,
)
from panelist.web.security import find_address, is_ours, is_prefetch
from panelist.web.state import AppState

log = logging.getLogger("panelist.web")
FIELD = "place"
MAY_RETURN = (TIMED_OUT, *COMING_BACK)
"""Why visits were let go whose person may come back to them; what a researcher let go is free for others."""
PROXY_NOTE = (
    "A proxy at %s reports who sends, and is not believed: to the server all raters have its address, and "
    "few may come in a minute. If it is yours, start the server with --trusted-proxy and this address."
)
# With it browsers name our own pages as the origin of their forms; other sites still hear nothing.
REFERRER = {"Referrer-Policy": "same-origin"}


@dataclass(frozen=True)
class Arrival:
    """Somebody at the open link who may take a place, or take theirs again."""

    params: Mapping[str, str]
    group: str | None
    badge: Badge
    token: str
    """The key of the visit that agreeing makes."""
    again: Visit | None = None
    """A visit that was let go, and that goes on by agreeing: its person comes by the panel once more."""
    pass_on: bool = False


async def look_in(request: Request) -> Response:
    """Show the information, or the visit of who has agreed before; nothing is written."""
    site: AppState = request.app.state.site
    arrival = await meet(site, request)
    if isinstance(arrival, Response):
        return arrival
    page = await site.read(lambda: make_consent_page(site.booklet(), None))
    return show_door(site, request, arrival, page)


async def join(request: Request) -> Response:
    """Give a place to somebody who agrees."""
    site: AppState = request.app.state.site
    form = read_form(await request.body())
    sent = site.devices.read_field(form.get(FIELD, ""))
    arrival = await meet(site, request, sent)
    if isinstance(arrival, Response):
        return arrival
    booklet = await site.read(site.booklet)
    if not came_from_page(site, request, sent):
        return show_door(site, request, arrival, make_consent_page(booklet, None), 403)
    visit = new_visit(arrival.token, None, "", "consent", time.time())
    outcome = submit(Turn(booklet, visit, form=form | {"page": "consent"}))
    if isinstance(outcome.again, ConsentPage):
        return show_door(site, request, arrival, outcome.again, 422)
    if wait := find_wait(site, request, arrival):  # who declines counts as well: that is a row, too
        busy = EndPage(id="end-busy", kind="busy")
        return show(site, busy, 429, {"Retry-After": str(int(wait) + 1)})
    if outcome.move is not None and outcome.move.state == "declined":
        left = await site.write(Decline(ops.new_token(), outcome.move.code))
        return RedirectResponse(f"/r/{left.token}", 303)
    if arrival.again is not None:
        back = await site.write(ops.Reopen(arrival.again.id, arrival.params))
        return go_on(site, back)
    events = outcome.events if has_step(booklet, "consent") else ()
    try:
        visit = await site.write(
            TakePlace(
                token=arrival.token,
                group=arrival.group,
                outside_id=arrival.badge.person,
                params=arrival.params,
                state=find_first_step(booklet),
                events=events,
                pass_on=arrival.pass_on,
            )
        )
    except NoPlace:
        return await show_end(site, "full", arrival.badge.person)
    except NotOpen:
        return await show_closed(site)
    if visit.state == "invited":  # nothing to read in: who has agreed is not asked again
        move = await site.read(lambda: Turn(site.booklet(), visit).go_to("background"))
        visit = (await site.write(ops.MoveVisit(visit.id, move))).visit
    return go_on(site, visit)


async def meet(site: AppState, request: Request, sent: str = "") -> Arrival | Response:
    """Return who is at the open link, or the page for those who have a visit or cannot come in.

    ``sent`` is the key that a form brought: it stands for the cookie where the browser keeps none.
    """
    badge = check_badge(site.panel, site.id_parameters, site.store.study.secret, request.query_params)
    group = request.query_params.get(site.config.group_parameter) or None
    if not badge.admitted or (group and group not in (await site.read(site.store.places)).names):
        return show_unknown(site)
    given = [(name, value) for name, value in request.query_params.items() if name not in (KEY, SIGNATURE)]
    params = keep_parameters(dict(given))
    token = site.devices.read(request) or sent
    mine, theirs, fresh = await site.read(lambda: find_visits(site, token, badge.person))
    own = mine if mine is not None and is_same(mine, badge) else None
    visit = theirs if theirs is not None and badge.trusted else own
    if visit is not None and is_coming_back(visit, params):
        return Arrival(params, group, badge, token or site.devices.draw(), visit)
    shared = site.study.file.collecting.shared_devices
    if visit is not None and (visit is theirs or not (fresh or (visit.over and shared))):
        return go_on(site, visit)
    known = mine is not None and not (fresh or shared or badge.signed)
    pass_on = theirs is not None and theirs.state == "released" and theirs.reason not in MAY_RETURN
    if known or (theirs is not None and not pass_on):
        return show(site, EndPage(id="end-begun", kind="begun"), 409)
    if not fits_device(site, request):
        return await show_end(site, "incompatible", badge.person)
    if await site.read_state() != "open":
        return await show_closed(site)
    if not await site.read(lambda: is_free(site, group)):
        return await show_end(site, "full", badge.person)
    key = token if token and mine is None else site.devices.draw()
    return Arrival(params, group, badge, key, pass_on=pass_on)


def find_visits(site: AppState, token: str, person: str | None) -> tuple[Visit | None, Visit | None, bool]:
    """Return the visit of this browser, that of this id, and whether the former leaves room for a new one."""
    mine = site.store.find_visit(token) if token else None
    theirs = site.store.find_outside(person) if person else None
    fresh = mine is not None and (
        mine.state == "declined" or (is_given_away(site, mine) and not site.store.done_pages(mine.id))
    )
    return mine, theirs, fresh


def is_same(mine: Visit, badge: Badge) -> bool:
    """Return whether who comes is the one whom this browser knows, as far as can be told."""
    return badge.person is None or mine.outside_id in (None, badge.person)


def is_coming_back(visit: Visit, params: Mapping[str, str]) -> bool:
    """Return whether somebody whom the panel had let go comes by it again, with another submission."""
    new = bool(params.get(SESSION)) and params.get(SESSION) != visit.params.get(SESSION)
    return new and visit.state == "released" and visit.reason in MAY_RETURN


def is_free(site: AppState, group: str | None) -> bool:
    """Return whether there is a place for somebody; call it inside ``read``."""
    places = site.store.places()
    return site.store.database.read(lambda db: has_place(db, places, group))


def came_from_page(site: AppState, request: Request, sent: str) -> bool:
    """Return whether a page of ours sent this form: by its field, and by what only this browser has or says.

    Where cookies are off, the browser itself must say that the form is ours.
    """
    if not sent or request.headers.get("sec-fetch-mode", "navigate") != "navigate":
        return False
    if sent == site.devices.read(request):
        return True
    return is_ours(request.headers, (request.headers.get("host", "").casefold(), site.config.host))


def find_wait(site: AppState, request: Request, arrival: Arrival) -> float:
    """Return the seconds until this address may take another place; with a signed link, none."""
    address = find_address(request.scope)
    forwarded = request.headers.get("x-forwarded-for", "")
    if forwarded and address not in forwarded and site.note_once("proxy"):
        log.warning(PROXY_NOTE, address)
    if arrival.badge.signed or (SIMULATED in arrival.params and is_loopback(address)):
        return 0.0
    return site.joins.wait(address)


def is_loopback(address: str) -> bool:
    """Return whether an address is this machine's."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def find_first_step(booklet: Booklet) -> str:
    """Return the state in which a visit begins after consent: the first step that the study has.

    Without any, it is ``invited``: the first page is known once there is a place.
    """
    steps = (step for step in BRIEFING if step != "consent")
    return next((step for step in steps if has_step(booklet, step)), "invited")


def show_door(
    site: AppState, request: Request, arrival: Arrival, page: ConsentPage, status: int = 200
) -> Response:
    """Return the information with a form that takes the place; the browser keeps the key of it."""
    query = f"?{request.url.query}" if request.url.query else ""
    token = arrival.token
    html = site.render(page, action=f"/join{query}", fields=((FIELD, site.devices.write_field(token)),))
    reply = Response(html, status, REFERRER, "text/html; charset=utf-8")
    if not is_prefetch(request):
        site.devices.keep(reply, token)
    return reply


def go_on(site: AppState, visit: Visit) -> Response:
    """Return the way to a visit; from now on this browser knows it."""
    reply = RedirectResponse(f"/r/{visit.token}", 303)
    site.devices.keep(reply, visit.token)
    return reply


async def show_closed(site: AppState) -> Response:
    """Return the page of a study that nobody can begin now."""
    state = await site.read_state()
    return show(site, EndPage(id=f"end-{state}", kind=state), 409)


ROUTES = [Route("/join", look_in, methods=["GET"]), Route("/join", join, methods=["POST"])]
