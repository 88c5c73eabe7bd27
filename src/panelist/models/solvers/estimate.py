"""Search, curvature, polish: one loop around one evaluation of the Laplace likelihood.

It is written as phases of a single loop because numba optimises a function anew inside every function that
calls it: one call of ``evaluate`` in one place keeps the first fit of a fresh installation short.
"""

from typing import NamedTuple

import numpy as np

from panelist.models.arrays import Floats, Longs
from panelist.models.solvers import lapack
from panelist.models.solvers.following import Directions, push_modes
from panelist.models.solvers.kernel import inner, part, stay_apart
from panelist.models.solvers.lapack import copy_into
from panelist.models.solvers.laplace import FINAL, FIRST, TRUSTED, Ordinal, Workspace, evaluate
from panelist.models.solvers.octets import WIDTH
from panelist.models.solvers.optimise import (
    BEST,
    GAIN,
    LOST,
    REASON,
    SLOPE,
    STEP,
    Search,
    begin,
    judge,
    propose,
)

TOLERANCE = 1e-7  # predicted gain in log-likelihood at which the search hands over to Newton
_MAX_STEPS = 500
_ROUNDS = 3
_AT_ZERO = 1e-6  # diagonal entries of Λ below this are put at zero, where they belong
_FLAT = 1e-5  # largest slope of an optimum, for up to 10,000 ratings
_ENOUGH = 1e-12  # predicted gain of another Newton step below which the point is the optimum
_MOST_REPEATS = 5  # of the Newton step, with the same Hessian
_SLACK = 5e-3  # of the predicted gain, left in the mode while searching

ONCE, FIRST_POINT, START, SEARCH, CENTRE, COLUMN, POLISH, REPEAT, RETURN, DONE = range(10)

PHASE, NEXT_COLUMN, ROUNDS, FRESH, POSITIVE, REPEATS = range(6)  # places in Progress.numbers


class Progress(NamedTuple):
    """How far an estimation has come, and what it has found."""

    gradient: Floats  # (k,)
    hessian: Floats  # (k, k)
    steps: Floats  # (k,) by which each parameter is moved for its column of the Hessian
    pushes: Floats  # (k, columns) by which the mode follows; none if it pauses
    direction: Floats  # (columns,) by which the mode follows a whole step of the search
    push: Floats  # (k,) the Newton step
    numbers: Longs  # see the places above


def make_progress(k: int, columns: int, pausing: bool = False) -> Progress:
    """Return the beginning of an estimation; its phase is FIRST_POINT, or set it to ONCE."""
    return Progress(
        np.zeros(k),
        np.full((k, k), np.nan),
        np.empty(k),
        np.empty((k, 0 if pausing else columns)),
        np.zeros(columns),
        np.empty(k),
        np.array([FIRST_POINT, 0, 0, 1, 0, 0]),
    )


@part
def estimate(
    model: Ordinal,
    work: Workspace,
    directions: Directions,
    search: Search,
    progress: Progress,
    pausing: bool,
) -> float:
    """Minimise N from ``search.trial``; return N at ``search.point``, and fill gradient and Hessian there.

    The Hessian comes from differences of the exact gradient, the mode following each by its tangent; it is
    taken where the search ends, and one Newton step goes on from there. The estimation returns to its caller
    after the first point, in the phase SEARCH, for a metric to search with; and if ``pausing`` before the
    columns of the Hessian, in the phase COLUMN, for somebody else to fill them. Then call it again. In the
    phase ONCE N and its gradient are found at the trial point, from the mode that the workspace has.
    """
    numbers = progress.numbers
    if numbers[PHASE] == FIRST_POINT:
        work.u[:] = 0.0
        work.counts[2] = 0
    while True:
        if numbers[PHASE] >= SEARCH:
            _look(model, work, directions, search, progress)
        # In the first round the mode need only be good enough for the step in hand.
        phase, accuracy = numbers[PHASE], FINAL
        if phase == FIRST_POINT:
            accuracy = FIRST
        elif phase == COLUMN:
            accuracy = TRUSTED
        elif phase == SEARCH and numbers[ROUNDS] == 0:
            accuracy = min(max(-_SLACK * search.state[SLOPE], 1e-10), FIRST)
        f = evaluate(model, search.trial, work, search.trial_gradient, accuracy)
        if _learn(model, work, directions, search, progress, f):
            numbers[PHASE] = DONE
            return float(search.state[BEST])
        if phase == FIRST_POINT or (phase == CENTRE and pausing):
            numbers[NEXT_COLUMN] = len(search.point)
            return f


@inner
def _look(
    model: Ordinal, work: Workspace, directions: Directions, search: Search, progress: Progress
) -> None:
    """Choose where to evaluate next: set the trial point, the mode to start from, and the phase."""
    stay_apart()
    numbers, column = progress.numbers, progress.numbers[NEXT_COLUMN]
    phase, fresh, rounds = numbers[PHASE], numbers[FRESH] == 1, numbers[ROUNDS]
    if phase == SEARCH and fresh:
        copy_into(work.kept, work.u)
    if phase == SEARCH and propose(search, TOLERANCE * 1e-3**rounds, _MAX_STEPS):
        if fresh:
            directions.change[:] = 0.0
            for a in range(len(search.direction)):
                directions.change[a * WIDTH] = search.direction[a]
            push_modes(model, work, directions)
            for c in range(len(work.u)):
                progress.direction[c] = directions.push[c * WIDTH]
        for c in range(len(work.u)):
            work.u[c] = work.kept[c] + search.state[STEP] * progress.direction[c]
        return
    copy_into(search.trial, search.point)
    if phase == COLUMN and column < len(search.point):
        search.trial[column] += progress.steps[column]
        for c in range(len(work.u)):
            work.u[c] = work.kept[c] + progress.pushes[column, c]
        return
    if phase == REPEAT:
        numbers[PHASE] = POLISH
        for a in range(len(search.point)):
            search.trial[a] -= progress.push[a]
        return
    copy_into(work.u, work.kept)
    numbers[ROUNDS] += phase == COLUMN
    if phase == SEARCH:
        numbers[PHASE] = CENTRE
    elif phase == POLISH:  # it made things worse
        numbers[PHASE] = RETURN
    elif _newton_step(model.pattern.routines, progress, search) < 1e-4:
        numbers[PHASE] = POLISH
        numbers[REPEATS] = 0
        fixed = len(search.point) - len(model.tau_row)
        for a in range(len(search.point)):
            search.trial[a] -= progress.push[a]
        for t in range(len(model.tau_row)):
            if model.tau_row[t] == model.tau_column[t] and abs(search.trial[fixed + t]) < _AT_ZERO:
                search.trial[fixed + t] = 0.0
    else:  # the search ended too early: go on, more strictly
        numbers[PHASE] = START if numbers[ROUNDS] < _ROUNDS else RETURN


@inner
def _learn(
    model: Ordinal,
    work: Workspace,
    directions: Directions,
    search: Search,
    progress: Progress,
    f: float,
) -> bool:
    """Take note of N = f at the trial point; return whether the estimation has ended."""
    stay_apart()
    numbers, state, gradient = progress.numbers, search.state, progress.gradient
    phase, column = numbers[PHASE], numbers[NEXT_COLUMN]
    if phase == SEARCH:
        numbers[FRESH] = judge(search, f)
        return False
    if phase in (FIRST_POINT, START):
        if phase == FIRST_POINT and not np.isfinite(f):
            state[REASON], state[BEST] = LOST, np.inf
            return True
        begin(search, f)
        numbers[PHASE], numbers[FRESH] = SEARCH, 1
        return False
    if phase == COLUMN:
        for b in range(len(gradient)):
            slope = search.trial_gradient[b] - gradient[b]
            progress.hessian[column, b] = slope / progress.steps[column]
        if not np.isfinite(f):
            progress.hessian[:] = np.nan
            return True
        numbers[NEXT_COLUMN] += 1
        return False
    if phase == POLISH and not f <= state[BEST] + 1e-9 * (1.0 + abs(state[BEST])):
        return False
    gain = _repeat_step(progress, search) if phase == POLISH else 0.0
    nearer = gain < 0.1 * state[GAIN]  # as it is unless H bends much on so short a way
    if phase == POLISH and numbers[REPEATS] > 0 and not nearer:
        return False
    state[BEST] = f
    copy_into(gradient, search.trial_gradient)
    if phase == CENTRE:
        if not np.isfinite(f):
            return True
        copy_into(work.kept, work.u)
        _plan_columns(model, work, directions, search, progress.steps, progress.pushes)
        numbers[PHASE], numbers[NEXT_COLUMN] = COLUMN, 0
        return False
    copy_into(search.point, search.trial)
    if phase == POLISH and nearer and gain > _ENOUGH and numbers[REPEATS] < _MOST_REPEATS:
        state[GAIN] = gain
        numbers[PHASE] = REPEAT
        numbers[REPEATS] += 1
        return False
    steepest = 0.0
    for b in range(len(gradient)):
        steepest = max(steepest, abs(gradient[b]))
    flat = steepest < _FLAT * max(1.0, 1e-4 * len(model.codes))
    if flat or phase != POLISH or numbers[ROUNDS] == _ROUNDS:
        return True
    begin(search, f)  # a curved valley: go on from here, with the curvature as metric
    numbers[PHASE], numbers[FRESH] = SEARCH, 1
    return False


@part
def _plan_columns(
    model: Ordinal, work: Workspace, directions: Directions, search: Search, steps: Floats, pushes: Floats
) -> None:
    """Choose a step in each parameter, small beside its standard error, and find how the mode follows it.

    Where there is no room for ``pushes`` somebody else fills the columns, and finds that too.
    """
    k = len(steps)
    for a in range(k):
        steps[a] = 1e-4 * min(max(np.sqrt(abs(search.metric[a, a])), 1e-3), 1.0)
    for first in range(0, k if pushes.shape[1] > 0 else 0, WIDTH):
        directions.change[:] = 0.0
        for lane in range(min(WIDTH, k - first)):
            directions.change[(first + lane) * WIDTH + lane] = steps[first + lane]
        push_modes(model, work, directions)
        for lane in range(min(WIDTH, k - first)):
            for c in range(pushes.shape[1]):
                pushes[first + lane, c] = directions.push[c * WIDTH + lane]


@part
def _repeat_step(progress: Progress, search: Search) -> float:
    """Set push to H⁻¹g at the trial point, H as it was; return the gain ½g'H⁻¹g. What is zero stays there."""
    gain = 0.0
    for a in range(len(progress.push)):
        progress.push[a] = 0.0
        for b in range(len(progress.push)):
            progress.push[a] += search.metric[a, b] * search.trial_gradient[b]
        if search.trial[a] == 0.0:
            progress.push[a] = 0.0
        gain += 0.5 * progress.push[a] * search.trial_gradient[a]
    return gain


@part
def _newton_step(routines: Longs, progress: Progress, search: Search) -> float:
    """Make H symmetric; set metric to H⁻¹, push to H⁻¹g, and return ½g'H⁻¹g, or inf if H is not positive."""
    hessian, push, metric = progress.hessian, progress.push, search.metric
    for a in range(len(push)):
        for b in range(a):
            hessian[a, b] = hessian[b, a] = 0.5 * (hessian[a, b] + hessian[b, a])
    factor = hessian.copy()
    copy_into(push, progress.gradient)
    progress.numbers[POSITIVE] = lapack.factor_upper(routines, factor)
    if not progress.numbers[POSITIVE]:
        return np.inf
    gain = 0.5 * lapack.solve_upper(routines, factor, push)
    lapack.invert_upper(routines, factor)
    copy_into(metric.reshape(-1), factor.reshape(-1))
    search.state[GAIN] = gain
    return gain
