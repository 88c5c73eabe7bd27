"""Threshold structures: t = Jα, with the parameters α named as in R's ordinal."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from panelist.core.errors import BadModel, UnknownName, did_you_mean
from panelist.numerics.arrays import Floats, Ints, Longs


@dataclass(frozen=True, eq=False)
class Thresholds:
    """The structure of the thresholds between K categories, and the family they belong to (see cells)."""

    kind: str
    names: tuple[str, ...]  # of α
    between: tuple[str, ...]  # of t: "1|2", "2|3", …
    J: Floats  # (K − 1, s)
    family: str = "cumulative"

    def solve(self, values: Floats) -> Floats:
        """Return the α whose thresholds come nearest to ``values``."""
        if self.kind == "flexible":
            return values.copy()
        alpha: Floats = np.linalg.lstsq(self.J, values, rcond=None)[0].astype(np.float64)
        return alpha


class Edges(NamedTuple):
    """What compiled code takes: the edges around each row, and the thresholds t = Jα that they are.

    Edge 0 is −∞ and the last one ∞; between them are the thresholds of all cells, one after another.
    """

    upper: Ints  # (rows,)
    lower: Ints  # (rows,)
    J: Floats  # (T, s)
    joined: Longs  # (T,) one where a threshold belongs to the cell of the one before it, and lies above it


def place_ratings(codes: Ints, thresholds: Thresholds) -> Edges:
    """Return the edges around ratings that all have the same thresholds: those around their category."""
    joined = np.ones(len(thresholds.J), dtype=np.int64)
    joined[0] = 0
    lower = np.ascontiguousarray(codes, dtype=np.int32)
    return Edges(lower + np.int32(1), lower, thresholds.J, joined)


def make_thresholds(kind: str, categories: tuple[str, ...], family: str = "cumulative") -> Thresholds:
    """Return the structure called ``kind`` for these categories.

    >>> make_thresholds("equidistant", ("1", "2", "3", "4")).J
    array([[1., 0.],
           [1., 1.],
           [1., 2.]])
    """
    if kind not in STRUCTURES:
        raise UnknownName(f"No threshold structure is called {kind!r}. {did_you_mean(kind, STRUCTURES)}")
    between = tuple(f"{low}|{high}" for low, high in pairwise(categories))
    J, names = STRUCTURES[kind](between)
    return Thresholds(kind, names, between, J, family)


def _flexible(between: tuple[str, ...]) -> tuple[Floats, tuple[str, ...]]:
    return np.eye(len(between)), between


def _equidistant(between: tuple[str, ...]) -> tuple[Floats, tuple[str, ...]]:
    if len(between) < 2:
        raise BadModel("Equidistant thresholds need three categories or more; use threshold='flexible'.")
    steps = np.arange(len(between), dtype=float)
    return np.column_stack([np.ones(len(between)), steps]), ("threshold.1", "spacing")


def _symmetric(between: tuple[str, ...]) -> tuple[Floats, tuple[str, ...]]:
    """Thresholds mirrored about their centre: one in the middle, or two; spacings count from there."""
    count = len(between)
    if count < 3:
        raise BadModel("Symmetric thresholds need four categories or more; use threshold='flexible'.")
    half = (count - 1) // 2
    centres = count - 2 * half
    J = np.zeros((count, centres + half))
    for k in range(count):
        J[k, 1 if centres == 2 and k >= count // 2 else 0] = 1.0
    for step in range(1, half + 1):
        J[half - step, centres + step - 1] = -1.0
        J[count - 1 - half + step, centres + step - 1] = 1.0
    middle = ("central",) if centres == 1 else ("central.1", "central.2")
    return J, (*middle, *(f"spacing.{step}" for step in range(1, half + 1)))


def _mirrored(between: tuple[str, ...]) -> tuple[Floats, tuple[str, ...]]:
    """Thresholds mirrored at zero, as pairs have them: −b, −a, a, b; one in the middle is zero."""
    count = len(between)
    half = count // 2
    J = np.zeros((count, half))
    for step in range(half):
        J[half - 1 - step, step], J[count - half + step, step] = -1.0, 1.0
    return J, between[count - half :]


STRUCTURES: dict[str, Callable[[tuple[str, ...]], tuple[Floats, tuple[str, ...]]]] = {
    "flexible": _flexible,
    "symmetric": _symmetric,
    "equidistant": _equidistant,
    "mirrored": _mirrored,
}
