"""Texts that take time to render are rendered in a thread of their own, while others get their pages."""

import asyncio
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.renderings import NotRendered, Renderings, defer_rendering
from panelist.collection.pages.translations import load_words
from panelist.design.make import plan_study
from panelist.formats import FORMATS, FormatOptions, Stimulus
from panelist.formats.markdown import MarkdownFormat
from panelist.study.reading.load import load_study
from panelist.study.sections.checks import Checks, DegradedCheck
from panelist.study.study import Study
from panelist.web.state import AppState
from tests.patience import PATIENCE
from tests.web.servers import serve_in_thread
from tests.web.walking import read_sheet

STUDY = """\
title: A study of answers
criteria:
  - name: fluency
    question: How fluent is it?
    scale: {type: likert, points: 5}
design: {type: lists, trials_per_rater: 4}
raters: {count: 4}
outputs: {file: outputs.jsonl, formats: {output: markdown}}
"""


def write_study(folder: Path) -> Path:
    folder.mkdir()
    rows = [
        {"item": f"i{n}", "system": system, "output": f"**{n}** by `{system}`"}
        for n in range(4)
        for system in "ab"
    ]
    (folder / "outputs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    return folder


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return load_study(write_study(tmp_path / "study"))


def test_where_rendering_is_deferred_only_what_is_kept_is_shown(study: Study) -> None:
    renderings = Renderings(study.outputs, load_words("en"))
    cell = Stimulus("**a**")
    with defer_rendering():
        with pytest.raises(NotRendered) as missing:
            renderings.show(cell, "output")
        missing.value.render()
        assert "<strong>a</strong>" in renderings.show(cell, "output")
        assert renderings.show(Stimulus("**a**"), "context") == "<p>**a**</p>"
    assert "<strong>b</strong>" in renderings.show(Stimulus("**b**"), "output")


def test_a_text_is_rendered_once(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[Stimulus] = []
    show = MarkdownFormat.show

    def count(self: MarkdownFormat, cell: Stimulus, *rest: object) -> object:
        rendered.append(cell)
        return show(self, cell, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(MarkdownFormat, "show", count)
    renderings = Renderings(study.outputs, load_words("en"))
    for _ in range(3):
        for cell, column in renderings.list_all():
            renderings.show(cell, column)
    assert len(rendered) == len(set(rendered)) == 8


def test_a_megabyte_of_plain_text_and_marked_differences_are_rendered_aside_too(study: Study) -> None:
    """The first took 2 s, and two texts of 1,500 words take up to .4 s to compare."""
    renderings = Renderings(study.outputs, load_words("en"))
    long, texts = Stimulus("a\n\n" * 333_333), ("a red cat", "a blue cat")
    with defer_rendering():
        with pytest.raises(NotRendered) as missing:
            renderings.show(long, "context")
        missing.value.render()
        assert renderings.show(long, "context").count("<p>") == 333_333
        with pytest.raises(NotRendered) as missing:
            renderings.mark(texts)
        missing.value.render()
        assert renderings.mark(texts)[0] == "<p>a <u>red</u> cat</p>"


def test_degraded_copies_are_made_aside_and_once(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of the copy is a draw of its own: one of 50,000 characters took up to 3 s on every request."""
    made: list[str] = []
    rewrite = MarkdownFormat.rewrite

    def count(self: MarkdownFormat, cell: Stimulus, *rest: object) -> str:
        made.append(cell.text)
        return rewrite(self, cell, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(MarkdownFormat, "rewrite", count)
    file = study.file.model_copy(update={"checks": Checks(items=(DegradedCheck(),))})
    booklet = Booklet(replace(study, file=file), plan_study(replace(study, file=file)))
    sitting = booklet.agenda.sitting(booklet.agenda.places[0], 1)
    page = next(page for page in sitting.pages if page.check)
    with defer_rendering():
        with pytest.raises(NotRendered) as missing:
            booklet.cells(page)
        missing.value.render()
        assert booklet.texts(page) == booklet.texts(page)
    assert len(made) == 1


def test_while_a_text_is_rendered_other_threads_soon_get_their_turn() -> None:
    usual, seen = sys.getswitchinterval(), list[float]()
    state = SimpleNamespace(_rendering=ThreadPoolExecutor(1))
    aside = AppState.render_aside(state, lambda: seen.append(sys.getswitchinterval()))  # type: ignore[arg-type]
    asyncio.run(aside)
    assert seen == [pytest.approx(0.0005)]
    assert sys.getswitchinterval() == usual == pytest.approx(0.005)


@pytest.mark.slow
def test_others_get_their_pages_while_a_text_is_rendered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rendering waits until we let it: a page that is fetched meanwhile shows that it is not in the way."""
    begun, go = threading.Event(), threading.Event()
    threads: set[str] = set()
    show = MarkdownFormat.show

    def wait(self: MarkdownFormat, *rest: object) -> object:
        threads.add(threading.current_thread().name)
        begun.set()
        assert go.wait(PATIENCE)
        return show(self, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(MarkdownFormat, "show", wait)
    with serve_in_thread(write_study(tmp_path / "study")) as served, served.client() as client:
        assert begun.wait(PATIENCE)  # all outputs are rendered ahead
        assert client.get("/join").status_code == 200
        go.set()
        for _ in range(2):
            with served.client(follow_redirects=True) as rater:
                form = read_sheet(rater.get("/join")).fixed | {"consent": "yes"}
                page = rater.post("/join", data=form, headers={"Sec-Fetch-Site": "same-origin"})
                assert page.status_code == 200
                assert '<div class="prose">' in page.text
    assert threads == {"rendering_0"}


def test_an_output_of_a_megabyte_is_not_read_as_markdown() -> None:
    cell = Stimulus("> * **a** [b](c) $x$\n" * 50_000)
    assert FORMATS["markdown"].read_words(cell, FormatOptions()) is cell.text
    assert FORMATS["markdown"].show(cell, FormatOptions(), load_words("en").say).startswith("<p>&gt; * **a**")
