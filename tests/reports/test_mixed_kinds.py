"""What preregistration, datasheet and report say about a study that rates and compares."""

from dataclasses import replace
from typing import Any

import pandas as pd

from panelist.analysis.analyse import analyse
from panelist.analysis.analysis_result import Analysis
from panelist.analysis.missing import Missing
from panelist.design.make import plan_study
from panelist.reports.datasheet.fill import fill_sheet
from panelist.reports.methods import write_results
from panelist.reports.preregistration.topics import Known, answer_topics
from panelist.reports.report.page import render_html
from tests.design.small_studies import LIKERT, make_study

SCALES: dict[str, dict[str, Any]] = {"fluency": LIKERT, "clarity": LIKERT, "preference": {"type": "pairs"}}


def test_a_preregistration_names_the_model_of_each_kind_and_how_outputs_are_rated() -> None:
    study = make_study(6, ("a", "b"), SCALES, design={"type": "pairs", "rated": "alone"})
    told = answer_topics(Known(study, plan_study(study)))
    assert told["models"].startswith("Ratings of fluency and clarity by an ordinal mixed model")
    assert "choices on preference by the mixed Bradley-Terry model" in told["models"]
    assert "rated, each alone on a separate page." in told["design"]
    plain = answer_topics(Known(make_study(6, ("a", "b"), {"fluency": LIKERT})))
    assert plain["models"].startswith("Each criterion by")
    assert "also rated" not in plain["design"]


def test_a_datasheet_has_each_criterion_in_its_own_mode() -> None:
    study = make_study(6, ("a", "b"), SCALES, design={"type": "pairs"})
    sheet = fill_sheet(study, plan_study(study))
    modes = {name: sheet.answers["4.2.2", name].codes for name in SCALES}
    assert modes == {"fluency": ("1",), "clarity": ("1",), "preference": ("2",)}
    assert "also rated, side by side" in sheet.answers["3.3.4.2", ""].text
    assert "Bradley-Terry" in sheet.answers["4.3.10", "preference"].text
    assert "rdinal mixed model" in sheet.answers["4.3.10", "fluency"].text


def analyse_both() -> Analysis:
    """Return the analysis of a yes-or-no criterion and of choices."""
    rated, chosen = [], []
    for n, (rater, item) in enumerate((r, i) for r in "pqrst" for i in range(6)):
        for place, system in enumerate("ab"):
            at = {"rater": rater, "item": f"i{item}", "system": system}
            rated.append(at | {"criterion": "polite", "rating": (n * 7 + 3 * place) % 5 > 1 + place})
            choice = "best" if (n * 5 % 7 > 2) == (place == 0) else ""
            chosen.append(at | {"criterion": "preference", "trial": f"t{n}", "choice": choice})
    table = pd.DataFrame(rated).astype({"rating": int})
    return analyse(None, pd.concat([table, pd.DataFrame(chosen)], ignore_index=True), resamples=20)


def test_a_report_has_no_card_or_sentence_for_what_a_criterion_does_not_have() -> None:
    analysis = analyse_both()
    page = render_html(analysis, "today", "report.html", None)
    assert "this part is for ratings" not in page
    assert "there are no distances to compare" not in page
    assert "nothing to be proportional" not in page
    assert "<h3>Preference</h3>\n      <div" not in page
    assert len(write_results(analysis).split("\n\n")) == 2


def test_a_difference_in_points_that_p_does_not_show_is_called_unsettled() -> None:
    analysis = analyse_both()
    rated = next(one for one in analysis.criteria if not one.comparative)
    assert not isinstance(rated.effects, Missing)
    pair = replace(rated.effects.pairs[0], points=0.3, points_low=0.1, points_high=0.5, p_adjusted=0.2)
    told = replace(rated, effects=replace(rated.effects, pairs=(pair,)))
    page = render_html(replace(analysis, criteria=(told,)), "today", "report.html", None)
    assert f"Not settled: {pair.a} higher in points, not by p" in page
