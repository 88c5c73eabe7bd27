"""``panelist compare`` on choices: the same words, the same JSON, a model of choices."""

import json
from pathlib import Path

import pytest

from tests.analysis.comparative.choices import make_pairs, make_sets
from tests.cli.commands import call

Capture = pytest.CaptureFixture[str]
STRENGTHS = {"alto": 1.2, "bass": 0.2, "canto": -1.4}


@pytest.fixture(scope="module")
def choices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("choices") / "choices.csv"
    make_sets(STRENGTHS, 3, raters=12, items=12, kind="best-worst").to_csv(path, index=False)
    return path


def test_it_prints_strengths_scores_and_wins(capsys: Capture, choices: Path) -> None:
    done = call(capsys, "compare", choices)
    assert (done.code, done.err) == (0, "")
    for word in ("Plackett-Luce model, 144 best-worst sets by 12 raters of 12 items", "144 decided", "score"):
        assert word in done.out.replace("\n", " ")
    assert "Comparisons won on rating" in done.out


def test_json_is_that_of_any_comparison(capsys: Capture, choices: Path) -> None:
    done = call(capsys, "compare", choices, "--json", "--cluster", "item", "--adjust", "holm")
    (one,) = json.loads(done.out)["criteria"]
    assert (one["model"], one["cluster"], one["adjust"]) == ("plackett-luce", "item", "holm")
    assert [row["system"] for row in one["systems"]] == ["alto", "bass", "canto"]
    assert set(one["pairs"][0]) >= {"a", "b", "difference", "se", "low", "high", "p", "p_adjusted"}


def test_figure_is_drawn_of_strengths(capsys: Capture, choices: Path, tmp_path: Path) -> None:
    done = call(capsys, "compare", choices, "--figure", tmp_path / "systems.svg", "--json")
    assert (tmp_path / "systems.svg").read_bytes().startswith(b"<?xml")
    assert done.code == 0


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--model", "lmm"], "models of choices are bradley-terry and plackett-luce"),
        (["--formula", "choice ~ system"], "do not take the formula"),
        (["--cluster", "raters"], "Did you mean 'rater'?"),
        (["--reference", "alt"], "Did you mean 'alto'?"),
        (["--level", "2"], "between 0 and 1"),
    ],
)
def test_bad_usage_gets_one_message(capsys: Capture, choices: Path, arguments: list[str], part: str) -> None:
    done = call(capsys, "compare", choices, *arguments)
    assert (done.code, done.out) == (2, "")
    assert part in done.err


def test_systems_that_never_met_are_refused(capsys: Capture, tmp_path: Path) -> None:
    rows = [("r", "a", "b", "a"), ("r", "a", "b", "b"), ("r", "c", "d", "c"), ("r", "c", "d", "d")]
    make_pairs(rows).to_csv(tmp_path / "pairs.csv", index=False)
    done = call(capsys, "compare", tmp_path / "pairs.csv")
    assert done.code == 2
    assert "never compared with each other: a and b; c and d" in done.err
