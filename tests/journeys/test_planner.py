"""The planner in a browser: a slider is moved, and the curve and its numbers follow."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from panelist.web.planner import runs
from tests.journeys.riding import find_faults
from tests.web.servers import PASSWORD, Served, make_study, serve_in_thread

SMALL = "items=40&ratings_per_item=3&systems=2&outputs_per_rater=20&effect=0.6&model=lmm"
SIMS = (
    "() => Number(document.querySelector('[data-part=result]').textContent.match(/from ([0-9,]+) sim/)?.[1])"
)
POINTS = "() => document.querySelectorAll('.plot .mark > svg').length"


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = make_study(tmp_path_factory.mktemp("planned") / "likert")
    with pytest.MonkeyPatch.context() as patch, serve_in_thread(folder) as served:
        patch.setattr(runs, "ROUNDS", (10, 50))  # what follows looks the same, and takes ten times as long
        yield served


def enter(page: Page, served: Served) -> list[str]:
    """Log in; return what the console will say."""
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on(
        "request", lambda one: said.append(one.url) if not one.url.startswith((served.url, "data:")) else None
    )
    page.goto(f"{served.url}/dashboard/login")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/dashboard")
    return said


def test_a_slider_moves_the_curve(browser: Browser, planned: Served, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    said = enter(page, planned)
    page.goto(f"{planned.url}/dashboard/planner?{SMALL}&live=1")
    page.wait_for_function(f"() => ({SIMS})() >= 25 && ({POINTS})() === 18")
    before = page.inner_text(".finding"), page.inner_html(".plot")
    assert before[0].startswith("With 40 items and 3 ratings each you would find the difference about ")
    page.get_by_text("The numbers").click()
    assert page.locator("[data-part=numbers] tbody tr").count() == 6

    slider = page.get_by_role("slider", name="Smallest difference that matters, slider")
    slider.focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    assert page.get_by_label("Smallest difference that matters", exact=True).input_value() == "1.6"
    page.wait_for_function(f"() => location.search.includes('effect=1.6') && ({SIMS})() >= 10")
    page.wait_for_function(
        f"before => ({POINTS})() === 18 && document.querySelector('.plot').innerHTML !== before",
        arg=before[1],
    )
    # A larger difference is found more often. Answers to places that the slider passed may still come in.
    page.wait_for_function(
        "least => document.querySelector('.finding').textContent.match(/about ([0-9]+) times/)?.[1] > least",
        arg=int(re.findall(r"about (\d+) times", before[0])[0]),
    )
    assert slider.evaluate("slider => slider === document.activeElement")
    assert page.locator("details").first.evaluate("details => details.open")

    page.get_by_role("slider", name="Items, slider").evaluate(
        "slider => { slider.value = 80; slider.dispatchEvent(new Event('input', {bubbles: true})); }"
    )
    page.wait_for_function("() => document.querySelector('.finding').textContent.startsWith('With 80 items')")
    page.wait_for_function(f"() => ({POINTS})() === 18")
    assert find_faults(page) == []
    page.get_by_label("Items", exact=True).fill("3")
    page.wait_for_timeout(400)
    assert "items=80" in page.url  # what cannot be is not asked for
    assert said == []
    page.close()


def test_on_a_phone_and_in_the_dark_nothing_is_lost(browser: Browser, planned: Served) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    said = enter(page, planned)
    page.goto(f"{planned.url}/dashboard/planner?{SMALL}&live=1")
    page.wait_for_selector("[data-part=sizes] a.btn")
    for details in page.locator("details").all():
        details.evaluate("details => { details.open = true; }")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert find_faults(page) == []
    use = page.get_by_role("link", name=re.compile(r"Use \d+ items with \d ratings? each")).last
    items, each = use.get_attribute("data-items"), use.get_attribute("data-ratings")
    use.click()
    page.wait_for_function(
        "words => document.querySelector('.finding').textContent.startsWith(words)",
        arg=f"With {items} items and {each} rating",
    )
    assert page.get_by_label("Items", exact=True).input_value() == items
    assert said == []
    context.close()


def test_without_scripts_the_form_is_sent(browser: Browser, planned: Served) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    enter(page, planned)
    page.goto(f"{planned.url}/dashboard/planner")
    assert page.get_by_role("slider").count() == 0
    page.get_by_label("Items", exact=True).fill("20")
    page.get_by_label("Systems").fill("2")
    page.get_by_label("Analysis").select_option("lmm")
    page.get_by_role("button", name="Simulate").click()
    for _ in range(20):  # a busy server may send the page before there is an answer
        if "…" not in page.inner_text(".finding"):
            break
        page.reload()
    assert re.match(r"With 20 items .* about \d+ times in 100\.", page.inner_text(".finding"))
    assert page.get_by_label("Analysis").input_value() == "lmm"
    context.close()
