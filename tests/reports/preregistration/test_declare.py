"""Preregistrations: filled from what is known, open where it is not, kept, amended with a reason."""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest
import typer
from typer.testing import CliRunner, Result

from panelist.cli.preregister import preregister as command
from panelist.collection.study_files import read_power
from panelist.core.errors import BadFile, BadStudy, PanelistError, UnknownName
from panelist.design.make import plan_study
from panelist.design.plan_files import write_plan
from panelist.reports.preregistration.declare import Preregistration, draft_preregistration, preregister
from panelist.reports.preregistration.draw import draw_html, draw_latex, draw_markdown, write_preregistration
from panelist.reports.preregistration.forms import FORMS
from panelist.reports.preregistration.recipe import GROUPS
from panelist.reports.preregistration.topics import TOPICS
from panelist.study.preregistration import FILE, Topic, read_registrations
from panelist.study.reading.load import find_problems, load_study
from panelist.study.study import Study
from tests.study.studies import PLAIN, write_study

FULL = PLAIN + (
    "design: {type: full}\nraters: {count: 6, recruitment: A panel., description: Adults.}\n"
    'analysis: {findings: ["fluency: a > b"], exclude: {median_seconds_below: 5}}\n'
)
THEN = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
CELL = {
    "model": "clmm",
    "items": 6,
    "ratings_per_item": 3,
    "raters": 18,
    "effect": 0.5,
    "power": 0.8,
    "low": 0.7,
    "high": 0.9,
}
POWER = {"cells": [CELL | {"sims": 100}]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_study(tmp_path, FULL)


def answer(made: Preregistration, form: str, heading: str) -> str:
    forms = {one.name: one for one in made.forms}
    return next(one.answer for one in forms[form].entries if one.heading.endswith(heading))


def test_forms_are_filled_from_the_study(path: Path) -> None:
    made = draft_preregistration(path, now=THEN)
    assert [form.name for form in made.forms] == ["aspredicted", "osf"]
    assert answer(made, "aspredicted", "Hypothesis") == "On fluency, a is rated higher than b."
    assert "How fluent is it?" in answer(made, "aspredicted", "Dependent variable")
    assert "median below 5 seconds" in answer(made, "osf", "Data exclusion")
    assert "alpha = 0.05" in answer(made, "osf", "Inference criteria")
    assert answer(made, "osf", "Sample size") == "6 raters."
    assert made.time == "2026-03-04T05:06:07Z"
    assert made.study_hash == load_study(path).hash


def test_judges_beside_the_study_are_told_with_the_hash_of_their_scores(path: Path) -> None:
    before = answer(draft_preregistration(path), "osf", "Statistical models")
    scores = b"judge,item,system,rating,model\nJ,i0,a,3,m-1\nJ,i0,b,,m-1\n"
    (path.parent / "judges.csv").write_bytes(scores)
    said = answer(draft_preregistration(path), "osf", "Statistical models")
    assert said.startswith(before)
    assert "beside them: J (m-1; no answer for 50.0 % of 2 scores); these scores are no ratings" in said
    assert said.endswith(f"SHA-256 {hashlib.sha256(scores).hexdigest()}.")


def test_aspredicted_has_eight_questions_and_name_type_source() -> None:
    headings = [one.words for one in FORMS["aspredicted"].headings]
    assert [words[:2] for words in headings[:8]] == [f"{number}." for number in range(1, 9)]
    assert headings[8:] == ["Name", "Type of study", "Data source"]


def test_every_topic_of_a_form_can_be_answered() -> None:
    known = {*TOPICS, *get_args(Topic), *GROUPS, "analyses"}
    for form in FORMS.values():
        assert {one.topic for one in form.headings} <= known, form.name


def test_the_plan_and_the_power_analysis_say_how_many_and_why(path: Path) -> None:
    study = load_study(path)
    plan = plan_study(study)
    write_plan(plan, path.parent)
    (path.parent / "power.json").write_text(json.dumps(POWER), encoding="utf-8")
    made = draft_preregistration(path)
    assert (
        answer(made, "osf", "Sample size")
        == "6 raters give 72 ratings of 12 outputs (6 items), as the plan says."
    )
    assert "power 0.80 (0.70 to 0.90, 100 data sets)" in answer(made, "osf", "Sample size rationale")
    assert made.plan_hash == plan.hash
    assert "sample_size_rationale" not in made.open_topics


def test_what_is_not_known_is_open_and_says_where_to_answer_it(tmp_path: Path) -> None:
    made = draft_preregistration(write_study(tmp_path))
    assert {"hypotheses", "authors", "sample_size", "sample_size_rationale"} <= set(made.open_topics)
    text = str(made)
    assert "(open)" in text
    assert "preregistration: authors:" in text
    assert "other" not in made.open_topics


def test_answers_in_the_study_file_come_first(tmp_path: Path) -> None:
    words = "preregistration: {authors: A. Author, stopping_rule: After a week.}\n"
    made = draft_preregistration(write_study(tmp_path, FULL + words))
    assert answer(made, "osf", "Authors") == "A. Author"
    assert answer(made, "osf", "Stopping rule") == "After a week."


def test_an_unknown_topic_in_the_study_file_is_a_problem(tmp_path: Path) -> None:
    found = find_problems(write_study(tmp_path, FULL + "preregistration: {stoping_rule: x}\n"))
    assert any("stoping_rule" in str(one) for one in found if one.grave)


def test_answers_and_steps_do_not_change_the_hash_of_the_study(tmp_path: Path) -> None:
    before = load_study(write_study(tmp_path, FULL)).hash
    more = "preregistration: {authors: A. Author}\nrepeat: {of: A paper, steps: {ethics: {state: done}}}\n"
    assert load_study(write_study(tmp_path, FULL + more)).hash == before


def test_a_preregistration_is_kept_and_read_back(path: Path) -> None:
    made = preregister(path, now=THEN)
    assert made.number == 1
    (kept,) = read_registrations(path.parent)
    assert kept.time == "2026-03-04T05:06:07Z"
    assert kept.study_hash == load_study(path).hash
    assert kept.decisions["analysis.alpha"] == "0.05"
    assert kept.sha256 == kept.find_hash()


def test_nothing_new_adds_nothing(path: Path) -> None:
    preregister(path, now=THEN)
    before = (path.parent / FILE).read_bytes()
    again = preregister(path)
    assert (path.parent / FILE).read_bytes() == before
    assert again.time == "2026-03-04T05:06:07Z"
    assert any("nothing has changed" in note for note in again.notes)


def test_a_change_needs_a_reason_and_is_an_amendment_with_its_own_time(path: Path) -> None:
    preregister(path, now=THEN)
    before = (path.parent / FILE).read_bytes()
    write_study(path.parent, FULL.replace("median_seconds_below: 5", "median_seconds_below: 3"))
    with pytest.raises(PanelistError, match=r"median_seconds_below \(5.0 → 3.0\).*--amend"):
        preregister(path)
    assert (path.parent / FILE).read_bytes() == before
    made = preregister(path, reason="Pages are short.", now=THEN.replace(day=9))
    assert made.kind() == "Amendment 1 of the preregistration"
    first, second = read_registrations(path.parent)
    assert (first.time, second.time) == ("2026-03-04T05:06:07Z", "2026-03-09T05:06:07Z")
    assert second.reason == "Pages are short."
    assert second.previous == first.sha256


def test_an_answer_that_changes_is_an_amendment_too(path: Path) -> None:
    preregister(path)
    write_study(path.parent, FULL + "preregistration: {authors: A. Author}\n")
    with pytest.raises(PanelistError, match="the answer under 'Authors'"):
        preregister(path)


@pytest.mark.parametrize(
    "change", [("0.05", "0.10"), ("2026-03-04", "2025-03-04"), ('"format": 1', '"format": 9')]
)
def test_a_file_that_was_changed_by_hand_is_refused(path: Path, change: tuple[str, str]) -> None:
    preregister(path, now=THEN)
    file = path.parent / FILE
    file.write_text(file.read_text("utf-8").replace(*change), encoding="utf-8")
    with pytest.raises(BadFile):
        preregister(path, reason="x")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"format": 1}',
        '{"format": 1, "registrations": []}',
        '{"format": 1, "registrations": [{}]}',
    ],
)
def test_a_file_that_is_none_is_refused(path: Path, text: str) -> None:
    (path.parent / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(BadFile):
        preregister(path)
    assert (path.parent / FILE).read_text("utf-8") == text


def test_a_study_made_in_python_cannot_be_kept(path: Path) -> None:
    loaded = load_study(path)
    with pytest.raises(BadStudy):
        preregister(Study(loaded.file, loaded.outputs))


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"cells": []}', '{"cells": [{"power": 1}]}', '{"best": null}']
)
def test_what_is_no_power_analysis_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "power.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadFile):
        read_power(file)


def test_a_sample_size_answers_the_rationale(path: Path, tmp_path: Path) -> None:
    size = {
        "target": 0.8,
        "effect": 0.5,
        "model": "clmm",
        "confirmed": {"power": 0.81, "low": 0.7, "high": 0.9, "sims": 200},
    }
    size["best"] = {"items": 40, "ratings_per_item": 3, "raters": 9}
    file = tmp_path / "size.json"
    file.write_text(json.dumps(size), encoding="utf-8")
    said = answer(draft_preregistration(path, power=file), "osf", "Sample size rationale")
    assert "40 items, 3 ratings of each output, 9 raters" in said


def test_a_repeat_gets_the_recipe_with_its_deviations(tmp_path: Path) -> None:
    (tmp_path / "original").mkdir()
    write_study(tmp_path / "original", FULL)
    repeat = "repeat:\n  of: original/study.yaml\n  reasons: {raters: A larger panel.}\n"
    made = draft_preregistration(write_study(tmp_path, FULL.replace("count: 6", "count: 9") + repeat))
    assert [form.name for form in made.forms] == ["aspredicted", "osf", "recipe"]
    assert answer(made, "recipe", "Measures") == "Exact."
    assert answer(made, "recipe", "populations") == "Not exact: raters.count: 6 → 9 (A larger panel.)."
    assert "original_effect" in made.open_topics


HOSTILE = "<script>alert(1)</script> \\input{x} | *bold* [a](b)"


def test_user_text_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    made = draft_preregistration(write_study(tmp_path, FULL.replace("A study", json.dumps(HOSTILE))))
    assert "<script>" not in draw_html(made)
    assert "<script>" not in draw_markdown(made)
    assert "\\input{x}" not in draw_latex(made)
    assert HOSTILE in made.title()


@pytest.mark.parametrize("ending", ["md", "html", "tex", "json"])
def test_every_format_holds_every_answer(path: Path, ending: str) -> None:
    made = draft_preregistration(path)
    target = path.parent / f"out.{ending}"
    write_preregistration(made, target)
    text = target.read_text("utf-8")
    for form in made.forms:
        for one in form.entries:
            assert one.heading.split(". ")[-1] in text
    assert made.study_hash in text
    assert "rated higher than b" in text


def run(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, list(arguments))


def test_the_command_keeps_and_writes(path: Path) -> None:
    answer = run(str(path), "-o", str(path.parent / "p.md"))
    assert answer.exit_code == 0, answer.output
    assert "kept in preregistration.json" in answer.stdout
    assert (path.parent / "p.md").exists()
    assert len(read_registrations(path.parent)) == 1


def test_a_draft_keeps_nothing_and_json_is_one_object(path: Path) -> None:
    answer = run(str(path), "--draft", "--json", "--form", "recipe")
    found = json.loads(answer.stdout)
    assert found["number"] == 0
    assert list(found["forms"]) == ["recipe"]
    assert not (path.parent / FILE).exists()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--form", "asprediced"], UnknownName),
        (["-o", "x.docx"], BadFile),
        (["-o", FILE], BadFile),
        (["--draft", "--amend", "x"], PanelistError),
        (["--power", "missing.json"], BadFile),
    ],
)
def test_bad_options_keep_nothing(path: Path, arguments: list[str], error: type[Exception]) -> None:
    answer = run(str(path), *arguments)
    assert isinstance(answer.exception, error)
    assert not (path.parent / FILE).exists()
