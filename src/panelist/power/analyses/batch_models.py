"""The four models of panelist.models, fitted to all data sets of a chunk by panelist.models.batch."""

from typing import Any, ClassVar

import numpy as np

from panelist.core.ratings import read_ratings
from panelist.models.batch import fit_batch, prepare_batch
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import build_design
from panelist.models.random_part import choose_random
from panelist.power.analyses.base import MAXIMAL, Analysis, Choices, PairTests, Run
from panelist.power.layouts import Layout

FIXED = "rating ~ system"


class BatchModel(Analysis):
    """A model whose contrasts of systems are tested, with the p-values that ``fit`` gives."""

    model: ClassVar[str]

    def prepare(self, layout: Layout, choices: Choices) -> Run:
        """Return the function that fits every data set; the design is worked out once."""
        ordinal = self.model in ("clmm", "clm")
        frame = layout.make_frame(np.resize(np.arange(2.0), layout.n_rows))
        formula = FIXED if self.model in ("clm", "lm") else find_formula(layout, choices)
        design = build_design(parse_formula(formula), read_ratings(frame), ordinal=ordinal)
        batch = prepare_batch(design, self.model, choices.link, choices.method)
        L = _contrast_pairs(layout, len(design.names))

        def run(responses: Any) -> PairTests:
            fits = fit_batch(batch, responses, threads=1)
            found = fits.contrast(L)
            failed = fits.failed != 0
            p = np.where(failed[:, None], np.nan, found.p)
            return PairTests(found.estimate, found.se, found.statistic, found.df, p, failed, fits.singular)

        return run


def find_formula(layout: Layout, choices: Choices) -> str:
    """Return the formula of the mixed models: the one given, or the largest that the layout can bear."""
    if choices.formula != MAXIMAL:
        return choices.formula
    return choose_random(layout.make_frame(0.0)).formula()


def _contrast_pairs(layout: Layout, n_columns: int) -> Any:
    """Return the matrix that takes the fixed effects to the differences of all pairs (second less first)."""
    offset = n_columns - (layout.n_systems - 1)  # 1 where there is an intercept
    L = np.zeros((len(layout.pairs), n_columns))
    for row, (a, b) in enumerate(layout.pairs):
        L[row, offset + b - 1] += 1.0
        if a:
            L[row, offset + a - 1] -= 1.0
    return L
