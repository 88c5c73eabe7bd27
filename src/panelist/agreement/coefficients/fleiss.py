"""Fleiss' kappa, in the form that allows outputs with different numbers of ratings."""

from math import sqrt

import numpy as np

from panelist.agreement.coefficient import Undefined, coefficient
from panelist.agreement.statistics.unit_sums import UnitSums
from panelist.numerics.arrays import Floats


def fleiss_se(sums: UnitSums) -> float:
    """Return the large-sample standard error of Fleiss' kappa over outputs (Gwet 2014, chapter 5)."""
    shares = sums.shares
    chance_of_unit = unit_shares(sums, shares)
    return se_by_units(sums, sums.disagreements(None), float(shares @ shares), chance_of_unit)


def fleiss_interval(sums: UnitSums, confidence: float) -> tuple[float, float]:
    """Return the interval of Fleiss' kappa by its standard error, Student's t over outputs."""
    return reach_by_t(fleiss_kappa.formula(sums), fleiss_se(sums), len(sums.pairs), confidence)


@coefficient(
    "fleiss_kappa",
    spoken="Fleiss' kappa",
    read_by=("landis_koch", "krippendorff"),
    unnamed=True,
    levels=("nominal",),
    kind="agreement",
    statistics=UnitSums,
    interval=fleiss_interval,
)
def fleiss_kappa(sums: UnitSums) -> float:
    """Fleiss' kappa: agreement beyond what the categories' overall shares give by chance.

    With the same number of ratings everywhere it is that of Fleiss, J. L. (1971), Psychological Bulletin 76,
    378-382; otherwise Gwet's generalisation (2014, chapter 2): shares are averaged over outputs, and
    outputs with two ratings or more give the observed agreement.
    """
    observed = 1 - sums.mean_over_units(sums.disagreements(None))
    return correct_for_chance(observed, float(sums.shares @ sums.shares))


def correct_for_chance(observed: float, expected: float) -> float:
    """Return (observed - expected) / (1 - expected), undefined where chance alone gives full agreement."""
    if expected >= 1 - 1e-12:
        raise Undefined("only one category was ever used, so agreement beyond chance has no meaning")
    return (observed - expected) / (1 - expected)


def se_by_units(sums: UnitSums, disagreements: Floats, expected: float, chance_of_unit: Floats) -> float:
    """Return the standard error of a chance-corrected agreement, from each output's part in it.

    ``chance_of_unit`` is the derivative of the expected agreement with respect to the output's shares,
    halved, at the output's own shares.
    """
    n, paired = len(disagreements), sums.pairs > 0
    if n < 2 or not paired.any() or expected >= 1 - 1e-12:
        return float("nan")
    agreement = np.where(paired, 1 - disagreements, 0.0)
    own = n / paired.sum() * (agreement - expected * paired) / (1 - expected)
    estimate = float(own.mean())
    own = own - 2 * (1 - estimate) * (chance_of_unit - expected) / (1 - expected)
    return sqrt(float(((own - estimate) ** 2).sum()) / (n * (n - 1)))


def unit_shares(sums: UnitSums, of_category: Floats) -> Floats:
    """Return, for each output, the mean of a number that every category has."""
    entries = sums.entries
    owner = np.repeat(np.arange(len(entries.start) - 1), np.diff(entries.start))
    whole = np.bincount(owner, entries.weight * of_category[entries.code], minlength=len(entries.start) - 1)
    return np.asarray(whole / np.maximum(sums.ratings, 1))


def reach_by_t(estimate: float, se: float, n: int, confidence: float) -> tuple[float, float]:
    """Return estimate ± t · se with n - 1 degrees of freedom, not above 1."""
    from scipy.special import stdtrit

    if n < 2 or se != se:
        raise Undefined("a standard error needs two outputs or more")
    reach = float(stdtrit(n - 1, 1 - (1 - confidence) / 2)) * se
    return estimate - reach, min(1.0, estimate + reach)
