"""The smallest design for a study that compares outputs, and answers that agree with themselves."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.power.curve import make_cells, simulate_cells
from panelist.power.layouts.from_plan import declare_analysis
from panelist.power.layouts.pages import read_pages
from panelist.power.run import Run
from panelist.power.search.sample_size import SampleSize
from panelist.power.search.search_space import SearchSpace, Target
from panelist.power.search.size import find_sample_size, search_sizes
from panelist.power.truth.base import Truth
from panelist.power.truth.cuts import Slider
from tests.design.small_studies import make_study
from tests.examples import examples

SCALES = {"pairs": {"type": "pairs"}, "best-worst": {"type": "best-worst"}}


@pytest.mark.slow
@pytest.mark.parametrize(("design", "systems"), [("pairs", "ab"), ("pairs", "abc"), ("best-worst", "abcd")])
def test_the_size_of_a_comparison_reaches_the_target_and_half_of_it_does_not(
    design: str, systems: str
) -> None:
    one = make_study(20, tuple(systems), {"taste": SCALES[design]}, design={"type": design})
    truth, spec = Truth.preset("low", Slider()), declare_analysis(one)
    space = SearchSpace((1, 2), pages=read_pages(one, "taste"))
    found = search_sizes(Target(1.5, 0.8, len(systems)), truth, space, spec, Run(300, seed=3))
    assert found.best is not None
    assert found.confirmed is not None
    assert found.confirmed.power >= 0.8
    best = next(family for family in found.families if family.settled is not None)
    layouts = [best.sample(items).lay_out(9) for items in (best.items, best.items // 2)]
    cells = make_cells([truth], layouts, [1.5])
    again = simulate_cells(cells, ["bradley_terry"], replace(spec, model="auto"), Run(600, seed=99)).cells
    assert again[0].power > 0.75
    assert again[1].power < 0.7
    assert f"of each {'pair' if design == 'pairs' else 'tuple'}" in str(found)


def check(found: SampleSize, most: int) -> None:
    """Assert that the rows agree with themselves, with each other and with the answer."""
    for option in found.options:
        assert option.items <= most
        if option.reaches:
            assert option.items_low <= option.items <= option.items_high
    within = [option for option in found.options if option.within_budget]
    assert (found.best is None) == (found.confirmed is None)
    if found.best is not None and found.confirmed is not None:
        assert found.best.items == found.confirmed.items
        assert found.best.ratings == min(option.ratings for option in within)
        assert found.best is found.options[0]


@pytest.mark.slow
@examples(60)
@given(st.integers(0, 10_000), st.sampled_from([5, 20]), st.sampled_from([0.8, 0.9]), st.integers(20, 400))
def test_the_answer_lies_in_its_interval_and_no_row_is_smaller(
    seed: int, sims: int, power: float, most: int
) -> None:
    found = find_sample_size(
        1.0,
        power,
        "low",
        model="item_means",
        ratings_per_item=(1, 2, 3),
        sims=sims,
        seed=seed,
        max_items=most,
    )
    check(found, most)


def test_few_simulations_that_miss_make_the_answer_larger_and_say_so() -> None:
    misses = []
    for seed in range(12):
        found = find_sample_size(
            1.0, 0.9, "low", model="item_means", ratings_per_item=(2, 3), sims=5, seed=seed
        )
        check(found, 2000)
        if any(family.least > family.line_items for family in found.families):
            misses.append(found)
    assert misses
    assert all("counts as too small" in " ".join(found.notes) for found in misses)


def test_what_is_out_of_reach_has_no_size() -> None:
    found = find_sample_size(0.25, 0.9, model="item_means", ratings_per_item=(2,), sims=20, max_items=20)
    assert found.best is None
    assert "over 20" in str(found)
