"""The appendix: hashes, versions and commands that lead to the same report again."""

import hashlib
import shlex
from pathlib import Path

import panelist
from panelist.analysis.analyse import analyse
from panelist.reports.provenance import describe_provenance, list_commands, list_versions
from tests.simulated import simulate_demo


def test_the_hash_is_that_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "my ratings.csv"
    simulate_demo().head(400).to_csv(path, index=False)
    analysis = analyse(None, path, resamples=50)
    found = describe_provenance(analysis, "report.html", "4 November 2026")
    assert found["data"]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found["data"]["of"] == "the file my ratings.csv"
    assert found["study"] is None
    assert str(tmp_path) not in str(found)


def test_commands_can_be_given_to_a_shell(tmp_path: Path) -> None:
    path = tmp_path / "my ratings.csv"
    simulate_demo().head(400).to_csv(path, index=False)
    commands = list_commands(analyse(None, path, resamples=50, seed=3), "report.html")
    assert shlex.split(commands[-1]) == [
        *("panelist", "report", "my ratings.csv", "-o", "report.html"),
        *("--seed", "3", "--resamples", "50"),
    ]


def test_a_frame_is_repeated_in_python() -> None:
    analysis = analyse(None, simulate_demo().head(400), resamples=50)
    assert list_commands(analysis, "r.html") == [
        "panelist.write_report(panelist.analyse(study, ratings), 'r.html')"
    ]


def test_versions_are_those_installed() -> None:
    versions = list_versions()
    assert versions["panelist"] == panelist.__version__
    assert versions["python"].startswith("3.")
