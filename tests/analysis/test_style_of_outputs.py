"""Style that a study controls for in choices: taken from its outputs file, or counted in the outputs."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.analyse import analyse
from panelist.analysis.choices.choice_comparison import ChoiceCriterion
from panelist.analysis.choices.compare_choices import compare_choices
from panelist.analysis.planned import compare_planned, read_planned
from panelist.core.errors import BadStudy
from panelist.design.make import plan_study
from panelist.design.simulate import simulate_ratings
from panelist.reports.methods import write_methods
from panelist.reports.report.write_report import write_report
from panelist.study.outputs import Outputs
from panelist.study.reading.load import load_study
from panelist.study.reading.output_features import measure_outputs
from panelist.study.start import init_study
from panelist.study.study import Study


def declare(folder: Path, style: str) -> Study:
    """Return the study of the template with this style declared, and a column of tokens in its outputs."""
    init_study(folder, "preference")
    path, outputs = folder / "study.yaml", folder / "outputs.csv"
    text = path.read_text("utf-8").replace("\nanalysis:\n", f"\nanalysis:\n  style: [{style}]\n")
    path.write_text(text, "utf-8")
    frame = pd.read_csv(outputs)
    frame.assign(tokens=np.arange(len(frame)) * 7 % 11 + 3).to_csv(outputs, index=False)
    return load_study(folder)


def test_a_study_controls_for_a_column_of_its_outputs_and_says_so(tmp_path: Path) -> None:
    study = declare(tmp_path / "letters", "tokens")
    table = simulate_ratings(study, plan_study(study), seed=3, careless=0)
    analysis = analyse(study, table, resamples=50)
    made = analysis.criteria[0].comparison
    assert isinstance(made, ChoiceCriterion)
    mixed = made.strengths.mixed
    assert mixed is not None
    assert [one.term for one in mixed.slopes] == ["log(tokens)", "position"]
    known = study.outputs.frame.set_index(["item", "system"])["tokens"].astype(float)
    by_hand = table[table["check"] == ""] if "check" in table else table
    by_hand = by_hand.assign(
        tokens=[known[pair] for pair in zip(by_hand["item"], by_hand["system"], strict=True)]
    )
    alone = compare_choices(by_hand.reset_index(drop=True), style=["tokens"])["clarity"]
    assert alone.strengths.theta == pytest.approx(made.strengths.theta, abs=1e-8)
    planned = compare_planned(read_planned(study, table)).criteria[0]
    assert [one.estimate for one in planned.systems] == pytest.approx([one.estimate for one in made.systems])
    assert "log(tokens) is controlled for" in write_methods(analysis)
    page = tmp_path / "report.html"
    write_report(analysis, page, files=False)
    html = page.read_text("utf-8")
    assert "with and without style" in html
    assert "difference of expected ratings" not in html  # there are no ratings


def test_what_is_counted_in_outputs() -> None:
    texts = ["# Legs\n\n- eight\n- six\n1. nine", "plain 3 - 2"]
    outputs = Outputs(pd.DataFrame({"item": ["1", "2"], "system": ["a", "a"], "output": texts}))
    assert measure_outputs(outputs, "words").tolist() == [len(text.split()) for text in texts]
    assert measure_outputs(outputs, "characters").tolist() == [len(text) for text in texts]
    assert measure_outputs(outputs, "lists").tolist() == [3, 0]
    assert measure_outputs(outputs, "headings").tolist() == [1, 0]
    gaps = Outputs(outputs.frame.assign(tokens=["4", ""]))
    with pytest.raises(BadStudy, match="no number in 'tokens' in 1 of 2 rows"):
        measure_outputs(gaps, "tokens")
