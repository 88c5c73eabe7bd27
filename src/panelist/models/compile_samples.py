"""Small fits that call, and so compile, each part of the model code once (see numerics/compile_ahead)."""

from functools import cache
from typing import Any

from panelist.core.seeds import stream

SLOPES = "rating ~ system + (system | rater) + (system | item)"
INTERCEPTS = "rating ~ system + (1 | rater)"


@cache
def make_table() -> Any:
    """Return the ratings of two systems by eight raters on ten items, with spreads that do not vanish."""
    import pandas as pd

    rng = stream(1, "warm")
    rater = rng.normal(0.0, 0.7, (8, 2))
    item = rng.normal(0.0, 0.7, (10, 2))
    rows = []
    for r in range(8):
        for i in range(10):
            for s in range(2):
                latent = 0.4 * s + rater[r, s] + item[i, s] + rng.normal()
                rows.append((f"r{r}", f"i{i}", "ab"[s], int(min(max(round(latent + 3), 1), 5))))
    return pd.DataFrame(rows, columns=["rater", "item", "system", "rating"])


def fit_ordinal() -> None:
    """Fit ordinal mixed models."""
    from panelist.models.solvers.clmm import solve_clmm

    for formula in (SLOPES, INTERCEPTS):
        solve_clmm(*_build(formula, ordinal=True))


def fit_linear() -> None:
    """Fit linear mixed models by REML and ML; their degrees of freedom compile as well."""
    from panelist.models.fit import fit

    for formula in (SLOPES, INTERCEPTS):
        for method in ("REML", "ML"):
            _ = fit(formula, make_table(), model="lmm", method=method).coefficients


def measure_errors() -> None:
    """Measure the error of the Laplace approximation at a point that need not be the estimate."""
    import numpy as np

    from panelist.models.blocks.workspaces import lend_workspace
    from panelist.models.likelihoods.level_errors import fill_errors
    from panelist.models.solvers.clmm import make_model, make_workspace
    from panelist.numerics.spectra import routine

    model = make_model(*_build(INTERCEPTS, ordinal=True))
    with lend_workspace(make_workspace, model) as space:
        space.work.u[:] = 0.0
        psi = np.array([-1.0, -0.5, 0.5, 1.0, 0.0, 0.5])
        fill_errors(model, psi, space.work, routine(), np.zeros(1), np.zeros(len(psi)))


def integrate() -> None:
    """Fit by quadrature, with nested effects and without."""
    from panelist.models.solvers.quadrature import solve_by_quadrature

    for formula in (INTERCEPTS, "rating ~ system + (1 | item) + (1 | item:system)"):
        design, link, thresholds = _build(formula, ordinal=True)
        solve_by_quadrature(design, link, thresholds, points=3)


def fit_without_random_effects() -> None:
    """Fit an ordinal model without random effects."""
    from panelist.models.fit import fit

    _ = fit("rating ~ system", make_table(), model="clm").coefficients


def _build(formula: str, ordinal: bool) -> Any:
    from panelist.core.tables.ratings import read_ratings
    from panelist.models.formulas.formula import parse_formula
    from panelist.models.formulas.matrices import build_design
    from panelist.models.likelihoods.thresholds import make_thresholds

    design = build_design(parse_formula(formula), read_ratings(make_table()), ordinal=ordinal)
    return design, "probit", make_thresholds("flexible", design.categories)
