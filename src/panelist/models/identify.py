"""Which variances and correlations of raters and items a set of ratings can identify.

With system effects that vary over raters and items, the covariance of two different ratings is

    cov(y_i, y_j) = [same rater] D[s_i, s_j]  +  [same item] E[s_i, s_j]

where s is the system, D the covariance of the systems over raters and E that over items. So all that is known
about D and E comes from pairs of ratings that meet: in one rater only (which shows D[s, t]), in one item only
(E[s, t]), or in both (their sum). A model is identified if its D and E follow from the pairs of systems that
meet. The variance of a single rating is ignored: an ordinal model with two categories does not
know it, and others would have to assume that the residual is the same for every system.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import scipy.sparse as sp

from panelist.numerics.arrays import Bools, Floats, Longs

if TYPE_CHECKING:
    import pandas as pd

Shape = Literal["slopes", "cells", "intercept"]


@dataclass(frozen=True, eq=False)
class Meetings:
    """How often two ratings meet, for every pair of systems (systems × systems; the diagonal is one system).

    ``in_rater``: one rater, two items. ``in_item``: one item, two raters. ``in_both``: one rater, one item.
    """

    systems: tuple[str, ...]
    in_rater: Longs
    in_item: Longs
    in_both: Longs

    @property
    def known(self) -> dict[str, Bools]:
        """Which entries of the systems' covariance over ``rater`` and over ``item`` can be estimated."""
        rater, item, both = self.in_rater > 0, self.in_item > 0, self.in_both > 0
        return {"rater": rater | (item & both), "item": item | (rater & both)}


def count_meetings(frame: pd.DataFrame) -> Meetings:
    """Return how the ratings of a table (rater, item, system; a column may be missing) meet."""
    system, systems = _number(frame["system"])
    k = len(systems)
    everyone = np.arange(len(frame))  # a missing column ties no two ratings together
    rater = _number(frame["rater"])[0] if "rater" in frame else everyone
    item = _number(frame["item"])[0] if "item" in frame else everyone
    both, _ = _number_pairs(rater, item)
    in_both = _cross(both, system, k)
    in_rater, in_item = (_cross(group, system, k) - in_both for group in (rater, item))
    return Meetings(systems, in_rater, in_item, in_both - np.diag(np.bincount(system, minlength=k)))


def find_unidentified(shapes: Mapping[str, Shape], meetings: Meetings) -> set[str]:
    """Return the groups (rater, item) whose covariance does not follow completely from the meetings."""
    if not shapes:
        return set()
    k = len(meetings.systems)
    rows, columns = np.triu_indices(k)
    parts = {group: _write_parameters(shape, rows, columns) for group, shape in shapes.items()}
    widths = {group: part.shape[1] for group, part in parts.items()}
    blank = {group: np.zeros_like(part) for group, part in parts.items()}
    equations = []
    for met, groups in (
        (meetings.in_rater, {"rater"}),
        (meetings.in_item, {"item"}),
        (meetings.in_both, {"rater", "item"}),
    ):
        whole = np.hstack([parts[group] if group in groups else blank[group] for group in parts])
        equations.append(np.unique(whole[met[rows, columns] > 0], axis=0))
    lost = _find_lost(np.vstack(equations))
    found, start = set(), 0
    for group, width in widths.items():
        if lost[start : start + width].any():
            found.add(group)
        start += width
    return found


def _write_parameters(shape: Shape, rows: Longs, columns: Longs) -> Floats:
    """Return how the entries of a covariance (one per row) are made from its parameters."""
    if shape == "slopes":
        return np.eye(len(rows))
    same = (rows == columns).astype(float)
    return np.column_stack([np.ones(len(rows)), same] if shape == "cells" else [np.ones(len(rows))])


def _find_lost(A: Floats) -> Bools:
    """Return which unknowns the equations A x = b do not determine: those that the null space moves."""
    if not A.size:
        return np.ones(A.shape[1], dtype=bool)
    sizes, directions = np.linalg.eigh(A.T @ A)  # small whole numbers: no digits are lost
    free = directions[:, sizes <= 1e-9 * max(float(sizes[-1]), 1.0)]
    return np.asarray(np.abs(free).max(axis=1, initial=0.0) > 1e-7)


def _cross(group: Longs, system: Longs, k: int) -> Longs:
    """Return how often two ratings share a group, a rating with itself included, by their systems."""
    M = sp.csr_array(
        (np.ones(len(group), np.int64), (group, system)), shape=(int(group.max(initial=-1)) + 1, k)
    )
    return np.asarray((M.T @ M).toarray(), dtype=np.int64)


def _number(column: pd.Series) -> tuple[Longs, tuple[str, ...]]:
    """Return the column as numbers from 0, and the names they stand for, all of which occur."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):  # already has codes
        codes, known = column.cat.codes.to_numpy(), column.cat.categories
        there = np.bincount(codes, minlength=len(known)) > 0
        places: Longs = np.cumsum(there) - 1
        return places[codes], tuple(str(name) for name in known[there])
    codes, names = pd.factorize(column)
    return np.asarray(codes, dtype=np.int64), tuple(str(name) for name in names)


def _number_pairs(a: Longs, b: Longs) -> tuple[Longs, int]:
    """Return a number from 0 for each pair, and how many different pairs there are."""
    import pandas as pd

    codes, pairs = pd.factorize(a * (int(b.max(initial=0)) + 1) + b)
    return np.asarray(codes, dtype=np.int64), len(pairs)
