"""Tables and places that cannot be used: exit code 2, one message, and nothing spoilt."""

import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.commands import call
from tests.simulated import simulate_demo

Capture = pytest.CaptureFixture[str]
TEXT = "The system says something about number {} in so many words."


def _fluency() -> pd.DataFrame:
    frame = simulate_demo()
    return frame[frame["criterion"] == "fluency"].reset_index(drop=True)


def _csv(change: Callable[[pd.DataFrame], pd.DataFrame]) -> bytes:
    return change(_fluency()).to_csv(index=False).encode()


HOPELESS: dict[str, bytes] = {
    "empty": b"",
    "header": b"rater,item,system,criterion,rating\n",
    "binary": bytes(range(128, 256)) * 20,
    "one row": _csv(lambda frame: frame.head(1)),
    "no ratings": _csv(lambda frame: frame.assign(rating="")),
    "stray word": _csv(lambda frame: frame.assign(rating=["good", *frame["rating"][1:]])),
    "texts": _csv(
        lambda frame: frame.drop(columns="rating").assign(
            response=[TEXT.format(k) for k in range(len(frame))]
        )
    ),
}
COMMANDS = {
    "agreement": ["agreement", "{}", "--interval", "none"],
    "compare": ["compare", "{}", "--model", "lmm"],
    "report": ["report", "{}", "-o", "report.html"],
    "fit": ["fit", "{}", "-f", "rating ~ system + (1 | rater)", "--model", "lmm"],
    "scales": ["scales", "{}", "good.csv"],
    "reproduce": ["reproduce", "good.csv", "{}", "--no-fit-models", "-o", "report.html"],
    "power": ["power", "--pilot", "{}", "--sims", "2"],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").write_bytes(_csv(lambda frame: frame))
    (tmp_path / "report.html").write_text("an earlier report", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", sorted(COMMANDS))
@pytest.mark.parametrize("name", sorted(HOPELESS))
def test_a_hopeless_table_is_refused_in_one_message(
    capsys: Capture, folder: Path, name: str, command: str
) -> None:
    (folder / "bad.csv").write_bytes(HOPELESS[name])
    done = call(capsys, *(word.format("bad.csv") for word in COMMANDS[command]))
    waiting = (
        "Analysing",
        "Preparing",
        "Simulating",
    )  # said after a second, on a busy machine before the error
    said = [line for line in done.err.splitlines() if line and not line.startswith(waiting)]
    assert (done.code, done.out) == (2, "")
    assert said[0].startswith("Error: ")
    assert not any(line.startswith(("Error", "Traceback")) for line in said[1:])
    assert (folder / "report.html").read_text(encoding="utf-8") == "an earlier report"


@pytest.mark.parametrize("command", ["agreement", "compare", "report", "fit"])
def test_a_stray_word_is_left_out_when_asked(capsys: Capture, folder: Path, command: str) -> None:
    (folder / "bad.csv").write_bytes(HOPELESS["stray word"])
    done = call(capsys, *(word.format("bad.csv") for word in COMMANDS[command]), "--drop", "invalid")
    assert done.code == 0
    page = (folder / "report.html").read_text(encoding="utf-8") if command == "report" else done.out
    assert "not a number and was left out" in page.replace("\n", " ").replace("  ", " ")


def test_a_table_without_a_known_item_is_asked_about(capsys: Capture, folder: Path) -> None:
    _fluency().rename(columns={"item": "thing"}).to_csv(folder / "odd.csv", index=False)
    for command in (["compare", "odd.csv", "--model", "lmm"], ["report", "odd.csv"]):
        done = call(capsys, *command)
        assert (done.code, done.out) == (2, "")
        assert "--columns item=thing" in done.err
        assert "--columns item=none" in done.err
    assert call(capsys, "compare", "odd.csv", "--model", "lmm", "--columns", "item=none").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "no-such-table.csv", "-o", "report.pdf"],
        ["report", "no-such-table.csv", "-o", "absent/report.html"],
        ["report", "no-such-table.csv", "-o", "folder.html"],
        ["compare", "no-such-table.csv", "--figure", "folder.svg"],
        ["agreement", "no-such-table.csv", "--figures", "report.html"],
        ["reproduce", "no-such-table.csv", "good.csv", "-o", "folder.html"],
        ["power", "--pilot", "no-such-table.csv", "--table", "absent/power.csv"],
    ],
    ids=" ".join,
)
def test_a_place_that_cannot_be_written_is_refused_before_anything_is_read(
    capsys: Capture, folder: Path, arguments: list[str]
) -> None:
    for name in ("folder.html", "folder.svg"):
        (folder / name).mkdir()
    done = call(capsys, *arguments)
    assert done.code == 2
    assert "no-such-table" not in done.err
    assert arguments[-1].split("/")[0] in done.err


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everything may be written by this user")
def test_a_folder_without_permission_is_refused_before_the_work(capsys: Capture, folder: Path) -> None:
    (folder / "closed").mkdir(mode=0o500)
    done = call(capsys, "report", "no-such-table.csv", "-o", "closed/report.html")
    assert done.code == 2
    assert "no permission" in done.err


def test_a_failure_while_files_are_drawn_leaves_the_earlier_report(
    capsys: Capture, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = folder / "report_files"
    files.mkdir()
    (files / "methods.md").write_text("earlier", encoding="utf-8")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("panelist.reports.figures.report_figures.draw_figures", fail)
    done = call(capsys, "report", "good.csv", "--resamples", "2")
    assert done.code == 2
    assert "No space left" in done.err
    assert (folder / "report.html").read_text(encoding="utf-8") == "an earlier report"
    assert (files / "methods.md").read_text(encoding="utf-8") == "earlier"
    assert sorted(path.name for path in folder.iterdir()) == ["good.csv", "report.html", "report_files"]
