"""``panelist report`` as its user meets it: a study or a table in, sentences and files out."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from panelist.cli.report import report
from panelist.core.errors import BadFile
from tests.simulated import simulate_demo
from tests.study.studies import write_study


@pytest.fixture
def run() -> CliRunner:
    return CliRunner()


def make_app() -> typer.Typer:
    app = typer.Typer()
    app.command()(report)
    return app


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    frame = simulate_demo().head(600)
    frame.assign(system=frame["system"].map({"prompted": "a", "rules": "b", "tuned": "c"})).to_csv(
        path, index=False
    )
    return path


def test_a_table_becomes_a_report(run: CliRunner, ratings: Path) -> None:
    out = ratings.with_name("out.html")
    answer = run.invoke(make_app(), [str(ratings), "-o", str(out), "--resamples", "20"])
    assert answer.exit_code == 0, answer.output
    assert "On fluency, " in answer.stdout
    assert f"Written: {out}, and " in answer.stdout
    assert out.exists()
    assert (ratings.parent / "out_files" / "methods.md").exists()


def test_json_is_one_object_and_nothing_else(run: CliRunner, ratings: Path) -> None:
    out = ratings.with_name("out.html")
    answer = run.invoke(
        make_app(), [str(ratings), "-o", str(out), "--resamples", "20", "--json", "--no-files"]
    )
    found = json.loads(answer.stdout)
    assert [one["criterion"] for one in found["criteria"]] == ["adequacy", "fluency"]
    assert not (ratings.parent / "out_files").exists()


def test_a_study_takes_the_ratings_beside_it(run: CliRunner, ratings: Path) -> None:
    study = write_study(ratings.parent, systems="abc")
    out = ratings.with_name("out.html")
    answer = run.invoke(make_app(), [str(study), "-o", str(out), "--resamples", "20", "--no-files"])
    assert answer.exit_code == 0, answer.output
    assert "A study" in out.read_text("utf-8")


def test_a_study_without_ratings_says_what_to_do(run: CliRunner, tmp_path: Path) -> None:
    study = write_study(tmp_path)
    answer = run.invoke(make_app(), [str(study)])
    assert isinstance(answer.exception, BadFile)
    assert "panelist simulate" in str(answer.exception)


def test_ratings_go_with_a_study_only(run: CliRunner, ratings: Path) -> None:
    answer = run.invoke(make_app(), [str(ratings), "--ratings", str(ratings)])
    assert isinstance(answer.exception, BadFile)
    assert "--ratings goes with a study" in str(answer.exception)
