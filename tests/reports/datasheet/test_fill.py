"""What study, plan and ratings can answer is filled in; the rest stays open."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from panelist.core.errors import BadFile, BadStudy
from panelist.design.make import plan_study
from panelist.design.simulate import simulate_ratings
from panelist.reports.datasheet.files.read import read_sheet
from panelist.reports.datasheet.files.sheet_view import render_html, render_latex, render_markdown
from panelist.reports.datasheet.fill import SOURCES, describe_sources, fill_sheet
from panelist.reports.datasheet.fill.given import read_answer
from panelist.reports.datasheet.heds_questions import SheetQuestion, Version, find_question
from panelist.reports.datasheet.lint.lint_sheet import lint_sheet
from panelist.reports.datasheet.sheet import Sheet, SheetAnswer, describe_answer
from panelist.reports.datasheet.write_datasheet import write_datasheet
from panelist.study.reading.load import load_study
from tests.study.studies import PLAIN, write_study

ROOT = Path(__file__).resolve().parents[3]
TEMPLATES = sorted((ROOT / "src" / "panelist" / "study" / "templates").glob("*/study.yaml"))
EXAMPLES = sorted((ROOT / "examples").glob("*/*.yaml"))
LIKERT = next(path for path in TEMPLATES if path.parent.name == "likert")


def fill(
    tmp_path: Path, text: str = PLAIN, ratings: pd.DataFrame | None = None, planned: bool = True
) -> Sheet:
    study = load_study(write_study(tmp_path, text))
    return fill_sheet(study, plan_study(study) if planned else None, ratings, resamples=10)


def words(sheet: Sheet, number: str, criterion: str = "") -> str:
    return " / ".join(describe_answer(sheet.question(number), sheet.answer(number, criterion)))


@pytest.mark.parametrize("path", [*TEMPLATES, *EXAMPLES], ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_template_and_example_fills_a_sheet_without_contradictions(path: Path) -> None:
    study = load_study(path)
    plan = plan_study(study)
    sheet = fill_sheet(study, plan, simulate_ratings(study, plan, seed=1), resamples=5)
    found = lint_sheet(sheet)
    assert found.findings == ()
    answered = {number for number, _ in sheet.answers}
    filled = {number for (number, _), one in sheet.answers.items() if one.source != "study.yaml, heds"}
    assert filled <= set(SOURCES)
    assert answered | {one.question.number for one in found.open} == {one.number for one, _ in sheet.places()}
    older = fill_sheet(study, plan, version="2.x")
    assert lint_sheet(older).findings == ()


def test_the_likert_template_tells_its_counts_scales_pay_and_agreement() -> None:
    study = load_study(LIKERT)
    plan = plan_study(study)
    ratings = simulate_ratings(study, plan, seed=1)
    sheet = fill_sheet(study, plan, ratings, resamples=20)
    assert words(sheet, "3.1.1") == "12"
    assert words(sheet, "3.2.1") == "9"
    assert words(sheet, "2.5") == "41. English"
    assert "12.60 GBP an hour" in words(sheet, "3.2.3")
    assert "3.36 GBP, calculated for 16 minutes" in words(sheet, "3.2.3")
    assert words(sheet, "4.3.3", "fluency") == "5"
    assert words(sheet, "4.3.4", "fluency").startswith("1 (Very badly), 2 (Badly)")
    assert words(sheet, "4.3.7", "fluency") == "How well is the answer written?"
    assert "Krippendorff's alpha (ordinal) is" in words(sheet, "4.3.11.2", "fluency")
    assert "of 9 repeated answers by 9 evaluators" in words(sheet, "4.3.12.2", "fluency")
    assert "rater" not in " ".join(answer.text for answer in sheet.answers.values())
    assert sheet.answer("3.2.2.1") == SheetAnswer(("2",))


def test_repeated_answers_are_compared_with_the_first() -> None:
    study = load_study(LIKERT)
    plan = plan_study(study)
    ratings = simulate_ratings(study, plan, seed=1)
    ratings["rating"] = ratings["rating"].where(ratings["check"] != "", 3)
    again = ratings["check"].str.startswith("repeat")
    ratings.loc[again, "rating"] = [3, 5] * (int(again.sum()) // 2)  # fluency as before, helpfulness two away
    sheet = fill_sheet(study, plan, ratings, resamples=5)
    assert "100 % of 9 repeated answers" in words(sheet, "4.3.12.2", "fluency")
    assert "0 % of 9 repeated answers" in words(sheet, "4.3.12.2", "helpfulness")
    assert "mean difference is 2.00 points" in words(sheet, "4.3.12.2", "helpfulness")


def test_excluded_evaluators_are_not_counted() -> None:
    study = load_study(LIKERT)
    plan = plan_study(study)
    ratings = simulate_ratings(study, plan, seed=1)
    ratings["excluded"] = ["asked to be left out" if name == "r001" else "" for name in ratings["rater"]]
    sheet = fill_sheet(study, plan, ratings, resamples=5)
    assert words(sheet, "3.2.1") == "8"
    assert "all of 1 of 9 evaluators" in words(sheet, "3.3.3.2")


def test_a_bare_study_leaves_open_what_it_does_not_say(tmp_path: Path) -> None:
    sheet = fill(tmp_path, planned=False)
    opened = {one.question.number for one in sheet.open()}
    assert {
        "1.1.1",
        "2.1",
        "2.4",
        "3.1.3.1",
        "3.2.1",
        "3.2.2.1",
        "3.2.2.2",
        "3.2.3",
        "3.3.3.1",
        "3.3.7",
    } <= opened
    assert {"4.1.1", "4.2.1", "4.3.1.2", "5.1", "5.2"} <= opened
    assert words(sheet, "4.3.2", "fluency") == "no definition given"
    assert words(sheet, "4.3.11.2", "fluency") == "planned"
    assert words(sheet, "4.3.12.1", "fluency") == "IntraAA not assessed"
    assert sheet.answer("2.5").draft  # English is the default of the format, nobody said it


def test_unequal_numbers_of_outputs_are_told_apart(tmp_path: Path) -> None:
    rows = [("r1", "i1", "a"), ("r1", "i2", "a"), ("r1", "i1", "b")]
    ratings = pd.DataFrame(rows, columns=["rater", "item", "system"]).assign(criterion="fluency", rating=3)
    sheet = fill(tmp_path, ratings=ratings)
    assert words(sheet, "3.1.1") == "The number differs between systems: a 2, b 1."
    assert words(sheet, "3.2.1") == "1"


def test_ratings_of_other_criteria_leave_agreement_open(tmp_path: Path) -> None:
    rows = [(f"r{r}", f"i{i}", "a", "other", 1 + (r + i) % 5) for r in range(3) for i in range(4)]
    ratings = pd.DataFrame(rows, columns=["rater", "item", "system", "criterion", "rating"])
    sheet = fill(tmp_path, ratings=ratings)
    assert ("4.3.11.2", "fluency") in {(one.question.number, one.criterion) for one in sheet.open()}


@pytest.mark.parametrize(
    ("paid", "codes"), [("raters: {paid: money}\n", ("1",)), ("raters: {paid: other}\n", ("2",)), ("", ())]
)
def test_pay_is_only_told_where_it_was_said(tmp_path: Path, paid: str, codes: tuple[str, ...]) -> None:
    assert fill(tmp_path, PLAIN + paid).answer("3.2.2.2").codes == codes


def test_limits_of_time_tick_their_options(tmp_path: Path) -> None:
    sheet = fill(tmp_path, PLAIN + "collecting: {page_seconds: 30, minutes: 20}\n")
    assert sheet.answer("3.3.5").codes == ("2", "3")


def test_free_text_counts_as_no_instrument(tmp_path: Path) -> None:
    text = PLAIN.replace("{type: likert, points: 5}", "{type: text}")
    sheet = fill(tmp_path, text)
    assert words(sheet, "4.3.3", "fluency") == words(sheet, "4.3.4", "fluency") == "N/A"
    assert sheet.answer("4.3.5", "fluency").codes == ("4",)
    assert "text box" in words(sheet, "4.3.6", "fluency")
    assert lint_sheet(sheet).findings == ()


def test_a_language_that_the_form_does_not_list_is_another(tmp_path: Path) -> None:
    sheet = fill(tmp_path, PLAIN + "text_language: tlh\n")
    assert sheet.answer("2.5") == SheetAnswer(("185",), "tlh")


def test_translated_inputs_are_not_guessed(tmp_path: Path) -> None:
    study = write_study(tmp_path, PLAIN + 'heds: {"2.3": ["15. Machine translation"]}\n')
    outputs = tmp_path / "outputs.csv"
    lines = outputs.read_text("utf-8").splitlines()
    outputs.write_text(
        "\n".join(f"{line},{'context' if place == 0 else 'x'}" for place, line in enumerate(lines))
    )
    assert fill_sheet(load_study(study)).answer("2.4") == SheetAnswer()
    study.write_text(PLAIN + 'heds: {"2.3": "15"}\n', encoding="utf-8")
    assert fill_sheet(load_study(study)).answer("2.4") == SheetAnswer()
    study.write_text(PLAIN, encoding="utf-8")
    assert fill_sheet(load_study(study)).answer("2.4").codes == ("42",)


def test_a_power_analysis_beside_the_study_is_quoted(tmp_path: Path) -> None:
    cell = {"model": "clmm", "items": 6, "ratings_per_item": 3, "raters": 18, "effect": 0.5, "sims": 400}
    cells = [
        cell | {"power": 0.81, "low": 0.77, "high": 0.85},
        cell | {"items": 99, "power": 0.99, "low": 0.98, "high": 1.0},
    ]
    (tmp_path / "power.json").write_text(
        json.dumps({"cells": cells, "seed": 7, "alpha": 0.05}), encoding="utf-8"
    )
    sheet = fill(tmp_path)
    assert words(sheet, "3.1.3.2").startswith("0.81 (0.77 to 0.85) for an effect of 0.5 threshold distances")
    assert "0.99" not in words(sheet, "3.1.3.2")
    assert "seed 7" in words(sheet, "3.1.3.3")
    assert not sheet.answer("3.1.3.2").draft


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cells": []}', '{"cells": [{"model": "lm"}]}'])
def test_a_file_that_is_no_power_analysis_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "power.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match="is not a power analysis"):
        fill(tmp_path)


def test_names_that_the_form_garbles_are_changed_and_told(tmp_path: Path) -> None:
    sheet = fill(tmp_path, PLAIN.replace("name: fluency", "name: form & <tone>"))
    assert sheet.criteria == ("form and (tone)",)
    assert sheet.notes == ("4: the form garbles & < >, so 'form & <tone>' is called 'form and (tone)'.",)
    assert words(sheet, "4.3.7", "form and (tone)") == "How fluent is it?"
    assert lint_sheet(sheet).findings == ()


CHOICE = find_question("3.0", "3.3.1")
MANY = find_question("3.0", "2.2")


@pytest.mark.parametrize(
    ("question", "value", "answer"),
    [
        (CHOICE, "2. No", SheetAnswer(("2",))),
        (CHOICE, "2", SheetAnswer(("2",))),
        (CHOICE, False, SheetAnswer(("2",))),
        (CHOICE, ("Yes", "https://osf.io/1"), SheetAnswer(("1",), "https://osf.io/1")),
        (CHOICE, ("1. yes (please provide link)", "No"), SheetAnswer(("1",), "No")),
        (CHOICE, "https://osf.io/1", SheetAnswer((), "https://osf.io/1")),
        (MANY, ("15", "14. No input (please explain)", "an image"), SheetAnswer(("13", "14"), "an image")),
        (MANY, "2. Raw/structured data", SheetAnswer(("1",))),  # the words go before the number
        (MANY, "Text", SheetAnswer((), "Text")),  # several options begin so
        (find_question("3.0", "5.1"), ("one", "two"), SheetAnswer((), "one\ntwo")),
        (find_question("3.0", "5.2"), "No", SheetAnswer(("1",))),
    ],
)  # fmt: skip
def test_answers_of_people_are_options_or_explanations(
    question: SheetQuestion, value: str | bool | tuple[str, ...], answer: SheetAnswer
) -> None:
    assert read_answer(question, value) == answer


def test_answers_of_people_go_before_all_and_may_differ_between_criteria(tmp_path: Path) -> None:
    text = PLAIN + "  - {name: meaning, question: Kept, scale: {type: likert}}\n"
    given = (
        'heds: {"3.2.1": 7, "4.3.9": {fluency: Mean}, "4.1.1": Goodness, "1.2.1": "2", "3.2.2.5": staff}\n'
    )
    sheet = fill(tmp_path, text + given)
    assert words(sheet, "3.2.1") == "7"
    assert words(sheet, "4.3.9", "fluency") == "Mean"
    assert words(sheet, "4.3.9", "meaning") != "Mean"
    assert sheet.answer("4.1.1", "fluency").codes == sheet.answer("4.1.1", "meaning").codes == ("2",)
    assert sheet.answer("1.2").codes == ("2",)
    assert ("3.2.2.5", "") not in sheet.answers
    study = load_study(tmp_path)
    assert fill_sheet(study, version="2.x").answer("3.2.2.5").text == "staff"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('"3.9.9": x', "HEDS 3.0 has no question '3.9.9'"),
        ('"4.3.9": {style: x}', "the study has no criterion 'style'. Known: fluency."),
        ('"5.1": {fluency: x}', "not asked for each criterion"),
        ('"3.3.1": ["1. Yes (please provide link)", "2. No"]', "one option is allowed; found 2"),
    ],
)
def test_answers_that_cannot_be_used_are_all_named(tmp_path: Path, given: str, said: str) -> None:
    with pytest.raises(BadStudy, match="2 answers for the datasheet that cannot be used") as caught:
        fill(tmp_path, PLAIN + f'heds: {{{given}, "9": x}}\n'.replace('"9"', '"2.9"'))
    assert said in str(caught.value)
    assert "heds.2.9" in str(caught.value)


def test_what_follows_from_an_answer_is_filled(tmp_path: Path) -> None:
    text = PLAIN + 'heds: {"3.3.7": "2", "3.3.3.1": ["7", "a pilot"]}\n'
    sheet = fill(tmp_path, text)
    assert words(sheet, "3.3.8") == words(sheet, "3.3.3.2") == "N/A"
    assert lint_sheet(sheet).findings == ()


def test_the_page_lists_every_source_and_no_other() -> None:
    page = (ROOT / "docs" / "heds.md").read_text("utf-8")
    listed = re.findall(r"^\| ([\d.]+) \| (.*?) \| (.*) \|$", page, re.MULTILINE)
    assert listed == describe_sources()


@pytest.mark.parametrize("version", ["3.0", "2.x"])
def test_write_datasheet_gives_a_file_that_reads_back(tmp_path: Path, version: Version) -> None:
    study = load_study(LIKERT)
    path = tmp_path / "heds.json"
    sheet = write_datasheet(study, None, None, path, version=version)
    assert read_sheet(path).version == version
    assert read_sheet(path).answers == sheet.answers
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "said"), [("heds.pdf", "ending '.pdf'"), ("heds", "no ending"), ("no/heds.json", "no folder")]
)
def test_what_cannot_be_written_is_refused_before_the_work(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(BadFile, match=said):
        write_datasheet(load_study(LIKERT), None, None, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_sheet_of_simulated_ratings_says_so() -> None:
    study = load_study(LIKERT)
    plan = plan_study(study)
    ratings = simulate_ratings(study, plan, seed=1)
    sheet = fill_sheet(study, plan, ratings, resamples=5)
    assert sheet.simulated.startswith("Simulated ratings: not data from people")
    assert sheet.simulated in sheet.answer("3.2.3").text
    for render in (render_html, render_markdown, render_latex):
        assert "Simulated ratings: not data from people" in render(sheet)
    real = fill_sheet(study, plan, ratings.drop(columns="simulated"), resamples=5)
    assert real.simulated == ""
    assert "Simulated" not in render_html(real)
