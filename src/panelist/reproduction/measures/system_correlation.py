"""Correlations of system scores between studies (type II results).

Pearson's r, Spearman's ρ (mid-ranks) and Kendall's τ-b of each pair of studies, averaged over the pairs
without a transform, as QRA3 does; Kendall's W over all studies, W = 12 S / (m² (k³ − k)) with S the squared
deviations of the rank sums of k systems in m studies, and corrected for ties, 12 S / (m² (k³ − k) − m Σ (t³ −
t)). QRA3 does not correct. The p of W is that of χ² = m (k − 1) W. RMSE is in units of the scores: r does not
see a shift in level.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan, sqrt

import numpy as np

from panelist.numerics.arrays import Floats

FEW_SYSTEMS = 5


@dataclass(frozen=True)
class PairCorrelation:
    """Two studies: their correlations over systems, Pearson's p, and the root of the mean squared
    difference."""

    first: str
    second: str
    pearson: float
    pearson_p: float
    spearman: float
    tau: float
    rmse: float


@dataclass(frozen=True)
class Correlations:
    """Means over the pairs of studies, and Kendall's W over all of them; nan where undefined, see
    ``notes``."""

    n_systems: int
    n_studies: int
    pearson: float
    spearman: float
    tau: float
    rmse: float
    w: float
    w_p: float
    w_ties: float
    w_ties_p: float
    pairs: tuple[PairCorrelation, ...]
    notes: tuple[str, ...] = ()

    @property
    def few(self) -> bool:
        """Whether there are too few systems for any coefficient to mean much."""
        return self.n_systems < FEW_SYSTEMS


def correlate(scores: Sequence[Sequence[float]], labels: Sequence[str] | None = None) -> Correlations:
    """Return the correlations of studies; ``scores`` has one row per study, the systems in the same order.

    >>> found = correlate([[-39, -12, -6, 58], [-45, -13.44444444, 1.44444444, 57]])
    >>> round(found.pearson, 10), round(found.pairs[0].pearson_p, 7), found.spearman
    (0.9917304875, 0.0082695, 1.0)
    """
    X = np.array(scores, dtype=np.float64)
    m, k = X.shape
    names = list(labels) if labels is not None else [f"study {place + 1}" for place in range(m)]
    pairs = tuple(_correlate_pair(X[i], X[j], names[i], names[j]) for i, j in combinations(range(m), 2))
    w, p, w_ties, p_ties = _concordance(X)
    return Correlations(
        n_systems=k,
        n_studies=m,
        pearson=_mean([pair.pearson for pair in pairs]),
        spearman=_mean([pair.spearman for pair in pairs]),
        tau=_mean([pair.tau for pair in pairs]),
        rmse=_mean([pair.rmse for pair in pairs]),
        w=w,
        w_p=p,
        w_ties=w_ties,
        w_ties_p=p_ties,
        pairs=pairs,
        notes=tuple(_notes(X, names)),
    )


def rank(values: Floats) -> Floats:
    """Return the ranks, 1 the smallest, equal values sharing the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middle: Floats = (ends - (counts - 1) / 2)[inverse]
    return middle


def _correlate_pair(x: Floats, y: Floats, first: str, second: str) -> PairCorrelation:
    r = _pearson(x, y)
    return PairCorrelation(
        first=first,
        second=second,
        pearson=r,
        pearson_p=_pearson_p(r, len(x)),
        spearman=_pearson(rank(x), rank(y)),
        tau=_tau(x, y),
        rmse=float(np.sqrt(np.mean((x - y) ** 2))),
    )


def _pearson(x: Floats, y: Floats) -> float:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return nan
    a, b = x - x.mean(), y - y.mean()
    a, b = a / np.abs(a).max(), b / np.abs(b).max()  # squares of very small numbers would vanish
    return float(np.clip(a @ b / sqrt(float(a @ a) * float(b @ b)), -1.0, 1.0))


def _pearson_p(r: float, k: int) -> float:
    from scipy.special import stdtr

    if k < 3 or np.isnan(r):
        return nan
    if abs(r) >= 1:
        return 0.0
    return float(2 * stdtr(k - 2, -abs(r) * sqrt((k - 2) / (1 - r * r))))


def _tau(x: Floats, y: Floats) -> float:
    i, j = np.triu_indices(len(x), 1)
    a, b = np.sign(x[i] - x[j]), np.sign(y[i] - y[j])
    untied = float(np.abs(a).sum()) * float(np.abs(b).sum())
    return float(a @ b) / sqrt(untied) if untied else nan


def _concordance(X: Floats) -> tuple[float, float, float, float]:
    """Return W and its p without and with the correction for ties."""
    from scipy.special import chdtrc

    m, k = X.shape
    if k < 2 or m < 2:
        return nan, nan, nan, nan
    ranks = np.array([rank(row) for row in X])
    sums = ranks.sum(axis=0)
    S = float(((sums - sums.mean()) ** 2).sum())
    ties = sum(
        float((counts**3 - counts).sum()) for counts in (np.unique(row, return_counts=True)[1] for row in X)
    )
    whole = m * m * (k**3 - k)
    w = 12 * S / whole
    rest = whole - m * ties
    w_ties = 12 * S / rest if rest > 0 else nan
    found = [w, nan, w_ties, nan]
    for place in (0, 2):
        if not np.isnan(found[place]):
            found[place + 1] = float(chdtrc(k - 1, m * (k - 1) * found[place]))
    return found[0], found[1], found[2], found[3]


def _notes(X: Floats, names: Sequence[str]) -> list[str]:
    k = X.shape[1]
    if k < 2:
        return ["There is one common system only: no correlation, and no order of systems to compare."]
    notes = []
    flat = [name for name, row in zip(names, X, strict=True) if np.ptp(row) == 0]
    if flat:
        notes.append(
            f"All systems have the same score in {' and '.join(flat)}: correlations with it are undefined."
        )
    if k == 2:
        notes.append(
            "With 2 systems a correlation can only be 1 or -1: it says whether their order is the same."
        )
    elif k < FEW_SYSTEMS:
        values = " With 3 systems ρ can only be -1, -0.5, 0.5 or 1 (without ties)." if k == 3 else ""
        notes.append(
            f"There are {k} systems: below {FEW_SYSTEMS} a correlation says little and its p nothing.{values}"
        )
    return notes


def _mean(values: list[float]) -> float:
    """Return the mean; nan where one of the values is."""
    return sum(values) / len(values) if values else nan
