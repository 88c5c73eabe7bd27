"""Judges beside people on a large table: 100,000 outputs, ten judges, three raters; worth and correction."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd

from bench.clock import n_cores
from bench.report import Options, Section, word
from bench.simulate import SIZES
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Table

PAGE = Path(__file__).resolve().parents[1] / "docs" / "judges.md"
TARGET = 30.0  # seconds on two cores, both together
N_ITEMS, N_SYSTEMS, N_JUDGES, N_RATERS = 20_000, 5, 10, 3


@dataclass(frozen=True)
class JudgeRow:
    """One task: its seconds on the clock and of the processors."""

    task: str
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class Judges(Section):
    """Worth and correction of one large table."""

    rows: tuple[JudgeRow, ...]
    cores: int
    n_outputs: int
    n_judges: int
    n_raters: int

    def title(self) -> str:
        """Return the heading."""
        return "Judges beside people"

    def parts(self) -> list[Part]:
        """Return the table and whether the target was met."""
        total, cpu = sum(row.seconds for row in self.rows), sum(row.cpu_seconds for row in self.rows)
        size = f"{self.n_outputs:,} outputs × {self.n_judges} judges × {self.n_raters} raters"
        rows = [(row.task, row.seconds, row.cpu_seconds) for row in self.rows]
        rows.append(("both", total, cpu))
        met = word(total <= TARGET)
        note = f"Target: both within {TARGET:g} s on two cores: {met}; {self.cores} cores here."
        header = ("task", "seconds", "CPU seconds")
        form = {"task": TEXT, "seconds": decimals(1), "CPU seconds": decimals(1)}
        return [Table(size, header, rows, form, note=note)]


def simulate(n_items: int, n_judges: int, seed: int = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return ratings of every output by all raters, and the scores of all judges."""
    rng = np.random.default_rng(seed)
    S, R = N_SYSTEMS, N_RATERS
    truth = rng.normal(0, 0.5, (n_items, 1)) + rng.normal(0, 0.6, (n_items, S)) + np.linspace(0, 0.4, S)
    item, system, rater = (
        grid.ravel() for grid in np.meshgrid(np.arange(n_items), np.arange(S), np.arange(R), indexing="ij")
    )
    latent = truth[item, system] + rng.normal(0, 0.4, R)[rater] + rng.normal(0, 1, len(item))
    names = np.array([f"i{k:05}" for k in range(n_items)], dtype=object)
    systems, raters = np.array(list("ABCDE"), dtype=object), np.array(["r1", "r2", "r3"], dtype=object)
    rating = np.clip(np.round(3 + latent), 1, 5)
    ratings = pd.DataFrame(
        {"rater": raters[rater], "item": names[item], "system": systems[system], "rating": rating}
    )
    output = pd.DataFrame({"item": np.repeat(names, S), "system": np.tile(systems, n_items)})
    parts = [
        output.assign(
            judge=f"judge {k:02}",
            rating=np.clip(3 + truth + rng.normal(0, 0.3 + 0.2 * k, truth.shape), 1, 5).ravel(),
        )
        for k in range(n_judges)
    ]
    return ratings, pd.concat(parts, ignore_index=True)


def measure(options: Options) -> Judges:
    """Return the times of worth and correction; small tables first, so that nothing is compiled in them."""
    from panelist.judges.compare import compare_systems
    from panelist.judges.worth.measure import measure_judges

    most = options.sizes[-1].n_rows
    n_items = N_ITEMS if most == SIZES[-1].n_rows else max(most // (N_SYSTEMS * N_RATERS), 30)
    small = simulate(30, 2)
    tasks: dict[str, Callable[[pd.DataFrame, pd.DataFrame], object]] = {
        "worth": measure_judges,
        "correction": lambda ratings, judges: compare_systems(ratings, judge=judges),
    }
    for task in tasks.values():
        task(*small)
    ratings, judges = simulate(n_items, N_JUDGES)
    rows = []
    for name, task in tasks.items():
        start, cpu = perf_counter(), process_time()
        task(ratings, judges)
        rows.append(JudgeRow(name, perf_counter() - start, process_time() - cpu))
    return Judges(tuple(rows), n_cores(), n_items * N_SYSTEMS, N_JUDGES, N_RATERS)
