"""The whole analysis: what is chosen, what is said, what is left out."""

import numpy as np
import pandas as pd
import pytest

from panelist.agreement.cleaning import make_tables
from panelist.agreement.criterion_table import from_matrix, make_table
from panelist.agreement.measure import measure_agreement, suited
from panelist.core.errors import BadRatings, UnknownName


def ratings(**columns: str) -> pd.DataFrame:
    """Return three raters on four items of two systems, one criterion."""
    rows = [(i, s, r) for i in "abcd" for s in "xy" for r in ("r1", "r2", "r3")]
    frame = pd.DataFrame(rows, columns=["item", "system", "rater"])
    frame["rating"] = np.tile([1, 2, 2, 4, 5, 5, 3, 3, 4, 2, 2, 1], 2)
    return frame.assign(criterion="fluency", **columns)


def test_an_output_is_an_item_of_a_system_and_knows_its_item() -> None:
    [one] = make_tables(ratings())
    assert one.criterion == "fluency"
    assert one.table.n_units == 8
    assert one.table.n_inputs == 4
    assert one.table.unit_name == "item × system"
    assert one.table.units[:2] == ("a / x", "a / y")
    assert one.notes == ()


def test_a_column_text_is_the_output_unless_it_is_what_systems_were_given() -> None:
    frame = ratings()
    outputs = frame.assign(text=frame["item"] + frame["system"])
    assert make_tables(outputs)[0].table.unit_name == "text"
    inputs = frame.assign(text="input " + frame["item"])
    assert make_tables(inputs)[0].table.unit_name == "item × system"
    assert make_tables(inputs, unit="item", repeats="first")[0].table.n_units == 4


def test_a_rater_who_rated_twice_is_named_and_the_rule_is_said() -> None:
    frame = ratings()
    more = pd.concat([frame, frame.iloc[[0]].assign(rating=5)], ignore_index=True)
    [first] = make_tables(more)
    assert first.notes == (
        "1 rating is a rater's second or later on the same output: r1 (1); the first of them counts",
    )
    assert first.table.matrix()[0].tolist() == [1, 2, 2]
    assert make_tables(more, repeats="last")[0].table.matrix()[0].tolist() == [5, 2, 2]
    separate = make_tables(more, repeats="separate")[0].table
    assert separate.raters == ("r1", "r1 (2)", "r2", "r3")
    with pytest.raises(UnknownName, match=r"Repeats cannot be 'frist'\. Did you mean 'first'"):
        make_tables(more, repeats="frist")  # type: ignore[arg-type]


def test_copies_of_a_row_count_once_and_empty_cells_are_counted() -> None:
    frame = ratings()
    copied = pd.concat([frame, frame.iloc[[0, 1]]], ignore_index=True)
    [one] = make_tables(copied)
    assert one.notes == ("2 rows are exact copies of another: counted once",)
    assert one.table.n_ratings == 24
    gaps = frame.assign(
        rating=frame["rating"].where(frame.index > 2), rater=frame["rater"].where(frame.index != 5)
    )
    [one] = make_tables(gaps)
    assert one.notes == ("3 of 24 rows left out: no rating", "1 of 21 rows left out: no rater")
    assert one.table.n_ratings == 20


def test_only_one_occasion_is_used_and_said() -> None:
    both = pd.concat([ratings(occasion="2"), ratings(occasion="10")], ignore_index=True)
    [one] = make_tables(both)
    assert one.notes == ("occasion 2 of 10, 2 alone: 24 of 48 rows",)
    assert make_tables(both, occasion="10")[0].table.n_ratings == 24
    with pytest.raises(BadRatings, match="occasion"):
        make_tables(ratings(), occasion="1")


def test_criteria_come_apart_and_one_without_ratings_is_named() -> None:
    frame = pd.concat([ratings(), ratings().assign(criterion="style", rating=np.nan)], ignore_index=True)
    [one] = make_tables(frame)
    assert one.criterion == "fluency"
    assert one.notes == ("without any rating, so left out: style",)
    with pytest.raises(BadRatings, match="has no ratings"):
        make_tables(ratings().assign(rating=np.nan))


def test_ratings_off_the_scale_are_left_out_counted_and_named() -> None:
    whole, [part] = make_tables(ratings())[0], make_tables(ratings(), scale=[1, 2, 3, 4])
    off = int((whole.table.value == 5).sum())
    assert off > 0
    assert part.table.n_ratings == whole.table.n_ratings - off
    [note] = [note for note in part.notes if "off the scale" in note]
    assert (
        f"{off} of {whole.table.n_ratings} ratings are off the scale (1, 2, 3 and 4) and left out: 5, by "
        in note
    )
    with pytest.raises(BadRatings, match="no rating lies on the scale"):
        make_tables(ratings(), scale=[11, 12])
    assert make_tables(ratings(), scale=range(1, 8))[0].table.categories.tolist() == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("values", "measurement"),
    [
        ([1, 2, 3, 4, 5], "ordinal"),
        ([0, 1], "nominal"),
        (["yes", "no", "unsure"], "nominal"),
        ([0, 50, 100], "interval"),
        ([1.0, 2.5, 3.0], "interval"),
    ],
)
def test_the_values_suggest_a_level(values: list[object], measurement: str) -> None:
    assert make_table(range(len(values)), ["r"] * len(values), values).measurement == measurement


def test_text_that_is_numbers_is_numbers() -> None:
    assert make_table(["a", "b"], ["r", "r"], ["1", "10"]).categories.tolist() == [1, 10]


def test_by_default_what_suits_is_measured_agreement_first() -> None:
    one = measure_agreement(ratings(), resamples=20).criteria[0]
    assert one.measurement == "ordinal"
    assert one.measurement_reason == "ordinal, as the values suggest: whole numbers from 1 to 5"
    assert [each.name for each in one.coefficients] == [each.name for each in suited("ordinal")]
    assert all(each.suits for each in one.coefficients)
    assert {each.kind for each in one.coefficients} == {"agreement", "correlation"}
    assert (one.n_items, one.n_raters, one.n_ratings) == (8, 3, 24)


def test_a_coefficient_that_does_not_suit_is_computed_when_asked_for_and_says_what_would() -> None:
    asked = ["pearson", "fleiss_kappa", "krippendorff_alpha_ordinal"]
    one = measure_agreement(ratings(), measurement="ordinal", coefficients=asked, interval="none").criteria[0]
    assert [each.suits for each in one.coefficients] == [False, False, True]
    assert np.isfinite(one["pearson"].estimate)
    assert "does not suit ordinal ratings" in one["pearson"].note
    assert "spearman, goodman_kruskal_gamma, kendall_tau_b would suit" in one["pearson"].note
    assert "krippendorff_alpha_ordinal" in one["fleiss_kappa"].note
    nominal = measure_agreement(
        ratings(), measurement="nominal", coefficients=["spearman"], interval="none"
    ).criteria[0]
    assert "needs ratings with an order" in nominal["spearman"].note


def test_a_prevalence_paradox_is_noticed() -> None:
    rng = np.random.default_rng(1)
    x = (rng.random((200, 2)) < 0.06).astype(float)
    frame = pd.DataFrame(
        {"item": np.repeat(np.arange(200), 2).astype(str), "rater": ["a", "b"] * 200, "rating": x.ravel()}
    )
    one = measure_agreement(frame, interval="none").criteria[0]
    assert one["cohen_kappa"].estimate < 0.2
    assert "prevalence paradox" in one["cohen_kappa"].note
    assert one["gwet_ac1"].estimate > 0.8
    assert "high because" in one["gwet_ac1"].note


def test_a_single_rater_gives_nan_and_a_sentence_for_all_but_never_fails() -> None:
    frame = ratings()
    one = measure_agreement(frame[frame["rater"] == "r1"], coefficients="all", resamples=20).criteria[0]
    assert len(one.coefficients) == 24
    assert all(np.isnan(each.estimate) and len(each.note) > 20 for each in one.coefficients)


def test_pairs_that_have_no_value_are_counted() -> None:
    x = [[1, 1, 3], [2, 2, 3], [3, 3, 3], [4, 4, 3], [2, 1, 3]]
    frame = pd.DataFrame(
        [(f"i{i}", f"r{j}", v) for i, row in enumerate(x) for j, v in enumerate(row)],
        columns=["item", "rater", "rating"],
    )
    one = measure_agreement(frame, measurement="ordinal", interval="none").criteria[0][
        "goodman_kruskal_gamma"
    ]
    assert one.note == "mean over all 3 pairs of raters; leaving out 2 where it is undefined"
    assert one.n_pairs == 3


def test_the_json_is_that_of_the_product() -> None:
    whole = measure_agreement(ratings(), resamples=20).to_dict()
    [criterion] = whole["criteria"]
    assert {"criterion", "measurement", "n_items", "n_raters", "n_ratings", "coefficients"} <= set(criterion)
    for one in criterion["coefficients"]:
        assert {"name", "estimate", "low", "high", "n_items", "note"} <= set(one)


def test_an_item_seen_by_too_few_common_raters_is_not_counted_in_pairs() -> None:
    x = np.array([[1, 1, np.nan], [2, 3, np.nan], [4, 4, np.nan], [np.nan, 2, 2]])
    from panelist.agreement.coefficient import COEFFICIENTS

    found = COEFFICIENTS["pearson"].estimate(from_matrix(x))
    assert found.n_items == 3
    assert found.note == "mean over 1 of 3 pairs of raters with 3 or more common outputs"


def test_kendalls_w_comes_with_its_tests() -> None:
    [found] = measure_agreement(ratings(), coefficients=["kendall_w"], interval="none").criteria
    note = found.coefficients[0].note
    assert "chi-square" in note
    assert "permutations p" in note
