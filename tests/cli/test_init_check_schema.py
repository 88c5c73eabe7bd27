"""The commands that begin a study: init, check, schema."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import call
from tests.study.studies import PLAIN, WHOLE, write_study

Capture = pytest.CaptureFixture[str]


def test_init_says_what_was_made_and_what_comes_next(capsys: Capture, tmp_path: Path) -> None:
    done = call(capsys, "init", tmp_path / "new", "--template", "pairs")
    assert done.code == 0
    for word in ("study.yaml", "outputs.csv", "study.schema.json"):
        assert word in done.out
    assert [line.split()[:2] for line in done.out.splitlines()[-3:]] == [
        ["panelist", "check"],
        ["panelist", "plan"],
        ["panelist", "serve"],
    ]
    assert call(capsys, "check", tmp_path / "new").code == 0


def test_init_refuses_a_folder_in_use_and_an_unknown_template(capsys: Capture, tmp_path: Path) -> None:
    write_study(tmp_path)
    done = call(capsys, "init", tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "is not empty" in done.err
    done = call(capsys, "init", tmp_path / "new", "--template", "vsa")
    assert done.code == 2
    assert "Did you mean 'vas'?" in done.err


def test_check_sums_up_a_study_that_is_fine(capsys: Capture, tmp_path: Path) -> None:
    done = call(capsys, "check", write_study(tmp_path, WHOLE))
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "A study"
    for words in ("2 systems × 6 items = 12 outputs: a, b", "5 numbered points", "latin-square", "is fine."):
        assert words in done.out


def test_a_language_without_rating_pages_is_noted_and_refused_before_the_server_starts(
    capsys: Capture, tmp_path: Path
) -> None:
    study = write_study(tmp_path, f"language: it\n{WHOLE}")
    checked = call(capsys, "check", study)
    assert (checked.code, "note: study.yaml language: There are no rating pages in 'it'" in checked.out) == (
        0,
        True,
    )
    served = call(capsys, "serve", study, "--port", "0")
    assert (served.code, served.out) == (2, "")
    assert "Known: 'ar', 'de', 'en'" in served.err
    assert not study.with_name("study.db").exists()


def test_check_prints_one_line_a_problem_and_ends_with_1(capsys: Capture, tmp_path: Path) -> None:
    text = PLAIN.replace("points", "poits") + "pay: {hourly: 5, living_wage: 12.60}\nheds: {x: y}\n"
    path = write_study(tmp_path, text)
    done = call(capsys, "check", path)
    assert done.code == 1
    problems, notes, answer = done.out.split("\n\n")
    assert problems.splitlines() == [
        "study.yaml:5 criteria[0].scale.poits: unknown key. Did you mean 'points'?",
        "study.yaml:7 heds.x: the key should be the number of a HEDS question, such as \"3.1.2\"; found 'x'.",
    ]
    assert [line.split(":")[0] for line in notes.splitlines()] == ["note", "note"]
    assert answer == f"{path} has 2 problems (2 notes). Correct them and check again.\n"


def test_check_answers_in_json(capsys: Capture, tmp_path: Path) -> None:
    good = json.loads(call(capsys, "check", write_study(tmp_path), "--json").out)
    assert (good["ok"], good["problems"], good["items"], good["systems"]) == (True, [], 6, ["a", "b"])
    assert good["criteria"] == [{"criterion": "fluency", "scale": "likert", "measurement": "ordinal"}]
    done = call(capsys, "check", write_study(tmp_path, PLAIN + "titel: x\n"), "--json")
    bad = json.loads(done.out)
    assert (done.code, bad["ok"]) == (1, False)
    assert bad["problems"][0] == {
        "file": "study.yaml",
        "line": 6,
        "key": "titel",
        "message": bad["problems"][0]["message"],
    }


@pytest.mark.parametrize("content", ["a: [", "", "- x", "a:\n\t- b"])
def test_check_ends_with_2_where_there_is_no_yaml_or_no_study(
    capsys: Capture, tmp_path: Path, content: str
) -> None:
    done = call(capsys, "check", write_study(tmp_path, content))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: ")
    assert done.err.count("\n") == 1


def test_check_ends_with_2_where_there_is_no_file(capsys: Capture, tmp_path: Path) -> None:
    done = call(capsys, "check", tmp_path / "study.yaml")
    assert (done.code, done.out) == (2, "")
    assert "There is no file" in done.err


def test_schema_is_printed_or_written(capsys: Capture, tmp_path: Path) -> None:
    printed = call(capsys, "schema")
    assert json.loads(printed.out)["title"] == "Panelist study"
    path = tmp_path / "study.schema.json"
    written = call(capsys, "schema", "-o", path)
    assert (written.code, written.out) == (0, "")
    assert path.read_text(encoding="utf-8") == printed.out
    assert call(capsys, "schema", "-o", tmp_path / "none" / "x.json").code == 2
