"""Calibration: what people say where the judge gives a score, with intervals, and the monotone curve."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from scipy.special import stdtrit

from panelist.numerics.arrays import Floats

MOST_POINTS = 11  # whole scores up to this many are bins of their own; else deciles
DECILES = 10


@dataclass(frozen=True)
class CalibrationPoint:
    """Outputs with about this score of the judge: people's mean, its interval, and the monotone curve."""

    judge_score: float
    outputs: int
    people_mean: float
    low: float
    high: float
    monotone: float


def calibrate(
    people: Floats, judge: Floats, same_scale: bool, confidence: float = 0.95
) -> tuple[CalibrationPoint, ...]:
    """Return people's mean by the judge's rounded score on the same scale, and by its deciles otherwise.

    Intervals take items as clusters.
    """
    there = np.isfinite(people) & np.isfinite(judge)
    if there.sum() < 2:
        return ()
    item = np.nonzero(there)[0]
    y, f = people[there], judge[there]
    if same_scale and np.ptp(np.round(f)) < MOST_POINTS:
        bins = np.round(f)
        centres = {value: value for value in np.unique(bins)}
    else:
        edges = np.unique(np.quantile(f, np.linspace(0, 1, DECILES + 1)))
        bins = np.clip(np.searchsorted(edges, f, side="right") - 1, 0, max(len(edges) - 2, 0)).astype(float)
        centres = {value: float(f[bins == value].mean()) for value in np.unique(bins)}
    points = []
    for value in np.unique(bins):
        own = bins == value
        mean, reach = _mean(y[own], item[own], confidence)
        points.append((centres[value], int(own.sum()), mean, mean - reach, mean + reach))
    curve = fit_monotone(np.array([p[2] for p in points]), np.array([p[1] for p in points], dtype=float))
    return tuple(
        CalibrationPoint(float(score), n, mean, low, high, float(height))
        for (score, n, mean, low, high), height in zip(points, curve, strict=True)
    )


def _mean(y: Floats, item: Floats, confidence: float) -> tuple[float, float]:
    """Return the mean and the reach of its interval, with items as clusters; nan where they do not differ."""
    mean = float(y.mean())
    by_item = np.bincount(np.unique(item, return_inverse=True)[1], weights=y - mean)
    g = len(by_item)
    if g < 2:
        return mean, nan
    se = sqrt(float(by_item @ by_item) * g / (g - 1)) / len(y)
    return mean, float(stdtrit(g - 1, 0.5 + confidence / 2)) * se if se > 0 else nan


def fit_monotone(values: Floats, weights: Floats) -> Floats:
    """Return the nearest curve that never falls, by pooling neighbours that do (isotonic regression).

    >>> fit_monotone(np.array([1.0, 3.0, 2.0, 4.0]), np.ones(4)).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    blocks: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        blocks.append((value, weight, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, wa, na), (b, wb, nb) = blocks[-2:]
            blocks[-2:] = [((a * wa + b * wb) / (wa + wb), wa + wb, na + nb)]
    return np.concatenate([np.full(n, value) for value, _, n in blocks])
