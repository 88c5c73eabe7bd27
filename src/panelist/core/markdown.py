"""Text and results as Markdown that shows them as they are and obeys nothing in them."""

import re

from panelist.core.result import Pairs, Part, Result, Sentence

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~$])")
_AT_THE_START = re.compile(r"^(\s*)([-+=]|\d+[.)])")


def markdown(text: str) -> str:
    r"""Return the text on one line, so that Markdown shows it as it is.

    >>> print(markdown("a|b <script> *x*"))
    a\|b \<script\> \*x\*
    >>> print(markdown("- no list"))
    \- no list
    """
    escaped = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    return _AT_THE_START.sub(lambda found: f"{found[1]}{found[2][:-1]}\\{found[2][-1]}", escaped)


def draw_markdown(result: Result, level: int = 2) -> str:
    """Return a result as Markdown under a heading of this level."""
    parts = [f"{'#' * level} {markdown(result.title())}", *(_draw(part) for part in result.parts())]
    return "\n\n".join(parts) + "\n"


def draw_table(header: tuple[str, ...], rows: list[list[str]]) -> str:
    """Return rows of text under a header as a table."""
    lines = [header, ("---",) * len(header)]
    drawn = [f"| {' | '.join(markdown(cell) or ' ' for cell in lines[0])} |", f"|{'|'.join(lines[1])}|"]
    drawn += [f"| {' | '.join(markdown(cell) or ' ' for cell in row)} |" for row in rows]
    return "\n".join(drawn)


def _draw(part: Part) -> str:
    if isinstance(part, Sentence):
        return markdown(part.text)
    if isinstance(part, Pairs):
        return "\n".join(f"- {markdown(name)}: {markdown(text)}" for name, text in part.rows)
    caption = f"**{markdown(part.caption)}**\n\n" if part.caption else ""
    note = f"\n\n{markdown(part.note)}" if part.note else ""
    return caption + draw_table(part.header, part.written()) + note
