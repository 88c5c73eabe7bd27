"""Ratings as numbers and as ordered categories; what cannot be used is quoted with its rows."""

import numpy as np
import pandas as pd
import pytest

from panelist.core.errors import BadModel, BadRatings
from tests.models.designs import design, make_frame, with_values


def test_numeric_ratings_become_categories() -> None:
    frame = make_frame()
    built = design("rating ~ system", frame, ordinal=True)
    assert built.categories == ("1", "2", "3", "4", "5")
    assert built.codes is not None
    assert built.codes.dtype == np.int32
    np.testing.assert_array_equal(built.codes + 1, frame["rating"])
    np.testing.assert_array_equal(built.y, frame["rating"])
    assert design("rating ~ system", frame).codes is None


def test_ordered_words_keep_their_order_and_unused_ones_are_named() -> None:
    words = ["bad", "so-so", "fair", "good"]
    frame = make_frame()
    values = np.resize(["good", "bad", "fair"], len(frame))
    frame["rating"] = pd.Categorical(values, categories=words, ordered=True)
    built = design("rating ~ system", frame, ordinal=True)
    assert built.categories == ("bad", "fair", "good")
    assert built.codes is not None
    assert built.codes[:3].tolist() == [2, 0, 1]
    assert built.y[:3].tolist() == [4.0, 1.0, 3.0]
    assert built.notes == ("no rating is so-so: the model has thresholds between the 3 used points",)


@pytest.mark.parametrize(
    ("points", "gap"),
    [
        ([1, 2, 4, 5], "no rating is 3: the model has thresholds between the 4 used points"),
        ([0, 10, 20, 50], "no rating is 30, 40: the model has thresholds between the 4 used points"),
        (
            [1, 2, 9],
            "only 3 of the 9 points from 1 to 9 occur: the model has thresholds between the 3 used points",
        ),
        ([0, 50, 100], None),
        ([1.0, 1.5, 2.0], None),
        ([1, 5], None),
    ],
)
def test_gaps_in_a_scale_are_named(points: list[float], gap: str | None) -> None:
    frame = make_frame().assign(rating=lambda f: np.resize(points, len(f)))
    assert design("rating ~ system", frame, ordinal=True).notes == (() if gap is None else (gap,))


def test_text_that_holds_numbers_is_a_number() -> None:
    frame = make_frame().assign(rating=lambda f: f["rating"].astype(str))
    np.testing.assert_array_equal(design("rating ~ system", frame).y, make_frame()["rating"])
    frame["rating"] = frame["rating"].astype("category")
    assert design("rating ~ system", frame, ordinal=True).categories == ("1", "2", "3", "4", "5")


def test_boolean_ratings_are_two_categories() -> None:
    frame = make_frame().assign(rating=lambda f: f["x"] > 0)
    assert design("rating ~ system", frame, ordinal=True).categories == ("0", "1")


@pytest.mark.parametrize(("ordinal", "todo"), [(True, "pandas.Categorical"), (False, "clmm or clm")])
def test_text_among_the_ratings_is_quoted_with_its_rows(ordinal: bool, todo: str) -> None:
    frame = with_values("rating", {1: "good", 4: "n/a", **dict.fromkeys(range(10, 16), "?")})
    with pytest.raises(BadRatings) as caught:
        design("rating ~ system", frame, ordinal=ordinal)
    message = str(caught.value)
    assert "8 values are not: 'good' in row 2, 'n/a' in row 5, '?' in row 11" in message
    assert "and 3 more" in message
    assert todo in message


def test_one_category_is_refused() -> None:
    frame = make_frame().assign(rating=4)
    with pytest.raises(BadModel, match="Every rating is 4, so there is nothing to model"):
        design("rating ~ system", frame, ordinal=True)
    with pytest.raises(BadModel, match="Every rating is 4, so there is nothing to model"):
        design("rating ~ system", frame)


def test_slider_is_sent_to_the_linear_model() -> None:
    frame = make_frame().assign(rating=lambda f: np.arange(len(f)))
    with pytest.raises(BadModel, match=r"72 different values.*at most 50.*lmm"):
        design("rating ~ system", frame, ordinal=True)


def test_one_value_is_spoken_of_as_one() -> None:
    frame = make_frame()
    values = frame["rating"].astype(object)
    values.iloc[4] = "good"
    with pytest.raises(BadRatings, match="1 value is not: 'good' in row 5"):
        design("rating ~ system", frame.assign(rating=values))
