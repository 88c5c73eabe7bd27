"""Where a scale begins, who said so, and scales that differ."""

import pandas as pd
import pytest

from panelist.core.errors import BadReproduction
from panelist.reproduction.measures.common_scale import ScaleMap, parse_scale_maps, parse_scale_min
from panelist.reproduction.reproduce import reproduce
from tests.reproduction.small_studies import make_ratings, scores_table


def again(frame: pd.DataFrame, seed: int, factor: float = 1, shift: float = 0) -> pd.DataFrame:
    return make_ratings(seed).assign(rating=lambda table: factor * table["rating"] + shift)


def test_ratings_on_points_are_taken_to_begin_at_one_and_it_is_said() -> None:
    found = reproduce(make_ratings(1), make_ratings(2), fit_models=False)
    assert found["fluency"].scale.low == 1
    assert "assumed: ratings are whole numbers from 1 to 5" in found.conventions["scale shift"]


def test_zero_among_the_ratings_begins_at_zero() -> None:
    ratings = make_ratings(1).assign(rating=lambda table: table["rating"] - 1)
    assert reproduce(ratings, ratings, fit_models=False)["fluency"].scale.low == 0


def test_the_user_comes_first() -> None:
    found = reproduce(make_ratings(1), make_ratings(2), fit_models=False, scale_min={"fluency": 0})
    assert (found["fluency"].scale.low, found.conventions["scale shift"]) == (
        0,
        "scale from 0 (as --scale-min says)",
    )


def test_scores_without_a_scale_begin_at_zero_with_a_warning() -> None:
    found = reproduce({"a": 4.7, "b": 4.1}, {"a": 4.5, "b": 4.2})["rating"]
    assert found.scale.low == 0
    assert any("look like ratings from 1 up" in warning for warning in found.warnings)
    percent = reproduce({"a": 56, "b": 68}, {"a": 76, "b": 92})["rating"]
    assert any("Nothing says where the scale" in warning for warning in percent.warnings)
    assert not any("from 1 up" in warning for warning in percent.warnings)


def test_scales_that_differ_are_refused_without_a_mapping() -> None:
    wide = again(make_ratings(1), 2, factor=20)
    with pytest.raises(BadReproduction, match="--scale-map fluency=1-5:0-100"):
        reproduce(make_ratings(1), wide, fit_models=False)
    with pytest.raises(BadReproduction, match="scales differ"):
        reproduce(make_ratings(1), make_ratings(2, points=7, effects={"rules": 2, "tuned": 1, "human": 3}))
    with pytest.raises(BadReproduction, match="scales differ"):
        reproduce({"a": 0.5, "b": 0.7}, {"a": 50, "b": 70})
    with pytest.raises(BadReproduction, match="scales differ"):
        reproduce(make_ratings(1), scores_table("fluency", {"rules": 50, "tuned": 60, "human": 70}))


def test_a_mapping_carries_the_repeat_over_in_a_straight_line() -> None:
    plain = reproduce(make_ratings(1), make_ratings(2), fit_models=False, scale_min=1)["fluency"]
    wide = again(make_ratings(1), 2, factor=25, shift=-25)
    mapped = reproduce(make_ratings(1), wide, fit_models=False, scale_map="fluency=1-5:0-100")["fluency"]
    assert [one.value for one in mapped.precision] == pytest.approx([one.value for one in plain.precision])
    assert mapped.correlations.rmse == pytest.approx(plain.correlations.rmse)
    assert "0 to 100 was mapped linearly to the original's, 1 to 5" in mapped.scale.sentence()


def test_yes_and_no_may_be_coded_otherwise() -> None:
    rows = [
        (f"r{r}", f"i{i}", s, (r + i + len(s)) % 2) for r in range(3) for i in range(9) for s in ("a", "bb")
    ]
    plain = pd.DataFrame(rows, columns=["rater", "item", "system", "rating"])
    other = plain.assign(rating=plain["rating"] + 1)
    found = reproduce(plain, other, fit_models=False, scale_map="0-1:1-2")["rating"]
    assert found.aggregation == "votes (by default)"
    assert (found.cv_star, found.difference_rate) == (0, 0)


def test_one_scale_given_twice_says_that_it_is_the_same() -> None:
    short = make_ratings(2).assign(rating=lambda table: table["rating"].clip(upper=3))
    with pytest.raises(BadReproduction, match="scales differ"):
        reproduce(make_ratings(1), short, fit_models=False)
    found = reproduce(make_ratings(1), short, fit_models=False, scale_map="1-5:1-5")["fluency"]
    assert "said to share the scale 1 to 5" in found.scale.sentence()


def test_a_difference_of_one_point_is_a_doubt_only() -> None:
    short = make_ratings(2).assign(rating=lambda table: table["rating"].clip(upper=4))
    found = reproduce(make_ratings(1), short, fit_models=False)["fluency"]
    assert any("highest rating is 4 in one study and 5" in warning for warning in found.warnings)


def test_negative_ratings_ask_for_the_start_of_the_scale() -> None:
    below = make_ratings(1).assign(rating=lambda table: table["rating"] - 3)
    with pytest.raises(BadReproduction, match="Say it with --scale-min"):
        reproduce(below, below, fit_models=False)


def test_options_are_read_or_explained() -> None:
    assert parse_scale_maps(["1-5:0..100"]) == (ScaleMap(None, (1, 5), (0, 100)),)
    assert parse_scale_maps(["a=b=-100 to 100:1-7"]) == (ScaleMap("a=b", (-100, 100), (1, 7)),)
    assert parse_scale_min(["1"]) == 1
    assert parse_scale_min(["fluency=1", "error rate=0"]) == {"fluency": 1, "error rate": 0}
    assert parse_scale_min([]) is None
    for text in ("1-5", "x=1-5:2", "=1-5:1-5", "1-5:a-b"):
        with pytest.raises(BadReproduction, match="--scale-map takes"):
            parse_scale_maps([text])
    with pytest.raises(BadReproduction, match="lowest to its highest"):
        parse_scale_maps(["5-1:0-100"])
    for text in ("x", "fluency=", "nan", "=1"):
        with pytest.raises(BadReproduction, match="--scale-min takes"):
            parse_scale_min([text])
    with pytest.raises(BadReproduction, match="No criterion that the studies share"):
        reproduce({"a": 1, "b": 2}, {"a": 1, "b": 3}, scale_min={"fluency": 1})
