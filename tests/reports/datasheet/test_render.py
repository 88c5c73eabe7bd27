"""Markdown, HTML and LaTeX: the same answers, and nothing in them is executed."""

import re
from html.parser import HTMLParser

import pytest

from panelist.reports.datasheet.files.sheet_view import render_html, render_latex, render_markdown
from panelist.reports.datasheet.heds_questions import VERSIONS, Version
from panelist.reports.datasheet.sheet import SheetAnswer
from tests.reports.datasheet.sheets import make_full

NASTY = "<script>alert(1)</script> & \\input{x} 100 % $a_b^c$ ~ # [x](y) *z* `q` | =1+1\n- second line {"
VOID = {"meta", "link", "path", "circle", "br"}


class Tags(HTMLParser):
    """Checks that tags are closed in order, and keeps the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if "id" in found:
            self.ids.append(found["id"])
        if found.get("href", "").startswith("#"):
            self.targets.append(found["href"][1:])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_page_is_whole_and_escapes_what_people_wrote(version: Version) -> None:
    page = render_html(make_full(version, q5_1=SheetAnswer(text=NASTY)))
    parser = Tags()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
    assert set(parser.targets) <= set(parser.ids)
    assert NASTY in "".join(parser.text)
    assert "<script" not in page
    assert "http-equiv" not in page
    assert not re.search(r'(?:src|href)="https?:', page)


def test_open_questions_and_drafts_are_marked() -> None:
    sheet = make_full(q5_1=SheetAnswer(), q1_1_2=SheetAnswer((), "x", "title", draft=True))
    for text in (render_html(sheet), render_markdown(sheet), render_latex(sheet)):
        assert text.count("Open") >= 1
        assert "1 open" in text
    assert "Draft: made from the study" in render_html(sheet)
    assert "Open" not in render_markdown(make_full())


def _check_latex(text: str) -> None:
    """Assert that braces, environments and specials are in order."""
    depth = 0
    bare = re.sub(r"\\[\\{}%&#$_]", "", text)
    for character in bare:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    body = bare[bare.index(r"\begin{document}") :]
    assert not re.search(r"[%&#~_^]", re.sub(r"\$[^$]*\$", "", body))
    assert body.count("$") % 2 == 0
    assert re.findall(r"\\begin\{(\w+)\}", bare) == re.findall(r"\\end\{(\w+)\}", bare) == ["document"]


@pytest.mark.parametrize("version", VERSIONS)
def test_latex_is_balanced_and_escaped(version: Version) -> None:
    _check_latex(render_latex(make_full(version)))
    text = render_latex(
        make_full(version, q5_1=SheetAnswer(text=NASTY), q4_3_4=SheetAnswer(text="1 ≤ x − 2"))
    )
    _check_latex(text)
    assert r"\textbackslash{}input\{x\}" in text
    assert r"$\leq$" in text


def test_markdown_shows_what_people_wrote_as_it_is() -> None:
    from markdown_it import MarkdownIt

    html = MarkdownIt().render(render_markdown(make_full(q5_1=SheetAnswer(text=NASTY))))
    parser = Tags()
    parser.feed(html)
    shown = " ".join("".join(parser.text).split())
    assert " ".join(NASTY.split()) in shown
    assert "<script" not in html
    assert html.count("<h2>") == 6


@pytest.mark.parametrize("version", VERSIONS)
def test_every_answer_is_in_every_format(version: Version) -> None:
    sheet = make_full(version)
    for text in (render_html(sheet), render_markdown(sheet), render_latex(sheet)):
        for number in ("3.1.3.2", "4.3.7", "5.4"):
            assert text.count(f"about {number}") == (2 if number.startswith("4") else 1)
        assert "41" in text
        assert "English" in text
        assert "aclanthology.org" in text
