"""Parametric bootstrap: the model refitted to ratings drawn from it."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from panelist.core.errors import BadModel
from panelist.core.progress import OnProgress, Progress
from panelist.core.seeds import stream
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.cells import find_cells
from panelist.models.likelihoods.thresholds import make_thresholds
from panelist.models.predictions.draw import simulate_codes, simulate_numbers
from panelist.models.solvers.solution import Solution
from panelist.numerics.arrays import Floats, Ints
from panelist.numerics.blas_threads import single_threaded_blas

if TYPE_CHECKING:
    from panelist.models.inference.intervals import Parameter
    from panelist.models.results.fitted import Fit

_MOST_FAILED = 0.1  # share of refits beyond which the intervals say little


def bootstrap_parameters(
    fit: "Fit",
    parameters: Sequence["Parameter"],
    n: int,
    seed: int,
    workers: int,
    on_progress: OnProgress | None = None,
) -> tuple[Floats, list[str]]:
    """Return the parameters in n refits, one row for each that converged, and what happened on the way.

    The k-th set of ratings depends on ``seed`` and k alone, so neither the number of threads nor the order
    in which they finish changes the answer.
    """
    if n < 2:
        raise BadModel(f"A bootstrap needs 2 sets of ratings or more, 500 for an interval. Got n={n}.")
    draws: list[Floats] = []
    failed = singular = short = 0

    def refit(k: int) -> tuple[Solution | None, bool]:
        return refit_once(fit, stream(seed, "bootstrap", k))

    with single_threaded_blas(0), ThreadPoolExecutor(workers) as pool:
        for done, (solution, lost) in enumerate(pool.map(refit, range(n)), start=1):
            if solution is None:
                failed += 1
            else:
                draws.append(np.array([_value(fit, solution, p) for p in parameters]))
                singular += solution.singular
                short += lost
            if on_progress is not None:
                on_progress(Progress(done, n, "refits"))
    notes = [f"{n} sets of ratings were drawn from the model and refitted, with seed {seed}"]
    if failed:
        notes.append(f"{failed} of {n} refits failed and are left out")
    if failed > _MOST_FAILED * n:
        notes[-1] += "; that is too many for the intervals to be trusted: simplify the model"
    if singular:
        notes.append(f"{singular} of {n} refits were singular and are kept")
    if short:
        notes.append(
            f"in {short} of {n} sets a category did not occur; their thresholds there are equal or infinite"
        )
    return np.array(draws).reshape(len(draws), len(parameters)), notes


def refit_once(fit: "Fit", rng: np.random.Generator) -> tuple[Solution | None, bool]:
    """Return the solution for one drawn set, None where it failed, and whether a category did not occur."""
    if not fit.ordinal:
        return _checked(solve_again(fit, replace(fit.design, y=simulate_numbers(fit, rng)))), False
    return refit_codes(fit, simulate_codes(fit, rng))


def refit_codes(fit: "Fit", codes: Ints) -> tuple[Solution | None, bool]:
    """Return the solution for other ratings, None where it failed, and whether a category did not occur."""
    assert fit.structure is not None
    used, packed = np.unique(codes, return_inverse=True)
    design = replace(fit.design, codes=codes)
    if fit.design.nominal is not None:
        same = np.array_equal(find_cells(design, fit.structure).kept, fit.cells.kept)
        if len(used) < len(fit.design.categories) or not same:  # other parameters than those of the fit
            return None, True
    if len(used) == len(fit.design.categories):
        return _checked(solve_again(fit, design)), False
    if len(used) < 2 or fit.structure.kind != "flexible" or fit.family == "adjacent":
        return None, True
    categories = tuple(fit.design.categories[k] for k in used)
    design = replace(fit.design, codes=packed.astype(np.int32), categories=categories)
    small = replace(fit, structure=make_thresholds("flexible", categories, str(fit.family)))
    solution = _checked(solve_again(small, design))
    if solution is None:
        return None, True
    alpha = _spread(solution.alpha, used, len(fit.design.categories))
    return replace(solution, alpha=alpha), True


def solve_again(fit: "Fit", design: ModelMatrices) -> Solution | None:
    """Return the estimates of the same model for another design; None where there are none."""
    try:
        if fit.model == "lm":
            from panelist.models.solvers.lm import solve_lm

            return solve_lm(design)
        if fit.model == "lmm":
            from panelist.models.solvers.lmm import solve_lmm

            return solve_lmm(design, fit.method == "REML")[0]
        assert fit.link is not None
        assert fit.structure is not None
        if fit.model == "clm":
            from panelist.models.solvers.clm import solve_clm

            return solve_clm(design, fit.link, fit.structure, fit.solution.penalty)
        if design.stretch is not None:
            from panelist.models.solvers.random_spread import solve_random_spread

            return solve_random_spread(design, fit.link, fit.structure)
        if fit.method == "Laplace":
            from panelist.models.solvers.clmm import solve_clmm

            return solve_clmm(design, fit.link, fit.structure, fit.solution.penalty)
        from panelist.models.solvers.quadrature import solve_by_quadrature

        return solve_by_quadrature(design, fit.link, fit.structure, fit.solution.points)
    except np.linalg.LinAlgError:  # a drawn set without a fit; it is counted
        return None


def _checked(solution: Solution | None) -> Solution | None:
    """Return the solution if it converged."""
    if solution is None or solution.optimum is None:
        return None
    return solution if solution.optimum.converged and np.isfinite(solution.beta).all() else None


def _spread(alpha: Floats, used: Ints, count: int) -> Floats:
    """Return the thresholds of all categories from those between the categories that occurred.

    The likelihood is highest with the thresholds around a missing category equal, or at infinity.
    """
    full = np.empty(count - 1)
    for k in range(count - 1):
        below = int(np.searchsorted(used, k, side="right"))  # categories that occurred up to k
        full[k] = -np.inf if below == 0 else np.inf if below == len(used) else alpha[below - 1]
    return full


def _value(fit: "Fit", solution: Solution, parameter: "Parameter") -> float:
    if parameter.kind == "threshold":
        return float(solution.alpha[parameter.place])
    if parameter.kind == "effect":
        return float(solution.beta[parameter.place])
    if parameter.kind == "scale":
        return float(solution.zeta[parameter.place])
    if parameter.kind == "stretch":
        return solution.omega
    if parameter.kind == "residual":
        return solution.sigma
    which = next(k for k, factor in enumerate(fit.design.factors) if factor.name == parameter.group)
    return solution.sigma * float(np.linalg.norm(solution.lambdas[which][parameter.place]))
