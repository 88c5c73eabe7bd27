"""Outputs that do not exist: by a missing row or by their status, where the study plans without them."""

from pathlib import Path

import pytest

from panelist.study.outputs import Outputs, examine_outputs
from panelist.study.problems import Problem
from panelist.study.reading.load import examine_study
from panelist.study.sections.outputs_file import OutputsFile

PLAN = OutputsFile(missing="plan")
ROWS = """item,system,output,status
1,a,one,ok
1,b,,timeout
2,a,I cannot help with that.,refusal
2,b,,
3,b,three,
"""
STUDY = """title: Holes
outputs: {{file: outputs.csv, missing: {missing}}}
criteria: [{{name: fluency, question: 'How fluent?', scale: {{type: likert, points: 5}}}}]
design: {{type: {design}}}
"""


def examine(folder: Path, text: str, options: OutputsFile = PLAN) -> tuple[Outputs, list[Problem]]:
    (folder / "outputs.csv").write_text(text, encoding="utf-8")
    outputs, problems = examine_outputs(folder / "outputs.csv", options=options)
    assert outputs is not None
    return outputs, problems


def test_a_timeout_and_a_row_that_is_not_there_are_missing_a_refusal_and_nothing_are_not(
    tmp_path: Path,
) -> None:
    outputs, problems = examine(tmp_path, ROWS)
    assert outputs.lacking == (("1", "b", "timeout"), ("3", "a", ""))
    assert outputs.text("2", "a") == "I cannot help with that."
    assert outputs.text("2", "b") == ""
    assert not any(problem.grave for problem in problems)
    (note,) = [problem.message for problem in problems if "do not exist" in problem.message]
    assert "2 of 6 outputs" in note
    assert "b lacks 1 of 3 items (1 timeout); a lacks 1 of 3 items (1 not in the file)" in note


def test_an_unknown_status_is_answered_with_the_nearest_and_its_line(tmp_path: Path) -> None:
    _, problems = examine(tmp_path, ROWS.replace("refusal", "refused"))
    (found,) = [problem for problem in problems if problem.grave]
    assert found.line == 4
    assert "'refused' is no status of an output (line 4). Did you mean 'refusal'?" in found.message


def test_a_system_without_any_output_is_a_mistake(tmp_path: Path) -> None:
    _, problems = examine(tmp_path, "item,system,output,status\n1,a,x,\n1,b,,error\n")
    assert [one.message.split(".")[0] for one in problems if one.grave] == ["'b' has no output at all"]


def test_where_missing_outputs_are_refused_the_status_is_not_read_and_the_remedy_is_named(
    tmp_path: Path,
) -> None:
    outputs, problems = examine(tmp_path, ROWS, OutputsFile())
    assert outputs.lacking == ()
    assert "status" not in outputs.frame
    grave = [problem.message for problem in problems if problem.grave]
    assert len(grave) == 2
    assert all("outputs: {missing: plan}" in message for message in grave)
    plain, _ = examine(
        tmp_path,
        "item,system,output\n" + "\n".join(line.rpartition(",")[0] for line in ROWS.splitlines()[1:]) + "\n",
        OutputsFile(),
    )
    assert plain.hash == outputs.hash


def test_why_an_output_is_missing_belongs_to_the_study(tmp_path: Path) -> None:
    first, _ = examine(tmp_path, ROWS)
    second, _ = examine(tmp_path, ROWS.replace("timeout", "error"))
    assert first.hash != second.hash


@pytest.mark.parametrize("design", ["latin-square", "williams", "full"])
def test_a_design_that_wants_every_output_says_which_would_do(tmp_path: Path, design: str) -> None:
    (tmp_path / "outputs.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY.format(missing="plan", design=design), encoding="utf-8")
    study, problems = examine_study(tmp_path)
    assert study is None
    (found,) = [problem for problem in problems if problem.grave]
    assert found.line == 4
    assert "2 of 6 are missing. What would do: lists (" in found.message
    assert "pages (" in found.message


@pytest.mark.parametrize("design", ["lists", "pages"])
def test_a_design_that_does_without_takes_the_study(tmp_path: Path, design: str) -> None:
    (tmp_path / "outputs.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY.format(missing="plan", design=design), encoding="utf-8")
    study, _ = examine_study(tmp_path)
    assert study is not None
    assert study.there is not None
    assert study.there.tolist() == [[True, False], [True, True], [False, True]]
    assert study.n_items == 3
