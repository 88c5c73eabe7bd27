"""The part of a fit that only ordinal models have: thresholds, spreads and families."""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from panelist.core.errors import BadModel
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.cells import Cells, find_cells
from panelist.models.likelihoods.thresholds import Thresholds
from panelist.models.results.fit_tables import Inference
from panelist.models.solvers.solution import Solution
from panelist.numerics.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd


class OrdinalParts(Inference):
    """What a fit knows about its categories; a linear model has none of it."""

    design: ModelMatrices
    solution: Solution
    structure: Thresholds | None
    uncertainty: object

    @property
    def family(self) -> str | None:
        """How the categories of an ordinal model follow from η: cumulative, sequential or adjacent."""
        return self.structure.family if self.structure is not None else None

    @property
    def is_plain(self) -> bool:
        """Whether one latent scale with one set of thresholds and one spread holds for all ratings."""
        sides = self.design.nominal, self.design.scale, self.design.stretch
        return self.family in (None, "cumulative") and sides == (None, None, None)

    @property
    def has_latent_differences(self) -> bool:
        """Whether systems differ by one number on a latent scale, or are linear: else points compare them."""
        return self.family in (None, "cumulative") and self.design.nominal is None

    # Thresholds and fixed effects together, as contrasts need them

    @cached_property
    def cells(self) -> Cells:
        """The cells of an ordinal model: one, unless it has nominal effects."""
        assert self.structure is not None
        return find_cells(self.design, self.structure)

    @property
    def threshold_values(self) -> Floats:
        """The thresholds t = Jα themselves, whatever their structure; nominal effects have none in common."""
        if self.structure is None:
            return np.empty(0)
        if self.design.nominal is not None:
            raise BadModel(
                f"With nominal effects of {self.design.nominal.text} there is no one set of thresholds; "
                "fit.cell_thresholds has those of each cell."
            )
        return self.structure.J @ self.solution.alpha

    @property
    def cell_thresholds(self) -> "pd.DataFrame":
        """The thresholds of each cell, a row each; infinite where a cell never uses the categories there."""
        import pandas as pd

        assert self.structure is not None
        names = ["all"]
        if self.design.nominal is not None:
            firsts = np.unique(self.cells.index, return_index=True)[1].tolist()
            names = [self.design.nominal.label(first) for first in firsts]
        values, order = self.cells.values(self.solution.alpha), np.lexsort(self.cells.patterns.T)
        if not self.cells.patterns.shape[1]:
            order = np.arange(len(values))
        return pd.DataFrame(values, index=names, columns=list(self.structure.between)).iloc[order]

    @property
    def param_names(self) -> tuple[str, ...]:
        """The names of thresholds and fixed effects."""
        return (*(self.structure.between if self.structure else ()), *self.design.names)

    @property
    def params(self) -> Floats:
        """The thresholds, then the fixed effects; no effects on the spread."""
        return np.concatenate([self.threshold_values, self.solution.beta])

    @property
    def cov_params(self) -> Floats:
        """The covariance matrix of thresholds and fixed effects."""
        if self.structure is None:
            return self.solution.vcov
        k, s, p = len(self.threshold_values), len(self.solution.alpha), len(self.solution.beta)
        turn = np.zeros((k + p, s + p))
        turn[:k, :s] = self.structure.J
        turn[k:, s:] = np.eye(p)
        whole = self.solution.joint_vcov[: s + p, : s + p]
        joint: Floats = turn @ np.where(np.isnan(whole), 0.0, whole) @ turn.T
        lost = np.abs(turn[:, np.isnan(np.diag(whole))]).max(axis=1, initial=0.0) > 0.0  # separated effects
        joint[lost, :] = joint[:, lost] = np.nan
        return joint

    # Tables

    @cached_property
    def thresholds(self) -> "pd.DataFrame":
        """Threshold parameters: name, estimate, se."""
        import pandas as pd

        alpha, names = self.solution.alpha, self.cells.names if self.structure else ()
        return pd.DataFrame(
            {
                "name": list(names),
                "estimate": alpha[: len(names)],
                "se": np.sqrt(np.diag(self.solution.joint_vcov))[: len(names)],
            }
        )

    @cached_property
    def nominal(self) -> "pd.DataFrame":
        """Nominal effects: threshold, term, estimate, se; what each adds to a threshold."""
        import pandas as pd

        effects = self.cells.effects if self.structure is not None else ()
        first, last = len(self.solution.alpha) - len(effects), len(self.solution.alpha)
        return pd.DataFrame(
            {
                "threshold": [threshold for threshold, _ in effects],
                "term": [term for _, term in effects],
                "estimate": self.solution.alpha[first:last],
                "se": np.sqrt(np.diag(self.solution.joint_vcov))[first:last],
            }
        )

    @cached_property
    def scale(self) -> "pd.DataFrame":
        """Effects on the logarithm of the residual spread: term, estimate, se, ratio (its exponential)."""
        import pandas as pd

        zeta, first = self.solution.zeta, len(self.solution.alpha) + len(self.solution.beta)
        names, L = self.design.scale.spell_out() if self.design.scale is not None else ((), np.empty((0, 0)))
        effects, vcov = L @ zeta, L @ self.solution.joint_vcov[first:, first:] @ L.T
        return pd.DataFrame(
            {"term": list(names), "estimate": effects, "se": np.sqrt(np.diag(vcov)), "ratio": np.exp(effects)}
        )
