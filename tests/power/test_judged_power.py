"""Power with a judge by simulation: analysed as compare does, and in line with the closed form."""

import numpy as np
import pytest

from bench.judges_coverage import MEANS, R_TRUE
from panelist.analysis.spec import AnalysisSpec
from panelist.core.seeds import stream
from panelist.judges.correct.covariates import make_covariates
from panelist.judges.correct.regression import correct_means
from panelist.judges.match import JudgedRatings
from panelist.power.cells import Cell
from panelist.power.judged import PlannedJudge, find_variances
from panelist.power.judged_power import _draw, _prepare, simulate_judged
from panelist.power.layouts.base import Sampling
from panelist.power.run import Run
from panelist.power.search.judged_size import search_judged
from panelist.power.search.sample_size import DesignOption
from panelist.power.search.search_space import Target
from panelist.power.truth.base import Truth
from tests.power.shared_truths import GENERAL, make_bench_truth

SPEC = AnalysisSpec(model="auto")


def make_cell(items: int, systems: int, raters: int, effect: float = 0.5) -> Cell:
    layout = Sampling(items, 2, systems, None, raters).lay_out(1)
    if systems == 3:
        return Cell(make_bench_truth(), layout, effect, MEANS)
    return Cell(GENERAL, layout, effect, (0.0, effect))


@pytest.mark.parametrize("systems", [2, 3])
def test_a_simulated_data_set_is_analysed_as_compare_does(systems: int) -> None:
    cell, judge = make_cell(24, systems, 8), PlannedJudge(60, (0.8,))
    y, scores = _draw(cell, judge, stream(1, "test"))
    f, layout = scores(0.8), cell.layout
    beside = JudgedRatings(
        criterion="quality",
        items=tuple(f"i{k:03}" for k in range(60)),
        systems=tuple(f"s{k}" for k in range(systems)),
        raters=tuple(f"r{k}" for k in range(layout.n_raters)),
        item=layout.item.astype(np.int64),
        system=layout.system.astype(np.int64),
        rater=layout.rater.astype(np.int64),
        y=y,
        scores={"judge": f},
    )
    expected = correct_means(beside)
    rows = np.array([np.eye(systems)[b] - np.eye(systems)[a] for a, b in layout.pairs])
    variance, df = expected.measure(rows)
    estimate, se, degrees = _prepare(cell, ("w0", "b0"))(y, make_covariates({"judge": f}).columns)
    np.testing.assert_allclose(estimate, rows @ expected.estimate, atol=1e-7)
    np.testing.assert_allclose(se, np.sqrt(variance), rtol=1e-6)
    np.testing.assert_allclose(degrees, df, rtol=1e-4)


def test_the_judge_has_the_correlation_asked_for() -> None:
    cell = make_cell(20, 3, 10)
    y, scores = _draw(cell, PlannedJudge(20_000, (0.6,)), stream(2, "test"))
    noise, pure = scores(0.0), scores(1.0)
    assert set(np.unique(y)) <= set(range(6))
    for r in (0.3, 0.8):
        f = scores(r) - scores(r).mean(axis=1, keepdims=True)
        assert np.corrcoef((f - f.mean(axis=0)).ravel(), pure.ravel())[0, 1] == pytest.approx(r, abs=0.02)
    assert abs(np.corrcoef(noise.ravel(), pure.ravel())[0, 1]) < 0.02


@pytest.mark.slow
def test_simulated_widths_shrink_as_the_closed_form_says() -> None:
    cell, judge = make_cell(40, 3, 24), PlannedJudge(200, (R_TRUE,))
    alone, good, useless = simulate_judged(cell, judge, SPEC, Run(60, seed=3))
    known, n, m, R = find_variances(cell.truth, 3), 40, 2, cell.layout.n_raters

    def variance(r: float) -> float:
        return known.outputs * ((1 - r**2) / n + r**2 / 200) + known.noise / (n * m) + known.raters / R

    assert good.width / alone.width == pytest.approx(np.sqrt(variance(R_TRUE) / variance(0.0)), abs=0.025)
    assert useless.width / alone.width == pytest.approx(1.0, abs=0.02)
    assert (alone.failed, good.failed, useless.failed) == (0, 0, 0)
    assert np.isnan(alone.r)
    assert simulate_judged(cell, judge, SPEC, Run(4, seed=3))[1].sims == 4


@pytest.mark.slow
def test_the_search_starts_from_the_closed_form_and_is_simulated_there() -> None:
    best = DesignOption(
        **{  # type: ignore[arg-type]
            **dict.fromkeys(DesignOption.__dataclass_fields__, 0),
            "items": 60,
            "ratings_per_item": 2,
            "raters": 24,
        }
    )
    target = Target(1.0, 0.8, 2)
    truth: Truth = Truth.preset("extra-low")
    designs, powers = search_judged(best, target, truth, PlannedJudge(1000, (0.9,)), SPEC, Run(40, seed=1))
    assert [one.r for one in designs] == [0.9, 0.0]
    assert designs[0].items < designs[1].items == 60
    people, *beside = powers
    assert (people.items, np.isnan(people.r)) == (60, True)
    assert [one.items for one in beside] == [one.items for one in designs]
    assert beside[0].width == pytest.approx(people.width, rel=0.05)  # they do the same
    assert designs[0].saved == (60 - designs[0].items) * 4
