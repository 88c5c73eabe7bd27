"""How many people's ratings a judge's score is worth, by components of variance (docs/judges.md).

From the fit of the correction: e = γ_W² v_W is what the judge explains of the differences between outputs,
σ²_d what it leaves. r_true = √(e/(e+σ²_d)) is the correlation with what very many people would say, and k =
r²_true/(1 − r²_true) · σ²_e/(e+σ²_d) the number of raters whose mean would order differences as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, nan, sqrt
from typing import Any

import numpy as np
from scipy.special import ndtri

from panelist.core.seeds import stream
from panelist.judges.correct.regression import choose_terms, correct_means, scaled_sigma
from panelist.judges.match import JudgedRatings
from panelist.judges.worth.levels import centre_twice
from panelist.numerics.arrays import Floats

DRAWS = 4000
LARGE = 40_000  # ratings, from which one fit of people alone serves all judges
MOST_ITEMS = 2000  # drawn from a large table for the components
HALF = 0.5  # of the outputs need two ratings


@dataclass(frozen=True)
class Replaced:
    """What a judge is worth by components; ``why`` says why there is nothing to say, where that is so.

    ``equivalent`` is k with its interval, ``r_low`` and ``r_high`` are the ends of ``r_true``; ``saving`` is
    the share of ratings saved with these N items judged, and ``n_eff`` how many rated items without the judge
    would do the same.
    """

    gamma_within: float = nan
    v_within: float = nan
    r_true: float = nan
    r_observed: float = nan
    saving: float = nan
    n_eff: float = nan
    equivalent: float = nan
    low: float = nan
    high: float = nan
    why: str = ""
    r_low: float = nan
    r_high: float = nan


def measure_replaced(
    beside: JudgedRatings, judge: str, confidence: float = 0.95, seed: int = 0, people: Any = None
) -> Replaced:
    """Return how many ratings one score of the judge replaces, with an interval.

    ``people`` is the fit of people alone; where it is given, it serves in place of a fit with the judge, as
    is done for very large tables.
    """
    if why := find_obstacle(beside):
        return Replaced(why=why)
    f = beside.scores[judge]
    N = len(f)
    v = _vary_within(f)
    if not v > 0:
        return Replaced(why="the judge's scores do not vary within items")
    if people is None:
        fitted = correct_means(beside, {judge: f}).fit
        at = list(fitted.names).index("w0") if "w0" in fitted.names else -1
        if at < 0:
            return Replaced(why="the judge's scores do not vary within rated items")
        gamma, se = float(fitted.beta[at]), float(np.sqrt(fitted.vcov[at, at]))
        left = _spread_of(fitted, "item:system") ** 2
    else:
        fitted = people
        gamma, se = _slope(beside.means, f)
        left = max(_spread_of(fitted, "item:system") ** 2 - gamma**2 * v, 0.0)
    noise, m, n = fitted.sigma**2, _mean_ratings(beside), int(beside.labelled.sum())
    e = gamma**2 * v
    r_true = float(np.sign(gamma)) * sqrt(e / (e + left)) if e + left > 0 else nan
    r_obs = r_true * sqrt((e + left) / (e + left + noise / m)) if e + left > 0 else nan
    saving = r_obs**2 * (1 - n / N)
    (low, high), (r_low, r_high) = _intervals(fitted, gamma, se, v, people is not None, confidence, seed)
    return Replaced(
        gamma_within=gamma,
        v_within=v,
        r_true=r_true,
        r_observed=r_obs,
        saving=saving,
        n_eff=n / (1 - saving),
        equivalent=_count(e, left, noise),
        low=low,
        high=high,
        why="" if left > 0 else "the fit leaves no differences between outputs beyond the judge's",
        r_low=r_low,
        r_high=r_high,
    )


def thin_items(beside: JudgedRatings, seed: int = 0) -> JudgedRatings:
    """Return a large table with the ratings of some items, drawn at random: enough for components."""
    rated = np.flatnonzero(beside.labelled)
    if len(rated) <= MOST_ITEMS:
        return beside
    chosen = np.zeros(len(beside.items), dtype=bool)
    chosen[stream(seed, "judges", "components").choice(rated, MOST_ITEMS, replace=False)] = True
    kept = chosen[beside.item]
    return replace(
        beside, item=beside.item[kept], system=beside.system[kept], rater=beside.rater[kept], y=beside.y[kept]
    )


def find_obstacle(beside: JudgedRatings) -> str:
    """Return why components cannot be told apart; empty where they can."""
    if not beside.knows_raters:
        who = "there is one rater only" if beside.raters else "raters are unknown"
        return f"{who}, so differences between raters cannot be told from noise"
    rated = beside.counts[beside.counts > 0]
    if (rated > 1).mean() < HALF:
        return "most outputs have one rating, so differences between outputs cannot be told from noise"
    if "item:system" not in choose_terms(beside):
        return "no item was rated on several systems"
    return ""


def _count(e: float, left: float, noise: float) -> float:
    """Return k = e/σ²_d · σ²_e/(e + σ²_d); nan where nothing is left, as there it has no limit."""
    return e / left * noise / (e + left) if left > 0 else nan


def _intervals(
    fitted: Any, gamma: float, se: float, v: float, large: bool, confidence: float, seed: int
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the intervals of k and of r_true, from draws of slope and variances.

    The draws are from their joint normal approximation. The upper end of k is infinite where draws leave no
    differences beyond the judge's.
    """
    spread = fitted.uncertainty
    groups = list(fitted.random["group"])  # in the order of A
    theta = [_spread_of(fitted, group) / fitted.sigma for group in groups]
    unit = scaled_sigma(fitted)
    centre = np.array([*theta, unit])
    A = np.asarray(spread.A, dtype=np.float64)
    if A.shape != (len(centre), len(centre)) or not np.isfinite(A).all():
        return (nan, nan), (nan, nan)
    rng = stream(seed, "judges", "replaced")
    values, axes = np.linalg.eigh((A + A.T) / 2)
    drawn = centre + rng.standard_normal((DRAWS, len(centre))) @ (axes * np.sqrt(np.maximum(values, 0))).T
    at = groups.index("item:system")
    noise = (drawn[:, -1] * fitted.sigma / unit) ** 2
    left = np.maximum(drawn[:, at], 0.0) ** 2 * noise
    slope = gamma + se * rng.standard_normal(DRAWS)
    e = slope**2 * v
    if large:
        left = np.maximum(left - e, 0.0)
    k = np.where(left > 0, e * noise / np.where(left > 0, left * (e + left), 1.0), inf)
    r = np.sign(slope) * np.sqrt(e / np.where(e + left > 0, e + left, 1.0))
    tail = (1 - confidence) / 2
    ends = [int(tail * DRAWS), int((1 - tail) * DRAWS) - 1]
    low, high = np.sort(k)[ends]
    r_low, r_high = np.sort(r)[ends]
    of_k = (0.0 if abs(gamma) < float(ndtri(1 - tail)) * se else float(low)), float(high)
    return of_k, (float(r_low), float(r_high))


def _spread_of(fitted: Any, group: str) -> float:
    table = fitted.random
    found = table.loc[table["group"] == group, "sd"]
    return float(found.iloc[0]) if len(found) else 0.0


def _vary_within(f: Floats) -> float:
    """Return v_W = Σ(double-centred f)²/((N − 1)(S − 1)), over items that have scores."""
    there = np.isfinite(f)
    left = np.where(there, centre_twice(f, there), 0.0)
    N, S = int(there.any(axis=1).sum()), f.shape[1]
    free = int(there.sum()) - N - S + 1
    return float((left**2).sum()) / free if free > 0 else nan


def _slope(people: Floats, judge: Floats) -> tuple[float, float]:
    """Return the least-squares slope of people's means on the judge, both double-centred, and its error."""
    there = np.isfinite(people) & np.isfinite(judge)
    y, f = centre_twice(people, there)[there], centre_twice(judge, there)[there]
    slope = float(y @ f) / float(f @ f)
    left = y - slope * f
    return slope, sqrt(float((f * left) @ (f * left))) / float(f @ f)


def _mean_ratings(beside: JudgedRatings) -> float:
    """Return the number of ratings of an output, on average over outputs that have one."""
    return float(beside.counts[beside.counts > 0].mean())
