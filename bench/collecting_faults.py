"""Fifty raters while the server is killed ten times, or its database stops: is anything lost, or doubled?"""

import asyncio
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.report import Options, Section, say
from panelist.collection.robots.fleet import Fleet
from panelist.collection.robots.robot import Habits
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Table
from tests.collection.faulty_servers import KeptServer, check_whole, rate_through, write_faulty_study
from tests.collection.store.postgres import Server, find_programs, make_database

RATERS, PAGES, KILLS = 50, 20, 10
STOP_SECONDS = 10.0
HABITS = Habits(think=(0.5, 2.0), twice=0.1)


@dataclass(frozen=True)
class Ordeal:
    """One run through faults."""

    name: str
    raters: int
    faults: int
    answers: int
    """How many the server had acknowledged: all were there, once, and filled the plan."""
    retries: int
    seconds: float
    verdict: str


@dataclass(frozen=True)
class Ordeals(Section):
    """The runs through faults."""

    runs: tuple[Ordeal, ...]

    def title(self) -> str:
        """Return the heading."""
        return "Faults"

    def parts(self) -> list[Part]:
        """Return the table."""
        header = ("what", "raters", "faults", "answers acknowledged", "sent again", "seconds", "verdict")
        rows = [
            (run.name, run.raters, run.faults, run.answers, run.retries, run.seconds, run.verdict)
            for run in self.runs
        ]
        formats = {name: decimals(0) for name in header[1:6]} | {"what": TEXT, "verdict": TEXT}
        note = "Whole: every acknowledged answer is stored once, and every cell of the plan is filled once."
        return [Table("Simulated raters over HTTP while things break", header, rows, formats, note)]


def measure(options: Options) -> Ordeals:
    """Return the runs; those on PostgreSQL only where it is installed."""
    runs = [_try("server killed, SQLite", None, 1, KILLS)]
    programs = find_programs()
    if programs is None:
        say("  PostgreSQL is not installed: left out")
        return Ordeals(tuple(runs))
    server = Server(programs)
    try:
        runs.append(_try("server killed, 4 workers, PostgreSQL", make_database(server.url()), 4, KILLS))

        def stop() -> None:
            server.stop()
            time.sleep(STOP_SECONDS)
            server.start()

        name = f"PostgreSQL stopped for {STOP_SECONDS:.0f} s, 4 workers"
        runs.append(_try(name, make_database(server.url()), 4, 1, stop))
    finally:
        server.remove()
    return Ordeals(tuple(runs))


def _try(
    name: str, database: str | None, workers: int, count: int, fault: Callable[[], None] | None = None
) -> Ordeal:
    say(f"  {name} …")
    with tempfile.TemporaryDirectory(prefix="panelist-bench-") as folder:
        study = write_faulty_study(Path(folder) / "study", RATERS, PAGES)
        place = () if database is None else ("--db", database)
        server = KeptServer(study.folder, "--workers", str(workers), *place)
        fleet = Fleet(raters=RATERS, habits=HABITS)
        begun = time.perf_counter()
        try:
            faults = [fault or server.restart] * count
            record = asyncio.run(rate_through(study, server, fleet, faults, (0.5, 1.5)))
        finally:
            server.kill()
        seconds = time.perf_counter() - begun
        try:
            check_whole(study, database, fleet, record)
        except AssertionError as error:
            verdict = f"not whole: {str(error)[:200]}"
        else:
            verdict = "whole"
    return Ordeal(name, RATERS, count, record.answers, record.retries, seconds, verdict)
