"""What raters see: every widget with its labels, nothing that gives a system away, nothing that runs."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from html.parser import HTMLParser
from typing import Any

import pandas as pd
import pytest
from markupsafe import Markup

from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.models import EndPage, FeedbackPage, PracticePage, RatingPage
from panelist.collection.pages.sheets import make_rating_page
from panelist.collection.pages.translations import find_languages, load_words
from panelist.collection.pages.turn_rows import TurnRow
from panelist.design.make import plan_study
from panelist.formats.base import ShownTurn
from panelist.study.outputs import Outputs
from panelist.study.study import Study
from panelist.web.rendering import STATIC, TEMPLATES, Frame, render_page
from tests.collection.raters import (
    DESIGNS,
    SCALES,
    SINGLE,
    TEMPLATE_NAMES,
    Walk,
    load_template,
    make_study,
    render,
    walk_through,
)

RISKY = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "\u202egnirts desrever\u202c",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt;",
]


class Reading(HTMLParser):
    """A page as a browser reads it: its elements, with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def all(self, *tags: str) -> Iterator[dict[str, str]]:
        return (attributes for tag, attributes in self.elements if tag in tags)

    def names(self) -> set[str]:
        """The names that a browser would send, buttons left out."""
        return {control["name"] for control in self.all("input", "select", "textarea") if "name" in control}

    def ids(self) -> list[str]:
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]


def first_trial(walk: Walk) -> RatingPage:
    page = walk.go_to(RatingPage)
    assert isinstance(page, RatingPage)
    return page


def study_of(scale: str, **more: Any) -> Study:
    return make_study({"judged": SCALES[scale]}, DESIGNS.get(scale, SINGLE), **more)


EXPECTED = {
    "best-worst": {"c1", "c1-best", "c1-worst"},
    "ranking": {"c1", "c1-1", "c1-2", "c1-3"},
    "pairs": {"c1"},
    "preference": {"c1"},
    "choose-one": {"c1"},
}


@pytest.mark.parametrize("scale", sorted(SCALES))
def test_the_form_of_every_scale_has_exactly_the_names_that_are_taken(scale: str) -> None:
    walk = walk_through(study_of(scale))
    fields = EXPECTED.get(scale, {"c1p1"})
    (main,) = {name for name in fields if re.fullmatch(r"c1(p1)?", name)}
    assert (
        Reading(render(first_trial(walk), walk.booklet)).names() == {"page", "facts", f"key-{main}"} | fields
    )


@pytest.mark.parametrize("scale", sorted(SCALES))
def test_every_control_has_a_label_and_every_reference_a_target(scale: str) -> None:
    walk = walk_through(study_of(scale, collecting={"reasons": True, "back": True}))
    page = first_trial(walk)
    refused = walk.send({"page": page.id}).again
    assert isinstance(refused, RatingPage)
    for shown in (page, refused):
        reading = Reading(render(shown, walk.booklet))
        ids = reading.ids()
        assert len(ids) == len(set(ids))
        labelled = {label["for"] for label in reading.all("label") if "for" in label}
        for control in reading.all("input", "select", "textarea"):
            if control.get("type") in ("hidden", "radio", "checkbox"):
                continue  # choices stand inside their labels
            assert control.get("id") in labelled or control.get("aria-label"), control
        wanted = [attributes.get("aria-describedby", "") for _, attributes in reading.elements]
        wanted += [attributes.get("aria-labelledby", "") for _, attributes in reading.elements]
        wanted += [link["href"][1:] for link in reading.all("a") if link["href"].startswith("#")]
        wanted += [label["for"] for label in reading.all("label") if "for" in label]
        assert {name for names in wanted for name in names.split()} <= set(ids)


def test_a_page_of_several_outputs_asks_every_criterion_of_each() -> None:
    study = make_study({"a": SCALES["binary"], "b": SCALES["likert"]}, {"type": "pages"})
    walk = walk_through(study)
    names = Reading(render(first_trial(walk), walk.booklet)).names()
    assert {name for name in names if name.startswith("c")} == {
        f"c{c}p{p}" for c in (1, 2) for p in (1, 2, 3, 4)
    }


def test_no_answer_is_chosen_beforehand_and_none_stands_out() -> None:
    for scale in SCALES:
        walk = walk_through(study_of(scale))
        reading = Reading(render(first_trial(walk), walk.booklet))
        chosen = [
            attributes
            for attributes in reading.all("input", "option")
            if {"checked", "selected"} & set(attributes)
        ]
        assert [control.get("id") for control in chosen] in ([], ["keys-on"])
        classes = {label["class"] for label in reading.all("label") if "class" in label} - {"hidden"}
        assert classes <= {"choice", "choice keys small"}
        hidden = [control for control in reading.all("input") if control.get("name") in ("c1", "c1p1")]
        assert all(not control["value"] for control in hidden if control.get("type") == "hidden")


def test_only_a_line_says_that_it_needs_scripts() -> None:
    for scale in SCALES:
        walk = walk_through(study_of(scale))
        html = render(first_trial(walk), walk.booklet)
        told = '<noscript><p class="notice">The line needs JavaScript.' in html
        assert told == (scale in ("vas", "graphic"))


def test_a_given_answer_is_shown_again() -> None:
    for scale in SCALES:
        walk = walk_through(study_of(scale, collecting={"back": True}))
        first = walk.go_on()
        assert isinstance(first, RatingPage)
        walk.press_back({"page": walk.look().id})
        again = first_trial(walk)
        assert again.asked[0].value
        html = render(again, walk.booklet)
        assert html != render(first, walk.booklet), scale
        reading = Reading(html)
        shown = [
            control for control in reading.all("input", "option") if {"checked", "selected"} & set(control)
        ]
        typed = any(control.get("value") == again.asked[0].value for control in reading.all("input"))
        assert [control for control in shown if control.get("id") != "keys-on"] or typed or "Fine." in html


def disguise(study: Study) -> Study:
    """Return the study with names that no text would have by chance."""
    frame = study.outputs.frame.copy()
    systems = {name: f"zqx-system-{place}" for place, name in enumerate(study.systems)}
    every = dict.fromkeys(frame["item"])  # a sample leaves some to the judge
    items = {name: f"zqx-item-{place}" for place, name in enumerate(every)}
    frame["system"] = pd.Series([systems[name] for name in frame["system"]], dtype="str")
    frame["item"] = pd.Series([items[name] for name in frame["item"]], dtype="str")
    file = study.file
    named = tuple(one.model_copy(update={"name": systems[one.name]}) for one in file.systems)
    return Study(file.model_copy(update={"systems": named}), Outputs(frame), study.path)


@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_no_page_names_an_item_a_system_or_a_check(name: str) -> None:
    walk = walk_through(disguise(load_template(name)))
    walk.finish()
    assert any(page.phase == "check" for page in walk.booklet.agenda.sitting("r001", 1).pages)
    told = walk.booklet.study.file.checks
    assert told is not None
    texts = [check.text for check in told.items if check.kind == "instructed"]
    for page in walk.pages:
        html = render(page, walk.booklet)
        data = json.dumps(asdict(page), default=str)
        for blind in (html, data):
            for text in texts:  # what an instructed check says is meant to be read
                blind = blind.replace(text, "").replace(json.dumps(text)[1:-1], "")
            for word in ("zqx", "practice-1", "check-1", "instructed", "repeat-", "degraded", "r001"):
                assert word not in blind, (type(page).__name__, word)
            assert walk.booklet.study.hash not in blind


def _blank(row: TurnRow) -> TurnRow:
    def clear(turns: tuple[ShownTurn, ...]) -> tuple[ShownTurn, ...]:
        return tuple(replace(turn, html=Markup("")) for turn in turns)

    replies = tuple(replace(reply, turns=clear(reply.turns)) for reply in row.replies)
    return replace(row, shared=clear(row.shared), replies=replies)


def shape(page: RatingPage, walk: Walk) -> list[tuple[str, tuple[str, ...]]]:
    """Return the elements of a page without what its texts hold: each text has its own form."""
    blank = replace(page, rows=tuple(map(_blank, page.rows)))
    elements = Reading(render(blank, walk.booklet)).elements
    return [(tag, tuple(sorted(attributes))) for tag, attributes in elements if tag not in ("p", "br")]


@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_a_check_looks_like_any_trial(name: str) -> None:
    walk = walk_through(load_template(name))
    sitting = walk.booklet.agenda.sitting("r001", 1)
    shapes: dict[tuple[object, ...], list[tuple[str, tuple[str, ...]]]] = {}
    for plan_page in sitting.counted:
        page = make_rating_page(walk.booklet, sitting, 1, plan_page, {})
        assert type(page) is RatingPage
        kind = (len(page.outputs), bool(page.context), bool(page.line), plan_page.criteria)
        assert shapes.setdefault(kind, shape(page, walk)) == shape(page, walk)


def test_the_pages_are_counted_with_the_checks() -> None:
    walk = walk_through(load_template("likert"))
    walk.finish()
    rated = [page for page in walk.pages if type(page) is RatingPage]
    assert [(page.n, page.total) for page in rated] == [(n, len(rated)) for n in range(1, len(rated) + 1)]


@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_practice_says_nothing_before_it_is_answered_and_all_of_it_after(name: str) -> None:
    walk = walk_through(load_template(name))
    page = walk.go_to(PracticePage)
    why = str(walk.booklet.study.file.practice.items[0].why)  # type: ignore[union-attr]
    assert why not in render(page, walk.booklet)
    walk.go_on()
    feedback = walk.look()
    assert isinstance(feedback, FeedbackPage)
    assert why in render(feedback, walk.booklet).replace("&#39;", "'")


@pytest.mark.parametrize("how", ["shuffle words", "repeat words", "drop words"])
def test_a_spoilt_copy_is_spoilt_on_the_server(how: str) -> None:
    study = make_study(checks={"items": [{"kind": "degraded", "how": how}]})
    walk = walk_through(study)
    sitting = walk.booklet.agenda.sitting("r001", 1)
    spoilt = make_rating_page(walk.booklet, sitting, 1, sitting.check("degraded-1"), {}).outputs[0].text
    original = sitting.page(sitting.originals["degraded-1"])
    assert original is not None
    whole = make_rating_page(walk.booklet, sitting, 1, original, {}).outputs[0].text
    assert spoilt != whole
    again = Booklet(study, plan_study(study))
    same = again.agenda.sitting("r001", 1)
    assert make_rating_page(again, same, 1, same.check("degraded-1"), {}).outputs[0].text == spoilt


def risky_study(text: str, scale: str) -> Study:
    label = text.replace("\n", " ")[:60]
    scales = {
        "verbal": {"type": "verbal", "points": [label, "b", "c"]},
        "vas": {"type": "vas", "low": label, "high": "high"},
        "graphic": {"type": "graphic", "points": [label[:24], "b"]},
        "magnitude": {"type": "magnitude", "reference": text},
        "pairs": {"type": "pairs", "ties": True, "tie_label": label},
        "best-worst": {"type": "best-worst", "best": label, "worst": "worst"},
        "ranking": {"type": "ranking"},
    }
    criterion = {
        "name": "judged",
        "label": label,
        "question": text,
        "definition": text,
        "scale": scales[scale],
    }
    comparative = scale in DESIGNS
    shown = (
        {"outputs": [text] * {"pairs": 2, "best-worst": 4, "ranking": 3}[scale]}
        if comparative
        else {"output": text}
    )
    right = {"pairs": "1", "best-worst": "1,2", "ranking": "1,2,3"}.get(scale, "1")
    return make_study(
        design=DESIGNS.get(scale, SINGLE),
        output=lambda item, system: f"{text} {item} {system}",
        title=text,
        noun=label,
        criteria=[criterion],
        information={
            "headline": text,
            "text": text,
            "facts": [{"label": text, "text": text}],
            "consent": [text],
            "contact": text,
            "ethics": text,
        },
        background=[{"name": "q", "question": text, "options": [text, "b"]}],
        instructions=text,
        examples=[{**shown, "context": text, "answers": {"judged": right}, "why": text}],
        practice={"items": [{**shown, "context": text, "right": {"judged": [right]}, "why": text}]},
        breaks={"every": 1, "text": text},
        closing={"comments": text, "thanks": text},
        collecting={"outcomes": {"finished": {"code": text, "redirect": "https://x.example/{code}"}}},
    )


@pytest.mark.parametrize("scale", ["verbal", "vas", "graphic", "magnitude", "pairs", "best-worst", "ranking"])
@pytest.mark.parametrize("text", RISKY)
def test_nothing_that_anybody_wrote_becomes_markup(text: str, scale: str) -> None:
    walk = walk_through(risky_study(text, scale))
    walk.finish()
    kinds = {type(page) for page in walk.pages}
    assert len(kinds) >= 9
    own = {"script", "img"}
    for page in walk.pages:
        html = render(page, walk.booklet)
        reading = Reading(html)
        for tag, attributes in reading.elements:
            assert not any(name.startswith("on") for name in attributes), (tag, attributes)
            assert "style" not in attributes
            assert tag not in own or attributes.get("src", "").startswith("static/"), (tag, attributes)
            for name in ("href", "src", "action", "formaction"):
                assert not re.match(r"\s*(javascript|data:text)", attributes.get(name, "")), attributes
        assert "49" not in re.findall(r"<title>(.*?)</title>", html)[0]


def test_text_that_turns_round_stays_in_its_own_element() -> None:
    walk = walk_through(make_study(output=lambda item, system: "\u202eabc"))
    html = render(first_trial(walk), walk.booklet)
    assert '<div class="text" dir="auto" data-output="1"><p>\u202eabc</p></div>' in html


def test_an_answer_with_markup_comes_back_as_text() -> None:
    walk = walk_through(make_study({"a": SCALES["text"]}, collecting={"reasons": True}))
    page = first_trial(walk)
    long = "</textarea><script>x</script>" * 3
    refused = walk.send({"page": page.id, "c1p1": long, "c1p1-why": long}).again
    assert refused is not None
    html = render(refused, walk.booklet)
    assert "&lt;/textarea&gt;&lt;script&gt;" in html
    assert html.count("<script") == html.count('<script type="module" src="static/') > 0


def test_texts_carry_their_own_language() -> None:
    walk = walk_through(make_study(language="en", text_language="ar"))
    html = render(first_trial(walk), walk.booklet)
    assert '<html lang="en" dir="ltr">' in html
    assert '<div class="text" dir="auto" lang="ar" data-output="1">' in html


@pytest.mark.parametrize("language", find_languages())
@pytest.mark.parametrize("scale", sorted(SCALES))
def test_every_page_can_be_shown_in_every_language(language: str, scale: str) -> None:
    study = study_of(scale, breaks={"every": 3}, collecting={"page_seconds": 30, "reasons": True})
    walk = walk_through(study, load_words(language))
    page = first_trial(walk)
    refused = walk.send({"page": page.id}).again
    assert refused is not None
    walk.finish()
    for shown in (*walk.pages, refused):
        html = render(shown, walk.booklet)
        assert f'<html lang="{language}" dir="{load_words(language).dir}">' in html


ENDS = [
    "finished",
    "screened_out",
    "declined",
    "paused",
    "closed",
    "full",
    "incompatible",
    "released",
    "timed_out",
    "unknown",
]


@pytest.mark.parametrize("kind", [*ENDS, "trouble"])
def test_every_end_has_its_words(kind: str) -> None:
    html = render(EndPage(id="end", kind=kind), walk_through(make_study()).booklet)
    assert load_words("en").say(f"{kind}_title") in html
    assert "<form" not in html


def test_the_last_page_leads_on_only_when_the_study_says_where() -> None:
    booklet = walk_through(make_study()).booklet
    plain = render(EndPage(id="end", kind="finished", code="ABCD"), booklet)
    assert "ABCD" in plain
    assert 'id="go"' not in plain
    led = render(EndPage(id="end", kind="finished", code="A", redirect="https://x.example/?cc=A"), booklet)
    assert 'href="https://x.example/?cc=A"' in led


def test_a_theme_holds_for_every_page() -> None:
    page = EndPage(id="end", kind="closed")
    words = load_words("en")
    assert 'data-theme="dark"' in render_page(page, words, Frame("T", theme="dark"))
    assert "data-theme" not in render_page(page, words, Frame("T"))


def test_pictures_have_names_that_say_nothing() -> None:
    study = make_study()
    frame = study.outputs.frame.assign(image=[f"pictures/secret{n}.png" for n in range(24)]).astype("str")
    walk = walk_through(replace(study, outputs=Outputs(frame)))
    page = first_trial(walk)
    html = render(page, walk.booklet)
    assert 'src="/r/TOKEN/image/1-1-1"' in html
    assert "secret" not in html
    plan_page = walk.booklet.agenda.sitting("r001", 1).page(1)
    assert plan_page is not None
    assert walk.booklet.image(plan_page, 1).startswith("pictures/secret")
    assert walk.booklet.image(plan_page, 2) == ""


def test_no_template_has_script_or_style_of_its_own() -> None:
    for path in TEMPLATES.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<style|style=|\son\w+=|javascript:|https?://", text), path
        for script in re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL):
            assert script == "", path


def test_styles_and_scripts_fetch_nothing_from_elsewhere_and_are_small() -> None:
    assert sum((STATIC / name).stat().st_size for name in ("tokens.css", "base.css")) < 20_000
    for path in STATIC.iterdir():
        if path.suffix not in (".css", ".js"):
            continue  # a font and its licence
        text = path.read_text(encoding="utf-8")
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "https://" not in text
        assert not re.search(r"\beval\(|innerHTML|document\.write|@import", text), path


@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_a_page_with_all_it_needs_is_under_sixty_kilobytes(name: str) -> None:
    walk = walk_through(load_template(name))
    walk.finish()
    for page in walk.pages:
        html = render(page, walk.booklet)
        named = set(re.findall(r"static/([\w.]+)", html)) | {"queue.js"}
        assert len(html.encode()) + sum((STATIC / one).stat().st_size for one in named) < 60_000
