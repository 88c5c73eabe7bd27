"""Methods, results and references in words: what was done is said, what was not done is not."""

import re
from pathlib import Path

import pandas as pd
import pytest

from panelist.analysis.analyse import analyse
from panelist.analysis.analysis_result import Analysis
from panelist.analysis.systems.effects import Effect
from panelist.reports.methods import write_methods, write_results
from panelist.reports.methods_of_study import tell_study
from panelist.reports.references import list_references, write_bibtex
from panelist.study.reading.load import load_study
from panelist.study.start import init_study
from tests.analysis.near_unanimity import nearly_unanimous
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
    assert (
        "Agreement is reported together with correlation (Amidei et al. 2019), with intervals for other items"
        in text
    )
    assert "jackknife over raters (50 resamples)" in text


def test_results_have_every_difference_with_its_interval(analysis: Analysis) -> None:
    text = write_results(analysis)
    for one in analysis.criteria:
        for pair in map(Effect.upward, one.effects.pairs):  # type: ignore[union-attr]
            assert f"{pair.a} − {pair.b}: " in text
    assert re.search(
        r"tuned − rules: \d\.\d\d points \[\d\.\d\d to \d\.\d\d\], P\(higher\) = 0\.[67]\d", text
    )
    assert "Krippendorff's alpha" in text


def test_a_study_adds_its_questions_scales_and_design(tmp_path: Path) -> None:
    init_study(tmp_path / "study", "likert")
    study = load_study(tmp_path / "study")
    rows = simulate_demo().assign(criterion=lambda frame: study.criteria[0].name)
    text = write_methods(analyse(study, rows.head(480), resamples=FEW))
    assert study.criteria[0].question in text
    scale = study.criteria[0].scale.describe()
    assert f"” and answered on a {scale[0].lower()}{scale[1:]}" in text  # a whole sentence
    assert "answers at most 1 point apart" in text
    assert study.file.design.facts.assigned in text


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


def test_two_points_by_three_raters_are_said_to_have_no_correlation_and_no_jackknife() -> None:
    frame = simulate_demo()
    few = frame[frame["rater"].isin(["rater-01", "rater-02", "rater-03"]) & (frame["criterion"] == "fluency")]
    # Everybody sees every output: the systems no longer take turns.
    whole = pd.concat(
        [
            few.assign(system=name, rating=(few["rating"] > cut).astype(int))
            for name, cut in (("rules", 3), ("tuned", 2))
        ],
        ignore_index=True,
    )
    text = write_methods(analyse(None, whole, resamples=FEW))
    assert "Agreement is reported, with intervals for other items rated by these 3 raters" in text
    assert "correlation" not in text
    assert "jackknife" not in text


def test_results_say_once_where_two_analyses_disagree() -> None:
    text = write_results(analyse(None, nearly_unanimous(), resamples=FEW))
    assert text.count("the linear mixed model beta is above gamma") == 1


def test_no_limit_is_told_that_exceeds_the_scale() -> None:
    rows = [("a", "x", 1), ("a", "y", 2), ("b", "x", 9)]
    frame = pd.DataFrame(rows, columns=["item", "system", "rating"]).assign(rater="r1")
    said = analyse(None, frame, resamples=FEW).criteria[0].sentence()
    assert "too few to say how small a difference must be" in said
    assert "e+" not in said


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("chat", ["Outputs were shown as dialogues.", "Each turn of the assistant was rated."]),
        ("speech", ["Outputs were shown as sound."]),
        ("likert", []),
    ],
)
def test_the_methods_say_what_outputs_were_shown_as(template: str, said: list[str], tmp_path: Path) -> None:
    init_study(tmp_path / "study", template)
    told = tell_study(load_study(tmp_path / "study"))
    assert [sentence for sentence in told if sentence.startswith(("Outputs were shown", "Each turn"))] == said
