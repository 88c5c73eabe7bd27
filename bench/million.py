"""A million ratings: 10,000 items, 5,000 raters, intercepts only; each fit in a process of its own."""

import json
import os
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

from bench.clock import n_cores, on_cores
from bench.report import Options, Section, say, word
from bench.simulate import INTERCEPTS, MILLION, Size, simulate
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Table

ROOT = Path(__file__).resolve().parents[1]
TARGETS = {"lmm": 120.0, "clmm": 600.0}  # seconds
GIGABYTES = 4.0
CORES = 2


@dataclass(frozen=True)
class Row:
    """One fit: seconds to read the table, seconds to fit, the most memory the process ever held."""

    model: str
    n_rows: int
    read_seconds: float
    fit_seconds: float
    peak_gigabytes: float
    converged: bool
    loglik: float

    @property
    def verdict(self) -> str:
        """Whether time and memory are within the targets, reading included."""
        if not self.converged:
            return "not met: not converged"
        seconds = self.read_seconds + self.fit_seconds
        return word(seconds <= TARGETS[self.model] and self.peak_gigabytes <= GIGABYTES)


@dataclass(frozen=True)
class Million(Section):
    """A linear and an ordinal fit of a million ratings."""

    rows: tuple[Row, ...]
    cores: int

    def title(self) -> str:
        """Return the heading."""
        return f"A million ratings: {INTERCEPTS}"

    def parts(self) -> list[Part]:
        """Return the table."""
        header = ("model", "ratings", "reading, s", "fit, s", "memory, GB", "target", "verdict")
        rows = [
            (
                row.model,
                row.n_rows,
                row.read_seconds,
                row.fit_seconds,
                row.peak_gigabytes,
                f"{TARGETS[row.model]:.0f} s, {GIGABYTES:.0f} GB",
                row.verdict,
            )
            for row in self.rows
        ]
        formats = {name: decimals(1) for name in ("reading, s", "fit, s", "memory, GB")} | {"model": TEXT}
        note = (
            f"On {self.cores} core{'s' * (self.cores > 1)}. Reading takes a pandas frame to a ratings table; "
            "memory is the most that the process ever held, Python and the frame included."
        )
        return [Table("A million ratings, intercepts only", header, rows, formats, note)]


def measure(options: Options) -> Million:
    """Return the time and the memory of both models."""
    cores = min(CORES, n_cores())
    # Large dense blocks may use as many BLAS threads as there are cores, whatever make says.
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    rows = []
    for model in TARGETS:
        say(f"  {model}: {MILLION.n_rows:,} ratings")
        with on_cores(cores):
            done = subprocess.run(
                [sys.executable, "-m", "bench.million", model],
                env=environment,
                cwd=ROOT,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
        rows.append(Row(**json.loads(done.stdout)))
    return Million(tuple(rows), cores)


def measure_here(model: str, size: Size = MILLION) -> Row:
    """Return the row of one model, measured in this process; its memory is what the process ever held."""
    from panelist.core.tables.ratings import read_ratings
    from panelist.models.fit import fit
    from panelist.numerics.compile_ahead import prepare

    prepare("ordinal", "errors", "linear", "clm")  # compiling is the business of another section
    frame = simulate(size, 1, slopes=False)
    start = perf_counter()
    ratings = read_ratings(frame)
    del frame
    read = perf_counter()
    fitted = fit(INTERCEPTS, ratings, model=model, method="ML")
    _ = fitted.coefficients
    end = perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Row(model, fitted.n, read - start, end - read, peak / 2**30, fitted.converged, fitted.loglik)


if __name__ == "__main__":
    print(json.dumps(asdict(measure_here(sys.argv[1]))))
