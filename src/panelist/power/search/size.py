"""The smallest design that reaches a target power, and what others would cost."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from panelist.analysis.spec import AnalysisSpec
from panelist.core.errors import PanelistError
from panelist.core.margin import Margin, read_margin
from panelist.core.progress import OnProgress, Progress
from panelist.core.seeds import stream
from panelist.numerics.compile_ahead import list_parts, prepare
from panelist.power.cells import Cell, CellResult
from panelist.power.chunks import Chunk
from panelist.power.claims import SHARES, check_claim, place_systems
from panelist.power.curve import check_models
from panelist.power.design_cost import Tariff
from panelist.power.engines.base import Engine, Tallies, open_engine
from panelist.power.grid import Grid, run_grid
from panelist.power.journal import Journal, Key
from panelist.power.run import Run
from panelist.power.search.probit_search import BEHIND, ROUNDS, DesignFamily, make_family
from panelist.power.search.sample_size import DesignOption, SampleSize, tell_zero
from panelist.power.search.search_space import MOST_ITEMS, RATINGS, SearchSpace, Target
from panelist.power.truth.base import Truth, find_effects


class RecordedEngine(Engine):
    """An engine that reads chunks from a journal where it has them, and writes those it had to run."""

    def __init__(self, engine: Engine, journal: Journal) -> None:
        self.n_workers = engine.n_workers
        self._engine, self._journal = engine, journal
        self._known: deque[tuple[Chunk, Tallies]] = deque()

    def submit(self, chunk: Chunk) -> None:
        """Take a chunk from the journal, or have it run."""
        found = self._journal.done.get(_name(chunk))
        if found is not None and all(tally.n == chunk.n_sets for tally in found.values()):
            self._known.append((chunk, found))
        else:
            self._engine.submit(chunk)

    def wait(self) -> tuple[Chunk, Tallies]:
        """Return a chunk that is done; one that was run is in the journal by then."""
        if self._known:
            return self._known.popleft()
        chunk, tallies = self._engine.wait()
        self._journal.add(_name(chunk), tallies)
        return chunk, tallies

    def close(self) -> None:
        """Stop; the engine and the journal are closed by the code that opened them."""


def find_search_key(models: tuple[str, ...], spec: AnalysisSpec, seed: int) -> str:
    """Return a digest of what a search's numbers depend on, besides the cells, which have their own keys.

    Target, budget and limits are not in it: they say where to look, not what is found there.
    """
    return blake2b(repr(("size", sorted(models), spec, seed)).encode(), digest_size=16).hexdigest()


def _name(chunk: Chunk) -> Key:
    """Return what identifies a chunk of a search: rounds use the same cells with other seeds."""
    return f"{chunk.cell.key}-{chunk.seed}", chunk.index


CONFIRM = 400


def find_sample_size(
    effect: float | None = None,
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
    claim: str | None = None,
    margin: Margin | float | str | None = None,
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
    on_progress: OnProgress | None = None,
) -> SampleSize:
    """Return the smallest design for a target power at an effect (in threshold distances).

    Every combination of ratings per output and outputs per rater is a family of designs; within each, the
    number of items is searched for. ``goal`` says what is minimised: cost where a ``tariff`` is known, else
    ratings. ``budget``, ``max_items`` and ``max_raters`` are limits. The answer is simulated ``sims`` more
    times at its own size, and made larger while it misses the target there. With a ``journal`` what was
    simulated is written to a file as it comes, and a search that was killed continues where it stopped.
    With ``claim`` and ``margin`` it is the smallest design that shows equivalence or non-inferiority where
    the true difference is a third of the margin; ``at_zero`` is that for no difference. ``effect`` is then
    left out.
    """
    several = outputs_per_rater is not None and not isinstance(outputs_per_rater, int)
    loads: Any = outputs_per_rater if several else [outputs_per_rater]
    space = SearchSpace(tuple(ratings_per_item), tuple(loads), max_items, max_raters, tariff, budget, goal)
    spec = AnalysisSpec(
        model=model,
        link=link,
        formula=formula,
        adjust=adjust,
        confidence=1 - alpha,
        claim=claim,
        margin=read_margin(margin),
    )
    run = Run(sims, None, seed, engine, workers, journal, on_progress)
    known = truth or Truth.preset(preset)
    if claim is not None:
        return search_claim(Target(0.0, power, systems, claimed=True), known, space, spec, run)
    if effect is None:
        raise PanelistError("Say how large a difference the study should find: effect=0.5.")
    return search_sizes(Target(effect, power, systems, pattern), known, space, spec, run)


def search_claim(
    target: Target, truth: Truth, space: SearchSpace, spec: AnalysisSpec, run: Run
) -> SampleSize:
    """Return the smallest design that shows a claim at a third of its margin, and that at no difference."""
    targets = [
        replace(target, effect=place_systems(truth, target.systems, spec, share)[0]) for share in SHARES
    ]
    found = [search_sizes(one, truth, space, spec, run) for one in targets]
    return replace(found[1], at_zero=found[0], notes=(*found[1].notes, tell_zero(found[0])))


def search_sizes(
    target: Target, truth: Truth, space: SearchSpace, spec: AnalysisSpec, run: Run
) -> SampleSize:
    """Return the smallest design in a space that reaches a target, by the analysis ``spec.model``."""
    start = time.perf_counter()
    if target.claimed and spec.margin is not None:
        share = abs(target.effect) / spec.margin.size
        effects = place_systems(truth, target.systems, spec, share)[1]
    else:
        effects = find_effects(target.effect, target.systems, truth.unit, target.pattern)
    families = [
        make_family(
            truth,
            effects,
            k,
            load,
            spec,
            target.power,
            space.cap(k, target.systems),
            space.pages,
            space.turns,
        )
        for k in dict.fromkeys(space.ratings_per_item)
        for load in space.outputs_per_rater
    ]
    check_claim([spec.model], spec)
    truth.check_design(target.systems, compares=space.pages is not None)
    models = check_models([spec.model], [truth], [families[0].sample(20).lay_out(run.seed)])
    prepare(*list_parts(*models))
    search = _Search(truth, effects, target.effect, models, spec, space, run)
    watch = _Watch(run.on_progress, search.say_guess(families))
    with _open(run, find_search_key(models, spec, run.seed)) as running:
        families = search.explore(families, running, watch)
        confirmed, families = search.confirm(families, running, watch)
    options = sorted((search.describe(family) for family in families), key=search.rank)
    return SampleSize(
        target=target.power,
        effect=float(f"{target.effect:.3g}"),
        model=spec.model,
        preset=truth.name,
        goal=space.smallest,
        best=None if confirmed is None else options[0],
        confirmed=confirmed,
        options=tuple(options),
        families=tuple(families),
        unit=space.pages.unit if space.pages is not None else "output",
        currency=space.tariff.currency if space.tariff else "",
        claim=spec.claim,
        margin=None if spec.claim is None else spec.margin,
        budget=space.budget,
        seconds=time.perf_counter() - start,
        fits=sum(probe.sims for family in families for probe in family.probes),
        seed=run.seed,
        notes=(*truth.notes, *search.find_notes(options), *search.tell_misses(families, confirmed)),
    )


@contextmanager
def _open(run: Run, key: str) -> Iterator[Engine]:
    """Yield the engine; one that records what it runs, where there is a journal."""
    assert isinstance(run.engine, str)
    with ExitStack() as opened:
        writer = opened.enter_context(Journal(Path(run.journal), key)) if run.journal is not None else None
        running = opened.enter_context(open_engine(run.engine, run.workers))
        yield running if writer is None else RecordedEngine(running, writer)


class _Watch:
    """Reports the progress of the whole search, where the grids of its rounds each report their own.

    What later rounds will take at most is expected beforehand: most searches end before that.
    """

    def __init__(self, on_progress: OnProgress | None, guess: str) -> None:
        self._tell, self._guess = on_progress, guess
        self._before = self._here = self._later = 0

    def expect(self, later: int) -> None:
        """Record the data sets that may follow after the round that now begins."""
        self._later = later

    def report(self, progress: Progress) -> None:
        """Pass on the progress of a round as that of the search."""
        self._here = progress.total
        if self._tell is not None:
            done, total = self._before + progress.done, self._before + progress.total + self._later
            what = progress.what if done else self._guess
            self._tell(replace(progress, done=done, total=total, what=what, at_most=True))

    def finish_round(self) -> None:
        """Count the round that has ended."""
        self._before, self._here = self._before + self._here, 0


@dataclass(frozen=True)
class _Search:
    """What the search does not change: truth, analysis, where to look, how it is run."""

    truth: Truth
    effects: tuple[float, ...]
    effect: float
    models: tuple[str, ...]
    spec: AnalysisSpec
    space: SearchSpace
    run: Run

    def explore(self, families: list[DesignFamily], engine: Engine, watch: "_Watch") -> list[DesignFamily]:
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
            watch.expect((ROUNDS - step - 1) * len(active) * sets + self.run.n_sets)
            for place, result in zip(active, self.simulate(cells, sets, step, engine, watch), strict=True):
                families[place] = families[place].add(
                    result.items, round(result.power * result.sims), result.sims
                )
        return families

    def may_win(self, family: DesignFamily, leader: float, step: int) -> bool:
        """Return whether a family is worth simulating: its best case is not far above the leader's size.

        Where fits are quick all are, at first. Where they are slow, the first guess counts as known.
        """
        if step == 0 and family.quick:
            return True
        best_case = family.spread[0] if family.probes else family.items
        return self.measure(family, best_case) <= BEHIND * leader

    def confirm(
        self, families: list[DesignFamily], engine: Engine, watch: "_Watch"
    ) -> tuple[CellResult | None, list[DesignFamily]]:
        """Return what simulations gave at the size of the best option, and the families with these.

        Where the power found there misses the target, the line is updated, the size is too small for that
        family, and the best option of all is tried next. None where no option is left within the limits.
        """
        for step in range(ROUNDS):
            options = [self.describe(family) for family in families]
            place = min(range(len(options)), key=lambda place: self.rank(options[place]))
            if not options[place].within_budget:
                return None, families
            items = options[place].items
            cell = self.make_cell(families[place], items)
            watch.expect(0)
            (result,) = self.simulate([cell], self.run.n_sets, ROUNDS + step, engine, watch)
            tried = families[place].add(items, round(result.power * result.sims), result.sims)
            if result.power >= tried.target or step == ROUNDS - 1:
                families[place] = replace(tried, settled=items)
                return result, families
            families[place] = replace(tried, least=tried.round_up(items + 1))
        return None, families

    def simulate(
        self, cells: list[Cell], sims: int, step: int, engine: Engine, watch: "_Watch"
    ) -> list[CellResult]:
        """Return the results of some cells, with random numbers that no other round has."""
        seed = int(stream(self.run.seed, "size", step).integers(2**31))
        # Two families may share one cell; each gets its result nevertheless.
        unique = {cell.key: cell for cell in cells}
        run = Run(sims, seed=seed, engine=engine, on_progress=watch.report)
        grid = Grid(tuple(unique.values()), self.models, self.spec, run)
        found = dict(zip(unique, run_grid(grid), strict=True))
        watch.finish_round()
        return [found[cell.key] for cell in cells]

    def make_cell(self, family: DesignFamily, items: int) -> Cell:
        """Return the cell of a family's design."""
        return Cell(self.truth, family.sample(items).lay_out(self.run.seed), self.effect, self.effects)

    def describe(self, family: DesignFamily) -> DesignOption:
        """Return the design at which a family reaches the target, or the largest considered."""
        count = family.items
        sampling = family.sample(count)
        loads = sampling.loads
        cost = self.space.tariff.find_cost(loads) if self.space.tariff is not None else None
        low, high = family.spread
        if family.reaches:  # the line may lie lower where a size was too small in simulations of its own
            low, high = min(low, count), max(high, count)
        fits = self.space.allows(cost, len(loads)) and family.reaches
        return DesignOption(
            items=count,
            ratings_per_item=family.ratings_per_item,
            outputs_per_rater=sampling.load,
            raters=len(loads),
            ratings=sum(loads) * self.space.turns,
            cost=cost,
            power=float(family.predict(count)),
            items_low=low,
            items_high=high,
            sims=sum(probe.sims for probe in family.probes),
            reaches=family.reaches,
            within_budget=fits,
        )

    def measure(self, family: DesignFamily, items: int) -> float:
        """Return the value to minimise, at a number of items."""
        loads = family.sample(min(items, family.most_items)).loads
        if self.space.smallest == "cost" and self.space.tariff is not None:
            return self.space.tariff.find_cost(loads)
        return float({"ratings": sum(loads), "raters": len(loads), "items": items}[self.space.smallest])

    def rank(self, option: DesignOption) -> tuple[bool, float, int]:
        """Return the key that puts the best option first."""
        small = {"cost": option.cost or 0.0, "ratings": option.ratings, "raters": option.raters}
        return not option.within_budget, float(small.get(self.space.smallest, option.items)), option.ratings

    def say_guess(self, families: Sequence[DesignFamily]) -> str:
        """Return what is expected from the variances alone, before anything is simulated."""
        best = self.describe(min(families, key=lambda family: self.measure(family, family.items)))
        if not best.reaches:
            return "expected: no design within the limits"
        return f"expected: {best.items} items × {best.ratings_per_item} = {best.ratings:,} ratings"

    def find_notes(self, options: Sequence[DesignOption]) -> list[str]:
        """Return what a reader should know about the limits."""
        notes = []
        if any(not option.sims for option in options):
            notes.append(
                "Rows marked 'not simulated' are clearly larger than others: their sizes follow from the "
                "variances alone."
            )
        if any(not option.reaches for option in options):
            notes.append(
                "Rows marked 'not reached' end at the largest design considered; their power is that of the "
                "line there."
            )
        return notes

    def tell_misses(self, families: Sequence[DesignFamily], confirmed: CellResult | None) -> list[str]:
        """Return what was simulated too small, or not well enough, at sizes that a line called sufficient."""
        if confirmed is None:
            return []
        notes = []
        if confirmed.power < families[0].target:
            notes.append(
                f"{ROUNDS} sizes were simulated {confirmed.sims:,} times each, and all missed the target, "
                "this one included: take it as a lower bound, or raise --sims."
            )
        if any(family.least > family.line_items for family in families):
            notes.append(
                "A size that misses the target in its own simulations counts as too small, even where the "
                "line reaches it: a row may lie above its line. More --sims bring the two together."
            )
        return notes
