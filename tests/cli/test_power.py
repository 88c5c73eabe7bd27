"""``panelist power`` and ``panelist size``: what they print, write and say about bad input."""

import json
from pathlib import Path

import pandas as pd
import pytest

from panelist.power.layouts.base import Sampling
from tests.cli.commands import call

Capture = pytest.CaptureFixture[str]
SMALL = ("--items", "12,16", "--ratings-per-item", "2", "--sims", "20", "--models", "t_test,item_means")


def test_json_is_one_object_with_the_promised_keys(capsys: Capture) -> None:
    done = call(
        capsys, "power", "--preset", "general", "--items", "12,16", "--ratings-per-item", "2,3", "--effects",
        "0.25,0.5", "--sims", "6", "--models", "clmm,lmm", "--seed", "3", "--json",
    )  # fmt: skip
    found = json.loads(done.out)
    assert done.code == 0
    assert {"cells", "seconds", "fits"} <= set(found)
    keys = {"model", "preset", "items", "ratings_per_item", "raters", "effect", "sims", "failed"}
    assert len(found["cells"]) == 16
    for cell in found["cells"]:
        assert keys | {"power", "low", "high"} <= set(cell)
        assert 0 <= cell["low"] <= cell["power"] <= cell["high"] <= 1
    assert found["fits"] == 96


def test_a_null_effect_warns_of_tests_that_are_none(capsys: Capture) -> None:
    done = call(capsys, "power", *SMALL, "--effects", "0")
    assert done.code == 0
    assert "Type I error" in done.out
    assert "t_test takes no account of differences between raters and items" in " ".join(done.out.split())


def test_figure_and_tables_are_written(capsys: Capture, tmp_path: Path) -> None:
    for name in ("power.csv", "power.tex"):
        done = call(
            capsys,
            "power",
            *SMALL,
            "--effects",
            "0.5,1",
            "--figure",
            tmp_path / "f.svg",
            "--table",
            tmp_path / name,
        )
        assert done.code == 0
        assert name in done.err
    table = pd.read_csv(tmp_path / "power.csv")
    assert len(table) == 8
    assert set(table["model"]) == {"t_test", "item_means"}
    assert r"\toprule" in (tmp_path / "power.tex").read_text("utf-8")
    assert (tmp_path / "f.svg").read_bytes().startswith(b"<?xml")


def test_a_journal_is_gone_on_with_and_another_refused(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    first = call(capsys, "power", *SMALL, "--journal", path, "--json")
    again = call(capsys, "power", *SMALL, "--journal", path, "--json")
    assert json.loads(first.out)["cells"] == json.loads(again.out)["cells"]
    other = call(capsys, "power", *SMALL, "--journal", path, "--seed", "9")
    assert (other.code, other.out) == (2, "")
    assert "another grid" in other.err


def test_a_pilot_is_simulated_from(capsys: Capture, ratings: Path) -> None:
    options = ("--pilot", ratings, "--criterion", "fluency", "--items", "15", "--sims", "10")
    done = call(capsys, "power", *options, "--models", "item_means", "--uncertain", "--json")
    (cell,) = json.loads(done.out)["cells"]
    assert (cell["preset"], len(cell["pairs"])) == ("pilot", 3)


def test_a_study_gives_design_and_scale(capsys: Capture, tmp_path: Path) -> None:
    assert call(capsys, "init", tmp_path / "study", "--template", "likert").code == 0
    few = ("--sims", "10", "--models", "item_means", "--effects", "1")
    done = call(capsys, "power", "--study", tmp_path / "study", *few, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["cells"][0]["raters"] > 1
    assert call(capsys, "init", tmp_path / "pairs", "--template", "pairs").code == 0
    done = call(capsys, "power", "--study", tmp_path / "pairs", "--sims", "10", "--effects", "1", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["cells"][0]["model"] == "pairs_graded"


def test_cells_count_how_their_data_sets_were_analysed(capsys: Capture) -> None:
    small = ("--items", "12", "--raters", "6", "--effects", "0", "--sims", "20", "--models", "clmm", "--json")
    (usual,) = json.loads(call(capsys, "power", *small).out)["cells"]
    assert usual["smaller"] > 0
    assert (usual["separated"], usual["led_by_linear"]) == (0, 0)
    formula = ("--formula", "rating ~ system + (1 | rater) + (1 | item)")
    (exact,) = json.loads(call(capsys, "power", *small, *formula).out)["cells"]
    assert exact["smaller"] == 0
    (normal,) = json.loads(call(capsys, "power", *small, *formula, "--test", "z").out)["cells"]
    assert normal["width"] < exact["width"]


def test_sliders_are_read_by_the_linear_model(capsys: Capture) -> None:
    done = call(
        capsys, "power", "--scale", "slider", "--items", "12", "--effects", "1", "--sims", "5", "--json"
    )
    assert [cell["model"] for cell in json.loads(done.out)["cells"]] == ["lmm"]


def test_the_paper_is_one_command(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("panelist.power.paper.ITEMS", (10, 20))
    monkeypatch.setattr("panelist.power.paper.MODELS", ("clmm", "lmm"))
    done = call(capsys, "power", "paper", "--sims", "2", "--output", tmp_path / "paper", "--json")
    assert done.code == 0, done.err
    assert len(json.loads(done.out)["cells"]) == 5 * 2 * 2 * 4 * 2
    names = {path.name for path in (tmp_path / "paper").iterdir()}
    figures = {f"figure-{number}.{ending}" for number in (1, 2, 3) for ending in ("svg", "pdf")}
    assert names == figures | {"power.csv", "power.tex", "journal.jsonl"}


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--sims", "0"], "1 or more"),
        (["--items", "50", "--outputs-per-rater", "60"], "at most 50"),
        (["--raters", "2"], "at least"),
        (["--thresholds", "0,-1"], "rise"),
        (["--rater-sd", "-1,0.5"], "0 or more"),
        (["--rater-sd", "1"], "two standard deviations"),
        (["--preset", "genral"], "Did you mean 'general'?"),
        (["--models", "clmn"], "clmm"),
        (["--scale", "slider", "--models", "clmm"], "cannot read slider"),
        (["--scale", "many"], "number of points"),
        (["--scale", "1"], "from 2 to"),
        (["--effects", "x"], "numbers"),
        (["--items", "1.5"], "whole numbers"),
        (["--engine", "ray"], "tcp://"),
        (["--uncertain"], "--pilot"),
        (["--test", "F"], "t or z"),
        (["--as-released", "--items", "55"], "10 divides"),
        (["--as-released", "--items", "50", "--systems", "3"], "two systems"),
        (["--figure", "f.gif"], ".svg"),
        (["--table", "f.docx"], ".csv"),
    ],
)
def test_bad_input_is_one_message(capsys: Capture, arguments: list[str], part: str) -> None:
    done = call(capsys, "power", *arguments)
    assert (done.code, done.out) == (2, "")
    assert part in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("column", ["system", "rater"])
def test_a_pilot_of_one_is_refused(capsys: Capture, tmp_path: Path, column: str) -> None:
    layout = Sampling(10, 2).lay_out()
    path = tmp_path / "pilot.csv"
    layout.make_frame((layout.item + layout.rater) % 5 + 1).assign(**{column: "only"}).to_csv(
        path, index=False
    )
    done = call(capsys, "power", "--pilot", path)
    assert (done.code, done.out) == (2, "")
    assert f"at least 2 {column}s" in done.err


def test_size_finds_a_design_and_its_cost(capsys: Capture, tmp_path: Path) -> None:
    done = call(
        capsys, "size", "--effect", "1", "--model", "item_means", "--ratings-per-item", "2,5", "--sims", "60",
        "--pay-per-hour", "12", "--minutes-per-rating", "0.5", "--figure", tmp_path / "s.svg", "--json",
    )  # fmt: skip
    found = json.loads(done.out)
    assert done.code == 0
    assert found["best"]["cost"] > 0
    assert found["confirmed"]["power"] >= 0.8
    assert len(found["options"]) == 2
    assert (tmp_path / "s.svg").exists()


def test_size_says_no_where_the_budget_is_too_small(capsys: Capture) -> None:
    done = call(
        capsys, "size", "--effect", "0.5", "--model", "item_means", "--ratings-per-item", "2", "--sims", "20",
        "--pay-per-hour", "12", "--minutes-per-rating", "1", "--budget", "3",
    )  # fmt: skip
    assert done.code == 1
    assert "No design within the limits" in done.out


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ([], "--effect"),
        (["--effect", "0"], "other than 0"),
        (["--effect", "1", "--power", "2"], "target power"),
        (["--effect", "1", "--budget", "10"], "wage"),
        (["--effect", "1", "--smallest", "luck"], "one of"),
    ],
)
def test_bad_questions_of_size_are_one_message(capsys: Capture, arguments: list[str], part: str) -> None:
    done = call(capsys, "size", *arguments)
    assert (done.code, done.out) == (2, "")
    assert part in done.err


@pytest.mark.parametrize(
    ("command", "given", "said"),
    [
        ("power", [], "3 systems (heron, plover, swift) and the scale of fluency"),
        ("power", ["--criterion", "helpfulness"], "3 systems (heron, plover, swift) and the scale of helpf"),
        ("size", ["--systems", "2"], "Taken from the study: the scale of fluency"),
    ],
)
def test_the_criterion_that_a_study_was_read_by_is_named(
    capsys: Capture, tmp_path: Path, command: str, given: list[str], said: str
) -> None:
    assert call(capsys, "init", tmp_path / "study", "--template", "likert").code == 0
    few = ["--sims", "5", "--models" if command == "power" else "--model", "item_means"]
    few += ["--effects" if command == "power" else "--effect", "2"]
    done = call(capsys, command, "--study", tmp_path / "study", *few, *given)
    told = " ".join(done.out.split())
    assert said in told
    assert ("To take another criterion: --criterion helpfulness." in told) == ("--criterion" not in given)
