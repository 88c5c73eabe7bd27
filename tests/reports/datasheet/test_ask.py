"""Asking: one question after the other, answers into the study file, comments and all else kept."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from panelist.core.errors import BadFile
from panelist.reports.datasheet.answers_file import insert_answers, save_answers
from panelist.reports.datasheet.ask import AskedQuestion, ask_open
from panelist.reports.datasheet.fill import fill_sheet
from panelist.reports.datasheet.sheet import Sheet
from panelist.study.reading.load import load_study
from panelist.study.study import Study
from tests.study.studies import PLAIN, write_study

COMMENTED = """\
# a study
title: A study # its title
criteria:
  - {name: fluency, question: "How fluent is it?", scale: {type: likert, points: 5}}
heds: # people only
  # the committee
  "5.1": >-
    Approved by
    the committee
  "5.4": none # so far

# what follows stays
language: en
"""


def test_answers_stand_behind_the_others_and_comments_stay() -> None:
    made = insert_answers(COMMENTED, {"1.2": ("2. No resources shared.",), "1.3.1.1": 'A "B" C'})
    kept = COMMENTED.splitlines()
    lines = made.splitlines()
    assert [line for line in lines if line in kept] == kept
    assert lines[lines.index('  "5.4": none # so far') + 1 :][:2] == [
        '  "1.2": ["2. No resources shared."]',
        '  "1.3.1.1": "A \\"B\\" C"',
    ]


def test_an_older_answer_is_replaced() -> None:
    made = insert_answers(COMMENTED, {"5.1": "Refused"})
    assert yaml.safe_load(made)["heds"] == {"5.4": "none", "5.1": "Refused"}
    assert "committee\n" in made  # the comment above it is not ours to remove
    assert "Approved" not in made


@pytest.mark.parametrize(
    "section", ["", "heds:\n", "heds: # soon\n", "heds: {}\n", 'heds: {"5.4": none} # x\n']
)
@pytest.mark.parametrize("after", ["", "language: en\n", "# the end"])
def test_every_way_to_begin_the_section_is_understood(section: str, after: str) -> None:
    made = insert_answers(PLAIN + section + after, {"5.1": "x", "4.3.9": {"fluency": "y"}})
    found = yaml.safe_load(made)
    assert found["heds"].items() >= {"5.1": "x", "4.3.9": {"fluency": "y"}}.items()
    assert ("5.4" in found["heds"]) == ("5.4" in section)
    assert found["title"] == "A study"
    assert all(comment in made for comment in ("# soon", "# x", "# the end") if comment in section + after)


def test_a_section_that_cannot_be_added_to_is_refused() -> None:
    with pytest.raises(BadFile, match=r"section heds: of the study \(line 6\)"):
        insert_answers(PLAIN + 'heds: {"5.1": a,\n  "5.4": b}\n', {"1.2": "x"})


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1))
def test_any_words_survive_the_file(text: str) -> None:
    made = insert_answers(PLAIN, {"5.1": text, "2.1": (text,), "4.3.9": {"a: b": text}})
    assert yaml.safe_load(made)["heds"] == {"5.1": text, "2.1": [text], "4.3.9": {"a: b": text}}


def test_a_file_with_other_line_ends_and_a_mark_keeps_them(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + PLAIN.replace("\n", "\r\n").encode())
    path.chmod(0o640)
    save_answers(load_study(path), {"5.1": "x"})
    content = path.read_bytes()
    assert content.startswith(b"\xef\xbb\xbftitle: A study\r\n")
    assert content.count(b"\n") == content.count(b"\r\n")
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(one.name for one in tmp_path.iterdir()) == ["outputs.csv", "study.yaml"]


def test_an_answer_that_breaks_the_study_changes_nothing(tmp_path: Path) -> None:
    path = write_study(tmp_path, COMMENTED)
    with pytest.raises(Exception, match="ethics"):
        save_answers(load_study(path), {"ethics": "x"})
    assert path.read_text("utf-8") == COMMENTED
    assert sorted(one.name for one in tmp_path.iterdir()) == ["outputs.csv", "study.yaml"]


def answering(lines: list[str], end: type[BaseException] = EOFError) -> Callable[[str], str]:
    """Return a person who types these lines and then goes away."""
    left: Iterator[str] = iter(lines)

    def read(_: str) -> str:
        line = next(left, None)
        if line is None:
            raise end
        return line

    return read


def ask(path: Path, lines: list[str], end: type[BaseException] = EOFError) -> tuple[AskedQuestion, list[str]]:
    said: list[str] = []

    def fill(study: Study) -> Sheet:
        return fill_sheet(study)

    return ask_open(load_study(path), fill, answering(lines, end), said.append), said


def test_answers_are_asked_for_written_and_not_asked_again(tmp_path: Path) -> None:
    path = write_study(tmp_path, COMMENTED)
    asked, said = ask(path, ["1", "https://example.org", "", "Someone"])
    assert (asked.n_answered, asked.finished) == (2, False)
    heds = load_study(path).file.heds
    assert heds["1.1.1"] == (
        "1. The main paper reporting the experiment is here (enter URL).",
        "https://example.org",
    )
    assert heds["1.3.1.1"] == "Someone"
    again, said = ask(path, ["q"])
    assert again.n_answered == 0
    assert "1.2 Where are the materials and data?" in said[2]
    assert fill_sheet(load_study(path)).answer("1.1.1").codes == ("1",)


@pytest.mark.parametrize("end", [EOFError, KeyboardInterrupt])
def test_whoever_goes_away_keeps_what_was_answered(tmp_path: Path, end: type[BaseException]) -> None:
    path = write_study(tmp_path)
    asked, _ = ask(path, ["4"], end)
    assert asked.n_answered == 1
    assert fill_sheet(load_study(path)).answer("1.1.1").codes == ("4",)


def test_what_is_no_option_is_asked_for_again(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    lines = ["9", "4", "2", *[""] * 6, "1; 99", "1; 7", "q"]
    _, said = ask(path, lines)
    assert any("'9' is not one of the options. Known: 1, 2, 3, 4." in line for line in said)
    assert any("'99' is not one of the options" in line for line in said)
    assert fill_sheet(load_study(path)).answer("2.1").codes == ("1", "7")


def test_criteria_are_answered_one_by_one(tmp_path: Path) -> None:
    text = PLAIN + "  - {name: meaning, question: Kept, scale: {type: likert}}\n"
    path = write_study(tmp_path, text)
    blanks = [(one.question.number, one.criterion) for one in fill_sheet(load_study(path)).open()]
    first, second = blanks.index(("4.1.1", "fluency")), blanks.index(("4.1.1", "meaning"))
    lines = [""] * len(blanks)
    lines[first], lines[second] = "1", "2"
    asked, _ = ask(path, lines)
    assert asked.finished
    assert load_study(path).file.heds == {
        "4.1.1": {"fluency": ("1. Correctness",), "meaning": ("2. Goodness",)}
    }


def test_a_criterion_that_the_form_calls_otherwise_is_answered_under_its_own_name(tmp_path: Path) -> None:
    path = write_study(tmp_path, PLAIN.replace("name: fluency", "name: form & tone"))
    blanks = [one.question.number for one in fill_sheet(load_study(path)).open()]
    lines = ["2" if number == "4.1.1" else "" for number in blanks]
    ask(path, lines)
    assert load_study(path).file.heds == {"4.1.1": {"form & tone": ("2. Goodness",)}}
    assert fill_sheet(load_study(path)).answer("4.1.1", "form and tone").codes == ("2",)


def test_an_option_that_needs_an_explanation_stays_open_without_one(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    asked, said = ask(path, ["1", "", "q"])
    assert asked.n_answered == 0
    assert any("needs an explanation" in line for line in said)
    assert path.read_text("utf-8") == PLAIN
