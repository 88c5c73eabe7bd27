"""The first guess of a size, before anything is simulated."""

import numpy as np
import pytest
from scipy.stats import norm, studentized_range

from panelist.core.progress import Progress
from panelist.power.cells import Cell
from panelist.power.layouts.base import Sampling
from panelist.power.search.probit_search import guess_size
from panelist.power.search.size import find_sample_size
from panelist.power.truth.base import Truth, find_effects

TRUTH = Truth.preset("general")


def test_two_systems_have_the_textbook_size() -> None:
    guess = guess_size(TRUTH, (0.0, 0.31), 3, 25, 0.05)
    covariance = TRUTH.items.covariance(2) + TRUTH.raters.covariance(2) * 25 / 6
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1] + 1.5 * 2 / 3
    expected = variance * ((norm.ppf(0.975) + norm.ppf(0.8)) / 0.31) ** 2
    assert guess.items == pytest.approx(expected)
    assert guess.alpha == 0.05


@pytest.mark.parametrize("pattern", ["steps", "one"])
def test_of_four_systems_the_guess_is_where_all_pairs_are_found(pattern: str) -> None:
    """Means drawn anew at the size guessed are all told apart, by Tukey's test, in four of five draws."""
    effects = find_effects(0.5, 4, TRUTH.unit, pattern)
    guess = guess_size(TRUTH, effects, 3, 25, 0.05)
    covariance = TRUTH.items.covariance(4) + TRUTH.raters.covariance(4) * 25 / 12 + np.eye(4) * 1.5 / 3
    means = np.random.default_rng(5).multivariate_normal(effects, covariance / guess.items, 20_000)
    critical = studentized_range.ppf(0.95, 4, np.inf) / np.sqrt(2)
    found = np.ones(len(means), dtype=bool)
    for a in range(4):
        for b in range(a + 1, 4):
            if effects[a] != effects[b]:
                spread = np.sqrt((covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]) / guess.items)
                found &= np.abs(means[:, b] - means[:, a]) > critical * spread
    assert found.mean() == pytest.approx(0.8, abs=0.02)


def test_many_systems_make_small_chunks_that_can_be_reported() -> None:
    def count(systems: int, items: int) -> int:
        layout = Sampling(items, 3, systems).lay_out()
        return Cell(TRUTH, layout, 0.5, tuple(range(systems))).chunk_size

    assert count(2, 350) == 28
    assert count(3, 12) == 50
    assert count(4, 350) == 1  # a fit of 4,200 ratings takes ten seconds
    assert count(4, 100) == 12
    assert count(6, 1000) == 1


def test_a_search_tells_what_it_expects_before_the_first_data_set_is_done() -> None:
    seen: list[Progress] = []
    found = find_sample_size(
        0.75,
        systems=3,
        model="item_means",
        ratings_per_item=(2, 10),
        sims=20,
        seed=1,
        on_progress=seen.append,
    )
    assert seen[0].done == 0
    assert seen[0].in_work > 0
    assert seen[0].at_most
    assert seen[0].what.startswith("expected: ")
    assert all(one.done <= one.total for one in seen)
    assert [one.done for one in seen] == sorted(one.done for one in seen)
    assert found.best is not None
    assert any(not option.sims for option in found.options)  # plainly larger: not simulated
    assert "not simulated" in str(found)
