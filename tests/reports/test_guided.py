"""The guided repeat: begun from whatever the original left, never over anything, each step with its state."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner, Result

from panelist.cli.check import check
from panelist.cli.init import init
from panelist.core.errors import BadFile, BadRatings, PanelistError
from panelist.reports.archive.write_archive import write_archive
from panelist.reports.preregistration.declare import preregister
from panelist.reports.repeat.begin import begin_repeat
from panelist.reports.repeat.from_ratings import guess_scale
from panelist.reports.repeat.steps import STEPS, RepeatState, follow_repeat
from panelist.reproduction.deviations.deviation_table import find_deviations
from panelist.study.reading.load import load_study
from panelist.study.start import init_study
from tests.study.studies import PLAIN, write_study

SHEETS = Path(__file__).resolve().parents[3] / "shared" / "heds"
TEXT = (
    PLAIN + "information: {ethics: Board of another place, contact: a@example.org}\npay: {living_wage: 12}\n"
)
ALL = "original materials questions findings size pay ethics datasheet preregistration ratings"


@pytest.fixture
def original(tmp_path: Path) -> Path:
    folder = tmp_path / "first"
    folder.mkdir()
    write_study(folder, TEXT)
    rows = [(f"r{n}", f"i{item}", s, "fluency", 3) for n in range(3) for item in range(1, 7) for s in "ab"]
    names = ["rater", "item", "system", "criterion", "rating"]
    pd.DataFrame(rows, columns=names).to_csv(folder / "ratings.csv", index=False)
    return folder


def follow(folder: Path) -> RepeatState:
    found = follow_repeat(load_study(folder))
    assert found is not None
    return found


def states(folder: Path) -> dict[str, str]:
    return {step.name: step.state for step in follow(folder).steps}


def edit(folder: Path, old: str, new: str) -> None:
    path = folder / "study.yaml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_there_are_twelve_steps() -> None:
    assert list(STEPS) == [*ALL.split(), "reproduction", "report"]


def test_a_repeat_of_a_study_begins_as_the_original(original: Path, tmp_path: Path) -> None:
    begun = begin_repeat(tmp_path / "repeat", original)
    assert begun.kind == "study"
    repeat = load_study(tmp_path / "repeat")
    assert find_deviations(load_study(original), repeat).rows == ()
    assert repeat.hash == load_study(original).hash
    assert (tmp_path / "repeat" / "original" / "ratings.csv").is_file()
    assert not (tmp_path / "repeat" / "ratings.csv").exists()


def test_a_repeat_keeps_the_comments_of_the_original(tmp_path: Path) -> None:
    init_study(tmp_path / "first", "pairs")
    begin_repeat(tmp_path / "repeat", tmp_path / "first" / "study.yaml")
    first, second = (tmp_path / name / "study.yaml" for name in ("first", "repeat"))
    assert second.read_text("utf-8").startswith(first.read_text("utf-8").rstrip("\n"))


def test_a_repeat_of_a_repeat_has_one_repeat_section(original: Path, tmp_path: Path) -> None:
    begin_repeat(tmp_path / "second", original)
    edit(tmp_path / "second", "reasons: {}", "reasons: {pay: The law.}")
    begin_repeat(tmp_path / "third", tmp_path / "second")
    repeat = load_study(tmp_path / "third").file.repeat
    assert repeat is not None
    assert repeat.reasons == {}


def test_a_repeat_begins_from_an_archive(original: Path, tmp_path: Path) -> None:
    (original / "ratings.csv").unlink()
    write_archive(original, tmp_path / "a.zip")
    begun = begin_repeat(tmp_path / "repeat", tmp_path / "a.zip")
    assert begun.kind == "archive"
    assert any("ratings were not beside it" in note for note in begun.notes)
    assert load_study(tmp_path / "repeat").hash == load_study(original).hash


def test_a_repeat_begins_from_ratings(original: Path, tmp_path: Path) -> None:
    begun = begin_repeat(tmp_path / "repeat", original / "ratings.csv")
    assert begun.kind == "ratings"
    study = load_study(tmp_path / "repeat")
    assert study.systems == ("a", "b")
    assert len(study.items) == 6
    assert study.file.raters.count == 3
    found = follow(tmp_path / "repeat").steps[1]
    assert found.state == "open"
    assert "12 texts" in found.note


def test_ratings_without_systems_say_which_column_is_wanted(original: Path, tmp_path: Path) -> None:
    pd.read_csv(original / "ratings.csv").rename(columns={"system": "engine"}).to_csv(
        tmp_path / "r.csv", index=False
    )
    with pytest.raises(BadRatings, match="--columns"):
        begin_repeat(tmp_path / "repeat", tmp_path / "r.csv")
    assert not (tmp_path / "repeat").exists()
    begin_repeat(tmp_path / "repeat", tmp_path / "r.csv", {"system": "engine"})
    assert load_study(tmp_path / "repeat").systems == ("a", "b")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, 5], {"type": "likert", "points": 5, "start": 1}),
        ([0, 1, 4], {"type": "likert", "points": 5, "start": 0}),
        ([0, 1, 0], {"type": "binary"}),
        (["good", "bad", "good"], {"type": "verbal", "points": ["good", "bad"]}),
    ],
)
def test_scales_are_read_from_the_answers(values: list[object], kind: dict[str, object]) -> None:
    assert guess_scale(pd.DataFrame({"rating": values}))[0] == kind


@pytest.mark.parametrize("values", [[1.5, 2.0, 5.0], [0, 50, 100], [-3, 0, 3]])
def test_what_are_no_few_points_is_a_line(values: list[float]) -> None:
    assert guess_scale(pd.DataFrame({"rating": values}))[0]["type"] == "vas"


@pytest.mark.skipif(not SHEETS.is_dir(), reason="the shared datasheets are not here")
@pytest.mark.parametrize(
    ("name", "criteria", "kind"),
    [
        ("sample_datacard_heds3.json", ["Fluency", "Adequacy"], "likert"),
        ("card-2.x-reprohum-d2t.json", ["Coherence", "Grammaticality", "Repetition"], "pairs"),
    ],
)
def test_a_repeat_begins_from_a_datasheet(tmp_path: Path, name: str, criteria: list[str], kind: str) -> None:
    begun = begin_repeat(tmp_path / "repeat", SHEETS / name)
    assert begun.kind == "datasheet"
    study = load_study(tmp_path / "repeat")
    assert [one.name for one in study.criteria] == criteria
    assert {getattr(one.scale, "type", "") for one in study.criteria} == {kind}
    assert study.file.raters.paid == "money"
    assert study.file.raters.experts is False
    assert study.file.information.ethics == ""
    assert (tmp_path / "repeat" / "original" / "heds.json").read_bytes() == (SHEETS / name).read_bytes()
    assert states(tmp_path / "repeat")["original"] == "done"


def test_nothing_is_ever_overwritten(original: Path, tmp_path: Path) -> None:
    target = tmp_path / "repeat"
    target.mkdir()
    (target / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(BadFile, match="not empty"):
        begin_repeat(target, original)
    assert [one.name for one in target.iterdir()] == ["mine.txt"]
    with pytest.raises(BadFile, match="is a file"):
        begin_repeat(target / "mine.txt", original)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("paper.pdf", "%PDF"),
        ("sheet.json", "{}"),
        ("sheet.json", '{"x": 1}'),
        ("a.zip", "PK"),
        ("r.csv", "a,b\n1,2\n"),
    ],
)
def test_what_is_no_original_is_refused_and_nothing_is_left(tmp_path: Path, name: str, content: str) -> None:
    source = tmp_path / name
    source.write_text(content, encoding="utf-8")
    with pytest.raises(PanelistError):
        begin_repeat(tmp_path / "repeat", source)
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_a_missing_original_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="There is no"):
        begin_repeat(tmp_path / "repeat", tmp_path / "nothing.yaml")


def test_a_study_that_is_no_repeat_has_no_steps(original: Path) -> None:
    assert follow_repeat(load_study(original)) is None


def test_steps_are_found_as_they_are_taken(original: Path, tmp_path: Path) -> None:
    folder = tmp_path / "repeat"
    begin_repeat(folder, original)
    seen = states(folder)
    assert [name for name, state in seen.items() if state == "done"] == ["original", "materials"]
    assert "original's approval" in {step.name: step.note for step in follow(folder).steps}["ethics"]
    edit(folder, "Board of another place", "Our own board")
    edit(folder, "living_wage: 12", "living_wage: 13, original_wage: 12, original_minimum_wage: 11")
    edit(folder, "criteria:\n", 'analysis: {findings: ["fluency: a > b"]}\ncriteria:\n')
    cell = {
        "model": "lmm",
        "items": 6,
        "ratings_per_item": 3,
        "raters": 9,
        "effect": 1,
        "power": 0.5,
        "low": 0.4,
        "high": 0.6,
    }
    (folder / "power.json").write_text(json.dumps({"cells": [cell | {"sims": 10}]}), encoding="utf-8")
    preregister(folder)
    shutil.copyfile(original / "ratings.csv", folder / "ratings.csv")
    (folder / "reproduction.json").write_text('{"criteria": []}', encoding="utf-8")
    seen = states(folder)
    done = {"original", "materials", "findings", "size", "pay", "ethics", "preregistration", "ratings"}
    assert {name for name, state in seen.items() if state == "done"} == done | {"reproduction"}


def test_a_change_after_declaring_opens_the_step_again(original: Path, tmp_path: Path) -> None:
    folder = tmp_path / "repeat"
    begin_repeat(folder, original)
    preregister(folder)
    assert states(folder)["preregistration"] == "done"
    edit(folder, "How fluent", "How good")
    step = next(one for one in follow(folder).steps if one.name == "preregistration")
    assert step.state == "open"
    assert "criteria.fluency.question" in step.note


def test_a_person_ticks_what_only_a_person_knows(original: Path, tmp_path: Path) -> None:
    folder = tmp_path / "repeat"
    begin_repeat(folder, original)
    preregister(folder)
    before = load_study(folder).hash
    ticks = "{questions: {state: done, note: by mail}, size: {state: not needed}, report: {note: half}}"
    edit(folder, "steps: {}", f"steps: {ticks}")
    found = {step.name: step for step in follow(folder).steps}
    assert (found["questions"].state, found["questions"].by, found["questions"].note) == (
        "done",
        "said",
        "by mail",
    )
    assert found["size"].state == "not needed"
    assert (found["report"].state, found["report"].note) == ("open", "half")
    assert load_study(folder).hash == before
    assert found["preregistration"].state == "done"


def run(command: object, *arguments: str) -> Result:
    app = typer.Typer()
    app.command()(command)  # type: ignore[type-var]
    return CliRunner().invoke(app, list(arguments))


def test_the_commands_begin_a_repeat_and_show_what_is_next(original: Path, tmp_path: Path) -> None:
    answer = run(init, str(tmp_path / "repeat"), "--repeat", str(original))
    assert answer.exit_code == 0, answer.output
    assert "12. report" in answer.stdout
    assert "Next: 3. questions." in answer.stdout
    answer = run(check, str(tmp_path / "repeat"), "--json")
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout)["repeat"]["next"] == "questions"


@pytest.mark.parametrize("more", [["--repeat", "x.yaml", "--template", "vas"], ["--columns", "item=x"]])
def test_options_that_do_not_go_together_are_refused(tmp_path: Path, more: list[str]) -> None:
    answer = run(init, str(tmp_path / "repeat"), *more)
    assert isinstance(answer.exception, PanelistError)
    assert not (tmp_path / "repeat").exists()
