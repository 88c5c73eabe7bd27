"""Inner kernels in a form that Python can call, for loops that are not worth compiling (see kernel.inner)."""

from panelist.models.likelihoods import laplace
from panelist.models.likelihoods import link_functions as links
from panelist.models.likelihoods.laplace import LaplaceWorkspace, Ordinal
from panelist.models.search import bfgs as optimise
from panelist.models.search.bfgs import Search
from panelist.numerics.arrays import Floats
from panelist.numerics.kernel import kernel


@kernel
def evaluate(model: Ordinal, psi: Floats, work: LaplaceWorkspace, gradient: Floats, accuracy: float) -> float:
    """Return N(ψ) and fill its gradient, as laplace.evaluate does."""
    return laplace.evaluate(model, psi, work, gradient, accuracy)


@kernel
def fill_rows(link: int, high: Floats, low: Floats, eta: Floats, rows: Floats) -> float:
    """Fill the row table (9, n) at η, as links.fill_rows does."""
    return links.fill_rows(link, high, low, eta, rows)


@kernel
def begin(search: Search, f: float) -> None:
    """Take the trial point as the first point, as optimise.begin does."""
    optimise.begin(search, f)


@kernel
def propose(search: Search, tolerance: float, max_steps: int) -> bool:
    """Set the next trial point, as optimise.propose does."""
    return optimise.propose(search, tolerance, max_steps)


@kernel
def judge(search: Search, f: float) -> bool:
    """Accept the trial point or shorten the step, as optimise.judge does."""
    return optimise.judge(search, f)
