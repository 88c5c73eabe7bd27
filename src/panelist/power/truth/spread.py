"""How much raters, or items, differ: on one system, and in the difference between two."""

from dataclasses import dataclass

import numpy as np

from panelist.core.errors import PanelistError
from panelist.numerics.arrays import Floats


@dataclass(frozen=True)
class Spread:
    """Standard deviations of raters or of items, in residual standard deviations.

    ``intercept`` is that of the level on the first system, ``slope`` that of the difference of any two
    systems, ``correlation`` that of the two. ``matrix`` is the covariance of the effects on each system,
    where it was estimated: it replaces the three numbers.
    """

    intercept: float
    slope: float
    correlation: float = 0.0
    matrix: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        for name in ("intercept", "slope"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise PanelistError(
                    f"A standard deviation must be 0 or more. Got {value:g} for the {name}; give its size "
                    "without a sign."
                )
        if not -1 <= self.correlation <= 1:
            raise PanelistError(
                f"The correlation of intercept and slope must be from -1 to 1. Got {self.correlation:g}."
            )

    def covariance(self, n_systems: int) -> Floats:
        """Return the covariance of one rater's (or item's) effects on each system.

        The difference of any two systems has the same spread:

        >>> C = Spread(0.5, 0.4).covariance(3)
        >>> [round(float(C[i, i] + C[j, j] - 2 * C[i, j]), 3) for i, j in ((0, 1), (0, 2), (1, 2))]
        [0.16, 0.16, 0.16]
        """
        if self.matrix is not None:
            given = np.array(self.matrix)
            if len(given) != n_systems:
                raise PanelistError(
                    f"The spread was estimated for {len(given)} systems, and the design has {n_systems}. "
                    "Give the design as many systems as the pilot had."
                )
            return given
        coded = np.full((n_systems, n_systems), self.slope**2 / 2)  # of the level and the differences
        np.fill_diagonal(coded, self.slope**2)
        coded[0, :] = coded[:, 0] = self.correlation * self.intercept * self.slope
        coded[0, 0] = self.intercept**2
        A = np.eye(n_systems)
        A[:, 0] = 1.0
        product: Floats = A @ coded @ A.T
        return product


def find_root(covariance: Floats) -> Floats:
    """Return the lower triangle R with R R' = covariance, even where that is singular.

    >>> find_root(np.array([[4.0, 2.0], [2.0, 1.0]]))
    array([[2., 0.],
           [1., 0.]])
    """
    n = len(covariance)
    root = np.zeros((n, n))
    floor = 1e-12 * max(float(np.trace(covariance)), 1e-300)
    for j in range(n):
        left = covariance[j, j] - float(root[j, :j] @ root[j, :j])
        if left < -1e-8 * max(float(np.trace(covariance)), 1.0):
            raise PanelistError(
                "The spread given is not the covariance of anything: it has a negative variance."
            )
        if left <= floor:
            continue
        root[j, j] = np.sqrt(left)
        root[j + 1 :, j] = (covariance[j + 1 :, j] - root[j + 1 :, :j] @ root[j, :j]) / root[j, j]
    return root


PRESETS: dict[str, tuple[Spread, Spread]] = {  # raters, items
    "extra-low": (Spread(0.28, 0.11), Spread(0.29, 0.43)),
    "low": (Spread(0.48, 0.27), Spread(0.29, 0.63)),
    "general": (Spread(0.52, 0.43), Spread(0.57, 0.77)),
    "high": (Spread(0.56, 0.67), Spread(0.71, 0.89)),
    "extra-high": (Spread(0.56, 0.67), Spread(1.09, 1.26)),
}
