"""``panelist heds``: the sheet of a study in every format; cards checked, converted and compared."""

import json
from pathlib import Path

import pytest

from panelist.reports.datasheet.files.card import SheetLayout
from panelist.reports.datasheet.files.read import read_sheet
from panelist.reports.datasheet.files.write_json import make_entries, write_json
from panelist.reports.datasheet.heds_questions import Version
from panelist.reports.datasheet.sheet import SheetAnswer
from tests.cli.commands import call
from tests.reports.datasheet.sheets import make_full
from tests.study.studies import PLAIN, write_study


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    folder.mkdir()
    return write_study(folder)


def card(tmp_path: Path, version: Version = "3.0", name: str = "card.json", **changed: SheetAnswer) -> Path:
    path = tmp_path / name
    path.write_bytes(write_json(make_full(version, **changed)))
    return path


def test_a_study_is_told_in_short_and_written_in_every_format(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    targets = [tmp_path / f"heds.{ending}" for ending in ("json", "html", "md", "tex")]
    done = call(capsys, "heds", "fill", study, *(word for target in targets for word in ("-o", target)))
    assert done.code == 0
    assert "Open: only a person knows" in done.out
    assert "5.1" in done.out
    assert all(f"Written: {target}" in done.out for target in targets)
    assert read_sheet(targets[0]).version == "3.0"
    assert all(target.stat().st_size > 1000 for target in targets)


def test_the_older_form_is_written_on_request(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "heds.json"
    assert call(capsys, "heds", "fill", study.parent, "--version", "2.x", "-o", target).code == 0
    assert read_sheet(target).version == "2.x"


def test_json_holds_answers_with_sources_and_what_is_open(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(call(capsys, "heds", "fill", study, "--json").out)
    assert {"title", "version", "answered", "drafts", "answers", "open", "notes"} <= found.keys()
    assert {
        "number": "3.1.1",
        "criterion": "",
        "answer": ["6"],
        "source": "the outputs file",
        "draft": False,
    } in (found["answers"])
    assert "1.1.1" in {one["number"] for one in found["open"]}


def test_a_card_that_is_read_is_written_back_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "card.json"
    path.write_bytes(SheetLayout("  ", end="\n").write(make_entries(make_full("2.x"))))
    again = tmp_path / "again.json"
    assert call(capsys, "heds", "fill", path, "-o", again).code == 0
    assert again.read_bytes() == path.read_bytes()


def test_lint_ends_with_1_where_answers_contradict_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = call(capsys, "heds", "lint", card(tmp_path))
    assert (good.code, "No answer contradicts another" in good.out) == (0, True)
    bad = call(capsys, "heds", "lint", card(tmp_path, q4_3_3=SheetAnswer(text="7")))
    assert bad.code == 1
    assert "the size is 7, and 4.3.4 lists 5 values" in " ".join(bad.out.split())
    as_json = call(capsys, "heds", "lint", card(tmp_path, q4_3_3=SheetAnswer(text="7")), "--json")
    assert as_json.code == 1
    assert [one["number"] for one in json.loads(as_json.out)["findings"]] == ["4.3.3", "4.3.3"]


def test_conversion_lists_what_did_not_go_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "new.json"
    done = call(capsys, "heds", "convert", card(tmp_path, "2.x"), "--to", "3.0", "-o", target)
    assert done.code == 0
    assert "3.2.2.5: 3.0 has no such question" in done.out
    assert read_sheet(target).answer("2.5").codes == ("42",)
    printed = call(capsys, "heds", "convert", card(tmp_path, "2.x"), "--to", "3.0")
    assert json.loads(printed.out) == json.loads(target.read_bytes())
    assert "3.2.2.5" in printed.err
    listed = json.loads(call(capsys, "heds", "convert", card(tmp_path, "2.x"), "--to", "3.0", "--json").out)
    assert listed["changed"][0]["number"] == "1.1.1"


def test_cards_and_studies_are_compared(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = call(capsys, "heds", "diff", card(tmp_path), card(tmp_path, "2.x", "old.json"))
    assert done.code == 0
    assert "HEDS 3.0" in done.out
    found = json.loads(call(capsys, "heds", "diff", study, card(tmp_path), "--json").out)
    assert "Only A study has 'fluency'" not in "".join(found["notes"])
    assert any(one["number"] == "3.1.1" for one in found["differences"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "fill, lint, convert, diff"),
        (["x"], "fill, lint, convert, diff"),
        (["fill"], "Missing argument 'STUDY|CARD'"),
        (["convert", "x.json"], "Missing option '--to'"),
        (["fill", "x.json", "--ask"], "go with a study"),
        (["fill", "x.json", "--version", "2.x"], "another version of a card: panelist heds convert"),
        (["fill", "x", "--ask", "--json"], "does not go with --json"),
        (["convert", "study", "--to", "3.0"], "takes the JSON file"),
        (["lint", "x.json", "--ask"], "No such option: --ask"),
        (["fill", "x", "--version", "1.0"], "There is no HEDS version '1.0' here"),
        (["fill", "x", "-o", "heds.docx"], "ending '.docx'"),
        (["fill", "x", "-o", "a.md", "-o", "a.md"], "named twice"),
        (["lint", "none.json"], "cannot be read"),
        (["convert", "none.json", "--to", "9"], "cannot be read"),
    ],
)
def test_bad_usage_ends_with_2_and_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call(capsys, "heds", *arguments)
    assert done.code == 2
    assert said in " ".join(done.err.replace("│", " ").split())
    assert "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_where_one_format_cannot_be(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = call(capsys, "heds", "fill", study, "-o", tmp_path / "a.json", "-o", tmp_path / "none" / "a.md")
    assert done.code == 2
    assert not (tmp_path / "a.json").exists()


def test_broken_cards_are_refused_and_leave_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "card.json"
    path.write_text('{"heds-ethics', encoding="utf-8")
    done = call(capsys, "heds", "convert", path, "--to", "3.0", "-o", tmp_path / "new.json")
    assert (done.code, "is not JSON" in done.err) == (2, True)
    assert list(tmp_path.iterdir()) == [path]


def test_answers_that_cannot_be_used_stop_the_command(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study.write_text(PLAIN + 'heds: {"3.9": x}\n', encoding="utf-8")
    done = call(capsys, "heds", "fill", study, "-o", tmp_path / "a.json")
    assert done.code == 2
    assert "heds.3.9: HEDS 3.0 has no question '3.9'" in done.err
    assert not (tmp_path / "a.json").exists()


def test_asking_goes_through_the_terminal(
    study: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = iter(["4", "q"])
    monkeypatch.setattr("builtins.input", lambda _: next(lines))
    done = call(capsys, "heds", "fill", study, "--ask")
    assert done.code == 0
    assert f"Stopped. 1 answer written to {study}." in done.out
    assert '"1.1.1": ["4. No report' in study.read_text("utf-8")
