"""The checklist: what the data answer is filled in, what only the authors know is asked for."""

from typing import Any

import pytest

from panelist.agreement.checklist import make_checklist
from panelist.agreement.criterion_table import from_matrix
from panelist.agreement.reliability import CoefficientEstimate, CriterionReliability, Reliability
from panelist.agreement.suspicious import Suspicion

NAN = float("nan")


def measured(**changes: Any) -> CriterionReliability:
    table = from_matrix([[1, 2], [3, 3], [5, 4]])
    given: dict[str, Any] = {
        "criterion": "fluency",
        "measurement": "ordinal",
        "n_items": 3,
        "n_raters": 2,
        "n_ratings": 6,
        "table": table,
        "interval": "bootstrap over items",
        "coefficients": (
            CoefficientEstimate(
                name="krippendorff_alpha_ordinal", estimate=0.52, low=0.4, high=0.6, n_items=3
            ),
            CoefficientEstimate(
                name="spearman", estimate=0.9, low=0.8, high=0.95, n_items=3, kind="correlation"
            ),
        ),
    }
    return CriterionReliability(**(given | changes))


def states(reliability: CriterionReliability, **given: bool) -> dict[str, bool]:
    return {point.name: point.stated for point in make_checklist(reliability, **given).points}


def test_what_the_data_know_is_stated_and_the_rest_is_asked_for() -> None:
    assert states(measured()) == {
        "coefficient": True,
        "agreement and correlation": True,
        "suitable coefficient": True,
        "items": True,
        "raters": True,
        "level of measurement": True,
        "independence": False,
        "interpretation": True,
        "experiment": False,
    }


def test_independence_is_stated_once_somebody_says_so() -> None:
    assert states(measured(), independent=True)["independence"]
    texts = [point.text for point in make_checklist(measured(), independent=False).points]
    assert "raters did not work independently" in texts


def test_a_guessed_level_is_to_be_confirmed() -> None:
    assert not states(measured(measurement_reason="5 whole values"))["level of measurement"]
    assert states(measured(measurement_reason="5 whole values"), level_given=True)["level of measurement"]


def test_a_coefficient_that_does_not_suit_is_named() -> None:
    unsuited = CoefficientEstimate(name="fleiss_kappa", estimate=0.3, n_items=3, suits=False)
    checklist = make_checklist(measured(coefficients=(*measured().coefficients, unsuited)))
    point = next(point for point in checklist.points if point.name == "suitable coefficient")
    assert (point.stated, "fleiss_kappa" in point.text) == (False, True)


def test_agreement_alone_is_not_enough_unless_labels_have_no_order() -> None:
    alone = measured().coefficients[:1]
    assert not states(measured(coefficients=alone))["agreement and correlation"]
    assert states(measured(coefficients=alone, measurement="nominal"))["agreement and correlation"]


def test_the_checklist_shows_itself() -> None:
    text = str(make_checklist(measured()))
    assert "say whether raters worked independently" in text
    assert "2 raters, 2 ratings per output" in text


def test_the_sentence_puts_agreement_and_correlation_side_by_side() -> None:
    assert measured().sentence() == (
        "On fluency, Krippendorff's alpha (ordinal) is 0.52 (0.40 to 0.60; not reliable, Krippendorff 1980) "
        "and Spearman's rho is 0.90 (0.80 to 0.95; very large, Rosenthal 1996): raters use the "
        "scale differently but order the items alike (6 ratings by 2 raters of 3 outputs; 95 % intervals, "
        "bootstrap over items)."
    )


def test_a_third_decimal_is_shown_where_two_would_contradict_the_word() -> None:
    near = (CoefficientEstimate(name="krippendorff_alpha_ordinal", estimate=0.668, n_items=3),)
    assert "is 0.668 (not reliable, Krippendorff 1980)" in measured(coefficients=near).sentence()


def test_the_sentence_points_to_what_is_odd() -> None:
    odd = measured(suspicions=(Suspicion("sorted", "a ≤ b in all units"),))
    assert "but some of these ratings are odd" in odd.sentence()
    assert "a ≤ b in all units" in str(odd)


def test_the_sentence_falls_back_on_what_was_measured() -> None:
    only = (CoefficientEstimate(name="gwet_ac2", estimate=0.7, n_items=3),)
    assert (
        measured(coefficients=only)
        .sentence()
        .startswith("On fluency, Gwet's AC2 is 0.70 (substantial, Landis")
    )
    none = (CoefficientEstimate(name="gwet_ac2", estimate=NAN, n_items=3, note="one rater"),)
    assert "no coefficient that suits ordinal ratings is defined" in measured(coefficients=none).sentence()


@pytest.mark.parametrize(
    "key", ["criterion", "measurement", "n_items", "n_raters", "n_ratings", "coefficients"]
)
def test_the_dictionary_has_the_promised_keys(key: str) -> None:
    whole = Reliability(source="a frame", criteria=(measured(),)).to_dict()
    assert key in whole["criteria"][0]
    assert {"name", "estimate", "low", "high", "n_items", "note"} <= set(
        whole["criteria"][0]["coefficients"][0]
    )


def test_what_only_authors_know_is_asked_once_for_all_criteria() -> None:
    both = Reliability(source="a frame", criteria=(measured(), measured(criterion="clarity")))
    assert str(both).count("say whether raters worked independently") == 1
