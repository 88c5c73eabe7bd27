"""What a fitted model says about each system's ratings in general: averaged over raters, items and
covariates.

Other fixed effects are averaged over as they occur in the data, with every row given to each system in turn;
raters and items over their estimated normal distributions. So the probabilities are those of a rating by a
new rater of a new item.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from panelist.analysis.systems.comparison import CriterionComparison
from panelist.core.errors import BadModel
from panelist.models.predictions.new_rows import DesignRows, read_rows
from panelist.models.predictions.predict import row_probabilities
from panelist.numerics.arrays import Floats, Longs

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit

MOST_ROWS = 20_000
FARTHEST = 50.0  # latent units: what lies beyond is at the end of the scale


@dataclass(frozen=True, eq=False)
class MarginalGrid:
    """The rows to average over, several for each system where there are covariates.

    ``variance`` is that of the effects of a new rater and item about each row.
    """

    systems: tuple[str, ...]
    system: Longs
    rows: DesignRows
    variance: Floats
    weight: Floats

    @property
    def X(self) -> Floats:
        """The fixed part of each row."""
        return self.rows.X

    def average(self, values: Floats) -> Floats:
        """Return the weighted average of the rows of each system."""
        total = np.zeros((len(self.systems), *values.shape[1:]))
        np.add.at(total, self.system, values * self.weight.reshape(-1, *[1] * (values.ndim - 1)))
        return total

    def only(self, systems: Sequence[str]) -> "MarginalGrid":
        """Return the rows of these systems, in this order."""
        rows = [np.flatnonzero(self.system == self.systems.index(name)) for name in systems]
        every = np.concatenate(rows)
        system = np.repeat(np.arange(len(systems)), [len(one) for one in rows])
        return MarginalGrid(
            tuple(systems), system, pick_rows(self.rows, every), self.variance[every], self.weight[every]
        )


def make_grid(fit: "Fit", term: str = "system") -> MarginalGrid:
    """Return the rows over which a fitted model is averaged."""
    fixed = fit.design.fixed
    needed = {name for factor in fit.design.factors if factor.recipe for name in factor.recipe.variables}
    if lacking := sorted(needed - set(fixed.variables)):
        raise BadModel(
            f"No average over {lacking[0]!r}: it is in a random term and not among the fixed effects. "
            "Add it to the fixed part of the formula."
        )
    others = fixed.data.drop(columns=term)
    if len(others.columns):
        cells = others.value_counts(sort=False).reset_index(name="count")
    else:
        cells = pd.DataFrame({"count": [len(others)]})
    levels = fixed.levels[term]
    if len(cells) * len(levels) > MOST_ROWS:
        raise BadModel(f"No average over {len(cells):,} different values of {', '.join(others.columns)}.")
    frame = pd.concat([cells.assign(**{term: name}) for name in levels], ignore_index=True)
    rows = read_rows(fit.design, frame, levels=False, slopes=True)
    variance = np.zeros(len(frame))
    for group in rows.groups:
        variance += np.einsum("ij,ij->i", group.Z @ fit.variance_components[group.factor.name], group.Z)
    weight = np.tile(cells["count"].to_numpy(dtype=float) / cells["count"].sum(), len(levels))
    return MarginalGrid(tuple(levels), np.repeat(np.arange(len(levels)), len(cells)), rows, variance, weight)


def estimate_marginal(
    fit: "Fit", grid: MarginalGrid, shifts: Mapping[str, float] | None = None, params: Floats | None = None
) -> Floats:
    """Return P(category | system), systems × categories; ``shifts`` move systems on the latent scale.

    ``params`` are those of thresholds, location and spread to use in place of the estimates.
    """
    assert fit.link is not None, "only ordinal models have categories"
    at = fit if params is None else move_fit(fit, params)
    moved = np.array([(shifts or {}).get(name, 0.0) for name in grid.systems])
    eta = grid.X @ at.beta + np.clip(moved, -FARTHEST, FARTHEST)[grid.system]
    return grid.average(row_probabilities(at, grid.rows, eta, grid.variance))


def list_params(fit: "Fit") -> tuple[Floats, Floats]:
    """Return the parameters of thresholds, location and spread, and their covariance."""
    found = fit.solution
    psi = np.concatenate([found.alpha, found.beta, found.zeta])
    return psi, np.asarray(found.joint_vcov)[: len(psi), : len(psi)]


def move_fit(fit: "Fit", psi: Floats) -> "Fit":
    """Return a fit with other parameters of thresholds, location and spread."""
    s, p = len(fit.solution.alpha), len(fit.solution.beta)
    moved = replace(fit.solution, alpha=psi[:s], beta=psi[s : s + p], zeta=psi[s + p :])
    return replace(fit, solution=moved)


def pick_rows(rows: DesignRows, places: Longs) -> DesignRows:
    """Return some of the rows, without their groups."""
    nominal, scale = (None if side is None else side[places] for side in (rows.nominal, rows.scale))
    stretch = None if rows.stretch is None else rows.stretch[places]
    return DesignRows(rows.X[places], (), rows.labels[places], nominal, scale, stretch)


def find_term(comparison: CriterionComparison) -> str:
    """Return the name of the system in the formula of a comparison."""
    names = {one.system for one in comparison.systems}
    levels = comparison.fit.design.fixed.levels
    return next(str(term) for term, known in levels.items() if set(known) == names)
