"""``panelist demo``: a newcomer's first minute."""

from pathlib import Path

import pandas as pd
import pytest

from panelist.analysis.demo import ITEMS, RATERS, SYSTEMS, simulate_demo
from tests.cli.commands import call

Capture = pytest.CaptureFixture[str]


def test_demo_writes_what_it_says_and_can_be_run_twice(capsys: Capture, tmp_path: Path) -> None:
    out = tmp_path / "new" / "demo"
    first = call(capsys, "demo", "--out", out)
    files = {path.name: path.read_bytes() for path in out.iterdir()}
    assert set(files) == {"ratings.csv", "systems.svg", "systems.png", "shares.svg"}
    assert all(name in first.out for name in files)
    assert call(capsys, "demo", "--out", out).out == first.out
    assert {path.name: path.read_bytes() for path in out.iterdir()} == files


def test_demo_finds_what_was_simulated(capsys: Capture, tmp_path: Path) -> None:
    done = call(capsys, "demo", "--out", tmp_path)
    text = " ".join(done.out.split())
    assert done.code == 0
    assert "On adequacy, tuned is rated above prompted and rules" in text
    assert "On fluency, tuned and prompted are rated above rules" in text


def test_commands_that_the_demo_proposes_work(capsys: Capture, tmp_path: Path) -> None:
    import shlex

    done = call(capsys, "demo", "--out", tmp_path)
    proposed = [line.strip() for line in done.out.splitlines() if line.strip().startswith("panelist ")]
    assert len(proposed) == 2
    for command in proposed:
        assert call(capsys, *shlex.split(command)[1:]).code == 0


def test_folder_that_cannot_be_made_is_one_message(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    done = call(capsys, "demo", "--out", file)
    assert (done.code, done.out) == (2, "")
    assert "--out" in done.err


def test_simulated_study_is_a_latin_square() -> None:
    frame = simulate_demo(seed=3)
    one = frame[frame["criterion"] == "fluency"]
    assert len(one) == RATERS * ITEMS
    assert not one.duplicated(["rater", "item"]).any()
    per_output = one.groupby(["item", "system"]).size()
    assert (per_output == RATERS / len(SYSTEMS)).all()
    assert set(one["rating"]) == {1, 2, 3, 4, 5, 6}


def test_simulated_study_depends_on_its_seed_alone() -> None:
    pd.testing.assert_frame_equal(simulate_demo(seed=3), simulate_demo(seed=3))
    assert not simulate_demo(seed=3).equals(simulate_demo(seed=4))
