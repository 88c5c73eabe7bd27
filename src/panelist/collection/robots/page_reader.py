"""Reading a page as a browser does: what is on it, and what its form asks.

Tags are found by a pattern and not by a parser of all HTML: load tests read thousands of pages a second, and
these pages are well-formed (attributes quoted, texts escaped).
"""

import re
from dataclasses import dataclass, field
from html import unescape

_TAG = re.compile(
    r"<(form|input|select|option|textarea|button|h1|bdi|details|/details|/select|div|span|img|audio|video)"
    r"(?=[\s>])((?:[^>\"]|\"[^\"]*\")*)>"
)
OWN_CONTROLS = ("input", "img", "audio", "video")  # what a text of media holds besides words
_ATTRIBUTE = re.compile(r"([a-z][a-z0-9-]*)(?:=\"([^\"]*)\")?")
_FRAME = re.compile(r'<iframe class="hit" src="([^"]*)"')
_MARKUP = re.compile(r"<[^>]*>")
_WHITE = re.compile(r"\s+")


@dataclass(slots=True)
class Button:
    """A button that sends the form."""

    name: str
    value: str
    action: str = ""
    primary: bool = False


@dataclass(slots=True)
class PageContent:
    """What a page shows and asks."""

    heading: str = ""
    texts: list[str] = field(default_factory=list)
    """The texts to judge, and what else looks like one, in order; without white space."""
    beside: list[str] = field(default_factory=list)
    """Contexts and references; without white space."""
    code: str = ""
    """The completion code."""
    action: str = ""
    """Where the form goes; empty where there is none."""
    answer: str = ""
    """Where single answers go."""
    hidden: dict[str, str] = field(default_factory=dict)
    boxes: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    """Buttons to choose one of, and lists: the values that may be chosen."""
    chosen: dict[str, str] = field(default_factory=dict)
    """What is chosen or written already."""
    words: dict[str, bool] = field(default_factory=dict)
    """Boxes to write in, and whether something must be written."""
    frame: str = ""
    """Where the old HIT is that the page shows; empty where it shows none."""
    media: list[str] = field(default_factory=list)
    """The addresses of pictures, sound and film, in order."""
    lines: list[str] = field(default_factory=list)
    """The hidden fields of lines, which only a script fills."""
    buttons: list[Button] = field(default_factory=list)

    @property
    def page(self) -> str:
        """The id of the page."""
        return self.hidden.get("page", "")

    @property
    def names(self) -> list[str]:
        """The answers that the page asks for: each has a field for its key."""
        return [name[4:] for name in self.hidden if name.startswith("key-")]

    @property
    def primary(self) -> Button | None:
        """The button that continues."""
        return next((button for button in self.buttons if button.primary), None)


def squash(text: str) -> str:
    """Return a text without white space: pages break lines where they like.

    >>> squash("One\\n two")
    'Onetwo'
    """
    return _WHITE.sub("", text)


def read_sheet(html: str) -> PageContent:
    """Return what a page shows and asks."""
    sheet = PageContent()
    select, aside, read = "", False, 0
    turns: dict[str, str] = {}
    for found in _TAG.finditer(html):
        tag, written = found[1], found[2]
        if found.start() < read and tag not in OWN_CONTROLS:
            continue  # within a text, which is read already
        if tag == "div" or tag == "span":
            if 'class="text' in written:
                where = sheet.beside if aside else sheet.texts
                read = _find_end(html, found.end(), tag)
                text = read_text(html[found.end() : read])
                places = _read_attributes(written).get("data-output", "").split()
                for output in places:  # a text of these outputs, or a turn of them
                    turns[output] = turns.get(output, "") + text
                if not places:
                    where.append(text)
            continue
        if tag in ("img", "audio", "video"):
            sheet.media += [one for one in [_read_attributes(written).get("src", "")] if "/media/" in one]
        elif tag == "details":
            aside = True
        elif tag == "/details":
            aside = False
        elif tag == "bdi":
            sheet.beside.append(squash(_read_inside(html, found.end(), tag)))
        elif tag == "h1":
            sheet.heading = " ".join(_read_inside(html, found.end(), tag).split())
        elif tag == "/select":
            select = ""
        elif tag == "option":
            if select:
                _read_option(sheet, select, _read_attributes(written), html, found.end())
        else:
            has = _read_attributes(written)
            if tag == "select":
                select = has.get("name", "")
                sheet.choices[select] = []
            else:
                _READERS[tag](sheet, has, html, found.end())
    sheet.texts += turns.values()
    if framed := _FRAME.search(html):
        sheet.frame = unescape(framed[1])
    if (place := html.find('<code class="code"')) >= 0:
        sheet.code = _read_inside(html, html.index(">", place) + 1, "code").strip()
    return sheet


def read_text(html: str) -> str:
    """Return the text of some HTML, without white space.

    >>> read_text("<p>a &lt; <em>b</em></p>")
    'a<b'
    """
    inside = _MARKUP.sub(" ", html)
    return squash(unescape(inside) if "&" in inside else inside)


def _find_end(html: str, start: int, tag: str) -> int:
    """Return where an element ends, by counting those of its kind within it."""
    depth = 1
    for found in re.compile(rf"<(/?){tag}(?=[\s>])").finditer(html, start):
        depth += -1 if found[1] else 1
        if depth == 0:
            return found.start()
    return len(html)


def _read_attributes(written: str) -> dict[str, str]:
    return {name: unescape(value) if "&" in value else value for name, value in _ATTRIBUTE.findall(written)}


def _read_inside(html: str, start: int, tag: str) -> str:
    """Return the text between a tag and its end; no tag of the same kind is inside."""
    inside = _MARKUP.sub(" ", html[start : html.index(f"</{tag}>", start)])
    return unescape(inside) if "&" in inside else inside


def _read_form(sheet: PageContent, has: dict[str, str], html: str, at: int) -> None:
    sheet.action = has.get("action", "")
    sheet.answer = has.get("data-answer", "")


def _read_input(sheet: PageContent, has: dict[str, str], html: str, at: int) -> None:
    name, value, kind = has.get("name", ""), has.get("value", ""), has.get("type", "text")
    if kind == "range":
        sheet.lines.append(has.get("data-for", ""))
    elif not name:
        return
    elif kind == "hidden":
        sheet.hidden[name] = value
    elif kind == "checkbox":
        sheet.boxes[name] = value
    elif kind == "radio":
        sheet.choices.setdefault(name, []).append(value)
        if "checked" in has:
            sheet.chosen[name] = value
    else:
        sheet.words[name] = "required" in has
        if value:
            sheet.chosen[name] = value


def _read_textarea(sheet: PageContent, has: dict[str, str], html: str, at: int) -> None:
    name = has.get("name", "")
    sheet.words[name] = "required" in has
    if written := _read_inside(html, at, "textarea").strip():
        sheet.chosen[name] = written


def _read_button(sheet: PageContent, has: dict[str, str], html: str, at: int) -> None:
    if has.get("type", "submit") == "submit":
        primary = "primary" in has.get("class", "").split()
        sheet.buttons.append(
            Button(has.get("name", ""), has.get("value", ""), has.get("formaction", ""), primary)
        )


def _read_option(sheet: PageContent, select: str, has: dict[str, str], html: str, at: int) -> None:
    value = has.get("value")
    if value is None:
        value = _read_inside(html, at, "option").strip()
    if value:
        sheet.choices[select].append(value)
        if "selected" in has:
            sheet.chosen[select] = value


_READERS = {"form": _read_form, "input": _read_input, "textarea": _read_textarea, "button": _read_button}
