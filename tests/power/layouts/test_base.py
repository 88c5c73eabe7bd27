"""Who rates what in a simulated study."""

import numpy as np
import pytest

from panelist.core.errors import BadDesign
from panelist.design.make import plan_study
from panelist.power.layouts.base import Layout, Sampling
from panelist.power.layouts.from_plan import lay_out_plan
from tests.design.small_studies import make_study


def count_cells(layout: Layout) -> list[int]:
    cell = layout.item * layout.n_systems + layout.system
    return sorted(set(np.bincount(cell, minlength=layout.n_items * layout.n_systems).tolist()))


def most_meetings(layout: Layout) -> int:
    """How often a rater meets the same item, at most."""
    return int(
        np.unique(layout.rater.astype(int) * layout.n_items + layout.item, return_counts=True)[1].max()
    )


@pytest.mark.parametrize(
    ("items", "ratings", "raters"), [(50, 3, 12), (100, 3, 24), (50, 10, 40), (500, 3, 120)]
)
def test_the_designs_of_the_paper_keep_its_promise(items: int, ratings: int, raters: int) -> None:
    layout = Sampling(items, ratings).lay_out()
    assert (layout.n_raters, layout.n_rows) == (raters, 2 * items * ratings)
    assert count_cells(layout) == [ratings]
    assert most_meetings(layout) == 1
    assert set(np.bincount(layout.rater)) == {25}
    share = np.bincount(layout.rater, weights=layout.system)
    assert set(share) == {12.0, 13.0}


@pytest.mark.parametrize(
    ("items", "ratings", "systems", "load"), [(37, 2, 2, 10), (30, 4, 5, 7), (10, 3, 3, None), (12, 1, 2, 5)]
)
def test_any_sizes_give_every_output_its_ratings(
    items: int, ratings: int, systems: int, load: int | None
) -> None:
    layout = Sampling(items, ratings, systems, load).lay_out()
    assert count_cells(layout) == [ratings]
    assert most_meetings(layout) == 1
    assert np.bincount(layout.rater).max() <= (load or items)


def test_raters_share_the_ratings() -> None:
    layout = Sampling(50, 3, raters=10).lay_out()
    assert (layout.n_raters, set(np.bincount(layout.rater))) == (10, {30})


def test_another_seed_deals_other_lists_and_the_same_seed_the_same() -> None:
    one, two = Sampling(50, 3).lay_out(1), Sampling(50, 3).lay_out(2)
    assert one.key != two.key
    assert Sampling(50, 3).lay_out(1).key == one.key


def test_the_released_lists_are_those_of_the_script() -> None:
    layout = Sampling(50, 3).lay_out_released()
    assert layout.n_raters == 15
    assert set(np.bincount(layout.rater)) == {20}
    assert count_cells(layout) == [3]
    first = np.sort(layout.item[layout.rater == 0])
    np.testing.assert_array_equal(first, np.sort(layout.item[layout.rater == 5]))  # a copy, not a new list


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"items": 50, "ratings_per_item": 3, "outputs_per_rater": 60}, "at most 50"),
        ({"items": 50, "ratings_per_item": 3, "raters": 5}, "at least 6 raters"),
        ({"items": 5, "ratings_per_item": 1, "raters": 11}, "too many"),
        ({"items": 1, "ratings_per_item": 3}, "items must be a whole number, 2 or more"),
        ({"items": 50, "ratings_per_item": 0}, "ratings per item must be a whole number, 1 or more"),
        ({"items": 50, "ratings_per_item": 3, "systems": 1}, "systems must be a whole number, 2 or more"),
        ({"items": 50, "ratings_per_item": 3, "raters": 10, "outputs_per_rater": 5}, "not both"),
        ({"items": 50, "ratings_per_item": 3, "outputs_per_rater": 0}, "at least one output"),
    ],
)
def test_an_impossible_design_is_refused_in_a_sentence(arguments: dict[str, int], part: str) -> None:
    with pytest.raises(BadDesign, match=part):
        Sampling(**arguments).lay_out()


def test_released_lists_need_tens_of_items() -> None:
    with pytest.raises(BadDesign, match="10 divides"):
        Sampling(55, 3).lay_out_released()


def test_a_plan_becomes_a_layout_of_its_trials_on_one_criterion() -> None:
    scales = {"fluency": {"type": "likert", "points": 6}, "adequacy": {"type": "likert", "points": 5}}
    study = make_study(12, ("x", "y", "z"), scales, design={"type": "lists", "trials_per_rater": 6})
    plan = plan_study(study, raters=12)
    layout = lay_out_plan(plan, study, "adequacy")
    assert (layout.n_raters, layout.n_items, layout.systems) == (12, 12, ("x", "y", "z"))
    assert (layout.n_rows, layout.ratings_per_item, layout.page) == (72, 2.0, None)
    assert most_meetings(layout) == 1


def test_pages_of_a_comparison_are_kept() -> None:
    study = make_study(6, ("x", "y"), {"better": {"type": "pairs"}}, design={"type": "pairs"})
    layout = lay_out_plan(plan_study(study, raters=4), study)
    assert layout.page is not None
    assert set(np.bincount(layout.page)) == {2}


def test_one_system_is_nothing_to_compare() -> None:
    study = make_study(6, ("x",))
    with pytest.raises(BadDesign, match="compares systems"):
        lay_out_plan(plan_study(study, raters=4), study)
