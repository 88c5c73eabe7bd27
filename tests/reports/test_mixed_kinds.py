"""What preregistration and datasheet say about a study that rates and compares."""

from typing import Any

from panelist.design.make import plan_study
from panelist.reports.datasheet.fill import fill_sheet
from panelist.reports.preregistration.topics import Known, answer_topics
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
