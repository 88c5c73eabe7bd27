"""``panelist agreement``: what it prints, its JSON, its figures, and what it says about bad input."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.commands import call
from tests.shared_cases import MISSING, SHARED
from tests.simulated import simulate_demo

Capture = pytest.CaptureFixture[str]
QUICK = ("--resamples", "20")
needs_shared = pytest.mark.skipif(not SHARED.exists(), reason=MISSING)


def write(folder: Path, frame: pd.DataFrame) -> Path:
    path = folder / "table.csv"
    frame.to_csv(path, index=False)
    return path


def test_json_is_one_object_with_the_promised_keys(capsys: Capture, ratings: Path) -> None:
    done = call(capsys, "agreement", ratings, "--json", *QUICK)
    found = json.loads(done.out)
    assert [one["criterion"] for one in found["criteria"]] == ["adequacy", "fluency"]
    one = found["criteria"][0]
    assert (one["measurement"], one["n_items"], one["n_raters"], one["n_ratings"]) == (
        "ordinal",
        120,
        24,
        960,
    )
    assert set(one["coefficients"][0]) >= {"name", "estimate", "low", "high", "n_items", "note"}
    assert {point["name"] for point in one["checklist"]} >= {"independence", "interpretation", "items"}
    assert done.code == 0


def test_people_read_the_sentence_first_then_the_table(capsys: Capture, ratings: Path) -> None:
    done = call(capsys, "agreement", ratings, "--criterion", "fluency", *QUICK)
    lines = done.out.splitlines()
    assert lines[1].startswith("On fluency, Krippendorff's alpha (ordinal) is ")
    text = " ".join(done.out.split())
    assert "not reliable, Krippendorff 1980) and Spearman's rho is" in text
    assert "bootstrap over items" in text
    assert text.index("On fluency") < text.index("Coefficients of fluency (ordinal)")
    assert "say whether raters worked independently" in text


def test_options_reach_the_measurement(capsys: Capture, ratings: Path) -> None:
    done = call(
        capsys, "agreement", ratings, "--criterion", "fluency", "--measurement", "interval", "--coefficients",
        "icc_1, fleiss_kappa", "--interval", "raters", "--confidence", "0.9", "--seed", "3", "--json", *QUICK,
    )  # fmt: skip
    (one,) = json.loads(done.out)["criteria"]
    assert (one["measurement"], one["confidence"]) == ("interval", 0.9)
    names = {each["name"]: each for each in one["coefficients"]}
    assert set(names) == {"icc_1", "fleiss_kappa"}
    assert names["icc_1"]["suits"]
    assert not names["fleiss_kappa"]["suits"]
    assert "does not suit" in names["fleiss_kappa"]["note"]
    assert "raters" in names["icc_1"]["interval"]


def test_levels_may_differ_by_criterion(capsys: Capture, ratings: Path) -> None:
    done = call(
        capsys,
        "agreement",
        ratings,
        "--measurement",
        "fluency=interval,adequacy=nominal",
        "--interval",
        "none",
        "--json",
    )
    assert [one["measurement"] for one in json.loads(done.out)["criteria"]] == ["nominal", "interval"]


def test_all_coefficients_can_be_asked_for(capsys: Capture, ratings: Path) -> None:
    from panelist.agreement.coefficient import COEFFICIENTS

    done = call(
        capsys,
        "agreement",
        ratings,
        "--criterion",
        "fluency",
        "--coefficients",
        "all",
        "--interval",
        "none",
        "--json",
    )
    (one,) = json.loads(done.out)["criteria"]
    assert {each["name"] for each in one["coefficients"]} == set(COEFFICIENTS)


def test_judges_generalizability_votes_and_checklist_come_on_request(capsys: Capture, ratings: Path) -> None:
    plain = call(capsys, "agreement", ratings, "--interval", "none").out
    wanted = ("--raters", "--generalizability", "--votes", "--checklist")
    full = call(capsys, "agreement", ratings, "--interval", "none", *wanted).out
    for part in ("Raters on fluency", "Decision study", "are unanimous", "Checklist for fluency"):
        assert part not in plain
        assert part in full
    found = json.loads(call(capsys, "agreement", ratings, "--interval", "none", *wanted, "--json").out)
    assert {"raters", "generalizability", "votes"} <= set(found)
    assert len(found["raters"]["criteria"][0]["raters"]) == 24


def test_groups_stand_side_by_side(capsys: Capture, tmp_path: Path) -> None:
    frame = simulate_demo().query("criterion == 'fluency'")
    frame = frame.assign(group=np.where(frame["rater"] <= "rater-12", "native", "other"))
    path = write(tmp_path, frame)
    done = call(capsys, "agreement", path, "--raters", *QUICK)
    assert "Groups on fluency" in done.out
    assert "native (12 raters)" in done.out
    found = json.loads(call(capsys, "agreement", path, "--raters", "--json", *QUICK).out)
    assert [one["group"] for one in found["groups"]["groups"]] == ["native", "other"]
    alone = json.loads(call(capsys, "agreement", path, "--where", "group=native", "--json", *QUICK).out)
    assert found["groups"]["groups"][0]["criteria"][0]["coefficients"] == alone["criteria"][0]["coefficients"]


def test_a_second_occasion_gives_stability(capsys: Capture, tmp_path: Path) -> None:
    first = simulate_demo().query("criterion == 'fluency'")
    second = first.assign(rating=first["rating"].clip(lower=2))
    frame = pd.concat([first.assign(occasion=1), second.assign(occasion=2)])
    done = call(capsys, "agreement", write(tmp_path, frame), "--json", *QUICK)
    (one,) = json.loads(done.out)["stability"]["criteria"]
    same = (first["rating"].to_numpy() == second["rating"].to_numpy()).mean()
    assert one["overall"]["estimates"]["percent_agreement"] == pytest.approx(same)
    assert len(one["raters"]) == 24


def test_figures_are_written_and_said_on_stderr(capsys: Capture, ratings: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "figures"
    done = call(capsys, "agreement", ratings, "--interval", "none", "--figures", folder, "--json")
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "categories.svg", "ratings.svg", "decisions.svg",
        "pairs_goodman_kruskal_gamma.svg", "pairs_krippendorff_alpha_ordinal.svg",
    }  # fmt: skip
    assert "Figures written to" in done.err
    assert json.loads(done.out)["criteria"]


def test_labels_have_categories_to_draw_but_no_lines(capsys: Capture, tmp_path: Path) -> None:
    frame = simulate_demo().query("criterion == 'fluency'")
    frame = frame.assign(rating=np.where(frame["rating"] > 3, "good", "bad"))
    folder = tmp_path / "figures"
    done = call(capsys, "agreement", write(tmp_path, frame), "--interval", "none", "--figures", folder)
    assert done.code == 0
    assert {path.name for path in folder.iterdir()} == {
        "categories.svg",
        "pairs_krippendorff_alpha_nominal.svg",
    }
    assert "No decision study of fluency" in done.err


@needs_shared
def test_flickr_is_reported_with_its_artefact(capsys: Capture) -> None:
    """PUBLISHED.md, rows 2 to 4: Fleiss 0.52, mean gamma 0.989, and every row of the file sorted."""
    done = call(
        capsys, "agreement", SHARED / "flickr8k_expert.csv", "--interval", "none", "--json",
        "--coefficients", "fleiss_kappa,goodman_kruskal_gamma",
    )  # fmt: skip
    (one,) = json.loads(done.out)["criteria"]
    kappa, gamma = one["coefficients"]
    assert kappa["estimate"] == pytest.approx(0.516732557588435, abs=1e-12)
    assert gamma["estimate"] == pytest.approx(0.988749964131323, abs=1e-12)
    assert [odd["kind"] for odd in one["suspicions"]] == ["sorted"]
    assert (
        "raters differ in level but order the items alike; but some of these ratings are odd"
        in one["finding"]
    )


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--measurement", "ordnal"], "Did you mean 'ordinal'"),
        (["--coefficients", "fleis_kappa"], "Did you mean 'fleiss_kappa'"),
        (["--interval", "item"], "Did you mean 'items'"),
        (["--criterion", "fluncy"], "Did you mean 'fluency'?"),
        (["--resamples", "1"], "resamples must be a whole number, 2 or more"),
        (["--confidence", "95"], "between 0 and 1"),
        (["--scale", "five"], "--scale takes LOW:HIGH"),
        (["--repeats", "frist"], "Did you mean 'first'"),
        (["--unit", "txt"], "no column 'txt'"),
    ],
)
def test_bad_options_are_one_message(capsys: Capture, ratings: Path, arguments: list[str], part: str) -> None:
    done = call(capsys, "agreement", ratings, *arguments)
    assert (done.code, done.out) == (2, "")
    assert part in done.err


def test_a_figure_folder_that_cannot_be_made_is_said(capsys: Capture, ratings: Path) -> None:
    done = call(capsys, "agreement", ratings, "--interval", "none", "--figures", ratings / "below")
    assert (done.code, done.out) == (2, "")
    assert "is a file; the figures need a folder" in done.err


def test_who_rated_twice_is_named_and_which_rating_counts_is_said(
    capsys: Capture, ratings: Path, tmp_path: Path
) -> None:
    frame = pd.read_csv(ratings)
    again = frame.head(3).assign(rating=lambda rows: rows["rating"] % 6 + 1)
    done = call(capsys, "agreement", write(tmp_path, pd.concat([frame, again])), "--interval", "none")
    text = " ".join(done.out.split())
    assert "2 ratings are a rater's second or later on the same outputs: rater-01 (2)" in text
    assert "the first of them counts" in text


def test_one_rater_is_refused_with_the_reason(capsys: Capture, ratings: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(ratings).query("rater == 'rater-01'")
    done = call(capsys, "agreement", write(tmp_path, frame), "--interval", "none", "--json")
    assert (done.code, done.out) == (2, "")
    assert "no output has two ratings by different raters" in done.err


def test_empty_cells_are_counted(capsys: Capture, ratings: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(ratings)
    frame.loc[[1, 5, 9], "rating"] = np.nan
    done = call(capsys, "agreement", write(tmp_path, frame), "--interval", "none")
    assert "no rating" in done.out
