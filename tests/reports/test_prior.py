"""A prior in a study file: refused where it cannot be read, and named by everything that the study makes."""

from pathlib import Path

import pytest

from panelist.analysis.analyse import analyse
from panelist.analysis.planned import compare_planned, read_planned
from panelist.reports.methods import write_methods
from panelist.reports.preregistration.declare import draft_preregistration
from panelist.reports.preregistration.draw import draw_markdown
from panelist.reports.report.write_report import write_report
from panelist.study.reading.load import find_problems, load_study
from panelist.study.study import Study
from tests.analysis.systems.end_ratings import make_ratings
from tests.study.studies import PLAIN, write_study

WEAK = "analysis: {prior: weak}\n"


def make_study(folder: Path, analysis: str = "") -> Study:
    folder.mkdir()
    return load_study(write_study(folder, PLAIN + analysis))


def test_a_prior_changes_the_hash_and_its_absence_does_not(tmp_path: Path) -> None:
    plain, weak = make_study(tmp_path / "a"), make_study(tmp_path / "b", WEAK)
    nothing = make_study(tmp_path / "c", "analysis: {}\n")
    assert plain.hash == nothing.hash != weak.hash


def test_words_that_are_no_prior_are_a_problem_of_the_study_file(tmp_path: Path) -> None:
    (problem,) = find_problems(write_study(tmp_path, PLAIN + "analysis: {prior: waek}\n"))
    assert "prior" in str(problem)
    assert "Did you mean 'weak'" in str(problem)


@pytest.mark.slow
def test_everything_that_a_study_makes_says_that_there_is_a_prior(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", WEAK)
    drafted = draw_markdown(draft_preregistration(study))
    assert "with a weak prior, which is part of the model" in drafted
    systems = dict(zip(("s0", "s1"), study.systems, strict=False))
    rows = make_ratings(2, {1: 4}).assign(criterion=study.criteria[0].name)
    rows = rows.assign(system=rows["system"].map(systems))
    planned = read_planned(study, rows)
    assert "with a weak prior" in planned.sentence()
    assert planned.to_dict()["settings"]["prior"] == "weak"
    (only,) = compare_planned(planned).criteria
    assert only.prior == "weak"
    assert only.pairs[0].prior
    made = analyse(study, rows, resamples=50)
    assert "ordinal mixed model with a weak prior" in write_methods(made)
    write_report(made, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "with a weak prior" in page
    assert "*prior*" in page
    assert "Bayesian" not in page


@pytest.mark.parametrize("analysis", ["", "analysis: {prior: none}\n"])
def test_without_one_nothing_speaks_of_it(tmp_path: Path, analysis: str) -> None:
    study = make_study(tmp_path / "study", analysis)
    assert "prior" not in draw_markdown(draft_preregistration(study)).replace("prior to", "")
