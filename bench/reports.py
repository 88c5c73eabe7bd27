"""Comparisons and reports of large tables, and what a fit costs beside its search."""

import resource
import subprocess
import sys
import tempfile
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
import polars

from bench.report import Options, Section, say, word
from bench.simulate import MAXIMAL, SIZES, simulate
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Table
from panelist.core.prose import count
from panelist.core.seeds import stream
from panelist.core.tables.ratings import read_ratings
from panelist.models.fit import fit

MOST_SECONDS = 30.0
MOST_READING = 0.001
CUTS = (-1.2, -0.3, 0.5, 1.4)


@dataclass(frozen=True)
class Big:
    """A large table: every output is rated by so many raters, drawn from the pool for each one anew."""

    systems: int
    items: int
    ratings: int
    pool: int
    criteria: int

    def say(self) -> str:
        """Return the table in words."""
        n = self.systems * self.items * self.ratings * self.criteria
        return (
            f"{n:,} ratings: {self.systems} systems, {self.items} items, {self.ratings} of {self.pool} "
            f"raters, {count(self.criteria, 'criterion', 'criteria')}"
        )


TABLES = (Big(16, 100, 3, 3, 4), Big(16, 100, 3, 150, 4), Big(14, 400, 5, 30, 1), Big(14, 400, 5, 300, 1))


@dataclass(frozen=True)
class Row:
    """One command on one table: seconds on the clock and of all processors."""

    table: str
    command: str
    wall: float
    cpu: float


@dataclass(frozen=True)
class Reading:
    """Seconds for a frame of so many ratings: read for the first time, read again, and a whole fit."""

    n: int
    first: float
    again: float
    fit_frame: float
    fit_read: float


@dataclass(frozen=True)
class Reports(Section):
    """What is waited for with large tables, and with small ones."""

    rows: tuple[Row, ...]
    reading: Reading

    def title(self) -> str:
        """Return the heading."""
        return "Large tables, and reading small ones"

    def parts(self) -> list[Part]:
        """Return both tables."""
        header = ("ratings", "command", "seconds", "processor seconds", "target, s", "verdict")
        rows = [
            (row.table, row.command, row.wall, row.cpu, MOST_SECONDS, word(row.wall <= MOST_SECONDS))
            for row in self.rows
        ]
        formats = {name: decimals(1) for name in header[2:5]} | {"ratings": TEXT, "command": TEXT}
        one = self.reading
        times = (
            ("reading a new frame, names of the kind that takes longest", one.first, MOST_READING),
            ("reading it again", one.again, MOST_READING),
            ("a fit to the frame, less one to the ratings read", one.fit_frame - one.fit_read, MOST_READING),
            ("a fit to the ratings read", one.fit_read, None),
        )
        small = [(what, 1e3 * seconds, None if most is None else 1e3 * most) for what, seconds, most in times]
        return [
            Table("Large tables, Python and files included", header, rows, formats),
            Table(
                f"A frame of {one.n} ratings, processor time, best of many",
                ("what", "ms", "target, ms"),
                small,
                {"what": TEXT, "ms": decimals(2), "target, ms": decimals(1)},
                "Kinds: str, object, string and category of pandas, String and Categorical of polars.",
            ),
        ]


def measure(options: Options) -> Reports:
    """Return the times of compare and report on every table, and of reading a frame."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for place, big in enumerate(TABLES if options.full else TABLES[1::2]):
            file = Path(folder) / f"{place}.csv"
            simulate_big(big, options.seeds[0]).to_csv(file, index=False)
            page = Path(folder) / f"{place}.html"
            for command in (["compare", str(file)], ["report", str(file), "-o", str(page)]):
                say(f"  {command[0]}, {big.say()}")
                rows.append(Row(big.say(), command[0], *run(command)))
    return Reports(tuple(rows), measure_reading())


def run(command: list[str]) -> tuple[float, float]:
    """Return the seconds of a command on the clock, and of all processors."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    script = Path(sys.executable).with_name("panelist")
    subprocess.run([str(script), *command], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return perf_counter() - start, cpu


def measure_reading(runs: int = 40) -> Reading:
    """Return what a frame of 600 ratings costs, a new one with names of the kind that takes longest."""
    frame = simulate(SIZES[1], 1)
    known = read_ratings(frame)
    columns = {str(name): frame[name].tolist() for name in frame}
    names = [name for name in columns if name != "rating"]
    kinds: list[Any] = [
        frame.astype(dict.fromkeys(names, kind)) for kind in ("str", "object", "string", "category")
    ]
    polar = polars.from_dict(columns)
    kinds += [polar, polar.with_columns(polars.col(names).cast(polars.Categorical))]

    def best(call: object) -> float:
        found = []
        for _ in range(runs + 1):
            start = process_time()
            call()  # type: ignore[operator]
            found.append(process_time() - start)
        return min(found)

    def read_new(kind: Any) -> float:
        copies = iter([copy(kind) for _ in range(runs + 1)])
        return best(lambda: read_ratings(next(copies)))

    return Reading(
        n=len(frame),
        first=max(read_new(kind) for kind in kinds),
        again=best(lambda: read_ratings(frame)),
        fit_frame=best(lambda: fit(MAXIMAL, frame, model="clmm")),
        fit_read=best(lambda: fit(MAXIMAL, known, model="clmm")),
    )


def simulate_big(big: Big, seed: int) -> pd.DataFrame:
    """Return the ratings of a large table, on five points."""
    tables = []
    for criterion in range(big.criteria):
        rng = stream(seed, "big", str(criterion))
        item, system = (
            grid.ravel() for grid in np.meshgrid(range(big.items), range(big.systems), indexing="ij")
        )
        raters = np.array([rng.choice(big.pool, big.ratings, replace=False) for _ in item]).ravel()
        item, system = np.repeat(item, big.ratings), np.repeat(system, big.ratings)
        latent = rng.normal(0.5, 0.5, big.systems)[system] + rng.normal(0.0, 0.7, len(item))
        latent += rng.normal(0.0, 0.8, big.pool)[raters] + rng.normal(0.0, 0.5, big.items)[item]
        latent += rng.normal(0.0, 0.25, (big.pool, big.systems))[raters, system]
        latent += rng.normal(0.0, 0.7, (big.items, big.systems))[item, system]
        tables.append(
            pd.DataFrame(
                {
                    "rater": [f"r{one:03d}" for one in raters],
                    "item": [f"i{one:03d}" for one in item],
                    "system": [f"system-{one:02d}" for one in system],
                    "criterion": f"criterion-{criterion + 1}",
                    "rating": np.searchsorted(CUTS, latent) + 1,
                }
            )
        )
    return pd.concat(tables, ignore_index=True)
