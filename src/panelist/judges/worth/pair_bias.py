"""Bias of a judge of pairs: position, from both orders; length; and win rates beyond people's."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from panelist.judges.table import JudgeScores
from panelist.judges.worth.bias import Favour, LengthBias
from panelist.models.inference.adjust import adjust_holm, two_sided_p
from panelist.numerics.arrays import Floats, Longs


@dataclass(frozen=True)
class PositionBias:
    """Whether the place of an output mattered, from pairs that the judge saw in both orders.

    ``same`` is the share answered alike; ``bias`` the mean score of the output shown first, less ½, and
    ``se`` its standard error from the means of items.
    ``to_first`` and ``to_second`` count the pairs that it reversed in favour of one place.
    """

    answered_in_both: int
    missing_in_one: int
    same: float
    bias: float
    se: float
    to_first: int
    to_second: int


def measure_position(scores: JudgeScores, judge: str) -> PositionBias | None:
    """Return the position bias, or None where no pair was shown in both orders."""
    own = scores.frame[(scores.frame["judge"] == judge).to_numpy()]
    if "first" not in own or not {"a", "b"} <= set(own["first"].unique()):
        return None
    wide = own.pivot_table(
        index=["item", "system_a", "system_b"],
        columns="first",
        values="score",
        aggfunc="mean",
        dropna=False,
        observed=True,
    )
    a, b = wide["a"].to_numpy(), wide["b"].to_numpy()
    both = np.isfinite(a) & np.isfinite(b)
    if not both.any():
        return None
    asked = own.groupby(["item", "system_a", "system_b"], observed=True)["first"].nunique()
    half = int((asked > 1).sum()) - int(both.sum())
    items = wide.index.get_level_values("item")[both]
    a, b = a[both], b[both]
    first = (a + (1 - b)) / 2 - 0.5  # the score of the output shown first, over both orders
    mean = float(first.mean())
    by_item = pd.Series(first).groupby(np.asarray(items), observed=True).mean()
    return PositionBias(
        answered_in_both=int(both.sum()),
        missing_in_one=half,
        same=float((a == b).mean()),
        bias=mean,
        se=float(by_item.std(ddof=1)) / sqrt(len(by_item)) if len(by_item) > 1 else nan,
        to_first=int(((a == 1) & (b == 0)).sum()),
        to_second=int(((a == 0) & (b == 1)).sum()),
    )


def measure_pair_length(
    people: Floats, judge: Floats, words: tuple[Floats, Floats], item: Longs
) -> LengthBias | None:
    """Return the slope of judge − people on log((words_a + 1)/(words_b + 1)), items as clusters."""
    there = np.isfinite(people) & np.isfinite(judge) & np.isfinite(words[0]) & np.isfinite(words[1])
    if there.sum() < 4:
        return None
    x = np.log((words[0][there] + 1) / (words[1][there] + 1))
    size = float(((x - x.mean()) ** 2).sum())
    if not size > 1e-9:
        return None
    y, f = people[there], judge[there]
    slopes = [float(((x - x.mean()) * values).sum()) / size for values in (f - y, f, y)]
    left = (f - y) - (f - y).mean() - slopes[0] * (x - x.mean())
    by_item = np.bincount(np.unique(item[there], return_inverse=True)[1], weights=(x - x.mean()) * left)
    g, n = len(by_item), len(x)
    scale = g / (g - 1) * (n - 1) / (n - 2)
    return LengthBias(slopes[0], sqrt(float(by_item @ by_item) * scale) / size, slopes[1], slopes[2])


def measure_win_rates(
    people: Floats,
    judge: Floats,
    a: Longs,
    b: Longs,
    item: Longs,
    systems: tuple[str, ...],
    confidence: float = 0.95,
) -> tuple[Favour, ...]:
    """Return by how much the judge's win rate of each system lies above people's, items as clusters.

    The pairs of one item share outputs, so that the t interval has as many degrees of freedom as items less
    one.
    """
    there = np.isfinite(people) & np.isfinite(judge)
    gap, rows = judge - people, []
    for at, _ in enumerate(systems):
        one, other = there & (a == at), there & (b == at)
        rows.append(
            _mean_by_item(np.concatenate([gap[one], -gap[other]]), np.concatenate([item[one], item[other]]))
        )
    mean, se, n = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    free = np.maximum(n - 1, 1)
    reach = stdtrit(free, 0.5 + confidence / 2) * se
    with np.errstate(divide="ignore", invalid="ignore"):
        adjusted = adjust_holm(two_sided_p(np.where(se > 0, mean / se, nan), free))
    return tuple(
        Favour(
            system=name,
            estimate=float(mean[at]),
            se=float(se[at]),
            low=float(mean[at] - reach[at]),
            high=float(mean[at] + reach[at]),
            p_adjusted=float(adjusted[at]),
            n_items=int(n[at]),
        )
        for at, name in enumerate(systems)
    )


def _mean_by_item(values: Floats, item: Longs) -> tuple[float, float, int]:
    """Return the mean, its standard error with items as clusters, and the number of items."""
    if not len(values):
        return nan, nan, 0
    mean = float(values.mean())
    total = np.bincount(np.unique(item, return_inverse=True)[1], weights=values - mean)
    g = len(total)
    return mean, sqrt(float(total @ total) * g / (g - 1)) / len(values) if g > 1 else nan, g
