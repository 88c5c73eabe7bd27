"""The linear analogue of a model of choices: the same fixed and random part, answers as numbers.

It gives the model of choices its tests with few raters or items (see inference/small_sample.py): standard
errors are multiplied by SE(REML) / SE(ML) of the analogue, and t has its degrees of freedom (Satterthwaite).
There is no intercept: what is common to all outputs shown together cancels.
"""

from dataclasses import dataclass, field

import numpy as np

from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.grouping import Factor
from panelist.models.formulas.matrices import FixedPart, ModelMatrices
from panelist.models.inference.hypotheses import degrees_satterthwaite
from panelist.numerics.arrays import Floats, Longs

LEAST_DEGREES = 1.0


@dataclass(frozen=True, eq=False)
class ChoiceAnalogue:
    """Covariances of β by REML and ML, and what Satterthwaite's degrees of freedom need."""

    reml: Floats = field(repr=False)
    ml: Floats = field(repr=False)
    slopes: Floats = field(repr=False)  # (parameters, p, p) of the covariance by REML
    A: Floats = field(repr=False)  # covariance of those parameters
    fewest: float

    def degrees(self, L: Floats) -> Floats:
        """Return the degrees of freedom of t for each row of contrasts of β."""
        found = degrees_satterthwaite(L, self.reml, self.slopes, self.A)
        return np.maximum(np.where(np.isfinite(found), found, self.fewest), LEAST_DEGREES)

    def ratios(self, L: Floats) -> Floats:
        """Return what multiplies the standard error of each row of contrasts."""
        by_reml, by_ml = (np.einsum("ij,jk,ik->i", L, vcov, L) for vcov in (self.reml, self.ml))
        ratios = np.sqrt(np.divide(by_reml, by_ml, out=np.ones(len(L)), where=by_ml > 0.0))
        return np.asarray(np.maximum(ratios, 1.0), dtype=np.float64)


def fit_analogue(design: ModelMatrices, y: Floats) -> ChoiceAnalogue | None:
    """Return the analogue of a design for answers as numbers; None where it has no usable fit."""
    from panelist.models.solvers.lmm import solve_lmm

    linear = make_matrices(design.formula.text, y, design.X, design.names, design.factors)
    solution, uncertainty = solve_lmm(linear, reml=True)
    by_ml, _ = solve_lmm(linear, reml=False)
    numbers = (solution.vcov, by_ml.vcov, uncertainty.slopes, uncertainty.A)
    if not (solution.optimum.converged and by_ml.optimum.converged):
        return None
    if not all(np.isfinite(one).all() for one in numbers):
        return None
    fewest = float(max(min(len(factor.levels) for factor in design.factors) - 1, 1))
    return ChoiceAnalogue(solution.vcov, by_ml.vcov, uncertainty.slopes, uncertainty.A, fewest)


def make_matrices(
    text: str,
    y: Floats | Longs,
    X: Floats,
    names: tuple[str, ...],
    factors: tuple[Factor, ...],
    categories: tuple[str, ...] = (),
) -> ModelMatrices:
    """Return the matrices of a model that no formula can write: ``text`` says what it is.

    With ``categories``, ``y`` counts in them. Factors come largest first.
    """
    return ModelMatrices(
        parse_formula(text),
        text.partition("~")[0].strip(),
        np.ascontiguousarray(y, dtype=np.float64),
        np.ascontiguousarray(y, dtype=np.int32) if categories else None,
        categories,
        np.ascontiguousarray(X),
        names,
        tuple(sorted(factors, key=lambda factor: -len(factor.levels) * len(factor.columns))),
        np.arange(len(y)),
        FixedPart(text, names, {}, {}, {}, ()),
        (),
    )
