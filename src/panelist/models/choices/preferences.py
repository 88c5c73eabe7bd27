"""Random preferences: b = ωu for each rater and system, or item and system.

A term has one standard deviation. Row a of V has a few entries in each term (one, or two where it stands for
two systems), all in the columns of one level. The term with the most columns leads (see blocks/sparse.py).
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from panelist.numerics.arrays import Floats, Longs


@dataclass(frozen=True, eq=False)
class RandomPreferences:
    """One random term: in row a it adds ω Σ_c value[a, c] u[level[a] · width + column[a, c]]."""

    name: str
    levels: tuple[str, ...]
    level: Longs = field(repr=False)  # (n,)
    column: Longs = field(repr=False)  # (n, c)
    value: Floats = field(repr=False)  # (n, c), zero where a row has fewer entries
    width: int

    @cached_property
    def place(self) -> Longs:
        """The column of u of each entry."""
        return self.level[:, None] * self.width + self.column

    @property
    def size(self) -> int:
        """How many random effects the term has."""
        return len(self.levels) * self.width

    def matrix(self) -> Any:
        """Return Z, (n, size), sparse."""
        from scipy.sparse import coo_array

        n, c = self.place.shape
        rows = np.repeat(np.arange(n), c)
        return coo_array((self.value.ravel(), (rows, self.place.ravel())), shape=(n, self.size)).tocsr()


def stack_terms(terms: tuple[RandomPreferences, ...]) -> tuple[RandomPreferences, ...]:
    """Return the terms in the order of elimination: the one with the most effects first."""
    return tuple(sorted(terms, key=lambda term: -term.size))
