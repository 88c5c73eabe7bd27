"""The dashboard in a browser: no violation of axe on any page, news without a reload, the keyboard alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page

from tests.web.servers import PASSWORD, Served, make_study, serve_in_thread
from tests.web.walking import Walker

WINDOWS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 360, "height": 740}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
}
# The pages are the same in each: of the rules, only these depend on the size or the colours of the window.
RULES: dict[str, dict[str, Any]] = {
    "desktop": {},
    "phone": {"runOnly": ["color-contrast", "target-size", "scrollable-region-focusable"]},
    "dark": {"runOnly": ["color-contrast"]},
}

# Flags are long: none is cut off at the side of its table.
FLAGS_FIT = """() => [...document.querySelectorAll(".stacked .tag")].every((tag) =>
  tag.getBoundingClientRect().right <= tag.closest(".scroller").getBoundingClientRect().right + 1)"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A study in which some have finished, one is rating and one was excluded."""
    folder = make_study(
        tmp_path_factory.mktemp("watched") / "likert",
        trials_per_rater="trials_per_rater: 4",
        ratings_per_output="ratings_per_output: 2",
    )
    with serve_in_thread(folder, joins_a_minute=0) as served:
        with served.client() as client:
            for _ in range(4):
                Walker(client, served.study).join().finish()
            for _ in Walker(client, served.study).join().walk("1-4"):
                pass
        served.store.exclude(served.store.visits()[0].id, "too fast", "me")
        yield served


@contextmanager
def entered(browser: Browser, served: Served, **window: Any) -> Iterator[tuple[Page, list[str]]]:
    """A page of somebody who is logged in, and what its console says."""
    context = browser.new_context(**window)
    page = context.new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.goto(f"{served.url}/dashboard")
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_selector("#board")
    yield page, said
    context.close()


@pytest.mark.parametrize("window", WINDOWS)
def test_no_page_of_the_dashboard_has_a_violation(browser: Browser, watched: Served, window: str) -> None:
    paths = ("", "/raters", "/raters/1", "/raters/2", "/raters/2/exclude", "/log", "/download", "/places")
    with entered(browser, watched, **WINDOWS[window]) as (page, said):
        for path in (*paths, "/end", "/quiet", "/preview", "/results", "/login", "/raters/999"):
            page.goto(f"{watched.url}/dashboard{path}")
            for details in page.locator("details").all():
                details.evaluate("details => { details.open = true; }")
            found = Axe().run(page, options=RULES[window])
            assert found.violations_count == 0, (path, found.generate_report())
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
            assert page.evaluate(FLAGS_FIT), path
        assert not [line for line in said if "403" not in line and "404" not in line]


def test_news_come_without_a_reload_and_leave_the_keyboard_where_it_was(
    browser: Browser, watched: Served
) -> None:
    with entered(browser, watched, **WINDOWS["desktop"]) as (page, said):
        page.evaluate("window.sameDocument = true")
        page.wait_for_selector("#board[data-updated]")
        before = page.locator('[data-part="figures"]').inner_text()
        link = page.get_by_role("link", name="Review rater").last
        link.focus()
        href = link.get_attribute("href")
        with watched.client() as client:
            for _ in Walker(client, watched.study).join().walk("1-4"):
                pass
        page.wait_for_function(
            "before => document.querySelector('[data-part=figures]').innerText !== before", arg=before
        )
        page.wait_for_timeout(300)
        assert page.evaluate("window.sameDocument") is True
        assert page.evaluate("document.activeElement.getAttribute('href')") == href
        assert said == []


def test_a_rater_is_excluded_and_taken_back_by_keyboard_alone(browser: Browser, watched: Served) -> None:
    visit = watched.store.visits()[1]
    with entered(browser, watched, **WINDOWS["desktop"]) as (page, said):
        page.goto(f"{watched.url}/dashboard/raters/{visit.id}")
        page.get_by_role("link", name="Exclude").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("#words")
        page.keyboard.press("Tab")  # to the way past the header
        page.get_by_label("Reason").focus()
        page.keyboard.type("the same answer throughout")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.get_by_role("status").wait_for()
        assert "excluded" in page.get_by_role("status").inner_text()
        after = watched.store.get_visit(visit.id)
        assert after is not None
        assert (after.state, after.reason) == ("excluded", "the same answer throughout")
        page.get_by_role("link", name="Undo the exclusion").click()
        page.get_by_role("button", name="Undo it").click()
        page.get_by_role("status").wait_for()
        back = watched.store.get_visit(visit.id)
        assert back is not None
        assert (back.state, back.valid, back.reason, back.ended) == ("finished", True, "", visit.ended)
        assert said == []


def test_a_preview_can_be_walked_in_a_browser(browser: Browser, watched: Served) -> None:
    count = len(watched.store.visits())
    with entered(browser, watched, **WINDOWS["phone"]) as (page, said):
        page.get_by_role("link", name="Preview as a rater").click()
        page.get_by_role("button", name="Begin").click()
        page.wait_for_url("**/dashboard/preview/*")
        assert "Nothing is stored" in page.inner_text("main")
        seen = []
        for _ in range(7):  # consent, background, instructions, examples, practice and its feedback
            for box in page.locator("main input[type=checkbox]").all():
                box.check()
            groups = {one.get_attribute("name") for one in page.locator("main input[type=radio]").all()}
            for name in groups:
                page.locator(f'main input[name="{name}"]').first.check()
            seen.append(page.title())
            with page.expect_navigation():
                page.locator("main .btn.primary").click()
            assert "Nothing is stored" in page.inner_text("main")
            assert Axe().run(page).violations_count == 0, page.title()
        assert any(title.startswith("Practice") for title in seen)
        assert not [line for line in said if "409" not in line]
    assert len(watched.store.visits()) == count


def test_the_download_is_a_file(browser: Browser, watched: Served, tmp_path: Path) -> None:
    with entered(browser, watched, **WINDOWS["desktop"]) as (page, _):
        page.get_by_role("link", name="Export ratings").click()
        with page.expect_download() as waiting:
            page.get_by_role("button", name="Download").click()
        path = tmp_path / "ratings.csv"
        waiting.value.save_as(path)
    assert path.read_text(encoding="utf-8").startswith("rater,place,item,system,criterion")
    assert waiting.value.suggested_filename.startswith("ratings-")
