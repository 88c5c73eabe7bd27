"""With weights: the regression estimator of survey sampling, where items had unequal chances.

m̂ is fitted to people's ratings by least squares with weights 1/π (system dummies and the judge's
covariates), and predicted for all N items: θ̂_s = N⁻¹ Σ m̂_is, since weighted residuals of a system sum to
zero (GREG; Särndal, Swensson & Wretman 1992, Model Assisted Survey Sampling, ch. 6). The variance is that of
the influences of single ratings, summed by rater and by item: V = V_raters + V_items − V_both (Cameron,
Gelbach & Miller 2011), t on min(R, n) − 1.

Where items are the only clusters, V_items has the residuals as they are, times n/(n−1). Where raters are
known, those of an item or a rater are from the fit without it, times (n−1)/n or (R−1)/R (the jackknife):
residuals of few, unequal items are smaller than their errors, and intervals from them too short.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from panelist.judges.correct.covariates import make_covariates
from panelist.judges.correct.regression import Slope
from panelist.judges.match import JudgedRatings
from panelist.numerics.arrays import Floats, Longs

SINGULAR = 1e10


@dataclass(frozen=True, eq=False)
class Weighted:
    """Means of the systems by weights, with the parts of their covariance."""

    systems: tuple[str, ...]
    estimate: Floats
    by_item: Floats = field(repr=False)
    """The covariance with items as the only clusters."""
    crossed: tuple[Floats, Floats, Floats] | None = field(repr=False)
    """The parts of items, of raters, and of both, where raters are known."""
    n_items: int
    n_labelled: int
    n_raters: int
    slopes: tuple[Slope, ...] = ()
    fit: None = None

    @property
    def covariance(self) -> Floats:
        """The covariance of the means; where the parts leave a negative variance, the larger of the two."""
        if self.crossed is None:
            return self.by_item
        items, raters, both = self.crossed
        whole = items + raters - both
        larger = items if np.trace(items) > np.trace(raters) else raters
        return whole if np.linalg.eigvalsh(whole).min() > 0 else larger

    def measure(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return variance and degrees of freedom of each combination of the means."""
        parts = [np.einsum("ij,jk,ik->i", rows, one, rows) for one in self.crossed or (self.by_item,)]
        if self.crossed is None:
            return parts[0], np.full(len(rows), float(max(self.n_labelled - 1, 1)))
        items, raters, both = parts
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
    drawn = (predicted - theta) / N
    by_item = _sum_by(score, beside.item, N) + drawn
    n, R = int(beside.labelled.sum()), len(np.unique(beside.rater))
    items = by_item.T @ by_item * n / max(n - 1, 1)
    crossed = None
    if beside.knows_raters:
        share = (X @ bread @ whole.mean(axis=0).T) * w[:, None]  # of each rating in θ̂, which is their sum
        own = _sum_by(share * leave_out(X, w, residual, beside.item)[:, None], beside.item, N) + drawn
        sums = _sum_by(share * leave_out(X, w, residual, beside.rater)[:, None], beside.rater)
        both = np.unique(beside.rater * N + beside.item, return_inverse=True)[1]
        cells = _sum_by(share * residual[:, None], both)
        crossed = own.T @ own * (n - 1) / n, sums.T @ sums * (R - 1) / R, cells.T @ cells
    slopes = tuple(
        Slope(made.judge[name], made.term[name], float(beta[S + at]), float("nan"))
        for at, name in enumerate(made.columns)
    )
    return Weighted(beside.systems, theta, items, crossed, N, n, R if beside.knows_raters else 0, slopes)


def leave_out(X: Floats, w: Floats, residual: Floats, code: Longs) -> Floats:
    """Return each rating's residual from the fit without the ratings that share its code.

    It is u + X(X'WX − X_c'WX_c)⁻¹X_c'Wu_c; where the others cannot be fitted without them, it stays u.
    """
    whole, left = (X * w[:, None]).T @ X, residual.copy()
    order = np.argsort(code, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(code[order])) + 1):
        Z = X[rows] * w[rows][:, None]
        rest = whole - Z.T @ X[rows]
        if np.linalg.cond(rest) < SINGULAR:
            left[rows] += X[rows] @ np.linalg.solve(rest, Z.T @ residual[rows])
    return left


def _sum_by(score: Floats, code: Longs, n: int | None = None) -> Floats:
    size = int(code.max()) + 1 if n is None else n
    return np.stack([np.bincount(code, weights=column, minlength=size) for column in score.T], axis=1)
