"""Where a better approximation than Laplace's has its optimum; inference/laplace_error.py says how."""

import numpy as np

from panelist.models.likelihoods.laplace import Ordinal
from panelist.models.likelihoods.level_errors import fill_errors
from panelist.models.likelihoods.link_functions import LATENT_SD
from panelist.models.solvers.clmm import OrdinalWorkspace, evaluate
from panelist.numerics.arrays import Floats
from panelist.numerics.compile_ahead import prepare
from panelist.numerics.spectra import routine

TRUSTED = 0.2  # standard errors: a larger shift of an effect changes what it says
STEADY = 0.2  # a larger share of the spread, and the step itself cannot be relied on
LOWEST = (
    -2.0
)  # log-likelihood of a factor: where Laplace overstates it by more than this, nothing is reliable
NEGLIGIBLE = 0.5  # log-likelihood: a smaller error moves a deviation only where the data hardly know it
_FLAT = 1e-6  # scaled curvature of the variances below which a direction is left out


def measure_levels(model: Ordinal, space: OrdinalWorkspace, psi: Floats) -> tuple[Floats, Floats]:
    """Return the error of each factor and the slopes of their sum in ψ; nan where there is no likelihood."""
    prepare("errors")
    errors, slopes = np.full(len(model.pattern.widths), np.nan), np.full(len(psi), np.nan)
    space.work.counts[2] = 0
    if np.isfinite(psi).all() and np.isfinite(evaluate(model, psi, space)[0]):
        fill_errors(model, psi, space.work, routine(), errors, slopes)
    return errors, slopes


def find_shift(slopes: Floats, hessian: Floats, covariance: Floats) -> Floats:
    """Return the Newton step of ψ = (α, β, τ), given the covariance of (α, β); nan where it is not known.

    Variances at their boundary, and flat directions among them, are left out as they are from the covariance.
    """
    fixed, bends = len(covariance), np.abs(np.diag(hessian))
    if not (np.isfinite(slopes).all() and np.isfinite(hessian).all()):
        return np.full(len(slopes), np.nan)
    own = np.sqrt(np.maximum(bends, 1e-6 * bends.max()))[fixed:]
    values, vectors = np.linalg.eigh(hessian[fixed:, fixed:] / np.outer(own, own))
    kept = values > _FLAT
    across = (hessian[:fixed, fixed:] / own) @ vectors[:, kept]
    along = vectors[:, kept].T @ (slopes[fixed:] / own)
    first = covariance @ (slopes[:fixed] - across @ (along / values[kept]))
    rest = vectors[:, kept] @ ((along - across.T @ first) / values[kept]) / own
    return np.concatenate([first, rest])


def find_spread(errors: Floats, shift: Floats, tau: Floats, link: str) -> float:
    """Return by what share of the latent spread the random effects' standard deviations move.

    Zero where no factor's error matters: a variance near zero has so flat a likelihood that
    next to nothing moves it far.
    """
    if np.abs(errors).max(initial=0.0) < NEGLIGIBLE:
        return 0.0
    unit = LATENT_SD[link] if link != "cauchit" else 1.5
    moved = shift[len(shift) - len(tau) :]
    return float(np.linalg.norm(moved) / np.hypot(unit, np.linalg.norm(tau)))
