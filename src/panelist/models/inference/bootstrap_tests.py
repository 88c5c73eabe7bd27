"""Tests of terms by the parametric bootstrap: what the likelihood ratio does where there is nothing to find.

Ratings are drawn from the model without the term, its random part, thresholds and spreads kept, and both
models are fitted to each set. p is the rank of the likelihood ratio among those drawn; Bartlett's factor, the
mean of those drawn over the degrees of freedom, needs a tenth of the sets for a χ² that is nearly as good.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import chdtrc

from panelist.core.display.formats import P_VALUE, decimals
from panelist.core.display.result import Part, Result, Sentence, Table, json_object, pick
from panelist.core.errors import BadModel, UnknownName, did_you_mean
from panelist.core.progress import OnProgress, Progress
from panelist.core.seeds import stream
from panelist.models.formulas.coding import independent_columns
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.inference.bootstrap import refit_codes, solve_again
from panelist.models.inference.hypotheses import term_contrasts
from panelist.models.inference.likelihood_ratio import free_directions
from panelist.models.predictions.draw import simulate_codes
from panelist.models.prior_words import refuse_under_prior
from panelist.numerics.blas_threads import single_threaded_blas
from panelist.numerics.compile_ahead import count_cores

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit


@dataclass(frozen=True)
class BootstrapTest(Result):
    """The test of one term; ``n`` sets were drawn, of which ``failed`` could not be fitted."""

    formula: str
    term: str
    chisq: float
    df: int
    p: float  # by the rank among the sets drawn
    p_bartlett: float  # by χ² over Bartlett's factor
    n: int
    failed: int
    seed: int

    def title(self) -> str:
        """Return the heading."""
        return f"Bootstrap test of {self.term}: {self.formula}"

    def parts(self) -> list[Part]:
        """Return the test, and how it was made."""
        header = ("term", "χ²", "df", "p", "p, Bartlett")
        row = (self.term, self.chisq, self.df, self.p, self.p_bartlett)
        formats = {"χ²": decimals(3), "df": decimals(0), "p": P_VALUE, "p, Bartlett": P_VALUE}
        lost = f"; {self.failed} could not be fitted and are left out" if self.failed else ""
        note = f"{self.n} sets drawn without {self.term}, with seed {self.seed}{lost}"
        return [
            Table("Likelihood ratio among those drawn", header, [row], formats),
            Sentence(f"Note: {note}."),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the test as names and values."""
        return json_object(pick(self, "formula term chisq df p p_bartlett n failed seed"))


def bootstrap_term(
    fit: "Fit",
    term: str,
    n: int = 999,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> BootstrapTest:
    """Return the test of a fixed term of an ordinal model; the k-th set depends on ``seed`` and k alone.

    ``term`` is one of the location, one of nominal effects, or "scale" or "nominal" for all of these effects.
    """
    if not fit.ordinal:
        raise BadModel(f"A {fit.model} has tests that are nearly exact: fit.anova().")
    if n < 19:
        raise BadModel(f"A bootstrap test at .05 needs 19 sets or more, 999 for a p to report. Got n={n}.")
    refuse_under_prior(fit.prior, "lrt")
    design = leave_out(fit, term)
    solution = solve_again(fit, design)
    if solution is None or not solution.optimum.converged:
        raise BadModel(f"The model without {term} did not converge, so nothing can be drawn from it.")
    null = replace(fit, design=design, solution=solution)
    ratio, df = max(2.0 * (fit.loglik - solution.loglik), 0.0), fit.n_parameters - solution.n_parameters

    def draw(k: int) -> float:
        codes = simulate_codes(null, stream(seed, "bootstrap test", k))
        large, small = (refit_codes(one, codes)[0] for one in (fit, null))
        return np.nan if large is None or small is None else 2.0 * (large.loglik - small.loglik)

    drawn: list[float] = []
    with single_threaded_blas(0), ThreadPoolExecutor(threads or count_cores()) as pool:
        for done, one in enumerate(pool.map(draw, range(n)), start=1):
            drawn.append(one)
            if on_progress is not None:
                on_progress(Progress(done, n, "refits"))
    known = np.array([one for one in drawn if np.isfinite(one)])
    p = (1.0 + np.count_nonzero(known >= ratio)) / (1.0 + len(known))
    factor = float(np.maximum(known, 0.0).mean()) / df if len(known) else np.nan
    if fit.design.stretch is not None and design.stretch is None:
        factor = np.nan  # half of the ratios are zero, which no multiple of χ² has
    return BootstrapTest(
        fit.formula, term, ratio, df, float(p), float(chdtrc(df, ratio / factor)), n, n - len(known), seed
    )


def leave_out(fit: "Fit", term: str) -> ModelMatrices:
    """Return the design without a term, which is one of the location's, "scale", "nominal" or nominal alone.

    Without "nominal" the location gets back what these effects hold, one shift for each system: a test of
    proportional odds. Without a variable that has nominal effects and no others, nothing of it is left.
    """
    design = fit.design
    contrasts = term_contrasts(design.fixed, design.X, fit.names, 3)
    if term in contrasts and len(contrasts[term]):
        return replace(design, X=np.ascontiguousarray(design.X @ free_directions(contrasts[term]).T))
    if term == "scale" and (design.scale is not None or design.stretch is not None):
        return replace(design, scale=None, stretch=None)
    if design.nominal is not None:
        if term == "nominal":
            X = np.column_stack([np.ones(len(design.X)), design.X, design.nominal.matrix])
            kept = [place for place in independent_columns(X) if place]
            return replace(design, nominal=None, X=np.ascontiguousarray(X[:, kept]))
        if list(design.nominal.part.terms) == [term]:
            return replace(design, nominal=None)
    sides = [] if design.scale is None and design.stretch is None else ["scale"]
    sides += [] if design.nominal is None else ["nominal"]
    known = [*contrasts, *sides, *(design.nominal.part.terms if design.nominal is not None else ())]
    raise UnknownName(f"The model has no term {term!r} to test. {did_you_mean(term, known)}")
