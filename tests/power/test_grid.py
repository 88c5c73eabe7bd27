"""Running grids: the same numbers whatever the engine, stopping, journals, intervals."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from panelist.core.errors import BadFile, PanelistError, UnknownName
from panelist.core.progress import Progress
from panelist.power.cells import find_interval
from panelist.power.chunks import Chunk, run_chunk
from panelist.power.curve import simulate_power
from panelist.power.engines.base import Engine, Tallies, open_engine
from panelist.power.run import Run
from panelist.power.truth.base import Truth
from panelist.power.truth.cuts import FixedCuts
from panelist.power.truth.spread import Spread
from tests.power.grids import FAST, make_grid, numbers, run


class Backwards(Engine):
    """Runs what it has been given last first."""

    n_workers = 4

    def __init__(self) -> None:
        self.stack: list[Chunk] = []
        self.ran: list[tuple[str, int]] = []

    def submit(self, chunk: Chunk) -> None:
        self.stack.append(chunk)

    def wait(self) -> tuple[Chunk, Tallies]:
        chunk = self.stack.pop()
        self.ran.append(chunk.key)
        return chunk, run_chunk(chunk)

    def close(self) -> None: ...


@pytest.mark.parametrize("found", [0, 1, 7, 50, 99, 100])
def test_intervals_are_exact(found: int) -> None:
    expected = stats.binomtest(found, 100).proportion_ci(0.95, method="exact")
    np.testing.assert_allclose(find_interval(found, 100), (expected.low, expected.high), atol=1e-12)


def test_the_same_seed_gives_the_same_numbers_in_any_order_and_number_of_threads() -> None:
    grid = make_grid()
    expected = numbers(run(grid, workers=1))
    np.testing.assert_equal(numbers(run(grid, workers=3)), expected)
    np.testing.assert_equal(numbers(run(grid, engine=Backwards())), expected)
    assert numbers(run(make_grid(seed=6), workers=1)) != expected


def test_mixed_models_too_give_the_same_numbers_in_one_and_two_threads() -> None:
    grid = make_grid(sims=60, models=("clmm", "lmm"))
    grid = replace(grid, cells=grid.cells[1:2], run=Run(60, seed=5))
    np.testing.assert_equal(numbers(run(grid, workers=1)), numbers(run(grid, workers=2)))


def test_more_data_sets_begin_with_the_same_ones() -> None:
    few, many = (simulate_power(20, 2, 0.5, sims=sims, models=FAST, seed=3).cells[0] for sims in (30, 31))
    assert round(many.power * 31) - round(few.power * 30) in (0, 1)


def test_power_rises_with_the_effect_and_with_items() -> None:
    curve = simulate_power([20, 60], 3, [0.25, 0.5, 1.0, 2.0], sims=150, models="item_means", seed=2)
    power = np.array([one.power for one in curve.cells]).reshape(2, 4)
    assert (np.diff(power, axis=1) >= 0).all()
    assert (power[1] >= power[0] - 0.02).all()
    assert power[1, 3] > 0.95


def test_a_cell_stops_when_it_is_known_as_well_as_asked() -> None:
    grid = make_grid(sims=1000, models=("item_means",), precision=0.06)
    backwards = Backwards()
    results = run(grid, engine=backwards)
    np.testing.assert_equal(numbers(run(grid, workers=1)), numbers(results))
    assert all((one.high - one.low) / 2 <= 0.06 for one in results)
    assert min(one.sims for one in results) < 200 < max(one.sims for one in results) < 1000
    for cell, one in zip(grid.cells, results, strict=True):  # one chunk earlier it was not yet known
        if one.sims > 100:
            (before,) = run(replace(grid, cells=(cell,), run=Run(one.sims - 50, seed=grid.run.seed)))
            assert (before.high - before.low) / 2 > 0.06


def test_a_killed_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    grid, path = make_grid(), tmp_path / "journal.jsonl"
    expected = numbers(run(grid, journal=path, workers=1))
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:6]) + lines[6][:40], encoding="utf-8")  # killed in the middle of a line
    engine = Backwards()
    np.testing.assert_equal(numbers(run(grid, engine=engine, journal=path)), expected)
    assert len(engine.ran) == len(lines) - 6
    assert len(path.read_text("utf-8").splitlines()) == len(lines)
    again = Backwards()
    np.testing.assert_equal(numbers(run(grid, engine=again, journal=path)), expected)
    assert again.ran == []


def test_a_run_with_more_data_sets_keeps_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    run(make_grid(60), journal=path)
    engine = Backwards()
    more = run(make_grid(150), engine=engine, journal=path)
    assert len(engine.ran) == 6 * 2  # of three chunks the first was there
    np.testing.assert_equal(numbers(more), numbers(run(make_grid(150))))


def test_a_journal_of_another_grid_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    run(make_grid(20), journal=path)
    with pytest.raises(BadFile, match="another grid"):
        run(make_grid(20, seed=6), journal=path)
    with pytest.raises(BadFile, match="another grid"):
        run(make_grid(20, models=("t_test",)), journal=path)
    for content in ("rater,item\n1,2\n", json.dumps({"a": 1}) + "\n", "nothing"):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(BadFile, match="not a journal"):
            run(make_grid(20), journal=path)
    with pytest.raises(BadFile, match="cannot be written"):
        run(make_grid(20), journal=tmp_path / "absent" / "journal.jsonl")


def test_progress_tells_data_sets_done_and_the_power_so_far() -> None:
    seen: list[Progress] = []
    run(make_grid(50), workers=1, on_progress=seen.append)
    assert (seen[-1].done, seen[-1].total) == (300, 300)
    assert "item_means" in seen[-1].what


def test_failed_fits_are_counted_and_count_as_nothing_found() -> None:
    nearly_all = Truth("one-sided", Spread(0.1, 0.1), Spread(0.1, 0.1), FixedCuts((3.2,)))
    curve = simulate_power(10, 1, 0.5, sims=60, models="sign_test", seed=2, truth=nearly_all)
    (one,) = curve.cells
    assert one.sims == 60
    assert one.failed > 30
    assert one.power <= 1 - one.failed / 60
    assert any("failed" in note for note in curve.notes)


def test_type_s_and_m_are_those_of_the_estimates() -> None:
    weak, strong = simulate_power(60, 2, [0.25, 2.0], sims=400, models="item_means", seed=1).cells
    assert weak.type_m > 1.5
    assert strong.type_m == pytest.approx(1.0, abs=0.02)
    assert strong.type_s == 0.0
    null = simulate_power(20, 2, 0.0, sims=100, models="item_means", seed=1).cells[0]
    assert np.isnan([null.type_m, null.type_s]).all()


@pytest.mark.parametrize("adjust", ["tukey", "holm", "bonferroni", "bh", "none"])
def test_several_systems_have_power_for_each_pair_for_any_and_for_all(adjust: str) -> None:
    curve = simulate_power(
        60, 2, 1.0, systems=3, sims=60, models=("item_means", "lm"), adjust=adjust, pattern="one", seed=4
    )
    for one in curve.cells:
        assert [(pair.a, pair.b) for pair in one.pairs] == [("A", "B"), ("A", "C"), ("B", "C")]
        powers = [pair.power for pair in one.pairs]
        assert max(powers) <= one.any <= 1
        assert one.all <= min(powers[1:])
        assert one.power == one.all
        assert powers[0] < 0.35 < powers[1]


def test_adjusting_costs_power() -> None:
    power = {
        adjust: simulate_power(
            25, 2, 0.5, systems=4, sims=60, models="item_means", adjust=adjust, seed=4
        ).cells[0]
        for adjust in ("none", "holm", "bonferroni")
    }
    assert power["none"].any >= power["holm"].any >= power["bonferroni"].any
    assert power["none"].all >= power["holm"].all >= power["bonferroni"].all


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"sims": 0}, "1 or more"),
        ({"precision": 0.7}, "half-width"),
        ({"alpha": 0.0}, "alpha"),
        ({"models": []}, "at least one analysis"),
        ({"workers": 0}, "workers"),
        ({"models": "bradley_terry"}, "cannot read points"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], part: str) -> None:
    with pytest.raises(PanelistError, match=part):
        simulate_power(20, 2, 0.5, **{"models": "t_test", **options})  # type: ignore[arg-type]


def test_an_unknown_engine_or_analysis_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="tcp://"):
        open_engine("ray")
    with pytest.raises(UnknownName, match="item_means"):
        simulate_power(20, 2, 0.5, models="item_mean")
