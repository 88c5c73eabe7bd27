"""From the command line: help, the first fit with nothing compiled, and a fit from a filled cache."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.clock import Timing, n_cores, on_cores, time_call
from bench.report import Options, Section, say, word
from bench.simulate import MAXIMAL, simulate
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Sentence, Table
from panelist.core.prose import count

HELP_SECONDS, FIRST_SECONDS, LATER_SECONDS = 0.4, 40.0, 1.0
FIRST_ON_TWO = 25.0  # seconds, on two cores or more


@dataclass(frozen=True)
class Row:
    """One command, its times, and the median that is wanted."""

    what: str
    timing: Timing
    target: float


@dataclass(frozen=True)
class Start(Section):
    """What a user waits for in a terminal."""

    rows: tuple[Row, ...]
    said: tuple[str, ...]  # on stderr by the first fits

    def title(self) -> str:
        """Return the heading."""
        return "Starting, Python included"

    def parts(self) -> list[Part]:
        """Return the table, and what the first fit told the user."""
        header = ("command", "best, s", "median, s", "runs", "target, s", "verdict")
        rows = [
            (
                row.what,
                row.timing.best,
                row.timing.median,
                len(row.timing.seconds),
                row.target,
                word(row.timing.median <= row.target),
            )
            for row in self.rows
        ]
        formats = {
            "command": TEXT,
            "best, s": decimals(2),
            "median, s": decimals(2),
            "target, s": decimals(1),
        }
        lines = "; ".join(f"“{line}”" for line in dict.fromkeys(self.said)) or "nothing"
        return [
            Table("Starting, Python included", header, rows, formats, "The target is for the median."),
            Sentence(f"While it compiles, the first fit says: {lines}"),
        ]


def measure(options: Options) -> Start:
    """Return the times of the commands, each in a fresh process."""
    size = options.sizes[0]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ratings.csv"
        simulate(size, options.seeds[0]).to_csv(file, index=False)
        rows = [Row("panelist --help", time_call(lambda: run(["--help"]), 3.0, at_least=7)[0], HELP_SECONDS)]
        command = ["fit", str(file), "--formula", "rating ~ system", "--model", "lm"]
        run(command, str(Path(folder) / "cache-lm"))  # Python keeps its byte code, as an installation does
        said: list[str] = []
        later = []
        for model in ("clmm", "lmm"):
            say(f"  the first {model} fit, with nothing compiled")
            command = ["fit", str(file), "--formula", MAXIMAL, "--model", model]
            for cores, target in ((1, FIRST_SECONDS), (n_cores(), FIRST_ON_TWO))[: n_cores()]:
                call = partial(run, command, str(Path(folder) / f"cache-{model}-{cores}"))
                with on_cores(cores):
                    timing, stderr = time_call(call, at_most=1)
                what = f"first fit, {model}, {count(cores, 'core')}, nothing compiled"
                rows.append(Row(what, timing, target))
                said += stderr.splitlines()
            timing, stderr = time_call(call, 3.0, at_least=7)
            if stderr:
                raise RuntimeError(f"a fit from a filled cache should say nothing, and said: {stderr}")
            what = f"panelist fit, {model}, {size.n_rows} ratings, cache filled, {n_cores()} cores"
            later.append(Row(what, timing, LATER_SECONDS))
    return Start((*rows, *later), tuple(said))


def run(arguments: Sequence[str], cache: str | None = None) -> str:
    """Run ``panelist`` in a process of its own, numba's cache in the folder ``cache``; return its stderr."""
    script = Path(sys.executable).with_name("panelist")
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run([script, *arguments], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"panelist {' '.join(arguments)} failed: {done.stderr.strip()}")
    return done.stderr.strip()
