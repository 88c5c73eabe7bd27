"""Causes and cures of errors, for researchers in a browser: the page of errors without its messages."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup
from starlette.responses import Response

from panelist.core.errors import PanelistError, find_anchor, find_causes
from panelist.formats.commonmark import render_markdown
from panelist.web.dashboard.access import HOME, Visitor

CAUSES = f"{HOME}/errors"
_LISTS = re.compile(r"<!-- messages of \w+, .*?<!-- end -->", re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\((?!http)[^)]+\)")  # to other pages of the documentation
_HEADING = re.compile(r"^#{2,3} (.+)$", re.MULTILINE)


class Cause(NamedTuple):
    """What lies behind one kind of errors."""

    anchor: str
    title: str
    text: Markup


def lead_on(error: PanelistError) -> Markup:
    """Return the message of an error, and the link to its causes and cures."""
    link = Markup('{} <a href="{}#{}">Causes and cures</a>')
    return link.format(str(error), CAUSES, find_anchor(type(error)))


@cache
def list_causes() -> tuple[Cause, ...]:
    """Return the sections of the page of errors."""
    text = Path(find_causes("").removesuffix("#")).read_text(encoding="utf-8")
    parts = _HEADING.split(_LINK.sub(r"\1", _LISTS.sub("", text)))
    told = zip(parts[1::2], parts[2::2], strict=True)
    return tuple(
        Cause(title.lower().replace(" ", "-"), title, render_markdown(words))
        for title, words in told
        if words.strip()
    )


async def show_causes(visitor: Visitor) -> Response:
    """Show what each kind of errors means, and what to do."""
    return visitor.show("causes", causes=list_causes())
