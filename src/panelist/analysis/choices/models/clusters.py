"""How far estimates spread when answers of one rater, and answers about one item, are correlated.

One way of clustering: the sandwich H⁻¹ (Σ_g s_g s_g') H⁻¹ with s_g the score of cluster g (Liang & Zeger
1986, doi:10.1093/biomet/73.1.13), times G / (G − 1), and t on G − 1 degrees of freedom.

Raters and items at once (Cameron, Gelbach & Miller 2011, doi:10.1198/jbes.2010.07136): the variance of a
difference is V_raters + V_items − V_cells, a cell being the answers of one rater about one item. With few
clusters this is too small too often, so three things are added, found by simulation (docs/comparisons.md):

- **No negative part.** It is V_cells + max(V_raters − V_cells, 0) + max(V_items − V_cells, 0): raters may add
  to the spread, never reduce it.
- **Pairs borrow from each other.** With few clusters the variance of one pair of systems is hardly known, but
  how much larger variances are than those of single cells, on average over all systems, is known better.
  V_raters is the mean of its own estimate, with weight G − 1, and of that average times V_cells, with weight
  4 (MODERATION). With many clusters its own estimate wins.
- **Degrees of freedom** after Satterthwaite (1946), from those of the parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from panelist.numerics.arrays import Floats, Longs

MODERATION = 4.0  # the weight of the average over all pairs, in clusters
FEWEST = 3  # with fewer clusters nothing can be said about how clusters differ


class Way(NamedTuple):
    """The covariance that one way of clustering gives, and its degrees of freedom."""

    covariance: Any
    df: float


@dataclass(frozen=True, eq=False)
class StrengthCovariance:
    """The covariance of the strengths: in one way, or by raters, items and cells.

    ``ways`` holds one, or three: two sides that cross, and their cells. ``floor``, where given, is a
    covariance below which no variance may fall: where systems always win, residuals say too little.
    """

    ways: tuple[Way, ...] = field(repr=False)
    floor: Floats | None = field(default=None, repr=False)

    @property
    def covariance(self) -> Floats:
        """The covariance matrix; where two sides cross, without negative parts in any direction."""
        whole = np.asarray(self.ways[0].covariance)
        if len(self.ways) > 1:
            cells = np.asarray(self.ways[2].covariance)
            whole = cells + sum((_keep_positive(way.covariance - cells) for way in self.ways[:2]), 0 * cells)
        return whole if self.floor is None else self.floor + _keep_positive(whole - self.floor)

    def measure(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return the variance and the degrees of freedom of each linear combination of strengths."""
        variances = [_vary(way.covariance, rows) for way in self.ways]
        if len(self.ways) == 1:
            variance, df = variances[0], np.full(len(rows), self.ways[0].df)
        else:
            variance, df = combine_ways(variances, [way.df for way in self.ways])
        return (variance if self.floor is None else np.maximum(variance, _vary(self.floor, rows))), df


def combine_ways(variances: list[Floats], df: list[float]) -> tuple[Floats, Floats]:
    """Return variance and degrees of freedom from those of two sides that cross, and of their cells."""
    cells = variances[2]
    total, spread = cells, np.zeros_like(cells)
    for variance, degrees in zip(variances[:2], df[:2], strict=True):
        adds = variance > cells
        total = total + np.where(adds, variance - cells, 0.0)
        spread = spread + np.where(adds, variance, 0.0) ** 2 / degrees
    spread = np.where(spread > 0, spread, cells**2 / df[2])
    with np.errstate(divide="ignore", invalid="ignore"):
        return total, np.where(spread > 0, total**2 / spread, df[2])


def moderate(covariance: Floats, cells: Floats, bread: Floats, n: int) -> Way:
    """Return what ``n`` clusters say, shrunk towards the average of all systems, with its degrees of freedom.

    ``bread`` is the inverse information of the strengths; all have the systems last, and may be stacked.
    """
    systems = cells.shape[-1]
    information = np.linalg.pinv(bread, rcond=1e-9, hermitian=True)
    ratio = np.sum(information * covariance, axis=(-2, -1)) / np.maximum(
        np.sum(information * cells, axis=(-2, -1)), 1e-300
    )
    own = (n - 1) / (n - 1 + MODERATION) if systems > 2 else 1.0
    drawn = own * covariance + (1 - own) * ratio[..., None, None] * cells
    return Way(drawn, (n - 1) / (own**2 + (1 - own**2) / max(systems - 1, 1)))


def gather_scores(scores: Any, source: Longs, bread: Floats, code: Longs) -> Floats:
    """Return the sandwich covariance with these clusters, one code for each answer.

    ``scores`` are those of the stages, sparse, and ``source`` says which stage an answer is: clusters hold
    few stages each, so that the sum of their squares is quick however many there are.
    """
    from scipy.sparse import coo_array

    n = int(code.max()) + 1
    counts = coo_array((np.ones(len(code)), (code, source)), shape=(n, scores.shape[0])).tocsr()
    total = counts @ scores
    meat = (total.T @ total).toarray()
    return np.asarray(n / max(n - 1, 1) * bread @ meat @ bread)


def relabel(code: Longs) -> Longs:
    """Return codes from 0 on, without gaps."""
    return np.unique(code, return_inverse=True)[1].astype(np.int64)


def _vary(covariance: Floats, rows: Floats) -> Floats:
    """Return the variance of each linear combination."""
    variance: Floats = np.maximum(((rows @ covariance) * rows).sum(axis=1), 0.0)
    return variance


def _keep_positive(V: Floats) -> Floats:
    values, axes = np.linalg.eigh((V + V.T) / 2)
    return np.asarray((axes * np.maximum(values, 0.0)) @ axes.T)
