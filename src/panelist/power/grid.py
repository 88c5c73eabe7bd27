"""Run the cells of a grid: chunks go to the engine, tallies come back, precise cells stop."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from panelist.analysis.spec import AnalysisSpec
from panelist.core.errors import PanelistError
from panelist.core.progress import Progress
from panelist.numerics.compile_ahead import list_parts, prepare
from panelist.power.cells import Cell, CellResult, count_whole, find_interval, summarise
from panelist.power.chunks import Chunk
from panelist.power.engines.base import Engine, Tallies, open_engine
from panelist.power.journal import Journal
from panelist.power.run import Run
from panelist.power.tally import add_tallies

AHEAD = 2  # chunks in work for each worker
LEAST_SIMS = 100  # before a cell may stop early


@dataclass(frozen=True)
class Grid:
    """Cells and what is done in each: the analyses, how they are made, and how the simulation is run."""

    cells: tuple[Cell, ...]
    models: tuple[str, ...]
    spec: AnalysisSpec
    run: Run

    def __post_init__(self) -> None:
        if not 0 < self.spec.alpha < 0.5:
            raise PanelistError(f"alpha must be between 0 and 0.5. Got {self.spec.alpha:g}.")

    @property
    def key(self) -> str:
        """A digest of everything that the numbers depend on, except how many there are."""
        text = repr((sorted(cell.key for cell in self.cells), sorted(self.models), self.spec, self.run.seed))
        return blake2b(text.encode(), digest_size=16).hexdigest()


def run_grid(grid: Grid) -> list[CellResult]:
    """Return the results, cell by cell and model by model, in the order of the grid.

    They depend on the grid alone: a cell counts its chunks in their order, up to the first at which it is
    known well enough, whatever else was run.
    """
    prepare(*list_parts(*grid.models))
    run = grid.run
    opened = open_engine(run.engine, run.workers) if isinstance(run.engine, str) else nullcontext(run.engine)
    writer = Journal(Path(run.journal), grid.key) if run.journal is not None else None
    with writer or nullcontext(), opened as running:
        done: dict[tuple[str, int], Tallies] = dict(writer.done) if writer else {}
        _fill(grid, running, done, writer)
    results = []
    for cell in grid.cells:
        results += find_results(grid, cell, done)
    return results


def _fill(grid: Grid, engine: Engine, done: dict[tuple[str, int], Tallies], writer: Journal | None) -> None:
    """Fill ``done`` until every cell has what it needs."""
    on_progress = grid.run.on_progress
    waiting = _order(grid, done)
    in_hand = 0
    following = next(waiting, None)
    if following is not None and on_progress is not None:
        in_work = engine.n_workers * following.n_sets
        on_progress(replace(_report(grid, following.cell, done), in_work=in_work))
    while following is not None or in_hand:
        while following is not None and in_hand < AHEAD * engine.n_workers:
            engine.submit(following)
            in_hand += 1
            following = next(waiting, None)
        chunk, tallies = engine.wait()
        in_hand -= 1
        done[chunk.key] = tallies
        if writer is not None:
            writer.add(chunk.key, tallies)
        if on_progress is not None:
            on_progress(_report(grid, chunk.cell, done))


def _order(grid: Grid, done: dict[tuple[str, int], Tallies]) -> Iterator[Chunk]:
    """Yield the chunks that are needed, as long as their cells are not known; each cell's in order.

    Small layouts come first, and cells of one layout together: what an analysis prepares for it is kept.
    """
    for cell in sorted(grid.cells, key=lambda cell: (cell.layout.n_rows, cell.layout.key)):
        size = cell.chunk_size
        for index in range(-(-grid.run.n_sets // size)):
            wanted = min(size, grid.run.n_sets - index * size)
            if _count(done.get((cell.key, index))) == wanted:
                continue
            if _is_known(grid, cell, done):
                break
            yield Chunk(cell, index, wanted, grid.models, grid.spec, grid.run.seed)


def find_results(grid: Grid, cell: Cell, done: dict[tuple[str, int], Tallies]) -> list[CellResult]:
    """Return the results of a cell, one for each model."""
    chunks = _find_prefix(grid, cell, done)
    return [
        summarise(cell, model, add_tallies(tallies[model] for tallies in chunks), grid.spec.claim)
        for model in grid.models
    ]


def _find_prefix(grid: Grid, cell: Cell, done: dict[tuple[str, int], Tallies]) -> list[Tallies]:
    """Return the tallies of the chunks that count: all, or up to the first at which the cell is known."""
    chunks: list[Tallies] = []
    for index in range(-(-grid.run.n_sets // cell.chunk_size)):
        tallies = done.get((cell.key, index))
        if tallies is None:
            break
        chunks.append(tallies)
        if grid.run.precision is not None and _is_precise(grid, cell, chunks):
            break
    return chunks


def _is_known(grid: Grid, cell: Cell, done: dict[tuple[str, int], Tallies]) -> bool:
    if grid.run.precision is None:
        return False
    chunks = _find_prefix(grid, cell, done)
    return bool(chunks) and _is_precise(grid, cell, chunks)


def _is_precise(grid: Grid, cell: Cell, chunks: list[Tallies]) -> bool:
    """Return whether the interval of every analysis is as narrow as asked."""
    assert grid.run.precision is not None
    for model in grid.models:
        n = sum(tallies[model].n for tallies in chunks)
        if n < LEAST_SIMS:
            return False
        found = sum(count_whole(cell, tallies[model], grid.spec.claim) for tallies in chunks)
        low, high = find_interval(found, n)
        if (high - low) / 2 > grid.run.precision:
            return False
    return True


def _count(tallies: Tallies | None) -> int:
    return min(tally.n for tally in tallies.values()) if tallies else 0


def _report(grid: Grid, cell: Cell, done: dict[tuple[str, int], Tallies]) -> Progress:
    counted = sum(_count(tallies) for tallies in done.values())
    powers = []
    for one in find_results(grid, cell, done) if (cell.key, 0) in done else []:
        powers.append(f"{one.model} {one.power:.2f}")
    where = (
        f"{cell.truth.name}, {cell.layout.n_items} × {cell.layout.ratings_per_item:g}, effect {cell.effect:g}"
    )
    return Progress(
        counted, grid.run.n_sets * len(grid.cells), f"{where}: {', '.join(powers)}" if powers else where
    )
