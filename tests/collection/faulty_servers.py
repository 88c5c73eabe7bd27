"""Servers that are killed while simulated raters work, and the proof that nothing was lost or doubled.

The tests of faults use them, and ``python -m bench faults`` at full size.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx
import pandas as pd

from panelist.collection.robots.browser import read_address
from panelist.collection.robots.fleet import Fleet, visit
from panelist.collection.robots.record import Record
from panelist.collection.store.store import open_store
from panelist.study.study import Study
from tests.collection.store.studies import write_study
from tests.patience import PATIENCE

STUDY = """\
title: A study that is not left in peace
criteria:
  - name: fluency
    question: How fluent is it?
    scale: {{type: likert, points: 5}}
  - name: ease
    question: How easy is it?
    scale: {{type: vas, low: hard, high: easy}}
design: {{type: lists, trials_per_rater: {pages}}}
raters: {{count: {raters}}}
information: {{text: Please rate., consent: [I take part.]}}
background:
  - {{name: age, question: "How old are you?", type: number}}
instructions: Read, then rate.
practice:
  items: [{{output: "A text.", right: {{fluency: ["4", "5"]}}, why: "It is one."}}]
checks:
  items:
    - {{kind: instructed, text: Choose 2 and any place., answers: {{fluency: "2"}}}}
breaks: {{every: 5}}
closing: {{comments: "Anything else?"}}
"""
# The server ends when the tests do, however they end.
SERVE = """
import os, threading, time
def follow(parent):
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
threading.Thread(target=follow, args=(os.getppid(),), daemon=True).start()
import typer
from panelist.cli.serve import serve
typer.run(serve)
"""


def write_faulty_study(folder: Path, raters: int, pages: int) -> Study:
    """Return a study with every step before the first rating, for so many raters."""
    return write_study(folder, STUDY.format(raters=raters, pages=pages), n_items=24, systems="abc")


class KeptServer:
    """``panelist serve`` on one port, which can be killed and started again."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.command = [sys.executable, "-c", SERVE, str(folder), "--port", str(self.port), *arguments]
        self.command += ["--join-limit", "0"]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "log.txt"
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, start_new_session=True)
        until = time.monotonic() + 4 * PATIENCE
        while time.monotonic() < until:
            assert self.process.poll() is None, self.log.read_text()
            try:
                if httpx.get(f"{self.url}/health", timeout=PATIENCE).status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.05)
        self.kill()
        raise AssertionError(f"it does not answer: {self.log.read_text()}")

    def kill(self) -> None:
        """Kill it with all its processes, in the middle of whatever they do."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)

    def restart(self) -> None:
        """Kill it and start it again."""
        self.kill()
        self.start()

    def kill_one(self) -> None:
        """Kill one of its serving processes; the others go on."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        workers = [int(child) for child in children if "spawn_main" in read_command(int(child))]
        os.kill(workers[0], signal.SIGKILL)


def read_command(process: int) -> str:
    """Return the command line of a process; empty where it is gone."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


async def rate_through(
    study: Study, server: KeptServer, fleet: Fleet, faults: list[Callable[[], None]], up: tuple[float, float]
) -> Record:
    """Return what robots did while one fault after another struck the server, some time apart."""
    record = Record()
    robots = asyncio.create_task(visit(study, read_address(server.url), fleet, record=record))
    for number, strike in enumerate(faults):
        await asyncio.sleep(up[0] + (up[1] - up[0]) * number / len(faults))
        assert not robots.done(), "the robots were done before the faults were over"
        await asyncio.to_thread(strike)
    return await asyncio.wait_for(robots, 4 * PATIENCE)


def check_whole(
    study: Study, database: str | None, fleet: Fleet, record: Record, comparative: tuple[str, ...] = ()
) -> None:
    """Everything acknowledged is there once, and every cell of the plan is filled once.

    One answer to a ``comparative`` criterion fills the cells of all outputs of its page.
    """
    assert record.ends == {"finished": fleet.raters}, (record.ends, record.faults)
    assert set(record.faults) <= {503}, record.faults
    assert (record.refused, record.unknown) == ([], 0)
    with open_store(database, study, create=False) as store:
        plan, snapshot = store.plan(), store.snapshot()
    visits = snapshot.visits.set_index("id")
    assert visits["state"].tolist() == ["finished"] * fleet.raters
    answers = snapshot.answers.assign(
        token=visits["token"].loc[snapshot.answers["visit"]].to_numpy(),
        place=visits["place"].loc[snapshot.answers["visit"]].to_numpy(),
    )
    assert not answers["late"].any()
    stored = Counter(
        (token, f"{occasion}-{page}", name, value, key)
        for token, occasion, page, name, value, key in answers[
            ["token", "occasion", "page", "name", "value", "key"]
        ].itertuples(index=False)
    )
    assert {receipt for receipt in record.receipts if stored[receipt] != 1} == set()
    assert len(stored) == record.answers
    columns = ["occasion", "page", "item", "system", "criterion", "position"]
    filled = Counter(answers[["place", *columns]].itertuples(index=False, name=None))
    table = plan.table.rename(columns={"order": "page"})[["rater", *columns]]
    table = table.astype(dict.fromkeys(("rater", "item", "system", "criterion"), str))
    together = table["criterion"].isin(comparative)
    first = table[together & (table["position"] == 1)].assign(system="", position=0)
    wanted = Counter(pd.concat([table[~together], first]).itertuples(index=False, name=None))
    assert filled == wanted
