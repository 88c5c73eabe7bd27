"""Fits in threads at once: how many times more of them a second than in one thread."""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter

from bench.clock import n_cores, time_call
from bench.designs import fit_whole, solve_only
from bench.report import Options, Section, say
from bench.simulate import Size, simulate
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Table
from panelist.core.tables.ratings import read_ratings

SECONDS = 1.0  # of work for one thread in each measurement
ROUNDS = 3


@dataclass(frozen=True)
class Row:
    """One design and model in so many threads: fits a second, whole calls and the solver alone."""

    size: Size
    model: str
    threads: int
    whole: float
    solver: float
    whole_gain: float  # times one thread's
    solver_gain: float
    same: bool  # whether every fit gave the answer that it gives alone


@dataclass(frozen=True)
class Threads(Section):
    """Throughput by the number of threads."""

    rows: tuple[Row, ...]

    def title(self) -> str:
        """Return the heading."""
        return f"Fits in threads at once, {n_cores()} cores"

    def parts(self) -> list[Part]:
        """Return the table."""
        times = ("fits a second", "times one thread", "solver alone, a second", "times one thread ")
        header = ("ratings", "model", "threads", *times, "same answers")
        rows = [
            (
                row.size.n_rows,
                row.model,
                row.threads,
                row.whole,
                row.whole_gain,
                row.solver,
                row.solver_gain,
                "yes" if row.same else "NO",
            )
            for row in self.rows
        ]
        formats = dict(zip(times, map(decimals, (1, 2, 1, 2)), strict=True)) | {"model": TEXT}
        note = (
            "The solvers release the GIL; reading the formula, building the matrices and the tables do not. "
            f"Best of {ROUNDS} rounds, maximal model."
        )
        return [Table("Fits in threads at once", header, rows, formats, note)]


def measure(options: Options) -> Threads:
    """Return the throughput at the smallest and at a middle design, in 1, 2, 4 … threads up to the cores."""
    sizes = dict.fromkeys((options.sizes[0], options.sizes[min(3, len(options.sizes) - 1)]))
    rows: list[Row] = []
    for size in sizes:
        for model in ("clmm", "lmm"):
            rows += measure_model(size, model, options.seeds[0], count_threads(n_cores()))
    return Threads(tuple(rows))


def measure_model(
    size: Size, model: str, seed: int, counts: tuple[int, ...], seconds: float = SECONDS
) -> list[Row]:
    """Return a row for each number of threads."""
    ratings = read_ratings(simulate(size, seed))
    fit_one = fit_whole(ratings, model)
    calls = (lambda: fit_one().loglik, solve_only(ratings, model))
    rows: list[Row] = []
    for threads in counts:
        (whole, same), (solver, also) = (throughput(call, threads, seconds) for call in calls)
        first = rows[0] if rows else None
        gains = (whole / first.whole, solver / first.solver) if first else (1.0, 1.0)
        rows.append(Row(size, model, threads, whole, solver, *gains, same and also))
        say(f"  {model}, {size.n_rows} ratings, {threads} threads: {whole:.1f} fits a second")
    return rows


def throughput(call: Callable[[], float], threads: int, seconds: float) -> tuple[float, bool]:
    """Return the calls a second in so many threads, and whether all gave what one call alone gives."""
    call()
    alone, expected = time_call(call, seconds / 10)
    count = threads * max(2, math.ceil(seconds / alone.best))
    best, same = math.inf, True
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(ROUNDS):
            start = perf_counter()
            answers = list(pool.map(lambda _: call(), range(count)))
            best = min(best, perf_counter() - start)
            same &= all(math.isclose(answer, expected, rel_tol=1e-12) for answer in answers)
    return count / best, same


def count_threads(cores: int) -> tuple[int, ...]:
    """Return the numbers of threads to try.

    >>> count_threads(2), count_threads(6)
    ((1, 2), (1, 2, 4, 6))
    """
    powers = [2**k for k in range(cores.bit_length()) if 2**k <= cores]
    return tuple(dict.fromkeys([*powers, cores]))
