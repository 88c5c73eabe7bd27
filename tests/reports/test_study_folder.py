"""A study in its folder: one rule for where plan, ratings, power analysis and store are, for all callers."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import panelist
from panelist.collection.store.operations.ops import SaveAnswers
from panelist.collection.store.operations.saving import Answer, PageDone
from panelist.collection.store.store import open_store
from panelist.collection.study_files import CELL_KEYS, StudyFiles
from panelist.core.errors import BadFile, BadPlan
from panelist.design.grow import grow_plan, replace_rater
from panelist.design.make import plan_study
from panelist.design.plan_files import write_plan
from panelist.design.simulate import simulate_ratings
from panelist.design.update import fits_study
from panelist.reports.archive.anonymised import gather_ratings
from panelist.reports.repeat.begin import begin_repeat
from panelist.reports.report import write_report
from panelist.reports.study_folder import open_study
from panelist.reproduction.sources import read_source
from panelist.study.reading.load import load_study
from panelist.study.study import Study
from tests.cli.commands import call
from tests.study.studies import PLAIN, write_study

TEXT = PLAIN + "design: {type: full}\nraters: {count: 4}\n"
SIZE = {"target": 0.8, "effect": 0.5, "model": "clmm", "seed": 3}
SIZE["best"] = {"items": 6, "ratings_per_item": 3, "raters": 9}
SIZE["confirmed"] = {"power": 0.81, "low": 0.7, "high": 0.9, "sims": 200}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_study(tmp_path, TEXT).parent


def put_ratings(folder: Path, name: str = "ratings.csv", seed: int = 1) -> Path:
    study = load_study(folder)
    simulate_ratings(study, plan_study(study), seed=seed).to_csv(folder / name, index=False)
    return folder / name


def collect(folder: Path, value: str | None) -> None:
    """Make study.db, and with a value let one rater give it to every output."""
    study = load_study(folder)
    with open_store(None, study, plan_study(study)) as store:
        if value is None:
            return
        visit = store.join()
        table = store.plan().table
        for order, page in table[table["rater"] == visit.place].groupby("order"):
            answers = tuple(
                Answer("c1p1", str(row.criterion), str(row.item), value, "k", system=str(row.system))
                for row in page.itertuples()
            )
            store.do(SaveAnswers(visit.id, 1, int(str(order)), answers, PageDone(1.0, 2.0)))


def find_by_commands(folder: Path) -> set[str]:
    """Return what analysis, reproduction, archive and Python take for the ratings: each one's own word."""
    files = StudyFiles(load_study(folder))
    packed = gather_ratings(files)
    assert packed is not None
    return {
        Path(read_source(folder, "original").origin).name,
        panelist.open_study(folder).ratings().source,
        panelist.open_study(folder).planned().ratings.source,
        "study.db" if packed.plan is not None else "ratings.csv",
    }


def test_ratings_are_those_that_were_collected_else_the_table_beside_them(folder: Path) -> None:
    put_ratings(folder)
    assert find_by_commands(folder) == {"ratings.csv"}
    collect(folder, None)  # somebody started the server, and nobody came
    assert find_by_commands(folder) == {"ratings.csv"}
    collect(folder, "4")
    assert find_by_commands(folder) == {"study.db"}
    found = StudyFiles(load_study(folder)).ask_ratings()
    assert isinstance(found.table, pd.DataFrame)
    assert (found.collected, set(found.table["rating"])) == (True, {4})


def test_practice_alone_is_no_rating_yet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    practice = "practice: {items: [{context: A question, output: A text, right: {fluency: ['4']}}]}\n"
    folder = write_study(tmp_path, TEXT + practice).parent
    study = load_study(folder)
    answer = Answer("c1p1", "fluency", "practice-1", "4", "k", phase="practice", check="practice")
    with open_store(None, study, plan_study(study)) as store:
        store.do(SaveAnswers(store.join().id, 1, -1, (answer,), PageDone(1.0, 2.0)))
    found = StudyFiles(study).find_ratings()
    assert found is not None
    assert isinstance(found.table, pd.DataFrame)
    assert (len(found.table), found.empty) == (1, True)
    with pytest.raises(BadFile, match=r"has no ratings yet: .*study\.db holds none"):
        panelist.open_study(folder).ratings()
    assert call(capsys, "report", str(folder), "--check").code == 1
    put_ratings(folder)
    assert find_by_commands(folder) == {"ratings.csv"}


def test_a_file_that_is_named_goes_before_all(folder: Path) -> None:
    put_ratings(folder)
    collect(folder, "4")
    other = put_ratings(folder, "other.csv", seed=2)
    opened = open_study(folder, ratings=other)
    found = opened.ask_ratings()
    assert (found.table, found.name, found.collected) == (other, "other.csv", False)
    assert opened.ratings().source == "other.csv"
    assert len(opened.ratings()) == len(panelist.load_ratings(other))


def test_a_study_without_ratings_says_so_alike_everywhere(folder: Path) -> None:
    asked: list[Callable[[], object]] = [
        lambda: panelist.analyse(folder),
        lambda: panelist.write_report(folder, folder / "report.html"),
        lambda: panelist.open_study(folder).ratings(),
        lambda: panelist.open_study(folder).report(folder / "report.html"),
        lambda: read_source(folder, "original"),
    ]
    for ask in asked:
        with pytest.raises(BadFile, match=r"'A study' has no ratings yet: there is neither study\.db nor"):
            ask()
    assert StudyFiles(load_study(folder)).find_ratings() is None
    collect(folder, None)  # somebody started the server, and nobody came
    for ask in asked:
        with pytest.raises(BadFile, match=r"'A study' has no ratings yet: .*study\.db holds none"):
            ask()
    assert gather_ratings(StudyFiles(load_study(folder))) is None
    assert panelist.open_study(folder).datasheet().open()
    assert not (folder / "report.html").exists()


def test_a_study_made_in_python_has_no_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_ratings(folder)
    loaded = load_study(folder)
    write_plan(plan_study(loaded), folder)
    monkeypatch.chdir(folder)  # what lies in the present folder is not of this study
    files = StudyFiles(Study(loaded.file, loaded.outputs))
    assert (files.find_ratings(), files.find_plan(), files.find_power()) == (None, None, None)
    assert (files.registrations(), files.is_collected) == ((), False)


def test_python_gives_the_numbers_of_the_commands(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put_ratings(folder)
    opened = panelist.open_study(folder)
    printed = json.loads(call(capsys, "compare", folder, "--json").out)
    assert printed["criteria"] == json.loads(opened.compare().to_json())["criteria"]
    few = ["--no-files", "--resamples", 5, "--json"]
    reported = json.loads(call(capsys, "report", folder, "-o", folder / "a.html", *few).out)
    analysis = opened.analyse(resamples=5)
    assert reported == json.loads(analysis.to_json())
    monkeypatch.setattr(write_report, "analyse", {folder: analysis}.__getitem__)
    panelist.write_report(folder, folder / "b.html", files=False)
    assert (folder / "a.html").stat().st_size == (folder / "b.html").stat().st_size
    sheet = opened.datasheet(folder / "heds.json", resamples=5)
    told = json.loads(call(capsys, "heds", "fill", folder, "--json").out)
    assert len(told["open"]) == len(sheet.open())
    assert (folder / "heds.json").is_file()


def test_notes_about_what_was_collected_are_told(folder: Path) -> None:
    collect(folder, "4")
    file = folder / "study.yaml"
    file.write_text(file.read_text("utf-8") + "description: About it.\n", encoding="utf-8")
    told: list[str] = []
    opened = open_study(folder, on_note=told.append)
    notes = opened.ratings().notes
    assert told
    assert set(told) <= set(notes)
    assert "has changed since collecting began" in told[0]
    assert told[0] in read_source(folder, "original").notes


def test_a_plan_that_the_study_has_outgrown_is_refused_by_all_alike(folder: Path) -> None:
    opened = panelist.open_study(folder)
    with pytest.raises(BadPlan, match="There is no plan in"):
        opened.plan()
    plan = plan_study(opened.study)
    write_plan(plan, folder)
    assert opened.plan().hash == plan.hash
    write_study(folder, TEXT.replace("A study", "Other words"))
    assert panelist.open_study(folder).plan().hash == plan.hash
    write_study(folder, TEXT.replace("fluency", "grammar"))
    changed = panelist.open_study(folder)
    for ask in (changed.plan, changed.find_plan, changed.datasheet):
        with pytest.raises(BadPlan, match="has changed since the plan"):
            ask()
    kept = changed.find_plan(stale=True)
    assert kept is not None
    assert kept.hash == plan.hash


@pytest.mark.parametrize("change", ["none", "grown", "replaced"])
def test_a_plan_that_grew_still_fits_a_study_whose_words_changed(folder: Path, change: str) -> None:
    lists = "design: {type: latin-square, ratings_per_output: 2}\nraters: {count: 4}\n"
    study = load_study(write_study(folder, PLAIN + lists))
    plan = plan_study(study)
    if change == "grown":
        plan = grow_plan(plan, study, len(plan.places) + 4)
    elif change == "replaced":
        plan = replace_rater(plan, plan.raters[0])
    later = load_study(write_study(folder, PLAIN.replace("A study", "Other words") + lists))
    assert later.hash != plan.study_hash
    assert fits_study(plan, later)
    other = load_study(write_study(folder, PLAIN.replace("fluency", "grammar") + lists))
    assert not fits_study(plan, other)


def test_a_sample_size_is_a_power_analysis_for_datasheet_and_preregistration(folder: Path) -> None:
    (folder / "power.json").write_text(json.dumps(SIZE), encoding="utf-8")
    opened = panelist.open_study(folder)
    found = opened.find_power()
    assert found is not None
    assert set(found["cells"][0]) == CELL_KEYS
    sheet = opened.datasheet()
    assert sheet.answer("3.1.3.2").text.startswith("0.81 (0.70 to 0.90) for an effect of 0.5 threshold")
    assert "panelist size (seed 3)" in sheet.answer("3.1.3.3").text
    assert "alpha" not in sheet.answer("3.1.3.1").text  # size does not record it
    made = opened.preregister()
    answers = [one.answer for form in made.forms for one in form.entries]
    assert any("6 items, 3 ratings of each output, 9 raters" in answer for answer in answers)
    assert [one.time for one in opened.registrations()] == [made.time]


def test_another_power_analysis_can_be_named(folder: Path) -> None:
    other = folder / "size.json"
    other.write_text(json.dumps(SIZE), encoding="utf-8")
    (folder / "power.json").write_text("{}", encoding="utf-8")
    with pytest.raises(BadFile, match=r"power\.json is not a power analysis"):
        panelist.open_study(folder).datasheet()
    assert "size.json" in panelist.open_study(folder, power=other).datasheet().answer("3.1.3.3").text
    with pytest.raises(BadFile, match=r"none\.json cannot be read"):
        panelist.open_study(folder, power=folder / "none.json").find_power()


def test_a_repeat_takes_over_ratings_that_were_collected(folder: Path, tmp_path: Path) -> None:
    collect(folder, "4")
    begun = begin_repeat(tmp_path / "again", folder)
    taken = pd.read_csv(tmp_path / "again" / "original" / "ratings.csv")
    assert set(taken["rating"]) == {4}
    assert not any("were not beside it" in note for note in begun.notes)


def test_the_archive_is_that_of_the_command(folder: Path, tmp_path: Path) -> None:
    put_ratings(folder)
    other = put_ratings(folder, "other.csv", seed=2)
    made = panelist.open_study(folder, ratings=other).archive(tmp_path / "study.zip", resamples=5)
    sizes = dict(made.files)
    assert sizes["ratings.csv"] == other.stat().st_size
