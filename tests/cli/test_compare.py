"""``panelist compare``: what it prints, what it draws, and what it says about bad input."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import FORMULA, call

Capture = pytest.CaptureFixture[str]


def test_json_is_one_object_with_the_promised_keys(capsys: Capture, ratings: Path) -> None:
    done = call(capsys, "compare", ratings, "--json")
    found = json.loads(done.out)
    assert [one["criterion"] for one in found["criteria"]] == ["adequacy", "fluency"]
    one = found["criteria"][0]
    assert set(one["systems"][0]) >= {"system", "estimate", "low", "high", "rank_low", "rank_high"}
    assert set(one["pairs"][0]) >= {"a", "b", "difference", "se", "low", "high", "p", "p_adjusted"}
    assert (done.code, len(one["systems"]), len(one["pairs"])) == (0, 3, 3)


def test_options_reach_the_comparison(capsys: Capture, ratings: Path) -> None:
    done = call(
        capsys, "compare", ratings, "--criterion", "fluency", "--formula", FORMULA, "--adjust", "holm",
        "--confidence", "0.9", "--link", "logit", "--reference", "rules", "--json",
    )  # fmt: skip
    (one,) = json.loads(done.out)["criteria"]
    assert (one["criterion"], one["formula"], one["adjust"]) == ("fluency", FORMULA, "holm")
    assert (one["confidence"], one["link"], one["reference"]) == (0.9, "logit", "rules")
    assert len(one["pairs"]) == 2


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_figure_is_written_and_said_on_stderr(
    capsys: Capture, ratings: Path, tmp_path: Path, ending: str, start: bytes
) -> None:
    path = tmp_path / f"systems.{ending}"
    done = call(
        capsys, "compare", ratings, "--formula", FORMULA, "--model", "lmm", "--figure", path, "--json"
    )
    assert path.read_bytes().startswith(start)
    assert str(path) in done.err
    assert json.loads(done.out)["criteria"]


@pytest.mark.parametrize("name", ["systems.gif", "systems", "absent/systems.svg"])
def test_figure_that_cannot_be_written_is_refused_before_the_work(
    capsys: Capture, tmp_path: Path, name: str
) -> None:
    done = call(capsys, "compare", tmp_path / "no-such-table.csv", "--figure", tmp_path / name)
    assert (done.code, done.out) == (2, "")
    assert "figure" in done.err


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--criterion", "fluncy"], "Did you mean 'fluency'?"),
        (["--adjust", "tuckey"], "Did you mean 'tukey'?"),
        (["--reference", "rule"], "rules"),
        (["--confidence", "95"], "95"),
        (["--where", "system=tuned"], "only one system"),
    ],
)
def test_bad_input_is_one_message(capsys: Capture, ratings: Path, arguments: list[str], part: str) -> None:
    done = call(capsys, "compare", ratings, *arguments)
    assert (done.code, done.out) == (2, "")
    assert part in done.err


def test_a_prior_keeps_the_largest_random_part_and_is_named(capsys: Capture, ratings: Path) -> None:
    done = call(capsys, "compare", ratings, "--criterion", "fluency", "--prior", "weak", "--json")
    (one,) = json.loads(done.out)["criteria"]
    assert (done.code, one["prior"]) == (0, "weak")
    assert one["formula"] == "rating ~ system + (system | rater) + (system | item)"
    assert any("kept as it is with a weak prior" in note for note in one["notes"])
    assert "with a weak prior" in one["finding"]
