"""The measures of Belz & Kow (2011), for one sample and for many resamples at once, and their intervals."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.special import ndtri

from panelist.analysis.scales.scale_data import ScaleData
from panelist.models.inference.studentised_range import studentised_range_quantile
from panelist.numerics.arrays import Floats

LARGEST = 1e8  # of df1 F: beyond, the non-central F distribution is as good as its limit
MOST_TERMS = 20_000  # the mean of a Poisson distribution that is summed term by term


def correlate(a: Floats, b: Floats, ranks: bool = False) -> Floats:
    """Return Pearson's r along the last axis, or with ``ranks`` Spearman's rho; nan where nothing varies."""
    from scipy.stats import rankdata

    a, b = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    known = np.isfinite(a).all(axis=-1) & np.isfinite(b).all(axis=-1)
    if ranks:
        a, b = rankdata(a, axis=-1), rankdata(b, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        a, b = a - a.mean(axis=-1, keepdims=True), b - b.mean(axis=-1, keepdims=True)
        spread = np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1))
        r = np.where(spread > 1e-12, (a * b).sum(axis=-1) / spread, np.nan)
    return np.where(known, np.clip(r, -1.0, 1.0), np.nan)


def rank_products(data: ScaleData) -> tuple[Floats, tuple[str, ...]]:
    """Return the products of the raters' centred ranks of systems (raters × raters), and the raters.

    A rater orders the systems by the means of the ratings given to each; raters who did not see every system
    are left out.
    """
    from scipy.stats import rankdata

    k, m = len(data.systems), len(data.raters)
    cell = data.rater * k + data.system
    n = np.bincount(cell, minlength=m * k)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (np.bincount(cell, weights=data.value, minlength=m * k) / n).reshape(m, k)
    full = np.asarray(np.isfinite(means).all(axis=1))
    ranks = rankdata(means[full].round(9), axis=1)  # so that equal means tie although sums were rounded
    ranks -= ranks.mean(axis=1, keepdims=True)
    names = tuple(name for name, kept in zip(data.raters, full, strict=True) if kept)
    return np.asarray(ranks @ ranks.T), names


def concordance(products: Floats, weights: Floats) -> Floats:
    """Return Kendall's W, corrected for ties, for each row of ``weights`` (how often each rater is drawn).

    With c_ij the products of centred mid-ranks, W = (1 + (m − 1) c̄_{i≠j} / c̄_ii) / m, which is the usual
    formula with the correction for ties written out. In a resample a rater drawn twice is not a second
    opinion: only products of different raters enter c̄_{i≠j}, so that W is not biased towards 1.
    """
    own = np.diag(products)
    m = weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        between = np.einsum("bi,ij,bj->b", weights, products, weights, optimize=True) - weights**2 @ own
        pairs = m**2 - (weights**2).sum(axis=1)
        w = (1 + (m - 1) * (between / pairs) / (weights @ own / m)) / m
    return np.where((pairs > 0) & (weights @ own > 1e-9), np.clip(w, 0.0, 1.0), np.nan)


def system_means(data: ScaleData, weights: Floats) -> Floats:
    """Return the mean of each system, (resamples × systems), items counted as often as ``weights`` say."""
    n, total, _ = data.sums(data.system, len(data.systems))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((weights @ total) / (weights @ n) + data.value.mean())


def count_differences(data: ScaleData, weights: Floats, confidence: float) -> Floats:
    """Return how many pairs of systems Tukey's test calls different, for each row of ``weights``.

    The critical value is that of the whole sample's degrees of freedom; resamples differ from it by little.
    """
    k = len(data.systems)
    n, total, square = (np.asarray(weights @ part) for part in data.sums(data.system, k))
    df = len(data.value) - k
    if df < 1:
        return np.full(len(weights), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = total / n
        mean_square = (square - n * means**2).sum(axis=1) / np.maximum(n.sum(axis=1) - k, 1)
        critical = float(studentised_range_quantile(confidence, k, np.array(float(df)))) / np.sqrt(2)
        found = np.zeros(len(weights))
        for i, j in combinations(range(k), 2):
            se = np.sqrt(np.maximum(mean_square, 0.0) * (1 / n[:, i] + 1 / n[:, j]))
            found += np.abs(means[:, i] - means[:, j]) > critical * se
    return np.where((n > 0).all(axis=1), found, np.nan)


def fisher_interval(r: float, n: int, confidence: float) -> tuple[float, float]:
    """Return Fisher's interval of a correlation over ``n`` pairs: tanh(artanh r ± z / √(n − 3)).

    >>> low, high = fisher_interval(0.9, 10, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.6239, 0.9764)
    """
    if not np.isfinite(r) or n < 4 or abs(r) >= 1:
        return float("nan"), float("nan")
    reach = float(ndtri((1 + confidence) / 2)) / np.sqrt(n - 3)
    return float(np.tanh(np.arctanh(r) - reach)), float(np.tanh(np.arctanh(r) + reach))


def overlap(r_a: float, r_b: float, r_ab: float) -> float:
    """Return the correlation of the estimates r(a, x) and r(b, x), which share x, given r(a, b).

    Zou, G. Y. (2007). Toward using confidence intervals to compare correlations. Psychological Methods 12.
    doi:10.1037/1082-989X.12.4.399
    """
    top = (r_ab - r_a * r_b / 2) * (1 - r_a**2 - r_b**2 - r_ab**2) + r_ab**3
    bottom = (1 - r_a**2) * (1 - r_b**2)
    return float(np.clip(top / bottom, -1.0, 1.0)) if bottom > 0 else 0.0


def subtract_intervals(
    a: tuple[float, float, float], b: tuple[float, float, float], correlation: float = 0.0
) -> tuple[float, float]:
    """Return the interval of a − b from (value, low, high) of each and their correlation (Zou 2007)."""
    down, up = a[0] - a[1], b[2] - b[0]
    low = a[0] - b[0] - np.sqrt(max(down**2 + up**2 - 2 * correlation * down * up, 0.0))
    up, down = a[2] - a[0], b[0] - b[1]
    high = a[0] - b[0] + np.sqrt(max(up**2 + down**2 - 2 * correlation * up * down, 0.0))
    return float(low), float(high)


def share_interval(F: float, df1: int, df2: int, confidence: float) -> tuple[float, float]:
    """Return the interval of the share of variance: non-central F distributions with the F at their tails.

    Steiger (2004), Beyond the F test, Psychological Methods 9, doi:10.1037/1082-989X.9.2.164: the ends of the
    non-centrality λ are turned into λ / (λ + N).
    """
    if not np.isfinite(F) or df1 < 1 or df2 < 1:
        return float("nan"), float("nan")
    ends = [_noncentrality(F, df1, df2, share) for share in ((1 + confidence) / 2, (1 - confidence) / 2)]
    total = df1 + df2 + 1
    return 1 - total / (ends[0] + total), 1 - total / (ends[1] + total)


def _noncentrality(F: float, df1: int, df2: int, share: float) -> float:
    """Return the λ at which this share of the non-central F distribution lies below F; 0 where none does.

    As F grows, only the chi-square below the line varies: λ = df1 F χ²/df2.
    """
    from scipy.optimize import brentq
    from scipy.special import chdtri

    limit = df1 * (float(chdtri(df2, share)) / df2) * F
    if df1 * F > LARGEST:
        return limit

    def excess(nc: float) -> float:
        return noncentral_f(F, df1, df2, nc) - share

    if excess(0.0) <= 0:
        return 0.0
    high = 10.0 + 2 * limit
    while excess(high) > 0:
        high *= 2
    return float(brentq(excess, 0.0, high))


def noncentral_f(F: float, df1: int, df2: int, nc: float) -> float:
    """Return how much of the non-central F distribution lies below F, for every λ that occurs.

    It is a mixture of beta distributions by a Poisson distribution of mean λ/2, summed term by term, or by
    Gauss and Hermite's nodes where there are too many terms. scipy's ``ncfdtr`` gives nan in places.

    >>> round(noncentral_f(3.0, 2, 40, 5.0), 6)
    0.490461
    """
    from scipy.special import betainc, gammaln

    mean = nc / 2
    if mean < MOST_TERMS:
        reach = 9 * np.sqrt(mean) + 30
        j = np.arange(max(0.0, np.floor(mean - reach)), np.ceil(mean + reach) + 1)
        weight = np.exp(j * np.log(mean) - mean - gammaln(j + 1)) if mean > 0 else (j == 0).astype(float)
    else:
        nodes, weight = np.polynomial.hermite_e.hermegauss(40)
        j, weight = mean + np.sqrt(mean) * nodes, weight / np.sqrt(2 * np.pi)
    above = betainc(df2 / 2, df1 / 2 + j, df2 / (df1 * F + df2))
    return 1 - float(weight @ above)
