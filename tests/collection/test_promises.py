"""What pages promise and say at the end: counts that hold, and only what is true of the person who reads."""

import re
from pathlib import Path
from typing import Any

import pytest

from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.briefing_pages import make_end_page
from panelist.collection.pages.models import EndPage, PracticePage, RatingPage
from panelist.collection.pages.translations import load_words
from panelist.collection.session.submit import place_breaks
from panelist.collection.session.visit_flow import next_page
from panelist.collection.store.operations.places import TIMED_OUT
from panelist.design.make import plan_study
from panelist.study.reading.load import load_study
from tests.collection.raters import TEMPLATE_NAMES, fill, load_template, make_study, render, walk_through

SOURCES = Path(__file__).parents[2]
STUDIES_WE_SHIP = sorted(
    path.relative_to(SOURCES).as_posix()
    for pattern in (
        "src/panelist/study/*/study.yaml",
        "src/panelist/study/*/*/study.yaml",
        "examples/*/study*.yaml",
    )
    for path in SOURCES.glob(pattern)
)


@pytest.mark.parametrize("name", STUDIES_WE_SHIP)
def test_what_a_study_of_ours_promises_is_what_its_pages_count(name: str) -> None:
    study = load_study(SOURCES / name)
    booklet = Booklet(study, plan_study(study))
    sitting = booklet.agenda.sitting(booklet.agenda.places[0], 1)
    information = study.file.information
    said = {int(number) for number in re.findall(r"\b\d+\b", information.text)}
    assert said <= {len(sitting.counted), len(sitting.practice), len(study.items)}, information.text
    assert not said or len(sitting.counted) in said
    minutes = booklet.minutes(None)
    times = " ".join(fact.text for fact in information.facts if fact.label == "Time")
    assert minutes is None or f"About {minutes} minutes" in times
    breaks = study.file.breaks
    stops = place_breaks(len(sitting.counted), breaks.every) if breaks else frozenset()
    assert ("halfway" in times) <= (len(stops) == 1)
    assert ("Halfway" in (breaks.text if breaks else "")) <= (len(stops) == 1)


@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_practice_shows_as_many_texts_as_the_ratings(name: str) -> None:
    walk = walk_through(load_template(name))
    practice, trial = walk.go_to(PracticePage), walk.go_to(RatingPage)
    assert isinstance(practice, RatingPage)
    assert isinstance(trial, RatingPage)
    assert len(practice.outputs) == len(trial.outputs)


def screened(cause: str, **file: Any) -> tuple[EndPage, str]:
    """Return the page of somebody who was screened out for a cause, and what it says."""
    item = {"output": "Try", "right": {"ease": ["1"]}}
    sections: dict[str, Any] = {
        "practice": {"practice": {"items": [item], "pass_mark": 1, "attempts": 1}},
        "checks": {
            "checks": {
                "items": [{"kind": "instructed", "text": "Choose 1.", "answers": {"ease": "1"}}],
                "allowed": 0,
                "then": "screen out",
            }
        },
        "comprehension": {
            "comprehension": {
                "questions": [{"question": "Which?", "options": ["a", "b"], "right": ["a"]}],
                "attempts": 2,
            }
        },
    }
    walk = walk_through(make_study(**sections[cause], **file))
    for _ in range(20):
        page = walk.look()
        if isinstance(page, EndPage):
            return page, render(page, walk.booklet)
        form = fill(page)
        wrong = {name: "3" for name in form if re.fullmatch(r"c\d+p\d+", name)}
        asked = {one.name: "b" for one in getattr(page, "questions", ()) if hasattr(one, "options")}
        walk.send({**form, **wrong, **asked}, 10.0)
    raise AssertionError("nobody was screened out")


@pytest.mark.parametrize("cause", ["practice", "comprehension", "checks"])
def test_who_is_screened_out_reads_why_and_gets_a_code(cause: str) -> None:
    page, html = screened(cause)
    words = load_words("en")
    assert words.say(f"screened_out_{cause}") in html
    assert re.search(r'<code class="code" id="code" dir="ltr">[A-Z0-9]{8}</code>', html)
    assert words.say("code_other") in html
    assert "pay_ask" not in page.lines  # nobody was promised anything


def test_who_is_screened_out_reads_what_is_paid() -> None:
    words = load_words("en")
    pay = {"currency": "GBP", "hourly": "12.60"}
    assert words.say("pay_ask") in screened("practice", pay=pay)[1]
    recruiting = {"panel": "prolific"}
    assert words.say("pay_return") in screened("practice", pay=pay, recruiting=recruiting)[1]
    paid = {**recruiting, "screen_out": {"reward": "0.5"}}
    assert "You are paid 0.50 GBP for your time." in screened("practice", pay=pay, recruiting=paid)[1]
    german = screened("practice", pay=pay, recruiting=paid, language="de")[1]
    assert "Sie bekommen 0,50 GBP für Ihre Zeit." in german


@pytest.mark.parametrize(("headline", "title"), [("", "A study"), ("Help us", "Help us · A study")])
def test_the_tab_names_the_study_once(headline: str, title: str) -> None:
    walk = walk_through(make_study(title="A study", information={"text": "Read.", "headline": headline}))
    assert f"<title>{title}</title>" in render(walk.look(), walk.booklet)


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_only_who_has_answered_reads_that_answers_are_saved(state: str) -> None:
    walk = walk_through(make_study(information={"consent": ["I agree."]}, pay={"hourly": "12.60"}))
    saved = load_words("en").say("so_far_saved")
    new = next_page(walk.turn(), state)
    assert saved not in render(new, walk.booklet)
    walk.go_on()
    known = render(next_page(walk.turn(), state), walk.booklet)
    assert saved in known
    assert (load_words("en").say("pay_ask") in known) == (state == "closed")


def test_whose_place_was_passed_on_reads_what_is_true_of_them() -> None:
    booklet = walk_through(make_study()).booklet
    late = render(make_end_page(booklet, "released", reason=TIMED_OUT), booklet)
    by_hand = render(make_end_page(booklet, "released", reason="The answers were given twice"), booklet)
    words = load_words("en").say("released_late")
    assert words in late
    assert words not in by_hand


@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_the_words_of_a_break_stay_true_when_a_template_is_made_longer(name: str) -> None:
    breaks = load_template(name).file.breaks
    assert breaks is None or "half" not in breaks.text.lower(), "longer studies have more than one break"
