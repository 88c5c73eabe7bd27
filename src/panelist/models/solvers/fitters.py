"""Responses of a batch, fitted with the solvers of a single fit to a design that is prepared once.

Every model has a *fitter*. It is made once for each thread, holds the workspace of its solver, and
one response does not affect the next.
"""

from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any, NamedTuple, Protocol

import numpy as np

from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.covariance import is_singular, split_lambda
from panelist.models.likelihoods.deviance import Linear
from panelist.models.likelihoods.laplace import Ordinal
from panelist.models.likelihoods.link_functions import LATENT_SD
from panelist.models.likelihoods.priors import NO_PENALTY, Penalty
from panelist.models.likelihoods.thresholds import Thresholds, make_thresholds, place_ratings
from panelist.models.priors import bound_spreads, has_slopes
from panelist.models.search.starts import start_cells
from panelist.models.solvers import clmm, lmm
from panelist.models.solvers.clm import solve_clm
from panelist.models.solvers.estimates import Found
from panelist.models.solvers.laplace_shift import find_shift, find_spread, measure_levels
from panelist.models.solvers.lm import solve_lm
from panelist.models.solvers.separation import hold_lost, is_separated, scaled_conditions
from panelist.numerics.arrays import Floats, Longs

_NOTHING, _NO_CODES = np.empty(0), np.empty(0, dtype=np.int64)
FITTED, ONE_VALUE, LOST, NOT_CONVERGED, SEPARATED = range(5)
FAILURES = {
    FITTED: "fitted",
    ONE_VALUE: "every rating is the same",
    LOST: "the likelihood is not finite",
    NOT_CONVERGED: "the search did not end at an optimum",
    SEPARATED: "the fixed effects predict some ratings without error, so that they have no finite estimate",
}


class FittedResponse(NamedTuple):
    """The fit of one response; what a model does not have is empty."""

    failed: int
    converged: bool
    singular: bool
    loglik: float
    beta: Floats
    vcov: Floats
    thresholds: Floats = _NOTHING  # between the categories that occur
    used: Longs = _NO_CODES  # those categories
    covariances: tuple[Floats, ...] = ()  # of the random effects, factor by factor
    sigma: float = 1.0
    slopes: Floats = _NOTHING  # ∂Var(β̂)/∂φ and Var(φ̂), for Satterthwaite's degrees of freedom
    A: Floats = _NOTHING
    shift: Floats = _NOTHING  # of β by a better approximation than Laplace's, where it was asked for; and
    spread: float = np.nan  # of the standard deviations, as a share of the latent spread; and
    loglik_error: float = np.nan  # the lowest of any factor
    joint: Floats = _NOTHING  # the covariance of thresholds and β


class Fitter(Protocol):
    """Fits responses to one design; no set's numbers depend on what is fitted with it."""

    def fit(self, responses: Any) -> list[FittedResponse | None]:
        """Return the estimates of each, None where every rating is the same."""


@dataclass(frozen=True)
class Pack:
    """A response in categories without the unused ones."""

    codes: Any
    used: Longs
    thresholds: Thresholds


class _Packer:
    """Leaves unused categories out, as a fit does; the threshold structures are made once."""

    def __init__(self, family: str) -> None:
        self.family = family
        self.known: dict[int, Thresholds] = {}

    def pack(self, response: Any) -> Pack | None:
        counts = np.bincount(response)
        used = np.flatnonzero(counts)
        if len(used) < 2:
            return None
        codes = response if len(used) == len(counts) else (np.cumsum(counts > 0) - 1)[response]
        if len(used) not in self.known:
            names = tuple(str(k) for k in range(1, len(used) + 1))
            self.known[len(used)] = make_thresholds("flexible", names, self.family)
        return Pack(codes.astype(np.int32), used, self.known[len(used)])


class _Searched(NamedTuple):
    pack: Pack
    found: Found
    errors: Floats  # of Laplace, by factor, where they are asked for
    slopes: Floats  # of their sum
    s: int  # threshold parameters

    @property
    def size(self) -> tuple[int, int]:
        """How many parameters there are, and of which kind."""
        return self.s, len(self.found.point)


class OrdinalMixed:
    """Fits an ordinal mixed model by Laplace."""

    def __init__(
        self,
        design: ModelMatrices,
        link: str,
        base: Ordinal,
        measured: bool = False,
        family: str = "cumulative",
    ) -> None:
        self.design, self.link, self.base, self.measured = design, link, base, measured
        self.bounded = bound_spreads(base.penalty, design, link) if len(base.penalty.spread) else NO_PENALTY
        self.family, self.packer = family, _Packer(family)
        self.spaces: dict[int, clmm.OrdinalWorkspace] = {}  # by the number of categories

    def fit(self, responses: Any) -> list[FittedResponse | None]:
        """Return the estimates for each row of codes."""
        searched = [self._search(response) for response in responses]
        sizes = {one.size for one in searched if one is not None}
        known: dict[int, FittedResponse] = {}
        for size in sizes:  # sets with as many parameters have Hessians of one shape
            places = [at for at, one in enumerate(searched) if one is not None and one.size == size]
            alike = [one for one in searched if one is not None and one.size == size]
            known.update(zip(places, self._describe(alike), strict=True))
        return [known.get(at) for at in range(len(searched))]

    def _search(self, response: Any) -> "_Searched | None":
        pack = self.packer.pack(response)
        if pack is None:
            return None
        design = replace(self.design, codes=pack.codes)
        if self.design.nominal is None and self.family == "cumulative":
            edges = place_ratings(pack.codes[self.base.pattern.order], pack.thresholds)
            model = self.base._replace(**edges._asdict())
            space = self._space(model)
        else:  # the rows, or the cells, depend on the ratings
            model = clmm.make_model(design, self.link, pack.thresholds)._replace(penalty=self.base.penalty)
            space = clmm.make_workspace(model)
        start = partial(start_cells, design, pack.thresholds, self.link)
        runs_off = not self.bounded.is_empty and has_slopes(self.design)
        if runs_off and is_separated(design, pack.thresholds):
            model = model._replace(penalty=self.bounded)
        found = clmm.find_estimates(model, self.design.factors, self.link, start, space)
        if not self.bounded.is_empty and not found.converged(len(pack.codes)):  # as solve_penalised does
            model = model._replace(penalty=self.bounded)
            found = clmm.find_estimates(model, self.design.factors, self.link, start, space)
        found = found._replace(value=clmm.subtract_prior(model, found))
        if not self.measured:
            return _Searched(pack, found, _NOTHING, _NOTHING, model.J.shape[1])
        return _Searched(pack, found, *measure_levels(model, space, found.point), model.J.shape[1])

    def _describe(self, searched: "list[_Searched]") -> list[FittedResponse]:
        """Return the estimates of searches with equally many categories, as far as possible all at once."""
        fixed = searched[0].s + self.design.X.shape[1] + self.base.S.shape[1]
        hessians = np.array([one.found.hessian for one in searched])
        conditions = scaled_conditions(hessians)
        # Where there are no estimates any Hessian will do for the stack; it is not used.
        finite = np.array([one.found.finite for one in searched])
        hessians[~finite] = np.eye(hessians.shape[1])
        covariances = clmm.invert_information(hessians, fixed)
        covariances[~finite] = np.nan
        return [
            self._describe_one(one, covariance, float(condition))
            for one, covariance, condition in zip(searched, covariances, conditions, strict=True)
        ]

    def _describe_one(self, searched: "_Searched", covariance: Floats, condition: float) -> FittedResponse:
        pack, found, errors, slopes, s = searched
        p = self.design.X.shape[1]
        beta, tau = found.point[s : s + p], found.point[len(covariance) :]
        unit = LATENT_SD[self.link] if self.link != "cauchit" else 10.0
        condition = condition if self.base.penalty.is_empty else inf  # a prior hides what looks strange
        design = replace(self.design, codes=pack.codes)
        shift = find_shift(slopes, found.hessian, covariance) if self.measured else _NOTHING
        flat = found.hessian if not len(self.base.penalty.rows) else _NOTHING  # a prior bends it everywhere
        lost, covariance = hold_lost(beta, covariance, flat, condition, design, pack.thresholds, unit)
        if lost.any() and self.measured and len(flat):
            shift = find_shift(slopes, flat, np.where(np.outer(~lost, ~lost), covariance, 0.0))
        converged = found.converged(len(pack.codes))
        lambdas = split_lambda(self.design.factors, tau)
        return FittedResponse(
            _judge(found.finite, converged, bool(lost[s : s + p].any())),
            converged,
            is_singular(self.design.factors, lambdas),
            -found.value,
            beta,
            covariance[s : s + p, s : s + p],
            found.point[:s],
            pack.used,
            _square(lambdas, 1.0),
            shift=shift[s : s + p],
            spread=find_spread(errors, shift, tau, self.link) if self.measured else np.nan,
            loglik_error=float(errors.min()) if self.measured else np.nan,
            joint=covariance,
        )

    def _space(self, model: Ordinal) -> clmm.OrdinalWorkspace:
        K = len(model.J)
        if K not in self.spaces:
            self.spaces[K] = clmm.make_workspace(model)
        return self.spaces[K]


class LinearMixed:
    """Fits a linear mixed model by ML or REML."""

    def __init__(self, design: ModelMatrices, base: Linear) -> None:
        self.design, self.base = design, base
        self.space = lmm.make_workspace(base)

    def fit(self, responses: Any) -> list[FittedResponse | None]:
        """Return the estimates for each row of numbers."""
        return [self._fit_one(response) for response in responses]

    def _fit_one(self, response: Floats) -> FittedResponse | None:
        if (response == response[0]).all():
            return None
        model, unit = lmm.set_response(self.base, response)
        found = lmm.find_estimates(model, self.design.factors, self.space)
        moments = lmm.find_moments(lmm.read_settled(model, self.space.work, found), unit)
        return self._describe(lmm.log_likelihood(model, found, unit), found, moments)

    def _describe(self, loglik: float, found: Found, moments: lmm.LinearMoments) -> FittedResponse:
        lambdas = split_lambda(self.design.factors, found.point)
        converged = found.converged(len(self.design.rows))
        usable = bool(np.isfinite(found.value) and np.isfinite(moments.uncertainty.A).all())
        return FittedResponse(
            _judge(usable, converged, False),
            converged,
            is_singular(self.design.factors, lambdas),
            loglik,
            moments.beta,
            moments.vcov,
            covariances=_square(lambdas, moments.sigma),
            sigma=moments.sigma,
            slopes=moments.uncertainty.slopes,
            A=moments.uncertainty.A,
        )


class OrdinalFixed:
    """Fits an ordinal model without random effects."""

    def __init__(
        self, design: ModelMatrices, link: str, family: str = "cumulative", penalty: Penalty = NO_PENALTY
    ) -> None:
        self.design, self.link, self.penalty, self.packer = design, link, penalty, _Packer(family)

    def fit(self, responses: Any) -> list[FittedResponse | None]:
        """Return the estimates for each response."""
        return [self._fit_one(response) for response in responses]

    def _fit_one(self, response: Any) -> FittedResponse | None:
        """Return the estimates for these codes."""
        pack = self.packer.pack(response)
        if pack is None:
            return None
        design = replace(self.design, codes=pack.codes)
        solution = solve_clm(design, self.link, pack.thresholds, self.penalty)
        unit = LATENT_SD[self.link] if self.link != "cauchit" else 10.0
        s, p = len(solution.alpha), len(solution.beta)
        optimum = solution.optimum
        condition = optimum.condition if self.penalty.is_empty else inf  # a prior hides what looks strange
        lost, covariance = hold_lost(
            solution.beta, solution.joint_vcov, solution.hessian, condition, design, pack.thresholds, unit
        )
        return FittedResponse(
            _judge(bool(np.isfinite(solution.loglik)), optimum.converged, bool(lost[s : s + p].any())),
            optimum.converged,
            False,
            solution.loglik,
            solution.beta,
            covariance[s : s + p, s : s + p],
            solution.alpha,
            pack.used,
            joint=covariance,
        )


class LinearFixed:
    """Fits a linear model by least squares."""

    def __init__(self, design: ModelMatrices) -> None:
        self.design = design

    def fit(self, responses: Any) -> list[FittedResponse | None]:
        """Return the estimates for each response."""
        return [self._fit_one(response) for response in responses]

    def _fit_one(self, response: Any) -> FittedResponse | None:
        """Return the estimates for these numbers."""
        if (response == response[0]).all():
            return None
        found = solve_lm(replace(self.design, y=response))
        return FittedResponse(FITTED, True, False, found.loglik, found.beta, found.vcov, sigma=found.sigma)


def _judge(finite: bool, converged: bool, separated: bool) -> int:
    if not finite:
        return LOST
    if separated:
        return SEPARATED
    return FITTED if converged else NOT_CONVERGED


def _square(lambdas: tuple[Floats, ...], sigma: float) -> tuple[Floats, ...]:
    """Return the covariance matrix of the random effects of each factor."""
    return tuple(sigma**2 * block @ block.T for block in lambdas)
