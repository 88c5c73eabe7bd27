"""Cells of a HIT's input made safe for the page: words and formatting, nothing that acts or answers.

The platform put cells into the template as they were. A cell that holds a script, a form control or a handler
could then answer for the rater, and the cells come from other people. So active content is left out and
reported.
"""

import re
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser

_EMPTY = "br hr img wbr col source"
_FORMATTING = """
a abbr article audio b bdi bdo big blockquote caption center cite code colgroup dd del details dfn div dl dt
em figcaption figure font footer h1 h2 h3 h4 h5 h6 header i ins kbd li mark ol p pre q rp rt ruby s samp
section small span strike strong sub summary sup table tbody td tfoot th thead tr tt u ul var video
"""
_MUTE = "script style template noscript iframe object embed applet select datalist textarea svg math title"
_HARMLESS = """
align alt bgcolor border cellpadding cellspacing class color colspan controls datetime dir face height href
lang loop open rowspan size span src start title type valign width
"""
_VOID = frozenset(_EMPTY.split())
_KEPT = _VOID | frozenset(_FORMATTING.split())
_SILENT = frozenset(_MUTE.split())
"""Elements whose content is not text to read."""
_ATTRIBUTES = frozenset(_HARMLESS.split())
_STYLE = re.compile(
    r"\s*(?:(?:color|background-color|font(?:-[a-z]+)?|text-[a-z]+)\s*:[^;:()\\]*;?\s*)*", re.IGNORECASE
)
_ADDRESS = re.compile(r"\s*(?:https?:|mailto:|data:(?:image|audio|video)/|//|[^:]*\Z)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CleanedCell:
    """A cell without active content, and what was left out of it."""

    html: str
    left_out: tuple[str, ...]


def clean_cell(cell: str) -> CleanedCell:
    """Return the words and the formatting of a cell.

    >>> clean_cell("<b onclick='x()'>Dry</b> <script>y()</script>and <i>cold")
    CleanedCell(html='<b>Dry</b> and <i>cold</i>', left_out=('onclick', 'script'))
    """
    if "<" not in cell:
        return CleanedCell(cell.replace(">", "&gt;"), ())
    cleaner = _Cleaner()
    cleaner.feed(cell)
    cleaner.close()
    return CleanedCell(cleaner.finish(), tuple(dict.fromkeys(cleaner.left_out)))


class _Cleaner(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.left_out: list[str] = []
        self._parts: list[str] = []
        self._open: list[str] = []
        self._silent: list[str] = []

    def finish(self) -> str:
        """Return what was kept, with every element closed."""
        return "".join(self._parts) + "".join(f"</{tag}>" for tag in reversed(self._open))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _KEPT:
            self.left_out.append(tag)
            if tag in _SILENT:
                self._silent.append(tag)
            return
        if self._silent:
            return
        kept = "".join(
            f' {name}="{escape(value or "")}"' for name, value in attrs if self._keeps(name, value)
        )
        self._parts.append(f"<{tag}{kept}>")
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag in _SILENT and self._silent[-1:] == [tag] and tag not in ("script", "style"):
            self._silent.pop()

    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            if tag in self._silent:
                del self._silent[self._silent.index(tag) :]
        elif tag in self._open:
            while (last := self._open.pop()) != tag:
                self._parts.append(f"</{last}>")
            self._parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._parts.append(data.replace("<", "&lt;").replace(">", "&gt;"))

    def handle_entityref(self, name: str) -> None:
        self._keep_reference(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._keep_reference(f"&#{name};")

    def _keep_reference(self, written: str) -> None:
        if not self._silent:
            self._parts.append(written)

    def _keeps(self, name: str, value: str | None) -> bool:
        if name == "style":
            kept = _STYLE.fullmatch(value or "") is not None
        elif name in ("href", "src"):
            kept = _ADDRESS.match(value or "") is not None
        else:
            kept = name in _ATTRIBUTES
        if not kept and (name.startswith("on") or name in ("style", "href", "src")):
            self.left_out.append(name)
        return kept
