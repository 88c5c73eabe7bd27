"""What a researcher can do on the dashboard: a page that asks, then the action, then the way back."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from starlette.responses import Response
from starlette.routing import Route

from panelist.collection.export.tables_of_study import EXPORTS, find_exporter
from panelist.collection.monitor.actions import BadAction, Researcher
from panelist.collection.monitor.ledger import Folder
from panelist.collection.store.errors import StoreUnavailable
from panelist.collection.store.store import Store
from panelist.core.errors import PanelistError
from panelist.core.tables.spreadsheets import disarm
from panelist.study.study import Study
from panelist.web.dashboard.access import HOME, Visitor, researchers
from panelist.web.dashboard.background import run_aside
from panelist.web.dashboard.causes import lead_on
from panelist.web.dashboard.view import are_results_shown

TABLES = (
    ("ratings", "one row per rating"),
    ("visits", "a row for each rater: state, times, why a rater does not count"),
    ("answers", "every answer, each change in its own row"),
    ("events", "consent, background, warnings, comments"),
    ("actions", "what researchers did"),
)


@dataclass(frozen=True)
class RaterAction:
    """Something to do about one rater: the page that asks, and what it does."""

    heading: str
    sentences: tuple[str, ...]
    button: str
    do: Callable[[Visitor, Folder, str], str]
    label: str = ""
    hint: str = ""
    required: bool = False
    danger: bool = False


DEEDS = {
    "exclude": RaterAction(
        "Exclude this rater",
        (
            "The answers are kept and marked as excluded, with your reason. The place is offered to another "
            "rater, who gets exactly the same pages.",
            "It can be undone as long as nobody else has the place.",
        ),
        "Exclude",
        lambda visitor, folder, words: visitor.researcher.exclude(folder.visit, words),
        "Reason",
        "It is reported with the study. Do not identify the person.",
        required=True,
        danger=True,
    ),
    "readmit": RaterAction(
        "Undo the exclusion",
        ("The rater counts again, as if nothing had happened. That there was an exclusion stays on record.",),
        "Undo it",
        lambda visitor, folder, words: visitor.researcher.readmit(folder, visitor.board.facts(), words),
        "Reason",
    ),
    "release": RaterAction(
        "Release the place",
        (
            "The place is offered to another rater, who starts from the first page. The answers so far "
            "are kept; what still comes from this rater is kept too, and marked as late.",
            "This cannot be undone.",
        ),
        "Release the place",
        lambda visitor, folder, words: visitor.researcher.release(folder.visit, words),
        "Reason, if you like",
        danger=True,
    ),
    "message": RaterAction(
        "Write a message",
        ("It is shown once, above the next page that this rater opens.",),
        "Send",
        lambda visitor, folder, words: visitor.researcher.message(folder.visit, words),
        "Message",
        "Nothing that hints at an answer, please: it would be in the data.",
        required=True,
    ),
}


async def ask_about_rater(visitor: Visitor) -> Response:
    """Show the page that asks before something is done about a rater."""
    await visitor.board.look()
    return _ask_deed(visitor) or show_unknown(visitor)


async def do_about_rater(visitor: Visitor) -> Response:
    """Do it."""
    await visitor.board.look(0.0)
    number = visitor.request.path_params["visit"]
    deed = DEEDS.get(visitor.request.path_params["deed"])
    folder = visitor.board.ledger.folders.get(number)
    if folder is None or deed is None:
        return show_unknown(visitor)
    words = visitor.form.get("words", "")
    try:
        said = await asyncio.to_thread(deed.do, visitor, folder, words)
    except StoreUnavailable:
        raise
    except PanelistError as error:
        return _ask_deed(visitor, lead_on(error), words) or show_unknown(visitor)
    await visitor.board.look(0.0)
    return visitor.go(f"{HOME}/raters/{number}", said)


def _ask_deed(visitor: Visitor, problem: str = "", value: str = "") -> Response | None:
    number = visitor.request.path_params["visit"]
    deed = DEEDS.get(visitor.request.path_params["deed"])
    if deed is None or number not in visitor.board.ledger.folders:
        return None
    return ask(
        visitor,
        deed.heading,
        deed.sentences,
        deed.button,
        problem=problem,
        field="words" if deed.label else "",
        label=deed.label,
        hint=deed.hint,
        required=deed.required,
        danger=deed.danger,
        value=value,
        cancel=f"{HOME}/raters/{number}",
    )


def ask(
    visitor: Visitor,
    heading: str,
    sentences: tuple[str, ...],
    button: str,
    *,
    problem: str = "",
    field: str = "",
    label: str = "",
    hint: str = "",
    required: bool = False,
    danger: bool = False,
    value: object = "",
    cancel: str = HOME,
    options: tuple[str, ...] = (),
    chosen: tuple[str, ...] = (),
) -> Response:
    """Return a page that asks before something is done; with a ``problem``, the one that was not in order.

    ``chosen`` names what it is about, and comes back with the form: it is done to these and to no others.
    """
    return visitor.show(
        "ask",
        409 if problem else 200,
        action=visitor.request.url.path,
        heading=heading,
        sentences=sentences,
        button=button,
        problem=problem,
        field=field,
        label=label,
        hint=hint,
        required=required,
        danger=danger,
        value=value,
        cancel=cancel,
        options=options,
        chosen=",".join(chosen),
    )


async def _act(visitor: Visitor, do: Callable[[Researcher], str]) -> Response:
    """Do something about the study and go back to the dashboard."""
    try:
        said = await asyncio.to_thread(do, visitor.researcher)
    except StoreUnavailable:
        raise
    except PanelistError as error:
        return visitor.show("message", 409, heading="This was not done", words=lead_on(error))
    await visitor.board.look(0.0)
    return visitor.go(HOME, said)


async def pause(visitor: Visitor) -> Response:
    """Pause collecting."""
    return await _act(visitor, Researcher.pause)


async def resume(visitor: Visitor) -> Response:
    """Resume collecting."""
    return await _act(visitor, Researcher.resume)


async def ask_end(visitor: Visitor) -> Response:
    """Ask once more before collecting ends."""
    overview = (await visitor.board.look()).overview
    rating = sum(row.count("rating") for row in overview.rows)
    left = (
        f"{overview.finished:,} of {overview.places:,} raters have finished; {rating:,} "
        f"{'is' if rating == 1 else 'are'} rating now and will not be able to continue."
    )
    return ask(
        visitor,
        "End collecting?",
        (
            left,
            "The rating pages close for good, and how the systems compare is shown. This cannot be undone.",
        ),
        "End collecting",
        danger=True,
    )


async def end(visitor: Visitor) -> Response:
    """End collecting."""
    return await _act(visitor, Researcher.end)


async def ask_places(visitor: Visitor) -> Response:
    """Ask how many places to open."""
    overview = (await visitor.board.look()).overview
    return _ask_places(visitor, overview.places, overview.open_places)


def _ask_places(visitor: Visitor, places: int, free: int, problem: str = "", value: object = 4) -> Response:
    sentences = (
        f"The plan has {places:,} places, of which {free:,} {'is' if free == 1 else 'are'} open. New places "
        "continue the same design. Nobody who is in the plan moves, and no page changes.",
        "Places cannot be taken away again; those that nobody takes stay open.",
    )
    return ask(
        visitor,
        "Open more places",
        sentences,
        "Open them",
        problem=problem,
        field="number",
        label="How many more",
        value=value,
    )


async def open_places(visitor: Visitor) -> Response:
    """Open more places."""
    text = visitor.form.get("number", "")
    try:
        if not text.isascii() or not text.isdecimal() or len(text) > 6:
            raise BadAction(f"Give a whole number of places, such as 4. Got {text[:40]!r}.")
        said = await asyncio.to_thread(visitor.researcher.open_places, int(text))
    except StoreUnavailable:
        raise
    except PanelistError as error:
        overview = (await visitor.board.look()).overview
        return _ask_places(visitor, overview.places, overview.open_places, lead_on(error), text)
    await visitor.board.look(0.0)
    return visitor.go(HOME, said)


async def ask_quiet(visitor: Visitor) -> Response:
    """Ask before the places of quiet raters are opened."""
    overview = (await visitor.board.look()).overview
    names = [line.short for line in overview.raters if line.id in set(overview.quiet)]
    sentences = (
        f"Nothing has been seen of {', '.join(names)} for ten minutes or more."
        if names
        else "Everybody has been seen in the last ten minutes.",
        "Their places are offered to others, who start from the first page. Answers are kept. "
        "This cannot be undone.",
    )
    return ask(visitor, "Open quiet places", sentences, "Open their places", danger=True)


async def open_quiet(visitor: Visitor) -> Response:
    """Open the places of those who are quiet now."""
    overview = (await visitor.board.look(0.0)).overview
    visits = [visitor.board.ledger.folders[number].visit for number in overview.quiet]
    return await _act(visitor, lambda researcher: researcher.release_quiet(visits))


async def ask_download(visitor: Visitor) -> Response:
    """Show what can be downloaded."""
    state = await asyncio.to_thread(visitor.site.store.state)
    shown = are_results_shown(visitor.site.study, state)
    return visitor.show("download", tables=TABLES, shown=shown, problem="")


async def download(visitor: Visitor) -> Response:
    """Send a table; ids of people are in it only where they were asked for."""
    what, ids = visitor.form.get("what", ""), visitor.form.get("ids") == "yes"
    if what not in EXPORTS:
        problem = "Choose one of these tables."
        return visitor.show("download", 422, tables=TABLES, shown=True, problem=problem)
    site = visitor.site
    await asyncio.to_thread(partial(visitor.researcher.note, "download", f"{what}.csv", ids=ids))

    def make() -> bytes:
        return make_file(site.store, site.study, what, ids)

    body = await run_aside(make)  # in a large study it takes seconds, and the server may have to end
    name = f"{what}{'-with-ids' if ids else ''}-{datetime.now(UTC):%Y%m%d-%H%M%S}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, media_type="text/csv; charset=utf-8", headers=headers)


def make_file(store: Store, study: Study, what: str, ids: bool) -> bytes:
    """Return a table as a CSV file that no spreadsheet runs; it never lies on a disk, for it may hold ids."""
    frame, _ = disarm(find_exporter(what)(store.snapshot(), study, store.plan(), ids=ids).frame)
    return frame.to_csv(index=False, lineterminator="\n").encode("utf-8", "surrogatepass")


def show_unknown(visitor: Visitor) -> Response:
    """Return the page for a rater or an action that does not exist."""
    return visitor.show(
        "message",
        404,
        heading="There is no such page",
        words="Perhaps the address was cut short. You can reach everything from the dashboard.",
    )


ROUTES = [
    Route(f"{HOME}/pause", researchers(pause), methods=["POST"]),
    Route(f"{HOME}/resume", researchers(resume), methods=["POST"]),
    Route(f"{HOME}/end", researchers(ask_end), methods=["GET"]),
    Route(f"{HOME}/end", researchers(end), methods=["POST"]),
    Route(f"{HOME}/places", researchers(ask_places), methods=["GET"]),
    Route(f"{HOME}/places", researchers(open_places), methods=["POST"]),
    Route(f"{HOME}/quiet", researchers(ask_quiet), methods=["GET"]),
    Route(f"{HOME}/quiet", researchers(open_quiet), methods=["POST"]),
    Route(f"{HOME}/download", researchers(ask_download), methods=["GET"]),
    Route(f"{HOME}/download", researchers(download), methods=["POST"]),
    Route(f"{HOME}/raters/{{visit:int}}/{{deed}}", researchers(ask_about_rater), methods=["GET"]),
    Route(f"{HOME}/raters/{{visit:int}}/{{deed}}", researchers(do_about_rater), methods=["POST"]),
]
