"""The truth that ratings are simulated from: spreads, thresholds, effects."""

import re
from dataclasses import dataclass
from hashlib import blake2b
from math import isfinite
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from panelist.core.errors import PanelistError, UnknownName, did_you_mean
from panelist.numerics.arrays import Floats
from panelist.power.truth.cuts import DISTANCE, Cuts, DrawnCuts, FixedCuts, Slider
from panelist.power.truth.spread import PRESETS, Spread, find_root

_ESTIMATE = re.compile(r"\d+\.\d{9,}(?:e-?\d+)?")  # a number that nobody would write by hand


class Draw(NamedTuple):
    """What a chunk of data sets is simulated from, set by set."""

    cuts: Floats  # (n_sets, points - 1)
    effects: Floats  # (n_sets, n_systems)
    rater_root: Floats  # (n_sets or 1, n_systems, n_systems)
    item_root: Floats


@dataclass(frozen=True)
class TruthUncertainty:
    """How well a pilot knows its estimates: the covariance of thresholds and effects, and its levels."""

    estimates: tuple[float, ...]  # thresholds, then the effects of all systems but the first
    covariance: tuple[tuple[float, ...], ...]
    n_raters: int
    n_items: int


@dataclass(frozen=True)
class Truth:
    """Where ratings come from: a latent judgement with spreads of raters and items, cut into points.

    ``effects`` are the systems' own, in latent units, where they were estimated; a cell of the grid may have
    others, in multiples of ``unit``. With ``uncertainty`` each data set has its own estimates, drawn from
    the uncertainty of the pilot.
    """

    name: str
    raters: Spread
    items: Spread
    cuts: Cuts
    residual: float = 1.0
    unit: float = DISTANCE
    effects: tuple[float, ...] | None = None
    uncertainty: TruthUncertainty | None = None
    system_scale: tuple[float, ...] = ()
    """How many times ``residual`` each system's judgements spread, about the same rater and item; 1 each."""
    rater_scale: float = 0.0
    """The standard deviation, over raters, of the logarithm of their own residual spread."""
    category_effects: tuple[float, ...] = ()
    """How much more the last system gains at each threshold than its effect, latent; nothing without it."""
    system_gains: tuple[tuple[float, ...], ...] = ()
    """The same for every system, where a pilot shows that thresholds differ: a row for each."""
    systems: tuple[str, ...] = ()  # the names of a pilot's
    notes: tuple[str, ...] = ()  # on where the numbers come from

    def __post_init__(self) -> None:
        if not (np.isfinite(self.residual) and self.residual > 0):
            raise PanelistError(
                f"The residual standard deviation must be positive. Got {self.residual:g}; presets have 1."
            )
        if not (np.isfinite(self.unit) and self.unit > 0):
            raise PanelistError(f"The threshold distance must be positive. Got {self.unit:g}.")
        if not all(np.isfinite(scale) and scale > 0 for scale in self.system_scale):
            raise PanelistError(
                "The spread of a system is a ratio above 0, such as 1.3 for an SD 1.3 times as large. "
                f"Got {', '.join(f'{scale:g}' for scale in self.system_scale)}."
            )
        if not 0 <= self.rater_scale < np.inf:
            raise PanelistError(
                f"The raters' SD of log spreads must be 0 or more. Got {self.rater_scale:g}; 0.25 is usual."
            )

    @classmethod
    def preset(cls, name: str, cuts: Cuts | None = None) -> "Truth":
        """Return the truth of a preset, on the paper's six-point scale unless other cuts are given.

        >>> Truth.preset("general").items
        Spread(intercept=0.57, slope=0.77, correlation=0.0, matrix=None)
        """
        if name not in PRESETS:
            raise UnknownName(f"No preset is called {name!r}. {did_you_mean(name, PRESETS)}")
        raters, items = PRESETS[name]
        return cls(name, raters, items, cuts or DrawnCuts())

    @classmethod
    def from_pilot(cls, ratings: Any, criterion: str | None = None, uncertain: bool = False) -> "Truth":
        """Return the truth that a pilot's ratings suggest: pilot.py says how."""
        from panelist.power.truth.pilot import fit_pilot  # imported late: it loads the models

        return fit_pilot(ratings, criterion, uncertain)

    @property
    def key(self) -> str:
        """A short digest of everything that turns random numbers into ratings, except for the effects.

        Estimates count to eight digits, since the last ones differ from machine to machine.
        """
        parts: tuple[Any, ...] = (self.raters, self.items, self.cuts, self.residual, self.uncertainty)
        if self.spreads or self.category_effects:
            parts += (self.system_scale, self.rater_scale, self.category_effects)
        if self.system_gains:
            parts += (self.system_gains,)
        text = _ESTIMATE.sub(lambda found: f"{float(found[0]):.8g}", repr(parts))
        return blake2b(text.encode(), digest_size=8).hexdigest()

    @property
    def spreads(self) -> bool:
        """Whether judgements of some systems, or by some raters, spread more than others."""
        return bool(self.system_scale) or self.rater_scale > 0.0

    def gains(self, n_systems: int) -> Floats | None:
        """Return how much more each system gains at each threshold than its effect; None where none does."""
        if not (self.system_gains or self.category_effects):
            return None
        found = np.zeros((n_systems, self.cuts.points - 1))
        if self.system_gains:
            found += np.array(self.system_gains)
        if self.category_effects:
            found[-1] += self.category_effects
        return found

    def check_design(self, n_systems: int, *, compares: bool = False) -> None:
        """Raise PanelistError where what is given for each system or threshold does not fit the design."""
        if self.system_scale and len(self.system_scale) != n_systems:
            raise PanelistError(
                f"The design has {n_systems} systems, and --system-scale {len(self.system_scale)} numbers. "
                "Give one for each system, 1 for the first."
            )
        if self.system_gains and len(self.system_gains) != n_systems:
            raise PanelistError(
                f"Thresholds were estimated for {len(self.system_gains)} systems, and the design has "
                f"{n_systems}. Give the design as many systems as the pilot had."
            )
        n_cuts = 0 if isinstance(self.cuts, Slider) or compares else self.cuts.points - 1
        if self.category_effects and len(self.category_effects) != n_cuts:
            where = f"the scale has {n_cuts} thresholds" if n_cuts else "this scale has no thresholds"
            raise PanelistError(
                f"--category-effects has {len(self.category_effects)} numbers, and {where}. Give one for "
                "each threshold."
            )

    def spread_out(self, n_systems: int, rng: np.random.Generator, n_sets: int, n_raters: int) -> Floats:
        """Return the residual SDs of each rater on each system, (n_sets or 1, n_raters, n_systems)."""
        own = np.array(self.system_scale or (1.0,) * n_systems) * self.residual
        if self.rater_scale == 0.0:
            return np.broadcast_to(own, (1, n_raters, n_systems))
        drawn = np.exp(self.rater_scale * rng.standard_normal((n_sets, n_raters, 1)))
        return np.asarray(drawn * own)

    def draw(self, rng: np.random.Generator, n_sets: int, effects: tuple[float, ...]) -> Draw:
        """Return thresholds, effects and spreads of ``n_sets`` data sets."""
        n_systems = len(effects)
        if self.uncertainty is not None:
            return _draw_uncertain(self, self.uncertainty, rng, n_sets, effects)
        return Draw(
            self.cuts.draw(rng, n_sets),
            np.broadcast_to(np.array(effects, dtype=float), (n_sets, n_systems)),
            find_root(self.raters.covariance(n_systems))[None],
            find_root(self.items.covariance(n_systems))[None],
        )


def _draw_uncertain(
    truth: Truth, known: TruthUncertainty, rng: np.random.Generator, n_sets: int, effects: tuple[float, ...]
) -> Draw:
    """Return draws from the uncertainty of a pilot.

    Thresholds and effects are normal with their estimated covariance. A covariance of random effects is
    Wishart around its estimate, with as many degrees of freedom as the pilot had levels, less one.
    """
    n_systems = len(effects)
    root = find_root(np.array(known.covariance))
    drawn = np.array(known.estimates) + rng.standard_normal((n_sets, len(root))) @ root.T
    n_cuts = truth.cuts.points - 1
    cuts = np.sort(drawn[:, :n_cuts], axis=1)
    shifts = np.broadcast_to(np.array(effects, dtype=float), (n_sets, n_systems))
    if truth.effects is not None and tuple(effects) == truth.effects:  # no effect was given
        shifts = np.concatenate([np.zeros((n_sets, 1)), drawn[:, n_cuts:]], axis=1)
    roots = []
    for spread, levels in ((truth.raters, known.n_raters), (truth.items, known.n_items)):
        base = find_root(spread.covariance(n_systems))
        df = max(levels - 1, 1)
        z = rng.standard_normal((n_sets, df, n_systems)) @ base.T
        wishart = z.transpose(0, 2, 1) @ z / df
        roots.append(np.stack([find_root(one) for one in wishart]))
    return Draw(cuts, shifts, roots[0], roots[1])


def find_effects(effect: float, n_systems: int, unit: float, pattern: str) -> tuple[float, ...]:
    """Return the systems' latent effects for an effect in threshold distances.

    ``steps``: every system is one effect better than the one before it. ``one``: the last is better than all
    others, which are equal.

    >>> find_effects(0.5, 3, 0.62, "steps"), find_effects(0.5, 3, 0.62, "one")
    ((0.0, 0.31, 0.62), (0.0, 0.0, 0.31))
    """
    if not isinstance(effect, Real) or not isfinite(effect):
        raise PanelistError(f"An effect must be a number of threshold distances. Got {effect!r}.")
    if pattern not in PATTERNS:
        raise PanelistError(f"The pattern of effects is {' or '.join(PATTERNS)}. Got {pattern!r}.")
    step = effect * unit
    if pattern == "one":
        return (*(0.0 for _ in range(n_systems - 1)), step)
    return tuple(step * place for place in range(n_systems))


PATTERNS = ("steps", "one")

__all__ = ["PATTERNS", "Draw", "FixedCuts", "Truth", "TruthUncertainty", "find_effects"]
