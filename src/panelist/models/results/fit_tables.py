"""How a fit is displayed: its summary and its tables."""

from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from panelist.core.display.formats import P_VALUE, TEXT, decimals
from panelist.core.display.result import Result, Table
from panelist.core.progress import OnProgress
from panelist.models.formulas.matrices import POOLED_SD
from panelist.models.solvers.solution import Solution
from panelist.numerics.arrays import Bools, Floats

if TYPE_CHECKING:
    import pandas as pd

    from panelist.models.inference.bootstrap_tests import BootstrapTest
    from panelist.models.inference.intervals import Intervals
    from panelist.models.inference.term_tests import TermTests
    from panelist.models.results.fitted import Fit


def summarise(fit: "Fit") -> list[tuple[str, str]]:
    """Return counts, likelihood and how the search ended."""
    rows = [("ratings", str(fit.n))]
    counts = {factor.name: len(factor.levels) for factor in fit.design.every_factor}
    rows += [(name, f"{count} levels") for name, count in counts.items()]
    rows.append(("log-likelihood", f"{fit.loglik:.4f} with {fit.n_parameters} parameters"))
    if fit.prior is None:
        rows.append(("AIC, BIC", f"{fit.aic:.2f}, {fit.bic:.2f}"))
    else:
        rows.append(("prior", f"{fit.prior} (no AIC or BIC: these need the likelihood's maximum)"))
    state = "converged" if fit.converged else f"NOT converged: {fit.optimum.reason}"
    rows.append(("optimum", state + (", singular" if fit.singular else "")))
    return rows


def tabulate_coefficients(fit: "Fit") -> Table:
    """Return the fixed effects with their tests."""
    t = not fit.ordinal or fit.test == "t"
    columns = ["term", "estimate", "se", "statistic", *(["df"] if t else []), "p"]
    shown = fit.coefficients[columns].rename(
        columns={"statistic": "t" if t else "root LR" if fit.test == "lrt" else "z"}
    )
    formats = {"estimate": decimals(4), "se": decimals(4), "p": P_VALUE, "term": TEXT}
    if t:
        formats["df"] = decimals(1)
    note = ""
    if fit.ordinal and t:
        ratio = float(fit.widen(np.eye(len(fit.beta))).max())
        note = "t allows for few raters and items"
        note += f": estimate / (se × up to {ratio:.2f})" if ratio >= 1.005 else ""
    if fit.prior is not None and (loose := fit.find_loose(np.eye(len(fit.beta)))).any():
        shown = shown.assign(
            term=[f"{name} *prior*" if own else name for name, own in zip(fit.names, loose, strict=True)]
        )
        note += f"{'; ' if note else ''}*prior*: only the prior keeps it finite, so it has no test"
    return Table.from_frame("Fixed effects", shown, formats, note)


def tabulate_thresholds(fit: "Fit") -> Table:
    """Return the thresholds with their standard errors."""
    formats = {"estimate": decimals(4), "se": decimals(4)}
    lowest, highest = fit.design.categories[0], fit.design.categories[-1]
    note = {
        "sequential": f"k|k+1: of stopping at k once it is reached; steps go from {lowest} up to {highest}",
        "adjacent": "k|k+1: where k and k+1 are equally likely; they need not be in order",
    }.get(str(fit.family), "")
    if any(fit.cells.unused):
        return _tabulate_cells(fit, note)
    if fit.design.nominal is not None:
        reference = "those of the reference, where nominal terms are zero"
        note = f"{note}; {reference}" if note else reference
    return Table.from_frame("Thresholds", fit.thresholds, formats, note, name="thresholds")


def _tabulate_cells(fit: "Fit", note: str) -> Table:
    """Return the thresholds of each cell, where one never uses a category: no one cell has them all."""
    shown = fit.cell_thresholds
    shown = shown.where(np.isfinite(shown)).rename_axis("of").reset_index()
    more = "none beyond what it uses; the same on both sides of an unused point"
    formats = {"of": TEXT} | dict.fromkeys(fit.cell_thresholds.columns, decimals(4))
    return Table.from_frame("Thresholds", shown, formats, f"{note}; {more}" if note else more)


def tabulate_nominal(fit: "Fit") -> Table:
    """Return what each nominal term adds to each threshold."""
    formats = {"estimate": decimals(4), "se": decimals(4), "term": TEXT, "threshold": TEXT}
    note = "added to the threshold: above zero, more ratings stay below it"
    return Table.from_frame("Nominal effects, by threshold", fit.nominal, formats, note, name="nominal")


def tabulate_scale(fit: "Fit") -> Table:
    """Return the effects on the residual spread, and the ratios that they are."""
    formats = {"estimate": decimals(4), "se": decimals(4), "ratio": decimals(3), "term": TEXT}
    note = "ratio: the residual spread to that of the reference; above 1, raters agree less"
    if fit.design.scale is not None and fit.design.scale.pooled:
        note = (
            f"ratio: the residual spread to the mean one; a normal prior of SD {POOLED_SD:g} on the log, "
            "so no AIC or likelihood ratio"
        )
    return Table.from_frame("Scale effects, on log σ", fit.scale, formats, note, name="scale")


def tabulate_random(fit: "Fit") -> Table:
    """Standard deviations, with the correlations with earlier terms beside them, as lme4 prints them."""
    known = {tuple(row[:3]): float(row[3]) for row in fit.correlations.to_numpy()}
    most = max(stop - start for factor in fit.design.factors for start, stop in factor.blocks)
    header = ("group", "term", "sd", *(f"r{k}" for k in range(1, most)))
    rows: list[tuple[str | float | None, ...]] = []
    for factor in fit.design.factors:
        for start, stop in factor.blocks:
            for b in range(start, stop):
                sd = float(np.sqrt(fit.variance_components[factor.name][b, b]))
                earlier = [known[factor.name, factor.columns[a], factor.columns[b]] for a in range(start, b)]
                gaps: list[float | str | None] = [""] * (most - 1 - len(earlier))
                rows.append((factor.name, factor.columns[b], sd, *earlier, *gaps))
    if fit.design.stretch is not None:
        (term,) = fit.design.stretch.columns
        rows.append((fit.design.stretch.name, term, fit.solution.omega, *[""] * (most - 1)))
    if not fit.ordinal:
        rows.append(("residual", "", fit.sigma, *[""] * (most - 1)))
    formats = {"sd": decimals(4)} | {f"r{k}": decimals(2) for k in range(1, most)}
    notes = ["r: correlations with the terms above of the same group"] if most > 1 else []
    if fit.design.stretch is not None:
        notes.append("log sigma: how residual spreads differ, as the SD of their logarithms")
    return Table("Random effects", header, rows, formats, "; ".join(notes))


class Inference(Result):
    """The part of ``Fit`` that calls other modules for intervals and tests."""

    solution: Solution

    @property
    def prior(self) -> str | None:
        """The prior in words, that of raters' spreads included; None for a fit by likelihood alone."""
        side = cast("Fit", self).design.scale
        words = [self.solution.prior.words] if self.solution.prior else []
        if side is not None and side.pooled:
            words.append(f"normal({POOLED_SD:g}) on the log of each spread, which '~ C(…)' fits without")
        return "; ".join(words) or None

    @property
    def prior_phrase(self) -> str:
        """How tables that it touches name the prior; empty for a fit by likelihood alone."""
        return self.solution.prior.phrase if self.solution.prior else ""

    def find_loose(self, L: Floats) -> Bools:
        """Return which rows of contrasts only the prior keeps finite: they have an estimate, and no test."""
        L, fit, prior = np.atleast_2d(L), cast("Fit", self), self.solution.prior
        if prior is None or prior.scale is None or fit.structure is None:
            return np.zeros(len(L), dtype=np.bool_)
        from panelist.models.solvers.separation import find_loose

        return find_loose(L, fit.design, fit.structure)

    def intervals(
        self,
        method: str = "wald",
        confidence: float = 0.95,
        terms: Iterable[str] | str | None = None,
        n: int = 500,
        seed: int = 0,
        threads: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> "Intervals":
        """Return intervals of the parameters by "wald", "profile" or "bootstrap": inference/intervals.py."""
        from panelist.models.inference.intervals import find_intervals

        return find_intervals(cast("Fit", self), method, confidence, terms, n, seed, threads, on_progress)

    def anova(self, kind: int = 3, ddf: str | None = None) -> "TermTests":
        """Return tests of the fixed terms, type III or I: F, or χ² for ordinal models tested by z."""
        from panelist.models.inference.term_tests import tabulate_term_tests

        return tabulate_term_tests(cast("Fit", self), kind, ddf)

    def bootstrap_test(
        self,
        term: str,
        n: int = 999,
        seed: int = 0,
        threads: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> "BootstrapTest":
        """Return the test of a term by n sets drawn without it: inference/bootstrap_tests.py."""
        from panelist.models.inference.bootstrap_tests import bootstrap_term

        return bootstrap_term(cast("Fit", self), term, n, seed, threads, on_progress)

    def with_degrees(self, ddf: str) -> "Fit":
        """Return the fit with other degrees of freedom for standard errors, t, F and contrasts.

        "kenward-roger" in place of Satterthwaite's for a linear mixed model; t, z or lrt for an ordinal one.
        """
        from panelist.models.inference.term_tests import with_degrees

        return with_degrees(cast("Fit", self), ddf)


def make_frame(
    label: str, words: tuple[str, ...], columns: tuple[str, ...], numbers: Floats
) -> "pd.DataFrame":
    """Return a frame: ``words`` in the column ``label``, and ``numbers`` (columns × rows), which it keeps."""
    make = _find_maker()
    if make is None or not words:
        import pandas as pd

        return pd.DataFrame({label: list(words), **dict(zip(columns, numbers, strict=True))})
    text, header, index, places = _make_text(label, words, columns)
    # A copy of the text and views of the names: changes to this frame must not affect the next.
    blocks = [(text.copy(), places[0]), (numbers, places[1])]
    frame: pd.DataFrame = make(blocks, index.view(), header.view())
    return frame


@lru_cache(maxsize=256)
def _make_text(label: str, words: tuple[str, ...], columns: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the text column, and the names of columns and rows, as pandas holds them, and the places."""
    import pandas as pd

    frame = pd.DataFrame({label: list(words), **{name: np.zeros(len(words)) for name in columns}})
    places = (np.array([0]), np.arange(1, len(columns) + 1))
    return frame[label].array, frame.columns, frame.index, places


@lru_cache(maxsize=1)
def _find_maker() -> Any:
    """Return pandas' own constructor of a frame from arrays, which versions before 3 do not have."""
    try:
        return import_module("pandas.api.internals").create_dataframe_from_blocks
    except ImportError:
        return None
