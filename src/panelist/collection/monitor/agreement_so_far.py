"""Agreement so far: how much the raters who finished agree, by criterion, while collecting continues.

The coefficients are imported when they are first needed: they load a compiler, which would delay the start of
a server by a second, and most processes never show a dashboard.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from panelist.collection.monitor.given_ratings import GivenRatings
from panelist.core.errors import PanelistError
from panelist.core.prose import sentence

if TYPE_CHECKING:
    from panelist.agreement.reliability import CoefficientEstimate

LEAST_RATERS, LEAST_SHARED = 2, 10
MOST_RESAMPLES, FEWEST_RESAMPLES, RATERS_AT_MOST_RESAMPLES = 300, 50, 50
LEAST_OTHERS, LEAST_OUTPUTS = 3, 8
SEED = 1


@dataclass(frozen=True)
class InterimEstimate:
    """A coefficient with its interval; the ends are not finite where there is none."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class CriterionSoFar:
    """The agreement on one criterion; without estimates ``words`` say why."""

    criterion: str
    n_raters: int
    agreement: InterimEstimate | None = None
    correlation: InterimEstimate | None = None
    words: str = ""


@dataclass(frozen=True)
class AgreementSoFar:
    """The agreement on every criterion, and how each rater agrees with the rest."""

    n_raters: int
    criteria: tuple[CriterionSoFar, ...]
    with_rest: Mapping[int, float] = field(default_factory=dict, repr=False)
    """By visit: the mean correlation with the mean of the others, over the criteria."""


def measure_so_far(given: Sequence[GivenRatings]) -> AgreementSoFar:
    """Return the agreement of the raters who finished. It takes a while: not for the event loop."""
    raters: set[int] = set()
    for one in given:
        raters.update(one.judged["rater"].unique().tolist())
    criteria = tuple(_measure(one) for one in given)
    return AgreementSoFar(len(raters), criteria, compare_with_rest(given))


def _measure(given: GivenRatings) -> CriterionSoFar:
    frame = given.judged
    n_raters = frame["rater"].nunique()
    shared = (
        int((frame.groupby("item", observed=True)["rater"].nunique() >= LEAST_RATERS).sum())
        if len(frame)
        else 0
    )
    what = "comparisons" if given.compared else "texts"
    if shared < LEAST_SHARED:
        words = (
            f"Too early to say: {shared} {what} have been judged by two or more raters who finished; "
            f"from {LEAST_SHARED} on the agreement is shown here."
        )
        return CriterionSoFar(given.criterion, n_raters, words=words)
    from panelist.agreement.measure import measure_agreement

    alpha = f"krippendorff_alpha_{given.measurement}"
    names = [alpha] if given.measurement == "nominal" else [alpha, "spearman"]
    resamples = MOST_RESAMPLES * RATERS_AT_MOST_RESAMPLES // max(n_raters, RATERS_AT_MOST_RESAMPLES)
    try:
        found = measure_agreement(
            frame.assign(rater=frame["rater"].astype(str), criterion=given.criterion),
            given.measurement,
            names,
            resamples=max(resamples, FEWEST_RESAMPLES),
            seed=SEED,
        )[given.criterion]
    except PanelistError as error:
        return CriterionSoFar(given.criterion, n_raters, words=str(error))
    agreement = _take(found[alpha], "Krippendorff’s α, " + given.measurement)
    correlation = _take(found["spearman"], "mean Spearman’s ρ") if "spearman" in names else None
    words = _read(agreement, correlation, what, found.margins.equal)
    return CriterionSoFar(given.criterion, n_raters, agreement, correlation, words)


def _take(found: "CoefficientEstimate", name: str) -> InterimEstimate | None:
    return InterimEstimate(name, found.estimate, found.low, found.high) if isfinite(found.estimate) else None


def _read(
    agreement: InterimEstimate | None, correlation: InterimEstimate | None, what: str, equal: float = nan
) -> str:
    """Return what both say together, by the same lines as the report (agreement/interpret.py)."""
    if agreement is None:
        return "Nothing varies so far, so agreement is not defined."
    from panelist.agreement.interpret import LEAST_RELIABLE, read_together

    if correlation is None:
        return (
            f"Raters mostly judge the {what} alike."
            if agreement.value >= LEAST_RELIABLE
            else "Raters often judge differently; one rater’s answer cannot stand for another’s."
        )
    return sentence(f"{read_together(agreement.value, correlation.value, equal, what=what)}, so far")


def compare_with_rest(given: Sequence[GivenRatings]) -> dict[int, float]:
    """Return, for each visit, the mean correlation of its ratings with the mean of the others'.

    Only outputs that others judged too, and only ratings with an order. Visits whose ratings do
    not vary, or that share too little with others, are left out.
    """
    found: dict[int, list[float]] = {}
    for one in given:
        if one.measurement != "nominal" and one.judged["rater"].nunique() > LEAST_OTHERS:
            for visit, value in _correlate(one.judged).items():
                found.setdefault(visit, []).append(value)
    return {visit: float(np.mean(values)) for visit, values in found.items()}


def _correlate(frame: pd.DataFrame) -> dict[int, float]:
    rater, raters = pd.factorize(frame["rater"])
    item = pd.factorize(frame["item"])[0]
    own = frame["rating"].to_numpy(dtype=float)
    n, total = np.bincount(item), np.bincount(item, weights=own)
    shared = n[item] > 1
    rater, item, own = rater[shared], item[shared], own[shared]
    rest = (total[item] - own) / (n[item] - 1)
    count = np.maximum(np.bincount(rater, minlength=len(raters)), 1)
    means = [np.bincount(rater, weights=x, minlength=len(raters)) / count for x in (own, rest)]
    x, y = own - means[0][rater], rest - means[1][rater]
    sums = [np.bincount(rater, weights=w, minlength=len(raters)) for w in (x * y, x * x, y * y)]
    able = (count >= LEAST_OUTPUTS) & (sums[1] > 1e-12) & (sums[2] > 1e-12)
    value = sums[0][able] / np.sqrt(sums[1][able] * sums[2][able])
    visits = [int(visit) for visit in np.asarray(raters)[able]]
    return dict(zip(visits, value.tolist(), strict=True))
