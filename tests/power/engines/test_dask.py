"""The Dask engine: the same numbers, also where a worker is killed in the middle."""

import os
import signal
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from panelist.core.errors import PanelistError
from panelist.core.progress import Progress
from panelist.power.engines.base import open_engine
from tests.power.grids import make_grid, numbers, run

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Three worker processes on this machine."""
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None
        ) as running,
    ):
        yield running


def test_a_cluster_in_this_process_gives_the_numbers_of_threads() -> None:
    grid = make_grid()
    np.testing.assert_equal(numbers(run(grid, engine="dask", workers=2)), numbers(run(grid, workers=2)))


def test_a_killed_worker_changes_nothing(cluster: Any) -> None:
    grid = make_grid(sims=400)
    with distributed.Client(cluster) as client:
        victim = next(iter(client.run(os.getpid).values()))
        killed: list[int] = []

        def kill_once(progress: Progress) -> None:
            if not killed and progress.done >= 500:
                os.kill(victim, signal.SIGKILL)
                killed.append(progress.done)

        found = run(grid, engine=cluster.scheduler_address, on_progress=kill_once)
    assert killed
    np.testing.assert_equal(numbers(found), numbers(run(grid)))


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("panelist.power.engines.dask._CONNECT_SECONDS", 1)
    with pytest.raises(PanelistError, match="No Dask scheduler answers at tcp://127"):
        open_engine("tcp://127.0.0.1:9")
