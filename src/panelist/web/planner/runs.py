"""Simulating while a researcher watches: one run at a time, in a thread of low priority.

A run ends when everything is known, when nobody watches any more, or when another is asked for. What was
counted is kept for a while, so that a researcher who comes back to a design continues where it was.
"""

import logging
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from panelist.analysis.spec import AnalysisSpec
from panelist.core.errors import PanelistError
from panelist.core.seeds import stream
from panelist.numerics.compile_ahead import LAST_IN_LINE
from panelist.power.analyses import ANALYSES
from panelist.power.analyses.base import Tester
from panelist.power.cells import Cell, CellResult, summarise
from panelist.power.responses import simulate_responses
from panelist.power.tally import Tally, add_tallies, count_tests
from panelist.power.truth.base import Truth
from panelist.power.truth.spread import PRESETS
from panelist.web.planner.query import PlannerQuery
from panelist.web.planner.question import SEED, Place, PlannerQuestion, check
from panelist.web.planner.smallest_designs import Smallest, find_smallest

BATCH_SECONDS = 0.2
FIRST_BATCH = 1


class Counting:
    """What one analysis found in one cell so far."""

    def __init__(self, cell: Cell, model: str, spec: AnalysisSpec, seed: int) -> None:
        self.cell = cell
        self.model = model
        self.tally: Tally | None = None
        self.pace: float | None = None
        """Seconds for one data set, as it was last."""
        self._spec = spec
        self._seed = seed
        self._chunk: tuple[int, Any] | None = None
        self._run: Tester | None = None

    @property
    def sims(self) -> int:
        """How many data sets were analysed."""
        return self.tally.n if self.tally is not None else 0

    def advance(self, until: int) -> float:
        """Analyse some more data sets, up to ``until`` in all; return the seconds that it took."""
        start = time.perf_counter()
        index, begun = divmod(self.sims, self.cell.chunk_size)
        wanted = FIRST_BATCH if self.pace is None else max(1, int(BATCH_SECONDS / self.pace))
        count = min(wanted, until - self.sims, self.cell.chunk_size - begun)
        responses = self._draw(index)[begun : begun + count]
        if self._run is None:
            self._run = ANALYSES[self.model].prepare(self.cell.layout, self._spec)
        ready = time.perf_counter()
        tests = self._run(responses)
        took = time.perf_counter() - ready
        more = count_tests(tests, self._spec, self.cell.differences, took)
        self.tally = more if self.tally is None else add_tallies([self.tally, more])
        self.pace = max(took / count, 1e-6)
        return time.perf_counter() - start

    def rest(self) -> None:
        """Release everything that can be made again; what was counted stays."""
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


class Compiling:
    """Compiles in the background what models need; runs come and go while it works."""

    def __init__(self) -> None:
        self._threads: dict[str, threading.Thread] = {}

    def is_over(self, model: str) -> bool:
        """Return whether a model can be fitted now; begins to compile it where it cannot."""
        if model not in self._threads:
            thread = threading.Thread(target=compile_model, args=(model,), name="compiling", daemon=True)
            self._threads[model] = thread
            thread.start()
            thread.join(0.5)  # usually there is nothing to compile
        return not self._threads[model].is_alive()


def compile_model(model: str) -> None:
    """Compile in other processes what a model needs and is not on disk; if that fails, the first fit does."""
    from panelist.numerics.compile_ahead import LAST_IN_LINE, compile_apart, find_missing, list_parts
    from panelist.numerics.kernel import can_be_kept

    missing = find_missing(*list_parts(model))
    if all(can_be_kept(part.find_kernel()) for part in missing):
        compile_apart(missing, nice=LAST_IN_LINE)


ROUNDS = (10, 25, 50, 100, 200, 350, 500)
"""The data sets of every point after each round: the whole curve appears soon, and then narrows."""
SIMS = ROUNDS[-1]
SIZED_FROM = 50
MOST_TRIES = 4
REST = 1 / 3
"""The thread rests a third of the time that it worked: it never takes more than three quarters of a core."""
MOST_SECONDS = 240.0
"""No run works longer; when asked again, it continues."""
COMPILING_PAUSE = 0.2
CELLS_KEPT = 200

log = logging.getLogger("panelist.web")
FindTruth = Callable[[PlannerQuery], Truth]


@dataclass(frozen=True)
class RunState:
    """What a run has found so far."""

    question: PlannerQuestion | None = None
    results: dict[Place, CellResult] = field(default_factory=dict)
    smallest: tuple[Smallest, ...] = ()
    seconds_left: float | None = None
    compiling: bool = False
    over: bool = False
    problem: str = ""

    @property
    def own(self) -> CellResult | None:
        """The result of the design that was asked for."""
        query = self.question.query if self.question is not None else None
        return self.results.get((query.items, query.ratings_per_item)) if query is not None else None


class CellCache:
    """Cells counted before, the latest few; only the run whose turn it is touches them."""

    def __init__(self, most: int = CELLS_KEPT) -> None:
        self._most = most
        self._cells: OrderedDict[tuple[str, str], Counting] = OrderedDict()

    def find(self, question: PlannerQuestion, place: Place) -> Counting:
        """Return what was counted at a point, perhaps nothing yet."""
        cell, model = question.make_cell(place), question.query.model
        found = self._cells.get((cell.key, model))
        if found is None:
            found = self._cells[cell.key, model] = Counting(cell, model, question.spec, SEED)
            if len(self._cells) > self._most:
                self._cells.popitem(last=False)
        self._cells.move_to_end((cell.key, model))
        return found


class PlannerRun:
    """One query being simulated."""

    def __init__(
        self,
        query: PlannerQuery,
        find_truth: FindTruth,
        kept: CellCache,
        turn: threading.Lock,
        compiling: Compiling,
    ) -> None:
        self.query = query
        self.state = RunState()
        self.watchers = 0
        self._find_truth, self._kept, self._turn, self._compiling = find_truth, kept, turn, compiling
        self._stopped = threading.Event()
        self._counts: dict[Place, Counting] = {}
        self._worked = 0.0
        # The end of the server does not wait for a data set in hand, which may be a large one: it only reads.
        self._thread = threading.Thread(target=self._run, name="planner", daemon=True)

    @property
    def stopped(self) -> bool:
        """Whether it was told to stop before its end."""
        return self._stopped.is_set()

    def start(self) -> None:
        """Begin, as soon as the run before has stopped."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the few data sets in hand."""
        self._stopped.set()

    def wait(self, seconds: float) -> bool:
        """Return whether the run has ended within ``seconds`` seconds."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        _step_back()
        with self._turn:
            try:
                if not self._stopped.is_set():
                    self._simulate()
            except PanelistError as error:
                self._publish(over=True, problem=str(error))
            except Exception:
                log.exception("The planner could not simulate %s.", self.query)
                self._publish(over=True, problem="Something went wrong on our side; the log says what.")
            finally:
                for counting in self._counts.values():
                    counting.rest()

    def _simulate(self) -> None:
        check(self.query)
        models = dict.fromkeys((self.query.model, *(() if self.query.preset in PRESETS else ("clmm",))))
        while not all(self._compiling.is_over(model) for model in models):  # a pilot is fitted by clmm
            self.state = RunState(compiling=True)
            if self._stopped.wait(COMPILING_PAUSE):
                return
        question = PlannerQuestion(self.query, self._find_truth(self.query))
        self._publish(question=question)
        self._work_through(question)
        self._publish(over=not self.stopped)

    def _work_through(self, question: PlannerQuestion) -> None:
        for until in ROUNDS:
            for place in question.places:
                if not self._count(question, place, until):
                    return
            if until >= SIZED_FROM and not self._size(question, until):
                return

    def _size(self, question: PlannerQuestion, until: int) -> bool:
        """Simulate the smallest designs themselves; at the end larger ones, while they miss the target."""
        least: dict[int, int] = {}
        for _ in range(MOST_TRIES if until == SIMS else 1):
            smallest = find_smallest(question, self._results(), least)
            self._publish(smallest=tuple(smallest))
            for one in smallest:
                if (
                    one.reached
                    and question.is_near(one.place)
                    and not self._count(question, one.place, until)
                ):
                    return False
            self._publish(smallest=tuple(find_smallest(question, self._results(), least, smallest)))
            missed = [one for one in self.state.smallest if one.missed]
            if not missed:
                break
            least |= {one.place[1]: one.place[0] + 1 for one in missed}
        return True

    def _count(self, question: PlannerQuestion, place: Place, until: int) -> bool:
        """Count a point up to ``until`` data sets; return False if the run was stopped."""
        counting = self._counts.get(place) or self._kept.find(question, place)
        self._counts[place] = counting
        while counting.sims < until:
            if self.stopped or self._worked > MOST_SECONDS:
                return False
            took = counting.advance(until)
            self._worked += took
            self._publish()
            self._stopped.wait(took * REST)
        return not self.stopped

    def _results(self) -> dict[Place, CellResult]:
        found = {place: counting.result() for place, counting in self._counts.items()}
        return {place: result for place, result in found.items() if result is not None}

    def _publish(
        self,
        question: PlannerQuestion | None = None,
        smallest: tuple[Smallest, ...] | None = None,
        over: bool = False,
        problem: str = "",
    ) -> None:
        before = self.state
        asked = question or before.question
        self.state = RunState(
            asked,
            self._results(),
            before.smallest if smallest is None else smallest,
            self._guess(asked),
            over=over,
            problem=problem,
        )

    def _guess(self, question: PlannerQuestion | None) -> float | None:
        """Return how many more seconds it will take; None as long as a point was not tried."""
        left = 0.0
        for place in question.places if question is not None else ():
            counting = self._counts.get(place)
            if counting is None or counting.pace is None:
                return None
            left += max(0, SIMS - counting.sims) * counting.pace
        return min(left, MOST_SECONDS - self._worked) * (1 + REST)


class Planner:
    """The runs of one process, of which one works at a time."""

    def __init__(self, find_truth: FindTruth) -> None:
        self._find_truth = find_truth
        self._kept = CellCache()
        self._turn = threading.Lock()
        self._compiling = Compiling()
        self._guard = threading.Lock()
        self._run: PlannerRun | None = None

    def join(self, query: PlannerQuery) -> PlannerRun:
        """Return the run of a query, for one more watcher; whatever else runs is stopped."""
        with self._guard:
            run = self._run
            if run is None or run.query != query or run.stopped or run.state.over:
                if run is not None:
                    run.stop()
                run = self._run = PlannerRun(query, self._find_truth, self._kept, self._turn, self._compiling)
                run.start()
            run.watchers += 1
            return run

    def leave(self, run: PlannerRun) -> None:
        """Remove a watcher; a run that nobody watches stops."""
        with self._guard:
            run.watchers -= 1
            if run.watchers <= 0:
                run.stop()


def _step_back() -> None:
    """Give this thread the lowest priority, where that is possible: raters' pages come first."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LAST_IN_LINE)
