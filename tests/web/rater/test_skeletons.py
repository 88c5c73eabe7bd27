"""Pages from skeletons are, letter for letter, those of the templates."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from panelist.collection.pages.models import Page, RatingPage
from panelist.study.study import Study
from panelist.web.rater import skeletons
from panelist.web.rater.skeletons import draw_page
from panelist.web.rendering import Frame, render_page
from tests.collection.raters import (
    DESIGNS,
    SCALES,
    SINGLE,
    TEMPLATE_NAMES,
    Walk,
    load_template,
    make_study,
    walk_through,
)

RISKY = "<b>&\"' {{ 7 * 7 }} [mark] \ue000\n\nA second paragraph."


def list_studies() -> Iterator[tuple[str, Study]]:
    for name in TEMPLATE_NAMES:
        yield name, load_template(name)
    for name, scale in SCALES.items():
        design = DESIGNS.get(name, SINGLE)
        yield f"scale {name}", make_study({name: scale}, design)
        more = {"reasons": True, "back": True, "page_seconds": 90, "theme": "dark"}
        yield f"scale {name} with all", make_study({name: scale}, design, risky, collecting=more)
    pages = {"binary": SCALES["binary"], "likert": SCALES["likert"]}
    yield "several on a page", make_study(pages, {"type": "pages"}, risky)
    yield "one of several on a page", make_study({"binary": SCALES["binary"]}, {"type": "pages"}, risky)
    rendered = {"formats": {"output": "markdown"}}
    for name, scale in SCALES.items():
        yield (
            f"Markdown, scale {name}",
            make_study({name: scale}, DESIGNS.get(name, SINGLE), risky, outputs=rendered),
        )
    binary = {"binary": SCALES["binary"]}
    yield "Markdown, several on a page", make_study(binary, {"type": "pages"}, risky, outputs=rendered)
    formula = make_study(
        None, SINGLE, lambda item, system: f"{system} $x_{item}$" * (item % 2), outputs=rendered
    )
    yield "Markdown, formulas on some pages", formula


def risky(item: int, system: int) -> str:
    return f"{item} {system} {RISKY}"


STUDIES = dict(list_studies())


def frame_of(walk: Walk, number: int) -> Frame:
    return Frame(f"{walk.booklet.study.title} & more", f"/r/TOKEN{number}", "a@b.org", key=f"key{number}")


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_every_page_is_the_one_of_the_template(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skeletons, "_kept", {})
    walk = walk_through(STUDIES[name])
    walk.finish()
    drawn = 0
    for number, page in enumerate(walk.pages):
        frame = frame_of(walk, number)
        assert draw_page(page, walk.booklet.words, frame) == render_page(page, walk.booklet.words, frame)
        drawn += isinstance(page, RatingPage)
    assert 0 < len(skeletons._kept) < drawn


def fresh_page(walk: Walk) -> RatingPage:
    page = walk.go_to(RatingPage)
    assert isinstance(page, RatingPage)
    return page


def vary(page: RatingPage) -> Iterator[Page]:
    """Return the same page with one thing changed at a time."""
    (asked,) = page.asked
    yield replace(page, asked=(replace(asked, value=asked.question.choices[0].value),))
    yield replace(page, asked=(replace(asked, problem="please_choose"),))
    yield replace(page, asked=(replace(asked, reason=""),))
    yield replace(page, asked=(replace(asked, reason="<because>"),))
    yield replace(page, asked=(replace(asked, question=replace(asked.question, heading="Another")),))
    yield replace(page, line="A <short> context")
    yield replace(page, context=page.outputs[0].text)
    yield replace(page, reference=page.outputs[0].text)
    yield replace(page, outputs=(replace(page.outputs[0], image=True),))
    yield replace(page, outputs=(replace(page.outputs[0], blocks=True),))
    yield replace(page, sheets=("stimuli", "formulas"))
    yield replace(page, language="ar")
    yield replace(page, noun="sentence")
    yield replace(page, practice=True)
    yield replace(page, forced=not page.forced)
    yield replace(page, back=not page.back)
    yield replace(page, seconds=30.0)


def test_a_skeleton_is_used_only_for_pages_that_are_like_it() -> None:
    walk = walk_through(make_study(None, SINGLE, risky))
    page, words = fresh_page(walk), walk.booklet.words
    frame = frame_of(walk, 1)
    draw_page(page, words, frame)
    for other in vary(page):
        assert draw_page(other, words, frame) == render_page(other, words, frame), other
        assert draw_page(other, words, frame) != draw_page(page, words, frame), other
    for around in (
        replace(frame, title="Another"), replace(frame, contact="nobody"), replace(frame, theme="light"),
        replace(frame, static="/elsewhere"), replace(frame, messages=("A <message>",)),
        replace(frame, home=""),
    ):  # fmt: skip
        assert draw_page(page, words, around) == render_page(page, words, around), around


def test_no_more_skeletons_are_kept_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skeletons, "_kept", {})
    monkeypatch.setattr(skeletons, "SKELETONS_KEPT", 3)
    walk = walk_through(make_study())
    page = fresh_page(walk)
    for number in range(10):
        draw_page(replace(page, noun=f"text {number}"), walk.booklet.words, frame_of(walk, 1))
        assert len(skeletons._kept) <= 3
