"""What a judge saves, by variances: against simulated ratings and the corrected estimator itself."""

import numpy as np
import pytest

from bench.judges_coverage import R_TRUE, World, run
from panelist.core.errors import PanelistError
from panelist.power.cells import Cell
from panelist.power.judged import (
    PlannedJudge,
    ScaleVariances,
    find_variances,
    judge_cells,
    judge_design,
    replace_items,
    show_judged,
)
from panelist.power.layouts.base import Sampling
from panelist.power.truth.base import Truth
from panelist.power.truth.cuts import Cuts, DrawnCuts, FixedCuts, Slider
from panelist.power.truth.spread import find_root
from tests.power.shared_truths import GENERAL, make_bench_truth


@pytest.mark.parametrize("cuts", [DrawnCuts(), DrawnCuts(2), FixedCuts((-1.0, 0.0, 2.0)), Slider()])
def test_variances_are_those_of_simulated_ratings(cuts: Cuts) -> None:
    truth = Truth.preset("high", cuts)
    rng, n = np.random.default_rng(5), 60
    found = []
    for _ in range(60):
        items, raters = (
            rng.standard_normal((n, 2)) @ find_root(spread.covariance(2)).T
            for spread in (truth.items, truth.raters)
        )
        latent = items[:, None] + raters[None] + rng.standard_normal((n, n, 2))
        if isinstance(cuts, Slider):
            y = cuts.read(latent)
        else:
            y = np.searchsorted(cuts.draw(rng, 1)[0], latent.ravel()).reshape(latent.shape).astype(float)
        d = y[..., 0] - y[..., 1]
        by_item, by_rater = d.mean(axis=1) - d.mean(), d.mean(axis=0) - d.mean()
        left = d - d.mean() - by_item[:, None] - by_rater[None]
        noise = (left**2).sum() / (n - 1) ** 2
        found.append((by_item.var(ddof=1) - noise / n, by_rater.var(ddof=1) - noise / n, noise))
    mean, error = np.mean(found, axis=0) / 2, np.std(found, axis=0) / 2 / np.sqrt(len(found))
    known = find_variances(truth, 2)
    assert np.all(np.abs(mean - [known.outputs, known.raters, known.noise]) < 4.5 * error)


@pytest.mark.slow
@pytest.mark.parametrize("world", [World("good", 24, 40), World("good", 24, 100)])
def test_widths_of_corrected_intervals_are_those_of_the_formula(world: World) -> None:
    known = find_variances(make_bench_truth(), 3)
    found = {one.way: one for one in run(world, 60, seed=2)}
    seen = found["2.1"].width / found["people alone"].width
    n, m, N, R = world.labelled, world.ratings, world.items, world.raters

    def variance(r: float) -> float:
        return known.outputs * ((1 - r**2) / n + r**2 / N) + known.noise / (n * m) + known.raters / R

    assert seen == pytest.approx(np.sqrt(variance(R_TRUE) / variance(0.0)), abs=0.025)
    (with_judge, *_) = judge_design(make_bench_truth(), 3, n, m, PlannedJudge(N, (R_TRUE,)))
    alone = known.outputs + known.noise / m
    assert alone / with_judge.items_alone + known.raters / R == pytest.approx(variance(R_TRUE))


def test_the_smaller_design_with_the_judge_is_worth_the_larger_one() -> None:
    judge = PlannedJudge(1000, (0.8, 0.5))
    rows = replace_items(GENERAL, 2, 100, 3, judge)
    assert [one.r for one in rows] == [0.8, 0.5, 0.0]
    for one in rows:
        back = {row.r: row for row in judge_design(GENERAL, 2, one.items, 3, judge)}[one.r]
        assert 100 <= back.items_alone < 102  # whole items
    assert rows[0].items < rows[1].items < rows[2].items == 100
    assert rows[0].saved == (100 - rows[0].items) * 6
    assert f"{rows[0].items} items with the judge do what 100 would without" in rows[0].sentence()


def test_it_says_when_nothing_is_saved() -> None:
    few = replace_items(GENERAL, 2, 100, 3, PlannedJudge(100, (0.9,)))
    assert few[0].saved == 0
    assert "stands in for items that nobody rates" in few[0].sentence()
    useless = judge_design(GENERAL, 2, 50, 3, PlannedJudge(1000, (0.0,)))
    assert (len(useless), useless[0].saved, useless[0].items_alone) == (1, 0, 50)
    assert "say too little" in useless[0].sentence()
    assert ScaleVariances(0.0, 0.1, 1.0).find_observed(0.9, 3) == 0.0


def test_a_grid_has_a_row_for_each_design_and_comparisons_have_none() -> None:
    layouts = [Sampling(n, 3, 2, None).lay_out(1) for n in (20, 40)]
    cells = [Cell(GENERAL, layout, d, (0.0, d)) for layout in layouts for d in (0.3, 0.6)]
    rows = judge_cells(cells, PlannedJudge(200, (0.7, 0.4)))
    assert [(one.items, one.r) for one in rows] == [(n, r) for n in (20, 40) for r in (0.7, 0.4, 0.0)]
    assert len(show_judged(rows)) == 2
    assert show_judged(()) == []


@pytest.mark.parametrize(("items", "r"), [(100, (1.2,)), (100, ()), (100, (0.5, 0.4, 0.3)), (1, (0.5,))])
def test_a_judge_that_cannot_be_is_refused(items: int, r: tuple[float, ...]) -> None:
    with pytest.raises(PanelistError):
        PlannedJudge(items, r)
