"""Agreement of a judge with people on the same scale: as of two raters, and which way it leans."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.criterion_table import from_matrix
from panelist.numerics.arrays import Floats

ALPHA = "krippendorff_alpha_interval"


@dataclass(frozen=True)
class JudgeAgreement:
    """Judge and people's mean as two raters: alpha, leniency (judge − people), and ratio of spreads.

    ``exact`` is the share of single ratings that equal the judge's rounded score.
    """

    alpha: float
    exact: float
    leniency: float
    spread_ratio: float


def measure_agreement_with_people(
    people: Floats, judge: Floats, ratings: Floats, own: Floats
) -> JudgeAgreement:
    """Return the agreement; ``ratings`` are single ones and ``own`` the judge's scores of the same "
    "outputs."""
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
    return JudgeAgreement(
        alpha, exact, float((f - y).mean()), float(f.std(ddof=1)) / spread if spread > 0 else nan
    )
