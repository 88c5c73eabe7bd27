"""With weights: the regression estimator of survey sampling, where items had unequal chances.

m̂ is fitted to people's ratings by least squares with weights 1/π (system dummies and the judge's
covariates), and predicted for all N items: θ̂_s = N⁻¹ Σ m̂_is, since weighted residuals of a system sum to
zero (GREG; Särndal, Swensson & Wretman 1992, Model Assisted Survey Sampling, ch. 6). The variance is that of
the influences of single ratings, summed by rater and by item: V = V_raters R/(R−1) + V_items n/(n−1) − V_both
(Cameron, Gelbach & Miller 2011), t on min(R, n) − 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from panelist.judges.correct.covariates import make_covariates
from panelist.judges.correct.regression import Slope
from panelist.judges.match import JudgedRatings
from panelist.numerics.arrays import Floats, Longs


@dataclass(frozen=True, eq=False)
class Weighted:
    """Means of the systems by weights, with the parts of their covariance."""

    systems: tuple[str, ...]
    estimate: Floats
    by_item: Floats = field(repr=False)
    by_rater: Floats | None = field(repr=False)
    by_both: Floats | None = field(repr=False)
    n_items: int
    n_labelled: int
    n_raters: int
    slopes: tuple[Slope, ...] = ()
    fit: None = None

    @property
    def covariance(self) -> Floats:
        """The covariance of the means; where the parts leave a negative variance, that of items alone."""
        if self.by_rater is None or self.by_both is None:
            return self.by_item
        whole = self.by_rater + self.by_item - self.by_both
        return whole if np.linalg.eigvalsh(whole).min() > 0 else np.maximum(self.by_item, self.by_rater)

    def measure(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return variance and degrees of freedom of each combination of the means."""
        items = np.einsum("ij,jk,ik->i", rows, self.by_item, rows)
        df = float(max(self.n_labelled - 1, 1))
        if self.by_rater is None or self.by_both is None:
            return items, np.full(len(rows), df)
        raters = np.einsum("ij,jk,ik->i", rows, self.by_rater, rows)
        both = np.einsum("ij,jk,ik->i", rows, self.by_both, rows)
        whole = items + raters - both
        whole = np.where(whole > 0, whole, np.maximum(items, raters))
        return whole, np.full(len(rows), float(max(min(self.n_raters, self.n_labelled) - 1, 1)))


def weigh_means(
    beside: JudgedRatings, probability: Floats, scores: Mapping[str, Floats] | None = None
) -> Weighted:
    """Return the means over all N items; ``probability`` has that of each item to be rated."""
    used = beside.scores if scores is None else scores
    made = make_covariates(used, beside.counts)
    N, S = len(beside.items), len(beside.systems)
    whole = np.zeros((N, S, S + len(made.columns)))
    whole[:, np.arange(S), np.arange(S)] = 1.0
    for at, values in enumerate(made.columns.values()):
        whole[:, :, S + at] = values
    # each output counts once, whoever rated it: a rating has its item's weight over the ratings of its output
    w = 1.0 / probability[beside.item] / beside.counts[beside.item, beside.system]
    X = whole[beside.item, beside.system]
    bread = np.linalg.pinv((X * w[:, None]).T @ X)
    beta = bread @ (X.T @ (w * beside.y))
    residual = beside.y - X @ beta
    predicted = whole @ beta
    theta = predicted.mean(axis=0)
    # influence of a rating on θ: its weighted residual, over the weights of its system
    total = np.bincount(beside.system, weights=w, minlength=S)
    score = np.zeros((len(beside.y), S))
    score[np.arange(len(beside.y)), beside.system] = w * residual / total[beside.system]
    by_item = _sum_by(score, beside.item, N) + (predicted - theta) / N
    n, R = int(beside.labelled.sum()), len(np.unique(beside.rater))
    items = by_item.T @ by_item * n / max(n - 1, 1)
    raters = both = None
    if beside.knows_raters:
        sums = _sum_by(score, beside.rater, len(beside.raters))
        raters = sums.T @ sums * R / (R - 1)
        cells = _sum_by(score, np.unique(beside.rater * N + beside.item, return_inverse=True)[1])
        both = cells.T @ cells
    slopes = tuple(
        Slope(made.judge[name], made.term[name], float(beta[S + at]), float("nan"))
        for at, name in enumerate(made.columns)
    )
    return Weighted(beside.systems, theta, items, raters, both, N, n, R if beside.knows_raters else 0, slopes)


def _sum_by(score: Floats, code: Longs, n: int | None = None) -> Floats:
    size = int(code.max()) + 1 if n is None else n
    return np.stack([np.bincount(code, weights=column, minlength=size) for column in score.T], axis=1)
