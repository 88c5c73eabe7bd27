"""Text and results as Markdown that shows them as they are and interprets nothing in them."""

import re
from collections.abc import Sequence

from panelist.core.display.result import NamedValues, Part, Result, Sentence

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~$]|&(?=#?\w+;))")
_AT_THE_START = re.compile(r"^(\s*)([-+=]|\d+[.)])")


def markdown(text: str) -> str:
    r"""Return the text on one line, so that Markdown shows it as it is.

    >>> print(markdown("a|b <script> *x* &amp; R&D"))
    a\|b \<script\> \*x\* \&amp; R&D
    >>> print(markdown("- no list"))
    \- no list
    """
    escaped = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    return _AT_THE_START.sub(lambda found: f"{found[1]}{found[2][:-1]}\\{found[2][-1]}", escaped)


def draw_markdown(result: Result, level: int = 2) -> str:
    """Return a result as Markdown under a heading of this level."""
    drawn = (_draw(part) for part in result.parts())
    parts = [f"{'#' * level} {markdown(result.title())}", *(text for text in drawn if text)]
    return "\n\n".join(parts) + "\n"


def draw_table(header: Sequence[str], rows: list[list[str]], right: Sequence[bool] = ()) -> str:
    """Return rows of text under a header as a table; ``right`` says which columns are right-aligned."""
    sides = ["---:" if at_right else "---" for at_right in right] or ["---"] * len(header)
    lines = [f"| {' | '.join(markdown(cell) or ' ' for cell in row)} |" for row in (header, *rows)]
    return "\n".join([lines[0], f"|{'|'.join(sides)}|", *lines[1:]])


def _draw(part: Part) -> str:
    if isinstance(part, Sentence):
        return markdown(part.text)
    if isinstance(part, NamedValues):
        return "\n".join(f"- {markdown(name)}: {markdown(text)}" for name, text in part.rows)
    caption = f"**{markdown(part.caption)}**\n\n" if part.caption else ""
    note = f"\n\n{markdown(part.note)}" if part.note else ""
    right = [form.align == "right" for form in part.columns()]
    return caption + draw_table(part.header, part.written(), right) + note
