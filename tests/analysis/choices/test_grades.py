"""Graded pairs: what a table says, how far raters agree, and what the comparison makes of them."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.choices.choice_agreement import measure_choice_agreement
from panelist.analysis.choices.compare_choices import compare_choices
from panelist.core.errors import BadRatings
from panelist.core.tables.columns import name_columns
from panelist.core.tables.ratings import read_ratings
from panelist.reports.repeat.from_ratings import guess_scale
from panelist.scales.pairs import Preference
from tests.analysis.choices.choices import trials_of
from tests.analysis.choices.votes import draw_votes

QUICK: dict[str, Any] = {"interval": "none"}


def make_graded(points: int = 5, raters: int = 4, items: int = 12, seed: int = 1) -> pd.DataFrame:
    """Return long choices with grades: every rater compares all pairs of three systems on every item."""
    rng = np.random.default_rng(seed)
    worth = {"a": 0.6, "b": 0.0, "c": -0.6}
    pairs = [
        (f"r{r}", f"i{i}", *(pair if rng.random() < 0.5 else pair[::-1]))
        for r in range(raters)
        for i in range(items)
        for pair in combinations(worth, 2)
    ]
    latent = np.array([[worth[one], worth[two]] for *_, one, two in pairs])
    rows = []
    for n, (pair, said) in enumerate(
        zip(pairs, Preference(points=points).simulate(latent, rng), strict=True)
    ):
        for place, grade in enumerate(said.find_grades()):
            told = (said.choices[place], grade, said.answer, place + 1)
            rows.append((*pair[:2], f"t{n}", pair[2 + place], *told))
    names = ["rater", "item", "trial", "system", "choice", "grade", "answer", "position"]
    return pd.DataFrame(rows, columns=names)


def test_grades_are_read_beside_the_choices_and_reduce_to_them() -> None:
    frame = make_graded()
    trials = trials_of(frame)
    assert trials.grade is not None
    assert trials.grade.tolist() == frame["grade"].tolist()
    decided = trials.grade != 0
    assert ((trials.place[decided] == 0) == (trials.grade[decided] > 0)).all()
    assert trials_of(frame.drop(columns="grade")).grade is None


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"grade": [-2, 2]}, "have a grade that does not fit the choice"),
        ({"grade": [2, -1]}, "as far below 0 for the worst"),
        ({"grade": [0, 0]}, "have a grade that does not fit the choice"),
        ({"grade": ["much", "less"]}, "have a grade that does not fit the choice"),
    ],
)
def test_a_grade_that_contradicts_its_choice_is_refused(cells: dict[str, list[Any]], said: str) -> None:
    row = {"rater": "r", "item": "i", "trial": "t", "system": ["x", "y"], "choice": ["best", "worst"]}
    with pytest.raises(BadRatings, match=said):
        trials_of(pd.DataFrame(row | cells))


def test_a_column_grade_is_a_rating_unless_it_stands_beside_a_choice() -> None:
    assert name_columns(["rater", "item", "system", "grade"]) == {"grade": "rating"}
    assert name_columns(["rater", "item", "system", "Grade"]) == {"Grade": "rating"}
    assert name_columns(["rater", "item", "system", "choice", "grade"]) == {}
    assert name_columns(["rater", "item", "system", "choice", "Grade"]) == {"Grade": "grade"}
    assert name_columns(["rater", "item", "system", "choice", "steps"], {"grade": "steps"}) == {
        "steps": "grade"
    }


def test_agreement_on_grades_is_ordinal_and_does_not_ask_which_stood_first() -> None:
    frame = make_graded()
    graded, better = measure_choice_agreement(read_ratings(frame), "choice", **QUICK)
    assert (graded.measurement, better.measurement) == ("ordinal", "nominal")
    assert better.criterion == "choice, which is better"
    assert "144 comparisons by 4 raters of 36 pairs" in graded.sentence()
    turned = frame.iloc[::-1].assign(position=3 - frame["position"])
    again = measure_choice_agreement(read_ratings(turned), "choice", **QUICK)[0]
    for name in ("krippendorff_alpha_ordinal", "percent_agreement", "gwet_ac2"):
        assert again[name].estimate == pytest.approx(graded[name].estimate)
    near = measure_choice_agreement(read_ratings(frame.drop(columns="grade")), "choice", **QUICK)[0]
    assert near["percent_agreement"].estimate == pytest.approx(better["percent_agreement"].estimate)
    assert near["percent_agreement"].estimate > graded["percent_agreement"].estimate


def test_raters_who_give_the_same_grades_agree_fully_and_opposite_ones_not_at_all() -> None:
    one = make_graded(raters=1, items=20)
    same = pd.concat([one, one.assign(rater="r9", trial=one["trial"] + "-9")])
    graded = measure_choice_agreement(read_ratings(same), "choice", **QUICK)[0]
    assert graded["krippendorff_alpha_ordinal"].estimate == pytest.approx(1.0)
    flip = {"best": "worst", "worst": "best", "": ""}
    other = one.assign(
        rater="r9", trial=one["trial"] + "-9", grade=-one["grade"], choice=one["choice"].map(flip)
    )
    graded = measure_choice_agreement(read_ratings(pd.concat([one, other])), "choice", **QUICK)[0]
    assert graded["krippendorff_alpha_ordinal"].estimate < -0.5


def test_the_clustered_model_takes_better_tie_and_worse_and_says_so() -> None:
    frame = make_graded()
    with_grades, without = (
        compare_choices(each, model="bradley-terry") for each in (frame, frame.drop(columns="grade"))
    )
    assert with_grades.criteria[0].systems == without.criteria[0].systems
    notes = set(with_grades.criteria[0].notes) - set(without.criteria[0].notes)
    assert len(notes) == 1
    assert "leaves the grades out" in notes.pop()


def test_the_mixed_model_uses_the_grades() -> None:
    frame = make_graded()
    with_grades = compare_choices(frame).criteria[0]
    without = compare_choices(frame.drop(columns="grade")).criteria[0]
    assert "of 5 grades" in with_grades.sentence()
    assert not [note for note in with_grades.notes if "leaves the grades out" in note]
    assert with_grades.systems != without.systems


@pytest.mark.parametrize("points", [4, 5, 7])
def test_a_repeat_of_graded_pairs_begins_with_as_many_points(points: int) -> None:
    frame = make_graded(points, raters=6)
    assert guess_scale(frame)[0] == {"type": "preference", "points": points}
    assert guess_scale(frame.drop(columns="grade"))[0] == {"type": "pairs"}


def make_votes(low: int) -> pd.DataFrame:
    """Return pairs in rows, graded from -2 (B is much better) to 2, without grades below ``low``."""
    votes = draw_votes(400)
    grade = np.searchsorted([-3.0, -0.6, 0.6, 3.0], votes.pop("latent")) - 2
    votes = votes.drop(columns="winner").assign(rating=grade, first="a")
    return votes[grade >= low].reset_index(drop=True)


def test_a_grade_that_one_side_alone_got_is_a_grade_of_both() -> None:
    votes = make_votes(-1)
    assert set(votes["rating"]) == {-1, 0, 1, 2}
    sides = {"model_a": "model_b", "model_b": "model_a", "words_a": "words_b", "words_b": "words_a"}
    turned = votes.rename(columns=sides).assign(rating=-votes["rating"], first="b")
    one, two = (compare_choices(table)["choice"] for table in (votes, turned))
    assert "of 5 grades" in one.sentence()
    assert one.strengths.loglik == pytest.approx(two.strengths.loglik, abs=1e-8)
    assert one.strengths.theta == pytest.approx(two.strengths.theta, abs=1e-6)
    mixed = one.strengths.mixed
    assert mixed is not None
    assert np.abs(mixed.thresholds).max() < 6


def test_where_nobody_preferred_what_stood_second_position_has_no_estimate() -> None:
    words = {0: "about the same", 1: "A is slightly better", 2: "A is much better"}
    votes = make_votes(0)
    found = compare_choices(votes.assign(rating=votes["rating"].map(words)))["choice"]
    mixed = found.strengths.mixed
    assert mixed is not None
    assert mixed.slopes == ()
    assert np.abs(mixed.thresholds).max() < 6
    assert "Nobody ever preferred the other output to the one that stood first" in " ".join(found.notes)
