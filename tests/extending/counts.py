"""Counts with a log link: the Laplace approximation of a mixed model whose ratings are numbers of errors."""

import numpy as np

from panelist.models.blocks.elimination import factorise, solve
from panelist.models.blocks.pattern import Blocks, Pattern
from panelist.models.blocks.products import multiply, multiply_transposed
from panelist.numerics.arrays import Floats
from panelist.numerics.kernel import inner


@inner
def approximate_counts(
    pattern: Pattern, V: Floats, fixed: Floats, y: Floats, u: Floats, blocks: Blocks
) -> float:
    """Return −log L of Poisson counts with log-means ``fixed`` + Vu; ``u`` ends at its mode."""
    eta = np.empty(len(y))
    while True:
        multiply(pattern, V, u, eta)
        eta += fixed
        mean = np.exp(eta)  # for counts: the slope of −log p is mean − y, and its second derivative is mean
        logdet = factorise(pattern, V, mean, blocks)  # of H = V'WV + I
        value = np.sum(mean - y * eta) + 0.5 * np.sum(u * u) + 0.5 * logdet
        push = u.copy()
        multiply_transposed(pattern, V, mean - y, 0, push)  # the gradient: u + V'slope
        if solve(pattern, blocks, push) < 1e-14:  # push becomes H⁻¹ of it; the square is the decrement
            return float(value)
        u -= push
