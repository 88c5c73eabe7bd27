"""A chunk: some data sets of one cell, simulated and analysed. It is the unit of work."""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from panelist.analysis.spec import AnalysisSpec
from panelist.core.seeds import stream
from panelist.power.analyses import ANALYSES
from panelist.power.analyses.base import Tester
from panelist.power.cells import Cell
from panelist.power.layouts.base import Layout
from panelist.power.responses import simulate_responses
from panelist.power.tally import Tally, count_tests

_MOST_PREPARED = 12
_prepared: "OrderedDict[tuple[str, str, AnalysisSpec], Tester]" = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True, eq=False)
class Chunk:
    """The data sets ``index`` × chunk size and following of a cell, ``n_sets`` of them."""

    cell: Cell
    index: int
    n_sets: int
    models: tuple[str, ...]
    spec: AnalysisSpec
    seed: int

    @property
    def key(self) -> tuple[str, int]:
        """The cell's key and the number of the chunk."""
        return self.cell.key, self.index


def run_chunk(chunk: Chunk) -> dict[str, Tally]:
    """Return the tally of each analysis; all use the same simulated data.

    What is drawn depends on the seed, the cell and the number of the chunk, and on nothing else.
    """
    cell = chunk.cell
    rng = stream(chunk.seed, "power", cell.stream_key, chunk.index)
    responses: Any = simulate_responses(cell.truth, cell.layout, cell.effects, rng, cell.chunk_size)
    responses = responses[: chunk.n_sets]  # a short last chunk begins as a whole one does
    tallies = {}
    for model in chunk.models:
        run = prepare(cell.layout, model, chunk.spec)
        start = time.perf_counter()
        tests = run(responses)
        seconds = time.perf_counter() - start
        tallies[model] = count_tests(tests, chunk.spec, cell.differences, seconds)
    return tallies


def prepare(layout: Layout, model: str, spec: AnalysisSpec) -> Tester:
    """Return the analysis made ready for a layout; the latest few are kept, as cells share layouts."""
    key = (layout.key, model, spec)
    with _lock:  # the first chunks of a layout come at once, in all threads
        if key not in _prepared:
            _prepared[key] = ANALYSES[model].prepare(layout, spec)
            while len(_prepared) > _MOST_PREPARED:
                _prepared.popitem(last=False)
        _prepared.move_to_end(key)
        return _prepared[key]
