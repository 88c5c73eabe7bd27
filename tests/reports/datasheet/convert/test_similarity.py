"""How alike two experiments are, by their datasheets."""

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
from tests.reports.datasheet.sheets import SHARED


@pytest.fixture
def sheet(tmp_path: Path) -> Sheet:
    init_study(tmp_path / "study", "likert")
    return fill_sheet(load_study(tmp_path / "study"))


def test_an_experiment_is_wholly_like_itself(sheet: Sheet) -> None:
    found = measure_similarity(sheet, sheet)
    assert (found.overall.low, found.overall.high) == (1.0, 1.0)
    assert found.overall.different == found.overall.worded == 0
    assert "no more than those of two samples of raters" in found.sentence()


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


def test_nothing_known_is_said_to_be_unknown() -> None:
    empty = Sheet(NEWEST, (), {}, "empty")
    found = measure_similarity(empty, empty)
    assert math.isnan(found.overall.low)
    assert "not known" in found.sentence()


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
