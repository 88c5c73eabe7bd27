"""The template with a judge runs from init to the report, and nothing claims more than was shown."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from docs.judged_scores import main as simulate_judge
from panelist.reports.datasheet.fill import fill_sheet
from panelist.study.reading.load import load_study
from tests.cli.commands import call
from tests.reports.pages import find_bare_signs

Capture = pytest.CaptureFixture[str]
NEVER = re.compile(r"replace (?:people|raters)|as good as|human-level|near-perfect", re.IGNORECASE)


@pytest.fixture
def study(tmp_path: Path, capsys: Capture) -> Path:
    folder = tmp_path / "study"
    assert call(capsys, "init", folder, "--template", "judged").code == 0
    assert call(capsys, "plan", folder).code == 0
    assert call(capsys, "simulate", folder).code == 0
    return folder


@pytest.mark.slow
def test_the_judged_study_runs_from_init_to_the_report(study: Path, capsys: Capture) -> None:
    judges = study / "judges.csv"
    worth = call(capsys, "judges", "worth", study, judges)
    assert worth.code == 0
    assert "No rater's answers follow a judge's beyond what the other raters explain (15 raters)" in worth.out
    compared = call(capsys, "compare", study, "--judge", judges)
    assert compared.code == 0
    told = " ".join(compared.out.split())
    assert "20 items rated by 15 raters, 40 scored by sim-judge" in told
    assert "20 of 40 judged items were rated by people; 20.0 were to be expected by sample.csv" in told
    page = study / "report.html"
    made = call(capsys, "report", study, "--judge", judges, "-o", page, "--resamples", 50)
    assert made.code == 0, made.err
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert find_bare_signs(text) == []
    for words in ("Beside a judge", "sim-judge", "2026-11-01", "Width ratio", "A judge is no rater"):
        assert words in text
    methods = (study / "report_files" / "methods.md").read_text(encoding="utf-8")
    assert "Beside the raters, outputs were scored by sim-judge (simulated; 2026-11-01; no answer" in methods
    bibliography = (study / "report_files" / "references.bib").read_text(encoding="utf-8")
    assert "cochran1977sampling" in bibliography
    appendix = (study / "report_files" / "appendix.tex").read_text(encoding="utf-8")
    cited = re.search(r"\\cite\{(.*)\}", appendix)
    assert cited
    assert all(f"{{{key}," in bibliography for key in cited[1].split(","))
    pairs = pd.read_csv(study / "report_files" / "tables" / "judges_fluency_pairs.csv")
    assert len(pairs) == 3
    provenance = (study / "report_files" / "provenance.json").read_text(encoding="utf-8")
    commands = json.loads(provenance)["commands"]
    assert "--judge" in commands[-1]
    for said in (worth.out, compared.out, text):
        assert not NEVER.search(said)


def test_a_report_without_a_judge_has_no_such_section_and_refuses_its_options(
    study: Path, capsys: Capture
) -> None:
    done = call(capsys, "report", study, "--judge-scale", "same", "-o", study / "r.html", "--no-files")
    assert (done.code, done.out) == (2, "")
    assert "name a judges table (--judge)" in done.err


def test_the_datasheet_describes_the_judge_with_the_instruments(study: Path) -> None:
    answer = fill_sheet(load_study(study)).answers["3.3.2", ""].text
    assert "The evaluators are people." in answer
    assert "sim-judge (simulated; 2026-11-01" in answer
    (study / "judges.csv").unlink()
    assert "judge" not in fill_sheet(load_study(study)).answers["3.3.2", ""].text


def test_the_script_makes_the_scores_of_the_template(study: Path, tmp_path: Path) -> None:
    simulate_judge(str(tmp_path))
    made, ours = (pd.read_csv(folder / "judges.csv") for folder in (tmp_path, study))
    assert made.drop(columns="rating").equals(ours.drop(columns="rating"))
    apart = (made["rating"] - ours["rating"]).abs()
    assert set(ours["item"]) == set(pd.read_csv(study / "outputs.csv")["item"])
    assert apart.max() <= 1  # a latent value on the edge of two points may round differently elsewhere
    assert (apart > 0).sum() <= 2
