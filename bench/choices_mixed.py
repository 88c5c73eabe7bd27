"""How often the mixed model of pairs tells equal systems apart, with few raters and items.

``python -m bench choices-mixed`` writes its table into docs/comparisons.md.
"""

from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from bench.choices_clustered import ALPHA, draw_pairs, lay_out
from bench.report import Options, Section, say
from panelist.analysis.choices.models.mixed_part import MixedCovariance
from panelist.analysis.spec import AnalysisSpec
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Table
from panelist.core.seeds import stream
from panelist.models.choices.pairs import GradedPairs, PairGroup, build_pairs, find_pair_analogue, solve_pairs
from panelist.models.inference.adjust import HypothesisFamily, find_adjustment
from panelist.numerics.arrays import Floats, Longs
from panelist.power.analyses.base import ANALYSES

PAGE = Path(__file__).resolve().parents[1] / "docs" / "comparisons.md"
SIZES = ((3, 100), (8, 12), (12, 30), (24, 40))
SPREADS = ((0.0, 0.0), (0.5, 0.7))
SYSTEMS, SETS = 3, 2000
CUTS = {2: [0.0], 5: [-1.5, -0.5, 0.5, 1.5]}


@dataclass(frozen=True)
class Row:
    """One design: the share of null data sets with a false difference, by way of testing."""

    raters: int
    items: int
    points: int
    rater_sd: float
    item_sd: float
    sets: int
    failed: int
    t: float
    z: float
    clustered: float


@dataclass(frozen=True)
class MixedErrors(Section):
    """Familywise error of every design."""

    rows: tuple[Row, ...]

    def title(self) -> str:
        """Return the heading."""
        return "Mixed model of pairs"

    def parts(self) -> list[Part]:
        """Return the table."""
        header = ("raters × items", "points", "rater SD", "item SD", "mixed, t", "mixed, z", "clustered")
        rows = [
            (f"{r.raters} × {r.items}", r.points, r.rater_sd, r.item_sd, r.t, r.z, r.clustered)
            for r in self.rows
        ]
        formats = {name: decimals(3) for name in header[4:]} | {name: decimals(1) for name in header[2:4]}
        failed = sum(one.failed for one in self.rows)
        note = (
            f"{self.rows[0].sets:,} data sets of {SYSTEMS} equal systems for each row: the share in which at "
            f"least one pair differs at {ALPHA:g}, Tukey-adjusted. Each rater sees one pair of an item; the "
            "standard deviations are those of preferences for a system, in logits. t is what compare uses, z "
            "its standard errors without allowance for few raters or items; clustered is Bradley & Terry's "
            f"model of the direction, raters and items as clusters. {failed:,} fits failed and count as no "
            "difference."
        )
        return [
            Table(
                "Familywise error of the mixed model", header, rows, {header[0]: TEXT, **formats}, note=note
            )
        ]


def measure(options: Options) -> MixedErrors:
    """Return the familywise error of every design; with ``--full`` from four times as many data sets."""
    sets = SETS * (4 if options.full else 1)
    rows = []
    cells = [*product((2,), SIZES, SPREADS), *product((5,), SIZES, SPREADS[1:])]
    for points, (raters, items), spread in cells:
        say(f"  {raters} × {items}, {points} points, {spread[0]:g}, {spread[1]:g} …")
        rows.append(measure_design(raters, items, points, spread, sets))
    return MixedErrors(tuple(rows))


def measure_design(raters: int, items: int, points: int, spread: tuple[float, float], sets: int) -> Row:
    """Return how often equal systems are told apart in one design."""
    rng = stream(1, "mixed pairs", raters, items, points, int(10 * spread[0]), int(10 * spread[1]))
    found, failed = np.zeros(3), 0
    for _ in range(sets):
        pair = draw_pairs(rng, raters, items, SYSTEMS)
        answer = draw_answers(rng, pair, (raters, items), points, spread)
        tested = test_mixed(pair, answer, points, raters, items)
        failed += tested is None
        found[:2] += tested if tested is not None else (False, False)
        found[2] += test_clustered(pair, answer, points, raters, items)
    return Row(raters, items, points, *spread, sets, failed, *(found / sets).tolist())


def draw_answers(
    rng: np.random.Generator, pair: Longs, size: tuple[int, int], points: int, spread: tuple[float, float]
) -> Longs:
    """Return answers of raters with their own preferences, where no system is better than another."""
    raters, items = size
    taste = rng.normal(0.0, spread[0], (raters, SYSTEMS))
    fit = rng.normal(0.0, spread[1], (items, SYSTEMS))
    strength = np.repeat(taste, items, axis=0) + np.tile(fit, (raters, 1))
    first, second = (np.take_along_axis(strength, pair[:, [side]], axis=1)[:, 0] for side in (0, 1))
    latent = first - second + rng.logistic(size=len(pair))
    return np.searchsorted(CUTS[points], latent).astype(np.int64)


def test_mixed(pair: Longs, answer: Longs, points: int, raters: int, items: int) -> tuple[bool, bool] | None:
    """Return whether t, and z, find a difference; None where the model cannot be fitted."""
    at = np.arange(len(pair))
    groups = (
        PairGroup("rater", tuple(map(str, range(raters))), at // items),
        PairGroup("item", tuple(map(str, range(items))), at % items),
    )
    systems = tuple(f"s{number}" for number in range(SYSTEMS))
    design = build_pairs(GradedPairs(systems, pair[:, 0], pair[:, 1], answer, points, groups))
    solution, _ = solve_pairs(design)
    if not (solution.optimum.converged and np.isfinite(solution.vcov).all()):
        return None
    T = np.vstack([np.zeros(SYSTEMS - 1), np.eye(SYSTEMS - 1)])
    spread = MixedCovariance(T, solution.vcov, min(raters, items) - 1.0, find_pair_analogue(design))
    first, second = np.triu_indices(SYSTEMS, 1)
    L = np.eye(SYSTEMS)[first] - np.eye(SYSTEMS)[second]
    estimate = L @ T @ solution.beta
    variance, df = spread.measure(L)
    plain = np.einsum("ij,jk,ik->i", L @ T, solution.vcov, L @ T)
    return (
        _differ(estimate / np.sqrt(variance), df),
        _differ(estimate / np.sqrt(plain), np.full(len(L), np.inf)),
    )


def test_clustered(pair: Longs, answer: Longs, points: int, raters: int, items: int) -> bool:
    """Return whether the clustered model of the direction finds a difference; ties are drawn by lot."""
    middle = (points - 1) / 2
    won = (answer > middle) | ((answer == middle) & (np.arange(len(answer)) % 2 == 0))
    latent = np.stack([won, ~won], axis=1).reshape(1, -1).astype(np.float64)
    layout = lay_out(pair, raters, items, SYSTEMS)
    tests = ANALYSES["bradley_terry"].prepare(layout, AnalysisSpec())(latent)
    return _differ(tests.statistic[0], tests.df[0])


def _differ(statistic: Floats, df: Floats) -> bool:
    family = HypothesisFamily(statistic, df, SYSTEMS)
    return bool((find_adjustment("tukey").adjust(family) < ALPHA).any())
