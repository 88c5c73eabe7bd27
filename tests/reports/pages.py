"""A page of a report, read as a browser would: what it asks for, and what it leaves open."""

import re
from html.parser import HTMLParser


class Reader(HTMLParser):
    """What a page asks for, and which elements it leaves open."""

    VOID = frozenset({"meta", "link", "br", "circle", "path", "line", "rect"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name in ("href", "src") and tag != "a":
                self.addresses.append(value or "")
            if name == "id":
                self.ids.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read_page(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return reader


def find_bare_signs(page: str) -> list[str]:
    """Return what a reader meets with a hyphen for a minus sign, or a per cent sign without its space."""
    texts = " ".join(read_page(re.sub(r"<style>.*?</style>|<code>.*?</code>", "", page, flags=re.S)).texts)
    labels = " ".join(re.findall(r'aria-label="([^"]+)"', page))
    return re.findall(r"(?<![\w.])-\d", texts + labels) + re.findall(r"\d%", texts)
