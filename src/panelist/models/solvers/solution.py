"""What a solver returns: estimates, their covariance, and the optimiser's own record."""

from dataclasses import dataclass, field

import numpy as np

from panelist.models.likelihoods.priors import NO_PENALTY, Penalty
from panelist.models.prior_words import Prior
from panelist.numerics.arrays import Floats


@dataclass(frozen=True)
class Optimum:
    """How an estimate was found, so that "did it converge?" can be answered later."""

    method: str
    converged: bool
    reason: str
    steps: int
    evaluations: int
    gradient: float  # largest absolute slope at the estimate
    condition: float  # of the Hessian, in units of each parameter's own curvature
    tolerance: float


@dataclass(frozen=True, eq=False)
class Solution:
    """One model's estimates; random effects are b = Λu, one row per level, factors as in the design."""

    loglik: float
    n_parameters: int
    beta: Floats  # (p,)
    vcov: Floats  # (p, p)
    optimum: Optimum
    alpha: Floats = field(default_factory=lambda: np.empty(0))  # (s,)
    joint_vcov: Floats = field(default_factory=lambda: np.empty((0, 0)))  # of (α, β, ζ)
    zeta: Floats = field(default_factory=lambda: np.empty(0))  # (q,) effects on log σ
    sigma: float = 1.0
    lambdas: tuple[Floats, ...] = ()  # relative factors, σλ(σλ)' is the covariance
    modes: tuple[Floats, ...] = ()  # (levels, m) each
    deviations: tuple[Floats, ...] = ()  # (levels, m) conditional standard deviations
    notes: tuple[str, ...] = ()
    singular: bool = False
    points: int = 1  # of quadrature, at least; 1 is Laplace
    psi: Floats = field(default_factory=lambda: np.empty(0))  # (α, β, ζ, τ) of a Laplace fit, and
    hessian: Floats = field(default_factory=lambda: np.empty((0, 0)))  # of −log L there, − log π with a prior
    prior: Prior | None = None
    penalty: Penalty = NO_PENALTY  # what the prior means for ψ
    omega: float = 0.0  # standard deviation of the random effects on log σ, and
    spread_modes: Floats = field(default_factory=lambda: np.empty(0))  # (levels,) these effects, and
    spread_deviations: Floats = field(default_factory=lambda: np.empty(0))  # their conditional deviations


def rectify(block: Floats) -> Floats:
    """Return the lower triangle with a non-negative diagonal and the same covariance.

    >>> rectify(np.array([[-1.0, 0.0], [0.5, 2.0]]))
    array([[ 1. ,  0. ],
           [-0.5,  2. ]])
    """
    signs = np.where(np.diag(block) < 0.0, -1.0, 1.0)
    turned: Floats = block * signs + 0.0
    return turned
