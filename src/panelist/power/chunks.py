"""A chunk: some data sets of one cell, simulated and analysed. It is what workers work on."""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from panelist.core.seeds import stream
from panelist.power.analyses import ANALYSES
from panelist.power.analyses.base import Choices, Run
from panelist.power.cells import Cell
from panelist.power.layouts import Layout
from panelist.power.simulate import simulate_responses
from panelist.power.tally import Tally, count_tests

_MOST_PREPARED = 12
_prepared: "OrderedDict[tuple[str, str, Choices], Run]" = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True, eq=False)
class Chunk:
    """The data sets ``index`` × chunk size and following of a cell, ``n_sets`` of them."""

    cell: Cell
    index: int
    n_sets: int
    models: tuple[str, ...]
    choices: Choices
    seed: int

    @property
    def key(self) -> tuple[str, int]:
        """The cell's key and the number of the chunk."""
        return self.cell.key, self.index


def run_chunk(chunk: Chunk) -> dict[str, Tally]:
    """Return the tally of each analysis; all look at the same simulated data.

    What is drawn depends on the seed, the cell and the number of the chunk, and on nothing else.
    """
    cell = chunk.cell
    rng = stream(chunk.seed, "power", cell.stream_key, chunk.index)
    responses: Any = simulate_responses(cell.truth, cell.layout, cell.effects, rng, cell.chunk_size)
    responses = responses[: chunk.n_sets]  # a short last chunk begins as a whole one does
    tallies = {}
    for model in chunk.models:
        run = prepare(cell.layout, model, chunk.choices)
        start = time.perf_counter()
        tests = run(responses)
        seconds = time.perf_counter() - start
        tallies[model] = count_tests(tests, chunk.choices, cell.differences, seconds)
    return tallies


def prepare(layout: Layout, model: str, choices: Choices) -> Run:
    """Return the analysis made ready for a layout; the latest few are kept, as cells share layouts."""
    key = (layout.key, model, choices)
    with _lock:  # the first chunks of a layout come at once, in all threads
        if key not in _prepared:
            _prepared[key] = ANALYSES[model].prepare(layout, choices)
            while len(_prepared) > _MOST_PREPARED:
                _prepared.popitem(last=False)
        _prepared.move_to_end(key)
        return _prepared[key]
