"""Many data sets of one design: how many a second, each fitted by both mixed models."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from bench.clock import n_cores
from bench.report import Options, Section, say, word
from bench.simulate import CUTS, EFFECT, ITEM_SPREAD, MAXIMAL, RATER_SPREAD, Size, simulate
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Table
from panelist.core.seeds import stream
from panelist.core.tables.ratings import read_ratings
from panelist.models.batch import fit_batch, prepare_batch
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import build_design

MODELS = ("clmm", "lmm")
OUTPUTS_A_RATER = 25
ROUNDS = 3
MOST_ROWS = 3000
TARGET = 500.0  # data sets a second at 300 ratings, on two cores


@dataclass(frozen=True)
class Row:
    """One design in so many threads: milliseconds a data set by either model."""

    size: Size
    threads: int
    sets: int
    clmm: float
    lmm: float
    singular: float  # share of the ordinal fits
    failed: int  # of the fits of both models

    @property
    def per_second(self) -> float:
        """Data sets a second, each fitted by both models."""
        return 1e3 / (self.clmm + self.lmm)

    @property
    def verdict(self) -> str:
        """Whether the target is met; it is for 300 ratings and two cores."""
        if self.size.n_rows > 300 or self.threads != 2:
            return ""
        return word(self.per_second >= TARGET and not self.failed)


@dataclass(frozen=True)
class Batches(Section):
    """Throughput of batches."""

    rows: tuple[Row, ...]

    def title(self) -> str:
        """Return the heading."""
        return f"Many data sets of one design, {n_cores()} cores"

    def parts(self) -> list[Part]:
        """Return the table."""
        times = ("clmm, ms a set", "lmm, ms a set", "sets a second, both")
        header = ("ratings", "threads", "sets", *times, "singular", "failed", "target", "verdict")
        rows = [
            (
                row.size.n_rows,
                row.threads,
                row.sets,
                row.clmm,
                row.lmm,
                row.per_second,
                f"{100 * row.singular:.0f} %",
                row.failed,
                f"{TARGET:.0f} a second" if row.verdict else "",
                row.verdict,
            )
            for row in self.rows
        ]
        formats = dict(zip(times, map(decimals, (2, 2, 0)), strict=True)) | {"verdict": TEXT}
        note = (
            f"panelist.models.batch, maximal model, probit and REML; raters see {OUTPUTS_A_RATER} outputs. "
            f"Best of {ROUNDS} rounds; the preparation of the design is not counted, a few milliseconds."
        )
        return [Table("Many data sets of one design", header, rows, formats, note)]


def measure(options: Options) -> Batches:
    """Return the throughput at every size up to 3,000 ratings, in one thread and in one for each core."""
    rows = []
    for size in options.sizes:
        if size.n_rows <= MOST_ROWS:
            sets = max(20, 120_000 // size.n_rows)
            for threads in dict.fromkeys((1, n_cores())):
                rows.append(measure_design(size, threads, sets))
    return Batches(tuple(rows))


def measure_design(size: Size, threads: int, sets: int) -> Row:
    """Return the times of ``sets`` simulated data sets of one size."""
    size = Size(size.items, size.ratings, OUTPUTS_A_RATER)
    frame, codes = simulate_sets(size, sets)
    best, singular, failed = {}, 0.0, 0
    for model in MODELS:
        ordinal = model == "clmm"
        design = build_design(parse_formula(MAXIMAL), read_ratings(frame), ordinal=ordinal)
        batch = prepare_batch(design, model)
        fit_batch(batch, codes[:1])  # compiles, where that has not been done
        seconds = []
        for _ in range(ROUNDS):
            start = perf_counter()
            fits = fit_batch(batch, codes, threads)
            seconds.append(perf_counter() - start)
        best[model] = 1e3 * min(seconds) / sets
        failed += int((fits.failed != 0).sum())
        singular = float(fits.singular.mean()) if ordinal else singular
    row = Row(size, threads, sets, best["clmm"], best["lmm"], singular, failed)
    say(f"  {size.n_rows} ratings, {threads} threads: {row.per_second:.0f} data sets a second")
    return row


def simulate_sets(size: Size, sets: int) -> tuple[Any, Any]:
    """Return the table of the first data set, and the codes (sets, rows) of all in its order of rows."""
    first = simulate(size, 1)
    rater, item = (first[name].astype("category").cat.codes.to_numpy() for name in ("rater", "item"))
    slope = (first["system"] == "b").to_numpy().astype(float)
    rng = stream(1, "bench", "batch", size.items, size.ratings)
    latent = rng.normal(size=(sets, len(first))) + EFFECT * slope
    for index, (intercept, tilt) in ((item, ITEM_SPREAD), (rater, RATER_SPREAD)):
        count = int(index.max()) + 1
        latent += rng.normal(0.0, intercept, (sets, count))[:, index]
        latent += rng.normal(0.0, tilt, (sets, count))[:, index] * slope
    return first, np.searchsorted(CUTS, latent)
