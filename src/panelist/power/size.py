"""The smallest design that reaches a target power, and what others would cost."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from panelist.core.errors import BadDesign, PanelistError
from panelist.core.seeds import stream
from panelist.models.compiling import list_parts, prepare
from panelist.power.analyses.base import Choices
from panelist.power.cells import Cell, CellResult
from panelist.power.cost import Tariff
from panelist.power.curve import check_models
from panelist.power.engines.base import Engine, open_engine
from panelist.power.grid import Grid, Progress, run_grid
from panelist.power.journal import Journal
from panelist.power.presets import find_preset
from panelist.power.sample_size import Option, SampleSize
from panelist.power.search import BEHIND, ROUNDS, Family, make_family
from panelist.power.size_journal import RecordedEngine, find_search_key
from panelist.power.truth import Truth, find_effects

RATINGS = (2, 3, 5, 10)
CONFIRM = 400
MOST_RATINGS = 10_000
MOST_ITEMS = 2_000
GOALS = ("cost", "ratings", "raters", "items")


def find_sample_size(
    effect: float,
    power: float = 0.8,
    preset: str = "general",
    *,
    model: str = "clmm",
    ratings_per_item: Sequence[int] = RATINGS,
    outputs_per_rater: int | Sequence[int | None] | None = None,
    systems: int = 2,
    pattern: str = "steps",
    truth: Truth | None = None,
    alpha: float = 0.05,
    adjust: str = "tukey",
    formula: str = "maximal",
    link: str = "probit",
    tariff: Tariff | None = None,
    budget: float | None = None,
    max_items: int = MOST_ITEMS,
    max_raters: int | None = None,
    goal: str | None = None,
    sims: int = CONFIRM,
    seed: int = 1,
    engine: str = "local",
    workers: int | None = None,
    journal: str | Path | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> SampleSize:
    """Return the smallest design for a target power at an effect (in threshold distances).

    Every number of ratings an output and of outputs a rater is a family of designs; within each, the number
    of items is searched for. ``goal`` says what is made small: cost where a ``tariff`` is known, else
    ratings. ``budget``, ``max_items`` and ``max_raters`` are limits. The answer is simulated ``sims`` times
    more at its own size, and made larger while it misses the target there. With a ``journal`` what was
    simulated is written to a file as it comes, and a search that was killed goes on where it stopped.
    """
    start = time.perf_counter()
    _check(effect, power, budget, tariff, sims)
    chosen = goal or ("cost" if tariff is not None else "ratings")
    if chosen not in GOALS or (chosen == "cost" and tariff is None):
        raise PanelistError(f"The goal is one of {', '.join(GOALS)}, and cost needs a wage. Got {chosen!r}.")
    source = truth or find_preset(preset)
    effects = find_effects(effect, systems, source.unit, pattern)
    several = outputs_per_rater is not None and not isinstance(outputs_per_rater, int)
    loads: Any = outputs_per_rater if several else [outputs_per_rater]
    choices = Choices(alpha=alpha, adjust=adjust, formula=formula, link=link)
    families = [
        make_family(source, effects, k, load, choices, power, _cap(k, systems, max_items))
        for k in dict.fromkeys(ratings_per_item)
        for load in loads
    ]
    names = check_models([model], [source], [families[0].lay_out(20, seed)])
    prepare(*list_parts(*names))
    search = _Search(source, effects, effect, names, choices, seed, tariff, budget, max_raters, chosen)
    path = None if journal is None else Path(journal)
    watch = _Watch(on_progress, search.say_guess(families))
    with _open(engine, workers, path, find_search_key(names, choices, seed)) as running:
        families = search.explore(families, running, sims, watch)
        best, confirmed, families = search.confirm(families, running, sims, watch)
    options = [search.describe(family) for family in families]
    if best is not None:
        options = [best, *(option for option in options if not _same(option, best))]
    options.sort(key=search.rank)
    return SampleSize(
        target=power,
        effect=effect,
        model=model,
        preset=source.name,
        goal=chosen,
        best=best,
        confirmed=confirmed,
        options=tuple(options),
        families=tuple(families),
        currency=tariff.currency if tariff else "",
        budget=budget,
        seconds=time.perf_counter() - start,
        fits=sum(probe.sims for family in families for probe in family.probes),
        seed=seed,
        notes=(*source.notes, *search.find_notes(options)),
    )


@contextmanager
def _open(engine: str, workers: int | None, journal: Path | None, key: str) -> Iterator[Engine]:
    """Give the engine; one that writes down what it runs, where there is a journal."""
    if journal is None:
        with open_engine(engine, workers) as running:
            yield running
        return
    with Journal(journal, key) as writer, open_engine(engine, workers) as running:
        yield RecordedEngine(running, writer)


class _Watch:
    """Tells how far the whole search is, where the grids of its rounds each tell of themselves.

    What later rounds will take at most is expected beforehand: most searches end before that.
    """

    def __init__(self, on_progress: Callable[[Progress], None] | None, guess: str) -> None:
        self._tell, self._guess = on_progress, guess
        self._before = self._here = self._later = 0

    def expect(self, later: int) -> None:
        """Take note of the data sets that may follow after the round that now begins."""
        self._later = later

    def report(self, progress: Progress) -> None:
        """Pass on the progress of a round as that of the search."""
        self._here = progress.total
        if self._tell is not None:
            done, total = self._before + progress.done, self._before + progress.total + self._later
            latest = progress.latest if done else self._guess
            self._tell(replace(progress, done=done, total=total, latest=latest, at_most=True))

    def finish_round(self) -> None:
        """Count the round that has ended."""
        self._before, self._here = self._before + self._here, 0


@dataclass(frozen=True)
class _Search:
    """What the search does not change: truth, analysis, limits and goal."""

    truth: Truth
    effects: tuple[float, ...]
    effect: float
    models: tuple[str, ...]
    choices: Choices
    seed: int
    tariff: Tariff | None
    budget: float | None
    max_raters: int | None
    goal: str

    def explore(self, families: list[Family], engine: Engine, sims: int, watch: "_Watch") -> list[Family]:
        """Return the families with what some rounds of simulations showed."""
        for step in range(ROUNDS):
            leader = min(self.measure(family, family.items) for family in families)
            active = [
                place
                for place, family in enumerate(families)
                if not family.known and self.may_win(family, leader, step)
            ]
            if not active:
                break
            cells = [self.make_cell(families[place], families[place].items) for place in active]
            sets = families[0].sets
            watch.expect((ROUNDS - step - 1) * len(active) * sets + sims)
            for place, result in zip(active, self.run(cells, sets, step, engine, watch), strict=True):
                families[place] = families[place].add(
                    result.items, round(result.power * result.sims), result.sims
                )
        return families

    def may_win(self, family: Family, leader: float, step: int) -> bool:
        """Return whether a family is worth simulating: its best case is not far above the leader's size.

        Of two systems all are, at first. With more, where fits are slow, the first guess counts as known.
        """
        if step == 0 and family.systems == 2:
            return True
        best_case = family.spread[0] if family.probes else family.items
        return self.measure(family, best_case) <= BEHIND * leader

    def confirm(
        self,
        families: list[Family],
        engine: Engine,
        sims: int,
        watch: "_Watch",
    ) -> tuple[Option | None, CellResult | None, list[Family]]:
        """Return the best option, what simulations at its own size gave, and the families with these.

        Where the power found there misses the target, the line has learnt it, and the next size is tried.
        """
        least: dict[int, int] = {}
        for step in range(ROUNDS):
            open_ones = [
                place for place, family in enumerate(families) if self.describe(family).within_budget
            ]
            if not open_ones:
                return None, None, families
            place = min(open_ones, key=lambda place: self.rank(self.describe(families[place])))
            items = max(families[place].items, least.get(place, 0))
            cell = self.make_cell(families[place], items)
            watch.expect(0)
            (result,) = self.run([cell], sims, ROUNDS + step, engine, watch)
            families[place] = families[place].add(items, round(result.power * result.sims), result.sims)
            if result.power >= families[place].target or step == ROUNDS - 1:
                return self.describe(families[place], items), result, families
            least[place] = families[place].round_up(items + 1)
        return None, None, families

    def run(
        self,
        cells: list[Cell],
        sims: int,
        step: int,
        engine: Engine,
        watch: "_Watch",
    ) -> list[CellResult]:
        """Return the results of some cells, with random numbers that no other round has."""
        seed = int(stream(self.seed, "size", step).integers(2**31))
        # Two families may meet in one cell; each gets its result all the same.
        unique = {cell.key: cell for cell in cells}
        grid = Grid(tuple(unique.values()), self.models, self.choices, sims, seed)
        found = dict(zip(unique, run_grid(grid, engine, on_progress=watch.report), strict=True))
        watch.finish_round()
        return [found[cell.key] for cell in cells]

    def make_cell(self, family: Family, items: int) -> Cell:
        """Return the cell of a family's design."""
        return Cell(self.truth, family.lay_out(items, self.seed), self.effect, self.effects)

    def describe(self, family: Family, items: int | None = None) -> Option:
        """Return the design at which a family reaches the target."""
        count = family.items if items is None else items
        loads = _find_loads(family, count)
        cost = self.tariff.find_cost(loads) if self.tariff is not None else None
        low, high = family.spread
        fits = cost is None or self.budget is None or cost <= self.budget
        fits = fits and (self.max_raters is None or len(loads) <= self.max_raters) and family.reaches
        return Option(
            items=count,
            ratings_per_item=family.ratings_per_item,
            outputs_per_rater=min(family.outputs_per_rater, count),
            raters=len(loads),
            ratings=sum(loads),
            cost=cost,
            power=float(family.predict(count)),
            items_low=low,
            items_high=high,
            sims=sum(probe.sims for probe in family.probes),
            reaches=family.reaches,
            within_budget=fits,
        )

    def measure(self, family: Family, items: int) -> float:
        """Return what is to be small, at a number of items."""
        loads = _find_loads(family, min(items, family.most_items))
        if self.goal == "cost" and self.tariff is not None:
            return self.tariff.find_cost(loads)
        return float({"ratings": sum(loads), "raters": len(loads), "items": items}[self.goal])

    def rank(self, option: Option) -> tuple[bool, float, int]:
        """Return the key that puts the best option first."""
        small = {"cost": option.cost or 0.0, "ratings": option.ratings, "raters": option.raters}
        return not option.within_budget, float(small.get(self.goal, option.items)), option.ratings

    def say_guess(self, families: Sequence[Family]) -> str:
        """Return what the variances alone let expect, before anything is simulated."""
        best = self.describe(min(families, key=lambda family: self.measure(family, family.items)))
        if not best.reaches:
            return "expected: no design within the limits"
        return f"expected: {best.items} items × {best.ratings_per_item} = {best.ratings:,} ratings"

    def find_notes(self, options: Sequence[Option]) -> list[str]:
        """Return what a reader should know of the limits."""
        notes = []
        if any(not option.sims for option in options):
            notes.append(
                "Rows marked 'not simulated' are plainly larger than others: their sizes follow from the "
                "variances alone."
            )
        if any(not option.reaches for option in options):
            notes.append(
                "Rows marked 'not reached' end at the largest design looked at; their power is that of the "
                "line there."
            )
        return notes


def _find_loads(family: Family, items: int) -> list[int]:
    """Return how many outputs each rater sees."""
    total = items * family.systems * family.ratings_per_item
    load = min(family.outputs_per_rater, items)
    full, rest = divmod(total, load)
    return [load] * full + ([rest] if rest else [])


def _same(one: Option, other: Option) -> bool:
    return (one.ratings_per_item, one.outputs_per_rater) == (other.ratings_per_item, other.outputs_per_rater)


def _cap(ratings: int, systems: int, max_items: int) -> int:
    """Return the most items looked at: what was allowed, and no more than so many ratings in all."""
    if ratings < 1:
        raise BadDesign(f"The number of ratings per item must be 1 or more. Got {ratings}.")
    if max_items < 10:
        raise BadDesign(f"The search needs room: allow at least 10 items. Got {max_items}.")
    return max(10, min(max_items, MOST_RATINGS // (systems * ratings)))


def _check(effect: float, power: float, budget: float | None, tariff: Tariff | None, sims: int) -> None:
    if not (np.isfinite(effect) and effect != 0):
        raise PanelistError(
            f"A sample size needs an effect other than 0, the difference worth finding. Got {effect:g}."
        )
    if not 0.05 < power < 0.995:
        raise PanelistError(f"The target power must be between 0.05 and 0.995. Got {power:g}; 0.8 is usual.")
    if budget is not None and tariff is None:
        raise PanelistError(
            "A budget needs a wage: add --pay-per-hour and --minutes-per-rating, or a --study."
        )
    if budget is not None and budget <= 0:
        raise PanelistError(f"The budget must be positive. Got {budget:g}.")
    if sims < 1:
        raise PanelistError(f"The number of simulated data sets must be 1 or more. Got {sims}.")
