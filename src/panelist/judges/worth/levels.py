"""Correlation of a judge with people at four levels: systems, outputs, by item, and paired (docs/judges.md).

Only the paired level says what a judge can save: item and system means are taken out on both sides, by the
additive fit where the table has gaps, and what is left is correlated. It equals the pooled correlation of
paired differences between systems within items.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import nan, sqrt

import numpy as np
from scipy.stats import kendalltau, rankdata

from panelist.agreement.statistics.resample import widen
from panelist.core.seeds import stream
from panelist.numerics.arrays import Bools, Floats

ROUND = 9  # digits to which differences are compared: means of three ratings make false non-ties
CHUNK = 4_000_000  # weights drawn at once
FLAT = 1e-12


@dataclass(frozen=True)
class LevelCorrelations:
    """Pearson's r, Spearman's rho and Kendall's tau-b."""

    pearson: float
    spearman: float
    kendall: float


@dataclass(frozen=True)
class WorthLevel:
    """The correlation of a judge with people at one level, with an interval of Pearson's r.

    ``people`` is a person's r with the others, ``judge_alike`` the judge's with the same others: only these
    two may be compared. ``people_low`` and ``people_high`` are the ends of the former.
    """

    level: str
    pearson: float
    spearman: float
    kendall: float
    low: float
    high: float
    people: float
    judge_alike: float
    people_low: float = nan
    people_high: float = nan


@dataclass(frozen=True)
class LevelTable:
    """The correlations of one judge at every level, and what belongs to them."""

    output: LevelCorrelations
    system: LevelCorrelations
    by_item_pearson: float
    by_item_kendall: float
    by_item_n: int
    paired: float
    paired_lowest: float
    paired_highest: float
    paired_mean: float
    system_lowest_without_one: tuple[str, float]
    n_outputs: int
    n_items: int
    n_systems: int

    @property
    def largest_saving(self) -> float:
        """The share of ratings that a judge of very many items could save at most."""
        return self.paired**2


def correlate(x: Floats, y: Floats) -> float:
    """Return Pearson's r, nan where a side does not vary."""
    if len(x) < 2:
        return nan
    a, b = x - x.mean(), y - y.mean()
    size = sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / size if size > FLAT * max(float(np.abs(x).max() * np.abs(y).max()), FLAT) else nan


def correlate_all(x: Floats, y: Floats, digits: int | None = ROUND) -> LevelCorrelations:
    """Return the three correlations of two columns."""
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return LevelCorrelations(nan, nan, nan)
    x, y = (np.round(one, digits) for one in (x, y)) if digits else (x, y)
    tau = float(kendalltau(x, y).statistic)
    return LevelCorrelations(correlate(x, y), correlate(rankdata(x), rankdata(y)), tau)


def centre_twice(values: Floats, there: Bools) -> Floats:
    """Return the values without item and system effects, by least squares; nan where there are none."""
    inner, A = _centre(values, there), _information(there)
    effects = np.linalg.pinv(A, hermitian=True) @ inner.sum(axis=0)
    left = np.where(there, inner - effects, 0.0)
    n = np.maximum(there.sum(axis=1, keepdims=True), 1)
    left = left - (np.where(there, left, 0.0).sum(axis=1, keepdims=True) / n)
    return np.where(there, left, np.nan)


def _centre(values: Floats, there: Bools) -> Floats:
    """Return the values less the mean of their item; 0 where there is none."""
    kept = np.where(there, values, 0.0)
    n = np.maximum(there.sum(axis=1, keepdims=True), 1)
    return np.where(there, kept - kept.sum(axis=1, keepdims=True) / n, 0.0)


def _information(there: Bools) -> Floats:
    mask = there.astype(np.float64)
    n = np.maximum(mask.sum(axis=1, keepdims=True), 1.0)
    return np.asarray(np.diag(mask.sum(axis=0)) - (mask / n).T @ mask)


def paired_correlation(people: Floats, judge: Floats) -> float:
    """Return the paired r of two grids of items × systems, over outputs that both have."""
    there = np.isfinite(people) & np.isfinite(judge)
    if not there.any():
        return nan
    a, b = centre_twice(people, there)[there], centre_twice(judge, there)[there]
    size = sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / size if size > 1e-9 * max(float(np.abs(people[there]).max()), FLAT) else nan


def measure_levels(people: Floats, judge: Floats, systems: tuple[str, ...]) -> LevelTable:
    """Return the correlations at every level; grids are items × systems, nan where there is nothing."""
    there = np.isfinite(people) & np.isfinite(judge)
    y, f = people[there], judge[there]
    rows = there.any(axis=1)
    means = system_means(people, there), system_means(judge, there)
    by_pearson, by_kendall = _by_item(people[rows], judge[rows], there[rows])
    single = _by_pair(people, judge, there)
    named = [systems[at] for at in np.flatnonzero(there.any(axis=0))]
    has = np.isfinite(by_pearson)
    return LevelTable(
        output=correlate_all(y, f),
        system=correlate_all(*means, None),
        by_item_pearson=float(by_pearson[has].mean()) if has.any() else nan,
        by_item_kendall=float(by_kendall[has].mean()) if has.any() else nan,
        by_item_n=int(has.sum()),
        paired=paired_correlation(people, judge),
        paired_lowest=float(np.nanmin(single)) if np.isfinite(single).any() else nan,
        paired_highest=float(np.nanmax(single)) if np.isfinite(single).any() else nan,
        paired_mean=float(np.nanmean(single)) if np.isfinite(single).any() else nan,
        system_lowest_without_one=_leave_one_out(*means, named),
        n_outputs=int(there.sum()),
        n_items=int(rows.sum()),
        n_systems=int(there.any(axis=0).sum()),
    )


def system_means(values: Floats, there: Bools) -> Floats:
    """Return the mean of each system over the outputs that are there."""
    n = there.sum(axis=0)
    some = n > 0
    return np.asarray(np.where(there, values, 0.0).sum(axis=0)[some] / n[some])


def _by_item(people: Floats, judge: Floats, there: Bools) -> tuple[Floats, Floats]:
    """Return r and tau-b of each item across systems, nan where a side does not vary."""
    y, f = _centre(people, there), _centre(judge, there)
    top = (y * f).sum(axis=1)
    size = np.sqrt((y * y).sum(axis=1) * (f * f).sum(axis=1))
    up, left, right = np.zeros(len(y)), np.zeros(len(y)), np.zeros(len(y))
    for s in range(y.shape[1]):
        for t in range(s):
            both = there[:, s] & there[:, t]
            dy = np.where(
                both, np.sign(np.round(np.where(both, people[:, s] - people[:, t], 0.0), ROUND)), 0.0
            )
            df = np.where(both, np.sign(np.round(np.where(both, judge[:, s] - judge[:, t], 0.0), ROUND)), 0.0)
            up, left, right = up + dy * df, left + np.abs(dy), right + np.abs(df)
    varies = (left > 0) & (right > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(varies, top / size, np.nan), np.where(varies, up / np.sqrt(left * right), np.nan)


def _by_pair(people: Floats, judge: Floats, there: Bools) -> Floats:
    """Return the correlation of paired differences for each pair of systems."""
    S = people.shape[1]
    found = []
    for s in range(S):
        for t in range(s + 1, S):
            both = there[:, s] & there[:, t]
            found.append(correlate(people[both, s] - people[both, t], judge[both, s] - judge[both, t]))
    return np.array(found)


def _leave_one_out(people: Floats, judge: Floats, systems: Sequence[str]) -> tuple[str, float]:
    """Return the system without which the correlation of system means is lowest, and that correlation."""
    if len(people) < 4:
        return "", nan
    every = np.arange(len(people))
    without = [correlate(people[every != at], judge[every != at]) for at in every]
    if not np.isfinite(without).any():
        return "", nan
    at = int(np.nanargmin(without))
    return systems[at], without[at]


@dataclass(frozen=True, eq=False)
class ItemSums:
    """What every resample of items needs of one judge: sums by item, from which all Pearson r follow."""

    columns: Floats = field(repr=False)
    n_systems: int
    complete: bool

    @classmethod
    def prepare(cls, people: Floats, judge: Floats) -> ItemSums:
        """Return the sums of each item."""
        there = np.isfinite(people) & np.isfinite(judge)
        y, f = np.where(there, people, 0.0), np.where(there, judge, 0.0)
        yc, fc = _centre(people, there), _centre(judge, there)
        n = there.sum(axis=1)
        parts = [
            *(n, y.sum(1), f.sum(1), (y * y).sum(1), (f * f).sum(1), (y * f).sum(1)),
            *((yc * yc).sum(1), (fc * fc).sum(1), (yc * fc).sum(1)),
        ]
        wide = [y, f, there.astype(np.float64), yc, fc]
        complete = bool((there.all(axis=1) | ~there.any(axis=1)).all())
        if not complete:
            mask = there.astype(np.float64)
            outer = mask[:, :, None] * mask[:, None, :] / np.maximum(n, 1)[:, None, None]
            wide.append(outer.reshape(len(n), -1))
        return cls(np.column_stack([*parts, *wide]).astype(np.float64), people.shape[1], complete)

    def correlations(self, sums: Floats) -> tuple[Floats, Floats, Floats]:
        """Return Pearson's r of outputs, systems and pairs for each row of weighted sums."""
        S = self.n_systems
        n, y, f, yy, ff, yf, cyy, cff, cyf = sums[:, :9].T
        ys, fs, there, by, bf = (sums[:, 9 + k * S : 9 + (k + 1) * S] for k in range(5))
        with np.errstate(divide="ignore", invalid="ignore"):
            output = (yf - y * f / n) / np.sqrt(_vary(yy - y * y / n, yy) * _vary(ff - f * f / n, ff))
            means = ys / there, fs / there
            some = np.maximum((there > 0).sum(axis=1, keepdims=True), 1)
            a, b = (one - np.nansum(one, axis=1, keepdims=True) / some for one in means)
            system = np.nansum(a * b, axis=1) / np.sqrt(np.nansum(a * a, axis=1) * np.nansum(b * b, axis=1))
            if self.complete:
                rows = there[:, :1]
                less = [(p * q / rows).sum(axis=1) for p, q in ((by, by), (bf, bf), (by, bf))]
            else:
                A = -sums[:, 9 + 5 * S :].reshape(-1, S, S)
                A[:, np.arange(S), np.arange(S)] += there
                inverse = np.linalg.pinv(A, hermitian=True)
                less = [np.einsum("ni,nij,nj->n", p, inverse, q) for p, q in ((by, by), (bf, bf), (by, bf))]
            paired = (cyf - less[2]) / np.sqrt(_vary(cyy - less[0], yy) * _vary(cff - less[1], ff))
        return output, system, paired


def _vary(squares: Floats, size: Floats) -> Floats:
    """Return sums of squares, nan where they are mere rounding: what is constant has no correlation."""
    return np.where(squares > FLAT * size, squares, np.nan)


def draw_weights(N: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Give how often each of N items is in each resample, (k, N), some resamples at a time."""
    rng = stream(seed, "judges", "items")
    step = max(1, min(resamples, CHUNK // max(N, 1)))
    for start in range(0, resamples, step):
        k = min(step, resamples - start)
        drawn = rng.integers(N, size=(k, N)) + N * np.arange(k)[:, None]
        yield np.bincount(drawn.ravel(), minlength=k * N).reshape(k, N).astype(np.float64)


def resample_items(
    tables: list[ItemSums], resamples: int = 2000, seed: int = 0
) -> list[tuple[Floats, Floats, Floats]]:
    """Return Pearson's r of outputs, systems and pairs of every judge, in the same resamples of items."""
    found: list[list[tuple[Floats, Floats, Floats]]] = [[] for _ in tables]
    for weights in draw_weights(len(tables[0].columns), resamples, seed):
        for at, one in enumerate(tables):
            found[at].append(one.correlations(weights @ one.columns))
    return [
        (
            np.concatenate([part[0] for part in parts]),
            np.concatenate([part[1] for part in parts]),
            np.concatenate([part[2] for part in parts]),
        )
        for parts in found
    ]


def percentile(values: Floats, confidence: float, n_items: int = 0) -> tuple[float, float]:
    """Return the ends of the percentile interval; nan where fewer than half of the resamples have a value.

    With ``n_items`` it is the expanded percentile interval of a bootstrap of so many items, which without it
    is too narrow (Hesterberg 2015).
    """
    known = values[np.isfinite(values)]
    if len(known) < max(2, len(values) / 2):
        return nan, nan
    tail = (1 - confidence) / 2
    low, middle, high = np.quantile(known, [tail, 0.5, 1 - tail])
    wider = widen(n_items, confidence) if n_items > 1 else 1.0
    return float(middle - wider * (middle - low)), float(middle + wider * (high - middle))


def percentile_of_r(values: Floats, confidence: float, n_items: int) -> tuple[float, float]:
    """Return the expanded percentile interval of a correlation, which lies between -1 and 1."""
    low, high = percentile(values, confidence, n_items)
    return max(low, -1.0), min(high, 1.0)
