"""Figures of power studies: they are drawn, and the same numbers give the same file."""

from pathlib import Path

import pytest

from panelist.core.errors import BadFile, PanelistError
from panelist.power.curve import PowerCurve, simulate_power
from panelist.reports.figures.power_figures import draw_power, draw_scale_models


@pytest.fixture(scope="module")
def curve() -> PowerCurve:
    return simulate_power([12, 20], [2, 3], [0.5, 1.0], ["low", "high"], 10, ("item_means", "t_test"))


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_curves_are_drawn(curve: PowerCurve, tmp_path: Path, ending: str, start: bytes) -> None:
    path = tmp_path / f"power.{ending}"
    draw_power(curve, path)
    assert path.read_bytes().startswith(start)
    again = tmp_path / f"again.{ending}"
    draw_power(curve, again)
    assert again.read_bytes() == path.read_bytes()


def test_panels_and_lines_are_those_asked_for(curve: PowerCurve, tmp_path: Path) -> None:
    path = tmp_path / "power.svg"
    draw_power(curve, path, presets=["low"], models=["t_test"])
    text = path.read_text("utf-8")
    assert "Low variance, 2 ratings an output" in text
    assert "High variance" not in text
    assert "t_test" in text
    assert "item_means" not in text


def test_one_effect_is_drawn_over_items(tmp_path: Path) -> None:
    path = tmp_path / "power.svg"
    draw_power(simulate_power([12, 20], 2, 0.5, sims=10, models="t_test"), path)
    text = path.read_text("utf-8")
    assert "Items" in text
    assert "threshold distances" not in text


def test_what_was_not_simulated_cannot_be_drawn(curve: PowerCurve, tmp_path: Path) -> None:
    with pytest.raises(PanelistError, match="no cell to draw"):
        draw_power(curve, tmp_path / "power.svg", presets=["general"])
    with pytest.raises(BadFile, match="svg"):
        draw_power(curve, tmp_path / "power.gif")


def test_the_two_models_of_a_scale_are_drawn(tmp_path: Path) -> None:
    draw_scale_models(tmp_path / "figure-1.svg")
    text = (tmp_path / "figure-1.svg").read_text("utf-8")
    assert "Ordinal model: thresholds" in text
    assert "Latent judgement" in text
