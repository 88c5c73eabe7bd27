"""Likelihood-ratio tests of nested fits.

Twice the gain in log-likelihood is referred to χ² with the number of added parameters. A variance that is
tested against zero is tested at its boundary: with one variance added, and its covariances, the reference is
an even mixture of χ² with one degree of freedom fewer and with all of them (Self & Liang 1987,
doi:10.1080/01621459.1987.10478472; Stram & Lee 1994, doi:10.2307/2533455).
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import chdtrc

from panelist.core.display.formats import P_VALUE, decimals
from panelist.core.display.result import Part, Result, Sentence, Table, json_object, pick
from panelist.core.errors import BadModel
from panelist.models.prior_words import refuse_under_prior
from panelist.numerics.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd

    from panelist.models.results.fitted import Fit

_WITHIN = 1e-7  # share of a column that may lie outside the larger model
_WORSE = 1e-4  # log-likelihood that a larger model may lose to rounding


@dataclass(frozen=True)
class ModelStep:
    """One model against the next larger one; ``p_boundary`` is None where no variance is tested."""

    smaller: str
    larger: str
    chisq: float
    df: int
    p: float
    p_boundary: float | None = None


@dataclass(frozen=True)
class LikelihoodRatio(Result):
    """The tests of nested fits, smallest first; ``chisq``, ``df`` and ``p`` are those of the last."""

    formulas: tuple[str, ...]
    n_parameters: tuple[int, ...]
    logliks: tuple[float, ...]
    steps: tuple[ModelStep, ...]
    n: int
    notes: tuple[str, ...] = ()

    @property
    def chisq(self) -> float:
        """Twice the gain in log-likelihood."""
        return self.steps[-1].chisq

    @property
    def df(self) -> int:
        """The number of parameters added."""
        return self.steps[-1].df

    @property
    def p(self) -> float:
        """The p-value by plain χ², as R gives it; conservative where a variance is tested."""
        return self.steps[-1].p

    @property
    def p_boundary(self) -> float | None:
        """The p-value by the even mixture, where exactly one variance is tested."""
        return self.steps[-1].p_boundary

    def table(self) -> "pd.DataFrame":
        """Return one row per model: formula, n_parameters, loglik, aic, chisq, df, p, p_boundary."""
        import pandas as pd

        aic = 2.0 * np.array(self.n_parameters) - 2.0 * np.array(self.logliks)
        frame = pd.DataFrame(
            {
                "formula": list(self.formulas),
                "n_parameters": list(self.n_parameters),
                "loglik": list(self.logliks),
                "aic": aic,
            }
        )
        for name in ("chisq", "df", "p", "p_boundary"):
            values = [getattr(step, name) for step in self.steps]
            frame[name] = [np.nan, *(np.nan if value is None else float(value) for value in values)]
        return frame

    def title(self) -> str:
        """Return the heading."""
        return f"Likelihood-ratio test of nested models, {self.n} ratings"

    def parts(self) -> list[Part]:
        """Return the table and the notes."""
        columns = {"n_parameters": "parameters", "loglik": "log-likelihood", "aic": "AIC", "chisq": "χ²"}
        shown = self.table()
        if shown["p_boundary"].isna().all():
            shown = shown.drop(columns="p_boundary")
        shown = shown.rename(columns=columns | {"p_boundary": "p, mixture"})
        formats = {"χ²": decimals(3), "df": decimals(0), "p": P_VALUE, "AIC": decimals(2)}
        if "p, mixture" in shown:
            formats["p, mixture"] = P_VALUE
        table = Table.from_frame("Models, each against the one above it", shown, formats)
        return [table, *(Sentence(f"Note: {note}.") for note in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Return chisq, df, p of the last test, all models, and the notes."""
        return json_object(
            {
                **pick(self, "chisq df p p_boundary n"),
                "models": self.table().to_dict("records"),
                "notes": self.notes,
            }
        )


def compare_fits(*fits: "Fit") -> LikelihoodRatio:
    """Return the likelihood-ratio tests of nested fits, each against the next larger one.

    The order in which they are given does not matter. Raises BadModel where they are not nested, or were
    not fitted to the same ratings. REML fits are refitted by ML unless their fixed effects are the same.
    """
    if len(fits) < 2:
        raise BadModel(f"A likelihood-ratio test compares two fits or more. Got {len(fits)}.")
    for fit in fits:
        refuse_under_prior(fit.prior, "lrt")
    row = sorted(fits, key=lambda fit: fit.n_parameters)
    for smaller, larger in pairwise(row):
        _check_data(smaller, larger)
        _check_nested(smaller, larger)
    row, notes = _use_ml(row)
    steps = []
    for smaller, larger in pairwise(row):
        step, about = _test(smaller, larger)
        steps.append(step)
        notes += about
    for fit in row:
        if not fit.converged:
            notes.append(f"the fit of {fit.written} has not converged, so its test means nothing")
    return LikelihoodRatio(
        tuple(fit.written for fit in row),
        tuple(fit.n_parameters for fit in row),
        tuple(fit.loglik for fit in row),
        tuple(steps),
        row[0].n,
        tuple(dict.fromkeys(notes)),
    )


def _test(smaller: "Fit", larger: "Fit") -> tuple[ModelStep, list[str]]:
    notes = []
    gain = larger.loglik - smaller.loglik
    if gain < -_WORSE:
        notes.append(
            f"{larger.written} fits worse than {smaller.written}, which is part of it, by {-gain:.3g} in "
            "log-likelihood: it had not reached its optimum, and χ² is set to zero"
        )
    chisq, df = max(2.0 * gain, 0.0), larger.n_parameters - smaller.n_parameters
    added = _count_variances(larger) - _count_variances(smaller)
    mixture = None
    if added == 1:
        fewer = float(chdtrc(df - 1, chisq)) if df > 1 else float(chisq <= 0.0)
        mixture = 0.5 * (fewer + float(chdtrc(df, chisq)))
        notes.append(
            "a variance cannot be negative, so the test of one is at its boundary, and plain p is too "
            f"large: p, mixture is from an even mixture of χ² with {df - 1} and {df} degrees of freedom "
            "(Self & Liang 1987)"
        )
    elif added > 1:
        notes.append(
            f"{added} variances are tested at once, each at its boundary: plain p is too large, by an amount "
            "that has no simple formula; simulate from the smaller model where it matters"
        )
    return ModelStep(smaller.written, larger.written, chisq, df, float(chdtrc(df, chisq)), mixture), notes


def drop_effect(fit: "Fit", L: Floats) -> float:
    """Return twice the log-likelihood that an ordinal model loses with Lβ held at zero, all else at its best.

    The random part, thresholds and spreads stay in the model.
    """
    from panelist.models.inference.bootstrap import solve_again

    refuse_under_prior(fit.prior, "lrt")
    X = np.ascontiguousarray(fit.design.X @ free_directions(L).T)
    solution = solve_again(fit, replace(fit.design, X=X))
    if solution is None or not solution.optimum.converged:
        return float("nan")
    return max(2.0 * (fit.loglik - solution.loglik), 0.0)


def free_directions(L: Floats) -> Floats:
    """Return rows that span the β with Lβ = 0."""
    _, values, rows = np.linalg.svd(np.atleast_2d(L))
    free: Floats = rows[int((values > 1e-10 * values.max(initial=0.0)).sum()) :]
    return free


def _count_variances(fit: "Fit") -> int:
    return sum(len(factor.columns) for factor in fit.design.every_factor)


def _use_ml(row: list["Fit"]) -> tuple[list["Fit"], list[str]]:
    """Return the fits by one criterion: restricted likelihoods compare only where X is the same."""
    restricted = [fit for fit in row if fit.method == "REML"]
    if not restricted:
        return row, []
    X = restricted[0].design.X
    same = all(fit.design.X.shape == X.shape and np.allclose(fit.design.X, X) for fit in restricted)
    if same and len(restricted) == len(row):
        return row, ["the restricted likelihoods (REML) are compared, as the fixed effects are the same"]
    from panelist.models.solvers.lmm import solve_lmm

    refitted = []
    for fit in row:
        if fit.method == "REML":
            solution, uncertainty = solve_lmm(fit.design, False)
            fit = replace(fit, method="ML", solution=solution, uncertainty=uncertainty)
        refitted.append(fit)
    return refitted, [
        "REML fits were refitted by ML, as restricted likelihoods of different models cannot be compared"
    ]


# ---- may they be compared? ---------------------------------------------------------------------------------
def _check_data(smaller: "Fit", larger: "Fit") -> None:
    names = f"{smaller.written!r} and {larger.written!r}"
    if smaller.ordinal != larger.ordinal:
        raise BadModel(
            f"{names} are a {smaller.model} and a {larger.model}: an ordinal and a linear model have no "
            "common likelihood. Compare fits of one family."
        )
    if smaller.link != larger.link:
        raise BadModel(
            f"{names} have the links {smaller.link} and {larger.link}, so neither is part of the other. "
            "Fit both with one link; models with different links compare by AIC."
        )
    if smaller.family != larger.family:
        raise BadModel(
            f"{names} are of the families {smaller.family} and {larger.family}, so neither is part of the "
            "other. Fit both with one family; models of different families compare by AIC."
        )
    if smaller.design.response != larger.design.response:
        raise BadModel(
            f"The responses differ: {smaller.design.response!r} and {larger.design.response!r}. "
            "Compare fits of the same ratings."
        )
    if smaller.n != larger.n:
        raise BadModel(
            f"{names} use {smaller.n} and {larger.n} ratings, probably because a variable of one of them has "
            "missing values. Leave these rows out of the data first, then fit both."
        )
    same = (
        np.array_equal(smaller.design.codes, larger.design.codes)  # type: ignore[arg-type]
        if smaller.ordinal
        else np.array_equal(smaller.design.y, larger.design.y)
    )
    if not same or not np.array_equal(smaller.design.rows, larger.design.rows):
        raise BadModel(f"{names} were fitted to different ratings. Fit both to the same rows.")
    mixed = {fit.method for fit in (smaller, larger) if fit.model == "clmm"}
    if len(mixed) > 1:
        raise BadModel(
            f"{names} approximate the likelihood in different ways, {' and '.join(sorted(mixed))}. "
            "Fit both with the same number of quadrature points."
        )


def _check_nested(smaller: "Fit", larger: "Fit") -> None:
    if smaller.n_parameters == larger.n_parameters:
        raise BadModel(
            f"{smaller.written!r} and {larger.written!r} have {smaller.n_parameters} parameters each, so "
            "neither is part of the other. Compare them by AIC."
        )
    lost = []
    if not _spans(_fixed_columns(larger), _fixed_columns(smaller)):
        lost.append("fixed effects")
    for what in ("nominal", "scale"):
        if not _spans(_side_columns(larger, what), _side_columns(smaller, what)):
            lost.append(f"{what} effects")
    if smaller.structure and larger.structure and not _spans(larger.structure.J, smaller.structure.J):
        lost.append(f"{smaller.structure.kind} thresholds")
    within = {factor.name: factor for factor in larger.design.factors}
    for factor in smaller.design.factors:
        if factor.name not in within or not _spans(within[factor.name].Z, factor.Z):
            lost.append(f"random effects of {factor.name}")
    if smaller.design.stretch is not None:
        outer = larger.design.stretch
        if outer is None or outer.name != smaller.design.stretch.name:
            lost.append(f"random spreads of {smaller.design.stretch.name}")
    if lost:
        raise BadModel(
            f"{smaller.written!r} is not part of {larger.written!r}: its {' and '.join(lost)} cannot be "
            "expressed there. A likelihood-ratio test needs nested models; compare others by AIC."
        )


def _fixed_columns(fit: "Fit") -> Floats:
    """Return X, with the intercept that thresholds replace and the locations that nominal ones contain."""
    return np.column_stack([_side_columns(fit, "nominal"), fit.design.X]) if fit.ordinal else fit.design.X


def _side_columns(fit: "Fit", what: str) -> Floats:
    """Return the columns of nominal or scale effects, and an intercept."""
    ones, side = np.ones((len(fit.design.X), 1)), getattr(fit.design, what)
    return ones if side is None else np.hstack([ones, side.matrix])


def _spans(outer: Floats, inner: Floats) -> bool:
    """Return whether every column of ``inner`` is a combination of columns of ``outer``."""
    rest = inner - outer @ np.linalg.lstsq(outer, inner, rcond=None)[0]
    return bool(np.all(np.linalg.norm(rest, axis=0) <= _WITHIN * np.linalg.norm(inner, axis=0)))
