"""How far a simulation is, on stderr: a bar in a terminal, a line now and then in a log.

Something is said within two seconds, and within ten how long it will take, even while the first data sets are
still being fitted: the lines come from a timer of their own.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from panelist.core.progress import OnProgress, Progress

FIRST_WORDS = ("Preparing the simulation", "Simulating:")
MOMENTS = (1.2, 8.0, 20.0, 45.0)  # seconds after the start at which a log gets a line
EVERY = 60.0  # seconds from line to line after these


@contextmanager
def show_power_progress() -> "Iterator[OnProgress]":
    """Give a function that shows data sets done, the time that is left and the power so far."""
    from rich.console import Console

    console = Console(stderr=True)
    with _draw_bar(console) if console.is_terminal else _write_lines() as report:
        yield report


@contextmanager
def _draw_bar(console: object) -> "Iterator[OnProgress]":
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    shown = (BarColumn(bar_width=20), MofNCompleteColumn(), TextColumn("{task.description}"))
    clock = _Clock()
    with Bar(*shown, console=console, transient=True) as bar:  # type: ignore[arg-type]
        task = bar.add_task("preparing …")

        def draw() -> None:
            now = clock.latest
            if now is not None:
                said = " · ".join(part for part in (clock.say_left(), now.what) if part)
                bar.update(task, completed=now.done, total=now.total, description=said)

        with _ticking(lambda ticks: 1.0, draw):
            yield clock.take


@contextmanager
def _write_lines() -> "Iterator[OnProgress]":
    clock = _Clock()

    def write() -> None:
        print(clock.say(), file=sys.stderr, flush=True)

    def wait(ticks: int) -> float:
        """Return the seconds until the next line."""
        if ticks >= len(MOMENTS):
            return EVERY
        return MOMENTS[ticks] - (MOMENTS[ticks - 1] if ticks else 0.0)

    with _ticking(wait, write):
        yield clock.take


@contextmanager
def _ticking(wait: Callable[[int], float], act: Callable[[], None]) -> Iterator[None]:
    """Act repeatedly while the work runs; ``wait`` gives the seconds before the next time."""
    ended = threading.Event()

    def run() -> None:
        ticks = 0
        while not ended.wait(wait(ticks)):
            act()
            ticks += 1

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class _Clock:
    """The latest progress, and the time left that follows from it."""

    def __init__(self) -> None:
        self._start = self._begun = time.monotonic()
        self.latest: Progress | None = None

    def take(self, progress: "Progress") -> None:
        """Record the progress; the time left is measured from the first record, when everything is loaded."""
        if self.latest is None:
            self._begun = time.monotonic()
        self.latest = progress

    def say(self) -> str:
        """Return a line: data sets done, time left, the power so far."""
        now, passed = self.latest, time.monotonic() - self._start
        if now is None:
            return f"{FIRST_WORDS[0]} ({say_time(passed)} so far) …"
        most = "at most " if now.at_most else ""
        said = f"{FIRST_WORDS[1]} {now.done:,} of {most}{now.total:,} data sets after {say_time(passed)}"
        return "; ".join(part for part in (said, self.say_left(), now.what) if part)

    def say_left(self) -> str:
        """Return how long it will still take, as far as can be known."""
        now = self.latest
        return "" if now is None else say_left(now, time.monotonic() - self._begun)


def say_left(now: "Progress", passed: float) -> str:
    """Return how long it will still take, given the seconds so far; a lower bound while data sets are in
    work.

    >>> from panelist.core.progress import Progress
    >>> say_left(Progress(100, 400, ""), 60.0), say_left(Progress(0, 400, "", in_work=8), 10.0)
    ('about 3 min left', 'more than 8 min left')
    """
    if now.done:
        word = "at most" if now.at_most else "about"
        return f"{word} {say_time(passed * (now.total - now.done) / now.done)} left"
    least = passed * (now.total / now.in_work - 1) if now.in_work else 0.0
    if least >= 1.0 and passed >= 2.0:  # where all of it is in work, nothing is known
        return f"more than {say_time(least)} left"
    return ""


def say_time(seconds: float) -> str:
    """Return a time in the unit that suits it.

    >>> say_time(4.2), say_time(130), say_time(7300)
    ('4 s', '2 min', '2.0 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
