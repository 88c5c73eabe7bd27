"""``panelist fit``: what it prints, and what it says about bad input."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import FORMULA, call

Capture = pytest.CaptureFixture[str]
GOOD = [
    "rater,item,system,rating",
    *(f"r{k % 4},i{k % 5},{'ab'[k % 2]},{1 + (k * 7) % 5}" for k in range(40)),
]


def write(folder: Path, *lines: str) -> Path:
    path = folder / "table.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def refuse(capsys: Capture, *arguments: object) -> str:
    """Return the message of a command that must end with 2, say one thing and print nothing else."""
    done = call(capsys, "fit", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: ")
    assert "Traceback" not in done.err
    return done.err


def test_json_is_one_object_with_the_promised_keys(capsys: Capture, ratings: Path) -> None:
    done = call(
        capsys, "fit", ratings, "--criterion", "fluency", "--formula", FORMULA, "--model", "clmm", "--json"
    )
    found = json.loads(done.out)
    keys = {
        "model",
        "link",
        "n",
        "loglik",
        "aic",
        "converged",
        "singular",
        "coefficients",
        "thresholds",
        "random",
    }
    assert keys | {"correlations"} <= set(found)
    assert (done.code, found["model"], found["link"], found["n"]) == (0, "clmm", "probit", 960)
    assert set(found["coefficients"][0]) >= {"term", "estimate", "se", "statistic", "df", "p"}
    assert [row["name"] for row in found["thresholds"]] == ["1|2", "2|3", "3|4", "4|5", "5|6"]


def test_text_shows_the_tables(capsys: Capture, ratings: Path) -> None:
    done = call(
        capsys,
        "fit",
        ratings,
        "--criterion",
        "fluency",
        "--formula",
        FORMULA,
        "--model",
        "lmm",
        "--method",
        "ml",
    )
    assert done.code == 0
    for word in ("Linear mixed model (ML)", "system[T.tuned]", "Random effects", "960"):
        assert word in done.out


def test_scale_nominal_effects_and_families_have_options(capsys: Capture, ratings: Path) -> None:
    shared = ["--criterion", "fluency", "--formula", "rating ~ system + (1 | rater)", "--json"]
    found = json.loads(call(capsys, "fit", ratings, *shared, "--scale", "~ system").out)
    assert [row["term"] for row in found["scale"]] == [row["term"] for row in found["coefficients"]]
    found = json.loads(call(capsys, "fit", ratings, *shared, "--nominal", "~ system").out)
    assert {row["threshold"] for row in found["nominal"]} == {row["name"] for row in found["thresholds"]}
    steps = ["--family", "sequential", "--test", "lrt"]
    found = json.loads(call(capsys, "fit", ratings, *shared, *steps).out)
    assert (found["family"], found["test"]) == ("sequential", "lrt")
    assert "link='logit'" in refuse(capsys, ratings, *shared, "--family", "adjacent")


@pytest.mark.parametrize("method", ["wald", "profile"])
def test_intervals_are_added_under_their_own_name(capsys: Capture, ratings: Path, method: str) -> None:
    arguments = [
        "--criterion",
        "fluency",
        "--formula",
        "rating ~ system",
        "--intervals",
        method,
        "--confidence",
        "0.9",
    ]
    done = call(capsys, "fit", ratings, *arguments, "--json")
    found = json.loads(done.out)
    assert (done.code, found["model"], found["intervals"]["method"]) == (0, "clm", method)
    assert found["intervals"]["confidence"] == 0.9
    for row in found["intervals"]["intervals"]:
        assert row["low"] < row["estimate"] < row["high"]
    assert "90 % intervals" in call(capsys, "fit", ratings, *arguments).out


def test_bootstrap_depends_on_its_seed_alone(capsys: Capture, ratings: Path) -> None:
    arguments = ["fit", ratings, "--criterion", "fluency", "--formula", "rating ~ system", "--model", "lm"]
    arguments += ["--intervals", "bootstrap", "--json"]
    first, again, other = (call(capsys, *arguments, "--seed", seed) for seed in (1, 1, 2))
    assert first.code == 0
    assert first == again
    assert first.out != other.out


def test_rows_are_chosen_and_counted(capsys: Capture, ratings: Path) -> None:
    done = call(
        capsys, "fit", ratings, "--where", "criterion=fluency", "--where", "system=tuned",
        "--where", "system=rules", "--formula", "rating ~ system", "--json",
    )  # fmt: skip
    found = json.loads(done.out)
    assert found["n"] == 640
    assert found["model"] == "clm"
    assert any("640 of 1920 rows kept" in note for note in found["notes"])


def test_columns_are_mapped(capsys: Capture, tmp_path: Path) -> None:
    path = write(tmp_path, GOOD[0].replace("rater", "WorkerId"), *GOOD[1:])
    done = call(
        capsys, "fit", path, "--columns", "rater=WorkerId", "-f", "rating ~ system + (1 | rater)", "--json"
    )
    assert done.code == 0
    assert json.loads(done.out)["groups"] == {"rater": 4}


def test_missing_file(capsys: Capture, tmp_path: Path) -> None:
    assert "absent.csv" in refuse(capsys, tmp_path / "absent.csv", "--formula", FORMULA)


def test_unknown_column_is_answered_with_the_nearest(capsys: Capture, tmp_path: Path) -> None:
    message = refuse(capsys, write(tmp_path, *GOOD), "--formula", "rating ~ sistem + (1 | rater)")
    assert "'sistem'" in message
    assert "system" in message.replace("sistem", "")


def test_text_among_the_ratings_is_named(capsys: Capture, tmp_path: Path) -> None:
    path = write(tmp_path, *GOOD, "r1,i1,a,quite good")
    assert "quite good" in refuse(capsys, path, "--formula", FORMULA)


def test_one_category_cannot_be_modelled(capsys: Capture, tmp_path: Path) -> None:
    path = write(tmp_path, GOOD[0], *(f"{line[:-1]}3" for line in GOOD[1:]))
    message = refuse(capsys, path, "--formula", FORMULA, "--model", "clmm")
    assert "3" in message


@pytest.mark.parametrize("lines", [[], [GOOD[0]]], ids=["no lines", "a header alone"])
def test_empty_table(capsys: Capture, tmp_path: Path, lines: list[str]) -> None:
    path = write(tmp_path, *lines)
    assert str(path) in refuse(capsys, path, "--formula", FORMULA)


def test_infinite_rating_is_refused(capsys: Capture, tmp_path: Path) -> None:
    path = write(tmp_path, *GOOD, "r1,i1,a,inf")
    assert "inf" in refuse(capsys, path, "--formula", FORMULA, "--model", "lmm")


def test_missing_ratings_are_counted(capsys: Capture, tmp_path: Path) -> None:
    path = write(tmp_path, *GOOD, "r1,i1,a,", "r2,i1,b,NaN")
    done = call(capsys, "fit", path, "--formula", "rating ~ system + (1 | rater)", "--model", "lmm", "--json")
    found = json.loads(done.out)
    assert found["n"] == 40
    assert any("2" in note and "missing" in note for note in found["notes"])


@pytest.mark.parametrize(
    "formula", ["rating system", "rating ~ (1 | rater", "~ system", "", "rating ~ system ~ item"]
)
def test_malformed_formula(capsys: Capture, tmp_path: Path, formula: str) -> None:
    assert "formula" in refuse(capsys, write(tmp_path, *GOOD), "--formula", formula)


def test_several_criteria_are_not_mixed(capsys: Capture, ratings: Path) -> None:
    message = refuse(capsys, ratings, "--formula", FORMULA)
    assert "adequacy" in message
    assert "--criterion" in message


def test_unknown_criterion_is_answered_with_the_nearest(capsys: Capture, ratings: Path) -> None:
    message = refuse(capsys, ratings, "--formula", FORMULA, "--criterion", "fluncy")
    assert "Did you mean 'fluency'?" in message


@pytest.mark.parametrize(
    ("option", "word", "near"),
    [
        ("--model", "clmn", "clmm"),
        ("--link", "logti", "logit"),
        ("--threshold", "flexibel", "flexible"),
        ("--method", "REM", "REML"),
        ("--intervals", "profil", "profile"),
    ],
)
def test_unknown_word_is_answered_with_the_nearest(
    capsys: Capture, ratings: Path, option: str, word: str, near: str
) -> None:
    message = refuse(capsys, ratings, "--criterion", "fluency", "--formula", FORMULA, option, word)
    assert repr(near) in message


@pytest.mark.parametrize("option", ["--where", "--columns"])
def test_pairs_need_an_equals_sign(capsys: Capture, ratings: Path, option: str) -> None:
    assert "NAME=VALUE" in refuse(capsys, ratings, "--formula", FORMULA, option, "fluency")


def test_model_without_random_effects_refuses_a_random_term(capsys: Capture, ratings: Path) -> None:
    assert "clmm" in refuse(capsys, ratings, "--criterion", "fluency", "--formula", FORMULA, "--model", "clm")


def test_a_prior_is_named_and_bad_words_are_refused(capsys: Capture, tmp_path: Path) -> None:
    table = write(tmp_path, *GOOD)
    asked = ("fit", table, "--formula", FORMULA, "--model", "clmm", "--prior")
    done = call(capsys, *asked, "weak", "--json")
    found = json.loads(done.out)
    assert (done.code, found["prior"], found["aic"]) == (0, "weak", None)
    assert "with a weak prior" in call(capsys, *asked, "weak").out
    said = refuse(capsys, *asked[1:], "waek")
    assert "Did you mean 'weak'" in said
    assert "t(DF, SD)" in said
