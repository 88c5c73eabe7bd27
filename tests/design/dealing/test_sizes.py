from typing import Any

import pytest

from panelist.core.errors import BadDesign, PanelistError
from panelist.design.make import plan_study
from tests.design.small_studies import LIKERT, make_study

FOUR = ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("file", "raters", "places", "trials"),
    [
        ({}, None, 4, 20),  # the least number that shows every output once
        ({}, 7, 7, 20),
        ({"raters": {"count": 6}}, None, 6, 20),
        ({"raters": {"count": 6}}, 9, 9, 20),
        ({"design": {"ratings_per_output": 3}}, None, 12, 20),
        ({"design": {"type": "lists", "ratings_per_output": 3, "trials_per_rater": 8}}, None, 30, 8),
        ({"design": {"type": "lists", "ratings_per_output": 3}, "raters": {"count": 16}}, None, 16, 15),
        ({"design": {"type": "full"}}, None, 1, 80),
        ({"design": {"type": "full", "ratings_per_output": 5}}, None, 5, 80),
        ({"design": {"type": "pairs"}}, None, 6, 20),
        ({"design": {"type": "pages", "ratings_per_output": 3}}, None, 3, 20),
        ({"design": {"type": "best-worst", "shown": 3}}, None, 4, 20),
        ({"design": {"type": "lists", "trials_per_rater": 40, "items_may_return": True}}, None, 2, 40),
    ],
)
def test_raters_and_trials_follow_from_what_is_given(
    file: dict[str, Any], raters: int | None, places: int, trials: int
) -> None:
    plan = plan_study(make_study(20, FOUR, **file), raters)
    assert (len(plan.raters), plan.trials) == (places, trials)


@pytest.mark.parametrize(
    ("file", "raters", "words"),
    [
        ({}, 0, ["1 rater or more", "0"]),
        ({"design": {"type": "lists", "trials_per_rater": 30}}, None, ["30", "20 items", "80"]),
        ({"design": {"type": "lists", "trials_per_rater": 90, "items_may_return": True}}, None, ["90", "80"]),
        (
            {"design": {"type": "lists", "ratings_per_output": 3}, "raters": {"count": 4}},
            None,
            ["4 raters", "12 raters", "60"],
        ),
        ({"design": {"ratings_per_output": 3}, "raters": {"count": 10}}, None, ["200", "240", "12 raters"]),
        (
            {"raters": {"count": 7, "groups": [{"name": "x", "raters": 3}, {"name": "y", "raters": 5}]}},
            None,
            ["7", "3 + 5 = 8"],
        ),
        ({"raters": {"groups": [{"name": "x"}, {"name": "y"}]}}, 1, ["1 rater ", "2 parts"]),
        ({"design": {"type": "full", "trials_per_rater": 10}}, None, ["10", "80"]),
        ({"design": {"type": "best-worst", "shown": 5}}, None, ["5 of 4"]),
        ({"design": {"type": "pages", "trials_per_rater": 25}}, None, ["25", "20"]),
    ],
)  # fmt: skip
def test_numbers_that_clash_are_named_with_what_would_work(
    file: dict[str, Any], raters: int | None, words: list[str]
) -> None:
    with pytest.raises(BadDesign) as caught:
        plan_study(make_study(20, FOUR, **file), raters)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("design", ["pairs", "williams", "best-worst"])
def test_designs_that_compare_need_two_systems(design: str) -> None:
    with pytest.raises(BadDesign, match="1"):
        plan_study(make_study(5, ("a",), design={"type": design}))


def test_a_bad_seed_is_refused() -> None:
    with pytest.raises(PanelistError, match="seed"):
        plan_study(make_study(), seed=-1)


def test_fewer_raters_than_the_ratings_need_are_planned_for_when_asked_for_and_said_in_numbers() -> None:
    plan = plan_study(make_study(20, FOUR, design={"ratings_per_output": 3}), raters=10)
    assert any("40 get 3, 40 get 2" in note for note in plan.notes)


def test_trials_that_no_system_divides_are_said_in_numbers() -> None:
    plan = plan_study(make_study(20, FOUR, design={"type": "lists", "trials_per_rater": 10}))
    assert any("2 to 3 times" in note and "differ by 1" in note for note in plan.notes)
    assert not plan_study(make_study(20, FOUR)).notes


def test_the_smallest_group_decides_how_many_trials_the_ratings_need() -> None:
    groups = [{"name": "x", "raters": 16}, {"name": "y", "raters": 20}]
    scales = {"fluency": LIKERT}
    plan = plan_study(
        make_study(
            20, FOUR, scales, design={"type": "lists", "ratings_per_output": 3}, raters={"groups": groups}
        )
    )
    assert plan.trials == 15


def test_groups_without_a_number_share_what_the_others_leave() -> None:
    people = {"count": 13, "groups": [{"name": "a", "raters": 3}, {"name": "b"}, {"name": "c"}]}
    study = make_study(4, design={"type": "full"}, raters=people)
    plan = plan_study(study)
    first = plan.table.drop_duplicates("rater")
    assert first.groupby("group", observed=True).size().to_dict() == {"a": 3, "b": 5, "c": 5}
