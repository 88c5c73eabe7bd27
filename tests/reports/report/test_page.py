"""How the page reads: contents, axes that panels share, sections that say something, one way with signs."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.analyse import analyse
from panelist.analysis.analysis_result import Analysis
from panelist.analysis.choices.wins import WinTable
from panelist.core.display.formats import TEXT, Format
from panelist.core.display.result import Table
from panelist.reports.methods import write_methods
from panelist.reports.report.contents import SECTIONS, explain_missing, list_sections
from panelist.reports.report.estimate_charts import Chart, share_axes
from panelist.reports.report.page_charts import Mark, draw_estimates, find_axis
from panelist.reports.report.report_tables import draw_html
from panelist.reports.report.typography import typeset
from panelist.reports.report.write_report import write_report
from panelist.study.reading.load import load_study
from tests.reports.pages import find_bare_signs, read_page
from tests.simulated import simulate_demo
from tests.study.studies import PLAIN, write_study

FEW = 50
EXAMPLE = Path(__file__).parents[3] / "src/panelist/study/example"


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyse(None, simulate_demo().replace({"system": {"rules": "gPT-2 xl"}}), resamples=FEW)


@pytest.fixture(scope="module")
def page(analysis: Analysis, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(analysis, path, files=False)
    return path.read_text("utf-8")


def compare_pairs() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = []
    for trial in range(60):
        best = rng.integers(2)
        for place, system in enumerate(("gpt2", "lm")):
            choice = "best" if place == best else ""
            rows.append((f"r{trial % 6}", f"i{trial // 6}", "fluency", f"t{trial}", system, choice))
    return pd.DataFrame(rows, columns=["rater", "item", "criterion", "trial", "system", "choice"])


def test_the_contents_lead_to_every_section_and_to_no_other(page: str) -> None:
    links = re.findall(r'<li><a href="#([a-z]+)">([^<]+)</a></li>', page)
    headed = re.findall(r'<h2 id="([a-z]+)">([^<]+)</h2>', page)
    assert links == headed
    assert dict(links).items() <= SECTIONS.items()
    assert len(links) > 8


def test_nothing_is_said_of_what_was_set_aside_where_nothing_was(page: str, analysis: Analysis) -> None:
    assert 'id="aside"' not in page
    assert ("What was set aside", analysis.exclusions.sentence()) in explain_missing(
        analysis, list_sections(analysis)
    )
    assert "Not shown" in page


def test_a_report_of_choices_has_no_sections_on_ratings(tmp_path: Path) -> None:
    write_report(analyse(None, compare_pairs(), resamples=FEW), tmp_path / "report.html", files=False)
    text = (tmp_path / "report.html").read_text("utf-8")
    read_page(text)
    for name in ("spread", "checks", "both", "levels"):
        assert f'id="{name}"' not in text
    assert text.count("this part is for ratings") == 1  # in the appendix, for all of them together


def test_systems_are_called_as_the_data_call_them(page: str, tmp_path: Path) -> None:
    assert "gPT-2 xl" in page
    assert "GPT-2 xl" not in page
    ones = np.ones((2, 2), dtype=np.int64)
    wins = WinTable("fluency", ("gpt2", "lm"), ones, ones, ones[0], ones[0], ones[0])
    drawn = draw_html(wins.table())
    assert ">gpt2</th>" in drawn
    assert ">lm</th>" in drawn
    assert ">Over</th>" in drawn
    named = Table("t", ("system", "n"), [("gpt2", 1)], note="gpt2 was never chosen")
    assert "gpt2 was never chosen" in draw_html(named)


def test_charts_with_the_same_label_have_the_same_axis() -> None:
    def chart(label: str, low: float, high: float) -> Chart:
        return Chart((Mark("a", (low + high) / 2, low, high),), label, "", (1.0, 5.0))

    same = "Expected rating, 1 to 5"
    charts = [chart(same, 1.4, 2.2), chart(same, 3.9, 5.3), chart("Latent scale", -1.0, 1.0)]
    axes = share_axes(charts)
    assert set(axes) == {same, "Latent scale"}
    assert axes[same].start <= 1.4
    assert axes[same].end == 5.0  # the scale ends there, whatever an interval says
    drawn = [draw_estimates(one.marks, ("a",), one.label, axes[one.label], 0.95) for one in charts[:2]]
    ticks = [re.findall(r'<text x="[\d.]+%" y="16"[^>]*>([^<]+)<', text) for text in drawn]
    assert ticks[0] == ticks[1]
    assert all(float(x) <= 100 for text in drawn for x in re.findall(r'x[12]?="(-?[\d.]+)%"', text))


@pytest.mark.parametrize(("low", "high"), [(0.02, 1.0), (0.55, 1.31), (-0.2, 0.97), (0.48, 1.04)])
def test_an_axis_of_shares_stays_between_nought_and_one(low: float, high: float) -> None:
    axis = find_axis(low, high, (0.0, 1.0))
    assert 0.0 <= axis.start < axis.end <= 1.0
    assert axis.start <= axis.clip(low)
    assert axis.clip(high) <= axis.end
    assert len(axis.ticks) >= 2


def test_the_page_has_one_minus_sign_and_one_per_cent_sign(page: str) -> None:
    assert find_bare_signs(page) == []
    assert find_bare_signs("<p>by -1.5</p><p>80% of them</p>") == ["-1", "0%"]
    assert "\N{MINUS SIGN}0." in page
    assert typeset("by -1.5 (-2 to 3), r-2, 5-7, 80%") == "by −1.5 (−2 to 3), r-2, 5-7, 80 %"


def test_wide_matrices_scroll_beside_their_names() -> None:
    names = [str(place) for place in range(1, 13)]
    right = dict.fromkeys(names, Format(TEXT.write, "right"))
    rows = [("a", *range(1000, 1012)), ("b", *["<.001"] * 12)]
    drawn = draw_html(Table("Differences", ("system", *names), rows, right))
    assert 'class="table dense matrix"' in drawn
    assert ">1,011</td>" in drawn
    assert ">&lt; 0.001</td>" in drawn  # as in every other table
    assert "matrix" not in draw_html(Table("t", ("system", "n"), [("a", 1)]))


def test_an_empty_corner_is_no_header() -> None:
    """A header that says nothing is a barrier to those who hear the page."""
    assert '<tr><td></td><th scope="col"' in draw_html(Table("t", ("", "n"), [("a", 1)]))


def test_methods_say_who_rated_how_they_were_paid_prepared_and_checked() -> None:
    study = load_study(EXAMPLE)
    text = write_methods(analyse(study, simulate_demo(), resamples=FEW))
    assert "The raters are described as “Adults who read English daily”." in text
    assert "They were recruited as follows: “Colleagues and friends, by a link" in text
    assert "They were paid at least 12.60 GBP an hour." in text
    assert "They practised on 2 items with feedback, of which 1 had to be right within 2 attempts" in text
    assert (
        "Attention was checked by a page that said which answer to give and 2 pages shown again (answers at "
        "most 2 points apart); raters who failed more than 1 of these checks were flagged"
    ) in text
    assert re.search(r"Design, rating pages and analysis are by Panelist [\d.]+\S* under Python 3\.\d+", text)
    for sentence in re.split(r"(?<=[.!?”])\s+(?=[A-Z“])", text):
        assert sentence[-1] in ".?”", sentence


def test_the_appendix_names_only_what_was_set(page: str) -> None:
    settings = re.search(r"<dt>Settings</dt><dd>(.*?)</dd>", page)
    assert settings is not None
    assert settings[1].startswith("model auto, link probit, formula maximal, adjust tukey")
    assert settings[1].count("maximal") == 1
    assert "{}" not in settings[1]
    assert "()" not in settings[1]


def test_notes_call_short_columns_as_their_heads_do(page: str) -> None:
    assert "CLMM: latent units; LMM: points of the scale." in page
    assert "Share: of all variance; ICC: of the variance" in page


def _simulate_unlike(criterion: str, systems: tuple[str, ...]) -> pd.DataFrame:
    """Ratings on five points; the second system's differ twice as much, by the same rater and item."""
    rng = np.random.default_rng(5)
    rows = [
        (f"r{r:02}", f"i{i:02}", systems[s], (1.0 + 1.2 * s) * rng.normal())
        for r in range(8)
        for i in range(14)
        for s in (0, 1)
    ]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system", "rating"])
    cut = np.digitize(frame["rating"], [-1.3, -0.4, 0.4, 1.3]) + 1
    return frame.assign(rating=cut, criterion=criterion)


def test_a_departure_from_proportional_odds_names_its_remedy_which_a_study_can_allow(tmp_path: Path) -> None:
    said = {}
    for name, allowed in (("plain", ""), ("allowed", "analysis: {allow: [scale, nominal]}\n")):
        (tmp_path / name).mkdir()
        study = load_study(write_study(tmp_path / name, PLAIN + allowed))
        rows = _simulate_unlike(study.criteria[0].name, study.systems)
        write_report(analyse(study, rows, resamples=FEW), tmp_path / f"{name}.html", files=False)
        text = (tmp_path / f"{name}.html").read_text("utf-8")
        said[name] = " ".join(" ".join(read_page(text).texts).split())
    assert "do not shift all thresholds alike" in said["plain"]
    assert "A spread for each system explains it (LRT" in said["plain"]
    assert "compare with --allow scale. On" in said["plain"]
    assert "A linear model is no remedy." in said["plain"]
    assert "raters agree less about" in said["allowed"]
    assert "A single rating of a system with more spread says less about it" in said["allowed"]
    assert "--allow" not in said["allowed"]
