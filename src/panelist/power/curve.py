"""Power curves: the grid asked for, simulated, and the result that shows itself."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from panelist.core.errors import PanelistError, UnknownName
from panelist.core.result import Part, Result, Sentence, json_ready
from panelist.models.batch import DEGREES
from panelist.models.inference.adjust import find_adjustment
from panelist.power.analyses import ANALYSES
from panelist.power.analyses.base import Choices
from panelist.power.cells import Cell, CellResult
from panelist.power.curve_tables import make_tables
from panelist.power.cuts import Slider
from panelist.power.grid import Grid, Progress, run_grid
from panelist.power.layouts import Layout, lay_out_lists, lay_out_released
from panelist.power.presets import find_preset
from panelist.power.truth import Truth, find_effects

if TYPE_CHECKING:
    import pandas as pd

MODELS = ("clmm", "lmm")
SIMS = 200
MOST_SIMS = 5000  # where a precision says when it is enough


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

    @property
    def table(self) -> "pd.DataFrame":
        """The cells as a frame, a row a cell and model."""
        import pandas as pd

        rows = [
            {name: value for name, value in one.to_dict().items() if name != "pairs"} for one in self.cells
        ]
        return pd.DataFrame(rows)

    def title(self) -> str:
        """Return the heading."""
        null = all(one.effect == 0 for one in self.cells)
        return f"{'Type I error' if null else 'Power'} by simulation"

    def parts(self) -> list[Part]:
        """Return the table of cells, the pairs where there are several, and the notes."""
        several = any(len(one.pairs) > 1 for one in self.cells)
        parts = make_tables(self.cells)
        adjusted = f", {find_adjustment(self.adjust).label} p-values" if several else ""
        said = f"\nalpha {self.alpha:g}{adjusted}; intervals are exact 95 % intervals of the share; "
        said += f"seed {self.seed}; {self.fits:,} analyses in {self.seconds:.1f} s."
        parts.append(Sentence(said))
        return [*parts, *(Sentence(note) for note in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Return cells, seconds, fits and what they hang on."""
        return dict(
            json_ready(
                {
                    "cells": [one.to_dict() for one in self.cells],
                    "seconds": self.seconds,
                    "fits": self.fits,
                    "seed": self.seed,
                    "alpha": self.alpha,
                    "adjust": self.adjust,
                    "notes": self.notes,
                }
            )
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
    df: str = "t",
    as_compared: bool = True,
    precision: float | None = None,
    engine: str = "local",
    workers: int | None = None,
    journal: str | Path | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> PowerCurve:
    """Return the power of each analysis at every combination of items, ratings, effects and presets.

    ``effects`` are differences of neighbouring systems in threshold distances (0.62 residual standard
    deviations in the presets); 0 gives the type I error. Without them a ``truth`` that has effects of its own
    (a pilot) uses these, and presets 0.25 to 1. ``layout`` takes the place of items, ratings and raters.
    Every data set is analysed as ``compare_systems`` would analyse it, unless ``as_compared`` is false: then
    by the largest model that the design can bear, whatever comes of it. A ``formula`` is fitted as it is.
    ``as_released`` is the paper's released script: its lists, ML, z and the largest model.
    With ``precision`` a cell stops once the interval of its power is as narrow on either side, after at most
    ``sims`` data sets (5,000; without a precision 200 are simulated). The same seed gives the same numbers,
    whatever the engine and the number of workers.
    """
    start = time.perf_counter()
    truths = _list(truth) if truth is not None else [find_preset(name) for name in _list(preset)]
    sizes = (_list(items), _list(ratings_per_item), systems, outputs_per_rater, _list(raters))
    layouts = _list(layout) if layout is not None else make_layouts(*sizes, as_released, seed)
    if df not in DEGREES:
        raise UnknownName(f"df is {' or '.join(DEGREES)}. Got {df!r}.")
    choices = Choices(
        alpha=alpha,
        adjust=adjust,
        link=link,
        method="ML" if as_released else "REML",
        formula=formula,
        df="z" if as_released else df,
        as_compared=as_compared and not as_released,
    )
    cells = make_cells(truths, layouts, None if effects is None else _list(effects), pattern)
    names = check_models(_list(models), truths, layouts)
    find_adjustment(adjust)
    most = sims if sims is not None else SIMS if precision is None else MOST_SIMS
    grid = Grid(tuple(cells), names, choices, most, seed, precision)
    path = None if journal is None else Path(journal)
    found = run_grid(grid, engine, workers, path, on_progress)
    return PowerCurve(
        tuple(found),
        time.perf_counter() - start,
        sum(one.sims for one in found),
        seed,
        alpha,
        adjust,
        (*chain.from_iterable(one.notes for one in truths), *make_notes(found, names, precision, most)),
    )


def make_layouts(
    items: Iterable[int],
    ratings_per_item: Iterable[int],
    systems: int,
    outputs_per_rater: int | None,
    raters: Iterable[int] | None,
    as_released: bool,
    seed: int,
) -> list[Layout]:
    """Return the paper's design, or that of its released script, for all combinations."""
    if as_released:
        if systems != 2 or raters is not None or outputs_per_rater is not None:
            raise PanelistError(
                "The released lists are for two systems and 20 outputs a rater: leave --systems, --raters "
                "and --outputs-per-rater out."
            )
        return [lay_out_released(n, k) for n in items for k in ratings_per_item]
    return [
        lay_out_lists(n, k, systems, outputs_per_rater, count, seed)
        for n in items
        for k in ratings_per_item
        for count in (raters if raters is not None else (None,))
    ]


def make_cells(
    truths: Sequence[Truth],
    layouts: Sequence[Layout],
    effects: Sequence[float] | None,
    pattern: str = "steps",
) -> list[Cell]:
    """Return a cell for every combination, each once."""
    cells: dict[str, Cell] = {}
    for truth in truths:
        for layout in layouts:
            for cell in _make_cells(truth, layout, effects, pattern):
                cells.setdefault(cell.key, cell)
    return list(cells.values())


def _make_cells(truth: Truth, layout: Layout, effects: Sequence[float] | None, pattern: str) -> list[Cell]:
    if effects is None and truth.effects is not None:
        if len(truth.effects) != layout.n_systems:
            raise PanelistError(
                f"The pilot has {len(truth.effects)} systems, and the design {layout.n_systems}. Say "
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
    found: Sequence[CellResult], models: Sequence[str], precision: float | None, sims: int
) -> list[str]:
    """Return what a reader should know: tests that are none, failures, cells less precise than asked."""
    notes = []
    for ignored in sorted({ANALYSES[name].ignores for name in models} - {()}):
        careless = [name for name in models if ANALYSES[name].ignores == ignored]
        null = [one.power for one in found if one.model in careless and one.effect == 0]
        here = (
            f" Here up to {max(null):.0%} of studies find a difference where there is none." if null else ""
        )
        verb, verdict = ("takes", "it is no test") if len(careless) == 1 else ("take", "they are no tests")
        notes.append(
            f"{', '.join(careless)} {verb} no account of differences between {' and '.join(ignored)}: where "
            f"there are any, {verdict} at level alpha, and more power is no merit.{here}"
        )
    failed = sum(one.failed for one in found)
    if failed:
        notes.append(
            f"{failed:,} of {sum(one.sims for one in found):,} fits failed; they count as finding nothing."
        )
    notes += _tell_analyses(found)
    if precision is not None:
        wide = sum((one.high - one.low) / 2 > precision for one in found)
        if wide:
            notes.append(
                f"{wide} of {len(found)} powers are known less precisely than ±{precision:g} after {sims:,} "
                "data sets; allow more with --sims."
            )
    return notes


def _tell_analyses(found: Sequence[CellResult]) -> list[str]:
    """Return what was done where the usual analysis would not do."""
    notes, total = [], sum(one.sims for one in found)
    if led := sum(one.led_by_linear for one in found):
        sets = sum(one.sims for one in found if one.model == "clmm")
        notes.append(
            f"In {led:,} of {sets:,} data sets the ordinal model is not to be trusted, for raters are too "
            "nearly unanimous: as in compare, the linear mixed model is taken there."
        )
    if apart := sum(one.separated for one in found):
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
