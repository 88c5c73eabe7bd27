"""The search of the Laplace likelihood: a whole one in one call of compiled code.

Estimation, first metric and columns of the Hessian are kernels of their own; going back to Python between
them would cost a tenth of a small fit, and hold the interpreter's lock against fits in other threads.
"""

import numpy as np

from panelist.models.likelihoods.laplace import FINAL, FIRST, TRUSTED, LaplaceWorkspace, Ordinal, evaluate
from panelist.models.likelihoods.priors import add_penalty, correct_columns
from panelist.models.likelihoods.tangent import Directions, push_modes
from panelist.models.search.bfgs import BEST, GAIN, LOST, REASON, SLOPE, STEP, Search, begin, judge, propose
from panelist.models.search.laplace_hessian import LaplaceLanes, fill_columns
from panelist.models.search.metric import set_component_metric, set_fixed_metric
from panelist.models.search.phases import (
    CENTRE,
    COLUMN,
    DONE,
    FIRST_POINT,
    FRESH,
    MAX_STEPS,
    NEAR,
    NEXT_COLUMN,
    PHASE,
    POLISH,
    POSITIVE,
    REPEAT,
    REPEATS,
    RETURN,
    ROUNDS,
    SEARCH,
    START,
    TOLERANCE,
    SearchState,
    choose_steps,
    take_newton_step,
)
from panelist.numerics import lapack
from panelist.numerics.arrays import Floats, Longs
from panelist.numerics.kernel import inner, kernel, noinline, part
from panelist.numerics.lapack import copy_into
from panelist.numerics.simd import WIDTH

_ROUNDS = 3
_FLAT = 1e-5  # largest slope of an optimum, for up to 10,000 ratings
_ENOUGH = 1e-12  # predicted gain of another Newton step below which the point is the optimum
_MOST_REPEATS = 5  # of the Newton step, with the same Hessian
_SLACK = 5e-3  # of the predicted gain, left in the mode while searching


@kernel
def search_ordinal(
    model: Ordinal,
    work: LaplaceWorkspace,
    directions: Directions,
    lanes: LaplaceLanes,
    search: Search,
    progress: SearchState,
    weight: float,
) -> float:
    """Minimise N from ``search.trial``; return it at ``search.point``, gradient and Hessian filled.

    With a prior all three are those of N − log π. ``weight`` is about the information in a rating, for a
    first metric of τ. The Hessian has a nan where it could not be taken, and the search ends there.
    """
    if progress.marks[PHASE] == FIRST_POINT:
        rows, columns, slots = model.tau_row, model.tau_column, model.tau_slot
        set_component_metric(model.pattern, rows, columns, slots, search.trial, weight, search.metric)
    pausing = len(lanes.psi) > 0
    while True:
        value = estimate(model, work, directions, search, progress, pausing)
        if progress.marks[PHASE] == SEARCH:
            set_fixed_metric(model, work, directions, search.metric)
            continue
        if progress.marks[PHASE] == DONE or not np.isfinite(value):
            return value
        fill_columns(model, work, search.point, progress, directions, lanes)
        correct_columns(model.penalty, search.point, progress.steps, progress.hessian)
        for number in progress.hessian.flat:
            if not np.isfinite(number):
                return value


@part
def estimate(
    model: Ordinal,
    work: LaplaceWorkspace,
    directions: Directions,
    search: Search,
    progress: SearchState,
    pausing: bool,
) -> float:
    """Minimise N from ``search.trial``; return N at ``search.point``, and fill gradient and Hessian there.

    The Hessian comes from differences of the exact gradient, the mode following each by its tangent; it is
    taken where the search ends, and one Newton step continues from there. The estimation returns to its
    caller after the first point, in the phase SEARCH, for a metric to search with; and if ``pausing`` before
    the columns of the Hessian, in the phase COLUMN, for another kernel to fill them. Then call it again. In
    the phase ONCE N and its gradient are found at the trial point, from the mode that the workspace has.
    """
    marks = progress.marks
    if marks[PHASE] == FIRST_POINT:
        work.u[:] = 0.0
        work.counts[2] = 0
    nothing = np.empty((0, 0))
    while True:
        if marks[PHASE] >= SEARCH:
            _look(model, work, directions, search, progress)
        # In the first round the mode need only be good enough for the step in hand.
        phase, accuracy = marks[PHASE], FINAL
        if phase == FIRST_POINT:
            accuracy = FIRST
        elif phase == COLUMN:
            accuracy = TRUSTED
        elif phase == SEARCH and marks[ROUNDS] == 0:
            accuracy = min(max(-_SLACK * search.state[SLOPE], 1e-10), FIRST)
        f = evaluate(model, search.trial, work, search.trial_gradient, accuracy)
        f += add_penalty(model.penalty, search.trial, search.trial_gradient, nothing)
        if _learn(model, work, directions, search, progress, f):
            marks[PHASE] = DONE
            return float(search.state[BEST])
        if phase == FIRST_POINT or (phase == CENTRE and pausing):
            marks[NEXT_COLUMN] = len(search.point)
            return f


@inner
def _look(
    model: Ordinal, work: LaplaceWorkspace, directions: Directions, search: Search, progress: SearchState
) -> None:
    """Choose where to evaluate next: set the trial point, the mode to start from, and the phase."""
    noinline()
    marks, column = progress.marks, progress.marks[NEXT_COLUMN]
    phase, fresh, rounds = marks[PHASE], marks[FRESH] == 1, marks[ROUNDS]
    if phase == SEARCH and fresh:
        copy_into(work.kept, work.u)
    if phase == SEARCH and propose(search, TOLERANCE * 1e-3**rounds, MAX_STEPS):
        if fresh:
            directions.change[:] = 0.0
            for a in range(len(search.direction)):
                directions.change[a, 0] = search.direction[a]
            push_modes(model, work, directions)
            for c in range(len(work.u)):
                progress.direction[c] = directions.push[c, 0]
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
        marks[PHASE] = POLISH
        for a in range(len(search.point)):
            search.trial[a] -= progress.push[a]
        return
    copy_into(work.u, work.kept)
    marks[ROUNDS] += phase == COLUMN
    if phase == SEARCH:
        marks[PHASE] = CENTRE
    elif phase == POLISH:  # it made things worse
        marks[PHASE] = RETURN
    elif _newton_step(model.pattern.routines, progress, search) < NEAR:
        marks[PHASE], marks[REPEATS] = POLISH, 0
        take_newton_step(search, progress.push, model.tau_row, model.tau_column, model.tau_slot)
    else:  # the search ended too early: continue, more strictly
        marks[PHASE] = START if marks[ROUNDS] < _ROUNDS else RETURN


@inner
def _learn(
    model: Ordinal,
    work: LaplaceWorkspace,
    directions: Directions,
    search: Search,
    progress: SearchState,
    f: float,
) -> bool:
    """Record N = f at the trial point; return whether the estimation has ended."""
    noinline()
    marks, state, gradient = progress.marks, search.state, progress.gradient
    phase, column = marks[PHASE], marks[NEXT_COLUMN]
    if phase == SEARCH:
        marks[FRESH] = judge(search, f)
        return False
    if phase in (FIRST_POINT, START):
        if phase == FIRST_POINT and not np.isfinite(f):
            state[REASON], state[BEST] = LOST, np.inf
            return True
        begin(search, f)
        marks[PHASE], marks[FRESH] = SEARCH, 1
        return False
    if phase == COLUMN:
        for b in range(len(gradient)):
            slope = search.trial_gradient[b] - gradient[b]
            progress.hessian[column, b] = slope / progress.steps[column]
        if not np.isfinite(f):
            progress.hessian[:] = np.nan
            return True
        marks[NEXT_COLUMN] += 1
        return False
    if phase == POLISH and not f <= state[BEST] + 1e-9 * (1.0 + abs(state[BEST])):
        return False
    gain = _repeat_step(progress, search) if phase == POLISH else 0.0
    nearer = gain < 0.1 * state[GAIN]  # as it is unless H bends much on so short a way
    if phase == POLISH and marks[REPEATS] > 0 and not nearer:
        return False
    state[BEST] = f
    copy_into(gradient, search.trial_gradient)
    if phase == CENTRE:
        if not np.isfinite(f):
            return True
        copy_into(work.kept, work.u)
        _plan_columns(model, work, directions, search, progress.steps, progress.pushes)
        marks[PHASE], marks[NEXT_COLUMN] = COLUMN, 0
        return False
    copy_into(search.point, search.trial)
    if phase == POLISH and nearer and gain > _ENOUGH and marks[REPEATS] < _MOST_REPEATS:
        state[GAIN] = gain
        marks[PHASE] = REPEAT
        marks[REPEATS] += 1
        return False
    steepest = 0.0
    for b in range(len(gradient)):
        steepest = max(steepest, abs(gradient[b]))
    flat = steepest < _FLAT * max(1.0, 1e-4 * len(model.upper))
    if flat or phase != POLISH or marks[ROUNDS] == _ROUNDS:
        return True
    begin(search, f)  # a curved valley: continue from here, with the curvature as metric
    marks[PHASE], marks[FRESH] = SEARCH, 1
    return False


@part
def _plan_columns(
    model: Ordinal,
    work: LaplaceWorkspace,
    directions: Directions,
    search: Search,
    steps: Floats,
    pushes: Floats,
) -> None:
    """Choose a step in each parameter, small compared with its standard error, and find how the mode follows
    it.

    Where ``pushes`` is empty another kernel fills the columns, and finds that too.
    """
    k = len(steps)
    choose_steps(search, steps)
    for first in range(0, k if pushes.shape[1] > 0 else 0, WIDTH):
        directions.change[:] = 0.0
        for lane in range(min(WIDTH, k - first)):
            directions.change[first + lane, lane] = steps[first + lane]
        push_modes(model, work, directions)
        for lane in range(min(WIDTH, k - first)):
            for c in range(pushes.shape[1]):
                pushes[first + lane, c] = directions.push[c, lane]


@part
def _repeat_step(progress: SearchState, search: Search) -> float:
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
def _newton_step(routines: Longs, progress: SearchState, search: Search) -> float:
    """Make H symmetric; set metric to H⁻¹, push to H⁻¹g, and return ½g'H⁻¹g, or inf if H is not positive."""
    hessian, push, metric = progress.hessian, progress.push, search.metric
    for a in range(len(push)):
        for b in range(a):
            hessian[a, b] = hessian[b, a] = 0.5 * (hessian[a, b] + hessian[b, a])
    factor = hessian.copy()
    copy_into(push, progress.gradient)
    progress.marks[POSITIVE] = lapack.factor_upper(routines, factor)
    if not progress.marks[POSITIVE]:
        return np.inf
    gain = 0.5 * lapack.solve_upper(routines, factor, push)
    lapack.invert_upper(routines, factor)
    copy_into(metric.reshape(-1), factor.reshape(-1))
    search.state[GAIN] = gain
    return gain
