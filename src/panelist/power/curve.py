"""Power curves: the grid asked for, simulated, and its result."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from panelist.analysis.spec import AnalysisSpec
from panelist.core.display.result import Part, Result, Sentence, json_object, pick
from panelist.core.errors import PanelistError, UnknownName
from panelist.core.margin import UNITS, Margin, find_level, read_margin
from panelist.core.progress import OnProgress
from panelist.models.batch import TESTS
from panelist.models.inference.adjust import find_adjustment
from panelist.power.analyses import ANALYSES
from panelist.power.cells import Cell, CellResult
from panelist.power.claims import SHARES, check_claim, place_systems
from panelist.power.curve_tables import DISTANCES, make_tables
from panelist.power.grid import Grid, run_grid
from panelist.power.judged import JudgedDesign, JudgedPower, show_judged
from panelist.power.layouts.base import Layout, Sampling, list_samplings
from panelist.power.run import Run
from panelist.power.truth.base import Truth, find_effects
from panelist.power.truth.cuts import Slider

if TYPE_CHECKING:
    import pandas as pd


MODELS = ("clmm", "lmm")


@dataclass(frozen=True)
class PowerCurve(Result):
    """What a grid of simulations gave: a result for every cell and model."""

    cells: tuple[CellResult, ...]
    seconds: float
    fits: int
    seed: int
    alpha: float
    adjust: str
    notes: tuple[str, ...] = ()
    claim: str | None = None
    """What is shown, equivalence or non-inferiority; None where it is a difference."""
    margin: Margin | None = None
    effect_unit: str = DISTANCES
    judge: tuple[JudgedDesign, ...] = ()
    """What a judge would add to each design, where one is planned for."""
    judge_power: tuple[JudgedPower, ...] = ()
    """The power with the judge, simulated."""

    @property
    def table(self) -> "pd.DataFrame":
        """The cells as a frame, one row per cell and model."""
        import pandas as pd

        rows = [
            {name: value for name, value in one.to_dict().items() if name != "pairs"} for one in self.cells
        ]
        return pd.DataFrame(rows)

    def title(self) -> str:
        """Return the heading."""
        if self.claim is not None and self.margin is not None:
            return f"Power to show {self.claim} within {self.margin.words}, by simulation"
        null = all(one.effect == 0 for one in self.cells)
        return f"{'Type I error' if null else 'Power'} by simulation"

    def parts(self) -> list[Part]:
        """Return the table of cells, the pairs where there are several, and the notes."""
        several = any(len(one.pairs) > 1 for one in self.cells)
        parts = make_tables(self.cells, self.claim, self.effect_unit)
        adjusted = f", {find_adjustment(self.adjust).label} p-values" if several else ""
        level = self.alpha
        if self.claim is not None:
            level, adjusted = find_level(self.claim, level), " (one-sided)"
            adjusted += ", pairs Holm-adjusted, all pairs as one claim" if several else ""
        said = f"\nalpha {level:g}{adjusted}; intervals are exact 95 % intervals of the share; "
        said += f"seed {self.seed}; {self.fits:,} analyses in {self.seconds:.1f} s."
        parts.append(Sentence(said))
        return [*parts, *show_judged(self.judge, self.judge_power), *(Sentence(note) for note in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Return cells, seconds, fits and what they depend on."""
        return json_object(
            {
                "cells": [one.to_dict() for one in self.cells],
                **pick(self, "seconds fits seed alpha adjust notes claim effect_unit"),
                "margin": None if self.margin is None else self.margin.written,
                **({"judge": [vars(one) for one in self.judge]} if self.judge else {}),
                **({"judge_power": [vars(one) for one in self.judge_power]} if self.judge_power else {}),
            }
        )


def simulate_power(
    items: int | Sequence[int] = 100,
    ratings_per_item: int | Sequence[int] = 3,
    effects: float | Sequence[float] | None = None,
    preset: str | Sequence[str] = "general",
    sims: int | None = None,
    models: str | Sequence[str] = MODELS,
    seed: int = 1,
    *,
    raters: int | Sequence[int] | None = None,
    outputs_per_rater: int | None = None,
    systems: int = 2,
    pattern: str = "steps",
    truth: Truth | Sequence[Truth] | None = None,
    layout: Layout | Sequence[Layout] | None = None,
    as_released: bool = False,
    alpha: float = 0.05,
    adjust: str = "tukey",
    formula: str = "maximal",
    link: str = "probit",
    test: str = "t",
    claim: str | None = None,
    margin: Margin | float | str | None = None,
    as_compared: bool = True,
    precision: float | None = None,
    engine: str = "local",
    workers: int | None = None,
    journal: str | Path | None = None,
    on_progress: OnProgress | None = None,
) -> PowerCurve:
    """Return the power of each analysis at every combination of items, ratings, effects and presets.

    ``effects`` are differences of neighbouring systems in threshold distances (0.62 residual standard
    deviations in the presets); 0 gives the type I error. Without them a ``truth`` with its own effects
    (a pilot) uses these, and presets 0.25 to 1. ``layout`` replaces items, ratings and raters.
    Every data set is analysed as ``compare_systems`` would analyse it, unless ``as_compared`` is false: then
    by the largest model that the design supports, whether or not it fits well. A ``formula`` is fitted as it
    is. With ``claim`` ("equivalence" or "non-inferiority") the power is that of showing it within ``margin``
    (0.5, points, or "0.3 latent"), without ``effects`` at no true difference and at a third of the margin.
    ``as_released`` is the paper's released script: its lists, ML, z and the largest model.
    With ``precision`` a cell stops once the interval of its power is that narrow on either side, after at
    most ``sims`` data sets (5,000; without a precision 200 are simulated). The same seed gives the same
    numbers, whatever the engine and the number of workers.
    """
    truths = _list(truth) if truth is not None else [Truth.preset(name) for name in _list(preset)]
    samplings = list_samplings(
        _list(items) or [None], _list(ratings_per_item) or [None], systems, outputs_per_rater, _list(raters)
    )
    layouts = _list(layout) if layout is not None else lay_out(samplings, seed, as_released)
    spec = AnalysisSpec(
        link=link,
        formula=formula,
        adjust=adjust,
        confidence=1 - alpha,
        test=test,
        claim=claim,
        margin=read_margin(margin),
    )
    spec = spec.as_released() if as_released else replace(spec, as_compared=as_compared)
    cells = make_cells(truths, layouts, None if effects is None else _list(effects), pattern, spec)
    run = Run(sims, precision, seed, engine, workers, journal, on_progress)
    return simulate_cells(cells, _list(models), spec, run, given=effects is not None)


def name_unit(spec: AnalysisSpec, *, given: bool) -> str:
    """Return the unit of effects: that of the margin of a claim, unless they were given."""
    return DISTANCES if given or spec.claim is None or spec.margin is None else UNITS[spec.margin.unit]


def simulate_cells(
    cells: Sequence[Cell], models: Sequence[str], spec: AnalysisSpec, run: Run, *, given: bool = False
) -> PowerCurve:
    """Return the power of each analysis in each cell; ``given`` where the effects of a claim were."""
    start = time.perf_counter()
    if spec.test not in TESTS:
        raise UnknownName(f"test is {' or '.join(TESTS)}. Got {spec.test!r}.")
    truths = list(dict.fromkeys(cell.truth for cell in cells))
    names = check_models(models, truths, [cell.layout for cell in cells])
    check_claim(names, spec)
    found = run_grid(Grid(tuple(cells), names, spec, run))
    notes = chain.from_iterable(truth.notes for truth in truths)
    return PowerCurve(
        tuple(found),
        time.perf_counter() - start,
        sum(one.sims for one in found),
        run.seed,
        spec.alpha,
        spec.adjust,
        (*notes, *make_notes(found, names, run, spec.claim)),
        spec.claim,
        None if spec.claim is None else spec.margin,
        name_unit(spec, given=given),
    )


def lay_out(samplings: Iterable[Sampling], seed: int, as_released: bool = False) -> list[Layout]:
    """Return the paper's design, or that of its released script, for each sampling."""
    return [one.lay_out_released() if as_released else one.lay_out(seed) for one in samplings]


def make_cells(
    truths: Sequence[Truth],
    layouts: Sequence[Layout],
    effects: Sequence[float] | None,
    pattern: str = "steps",
    spec: AnalysisSpec | None = None,
) -> list[Cell]:
    """Return a cell for every combination, each once; of a claim, at the differences that belong to it."""
    cells: dict[str, Cell] = {}
    claimed = effects is None and spec is not None and spec.claim is not None
    for truth in truths:
        for layout in layouts:
            truth.check_design(layout.n_systems, compares=layout.page is not None)
            if claimed and spec is not None:
                placed = [place_systems(truth, layout.n_systems, spec, share) for share in SHARES]
                made = [Cell(truth, layout, float(f"{size:.3g}"), own) for size, own in placed]
            else:
                made = _make_cells(truth, layout, effects, pattern)
            for cell in made:
                cells.setdefault(cell.key, cell)
    return list(cells.values())


def _make_cells(truth: Truth, layout: Layout, effects: Sequence[float] | None, pattern: str) -> list[Cell]:
    if effects is None and truth.effects is not None:
        if len(truth.effects) != layout.n_systems:
            raise PanelistError(
                f"The pilot has {len(truth.effects)} systems, and the design {layout.n_systems}. Use "
                f"--systems {len(truth.effects)}, or give --effects."
            )
        gaps = [abs(b - a) for a, b in zip(truth.effects, truth.effects[1:], strict=False)]
        return [Cell(truth, layout, round(max(gaps) / truth.unit, 4), truth.effects)]
    return [
        Cell(truth, layout, effect, find_effects(effect, layout.n_systems, truth.unit, pattern))
        for effect in (effects if effects is not None else (0.25, 0.5, 0.75, 1.0))
    ]


def check_models(
    models: Sequence[str], truths: Sequence[Truth], layouts: Sequence[Layout]
) -> tuple[str, ...]:
    """Return the analyses, each once, or say which cannot read what is simulated."""
    if not models:
        raise PanelistError(f"Name at least one analysis: {', '.join(ANALYSES)}.")
    kinds = {"choices"} if any(layout.page is not None for layout in layouts) else set()
    if not kinds:
        kinds = {"slider" if isinstance(truth.cuts, Slider) else "points" for truth in truths}
    for name in models:
        if lost := sorted(kinds - set(ANALYSES[name].reads)):
            able = [other for other, one in ANALYSES.items() if kinds <= set(one.reads)]
            raise PanelistError(f"The analysis {name} cannot read {lost[0]}. These can: {', '.join(able)}.")
    return tuple(dict.fromkeys(models))


def make_notes(
    found: Sequence[CellResult], models: Sequence[str], run: Run, claim: str | None = None
) -> list[str]:
    """Return what a reader should know: invalid tests, failures, cells less precise than asked."""
    notes = []
    for ignored in sorted({ANALYSES[name].ignores for name in models} - {()}):
        careless = [name for name in models if ANALYSES[name].ignores == ignored]
        null = [one.power for one in found if one.model in careless and one.effect == 0 and claim is None]
        here = (
            f" Here up to {100 * max(null):.0f} % of studies find a difference where there is none."
            if null
            else ""
        )
        verb, verdict = (
            ("takes", "it is not a test") if len(careless) == 1 else ("take", "they are not tests")
        )
        notes.append(
            f"{', '.join(careless)} {verb} no account of differences between {' and '.join(ignored)}: where "
            f"there are any, {verdict} at level alpha, and its higher power is no advantage.{here}"
        )
    failed = sum(one.failed for one in found)
    if failed:
        notes.append(
            f"{failed:,} of {sum(one.sims for one in found):,} fits failed; they count as finding nothing."
        )
    notes += _tell_analyses(found)
    if run.precision is not None:
        wide = sum((one.high - one.low) / 2 > run.precision for one in found)
        if wide:
            notes.append(
                f"{wide} of {len(found)} powers are known less precisely than ±{run.precision:g} after "
                f"{run.n_sets:,} data sets; allow more with --sims."
            )
    return notes


def _tell_analyses(found: Sequence[CellResult]) -> list[str]:
    """Return what was done where the usual analysis would fail."""
    notes, total = [], sum(one.sims for one in found)
    if led := sum(one.led_by_linear for one in found):
        sets = sum(one.sims for one in found if one.model == "clmm")
        notes.append(
            f"In {led:,} of {sets:,} data sets the ordinal model cannot be trusted, because raters are too "
            "nearly unanimous: as in compare, the linear mixed model is used there."
        )
    compares = {name for name, one in ANALYSES.items() if "choices" in one.reads}
    if apart := sum(one.separated for one in found if one.model in compares):
        sets = sum(one.sims for one in found if one.model in compares)
        notes.append(
            f"In {apart:,} of {sets:,} analyses of choices a system never lost, or answers were nearly "
            "unanimous: as in compare, the clustered model tests them, by sign tests where one won all."
        )
    if apart := sum(one.separated for one in found if one.model not in compares):
        notes.append(
            f"In {apart:,} of {total:,} analyses all ratings of a system were at one end of the scale: its "
            "differences are tested as if one rating had been less extreme, as compare does."
        )
    return notes


def _list(value: Any) -> Any:
    """Return a list of one or more values; None stays None."""
    if value is None:
        return None
    return [value] if isinstance(value, str | int | float | Truth | Layout) else list(value)
