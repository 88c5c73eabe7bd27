"""The search of a linear mixed model's deviance: a whole one in one call of compiled code, as in ordinal."""

import numpy as np

from panelist.models.blocks.products import count_tau
from panelist.models.likelihoods.deviance import (
    DevianceWorkspace,
    Linear,
    deviance_at,
    settle,
    slopes,
    solve_small,
)
from panelist.models.search.bfgs import Search, begin, judge, propose
from panelist.models.search.deviance_hessian import DevianceLanes, fill_deviance_columns
from panelist.models.search.metric import set_component_metric
from panelist.models.search.phases import (
    CENTRE,
    COLUMN,
    DONE,
    FIRST_POINT,
    MAX_STEPS,
    NEAR,
    ONCE,
    PHASE,
    POLISH,
    PRECISION,
    RETURN,
    SEARCH,
    TOLERANCE,
    VALUE,
    SearchState,
    choose_steps,
    take_newton_step,
)
from panelist.numerics import lapack
from panelist.numerics.arrays import Floats, Longs
from panelist.numerics.kernel import inner, kernel, noinline, part
from panelist.numerics.simd import WIDTH, fma, get, load, store


@kernel
def search_linear(
    model: Linear, work: DevianceWorkspace, lanes: DevianceLanes, search: Search, progress: SearchState
) -> float:
    """Minimise −log L from ``search.trial``; return it, settled at ``search.point``, Hessian filled.

    Where the metric of the search is nan, that of the design is taken.
    """
    if np.isnan(search.metric[0, 0]):
        rows, columns, slots = model.tau_row, model.tau_column, model.tau_slot
        set_component_metric(model.pattern, rows, columns, slots, search.trial, 1.0, search.metric)
    pausing = len(lanes.theta) > 0
    value = np.inf
    for _ in range(2):  # once more where it paused for the columns of the Hessian
        value = estimate_deviance(model, work, search, progress, pausing)
        if progress.marks[PHASE] != COLUMN:
            break
        fill_deviance_columns(model, search.point, progress, lanes)
    covariance_slopes(model, work, progress.slopes)
    return value


@part
def estimate_deviance(
    model: Linear, work: DevianceWorkspace, search: Search, progress: SearchState, pausing: bool
) -> float:
    """Minimise −log L from ``search.trial``; return it, settled at ``search.point``, and fill the Hessian.

    The Hessian, of the unprofiled deviance over φ = (θ, σ), is taken where the search ends, and one Newton
    step continues from there. Its columns of θ are differences of the exact gradient; those of σ have a
    closed form. If ``pausing``, the estimation returns before the columns of θ, in the phase COLUMN, for
    another kernel to fill them; then call it again. In the phase ONCE the trial point is settled, and nothing
    else.
    """
    r, (n, p) = len(search.point), model.X.shape
    count, marks = n - p if model.reml else n, progress.marks
    gradient, steps, hessian, push = progress.gradient, progress.steps, progress.hessian, progress.push
    best, precision, phase = progress.centre[VALUE], progress.centre[PRECISION], marks[PHASE]
    column, resumed = r, phase == COLUMN
    while True:
        value = np.inf
        if resumed:
            value = best
        elif settle(model, search.trial, work):
            value = 0.5 * deviance_at(model, work)
            if phase != COLUMN:
                precision = count / work.scalars[0]
            slopes(model, work, precision, search.trial_gradient)
        elif phase == ONCE or phase > SEARCH:
            return np.inf

        if phase in (FIRST_POINT, SEARCH):
            for t in range(r):
                search.trial_gradient[t] *= 0.5
            accepted = True
            if phase == SEARCH:
                accepted = judge(search, value)
            else:
                begin(search, value)
                phase = SEARCH
            if propose(search, TOLERANCE, MAX_STEPS):
                continue
            lapack.copy_into(search.trial, search.point)
            phase = CENTRE
            if not accepted:
                continue
            for t in range(r):
                search.trial_gradient[t] = 2.0 * search.gradient[t]
        if phase == CENTRE:
            best = value
            _begin_columns(model, work, search, progress, precision)
            phase, column = COLUMN, 0
            if pausing:
                progress.centre[VALUE], progress.centre[PRECISION], marks[PHASE] = best, precision, phase
                return best
        elif phase == COLUMN and not resumed:
            for t in range(r):
                hessian[column, t] = (search.trial_gradient[t] - gradient[t]) / steps[column]
            column += 1
        elif phase == POLISH and not value <= best + 1e-9 * (1.0 + abs(best)):
            phase = RETURN
            lapack.copy_into(search.trial, search.point)
            continue
        elif phase == ONCE or phase >= POLISH:
            lapack.copy_into(search.point, search.trial)
            for t in range(r):
                search.gradient[t] = 0.5 * search.trial_gradient[t]
            marks[PHASE] = DONE
            return value

        resumed = False
        lapack.copy_into(search.trial, search.point)
        if column < r:
            search.trial[column] += steps[column]
        elif _newton_step(model.pattern.routines, hessian, gradient, push) < NEAR:
            phase = POLISH
            take_newton_step(search, push, model.tau_row, model.tau_column, model.tau_slot)
        else:
            phase = RETURN


@inner
def _begin_columns(
    model: Linear, work: DevianceWorkspace, search: Search, progress: SearchState, precision: float
) -> None:
    """Keep the slopes, choose the steps, and fill the row and column of σ in the Hessian."""
    r, (n, p) = len(search.point), model.X.shape
    lapack.copy_into(progress.gradient, search.trial_gradient)
    pulled_by_fit(model, work, progress.steps)
    for t in range(r):  # ∂²d/∂σ∂θ_t = (4/σ³) e'ZΛ_t u
        progress.hessian[r, t] = progress.hessian[t, r] = 4.0 * precision**1.5 * progress.steps[t]
    choose_steps(search, progress.steps)
    progress.hessian[r, r] = 4.0 * (n - p if model.reml else n) * precision


@inner
def _newton_step(routines: Longs, hessian: Floats, slope: Floats, push: Floats) -> float:
    """Make the Hessian symmetric; set push to the Newton step of the profiled deviance, return its gain."""
    noinline()
    r = len(push)
    factor = np.empty((r, r))
    for t in range(r):
        for s in range(t + 1):
            hessian[t, s] = hessian[s, t] = 0.5 * (hessian[t, s] + hessian[s, t])
            factor[s, t] = hessian[t, s] - hessian[r, t] * hessian[r, s] / hessian[r, r]
        push[t] = slope[t]
    if not lapack.factor_upper(routines, factor):
        return np.inf
    return 0.25 * lapack.solve_upper(routines, factor, push)


@inner
def pulled_by_fit(model: Linear, work: DevianceWorkspace, out: Floats) -> None:
    """Fill e'ZΛ_t u for each entry of θ at the settled point."""
    pattern = model.pattern
    start, place, m1 = pattern.start, pattern.place, pattern.widths[0]
    m, dense = work.V.shape[1], (len(start) - 1) * m1
    at = np.empty(m, dtype=np.int64)
    out[:] = 0.0
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            for c in range(m):
                at[c] = j * m1 + c if c < m1 else dense + place[i, c - m1]
            for t in range(len(model.tau_row)):
                pull = work.e[i] * pattern.Z[i, model.tau_row[t]] * work.u[at[model.tau_column[t]]]
                out[model.tau_slot[t]] += pull


@inner
def covariance_slopes(model: Linear, work: DevianceWorkspace, slopes_out: Floats) -> None:
    """Fill ∂(X'H̃⁻¹X)⁻¹/∂θ_t (r, p, p) at the settled point: C₀G'(Λ_tΛ' + ΛΛ_t')GC₀."""
    noinline()
    pattern, (n, p), columns, x = model.pattern, model.X.shape, len(work.u), work.HVXY
    start, place, m1, m2 = pattern.start, pattern.place.reshape(-1), pattern.widths[0], pattern.place.shape[1]
    m, dense, Z, slots = m1 + m2, (len(start) - 1) * m1, pattern.Z.reshape(-1), model.tau_slot
    r = count_tau(slots)
    batches, Q, R = p // WIDTH + 1, work.Q.reshape(-1), work.R.reshape(-1)
    both = np.zeros(r * p * batches * WIDTH)
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            for t in range(len(model.tau_row)):
                z, c = get(Z, i * m + get(model.tau_row, t)), get(model.tau_column, t)
                if z == 0.0:
                    continue
                at = j * m1 + c if c < m1 else dense + get(place, i * m2 + c - m1)
                for batch in range(batches):
                    effect = load(x, batch * columns + at) * z
                    for b in range(p):
                        k = (get(slots, t) * p + b) * batches + batch
                        share = get(Q, (b // WIDTH * n + i) * WIDTH + b % WIDTH)
                        store(both, k, fma(effect, share, load(both, k)))
    middle = np.empty((p, p))
    for t in range(r):
        for b in range(p):
            for d in range(p):
                middle[b, d] = get(both, (t * p + b) * batches * WIDTH + d)
                middle[b, d] += get(both, (t * p + d) * batches * WIDTH + b)
        for _ in range(2):  # C₀ from the right, then, since it is symmetric, from the left
            for b in range(p):
                solve_small(R, middle[b], 0, p)
            for b in range(p):
                for d in range(b):
                    middle[b, d], middle[d, b] = middle[d, b], middle[b, d]
        for b in range(p):
            for d in range(p):
                slopes_out[t, b, d] = middle[b, d]
