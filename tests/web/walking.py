"""A rater without a browser: reads the forms of the pages, fills them in and sends them, over HTTP."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

import httpx

from panelist.collection.store.records import Visit
from panelist.scales.base import RatingScale
from panelist.study.study import Study
from tests.web.servers import Served


@dataclass
class Sheet:
    """What a page asks: its form, as a browser would see it."""

    status: int
    html: str
    action: str = ""
    fixed: dict[str, str] = field(default_factory=dict)
    """Hidden fields and boxes to tick."""
    choices: dict[str, list[str]] = field(default_factory=dict)
    """Radio buttons, lists and the like: what may be chosen."""
    chosen: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    """Fields of sliders, which only a script fills."""
    words: list[str] = field(default_factory=list)

    @property
    def page(self) -> str:
        return self.fixed.get("page", "")

    @property
    def practice(self) -> int:
        """The number of the practice item, 0 on other pages."""
        found = re.search(r"Practice (\d+) of", self.html)
        return int(found[1]) if found else 0

    @property
    def names(self) -> list[str]:
        """The fields of answers that a page of the plan has."""
        return [name.removeprefix("key-") for name in self.fixed if name.startswith("key-")]


class _Reader(HTMLParser):
    def __init__(self, sheet: Sheet) -> None:
        super().__init__()
        self.sheet = sheet
        self.select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        name, value, kind = has.get("name", ""), has.get("value", ""), has.get("type", "text")
        sheet = self.sheet
        if tag == "form":
            sheet.action = has["action"]
        elif tag == "select":
            self.select = name
        elif tag == "option" and self.select:
            sheet.choices.setdefault(self.select, [])
        elif tag == "textarea" or (tag == "input" and kind == "text" and name):
            sheet.words.append(name)
        elif tag == "input" and kind == "range":
            sheet.lines.append(has["data-for"])
        elif tag == "input" and kind in ("hidden", "checkbox") and name and not name.startswith("media:"):
            sheet.fixed[name] = value
        elif tag == "input" and kind == "radio":
            sheet.choices.setdefault(name, []).append(value)
            if "checked" in has:
                sheet.chosen[name] = value

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self.select = ""

    def handle_data(self, data: str) -> None:
        if self.select and data.strip().isdigit():
            self.sheet.choices[self.select].append(data.strip())


def read_sheet(reply: httpx.Response) -> Sheet:
    """Return what a page asks."""
    sheet = Sheet(reply.status_code, reply.text)
    _Reader(sheet).feed(reply.text)
    return sheet


def agree(client: httpx.Client, query: str = "", again: bool = False, **headers: str) -> httpx.Response:
    """Return what comes of agreeing on the open link, from another device or ``again`` from the same."""
    if not again:
        client.cookies.clear()
    reply = client.get(f"/join{query}")
    if reply.status_code != 200:
        return reply
    sheet = read_sheet(reply)
    return client.post(sheet.action, data={**sheet.fixed, "consent": "yes"}, headers=headers)


Choose = Callable[[Sheet, str, list[str]], str]


def choose_second(sheet: Sheet, name: str, options: list[str]) -> str:
    """Return the second answer of each question, or the only one; the worst is another than the best."""
    if name.endswith("-worst"):
        return options[0]
    if re.fullmatch(r"c\d+-\d+", name):
        return name.rpartition("-")[2]  # ranks in the order shown
    return options[min(1, len(options) - 1)]


class Walker:
    """A rater on the way through a study."""

    def __init__(self, client: httpx.Client, study: Study, choose: Choose = choose_second) -> None:
        self.client = client
        self.study = study
        self.choose = choose
        self.link = ""
        self.seen: list[Sheet] = []

    def join(self, query: str = "", again: bool = False) -> "Walker":
        """Agree on the open link: on a device of one's own, or ``again`` on the one of before."""
        reply = agree(self.client, query, again)
        assert reply.status_code == 303, (reply.status_code, reply.text)
        self.link = reply.headers["location"]
        return self

    def look(self) -> Sheet:
        """Return the page that the link shows now."""
        sheet = read_sheet(self.client.get(self.link))
        self.seen.append(sheet)
        return sheet

    def fill(self, sheet: Sheet) -> dict[str, str]:
        """Return a complete form."""
        form = dict(sheet.fixed)
        for name, options in sheet.choices.items():
            form[name] = self.choose(sheet, name, options)
        for name in sheet.lines:
            form[name] = "61.5"
        for name in sheet.words:
            form[name] = "7"
        if sheet.practice:
            form |= self._practise(sheet)
        if sheet.page == "consent":
            form["consent"] = "yes"
        return form

    def send(self, form: dict[str, str], to: str = "page") -> httpx.Response:
        """Send a form, as a browser without scripts does."""
        return self.client.post(f"{self.link}/{to}", data=form)

    def step(self) -> Sheet:
        """Fill in the page of now, send it, and return the one that follows."""
        sheet = self.look()
        reply = self.send(self.fill(sheet))
        assert reply.status_code == 303, (reply.status_code, reply.text)
        return sheet

    def walk(self, until: str = "") -> Iterator[Sheet]:
        """Go on to the end, or to the page of this id; return the pages on the way."""
        for _ in range(300):
            sheet = self.look()
            if not sheet.action or (until and sheet.page == until):
                return
            yield sheet
            reply = self.send(self.fill(sheet))
            assert reply.status_code == 303, (reply.status_code, reply.text)
        raise AssertionError("the visit does not end")

    def finish(self) -> Sheet:
        """Go on to the end and return the last page."""
        for _ in self.walk():
            pass
        return self.seen[-1]

    def answer(self, page: str, name: str, value: str, key: str, **more: object) -> httpx.Response:
        """Send one answer, as the script of the page does."""
        message = {"page": page, "name": name, "value": value, "key": key, "width": 800, **more}
        return self.client.post(f"{self.link}/answer", json=message)

    def _practise(self, sheet: Sheet) -> dict[str, str]:
        practice = self.study.file.practice
        assert practice is not None
        item = practice.items[sheet.practice - 1]
        right = item.right
        numbers = {criterion.name: place for place, criterion in enumerate(self.study.criteria, start=1)}
        form = {}
        for criterion, answers in right.items():
            for name in sheet.names:
                if re.fullmatch(rf"c{numbers[criterion]}(p\d+)?", name):
                    form[name] = self._choose(criterion, name, answers)
                    best, _, worst = answers[0].partition(",")
                    if worst:
                        form |= {f"{name}-best": best, f"{name}-worst": worst}
        return form

    def _choose(self, criterion: str, name: str, answers: tuple[str, ...]) -> str:
        """Return the answer to a field as its form sends it; study files have one for each output rated."""
        scale = self.study.criterion(criterion).scale
        if not isinstance(scale, RatingScale):
            return answers[0]
        place = int(name.partition("p")[2]) - 1
        return scale.write(scale.recognise(answers[min(place, len(answers) - 1)]))


def find_code(sheet: Sheet) -> str:
    """Return the completion code on the last page."""
    found = re.search(r'id="code"[^>]*>([^<]+)<', sheet.html)
    assert found, sheet.html
    return found[1]


def find(served: Served, walker: Walker) -> Visit:
    visit = served.store.find_visit(walker.link.rpartition("/")[2])
    assert visit is not None
    return visit


def to_first_trial(walker: Walker) -> str:
    """Stop before the first page that counts; return its id."""
    while True:
        sheet = walker.look()
        if sheet.names and not sheet.practice:
            return sheet.page
        assert walker.send(walker.fill(sheet)).status_code == 303
