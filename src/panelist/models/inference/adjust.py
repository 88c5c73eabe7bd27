"""Adjusting a family of tests for how many there are.

``none``, ``tukey`` (all pairs of k means, exact in balanced designs and conservative otherwise: Hayter
1984, doi:10.1214/aos/1176346392), ``mvt`` (the same for any design: single-step, by the multivariate t with
the correlation of the contrasts), ``dunnett`` (all with one reference, in the same way), ``holm`` (Holm
1979), ``bonferroni``, and ``bh`` (the false discovery rate of Benjamini & Hochberg 1995,
doi:10.1111/j.2517-6161.1995.tb02031.x).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from panelist.core.registry import Registry
from panelist.models.inference.single_step import equal_directions, single_step_quantile, single_step_tail
from panelist.models.inference.studentised_range import studentised_range_quantile, studentised_range_tail
from panelist.numerics.arrays import Floats

SQRT2 = float(np.sqrt(2))
_MANY = 1e10  # degrees of freedom from which t is the normal to ten digits


@dataclass(frozen=True)
class HypothesisFamily:
    """A family of two-sided tests: ``statistic`` on ``df`` (inf for z), among ``means`` means.

    ``directions`` are the contrasts as unit rows, whose products are their correlations
    (``single_step.find_directions``); without them all means count as equally well known.
    """

    statistic: Floats
    df: Floats
    means: int
    directions: Floats | None = None

    @property
    def p(self) -> Floats:
        """The unadjusted p-values."""
        return two_sided_p(self.statistic, self.df)


@dataclass(frozen=True)
class Adjustment:
    """One way of adjusting: its words, its p-values, and the multiplier of the standard error."""

    name: str
    label: str
    adjust: Callable[[HypothesisFamily], Floats]
    critical: Callable[[float, HypothesisFamily], Floats]
    controls: str  # what is kept below the level: "family", "discoveries" or "each"
    note: str = ""


def find_adjustment(name: str) -> Adjustment:
    """Return the adjustment of that name, or say which names are similar.

    >>> find_adjustment("Holm").label
    'Holm-adjusted'
    """
    key = name.lower()
    return ADJUSTMENTS["bh" if key == "fdr" else key]


def two_sided_p(statistic: Floats, df: Floats) -> Floats:
    """Return P(|T| > |statistic|), from t on ``df`` degrees of freedom or, where infinite, the normal."""
    statistic, df = np.broadcast_arrays(np.asarray(statistic, float), np.asarray(df, float))
    size = -np.abs(statistic)
    return np.where(df >= _MANY, 2 * ndtr(size), 2 * stdtr(np.minimum(df, _MANY), size))


def two_sided_quantile(confidence: float | Floats, df: Floats) -> Floats:
    """Return the multiplier of the standard error that makes an interval of this level."""
    upper, df = np.broadcast_arrays((1 + np.asarray(confidence, float)) / 2, np.asarray(df, float))
    return np.where(df >= _MANY, ndtri(upper), stdtrit(np.minimum(df, _MANY), upper))


def _leave(family: HypothesisFamily) -> Floats:
    return family.p


def _tukey(family: HypothesisFamily) -> Floats:
    if family.means <= 2:  # one pair: the range of two is the t-test
        return family.p
    tail = studentised_range_tail(np.abs(family.statistic) * SQRT2, family.means, family.df)
    return np.fmax(tail, family.p)  # the same number in another way: rounding must not reverse the order


def _single_step(family: HypothesisFamily) -> Floats:
    if family.directions is None:  # all means equally well known: this is Tukey's test
        return _tukey(family)
    return single_step_tail(family.statistic, family.df, _known_directions(family, family.directions))


def _dunnett(family: HypothesisFamily) -> Floats:
    if _holds_all_pairs(family):
        return _tukey(family)
    return single_step_tail(family.statistic, family.df, _from_reference(family))


def _holds_all_pairs(family: HypothesisFamily) -> bool:
    """Return whether more pairs are tested than those with one reference, of unknown correlation."""
    return family.directions is None and len(family.statistic) >= family.means


def _from_reference(family: HypothesisFamily) -> Floats:
    if family.directions is None:
        return equal_directions(len(family.statistic))
    return _known_directions(family, family.directions)


def _known_directions(family: HypothesisFamily, directions: Floats) -> Floats:
    """Return the directions without those of tests that cannot be made: they are not part of the family."""
    return np.where(np.isnan(family.statistic)[:, None], np.nan, directions)


def _bonferroni(family: HypothesisFamily) -> Floats:
    return np.minimum(family.p * _count(family.p), 1.0)


def _holm(family: HypothesisFamily) -> Floats:
    return adjust_holm(family.p)


def adjust_holm(p: Floats) -> Floats:
    """Return the step-down p-values: the i-th smallest times m − i + 1, made monotone from below."""
    p, order, m = _ordered(p)
    adjusted = np.full(p.shape, np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * (m - np.arange(m))), 1.0)
    return adjusted


def _bh(family: HypothesisFamily) -> Floats:
    """Return the step-up p-values: the i-th smallest times m / i, made monotone from above."""
    p, order, m = _ordered(family.p)
    scaled = p[order] * (m / np.arange(1, m + 1))  # the largest times exactly 1, not m / m in two roundings
    adjusted = np.full(p.shape, np.nan)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted


def _ordered(p: Floats) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.intp]], int]:
    """Return p, the positions of its known values from the smallest up, and how many are known."""
    m = _count(p)
    return p, np.argsort(p, kind="stable")[:m], m  # nan sorts last


def _count(p: Floats) -> int:
    return int(np.isfinite(p).sum())


def _critical_each(confidence: float, family: HypothesisFamily) -> Floats:
    return two_sided_quantile(confidence, family.df)


def _critical_tukey(confidence: float, family: HypothesisFamily) -> Floats:
    if family.means <= 2:
        return two_sided_quantile(confidence, family.df)
    return studentised_range_quantile(confidence, family.means, family.df) / SQRT2


def _critical_single_step(confidence: float, family: HypothesisFamily) -> Floats:
    if family.directions is None:
        return _critical_tukey(confidence, family)
    return single_step_quantile(confidence, family.df, _known_directions(family, family.directions))


def _critical_dunnett(confidence: float, family: HypothesisFamily) -> Floats:
    if _holds_all_pairs(family):
        return _critical_tukey(confidence, family)
    return single_step_quantile(confidence, family.df, _from_reference(family))


def _critical_bonferroni(confidence: float, family: HypothesisFamily) -> Floats:
    return two_sided_quantile(1 - (1 - confidence) / max(_count(family.p), 1), family.df)


_NOTHING = "Nothing was adjusted for the number of pairs: the more pairs, the more differ by chance alone."
_STEPWISE = (
    "{} has no matching intervals: those shown are unadjusted, and may exclude zero where the adjusted "
    "p-value does not show the difference."
)
_SINGLE_STEP = "single-step adjusted (multivariate t)"

ADJUSTMENTS = Registry[Adjustment]("adjustment")
for _adjustment in (
    Adjustment("tukey", "Tukey-adjusted", _tukey, _critical_tukey, "family"),
    Adjustment("mvt", _SINGLE_STEP, _single_step, _critical_single_step, "family"),
    Adjustment("dunnett", "Dunnett-adjusted", _dunnett, _critical_dunnett, "family"),
    Adjustment("holm", "Holm-adjusted", _holm, _critical_each, "family", _STEPWISE.format("Holm's method")),
    Adjustment("bonferroni", "Bonferroni-adjusted", _bonferroni, _critical_bonferroni, "family"),
    Adjustment("bh", "BH-adjusted", _bh, _critical_each, "discoveries", _STEPWISE.format("The BH method")),
    Adjustment("none", "unadjusted", _leave, _critical_each, "each", _NOTHING),
):
    ADJUSTMENTS.register(_adjustment.name)(_adjustment)
