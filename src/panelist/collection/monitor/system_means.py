"""How the systems compare: plain means, shown once collecting has ended, or where the study says so."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from panelist.collection.monitor.given_ratings import GivenRatings

CONFIDENCE = 0.95


@dataclass(frozen=True)
class SystemMean:
    """The mean of one system on one criterion, over raters; the ends are not finite for a single rater."""

    system: str
    mean: float
    low: float
    high: float
    n_raters: int
    n_ratings: int


@dataclass(frozen=True)
class CriterionMeans:
    """The systems on one criterion, in the order of the study."""

    criterion: str
    compared: bool
    systems: tuple[SystemMean, ...]


def average_systems(given: Sequence[GivenRatings], systems: Sequence[str]) -> tuple[CriterionMeans, ...]:
    """Return the mean of each system, with a t interval over the means of the raters.

    Raters are the sample: each one's mean counts once, however many texts it is over.
    """
    return tuple(
        CriterionMeans(one.criterion, one.compared, tuple(_average(one, system) for system in systems))
        for one in given
    )


def _average(given: GivenRatings, system: str) -> SystemMean:
    rows = given.scored[given.scored["system"] == system]
    means = rows.groupby("rater", observed=True)["score"].mean().to_numpy(dtype=float)
    if not len(means):
        return SystemMean(system, np.nan, np.nan, np.nan, 0, 0)
    mean = float(means.mean())
    half = np.nan
    if len(means) > 1:
        from scipy.special import stdtrit  # the quantile of Student's t; scipy is imported only here

        error = float(means.std(ddof=1)) / np.sqrt(len(means))
        half = float(stdtrit(len(means) - 1, (1 + CONFIDENCE) / 2)) * error
    return SystemMean(system, mean, mean - half, mean + half, len(means), len(rows))
