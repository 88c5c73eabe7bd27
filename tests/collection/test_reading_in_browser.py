"""Long and laid-out texts in a real browser: nothing is lost of them, and what they ask stays in reach."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from panelist.collection.pages.models import ExamplesPage, FeedbackPage
from panelist.collection.pages.translations import find_languages, load_words
from tests.collection.browsers import CHROMIUM, Windows
from tests.collection.raters import DESIGNS, SCALES, VERBAL, Walk, make_study, walk_through
from tests.collection.small_site import SmallSite
from tests.journeys.riding import WIDE

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: no program 'chromium'")

LAID_OUT = (
    "    def half(x):\n\tif x:\n\t\treturn x / 2\n\n\n"
    "1. one\n   - two  spaces\n      - deeper\n \nlast <b>&amp;</b>"
)
LONG = "\n\n".join(
    ["The bridge over the mill stream will be closed for repairs from the first of May. " * 5] * 8
)
PROMPT = "Write a short report about the meeting of the committee on Tuesday. " * 8
DESKTOP, PHONE, ZOOMED = ({"width": w, "height": h} for w, h in ((1280, 900), (390, 844), (640, 450)))
LIKERT = {"type": "likert", "points": 7, "low": "not fluent at all", "high": "perfectly fluent"}


@pytest.fixture
def show(windows: Windows) -> Iterator[Any]:
    sites: list[SmallSite] = []

    def make(walk: Walk, view: dict[str, int]) -> Page:
        sites.append(SmallSite(walk))
        page = windows.open(viewport=view)
        page.goto(sites[-1].url)
        return page

    yield make
    for site in sites:
        site.close()


def walk_with(text: str, scales: Any = None, context: str = "", design: Any = None, **file: Any) -> Walk:
    more = {"design": design} if design else {}
    study = make_study(scales, output=lambda item, system: text, **more, **file)
    if context:
        study.outputs.frame["context"] = context
    return walk_through(study)


def read(page: Page, selector: str) -> str:
    text: str = page.locator(selector).first.evaluate("(element) => element.innerText")
    return text


@pytest.mark.parametrize("scale", ["verbal", "pairs", "best-worst", "ranking"])
@pytest.mark.parametrize("view", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_text_is_shown_with_all_its_white_space(show: Any, scale: str, view: dict[str, int]) -> None:
    page = show(walk_with(LAID_OUT, {"a": SCALES[scale]}, LAID_OUT, DESIGNS.get(scale)), view)
    assert read(page, "main .text") == LAID_OUT  # the context
    assert read(page, ":is(.card:not(.prompt), article) .text") == LAID_OUT


def test_several_texts_on_a_page_keep_their_white_space_too(show: Any) -> None:
    page = show(walk_with(LAID_OUT, {"a": SCALES["binary"]}, design={"type": "pages"}), DESKTOP)
    assert read(page, "legend .text") == LAID_OUT


def test_examples_and_feedback_keep_white_space(show: Any) -> None:
    shown = {"context": LAID_OUT, "output": LAID_OUT}
    walk = walk_with(
        LAID_OUT,
        examples=[{**shown, "answers": {"ease": "1"}}],
        practice={"items": [{**shown, "right": {"ease": ["1"]}}]},
    )
    walk.go_to(ExamplesPage)
    page = show(walk, DESKTOP)
    assert [read(page, one) for one in (".given", ".text")] == [LAID_OUT, LAID_OUT]
    walk.go_to(FeedbackPage)
    page.reload()
    assert [read(page, one) for one in (".given", ".text")] == [LAID_OUT, LAID_OUT]


@pytest.mark.parametrize("format", ["plain", "turns"])
def test_a_long_address_or_line_of_code_is_not_cut_at_the_edge(show: Any, format: str) -> None:
    text = f"https://example.org/{'a' * 80}"
    outputs = {"file": "outputs.csv", "formats": {"output": format}, "turns": {"inside": "markdown"}}
    said = [{"role": "user", "text": f"```\n{text}\n```"}, {"role": "assistant", "text": text}]
    shown = text if format == "plain" else json.dumps(said)
    walk = walk_with(shown, {"a": SCALES["likert"]}, design={"type": "pages"}, outputs=outputs)
    assert show(walk, PHONE).evaluate(WIDE) <= 0


def test_stacked_accents_do_not_stand_on_the_question(show: Any) -> None:
    walk = walk_with(f"e{chr(0x301) * 60}", {"a": SCALES["likert"]}, design={"type": "pages"})
    page = show(walk, PHONE)
    text = page.locator("main .text").first
    box = text.bounding_box()
    assert box
    above = {"x": 0, "y": 0, "width": PHONE["width"], "height": box["y"] - 13}
    with_accents = page.screenshot(clip=above)
    text.evaluate("(one) => { one.textContent = 'e'; }")
    assert page.screenshot(clip=above) == with_accents


def places(page: Page) -> list[tuple[float, float]]:
    boxes = page.locator(".choices .choice").evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect()).map(({x, y}) => [x, y])"
    )
    return [(x, y) for x, y in boxes]


def stands_in_a_row(page: Page) -> bool:
    return len({round(y) for _, y in places(page)}) == 1


def test_points_stand_in_a_row_where_they_fit_and_else_in_a_list(show: Any) -> None:
    five = {"type": "likert", "points": 5, "labels": ["Very badly", "Badly", "So-so", "Well", "Very well"]}
    worded = {"type": "verbal", "points": ["Not at all", "Somewhat", "Very much"], "layout": "horizontal"}
    wordy = {"type": "likert", "points": 5, "low": "x" * 40, "high": "y" * 40}
    for scale in (five, LIKERT, worded, {"type": "likert", "points": 11, "start": 0}):
        assert stands_in_a_row(show(walk_with("A text.", {"a": scale}), DESKTOP)), scale
    for scale, view in ((five, PHONE), (LIKERT, PHONE), (wordy, DESKTOP), (VERBAL, DESKTOP)):
        page = show(walk_with("A text.", {"a": scale}), view)
        assert len({round(x) for x, _ in places(page)}) == 1, scale


def test_no_word_of_a_row_is_broken(show: Any) -> None:
    labels = ["Incomprehensible", "Hard", "Comprehensible", "Easy", "Straightforward"]
    scales = {
        "a": {"type": "likert", "points": 5, "labels": labels},
        "b": {"type": "graphic", "points": labels},
    }
    for view in (DESKTOP, ZOOMED, PHONE):
        page = show(walk_with("A text.", scales), view)
        high = page.locator(".choice span[dir], .points span").evaluate_all(
            """(all) => all.map((one) => {
              const range = document.createRange();
              range.selectNodeContents(one);
              return new Set([...range.getClientRects()].map(({top}) => Math.round(top))).size;
            })"""
        )
        assert set(high) == {1}, view


@pytest.mark.parametrize("view", [DESKTOP, ZOOMED, PHONE], ids=["desktop", "zoomed", "phone"])
def test_words_along_a_line_cover_neither_each_other_nor_the_edge(show: Any, view: dict[str, int]) -> None:
    words = ["Incomprehensible", "Comprehensible", "Understandable", "Straightforward", "Perfect indeed"]
    for n in (3, 4, 5):
        page = show(walk_with("A text.", {"a": {"type": "graphic", "points": words[:n]}}), view)
        boxes = page.locator(".points span").evaluate_all(
            """(all) => all.map((one) => {
              const range = document.createRange();
              range.selectNodeContents(one);
              const {left, right, top, bottom} = range.getBoundingClientRect();
              return {left, right, top, bottom};
            })"""
        )
        assert all(box["left"] >= 0 and box["right"] <= view["width"] for box in boxes)
        for place, one in enumerate(boxes):
            for other in boxes[place + 1 :]:
                apart = one["right"] <= other["left"] or other["right"] <= one["left"]
                assert apart or one["bottom"] <= other["top"] or other["bottom"] <= one["top"], (
                    n,
                    one,
                    other,
                )


def is_in_sight(page: Page, selector: str) -> bool:
    found: bool = page.locator(selector).first.evaluate(
        """(element) => {
          const {left, top, width, height} = element.getBoundingClientRect();
          const at = document.elementFromPoint(left + width / 2, top + height / 2);
          return height > 0 && top >= 0 && top + height <= innerHeight + 1 && element.contains(at);
        }"""
    )
    return found


def settle(page: Page) -> None:
    """Wait for the frames in which the page takes in that it was scrolled, however slow they are."""
    frames = "for (let n = 0; n < 3; n++) await new Promise((done) => requestAnimationFrame(done));"
    page.evaluate(f"async () => {{ {frames} }}")


@pytest.mark.parametrize("context", [PROMPT, "Write a report."], ids=["long prompt", "short prompt"])
@pytest.mark.parametrize("view", [DESKTOP, ZOOMED, PHONE], ids=["desktop", "zoomed", "phone"])
def test_prompt_and_next_stay_in_reach_of_a_long_text(show: Any, view: dict[str, int], context: str) -> None:
    page = show(walk_with(LONG, {"a": LIKERT}, context), view)
    # At first it is there in full, and nothing below it moves when it stays behind.
    assert not page.locator(".prompt").evaluate("(one) => one.scrollHeight > one.clientHeight")
    text = page.locator("article .text")
    before = text.evaluate("(one) => one.getBoundingClientRect().top + scrollY")
    page.evaluate("scrollTo(0, 900)")
    settle(page)
    assert abs(text.evaluate("(one) => one.getBoundingClientRect().top + scrollY") - before) < 1
    assert is_in_sight(page, ".prompt")
    assert page.locator(".prompt").get_attribute("aria-label") == "What it is about"
    assert is_in_sight(page, "#next")
    # What stays leaves the text more than half of the window.
    taken = page.locator(".prompt, .foot-bar").evaluate_all(
        "(all) => all.reduce((sum, one) => sum + one.offsetHeight, 0)"
    )
    assert taken < 0.5 * view["height"]
    # At the end of the page nothing of the text or the answers lies under what stays.
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    settle(page)
    last = page.locator(".choices .choice").last.bounding_box()
    foot = page.locator(".foot-bar").bounding_box()
    assert last is not None
    assert foot is not None
    assert last["y"] + last["height"] <= foot["y"] + 1


@pytest.mark.parametrize("view", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_prompt_longer_than_the_window_is_read_to_its_end_before_it_stays(
    show: Any, view: dict[str, int]
) -> None:
    """A conversation as context is often so long. It was cut once its first line had left the window."""
    page = show(walk_with(LONG, {"a": LIKERT}, PROMPT * 12), view)
    prompt, text, far = page.locator(".prompt"), page.locator("article .text"), 0.0
    before = text.evaluate("(one) => one.getBoundingClientRect().top + scrollY")
    assert prompt.evaluate("(one) => one.offsetHeight") > 1.5 * view["height"]
    while far < before - 0.3 * view["height"]:  # all the way down something can be read in the middle
        page.evaluate("(to) => scrollTo(0, to)", far)
        settle(page)
        middle = (
            "() => Boolean(document.elementFromPoint(innerWidth / 2, 0.4 * innerHeight).closest('.prompt'))"
        )
        assert page.evaluate(middle) == (far + 0.4 * view["height"] < before - 20), far
        far += 0.3 * view["height"]
    for far in (
        before,
        page.evaluate("document.scrollingElement.scrollHeight"),
    ):  # and then it stays, to the end
        page.evaluate("(to) => scrollTo(0, to)", far)
        settle(page)
        assert is_in_sight(page, ".prompt")
        assert prompt.evaluate("(one) => one.offsetHeight") <= 0.31 * view["height"]
        assert abs(text.evaluate("(one) => one.getBoundingClientRect().top + scrollY") - before) < 1


def test_low_answers_stay_beside_a_long_text_on_a_large_screen(show: Any) -> None:
    page = show(walk_with(LONG, {"a": LIKERT}, PROMPT), DESKTOP)
    assert is_in_sight(page, ".choice")
    page.evaluate("scrollTo(0, 600)")
    assert is_in_sight(page, ".choice")
    expect(page.locator("#reach")).to_be_hidden()
    short = show(walk_with("Short.", {"a": LIKERT}), DESKTOP)
    expect(short.locator(".dock")).to_have_count(0)


@pytest.mark.parametrize("context", [PROMPT, ""], ids=["prompt", "no prompt"])
@pytest.mark.parametrize("questions", [1, 2])
@pytest.mark.parametrize("height", [740, 1100])
def test_what_stays_leaves_a_third_of_the_window_to_read(
    show: Any, height: int, questions: int, context: str
) -> None:
    view = {"width": 1280, "height": height}
    page = show(walk_with(LONG, dict.fromkeys("abc"[:questions], LIKERT), context), view)
    page.evaluate("scrollTo(0, 600)")
    settle(page)
    free = page.evaluate(
        """() => [...document.querySelectorAll(".prompt, .dock.pinned, .foot-bar")]
          .reduce((left, one) => left - one.offsetHeight, innerHeight)"""
    )
    assert free >= height / 3 - 2
    # Nothing is lost by it: answers that do not stay have a link that leads there.
    assert is_in_sight(page, "#c1p1-1") != is_in_sight(page, "#reach")


@pytest.mark.parametrize("view", [ZOOMED, PHONE], ids=["zoomed", "phone"])
def test_a_link_leads_to_the_question_that_is_out_of_sight(show: Any, view: dict[str, int]) -> None:
    page = show(walk_with(LONG, {"a": LIKERT, "b": LIKERT}, PROMPT), view)
    link = page.locator("#reach")
    expect(link).to_be_visible()
    link.click()
    expect(page.locator("#c1p1-1")).to_be_focused()
    assert is_in_sight(page, "#c1p1-1")
    expect(link).to_be_hidden()


def test_nothing_stays_above_the_keyboard_of_a_phone(windows: Windows) -> None:
    site = SmallSite(walk_with(LONG, {"a": SCALES["text"]}, PROMPT))
    page = windows.open(viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto(site.url)
    page.evaluate("scrollTo(0, 900)")
    settle(page)
    styles = "(all) => all.map((one) => getComputedStyle(one).position)"
    assert page.locator(".prompt, .foot-bar").evaluate_all(styles) == ["sticky", "sticky"]
    page.locator("textarea").focus()
    assert page.locator(".prompt, .foot-bar").evaluate_all(styles) == ["static", "static"]
    site.close()


@pytest.mark.parametrize("language", find_languages())
def test_enter_with_nothing_answered_says_what_is_missing(windows: Windows, language: str) -> None:
    words = load_words(language)
    site = SmallSite(walk_through(make_study({"a": VERBAL, "b": VERBAL}), words))
    page = windows.open(viewport=DESKTOP)
    page.goto(site.url)
    page.keyboard.press("Enter")
    expect(page.locator("#missing")).to_be_focused()
    expect(page.locator("#missing")).to_contain_text(words.say("missing", 2))
    expect(page.locator("fieldset[aria-invalid=true]")).to_have_count(2)
    expect(page.locator("#c1p1-error")).to_contain_text(words.say("please_choose"))
    page.keyboard.press("1")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("#where")).to_contain_text("2")
    expect(page.locator("#missing")).to_have_count(0)
    site.close()


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_long_title_leaves_the_head_of_a_phone_low(show: Any, language: str) -> None:
    study = make_study(title="Help us find out which sentences are true to their source and which are not")
    page = show(walk_through(study, load_words(language)), PHONE)
    head = page.locator("header.bar").bounding_box()
    title = page.locator(".brand > span").bounding_box()
    assert head is not None
    assert title is not None
    assert head["height"] <= 64
    assert title["y"] - head["y"] >= 4
