"""Estimating a mixed model, ordinal or linear: starts, ends, spreads nearly zero, and the record of it."""

from collections.abc import Callable, Iterator
from math import inf, isfinite, nan
from typing import Any, NamedTuple

import numpy as np

from panelist.models.blocks.pattern import Blocks, Pattern, find_pattern
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.covariance import (
    describe_singular,
    free_entries,
    level_effects,
    split_lambda,
)
from panelist.models.likelihoods.deviance import Linear
from panelist.models.likelihoods.laplace import Ordinal
from panelist.models.search.bfgs import ITERATIONS, REASON, REASONS
from panelist.models.search.phases import TOLERANCE
from panelist.models.solvers.separation import scaled_condition
from panelist.models.solvers.solution import Optimum, Solution
from panelist.numerics.arrays import Floats, Longs

STARTS = (1.0, 0.2, 3.0)  # factors on the starting values of Λ; the first nearly always does
NEARLY_ZERO = 1e-3  # diagonal entries of Λ below this are put at zero, if that costs next to nothing
FREE = 1e-5  # log-likelihood that counts as nothing


class Found(NamedTuple):
    """Where a search ended: −log L, its slopes, and its Hessian, nan where that could not be taken.

    The point is ψ = (α, β, ζ, τ) of an ordinal model. It is θ of a linear one, whose Hessian is that of the
    deviance over (θ, σ).
    """

    value: float
    point: Floats
    gradient: Floats
    hessian: Floats
    state: Floats  # of the search
    finite: bool = True  # whether there are estimates at all
    positive: bool = True  # whether the Hessian bends up in every direction
    slopes: Floats = np.empty(0)  # of a linear model: ∂(X'H̃⁻¹X)⁻¹/∂θ, with a place for σ's

    def converged(self, n: int) -> bool:
        """Whether the slopes vanish, for ``n`` ratings."""
        return self.finite and self.steepest < 1e-3 * max(1.0, 1e-4 * n) and isfinite(self.value)

    @property
    def steepest(self) -> float:
        """The largest absolute slope; nan where one is."""
        slopes = self.gradient.tolist()
        return max(map(abs, slopes)) if all(map(isfinite, slopes)) else nan


def lay_out(design: ModelMatrices) -> tuple[Pattern, Floats, Longs, Longs, Longs]:
    """Return the pattern of a design, X in its order, and rows, columns and slots of the entries of Λ."""
    pattern = find_pattern(design.factors)
    return pattern, np.ascontiguousarray(design.X[pattern.order]), *free_entries(design.factors)


def try_starts(search: Callable[[float], Iterator[Found]], good: Callable[[Found], bool]) -> list[Found]:
    """Return all that was found until something is good: ``search`` gives one or more ends for each start."""
    tried = []
    for scale in STARTS:
        for found in search(scale):
            tried.append(found)
            if good(found):
                return tried
    return tried


def find_small(model: Ordinal | Linear, entries: Floats, below: float) -> list[int]:
    """Return which of τ are spreads below this, and not zero."""
    slots = zip(model.tau_row.tolist(), model.tau_column.tolist(), model.tau_slot.tolist(), strict=True)
    spreads = {slot: float(entries[slot]) for row, column, slot in slots if row == column}
    return [slot for slot, size in spreads.items() if 0.0 < abs(size) < below]


def record_search(
    model: Ordinal | Linear, found: Found, evaluations: int, condition: float | None = None
) -> Optimum:
    """Return the record of a search; the condition is that of its Hessian unless given."""
    if condition is None:
        condition = scaled_condition(found.hessian) if found.finite else inf
    return Optimum(
        method="BFGS with the exact gradient, then Newton",
        converged=found.converged(len(model.X)),
        reason=REASONS[float(found.state[REASON])],
        steps=int(found.state[ITERATIONS]),
        evaluations=evaluations,
        gradient=found.steepest if found.finite else nan,
        condition=condition,
        tolerance=TOLERANCE,
    )


def describe(
    design: ModelMatrices,
    model: Ordinal | Linear,
    found: Found,
    blocks: Blocks,
    u: Floats,
    *,
    evaluations: int,
    condition: float,
    unit: float = 1.0,
    sigma: float = 1.0,
    **estimates: Any,
) -> Solution:
    """Return the solution, with the record of the search; ``unit`` is that of y, and so of the modes."""
    tau = found.point[len(found.point) - 1 - int(model.tau_slot.max(initial=-1)) :]
    lambdas = split_lambda(design.factors, tau)
    singular = describe_singular(design.factors, lambdas)
    modes, deviations = level_effects(design.factors, tau, model.pattern, blocks, u)
    optimum = record_search(model, found, evaluations, condition)
    return Solution(
        sigma=sigma,
        lambdas=lambdas,
        modes=tuple(np.multiply(mode, unit, out=mode) for mode in modes),
        deviations=tuple(np.multiply(deviation, sigma, out=deviation) for deviation in deviations),
        optimum=optimum,
        notes=tuple(singular),
        singular=bool(singular),
        **estimates,
    )
