"""The alternative annotator test: is the judge at least as near to the others as a person (docs/judges.md)?

Calderon, Reichart & Dror 2025 (aclanthology.org/2025.acl-long.782). For each rater with at least 30 units a
one-sided t test that the share of units on which the person is nearer to the others, less that on which the
judge is, lies below ε; Benjamini & Yekutieli (2001) over raters. Raters with few units are pooled instead, in
a mixed model with raters and units. A judge that always gives the middle answer is run as a control.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, nan, sqrt
from typing import Literal

import numpy as np
from scipy.special import stdtr

from panelist.judges.units import Units
from panelist.models.inference.adjust import two_sided_quantile
from panelist.numerics.arrays import Bools, Floats, Longs

FEWEST = 30  # units of a rater who is tested alone
LEVEL = 0.05
HALF = 0.5  # of the raters must be beaten
Scoring = Literal["distance", "equality"]


@dataclass(frozen=True)
class RaterTest:
    """One rater against the judge: ``d`` is the person's share of nearer units less the judge's."""

    rater: str
    n: int
    d: float
    t: float
    p: float
    advantage: float
    wins: bool = False


@dataclass(frozen=True)
class PooledTest:
    """All raters together, where single ones have few units: means on average over raters."""

    mean_d: float
    se: float
    df: float
    p: float
    advantage: float
    advantage_low: float
    advantage_high: float
    n: int


@dataclass(frozen=True)
class AltTest:
    """The test of one judge at one ε; ``winning_rate`` is nan where raters were pooled."""

    epsilon: float
    winning_rate: float
    advantage: float
    passed: bool
    raters: tuple[RaterTest, ...]
    skipped: tuple[str, ...]
    n_units: int
    n_left_out: int
    pooled: PooledTest | None = None
    constant: AltTest | None = None


def middle_answer(answers: Floats) -> float:
    """Return the middle answer that somebody gave, the lower of two: what a constant judge says.

    >>> middle_answer(np.array([1.0, 2.0, 3.0, 4.0]))
    2.0
    """
    return float(np.quantile(answers, 0.5, method="inverted_cdf"))


def run_alt_test(
    units: Units, epsilon: float, scoring: Scoring = "distance", *, control: float | None = None
) -> AltTest | None:
    """Return the test, or None where no unit has two raters and the judge's answer.

    ``control`` is the answer of a constant judge that is tested beside; "distance" scores by −RMSE to the
    others, "equality" by the share of equal answers.
    """
    silent = units.n_units - units.answered().n_units
    known = units.answered()
    person, judge, kept = _score(known, scoring)
    if not kept.any():
        return None
    d = (person >= judge).astype(np.float64) - (judge >= person)
    near = (judge >= person).astype(np.float64)
    rater, unit = known.rater[kept], known.unit[kept]
    tests, skipped = [], []
    for code in np.unique(rater):
        own = rater == code
        if own.sum() < FEWEST:
            skipped.append(units.raters[code])
        else:
            tests.append(_test_rater(units.raters[code], d[own], near[own], epsilon))
    common = {"epsilon": epsilon, "skipped": tuple(skipped), "n_units": known.n_units, "n_left_out": silent}
    constant = None
    if control is not None:
        middle = replace(units, f=np.full(len(units.f), control))
        constant = run_alt_test(middle, epsilon, scoring)
    if tests:
        tests = _reject(tests)
        rate = float(np.mean([one.wins for one in tests]))
        advantage = float(np.mean([one.advantage for one in tests]))
        return AltTest(
            winning_rate=rate,
            advantage=advantage,
            passed=rate >= HALF,
            raters=tuple(tests),
            constant=constant,
            **common,  # type: ignore[arg-type]
        )
    pooled = pool_raters(d, near, rater, unit, epsilon)
    return AltTest(
        winning_rate=nan,
        advantage=pooled.advantage,
        passed=pooled.p < LEVEL,
        raters=(),
        pooled=pooled,
        constant=constant,
        **common,  # type: ignore[arg-type]
    )


def _score(units: Units, scoring: Scoring) -> tuple[Floats, Floats, Bools]:
    """Return how near each person and the judge are to the others, for the answers that have others.

    Sums of squares are compared in place of RMSE: the order is the same, and exact for whole numbers.
    """
    n, total, squares = units.sums()
    others = n[units.unit] - 1
    kept = others > 0
    y, f = units.y[kept], units.f[units.unit][kept]
    at = units.unit[kept]
    if scoring == "equality":
        return _count_equal(units, kept, y, y) - 1.0, _count_equal(units, kept, f, y), kept
    rest, rest2, m = total[at] - y, squares[at] - y**2, others[kept]
    person, judge = (-(m * a**2 - 2 * a * rest + rest2) for a in (y, f))
    return np.round(person, 9), np.round(judge, 9), kept


def _count_equal(units: Units, kept: Bools, answer: Floats, own: Floats) -> Floats:
    """Return how many people gave each unit this answer, without the person whose own answer it is not."""
    values = np.unique(np.concatenate([units.y, answer]))
    k = len(values)
    count = np.bincount(units.unit * k + np.searchsorted(values, units.y), minlength=len(units.f) * k)
    found = count[units.unit[kept] * k + np.searchsorted(values, answer)].astype(np.float64)
    return np.asarray(found if answer is own else found - (answer == own))


def _test_rater(rater: str, d: Floats, near: Floats, epsilon: float) -> RaterTest:
    n, mean, sd = len(d), float(d.mean()), float(d.std(ddof=1))
    t = (mean - epsilon) / (sd / sqrt(n)) if sd > 0 else (inf if mean >= epsilon else -inf)
    return RaterTest(rater, n, mean, t, float(stdtr(n - 1, t)), float(near.mean()))


def _reject(tests: list[RaterTest]) -> list[RaterTest]:
    """Return the tests with those rejected by Benjamini and Yekutieli's rule marked."""
    m = len(tests)
    p = np.array([one.p for one in tests])
    order = np.argsort(p, kind="stable")
    bound = np.arange(1, m + 1) / m * LEVEL / (1 / np.arange(1, m + 1)).sum()
    below = np.flatnonzero(p[order] <= bound)
    rejected = set(order[: below[-1] + 1].tolist()) if len(below) else set()
    return [replace(one, wins=at in rejected) for at, one in enumerate(tests)]


def pool_raters(d: Floats, near: Floats, rater: Longs, unit: Longs, epsilon: float) -> PooledTest:
    """Return the test of the mean over raters: d ~ 1 + (1 | rater) + (1 | unit), REML, Satterthwaite."""
    mean, se, df = _average(d, rater, unit)
    share, share_se, share_df = _average(near, rater, unit)
    t = (mean - epsilon) / se if se > 0 else (inf if mean >= epsilon else -inf)
    reach = float(two_sided_quantile(0.95, np.array([share_df]))[0]) * share_se
    return PooledTest(mean, se, df, float(stdtr(df, t)), share, share - reach, share + reach, len(d))


def _average(values: Floats, rater: Longs, unit: Longs) -> tuple[float, float, float]:
    """Return the mean with its standard error and degrees of freedom, over raters and units."""
    import pandas as pd

    from panelist.models.fit import fit

    if np.ptp(values) == 0:
        return float(values[0]), 0.0, float(len(values) - 1)
    frame = pd.DataFrame({"rating": values, "rater": rater.astype(str), "item": unit.astype(str)})
    groups = [
        name for name, codes in (("rater", rater), ("item", unit)) if 1 < len(np.unique(codes)) < len(values)
    ]
    random = " + ".join(f"(1 | {name})" for name in groups)
    fitted = fit(f"rating ~ 1 + {random}" if random else "rating ~ 1", frame, model="lmm" if random else "lm")
    return (
        float(fitted.beta[0]),
        float(np.sqrt(fitted.vcov[0, 0])),
        float(fitted.degrees(np.ones((1, 1)))[0]),
    )
