"""Simulating while somebody watches: one run at a time, in a thread that stands behind everything else.

A run ends when everything is known, when nobody watches any more, or when another is asked for. What was
counted is kept for a while, so that whoever comes back to a design goes on where it was.
"""

import logging
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from panelist.core.errors import PanelistError
from panelist.models.compiling import LAST_IN_LINE
from panelist.power.cells import CellResult
from panelist.power.presets import PRESETS
from panelist.power.truth import Truth
from panelist.reports.planner.compiling import Compiling
from panelist.reports.planner.counting import Counting
from panelist.reports.planner.question import SEED, Place, Question, check
from panelist.reports.planner.smallest import Smallest, find_smallest
from panelist.reports.planner.wish import Wish

ROUNDS = (10, 25, 50, 100, 200, 350, 500)
"""So many data sets has every point after each round: the whole curve is there soon, and then narrows."""
SIMS = ROUNDS[-1]
SIZED_FROM = 50
MOST_TRIES = 4
REST = 1 / 3
"""The thread rests a third of the time that it worked: it never takes more than three quarters of a core."""
MOST_SECONDS = 240.0
"""No run works longer; who wants to know more asks again, and it goes on."""
COMPILING_PAUSE = 0.2
CELLS_KEPT = 200

log = logging.getLogger("panelist.web")
FindTruth = Callable[[Wish], Truth]


@dataclass(frozen=True)
class Standing:
    """What a run has found so far."""

    question: Question | None = None
    results: dict[Place, CellResult] = field(default_factory=dict)
    smallest: tuple[Smallest, ...] = ()
    seconds_left: float | None = None
    compiling: bool = False
    over: bool = False
    problem: str = ""

    @property
    def own(self) -> CellResult | None:
        """The result of the design that was asked for."""
        wish = self.question.wish if self.question is not None else None
        return self.results.get((wish.items, wish.ratings_per_item)) if wish is not None else None


class Kept:
    """Cells counted before, the latest few; only the run whose turn it is touches them."""

    def __init__(self, most: int = CELLS_KEPT) -> None:
        self._most = most
        self._cells: OrderedDict[tuple[str, str], Counting] = OrderedDict()

    def find(self, question: Question, place: Place) -> Counting:
        """Return what was counted at a point, perhaps nothing yet."""
        cell, model = question.make_cell(place), question.wish.model
        found = self._cells.get((cell.key, model))
        if found is None:
            found = self._cells[cell.key, model] = Counting(cell, model, question.choices, SEED)
            if len(self._cells) > self._most:
                self._cells.popitem(last=False)
        self._cells.move_to_end((cell.key, model))
        return found


class Run:
    """One wish being simulated."""

    def __init__(
        self, wish: Wish, find_truth: FindTruth, kept: Kept, turn: threading.Lock, compiling: Compiling
    ) -> None:
        self.wish = wish
        self.standing = Standing()
        self.watchers = 0
        self._find_truth, self._kept, self._turn, self._compiling = find_truth, kept, turn, compiling
        self._stopped = threading.Event()
        self._counts: dict[Place, Counting] = {}
        self._worked = 0.0
        self._thread = threading.Thread(target=self._run, name="planner")

    @property
    def stopped(self) -> bool:
        """Whether it was told to stop before its end."""
        return self._stopped.is_set()

    def start(self) -> None:
        """Begin, as soon as the run before has let go."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the few data sets in hand."""
        self._stopped.set()

    def wait(self, seconds: float) -> bool:
        """Return whether the run has ended within so many seconds."""
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
                log.exception("The planner could not simulate %s.", self.wish)
                self._publish(over=True, problem="Something went wrong on our side; the log says what.")
            finally:
                for counting in self._counts.values():
                    counting.rest()

    def _simulate(self) -> None:
        check(self.wish)
        models = dict.fromkeys((self.wish.model, *(() if self.wish.preset in PRESETS else ("clmm",))))
        while not all(self._compiling.is_over(model) for model in models):  # a pilot is fitted by clmm
            self.standing = Standing(compiling=True)
            if self._stopped.wait(COMPILING_PAUSE):
                return
        question = Question(self.wish, self._find_truth(self.wish))
        self._publish(question=question)
        self._work_through(question)
        self._publish(over=not self.stopped)

    def _work_through(self, question: Question) -> None:
        for until in ROUNDS:
            for place in question.places:
                if not self._count(question, place, until):
                    return
            if until >= SIZED_FROM and not self._size(question, until):
                return

    def _size(self, question: Question, until: int) -> bool:
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
            missed = [one for one in self.standing.smallest if one.missed]
            if not missed:
                break
            least |= {one.place[1]: one.place[0] + 1 for one in missed}
        return True

    def _count(self, question: Question, place: Place, until: int) -> bool:
        """Count a point up to so many data sets; return False if there is no going on."""
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
        question: Question | None = None,
        smallest: tuple[Smallest, ...] | None = None,
        over: bool = False,
        problem: str = "",
    ) -> None:
        before = self.standing
        asked = question or before.question
        self.standing = Standing(
            asked,
            self._results(),
            before.smallest if smallest is None else smallest,
            self._guess(asked),
            over=over,
            problem=problem,
        )

    def _guess(self, question: Question | None) -> float | None:
        """Return how many seconds it will take yet; None as long as a point was not tried."""
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
        self._kept = Kept()
        self._turn = threading.Lock()
        self._compiling = Compiling()
        self._guard = threading.Lock()
        self._run: Run | None = None

    def join(self, wish: Wish) -> Run:
        """Return the run of a wish, for one more watcher; whatever else runs is stopped."""
        with self._guard:
            run = self._run
            if run is None or run.wish != wish or run.stopped or run.standing.over:
                if run is not None:
                    run.stop()
                run = self._run = Run(wish, self._find_truth, self._kept, self._turn, self._compiling)
                run.start()
            run.watchers += 1
            return run

    def leave(self, run: Run) -> None:
        """Take a watcher away; a run that nobody watches stops."""
        with self._guard:
            run.watchers -= 1
            if run.watchers <= 0:
                run.stop()


def _step_back() -> None:
    """Put this thread behind all others, where a thread can be: raters' pages come first."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LAST_IN_LINE)
