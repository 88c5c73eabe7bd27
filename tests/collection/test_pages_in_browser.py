"""The pages in a real browser: what is measured, what happens without a connection, and who can use them."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import BrowserContext, ConsoleMessage, Error, Page, expect

from panelist.collection.pages.translations import load_words
from tests.collection.browsers import CHROMIUM, Windows
from tests.collection.raters import (
    DESIGNS,
    SCALES,
    SINGLE,
    TEMPLATE_NAMES,
    VERBAL,
    load_template,
    make_study,
    walk_through,
)
from tests.collection.small_site import SmallSite
from tests.patience import PATIENCE

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: no program 'chromium'")


@pytest.fixture
def context(windows: Windows) -> BrowserContext:
    return windows.open(viewport={"width": 1280, "height": 900}).context


class Sight:
    """A site in a browser; remembers what went wrong there."""

    def __init__(self, context: BrowserContext, site: SmallSite) -> None:
        self.site = site
        self.page = context.pages[0]
        self.errors: list[str] = []
        self.page.on("pageerror", self._note_error)
        self.page.on("console", self._note_message)
        self.page.goto(site.url)

    def _note_error(self, error: Error) -> None:
        self.errors.append(str(error))

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def close(self) -> None:
        """Leave the page to the next one."""
        self.page.remove_listener("pageerror", self._note_error)
        self.page.remove_listener("console", self._note_message)
        self.site.close()


@pytest.fixture
def open_site(context: BrowserContext) -> Iterator[Any]:
    sites: list[Sight] = []

    def make(words: str = "en", **study: Any) -> Sight:
        site = SmallSite(walk_through(make_study(**study), load_words(words)))
        sites.append(Sight(context, site))
        return sites[-1]

    yield make
    for sight in sites:
        sight.close()
        known = ("503", "422", "ERR_EMPTY_RESPONSE", "ERR_INTERNET_DISCONNECTED", "ERR_CONNECTION")
        assert [error for error in sight.errors if not any(word in error for word in known)] == []


def wait_until_sent(page: Page) -> None:
    """Wait until no answer waits in the browser; the policy of the page forbids waiting inside it."""
    for _ in range(int(20 * PATIENCE)):
        if not page.evaluate("Object.keys(localStorage).some((key) => key.startsWith('panelist:/'))"):
            return
        page.wait_for_timeout(50)
    raise AssertionError("answers still wait to be sent")


def line(page: Page, share: float) -> tuple[float, float]:
    """Return the point at a share of the first line on the page, as a rater sees it."""
    box = page.locator("[type=range]").first.bounding_box()
    assert box is not None
    return box["x"] + 14 + share * (box["width"] - 28), box["y"] + box["height"] / 2


def test_each_answer_is_sent_at_once_with_what_was_measured(open_site: Any) -> None:
    sight = open_site(scales={"a": VERBAL, "b": VERBAL})
    page = sight.page
    page.get_by_text("So-so").first.click()
    page.get_by_text("Good").first.click()
    expect(page.locator("#saved")).to_have_text("Saved")
    wait_until_sent(page)
    first, second = sight.site.answers
    assert (first["page"], first["name"], first["value"], first["changes"]) == ("1-1", "c1p1", "2", 0)
    assert (second["value"], second["changes"], second["width"]) == ("3", 1, 1280)
    assert 0 < first["seconds_first"] == second["seconds_first"] <= first["seconds"] < second["seconds"]
    assert first["key"] != second["key"]
    assert re.fullmatch(r"[0-9a-f]{32}", second["key"])


def test_next_repeats_the_answers_under_their_keys(open_site: Any) -> None:
    sight = open_site()
    sight.page.get_by_text("Good").click()
    sight.page.locator("#next").click()
    expect(sight.page.locator("#where")).to_have_text("Text 2 of 6")
    (form,) = sight.site.forms
    assert form["key-c1p1"] == sight.site.answers[0]["key"]
    assert form["c1p1"] == "3"
    assert float(form["seconds"]) > 0


def test_a_double_click_on_next_hands_a_page_in_once(open_site: Any) -> None:
    sight = open_site()
    sight.page.get_by_text("Good").click()
    sight.page.locator("#next").dblclick()
    expect(sight.page.locator("#where")).to_have_text("Text 2 of 6")
    assert len(sight.site.forms) == 1


@pytest.mark.parametrize("fault", ["busy", "away"])
def test_answers_wait_for_the_server_and_next_waits_for_the_answers(open_site: Any, fault: str) -> None:
    sight = open_site()
    page = sight.page
    sight.site.fault = fault
    page.get_by_text("Good").click()
    expect(page.locator("#saved")).to_have_text("Kept on this device, will be sent")
    page.locator("#next").click()
    page.wait_for_timeout(300)
    expect(page.locator("#where")).to_have_text("Text 1 of 6")
    assert (sight.site.answers, sight.site.forms) == ([], [])
    sight.site.fault = ""
    expect(page.locator("#where")).to_have_text("Text 2 of 6")
    assert len(sight.site.answers) == len(sight.site.forms) == 1


def test_answers_given_offline_are_sent_when_the_connection_is_back(
    open_site: Any, context: BrowserContext
) -> None:
    sight = open_site()
    context.set_offline(True)
    sight.page.get_by_text("So-so").click()
    expect(sight.page.locator("#saved")).to_have_text("Kept on this device, will be sent")
    context.set_offline(False)
    expect(sight.page.locator("#saved")).to_have_text("Saved")
    assert [answer["value"] for answer in sight.site.answers] == ["2"]


def test_answers_survive_a_closed_tab_and_are_sent_once(open_site: Any, context: BrowserContext) -> None:
    sight = open_site()
    sight.site.fault = "away"
    sight.page.get_by_text("So-so").click()
    expect(sight.page.locator("#saved")).to_have_text("Kept on this device, will be sent")
    sight.page.close()
    sight.site.fault = ""
    later = context.new_page()
    later.goto(sight.site.url)
    wait_until_sent(later)
    assert [answer["value"] for answer in sight.site.answers] == ["2"]


def test_what_is_missing_is_said_linked_and_focused(open_site: Any) -> None:
    sight = open_site(scales={"readability": SCALES["vas"], "clarity": SCALES["vas"]})
    page = sight.page
    page.mouse.click(*line(page, 0.5))
    page.locator("#next").click()
    missing = page.locator("#missing")
    expect(missing).to_be_focused()
    expect(missing).to_contain_text("One answer is still missing. The rest is saved. Go to Clarity.")
    expect(page.locator("[name=c1p1]")).to_have_value(re.compile(r"^(49\.9|50(\.[01])?)$"))
    missing.get_by_role("link").click()
    expect(page.locator("#c2p1-1")).to_be_focused()


def test_a_line_has_no_value_until_it_is_touched(open_site: Any) -> None:
    sight = open_site(scales={"a": SCALES["vas"]})
    page = sight.page
    expect(page.locator(".scale")).not_to_have_attribute("data-answered", "")
    expect(page.locator("[name=c1p1]")).to_have_value("")
    page.locator("[type=range]").focus()
    page.locator("[type=range]").blur()
    assert sight.site.answers == []
    page.mouse.click(*line(page, 0.25))
    wait_until_sent(page)
    (answer,) = sight.site.answers
    assert abs(answer["raw"] - 25) < 0.3
    assert re.fullmatch(r"\d+\.\d", answer["value"])
    expect(page.locator(".scale")).to_have_attribute("data-answered", "")
    expect(page.locator("#c1p1-how")).to_have_text(load_words("en").say("line_answered"))


def test_a_click_in_the_middle_counts_and_so_do_the_ends(open_site: Any) -> None:
    sight = open_site(scales={"a": SCALES["vas"]})
    page = sight.page
    for share, value in ((0.5, 50), (0, 0), (1, 100)):
        page.mouse.click(*line(page, share))
        wait_until_sent(page)
        assert abs(float(sight.site.answers[-1]["value"]) - value) < 0.3


def test_a_pointer_in_the_middle_is_no_answer(open_site: Any) -> None:
    sight = open_site(scales={"a": {**SCALES["vas"], "pointer": "middle"}})
    expect(sight.page.locator(".scale")).to_have_attribute("data-start", "middle")
    sight.page.locator("#next").click()
    expect(sight.page.locator("#missing")).to_be_visible()
    assert sight.site.answers == []


def test_dragging_sends_where_it_ends_and_counts_one_change(open_site: Any) -> None:
    sight = open_site(scales={"a": SCALES["vas"]})
    page = sight.page
    page.mouse.move(*line(page, 0.2))
    page.mouse.down()
    for share in (0.3, 0.5, 0.8):
        page.mouse.move(*line(page, share))
    page.mouse.up()
    page.mouse.click(*line(page, 0.4))
    wait_until_sent(page)
    assert [round(answer["raw"]) for answer in sight.site.answers] == [80, 40]
    assert [answer["changes"] for answer in sight.site.answers] == [0, 1]


def test_a_line_works_with_keys_alone(open_site: Any) -> None:
    sight = open_site(scales={"a": SCALES["vas"]})
    page = sight.page
    page.locator("[type=range]").focus()
    began = time.monotonic()
    for key in ("ArrowRight", "ArrowRight", "PageUp", "ArrowDown"):
        page.keyboard.press(key)
    at_once = time.monotonic() - began < 0.5  # an answer stands when no key has followed for 0.6 s
    expect(page.locator("[type=range]")).to_have_attribute("aria-valuetext", "61 of 100")
    wait_until_sent(page)
    page.wait_for_timeout(800)
    wait_until_sent(page)
    values = [answer["value"] for answer in sight.site.answers]
    assert values[-1] == "61.0"
    assert len(values) == 1 or not at_once
    page.keyboard.press("Enter")
    expect(page.locator("#where")).to_have_text("Text 2 of 6")


def test_space_answers_with_the_middle(open_site: Any) -> None:
    sight = open_site(scales={"a": SCALES["vas"]})
    sight.page.locator("[type=range]").focus()
    sight.page.keyboard.press("Space")
    expect(sight.page.locator("[name=c1p1]")).to_have_value("50.0")


def test_a_line_runs_from_right_to_left_where_the_language_does(open_site: Any) -> None:
    sight = open_site("ar", scales={"a": SCALES["vas"]})
    page = sight.page
    page.mouse.click(*line(page, 0.25))
    wait_until_sent(page)
    assert abs(sight.site.answers[-1]["raw"] - 75) < 0.3
    page.locator("[type=range]").focus()
    page.keyboard.press("ArrowLeft")
    value = float(page.locator("[name=c1p1]").input_value())
    assert abs(value - 76) < 0.4


def test_a_scroll_that_starts_on_the_line_is_no_answer(open_site: Any) -> None:
    sight = open_site(scales={"a": SCALES["vas"]})
    page = sight.page
    page.locator("[type=range]").dispatch_event("pointercancel", {"pointerId": 1})
    expect(page.locator("[name=c1p1]")).to_have_value("")
    assert sight.site.answers == []


def test_digits_answer_and_enter_goes_on(open_site: Any) -> None:
    sight = open_site(scales={"a": VERBAL, "b": VERBAL})
    page = sight.page
    page.keyboard.press("2")
    page.keyboard.press("3")
    expect(page.locator("#next")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#where")).to_have_text("Text 2 of 6")
    assert sight.site.forms[0]["c1p1"] == "2"
    assert sight.site.forms[0]["c2p1"] == "3"


def test_digits_can_be_switched_off_for_good(open_site: Any) -> None:
    sight = open_site()
    page = sight.page
    page.locator("#keys-on").uncheck()
    page.keyboard.press("2")
    page.reload()
    page.keyboard.press("2")
    expect(page.locator("#keys-on")).not_to_be_checked()
    assert sight.site.answers == []
    expect(page.locator("[name=c1p1]:checked")).to_have_count(0)


def test_digits_typed_into_a_box_are_text(open_site: Any) -> None:
    sight = open_site(scales={"a": VERBAL, "b": SCALES["text"]})
    sight.page.locator("textarea").fill("")
    sight.page.locator("textarea").press_sequentially("123")
    expect(sight.page.locator("[name=c1p1]:checked")).to_have_count(0)


def test_one_output_cannot_be_best_and_worst(open_site: Any) -> None:
    sight = open_site(scales={"a": SCALES["best-worst"]}, design=DESIGNS["best-worst"])
    page = sight.page
    page.locator("[name=c1-best][value='2']").check()
    assert sight.site.answers == []
    page.locator("[name=c1-worst][value='3']").check()
    wait_until_sent(page)
    assert sight.site.answers[-1]["value"] == "2,3"
    page.locator("[name=c1-worst][value='2']").check()
    expect(page.locator("[data-best-worst] [role=status]")).to_have_text(
        "Text B is now “Least clear”. Please choose one for “Clearest” again."
    )
    expect(page.locator("[name=c1-best]:checked")).to_have_count(0)
    expect(page.locator("[name=c1]")).to_have_value("")
    page.keyboard.press("ArrowUp")  # what arrow keys pass on their way keeps its answer
    expect(page.locator("[name=c1]")).to_have_value("2,1")


def test_a_rank_moves_on_when_it_is_given_again(open_site: Any) -> None:
    sight = open_site(scales={"a": SCALES["ranking"]}, design=DESIGNS["ranking"])
    page = sight.page
    for place, rank in ((1, "1"), (2, "2"), (3, "3")):
        page.locator(f"#c1-{place}").select_option(rank)
    wait_until_sent(page)
    page.locator("#c1-3").select_option("1")
    expect(page.locator("[data-rank] [role=status]")).to_have_text("Text A now has rank 3.")
    wait_until_sent(page)
    assert [answer["value"] for answer in sight.site.answers] == ["1,2,3", "3,2,1"]


@pytest.mark.parametrize("scale", sorted(set(SCALES) - {"vas", "graphic"}))
def test_every_scale_but_a_line_works_without_scripts(windows: Windows, scale: str) -> None:
    design = DESIGNS.get(scale, SINGLE)
    site = SmallSite(walk_through(make_study({"a": SCALES[scale]}, design)))
    page = windows.open(java_script_enabled=False)
    page.goto(site.url)
    if scale == "best-worst":
        page.locator("[name=c1-best]").first.check()
        page.locator("[name=c1-worst]").last.check()
    elif scale == "ranking":
        for place in (1, 2, 3):
            page.locator(f"#c1-{place}").select_option(str(place))
    elif scale in ("magnitude", "text"):
        page.locator("#c1p1-1").fill("12")
    else:
        page.locator("main [type=radio]").first.check()
    page.locator("#next").click()
    expect(page.locator("#where")).to_contain_text("2 of")
    site.close()


def test_pause_and_back_keep_what_was_answered(open_site: Any) -> None:
    sight = open_site(scales={"a": VERBAL, "b": VERBAL}, collecting={"back": True})
    page = sight.page
    page.locator("[name=c1p1][value='1']").check()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Take the time you need.")
    page.locator("#next").click()
    expect(page.locator("[name=c1p1][value='1']")).to_be_checked()
    page.locator("[name=c2p1][value='2']").check()
    page.locator("#next").click()
    expect(page.locator("#where")).to_have_text("Text 2 of 6")
    page.get_by_role("button", name="Back").click()
    expect(page.locator("#where")).to_have_text("Text 1 of 6")
    expect(page.locator("[name=c2p1][value='2']")).to_be_checked()


def test_a_page_goes_on_by_itself_where_the_study_says_so(open_site: Any) -> None:
    sight = open_site(collecting={"page_seconds": 1})
    expect(sight.page.locator("#where")).to_have_text("Text 2 of 6")
    assert sight.site.forms[0]["timed_out"] == "1"


def test_the_redirect_waits_and_can_be_stopped(open_site: Any) -> None:
    outcomes = {"finished": {"code": "C1", "redirect": "https://panel.example/?cc={code}"}}
    sight = open_site(collecting={"outcomes": outcomes})
    sight.site.walk.finish()
    page = sight.page
    page.reload()
    expect(page.locator("#code")).to_have_text("C1")
    expect(page.locator("#left")).to_have_text(re.compile(r"^1\d$"))  # of 20
    page.get_by_role("button", name="Stay on this page").click()
    expect(page.locator("#wait")).to_have_text(load_words("en").say("stays"))
    page.wait_for_timeout(1200)
    assert page.url == sight.site.url


VIEWS: list[dict[str, Any]] = [
    {"viewport": {"width": 1280, "height": 900}},
    {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"},
    {"viewport": {"width": 640, "height": 450}, "forced_colors": "active"},  # 200 % zoom
]


# By day the other templates are looked at on the journeys through them.
@pytest.mark.parametrize(
    ("name", "view"), [("pairs", 0), *((name, 1) for name in TEMPLATE_NAMES), ("likert", 2)]
)
def test_no_page_of_a_template_has_a_barrier(windows: Windows, name: str, view: int) -> None:
    walk = walk_through(load_template(name))
    check_walk(windows.open(**VIEWS[view]), SmallSite(walk))


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("scale", sorted(SCALES))
def test_no_scale_has_a_barrier_also_with_answers_missing(
    windows: Windows, scale: str, language: str
) -> None:
    study = make_study(
        {"a": SCALES[scale], "b": SCALES[scale]}, DESIGNS.get(scale, SINGLE), collecting={"back": True}
    )
    site = SmallSite(walk_through(study, load_words(language)))
    page = windows.open(**VIEWS[1])
    page.goto(site.url)
    page.evaluate("document.querySelector('form').submit()")
    expect(page.locator("#missing")).to_be_visible()
    assert find_barriers(page) == []
    site.close()


def test_a_control_without_a_name_is_found(windows: Windows) -> None:
    page = windows.open(**VIEWS[0])
    page.set_content(
        "<html lang=en><title>t</title><main><h1>t</h1><button></button><input type=range></main>"
    )
    found = "\n".join(find_barriers(page))
    assert "screen reader: - button" in found
    assert "screen reader: - slider" in found


def check_walk(page: Page, site: SmallSite) -> None:
    """Look at every kind of page of a walk."""
    seen: set[tuple[type, str]] = set()
    for _ in range(100):
        shown = site.walk.look()
        kind = (type(shown), str(getattr(shown, "layout", "")))
        if kind not in seen:
            seen.add(kind)
            page.goto(site.url)
            assert find_barriers(page) == [], kind
        if site.walk.visit.state == "finished":
            break
        site.walk.go_on()
    assert site.walk.visit.state == "finished"
    assert len(seen) >= 9
    site.close()


CONTROLS = "button|link|radio|checkbox|slider|textbox|combobox|img|article|region|progressbar"
"""What a screen reader announces by its name."""


def find_barriers(page: Page) -> list[str]:
    """Return what axe-core finds, with all details open, and whether the page scrolls sideways."""
    page.evaluate("document.querySelectorAll('details').forEach((part) => part.open = true)")
    found = Axe().run(page).response["violations"]
    barriers = [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        barriers.append("scrolls sideways")
    nameless = re.findall(
        rf"^ *- (?:{CONTROLS})(?: \[.*\])?(?::.*)?$", page.locator("body").aria_snapshot(), re.MULTILINE
    )
    barriers += [f"no name for a screen reader: {line.strip()}" for line in nameless]
    return barriers
