"""The penalty that a prior adds to −log L: −log π(ψ) without its constants (docs/method.md, section 3).

    normal, t       of combinations v = Rψ:  ½ (v/s)²,   ½ (ν + 1) log(1 + (v/s)²/ν)
    spreads         of entries λ of ψ:  −c log|λ|

Places in ψ are counted from its end: so they are the same whatever thresholds come before. A model without a
prior has an empty penalty, by which compiled code adds nothing.
"""

from math import inf, lgamma, log, pi
from typing import NamedTuple

import numpy as np

from panelist.numerics.arrays import Floats, Longs
from panelist.numerics.kernel import kernel


class Penalty(NamedTuple):
    """Which combinations and spreads have a prior; all arrays are empty where nothing has one."""

    rows: Floats  # (q, e): R, which makes v of the entries of ψ that take part
    back: Longs  # (e,) where these entries are, counted from the end of ψ: 1 is the last
    scale: Floats  # (q,) s
    df: Floats  # (q,) ν, infinite for the normal distribution
    spread: Longs  # (d,) where the spreads are, counted likewise
    strength: Floats  # (d,) c

    @property
    def is_empty(self) -> bool:
        """Whether it adds nothing."""
        return not len(self.rows) and not len(self.spread)


NO_PENALTY = Penalty(
    np.empty((0, 0)),
    np.empty(0, dtype=np.int64),
    np.empty(0),
    np.empty(0),
    np.empty(0, dtype=np.int64),
    np.empty(0),
)


@kernel
def add_penalty(penalty: Penalty, psi: Floats, gradient: Floats, hessian: Floats) -> float:
    """Return the penalty at ψ; add its slopes to the gradient, and to the Hessian unless that is empty."""
    total, last = 0.0, len(psi)
    for row in range(len(penalty.scale)):
        v = 0.0
        for e in range(len(penalty.back)):
            v += penalty.rows[row, e] * psi[last - penalty.back[e]]
        square, df = penalty.scale[row] * penalty.scale[row], penalty.df[row]
        if np.isinf(df):
            total += 0.5 * v * v / square
            slope, bend = v / square, 1.0 / square
        else:
            width = df * square + v * v
            total += 0.5 * (df + 1.0) * np.log1p(v * v / (df * square))
            slope = (df + 1.0) * v / width
            bend = (df + 1.0) * (df * square - v * v) / (width * width)
        for e in range(len(penalty.back)):
            at = last - penalty.back[e]
            gradient[at] += penalty.rows[row, e] * slope
            if len(hessian) > 0:
                for f in range(len(penalty.back)):
                    turned = penalty.rows[row, e] * penalty.rows[row, f]
                    hessian[at, last - penalty.back[f]] += turned * bend
    for d in range(len(penalty.spread)):
        at = last - penalty.spread[d]
        total -= penalty.strength[d] * np.log(abs(psi[at]))
        gradient[at] -= penalty.strength[d] / psi[at]
        if len(hessian) > 0:
            hessian[at, at] += penalty.strength[d] / (psi[at] * psi[at])
    return total


@kernel
def correct_columns(penalty: Penalty, point: Floats, steps: Floats, hessian: Floats) -> None:
    """Add what the penalty lacks in columns of the Hessian that are (∇N(ψ + h e) − ∇(N + penalty)(ψ)) / h."""
    if len(penalty.scale) == 0 and len(penalty.spread) == 0:
        return
    moved, nothing = point.copy(), np.empty((0, 0))
    for column in range(len(point)):
        moved[column] += steps[column]
        slopes = np.zeros(len(point))
        add_penalty(penalty, moved, slopes, nothing)
        moved[column] = point[column]
        for b in range(len(point)):
            hessian[column, b] += slopes[b] / steps[column]


def measure_penalty(penalty: Penalty, psi: Floats) -> float:
    """Return the penalty at ψ, as add_penalty does."""
    v = (penalty.rows @ psi[len(psi) - penalty.back]) / penalty.scale
    df = penalty.df
    normal = np.isinf(df)
    heavy = 0.5 * (df[~normal] + 1.0) * np.log1p(v[~normal] ** 2 / df[~normal])
    spreads = np.abs(psi[len(psi) - penalty.spread])
    return float(0.5 * (v[normal] ** 2).sum() + heavy.sum() - (penalty.strength * np.log(spreads)).sum())


def log_prior(penalty: Penalty, psi: Floats) -> float:
    """Return log π(ψ), with the constants of normal and t; that of spreads has none, being improper."""
    constant = 0.0
    for s, df in zip(penalty.scale.tolist(), penalty.df.tolist(), strict=True):
        own = -0.5 * log(2.0 * pi)
        if df != inf:
            own = lgamma(0.5 * (df + 1.0)) - lgamma(0.5 * df) - 0.5 * log(df * pi)
        constant += own - log(s)
    return constant - measure_penalty(penalty, psi)
