"""How far the Laplace approximation moved the estimates of an ordinal mixed model: measured, not guessed.

The error c(ψ) of the log-likelihood is integrated level by level (solvers/level_errors.py). With N = −log L
by Laplace, N − c is the better objective, and a Newton step from the optimum of N says where its optimum is:

    shift = H⁻¹ ∂c/∂ψ,      H the Hessian of N

With one grouping factor c is exact. With several it leaves out what the factors do together, which is small
in comparison wherever one factor has few ratings per level. The step is a prediction: where the error is
large the true shift is often larger still, and now and then Laplace has an optimum of its own where the step
is short. So a large move of the standard deviations, or a likelihood far too high, is a reason for distrust
as well.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from panelist.models.solvers.laplace_shift import (
    LOWEST,
    STEADY,
    TRUSTED,
    find_shift,
    find_spread,
    measure_levels,
)
from panelist.numerics.arrays import Floats

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit


@dataclass(frozen=True)
class FactorError:
    """What the log-likelihood lacks because of one grouping factor."""

    name: str
    loglik_error: float


@dataclass(frozen=True, eq=False)
class LaplaceError:
    """The error of a Laplace fit: by factor, in the log-likelihood, and as a shift of the fixed effects."""

    factors: tuple[FactorError, ...]
    shift: Floats  # of β, in latent units: a better approximation would give about β + shift
    vcov: Floats
    spread: float  # by what share of the latent spread the random effects' standard deviations would move

    @property
    def loglik_error(self) -> float:
        """The log-likelihood less its Laplace approximation."""
        return sum(factor.loglik_error for factor in self.factors)

    def shift_of(self, L: Floats) -> Floats:
        """Return by how many of its standard errors each contrast would move; nan where it has none."""
        L = np.atleast_2d(np.asarray(L, dtype=np.float64))
        variances = ((L @ self.vcov) * L).sum(axis=1)
        found = np.full(len(L), np.nan)
        np.divide(L @ self.shift, np.sqrt(np.maximum(variances, 0.0)), out=found, where=variances > 0.0)
        return found

    @property
    def worst(self) -> float:
        """The largest shift of a coefficient, in its standard errors; infinite where it is not known."""
        return worst_of(self.shift_of(np.eye(len(self.shift))))

    @property
    def trusted(self) -> bool:
        """Whether the approximation leaves the coefficients nearly unchanged."""
        return self.holds_for(np.eye(len(self.shift)))

    def holds_for(self, L: Floats) -> bool:
        """Return whether the approximation leaves these contrasts nearly unchanged."""
        claimed = min(factor.loglik_error for factor in self.factors)
        return worst_of(self.shift_of(L)) <= TRUSTED and self.spread <= STEADY and claimed >= LOWEST

    def faults(self, L: Floats) -> list[str]:
        """Return what is off by more than is acceptable, for these contrasts, each in a few words."""
        worst, claimed = worst_of(self.shift_of(L)), min(self.factors, key=lambda one: one.loglik_error)
        found = []
        if not np.isfinite(worst):
            found.append("by an unknown amount")
        elif worst > TRUSTED:
            found.append(f"a difference by about {worst:.1f} standard errors")
        if np.isfinite(self.spread) and self.spread > STEADY:
            found.append(f"standard deviations by {100 * self.spread:.0f} %")
        if claimed.loglik_error < LOWEST:
            found.append(f"the log-likelihood of {claimed.name} by {-claimed.loglik_error:.1f}")
        return found

    def sentence(self) -> str:
        """Return what was found, in one sentence."""
        if self.trusted:
            return (
                "the Laplace approximation holds: measured level by level, its error moves no effect by more "
                f"than {self.worst:.2f} of its standard error"
            )
        most = max(self.factors, key=lambda factor: abs(factor.loglik_error))
        known = np.isfinite(self.worst) and np.isfinite(self.spread)
        size = f"by about {self.worst:.1f} standard errors" if known else "by an unknown amount"
        spread = f", standard deviations by {100 * self.spread:.0f} %" if known else ""
        return (
            f"the Laplace approximation does not hold here: the levels of {most.name} have few ratings, or "
            "ratings that nearly all agree, so that the log-likelihood is off by "
            f"{abs(self.loglik_error):.1f} and an effect moves {size}{spread}; do not report these estimates "
            "alone"
        )


def worst_of(shifts: Floats) -> float:
    """Return the largest absolute shift; infinite where one is not known."""
    return float(np.abs(shifts).max(initial=0.0)) if np.isfinite(shifts).all() else np.inf


def measure_laplace_error(fit: "Fit") -> LaplaceError:
    """Return the error of a Laplace fit of an ordinal mixed model."""
    from panelist.models.blocks.workspaces import lend_workspace
    from panelist.models.solvers.clmm import make_model, make_workspace

    assert fit.structure is not None
    assert fit.link is not None
    solution = fit.solution
    model = make_model(fit.design, fit.link, fit.structure)
    with lend_workspace(make_workspace, model) as space:
        space.work.u[:] = 0.0
        errors, slopes = measure_levels(model, space, solution.psi)
    shift = find_shift(slopes, solution.hessian, solution.joint_vcov)
    names = (factor.name for factor in fit.design.factors)
    factors = tuple(FactorError(name, float(error)) for name, error in zip(names, errors, strict=True))
    s, p = len(solution.alpha), len(solution.beta)
    spread = find_spread(errors, shift, solution.psi[s + p :], fit.link)
    return LaplaceError(factors, shift[s : s + p], fit.vcov, spread)
