"""Gwet's AC1 and AC2: agreement corrected for chance so that skewed categories do not break it.

Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of high agreement.
British Journal of Mathematical and Statistical Psychology 61, 29-48. The weights of AC2 are those of Gwet
(2014), Handbook of Inter-Rater Reliability (4th ed.), chapter 3.
"""

import numpy as np

from panelist.agreement.coefficient import Level, Undefined, coefficient
from panelist.agreement.coefficients.fleiss import correct_for_chance, reach_by_t, se_by_units, unit_shares
from panelist.agreement.statistics.unit_sums import UnitSums
from panelist.numerics.arrays import Floats

WEIGHTS: dict[Level, str] = {
    "nominal": "identity weights, so the same as AC1",
    "ordinal": "with Gwet's ordinal weights",
    "interval": "with quadratic weights",
    "ratio": "with quadratic weights",
}


def gwet_se(sums: UnitSums, measurement: Level) -> float:
    """Return the large-sample standard error over outputs (Gwet 2008); AC1 is the nominal level."""
    shares, n_categories = sums.shares, len(sums.table.categories)
    if n_categories < 2:
        return float("nan")
    scale = _weight_total(sums, measurement) / (n_categories * (n_categories - 1))
    expected = scale * float(shares @ (1 - shares))
    chance_of_unit = scale * unit_shares(sums, 1 - shares)
    return se_by_units(sums, _disagreements(sums, measurement), expected, chance_of_unit)


def ac1_interval(sums: UnitSums, confidence: float) -> tuple[float, float]:
    """Return the interval of AC1 by its standard error, Student's t over outputs."""
    return reach_by_t(_coefficient(sums, "nominal"), gwet_se(sums, "nominal"), len(sums.pairs), confidence)


def ac2_interval(sums: UnitSums, confidence: float) -> tuple[float, float]:
    """Return the interval of AC2 by its standard error, Student's t over outputs."""
    return reach_by_t(
        _coefficient(sums, sums.measurement), gwet_se(sums, sums.measurement), len(sums.pairs), confidence
    )


@coefficient(
    "gwet_ac1",
    spoken="Gwet's AC1",
    read_by=("landis_koch", "krippendorff"),
    unnamed=True,
    levels=("nominal",),
    kind="agreement",
    statistics=UnitSums,
    interval=ac1_interval,
)
def gwet_ac1(sums: UnitSums) -> float:
    """Gwet's AC1: agreement beyond what raters who are unsure give by chance."""
    return _coefficient(sums, "nominal")


@coefficient(
    "gwet_ac2",
    spoken="Gwet's AC2",
    read_by=("landis_koch", "krippendorff"),
    unnamed=True,
    levels=("ordinal", "interval", "ratio"),
    kind="agreement",
    statistics=UnitSums,
    interval=ac2_interval,
    remark=lambda sums: WEIGHTS[sums.measurement],
)
def gwet_ac2(sums: UnitSums) -> float:
    """Gwet's AC2: AC1 with partial agreement, by ordinal weights for ranks and quadratic ones for numbers."""
    return _coefficient(sums, sums.measurement)


def _coefficient(sums: UnitSums, measurement: Level) -> float:
    n_categories, shares = len(sums.table.categories), sums.shares
    if n_categories < 2:
        raise Undefined("only one category was ever used, so agreement beyond chance has no meaning")
    observed = 1 - sums.mean_over_units(_disagreements(sums, measurement))
    scale = _weight_total(sums, measurement) / (n_categories * (n_categories - 1))
    return correct_for_chance(observed, scale * float(shares @ (1 - shares)))


def _disagreements(sums: UnitSums, measurement: Level) -> Floats:
    """Return each output's mean disagreement, one less the weight of its pairs of ratings."""
    points = sums.table.categories
    k = len(points)
    if measurement == "nominal":
        return sums.disagreements(None)
    if measurement == "ordinal":
        places = np.arange(k, dtype=np.float64)
        return np.asarray((sums.disagreements(places) + sums.gaps(places)) / (k * (k - 1)))
    return np.asarray(sums.disagreements(points) / (points[-1] - points[0]) ** 2)


def _weight_total(sums: UnitSums, measurement: Level) -> float:
    """Return the weights of all pairs of categories, summed."""
    points = sums.table.categories
    k = len(points)
    if measurement == "nominal":
        return float(k)
    if measurement == "ordinal":
        gaps = np.arange(1, k)
        return float(k * k - (2 * (k - gaps) * (gaps**2 + gaps)).sum() / (k * (k - 1)))
    squares = 2 * k * float(((points - points.mean()) ** 2).sum())
    return float(k * k - squares / (points[-1] - points[0]) ** 2)
