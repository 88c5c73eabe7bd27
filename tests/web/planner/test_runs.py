"""Simulating while a researcher watches: the numbers of the command, one run at a time, at low priority."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from panelist.power.curve import simulate_power
from panelist.power.truth.base import Truth
from panelist.web.planner.query import PlannerQuery
from panelist.web.planner.question import SEED
from panelist.web.planner.runs import SIMS, Planner, PlannerRun
from tests.patience import PATIENCE

# A paired t-test of the items' means costs little; what is tested is the same for every analysis.
QUICK = PlannerQuery("low", "", 0.75, 2, 40, 3, 24, "item_means", 0.8, None)
SLOW = replace(QUICK, items=150, ratings_per_item=10, model="clmm")


def find_truth(query: PlannerQuery) -> Truth:
    return Truth.preset(query.preset)


@pytest.fixture
def planner() -> Iterator[Planner]:
    yield Planner(find_truth)
    assert wait_until(lambda: not find_threads()), "a run goes on though nobody watches"


def find_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "planner"]


def wait_until(is_so) -> bool:  # type: ignore[no-untyped-def]
    until = time.monotonic() + PATIENCE
    while not is_so() and time.monotonic() < until:
        time.sleep(0.01)
    return bool(is_so())


def finish(planner: Planner, query: PlannerQuery) -> PlannerRun:
    run = planner.join(query)
    assert run.wait(PATIENCE)
    planner.leave(run)
    return run


def test_the_numbers_are_those_of_the_command(planner: Planner) -> None:
    run = finish(planner, QUICK)
    state = run.state
    assert state.over
    assert not state.problem
    assert state.question is not None
    command = simulate_power(
        [40, 80], [3, 2], 0.75, "low", SIMS, "item_means", SEED, outputs_per_rater=24
    )  # fmt: skip
    for one in command.cells:
        found = state.results[one.items, int(one.ratings_per_item)]
        assert (found.power, found.low, found.high) == (one.power, one.low, one.high)
        assert (found.sims, found.raters, found.failed) == (SIMS, one.raters, one.failed)
        assert found.type_m == pytest.approx(one.type_m, rel=1e-9)


def test_the_ordinal_model_finds_the_same_however_few_at_a_time(planner: Planner) -> None:
    query = replace(QUICK, items=10, ratings_per_item=2, outputs_per_rater=5, model="clmm")
    run = planner.join(query)
    assert wait_until(lambda: run.state.own is not None and run.state.own.sims >= 25)
    run.stop()
    assert run.wait(PATIENCE)
    planner.leave(run)
    own = run.state.own
    assert own is not None
    command = simulate_power(10, 2, 0.75, "low", own.sims, "clmm", SEED, outputs_per_rater=5)
    assert (own.power, own.failed, own.singular) == (
        command.cells[0].power,
        command.cells[0].failed,
        command.cells[0].singular,
    )


def test_intervals_narrow_while_it_runs_and_the_smallest_designs_reach_the_target(planner: Planner) -> None:
    run = planner.join(QUICK)
    widths = []
    while not run.state.over:
        own = run.state.own
        if own is not None:
            widths.append(own.high - own.low)
        time.sleep(0.002)
    planner.leave(run)
    assert widths[0] > 2 * widths[-1]
    sizes = run.state.smallest
    assert [one.place[1] for one in sizes] == [3, 2, 1]
    for one in sizes:
        assert one.reached
        assert one.result is not None
        assert one.result.sims == SIMS
        assert one.result.high > 0.8
        assert one.layout.n_rows == one.place[0] * one.place[1] * 2


def test_who_comes_back_goes_on_where_it_was(planner: Planner) -> None:
    first = planner.join(SLOW)
    assert wait_until(lambda: first.state.own is not None)
    planner.leave(first)
    assert first.wait(PATIENCE)
    before = first.state.own
    assert before is not None
    assert before.sims < SIMS
    again = planner.join(SLOW)
    assert wait_until(lambda: again.state.own is not None)
    seen = again.state.own
    assert seen is not None
    assert seen.sims > before.sims
    planner.leave(again)


def test_another_wish_takes_the_place_of_the_first(planner: Planner) -> None:
    first = planner.join(SLOW)
    assert wait_until(lambda: first.state.question is not None)
    second = planner.join(QUICK)
    assert first.stopped
    assert not first.state.over
    assert wait_until(lambda: second.state.own is not None)
    assert first.wait(0)  # the second began only when it had ended
    planner.leave(first)
    planner.leave(second)


def test_two_who_ask_for_the_same_share_a_run(planner: Planner) -> None:
    first, second = planner.join(SLOW), planner.join(SLOW)
    assert first is second
    planner.leave(first)
    assert not first.stopped
    planner.leave(second)
    assert first.stopped


@pytest.mark.skipif(sys.platform != "linux", reason="threads have a priority of their own on Linux alone")
def test_the_thread_stands_behind_all_others(planner: Planner) -> None:
    run = planner.join(SLOW)
    assert wait_until(lambda: run.state.question is not None)
    (thread,) = find_threads()
    assert thread.native_id is not None
    assert os.getpriority(os.PRIO_PROCESS, thread.native_id) == 10
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) < 10
    planner.leave(run)


def test_what_cannot_be_simulated_is_said(planner: Planner) -> None:
    run = finish(planner, replace(QUICK, items=500, ratings_per_item=20, systems=6))
    assert run.state.over
    assert "too many to simulate while you wait" in run.state.problem
