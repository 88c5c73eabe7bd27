"""Responses of a batch, fitted with the solvers of a single fit to a design that is prepared once.

Every model has a *fitter*. It is made once for each thread, holds the room that its solver works in, and
nothing of one response reaches the next.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from panelist.models.arrays import Floats, Longs
from panelist.models.formulas.matrices import Design
from panelist.models.solvers import clmm, lmm
from panelist.models.solvers.clm import solve_clm
from panelist.models.solvers.deviance import Linear
from panelist.models.solvers.laplace import Ordinal
from panelist.models.solvers.laplace_shift import find_shift, find_spread, measure_levels
from panelist.models.solvers.links import LATENT_SD
from panelist.models.solvers.lm import solve_lm
from panelist.models.solvers.separation import find_lost, scaled_conditions
from panelist.models.solvers.thresholds import Thresholds, make_thresholds
from panelist.models.solvers.variances import is_singular, split_lambda

_NOTHING = np.empty(0)
FITTED, ONE_VALUE, LOST, NOT_CONVERGED, SEPARATED = range(5)
FAILURES = {
    FITTED: "fitted",
    ONE_VALUE: "every rating is the same",
    LOST: "the likelihood is not finite",
    NOT_CONVERGED: "the search did not end at an optimum",
    SEPARATED: "the fixed effects predict some ratings without error, so that they have no finite estimate",
}


class Estimates(NamedTuple):
    """The fit of one response; what a model does not have is empty."""

    failed: int
    converged: bool
    singular: bool
    loglik: float
    beta: Floats
    vcov: Floats
    thresholds: Floats  # between the categories that occur
    used: Longs  # those categories
    covariances: tuple[Floats, ...]  # of the random effects, factor by factor
    sigma: float
    slopes: Floats  # ∂Var(β̂)/∂φ and Var(φ̂), for Satterthwaite's degrees of freedom
    A: Floats
    shift: Floats = _NOTHING  # of β by a better approximation than Laplace's, where it was asked for; and
    spread: float = np.nan  # of the standard deviations, as a share of the latent spread; and
    loglik_error: float = np.nan  # the lowest of any factor


class Fitter(Protocol):
    """Fits responses to one design; no set's numbers depend on what is fitted with it."""

    def fit(self, responses: Any) -> list[Estimates | None]:
        """Return the estimates of each, None where every rating is the same."""


@dataclass(frozen=True)
class Pack:
    """A response of categories without the unused ones."""

    codes: Any
    used: Longs
    thresholds: Thresholds


class _Packer:
    """Leaves unused categories out, as a fit does; the threshold structures are made once."""

    def __init__(self) -> None:
        self.known: dict[int, Thresholds] = {}

    def pack(self, response: Any) -> Pack | None:
        counts = np.bincount(response)
        used = np.flatnonzero(counts)
        if len(used) < 2:
            return None
        codes = response if len(used) == len(counts) else (np.cumsum(counts > 0) - 1)[response]
        if len(used) not in self.known:
            names = tuple(str(k) for k in range(1, len(used) + 1))
            self.known[len(used)] = make_thresholds("flexible", names)
        return Pack(codes.astype(np.int32), used, self.known[len(used)])


class _Searched(NamedTuple):
    pack: Pack
    found: clmm.Found
    errors: Floats  # of Laplace, by factor, where they are asked for
    slopes: Floats  # of their sum


class OrdinalMixed:
    """Fits an ordinal mixed model by Laplace."""

    def __init__(self, design: Design, link: str, base: Ordinal, measured: bool = False) -> None:
        self.design, self.link, self.base, self.measured = design, link, base, measured
        self.packer = _Packer()
        self.rooms: dict[int, clmm.Room] = {}  # by the number of categories

    def fit(self, responses: Any) -> list[Estimates | None]:
        """Return the estimates for each row of codes."""
        searched = [self._search(response) for response in responses]
        sizes = {len(one.pack.used) for one in searched if one is not None}
        known: dict[int, Estimates] = {}
        for size in sizes:  # sets with as many categories have Hessians of one shape
            places = [at for at, one in enumerate(searched) if one is not None and len(one.pack.used) == size]
            alike = [one for one in searched if one is not None and len(one.pack.used) == size]
            known.update(zip(places, self._describe(alike), strict=True))
        return [known.get(at) for at in range(len(searched))]

    def _search(self, response: Any) -> "_Searched | None":
        pack = self.packer.pack(response)
        if pack is None:
            return None
        model = self.base._replace(codes=pack.codes[self.base.pattern.order], J=pack.thresholds.J)
        room = self._room(model)
        found = clmm.find_estimates(model, self.design.factors, self.link, pack.thresholds, room)
        if not self.measured:
            return _Searched(pack, found, _NOTHING, _NOTHING)
        return _Searched(pack, found, *measure_levels(model, room.work, found.psi))

    def _describe(self, searched: "list[_Searched]") -> list[Estimates]:
        """Return the estimates of searches with as many categories; what can be is done for all at once."""
        s, p = searched[0].pack.thresholds.J.shape[1], self.design.X.shape[1]
        hessians = np.array([one.found.hessian for one in searched])
        conditions = scaled_conditions(hessians)
        # Where there are no estimates any Hessian will do for the stack; it is not looked at.
        finite = np.array([one.found.finite for one in searched])
        hessians[~finite] = np.eye(hessians.shape[1])
        covariances = clmm.invert_information(hessians, s + p)
        covariances[~finite] = np.nan
        return [
            self._describe_one(one, covariance, float(condition))
            for one, covariance, condition in zip(searched, covariances, conditions, strict=True)
        ]

    def _describe_one(self, searched: "_Searched", covariance: Floats, condition: float) -> Estimates:
        pack, found, errors, slopes = searched
        s, p = pack.thresholds.J.shape[1], self.design.X.shape[1]
        beta, tau = found.psi[s : s + p], found.psi[s + p :]
        unit = LATENT_SD[self.link] if self.link != "cauchit" else 10.0
        X, J = self.design.X, pack.thresholds.J
        shift = find_shift(slopes, found.hessian, covariance) if self.measured else _NOTHING
        lost = find_lost(beta, covariance, condition, pack.codes, X, J, unit)
        if lost.any():
            covariance[lost, :] = np.nan
            covariance[:, lost] = np.nan
        converged = found.converged(len(pack.codes))
        lambdas = split_lambda(self.design.factors, tau)
        return Estimates(
            _judge(found.finite, converged, bool(lost[s:].any())),
            converged,
            is_singular(self.design.factors, lambdas),
            -found.value,
            beta,
            covariance[s:, s:],
            found.psi[:s],
            pack.used,
            _square(lambdas, 1.0),
            1.0,
            _NOTHING,
            _NOTHING,
            shift[s : s + p],
            find_spread(errors, shift, tau, self.link) if self.measured else np.nan,
            float(errors.min()) if self.measured else np.nan,
        )

    def _room(self, model: Ordinal) -> clmm.Room:
        K = len(model.J)
        if K not in self.rooms:
            self.rooms[K] = clmm.make_room(model)
        return self.rooms[K]


class LinearMixed:
    """Fits a linear mixed model by ML or REML."""

    def __init__(self, design: Design, base: Linear) -> None:
        self.design, self.base = design, base
        self.room = lmm.make_room(base)

    def fit(self, responses: Any) -> list[Estimates | None]:
        """Return the estimates for each row of numbers."""
        return [self._fit_one(response) for response in responses]

    def _fit_one(self, response: Floats) -> Estimates | None:
        if (response == response[0]).all():
            return None
        model, unit = lmm.set_response(self.base, response)
        found = lmm.find_estimates(model, self.design.factors, self.room)
        moments = lmm.find_moments(lmm.read_settled(model, self.room.work, found), unit)
        return self._describe(lmm.log_likelihood(model, found, unit), found, moments)

    def _describe(self, loglik: float, found: lmm.Found, moments: lmm.Moments) -> Estimates:
        lambdas = split_lambda(self.design.factors, found.theta)
        converged = found.converged(len(self.design.rows))
        usable = bool(np.isfinite(found.value) and np.isfinite(moments.uncertainty.A).all())
        return Estimates(
            _judge(usable, converged, False),
            converged,
            is_singular(self.design.factors, lambdas),
            loglik,
            moments.beta,
            moments.vcov,
            np.empty(0),
            np.empty(0, dtype=np.int64),
            _square(lambdas, moments.sigma),
            moments.sigma,
            moments.uncertainty.slopes,
            moments.uncertainty.A,
        )


class OrdinalFixed:
    """Fits an ordinal model without random effects."""

    def __init__(self, design: Design, link: str) -> None:
        self.design, self.link, self.packer = design, link, _Packer()

    def fit(self, responses: Any) -> list[Estimates | None]:
        """Return the estimates for each response."""
        return [self._fit_one(response) for response in responses]

    def _fit_one(self, response: Any) -> Estimates | None:
        """Return the estimates for these codes."""
        pack = self.packer.pack(response)
        if pack is None:
            return None
        solution = solve_clm(replace(self.design, codes=pack.codes), self.link, pack.thresholds)
        unit = LATENT_SD[self.link] if self.link != "cauchit" else 10.0
        J, s = pack.thresholds.J, len(solution.alpha)
        optimum = solution.optimum
        covariance = solution.joint_vcov.copy()
        lost = find_lost(solution.beta, covariance, optimum.condition, pack.codes, self.design.X, J, unit)
        covariance[lost, :] = np.nan
        covariance[:, lost] = np.nan
        return Estimates(
            _judge(bool(np.isfinite(solution.loglik)), optimum.converged, bool(lost[s:].any())),
            optimum.converged,
            False,
            solution.loglik,
            solution.beta,
            covariance[s:, s:],
            solution.alpha,
            pack.used,
            (),
            1.0,
            np.empty(0),
            np.empty(0),
        )


class LinearFixed:
    """Fits a linear model by least squares."""

    def __init__(self, design: Design) -> None:
        self.design = design

    def fit(self, responses: Any) -> list[Estimates | None]:
        """Return the estimates for each response."""
        return [self._fit_one(response) for response in responses]

    def _fit_one(self, response: Any) -> Estimates | None:
        """Return the estimates for these numbers."""
        if (response == response[0]).all():
            return None
        found = solve_lm(replace(self.design, y=response))
        nothing = np.empty(0)
        used = np.empty(0, dtype=np.int64)
        return Estimates(
            FITTED,
            True,
            False,
            found.loglik,
            found.beta,
            found.vcov,
            nothing,
            used,
            (),
            found.sigma,
            nothing,
            nothing,
        )


def _judge(finite: bool, converged: bool, separated: bool) -> int:
    if not finite:
        return LOST
    if separated:
        return SEPARATED
    return FITTED if converged else NOT_CONVERGED


def _square(lambdas: tuple[Floats, ...], sigma: float) -> tuple[Floats, ...]:
    """Return the covariance matrix of the random effects of each factor."""
    return tuple(sigma**2 * block @ block.T for block in lambdas)
