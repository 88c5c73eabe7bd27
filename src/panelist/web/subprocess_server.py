"""A server in a subprocess: it runs while the program that started it works, and ends with it."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from urllib.request import urlopen

from panelist.collection.robots.browser import BadServer
from panelist.web.server import END_SECONDS, Ready, ServeOptions, prepare, run


@dataclass(frozen=True)
class Beside:
    """A running server: what it was started with, its process, and how to wait for its end."""

    ready: Ready
    process: int
    wait: Callable[[], None]


@contextmanager
def serve_beside(options: ServeOptions) -> Iterator[Beside]:
    """Yield a server in a separate process; it has ended when the block has, however the block ended."""
    ready = prepare(options)
    # It also ends on its own if this process is killed.
    ready = replace(ready, config=replace(ready.config, parent=os.getpid()))
    child = multiprocessing.get_context("spawn").Process(target=run, args=(ready,), daemon=True)
    try:
        _start_deaf(child)
        ready.bound.close()  # the child has its own, and answers connections made since
        assert child.pid is not None
        _await_answer(child, ready.config.url)
        yield Beside(ready, child.pid, child.join)
    finally:
        ready.bound.close()
        _end(child)


def _await_answer(child: BaseProcess, url: str) -> None:
    """Return once the server answers; raise BadServer where its process has ended instead."""
    while child.is_alive():
        try:
            with urlopen(f"{url}/health", timeout=5):
                return
        except OSError:
            child.join(0.1)
    raise BadServer(
        f"The server ended before it answered (exit code {child.exitcode}); what it said is above. "
        "panelist serve STUDY --traceback shows where."
    )


def _start_deaf(child: BaseProcess) -> None:
    """Start a process that Ctrl+C, which goes to both, does not end in the middle of its imports."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        child.start()
    finally:
        signal.signal(signal.SIGINT, before)


def _end(child: BaseProcess) -> None:
    if child.pid is None:
        return
    child.terminate()
    child.join(END_SECONDS)
    if child.is_alive():
        child.kill()
        child.join()
