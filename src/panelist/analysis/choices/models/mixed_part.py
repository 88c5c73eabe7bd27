"""What a model of choices with random preferences adds to strengths: spreads, position, style, chances."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from panelist.models.choices.analogue import ChoiceAnalogue
from panelist.models.choices.free_pairs import FreePairs
from panelist.models.choices.pairs import POSITION
from panelist.numerics.arrays import Floats

if TYPE_CHECKING:
    from panelist.analysis.choices.models.choice_model import Strengths

_NODES = 40  # of Gauss-Hermite quadrature over raters and items


@dataclass(frozen=True)
class PreferenceSpread:
    """How far a rater's, or an item's, own preferences for a system spread: a standard deviation.

    It is one for all systems unless ``system`` names whose it is; of (position | rater) it is that of how
    much each favours what stands first.
    """

    group: str
    term: str
    levels: int
    sd: float
    system: str = ""

    @property
    def of_position(self) -> bool:
        """Whether it is not of preferences, but of how much each favours what stands first."""
        return self.term.startswith("(position")


@dataclass(frozen=True)
class ChoiceSlope:
    """What a difference between two outputs is worth, in log-strengths: where it stood, how long it is."""

    term: str
    estimate: float
    se: float
    df: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, eq=False)
class MixedCovariance:
    """The covariance of strengths θ = Tβ of a mixed model, and t with few raters or items.

    Standard errors and degrees of freedom allow for few raters or items by the linear analogue; where there
    is none, the degrees of freedom are the levels of the smallest grouping factor less one.
    """

    T: Floats = field(repr=False)
    vcov: Floats = field(repr=False)
    fewest: float
    analogue: ChoiceAnalogue | None = field(default=None, repr=False)

    @property
    def covariance(self) -> Floats:
        """The covariance matrix of the strengths."""
        whole: Floats = self.T @ self.vcov @ self.T.T
        return whole

    def measure(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return the variance and the degrees of freedom of each linear combination of strengths."""
        return self.measure_effects(rows @ self.T)

    def measure_effects(self, L: Floats) -> tuple[Floats, Floats]:
        """Return the same for each linear combination of β."""
        variance: Floats = np.maximum(np.einsum("ij,jk,ik->i", L, self.vcov, L), 0.0)
        if self.analogue is None:
            return variance, np.full(len(L), self.fewest)
        return variance * self.analogue.ratios(L) ** 2, self.analogue.degrees(L)


@dataclass(frozen=True)
class MixedPart:
    """The random part and the slopes of a model of choices.

    ``family`` is cumulative or davidson (pairs) or plackett-luce; ``tie`` is the distance from 0 to the first
    threshold, or Davidson's log ν, 0 without ties; ``plain`` has the estimates without style and their
    intervals, where style is controlled for, and ``without`` that whole model; ``free`` is the test of
    strengths against a number for each pair.
    """

    family: str
    points: int
    formula: str
    spreads: tuple[PreferenceSpread, ...]
    slopes: tuple[ChoiceSlope, ...]
    thresholds: tuple[float, ...] = ()
    tie: float = 0.0
    plain: tuple[tuple[str, float, float, float], ...] = ()
    without: Strengths | None = field(default=None, repr=False, compare=False)
    free: FreePairs | None = field(default=None, compare=False)
    apart: Floats | None = field(default=None, repr=False, compare=False)
    """The standard deviation of each difference of two systems, (k, k), where pairs have their own."""

    @property
    def style(self) -> tuple[str, ...]:
        """What is controlled for, as the model calls it."""
        return tuple(one.term for one in self.slopes if one.term != POSITION)

    @property
    def spread(self) -> Floats:
        """The standard deviation of the difference of two systems over raters and items."""
        if self.apart is not None:
            return self.apart
        variance = sum(one.sd**2 for one in self.spreads if not one.of_position)
        return np.asarray(np.sqrt(2.0 * variance), dtype=np.float64)

    def find_chances(self, difference: Floats, averaged: bool) -> Floats:
        """Return how probable it is to be preferred at each difference, ties left aside.

        For a given rater and item whose preferences are the average, or ``averaged`` over raters and items.
        """
        d = np.asarray(difference, dtype=np.float64)
        nodes, weights = np.array([0.0]), np.array([1.0])
        spread = np.asarray(self.spread) if averaged else np.zeros(1)
        if spread.max() > 0.0:
            nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
            weights = weights / weights.sum()
        at = d[..., None] + spread[..., None] * nodes
        at = np.clip(at, -600, 600)
        if self.family == "davidson":
            total = np.exp(at / 2) + np.exp(-at / 2) + np.exp(self.tie)
            won, lost = ((weights * np.exp(sign * at / 2) / total).sum(axis=-1) for sign in (1, -1))
        else:
            won, lost = ((weights / (1 + np.exp(self.tie - sign * at))).sum(axis=-1) for sign in (1, -1))
        chances: Floats = won / (won + lost)
        return chances
