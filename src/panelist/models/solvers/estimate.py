"""Search, curvature, polish: one loop around one evaluation of the Laplace likelihood.

It is written as phases of a single loop because numba optimises a function anew inside every function that
calls it: one call of ``evaluate`` in one place keeps the first fit of a fresh installation short.
"""

import numpy as np

from panelist.models.arrays import Floats, Longs
from panelist.models.solvers import lapack
from panelist.models.solvers.kernel import kernel
from panelist.models.solvers.lapack import copy_into
from panelist.models.solvers.laplace import FINAL, FIRST, TRUSTED, Ordinal, Workspace, evaluate, push_mode
from panelist.models.solvers.optimise import SLOPE, STEP, Search, begin, judge, propose

TOLERANCE = 1e-7  # predicted gain in log-likelihood at which the search hands over to Newton
_MAX_STEPS = 500
_ROUNDS = 3
_FLAT = 1e-5  # largest slope of an optimum, for up to 10,000 ratings
_SLACK = 5e-3  # of the predicted gain, left in the mode while searching

_START, _SEARCH, _CENTRE, _COLUMN, _POLISH, _RETURN = range(6)


@kernel
def estimate(
    model: Ordinal, work: Workspace, search: Search, first: float, gradient: Floats, hessian: Floats
) -> float:
    """Minimise N from ``search.trial``; return N at ``search.point``, and fill gradient and Hessian there.

    ``first`` is N at the trial point, which has just been evaluated. The Hessian comes from differences of
    the exact gradient, the mode following each by its tangent; it is taken where the search ends, and one
    Newton step goes on from there.
    """
    k = len(search.point)
    steps, push = np.empty(k), np.empty(k)
    direction, pushes = np.zeros(len(work.u)), np.zeros((k, len(work.u)))
    phase, fresh, column, rounds, value, f = _START, True, 0, 0, np.inf, first
    while True:
        # What was learnt
        if phase == _START:
            begin(search, f)
            phase, fresh = _SEARCH, True
        elif phase == _SEARCH:
            fresh = judge(search, f)
        elif phase == _CENTRE:
            value = f
            copy_into(gradient, search.trial_gradient)
            if not np.isfinite(f):
                return value
            copy_into(work.kept, work.u)
            _plan_columns(model, work, search, steps, pushes)
            phase, column = _COLUMN, 0
        elif phase == _COLUMN:
            for b in range(k):
                hessian[column, b] = (search.trial_gradient[b] - gradient[b]) / steps[column]
            if not np.isfinite(f):
                hessian[:] = np.nan
                return value
            column += 1
        elif phase == _RETURN or f <= value + 1e-9 * (1.0 + abs(value)):
            copy_into(search.point, search.trial)
            copy_into(gradient, search.trial_gradient)
            flat = np.abs(gradient).max() < _FLAT * max(1.0, 1e-4 * len(model.codes))
            if flat or phase == _RETURN or rounds == _ROUNDS:
                return f
            begin(search, f)  # a curved valley: go on from here, with the curvature as metric
            phase, fresh = _SEARCH, True

        # Where to look next
        if phase == _SEARCH and fresh:
            copy_into(work.kept, work.u)
        if phase == _SEARCH and propose(search, TOLERANCE * 1e-3**rounds, _MAX_STEPS):
            if fresh:
                push_mode(model, search.direction, work)
                copy_into(direction, work.push)
            for c in range(len(direction)):
                work.u[c] = work.kept[c] + search.state[STEP] * direction[c]
        elif phase == _COLUMN and column < k:
            copy_into(search.trial, search.point)
            search.trial[column] += steps[column]
            for c in range(len(direction)):
                work.u[c] = work.kept[c] + pushes[column, c]
        else:
            copy_into(search.trial, search.point)
            copy_into(work.u, work.kept)
            rounds += phase == _COLUMN
            if phase == _SEARCH:
                phase = _CENTRE
            elif phase == _POLISH:  # it made things worse
                phase = _RETURN
            elif _newton_step(model.pattern.routines, hessian, gradient, push, search.metric) < 1e-4:
                phase = _POLISH
                copy_into(search.trial, search.point - push)
            else:  # the search ended too early: go on, more strictly
                phase = _START if rounds < _ROUNDS else _RETURN

        # In the first round the mode need only be good enough for the step in hand.
        early = phase == _SEARCH and rounds == 0
        accuracy = min(max(-_SLACK * search.state[SLOPE], 1e-10), FIRST) if early else FINAL
        accuracy = TRUSTED if phase == _COLUMN else accuracy
        f = evaluate(model, search.trial, work, search.trial_gradient, accuracy)


@kernel
def _plan_columns(model: Ordinal, work: Workspace, search: Search, steps: Floats, pushes: Floats) -> None:
    """Choose a step in each parameter, small beside its standard error, and find how the mode follows it."""
    for a in range(len(steps)):
        steps[a] = 1e-4 * min(max(np.sqrt(abs(search.metric[a, a])), 1e-3), 1.0)
        search.direction[:] = 0.0
        search.direction[a] = steps[a]
        push_mode(model, search.direction, work)
        copy_into(pushes[a], work.push)


@kernel
def _newton_step(routines: Longs, hessian: Floats, gradient: Floats, push: Floats, metric: Floats) -> float:
    """Make H symmetric; set metric to H⁻¹, push to H⁻¹g, and return ½g'H⁻¹g, or inf if H is not positive."""
    for a in range(len(gradient)):
        for b in range(a):
            hessian[a, b] = hessian[b, a] = 0.5 * (hessian[a, b] + hessian[b, a])
    factor = hessian.copy()
    copy_into(push, gradient)
    if not lapack.cholesky(routines, factor):
        return np.inf
    lapack.solve_triangle(routines, factor, push, False)
    gain = 0.5 * (push * push).sum()
    lapack.solve_triangle(routines, factor, push, True)
    lapack.invert_from_cholesky(routines, factor)
    copy_into(metric, factor)
    return float(gain)
