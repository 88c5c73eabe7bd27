"""The search for the smallest design: every family of designs has a probit line, and simulations go where it
is not yet known well enough.

A family has so many ratings of each output and so many outputs a rater; its designs differ in the number of
items. A first guess of the size comes from the variances (first_guess.py). Each round simulates every family
that may still win at the size where its line now reaches the target; families whose best case is far above
the leader's are left alone, and so are those whose size is known well enough.
"""

from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np

from panelist.power.analyses.base import Choices
from panelist.power.first_guess import guess_size
from panelist.power.layouts import OUTPUTS_PER_RATER, Layout, lay_out_lists
from panelist.power.probit import PowerLine, fit_line
from panelist.power.truth import Truth

LEAST_ITEMS = 10
ROUNDS = 6
SETS = 50  # a round and family
FEW_SETS = 20  # the same of three systems or more: fits are slow, and finding all pairs is a steep line
KNOWN = 1.3  # the upper end of a size over the lower one at which it is known well enough
BEHIND = 1.25  # how far above the leader's cost a family's best case may lie


@dataclass(frozen=True)
class Probe:
    """What was simulated at one size."""

    items: int
    found: int
    sims: int

    @property
    def power(self) -> float:
        """The share found."""
        return self.found / self.sims


@dataclass(frozen=True)
class Family:
    """Designs that differ in the number of items alone."""

    ratings_per_item: int
    outputs_per_rater: int
    systems: int
    guess: float
    alpha: float
    target: float
    most_items: int
    probes: tuple[Probe, ...] = field(default=())

    @property
    def line(self) -> PowerLine:
        """The line through what was simulated."""
        found = [(probe.items, probe.found, probe.sims) for probe in self.probes]
        n, hits, sims = zip(*found, strict=True) if found else ((), (), ())
        return fit_line(n, hits, sims, self.alpha, self.guess)

    @property
    def items(self) -> int:
        """The number of items at which the line reaches the target; at most ``most_items``."""
        return min(self.round_up(self.line.find_size(self.target)), self.most_items)

    @property
    def reaches(self) -> bool:
        """Whether the target is reached within ``most_items``."""
        return self.round_up(self.line.find_size(self.target)) <= self.most_items

    @property
    def spread(self) -> tuple[int, int]:
        """The items between which the size lies, by the standard error of the line (95 %)."""
        from scipy.special import ndtr, ndtri

        line = self.line
        error = 1.96 * line.find_error(line.find_size(self.target))
        low, high = (line.find_size(float(ndtr(ndtri(self.target) + side * error))) for side in (-1, 1))
        return self.round_up(low), min(self.round_up(high), 10**6)

    @property
    def sets(self) -> int:
        """How many data sets a round simulates."""
        return SETS if self.systems == 2 else FEW_SETS

    @property
    def known(self) -> bool:
        """Whether the size is known well enough to stop looking, or is out of reach for certain."""
        low, high = self.spread
        return len(self.probes) > 0 and (high <= KNOWN * low or low > self.most_items)

    def predict(self, items: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """Return the power of the line at numbers of items."""
        return self.line.predict(items)

    def round_up(self, items: float) -> int:
        """Return the next number of items that a person would choose: even, or of five from 40 upwards."""
        least = max(LEAST_ITEMS, 2)
        step = 2 if items < 40 else 5 if items < 200 else 10
        return max(least, step * ceil(min(items, 1e7) / step))

    def lay_out(self, items: int, seed: int) -> Layout:
        """Return the design with so many items."""
        load = min(self.outputs_per_rater, items)
        return lay_out_lists(items, self.ratings_per_item, self.systems, load, None, seed)

    def add(self, items: int, found: int, sims: int) -> "Family":
        """Return the family with another probe."""
        return replace(self, probes=(*self.probes, Probe(items, found, sims)))


def make_family(
    truth: Truth,
    effects: tuple[float, ...],
    ratings_per_item: int,
    outputs_per_rater: int | None,
    choices: Choices,
    target: float,
    most_items: int,
) -> Family:
    """Return the family with its first guess: the size at which tests of the means would have it."""
    load = OUTPUTS_PER_RATER if outputs_per_rater is None else outputs_per_rater
    guess = guess_size(truth, effects, ratings_per_item, load, choices.alpha, choices.adjust != "none")
    items = float(np.clip(guess.items, LEAST_ITEMS, most_items))
    return Family(ratings_per_item, load, len(effects), items, guess.alpha, target, most_items)
