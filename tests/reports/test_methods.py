"""Methods, results and references in words: what was done is said, what was not done is not."""

import re
from pathlib import Path

import pytest

from panelist.analysis.analyse import analyse
from panelist.analysis.analysis_result import Analysis
from panelist.reports.bibliography import list_references, write_bibtex
from panelist.reports.methods import write_methods, write_results
from panelist.reports.methods_of_study import DESIGNS
from panelist.study.load import load_study
from panelist.study.start import init_study
from tests.simulated import simulate_demo

FEW = 50


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyse(None, simulate_demo(), resamples=FEW)


def test_methods_say_what_was_done(analysis: Analysis) -> None:
    text = write_methods(analysis)
    assert text.startswith("24 raters judged outputs of 3 systems for 40 items on adequacy and fluency")
    assert "ordinal mixed model (probit link, rating ~ system" in text
    assert "Tukey-adjusted" in text
    assert "50 bootstrap samples" in text


def test_results_have_every_difference_with_its_interval(analysis: Analysis) -> None:
    text = write_results(analysis)
    for one in analysis.criteria:
        for pair in one.effects.pairs:  # type: ignore[union-attr]
            assert f"{pair.a} − {pair.b}: " in text
    assert re.search(r"rules − tuned: −0\.\d\d points \[−\d\.\d\d to −\d\.\d\d\], P\(higher\) = 0\.3\d", text)
    assert "Krippendorff's alpha" in text


def test_a_study_adds_its_questions_scales_and_design(tmp_path: Path) -> None:
    init_study(tmp_path / "study", "likert")
    study = load_study(tmp_path / "study")
    rows = simulate_demo().assign(criterion=lambda frame: study.criteria[0].name)
    text = write_methods(analyse(study, rows.head(480), resamples=FEW))
    assert study.criteria[0].question in text
    assert study.criteria[0].scale.describe() in text
    assert DESIGNS[study.file.design.type] in text


def test_only_works_that_were_used_are_cited(analysis: Analysis) -> None:
    keys = {one.key for one in list_references(analysis)}
    assert {"howcroft2021happens", "amidei2019agreement", "kramer1956extension"} <= keys
    assert not keys & {"bradley1952rank", "holm1979simple", "plackett1975analysis"}
    alone = analyse(None, simulate_demo().assign(system="one"), resamples=FEW)
    assert "howcroft2021happens" not in {one.key for one in list_references(alone)}


def test_bibtex_has_balanced_braces_and_one_entry_a_work(analysis: Analysis) -> None:
    references = list_references(analysis)
    text = write_bibtex(references)
    assert text.count("{") == text.count("}")
    assert len(re.findall(r"^@\w+\{", text, re.MULTILINE)) == len(references)
    assert all(one.link for one in references)
