"""The document of a HIT in its frame: the template as it is, and what the platform put around it."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from panelist.collection.hits.fill import Filled, fill_safely, hash_script

SHIM = Path(__file__).with_name("hit_frame.js")
STYLE = Path(__file__).with_name("hit_frame.css")

_DOCTYPE = re.compile(r"\s*(<!doctype[^>]*>)?", re.IGNORECASE)
_FORM = re.compile(r"<(form|crowd-form)[\s>]", re.IGNORECASE)
_HEAD = re.compile(r"<head(\s[^>]*)?>", re.IGNORECASE)
_HTML = re.compile(r"<html(\s[^>]*)?>", re.IGNORECASE)
_BODY = re.compile(r"<body(\s[^>]*)?>", re.IGNORECASE)
_END = re.compile(r"</body\s*>", re.IGNORECASE)
# The platform put templates without a form of their own into one, under these names.
_OPEN = '<form name="mturk_form" method="post" id="mturk_form" action="#">'
_CLOSE = '<p><input type="submit" id="submitButton" value="Submit"></p></form>'


def make_document(template: str, row: Mapping[str, str] | None = None) -> Filled:
    """Return the whole document of a HIT, with the hashes of what may run in it.

    Our own script comes first, before any script of the template.
    """
    filled = fill_safely(template, row or {})
    begin = _DOCTYPE.match(filled.html)
    doctype, html = (begin[1] or "", filled.html[begin.end() :]) if begin else ("", filled.html)
    if not _FORM.search(html):
        html = _wrap(html)
    if not doctype and not (_HEAD.search(html) or _HTML.search(html)):
        doctype = "<!doctype html>"
    filled.html = f"{doctype}<script>{_read(SHIM)}</script><style>{_read(STYLE)}</style>{html}"
    filled.scripts.append(hash_script(_read(SHIM)))
    return filled


def _wrap(html: str) -> str:
    begin, ends = _BODY.search(html), list(_END.finditer(html))
    if begin is None:
        return f"{_OPEN}{html}{_CLOSE}"
    stop = ends[-1].start() if ends else len(html)
    return html[: begin.end()] + _OPEN + html[begin.end() : stop] + _CLOSE + html[stop:]


@cache
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
