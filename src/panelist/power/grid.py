"""Run the cells of a grid: chunks go to the engine, tallies come back, and cells stop when they are known."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from panelist.core.errors import PanelistError
from panelist.models.compiling import list_parts, prepare
from panelist.power.analyses.base import Choices
from panelist.power.cells import Cell, CellResult, find_interval, summarise
from panelist.power.chunks import Chunk
from panelist.power.engines.base import Engine, Tallies, open_engine
from panelist.power.journal import Journal
from panelist.power.tally import add_tallies

AHEAD = 2  # chunks in hand for each worker
LEAST_SIMS = 100  # before a cell may stop early


@dataclass(frozen=True)
class Progress:
    """How far a run is: data sets done and wanted, the latest results, and the data sets now in work."""

    done: int
    total: int
    latest: str
    in_work: int = 0
    at_most: bool = False
    """Whether the total is what it may come to at most."""


@dataclass(frozen=True)
class Grid:
    """Cells and what is done in each: ``sims`` data sets, fewer where ``precision`` is reached before.

    ``precision`` is the half-width of the interval of the power that is narrow enough, for every analysis.
    """

    cells: tuple[Cell, ...]
    models: tuple[str, ...]
    choices: Choices
    sims: int
    seed: int
    precision: float | None = None

    def __post_init__(self) -> None:
        if self.sims < 1:
            raise PanelistError(f"The number of simulated data sets must be 1 or more. Got {self.sims}.")
        if self.precision is not None and not 0 < self.precision < 0.5:
            raise PanelistError(
                f"The precision is the half-width of an interval, between 0 and 0.5. Got {self.precision:g}; "
                "0.02 is usual."
            )
        if not 0 < self.choices.alpha < 0.5:
            raise PanelistError(f"alpha must be between 0 and 0.5. Got {self.choices.alpha:g}.")

    @property
    def key(self) -> str:
        """A digest of everything that the numbers hang on, but for how many there shall be."""
        text = repr((sorted(cell.key for cell in self.cells), sorted(self.models), self.choices, self.seed))
        return blake2b(text.encode(), digest_size=16).hexdigest()


def run_grid(
    grid: Grid,
    engine: str | Engine = "local",
    workers: int | None = None,
    journal: Path | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[CellResult]:
    """Return the results, cell by cell and model by model, in the order of the grid.

    They depend on the grid alone: a cell counts its chunks in their order, up to the first at which it is
    known well enough, whatever was run besides.
    """
    prepare(*list_parts(*grid.models))
    opened = open_engine(engine, workers) if isinstance(engine, str) else nullcontext(engine)
    writer = Journal(journal, grid.key) if journal is not None else None
    with writer or nullcontext(), opened as running:
        done: dict[tuple[str, int], Tallies] = dict(writer.done) if writer else {}
        _run(grid, running, done, writer, on_progress)
    results = []
    for cell in grid.cells:
        results += find_results(grid, cell, done)
    return results


def _run(
    grid: Grid,
    engine: Engine,
    done: dict[tuple[str, int], Tallies],
    writer: Journal | None,
    on_progress: Callable[[Progress], None] | None,
) -> None:
    """Fill ``done`` until every cell has what it needs."""
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
    """Give the chunks that are needed, as long as their cells are not known; each cell's in order.

    Small layouts come first, and cells of one layout together: what an analysis prepares for it is kept.
    """
    for cell in sorted(grid.cells, key=lambda cell: (cell.layout.n_rows, cell.layout.key)):
        size = cell.chunk_size
        for index in range(-(-grid.sims // size)):
            wanted = min(size, grid.sims - index * size)
            if _count(done.get((cell.key, index))) == wanted:
                continue
            if _is_known(grid, cell, done):
                break
            yield Chunk(cell, index, wanted, grid.models, grid.choices, grid.seed)


def find_results(grid: Grid, cell: Cell, done: dict[tuple[str, int], Tallies]) -> list[CellResult]:
    """Return the results of a cell, a model each."""
    chunks = _find_prefix(grid, cell, done)
    return [
        summarise(cell, model, add_tallies(tallies[model] for tallies in chunks)) for model in grid.models
    ]


def _find_prefix(grid: Grid, cell: Cell, done: dict[tuple[str, int], Tallies]) -> list[Tallies]:
    """Return the tallies of the chunks that count: all, or up to the first at which the cell is known."""
    chunks: list[Tallies] = []
    for index in range(-(-grid.sims // cell.chunk_size)):
        tallies = done.get((cell.key, index))
        if tallies is None:
            break
        chunks.append(tallies)
        if grid.precision is not None and _is_precise(grid, cell, chunks):
            break
    return chunks


def _is_known(grid: Grid, cell: Cell, done: dict[tuple[str, int], Tallies]) -> bool:
    if grid.precision is None:
        return False
    chunks = _find_prefix(grid, cell, done)
    return bool(chunks) and _is_precise(grid, cell, chunks)


def _is_precise(grid: Grid, cell: Cell, chunks: list[Tallies]) -> bool:
    """Return whether the interval of every analysis is as narrow as asked."""
    assert grid.precision is not None
    for model in grid.models:
        n = sum(tallies[model].n for tallies in chunks)
        if n < LEAST_SIMS:
            return False
        differs = any(abs(gap) > 1e-12 for gap in cell.differences)
        found = sum(tallies[model].all_true if differs else tallies[model].any_found for tallies in chunks)
        low, high = find_interval(found, n)
        if (high - low) / 2 > grid.precision:
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
        counted, grid.sims * len(grid.cells), f"{where}: {', '.join(powers)}" if powers else where
    )
