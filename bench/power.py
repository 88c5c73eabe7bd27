"""Power: data sets a second, the time of the paper's whole grid, R's time, and the memory."""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from bench.clock import n_cores
from bench.report import Options, Section, say, word
from bench.rival_r import Answers, ask_r
from bench.simulate import Size
from panelist.analysis.spec import AnalysisSpec
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Sentence, Table
from panelist.core.seeds import stream
from panelist.power.cells import Cell
from panelist.power.chunks import Chunk, run_chunk
from panelist.power.curve import make_cells
from panelist.power.engines.base import LocalEngine
from panelist.power.layouts.base import Sampling
from panelist.power.paper import EFFECTS, ITEMS, MODELS, RATINGS, SIMS, simulate_paper
from panelist.power.responses import simulate_responses
from panelist.power.truth.base import Truth
from panelist.power.truth.spread import PRESETS

RATE_TARGET, GRID_TARGET, RATIO_TARGET, MEMORY_TARGET = 500.0, 30.0, 1000.0, 1.0
MIXED = ("clmm", "lmm")
SECONDS = 6.0  # of work in each measurement of a rate
R_ROWS = 600  # the largest design that R fits unless all is asked for
CELLS_A_LAYOUT = len(PRESETS) * len(EFFECTS)


@dataclass(frozen=True)
class Row:
    """One layout of the paper's grid, all cores at work: data sets a second, by the models fitted."""

    size: Size
    mixed: float  # both mixed models
    all_four: float
    r_seconds: float | None  # one core's, of both mixed models, one data set

    @property
    def minutes(self) -> float:
        """What the layout's 20 cells of 100 data sets take, all four models."""
        return CELLS_A_LAYOUT * SIMS / self.all_four / 60

    @property
    def r_hours(self) -> float | None:
        """What R would take for the same with as many cores, at the pace of one fit."""
        return None if self.r_seconds is None else CELLS_A_LAYOUT * SIMS * self.r_seconds / n_cores() / 3600


@dataclass(frozen=True)
class Power(Section):
    """How fast power studies are."""

    rows: tuple[Row, ...]
    grid_minutes: float | None  # of a run of the whole grid, where it was asked for
    memory: float  # GB, the most that a long run held
    r_note: str

    def title(self) -> str:
        """Return the heading."""
        return f"Power by simulation, {n_cores()} cores"

    def parts(self) -> list[Part]:
        """Return the layouts, and the verdicts."""
        columns = (
            "mixed models, sets a second",
            "four models, sets a second",
            "20 cells, min",
            "R, h",
            "R / panelist",
        )
        header = ("ratings", "items × ratings", *columns)
        rows = []
        for row in self.rows:
            ratio = None if row.r_seconds is None else row.r_seconds * row.mixed / n_cores()
            rows.append(
                (row.size.n_rows, row.size.label, row.mixed, row.all_four, row.minutes, row.r_hours, ratio)
            )
        formats = dict(zip(columns, map(decimals, (1, 1, 2, 1, 0)), strict=True)) | {"items × ratings": TEXT}
        table = Table("Data sets of each layout, simulated and analysed", header, rows, formats, self.r_note)
        return [table, *(Sentence(text) for text in self.find_verdicts())]

    def find_verdicts(self) -> list[str]:
        """Return each target with whether it is met."""
        rate = self.rows[0].mixed
        said = [
            f"{self.rows[0].size.n_rows} ratings, both mixed models: {rate:.0f} data sets a second, target "
            f"{RATE_TARGET:.0f}: {word(rate >= RATE_TARGET)}."
        ]
        whole = len(self.rows) == len(ITEMS) * len(RATINGS)
        minutes = (
            self.grid_minutes if self.grid_minutes is not None else sum(row.minutes for row in self.rows)
        )
        how = "run as a whole" if self.grid_minutes is not None else "by these rates"
        if whole or self.grid_minutes is not None:
            said.append(
                f"The paper's grid, {how}: {minutes:.0f} minutes, target {GRID_TARGET:.0f}: "
                f"{word(minutes <= GRID_TARGET)}."
            )
        ratios = [row.r_seconds * row.mixed / n_cores() for row in self.rows if row.r_seconds is not None]
        if ratios:
            said.append(
                f"R / panelist, one fit against the mean: {min(ratios):.0f} to {max(ratios):.0f}, target "
                f"{RATIO_TARGET:.0f}: {word(min(ratios) >= RATIO_TARGET)}."
            )
        said.append(
            f"Memory of a run with 3,000 data sets: {self.memory:.2f} GB at most, target "
            f"{MEMORY_TARGET:.0f} GB: {word(self.memory < MEMORY_TARGET)}."
        )
        return said


def measure(options: Options) -> Power:
    """Return the rates of each layout, the whole grid's time if everything is asked for, and the memory."""
    with tempfile.TemporaryDirectory() as folder:
        answers = _ask(options, Path(folder)) if options.use_r else Answers(trouble="R was left out.")
        rows = []
        for size in options.sizes:
            mixed, four = (measure_rate(size, models) for models in (MIXED, MODELS))
            path = Path(folder) / f"{size.items}-{size.ratings}.csv"
            times = [answers.times.get((path, model)) for model in ("clmm", "lmer")]
            r = sum(time.seconds for time in times if time is not None) if all(times) else None
            rows.append(Row(size, mixed, four, r))
            say(f"  {size.label}: {mixed:.1f} data sets a second by both mixed models, {four:.1f} by four")
    note = answers.trouble or f"{answers.versions}; one fit of clmm and of lmer each."
    return Power(tuple(rows), _time_grid() if options.full else None, measure_memory(), note)


def make_cell(size: Size) -> Cell:
    """Return the general cell of a layout, with a middling effect."""
    return make_cells([Truth.preset("general")], [Sampling(size.items, size.ratings).lay_out()], [0.5])[0]


def measure_rate(size: Size, models: tuple[str, ...], seconds: float = SECONDS) -> float:
    """Return how many data sets a second are simulated and analysed, on all cores."""
    cell = make_cell(size)
    run_chunk(Chunk(cell, 0, 2, models, AnalysisSpec(), 1))  # prepares, and compiles if need be
    start = perf_counter()
    run_chunk(Chunk(cell, 1, 2, models, AnalysisSpec(), 1))
    each = (perf_counter() - start) / 2
    with LocalEngine(n_cores()) as engine:
        count = max(engine.n_workers, round(seconds * engine.n_workers / each / cell.chunk_size))
        start = perf_counter()
        for index in range(count):
            engine.submit(Chunk(cell, index, cell.chunk_size, models, AnalysisSpec(), 1))
        for _ in range(count):
            engine.wait()
        return count * cell.chunk_size / (perf_counter() - start)


def _ask(options: Options, folder: Path) -> Answers:
    """Return what R takes for one data set of each layout."""
    jobs = []
    for size in options.sizes:
        if size.n_rows > R_ROWS and not options.full:
            continue
        cell = make_cell(size)
        rng = stream(1, "bench", "power")
        (codes,) = simulate_responses(cell.truth, cell.layout, cell.effects, rng, 1)
        path = folder / f"{size.items}-{size.ratings}.csv"
        cell.layout.make_frame(codes + 1).to_csv(path, index=False)
        jobs += [(path, "clmm"), (path, "lmer")]
    return ask_r(jobs)


def _time_grid() -> float:
    """Return the minutes that the whole grid takes."""
    say("  the whole grid of the paper (about half an hour)")
    start = perf_counter()
    simulate_paper()
    return (perf_counter() - start) / 60


def measure_memory(sims: int = 3000) -> float:
    """Return the most memory, in GB, that a process holds that simulates so many data sets."""
    code = (
        "import json, resource\n"
        "from panelist.power.curve import simulate_power\n"
        f"simulate_power(50, 3, [0.5], sims={sims}, models=('lmm', 'item_means'))\n"
        "print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)) / 2**20
