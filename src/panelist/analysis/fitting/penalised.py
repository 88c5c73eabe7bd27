"""The largest random part with a prior: it is kept as it is, since a prior keeps its spreads from zero."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from panelist.analysis.fitting.stepping import Stepped, fit_largest
from panelist.core.errors import BadModel
from panelist.models.prior_words import Prior, parse_prior
from panelist.models.random_part import RandomPart

if TYPE_CHECKING:
    from panelist.analysis.spec import AnalysisSpec
    from panelist.analysis.systems.comparison import CriterionComparison
    from panelist.models.results.fitted import Fit


def read_prior(spec: "AnalysisSpec", model: str) -> Prior | None:
    """Return the prior that an analysis has with this model: linear models have none."""
    return parse_prior(spec.prior) if model in ("clm", "clmm") else None


def refuse_linear(prior: str | None, family: str, model: str) -> None:
    """Raise BadModel where a prior or a family is asked for together with a model that has none."""
    if family != "cumulative" and model not in ("auto", "clm", "clmm"):
        raise BadModel(
            f"The family {family!r} belongs to the ordinal models, clmm and clm, and model={model!r} was "
            "asked for. Leave one of the two out."
        )
    if parse_prior(prior) is not None and model not in ("auto", "clm", "clmm"):
        raise BadModel(
            f"A prior belongs to the ordinal models, clmm and clm, and model={model!r} was asked for. Leave "
            "one of the two out."
        )


def fit_random(
    part: RandomPart, fit_formula: "Callable[[str], Fit]", prior: Prior | None
) -> "tuple[Fit, RandomPart, tuple[str, ...]]":
    """Return the fit that is kept, its random part, and what was done: with a prior nothing is taken out."""
    if prior is None or prior.strength is None:
        kept: Stepped = fit_largest(part, fit_formula)
        return kept.fit, kept.part, kept.notes
    fitted = fit_formula(part.formula())
    notes: list[str] = []
    if part.shapes:
        said = f"{part.formula()} is the largest model that the design supports, and it is kept as it is "
        notes.append(f"{said}{prior.phrase}: no random term was taken out.")
    if not fitted.converged:
        notes.append("The fit did not converge: do not rely on these numbers.")
    return fitted, part, tuple(notes)


def mark_prior(made: "CriterionComparison", prior: Prior | None, wanted: str | None) -> "CriterionComparison":
    """Return the comparison with the prior named, and marked where only the prior keeps a number finite.

    ``wanted`` is the prior that was asked for; a linear model says that it has none.
    """
    if prior is None:
        if parse_prior(wanted) is None:
            return made
        note = f"The prior ({wanted}) belongs to ordinal models: this one has none."
        return replace(made, notes=(*made.notes, note))
    pairs = tuple(
        replace(pair, prior=bool(np.isnan(pair.p) and np.isfinite(pair.difference) and np.isfinite(pair.se)))
        for pair in made.pairs
    )
    alone = {pair.a for pair in pairs} | {pair.b for pair in pairs}
    alone -= {name for pair in pairs if not pair.prior for name in (pair.a, pair.b)}
    systems = tuple(replace(one, prior=one.system in alone) for one in made.systems)
    return replace(made, pairs=pairs, systems=systems, prior=prior.words, prior_phrase=prior.phrase)
