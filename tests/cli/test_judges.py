"""``panelist judges worth`` and ``panelist compare --judge``: what they print, and what they refuse."""

import json
from pathlib import Path

import numpy as np
import pytest

from bench.judges_coverage import World, simulate
from panelist.cli.main import main
from tests.judges.simulated_tables import tables


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    ratings, judges = tables(simulate(World("good", 12, 20, items=60), np.random.default_rng(3))[0])
    ratings.to_csv(tmp_path / "ratings.csv", index=False)
    judges.to_csv(tmp_path / "judges.csv", index=False)
    return str(tmp_path / "ratings.csv"), str(tmp_path / "judges.csv")


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_worth_prints_json(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "judges", "worth", *files, "--judge-scale", "as-is", "--json")
    assert code == 0
    assert json.loads(out)["judges"][0]["judge"] == "judge"


def test_compare_prints_people_beside_the_correction(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(capsys, "compare", files[0], "--judge", files[1])
    assert code == 0
    assert "With the judge and by people alone" in out
    code, out, _ = call(capsys, "compare", files[0], "--judge", files[1], "--json")
    one = json.loads(out)["criteria"][0]
    assert {"systems", "pairs", "people", "width_ratio", "judges", "n_judged"} <= set(one)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("judges", "worth", "RATINGS"), "No judge is named"),
        (("judges", "worth", "RATINGS", "JUDGES", "--interval", "item"), "Did you mean"),
        (("compare", "RATINGS", "--judge-columns", "gpt"), "no column"),
        (("compare", "RATINGS", "--judge", "JUDGES", "--formula", "rating ~ system"), "formula belongs to"),
        (("compare", "RATINGS", "--judge", "JUDGES", "--judge-method", "weights"), "need the probabilities"),
        (("compare", "RATINGS", "--judge-scale", "same"), "go with a judge"),
    ],
)
def test_bad_input_is_one_message_and_code_2(
    files: tuple[str, str], arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"RATINGS": files[0], "JUDGES": files[1]}
    code, out, err = call(capsys, *(names.get(word, word) for word in arguments))
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
