"""How often pairs of equal systems are told apart: choices of raters and about items that hang together."""

from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd

from bench.report import Options, Section, say
from panelist.analysis.comparative.bradley_terry import fit_bradley_terry
from panelist.analysis.comparative.choice_model import Cluster
from panelist.analysis.comparative.compare_choices import contrast_strengths
from panelist.analysis.comparative.trials import Trials, read_trials
from panelist.core.formats import TEXT, decimals
from panelist.core.ratings import read_ratings
from panelist.core.result import Part, Table
from panelist.core.seeds import stream

PAGE = Path(__file__).resolve().parents[1] / "docs" / "comparisons.md"
SIZES = ((40, 20), (3, 100), (12, 30), (24, 40))
SYSTEMS = (2, 3, 5)
SPREADS = tuple(product((0.0, 0.5), (0.0, 0.7)))  # of raters' and of items' own preferences for a system
TRIED: tuple[Cluster, ...] = ("both", "rater")
SETS = 1000
LEVEL = 0.95


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
class Choices(Section):
    """Familywise error of every design."""

    rows: tuple[Row, ...]

    def title(self) -> str:
        """Return the heading."""
        return "Choices"

    def parts(self) -> list[Part]:
        """Return the table."""
        header = ("raters × items × systems", "rater SD", "item SD", "both", "rater")
        rows = [
            (f"{r.raters} × {r.items} × {r.systems}", r.rater_sd, r.item_sd, r.both, r.rater)
            for r in self.rows
        ]
        formats = {name: decimals(3) for name in header[3:]} | {name: decimals(1) for name in header[1:3]}
        note = (
            f"{self.rows[0].sets:,} data sets a row without any difference: the share in which at least one "
            f"pair differs at {1 - LEVEL:g}, Tukey-adjusted, by whose answers are clusters. Each rater is "
            "shown one pair of each item."
        )
        return [Table("Familywise error of choices", header, rows, {header[0]: TEXT, **formats}, note=note)]


def measure(options: Options) -> Choices:
    """Return the familywise error of every design; with ``--full`` from four times as many data sets."""
    sets = SETS * (4 if options.full else 1)
    rows = []
    for (raters, items), systems, (rater_sd, item_sd) in product(SIZES, SYSTEMS, SPREADS):
        say(f"  {raters} × {items} × {systems}, {rater_sd:g}, {item_sd:g} …")
        rows.append(measure_design(raters, items, systems, rater_sd, item_sd, sets))
    return Choices(tuple(rows))


def measure_design(raters: int, items: int, systems: int, rater_sd: float, item_sd: float, sets: int) -> Row:
    """Return how often equal systems are told apart in one design."""
    rng = stream(1, "choices", raters, items, systems, int(10 * rater_sd), int(10 * item_sd))
    found = dict.fromkeys(TRIED, 0)
    for _ in range(sets):
        trials = draw_choices(rng, raters, items, systems, rater_sd, item_sd)
        for cluster in TRIED:
            pairs = contrast_strengths(fit_bradley_terry(trials, cluster), "tukey", LEVEL)
            found[cluster] += bool((pairs.p_adjusted < 1 - LEVEL).any())
    shares = {cluster: n / sets for cluster, n in found.items()}
    return Row(raters, items, systems, rater_sd, item_sd, sets, **shares)


def draw_choices(
    rng: np.random.Generator,
    raters: int,
    items: int,
    systems: int,
    rater_sd: float,
    item_sd: float,
    lead: float = 0.0,
) -> Trials:
    """Return pairs that each rater saw of each item; the last system leads by ``lead``, the others are equal.

    Raters and items have preferences of their own for every system.
    """
    rater, item = np.repeat(np.arange(raters), items), np.tile(np.arange(items), raters)
    shown = np.array(list(combinations(range(systems), 2)))
    pair = shown[rng.integers(len(shown), size=len(rater))]
    taste = rng.normal(0.0, rater_sd, (raters, systems))
    fit = rng.normal(0.0, item_sd, (items, systems))
    strength = taste[rater] + fit[item] + lead * (np.arange(systems) == systems - 1)
    rows = np.arange(len(rater))
    odds = strength[rows, pair[:, 0]] - strength[rows, pair[:, 1]]
    won = rng.random(len(rater)) < 1 / (1 + np.exp(-odds))
    table = _read_template(raters, items)
    place = np.column_stack([np.where(won, 0.0, 2.0), np.where(won, 2.0, 0.0)])
    names = tuple(f"s{number}" for number in range(systems))
    return replace(table, systems=names, system=pair.ravel().astype(np.int64), place=place.ravel())


_TEMPLATES: dict[tuple[int, int], Trials] = {}


def _read_template(raters: int, items: int) -> Trials:
    """Return the trials of a design, read once; who was shown and who won are filled in later."""
    if (raters, items) not in _TEMPLATES:
        names = [(f"r{r:03}", f"i{i:03}") for r in range(raters) for i in range(items)]
        frame = pd.DataFrame(names, columns=["rater", "item"])
        frame = frame.assign(system_a="a", system_b="b", winner="a")
        _TEMPLATES[raters, items] = read_trials(read_ratings(frame), "choice")
    return _TEMPLATES[raters, items]
