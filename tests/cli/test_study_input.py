"""Commands that take a study: they do what it declares, and give the numbers of its report."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from panelist.analysis.analyse import analyse
from panelist.design.make import plan_study
from panelist.design.simulate import simulate_ratings
from panelist.study.reading.load import load_study
from panelist.study.start import init_study
from tests.cli.commands import FORMULA, call

Capture = pytest.CaptureFixture[str]


def declare(folder: Path, **analysis: Any) -> Path:
    """Return a study whose plan differs from every default, with simulated ratings beside it."""
    init_study(folder)
    file = folder / "study.yaml"
    text = yaml.safe_load(file.read_text(encoding="utf-8"))
    text["analysis"] |= {"adjust": "holm", "alpha": 0.1, "across_criteria": "bonferroni"} | analysis
    file.write_text(yaml.safe_dump(text), encoding="utf-8")
    study = load_study(folder)
    simulate_ratings(study, plan_study(study), seed=4, careless=0.5).to_csv(
        folder / "ratings.csv", index=False
    )
    return folder


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return declare(tmp_path_factory.mktemp("planned") / "desk")


@pytest.fixture(scope="module")
def analysed(study: Path) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(analyse(study, study / "ratings.csv").to_json())
    return whole


def test_compare_gives_the_numbers_of_the_report(
    study: Path, analysed: dict[str, Any], capsys: Capture
) -> None:
    assert analysed["exclusions"]["n_excluded"] > 0  # or the study would prove nothing
    done = call(capsys, "compare", study, "--json")
    found = json.loads(done.out)
    assert done.code == 0
    assert found["planned"]["exclusions"]["n_excluded"] == analysed["exclusions"]["n_excluded"]
    assert found["planned"]["settings"]["adjust"] == "holm"
    assert [one["criterion"] for one in found["criteria"]] == ["fluency", "helpfulness"]
    for one, other in zip(found["criteria"], analysed["criteria"], strict=True):
        planned = other["comparison"]
        assert (one["model"], one["adjust"], one["formula"]) == tuple(
            planned[name] for name in ("model", "adjust", "formula")
        )
        for name in ("difference", "se", "low", "high", "p", "p_adjusted"):
            np.testing.assert_allclose(
                [pair[name] for pair in one["pairs"]], [pair[name] for pair in planned["pairs"]], rtol=1e-12
            )


def test_one_criterion_allows_for_all_that_the_study_declares(study: Path, capsys: Capture) -> None:
    whole = json.loads(call(capsys, "compare", study, "--json").out)["criteria"][1]
    alone = json.loads(call(capsys, "compare", study, "--criterion", "helpfulness", "--json").out)["criteria"]
    assert len(alone) == 1
    assert alone[0]["pairs"] == whole["pairs"]


def test_agreement_gives_the_numbers_of_the_report(
    study: Path, analysed: dict[str, Any], capsys: Capture
) -> None:
    found = json.loads(call(capsys, "agreement", study, "--json").out)
    assert "planned" in found
    for one, other in zip(found["criteria"], analysed["criteria"], strict=True):
        known = {row["name"]: row for row in one["coefficients"]}
        assert one["n_ratings"] == other["reliability"]["n_ratings"]
        compared = 0
        for row in other["reliability"]["coefficients"]:
            if row["estimate"] is not None:
                assert known[row["name"]]["estimate"] == pytest.approx(row["estimate"], rel=1e-12)
                if row["low"] is not None:
                    assert known[row["name"]]["low"] == pytest.approx(row["low"], rel=1e-12)
                compared += 1
        assert compared > 5


def test_fit_gives_the_model_by_which_the_systems_are_compared(study: Path, capsys: Capture) -> None:
    found = json.loads(call(capsys, "fit", study, "--criterion", "fluency", "--json").out)
    compared = json.loads(call(capsys, "compare", study, "--json").out)["criteria"][0]
    assert found["planned"]["study"] == "Answers from a library help desk"
    assert found["n"] == compared["n"]
    own = json.loads(call(capsys, "fit", study, "--criterion", "fluency", "-f", FORMULA, "--json").out)
    assert own["n"] == compared["n"]  # a formula of one's own is fitted to the ratings that count
    assert own["loglik"] != found["loglik"]


@pytest.mark.parametrize("command", ["compare", "agreement", "fit"])
def test_the_first_lines_say_what_is_done(study: Path, command: str, capsys: Capture) -> None:
    done = call(capsys, command, study / "study.yaml", "--criterion", "fluency")
    first = " ".join(done.out.split())[:600]
    assert done.code == 0
    assert first.startswith("As planned: Answers from a library help desk")
    assert "as study.yaml declares" in first
    assert "were excluded" in first


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "--adjust", "tukey"],
        ["compare", "--where", "system=heron"],
        ["compare", "--by", "list"],
        ["agreement", "--measurement", "nominal"],
        ["agreement", "--confidence", "0.9"],
        ["fit", "--criterion", "fluency", "--model", "lmm"],
    ],
)
def test_what_a_study_decides_cannot_be_given_beside_it(
    study: Path, arguments: list[str], capsys: Capture
) -> None:
    command, *rest = arguments
    done = call(capsys, command, study, *rest)
    assert (done.code, done.out) == (2, "")
    assert "a study is analysed as its file declares" in done.err
    assert done.err.startswith(f"Error: {rest[-2]}")


def test_a_study_without_ratings_says_how_to_come_by_some(tmp_path: Path, capsys: Capture) -> None:
    init_study(tmp_path / "new")
    for command in ("compare", "agreement", "fit", "report"):
        done = call(capsys, command, tmp_path / "new")
        assert done.code == 2
        assert "panelist simulate" in done.err


def test_ratings_go_with_a_study_alone(study: Path, ratings: Path, capsys: Capture) -> None:
    done = call(capsys, "compare", ratings, "--ratings", ratings)
    assert done.code == 2
    assert "--ratings goes with a study" in done.err
    done = call(capsys, "compare", study, "--ratings", study / "ratings.csv", "--criterion", "fluency")
    assert done.code == 0


def test_a_table_needs_a_formula_and_a_study_with_several_criteria_one_of_them(
    study: Path, ratings: Path, capsys: Capture
) -> None:
    done = call(capsys, "fit", ratings)
    assert done.code == 2
    assert "--formula" in done.err
    done = call(capsys, "fit", study)
    assert done.code == 2
    assert "fluency, helpfulness" in done.err
    done = call(capsys, "compare", study, "--criterion", "fluancy")
    assert done.code == 2
    assert "Did you mean 'fluency'?" in done.err


def test_power_of_comparisons_names_no_formula_and_no_link(tmp_path: Path, capsys: Capture) -> None:
    assert call(capsys, "init", tmp_path / "news", "--template", "pairs").code == 0
    done = call(capsys, "power", "--study", tmp_path / "news", "--effects", "1", "--sims", "2", "--json")
    declared = json.loads(done.out)["notes"][1]
    assert declared == ("As study.yaml declares: the analysis pairs_graded, alpha 0.05, Holm-adjusted pairs.")


def test_power_of_a_study_takes_its_systems_model_and_adjustment(tmp_path: Path, capsys: Capture) -> None:
    folder = declare(tmp_path / "desk", model="lmm")
    done = call(capsys, "power", "--study", folder, "--effects", "1", "--sims", "2", "--json")
    found = json.loads(done.out)
    assert {cell["model"] for cell in found["cells"]} == {"lmm"}
    assert (found["adjust"], found["alpha"]) == ("holm", 0.1)
    assert "3 systems (heron, plover, swift)" in found["notes"][0]
    assert found["notes"][1].startswith("As study.yaml declares: the analysis lmm")
    done = call(capsys, "power", "--study", folder, "--effects", "1", "--sims", "2", "--models", "item_means")
    assert "By option: --models." in " ".join(done.out.split())
    done = call(capsys, "power", "--study", folder, "--items", "50")
    assert done.code == 2
    assert "--items and --study do not go together" in done.err


def test_size_of_a_study_takes_its_systems_model_and_adjustment(tmp_path: Path, capsys: Capture) -> None:
    folder = declare(tmp_path / "desk")
    asked = ["size", "--study", folder, "--effect", "2", "--sims", "20", "--model", "item_means", "--json"]
    found = json.loads(call(capsys, *asked).out)
    assert len(found["confirmed"]["pairs"]) == 3
    assert found["best"]["outputs_per_rater"] == 12
    assert "3 systems (heron, plover, swift)" in found["notes"][0]
    assert "By option: --model." in found["notes"][1]
    two = json.loads(call(capsys, *asked, "--systems", "2").out)
    assert two["confirmed"]["pairs"] == []


def test_size_of_a_study_that_compares_is_searched_in_its_own_design(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "tasting"
    assert call(capsys, "init", folder, "--template", "pairs").code == 0
    asked = ["size", "--study", folder, "--effect", "2", "--sims", "20"]
    done = call(capsys, *asked, "--json")
    found = json.loads(done.out)
    assert (found["model"], found["unit"]) == ("pairs_graded", "pair")
    assert found["best"]["outputs_per_rater"] == 12
    assert found["best"]["ratings"] == 3 * found["best"]["items"] * found["best"]["ratings_per_item"]
    assert "3 systems (anvil, bellows, chisel)" in found["notes"][0]
    assert "all pairs of systems, 2 on a page" in found["notes"][2]
    refused = call(capsys, *asked, "--systems", "2")
    assert (refused.code, refused.out) == (2, "")
    assert "--systems and the comparisons of" in refused.err
