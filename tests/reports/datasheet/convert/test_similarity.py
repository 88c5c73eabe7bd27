"""How similar two experiments are, from their datasheets."""

import json
import math
from pathlib import Path

import pytest

from panelist.reports.datasheet.convert.similarity import GROUPS, measure_similarity
from panelist.reports.datasheet.files.read import read_sheet
from panelist.reports.datasheet.fill import fill_sheet
from panelist.reports.datasheet.heds_questions import NEWEST, list_questions
from panelist.reports.datasheet.sheet import Sheet, SheetAnswer
from panelist.study.reading.load import load_study
from panelist.study.start import init_study
from tests.cli.commands import call
from tests.reports.datasheet.convert.published_pair import write_card
from tests.reports.datasheet.sheets import SHARED


@pytest.fixture
def sheet(tmp_path: Path) -> Sheet:
    init_study(tmp_path / "study", "likert")
    return fill_sheet(load_study(tmp_path / "study"))


def test_an_experiment_is_wholly_like_itself(sheet: Sheet) -> None:
    found = measure_similarity(sheet, sheet)
    assert (found.overall.low, found.overall.high) == (1.0, 1.0)
    assert found.overall.different == found.overall.worded == 0
    assert "only as they would between two samples of raters" in found.sentence()


def test_each_change_counts_once_in_its_group(sheet: Sheet) -> None:
    changed = sheet.with_answers(
        {
            ("3.2.2.1", ""): SheetAnswer(("1",) if sheet.answer("3.2.2.1").codes != ("1",) else ("2",)),
            ("3.2.3", ""): SheetAnswer((), "Friends of the authors."),
            ("5.1", ""): SheetAnswer((), "Another board."),
        }
    )
    groups = {one.group: one for one in measure_similarity(sheet, changed).groups}
    assert (groups["raters"].different, groups["recruiting and pay"].worded) == (1, 1)
    assert (groups["recruiting and pay"].low, groups["recruiting and pay"].high) == (0.0, 1.0)
    assert sum(one.different + one.worded for one in groups.values()) == 2, "ethics are no property"
    found = measure_similarity(sheet, changed)
    assert found.differing == ("3.2.2.1",)
    assert "raters" in found.sentence()


def test_numbers_that_differ_are_different_whatever_is_written_beside_them(sheet: Sheet) -> None:
    for number, criterion in (("3.1.1", ""), ("4.3.3", sheet.criteria[0])):
        one = sheet.with_answers({(number, criterion): SheetAnswer((), "361")})
        two = sheet.with_answers({(number, criterion): SheetAnswer((), "240, of each system")})
        three = sheet.with_answers({(number, criterion): SheetAnswer((), "361 in all")})
        assert measure_similarity(one, two).overall.different == 1, number
        assert measure_similarity(one, three).overall.worded == 1, number


@pytest.mark.parametrize("nothing", ["N/A", "n/a.", "NA", "not applicable", "", " - "])
def test_what_does_not_apply_or_is_not_stated_is_no_property(sheet: Sheet, nothing: str) -> None:
    stated = sheet.with_answers({("3.2.5", ""): SheetAnswer((), "Fluent speakers of English.")})
    blank = sheet.with_answers({("3.2.5", ""): SheetAnswer((), nothing)})
    one = measure_similarity(stated, blank).overall
    neither = measure_similarity(blank, blank).overall
    assert (one.worded, one.different, one.unknown) == (0, 0, 1)
    assert (neither.same, neither.unknown) == (one.same, 0)


def test_two_published_repeats_of_one_study_are_compared_as_a_reader_would(tmp_path: Path) -> None:
    samsung, zhaw = (read_sheet(write_card(name, tmp_path / f"{name}.json")) for name in ("Samsung", "ZHAW"))
    found = measure_similarity(samsung, zhaw)
    groups = {one.group: (one.same, one.different, one.worded, one.unknown) for one in found.groups}
    assert groups == {  # counted by hand from the two cards, question by question
        "systems": (3, 2, 0, 0),
        "items and outputs": (0, 2, 0, 0),  # 361 outputs and 240; all of them, and a stratified sample
        "raters": (3, 2, 1, 1),  # five each, known to the authors; experts and not, paid and not
        "recruiting and pay": (0, 0, 1, 0),
        "instructions and training": (0, 0, 1, 0),
        "procedure and pages": (1, 1, 3, 2),
        "criterion": (7, 0, 1, 0),
        "scale and question": (2, 1, 2, 0),  # a cell to fill in, and multiple choice
        "analysis": (0, 0, 2, 0),
    }
    assert [found.overall.low, found.overall.high] == pytest.approx([16 / 35, 27 / 35])
    assert "may differ because of what was changed" in found.sentence()
    assert any("'Answer Relevance'" in note for note in found.notes)


def test_nothing_known_is_said_to_be_unknown() -> None:
    empty = Sheet(NEWEST, (), {}, "empty")
    found = measure_similarity(empty, empty)
    assert math.isnan(found.overall.low)
    assert "unknown" in found.sentence()


def test_every_group_names_questions_of_the_sheet() -> None:
    numbers = [question.number for question in list_questions(NEWEST)]
    for group, starts in GROUPS.items():
        for start in starts:
            prefix = start.rstrip(".") + "."
            assert any(number == start or number.startswith(prefix) for number in numbers), group


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/heds is missing")
def test_published_cards_are_compared_across_versions() -> None:
    first = read_sheet(SHARED / "card-2.x-reprohum-d2t.json")
    second = read_sheet(SHARED / "sample_datacard_heds3.json")
    found = measure_similarity(first, second)
    assert measure_similarity(first, first).overall.low == 1.0
    assert 0 <= found.overall.low <= found.overall.high < 1
    assert found.overall.different > 0


def test_the_commands_state_the_degree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        init_study(tmp_path / name, "likert")
    done = call(capsys, "heds", "diff", tmp_path / "one", tmp_path / "two", "--json")
    assert json.loads(done.out)["similarity"]["groups"][-1]["low"] == 1.0
    scores = tmp_path / "scores.csv"
    rows = ("criterion,system,score", "fluency,a,3.1", "fluency,b,4.0", "fluency,c,2.0")
    scores.write_text("\n".join(rows), encoding="utf-8")
    both = ("reproduce", scores, scores, "--scale-min", "1", "--sheet", tmp_path / "one")
    done = call(capsys, *both)
    assert (done.code, "once for each study" in done.err) == (2, True)
    done = call(capsys, *both, "--sheet", tmp_path / "two", "--json")
    assert json.loads(done.out)["similarity"][0]["groups"][-1]["high"] == 1.0
