"""Where a latent judgement is cut into the points of a scale."""

from dataclasses import dataclass

import numpy as np

from panelist.core.errors import PanelistError
from panelist.numerics.arrays import Floats

LOWEST, LOWEST_SD = -1.78, 0.19
DISTANCE, DISTANCE_SD = 0.62, 0.18
POINTS = 6
MOST_POINTS = 101


@dataclass(frozen=True)
class DrawnCuts:
    """Thresholds drawn for each data set, as in Howcroft & Rieser (2021).

    The lowest is N(-1.78, .19) and the distances between neighbours are N(.62, .18), kept positive, on their
    six-point scale. A scale with another number of points covers the same range; one with two is cut in its
    middle.
    """

    points: int = POINTS

    def __post_init__(self) -> None:
        if not 2 <= self.points <= MOST_POINTS:
            raise PanelistError(
                f"A scale has from 2 to {MOST_POINTS} points. Got {self.points}; for a slider use "
                "--scale slider."
            )

    def draw(self, rng: np.random.Generator, n_sets: int) -> Floats:
        """Return the thresholds of each data set, (n_sets, points - 1)."""
        stretch = DISTANCE * (POINTS - 2)
        count = self.points - 2
        lowest = LOWEST + LOWEST_SD * rng.standard_normal((n_sets, 1))
        if not count:
            return lowest + stretch / 2
        gaps = np.abs(DISTANCE + DISTANCE_SD * rng.standard_normal((n_sets, count)))
        gaps *= (POINTS - 2) / count
        return np.concatenate([lowest, lowest + np.cumsum(gaps, axis=1)], axis=1)


@dataclass(frozen=True)
class FixedCuts:
    """The same thresholds for every data set."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=float)
        if not len(values) or not np.isfinite(values).all():
            raise PanelistError("Thresholds must be finite numbers, one less than the scale has points.")
        if (np.diff(values) <= 0).any():
            shown = ", ".join(f"{value:g}" for value in values)
            raise PanelistError(
                f"Thresholds must rise from each to the next. Got {shown}; sort them, lowest first."
            )

    @property
    def points(self) -> int:
        """The number of points of the scale."""
        return len(self.values) + 1

    def draw(self, rng: np.random.Generator, n_sets: int) -> Floats:
        """Return the thresholds of each data set, (n_sets, points - 1)."""
        return np.broadcast_to(np.array(self.values, dtype=float), (n_sets, len(self.values)))


@dataclass(frozen=True)
class Slider:
    """A line from 0 to 100: the latent judgement itself, cut off at the ends and rounded to a whole number.

    Its ends lie half a threshold distance beyond the middles of the lowest and the highest point of the
    six-point scale.
    """

    points: int = 101

    def draw(self, rng: np.random.Generator, n_sets: int) -> Floats:
        """Return no thresholds."""
        return np.empty((n_sets, 0))

    def read(self, latent: Floats) -> Floats:
        """Return the place on the line, 0 to 100."""
        middle = LOWEST + DISTANCE * (POINTS - 2) / 2
        return np.rint(np.clip(50.0 + 100.0 * (latent - middle) / (POINTS * DISTANCE), 0.0, 100.0))


Cuts = DrawnCuts | FixedCuts | Slider
