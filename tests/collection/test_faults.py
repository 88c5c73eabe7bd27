"""The server killed, or its database stopped, while raters work: nothing is lost, nothing is doubled."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from panelist.collection.robots.fleet import Fleet
from panelist.collection.robots.robot import Habits
from panelist.study.study import Study
from tests.collection.faulty_servers import KeptServer, check_whole, rate_through, write_faulty_study
from tests.collection.store.postgres import Server, make_database

pytestmark = pytest.mark.skipif(os.name != "posix", reason="SIGKILL is a signal of POSIX systems")

Start = Callable[..., tuple[Study, KeptServer]]
UP_SECONDS = (0.4, 1.2)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Start]:
    """Start the server of a study with so many raters and pages."""
    running: list[KeptServer] = []

    def start(raters: int, pages: int, *arguments: str) -> tuple[Study, KeptServer]:
        folder = tmp_path / "study"
        study = write_faulty_study(folder, raters, pages)
        running.append(KeptServer(folder, *arguments))
        return study, running[0]

    yield start
    for server in running:
        server.kill()


def test_ten_kills_cost_fifty_raters_nothing(serve: Start) -> None:
    study, server = serve(50, 20)
    fleet = Fleet(raters=50, habits=Habits(think=(0.5, 1.5), twice=0.1))
    record = asyncio.run(rate_through(study, server, fleet, [server.restart] * 10, UP_SECONDS))
    assert record.retries > 100
    check_whole(study, None, fleet, record)


def test_killed_workers_and_servers_on_postgresql_cost_nothing(serve: Start, postgres: str) -> None:
    study, server = serve(20, 16, "--workers", "4", "--db", postgres)
    fleet = Fleet(raters=20, habits=Habits(think=(0.5, 1.5), twice=0.1))
    faults = [server.restart, server.kill_one, server.restart, server.kill_one]
    record = asyncio.run(rate_through(study, server, fleet, faults, (1.0, 2.0)))
    assert record.retries > 10
    check_whole(study, postgres, fleet, record)


def test_ten_seconds_without_the_database_cost_nothing(serve: Start, postgres_server: Server) -> None:
    database = make_database(postgres_server.url())
    study, server = serve(20, 12, "--workers", "2", "--db", database)
    fleet = Fleet(raters=20, habits=Habits(think=(0.5, 1.0), twice=0.1))

    def strike() -> None:
        postgres_server.stop()
        time.sleep(10)
        postgres_server.start()

    record = asyncio.run(rate_through(study, server, fleet, [strike], (2.0, 2.0)))
    check_whole(study, database, fleet, record)
    assert server.process is not None
    assert server.process.poll() is None
