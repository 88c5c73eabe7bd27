"""The search for the best parameters of a likelihood that is integrated by quadrature."""

from panelist.models.likelihoods.nested_likelihood import evaluate_quadrature
from panelist.models.likelihoods.nests import Nest
from panelist.models.search.bfgs import Search, begin, judge, propose
from panelist.numerics.arrays import Floats
from panelist.numerics.kernel import kernel


@kernel
def minimise(model: Nest, modes: Floats, search: Search, tolerance: float, max_steps: int) -> None:
    """Search for the best ψ from the trial point of ``search``."""
    begin(search, evaluate_quadrature(model, search.trial, modes, search.trial_gradient))
    ratings = 0.0
    for g in range(len(model.copies)):
        ratings += model.copies[g] * (model.start[model.groups[g + 1]] - model.start[model.groups[g]])
    for c in range(len(search.point)):  # a first step of moderate length in every direction
        search.metric[c, c] = 1.0 / max(1.0, 2.0 * abs(search.gradient[c]), 0.2 * ratings)
    while propose(search, tolerance, max_steps):
        judge(search, evaluate_quadrature(model, search.trial, modes, search.trial_gradient))
