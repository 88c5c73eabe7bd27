"""Pages of the plan from skeletons: what is the same on page after page is rendered once, the rest put in.

A page that nobody has answered differs from the one before only in its texts, its number, the link and the
keys. To find that out anew, Jinja takes most of the time that the server spends on a page. So a page is
rendered once with a mark in place of each thing that changes, and cut at the marks; the pages like it are
joined from the pieces. What comes out is, letter for letter, what the template gives.
"""

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace

from markupsafe import Markup, escape

from panelist.collection.pages.models import HitPage, Output, Page, RatingPage
from panelist.collection.pages.translations import Words
from panelist.collection.pages.turn_rows import TurnRow
from panelist.formats.base import ShownTurn
from panelist.web.rendering import Frame, PagePosition, address_media, find_where, render_page

SKELETONS_KEPT = 500

_TOKEN = secrets.token_hex(16)  # drawn anew in each process, so that no text of a study looks like a mark
_MARK = re.compile(rf"\[{_TOKEN} (\w+)\]")


def _mark(name: str) -> Markup:
    return Markup(f"[{_TOKEN} {name}]")


@dataclass(frozen=True, slots=True)
class _MarkedOutput(Output):
    """An output of which only the place is known."""

    @property
    def run(self) -> Markup:
        return _mark(f"run{self.place}")


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A page without what changes: between two pieces stands the thing of that name."""

    first: str
    rest: tuple[tuple[str, str], ...]
    """The name of each thing, and the piece after it."""
    page: RatingPage
    """Whence it was made; kept so that the ids of its questions are not given to others."""

    def fill(self, values: dict[str, str]) -> str:
        """Return the page with these things in their places."""
        parts = [self.first]
        for name, piece in self.rest:
            parts += (values[name], piece)
        return "".join(parts)


_kept: dict[tuple[object, ...], Skeleton] = {}


def draw_page(page: Page, words: Words, frame: Frame) -> str:
    """Return the HTML of a page, as ``render_page`` does."""
    if (
        not isinstance(page, RatingPage)
        or isinstance(page, HitPage)
        or frame.messages
        or any(asked.value or asked.problem or asked.reason for asked in page.asked)
    ):
        return render_page(page, words, frame)
    key = _find_key(page, words, frame)
    skeleton = _kept.get(key)
    if skeleton is None:
        if len(_kept) >= SKELETONS_KEPT:
            _kept.clear()
        skeleton = _kept[key] = _make_skeleton(page, words, frame)
    return address_media(skeleton.fill(_find_values(page, words, frame)), frame.home)


def _find_key(page: RatingPage, words: Words, frame: Frame) -> tuple[object, ...]:
    """Return what pages with the same skeleton have in common: all but what is marked."""
    return (
        words, frame.title, frame.contact, frame.theme, frame.static,
        page.template, page.layout, page.noun, page.practice, page.forced, page.back, page.seconds,
        page.language, page.long, page.dialogue, page.sheets, page.read, page.played, bool(page.ahead),
        bool(page.line), bool(page.context), bool(page.reference),
        *((one.label, one.place, one.image, one.blocks, one.media) for one in page.outputs),
        *((id(one.question), one.name, one.label, one.output, one.turn, one.reason) for one in page.asked),
        *(_blank(row) for row in page.rows),
    )  # fmt: skip


def _name_turns(row: TurnRow) -> Iterator[tuple[str, ShownTurn]]:
    """Give the turns of a row, each with a name that no other turn of the page has."""
    for number, turns in enumerate([row.shared, *(reply.turns for reply in row.replies)]):
        for place, turn in enumerate(turns):
            yield f"turn{row.number}_{number}_{place}", turn


def _blank(row: TurnRow, marked: bool = False) -> TurnRow:
    """Return a row without what its turns say; with a mark in its place where wanted."""
    names = {id(turn): name for name, turn in _name_turns(row)}

    def clear(turns: tuple[ShownTurn, ...]) -> tuple[ShownTurn, ...]:
        return tuple(replace(turn, html=_mark(names[id(turn)]) if marked else Markup("")) for turn in turns)

    replies = tuple(replace(reply, turns=clear(reply.turns)) for reply in row.replies)
    return replace(row, shared=clear(row.shared), replies=replies)


def _find_values(page: RatingPage, words: Words, frame: Frame) -> dict[str, str]:
    """Return what changes from page to page, escaped as the templates do it."""
    where = find_where(page, words)
    values = {
        "id": page.id, "home": frame.home, "key": frame.key, "where": where.text, "done": where.done,
        "total": where.total, "line": page.line, "context": page.context, "reference": page.reference,
        "ahead": page.ahead,
    }  # fmt: skip
    for output in page.outputs:
        values[f"text{output.place}"] = output.text
        values[f"run{output.place}"] = output.run
    for row in page.rows:
        values |= {name: turn.html for name, turn in _name_turns(row)}
    return {name: str(escape(value)) for name, value in values.items()}


def _make_skeleton(page: RatingPage, words: Words, frame: Frame) -> Skeleton:
    outputs = tuple(
        _MarkedOutput(_mark(f"text{one.place}"), one.label, one.place, one.image, one.blocks, one.media)
        for one in page.outputs
    )
    bare = replace(
        page,
        id=_mark("id"),
        line=_mark("line") if page.line else "",
        context=_mark("context") if page.context else page.context,
        reference=_mark("reference") if page.reference else page.reference,
        outputs=outputs,
        ahead=_mark("ahead") if page.ahead else "",
        rows=tuple(_blank(row, marked=True) for row in page.rows),
    )
    around = replace(frame, home=_mark("home"), key=_mark("key"))
    where = PagePosition(_mark("where"), _mark("done"), _mark("total"))
    first, *rest = _MARK.split(render_page(bare, words, around, where))
    return Skeleton(first, tuple(zip(rest[::2], rest[1::2], strict=True)), page)
