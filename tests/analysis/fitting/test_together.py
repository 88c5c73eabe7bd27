"""Criteria of a large table are done side by side, and come back in their order."""

import os
import threading
from time import sleep

import pytest

from panelist.analysis import analyse as analysis_module
from panelist.analysis import compare as compare_module
from panelist.analysis.analyse import analyse
from panelist.analysis.compare import compare_systems
from panelist.analysis.fitting import together
from panelist.analysis.fitting.together import LARGE, do_each
from tests.simulated import simulate_demo


def test_results_come_in_the_order_of_the_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    names: set[str] = set()

    def do(task: int) -> int:
        names.add(threading.current_thread().name)
        sleep(0.02 * (3 - task))
        return task * task

    assert do_each(do, [0, 1, 2], LARGE) == [0, 1, 4]
    assert all(name.startswith("criterion") for name in names)


@pytest.mark.parametrize(("tasks", "ratings"), [([1, 2], LARGE - 1), ([1], LARGE)])
def test_small_tables_and_single_criteria_need_no_threads(tasks: list[int], ratings: int) -> None:
    here = threading.current_thread().name
    assert do_each(lambda _: threading.current_thread().name, tasks, ratings) == [here] * len(tasks)


def test_an_error_that_is_not_ours_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    with pytest.raises(ZeroDivisionError):
        do_each(lambda task: 1 // task, [1, 0], LARGE)


def test_threads_change_no_number_and_every_step_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = simulate_demo()
    alone, said = compare_systems(frame), list[str]()
    assert not said
    for module in (together, compare_module, analysis_module):
        monkeypatch.setattr(module, "LARGE", 100)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    beside = compare_systems(frame, on_progress=lambda now: said.append(now.what))
    assert sorted(said) == ["adequacy", "fluency"]
    assert beside.to_json() == alone.to_json()
    said.clear()
    analyse(None, frame, resamples=20, on_progress=lambda now: said.append(now.what))
    assert {"adequacy", "fluency", "fluency: agreement of the raters"} <= set(said)
