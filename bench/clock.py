"""How long a call takes, and on how many cores."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Timing:
    """The seconds of several runs of one thing."""

    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The shortest run: what the thing itself takes, when nothing else gets in its way."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The middle run: what a user meets."""
        return median(self.seconds)


def time_call(
    call: Callable[[], T], seconds: float = 1.0, at_least: int = 3, at_most: int = 25
) -> tuple[Timing, T]:
    """Return the times of calling again and again for about so many seconds, and what the last call gave."""
    runs: list[float] = []
    while True:
        start = perf_counter()
        value = call()
        runs.append(perf_counter() - start)
        if len(runs) >= at_most or (len(runs) >= at_least and sum(runs) >= seconds):
            return Timing(tuple(runs)), value


def n_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def on_cores(n: int) -> Iterator[None]:
    """Hold this thread, and the processes it starts meanwhile, to ``n`` cores, where the system allows it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:n])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
