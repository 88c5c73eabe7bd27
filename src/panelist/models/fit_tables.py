"""How a fit shows itself: its summary and its tables."""

from typing import TYPE_CHECKING

import numpy as np

from panelist.core.formats import P_VALUE, TEXT, decimals
from panelist.core.result import Table

if TYPE_CHECKING:
    from panelist.models.fitted import Fit


def summarise(fit: "Fit") -> list[tuple[str, str]]:
    """Return counts, likelihood and how the search ended."""
    rows = [("ratings", str(fit.n))]
    rows += [(f"{factor.name}", f"{len(factor.levels)} levels") for factor in fit.design.factors]
    rows.append(("log-likelihood", f"{fit.loglik:.4f} with {fit.n_parameters} parameters"))
    rows.append(("AIC, BIC", f"{fit.aic:.2f}, {fit.bic:.2f}"))
    state = "converged" if fit.converged else f"NOT converged: {fit.optimum.reason}"
    rows.append(("optimum", state + (", singular" if fit.singular else "")))
    return rows


def tabulate_coefficients(fit: "Fit") -> Table:
    """Return the fixed effects with their tests."""
    t = fit.model != "clm" and (not fit.ordinal or fit.uncertainty is not None)
    columns = ["term", "estimate", "se", "statistic", *(["df"] if t else []), "p"]
    shown = fit.coefficients[columns].rename(columns={"statistic": "t" if t else "z"})
    formats = {"estimate": decimals(4), "se": decimals(4), "p": P_VALUE, "term": TEXT}
    if t:
        formats["df"] = decimals(1)
    note = ""
    if fit.ordinal and t:
        ratio = float(fit.widen(np.eye(len(fit.beta))).max())
        note = "t allows for few raters and items"
        note += f": estimate / (se × up to {ratio:.2f})" if ratio >= 1.005 else ""
    return Table.from_frame("Fixed effects", shown, formats, note)


def tabulate_thresholds(fit: "Fit") -> Table:
    """Return the thresholds with their standard errors."""
    return Table.from_frame("Thresholds", fit.thresholds, {"estimate": decimals(4), "se": decimals(4)})


def tabulate_random(fit: "Fit") -> Table:
    """Standard deviations, with the correlations with earlier terms beside them, as lme4 prints them."""
    known = {tuple(row[:3]): float(row[3]) for row in fit.correlations.to_numpy()}
    most = max(stop - start for factor in fit.design.factors for start, stop in factor.blocks)
    header = ("group", "term", "sd", *(f"r{k}" for k in range(1, most)))
    rows: list[tuple[str | float | None, ...]] = []
    for factor in fit.design.factors:
        for start, stop in factor.blocks:
            for b in range(start, stop):
                sd = float(np.sqrt(fit.covariances[factor.name][b, b]))
                earlier = [known[factor.name, factor.columns[a], factor.columns[b]] for a in range(start, b)]
                gaps: list[float | str | None] = [""] * (most - 1 - len(earlier))
                rows.append((factor.name, factor.columns[b], sd, *earlier, *gaps))
    if not fit.ordinal:
        rows.append(("residual", "", fit.sigma, *[""] * (most - 1)))
    formats = {"sd": decimals(4)} | {f"r{k}": decimals(2) for k in range(1, most)}
    note = "r: correlations with the terms above of the same group" if most > 1 else ""
    return Table("Random effects", header, rows, formats, note)
