"""One-way analysis of variance of scores by system, and Tukey's test of all pairs.

F = (between-group mean square) / (within-group mean square); Tukey's honestly significant difference with
Kramer's (1956, doi:10.2307/3001469) standard error for unequal groups: √(MSE (1/nᵢ + 1/nⱼ)).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from panelist.core.display.formats import P_VALUE, TEXT, decimals, interval
from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.errors import BadModel
from panelist.models.inference.adjust import HypothesisFamily, find_adjustment
from panelist.numerics.arrays import Floats


@dataclass(frozen=True)
class TukeyPair:
    """One pair of groups: ``difference`` is a − b, with its simultaneous interval and adjusted p."""

    a: str
    b: str
    difference: float
    se: float
    low: float
    high: float
    p_adjusted: float


@dataclass(frozen=True, kw_only=True)
class OneWay(Result):
    """One-way analysis of variance, with the means of the groups and Tukey's test of their pairs."""

    what: str
    factor: str
    F: float
    df1: int
    df2: int
    p: float
    eta_squared: float
    groups: tuple[str, ...]
    means: tuple[float, ...]
    counts: tuple[int, ...]
    mean_square: float
    confidence: float = 0.95
    pairs: tuple[TukeyPair, ...] = ()

    @property
    def significant(self) -> int:
        """How many pairs differ at 1 − level."""
        return sum(pair.p_adjusted < 1 - self.confidence for pair in self.pairs)

    def title(self) -> str:
        """Return the heading."""
        return f"One-way analysis of variance of {self.what}"

    def sentence(self) -> str:
        """Return F, its degrees of freedom, p, and how many pairs differ."""
        p = "p < 0.001" if self.p < 0.001 else f"p = {self.p:.3f}"
        pairs = f"; {self.significant} of {len(self.pairs)} pairs differ (Tukey's HSD)" if self.pairs else ""
        return f"{self.what} by {self.factor}: F({self.df1}, {self.df2}) = {self.F:.2f}, {p}{pairs}."

    def parts(self) -> list[Part]:
        """Return the sentence and the table of pairs."""
        rows = [
            (f"{one.a} − {one.b}", one.difference, interval(one.low, one.high), one.p_adjusted)
            for one in self.pairs
        ]
        header = ("pair", "difference", f"{self.confidence * 100:g} % interval", "p, Tukey-adjusted")
        formats = {"pair": TEXT, "difference": decimals(2), "p, Tukey-adjusted": P_VALUE}
        table = [Table(f"Tukey's test of {self.what}", header, rows, formats)] if rows else []
        return [Sentence(self.sentence()), *table]

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name."""
        return asdict(self) | {"significant": self.significant}


def analyse_variance(
    values: ArrayLike,
    groups: ArrayLike,
    *,
    what: str = "score",
    factor: str = "system",
    confidence: float = 0.95,
    pairs: bool = True,
) -> OneWay:
    """Return the analysis of variance of ``values`` by ``groups``, with Tukey's pairs unless switched off.

    >>> found = analyse_variance([1, 2, 3, 4, 5, 9], ["a", "a", "a", "b", "b", "b"])
    >>> round(found.F, 4), found.df1, found.df2, round(found.p, 4)
    (6.0, 1, 4, 0.0705)
    """
    from scipy.special import fdtrc

    y = np.asarray(values, dtype=np.float64)
    names, code = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
    n = np.bincount(code)
    df1, df2 = len(names) - 1, len(y) - len(names)
    if df1 < 1 or df2 < 1:
        raise BadModel(
            f"An analysis of variance of {what} by {factor} needs two groups or more and a group with two "
            f"values. Got {len(names)} groups and {len(y)} values."
        )
    means = np.bincount(code, weights=y) / n
    within = float(((y - means[code]) ** 2).sum())
    between = float((n * (means - y.mean()) ** 2).sum())
    total = between + within
    if within <= 1e-14 * max(total, 1e-300):  # nothing varies within groups
        F = np.inf if between > 1e-14 * max(float((y**2).sum()), 1e-300) else np.nan
    else:
        F = (between / df1) / (within / df2)
    p = 0.0 if np.isinf(F) else float(fdtrc(df1, df2, F))
    mean_square = within / df2
    tested = (
        _test_pairs([str(name) for name in names], means, n, mean_square, df2, confidence) if pairs else ()
    )
    return OneWay(
        what=what,
        factor=factor,
        F=float(F),
        df1=df1,
        df2=df2,
        p=p,
        eta_squared=between / total if total > 0 else float("nan"),
        groups=tuple(map(str, names)),
        means=tuple(means.tolist()),
        counts=tuple(n.tolist()),
        mean_square=mean_square,
        confidence=confidence,
        pairs=tested,
    )


def _test_pairs(
    names: list[str], means: Floats, n: Any, mean_square: float, df: int, confidence: float
) -> tuple[TukeyPair, ...]:
    first, second = np.array(list(combinations(range(len(names)), 2))).T
    difference = means[first] - means[second]
    se = np.sqrt(mean_square * (1 / n[first] + 1 / n[second]))
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(se > 0, difference / se, np.where(difference == 0, np.nan, np.inf))
    method = find_adjustment("tukey")
    family = HypothesisFamily(statistic, np.full(len(se), float(df)), len(names))
    reach = method.critical(confidence, family) * se
    p = method.adjust(family)
    return tuple(
        TukeyPair(names[i], names[j], *map(float, row))
        for i, j, *row in zip(
            first, second, difference, se, difference - reach, difference + reach, p, strict=True
        )
    )
