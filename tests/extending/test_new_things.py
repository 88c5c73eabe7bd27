"""A new scale, coefficient and design: one file each that nothing in the package knows, to the report."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

import panelist
from docs.generate import ROOT
from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.criterion_table import from_matrix
from panelist.collection.export.tables_of_study import export_ratings
from panelist.collection.robots.fleet import Fleet, send_robots
from panelist.core.errors import BadStudy
from panelist.design.assess.balance import measure_balance
from panelist.design.simulate import simulate_ratings
from panelist.reports.methods import write_methods
from panelist.study.reading.json_schema import make_schema
from tests.collection.browsers import CHROMIUM, use_browser
from tests.registries import keep_registries
from tests.web.servers import serve_in_thread

FILES = ("stars", "neighbours", "unanimity")
STARS = """\
panelist: 1
title: Which summary is better?
outputs: outputs.csv
criteria:
  - {name: fluency, question: "How many stars for the writing?", scale: {type: stars, stars: 4}}
design: {type: lists, trials_per_rater: 4, ratings_per_output: 3}
"""
PAIRS = """\
panelist: 1
title: Which version is better?
outputs: outputs.csv
criteria:
  - {name: fluency, question: "Which reads better?", scale: {type: pairs}}
design: {type: neighbours, ratings_per_output: 2}
"""


@pytest.fixture(autouse=True)
def new_things() -> Iterator[None]:
    with keep_registries():
        for name in FILES:
            sys.modules.pop(f"tests.extending.{name}", None)
            importlib.import_module(f"tests.extending.{name}")
        yield


def write_study(folder: Path, text: str, systems: str = "ab", items: int = 4) -> Path:
    rows = [f"i{item},{system},Text {item} of {system}." for item in range(items) for system in systems]
    (folder / "outputs.csv").write_text("\n".join(["item,system,output", *rows, ""]), encoding="utf-8")
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: no program 'chromium'")
def test_a_scale_and_a_coefficient_go_from_the_study_file_to_the_report(tmp_path: Path) -> None:
    folder = write_study(tmp_path, STARS)
    with serve_in_thread(folder) as served:
        with use_browser() as browser:
            rate_all(browser, served.url)
        send_robots(served.study, served.url, Fleet(raters=5))
        plan = served.store.plan()
        ratings = export_ratings(served.store.snapshot(), served.study, plan).frame
    assert len(ratings) == 6 * 4
    assert set(ratings["rating"]) <= {1.0, 2.0, 3.0, 4.0}
    assert (ratings["rating"] == 3.0).sum() >= 4  # the rater in the browser
    measured = panelist.measure_agreement(ratings, coefficients=["unanimity", "krippendorff_alpha_ordinal"])
    assert 0 <= measured.criteria[0].coefficients[0].estimate <= 1
    analysis = panelist.analyse(served.study, ratings, resamples=20)
    assert "star rating of 4 stars, recorded as their number." in write_methods(analysis)
    panelist.write_report(analysis, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Unanimity" in page or "unanimity" in page
    panelist.write_datasheet(served.study, plan, ratings, tmp_path / "heds.json")
    assert '"1, 2, 3, 4"' in (tmp_path / "heds.json").read_text(encoding="utf-8")  # the values of 4.3.4


def rate_all(browser: Browser, url: str) -> None:
    """Give three stars on every page."""
    page = browser.new_page()
    page.goto(f"{url}/join")
    page.locator("button.primary[name=consent]").click()
    for _ in range(4):
        stars = page.locator("span.stars")
        assert stars.all_inner_texts() == ["★", "★★", "★★★", "★★★★"]
        page.keyboard.press("4")
        stars.nth(2).click()
        assert page.locator("input[type=radio]:checked").get_attribute("value") == "3"
        with page.expect_navigation():
            page.locator("#next").click()
    page.close()


def test_the_schema_and_the_messages_name_the_new_scale(tmp_path: Path) -> None:
    assert "Stars" in make_schema()["$defs"]
    with pytest.raises(BadStudy, match="should be 10 or less; found 11"):
        panelist.load_study(write_study(tmp_path, STARS.replace("stars: 4", "stars: 11")))
    with pytest.raises(BadStudy, match="Did you mean 'stars'"):
        panelist.load_study(write_study(tmp_path, STARS.replace("stars: 4", "star: 4")))
    with pytest.raises(BadStudy, match="Did you mean 'neighbours'"):
        panelist.load_study(write_study(tmp_path, STARS.replace("lists", "neighbour")))


def test_a_design_goes_from_the_study_file_to_the_methods(tmp_path: Path) -> None:
    study = panelist.load_study(write_study(tmp_path, PAIRS, systems="abc", items=6))
    plan = panelist.plan_study(study)
    pages = plan.table.groupby(["rater", "order"], observed=True)["system"]
    assert set(pages.agg(lambda systems: "".join(sorted(systems)))) == {"ab", "bc"}
    assert measure_balance(plan, study).n_pages == 2 * 2 * 6
    analysis = panelist.analyse(study, simulate_ratings(study, plan, seed=1), resamples=20)
    assert "in pairs of each system and the next one, side by side" in write_methods(analysis)


def test_the_coefficient_counts_units_without_a_dissenter() -> None:
    table = from_matrix(np.array([[1, 1, 1], [1, 1, 2], [2, 2, np.nan], [3, 3, 3]], dtype=float))
    assert COEFFICIENTS["unanimity"](table) == pytest.approx(3 / 4)


@pytest.mark.parametrize("name", [*FILES, "counts"])
def test_the_page_shows_the_file_itself(name: str) -> None:
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    assert f"```python\n{(Path(__file__).parent / f'{name}.py').read_text(encoding='utf-8')}```" in page
