"""Bias of a judge against people: which systems and lengths it favours, and whom it does not answer."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, nan, sqrt

import numpy as np
from scipy.special import stdtrit
from scipy.stats import fisher_exact

from panelist.judges.match import JudgedRatings
from panelist.judges.worth.levels import centre_twice
from panelist.models.inference.adjust import adjust_holm, two_sided_p
from panelist.numerics.arrays import Bools, Floats


@dataclass(frozen=True)
class Favour:
    """By how much a judge scores a system above others beyond what people do, in points of their scale.

    ``low`` and ``high`` generalise to other items; ``wide_low`` and ``wide_high`` to other raters too, by
    the mixed model, nan where raters are unknown.
    """

    system: str
    estimate: float
    se: float
    low: float
    high: float
    p_adjusted: float
    n_items: int
    wide_low: float = nan
    wide_high: float = nan

    @property
    def ends(self) -> tuple[float, float]:
        """The interval about other items and, where raters are known, other raters."""
        return (self.wide_low, self.wide_high) if isfinite(self.wide_low) else (self.low, self.high)

    def shows(self, alpha: float) -> bool:
        """Return whether the judge favours the system, whichever interval is taken."""
        return self.estimate > 0 and self.p_adjusted < alpha and self.ends[0] > 0


@dataclass(frozen=True)
class LengthBias:
    """Slope of (judge − people) on log length, both double-centred; the judge's own slope is no bias."""

    slope: float
    se: float
    judge_slope: float
    people_slope: float


@dataclass(frozen=True)
class SilenceBias:
    """How often a judge gave no answer about a system, and Fisher's test against the others (Holm)."""

    system: str
    n: int
    silent: int
    p_adjusted: float


def measure_favour(
    beside: JudgedRatings, judge: str, scores: Floats, confidence: float = 0.95, *, model: bool = True
) -> tuple[Favour, ...]:
    """Return the favour of each system over items complete in both, with t intervals on n − 1.

    ``scores`` are the judge's on people's scale. With ``model`` the same by the mixed model, where raters
    are known.
    """
    people = beside.means
    whole = np.isfinite(people).all(axis=1) & np.isfinite(scores).all(axis=1)
    n = int(whole.sum())
    if n < 2 or len(beside.systems) < 2:
        return ()
    y, f = people[whole], scores[whole]
    e = (f - f.mean(axis=1, keepdims=True)) - (y - y.mean(axis=1, keepdims=True))
    mean, se = e.mean(axis=0), e.std(axis=0, ddof=1) / sqrt(n)
    reach = float(stdtrit(n - 1, 0.5 + confidence / 2)) * se
    with np.errstate(divide="ignore", invalid="ignore"):
        p = two_sided_p(np.where(se > 0, mean / se, np.nan), np.full(len(mean), n - 1.0))
    adjusted = adjust_holm(p)
    wide = _favour_by_model(beside, scores, confidence) if model and beside.knows_raters else None
    return tuple(
        Favour(
            system=name,
            estimate=float(mean[at]),
            se=float(se[at]),
            low=float(mean[at] - reach[at]),
            high=float(mean[at] + reach[at]),
            p_adjusted=float(adjusted[at]),
            n_items=n,
            wide_low=nan if wide is None else float(wide[0][at]),
            wide_high=nan if wide is None else float(wide[1][at]),
        )
        for at, name in enumerate(beside.systems)
    )


def _favour_by_model(beside: JudgedRatings, scores: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return intervals of the favour that allow for raters: judge − rating, as people are compared."""
    from dataclasses import replace

    from panelist.judges.correct.regression import correct_means

    gap = scores[beside.item, beside.system] - beside.y
    kept = np.isfinite(gap)
    part = replace(
        beside, item=beside.item[kept], system=beside.system[kept], rater=beside.rater[kept], y=gap[kept]
    )
    found = correct_means(part, {})
    S = len(beside.systems)
    rows = np.eye(S) - 1.0 / S
    _, _, low, high = found.intervals(rows, confidence)
    return low, high


def measure_length(people: Floats, judge: Floats, length: Floats) -> LengthBias | None:
    """Return the slope of judge − people on log length, clustered by item; None without enough outputs."""
    there = np.isfinite(people) & np.isfinite(judge) & np.isfinite(length) & (length > 0)
    if there.sum() < 4:
        return None
    logs = np.log(np.where(there, length, 1.0))
    x = np.where(there, centre_twice(np.where(there, logs, np.nan), there), 0.0)
    size = float((x * x).sum())
    if not size > 1e-9:
        return None
    y, f = (np.where(there, centre_twice(values, there), 0.0) for values in (people, judge))
    slopes = [float((x * values).sum()) / size for values in (f - y, f, y)]
    left = (f - y) - slopes[0] * x
    by_item = (x * left).sum(axis=1)
    n = int(there.any(axis=1).sum())
    se = sqrt(float(by_item @ by_item) * n / (n - 1)) / size
    return LengthBias(slopes[0], se, slopes[1], slopes[2])


def measure_silence(judge: Floats, known: Bools, systems: tuple[str, ...]) -> tuple[SilenceBias, ...]:
    """Return the no answers of each system with Fisher's exact test against the others; () without any.

    ``known`` marks the outputs that there are: what does not exist cannot be answered.
    """
    silent, n = (known & ~np.isfinite(judge)).sum(axis=0), known.sum(axis=0)
    if not silent.any():
        return ()
    p = []
    for at, own in enumerate(silent.tolist()):
        others, rest = int(n.sum() - n[at]), int(silent.sum()) - own
        table = [[own, int(n[at]) - own], [rest, others - rest]]
        p.append(float(fisher_exact(np.array(table)).pvalue))
    adjusted = adjust_holm(np.array(p))
    return tuple(
        SilenceBias(name, int(asked), int(own), float(q))
        for name, asked, own, q in zip(systems, n, silent, adjusted, strict=True)
    )
