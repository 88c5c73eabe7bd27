"""The four models of panelist.models, fitted to all data sets of a chunk by panelist.models.batch."""

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from panelist.core.ratings import read_ratings
from panelist.models.batch import Batch, prepare_batch
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import build_design
from panelist.models.random_part import choose_random
from panelist.power.analyses.base import ANALYSES, MAXIMAL, Analysis, Choices, PairTests, Run
from panelist.power.analyses.stepped import (
    Prepare,
    fill_separated,
    find_untrusted,
    fit_exactly,
    fit_stepped,
    lead_by_linear,
    make_pair_tests,
)
from panelist.power.layouts import Layout

FIXED = "rating ~ system"


class BatchModel(Analysis):
    """A model whose contrasts of systems are tested, with the p-values that ``fit`` gives."""

    model: ClassVar[str]

    def prepare(self, layout: Layout, choices: Choices) -> Run:
        """Return the function that fits every data set; designs are worked out once."""
        ordinal, mixed = self.model in ("clmm", "clm"), self.model in ("clmm", "lmm")
        prepare = make_preparer(layout, self.model, choices)
        part = choose_random(layout.make_frame(0.0)) if mixed and choices.formula == MAXIMAL else None
        formula = FIXED if not mixed else choices.formula if part is None else part.formula()
        L = _contrast_pairs(layout, len(prepare(formula).design.names))
        start = part if choices.as_compared else None
        leads = ordinal and mixed and choices.as_compared
        linear = ANALYSES["lmm"].prepare(layout, choices) if leads else None

        def run(responses: Any) -> PairTests:
            if start is None:
                kept = fit_exactly(formula, prepare, responses)
            else:
                kept = fit_stepped(start, prepare, responses)
            tests = make_pair_tests(kept, L, start, len(responses))
            if ordinal and choices.as_compared:
                tests = fill_separated(tests, kept, layout, prepare, L, responses)
            if linear is not None:
                untrusted = find_untrusted(kept, L, len(responses))
                tests = lead_by_linear(tests, untrusted, linear, responses)
            return tests

        return run


def make_preparer(layout: Layout, model: str, choices: Choices) -> Prepare:
    """Return the function that gives the batch of a formula, made once for each."""

    @lru_cache(maxsize=16)
    def prepare(formula: str) -> Batch:
        frame = layout.make_frame(np.resize(np.arange(2.0), layout.n_rows))
        ordinal = model in ("clmm", "clm")
        design = build_design(parse_formula(formula), read_ratings(frame), ordinal=ordinal)
        measured = model == "clmm" and choices.as_compared
        return prepare_batch(design, model, choices.link, choices.method, choices.df, measured)

    return prepare


def _contrast_pairs(layout: Layout, n_columns: int) -> Any:
    """Return the matrix that takes the fixed effects to the differences of all pairs (second less first)."""
    offset = n_columns - (layout.n_systems - 1)  # 1 where there is an intercept
    L = np.zeros((len(layout.pairs), n_columns))
    for row, (a, b) in enumerate(layout.pairs):
        L[row, offset + b - 1] += 1.0
        if a:
            L[row, offset + a - 1] -= 1.0
    return L
