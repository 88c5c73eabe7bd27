"""Journeys through the rating pages in a real browser, from consent to code."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, expect

from panelist.collection.store.operations.messages import SendMessage
from tests.journeys.conftest import shorten
from tests.journeys.riding import WIDE, KeyRider, Rider, find_faults, open_window
from tests.patience import PATIENCE
from tests.web.servers import Served, make_study, serve_in_thread

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
NARROW: dict[str, Any] = PHONE | {"viewport": {"width": 360, "height": 740}}
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}
# 200 % of a window of 1280 pixels is one of 640 with twice the pixels.
ZOOMED: dict[str, Any] = {"viewport": {"width": 640, "height": 450}, "device_scale_factor": 2}
NIGHT: dict[str, Any] = DESK | {"color_scheme": "dark"}


@pytest.mark.parametrize(
    ("template", "device"),
    [
        ("likert", DESK),
        ("vas", PHONE),
        ("binary", ZOOMED),
        ("pairs", NIGHT),
        ("preference", NARROW),
        ("best-worst", PHONE),
        ("mixed", PHONE),
        ("speech", NIGHT),
        ("speech", PHONE),
        ("chat", PHONE),
        ("chat", NIGHT),
        ("chat", ZOOMED),
    ],
    ids=[
        *(
            "likert-desk",
            "vas-phone",
            "binary-zoomed",
            "pairs-night",
            "preference-narrow",
            "best-worst-phone",
        ),
        "mixed-phone",
        *("speech-night", "speech-phone", "chat-phone", "chat-night", "chat-zoomed"),
    ],
)
def test_each_template_leads_from_consent_to_a_code(
    browser: Browser, tmp_path: Path, template: str, device: dict[str, Any]
) -> None:
    faults: dict[str, list[str]] = {}

    def look(rider: Rider) -> None:
        where = rider.where()
        assert rider.page.evaluate(WIDE) <= 0, f"{where['page']} scrolls sideways"
        if where["kind"] not in faults:
            faults[where["kind"]] = find_faults(rider.page)

    with (
        serve_in_thread(shorten(tmp_path / template, template)) as served,
        open_window(browser, served, **device) as rider,
    ):
        rider.join().ride(look)
        visit = rider.visit()
        assert rider.where()["code"] == visit.code
        assert visit.state == "finished"
        assert {"consent", "instructions", "rate", "feedback", "comments", "end"} <= set(faults)
        assert {kind: found for kind, found in faults.items() if found} == {}
        assert (rider.errors, rider.strangers) == ([], [])
        answers = [one for one in served.store.answers_after() if one.visit == visit.id]
        assert answers
        assert all(one.width == device["viewport"]["width"] for one in answers)
        assert all(one.seconds is not None and one.seconds_first is not None for one in answers)
        pages = {(one.occasion, one.page) for one in answers}
        assert pages == served.store.done_pages(visit.id)


def test_closing_the_browser_resumes_at_the_same_page_on_another_device(
    browser: Browser, likert: Served
) -> None:
    with open_window(browser, likert, **DESK) as rider:
        rider.join().ride(until="rate")
        page, link = rider.where()["page"], rider.page.url
        rider.page.locator('input[name="c1p1"]').nth(3).locator("xpath=ancestor::label").click()
        expect_saved(rider)
    with open_window(browser, likert, **PHONE) as phone:
        phone.page.goto(link)
        assert phone.where()["page"] == page
        expect(phone.page.locator('input[name="c1p1"]').nth(3)).to_be_checked()
        phone.ride()
        assert phone.where()["code"] == phone.visit().code


def expect_saved(rider: Rider) -> None:
    """Wait until the server has confirmed what was answered."""
    rider.page.wait_for_function(
        "() => !Object.keys(localStorage).some((key) => key.startsWith('panelist:'))"
    )


def test_a_lost_connection_costs_nothing(browser: Browser, likert: Served) -> None:
    with open_window(browser, likert, **DESK) as rider:
        rider.join().ride(until="rate")
        page = rider.where()["page"]
        rider.page.context.set_offline(True)
        rider.answer()
        expect(rider.page.locator("#saved")).to_contain_text("Kept on this device")
        rider.page.locator("#next").click()
        rider.page.locator("#next").click(force=True)  # and again, as people do
        assert rider.where()["page"] == page
        visit = rider.visit()
        occasion, order = map(int, page.split("-"))
        assert likert.store.visit_answers(visit.id, occasion, order) == {}
        rider.page.context.set_offline(False)
        rider.wait_past(page)
        stored = likert.store.visit_answers(visit.id, occasion, order)
        assert {name: one.revision for name, one in stored.items()} == {"c1p1": 0, "c2p1": 0}
        rider.ride()
        assert rider.where()["code"] == rider.visit().code


def test_the_whole_way_by_keyboard_alone(browser: Browser, likert: Served) -> None:
    with open_window(browser, likert, **DESK) as rider:
        rider.join()
        press = rider.page.keyboard.press
        for _ in range(60):
            where = rider.where()
            if where["kind"] == "end":
                break
            if where["kind"] == "rate":
                for digit in "44" if not where["practice"] else "45":
                    press(digit)
                press("Enter")
            else:
                walk_by_tab(rider)
            rider.page.wait_for_function(
                "here => document.querySelector('main form')?.elements.page?.value !== here",
                arg=where["page"],
            )
        assert rider.where()["code"] == rider.visit().code


@pytest.mark.parametrize("template", ["vas", "binary", "best-worst", "mixed", "chat"])
def test_every_kind_of_control_is_reached_and_used_without_a_mouse(
    browser: Browser, tmp_path: Path, template: str
) -> None:
    with (
        serve_in_thread(shorten(tmp_path / template, template)) as served,
        open_window(browser, served, KeyRider, **DESK) as rider,
    ):
        rider.join().ride(until="rate")
        rider.answer()
        rider.go_on()
        given = [one for one in served.store.answers_after() if one.visit == rider.visit().id]
        assert {one.page for one in given if one.phase == "trial"}
        assert (rider.errors, rider.strangers) == ([], [])


def test_a_graded_pair_is_answered_by_keys_and_looks_right_everywhere(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        serve_in_thread(shorten(tmp_path / "preference", "preference")) as served,
        open_window(browser, served, **DESK) as rider,
    ):
        rider.join()
        while rider.where()["kind"] != "rate":
            page = rider.where()["page"]
            walk_by_tab(rider)
            rider.wait_past(page)
        options = rider.page.locator('input[name="c1"]')
        look_at_points(rider, options)
        press = rider.page.keyboard.press
        for digit in "2-2-13452":  # two pages of practice, each with its feedback, then five that count
            page = rider.where()["page"]
            if digit == "-":
                walk_by_tab(rider)
            else:
                press(digit)
                expect(options.nth(int(digit) - 1)).to_be_checked()
                press("Enter")
            rider.wait_past(page)
        given = [one for one in served.store.answers_after() if one.visit == rider.visit().id]
        assert [one.value for one in given] == ["A1", "A1", "A2", "tie", "B1", "B2", "A1"]
        assert (rider.errors, rider.strangers) == ([], [])


def test_a_reason_is_saved_as_soon_as_it_is_written_and_once(browser: Browser, tmp_path: Path) -> None:
    with (
        serve_in_thread(shorten(tmp_path / "preference", "preference")) as served,
        open_window(browser, served, **NARROW) as rider,
    ):
        rider.join()
        while rider.where()["kind"] != "rate" or rider.where()["practice"]:
            rider.answer()
            rider.go_on()
        occasion, order = map(int, rider.where()["page"].split("-"))
        visit = rider.visit().id
        rider.page.locator('[name="c1-why"]').fill("A says when.")
        rider.page.locator('[name="c1-why"]').blur()
        expect_saved(rider)
        stored = served.store.visit_answers(visit, occasion, order)
        assert {name: one.value for name, one in stored.items()} == {"c1-why": "A says when."}
        rider.page.locator('input[value="B2"]').locator("xpath=ancestor::label").click()
        rider.go_on()
        stored = served.store.visit_answers(visit, occasion, order)
        found = {name: (one.value, one.revision) for name, one in stored.items()}
        assert found == {"c1-why": ("A says when.", 0), "c1": ("B2", 0)}
        assert rider.errors == []


def look_at_points(rider: Rider, options: Any) -> None:
    """Check that the points are in a row at a desk and in a list on a phone, light and dark, and that the two
    texts are beside each other or stacked, with nothing that axe objects to."""
    for width, across in ((1280, True), (360, False)):
        rider.page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            rider.page.emulate_media(color_scheme=scheme)
            assert find_faults(rider.page) == []
        assert rider.page.evaluate(WIDE) <= 0
        boxes = [options.nth(place).bounding_box() for place in range(5)]
        assert (len({box["y"] for box in boxes}) == 1) == across
        assert [box["x"] for box in boxes] == sorted(box["x"] for box in boxes)
        assert [box["y"] for box in boxes] == sorted(box["y"] for box in boxes)
        texts = [rider.page.locator(f'[data-output="{place}"]').bounding_box() for place in (1, 2)]
        assert all(texts)
        assert (texts[0]["y"] == texts[1]["y"]) == across  # type: ignore[index]
    rider.page.set_viewport_size({"width": 1280, "height": 900})
    text = rider.page.content().casefold()
    assert not any(f">{name}<" in text or f'"{name}"' in text for name in rider.served.study.systems)


def walk_by_tab(rider: Rider) -> None:
    """Go from control to control, answer each, and press the button that leads on."""
    for _ in range(60):
        rider.page.keyboard.press("Tab")
        at = rider.page.evaluate(
            "() => { const one = document.activeElement;"
            " return {kind: one.type ?? '', primary: one.classList.contains('primary'), on: one.checked}; }"
        )
        if at["primary"]:
            rider.page.keyboard.press("Enter")
            return
        if at["kind"] in ("checkbox", "radio") and not at["on"]:
            rider.page.keyboard.press("Space")
        if at["kind"] in ("text", "textarea"):
            rider.page.keyboard.type("7")
    raise AssertionError("no button was reached by Tab")


def test_what_is_missing_is_said_read_out_and_linked(browser: Browser, likert: Served) -> None:
    with open_window(browser, likert, **PHONE) as rider:
        rider.join().ride(until="rate")
        page = rider.where()["page"]
        rider.page.locator("form[data-page]").evaluate("(form) => { form.noValidate = true; }")
        rider.page.locator('input[name="c1p1"]').nth(2).locator("xpath=ancestor::label").click()
        rider.page.locator("#next").click()
        notice = rider.page.locator("#missing")
        expect(notice).to_contain_text("One answer is still missing")
        expect(notice).to_be_focused()
        assert find_faults(rider.page) == []
        notice.get_by_role("link").click()
        expect(rider.page.locator('input[name="c1p1"]').nth(2)).to_be_checked()
        assert rider.where()["page"] == page


def test_a_message_is_shown_once_calmly_and_as_text(browser: Browser, likert: Served) -> None:
    words = "Please take a break. <img src=x onerror=alert(1)>"
    with open_window(browser, likert, **PHONE) as rider:
        rider.join().answer()
        rider.go_on()
        likert.store.do(SendMessage(rider.visit().id, "Ada", words))
        rider.page.reload()
        notice = rider.page.get_by_role("status").filter(has_text="A note from the research team")
        expect(notice).to_contain_text(words)
        assert find_faults(rider.page) == []
        assert rider.page.evaluate(WIDE) <= 0
        rider.page.reload()
        expect(rider.page.get_by_role("heading", level=1)).to_be_visible()
        expect(notice).to_have_count(0)
        assert (rider.errors, rider.strangers) == ([], [])


def test_opening_the_link_again_goes_on_where_one_was(browser: Browser, likert: Served) -> None:
    with open_window(browser, likert, **PHONE) as rider:
        before = len(likert.store.visits())
        for _ in range(5):
            rider.join()
        assert len(likert.store.visits()) == before, "looking takes no place"
        rider.ride(until="rate")
        here, token = rider.where()["page"], rider.token
        for _ in range(3):
            rider.join()
            assert (rider.where()["page"], rider.token) == (here, token)
        assert len(likert.store.visits()) == before + 1
        assert (rider.errors, rider.strangers) == ([], [])


def test_a_page_of_another_site_takes_no_place(browser: Browser, likert: Served) -> None:
    """It has a picture with our address and a form that it sends by itself, filled in as ours would be."""
    before = len(likert.store.visits())
    field = re.search(r'name="place" value="([^"]+)"', httpx.get(f"{likert.url}/join", timeout=PATIENCE).text)
    assert field
    evil = (
        f'<img src="{likert.url}/join"><iframe src="{likert.url}/join"></iframe>'
        f'<form method="post" action="{likert.url}/join"><input name="page" value="consent">'
        f'<input name="place" value="{field[1]}"><input name="consent" value="yes"></form>'
        "<script>document.forms[0].submit()</script>"
    )
    page = browser.new_context().new_page()
    page.route("http://evil.example/**", lambda route: route.fulfill(body=evil, content_type="text/html"))
    with page.expect_response(lambda reply: reply.request.method == "POST") as sent:
        page.goto("http://evil.example/")
    assert sent.value.status == 403
    page.close()
    assert len(likert.store.visits()) == before


def test_pause_and_back_keep_what_was_answered(browser: Browser, tmp_path: Path) -> None:
    folder = make_study(
        tmp_path / "binary", "binary", back="back: true", trials_per_rater="trials_per_rater: 3"
    )
    with serve_in_thread(folder) as served, open_window(browser, served, **DESK) as rider:
        rider.join().ride(until="rate")
        first = rider.where()["page"]
        rider.answer()
        rider.page.get_by_role("button", name="Pause").click()
        expect(rider.page.get_by_role("heading", level=1)).to_have_text("Take the time you need.")
        assert find_faults(rider.page) == []
        rider.go_on()
        assert rider.where()["page"] == first
        expect(rider.page.locator('input[name="c1p1"]').last).to_be_checked()
        rider.go_on()
        rider.page.get_by_role("button", name="Back").click()
        rider.page.wait_for_function(
            "first => document.querySelector('main form')?.elements.page?.value === first", arg=first
        )
        rider.page.locator('input[name="c1p1"]').first.locator("xpath=ancestor::label").click()
        expect_saved(rider)
        visit = rider.visit()
        occasion, order = map(int, first.split("-"))
        assert served.store.visit_answers(visit.id, occasion, order)["c1p1"].revision == 1
        rider.ride()
        assert rider.where()["code"] == rider.visit().code


def test_pages_in_arabic_read_from_right_to_left(browser: Browser, tmp_path: Path) -> None:
    folder = make_study(tmp_path / "arabic", "likert", language="language: ar")
    with serve_in_thread(folder) as served, open_window(browser, served, **PHONE) as rider:
        rider.join()
        for _ in range(5):
            assert rider.page.locator("html").get_attribute("dir") == "rtl"
            assert rider.page.evaluate(WIDE) <= 0
            assert find_faults(rider.page) == []
            rider.answer()
            rider.go_on()


def test_a_line_is_not_answered_until_it_is_touched(browser: Browser, tmp_path: Path) -> None:
    with (
        serve_in_thread(make_study(tmp_path / "vas", "vas")) as served,
        open_window(browser, served, **DESK) as rider,
    ):
        rider.join()
        while rider.where()["kind"] != "rate":
            rider.answer()
            rider.go_on()
        line = rider.page.locator("input[type=range]").first
        name = line.get_attribute("data-for") or ""
        assert rider.page.locator(f'input[name="{name}"]').input_value() == ""
        line.focus()
        rider.page.keyboard.press("ArrowRight")
        value = rider.page.locator(f'input[name="{name}"]').input_value()
        assert re.fullmatch(r"\d+(\.\d)?", value)
