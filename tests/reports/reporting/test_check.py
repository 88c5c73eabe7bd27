"""A study checked against lists of what to report: what is there, what is missing, and which key to fill."""

import json
import re
from pathlib import Path

import pytest

from panelist.reports.datasheet.heds_questions import NEWEST, find_question
from panelist.reports.report.contents import SECTIONS
from panelist.reports.reporting.appendix import draw_appendix
from panelist.reports.reporting.check import TITLES, check_reporting, read_criteria
from panelist.reports.study_folder import open_study
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
        assert point["heds"] or "filled" in point or "file" in point
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


def test_what_the_named_commands_write_makes_a_point_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order, registered = "who saw what, and in which order", "preregistration, and departures from it"

    def find_states() -> dict[str, str]:
        return {one.asks: one.state for one in check_reporting(load_study(folder)).points}

    before = find_states()
    assert (before[order], before[registered]) == ("missing", "missing")
    assert call(capsys, "plan", folder).code == 0
    assert call(capsys, "preregister", folder).code == 0
    made = find_states()
    assert (made[order], made[registered]) == ("reported", "in part")  # where it is registered is still open
    file = folder / "study.yaml"
    answer = '  "3.3.1": ["Yes", "https://osf.io/example"]\n'
    file.write_text(file.read_text(encoding="utf-8") + answer, encoding="utf-8")
    assert find_states()[registered] == "reported"


def test_the_appendix_holds_the_lists_and_the_datasheet_and_breaks_lines_and_pages(folder: Path) -> None:
    file = folder / "study.yaml"
    file.write_text(file.read_text(encoding="utf-8") + '  "3.2.5": "50 % of A & B_1"\n', encoding="utf-8")
    check = check_reporting(load_study(folder))
    text = draw_appendix(check)
    assert r"50 \% of A \& B\_1" in text
    assert re.findall(r"\\begin\{(\w+)\}", text) == re.findall(r"\\end\{(\w+)\}", text) == ["longtable"]
    assert text.count(r"\begingroup") == text.count(r"\endgroup") == 1
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    rows = [line for line in text.splitlines() if line.endswith(r" \\") and " & " in line]
    assert len(rows) == len(check.points) + 2  # the header on the first page, and on the others
    assert all(len(re.findall(r"(?<!\\)&", row)) == 3 for row in rows)
    cited = re.search(r"\\cite\{(.*)\}", text)
    assert cited
    assert cited[1].split(",") == list(check.references)
    assert all(title in text for title in ("Outputs, evaluators and procedure", "HEDS 3.0"))


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


def test_a_criterion_without_a_definition_is_named(folder: Path) -> None:
    asked = "each criterion by name, with its definition"
    states = {one.asks: one.state for one in check_reporting(load_study(folder)).points}
    assert states[asked] == "reported"
    file = folder / "study.yaml"
    cut, n = re.subn(r"^ +definition:.*\n", "", file.read_text("utf-8"), count=1, flags=re.MULTILINE)
    assert n == 1
    file.write_text(cut, encoding="utf-8")
    points = {one.asks: one for one in check_reporting(load_study(folder)).points}
    assert (points[asked].state, points[asked].where) == (
        "in part",
        "study.yaml, criteria: definition of fluency",
    )


def test_before_there_are_ratings_no_result_is_reported_and_no_section_named(folder: Path) -> None:
    check = check_reporting(load_study(folder))
    states = {one.asks: one.state for one in check.points}
    assert states["agreement between raters, and by which coefficient"] == "not yet"
    assert states["effect sizes, intervals and tests"] == "not yet"
    sections = tuple(title for name, title in TITLES.items() if name != "methods")
    assert not [one for one in check.points if one.state == "reported" and one.where.startswith(sections)]


def test_the_study_file_can_say_whether_raters_worked_independently(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, "plan", folder).code == call(capsys, "simulate", folder).code == 0
    study, analysis = load_study(folder), open_study(folder).analyse(resamples=20)
    point = "reliability: independence"
    missing = {one.asks: one for one in check_reporting(study, analysis).points}[point]
    assert (missing.state, "study.yaml, raters: independent" in missing.where) == ("missing", True)
    file = folder / "study.yaml"
    told = re.sub(r"^raters:", "raters:\n  independent: true", file.read_text("utf-8"), flags=re.MULTILINE)
    file.write_text(told, encoding="utf-8")
    (folder / "plan.csv").unlink()
    points = {one.asks: one for one in check_reporting(load_study(folder), analysis).points}
    assert points[point].state == "reported"
    volume = points["how many ratings there are, and how many of each output"]  # ratings answer it, too
    assert (volume.state, volume.where) == ("reported", "Did raters agree?; the ratings")
