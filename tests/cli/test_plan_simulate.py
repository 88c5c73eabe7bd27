"""``panelist plan`` and ``panelist simulate``: what they print, write, and refuse to overwrite."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pandas as pd
import pytest

import panelist
from panelist.design.plan_files import read_plan
from tests.cli.commands import call

Capture = pytest.CaptureFixture[str]
TEMPLATES = ("likert", "vas", "binary", "pairs", "best-worst", "mixed", "chat", "judged")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return copy_template("likert", tmp_path)


def copy_template(name: str, folder: Path) -> Path:
    source = Path(str(files("panelist.study") / "templates" / name))
    return Path(shutil.copytree(source, folder / name))


def edit(study: Path, old: str, new: str) -> None:
    path = study / "study.yaml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_is_planned_and_filled(capsys: Capture, tmp_path: Path, name: str) -> None:
    folder = copy_template(name, tmp_path)
    planned = call(capsys, "plan", folder)
    assert planned.code == 0
    for part in (
        "wanted",
        "verdict",
        "What it can estimate",
        "Time and cost",
        "GBP an hour",
        "panelist simulate",
    ):
        assert part in planned.out
    record = json.loads((folder / "plan.json").read_text("utf-8"))
    assert record["balance"]["lines"]
    assert record["cost"]["total"]
    filled = call(capsys, "simulate", folder)
    assert (filled.code, filled.err) == (0, "")
    ratings = pd.read_csv(folder / "ratings.csv", keep_default_na=False)
    plan = read_plan(folder).table
    once = ratings[ratings["turn"] == 1] if "turn" in ratings else ratings  # each turn has a row of its own
    assert len(once) == (plan["phase"] != "practice").sum()
    kept = panelist.load_ratings(folder / "ratings.csv").frame
    assert len(kept[kept["turn"] == "1"] if "turn" in kept else kept) == (plan["phase"] == "trial").sum()


def test_planning_again_leaves_the_same_files(capsys: Capture, study: Path) -> None:
    call(capsys, "plan", study)
    before = [(study / name).read_bytes() for name in ("plan.csv", "plan.json")]
    again = call(capsys, "plan", study / "study.yaml")
    assert [(study / name).read_bytes() for name in ("plan.csv", "plan.json")] == before
    assert "stays as it is" in again.out


def test_more_raters_are_added_and_nobody_moves(capsys: Capture, study: Path) -> None:
    call(capsys, "plan", study)
    before = (study / "plan.csv").read_text("utf-8")
    grown = call(capsys, "plan", study, "--raters", 12)
    assert "3 raters added; nobody who was in the plan moved." in grown.out
    after = (study / "plan.csv").read_text("utf-8")
    assert after.startswith(before)
    assert len(read_plan(study).raters) == 12
    assert "1 rater added" in call(capsys, "plan", "extend", study, "--add", 1).out
    assert len(read_plan(study).raters) == 13
    assert "stays as it is" in call(capsys, "plan", study).out


def test_a_plan_smaller_than_the_study_asks_for_says_so(capsys: Capture, study: Path) -> None:
    call(capsys, "plan", study)
    edit(study, "ratings_per_output: 3", "ratings_per_output: 30")
    for _ in range(2):  # the record knows the new study after the first
        said = " ".join(call(capsys, "plan", study).out.split())
        assert "changed in words only" not in said
        assert "The study asks for 90 raters, and the plan has 9." in said
    call(capsys, "plan", study, "--raters", 90)
    assert "asks for" not in call(capsys, "plan", study).out.rpartition("stays as it is")[2]


def test_replaced_rater_leaves_everything_to_a_new_one(capsys: Capture, study: Path) -> None:
    call(capsys, "plan", study)
    done = call(capsys, "plan", "extend", study, "--replace", "r003")
    assert "r010 takes over all 12 trials of r003." in done.out
    raters = read_plan(study).raters
    assert "r003" not in raters
    assert "r010" in raters


@pytest.mark.parametrize("arguments", [["--seed", 9], ["--raters", 3]])
def test_plan_that_differs_is_not_overwritten_without_force(
    capsys: Capture, study: Path, arguments: list[object]
) -> None:
    call(capsys, "plan", study)
    before = (study / "plan.csv").read_bytes()
    refused = call(capsys, "plan", study, *arguments)
    assert (refused.code, refused.out) == (2, "")
    assert "must not change" in refused.err
    assert "--force" in refused.err
    assert (study / "plan.csv").read_bytes() == before
    assert call(capsys, "plan", study, *arguments, "--force").code == 0
    assert (study / "plan.csv").read_bytes() != before


def test_new_words_leave_the_plan_and_new_trials_do_not(capsys: Capture, study: Path) -> None:
    call(capsys, "plan", study)
    before = (study / "plan.csv").read_bytes()
    edit(study, "title: Answers from a library help desk", "title: Answers from another desk")
    same = call(capsys, "plan", study)
    assert (same.code, "in words only" in same.out) == (0, True)
    assert (study / "plan.csv").read_bytes() == before
    edit(study, "trials_per_rater: 12", "trials_per_rater: 6")
    other = call(capsys, "plan", study)
    assert other.code == 2
    assert "the study has changed since" in other.err
    assert call(capsys, "simulate", study).code == 2


def test_json_is_one_object_and_all_else_goes_to_stderr(capsys: Capture, study: Path) -> None:
    done = call(capsys, "plan", study, "--json")
    found = json.loads(done.out)
    assert set(found) >= {"title", "design", "seed", "plan_hash", "notes", "balance", "cost"}
    assert found["balance"]["met"] is True
    assert found["balance"]["estimable"][0]["formula"].startswith("rating ~ system")
    assert found["cost"]["currency"] == "GBP"
    assert "plan.csv" in done.err


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["plan", "extend", "--replace", "r099"], "no rater 'r099'"),
        (["plan", "extend", "--add", 2, "--seed", 3], "--seed"),
        (["plan", "extend", "--add", 2, "--replace", "r001"], "say --add N, --add-systems or"),
        (["plan", "extend"], "say --add N, --add-systems or"),
        (["plan", "extend", "--add", 0], "--add"),
        (["plan", "--raters", 0], "--raters"),
    ],
)
def test_bad_options_are_one_message(
    capsys: Capture, study: Path, arguments: list[object], part: str
) -> None:
    call(capsys, "plan", study)
    done = call(capsys, *arguments, study)
    assert (done.code, done.out) == (2, "")
    assert part in done.err


def test_plan_changed_by_hand_is_refused(capsys: Capture, study: Path) -> None:
    call(capsys, "plan", study)
    path = study / "plan.csv"
    path.write_text(path.read_text("utf-8").replace("heron", "swift", 1), "utf-8")
    for command in ("plan", "simulate"):
        done = call(capsys, command, study)
        assert done.code == 2
        assert "changed after it was written" in done.err
    assert call(capsys, "plan", study, "--force").code == 0


@pytest.mark.parametrize("command", ["plan", "simulate"])
def test_missing_study_is_one_message(capsys: Capture, tmp_path: Path, command: str) -> None:
    done = call(capsys, command, tmp_path / "nowhere")
    assert (done.code, done.out) == (2, "")
    assert "nowhere" in done.err


def test_change_without_a_plan_says_to_make_one(capsys: Capture, study: Path) -> None:
    done = call(capsys, "plan", "extend", study, "--add", 2)
    assert done.code == 2
    assert "Make it first" in done.err
    assert not (study / "plan.csv").exists()


def test_simulation_without_a_plan_makes_one_and_says_so(capsys: Capture, study: Path) -> None:
    out = study / "r.parquet"
    done = call(capsys, "simulate", study, "-o", out)
    assert done.code == 0
    assert "There is no plan" in done.err
    assert not (study / "plan.csv").exists()
    assert "panelist compare" in done.out
    assert len(pd.read_parquet(out)) == 252


def test_seed_decides_what_is_simulated(capsys: Capture, study: Path) -> None:
    call(capsys, "plan", study)
    texts = []
    for seed in (1, 1, 2):
        call(capsys, "simulate", study, "--seed", seed)
        texts.append((study / "ratings.csv").read_text("utf-8"))
    assert texts[0] == texts[1] != texts[2]


def test_unwritable_ratings_are_one_message(capsys: Capture, study: Path) -> None:
    done = call(capsys, "simulate", study, "-o", study / "no" / "ratings.csv")
    assert done.code == 2
    assert "There is no folder" in done.err
    assert call(capsys, "simulate", study, "--careless", 3).code == 2
