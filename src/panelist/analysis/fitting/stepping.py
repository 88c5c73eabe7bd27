"""From the largest random part that the design supports down to one that the ratings support.

A fit that fails or does not converge steps down. So does one whose slopes lack full rank, but only in the
factors at fault, and only where the smaller model is not clearly worse: a singular fit is an optimum like any
other, and a model that the likelihood rejects leaves out what raters really do (Matuschek, Kliegl, Vasishth,
Baayen & Bates 2017, doi:10.1016/j.jml.2017.01.001, compare the two by a likelihood ratio at .2).
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from panelist.analysis.fitting.choose import groups_at_fault, zero_terms
from panelist.core.errors import BadModel
from panelist.core.notes import Note
from panelist.models.random_part import RandomPart
from panelist.numerics.arrays import Floats

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit

WORSE = 0.2  # the p-value of the likelihood ratio below which the smaller model is not taken


class Tried(Protocol):
    """What the rule needs of a fit."""

    @property
    def converged(self) -> bool: ...  # noqa: D102
    @property
    def singular(self) -> bool: ...  # noqa: D102
    @property
    def loglik(self) -> float: ...  # noqa: D102
    @property
    def n_parameters(self) -> int: ...  # noqa: D102
    @property
    def variance_components(self) -> Mapping[str, Floats]: ...  # noqa: D102


@dataclass(frozen=True)
class Stepped:
    """The fit that was kept, its random part, and a sentence for each step."""

    fit: Any
    part: RandomPart
    notes: tuple[str, ...]


Steps = Generator[RandomPart, Tried | BadModel, Stepped]


def fit_largest(part: RandomPart, fit_formula: "Callable[[str], Fit]") -> Stepped:
    """Return the first fit, from ``part`` down, that converged and that no smaller one matches."""
    steps = step_down(part)
    wanted = next(steps)
    while True:
        got: Fit | BadModel
        try:
            got = fit_formula(wanted.formula())
        except BadModel as error:
            got = error
        try:
            wanted = steps.send(got)
        except StopIteration as end:
            return _tell_limits(end.value)


def step_down(part: RandomPart) -> Steps:
    """Yield the random parts to fit, one after the other, receive their fits, and return the one to keep.

    The caller sends the result for the part given, a fit or the BadModel raised: one data set or a thousand
    of them take the same steps.
    """
    notes: list[str] = []
    fitted: Tried | None = None
    while True:
        trouble = ""
        if fitted is None:
            got = yield part
            if isinstance(got, BadModel):
                if part.lower(_suspects(part)) is None:
                    raise got
                trouble = f"could not be fitted: {got}"
            else:
                fitted = got
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
        taken = yield from _take_smaller(part, fitted, notes)
        if taken is None:
            break
        part, fitted = taken
    return Stepped(fitted, part, tuple(notes))


def _tell_limits(kept: Stepped) -> Stepped:
    """Return what was kept, with a sentence on variances of zero and on a search that did not converge."""
    fitted, notes = kept.fit, list(kept.notes)
    if fitted.singular and (zero := zero_terms(fitted.random)):
        prior = " (--prior weak keeps it from zero)" if getattr(fitted, "ordinal", False) else ""
        notes.append(
            f"The variance of {' and of '.join(zero)} is estimated as zero: the estimates are those of the "
            f"model without it{prior}."
        )
    if not fitted.converged:
        notes.append("The fit did not converge, not even the smallest: do not rely on these numbers.")
    return Stepped(fitted, kept.part, tuple(notes))


def _suspects(part: RandomPart) -> set[str]:
    """Return the groups that step down where it is not known which one is at fault."""
    slopes = {group for group, shape in part.shapes.items() if shape == "slopes"}
    return slopes or {group for group, shape in part.shapes.items() if shape == "cells"}


def _take_smaller(
    part: RandomPart, fitted: Tried, notes: list[str]
) -> Generator[RandomPart, Tried | BadModel, tuple[RandomPart, Tried] | None]:
    """Return a smaller model in place of a singular one, None where the present one stays."""
    if not fitted.singular:
        return None
    fault = groups_at_fault(fitted.variance_components, part.shapes)
    if not fault:
        return None
    ways = [fault, *({group} for group in sorted(fault))] if len(fault) > 1 else [fault]
    lost = 0.0
    for groups in ways:
        lower = part.lower(groups)
        if lower is None:
            continue
        smaller = yield lower
        if isinstance(smaller, BadModel):
            continue
        lost = fitted.loglik - smaller.loglik
        if smaller.converged and not _is_worse(lost, fitted.n_parameters - smaller.n_parameters):
            trouble = "was singular: it asks for more than these data can support."
            prior = " --prior weak keeps the larger one." if getattr(fitted, "ordinal", False) else ""
            notes.append(_tell_step(part, trouble, lower, prior))
            return lower, smaller
    notes.append(
        f"{part.formula()} is singular (a variance or a correlation is at its limit) and was kept: a smaller "
        f"model loses {lost:.1f} in log-likelihood, more than chance explains."
    )
    return None


def _is_worse(lost: float, df: int) -> bool:
    from scipy.special import chdtrc

    return bool(float(chdtrc(max(df, 1), max(2.0 * lost, 0.0))) < WORSE)


def _tell_step(part: RandomPart, trouble: str, lower: RandomPart, more: str = "") -> str:
    said = f"{part.formula()} {trouble} The next smaller model was taken, {lower.formula()}.{more}"
    return Note("reduced", said)
