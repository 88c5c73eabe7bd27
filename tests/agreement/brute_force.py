"""Every coefficient straight from its definition, on a units × raters matrix with gaps: slow, and obvious."""

from collections.abc import Callable
from functools import partial
from itertools import combinations, permutations
from math import nan, sqrt

import numpy as np

from panelist.numerics.arrays import Floats

LEAST_COMMON = 3


def _units(x: Floats, least: int = 2) -> list[Floats]:
    rows = [row[~np.isnan(row)] for row in x]
    return [row for row in rows if len(row) >= least]


def _mean_agreement(x: Floats, weight: Callable[[float, float], float]) -> float:
    """Return the mean over units of the mean weight of ordered pairs of their ratings."""
    each = [np.mean([weight(a, b) for a, b in permutations(row, 2)]) for row in _units(x)]
    return float(np.mean(each)) if each else nan


def _shares(x: Floats, values: Floats) -> Floats:
    each = np.array([[np.mean(row == v) for v in values] for row in _units(x, 1)])
    return np.asarray(each.mean(axis=0))


def _corrected(observed: float, expected: float) -> float:
    return (observed - expected) / (1 - expected) if abs(1 - expected) > 1e-12 else nan


def percent_agreement(x: Floats) -> float:
    return _mean_agreement(x, lambda a, b: float(a == b))


def fleiss_kappa(x: Floats) -> float:
    values = np.unique(x[~np.isnan(x)])
    return _corrected(percent_agreement(x), float((_shares(x, values) ** 2).sum()))


def gwet(x: Floats, measurement: str) -> float:
    values = np.unique(x[~np.isnan(x)])
    k = len(values)
    if k < 2:
        return nan
    place = {v: i for i, v in enumerate(values)}

    def weight(a: float, b: float) -> float:
        if measurement == "nominal":
            return float(a == b)
        if measurement == "ordinal":
            gap = abs(place[a] - place[b]) + 1
            return 1 - gap * (gap - 1) / (k * (k - 1))
        return float(1 - (a - b) ** 2 / (values[-1] - values[0]) ** 2)

    total = sum(weight(a, b) for a in values for b in values)
    share = _shares(x, values)
    return _corrected(_mean_agreement(x, weight), total / (k * (k - 1)) * float((share * (1 - share)).sum()))


def alpha(x: Floats, measurement: str) -> float:
    rows = _units(x)
    if not rows:
        return nan
    pooled = np.concatenate(rows)

    def distance(a: float, b: float) -> float:
        if measurement == "nominal":
            return float(a != b)
        if measurement == "interval":
            return (a - b) ** 2
        if measurement == "ratio":
            return ((a - b) / (a + b)) ** 2 if a != b else 0.0
        low, high = min(a, b), max(a, b)
        between = np.sum((pooled >= low) & (pooled <= high))
        return float(between - (np.sum(pooled == low) + np.sum(pooled == high)) / 2) ** 2 if a != b else 0.0

    n = len(pooled)
    observed = sum(sum(distance(a, b) for a, b in permutations(row, 2)) / (len(row) - 1) for row in rows) / n
    expected = sum(distance(a, b) for a, b in permutations(pooled, 2)) / (n * (n - 1))
    return 1 - observed / expected if expected > 0 else nan


def over_pairs(x: Floats, measure: Callable[[Floats, Floats], float]) -> float:
    found = []
    for a, b in combinations(range(x.shape[1]), 2):
        both = ~np.isnan(x[:, a]) & ~np.isnan(x[:, b])
        if both.sum() >= LEAST_COMMON:
            found.append(measure(x[both, a], x[both, b]))
    defined = [value for value in found if not np.isnan(value)]
    return float(np.mean(defined)) if defined else nan


def kappa(a: Floats, b: Floats, power: int) -> float:
    def distance(u: float, v: float) -> float:
        return abs(u - v) ** power if power else float(u != v)

    expected = np.mean([distance(u, v) for u in a for v in b])
    return (
        1 - float(np.mean([distance(u, v) for u, v in zip(a, b, strict=True)]) / expected)
        if expected
        else nan
    )


def scott(a: Floats, b: Floats) -> float:
    pooled = np.concatenate([a, b])
    expected = sum(np.mean(pooled == v) ** 2 for v in np.unique(pooled))
    return _corrected(float(np.mean(a == b)), float(expected))


def _signs(a: Floats, b: Floats) -> tuple[int, int, int, int]:
    concordant = discordant = untied_a = untied_b = 0
    for i, j in combinations(range(len(a)), 2):
        s, t = np.sign(a[i] - a[j]), np.sign(b[i] - b[j])
        concordant += s * t > 0
        discordant += s * t < 0
        untied_a += s != 0
        untied_b += t != 0
    return int(concordant), int(discordant), int(untied_a), int(untied_b)


def gamma(a: Floats, b: Floats) -> float:
    concordant, discordant, _, _ = _signs(a, b)
    return (concordant - discordant) / (concordant + discordant) if concordant + discordant else nan


def tau_b(a: Floats, b: Floats) -> float:
    concordant, discordant, of_a, of_b = _signs(a, b)
    return (concordant - discordant) / sqrt(of_a * of_b) if of_a and of_b else nan


def pearson(a: Floats, b: Floats) -> float:
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return nan
    return float(np.corrcoef(a, b)[0, 1])


def ranks(a: Floats) -> Floats:
    return np.array([np.sum(a < v) + (np.sum(a == v) + 1) / 2 for v in a])


def spearman(a: Floats, b: Floats) -> float:
    return pearson(ranks(a), ranks(b))


def kendall_w(x: Floats) -> float:
    """Return W by its textbook formula with the correction for ties."""
    x = x[~np.isnan(x).any(axis=1)]
    n, m = x.shape
    if n < 2 or m < 2:
        return nan
    r = np.column_stack([ranks(column) for column in x.T])
    ties = sum(sum(c**3 - c for c in np.unique(column, return_counts=True)[1]) for column in x.T)
    whole = m**2 * (n**3 - n) - m * ties
    return float(12 * ((r.sum(axis=1) - r.sum() / n) ** 2).sum() / whole) if whole > 0 else nan


def cronbach(x: Floats) -> float:
    x = x[~np.isnan(x).any(axis=1)]
    k = x.shape[1]
    if len(x) < 2 or k < 2:
        return nan
    whole = x.sum(axis=1).var(ddof=1)
    return float(k / (k - 1) * (1 - x.var(axis=0, ddof=1).sum() / whole)) if whole > 1e-12 else nan


def components(x: Floats, crossed: bool) -> tuple[float, float, float, float]:
    """Return the variances of units, raters and rest, and k, by Henderson's method I with matrices."""
    unit, rater = np.nonzero(~np.isnan(x))
    y = x[unit, rater]
    n = len(y)
    z_unit = (unit[:, None] == np.unique(unit)).astype(float)
    z_rater = (rater[:, None] == np.unique(rater)).astype(float)

    def projection(z: Floats) -> Floats:
        return z @ np.linalg.inv(z.T @ z) @ z.T

    mean = np.ones((n, n)) / n
    forms = [np.eye(n) - mean, projection(z_unit) - mean, projection(z_rater) - mean]
    effects = [z_unit @ z_unit.T, z_rater @ z_rater.T, np.eye(n)]
    if not crossed:
        forms, effects = forms[:2], [effects[0], effects[2]]
    expected = np.array([[np.trace(form @ effect) for effect in effects] for form in forms])
    if np.linalg.cond(expected) > 1e10:
        return nan, nan, nan, nan
    found = np.linalg.solve(expected, [y @ form @ y for form in forms])
    sizes = z_unit.sum(axis=0)
    k = (n - (sizes**2).sum() / n) / (len(sizes) - 1)
    return float(found[0]), float(found[1]) if crossed else 0.0, float(found[-1]), float(k)


def icc(x: Floats, name: str) -> float:
    complete = x[~np.isnan(x).any(axis=1)]
    rated = x[~np.isnan(x).all(axis=1)]
    if len(complete) == len(rated) or len(complete) >= 10:
        x = complete
    if x.shape[1] < 2 or len(x) < 2 or np.nanmax(x) == np.nanmin(x):
        return nan
    unit, rater, error, k = components(x, crossed=name not in ("icc_1", "icc_k"))
    error += 0.0 if name in ("icc_c1", "icc_ck") else rater
    error /= k if name.endswith("k") else 1
    return unit / (unit + error) if abs(unit + error) > 1e-9 else nan


BY_NAME: dict[str, Callable[[Floats], float]] = {
    "percent_agreement": percent_agreement,
    "fleiss_kappa": fleiss_kappa,
    "gwet_ac1": lambda x: gwet(x, "nominal"),
    "gwet_ac2": lambda x: gwet(x, "ordinal"),
    "kendall_w": kendall_w,
    "cronbach_alpha": cronbach,
    "cohen_kappa": lambda x: over_pairs(x, lambda a, b: kappa(a, b, 0)),
    "weighted_kappa_linear": lambda x: over_pairs(x, lambda a, b: kappa(a, b, 1)),
    "weighted_kappa_quadratic": lambda x: over_pairs(x, lambda a, b: kappa(a, b, 2)),
    "scott_pi": lambda x: over_pairs(x, scott),
    "pearson": lambda x: over_pairs(x, pearson),
    "spearman": lambda x: over_pairs(x, spearman),
    "kendall_tau_b": lambda x: over_pairs(x, tau_b),
    "goodman_kruskal_gamma": lambda x: over_pairs(x, gamma),
}
BY_NAME |= {
    f"krippendorff_alpha_{measurement}": partial(alpha, measurement=measurement)
    for measurement in ("nominal", "ordinal", "interval", "ratio")
}
BY_NAME |= {
    name: partial(icc, name=name) for name in ("icc_a1", "icc_ak", "icc_c1", "icc_ck", "icc_1", "icc_k")
}
