"""``panelist compare`` on choices: the same words, the same JSON, a model of choices."""

import json
from pathlib import Path

import pytest

from tests.analysis.choices.choices import make_pairs, make_sets
from tests.analysis.choices.votes import draw_votes
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
        (["--model", "lmm"], "models of choices are mixed, bradley-terry, plackett-luce"),
        (["--formula", "choice ~ system"], "nothing in it varies over raters or items"),
        (["--cluster", "raters"], "Did you mean 'rater'?"),
        (["--reference", "alt"], "Did you mean 'alto'?"),
        (["--confidence", "2"], "between 0 and 1"),
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


def test_an_arena_table_is_read_and_a_stray_answer_is_refused(capsys: Capture, tmp_path: Path) -> None:
    words = ["model_a", "model_b", "tie (bothbad)", "model_a"]
    pairs = make_pairs([(f"r{n % 5}", *("xy" if n % 2 else "yx"), words[n % 4]) for n in range(40)])
    pairs = pairs.rename(columns={"system_a": "model_a", "system_b": "model_b"})
    path = tmp_path / "arena.jsonl"
    pairs.to_json(path, orient="records", lines=True)
    done = call(capsys, "compare", path)
    assert done.code == 0
    assert "40 trials: 30 decided, 10 ties" in done.out
    assert "The first of two" not in done.out
    pairs.loc[6, "winner"] = "model_c"
    pairs.to_json(path, orient="records", lines=True)
    done = call(capsys, "compare", path)
    assert done.code == 2
    assert "In column winner, row 7, 'model_c' names neither of the systems" in done.err.replace("\n", " ")


def test_agreement_reads_choices(capsys: Capture, choices: Path) -> None:
    done = call(capsys, "agreement", choices, "--interval", "none", "--json")
    found = json.loads(done.out)["criteria"]
    assert [one["criterion"] for one in found] == ["choice, best", "choice, worst"]
    assert found[0]["n_ratings"] == 144


def test_style_is_controlled_for_beside_the_plain_comparison(capsys: Capture, tmp_path: Path) -> None:
    frame = draw_votes(200).drop(columns="latent")
    frame.to_csv(tmp_path / "votes.csv", index=False)
    done = call(capsys, "compare", tmp_path / "votes.csv", "--style", "words", "--json")
    assert done.code == 0
    (one,) = json.loads(done.out)["criteria"]
    assert (one["model"], one["beside"]["model"]) == ("mixed", "bradley-terry")
    assert [slope["term"] for slope in one["mixed"]["slopes"]] == ["log(words)"]
    assert {row["system"] for row in one["mixed"]["without_style"]} == {"x", "y", "z"}
    refused = call(capsys, "compare", tmp_path / "votes.csv", "--style", "lists")
    assert (refused.code, refused.out) == (2, "")
    assert "columns lists_a and lists_b" in refused.err
