"""Plain words: the cut-offs of each named scale, and what agreement and correlation say together."""

import pytest

from panelist.agreement.interpret import (
    KOO_LI,
    KRIPPENDORFF,
    LANDIS_KOCH,
    ROSENTHAL,
    NamedScale,
    interpret,
    read_together,
)
from panelist.core.errors import UnknownName

NAN = float("nan")


@pytest.mark.parametrize(
    ("scale", "value", "word"),
    [
        (KRIPPENDORFF, -0.2, "not reliable"),
        (KRIPPENDORFF, 0.6699, "not reliable"),
        (KRIPPENDORFF, 0.67, "tentative"),
        (KRIPPENDORFF, 0.7999, "tentative"),
        (KRIPPENDORFF, 0.8, "reliable"),
        (KRIPPENDORFF, 1.0, "reliable"),
        (LANDIS_KOCH, -0.01, "poor"),
        (LANDIS_KOCH, 0.0, "slight"),
        (LANDIS_KOCH, 0.2, "slight"),
        (LANDIS_KOCH, 0.2001, "fair"),
        (LANDIS_KOCH, 0.4, "fair"),
        (LANDIS_KOCH, 0.6, "moderate"),
        (LANDIS_KOCH, 0.8, "substantial"),
        (LANDIS_KOCH, 0.8001, "almost perfect"),
        (ROSENTHAL, 0.0999, "negligible"),
        (ROSENTHAL, -0.05, "negligible"),
        (ROSENTHAL, 0.1, "small"),
        (ROSENTHAL, 0.3, "medium"),
        (ROSENTHAL, 0.5, "large"),
        (ROSENTHAL, 0.7, "very large"),
        (ROSENTHAL, -0.7, "very large, negative"),
        (KOO_LI, 0.4999, "poor"),
        (KOO_LI, 0.5, "moderate"),
        (KOO_LI, 0.75, "good"),
        (KOO_LI, 0.9, "good"),
        (KOO_LI, 0.9001, "excellent"),
    ],
)
def test_a_value_gets_the_word_that_its_scale_prints(scale: NamedScale, value: float, word: str) -> None:
    assert scale.word(value) == word


def test_a_value_off_by_rounding_error_is_at_the_cut_off() -> None:
    assert KRIPPENDORFF.word(1 - 0.2 - 1e-16) == "reliable"
    assert LANDIS_KOCH.word(0.1 + 0.1 + 1e-12) == "slight"


@pytest.mark.parametrize(
    ("name", "scales"),
    [
        ("krippendorff_alpha_ordinal", ["Krippendorff 1980"]),
        ("fleiss_kappa", ["Landis & Koch 1977", "Krippendorff 1980"]),
        ("gwet_ac2", ["Landis & Koch 1977", "Krippendorff 1980"]),
        ("kendall_tau_b", ["Rosenthal 1996"]),
        ("goodman_kruskal_gamma", ["Rosenthal 1996"]),
        ("icc_a1", ["Koo & Li 2016"]),
        ("cronbach_alpha", ["Koo & Li 2016"]),
        ("percent_agreement", []),
    ],
)
def test_every_coefficient_is_read_by_scales_made_for_it(name: str, scales: list[str]) -> None:
    assert [reading.scale for reading in interpret(name, 0.5)] == scales


def test_words_name_their_scale_and_how_far_the_interval_reaches() -> None:
    (reading,) = interpret("icc_ck", 0.8, 0.6, 0.95)
    assert reading.text() == "good (Koo & Li 2016; interval: moderate to excellent)"


def test_w_of_random_orders_is_not_taken_for_a_correlation() -> None:
    (reading,) = interpret("kendall_w", 0.5, n_raters=2)  # two raters whose ranks are uncorrelated
    assert (reading.word, reading.of) == ("negligible", "the mean rank correlation 0.00")
    assert interpret("kendall_w", 0.5) == ()


def test_nan_has_no_word() -> None:
    assert interpret("pearson", NAN) == ()


def test_unknown_scale_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="landis_koch"):
        interpret("fleiss_kappa", 0.5, scale="landis")


@pytest.mark.parametrize(
    ("agreement", "correlation", "part"),
    [
        (0.52, 0.98, "use the scale differently but order the items alike"),  # Flickr-8k in the paper
        (0.55, 0.6, "order the items alike, but single ratings differ too much"),
        (0.3, 0.32, "do not reliably give the same ratings and order the items somewhat alike"),
        (0.3, 0.2, "do not reliably give the same ratings and order the items only slightly alike"),
        (0.0, 0.05, "do not reliably give the same ratings and do not order the items alike"),
        (0.0, -0.2, "tend to order the items in opposite ways"),
        (0.3, -0.9, "opposite ways: look for a scale that someone read upside down"),
        (0.85, 0.9, "much the same ratings and order the items alike"),
        (0.85, 0.2, "much the same ratings but order the items only slightly alike"),
    ],
)
def test_agreement_and_correlation_are_read_together(agreement: float, correlation: float, part: str) -> None:
    assert part in read_together(agreement, correlation)


def test_a_difference_in_level_is_said_where_the_raters_means_show_it() -> None:
    assert "raters differ in level" in read_together(0.52, 0.98, between_raters=0.3)
    assert "level" not in read_together(0.52, 0.98, between_raters=0.02)


def test_ratings_that_are_nearly_all_equal_are_not_called_different() -> None:
    assert "equal ratings in 93 % of comparisons" in read_together(0.1, 0.15, equal=0.93)


def test_nothing_is_said_where_one_of_the_two_is_undefined() -> None:
    assert read_together(0.5, NAN) == ""
