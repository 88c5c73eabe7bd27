"""``panelist plan extend --add-systems``: from the outputs file through the server's store to the export."""

import json
from pathlib import Path

import pandas as pd
import pytest

from panelist.collection.checked_store import open_checked
from panelist.collection.export.tables_of_study import export_ratings
from panelist.collection.store.errors import BadStore
from panelist.core.tables.ratings import read_ratings
from panelist.design.plan_files import read_plan
from panelist.study.file_names import PLAN_RECORD, PLAN_TABLE
from panelist.study.reading.load import load_study
from tests.cli.commands import call
from tests.collection.store.studies import rate

Capture = pytest.CaptureFixture[str]
AFTER = "    description: Rewords the question into an answer.\n"


@pytest.fixture
def desk(tmp_path: Path, capsys: Capture) -> Path:
    """Return the folder of a planned study."""
    folder = tmp_path / "desk"
    assert call(capsys, "init", folder, "--template", "likert").code == 0
    assert call(capsys, "plan", folder).code == 0
    return folder


def add_outputs(folder: Path) -> None:
    """Add the outputs of another system to the study."""
    outputs = pd.read_csv(folder / "outputs.csv", dtype=str)
    more = outputs[outputs["system"] == "swift"].assign(system="wren")
    more["output"] = "In short: " + more["output"]
    pd.concat([outputs, more]).to_csv(folder / "outputs.csv", index=False)
    text = (folder / "study.yaml").read_text("utf-8")
    assert AFTER in text
    (folder / "study.yaml").write_text(text.replace(AFTER, f"{AFTER}  - name: wren\n"), "utf-8")


def test_systems_join_a_plan_that_people_are_working_on(desk: Path, capsys: Capture) -> None:
    before = (desk / PLAN_TABLE).read_bytes()
    with open_checked(load_study(desk), None, []) as store:
        rate(store, store.join())
    add_outputs(desk)
    refused = call(capsys, "plan", "extend", desk, "--add", "2")
    assert refused.code == 2
    assert "--add-systems" in refused.err
    done = call(capsys, "plan", "extend", desk, "--add-systems", "--add", "4")
    assert done.code == 0
    assert "'wren' added, for 4 new raters who judge all systems (wave 2)" in " ".join(done.out.split())
    assert (desk / PLAN_TABLE).read_bytes().startswith(before)
    step = json.loads((desk / PLAN_RECORD).read_text("utf-8"))["history"][-1]
    assert (step["wave"], step["systems"]) == (2, ["wren"])
    study, plan = load_study(desk), read_plan(desk)
    with pytest.raises(BadStore, match="--study-changed outputs"):
        open_checked(study, None, [])
    with open_checked(study, None, [], ("outputs", "wording")) as store:
        assert store.plan().hash == plan.hash
        while (visit := store.join()).place is not None and plan.waves[visit.place] == 1:
            pass
        rate(store, visit)
        frame = export_ratings(store.snapshot(), study, store.plan()).frame
    assert frame.groupby("place")["wave"].first().to_dict() == {"r001": 1, visit.place: 2}
    assert set(frame.loc[frame["wave"] == 2, "system"]) >= {"heron", "plover", "swift", "wren"}
    with open_checked(study, None, []) as store:  # once on record, it needs no permission again
        assert store.plan().waves == plan.waves
    frame.to_csv(desk / "ratings.csv", index=False)
    assert read_ratings(desk / "ratings.csv").levels("wave") == ("1", "2")


def test_a_plan_with_waves_stays_and_grows(desk: Path, capsys: Capture) -> None:
    add_outputs(desk)
    assert call(capsys, "plan", desk).code == 2
    assert call(capsys, "plan", "extend", desk, "--add-systems").code == 0
    first = read_plan(desk)
    text = (desk / "study.yaml").read_text("utf-8").replace("title: Answers", "title: Replies")
    (desk / "study.yaml").write_text(text, "utf-8")
    assert "in words only" in call(capsys, "plan", desk).out
    assert read_plan(desk).hash == first.hash
    assert call(capsys, "plan", "extend", desk, "--add", "2").code == 0
    grown = read_plan(desk)
    assert len(grown.places) == len(first.places) + 2
    assert grown.waves[grown.places[-1]] == 2
    assert call(capsys, "simulate", desk).code == 0


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--add-systems"], "There is no system to add"),
        (["--add-systems", "--replace", "r001"], "--replace RATER, which goes with neither"),
        ([], "say --add N"),
    ],
)
def test_what_cannot_be_extended_is_one_message(
    desk: Path, capsys: Capture, arguments: list[str], part: str
) -> None:
    done = call(capsys, "plan", "extend", desk, *arguments)
    assert (done.code, done.out) == (2, "")
    assert part in done.err
