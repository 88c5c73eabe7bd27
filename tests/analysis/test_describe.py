"""Descriptions: shares, points of the scale, lines in ranges, and words."""

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.describe import describe_ratings
from panelist.core.errors import BadRatings
from panelist.scales.likert import Likert


def make_frame(ratings: list[object], systems: str = "ab") -> pd.DataFrame:
    n = len(ratings)
    return pd.DataFrame(
        {
            "rater": [f"r{k % 3}" for k in range(n)],
            "item": [f"i{k // 2}" for k in range(n)],
            "system": [systems[k % len(systems)] for k in range(n)],
            "rating": ratings,
        }
    )


def test_shares_and_means_are_those_of_the_ratings() -> None:
    found = describe_ratings(make_frame([1, 2, 3, 2, 3, 4]), "fluency")
    first = found.systems[0]
    assert (first.system, first.n, first.n_items) == ("a", 3, 3)
    assert first.mean == pytest.approx(7 / 3)
    assert first.sd == pytest.approx(np.std([1, 3, 3], ddof=1))
    assert found.points == ("1", "2", "3", "4")
    assert first.shares == pytest.approx((1 / 3, 0, 2 / 3, 0))


def test_points_nobody_gave_are_shown_where_the_scale_is_known() -> None:
    found = describe_ratings(make_frame([2, 3, 2, 3]), "fluency", scale=Likert(points=5))
    assert found.points == ("1", "2", "3", "4", "5")


def test_systems_stand_in_the_given_order() -> None:
    found = describe_ratings(make_frame([1, 2, 3, 4, 5, 1], "abc"), "fluency", systems=("c", "a"))
    assert [one.system for one in found.systems] == ["c", "a", "b"]


def test_a_line_is_described_in_stretches() -> None:
    values = list(np.linspace(0, 100, 40))
    found = describe_ratings(make_frame(values), "fluency")
    assert found.binned
    assert found.points[0] == "0 to 20"
    assert sum(found.systems[0].shares) == pytest.approx(1)


def test_words_have_shares_and_no_mean() -> None:
    found = describe_ratings(make_frame(["good", "bad", "good", "good"]), "fluency")
    assert found.points == ("bad", "good")
    assert np.isnan(found.systems[0].mean)


def test_missing_ratings_are_counted() -> None:
    assert describe_ratings(make_frame([1, 2, None, 4]), "fluency").n_missing == 1


def test_a_criterion_without_ratings_raises() -> None:
    with pytest.raises(BadRatings, match="no rating was given"):
        describe_ratings(make_frame([None, None]), "fluency")
