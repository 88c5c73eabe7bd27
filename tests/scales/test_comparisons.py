"""Scales on which outputs are compared: pairs, choose-one, best-worst, ranking."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.stats import norm

from panelist.scales.base import STEP, BadAnswer, ComparativeAnswer, Option
from panelist.scales.best_worst import BestWorst
from panelist.scales.choose_one import ChooseOne
from panelist.scales.pairs import APART, Pairs, Preference
from panelist.scales.ranking import Ranking
from tests.examples import examples

N = 100_000
ERROR = 5 * np.sqrt(0.25 / N)


def test_a_pair_has_a_winner_and_a_loser() -> None:
    assert Pairs().parse("1") == ComparativeAnswer(("best", "worst"))
    assert Pairs().parse(" 2 ") == ComparativeAnswer(("worst", "best"))


def test_a_tie_counts_only_where_ties_are_allowed() -> None:
    assert Pairs(ties=True).parse("tie") == ComparativeAnswer(("", ""), "tie")
    with pytest.raises(BadAnswer, match=r"1 \(the first\) or 2 \(the second\). Got 'tie' instead"):
        Pairs().parse("tie")
    with pytest.raises(BadAnswer):
        Pairs().write(ComparativeAnswer(("", ""), "tie"))


def test_the_tie_stands_between_the_two() -> None:
    scale = Pairs(ties=True, tie_label="the same", labels=("left", "right"))
    assert scale.options() == (Option("1", "left"), Option("tie", "the same"), Option("2", "right"))
    assert (scale.size(), Pairs().size()) == ("3", "2")


def test_wins_follow_thurstones_law() -> None:
    latent = np.tile([0.5, 0.0], (N, 1))
    found = Pairs().simulate(latent, np.random.default_rng(1))
    wins = sum(each.choices[0] == "best" for each in found) / N
    assert abs(wins - norm.cdf(0.5 / np.sqrt(2))) < ERROR


def test_ties_are_as_frequent_as_near_judgements() -> None:
    found = Pairs(ties=True).simulate(np.zeros((N, 2)), np.random.default_rng(2))
    share = sum(each.answer == "tie" for each in found) / N
    assert abs(share - (2 * norm.cdf(STEP / 2 / np.sqrt(2)) - 1)) < ERROR


def test_a_graded_answer_says_which_is_better_and_by_how_much() -> None:
    scale = Preference(points=5)
    assert scale.parse("A2") == ComparativeAnswer(("best", "worst"), "", 2)
    assert scale.parse(" B1 ") == ComparativeAnswer(("worst", "best"), "", -1)
    assert scale.parse("tie") == ComparativeAnswer(("", ""), "tie", 0)
    assert scale.parse("A2").find_grades() == (2, -2)
    assert Pairs().parse("1").find_grades() == (None, None)
    for answer in ("A3", "A0", "a2", "1", "2", "C1", "A", "-2"):
        with pytest.raises(BadAnswer, match=rf"A2, A1, tie, B1 or B2 .* Got '{answer}' instead"):
            scale.parse(answer)
    with pytest.raises(BadAnswer):
        scale.write(ComparativeAnswer(("best", "worst")))
    with pytest.raises(BadAnswer):
        Preference(points=4).parse("tie")


@pytest.mark.parametrize("points", range(2, 8))
def test_every_point_has_words_and_the_two_halves_mirror_each_other(points: int) -> None:
    options = Preference(points=points).options()
    labels = [option.label for option in options]
    assert len(set(labels)) == points == int(Preference(points=points).size())
    half = points // 2
    assert [label.replace("A ", "B ", 1) for label in reversed(labels[:half])] == labels[-half:]
    grades = [Preference(points=points).parse(option.value).grade or 0 for option in options]
    assert grades == sorted(grades, reverse=True)
    assert [-grade for grade in reversed(grades)] == grades
    assert (0 in grades) == (points % 2 == 1)


def test_the_words_of_a_preference_are_as_many_as_its_points_and_differ() -> None:
    with pytest.raises(ValidationError, match="there are 5 points, but 3 labels"):
        Preference(labels=("a", "b", "c"))
    with pytest.raises(ValidationError, match="labels must differ"):
        Preference(points=3, labels=("same", "other", "Same"))
    assert Preference(points=3, labels=("x", "y", "z")).options()[1] == Option("tie", "y")


def test_points_stand_in_a_row_where_their_words_fit_and_in_a_list_where_they_do_not() -> None:
    assert [Preference(points=points).find_row() for points in range(2, 8)] == [0, 0, 28, 28, 36, 36]
    wordy = tuple(f"{word} of these two pages is by far the most convincing" for word in "abcde")
    assert Preference(labels=("incomprehensibilities" * 2, *wordy[1:])).find_row() == 0


@examples(30)
@given(seed=st.integers(0, 2**32 - 1), half=st.integers(1, 3), lead=st.floats(-3, 3))
def test_grades_without_their_size_are_the_answers_of_pairs(seed: int, half: int, lead: float) -> None:
    latent = np.tile([lead, 0.0], (50, 1))
    for ties in (False, True):
        graded = Preference(points=2 * half + ties).simulate(latent, np.random.default_rng(seed))
        bare = Pairs(ties=ties).simulate(latent, np.random.default_rng(seed))
        assert [ComparativeAnswer(one.choices, one.answer) for one in graded] == bare


def test_grades_are_as_frequent_as_leads_of_their_size() -> None:
    found = [one.grade for one in Preference(points=7).simulate(np.zeros((N, 2)), np.random.default_rng(9))]
    ends = [STEP / 2, STEP / 2 + APART, STEP / 2 + 2 * APART, np.inf]
    for grade in (1, 2, 3):
        expected = norm.cdf(ends[grade] / np.sqrt(2)) - norm.cdf(ends[grade - 1] / np.sqrt(2))
        for one in (grade, -grade):
            assert abs(found.count(one) / N - expected) < ERROR


def test_one_is_chosen_or_none_or_all() -> None:
    scale = ChooseOne(none=True, all=True)
    assert scale.parse("3", 4) == ComparativeAnswer(("", "", "best", ""))
    assert scale.parse("none", 4) == ComparativeAnswer(("",) * 4, "none")
    assert scale.parse("all", 4) == ComparativeAnswer(("",) * 4, "all")
    assert [each.value for each in scale.options(3)] == ["1", "2", "3", "none", "all"]
    for answer in ("none", "all", "0", "5"):
        with pytest.raises(BadAnswer, match=r"from 1 to 4. Got"):
            ChooseOne().parse(answer, 4)


def test_none_and_all_are_said_of_outputs_that_are_all_bad_or_all_good() -> None:
    scale, rng = ChooseOne(none=True, all=True), np.random.default_rng(3)
    assert {each.answer for each in scale.simulate(np.full((500, 3), -9.0), rng)} == {"none"}
    assert {each.answer for each in scale.simulate(np.full((500, 3), 9.0), rng)} == {"all"}
    assert {each.answer for each in scale.simulate(np.tile([-9.0, 9.0], (500, 1)), rng)} == {""}
    assert {each.answer for each in ChooseOne().simulate(np.full((500, 3), -9.0), rng)} == {""}


def test_none_and_all_cannot_read_the_same() -> None:
    with pytest.raises(ValidationError, match="must differ"):
        ChooseOne(none_label="these", all_label="These")


def test_best_and_worst_are_two_different_outputs() -> None:
    assert BestWorst().parse("2, 4", 4) == ComparativeAnswer(("", "best", "", "worst"))
    for answer in ("2,2", "2", "0,1", "1,5", "1,2,3", "2;4", "2,", "a,b", "2 4"):
        with pytest.raises(BadAnswer, match=f"two different numbers from 1 to 4 .* Got '{answer}' instead"):
            BestWorst().parse(answer, 4)


def test_equal_outputs_are_best_and_worst_equally_often_at_every_place() -> None:
    found = BestWorst().simulate(np.zeros((N, 4)), np.random.default_rng(4))
    for word in ("best", "worst"):
        shares = [sum(each.choices[place] == word for each in found) / N for place in range(4)]
        assert np.abs(np.array(shares) - 0.25).max() < ERROR
    assert all(sorted(each.choices) == ["", "", "best", "worst"] for each in found)


def test_best_and_worst_differ_even_where_no_judgement_does() -> None:
    class Silent(np.random.Generator):
        def standard_normal(self, size: Any = None, *_: Any, **__: Any) -> Any:
            return np.zeros(size)

    (found,) = BestWorst().simulate(np.zeros((1, 3)), Silent(np.random.PCG64(1)))
    assert sorted(found.choices) == ["", "best", "worst"]


def test_the_words_for_best_and_worst_differ() -> None:
    with pytest.raises(ValidationError, match="must differ"):
        BestWorst(best="clear", worst="Clear")


def test_a_ranking_gives_every_rank_once() -> None:
    assert Ranking().parse("2,1,3", 3) == ComparativeAnswer(("2", "1", "3"))
    assert Ranking().parse(" 2.0 , 1 , 3 ", 3) == ComparativeAnswer(("2", "1", "3"))
    for answer in ("1,1,2", "1,2", "1,2,4", "0,1,2", "1,2,3,4", "1 2 3"):
        with pytest.raises(BadAnswer, match=f"from 1 .best. to 3 once, .* Got '{answer}' instead"):
            Ranking().parse(answer, 3)


def test_rank_1_goes_to_the_highest_judgement() -> None:
    found = Ranking().simulate(np.tile([-50.0, 50.0, 0.0], (200, 1)), np.random.default_rng(5))
    assert set(found) == {ComparativeAnswer(("3", "1", "2"))}


def test_all_comparisons_agree_on_how_often_one_of_two_wins() -> None:
    latent, rng = np.tile([0.3, -0.3], (N, 1)), np.random.default_rng(6)
    expected = norm.cdf(0.6 / np.sqrt(2))
    for scale, word in ((Pairs(), "best"), (ChooseOne(), "best"), (Ranking(), "1")):
        share = sum(each.choices[0] == word for each in scale.simulate(latent, rng)) / N
        assert abs(share - expected) < ERROR
