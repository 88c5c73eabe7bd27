"""A template filled with the cells of a row: each cell written as its place in the template requires.

In the text of the page a cell is HTML, in an attribute a value, in a script a string or JSON: so that no cell
becomes code, whatever it holds. The scripts of the template itself are identified by their hashes; no other
script may run.
"""

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from html import escape, unescape
from string import ascii_letters, digits
from typing import Any

from panelist.collection.hits.safe_cells import clean_cell
from panelist.study.sections.hit import find_columns

GUARD = "if(self.panelistFrame!==true)throw 0;"
"""Scripts run only where ours ran before: not in a window that a script of the HIT has opened."""

_COLUMN = re.compile(r"\$\{([^}\n]*)\}")
_BLANK = re.compile("\ue000([0-9]+)\ue001")
_INSIDE = r"""(?:"[^"]*"|'[^']*'|[^>"'])*"""
_PIECE = re.compile(
    rf"""(?P<comment><!--.*?(?:-->|\Z))
    |<(?P<raw>script|style|textarea|title)\b(?P<with>{_INSIDE})>(?P<body>.*?)(?P<end></(?P=raw)\s*>|\Z)
    |(?P<tag></?[a-z]{_INSIDE}>)
    |(?P<text>[^<]+|<)""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_ATTRIBUTE = re.compile(r"""([^\s=>"'/]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s>]+))?""")
_CODE = re.compile(r"(?:text|application)/(?:java|ecma)script|module|text/jscript", re.IGNORECASE)
_QUOTES = "\"'`"
_PLAIN = frozenset(ascii_letters + digits + " ")


@dataclass
class Filled:
    """The HTML of a HIT, with the hashes of the scripts and of the handlers that belong to its template."""

    html: str = ""
    scripts: list[str] = field(default_factory=list)
    handlers: list[str] = field(default_factory=list)


def fill_safely(template: str, row: Mapping[str, str]) -> Filled:
    """Return the HTML of one HIT; nothing in a cell can act in it."""
    columns, pieces = _cut(template)
    cells = [row.get(name, f"${{{name}}}") for name in columns]
    filled = Filled()
    filled.html = "".join(_write(piece, cells, filled) for piece in pieces)
    return filled


def find_text_columns(template: str) -> tuple[str, ...]:
    """Return the columns whose cells are in the text of the page, where they are HTML."""
    columns, pieces = _cut(template)
    texts = "".join(piece["text"] or "" for piece in pieces)
    found = {int(blank) for blank in _BLANK.findall(texts)}
    return tuple(name for place, name in enumerate(columns) if place in found)


def hash_script(code: str) -> str:
    """Return the name of a script in a content policy."""
    return f"'sha256-{base64.b64encode(sha256(code.encode()).digest()).decode()}'"


@lru_cache(8)
def _cut(template: str) -> tuple[tuple[str, ...], tuple[re.Match[str], ...]]:
    """Return the columns of a template and its pieces, with a gap in place of each column."""
    columns = find_columns(template)
    marked = template.replace("\ue000", "").replace("\ue001", "")
    marked = _COLUMN.sub(lambda found: f"\ue000{columns.index(found[1].strip())}\ue001", marked)
    return columns, tuple(_PIECE.finditer(marked))


def _write(piece: re.Match[str], cells: list[str], filled: Filled) -> str:
    if piece["text"] is not None:
        return _put(piece["text"], cells, lambda cell: clean_cell(cell).html)
    if piece["comment"] is not None:
        return _BLANK.sub("", piece["comment"])
    if piece["tag"] is not None:
        return _write_tag(piece["tag"], cells, filled)
    name, inside, body = piece["raw"], piece["with"], piece["body"]
    start = _write_tag(f"<{name}{inside}>", cells, filled)
    if name.casefold() == "script":
        body = _write_script(inside, body, cells, filled)
    elif name.casefold() == "style":
        body = _put(body, cells, lambda cell: re.sub(r"[^\w#%., -]", "", cell))
    else:
        body = _put(body, cells, _write_value)
    return f"{start}{body}{piece['end']}"


def _write_script(inside: str, body: str, cells: list[str], filled: Filled) -> str:
    has = {name.casefold(): (value or "").strip("\"'") for name, value in _ATTRIBUTE.findall(inside)}
    kind = has.get("type", "").strip()
    if kind and not _CODE.match(kind):  # data, which some script of the template reads
        as_json = "json" in kind.casefold()
        return _put_code(body, cells) if as_json else _put(body, cells, lambda cell: clean_cell(cell).html)
    if "src" in has:  # from a host that the study names, or from nowhere
        return ""
    code = GUARD + _put_code(body, cells)
    # The browser normalises line ends before it hashes.
    filled.scripts.append(hash_script(code.replace("\r\n", "\n").replace("\r", "\n")))
    return code


def _write_tag(tag: str, cells: list[str], filled: Filled) -> str:
    """Return a tag with its cells as values, and its handlers under the guard."""
    opened = re.match(r"</?[^\s/>]*", tag)
    assert opened is not None, "a tag begins with a name"

    def write(found: re.Match[str]) -> str:
        name, value = found[1], found[2]
        if value is None:  # a cell among the attributes may switch one on, such as checked
            return _put(name, cells, lambda cell: cell if re.fullmatch(r"(?!on)[A-Za-z-]+", cell) else "")
        name = _BLANK.sub("", name)
        plain = value[1:-1] if value[0] in "\"'" else value
        if name.casefold().startswith("on"):
            code = GUARD + _put_code(unescape(plain), cells)
            filled.handlers.append(hash_script(code))
            return f'{name}="{escape(code)}"'
        if _BLANK.search(value) is None:
            return found[0]
        return f'{name}="{_put(plain.replace(chr(34), "&quot;"), cells, _write_value)}"'

    rest = tag[opened.end() :]
    return _BLANK.sub("", opened[0]) + _ATTRIBUTE.sub(write, rest)


def _write_value(cell: str) -> str:
    """Return a cell as a value, in an attribute or a box; its entities are kept, as on the platform."""
    return cell.replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


def _put(text: str, cells: list[str], write: Callable[[str], str]) -> str:
    return _BLANK.sub(lambda found: write(cells[int(found[1])]), text)


def _put_code(code: str, cells: list[str]) -> str:
    """Return a script with its cells: as characters inside quotation marks, as JSON elsewhere."""
    parts: list[str] = []
    at = 0
    quote = ""
    for found in _BLANK.finditer(code):
        quote = _find_quote(code[at : found.start()], quote)
        parts += (code[at : found.start()], _write_code(cells[int(found[1])], bool(quote)))
        at = found.end()
    return "".join((*parts, code[at:]))


def _find_quote(code: str, quote: str) -> str:
    """Return the quotation mark that is open at the end of some code; nothing where there is none."""
    at = 0
    while at < len(code):
        letter = code[at]
        if quote:
            if letter == "\\":
                at += 1
            elif letter == quote or (letter == "\n" and quote != "`"):
                quote = ""
        elif letter in _QUOTES:
            quote = letter
        elif code.startswith(("//", "/*"), at):
            end = code.find("\n" if code[at + 1] == "/" else "*/", at)
            at = len(code) if end < 0 else end
        at += 1
    return quote


def _write_code(cell: str, quoted: bool) -> str:
    if quoted:
        return _spell(cell)
    try:
        return _write_json(json.loads(cell))
    except ValueError:
        return f'"{_spell(cell)}"'


def _write_json(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f'"{_spell(name)}":{_write_json(one)}' for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_write_json, value)) + "]"
    return f'"{_spell(value)}"' if isinstance(value, str) else json.dumps(value)


def _spell(text: str) -> str:
    r"""Return a text in which everything but letters, digits and spaces is escaped: it is never code.

    >>> print(_spell("It's 5"))
    It\u0027s 5
    """
    units = text.encode("utf-16-be", "surrogatepass")
    codes = (int.from_bytes(units[place : place + 2]) for place in range(0, len(units), 2))
    return "".join(chr(code) if chr(code) in _PLAIN else f"\\u{code:04x}" for code in codes)
