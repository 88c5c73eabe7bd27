"""BFGS by reverse communication: the caller evaluates, this module decides where.

    begin(search, f)
    while propose(search, tolerance):          # search.trial is the next point
        f = ...                                # evaluate it, fill search.trial_gradient
        accepted = judge(search, f)

The caller owns the loop, so one optimiser serves objectives that carry state from point to point
(the mode of the random effects), and everything compiles into one function without callbacks.
"""

from typing import NamedTuple

import numpy as np

from panelist.numerics.arrays import Floats
from panelist.numerics.kernel import inner, noinline
from panelist.numerics.lapack import copy_into

# Places in Search.state.
F, STEP, SLOPE, ITERATIONS, EVALUATIONS, REASON, SHORTENED, BEST, GAIN = range(
    9
)  # the last two are the caller's

CONVERGED, STUCK, OUT_OF_STEPS, LOST = 1.0, 2.0, 3.0, 4.0
REASONS = {
    0.0: "still running",
    CONVERGED: "the predicted gain of another step is below the tolerance",
    STUCK: "no step along the search direction improves the objective",
    OUT_OF_STEPS: "the limit on steps was reached",
    LOST: "the objective is not finite at the starting point",
}


class Search(NamedTuple):
    """The state of one minimisation."""

    point: Floats
    gradient: Floats
    trial: Floats
    trial_gradient: Floats
    direction: Floats
    metric: Floats  # inverse Hessian approximation
    state: Floats  # see the places above


def make_search(start: Floats, metric: Floats | None = None) -> Search:
    """Return a search that starts here with this inverse Hessian, the identity unless given."""
    k = len(start)
    first = np.eye(k) if metric is None else metric.copy()
    return Search(start.copy(), np.zeros(k), start.copy(), np.zeros(k), np.zeros(k), first, np.zeros(9))


@inner
def begin(search: Search, f: float) -> None:
    """Take the trial point, already evaluated, as the first point."""
    noinline()
    state = search.state
    copy_into(search.point, search.trial)
    copy_into(search.gradient, search.trial_gradient)
    state[F] = f
    state[STEP] = 1.0
    state[EVALUATIONS] += 1.0
    state[REASON] = 0.0 if np.isfinite(f) else LOST
    state[SHORTENED] = 0.0


@inner
def propose(search: Search, tolerance: float, max_steps: int) -> bool:
    """Set the next trial point; return False when the search is over and ``state[REASON]`` says why."""
    noinline()
    state, k = search.state, len(search.point)
    if state[REASON] != 0.0:
        return False
    if state[SHORTENED] == 0.0:
        slope = 0.0
        for i in range(k):
            total = 0.0
            for j in range(k):
                total -= search.metric[i, j] * search.gradient[j]
            search.direction[i] = total
            slope += total * search.gradient[i]
        if not slope < 0.0:  # the metric lost its sign to rounding: reset it
            _reset_metric(search)
            slope = 0.0
            for i in range(k):
                search.direction[i] = -search.metric[i, i] * search.gradient[i]
                slope += search.direction[i] * search.gradient[i]
        state[SLOPE] = slope
        state[STEP] = 1.0
        if -slope < 2.0 * tolerance:
            state[REASON] = CONVERGED
            return False
        if state[ITERATIONS] >= max_steps:
            state[REASON] = OUT_OF_STEPS
            return False
    for i in range(k):
        search.trial[i] = search.point[i] + state[STEP] * search.direction[i]
    return True


@inner
def judge(search: Search, f: float) -> bool:
    """Accept the trial point and learn from it, or shorten the step; return whether it was accepted."""
    noinline()
    state = search.state
    state[EVALUATIONS] += 1.0
    step, slope = state[STEP], state[SLOPE]
    drop = f - state[F]
    # Near the optimum rounding hides the decrease, and a flat step is as good as any; but not after many
    # halvings: then the direction does not descend, and zero steps would continue for ever.
    allowance = 1e-11 * (1.0 + abs(state[F])) if state[SHORTENED] < 4.0 else 0.0
    if not drop <= 1e-4 * step * slope + allowance:
        shorter = 0.1
        if np.isfinite(f):
            shorter = min(max(-0.5 * slope * step / (drop - slope * step), 0.1), 0.5)
        state[STEP] = step * shorter
        state[SHORTENED] += 1.0
        if state[SHORTENED] > 20.0:
            state[REASON] = STUCK
        return False
    _update_metric(search)
    copy_into(search.point, search.trial)
    copy_into(search.gradient, search.trial_gradient)
    state[F] = min(f, state[F]) if abs(drop) < 1e-11 * (1.0 + abs(f)) else f
    state[ITERATIONS] += 1.0
    state[SHORTENED] = 0.0
    return True


@inner
def _update_metric(search: Search) -> None:
    k = len(search.point)
    s, y, Hy = np.empty(k), np.empty(k), np.zeros(k)
    curvature, reach, far, steep = 0.0, 0.0, 0.0, 0.0
    for i in range(k):
        s[i], y[i] = search.trial[i] - search.point[i], search.trial_gradient[i] - search.gradient[i]
        curvature, far, steep = curvature + s[i] * y[i], far + s[i] * s[i], steep + y[i] * y[i]
    for i in range(k):
        for j in range(k):
            Hy[i] += search.metric[i, j] * y[j]
        reach += y[i] * Hy[i]
    if curvature <= 1e-10 * np.sqrt(far * steep):
        return
    scale = (1.0 + reach / curvature) / curvature
    for i in range(k):
        for j in range(k):
            search.metric[i, j] += scale * s[i] * s[j] - (Hy[i] * s[j] + s[i] * Hy[j]) / curvature


@inner
def _reset_metric(search: Search) -> None:
    for i in range(len(search.point)):
        diagonal = abs(search.metric[i, i])
        search.metric[i, :] = 0.0
        search.metric[:, i] = 0.0
        search.metric[i, i] = diagonal if diagonal > 0.0 else 1.0
