"""Bradley-Terry strengths corrected by a judge: predict, then debias (docs/judges.md).

θ̂ = θ̂ʸ_L + Σ_j λ_j (θ̂ʲ_N − θ̂ʲ_L): people's labelled pairs, and each judge's strengths from all pairs less
those from the labelled ones (Kluger et al. 2025, arXiv:2501.18577; ties are half a win). λ minimises the
spread of the influences of items, so a useless judge gets about 0. Raters enter through people's part alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from panelist.analysis.choices.models.clusters import FEWEST, StrengthCovariance, Way, moderate
from panelist.core.errors import BadModel
from panelist.numerics.arrays import Bools, Floats, Longs

STEPS = 100
TOLERANCE = 1e-12
FURTHEST = 15.0  # a log-strength beyond it means that some system won or lost everything


@dataclass(frozen=True, eq=False)
class PairData:
    """People's and judges' answers about pairs: ``score`` is 1 where ``a`` won, ½ for a tie.

    People have one row per answer, a judge one per pair of an item (the mean of both orders), in ``judges``
    as (pairs, judges). Items are those that every judge answered.
    """

    systems: tuple[str, ...]
    items: tuple[str, ...] = field(repr=False)
    raters: tuple[str, ...] = field(repr=False)
    item: Longs = field(repr=False)
    a: Longs = field(repr=False)
    b: Longs = field(repr=False)
    rater: Longs = field(repr=False)
    score: Floats = field(repr=False)
    judge_names: tuple[str, ...]
    judged_item: Longs = field(repr=False)
    judged_a: Longs = field(repr=False)
    judged_b: Longs = field(repr=False)
    judges: Floats = field(repr=False)
    lacking: tuple[int, ...] = ()
    """How many pairs that people compared have no row of each judge."""
    notes: tuple[str, ...] = ()

    @property
    def labelled(self) -> Bools:
        """Which items people answered about."""
        found = np.zeros(len(self.items), dtype=bool)
        found[self.item] = True
        return found


@dataclass(frozen=True, eq=False)
class FittedStrengths:
    """Strengths whose sum is 0, the inverse information, and the score of every row."""

    theta: Floats
    bread: Floats
    scores: Floats


@dataclass(frozen=True, eq=False)
class CorrectedStrengths:
    """Strengths of the systems with and without the judges, and how far they spread."""

    systems: tuple[str, ...]
    estimate: Floats
    spread: StrengthCovariance
    people: CorrectedStrengths | None
    by_item: Floats = field(repr=False)
    weights: tuple[float, ...]
    n_items: int
    n_labelled: int
    n_raters: int

    @property
    def covariance(self) -> Floats:
        """The covariance of the strengths."""
        return self.spread.covariance

    def measure(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return variance and degrees of freedom of each combination of the strengths."""
        return self.spread.measure(rows)


def fit_strengths(a: Longs, b: Longs, score: Floats, n_systems: int, who: str = "people") -> FittedStrengths:
    """Return the strengths by maximum likelihood, a tie counting as half a win of each."""
    X = np.zeros((len(a), n_systems))
    X[np.arange(len(a)), a] = 1.0
    X[np.arange(len(a)), b] -= 1.0
    theta = np.zeros(n_systems)
    pin = np.full((n_systems, n_systems), 1.0 / n_systems)
    for _ in range(STEPS):
        p = 1.0 / (1.0 + np.exp(-(X @ theta)))
        H = (X * (p * (1 - p))[:, None]).T @ X
        bread = np.linalg.inv(H + pin) - pin
        move = bread @ (X.T @ (score - p))
        size = float(np.abs(move).max())
        theta = theta + move * min(1.0, 2.0 / max(size, 1e-300))
        if np.abs(theta).max() > FURTHEST or not np.isfinite(size):
            break
        if size < TOLERANCE:
            return FittedStrengths(theta - theta.mean(), bread, X * (score - p)[:, None])
    raise BadModel(
        f"By {who}, some system won or lost nearly every comparison, or systems were never compared: their "
        "strengths have no finite estimate to be corrected. Compare people's answers without --judge."
    )


def correct_strengths(pairs: PairData) -> CorrectedStrengths:
    """Return people's strengths, moved by what the judges say of the items that people did not see."""
    S, N = len(pairs.systems), len(pairs.items)
    people = fit_strengths(pairs.a, pairs.b, pairs.score, S)
    own = people.scores @ people.bread
    A = _sum_by(own, pairs.item, N)
    here = pairs.labelled[pairs.judged_item]
    shifts, influences = [], []
    for at, name in enumerate(pairs.judge_names):
        f = pairs.judges[:, at]
        every = fit_strengths(pairs.judged_a, pairs.judged_b, f, S, name)
        some = fit_strengths(pairs.judged_a[here], pairs.judged_b[here], f[here], S, name)
        D = _sum_by(every.scores @ every.bread, pairs.judged_item, N)
        D -= _sum_by(some.scores @ some.bread, pairs.judged_item[here], N)
        shifts.append(every.theta - some.theta)
        influences.append(D)
    alone = _spread(pairs, people, own, A)
    if not influences:
        return replace(alone, people=alone)
    stacked = np.stack([D.ravel() for D in influences], axis=1)
    weight = -np.linalg.lstsq(stacked, A.ravel(), rcond=None)[0]
    moved = A + sum(w * D for w, D in zip(weight, influences, strict=True))
    corrected = _spread(pairs, people, own, moved)
    estimate = people.theta + np.asarray(weight) @ np.stack(shifts)
    return replace(corrected, estimate=estimate, people=alone, weights=tuple(map(float, weight)))


def _spread(pairs: PairData, people: FittedStrengths, own: Floats, by_item: Floats) -> CorrectedStrengths:
    """Return the strengths of people with the covariance that these influences of items give."""
    n, R = int(pairs.labelled.sum()), len(pairs.raters)
    items = by_item.T @ by_item
    if R >= FEWEST:
        raters = _sum_by(own, pairs.rater, R)
        cells = _sum_by(own, np.unique(pairs.rater * len(pairs.items) + pairs.item, return_inverse=True)[1])
        inner = cells.T @ cells
        ways = (
            moderate(raters.T @ raters * R / (R - 1), inner, people.bread, R),
            moderate(items * n / (n - 1), inner, people.bread, n),
            Way(inner, float(max(len(cells) - 1, 1))),
        )
    else:
        ways = (Way(items * n / (n - 1), float(n - 1)),)  # type: ignore[assignment]
    return CorrectedStrengths(
        systems=pairs.systems,
        estimate=people.theta,
        spread=StrengthCovariance(ways),
        people=None,
        by_item=items,
        weights=(),
        n_items=len(pairs.items),
        n_labelled=n,
        n_raters=R,
    )


def _sum_by(rows: Floats, code: Longs, n: int | None = None) -> Floats:
    size = int(code.max()) + 1 if n is None else n
    return np.stack([np.bincount(code, weights=column, minlength=size) for column in rows.T], axis=1)
