"""Figures: the right marks for the right systems, files that repeat, refusals in words."""

from pathlib import Path

import pandas as pd
import pytest
from matplotlib import rcParams
from matplotlib.colors import to_hex

from panelist.analysis.compare import compare_systems
from panelist.analysis.systems.comparison import Comparison
from panelist.core.errors import BadFile, BadRatings
from panelist.core.tables.ratings import read_ratings
from panelist.reports.figures import style as figures
from tests.simulated import simulate_demo

FORMULA = "rating ~ system + (1 | rater)"


@pytest.fixture(scope="module")
def compared() -> Comparison:
    return compare_systems(simulate_demo(), formula=FORMULA, model="lmm")


@pytest.mark.parametrize("ending", ["svg", "pdf", "png", "SVG"])
def test_same_numbers_give_the_same_file(compared: Comparison, tmp_path: Path, ending: str) -> None:
    first, second = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    figures.draw_systems(compared, first)
    figures.draw_systems(compared, second)
    assert first.read_bytes() == second.read_bytes()


def test_nobody_elses_settings_change(compared: Comparison, tmp_path: Path) -> None:
    before = dict(rcParams)
    figures.draw_systems(compared, tmp_path / "a.svg")
    assert dict(rcParams) == before


def test_text_stays_text_and_names_every_system_and_criterion(compared: Comparison, tmp_path: Path) -> None:
    figures.draw_systems(compared, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    for word in ("adequacy", "fluency", "prompted", "rules", "tuned", "95 % interval"):
        assert f"{word}</text>" in text


def test_names_with_dollar_signs_are_no_mathematics(tmp_path: Path) -> None:
    frame = simulate_demo().replace({"system": {"rules": "$\\frac$ & <rules>"}})
    figures.draw_systems(compare_systems(frame, formula=FORMULA, model="lmm"), tmp_path / "a.svg")
    assert "$\\frac$ &amp; &lt;rules&gt;" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_system_keeps_its_colour_whatever_the_results(compared: Comparison) -> None:
    from matplotlib.figure import Figure

    names = ["prompted", "rules", "tuned"]
    colours = []
    for criterion in compared.criteria:
        with figures._styled():
            axes = Figure().subplots()
            figures._draw_estimates(axes, criterion, names)
        colours.append([to_hex(line.get_color()) for line in axes.lines])
        heights = [line.get_ydata()[0] for line in axes.lines]  # type: ignore[index]
        assert heights == [0, 1, 2]
    assert colours[0] == colours[1] == ["#2451a9", "#e77122", "#338678"]


def test_shares_are_drawn_from_the_lowest_point_to_the_highest(tmp_path: Path) -> None:
    figures.draw_shares(read_ratings(simulate_demo()), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "fluency: 1 light to 6 dark</text>" in text


def test_sliders_have_too_many_points_for_bars(tmp_path: Path) -> None:
    table = pd.DataFrame({"system": ["a", "b"] * 10, "rating": [5.0 * k for k in range(20)]})
    with pytest.raises(BadRatings, match="20 different values"):
        figures.draw_shares(read_ratings(table), tmp_path / "a.svg")


@pytest.mark.parametrize("points", range(2, 12))
def test_every_point_has_a_colour_of_its_own_and_ink_that_can_be_read(points: int) -> None:
    colours, inks = figures._level_colours(points)
    assert len({to_hex(colour) for colour in colours}) == len(inks) == points
    assert (to_hex(inks[0]), to_hex(inks[-1])) == ("#10201f", "#ffffff")


@pytest.mark.parametrize("name", ["a.gif", "a", "absent/a.svg"])
def test_where_a_figure_cannot_go_is_said(compared: Comparison, tmp_path: Path, name: str) -> None:
    with pytest.raises(BadFile, match="figure"):
        figures.draw_systems(compared, tmp_path / name)
