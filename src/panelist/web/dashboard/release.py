"""Releasing many places at once: a page with a box for each visit that holds one, then the action.

Visits that took a place and have done no page are ticked to begin with: those of people who take
places and do not rate. A rater who has begun is released only where the box is ticked by hand.
"""

import asyncio
from dataclasses import dataclass

from starlette.responses import Response
from starlette.routing import Route

from panelist.collection.monitor.ledger import Folder
from panelist.collection.store.errors import StoreUnavailable
from panelist.core.errors import PanelistError
from panelist.web.dashboard.access import HOME, Visitor, researchers
from panelist.web.dashboard.causes import lead_on

PAGE = f"{HOME}/release"
MOST_SHOWN = 1000  # a form has no more fields than 2,000; the next thousand is on the page afterwards
KINDS = {
    "taken": "Took a place and have not finished a page",
    "begun": "Have begun",
    "unused": "Links that nobody has used",
}


@dataclass(frozen=True)
class Holder:
    """A visit that holds a place and has not finished."""

    id: int
    place: str
    pages: int
    since: float
    """When the place was taken."""
    kind: str
    """One of KINDS."""


async def ask(visitor: Visitor) -> Response:
    """Show who holds a place."""
    return await _show(visitor)


async def release(visitor: Visitor) -> Response:
    """Release those whose boxes are ticked."""
    await visitor.board.look(0.0)
    wanted = {name.removeprefix("visit-") for name in visitor.form if name.startswith("visit-")}
    holders = {str(one.id): one for one in list_holders(visitor)}
    folders = visitor.board.ledger.folders
    visits = [folders[holders[number].id].visit for number in wanted if number in holders]
    if not visits:
        return await _show(
            visitor, "No box is ticked, or these visits have ended meanwhile. Tick at least one."
        )
    try:
        said = await asyncio.to_thread(visitor.researcher.release_all, visits)
    except StoreUnavailable:
        raise
    except PanelistError as error:
        return await _show(visitor, lead_on(error))
    await visitor.board.look(0.0)
    return visitor.go(HOME, said)


async def _show(visitor: Visitor, problem: str = "") -> Response:
    view = await visitor.board.look(0.0)
    holders = list_holders(visitor)
    kinds = [(heading, [one for one in holders if one.kind == kind]) for kind, heading in KINDS.items()]
    names = {line.id: line.short for line in view.overview.raters}
    return visitor.show("release", 409 if problem else 200, kinds=kinds, names=names, problem=problem)


def list_holders(visitor: Visitor) -> list[Holder]:
    """Return the visits that hold a place and have not finished, the latest first."""
    folders = visitor.board.ledger.folders.values()
    holding = [one for one in folders if one.visit.place is not None and not one.visit.over]
    latest = sorted(holding, key=lambda one: -one.visit.created)
    return [_describe(one) for one in latest[:MOST_SHOWN]]


def _describe(folder: Folder) -> Holder:
    visit, pages = folder.visit, len(folder.tally.pages)
    kind = "unused" if visit.seen is None else "begun" if pages or folder.answers else "taken"
    return Holder(visit.id, visit.place or "", pages, visit.opened or visit.created, kind)


ROUTES = [Route(PAGE, researchers(ask), methods=["GET"]), Route(PAGE, researchers(release), methods=["POST"])]
