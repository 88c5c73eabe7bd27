"""Tests of whole terms: F by Satterthwaite, Kenward-Roger or the linear analogue; else Wald's χ²."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import chdtrc

from panelist.core.display.formats import P_VALUE, decimals
from panelist.core.display.result import Part, Result, Sentence, Table, json_object
from panelist.core.errors import BadModel, UnknownName, did_you_mean
from panelist.models.inference.hypotheses import FTest, f_tail, term_contrasts, test_term_satterthwaite
from panelist.models.inference.kenward_roger import KenwardRoger, kenward_roger
from panelist.models.inference.likelihood_ratio import drop_effect
from panelist.models.inference.small_sample import SmallSample

if TYPE_CHECKING:
    import pandas as pd

    from panelist.models.results.fitted import Fit
    from panelist.numerics.arrays import Floats

DEGREES = ("satterthwaite", "kenward-roger")
_WORDS = {
    "satterthwaite": "Satterthwaite",
    "kenward-roger": "Kenward-Roger",
    "residual": "residual",
    "analogue": "the linear analogue's",
}
_RANK = 1e-10


@dataclass(frozen=True)
class TermTests(Result):
    """One test per term. Where ``degrees`` is "" or "lrt", ``F`` is χ²/num_df and ``den_df`` infinite."""

    formula: str
    kind: int
    degrees: str  # satterthwaite, kenward-roger, residual (lm), analogue (clmm), lrt, or "" (z)
    terms: tuple[str, ...]
    tests: tuple[FTest, ...]
    notes: tuple[str, ...] = ()

    def table(self) -> "pd.DataFrame":
        """Return one row per term: term, num_df, den_df, F, p; for ordinal models term, chisq, df, p."""
        import pandas as pd

        if self.degrees in ("", "lrt"):
            rows = [(t, f.F * f.numdf, f.numdf, f.p) for t, f in zip(self.terms, self.tests, strict=True)]
            return pd.DataFrame(rows, columns=["term", "chisq", "df", "p"])
        found = [(t, f.numdf, f.ddf, f.F, f.p) for t, f in zip(self.terms, self.tests, strict=True)]
        return pd.DataFrame(found, columns=["term", "num_df", "den_df", "F", "p"])

    def title(self) -> str:
        """Return the heading."""
        roman = {1: "I", 3: "III"}[self.kind]
        how = {"": "Wald χ² tests", "lrt": "likelihood-ratio tests"}.get(self.degrees, "")
        how = how or f"F tests, {_WORDS[self.degrees]} degrees of freedom"
        return f"Type {roman} {how}: {self.formula}"

    def parts(self) -> list[Part]:
        """Return the table and the notes."""
        shown = self.table().rename(columns={"chisq": "χ²"})
        formats = {"den_df": decimals(1), "F": decimals(3)} if "F" in shown else {"χ²": decimals(3)}
        table = Table.from_frame("Terms", shown, formats | {"p": P_VALUE})
        return [table, *(Sentence(f"Note: {note}.") for note in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Return kind, degrees of freedom, tests and notes."""
        return json_object(
            {
                "kind": self.kind,
                "degrees": self.degrees or None,
                "tests": self.table().to_dict("records"),
                "notes": self.notes,
            }
        )


def tabulate_term_tests(fit: "Fit", kind: int = 3, ddf: str | None = None) -> TermTests:
    """Return the tests of type III, or I, of the fixed terms.

    ``ddf`` is "satterthwaite" or "kenward-roger" for a linear mixed model; None takes what the fit has.
    A linear model has its residual degrees of freedom, an ordinal mixed model those of its linear analogue;
    other ordinal models have Wald's χ².
    """
    if ddf is not None:
        fit = with_degrees(fit, ddf)
    contrasts = term_contrasts(fit.design.fixed, fit.design.X, fit.names, kind)
    notes = [
        f"{term} has no test: its columns are combinations of other terms'"
        for term, L in contrasts.items()
        if not len(L)
    ]
    degrees = ""
    if fit.model == "lmm":
        degrees = "kenward-roger" if isinstance(fit.uncertainty, KenwardRoger) else "satterthwaite"
    elif fit.model == "lm":
        degrees = "residual"
    elif isinstance(fit.uncertainty, SmallSample):
        degrees = "analogue"
    elif fit.test == "lrt":
        degrees = "lrt"
    tests = tuple(_test(fit, L) for L in contrasts.values())
    for place, (term, L) in enumerate(contrasts.items()):
        if len(L) and fit.find_loose(L).any():
            tests = (*tests[:place], FTest(np.nan, tests[place].numdf, np.nan, np.nan), *tests[place + 1 :])
            notes.append(f"{term} has no test: only the prior ({fit.prior}) keeps its effects finite")
    return TermTests(fit.formula, kind, degrees, tuple(contrasts), tests, tuple(notes))


def with_degrees(fit: "Fit", ddf: str) -> "Fit":
    """Return the fit with the covariance and degrees of freedom of ``ddf`` for all that is asked of it.

    A linear mixed model has the choice of Satterthwaite's and Kenward-Roger's, an ordinal one that of t, z
    and lrt; the other models come back as they are.
    """
    if ddf in ("t", "z", "lrt") and fit.ordinal:
        mixed = ddf == "t" and fit.model == "clmm"
        tested = SmallSample(fit.design) if mixed else None
        return replace(fit, uncertainty=tested, test="z" if ddf == "t" and not mixed else ddf)
    if ddf not in DEGREES:
        raise UnknownName(f"No degrees of freedom are called {ddf!r}. {did_you_mean(ddf, DEGREES)}")
    if fit.model != "lmm":
        return fit
    present = isinstance(fit.uncertainty, KenwardRoger)
    if (ddf == "kenward-roger") == present:
        return fit
    if present:
        raise BadModel("The fit already has Kenward-Roger's covariance; use the fit that it was made from.")
    if fit.method != "REML":
        raise BadModel(
            f"Kenward-Roger's tests are made for REML, and this model was fitted by {fit.method}. Fit it "
            "with method='REML', or ask for Satterthwaite's."
        )
    covariances = [fit.variance_components[factor.name] for factor in fit.design.factors]
    adjusted = kenward_roger(fit.design.X, fit.design.factors, covariances, fit.sigma)
    return replace(fit, solution=replace(fit.solution, vcov=adjusted.adjusted), uncertainty=adjusted)


def _test(fit: "Fit", L: "Floats") -> FTest:
    if isinstance(fit.uncertainty, KenwardRoger):
        return fit.uncertainty.test(L, fit.beta)
    if isinstance(fit.uncertainty, SmallSample):
        return fit.uncertainty.test(L, fit.beta, fit.vcov)
    if fit.uncertainty is not None:
        return test_term_satterthwaite(L, fit.beta, fit.vcov, fit.uncertainty.slopes, fit.uncertainty.A)
    _, values, rows = np.linalg.svd(L, full_matrices=False)
    rows = rows[values > _RANK * values.max(initial=0.0)]
    q = len(rows)
    if q == 0:
        return FTest(np.nan, 0, np.nan, np.nan)
    if fit.test == "lrt":
        ratio = drop_effect(fit, rows)
        return FTest(ratio / q, q, np.inf, float(chdtrc(q, ratio)))
    difference = rows @ fit.beta
    F = float(difference @ np.linalg.solve(rows @ fit.vcov @ rows.T, difference)) / q
    if fit.ordinal:
        return FTest(F, q, np.inf, float(chdtrc(q, q * F)))
    ddf = float(fit.n - len(fit.beta))
    return FTest(F, q, ddf, f_tail(F, q, ddf))
