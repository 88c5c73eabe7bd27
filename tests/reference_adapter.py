"""What the tests of reference fits ask of Panelist: each question in one place, answered under R's names.

Only this module knows how a ``Fit`` is asked; the tests know numbers. A fit is made once a process, whatever
the number of tests that ask for it.
"""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from panelist.core.tables.ratings import read_ratings
from panelist.models.fit import fit
from panelist.models.inference.contrasts import contrast_pairs, estimate_means
from tests.reference_cases import Case, Floats, Modes, Row, group_key, level_key, r_names


@cache
def fit_case(case: Case) -> Any:
    """Return Panelist's fit of the case."""
    options: dict[str, Any] = {}
    if case.model == "lmm":
        options = {"method": case.method}
    if case.model in ("clm", "clmm"):
        options = {"link": case.link, "threshold": case.threshold}
    if case.model == "clmm":
        options |= {"quadrature": case.quadrature, "test": "z"}  # R has z
    return fit(case.formula, read_ratings(case.frame()), model=case.model, **options)


# ---- tables of the fit ---------------------------------------------------------------------------
def coefficients(fitted: Any) -> dict[str, Row]:
    """Return the coefficients: estimate, se, statistic, df, p."""
    return _by_r_name(fitted.coefficients, "term")


def with_kenward_roger(fitted: Any) -> Any:
    """Return the same fit with Kenward and Roger's covariance and degrees of freedom, not Satterthwaite's.

    Its coefficients, its F tests and, through ``vcov`` and ``degrees``, its contrasts are then theirs.
    """
    return fitted.with_degrees("kenward-roger")


def thresholds(fitted: Any) -> dict[str, Row]:
    """Return the thresholds themselves, whatever structure they were estimated in: estimate, se."""
    count = len(fitted.param_names) - len(fitted.names)
    errors = np.sqrt(np.diag(fitted.cov_params))
    found = zip(fitted.param_names[:count], fitted.params, errors, strict=False)
    return {str(name): {"estimate": float(estimate), "se": float(se)} for name, estimate, se in found}


def anova(fitted: Any) -> dict[str, Row]:
    """Return the tests of type III of the fixed terms: num_df, den_df, F, p; names without their coding."""
    rows = _records(fitted.anova().table())
    return {_plain_term(str(row["term"])): dict(row) for row in rows}


def deviations(fitted: Any) -> dict[tuple[str, str], float]:
    """Return the standard deviation of each random effect, by group and term."""
    rows = _records(fitted.random)
    names = r_names([str(row["term"]) for row in rows])
    return {
        (group_key(str(row["group"])), name): float(row["sd"]) for row, name in zip(rows, names, strict=True)
    }


def correlations(fitted: Any) -> dict[tuple[str, str, str], float]:
    """Return the correlation of each pair of random effects that may have one, both ways round."""
    found = {}
    for row in _records(fitted.correlations):
        a, b = r_names([str(row["a"]), str(row["b"])])
        group = group_key(str(row["group"]))
        found[group, a, b] = found[group, b, a] = float(row["r"])
    return found


def residual_deviation(fitted: Any) -> float:
    """Return the residual standard deviation of a linear model."""
    return float(fitted.sigma)


def conditional_modes(fitted: Any) -> dict[str, Modes]:
    """Return the conditional modes and their deviations; by group."""
    found = {}
    for group, table in fitted.random_effects.groupby("group", sort=False):
        values = table.pivot_table(index="level", columns="term", values=["mode", "deviation"], sort=False)
        levels = tuple(level_key(str(group), str(level)) for level in values.index)
        columns = tuple(r_names([str(name) for name in values["mode"].columns]))
        modes, sd = (np.asarray(values[name], dtype=float) for name in ("mode", "deviation"))
        found[group_key(str(group))] = Modes(levels, columns, modes, sd)
    return found


# ---- around the fit ------------------------------------------------------------------------------
def fitted_values(fitted: Any) -> Floats:
    """Return, for each row, the fitted mean; for ordinal models the probability of the category observed."""
    predicted = fitted.predict()
    if fitted.model in ("lm", "lmm"):
        return np.asarray(predicted, dtype=float).ravel()
    table = np.asarray(predicted, dtype=float)
    observed: Floats = table[np.arange(len(table)), fitted.design.codes]
    return observed


def population_means(fitted: Any) -> Floats:
    """Return, for each row, the mean that a linear model expects of an unseen rater and item."""
    return np.asarray(fitted.predict(effects="population"), dtype=float).ravel()


def probabilities(fitted: Any, systems: list[str], raters: str) -> Floats:
    """Return the probability of each category, a row a system, for "typical" or "unseen" raters and items.

    Typical: all random effects at zero. Unseen: averaged over the raters and items there might be.
    """
    effects = {"typical": "none", "unseen": "population"}[raters]
    return np.asarray(fitted.predict(pd.DataFrame({"system": systems}), effects=effects), dtype=float)


def likelihood_ratio(small: Any, large: Any) -> Row:
    """Return chisq, df and p of the test of ``small`` within ``large``."""
    from panelist.models.inference.likelihood_ratio import compare_fits

    test = compare_fits(small, large)
    return {"chisq": float(test.chisq), "df": float(test.df), "p": float(test.p)}


def profile_intervals(fitted: Any, confidence: float = 0.95) -> dict[str, tuple[float, float]]:
    """Return the profile interval of each parameter; deviations as ``sd_(Intercept)|item``, ``sigma``."""
    found = {}
    for row in _records(fitted.intervals(method="profile", confidence=confidence).table()):
        name = str(row["term"])
        group = str(row.get("group") or "")
        if row["kind"] == "residual":
            key = "sigma"
        elif row["kind"] == "sd":
            key = f"sd_{r_names([name])[0]}|{group_key(group)}"
        else:
            key = r_names([name])[0]
        found[key] = (float(row["low"]), float(row["high"]))
    return found


def means(fitted: Any) -> dict[str, Row]:
    """Return the estimated mean of each system: estimate, se, df, low, high."""
    return {str(row["system"]): dict(row) for row in _records(estimate_means(fitted, "system").table())}


def pairs(fitted: Any, adjust: str) -> dict[tuple[str, str], Row]:
    """Return the difference a − b of each pair of systems: estimate, se, df, p_adjusted, low, high."""
    table = contrast_pairs(fitted, "system", adjust=adjust).table()
    return {(str(row["a"]), str(row["b"])): dict(row) for row in _records(table)}


def _by_r_name(table: pd.DataFrame, column: str) -> dict[str, Row]:
    rows = _records(table)
    return dict(zip(r_names([str(row[column]) for row in rows]), (dict(row) for row in rows), strict=True))


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def _plain_term(term: str) -> str:
    """Return ``system:genre`` for ``C(system, Sum):C(genre, Sum)``."""
    return ":".join(part.removeprefix("C(").split(",")[0].rstrip(")").strip() for part in term.split(":"))
