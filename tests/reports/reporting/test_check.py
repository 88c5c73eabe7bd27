"""A study held against lists of what to report: what is there, what lacks, and which key would hold it."""

import json
from pathlib import Path

import pytest

from panelist.reports.datasheet.heds_questions import NEWEST, find_question
from panelist.reports.report.contents import SECTIONS
from panelist.reports.reporting.check import TITLES, check_reporting, read_criteria
from panelist.study.reading.load import load_study
from panelist.study.start import init_study
from tests.cli.commands import call


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "study"
    init_study(place, "likert")
    return place


def test_every_point_names_questions_sections_and_lists_that_exist() -> None:
    data = read_criteria()
    for point in data["criterion"]:
        for number in point["heds"]:
            assert find_question(NEWEST, number).number == number
        assert set(point["lists"]) <= set(data["lists"])
        assert point["heds"] or point["filled"]
        assert point.get("section", "methods") in TITLES
    assert set(TITLES) <= set(SECTIONS)
    assert all(TITLES[name] == SECTIONS[name] for name in TITLES if name != "methods")


def test_what_the_study_file_lacks_is_missing_and_the_key_is_named(folder: Path) -> None:
    file = folder / "study.yaml"
    states = {one.asks: one for one in check_reporting(load_study(folder)).points}
    assert states["ethical review"].state == "reported"
    assert states["consent"].state == "reported"
    text = file.read_text(encoding="utf-8")
    cut = [line for line in text.splitlines() if not line.strip().startswith(('"5.1":', "ethics:"))]
    file.write_text("\n".join(cut), encoding="utf-8")
    states = {one.asks: one for one in check_reporting(load_study(folder)).points}
    assert (states["ethical review"].state, states["ethical review"].where) == (
        "missing",
        "study.yaml, information: ethics",
    )
    assert states["personal data"].state == "missing"


def test_an_answer_in_the_study_file_makes_a_point_reported(folder: Path) -> None:
    file = folder / "study.yaml"
    before = check_reporting(load_study(folder))
    answers = '  "5.2": "1"\n  "5.3": "1"\n'  # the template ends with its heds:
    file.write_text(file.read_text(encoding="utf-8") + answers, encoding="utf-8")
    after = check_reporting(load_study(folder))
    states = {one.asks: one.state for one in after.points}
    assert states["personal data"] == "reported"
    assert len(after.missing) == len(before.missing) - 1


def test_the_command_says_no_while_something_is_missing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = call(capsys, "report", folder, "--check", "--json")
    assert done.code == 1
    told = json.loads(done.out)
    assert {one["state"] for one in told["points"]} >= {"missing", "reported"}
    assert not (folder / "report.html").exists()
    done = call(capsys, "report", folder / "outputs.csv", "--check")
    assert (done.code, "--check needs a study" in done.err) == (2, True)
