"""The search for the smallest design."""

from decimal import Decimal

import numpy as np
import pytest
from scipy.special import ndtr

from panelist.core.errors import BadDesign, PanelistError
from panelist.core.seeds import stream
from panelist.power.curve import simulate_power
from panelist.power.design_cost import Tariff, make_tariff
from panelist.power.search.probit_search import fit_line
from panelist.power.search.size import find_sample_size
from panelist.study.sections.pay import Pay


def test_the_line_finds_the_size_that_made_the_counts() -> None:
    rng = stream(1, "line")
    n = np.array([20, 40, 60, 80, 120])
    power = ndtr(-1.9 + 0.35 * np.sqrt(n))
    line = fit_line(n, rng.binomial(4000, power), np.full(5, 4000), 0.05, 500)
    assert line.find_size(0.8) == pytest.approx(((0.8416 + 1.9) / 0.35) ** 2, rel=0.05)
    np.testing.assert_allclose(line.predict(n), power, atol=0.02)
    assert 0 < line.find_error(60) < 0.05


def test_without_data_the_line_is_the_guess() -> None:
    line = fit_line([], [], [], 0.05, 75.0)
    assert line.find_size(0.8) == pytest.approx(75.0)
    assert line.predict(0) == pytest.approx(0.025)


@pytest.mark.parametrize("found", [0, 50])
def test_counts_without_a_spread_move_the_line_and_keep_it_finite(found: int) -> None:
    line = fit_line([50], [found], [50], 0.05, 50.0)
    assert np.isfinite([line.a, line.b, line.find_size(0.8)]).all()
    assert (line.find_size(0.8) > 50) == (found == 0)


def test_the_answer_reaches_the_target_and_less_does_not() -> None:
    found = find_sample_size(0.75, 0.8, "low", model="item_means", ratings_per_item=(2, 5), sims=400, seed=3)
    best = found.best
    assert best is not None
    assert found.confirmed is not None
    assert found.confirmed.power >= 0.8
    assert best.items == found.confirmed.items
    check = simulate_power(
        [best.items, best.items // 2],
        best.ratings_per_item,
        0.75,
        "low",
        sims=1500,
        models="item_means",
        seed=99,
    )
    power = {one.items: one.power for one in check.cells}
    assert power[best.items] == pytest.approx(0.8, abs=0.05)
    assert power[best.items // 2] < 0.7
    assert [option.ratings for option in found.options] == sorted(option.ratings for option in found.options)


def test_families_that_cannot_win_get_fewer_simulations() -> None:
    found = find_sample_size(1.0, model="item_means", ratings_per_item=(1, 10), sims=50, seed=1)
    sims = {option.ratings_per_item: option.sims for option in found.options}
    assert sims[10] < sims[1]


def test_cost_is_made_small_where_a_wage_is_known() -> None:
    tariff = Tariff(Pay(hourly=Decimal(12), minutes_before=30), 0.1)
    options = {"model": "item_means", "ratings_per_item": (2,), "sims": 50, "seed": 2}
    found = find_sample_size(1.0, outputs_per_rater=(5, 20), tariff=tariff, **options)  # type: ignore[arg-type]
    assert found.goal == "cost"
    assert found.best is not None
    assert found.best.outputs_per_rater == 20  # half an hour before the first page: few raters are cheap
    assert found.best.cost == pytest.approx(tariff.find_cost([20] * (found.best.ratings // 20)), rel=0.1)


def test_a_budget_that_is_too_small_is_said() -> None:
    tariff = make_tariff(None, 12.0, 1.0)
    found = find_sample_size(
        0.5, tariff=tariff, budget=5.0, model="item_means", ratings_per_item=(2,), sims=50, seed=2
    )
    assert found.best is None
    assert "No design within the limits" in str(found)
    assert found.to_dict()["best"] is None


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"effect": 0.0}, "other than 0"),
        ({"effect": 1.0, "power": 1.2}, "target power"),
        ({"effect": 1.0, "budget": 10.0}, "needs a wage"),
        ({"effect": 1.0, "goal": "cost"}, "cost needs a wage"),
        ({"effect": 1.0, "goal": "luck"}, "one of cost"),
        ({"effect": 1.0, "sims": 0}, "1 or more"),
        ({"effect": 1.0, "max_items": 3}, "at least 10"),
        ({"effect": 1.0, "ratings_per_item": (0,)}, "1 or more"),
    ],
)
def test_bad_questions_are_refused(options: dict[str, float], part: str) -> None:
    with pytest.raises((PanelistError, BadDesign), match=part):
        find_sample_size(**options)  # type: ignore[arg-type]


def test_a_tariff_needs_a_wage_and_minutes() -> None:
    assert make_tariff(None, None, None) is None
    for arguments, part in (
        ((None, None, 1.0), "needs a wage"),
        ((None, 12.0, None), "how long"),
        ((None, -1.0, 1.0), "positive"),
        ((None, 12.0, 0.0), "more than 0"),
        ((Pay(minutes_per_trial=1.0), None, None), "No wage"),
    ):
        with pytest.raises(PanelistError, match=part):
            make_tariff(*arguments)
    made = make_tariff(Pay(living_wage=Decimal(12), minutes_per_trial=0.5, minutes_before=0), None, None)
    assert made is not None
    assert made.find_cost([10, 10, 5]) == pytest.approx(2.5)
