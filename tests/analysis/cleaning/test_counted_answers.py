"""One answer is counted once: a comparison has a row for every output shown, and is one answer."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.analyse import analyse
from panelist.analysis.cleaning.counted_answers import name_answers, number_answers
from panelist.analysis.departures import Departures
from panelist.analysis.missing import Missing
from panelist.design.assess.balance import count_planned
from panelist.design.make import plan_study
from panelist.design.plan_files import write_plan
from panelist.design.simulate import simulate_ratings
from panelist.reports.datasheet.fill import fill_sheet
from panelist.reports.methods import write_methods
from panelist.reports.preregistration.declare import preregister
from panelist.study.reading.load import load_study
from panelist.study.start import init_study
from tests.analysis.choices.choices import make_pairs, make_sets


def test_outputs_shown_together_are_one_answer_and_ratings_are_their_own() -> None:
    sets = make_sets(dict.fromkeys("abc", 0.0), 3, raters=2, items=4, kind="best-worst").assign(
        criterion="use"
    )
    assert len(np.unique(number_answers(sets))) == 8
    assert name_answers(sets) == "comparison"
    rated = pd.DataFrame({"rater": "r", "item": list("xy"), "rating": [1, 2], "criterion": "fluency"})
    mixed = pd.concat([sets.drop(columns="choice").assign(choice=sets["choice"]), rated], ignore_index=True)
    assert len(np.unique(number_answers(mixed))) == 10
    assert name_answers(mixed) == "answer"
    assert name_answers(rated) == "rating"
    wide = make_pairs([("r", "a", "b", "a"), ("r", "a", "b", "b")])
    assert len(np.unique(number_answers(wide))) == 2


@pytest.mark.parametrize("template", ["pairs", "best-worst"])
def test_a_study_of_choices_counts_comparisons_everywhere(template: str, tmp_path: Path) -> None:
    init_study(tmp_path / "study", template)
    study = load_study(tmp_path / "study")
    plan = plan_study(study)
    write_plan(plan, study.folder)
    asked, noun = count_planned(plan, study)
    assert (asked, noun) == (180, "comparison")
    form = preregister(study).forms[0]
    assert any("give 180 comparisons of" in entry.answer for entry in form.entries)
    ratings = simulate_ratings(study, plan, 3)
    found = analyse(study, ratings, resamples=2)
    assert found.data.sentence().startswith("180 comparisons, 15 raters")
    assert "(180 comparisons)" in write_methods(found)
    alike = {
        "pairs": "random preferences of raters and items.",
        "best-worst": "raters and items as clusters.",
    }
    assert f", {alike[template]}" in write_methods(found)
    assert found.exclusions.n_trials == 180
    assert isinstance(found.departures, Departures)
    assert not [one for one in found.departures.rows if one.what.startswith("number of")]
    agreed = found.criteria[0].reliability
    assert not isinstance(agreed, Missing)
    assert agreed.n_ratings == 180
    without = ratings[ratings["rater"] != ratings["rater"].iloc[0]]
    departed = analyse(study, without, resamples=2).departures
    assert isinstance(departed, Departures)
    rows = {one.what: (one.declared, one.used) for one in departed.rows}
    assert rows["number of comparisons"] == ("180", "168")
    filled = fill_sheet(study, plan, ratings, resamples=2)
    assert "180 comparisons by 15 evaluators" in filled.answer("4.3.11.2", study.criteria[0].name).text
