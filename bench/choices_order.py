"""How often the test of one order fails where there is one, and finds a cycle where there is one.

``python -m bench choices-order`` writes its table into docs/comparisons.md.
"""

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from bench.choices_mixed import CUTS
from bench.report import Options, Section, say
from panelist.core.display.formats import decimals
from panelist.core.display.result import Part, Table
from panelist.core.seeds import stream
from panelist.models.choices.free_pairs import FreePairs, free_pairs
from panelist.models.choices.pairs import GradedPairs, PairGroup, build_pairs, solve_pairs

PAGE = Path(__file__).resolve().parents[1] / "docs" / "comparisons.md"
# systems, answers to a pair, points
DESIGNS = ((3, 10, 2), (3, 10, 5), (3, 40, 2), (3, 40, 5), (6, 10, 2), (6, 10, 5), (6, 40, 2))
RATERS, ITEMS, SPREAD = 12, 20, (0.5, 0.7)  # and the standard deviations of their preferences, in logits
APART, RING = 0.4, 1.0  # from one system to the next, and around the cycle of three equal ones
ALPHA, SETS = 0.05, 1000


@dataclass(frozen=True)
class Row:
    """One design: shares of its ``sets`` data sets.

    ``alarms`` fail the test where strengths explain them, ``blamed`` with a cycle; ``found`` fail it where
    there is one, and ``named`` name it first.
    """

    systems: int
    answers: int
    points: int
    sets: int
    alarms: float
    blamed: float
    found: float
    named: float


@dataclass(frozen=True)
class OrderTests(Section):
    """False and true alarms of every design."""

    rows: tuple[Row, ...]

    def title(self) -> str:
        """Return the heading."""
        return "Test of one order"

    def parts(self) -> list[Part]:
        """Return the table."""
        shares = ("false alarms", "with a false cycle", "cycle found", "and named first")
        header = ("systems", "answers to a pair", "points", *shares)
        rows = [(r.systems, r.answers, r.points, r.alarms, r.blamed, r.found, r.named) for r in self.rows]
        note = (
            f"{self.rows[0].sets:,} data sets for each row and truth, {RATERS} raters, {ITEMS} items, "
            f"preferences with standard deviations of {SPREAD[0]:g} and {SPREAD[1]:g} logits. False alarms: "
            f"each system is {APART:g} logits above the next, and the test fails at {ALPHA:g}; with a false "
            "cycle: it names one besides. Cycle found: three systems beat each other by "
            f"{RING:.1f} logits in a ring, any others are their equals, and the test fails; the ring is the "
            "first cycle that it names. Data sets that cannot be tested count as not failing."
        )
        formats = {name: decimals(3) for name in shares}
        return [Table("The test of one order", header, rows, formats, note=note)]


def measure(options: Options) -> OrderTests:
    """Return the alarms of every design; with ``--full`` from four times as many data sets."""
    sets = SETS * (4 if options.full else 1)
    rows = []
    for systems, answers, points in DESIGNS:
        say(f"  {systems} systems, {answers} answers to a pair, {points} points …")
        rows.append(measure_design(systems, answers, points, sets))
    return OrderTests(tuple(rows))


def measure_design(systems: int, answers: int, points: int, sets: int) -> Row:
    """Return how often the test fails in one design, without a cycle and with one."""
    shares = []
    for ring in (False, True):
        rng = stream(1, "one order", systems, answers, points, int(ring))
        failed = named = 0
        for _ in range(sets):
            found = test_order(draw_pairs(rng, systems, answers, points, ring))
            if found is None or found.p >= ALPHA:
                continue
            failed += 1
            first = found.cycles[0].systems if found.cycles else ()
            named += first == ("a", "b", "c") if ring else bool(first)
        shares.append((failed / sets, named / sets))
    (alarms, blamed), (caught, told) = shares
    return Row(systems, answers, points, sets, alarms, blamed, caught, told)


def draw_pairs(rng: np.random.Generator, systems: int, answers: int, points: int, ring: bool) -> GradedPairs:
    """Return answers to each pair, the sides by lot; with ``ring`` a beats b, b beats c, and c beats a."""
    strength = np.zeros(systems) if ring else -APART * np.arange(systems)
    lead = strength[:, None] - strength[None, :]
    if ring:
        for one, two in ((0, 1), (1, 2), (2, 0)):
            lead[one, two], lead[two, one] = RING, -RING
    shown = np.repeat(list(combinations(range(systems), 2)), answers, axis=0)
    first, second = rng.permuted(shown, axis=1).T
    rater, item = rng.integers(RATERS, size=len(shown)), rng.integers(ITEMS, size=len(shown))
    taste, fit = rng.normal(0.0, SPREAD[0], (RATERS, systems)), rng.normal(0.0, SPREAD[1], (ITEMS, systems))
    latent = lead[first, second] + rng.logistic(size=len(shown))
    latent += taste[rater, first] - taste[rater, second] + fit[item, first] - fit[item, second]
    groups = tuple(
        PairGroup(name, tuple(map(str, range(n))), level)
        for name, n, level in (("rater", RATERS, rater), ("item", ITEMS, item))
    )
    answer = np.searchsorted(CUTS[points], latent).astype(np.int64)
    return GradedPairs(tuple("abcdef"[:systems]), first, second, answer, points, groups)


def test_order(pairs: GradedPairs) -> FreePairs | None:
    """Return the test; None where there is none."""
    solution, _ = solve_pairs(build_pairs(pairs))
    return free_pairs(pairs, solution) if solution.optimum.converged else None
