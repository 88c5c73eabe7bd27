"""``panelist reproduce``: what it prints and writes, and what it says about bad input."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import call
from tests.reproduction.small_studies import make_ratings, scores_table, write

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Return the scores of Li et al.'s idioms, in the original and again."""
    systems = ("GPT2-XL", "+Context", "+Literal", "Human")
    tables = [
        scores_table("plausible", dict(zip(systems, row, strict=True)))
        for row in ((56, 68, 48, 80), (76, 92, 68, 68))
    ]
    return write(tables[0], tmp_path / "original.csv"), write(tables[1], tmp_path / "repeat.csv")


def test_the_sentence_comes_first(capsys: Capture, files: tuple[Path, Path]) -> None:
    done = call(capsys, "reproduce", *files, "--scale-min", 0)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[1].startswith(
        "On plausible, CV* is 27.7 on average (QRA3: 24.6); the scores of 4"
    )
    for word in (
        "below 5",
        "3 of 6 pairs of systems",
        "Findings on plausible",
        "scale from 0 (as --scale-min says)",
    ):
        assert word in done.out


def test_json_keeps_the_contract(capsys: Capture, files: tuple[Path, Path]) -> None:
    found = json.loads(call(capsys, "reproduce", *files, "--scale-min", 0, "--json").out)
    [one] = found["criteria"]
    assert {"criterion", "cv_star", "pearson", "spearman", "difference_rate", "findings", "upheld"} <= set(
        one
    )
    assert {"system", "value", "qra3"} <= set(one["cv_star"][0])
    assert one["upheld"] == 0.5
    assert one["difference_rate"] is None
    assert {row["finding"]: row["upheld"] for row in one["findings"]}["Human > GPT2-XL"] is False
    assert found["conventions"]["CV*"]


def test_reports_and_qra_files_are_written(capsys: Capture, files: tuple[Path, Path], tmp_path: Path) -> None:
    done = call(
        capsys,
        "reproduce",
        *files,
        "--scale-min",
        "plausible=0",
        "-o",
        tmp_path / "r.md",
        "--qra",
        tmp_path / "q",
    )
    assert done.code == 0
    assert (
        (tmp_path / "r.md").read_text(encoding="utf-8").startswith("# Reproduction: an original and 1 repeat")
    )
    assert sorted(path.name for path in (tmp_path / "q").iterdir()) == ["config.json", "measurements.csv"]
    assert "Report written to" in done.err


def test_raw_files_with_names_of_their_own(capsys: Capture, tmp_path: Path) -> None:
    original = write(make_ratings(1).rename(columns={"rater": "WorkerId"}), tmp_path / "o.csv")
    repeat = make_ratings(2).replace({"system": {"tuned": "T5"}, "criterion": {"fluency": "naturalness"}})
    done = call(
        capsys, "reproduce", original, write(repeat, tmp_path / "r.csv"), "--columns", "rater=WorkerId",
        "--map", "tuned=T5", "--match", "fluency=naturalness", "--finding", "fluency: tuned > rules",
        "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    [one] = json.loads(done.out)["criteria"]
    assert one["systems"] == ["human", "rules", "tuned"]
    assert one["joint"]["changes"]
    assert one["findings"][0]["stated"]


def test_size_needs_no_repeat(capsys: Capture, tmp_path: Path) -> None:
    printed = call(capsys, "reproduce", "size", "--n", 20, "--p", 0.05)
    assert (printed.code, "16.6 times" in printed.out) == (0, True)
    raw = call(capsys, "reproduce", "size", write(make_ratings(1), tmp_path / "o.csv"), "--sims", 3, "--json")
    [one] = json.loads(raw.out)["sizes"]
    assert (one["n"], len(one["simulated"])) == (15, 9)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--scale-min", "one"], "--scale-min takes a number"),
        (["--scale-min", "70"], "below 70"),
        (["--scale-map", "1-5"], "--scale-map takes"),
        (["--map", "Human"], "--map takes ORIGINAL=REPEAT"),
        (["--map", "Humans=Human"], "Did you mean 'Human'?"),
        (["--match", "a=b"], "no criterion of the original is called 'a'"),
        (["--aggregate", "meen"], "Did you mean 'mean'"),
        (["--yes", "plausible"], "--yes takes numbers"),
        (["--confidence", "95"], "between 0 and 1"),
        (["--finding", "Human wins"], "is written as"),
        (["--printed", "nowhere.csv"], "only scores of the original were"),
        (["-o", "report.doc"], "A report ends in"),
        (["--where", "system=Nobody"], "No row of"),
        (["--columns", "system=modle"], "No table has a column"),
    ],
)
def test_bad_input_gets_one_message(
    capsys: Capture, files: tuple[Path, Path], arguments: list[str], part: str
) -> None:
    done = call(capsys, "reproduce", *files, *arguments)
    assert (done.code, done.out) == (2, "")
    assert part in " ".join(done.err.split())
    assert "Traceback" not in done.err


def test_one_file_alone_is_not_enough(capsys: Capture, files: tuple[Path, Path]) -> None:
    done = call(capsys, "reproduce", files[0])
    assert (done.code, done.out) == (2, "")
    assert "at least one repeat" in done.err
