"""Scales of points: verbal, likert and binary."""

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import norm

from panelist.scales.base import STEP, BadAnswer, Option
from panelist.scales.binary import Binary
from panelist.scales.likert import Likert
from panelist.scales.points import PointScale
from panelist.scales.verbal import Verbal

GOOD_LAST = Verbal(points=("bad", "fair", "good"), numbered=True)
GOOD_FIRST = Verbal(points=("good", "fair", "bad"), numbered=True, best="first")


def test_a_higher_value_is_better_whichever_point_is_shown_first() -> None:
    assert GOOD_LAST.options() == (Option("1", "bad", 1), Option("2", "fair", 2), Option("3", "good", 3))
    assert GOOD_FIRST.options() == (Option("3", "good", 3), Option("2", "fair", 2), Option("1", "bad", 1))
    assert GOOD_FIRST.values() == GOOD_LAST.values() == "1 (bad), 2 (fair), 3 (good)"
    assert GOOD_FIRST.recognise("Good") == GOOD_LAST.recognise(" good ") == 3


def test_verbal_points_have_numbers_only_if_asked() -> None:
    assert {option.number for option in Verbal(points=("bad", "good")).options()} == {None}


def test_the_methods_sentence_gives_number_order_and_words_of_the_points() -> None:
    said = GOOD_FIRST.describe()
    for part in ("3 points", "numbered", "vertical", "best first", "1 (bad), 2 (fair), 3 (good)"):
        assert part in said
    assert GOOD_FIRST.size() == "3"


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (("good",), "2 to 11 labels. Got 1 instead"),
        (tuple("abcdefghijkl"), "2 to 11 labels. Got 12 instead"),
        (("good", "fair", "Good "), "'Good' is at places 1 and 3"),
        (("good", " "), "at least 1 character"),
        (("good", "not\ngood"), "one line"),
        (("good", True), "put the label in quotes"),
        (7, "a list of 7 labels"),
        (("good", None), "valid string"),
    ],
)
def test_points_that_cannot_be_labels_are_refused(points: object, said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Verbal.model_validate({"points": points})
    assert said in str(refused.value)
    assert refused.value.error_count() == 1


def test_labels_may_be_numbers_and_keep_no_break_spaces() -> None:
    assert Verbal.model_validate({"points": [0, 0.5, 1]}).points == ("0", "0.5", "1")
    assert Verbal(points=("très\u00a0bien !", "mal")).points[0] == "très\u00a0bien !"


def test_a_label_that_is_a_number_is_recognised_before_a_value() -> None:
    scale = Verbal.model_validate({"points": [0, 1, 2]})
    assert scale.recognise("1") == 2
    assert scale.parse("1") == 1


def test_likert_counts_from_its_start_and_names_its_ends() -> None:
    scale = Likert(points=5, low="never", high="always", middle="sometimes", start=0)
    assert scale.values() == "0 (never), 1, 2 (sometimes), 3, 4 (always)"
    assert [option.value for option in scale.options()] == ["0", "1", "2", "3", "4"]
    assert (scale.lowest, scale.highest) == (0.0, 4.0)
    with pytest.raises(BadAnswer, match=r"whole number from 0 to 4. Got '5' instead"):
        scale.parse("5")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"points": 7, "labels": list("abcdef")}, "7 points, but 6 labels"),
        ({"points": 2, "labels": ["a", "a"]}, "must differ"),
        ({"labels": list("abcde"), "low": "x", "high": "y"}, "leave out low and high"),
        ({"points": 4, "middle": "so-so"}, "4 points have no middle"),
        ({"low": "good", "high": "GOOD"}, "must differ"),
        ({"points": 12}, "less than or equal to 11"),
        ({"points": 1}, "greater than or equal to 2"),
        ({"points": 4.5}, "valid integer"),
        ({"start": 2}, "0 or 1"),
    ],
)
def test_likert_keys_that_clash_are_refused_with_both_sides(given: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Likert.model_validate(given)
    assert said in str(refused.value)


def test_likert_may_name_every_point() -> None:
    assert Likert(points=3, labels=("a", "b", "c")).values() == "1 (a), 2 (b), 3 (c)"


def test_binary_says_which_answer_is_1() -> None:
    assert Binary().options() == (Option("1", "Yes"), Option("0", "No"))
    scale = Binary(labels=("Wrong", "Right"), one="Right")
    assert scale.options() == (Option("0", "Wrong"), Option("1", "Right"))
    assert (scale.recognise("right"), scale.parse("0"), scale.write(True)) == (1, 0, "1")
    with pytest.raises(BadAnswer, match=r"1 \(Right\) or 0 \(Wrong\). Got '2' instead"):
        scale.parse("2")


@pytest.mark.parametrize("labels", [["Yes"], ["Yes", "No", "Maybe"], ["yes", "Yes"], [True, False]])
def test_binary_takes_two_different_words(labels: list[object]) -> None:
    with pytest.raises(ValidationError):
        Binary.model_validate({"labels": labels})


def test_binary_refuses_a_1_that_is_no_label() -> None:
    with pytest.raises(ValidationError, match=r"'Yes' or 'No'. Got 'Perhaps' instead"):
        Binary(one="Perhaps")


@pytest.mark.parametrize("text", ["5", " 5\n", "5.0", "05"])
def test_spreadsheets_ways_to_write_a_point_are_read(text: str) -> None:
    assert Likert().parse(text) == 5


@pytest.mark.parametrize("text", ["6", "0", "4.5", "five", "5,0", "+5", "５", "5 5", "5.", "1e0"])
def test_other_ways_are_refused_and_the_range_is_named(text: str) -> None:
    with pytest.raises(
        BadAnswer, match=f"whole number from 1 to 5. Got '{text}' instead".replace("+", r"\+")
    ):
        Likert().parse(text)


def test_a_long_answer_is_not_repeated_in_full() -> None:
    with pytest.raises(BadAnswer, match="5002 characters") as refused:
        Likert().parse("x" * 5000)
    assert len(str(refused.value)) < 150


@pytest.mark.parametrize("k", [2, 5, 6, 11])
@pytest.mark.parametrize("latent", [-0.8, 0.0, 0.3])
def test_shares_of_points_are_those_of_an_ordinal_probit_model(k: int, latent: float) -> None:
    n = 400_000
    scale: PointScale = Likert(points=k) if k > 2 else Binary()
    found = scale.simulate(np.full(n, latent), np.random.default_rng(k))
    thresholds = STEP * (np.arange(1, k) - k / 2)
    expected = np.diff(norm.cdf(np.concatenate([[-np.inf], thresholds, [np.inf]]) - latent))
    shares = np.bincount(found - int(scale.lowest), minlength=k) / n
    assert np.abs(shares - expected).max() < 5 * np.sqrt(0.25 / n)
