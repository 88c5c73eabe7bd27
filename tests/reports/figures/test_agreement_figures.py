"""Figures of reliability: the right marks, files that repeat, refusals in words."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from panelist.agreement.criterion_table import RatingTable, from_matrix, make_table
from panelist.agreement.studies.generalizability import Generalizability, study_generalizability
from panelist.agreement.studies.raters import study_raters
from panelist.core.errors import BadFile, BadRatings
from panelist.reports.figures import agreement_figures as figures
from tests.simulated import simulate_demo

Tables = list[tuple[str, RatingTable]]


@pytest.fixture(scope="module")
def tables() -> Tables:
    random = np.random.default_rng(4)
    quality = random.normal(size=(40, 1))
    rows = [np.clip(np.rint(3 + quality + random.normal(size=(40, 4))), 1, 5) for _ in range(2)]
    return [("clarity", from_matrix(rows[0])), ("fluency", from_matrix(rows[1]))]


@pytest.fixture(scope="module")
def study() -> Generalizability:
    return study_generalizability(simulate_demo(), criterion="fluency")


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_same_numbers_give_the_same_files(
    tables: Tables, study: Generalizability, tmp_path: Path, ending: str
) -> None:
    raters = study_raters(tables).criteria
    drawings: dict[str, Callable[[Path], None]] = {
        "ratings": lambda path: figures.draw_ratings(tables, path),
        "categories": lambda path: figures.draw_categories(tables, path),
        "pairs": lambda path: figures.draw_pairs(raters, "goodman_kruskal_gamma", path),
        "decisions": lambda path: figures.draw_decisions([study], path),
    }
    for name, draw in drawings.items():
        first, second = tmp_path / f"{name}-1.{ending}", tmp_path / f"{name}-2.{ending}"
        draw(first)
        draw(second)
        assert first.read_bytes() == second.read_bytes()


def test_every_judge_has_a_line_shifted_upward_a_little() -> None:
    axes = Figure().subplots()
    figures._draw_lines(axes, "x", from_matrix([[1, 1, 1], [3, 3, 3], [2, 2, 2]]))
    heights = [np.asarray(line.get_ydata()) for line in axes.lines]
    assert np.allclose(heights[0], [1, 2, 3])  # in the order of their means
    assert np.allclose(heights[1] - heights[0], 0.5 / 3)
    assert np.allclose(heights[2] - heights[0], 1 / 3)


def test_of_many_outputs_evenly_spaced_ones_are_shown_and_that_is_said() -> None:
    axes = Figure().subplots()
    random = np.random.default_rng(1)
    figures._draw_lines(axes, "x", from_matrix(random.integers(1, 6, size=(500, 12)).astype(float)))
    assert len(axes.lines) == figures.MOST_RATERS
    assert axes.get_xlabel().startswith("60 of 500 outputs")
    legend = axes.get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == "4 more not shown"


def test_bars_are_the_shares_of_the_categories_of_each_judge() -> None:
    axes = Figure().subplots()
    table = from_matrix([[1, 2], [1, 2], [1, 3], [2, 3]])
    figures._draw_rater_bars(axes, "x", table, list(table.raters))
    widths = [patch.get_width() for patch in axes.patches]  # type: ignore[attr-defined]
    assert np.allclose(widths, [0.75, 0.25, 0, 0, 0.5, 0.5])


def test_sliders_are_shown_in_fifths_of_their_range() -> None:
    axes = Figure().subplots()
    random = np.random.default_rng(2)
    table = from_matrix(random.integers(0, 101, size=(200, 2)).astype(float))
    figures._draw_rater_bars(axes, "x", table, list(table.raters))
    widths = np.array([patch.get_width() for patch in axes.patches])  # type: ignore[attr-defined]
    assert widths.shape == (10,)
    assert widths[:5].sum() == pytest.approx(1)
    assert axes.get_title(loc="left").endswith("in fifths") or axes.get_title().endswith("in fifths")


def test_matrix_writes_each_pair_and_leaves_what_is_undefined_empty() -> None:
    gap = np.nan
    table = from_matrix([[1, 1, gap], [2, 3, gap], [3, 2, gap], [4, gap, 4], [5, gap, 5], [6, gap, 6]])
    (one,) = study_raters([("x", table)], ["pearson"]).criteria
    axes = Figure().subplots()
    figures._draw_matrix(axes, one, "pearson")
    assert sorted(text.get_text() for text in axes.texts) == ["0.50", "0.50", "1.00", "1.00"]


def test_negative_correlations_have_a_colour_of_their_own() -> None:
    (one,) = study_raters([("x", from_matrix([[1, 3], [2, 2], [3, 1]]))], ["pearson"]).criteria
    axes = Figure().subplots()
    figures._draw_matrix(axes, one, "pearson")
    (image,) = axes.images
    assert to_hex(image.to_rgba(np.array([[-1.0]]))[0, 0]) == "#f3b98b"


def test_decision_curves_are_the_decisions(study: Generalizability) -> None:
    axes = Figure().subplots()
    figures._draw_growth(axes, study, most=6, named=True)
    solid = np.asarray(axes.lines[0].get_ydata())
    assert np.allclose(solid, [study.decide(item=10, rater=count).g for count in range(1, 7)])
    dashed = np.asarray(axes.lines[1].get_ydata())
    assert np.allclose(dashed, [study.decide(item=10, rater=count).phi for count in range(1, 7)])


def test_names_with_dollar_signs_are_no_mathematics(tmp_path: Path) -> None:
    table = make_table(["a", "a", "b", "b"], ["$\\frac$", "_y"] * 2, [1, 2, 3, 3])
    figures.draw_categories([("$\\x$", table)], tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "$\\frac$" in text
    assert "$\\x$" in text
    figures.draw_ratings([("$\\x$", table)], tmp_path / "b.svg")
    text = (tmp_path / "b.svg").read_text(encoding="utf-8")
    assert "$\\frac$</text>" in text
    assert "_y</text>" in text
    figures.draw_pairs(study_raters([("$\\x$", table)], ["pearson"]).criteria, "pearson", tmp_path / "c.svg")


def test_words_have_no_lines(tmp_path: Path) -> None:
    table = make_table(["a", "a", "b", "b"], ["x", "y"] * 2, ["no", "yes", "no", "no"])
    with pytest.raises(BadRatings, match="words without an order"):
        figures.draw_ratings([("x", table)], tmp_path / "a.svg")


def test_a_matrix_that_was_not_computed_cannot_be_drawn(tables: Tables, tmp_path: Path) -> None:
    with pytest.raises(BadRatings, match="no matrix of pearson"):
        figures.draw_pairs(study_raters(tables).criteria, "pearson", tmp_path / "a.svg")


@pytest.mark.parametrize("name", ["a.gif", "absent/a.svg"])
def test_where_a_figure_cannot_go_is_said(tables: Tables, tmp_path: Path, name: str) -> None:
    with pytest.raises(BadFile, match="figure"):
        figures.draw_categories(tables, tmp_path / name)
