"""The four models of panelist.models, fitted to all data sets of a chunk by panelist.models.batch."""

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from panelist.analysis.spec import AnalysisSpec
from panelist.core.tables.ratings import read_ratings
from panelist.models.batch import Batch, prepare_batch
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import build_design
from panelist.models.random_part import choose_random
from panelist.power.analyses.base import ANALYSES, PowerAnalysis, SimulatedPairTests, Tester, analysis
from panelist.power.analyses.points import measure_claims
from panelist.power.analyses.stepped import (
    Prepare,
    fill_separated,
    find_untrusted,
    fit_exactly,
    fit_stepped,
    lead_by_linear,
    make_pair_tests,
)
from panelist.power.layouts.base import Layout

FIXED = "rating ~ system"


class BatchModel(PowerAnalysis):
    """A model whose contrasts of systems are tested, with the p-values that ``fit`` gives."""

    model: ClassVar[str]

    def prepare(self, layout: Layout, spec: AnalysisSpec) -> Tester:
        """Return the function that fits every data set; designs are prepared once."""
        ordinal, mixed = self.model in ("clmm", "clm"), self.model in ("clmm", "lmm")
        prepare = make_preparer(layout, self.model, spec)
        part = choose_random(layout.make_frame(0.0)) if mixed and spec.formula is None else None
        formula = FIXED if not mixed else str(spec.formula) if part is None else part.formula()
        L = _contrast_pairs(layout, len(prepare(formula).design.names))
        as_compared = spec.as_compared and not (ordinal and spec.prior)  # which keeps the largest part
        start = part if as_compared else None
        leads = ordinal and mixed and as_compared
        linear = ANALYSES["lmm"].prepare(layout, spec) if leads else None

        def run(responses: Any) -> SimulatedPairTests:
            if start is None:
                kept = fit_exactly(formula, prepare, responses)
            else:
                kept = fit_stepped(start, prepare, responses)
            tests = make_pair_tests(kept, L, start, len(responses))
            if ordinal and spec.claim is not None and spec.margin is not None:
                claimed = measure_claims(kept, L, layout, spec.margin.unit, tests, responses)
                tests = tests._replace(claimed=claimed)
            if ordinal and as_compared:
                tests = fill_separated(tests, kept, layout, prepare, L, responses)
            if linear is not None:
                untrusted = find_untrusted(kept, L, tests)
                points = spec.margin is None or spec.margin.unit == "points"
                tests = lead_by_linear(tests, untrusted, linear, responses, points)
            return tests

        return run


def make_preparer(layout: Layout, model: str, spec: AnalysisSpec) -> Prepare:
    """Return the function that gives the batch of a formula, made once for each."""

    @lru_cache(maxsize=16)
    def prepare(formula: str) -> Batch:
        frame = layout.make_frame(np.resize(np.arange(2.0), layout.n_rows))
        ordinal = model in ("clmm", "clm")
        design = build_design(parse_formula(formula), read_ratings(frame), ordinal=ordinal)
        prior = spec.prior if ordinal else None
        measured = model == "clmm" and spec.as_compared and prior is None
        return prepare_batch(design, model, spec.link, spec.method, spec.test, measured, prior)

    return prepare


def _contrast_pairs(layout: Layout, n_columns: int) -> Any:
    """Return the matrix that takes the fixed effects to the differences of all pairs (second minus first)."""
    offset = n_columns - (layout.n_systems - 1)  # 1 where there is an intercept
    L = np.zeros((len(layout.pairs), n_columns))
    for row, (a, b) in enumerate(layout.pairs):
        L[row, offset + b - 1] += 1.0
        if a:
            L[row, offset + a - 1] -= 1.0
    return L


@analysis("clmm")
class Clmm(BatchModel):
    """Ordered categories with random effects of raters and items: t tests, as compare makes them."""

    title = "ordinal mixed model"
    model = "clmm"
    reads = ("points",)
    units = ("points", "latent")


@analysis("lmm")
class Lmm(BatchModel):
    """Ratings as numbers, random effects of raters and items: t tests with Satterthwaite's df."""

    title = "linear mixed model"
    model = "lmm"
    units = ("points",)


@analysis("clm")
class Clm(BatchModel):
    """Ordered categories, every rating taken as independent."""

    title = "ordinal model, no random effects"
    model = "clm"
    ignores = ("raters", "items")
    reads = ("points",)
    units = ("points", "latent")


@analysis("lm")
class Lm(BatchModel):
    """Ratings as numbers, every rating taken as independent."""

    title = "linear model, no random effects"
    model = "lm"
    ignores = ("raters", "items")
    units = ("points",)
