"""What a repeat's data say about a finding: upheld, not upheld, or undecided.

A finding ``a > b`` is upheld where the repeat finds the same difference (p below α), and not where it finds
the opposite or, after an original that did find it, shows that the difference is smaller than the margin. A
finding ``a = b`` cannot be upheld by
finding nothing, which a small repeat always does. It takes equivalence: two one-sided tests (Schuirmann 1987,
doi:10.1007/BF01068419) show that the difference lies within ± the margin; the interval of level 1 − 2α inside
the margin says the same. It is not upheld where the repeat finds a difference that is not shown to lie within
the margin (the four outcomes of Lakens 2017, doi:10.1177/1948550617697177). Everything else is undecided: the
repeat is too imprecise.

The margin is declared, in units of the scores, or the difference that the original would have found with a
power of one third (small telescopes, Simonsohn 2015, doi:10.1177/0956797614567341): an original that sees
nothing claims no more than that there is nothing larger than it could see.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, isnan, nan

from panelist.reproduction.measures.pair_tests import PairTest
from panelist.reproduction.measures.telescopes import NORMAL, find_noncentrality

UPHELD, NOT_UPHELD, UNDECIDED = "upheld", "not upheld", "undecided"


@dataclass(frozen=True)
class Judgement:
    """A verdict and why; ``p_equivalent`` is that of two one-sided tests, nan without a margin."""

    verdict: str
    reason: str
    p_equivalent: float = nan


def find_margin(original: PairTest, declared: float | None, confidence: float) -> float:
    """Return the declared margin, or the difference that the original had one third power for; or nan."""
    if declared is not None:
        return declared
    if not original.tested or not original.se > 0:
        return nan
    return original.se * find_noncentrality(original.df, alpha=1 - confidence)


def judge(sign: str, original: PairTest, repeat: PairTest, margin: float, confidence: float) -> Judgement:
    """Return what the repeat's difference first − second says about ``first sign second``."""
    if not repeat.tested:
        return Judgement(UNDECIDED, "the repeat has no test of it")
    alpha = 1 - confidence
    below, above = _one_sided(repeat, margin)
    p = max(below, above)
    differs, alike = repeat.p < alpha, p < alpha
    if sign == "=":
        if isnan(margin):
            return Judgement(UNDECIDED, "nothing says which difference is too small to matter", p)
        if alike:
            return Judgement(UPHELD, "the difference lies within the margin", p)
        if differs:
            return Judgement(NOT_UPHELD, "the repeat finds a difference", p)
        return Judgement(UNDECIDED, "the repeat is too imprecise", p)
    way = 1 if sign == ">" else -1
    if differs:
        same = way * repeat.estimate > 0
        reason = "the repeat finds it" if same else "the repeat finds the opposite"
        return Judgement(UPHELD if same else NOT_UPHELD, reason, p)
    found = not original.tested or original.p < alpha  # an untested original is believed
    if found and (below if way > 0 else above) < alpha:
        return Judgement(NOT_UPHELD, "the difference is shown to be smaller than the margin", p)
    return Judgement(UNDECIDED, "the repeat is too imprecise", p)


def predict(original: PairTest, repeat: PairTest, confidence: float) -> tuple[float, float]:
    """Return where the original expects the repeat's estimate: its own ± t · √(SE² + SE² of the repeat).

    Both errors count (Patil, Peng & Leek 2016, doi:10.1177/1745691616646366), with Welch and Satterthwaite's
    degrees of freedom; nan where either study has no analysis. Errors that the studies share, of the same
    items, cancel and are not subtracted, so the interval is then wider than necessary.
    """
    from scipy.special import stdtrit

    if not (original.tested and repeat.tested):
        return nan, nan
    se = hypot(original.se, repeat.se)
    df = se**4 / sum(one.se**4 / min(one.df, NORMAL) for one in (original, repeat))
    reach = float(stdtrit(df, (1 + confidence) / 2)) * se
    return original.estimate - reach, original.estimate + reach


def _one_sided(one: PairTest, margin: float) -> tuple[float, float]:
    """Return the p of a difference of the margin or more, and of minus the margin or less."""
    from scipy.special import stdtr

    df = min(one.df, NORMAL)
    below, above = (float(stdtr(df, (way * one.estimate - margin) / one.se)) for way in (1, -1))
    return below, above
