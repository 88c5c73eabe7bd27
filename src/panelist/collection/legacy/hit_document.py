"""The document of a HIT in its frame: the template as it is, and what the platform put around it."""

import re
from functools import cache
from pathlib import Path

SHIM = Path(__file__).with_name("hit_frame.js")
STYLE = Path(__file__).with_name("hit_frame.css")

_FORM = re.compile(r"<(form|crowd-form)[\s>]", re.IGNORECASE)
_HEAD = re.compile(r"<head(\s[^>]*)?>", re.IGNORECASE)
_HTML = re.compile(r"<html(\s[^>]*)?>", re.IGNORECASE)
_BODY = re.compile(r"<body(\s[^>]*)?>", re.IGNORECASE)
_END = re.compile(r"</body\s*>", re.IGNORECASE)
# The platform put templates without a form of their own into one, under these names.
_OPEN = '<form name="mturk_form" method="post" id="mturk_form" action="#">'
_CLOSE = '<p><input type="submit" id="submitButton" value="Submit"></p></form>'


def make_document(html: str) -> str:
    """Return the whole document of a HIT."""
    if not _FORM.search(html):
        html = _wrap(html)
    ours = f"<script>{_read(SHIM)}</script><style>{_read(STYLE)}</style>"
    for tag in (_HEAD, _HTML):
        if found := tag.search(html):
            head = ours if tag is _HEAD else f"<head>{ours}</head>"
            return html[: found.end()] + head + html[found.end() :]
    return f'<!doctype html><html><head><meta charset="utf-8">{ours}</head><body>{html}</body></html>'


def _wrap(html: str) -> str:
    begin, ends = _BODY.search(html), list(_END.finditer(html))
    if begin is None:
        return f"{_OPEN}{html}{_CLOSE}"
    stop = ends[-1].start() if ends else len(html)
    return html[: begin.end()] + _OPEN + html[begin.end() : stop] + _CLOSE + html[stop:]


@cache
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
