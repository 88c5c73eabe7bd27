"""Agreement of a judge with people on the same scale: as of two raters; and of answers about pairs."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, nan

import numpy as np

from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.criterion_table import from_matrix
from panelist.core.display.formats import ends, number
from panelist.judges.units import Units
from panelist.judges.worth.ceiling import Draws, agree, most_resamples
from panelist.judges.worth.levels import draw_weights
from panelist.numerics.arrays import Floats

ALPHA = "krippendorff_alpha_interval"


@dataclass(frozen=True)
class JudgeAgreement:
    """Judge and people's mean as two raters: alpha, leniency (judge − people), and ratio of spreads.

    ``exact`` is the share of single ratings that equal the judge's rounded score; ``low`` and ``high`` are
    the ends of alpha, about other items.
    """

    alpha: float
    exact: float
    leniency: float
    spread_ratio: float
    low: float = nan
    high: float = nan

    def phrase(self) -> str:
        """Return it in words."""
        return (
            f"alpha {number(self.alpha, 2)}{ends(self.low, self.high)} with people's mean, "
            f"{100 * self.exact:.0f} % of ratings hit, leniency {number(self.leniency, 2)}, "
            f"spread {number(self.spread_ratio, 2)} times people's"
        )


@dataclass(frozen=True)
class RaterAgreement:
    """How often a rater's answers are the judge's, and on average the other raters'."""

    rater: str
    n: int
    with_judge: float
    with_others: float


@dataclass(frozen=True)
class AnswerAgreement:
    """Equal answers about pairs, by rater and on average: the judge with people, a person with the others."""

    judge: float
    people: float
    raters: tuple[RaterAgreement, ...]

    def phrase(self) -> str:
        """Return it in words."""
        people = f"; two people agree on {100 * self.people:.0f} %" if isfinite(self.people) else ""
        return f"{100 * self.judge:.0f} % of people's answers are the judge's{people}"


def measure_answers(units: Units) -> AnswerAgreement | None:
    """Return how often answers are equal, over units with the judge's; None where raters are unknown."""
    known = units.answered()
    if not known.raters or not len(known.unit):
        return None
    answers, codes = np.unique(known.y, return_inverse=True)
    counts = np.zeros((len(known.f), len(answers)))
    np.add.at(counts, (known.unit, codes), 1.0)
    others = counts.sum(axis=1)[known.unit] - 1
    with np.errstate(invalid="ignore"):
        alike = np.where(others > 0, (counts[known.unit, codes] - 1) / np.maximum(others, 1), nan)
    hit = known.y == known.f[known.unit]
    rows = []
    for code, rater in enumerate(known.raters):
        own = known.rater == code
        if own.any():
            met = own & np.isfinite(alike)
            with_others = float(alike[met].mean()) if met.any() else nan
            rows.append(RaterAgreement(rater, int(own.sum()), float(hit[own].mean()), with_others))
    between = [one.with_others for one in rows if isfinite(one.with_others)]
    judge = float(np.mean([one.with_judge for one in rows]))
    return AnswerAgreement(judge, float(np.mean(between)) if between else nan, tuple(rows))


def measure_agreement_with_people(
    people: Floats, judge: Floats, ratings: Floats, own: Floats, draws: Draws
) -> JudgeAgreement:
    """Return the agreement; ``ratings`` are single ones, ``own`` the judge's scores of their outputs."""
    there = np.isfinite(people) & np.isfinite(judge)
    y, f = people[there], judge[there]
    if len(y) < 2:
        return JudgeAgreement(nan, nan, nan, nan)
    coefficient = COEFFICIENTS[ALPHA]
    table = from_matrix(np.column_stack([y, f]), measurement="interval")
    alpha = float(coefficient.evaluate(coefficient.statistics.prepare(table, "interval").weigh(None))[0])
    known = np.isfinite(own)
    exact = float((np.round(own[known]) == ratings[known]).mean()) if known.any() else nan
    spread = float(y.std(ddof=1))
    low, high = _resample_alpha(people, judge, draws)
    ratio = float(f.std(ddof=1)) / spread if spread > 0 else nan
    return JudgeAgreement(alpha, exact, float((f - y).mean()), ratio, low, high)


def _resample_alpha(people: Floats, judge: Floats, draws: Draws) -> tuple[float, float]:
    """Return the ends of alpha, about other items: an item is drawn with all its outputs."""
    there = np.isfinite(people) & np.isfinite(judge)
    rows = there.any(axis=1)
    y, f = (np.where(there, grid, 0.0)[rows] for grid in (people, judge))
    columns = (there[rows], y, f, y * y, f * f, y * f)
    sums = np.column_stack([one.sum(axis=1) for one in columns]).astype(np.float64)
    parts = draw_weights(len(sums), min(draws.resamples, most_resamples(len(sums))), draws.seed)
    drawn = [agree(*(weights @ sums).T) for weights in parts]
    return draws.surround(float(agree(*sums.sum(axis=0)[:, None])[0]), np.concatenate(drawn), len(sums))
