"""From the largest random part that the design bears down to one that the ratings bear.

A fit that fails or does not converge steps down. So does one whose slopes lack full rank, but only in the
factors at fault, and only where the smaller model is not clearly worse: a singular fit is an optimum like any
other, and a model that the likelihood rejects leaves out what raters really do (Matuschek, Kliegl, Vasishth,
Baayen & Bates 2017, doi:10.1016/j.jml.2017.01.001, compare the two by a likelihood ratio at .2).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from panelist.analysis.choose import groups_at_fault, zero_terms
from panelist.core.errors import BadModel
from panelist.models.random_part import RandomPart

if TYPE_CHECKING:
    from panelist.models.fitted import Fit

WORSE = 0.2  # the p-value of the likelihood ratio below which the smaller model is not taken


@dataclass(frozen=True)
class Stepped:
    """The fit that was kept, its random part, and a sentence for each step."""

    fit: "Fit"
    part: RandomPart
    notes: tuple[str, ...]


def fit_largest(part: RandomPart, fit_formula: "Callable[[str], Fit]") -> Stepped:
    """Return the first fit, from ``part`` down, that converged and that no smaller one matches."""
    notes: list[str] = []
    fitted: Fit | None = None
    while True:
        trouble = ""
        try:
            fitted = fit_formula(part.formula()) if fitted is None else fitted
        except BadModel as error:
            if part.lower(_suspects(part)) is None:
                raise
            trouble = f"could not be fitted: {error}"
        if fitted is not None and not fitted.converged:
            trouble = "did not converge."
        if trouble:
            lower = part.lower(_suspects(part))
            if lower is None:
                break
            notes.append(_tell_step(part, trouble, lower))
            part, fitted = lower, None
            continue
        assert fitted is not None
        taken = _take_smaller(part, fitted, fit_formula, notes)
        if taken is None:
            break
        part, fitted = taken
    assert fitted is not None
    if fitted.singular and (zero := zero_terms(fitted.random)):
        notes.append(
            f"The variance of {' and of '.join(zero)} is estimated as zero: the estimates are those of the "
            "model without it."
        )
    if not fitted.converged:
        notes.append("The fit did not converge, not even the smallest: do not rely on these numbers.")
    return Stepped(fitted, part, tuple(notes))


def _suspects(part: RandomPart) -> set[str]:
    """Return the groups that step down where it is not known which one is at fault."""
    slopes = {group for group, shape in part.shapes.items() if shape == "slopes"}
    return slopes or {group for group, shape in part.shapes.items() if shape == "cells"}


def _take_smaller(
    part: RandomPart, fitted: "Fit", fit_formula: "Callable[[str], Fit]", notes: list[str]
) -> "tuple[RandomPart, Fit] | None":
    """Return a smaller model in place of a singular one, None where the present one stays."""
    if not fitted.singular:
        return None
    fault = groups_at_fault(fitted.random, fitted.correlations, part.shapes)
    if not fault:
        return None
    ways = [fault, *({group} for group in sorted(fault))] if len(fault) > 1 else [fault]
    lost = 0.0
    for groups in ways:
        lower = part.lower(groups)
        if lower is None:
            continue
        try:
            smaller = fit_formula(lower.formula())
        except BadModel:
            continue
        lost = fitted.loglik - smaller.loglik
        if smaller.converged and not _is_worse(lost, fitted.n_parameters - smaller.n_parameters):
            trouble = "was singular: it asks more of these data than they hold."
            notes.append(_tell_step(part, trouble, lower))
            return lower, smaller
    notes.append(
        f"{part.formula()} is singular (a variance or a correlation is at its limit) and was kept: a smaller "
        f"model loses {lost:.1f} in log-likelihood, more than chance explains."
    )
    return None


def _is_worse(lost: float, df: int) -> bool:
    from scipy.special import chdtrc

    return bool(float(chdtrc(max(df, 1), max(2.0 * lost, 0.0))) < WORSE)


def _tell_step(part: RandomPart, trouble: str, lower: RandomPart) -> str:
    return f"{part.formula()} {trouble} The next smaller model was taken, {lower.formula()}."
