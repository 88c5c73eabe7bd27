"""Search, curvature, polish of a linear mixed model: phases of one loop, as in models/solvers/estimate."""

from typing import NamedTuple

import numpy as np

from panelist.models.arrays import Floats, Longs
from panelist.models.solvers import lapack
from panelist.models.solvers.deviance import Linear, LinearWorkspace, deviance_at, settle, slopes, solve_small
from panelist.models.solvers.kernel import inner, part, stay_apart
from panelist.models.solvers.octets import WIDTH, fma, get, load, store
from panelist.models.solvers.optimise import Search, begin, judge, propose

_MAX_STEPS = 500
AT_ZERO = 1e-6  # diagonal entries of Λ below this are put at zero, where they belong
TOLERANCE = 1e-7  # predicted gain in log-likelihood at which the search hands over to Newton
SEARCH, CENTRE, COLUMN, POLISH, RETURN, DONE = range(6)


class Progress(NamedTuple):
    """How far an estimation has come, and what it has found."""

    here: Floats  # (r,) ∂d/∂θ where the columns of the curvature are taken
    curvature: Floats  # (r + 1, r + 1) the Hessian of the unprofiled deviance over φ = (θ, σ)
    steps: Floats  # (r,) by which each entry is moved for its column
    numbers: Floats  # −log L at the centre, 1/σ² there, the phase
    slopes: Floats  # (r + 1, p, p) ∂(X'H̃⁻¹X)⁻¹/∂θ where the search ends; the last is left to others


def make_progress(r: int, p: int) -> Progress:
    """Return the beginning of an estimation."""
    curvature = np.full((r + 1, r + 1), np.nan)
    return Progress(np.zeros(r), curvature, np.zeros(r), np.zeros(3), np.empty((r + 1, p, p)))


@part
def estimate_deviance(
    model: Linear, work: LinearWorkspace, search: Search, progress: Progress, pausing: bool
) -> float:
    """Minimise −log L from ``search.trial``; return it, settled at ``search.point``, and fill the curvature.

    The curvature is taken where the search ends, and one Newton step goes on from there. Its columns of θ are
    differences of the exact gradient; those of σ have a closed form. If ``pausing``, the estimation returns
    before the columns of θ, in the phase COLUMN, for somebody else to fill them; then call it again.
    """
    r, (n, p) = len(search.point), model.X.shape
    count = n - p if model.reml else n
    here, steps, curvature, push = progress.here, progress.steps, progress.curvature, np.empty(r)
    best, precision, phase = progress.numbers[0], progress.numbers[1], int(progress.numbers[2])
    begun, column, resumed = False, r, phase == COLUMN
    while True:
        value = np.inf
        if resumed:
            value = best
        elif settle(model, search.trial, work):
            value = 0.5 * deviance_at(model, work)
            if phase != COLUMN:
                precision = count / work.scalars[0]
            slopes(model, work, precision, search.trial_gradient)
        elif phase != SEARCH:
            return np.inf

        if phase == SEARCH:
            for t in range(r):
                search.trial_gradient[t] *= 0.5
            accepted = True
            if begun:
                accepted = judge(search, value)
            else:
                begin(search, value)
                begun = True
            if propose(search, TOLERANCE, _MAX_STEPS):
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
                progress.numbers[0], progress.numbers[1], progress.numbers[2] = best, precision, phase
                return best
        elif phase == COLUMN and not resumed:
            for t in range(r):
                curvature[column, t] = (search.trial_gradient[t] - here[t]) / steps[column]
            column += 1
        elif phase == POLISH and not value <= best + 1e-9 * (1.0 + abs(best)):
            phase = RETURN
            lapack.copy_into(search.trial, search.point)
            continue
        elif phase >= POLISH:
            lapack.copy_into(search.point, search.trial)
            for t in range(r):
                search.gradient[t] = 0.5 * search.trial_gradient[t]
            progress.numbers[2] = DONE
            return value

        resumed = False
        lapack.copy_into(search.trial, search.point)
        if column < r:
            search.trial[column] += steps[column]
        elif _newton_step(model.pattern.routines, curvature, here, push) < 1e-4:
            phase = POLISH
            for t in range(r):
                search.trial[t] -= push[t]
                if model.tau_row[t] == model.tau_column[t] and abs(search.trial[t]) < AT_ZERO:
                    search.trial[t] = 0.0
        else:
            phase = RETURN


@inner
def _begin_columns(
    model: Linear, work: LinearWorkspace, search: Search, progress: Progress, precision: float
) -> None:
    """Keep the slopes, choose the steps, and fill the row and column of σ in the curvature."""
    r, (n, p) = len(search.point), model.X.shape
    lapack.copy_into(progress.here, search.trial_gradient)
    pulled_by_fit(model, work, progress.steps)
    for t in range(r):  # ∂²d/∂σ∂θ_t = (4/σ³) e'ZΛ_t u
        progress.curvature[r, t] = progress.curvature[t, r] = 4.0 * precision**1.5 * progress.steps[t]
        progress.steps[t] = 1e-4 * min(max(np.sqrt(abs(search.metric[t, t])), 1e-3), 1.0)
    progress.curvature[r, r] = 4.0 * (n - p if model.reml else n) * precision


@inner
def _newton_step(routines: Longs, curvature: Floats, slope: Floats, push: Floats) -> float:
    """Make the curvature symmetric; set push to the Newton step of the profiled deviance, return its gain."""
    stay_apart()
    r = len(push)
    factor = np.empty((r, r))
    for t in range(r):
        for s in range(t + 1):
            curvature[t, s] = curvature[s, t] = 0.5 * (curvature[t, s] + curvature[s, t])
            factor[s, t] = curvature[t, s] - curvature[r, t] * curvature[r, s] / curvature[r, r]
        push[t] = slope[t]
    if not lapack.factor_upper(routines, factor):
        return np.inf
    return 0.25 * lapack.solve_upper(routines, factor, push)


@inner
def pulled_by_fit(model: Linear, work: LinearWorkspace, out: Floats) -> None:
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
            for t in range(len(out)):
                out[t] += work.e[i] * pattern.Z[i, model.tau_row[t]] * work.u[at[model.tau_column[t]]]


@inner
def covariance_slopes(model: Linear, work: LinearWorkspace, slopes_out: Floats) -> None:
    """Fill ∂(X'H̃⁻¹X)⁻¹/∂θ_t (r, p, p) at the settled point: C₀G'(Λ_tΛ' + ΛΛ_t')GC₀."""
    stay_apart()
    pattern, (n, p), columns, Q, x = model.pattern, model.X.shape, len(work.u), work.Q, work.spread
    start, place, m1, m2 = pattern.start, pattern.place.reshape(-1), pattern.widths[0], pattern.place.shape[1]
    m, dense, Z, r = m1 + m2, (len(start) - 1) * m1, pattern.Z.reshape(-1), len(model.tau_row)
    batches = p // WIDTH + 1
    both = np.zeros(r * p * batches * WIDTH)
    for j in range(len(start) - 1):
        for i in range(start[j], start[j + 1]):
            for t in range(r):
                z, c = get(Z, i * m + get(model.tau_row, t)), get(model.tau_column, t)
                if z == 0.0:
                    continue
                at = j * m1 + c if c < m1 else dense + get(place, i * m2 + c - m1)
                for batch in range(batches):
                    effect = load(x, batch * columns + at) * z
                    for b in range(p):
                        k = (t * p + b) * batches + batch
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
                solve_small(work.R, middle[b])
            for b in range(p):
                for d in range(b):
                    middle[b, d], middle[d, b] = middle[d, b], middle[b, d]
        for b in range(p):
            for d in range(p):
                slopes_out[t, b, d] = middle[b, d]
