"""How often pairs of equal systems are told apart: choices of raters and about items that hang together."""

from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd

from bench.report import Options, Section, say
from panelist.analysis.choices.trials import ChoiceTrials, read_trials
from panelist.analysis.spec import AnalysisSpec
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Table
from panelist.core.seeds import stream
from panelist.core.tables.ratings import read_ratings
from panelist.models.inference.adjust import HypothesisFamily, find_adjustment
from panelist.numerics.arrays import Floats, Longs
from panelist.power.analyses.base import ANALYSES, SimulatedPairTests
from panelist.power.layouts.base import Layout

PAGE = Path(__file__).resolve().parents[1] / "docs" / "comparisons.md"
SIZES = ((40, 20), (24, 40), (12, 30), (3, 100))
SYSTEMS = (2, 3, 5)
SPREADS = tuple(product((0.0, 0.5), (0.0, 0.7)))  # of raters' and of items' own preferences for a system
SETS, BATCH = 2000, 50  # data sets of a design, and how many of them show the same pairs
ALPHA = 0.05


@dataclass(frozen=True)
class Row:
    """One design: the share of data sets in which some pair was called different, by clusters."""

    raters: int
    items: int
    systems: int
    rater_sd: float
    item_sd: float
    sets: int
    both: float
    rater: float


@dataclass(frozen=True)
class Errors(Section):
    """Familywise error of every design."""

    rows: tuple[Row, ...]

    def title(self) -> str:
        """Return the heading."""
        return "Choices"

    def parts(self) -> list[Part]:
        """Return the table."""
        header = ("raters × items × systems", "rater SD", "item SD", "raters and items", "raters alone")
        rows = [
            (f"{r.raters} × {r.items} × {r.systems}", r.rater_sd, r.item_sd, r.both, r.rater)
            for r in self.rows
        ]
        formats = {name: decimals(3) for name in header[3:]} | {name: decimals(1) for name in header[1:3]}
        note = (
            f"{self.rows[0].sets:,} data sets for each row, without any difference: the share in which at "
            f"least one pair differs at {ALPHA:g}, Tukey-adjusted, by what the clusters are. Each rater sees "
            "one pair of each item; the standard deviations are those of preferences for a system, in logits."
        )
        return [Table("Familywise error of choices", header, rows, {header[0]: TEXT, **formats}, note=note)]


def measure(options: Options) -> Errors:
    """Return the familywise error of every design; with ``--full`` from four times as many data sets."""
    sets = SETS * (4 if options.full else 1)
    rows = []
    for (raters, items), systems, (rater_sd, item_sd) in product(SIZES, SYSTEMS, SPREADS):
        say(f"  {raters} × {items} × {systems}, {rater_sd:g}, {item_sd:g} …")
        rows.append(measure_design(raters, items, systems, rater_sd, item_sd, sets))
    return Errors(tuple(rows))


def measure_design(raters: int, items: int, systems: int, rater_sd: float, item_sd: float, sets: int) -> Row:
    """Return how often equal systems are told apart in one design.

    The analysis is that of power studies, which takes many data sets at once; a test holds it to that of
    ``panelist compare``.
    """
    rng = stream(1, "choices", raters, items, systems, int(10 * rater_sd), int(10 * item_sd))
    both = rater = 0
    for _ in range(sets // BATCH):
        pair = draw_pairs(rng, raters, items, systems)
        won = np.stack([draw_winners(rng, pair, raters, items, rater_sd, item_sd) for _ in range(BATCH)])
        latent = np.stack([won, ~won], axis=2).reshape(BATCH, -1).astype(np.float64)
        layout = lay_out(pair, raters, items, systems)
        alone = replace(layout, item=np.zeros_like(layout.item), n_items=1)  # one item: raters are left
        both += _count_found(layout, latent)
        rater += _count_found(alone, latent)
    return Row(raters, items, systems, rater_sd, item_sd, sets, both / sets, rater / sets)


def _count_found(layout: Layout, latent: Floats) -> int:
    """Return in how many data sets some pair differs; only small p-values need the adjustment."""
    tests: SimulatedPairTests = ANALYSES["bradley_terry"].prepare(layout, AnalysisSpec())(latent)
    near = tests.p < ALPHA
    family = HypothesisFamily(tests.statistic[near], tests.df[near], layout.n_systems)
    found = near.copy()
    if near.any():
        found[near] = find_adjustment("tukey").adjust(family) < ALPHA
    return int(found.any(axis=1).sum())


def draw_pairs(rng: np.random.Generator, raters: int, items: int, systems: int) -> Longs:
    """Return the two systems that each rater sees of each item."""
    shown = np.array(list(combinations(range(systems), 2)), dtype=np.int64)
    return shown[rng.integers(len(shown), size=raters * items)]


def draw_winners(
    rng: np.random.Generator,
    pair: Longs,
    raters: int,
    items: int,
    rater_sd: float,
    item_sd: float,
    lead: float = 0.0,
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return where the first of two wins; the last system leads by ``lead``, the others are equal."""
    systems = int(pair.max()) + 1
    taste = rng.normal(0.0, rater_sd, (raters, systems))
    fit = rng.normal(0.0, item_sd, (items, systems))
    strength = np.repeat(taste, items, axis=0) + np.tile(fit, (raters, 1))
    strength = strength + lead * (np.arange(systems) == systems - 1)
    first, second = (np.take_along_axis(strength, pair[:, [side]], axis=1)[:, 0] for side in (0, 1))
    won: np.ndarray[tuple[int], np.dtype[np.bool_]] = rng.random(len(pair)) < 1 / (1 + np.exp(second - first))
    return won


def lay_out(pair: Longs, raters: int, items: int, systems: int) -> Layout:
    """Return the design as power studies have it: two rows a page."""
    page = np.repeat(np.arange(len(pair)), 2).astype(np.int32)
    return Layout(
        rater=(page // items).astype(np.int32),
        item=(page % items).astype(np.int32),
        system=pair.ravel().astype(np.int32),
        n_raters=raters,
        n_items=items,
        systems=tuple(f"s{number}" for number in range(systems)),
        ratings_per_item=raters,
        page=page,
    )


def make_trials(pair: Longs, won: "np.ndarray[tuple[int], np.dtype[np.bool_]]", items: int) -> ChoiceTrials:
    """Return the same choices as ``panelist compare`` reads them."""
    n = np.arange(len(pair))
    frame = pd.DataFrame(
        {
            "rater": [f"r{r:03}" for r in n // items],
            "item": [f"i{i:03}" for i in n % items],
            "system_a": [f"s{s}" for s in pair[:, 0]],
            "system_b": [f"s{s}" for s in pair[:, 1]],
            "winner": np.where(won, "A", "B"),
        }
    )
    return read_trials(read_ratings(frame), "choice")
