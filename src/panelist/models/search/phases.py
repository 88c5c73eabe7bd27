"""The phases of an estimation, which are the same for ordinal and linear mixed models.

    FIRST_POINT, SEARCH     BFGS, until the predicted gain of another step is below the tolerance
    CENTRE, COLUMN          the exact gradient where it ended, and its differences: the Hessian there
    POLISH, REPEAT          one Newton step, and more with the same Hessian while they gain
    RETURN                  back to the centre, where a step made things worse
    START                   the search once more, from where it ended, more strictly
    ONCE                    one evaluation, and nothing else

An estimation is one loop around one evaluation, which decides by the phase what to do next: numba optimises
a function again inside every function that calls it, so one call in one place keeps the first fit of a fresh
installation short. It may pause between phases, for another kernel to do what is done once; ``Progress`` is
all that it remembers.
"""

from typing import NamedTuple

import numpy as np

from panelist.models.blocks.products import count_tau
from panelist.models.search.bfgs import Search
from panelist.numerics.arrays import Floats, Longs
from panelist.numerics.kernel import inner

TOLERANCE = 1e-7  # predicted gain in log-likelihood at which the search hands over to Newton
NEAR = 1e-4  # predicted gain above which a Newton step is not trusted
MAX_STEPS = 500
AT_ZERO = 1e-6  # diagonal entries of Λ below this are put at zero, where they belong

ONCE, FIRST_POINT, START, SEARCH, CENTRE, COLUMN, POLISH, REPEAT, RETURN, DONE = range(10)

PHASE, NEXT_COLUMN, ROUNDS, FRESH, POSITIVE, REPEATS = range(6)  # places in SearchState.marks
VALUE, PRECISION = range(2)  # places in SearchState.centre


class SearchState(NamedTuple):
    """The progress of an estimation of k parameters, and its findings; what a model lacks is empty."""

    gradient: Floats  # (k,) where the columns of the Hessian are taken
    hessian: Floats  # (k, k), with one more row and column for σ in a linear model
    steps: Floats  # (k,) by which each parameter is moved for its column of the Hessian
    push: Floats  # (k,) the Newton step
    marks: Longs  # see the places above
    centre: Floats  # of a linear model: −log L where the columns are taken, and 1/σ²
    slopes: Floats  # (k + 1, p, p) of a linear model: ∂(X'H̃⁻¹X)⁻¹/∂θ at the end; the last is left to others
    pushes: Floats  # (k, columns) of an ordinal model: by which the mode follows; none if it pauses
    direction: Floats  # (columns,) of an ordinal model: by which the mode follows a whole step of the search


def begin_search(
    k: int, *, sigma: int = 0, fixed: int = 0, columns: int = 0, pausing: bool = False
) -> SearchState:
    """Return the beginning of an estimation; its phase is FIRST_POINT, or set it to ONCE.

    ``sigma`` is one for a linear model with ``fixed`` effects; ``columns`` has the mode of an ordinal one.
    """
    return SearchState(
        np.zeros(k),
        np.full((k + sigma, k + sigma), np.nan),
        np.empty(k),
        np.empty(k),
        np.array([FIRST_POINT, 0, 0, 1, 0, 0]),
        np.zeros(2),
        np.empty((k + 1 if sigma else 0, fixed, fixed)),
        np.empty((k, 0 if pausing else columns)),
        np.zeros(columns),
    )


@inner
def choose_steps(search: Search, steps: Floats) -> None:
    """Choose a step in each parameter for its Hessian column, small compared with its standard error."""
    for a in range(len(steps)):
        steps[a] = 1e-4 * min(max(np.sqrt(abs(search.metric[a, a])), 1e-3), 1.0)


@inner
def take_newton_step(
    search: Search, push: Floats, tau_row: Longs, tau_column: Longs, tau_slot: Longs
) -> None:
    """Move the trial point by the Newton step; spreads that it leaves next to zero are put there."""
    first = len(push) - count_tau(tau_slot)
    for a in range(len(push)):
        search.trial[a] -= push[a]
    for t in range(len(tau_row)):
        at = first + tau_slot[t]
        if tau_row[t] == tau_column[t] and abs(search.trial[at]) < AT_ZERO:
            search.trial[at] = 0.0
