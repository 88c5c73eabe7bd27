"""The model of large tables, from sums: the same numbers as the general solver on any table."""

from dataclasses import replace

import numpy as np
import pytest

from panelist.judges.correct import summed_fit
from panelist.judges.correct.regression import Corrected, correct_means
from panelist.judges.correct.summed_fit import SummedFit
from panelist.judges.match import JudgedRatings
from panelist.models.results.fitted import Fit
from tests.judges.simulated_tables import make_beside

ROWS = np.array([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


@pytest.fixture
def any_size(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(summed_fit, "LARGE", 1)
    return monkeypatch


def both_ways(
    beside: JudgedRatings, monkeypatch: pytest.MonkeyPatch, **given: object
) -> tuple[Corrected, Corrected]:
    """Return the correction by sums and by the general solver."""
    fast = correct_means(beside, **given)  # type: ignore[arg-type]
    monkeypatch.setattr(summed_fit, "LARGE", 10**9)
    slow = correct_means(beside, **given)  # type: ignore[arg-type]
    assert isinstance(fast.fit, SummedFit)
    assert isinstance(slow.fit, Fit)
    return fast, slow


def thin(beside: JudgedRatings, share: float, seed: int) -> JudgedRatings:
    """Return the table without some ratings, so that outputs have different numbers of them."""
    kept = np.random.default_rng(seed).random(len(beside.y)) < share
    return replace(
        beside, item=beside.item[kept], system=beside.system[kept], rater=beside.rater[kept], y=beside.y[kept]
    )


@pytest.mark.parametrize("share", [1.0, 0.6])
@pytest.mark.parametrize("judged", [True, False])
def test_sums_give_the_numbers_of_the_general_solver(
    any_size: pytest.MonkeyPatch, share: float, judged: bool
) -> None:
    beside = make_beside(60, 60, raters=5, ratings=3, seed=4)
    table = thin(beside, share, 1) if share < 1 else beside
    fast, slow = both_ways(table, any_size, scores=None if judged else {})
    np.testing.assert_allclose(fast.estimate, slow.estimate, rtol=0, atol=1e-8)
    (v, df), (w, nu) = fast.measure(ROWS), slow.measure(ROWS)
    np.testing.assert_allclose(v, w, rtol=2e-6)  # the general solver ends its search there
    np.testing.assert_allclose(df, nu, rtol=2e-3)  # it takes curvature by steps to one side
    for group, sd in zip(slow.fit.random["group"], slow.fit.random["sd"], strict=True):
        assert fast.fit.spreads[group] == pytest.approx(sd, abs=2e-5)
    assert fast.fit.sigma == pytest.approx(slow.fit.sigma, rel=1e-6)
    modes = slow.fit.random_effects
    own = modes[modes["group"] == "rater"].set_index("level")["mode"]
    for rater, mode in fast.fit.severity.items():
        assert mode == pytest.approx(own[rater], abs=1e-5)


def test_with_sums_the_deviance_has_no_slope_at_the_optimum(any_size: pytest.MonkeyPatch) -> None:
    beside = thin(make_beside(40, 60, raters=5, ratings=3, seed=9), 0.7, 2)
    sums = summed_fit._sum_up(beside, summed_fit.TERMS, {})
    assert sums is not None
    search = summed_fit._Search(sums, summed_fit.TERMS)
    theta, step = search.best, 1e-5
    assert np.abs(search.slope(theta)).max() < 1e-6
    off = np.array([0.3, 0.4, 0.5, 0.6])
    for e in range(4):
        ends = [search.deviance(off + sign * step * np.eye(4)[e]) for sign in (1, -1)]
        assert search.slope(off)[e] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6, abs=1e-6)


def test_small_tables_and_tables_of_many_kinds_keep_the_general_solver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    beside = thin(make_beside(30, 30, raters=5, ratings=3, seed=3), 0.7, 5)
    assert isinstance(correct_means(beside).fit, Fit)
    monkeypatch.setattr(summed_fit, "LARGE", 1)
    monkeypatch.setattr(summed_fit, "MOST_SORTS", 2)
    assert isinstance(correct_means(beside).fit, Fit)


def test_where_all_is_rated_means_of_a_large_table_are_plain(any_size: pytest.MonkeyPatch) -> None:
    beside = make_beside(50, 50, raters=3, ratings=3, seed=2)
    found = correct_means(beside)
    assert isinstance(found.fit, SummedFit)
    np.testing.assert_allclose(found.estimate, beside.means.mean(axis=0), rtol=0, atol=1e-10)
