"""One cell, counted a few data sets at a time, so that whoever waits sees more and can stop it soon.

The data sets are those of ``panelist power`` with the same seed, in the same order: the numbers are the same.
"""

import time
from typing import Any

from panelist.core.seeds import stream
from panelist.power.analyses import ANALYSES
from panelist.power.analyses.base import Choices, Run
from panelist.power.cells import Cell, CellResult, summarise
from panelist.power.simulate import simulate_responses
from panelist.power.tally import Tally, add_tallies, count_tests

BATCH_SECONDS = 0.2
FIRST_BATCH = 1


class Counting:
    """What one analysis found in one cell so far."""

    def __init__(self, cell: Cell, model: str, choices: Choices, seed: int) -> None:
        self.cell = cell
        self.model = model
        self.tally: Tally | None = None
        self.pace: float | None = None
        """Seconds for one data set, as it was last."""
        self._choices = choices
        self._seed = seed
        self._chunk: tuple[int, Any] | None = None
        self._run: Run | None = None

    @property
    def sims(self) -> int:
        """How many data sets were analysed."""
        return self.tally.n if self.tally is not None else 0

    def advance(self, until: int) -> float:
        """Analyse some more data sets, up to so many in all; return the seconds that it took."""
        start = time.perf_counter()
        index, begun = divmod(self.sims, self.cell.chunk_size)
        wanted = FIRST_BATCH if self.pace is None else max(1, int(BATCH_SECONDS / self.pace))
        count = min(wanted, until - self.sims, self.cell.chunk_size - begun)
        responses = self._draw(index)[begun : begun + count]
        if self._run is None:
            self._run = ANALYSES[self.model].prepare(self.cell.layout, self._choices)
        ready = time.perf_counter()
        tests = self._run(responses)
        took = time.perf_counter() - ready
        more = count_tests(tests, self._choices, self.cell.differences, took)
        self.tally = more if self.tally is None else add_tallies([self.tally, more])
        self.pace = max(took / count, 1e-6)
        return time.perf_counter() - start

    def rest(self) -> None:
        """Let go of everything that can be made again; what was counted stays."""
        self._chunk = self._run = None

    def result(self) -> CellResult | None:
        """Return the power so far; None before anything was simulated."""
        return summarise(self.cell, self.model, self.tally) if self.tally is not None else None

    def _draw(self, index: int) -> Any:
        """Return the responses of a chunk, as ``run_chunk`` draws them."""
        if self._chunk is None or self._chunk[0] != index:
            cell = self.cell
            rng = stream(self._seed, "power", cell.stream_key, index)
            drawn = simulate_responses(cell.truth, cell.layout, cell.effects, rng, cell.chunk_size)
            self._chunk = (index, drawn)
        return self._chunk[1]
