"""The search for the smallest design: every family of designs has a probit line, and simulations go where it
is not yet known well enough.

A family has so many ratings of each output and so many outputs a rater; its designs differ in the number of
items. A first guess of the size comes from the variance of a difference. Each round simulates every family
that may still win at the size where its line now reaches the target; families whose best case is far above
the leader's are left alone.
"""

from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np

from panelist.power.layouts import OUTPUTS_PER_RATER, Layout, lay_out_lists
from panelist.power.probit import PowerLine, fit_line
from panelist.power.truth import Truth

LEAST_ITEMS = 10
ROUNDS = 6
SETS = 50  # a round and family
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
    difference: float,
    ratings_per_item: int,
    outputs_per_rater: int | None,
    systems: int,
    alpha: float,
    target: float,
    most_items: int,
) -> Family:
    """Return the family with its first guess: the size at which a z test of the difference has the power.

    With n items the difference has the variance (s_i² + s_r² m / (S k) ... ) / n: slopes of items, slopes of
    the n S k / m raters, and residuals, half as large again as they are for what thresholds lose.
    """
    from scipy.special import ndtri

    load = OUTPUTS_PER_RATER if outputs_per_rater is None else outputs_per_rater
    items_part = _slope_variance(truth.items.covariance(systems))
    raters_part = _slope_variance(truth.raters.covariance(systems)) * load / (systems * ratings_per_item)
    noise = 1.5 * 2 * truth.residual**2 / ratings_per_item
    z = float(ndtri(1 - alpha / 2) + ndtri(target))
    guess = (items_part + raters_part + noise) * (z / difference) ** 2
    guess = float(np.clip(guess, LEAST_ITEMS, most_items))
    return Family(ratings_per_item, load, systems, guess, alpha, target, most_items)


def _slope_variance(covariance: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    return float(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
