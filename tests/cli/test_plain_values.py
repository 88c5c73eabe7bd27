"""Values that need no reading: taken as they are, and wrong ones refused as ever."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import call

Capture = pytest.CaptureFixture[str]

FIT = """
import sys
from panelist.cli.main import main
try:
    rows = ["--where", "system=a", "--where", "system=b"]
    main(["fit", "ratings.csv", "-f", "rating ~ system", "--model", "lm", *rows])
except SystemExit as done:
    print(done.code, "pydantic" in sys.modules)
"""
ROWS = "".join(f"r{k % 4},{'ab'[k % 2]},{1 + k * k % 5 * 1.5}\n" for k in range(16))


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "ratings.csv"
    path.write_text("rater,system,rating\n" + ROWS, encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_fit_does_without_pydantic(table: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIT], cwd=table.parent, capture_output=True, text=True, check=True
    )
    assert "Linear model" in done.stdout
    assert done.stdout.splitlines()[-1] == "0 False"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--quadrature", "many"], "'--quadrature': Input should be a valid integer"),
        (["--confidence", "high"], "'--confidence': Input should be a valid number"),
    ],
)
def test_wrong_values_are_refused_by_name(
    capsys: Capture, table: Path, options: list[str], problem: str
) -> None:
    done = call(capsys, "fit", str(table), "-f", "rating ~ system", *options)
    assert (done.code, done.out) == (2, "")
    assert problem in done.err


def test_numbers_are_read(capsys: Capture, table: Path) -> None:
    words = ("fit", str(table), "-f", "rating ~ system", "--model", "lm", "--intervals", "wald")
    wide, narrow = (call(capsys, *words, "--confidence", level).out for level in ("0.99", "0.5"))
    assert wide != narrow
