"""Ratings and choices in one table: each criterion by its model, with a study and without."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.analyse import analyse
from panelist.analysis.choices.choice_comparison import ChoiceCriterion
from panelist.analysis.choices.trials import holds_choices
from panelist.analysis.compare import compare_systems
from panelist.analysis.missing import Missing
from panelist.core.tables.ratings import read_ratings
from panelist.design.make import plan_study
from panelist.design.simulate import simulate_ratings
from panelist.reports.methods import write_methods
from panelist.reports.report.write_report import write_report
from panelist.study.study import Study
from tests.design.small_studies import LIKERT, make_study

EFFECTS = {"a": -1.2, "b": 1.2}


def both(**design: Any) -> tuple[Study, pd.DataFrame]:
    scales = {"fluency": LIKERT, "preference": {"type": "pairs", "ties": True}}
    study = make_study(12, ("a", "b"), scales, design={"type": "pairs", "ratings_per_output": 8, **design})
    return study, simulate_ratings(study, plan_study(study), seed=3, effects=EFFECTS, careless=0)


@pytest.mark.parametrize("rated", ["side by side", "alone"])
def test_each_criterion_is_analysed_by_its_own_model_and_has_its_headline(rated: str, tmp_path: Any) -> None:
    study, table = both(rated=rated)
    analysis = analyse(study, table, resamples=50)
    fluency, preference = analysis.criteria
    assert not isinstance(fluency.comparison, Missing)
    assert (fluency.comparative, fluency.comparison.model) == (False, "clmm")
    assert preference.comparative
    assert isinstance(preference.comparison, ChoiceCriterion)
    assert (fluency.comparison.n, preference.comparison.n) == (192, 96)
    said = analysis.sentences()
    assert said[0].startswith("On fluency, b is rated above a.")
    assert said[1].startswith("On preference, b is preferred to a")
    assert (analysis.data.n, analysis.data.noun) == (288, "answer")
    methods = write_methods(analysis)
    assert "Ratings of fluency were modelled with an ordinal mixed model" in methods
    assert "Choices on preference were modelled with the mixed Bradley-Terry model" in methods
    assert ("each alone on a separate page" in methods) == (rated == "alone")
    page = tmp_path / "report.html"
    write_report(analysis, page, files=False)
    html = page.read_text("utf-8")
    assert html.index("On fluency, b is rated above a") < html.index("On preference, b is preferred to a")
    assert "<h3>Preference</h3>" in html


def test_a_mixed_table_is_compared_as_its_parts_are() -> None:
    _, table = both()
    whole = compare_systems(table).criteria
    assert [one.criterion for one in whole] == ["fluency", "preference"]
    for one in whole:
        mine = table[(table["criterion"] == one.criterion).to_numpy()].dropna(axis=1, how="all")
        if one.criterion == "fluency":
            mine = mine.drop(columns=["trial", "choice", "answer"])
        alone = compare_systems(mine.reset_index(drop=True)).criteria[0]
        np.testing.assert_allclose([p.difference for p in one.pairs], [p.difference for p in alone.pairs])
        np.testing.assert_allclose([p.p for p in one.pairs], [p.p for p in alone.pairs])


def test_what_a_criterion_never_has_is_not_reported_as_missing(tmp_path: Any) -> None:
    _, table = both()
    path = tmp_path / "ratings.csv"
    table.to_csv(path, index=False)
    assert not [note for note in read_ratings(path).notes if "is missing" in note]
    first = (table["criterion"] == "fluency").to_numpy().argmax()
    table.loc[first, "rating"] = pd.NA
    table.to_csv(path, index=False)
    assert "rating is missing in 1 of 384 rows" in read_ratings(path).notes


def test_ratings_from_1_to_2_of_two_outputs_are_no_ranks() -> None:
    rows = [
        (f"r{rater}", f"i{item}", "quality", "", system, value)
        for rater in range(6)
        for item in range(4)
        for system, value in (("a", 1), ("b", 2))
    ]
    columns = ["rater", "item", "criterion", "trial", "system", "rating"]
    table = pd.DataFrame(rows, columns=columns)
    assert not holds_choices(table)
    assert holds_choices(table.assign(trial=table["rater"] + table["item"]))
