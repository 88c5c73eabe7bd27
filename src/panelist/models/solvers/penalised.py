"""Ordinal mixed models with a prior: the mode, and a bound on spreads where it would run off without one."""

from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.priors import Penalty
from panelist.models.likelihoods.thresholds import Thresholds
from panelist.models.priors import bound_spreads, has_slopes
from panelist.models.solvers.clmm import solve_clmm
from panelist.models.solvers.separation import is_separated
from panelist.models.solvers.solution import Solution


def solve_penalised(
    design: ModelMatrices, link: str, thresholds: Thresholds, penalty: Penalty
) -> tuple[Solution, Penalty]:
    """Return the mode and the penalty that it has: spreads are bounded where the ratings do not do it."""
    if not len(penalty.spread):
        return solve_clmm(design, link, thresholds, penalty), penalty
    bounded = bound_spreads(penalty, design, link)
    if has_slopes(design) and is_separated(design, thresholds):
        return solve_clmm(design, link, thresholds, bounded), bounded
    solution = solve_clmm(design, link, thresholds, penalty)
    if solution.optimum.converged:
        return solution, penalty
    other = solve_clmm(design, link, thresholds, bounded)
    return (other, bounded) if other.optimum.converged else (solution, penalty)
