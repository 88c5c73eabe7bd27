"""The preview: a researcher walks through the rating pages, and nothing of it is stored."""

import asyncio
import time
from pathlib import Path

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from panelist.collection.pages.models import HitPage, Page
from panelist.collection.session.page_preview import (
    Preview,
    pack_preview,
    show_preview,
    step_preview,
    unpack_preview,
)
from panelist.web.dashboard.access import HOME, LOGIN, Visitor, researchers
from panelist.web.dashboard.action_routes import ask, show_unknown
from panelist.web.rater.hit_routes import AROUND_A_HIT
from panelist.web.rater.images import find_file, find_image, send_media
from panelist.web.rater.routes import read_form
from panelist.web.rendering import Frame, render_page
from panelist.web.state import AppState

PLACES_OFFERED = 200
_MAIN = '<main id="main">'


async def ask_preview(visitor: Visitor) -> Response:
    """Ask which place to look at."""
    places = tuple(await asyncio.to_thread(lambda: visitor.site.booklet().agenda.places))
    sentences = (
        "You see the pages of one place as its rater does, consent, practice and checks included.",
        "Nothing is stored: what you answer is in no table, no export and no count.",
    )
    return ask(
        visitor,
        "Preview as a rater",
        sentences,
        "Begin",
        field="choice",
        label="Place",
        options=places[:PLACES_OFFERED],
    )


async def begin_preview(visitor: Visitor) -> Response:
    """Go to the first page of a place."""
    place = visitor.form.get("place", "")
    booklet = await asyncio.to_thread(visitor.site.booklet)
    if place not in booklet.agenda.places:
        return show_unknown(visitor)
    await asyncio.to_thread(visitor.researcher.note, "previewed", place)
    return RedirectResponse(_address(visitor.site, Preview(place)), 303)


async def show_page(request: Request) -> Response:
    """Show the page at which a preview is."""
    site, preview = await _find(request)
    if preview is None:
        return RedirectResponse(LOGIN, 303)
    booklet = await asyncio.to_thread(site.booklet)
    page = await asyncio.to_thread(show_preview, booklet, preview, time.time())
    return _show(site, preview, page)


async def submit_page(request: Request) -> Response:
    """Continue a preview. It changes nothing, so requests from other sites do no harm."""
    site, preview = await _find(request)
    if preview is None:
        return RedirectResponse(LOGIN, 303)
    if request.headers.get("sec-fetch-dest") == "empty":
        # The script of the page would go to the address that it knows, where it is still this page. Refused,
        # it sends the form as a browser without scripts does, and is led to the next address.
        return Response(status_code=409)
    form = read_form(await request.body())
    booklet = await asyncio.to_thread(site.booklet)
    to = request.path_params["to"]
    after, again = await asyncio.to_thread(step_preview, booklet, preview, form, to, time.time())
    if again is not None:
        return _show(site, after, again, 422)
    return RedirectResponse(_address(site, after), 303)


async def confirm_answer(request: Request) -> Response:
    """Answer what the script of the page expects, although nothing was saved, as the page says above."""
    _, preview = await _find(request)
    if preview is None:
        return JSONResponse({"saved": False, "problem": "Please log in again."}, 403)
    return JSONResponse({"saved": True, "revision": 0, "late": False})


async def send_picture(request: Request) -> Response:
    """Send a picture of a page of the preview."""
    site, preview = await _find(request)
    occasion, order, place = (request.path_params[name] for name in ("occasion", "order", "place"))
    if preview is None:
        return Response(status_code=404)
    booklet = await asyncio.to_thread(site.booklet)
    page = booklet.agenda.sitting(preview.place, occasion).page(order)
    path = find_image(site.study.folder, booklet.image(page, place)) if page is not None else None
    return _send(site, path)


async def send_file(request: Request) -> Response:
    """Send a media file of a page of the preview."""
    site, preview = await _find(request)
    if preview is None:
        return Response(status_code=404)
    booklet = await asyncio.to_thread(site.booklet)
    reached = (preview.occasion, preview.page)
    return _send(site, find_file(booklet, preview.place, request.path_params["address"], reached))


def _send(site: AppState, path: Path | None) -> Response:
    found = send_media(path, site.store.study.salt) if path is not None else None
    return found or Response(status_code=404)


async def _find(request: Request) -> tuple[AppState, Preview | None]:
    """Return the preview in an address, for those who are logged in."""
    site: AppState = request.app.state.site
    if await site.find_session(request) is None:
        return site, None
    return site, unpack_preview(request.path_params["packed"], _key(site))


def _show(site: AppState, preview: Preview, page: Page, status: int = 200) -> Response:
    file = site.study.file
    home = _address(site, preview)
    frame = Frame(file.title, home, file.information.contact, file.collecting.theme)
    html = render_page(page, site.words, frame)
    banner = Markup(
        '<main id="main">\n<div class="wrap narrow head" lang="en" dir="ltr"><p class="notice warn"><span>'
        '<strong>Preview of place {}.</strong> Nothing is stored. <a href="{}">Back to the dashboard</a>'
        "</span></p></div>"
    ).format(preview.place, HOME)
    headers = AROUND_A_HIT if isinstance(page, HitPage) else None
    return Response(html.replace(_MAIN, banner, 1), status, headers, "text/html; charset=utf-8")


def _address(site: AppState, preview: Preview) -> str:
    return f"{HOME}/preview/{pack_preview(preview, _key(site))}"


def _key(site: AppState) -> bytes:
    return site.store.study.secret.encode()


_PACKED = f"{HOME}/preview/{{packed}}"
ROUTES = [
    Route(f"{HOME}/preview", researchers(ask_preview), methods=["GET"]),
    Route(f"{HOME}/preview", researchers(begin_preview), methods=["POST"]),
    Route(f"{_PACKED}/answer", confirm_answer, methods=["POST"]),
    Route(f"{_PACKED}/image/{{occasion:int}}-{{order:int}}-{{place:int}}", send_picture, methods=["GET"]),
    Route(f"{_PACKED}/media/{{address}}", send_file, methods=["GET", "HEAD"]),
    Route(f"{_PACKED}/{{to}}", submit_page, methods=["POST"]),
    Route(_PACKED, show_page, methods=["GET"]),
]
