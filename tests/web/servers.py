"""Servers for tests: one in a thread of the test itself, or the command in a separate process."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from panelist.collection.store.store import Store, open_store
from panelist.design.make import plan_study
from panelist.study.reading.load import load_study
from panelist.study.start import init_study
from panelist.study.study import Study
from panelist.web.app import Application, make_app
from panelist.web.config import WebConfig
from panelist.web.connections import HttpConnection
from panelist.web.dashboard.passwords import hash_password
from panelist.web.server import take_port
from tests.patience import PATIENCE

PASSWORD = "correct-horse-battery"
COMMAND = [sys.executable, "-c", "from panelist.cli.main import main; main()"]


@dataclass(frozen=True)
class Served:
    """A study on a loopback port, and its store seen from the side."""

    study: Study
    store: Store
    url: str
    app: Application

    def client(self, **settings: Any) -> httpx.Client:
        """Return a client that does not follow redirects."""
        return httpx.Client(base_url=self.url, timeout=PATIENCE, **settings)


@contextmanager
def serve_in_thread(folder: Path, database: str | None = None, **settings: Any) -> Iterator[Served]:
    """Serve the study in a folder from a thread; the plan is made if the database has none."""
    study = load_study(folder)
    with open_store(database, study, plan_study(study)) as store:
        bound = take_port("127.0.0.1", 0)
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        config = WebConfig(
            study=folder / "study.yaml",
            database=database,
            password=hash_password(PASSWORD),
            **{"url": url, **settings},
        )
        app = make_app(config)
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                http=HttpConnection,
                lifespan="on",
                log_level="critical",
                access_log=False,
                server_header=False,
            )
        )
        thread = threading.Thread(target=server.run, args=([bound],))
        thread.start()
        try:
            _wait(lambda: server.started or not thread.is_alive())
            assert server.started
            yield Served(study, store, url, app)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            bound.close()


def make_study(folder: Path, template: str = "likert", **changes: str) -> Path:
    """Return the folder of a new study; ``changes`` replaces lines of its file, by how they begin."""
    init_study(folder, template)
    path = folder / "study.yaml"
    text = path.read_text(encoding="utf-8")
    for start, line in changes.items():
        text, count = re.subn(rf"(?m)^(\s*){re.escape(start)}:.*$", rf"\g<1>{line}", text, count=1)
        assert count == 1, start
    path.write_text(text, encoding="utf-8")
    return folder


@dataclass
class Command:
    """``panelist serve`` in a process of its own."""

    process: "subprocess.Popen[str]"
    url: str
    said: str

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal; return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def serve_command(folder: Path, *arguments: str, **environment: str) -> Iterator[Command]:
    """Run ``panelist serve`` until it answers."""
    process = subprocess.Popen(
        [*COMMAND, "serve", str(folder), *(("--port", "0") if "--port" not in arguments else ()), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        said = ""
        assert process.stdout is not None
        while "Ctrl+C" not in said:
            line = process.stdout.readline()
            assert line, f"it ended: {said} {process.stderr.read() if process.stderr else ''}"
            said += line
        found = re.search(r"for raters\s+(http\S+)/join", said)
        assert found, said
        yield Command(process, found[1], said)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _wait(ready: Any, seconds: float = PATIENCE) -> None:
    until = time.monotonic() + seconds
    while not ready() and time.monotonic() < until:
        time.sleep(0.02)
