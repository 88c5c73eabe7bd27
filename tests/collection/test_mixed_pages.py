"""Pages of studies that compare outputs and rate each of them: what they ask, what is stored and exported."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from panelist.collection.export.tables_of_study import export_ratings
from panelist.collection.monitor.answer_lines import tell_answers
from panelist.collection.pages.models import FeedbackPage, PracticePage, RatingPage
from panelist.collection.robots.fleet import Fleet, send_robots
from panelist.collection.robots.robot import Habits
from panelist.collection.store.records import StoredAnswer
from panelist.web.rendering import find_where
from tests.collection.browsers import CHROMIUM, Windows
from tests.collection.raters import DESIGNS, VERBAL, Walk, load_template, make_study, render, walk_through
from tests.collection.raters import SCALES as ALL_SCALES
from tests.collection.small_site import SmallSite
from tests.web.servers import serve_in_thread

SCALES: dict[str, dict[str, Any]] = {
    "ease": VERBAL,
    "right": {"type": "binary", "labels": ["yes", "no"]},
    "preference": {"type": "pairs", "ties": True},
}
PAIRS: dict[str, Any] = {"type": "pairs", "trials_per_rater": 6, "ratings_per_output": 2}


def mixed(**more: Any) -> Walk:
    design = PAIRS | more.pop("design", {})
    return walk_through(make_study(SCALES, design, **more))


def trial(walk: Walk) -> RatingPage:
    page = walk.go_to(RatingPage)
    assert isinstance(page, RatingPage)
    return page


def test_one_page_asks_for_each_output_first_and_then_which_is_better() -> None:
    walk = mixed()
    page = trial(walk)
    assert [(asked.name, asked.label) for asked in page.asked] == [
        ("c1p1", "Text A"),
        ("c2p1", "Text A"),
        ("c1p2", "Text B"),
        ("c2p2", "Text B"),
        ("c3", ""),
    ]
    assert [output.label for output in page.outputs] == ["Text A", "Text B"]
    assert find_where(page, walk.booklet.words).text == "Page 1 of 6"
    html = render(page, walk.booklet)
    assert html.index("Text A") < html.index('name="c1p1"') < html.index("Text B") < html.index('name="c1p2"')
    assert html.index('name="c2p2"') < html.index('name="c3"')
    assert "beside.css" in html


def test_an_answer_that_is_missing_is_named_by_its_output() -> None:
    walk = mixed()
    page = trial(walk)
    outcome = walk.send({"page": page.id, "c1p1": "1", "c2p1": "1", "c1p2": "2", "c3": "tie"})
    assert isinstance(outcome.again, RatingPage)
    (missing,) = outcome.again.missing
    assert (missing.label, missing.question.heading) == ("Text B", "Right")


def test_outputs_rated_alone_stand_on_pages_of_their_own_and_all_pages_are_counted_alike() -> None:
    walk = mixed(design={"rated": "alone"})
    seen = []
    for _ in range(3):
        page = trial(walk)
        seen.append((page.layout, [asked.name for asked in page.asked], len(page.outputs)))
        walk.send({"page": page.id} | {asked.name: "1" for asked in page.asked})
    assert seen == [("one", ["c1p1", "c2p1"], 1), ("one", ["c1p1", "c2p1"], 1), ("compare", ["c3"], 2)]
    assert find_where(trial(walk), walk.booklet.words).text == "Page 4 of 18"


def test_practice_and_examples_name_outputs_as_the_pages_do() -> None:
    walk = walk_through(load_template("mixed"))
    example = next(page for page in iter_pages(walk) if page.template == "examples")
    told = [label for label, _ in example.examples[0].answers]
    assert told[:2] == ["Helpfulness, Answer A", "Helpfulness, Answer B"]
    practice = walk.go_to(PracticePage)
    form = {"c1p1": "1", "c2p1": "0", "c1p2": "5", "c2p2": "1", "c3": "1"}
    walk.send({"page": practice.id} | form)
    feedback = walk.look()
    assert isinstance(feedback, FeedbackPage)
    assert [(mark.label, mark.given == mark.ours[0]) for mark in feedback.marks] == [
        ("Answer A", True),
        ("Answer A", True),
        ("Answer B", True),
        ("Answer B", True),
        ("", False),
    ]


def iter_pages(walk: Walk) -> Iterator[Any]:
    """Return the pages up to the first practice page."""
    walk.go_to(PracticePage)
    return iter(walk.pages)


@pytest.mark.parametrize("rated", ["side by side", "alone"])
@pytest.mark.parametrize("scale", ["best-worst", "ranking", "choose-one"])
def test_every_comparison_goes_with_ratings_to_the_end(scale: str, rated: str) -> None:
    scales = {"ease": VERBAL, "judged": ALL_SCALES[scale]}
    walk = walk_through(make_study(scales, DESIGNS[scale] | {"rated": rated}))
    walk.finish()
    rated_pages = [page for page in walk.pages if isinstance(page, RatingPage)]
    shown = {len(page.outputs) for page in rated_pages if page.asked[-1].name == "c2"}
    assert len(shown) == 1
    many = shown.pop()
    assert len(rated_pages) == 6 * (1 if rated == "side by side" else 1 + many)
    assert all("c2" in render(page, walk.booklet) for page in rated_pages if page.asked[-1].name == "c2")


def test_a_review_says_which_output_an_answer_is_about() -> None:
    booklet = mixed().booklet
    empty: dict[str, Any] = dict.fromkeys(("seconds_first", "seconds", "raw", "width"))
    about: dict[str, Any] = {
        "visit": 1,
        "occasion": 1,
        "page": 1,
        "item": "item0",
        "phase": "trial",
        "check": "",
    }
    about |= {"revision": 0, "key": "k", "given": 0.0, "changes": 0, "late": False, **empty}
    rows = [("c1p2", "ease", "system0", 2, "3"), ("c3", "preference", "", 0, "2")]
    answers = [
        StoredAnswer(
            id=n, name=name, criterion=criterion, system=system, position=place, value=value, **about
        )
        for n, (name, criterion, system, place, value) in enumerate(rows)
    ]
    told = [(line.criterion, line.words) for line in tell_answers(answers, booklet, "r001")]
    assert told == [("Ease, Text B", "3 Good"), ("Preference", "B is better")]


STUDY = """\
title: Both kinds
criteria:
  - {name: ease, question: "How easy?", scale: {type: likert, points: 5}}
  - {name: preference, question: "Which?", scale: {type: pairs, ties: true}}
design: {type: pairs, ratings_per_output: 2, trials_per_rater: 4, rated: RATED}
checks:
  items:
    - {kind: instructed, text: Choose 2 and no difference., answers: {ease: "2", preference: tie}}
    - {kind: repeat, distance: 2}
"""


@pytest.mark.parametrize("rated", ["side by side", "alone"])
def test_both_kinds_are_exported_each_in_its_own_columns(tmp_path: Path, rated: str) -> None:
    (tmp_path / "study.yaml").write_text(STUDY.replace("RATED", rated), encoding="utf-8")
    rows = [f"i{item},{system},Text {item} by maker {system}" for item in range(4) for system in "abc"]
    (tmp_path / "outputs.csv").write_text("\n".join(["item,system,output", *rows, ""]), encoding="utf-8")
    with serve_in_thread(tmp_path, joins_a_minute=0) as served:
        plan = served.store.plan()
        fleet = Fleet(raters=len(plan.raters), habits=Habits(), careless=0.0)
        record = send_robots(served.study, served.url, fleet)
        assert record.ends == {"finished": len(plan.raters)}
        assert (record.refused, record.faults) == ([], {})
        table = export_ratings(served.store.snapshot(), served.study, plan).frame
    trials = table[(table["phase"] == "trial").to_numpy()]
    rated_rows = trials[(trials["criterion"] == "ease").to_numpy()]
    assert (rated_rows.groupby(["item", "system"]).size() == 4).all()  # two pairs of each output, twice
    assert rated_rows["rating"].notna().all()
    assert (rated_rows["trial"] == "").all()
    assert (rated_rows["choice"] == "").all()
    compared = trials[(trials["criterion"] == "preference").to_numpy()]
    assert compared["rating"].isna().all()
    sizes = compared.groupby("trial").size()
    assert (len(sizes), set(sizes)) == (len(plan.raters) * 4, {2})
    ends = compared.groupby("trial").agg(choice=("choice", "max"), answer=("answer", "max"))
    assert ((ends["choice"] == "worst") ^ (ends["answer"] == "tie")).all()
    checks = table[(table["check"] == "instructed-1").to_numpy()]
    assert set(checks.loc[checks["criterion"] == "ease", "rating"].dropna()) <= {2}


needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


@pytest.fixture
def site() -> Iterator[SmallSite]:
    long = "It goes on and on. " * 12
    walk = walk_through(
        make_study(SCALES, PAIRS, lambda item, system: f"Text {item}, {system}. {long if system < 2 else ''}")
    )
    served = SmallSite(walk)
    yield served
    served.close()


def find_tops(page: Page, name: str) -> tuple[dict[str, float], dict[str, float]]:
    boxes = [page.locator(f"input[name={name}p{place}]").first.bounding_box() for place in (1, 2)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    return boxes[0], boxes[1]  # type: ignore[return-value]


@needs_browser
def test_on_a_desk_the_questions_of_both_outputs_are_level_and_a_phone_folds_them(
    windows: Windows, site: SmallSite
) -> None:
    page = windows.open(viewport={"width": 1280, "height": 900})
    page.goto(site.url)
    left, right = find_tops(page, "c1")
    assert left["y"] == pytest.approx(right["y"], abs=1)
    assert left["x"] < right["x"]
    page.set_viewport_size({"width": 390, "height": 844})
    above, below = find_tops(page, "c1")
    assert above["x"] == pytest.approx(below["x"], abs=1)
    assert above["y"] < below["y"]
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@needs_browser
def test_a_page_of_both_kinds_is_answered_by_keys_alone(windows: Windows, site: SmallSite) -> None:
    page = windows.open(viewport={"width": 1280, "height": 900})
    page.goto(site.url)
    for digit in "31213":  # easy and right of A, then of B, then B is better
        page.keyboard.press(digit)
    expect(page.locator("#next")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#where")).to_have_text("Page 2 of 6")
    (form,) = site.forms
    assert {name: form[name] for name in ("c1p1", "c2p1", "c1p2", "c2p2", "c3")} == {
        "c1p1": "3",
        "c2p1": "1",
        "c1p2": "2",
        "c2p2": "1",
        "c3": "2",
    }
