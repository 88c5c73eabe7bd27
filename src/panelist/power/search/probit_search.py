"""The search for the smallest design: every family of designs has a probit line, and simulations go where it
is not yet known well enough.

A family has a fixed number of ratings of each output and of outputs per rater; its designs differ in the
number of items. A first guess of the size comes from the variances (first_guess.py). Each round simulates
every family that may still win at the size where its line now reaches the target; families whose best case is
far above the leader's are skipped, and so are those whose size is known well enough.
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np

from panelist.analysis.spec import AnalysisSpec
from panelist.core.margin import find_level
from panelist.core.seeds import stream
from panelist.numerics.arrays import Floats
from panelist.power.claims import place_systems
from panelist.power.layouts.base import OUTPUTS_PER_RATER, Sampling
from panelist.power.layouts.pages import PageDesign, PageSampling
from panelist.power.truth.base import Truth

_PRIOR_SD = 0.5
_STEPS = 50
_TINY = 1e-12


@dataclass(frozen=True)
class PowerLine:
    """Φ(a + b √n), with the covariance of a and log b."""

    a: float
    b: float
    covariance: tuple[tuple[float, float], tuple[float, float]]

    def predict(self, n: Any) -> Floats:
        """Return the power at n."""
        from scipy.special import ndtr

        return np.asarray(ndtr(self.a + self.b * np.sqrt(np.asarray(n, dtype=float))))

    def find_size(self, power: float) -> float:
        """Return the n at which the line reaches a power."""
        from scipy.special import ndtri

        return float(max((ndtri(power) - self.a) / self.b, 0.0) ** 2)

    def find_error(self, n: float) -> float:
        """Return the standard error of the line at n, on the probit scale."""
        slope = np.array([1.0, self.b * np.sqrt(n)])
        return float(np.sqrt(slope @ np.array(self.covariance) @ slope))


def fit_line(n: Any, found: Any, sims: Any, alpha: float, guess: float) -> PowerLine:
    """Return the line through counts: ``found`` of ``sims`` at each ``n``.

    ``guess`` is the n where power .8 is expected; it starts the search, and counts no more than a few data
    sets.
    """
    from scipy.special import ndtri

    x = np.sqrt(np.asarray(n, dtype=float))
    y, m = np.asarray(found, dtype=float), np.asarray(sims, dtype=float)
    a0 = float(ndtri(alpha / 2))
    theta = np.array([a0, np.log((ndtri(0.8) - a0) / np.sqrt(guess))])
    prior = np.array([a0, theta[1]])
    weight = np.array([1 / _PRIOR_SD**2, 1 / 1.0**2])  # the guess may be wrong by a factor of e in √n
    information = np.diag(weight)
    for _ in range(_STEPS):
        gradient, information = _differentiate(theta, x, y, m)
        gradient = gradient - weight * (theta - prior)
        information = information + np.diag(weight)
        step = np.linalg.solve(information, gradient)
        step *= min(1.0, 1.0 / max(float(np.abs(step).max()), _TINY))
        theta = theta + step
        if float(np.abs(step).max()) < 1e-9:
            break
    inverse = np.linalg.inv(information)
    rows = ((float(inverse[0, 0]), float(inverse[0, 1])), (float(inverse[1, 0]), float(inverse[1, 1])))
    return PowerLine(float(theta[0]), float(np.exp(theta[1])), rows)


def _differentiate(theta: Floats, x: Floats, y: Floats, m: Floats) -> tuple[Floats, Floats]:
    """Return the gradient and the expected information of the binomial likelihood, for a and log b."""
    from scipy.special import ndtr

    b = np.exp(theta[1])
    eta = theta[0] + b * x
    p = np.clip(ndtr(eta), _TINY, 1 - _TINY)
    density = np.exp(-(eta**2) / 2) / np.sqrt(2 * np.pi)
    columns = np.stack([np.ones_like(x), b * x])
    score = (y - m * p) * density / (p * (1 - p))
    curve = m * density**2 / (p * (1 - p))
    return columns @ score, (columns * curve) @ columns.T


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
class DesignFamily:
    """Designs that differ only in the number of items; ``pages`` where outputs are compared."""

    ratings_per_item: int
    outputs_per_rater: int
    systems: int
    guess: float
    alpha: float
    target: float
    most_items: int
    probes: tuple[Probe, ...] = field(default=())
    pages: PageDesign | None = None
    turns: int = 1
    least: int = 0
    """The smallest size that simulations of their own have not shown to be too small."""
    settled: int | None = None
    """The size that was confirmed, whatever the line says."""

    @property
    def line(self) -> PowerLine:
        """The line through what was simulated."""
        found = [(probe.items, probe.found, probe.sims) for probe in self.probes]
        n, hits, sims = zip(*found, strict=True) if found else ((), (), ())
        return fit_line(n, hits, sims, self.alpha, self.guess)

    @property
    def line_items(self) -> int:
        """The number of items at which the line reaches the target, without a limit."""
        return self.round_up(self.line.find_size(self.target))

    @property
    def items(self) -> int:
        """The number of items that reaches the target; at most ``most_items``."""
        return min(self._wanted, self.most_items)

    @property
    def reaches(self) -> bool:
        """Whether the target is reached within ``most_items``."""
        return self._wanted <= self.most_items

    @property
    def _wanted(self) -> int:
        return max(self.line_items, self.least) if self.settled is None else self.settled

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
        return SETS if self.quick else FEW_SETS

    @property
    def quick(self) -> bool:
        """Whether a fit takes little time: of two systems, or of comparisons."""
        return self.systems == 2 or self.pages is not None

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

    def sample(self, items: int) -> Sampling | PageSampling:
        """Return the design with this many items."""
        if self.pages is not None:
            return PageSampling(self.pages, items, self.ratings_per_item, self.outputs_per_rater)
        load = min(self.outputs_per_rater, items)
        return Sampling(items, self.ratings_per_item, self.systems, load, turns=self.turns)

    def add(self, items: int, found: int, sims: int) -> "DesignFamily":
        """Return the family with another probe."""
        return replace(self, probes=(*self.probes, Probe(items, found, sims)))


def make_family(
    truth: Truth,
    effects: tuple[float, ...],
    ratings_per_item: int,
    outputs_per_rater: int | None,
    spec: AnalysisSpec,
    target: float,
    most_items: int,
    pages: PageDesign | None = None,
    turns: int = 1,
) -> DesignFamily:
    """Return the family with its first guess: the size at which tests of the means would reach the target.

    A comparison is guessed to tell as much as a rating of each output on its page.
    """
    usual = OUTPUTS_PER_RATER if pages is None else pages.usual_load
    load = usual if outputs_per_rater is None else outputs_per_rater
    shown = 1 if pages is None else pages.shown
    each = ratings_per_item * (1.0 if pages is None else pages.pages_per_item * shown / len(effects))
    if spec.claim is not None and spec.margin is not None:
        guess = guess_claim(truth, effects, each, load * shown, spec)
    else:
        guess = guess_size(truth, effects, each, load * shown, spec.alpha, spec.adjust != "none")
    items = float(np.clip(guess.items, LEAST_ITEMS, most_items))
    return DesignFamily(
        ratings_per_item, load, len(effects), items, guess.alpha, target, most_items, pages=pages, turns=turns
    )


USUAL = 0.8
_LOST = 1.5  # residual variance that thresholds make of one
_DRAWS = 4000
_LEAST, _MOST = 1.0, 1e7


@dataclass(frozen=True)
class Guess:
    """The size at which a power of .8 is expected, and where a line of power begins at size 0."""

    items: float
    alpha: float
    """Twice the power of that line at size 0."""


def guess_size(
    truth: Truth,
    effects: tuple[float, ...],
    ratings_per_item: float,
    outputs_per_rater: int,
    alpha: float,
    adjusted: bool = True,
) -> Guess:
    """Return the guess for systems with these latent effects."""
    from scipy.special import ndtri

    systems = len(effects)
    covariance = _find_variance(truth, systems, ratings_per_item, outputs_per_rater)
    if systems == 2:
        z = float(ndtri(1 - alpha / 2) + ndtri(USUAL))
        variance = float(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
        return Guess(variance * (z / (effects[1] - effects[0])) ** 2, alpha)
    return _draw_line(_find_sizes(covariance, effects, _find_critical(systems, alpha, adjusted)))


def guess_claim(
    truth: Truth,
    effects: tuple[float, ...],
    ratings_per_item: float,
    outputs_per_rater: int,
    spec: AnalysisSpec,
) -> Guess:
    """Return the guess for a claim about all pairs: each is to lie within the margin, on one side or both."""
    from scipy.special import ndtri

    assert spec.margin is not None
    assert spec.claim is not None
    systems = len(effects)
    covariance = _find_variance(truth, systems, ratings_per_item, outputs_per_rater)
    level, even = place_systems(truth, systems, spec, 1.0)[1], place_systems(truth, systems, spec, 0.0)[1]
    margin = abs(level[-1] - even[-1])
    critical = float(ndtri(1 - find_level(spec.claim, spec.alpha)))
    ways = (1,) if spec.claim == "non-inferiority" else (1, -1)
    z = _draw_noise(covariance)
    least = np.full(_DRAWS, _LEAST)
    for a in range(systems):
        for b in range(a + 1, systems):
            gap = (effects[b] - even[b]) - (effects[a] - even[a])
            spread = float(np.sqrt(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]))
            for way in ways:  # found from √n (margin ± gap) ± noise = critical × spread on
                room = max(margin + way * gap, 1e-3 * margin)
                reach = np.maximum(critical * spread - way * (z[:, b] - z[:, a]), 0.0)
                least = np.maximum(least, reach / room)
    return _draw_line(np.minimum(least**2, _MOST))


def _find_variance(truth: Truth, systems: int, ratings_per_item: float, outputs_per_rater: int) -> Floats:
    """Return the covariance of the systems' means, times the number of items."""
    share = outputs_per_rater / (systems * ratings_per_item)
    covariance = truth.items.covariance(systems) + truth.raters.covariance(systems) * share
    return covariance + np.eye(systems) * _LOST * truth.residual**2 / ratings_per_item


def _draw_line(sizes: Floats) -> Guess:
    """Return the guess from the sizes that single draws of the means need."""
    from scipy.special import ndtr, ndtri

    half, usual = (float(np.quantile(sizes, power)) for power in (0.5, USUAL))
    slope = float(ndtri(USUAL)) / (np.sqrt(usual) - np.sqrt(half))
    return Guess(usual, float(np.clip(2 * ndtr(-slope * np.sqrt(half)), 1e-12, 0.5)))


def _draw_noise(covariance: Floats) -> Floats:
    root = np.linalg.cholesky(covariance)
    drawn: Floats = stream(1, "first guess", len(root)).standard_normal((_DRAWS, len(root))) @ root.T
    return drawn


def _find_sizes(covariance: Floats, effects: tuple[float, ...], critical: float) -> Floats:
    """Return, for each draw of the means, the size from which on every pair that differs is found.

    At size n a pair of difference d and standard deviation s has the statistic √n d / s + z, with z the same
    at all sizes: it is found from √n = (critical − z) s / d on.
    """
    z = _draw_noise(covariance)
    least = np.full(_DRAWS, _LEAST)
    for a in range(len(effects)):
        for b in range(a + 1, len(effects)):
            gap = abs(effects[b] - effects[a])
            if gap > 0:
                spread = float(np.sqrt(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]))
                noise = (z[:, b] - z[:, a]) * np.sign(effects[b] - effects[a])
                least = np.maximum(least, np.maximum(critical * spread - noise, 0.0) / gap)
    sizes: Floats = np.minimum(least**2, _MOST)
    return sizes


@lru_cache(maxsize=64)
def _find_critical(systems: int, alpha: float, adjusted: bool) -> float:
    """Return how large the statistic of a pair has to be: by Tukey's test, whatever the adjustment is."""
    from panelist.models.inference.adjust import HypothesisFamily, find_adjustment

    chosen = find_adjustment("tukey" if adjusted else "none")
    family = HypothesisFamily(np.zeros(1), np.full(1, np.inf), systems)
    return float(chosen.critical(1 - alpha, family)[0])
