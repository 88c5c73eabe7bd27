"""A plan that does not belong to the study is never used silently: it is refused, or allowed by name."""

from collections.abc import Callable
from pathlib import Path

import pytest

from panelist.collection.export.tables_of_study import export_ratings
from panelist.collection.store.errors import BadStore
from panelist.collection.store.operations.ops import SaveAnswers
from panelist.collection.store.operations.saving import Answer
from panelist.collection.store.store import open_store
from panelist.core.errors import BadPlan
from panelist.study.reading.load import load_study
from panelist.web.server import ServeOptions, prepare
from tests.cli.commands import call
from tests.web.servers import make_study


def start(folder: Path, *allowed: str, database: Path | None = None) -> tuple[int, str]:
    """Return how many places a server would offer, and what it says; nothing is served."""
    place = str(database) if database is not None else None
    ready = prepare(ServeOptions(study=folder, port=0, database=place, study_changed=allowed))
    ready.bound.close()
    return ready.places, "\n".join(ready.lines())


def rewrite(file: Path, old: str, new: str, count: int = -1) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, count), encoding="utf-8")


def collect_one(folder: Path) -> None:
    """Let somebody come and give one answer."""
    study = load_study(folder)
    with open_store(None, study, create=False) as store:
        visit = store.join()
        row = store.plan().table.iloc[-1]
        criterion = study.criteria[0].name
        given = Answer("c1p1", criterion, str(row["item"]), "4", "key-0001", system=str(row["system"]))
        store.do(SaveAnswers(visit.id, 1, 1, (given,)))


def rename_item(folder: Path) -> str:
    """Rename the first item in the outputs; return what it was called."""
    name = load_study(folder).items[0]
    rewrite(folder / "outputs.csv", f"\n{name},", "\nanother-name,")
    return name


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """A study in which somebody has answered."""
    folder = make_study(tmp_path / "study")
    start(folder)
    collect_one(folder)
    return folder


@pytest.mark.parametrize("plan_there", [True, False])
@pytest.mark.parametrize("allowed", [(), ("outputs",), ("all",)])
def test_renamed_items_are_refused_whatever_is_allowed(
    begun: Path, plan_there: bool, allowed: tuple[str, ...]
) -> None:
    name = rename_item(begun)
    if not plan_there:
        (begun / "plan.csv").unlink()
    with pytest.raises(BadStore, match=rf"does not have:\n  items: 1 missing \({name}\)"):
        start(begun, *allowed)
    study = load_study(begun)
    with open_store(None, study, create=False) as store, pytest.raises(BadStore, match="does not have"):
        export_ratings(store.snapshot(), study, store.plan())


def test_before_anybody_came_a_stale_plan_is_made_again_or_asked_for(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "study")
    start(folder)
    rename_item(folder)
    with pytest.raises(BadPlan, match="Make it again"):
        start(folder)
    (folder / "plan.csv").unlink()
    assert "one was made" in start(folder)[1]
    with open_store(None, load_study(folder), create=False) as store:
        assert "another-name" in set(store.plan().table["item"])


def test_before_anybody_came_other_words_leave_the_plan_as_it_is(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "study")
    places, _ = start(folder)
    rewrite(folder / "study.yaml", "help desk", "helpdesk", 1)
    assert start(folder)[0] == places


def test_a_plan_smaller_than_the_study_asks_for_is_noted(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "study")
    places, said = start(folder)
    assert "asks for" not in said
    rewrite(folder / "study.yaml", "ratings_per_output: 3", "ratings_per_output: 30", 1)
    again, said = start(folder)
    assert again == places
    assert f"the plan has {places}." in said


def test_the_database_of_another_study_is_refused(begun: Path, tmp_path: Path) -> None:
    other = make_study(tmp_path / "other", "pairs")
    for allowed in ((), ("all",)):
        with pytest.raises(BadStore, match=r"collects .* \(visits so far: 1\) by a plan that asks"):
            start(other, *allowed, database=begun / "study.db")


def change_question(folder: Path) -> None:
    question = load_study(folder).criteria[0].question
    rewrite(folder / "study.yaml", question, question + " Really?", 1)


def change_text(folder: Path) -> None:
    rewrite(folder / "outputs.csv", "\n", " !\n", 2)


@pytest.mark.parametrize(("change", "name"), [(change_question, "criteria"), (change_text, "outputs")])
def test_what_raters_judge_changes_only_by_name_and_stays_on_record(
    begun: Path, change: Callable[[Path], None], name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(begun)
    for allowed in ((), ("wording", "design")):
        with pytest.raises(BadStore, match=rf"--study-changed {name}\. It is then recorded"):
            start(begun, *allowed)
    done = call(capsys, "export", begun, "-o", tmp_path / "ratings.csv")
    assert (done.code, f"--study-changed {name}" in done.err) == (2, True)
    assert not (tmp_path / "ratings.csv").exists()
    assert "that is on record now" in start(begun, name)[1]
    assert "on record" not in start(begun)[1], "it is the study of now, and needs no name any more"
    for _ in range(2):  # the note stays, whenever it is exported
        done = call(capsys, "export", begun, "-o", tmp_path / "ratings.csv")
        assert done.code == 0
        assert f"({name}: " in done.err
        assert f"allowed: {name}" in done.err
        assert ", after 1 visit (" in done.err


def test_export_allows_by_name_as_well(
    begun: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change_question(begun)
    out = tmp_path / "ratings.csv"
    done = call(capsys, "export", begun, "-o", out, "--study-changed", "criterion")
    assert (done.code, "Did you mean" in done.err) == (2, True)
    done = call(capsys, "export", begun, "-o", out, "--study-changed", "outputs,wording")
    assert (done.code, "--study-changed criteria" in done.err) == (2, True)
    done = call(capsys, "export", begun, "-o", out, "--study-changed", "criteria")
    assert (done.code, "allowed: criteria" in done.err) == (0, True)
    with open_store(None, load_study(begun), create=False) as store:
        assert [version.allowed for version in store.study_versions()] == [(), ("criteria",)]


def test_other_words_are_noted_when_exported_and_refused_when_served(
    begun: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(begun / "study.yaml", "help desk", "helpdesk", 1)
    done = call(capsys, "export", begun, "-o", tmp_path / "ratings.csv")
    assert (done.code, "the study file has changed since collecting began" in done.err) == (0, True)
    assert "title: " in done.err
    with pytest.raises(BadStore, match="--study-changed wording"):
        start(begun)
