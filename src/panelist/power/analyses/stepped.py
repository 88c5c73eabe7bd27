"""Many data sets analysed as ``panelist compare`` analyses one: each by the model that its ratings support.

All are fitted by the largest random part; those that step down are fitted again by the next one, together,
until every set has its model (fitting/stepping.py has the rule). Sets in which a system is all at one end
are tested as analysis/systems/separated.py says.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from panelist.analysis.fitting.stepping import Stepped, step_down
from panelist.analysis.systems.separated import find_ends, order_rows, pool_slopes, pull_in
from panelist.core.errors import BadModel
from panelist.models.batch import Batch, add_tests, fit_batch, leave_gaps_out
from panelist.models.inference.single_step import find_directions
from panelist.models.random_part import RandomPart
from panelist.models.results.batch_results import BatchFits
from panelist.models.solvers.fitters import FITTED, SEPARATED
from panelist.numerics.arrays import Floats, Longs
from panelist.power.analyses.base import SimulatedPairTests
from panelist.power.layouts.base import Layout

Prepare = Callable[[str], Batch]  # the batch of a formula; raises BadModel


@dataclass(frozen=True)
class SetFit:
    """The fit of one set of a batch, as the rule of stepping down sees it."""

    fits: BatchFits
    row: int
    n_parameters: int  # except for those that every model of the set has

    @property
    def converged(self) -> bool:
        """Whether the search ended at an optimum."""
        return bool(self.fits.converged[self.row])

    @property
    def singular(self) -> bool:
        """Whether a covariance of random effects lacks rank."""
        return bool(self.fits.singular[self.row])

    @property
    def loglik(self) -> float:
        """The log-likelihood."""
        return float(self.fits.loglik[self.row])

    @property
    def variance_components(self) -> dict[str, Floats]:
        """The covariance matrix of the random effects of each grouping factor."""
        return {name: found[self.row] for name, found in self.fits.covariances.items()}


@dataclass(frozen=True)
class SteppedFits:
    """Sets that ended at one model: their indices, the batch and its fits, one row for each."""

    part: RandomPart | None  # None where the formula was given
    formula: str
    batch: Batch
    places: Longs
    fits: BatchFits


def fit_stepped(part: RandomPart, prepare: Prepare, responses: Any) -> list[SteppedFits]:
    """Return the fits that every set keeps, from ``part`` down; sets without any fit are in none of them."""
    able = [place for place, row in enumerate(responses) if (row != row[0]).any()]
    steps = {place: step_down(part) for place in able}
    waiting = {part.formula(): [place for place in able if next(steps[place])]}
    ended: dict[tuple[str, int], list[tuple[int, Stepped]]] = {}
    while waiting:
        following: dict[str, list[int]] = {}
        for formula, places in waiting.items():
            for place, tried in zip(places, _try(formula, prepare, responses[places]), strict=True):
                try:
                    wanted = steps[place].send(tried)
                except StopIteration as end:
                    kept: Stepped = end.value
                    ended.setdefault((kept.part.formula(), id(kept.fit.fits)), []).append((place, kept))
                except BadModel:
                    continue
                else:
                    following.setdefault(wanted.formula(), []).append(place)
        waiting = following
    return [_gather(formula, prepare, responses, found) for (formula, _), found in ended.items()]


def fit_exactly(formula: str, prepare: Prepare, responses: Any) -> list[SteppedFits]:
    """Return the fits of all sets by one formula."""
    batch = prepare(formula)
    return [
        SteppedFits(None, formula, batch, np.arange(len(responses)), fit_batch(batch, responses, threads=1))
    ]


def _try(formula: str, prepare: Prepare, responses: Any) -> list[SetFit | BadModel]:
    try:
        batch = prepare(formula)
    except BadModel as error:
        return [error] * len(responses)
    fits = fit_batch(batch, responses, threads=1, tested=False)
    entries = sum(
        (stop - start) * (stop - start + 1) // 2
        for factor in batch.design.factors
        for start, stop in factor.blocks
    )
    return [SetFit(fits, row, entries) for row in range(len(responses))]


def _gather(formula: str, prepare: Prepare, responses: Any, found: list[tuple[int, Stepped]]) -> SteppedFits:
    places = np.array([place for place, _ in found])
    batch, first = prepare(formula), found[0][1]
    fits = first.fit.fits.take(np.array([kept.fit.row for _, kept in found]))
    return SteppedFits(
        first.part, formula, batch, places, add_tests(batch, fits, responses[places], threads=1)
    )


def make_pair_tests(
    kept: list[SteppedFits], L: Floats, part: RandomPart | None, n_sets: int
) -> SimulatedPairTests:
    """Return the tests of all sets; those without a fit have failed."""
    columns: Any = [np.full((n_sets, len(L)), np.nan) for _ in range(5)]
    failed = np.ones(n_sets, dtype=np.bool_)
    singular, smaller = np.zeros(n_sets, dtype=np.bool_), np.zeros(n_sets, dtype=np.bool_)
    directions = np.full((n_sets, *L.shape), np.nan)
    for one in kept:
        for whole, found in zip(columns, one.fits.contrast(L), strict=True):
            whole[one.places] = found
        for place, vcov in zip(one.places, one.fits.vcov, strict=True):
            directions[place] = find_directions(L, vcov)
        failed[one.places] = ~np.isin(one.fits.failed, (FITTED, SEPARATED))
        singular[one.places] = one.fits.singular
        smaller[one.places] = one.part != part
    estimate, se, statistic, df, p = columns
    p[failed] = np.nan
    failed |= np.isnan(p).all(axis=1)
    return SimulatedPairTests(
        estimate, se, statistic, df, p, failed, singular, smaller=smaller, directions=directions
    )


def fill_separated(
    tests: SimulatedPairTests,
    kept: list[SteppedFits],
    layout: Layout,
    prepare: Prepare,
    L: Floats,
    responses: Any,
) -> SimulatedPairTests:
    """Return the tests with those of the pairs that a separated system left without one."""
    columns: Any = [column.copy() for column in tests[:5]]
    estimate, se, statistic, df, p = columns
    failed, separated = tests.failed.copy(), np.zeros(len(responses), dtype=np.bool_)
    directions = None if tests.directions is None else tests.directions.copy()
    first, second = np.array(layout.pairs).T
    order = order_rows(layout.make_frame(0.0))
    for one in kept:
        ends = {
            place: found
            for place in one.places[one.fits.failed == SEPARATED].tolist()
            if (found := find_ends(responses[place], layout.system, layout.n_systems))
        }
        if not ends:
            continue
        places = np.array(list(ends))
        pulled = [
            pull_in(leave_gaps_out(responses[place]), layout.system, found, order)
            for place, found in ends.items()
        ]
        formula = one.formula if one.part is None else pool_slopes(one.part).formula()
        near = fit_batch(prepare(formula), np.array(pulled), threads=1)
        edge = np.array([[found.get(s, 0.0) for s in range(layout.n_systems)] for found in ends.values()])
        signs = np.sign(edge[:, second] - edge[:, first])
        lacking = np.isnan(p[places]) & (near.failed == FITTED)[:, None]
        for whole, new in zip(columns, near.contrast(L), strict=True):
            whole[places] = np.where(lacking, new, whole[places])
        apart = lacking & (signs != 0)
        estimate[places] = np.where(apart, np.where(signs > 0, np.inf, -np.inf), estimate[places])
        se[places] = np.where(apart, np.nan, se[places])
        separated[places] = True
        if directions is not None:
            directions[places] = np.nan  # two fits made these tests: compare does without them as well
        failed[places] = np.isnan(p[places]).all(axis=1)
    return tests._replace(
        estimate=estimate,
        se=se,
        statistic=statistic,
        df=df,
        p=p,
        failed=failed,
        separated=separated,
        directions=directions,
    )


def find_untrusted(kept: list[SteppedFits], L: Floats, tests: SimulatedPairTests) -> NDArray[np.bool_]:
    """Return the sets whose Laplace approximation cannot be trusted, or that leave a separated pair untested:
    there the linear model leads.

    The rule is that of analysis/sensitivity/lead.py; the batches have measured the error.
    """
    untrusted = np.zeros(len(tests.p), dtype=np.bool_)
    for one in kept:
        untested = np.isnan(tests.p[one.places]).any(axis=1)
        untrusted[one.places] = np.where(one.fits.failed == SEPARATED, untested, ~one.fits.holds_for(L))
    return untrusted


def lead_by_linear(
    tests: SimulatedPairTests,
    untrusted: NDArray[np.bool_],
    analyse: Callable[[Any], SimulatedPairTests],
    responses: Any,
    points: bool = True,
) -> SimulatedPairTests:
    """Return the tests with those of the linear model, ``analyse``, in the sets marked.

    ``points`` says whether a margin is in points, where one is claimed.
    """
    if not untrusted.any():
        return tests._replace(linear=untrusted)
    places = np.flatnonzero(untrusted)
    found = analyse(responses[places])
    columns = {}
    for name in ("estimate", "se", "statistic", "df", "p", "failed", "singular", "smaller"):
        column = getattr(tests, name).copy()
        column[places] = getattr(found, name)
        columns[name] = column
    claimed = tests.claimed
    if claimed is not None:  # a linear model has points alone: it says nothing about a latent margin
        estimate, se = claimed[0].copy(), claimed[1].copy()
        in_points = found.claimed or (found.estimate, found.se)
        estimate[places], se[places] = in_points if points else (np.nan, np.nan)
        claimed = (estimate, se)
    separated = tests.separated & ~untrusted if tests.separated is not None else None
    directions = _lead_directions(tests.directions, found.directions, places)
    return tests._replace(
        **columns, separated=separated, linear=untrusted, directions=directions, claimed=claimed
    )


def _lead_directions(ordinal: Floats | None, linear: Floats | None, places: Longs) -> Floats | None:
    """Return the directions with those of the linear model, which has one more column, in some places."""
    if ordinal is None or linear is None:
        return None
    wider = np.zeros((*ordinal.shape[:2], max(ordinal.shape[2], linear.shape[2])))
    wider[:, :, : ordinal.shape[2]] = ordinal
    wider[places] = 0.0
    wider[places, :, : linear.shape[2]] = linear
    return wider
