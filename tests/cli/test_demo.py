"""``panelist demo``: the whole life of a study, with a server that is gone when the demo is."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from panelist.analysis.compare import compare_systems
from panelist.cli.demo import MADE
from panelist.core.tables.ratings import read_ratings
from panelist.study.start import init_example
from tests.cli.commands import call
from tests.patience import PATIENCE

Capture = pytest.CaptureFixture[str]
SMALL = ("--raters", "6", "--sims", "2")
PANELIST = [sys.executable, "-c", "from panelist.cli.main import main; main()"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the folder of a small demo, whose server was ended by Ctrl+C, and what it printed."""
    folder = tmp_path_factory.mktemp("demo") / "new" / "demo"
    command = [*PANELIST, "demo", *SMALL, "--keep-serving", "--output", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as demo:
        assert demo.stdout is not None
        said = ""
        while "Ctrl+C" not in said:
            line = demo.stdout.readline()
            assert line, said
            said += line
        port = int(said.split("/join")[0].rsplit(":", 1)[1])
        assert _answers(port)
        time.sleep(0.3)
        os.killpg(demo.pid, signal.SIGINT)  # as a terminal does: to the demo and to its server
        said += demo.stdout.read()
        assert demo.wait(PATIENCE) == 0
    assert not _answers(port)
    return folder, said


def test_demo_makes_every_file_and_says_where(made: tuple[Path, str]) -> None:
    folder, said = made
    assert {path.name for path in folder.iterdir()} == {"demo.json", *MADE}
    assert {"study.yaml", "outputs.csv", "plan.csv", "study.db"} <= {
        path.name for path in (folder / "study").iterdir()
    }
    assert str(folder / "report.html") in said
    assert "6 of 6 simulated ones finished" in " ".join(said.split())
    assert "/dashboard (password " in " ".join(said.split())


def test_report_is_of_the_ratings_that_went_over_the_pages(made: tuple[Path, str]) -> None:
    folder, _ = made
    ratings = pd.read_csv(folder / "ratings.csv", keep_default_na=False)
    trials = ratings[ratings["check"] == ""]
    assert len(trials) == 6 * 40 * 2
    assert not trials.duplicated(["rater", "item", "criterion"]).any()
    reported = json.loads((folder / "report_files" / "analysis.json").read_text("utf-8"))
    kept = reported["exclusions"]["n_kept"]
    assert reported["data"]["n"] == kept
    assert kept + reported["exclusions"]["n_excluded"] == len(trials)
    if kept == len(trials):
        found = compare_systems(read_ratings(folder / "ratings.csv"))["fluency"]
        shown = next(one for one in reported["criteria"] if one["criterion"] == "fluency")["comparison"]
        assert [one["estimate"] for one in shown["systems"]] == pytest.approx(
            [one.estimate for one in found.systems], abs=1e-6
        )


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_port_in_use_is_one_message(tmp_path: Path, capsys: Capture, taken: int) -> None:
    done = call(capsys, "demo", *SMALL, "--port", taken, "--output", tmp_path / "demo")
    assert done.code == 2
    assert f"Port {taken}" in done.err
    assert "--port" in done.err
    assert not (tmp_path / "demo").exists()


def test_folder_of_somebody_else_is_left_alone(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "ratings.csv").write_text("mine")
    done = call(capsys, "demo", "--output", tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "--output" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["ratings.csv"]
    assert (tmp_path / "ratings.csv").read_text() == "mine"


def test_folder_that_cannot_be_made_is_one_message(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    done = call(capsys, "demo", "--output", file)
    assert (done.code, done.out) == (2, "")
    assert "--output" in done.err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_demo_ended_midway_leaves_no_server_and_can_be_run_again(
    made: tuple[Path, str], tmp_path: Path, capsys: Capture, number: signal.Signals, code: int
) -> None:
    folder = tmp_path / "demo"
    command = [*PANELIST, "demo", "--raters", "60", "--sims", "2", "--output", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as demo:
        assert demo.stdout is not None
        server = next(line for line in demo.stdout if "Server:" in line)
        port = int(server.split("127.0.0.1:")[1].split(",")[0])
        os.kill(demo.pid, number)
        assert demo.wait(PATIENCE) == code
    limit = time.monotonic() + PATIENCE
    while _answers(port):
        assert time.monotonic() < limit, "the server is still there"
        time.sleep(0.1)
    if number == signal.SIGKILL:
        return  # once is enough for what follows
    (folder / "mine.txt").write_text("mine")
    assert call(capsys, "demo", *SMALL, "--output", folder).code == 0
    assert (folder / "mine.txt").read_text() == "mine"
    first, second = (pd.read_csv(place / "ratings.csv") for place in (made[0], folder))
    pd.testing.assert_frame_equal(
        first.drop(columns=["rater", "given"]), second.drop(columns=["rater", "given"])
    )


def test_example_goes_into_new_folders_only(tmp_path: Path) -> None:
    made = init_example(tmp_path / "study")
    assert {path.name for path in made} == {"study.yaml", "outputs.csv", "study.schema.json"}


def _answers(port: int) -> bool:
    with socket.socket() as caller:
        caller.settimeout(1)
        return caller.connect_ex(("127.0.0.1", port)) == 0
