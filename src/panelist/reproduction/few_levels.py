"""Tests of the joint ordinal model that hold with few raters or items.

Wald's z takes the spreads of raters and items for known, and maximum likelihood takes them too small. The
linear analogue, the same formula fitted to the ratings as numbers, lends what is missing: its standard errors
by REML over those by ML widen the ordinal model's, and its degrees of freedom make t of z and F of χ².
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from panelist.core.errors import BadModel
from panelist.models.arrays import Floats
from panelist.models.inference.hypotheses import FTest, f_tail, term_contrasts

if TYPE_CHECKING:
    from panelist.core.ratings import Ratings
    from panelist.models.fitted import Fit

OWN = "widen"  # the method of a fit that brings such tests itself


@dataclass(frozen=True, eq=False)
class Tested:
    """A fit with the degrees of freedom and the factor on standard errors of its linear analogue."""

    fit: Fit
    reml: Fit | None = None
    ml: Fit | None = None

    def degrees(self, L: Floats) -> Floats:
        """Return the degrees of freedom of t for each row of contrasts."""
        if self.reml is None:
            return np.atleast_1d(self.fit.degrees(L))
        found = np.asarray(self.reml.degrees(self._widened(L)), dtype=float)
        return np.where(np.isnan(found), self._fewest(), np.maximum(found, 1.0))

    def widen(self, L: Floats) -> Floats:
        """Return what multiplies the standard error of each row of contrasts."""
        rows = np.atleast_2d(L)
        if self.reml is None or self.ml is None:
            own = getattr(self.fit, OWN, None)
            return np.ones(len(rows)) if own is None else np.asarray(own(rows), dtype=float)
        whole = self._widened(rows)
        by_reml, by_ml = (np.einsum("ij,jk,ik->i", whole, one.vcov, whole) for one in (self.reml, self.ml))
        ratios: Floats = np.sqrt(np.divide(by_reml, by_ml, out=np.ones(len(rows)), where=by_ml > 0))
        return np.maximum(ratios, 1.0)

    def test(self, term: str) -> FTest:
        """Return the test of a term, Wald's F over the mean squared factor where there is an analogue."""
        tests = self.fit.test_terms()
        found: FTest = tests.tests[tests.terms.index(term)]
        if self.reml is None:
            return found
        L = term_contrasts(self.fit.design.fixed, self.fit.design.X, self.fit.names)[term]
        _, values, rows = np.linalg.svd(L, full_matrices=False)
        F = found.F / float(np.mean(self.widen(rows[values > 1e-10 * values.max(initial=0.0)]) ** 2))
        linear = self.reml.test_terms()
        ddf = float(linear.tests[linear.terms.index(term)].ddf)
        ddf = ddf if ddf > 0 else self._fewest()
        return FTest(F, found.numdf, ddf, f_tail(F, found.numdf, ddf))

    def _widened(self, L: Floats) -> Floats:
        """Return contrasts of the analogue: those of the ordinal model have no intercept."""
        rows = np.atleast_2d(L)
        return np.column_stack([np.zeros(len(rows)), rows])

    def _fewest(self) -> float:
        return float(max(min(len(factor.levels) for factor in self.fit.design.factors) - 1, 1))


def lend_degrees(fitted: Fit, table: Ratings) -> Tested:
    """Return the fit with its linear analogue, or as it is where it needs none or there is none."""
    from panelist.models.fit import fit

    if fitted.model != "clmm" or hasattr(fitted, OWN):
        return Tested(fitted)
    try:
        reml, ml = (fit(fitted.formula, table, model="lmm", method=method) for method in ("REML", "ML"))
    except BadModel:
        return Tested(fitted)
    if not (reml.converged and ml.converged) or len(reml.beta) != len(fitted.beta) + 1:
        return Tested(fitted)
    return Tested(fitted, reml, ml)
