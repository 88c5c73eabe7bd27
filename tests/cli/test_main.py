"""The command itself: exit codes, and how errors are reported."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from docs.generate import ERRORS
from panelist.cli import main as command_line
from panelist.core.errors import BadRatings
from tests.cli.commands import FORMULA, NAMES, call

Capture = pytest.CaptureFixture[str]


def test_python_runs_the_package_as_the_command(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:  # where the folder of commands is not on the path
    monkeypatch.setattr(sys, "argv", ["python -m panelist", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("panelist", run_name="__main__")
    assert not ended.value.code
    assert capsys.readouterr().out == call(capsys, "--version").out


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.delenv("PANELIST_TRACEBACK", raising=False)
    return monkeypatch


def fail_with(failing: pytest.MonkeyPatch, error: BaseException) -> None:
    def app(*_: object, **__: object) -> None:
        raise error

    failing.setattr(command_line, "app", app)


def test_help_lists_exactly_the_commands_that_work(capsys: Capture) -> None:
    done = call(capsys, "--help")
    listed = done.out.split("Commands:\n")[1].splitlines()
    assert [re.split(r"\s{2,}", line.strip())[0] for line in listed if line.strip()] == NAMES
    assert done.code == 0


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help(capsys: Capture, name: str) -> None:
    done = call(capsys, *name.split(), "--help")
    assert done.code == 0
    assert f"Usage: panelist {name}" in done.out


def test_a_word_with_several_commands_lists_them(capsys: Capture) -> None:
    done = call(capsys, "heds", "--help")
    assert done.code == 0
    assert [line.split(":")[0] for line in done.out.splitlines()] == [
        f"panelist {name}" for name in NAMES if name.startswith("heds")
    ]
    alone = call(capsys, "heds")
    assert (alone.code, alone.out) == (2, "")
    assert "fill, lint, convert, diff" in alone.err


def test_version_is_that_of_the_package(capsys: Capture) -> None:
    from importlib.metadata import version

    assert call(capsys, "--version").out == f"panelist {version('panelist')}\n"


def test_unknown_command_is_answered_with_the_nearest(capsys: Capture) -> None:
    done = call(capsys, "compair")
    assert (done.code, done.out) == (2, "")
    assert "Did you mean 'compare'?" in done.err


@pytest.mark.parametrize(
    "arguments",
    [["fit"], ["fit", "x.csv"], ["compare", "x.csv", "--confidence", "high"], ["demo", "--sed", "1"]],
)
def test_bad_usage_ends_with_2(capsys: Capture, arguments: list[str]) -> None:
    done = call(capsys, *arguments)
    assert (done.code, done.out) == (2, "")
    assert "Error: " in done.err


def test_what_the_user_can_mend_is_one_message(capsys: Capture, failing: pytest.MonkeyPatch) -> None:
    fail_with(failing, BadRatings("There is no column 'rater'."))
    assert call(capsys, "fit") == (2, "", "Error: There is no column 'rater'.\n")


def test_an_error_leads_to_its_heading_in_the_docs(capsys: Capture, failing: pytest.MonkeyPatch) -> None:
    fail_with(failing, BadRatings("There is no column 'rater'."))
    with pytest.raises(SystemExit):
        command_line.main(["fit", "--json"])
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"Error: There is no column 'rater'.\nMore: {ERRORS}#bad-ratings\n"


def test_a_fault_of_ours_asks_for_a_report(capsys: Capture, failing: pytest.MonkeyPatch) -> None:
    fail_with(failing, ZeroDivisionError("division\nby zero"))
    done = call(capsys, "fit")
    assert (done.code, done.out) == (70, "")
    assert done.err.count("\n") == 1
    assert "ZeroDivisionError: division by zero" in done.err
    assert "--traceback" in done.err


@pytest.mark.parametrize("arguments", [["--traceback", "fit"], ["fit", "--traceback"]])
def test_traceback_shows_where_an_error_arose(failing: pytest.MonkeyPatch, arguments: list[str]) -> None:
    fail_with(failing, ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        command_line.main(arguments)


def test_traceback_can_be_asked_for_by_the_environment(failing: pytest.MonkeyPatch) -> None:
    fail_with(failing, ZeroDivisionError())
    failing.setenv("PANELIST_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        command_line.main(["fit"])


def test_interrupting_ends_with_130(capsys: Capture, failing: pytest.MonkeyPatch) -> None:
    fail_with(failing, KeyboardInterrupt())
    assert call(capsys, "fit").code == 130


def test_a_reader_who_goes_away_is_no_error(ratings: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    code = "from panelist.cli.main import main; main()"
    arguments = ["fit", str(ratings), "--criterion", "fluency", "--formula", FORMULA, "--model", "lmm"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], stdout=writing, stderr=subprocess.PIPE, text=True
    )
    os.close(writing)
    assert done.stderr == ""
    assert done.returncode == 141


def test_words_in_the_help_are_those_the_models_know(capsys: Capture) -> None:
    from panelist.models.fit import METHODS, MODELS
    from panelist.models.inference.adjust import ADJUSTMENTS
    from panelist.models.likelihoods.link_functions import LINKS
    from panelist.models.likelihoods.thresholds import STRUCTURES

    fit_help = call(capsys, "fit", "--help").out
    for option, words in (("model", MODELS), ("link", LINKS), ("threshold", STRUCTURES), ("method", METHODS)):
        assert f"--{option} {'|'.join(words)}" in fit_help
    listed = call(capsys, "compare", "--help").out.split("--adjust ")[1].split()[0]
    assert set(listed.split("|")) == set(ADJUSTMENTS)
