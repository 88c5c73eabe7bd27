"""What is wrong with a fit, in words that say what to do about it."""

from math import isnan

import numpy as np

from panelist.core.errors import BadModel
from panelist.core.prose import listing
from panelist.models.families import list_used
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.cells import describe_unused
from panelist.models.likelihoods.link_functions import LATENT_SD
from panelist.models.prior_notes import describe_prior, find_pure_levels
from panelist.models.results.fitted import Fit
from panelist.models.solvers.separation import find_lost
from panelist.numerics.rows import varies_within

_CONDITION = 1e8
_MET = 0.02  # latent standard deviations between two thresholds that have met, where a search stopped
_FAR = 5.0  # log of a ratio of spreads, where a search stopped: no two spreads are that different
_SMALL = 0.5  # latent standard deviations: below, Laplace is off by 2 % at most, with two ratings per level


def diagnose(fit: Fit) -> list[str]:
    """Return a sentence for each thing that a careful reader should know about the fit."""
    found = list(fit.solution.notes)
    found += _say_not_converged(fit)
    found += _say_unidentified(fit)
    if fit.ordinal:
        found += describe_prior(fit)
        found += _say_separated(fit)
        found += describe_unused(fit.cells, fit.design)
        found += _say_extreme(fit)
    if fit.method == "Laplace" and np.isfinite(fit.loglik):
        found += _say_not_trusted(fit)
    return found


def refuse_confounded(design: ModelMatrices) -> None:
    """Raise BadModel for a grouping factor whose levels the fixed effects already distinguish."""
    for factor in design.factors:
        if len(factor.levels) > design.X.shape[1] + 1 or "Intercept" not in factor.columns:
            continue
        A = np.column_stack([np.ones(len(design.X)), design.X])
        indicators = (factor.index[:, None] == np.arange(len(factor.levels))).astype(float)
        left = indicators - A @ np.linalg.lstsq(A, indicators, rcond=None)[0]
        if np.abs(left).max() < 1e-8:
            raise BadModel(
                f"The fixed effects already distinguish the {len(factor.levels)} levels of {factor.name}, "
                "so nothing is left from which to estimate how they vary. Leave the random term of "
                f"{factor.name} out, or take it out of the fixed part."
            )


def _say_not_converged(fit: Fit) -> list[str]:
    record = fit.optimum
    if fit.leaves_nothing:
        return [
            "no residual variance: the model reproduces every rating, so there is nothing "
            "to test against; simplify the model, or collect more ratings"
        ]
    if not record.converged:
        if cause := _say_crossing(fit) or _say_boundless(fit):
            return [f"not converged: {cause}"]
        simpler = (
            "Simplify the random part, first the correlations and slopes whose standard deviations are "
            "smallest"
            if fit.design.factors
            else "Leave terms out, first those beside the location"
        )
        return [
            f"not converged: {record.reason} (largest gradient {record.gradient:.2g}, condition of the "
            f"Hessian {record.condition:.2g}, {record.steps} steps); do not report these estimates. {simpler}"
        ]
    if record.condition > _CONDITION and not fit.singular and not np.isnan(fit.vcov).any():
        return [
            f"nearly unidentifiable: the condition of the Hessian is {record.condition:.2g}, so some "
            "combination of the parameters is hardly determined; rescale numbers, or simplify the model"
        ]
    return []


def _say_crossing(fit: Fit) -> str:
    """Say where thresholds of nominal effects met, and would cross; nothing where none did."""
    side = fit.design.nominal
    if side is None or fit.family != "cumulative" or not np.isfinite(fit.solution.alpha).all():
        return ""
    assert fit.structure is not None
    cells = fit.cells
    values, between = cells.values(fit.solution.alpha), fit.structure.between
    with np.errstate(invalid="ignore"):  # ∞ − ∞ beyond what a cell uses
        gaps = np.diff(values, axis=1)
    for cell, unused in enumerate(cells.unused):
        gaps[cell, [k - 1 for k in unused if 0 < k < len(between)]] = np.inf  # made one on purpose
    gaps[np.isnan(gaps)] = np.inf
    cell, place = (int(one) for one in np.unravel_index(int(gaps.argmin()), gaps.shape))
    if not gaps[cell, place] < _MET * LATENT_SD.get(str(fit.link), 1.0):
        return ""
    own = cells.index == cell
    who, category = side.label(int(np.flatnonzero(own)[0])), place + 1
    assert fit.design.codes is not None
    count = int(np.sum(fit.design.codes[own] == category))
    why = f"{count if count else 'no'} rating{'s' * (count > 1)} there {'are' if count > 1 else 'is'} "
    whole = ":".join(side.part.levels)
    joint = f"nominal='~ {whole}' gives every combination thresholds of its own; " if ":" in whole else ""
    return (
        f"the thresholds {between[place]} and {between[place + 1]} of {who} met and would cross ({why}"
        f"{fit.design.categories[category]}), but cumulative thresholds must be in order; do not report "
        f"these estimates. {joint}family='sequential' has thresholds that need no order"
    )


def _say_boundless(fit: Fit) -> str:
    """Name a level of scale effects whose spread grows, or shrinks, without limit.

    It grows where its ratings are at both ends alone; elsewhere the search shows it.
    """
    side = fit.design.scale
    if side is None or side.pooled or fit.design.codes is None:
        return ""
    ends = {0, len(fit.design.categories) - 1}
    low, high = fit.design.categories[0], fit.design.categories[-1]
    for name, used in list_used(side, fit.design.codes):
        if used == ends:
            return (
                f"every rating of {name} is {low} or {high}, the two ends, so that its spread grows without "
                f"limit; do not report these estimates. Leave scale out, or give it thresholds of its own "
                "with nominal in place of scale"
            )
    names = [str(name) for name in fit.scale["term"]]
    size, name = max(zip(np.abs(fit.solution.zeta).tolist(), names, strict=False), default=(0.0, ""))
    if not size > _FAR:
        return ""
    return (
        f"the spread of {name} runs off, {np.exp(size):,.0f} times the reference's or that much smaller, so "
        "that it has no finite estimate; do not report these estimates. Leave scale out, or give it "
        "thresholds of its own with nominal in place of scale"
    )


def _say_unidentified(fit: Fit) -> list[str]:
    """Name the correlated random slopes that vary within no level of their grouping factor."""
    found = []
    for factor in fit.design.factors:
        for start, stop in factor.blocks:
            if stop - start < 2 or varies_within(factor.index, len(factor.levels), factor.Z, start, stop):
                continue
            names = ", ".join(factor.columns[start:stop])
            found.append(
                f"not identified: within no {factor.name} do {names} vary, so their correlation cannot be "
                f"estimated and only the variance in each cell can; (1 | {factor.name}) asks for less"
            )
    return found


def _say_not_trusted(fit: Fit) -> list[str]:
    """Say that the Laplace approximation does not hold; it is measured only where it might not.

    With a separated effect there is no one point at which it could be measured, and that is said already.
    """
    if np.isnan(fit.vcov).any():
        return []
    unit = LATENT_SD[fit.link] if fit.link and fit.link != "cauchit" else 1.5
    if max(float(np.abs(block).max()) for block in fit.solution.lambdas) < _SMALL * unit:
        return []
    error = fit.laplace_error
    return [] if error is None or error.trusted else [error.sentence()]


def _say_separated(fit: Fit) -> list[str]:
    """Name the effects that have no finite estimate, and the levels whose ratings are all at one end."""
    variances = fit.vcov.diagonal().tolist()
    lost = [name for name, variance in zip(fit.names, variances, strict=True) if isnan(variance)]
    if not lost or not np.isfinite(fit.loglik):
        return []
    if not fit.optimum.converged and not _is_separated(fit):
        return []  # there is no standard error because there is no optimum, and that is said already
    why = _pure_levels(fit)
    because = f" ({'; '.join(why)})" if why else ""
    return [
        f"separated: the fixed effects predict some ratings without error{because}, so that the likelihood "
        f"keeps growing with {', '.join(lost)}, and there is no finite estimate, standard error or p for "
        "it. Compare the ratings directly, pool categories, or fit it with a weak prior "
        "(prior='weak', --prior weak)"
    ]


def _say_extreme(fit: Fit) -> list[str]:
    """Name the raters whose ratings alone would make their spread vanish, or grow without limit."""
    side, codes = fit.design.scale, fit.design.codes
    if side is None or not side.pooled or codes is None:
        return []
    last, found = len(fit.design.categories) - 1, []
    (variable,) = (name for name in side.part.levels if f"C({name}, Sum)" in side.part.text)
    labels = side.part.data[variable].astype(str).to_numpy()
    used = {one: set(codes[labels == one].tolist()) for one in side.part.levels[variable]}
    for words, names in (
        ("used one category", [one for one, own in used.items() if len(own) == 1]),
        ("used the two ends of the scale alone", [one for one, own in used.items() if own == {0, last}]),
    ):
        if names:
            found.append(
                f"{variable} {listing(names, None)} {words}, so that only the prior keeps the spread finite"
            )
    return found


def _is_separated(fit: Fit) -> bool:
    """Return whether the ratings themselves leave a fixed effect without a finite estimate."""
    assert fit.structure is not None
    size = len(fit.solution.joint_vcov)
    return bool(find_lost(fit.solution.beta, size, np.inf, fit.design, fit.structure, 1.0).any())


def _pure_levels(fit: Fit) -> list[str]:
    """Name the levels of fixed factors whose ratings are all lowest or all highest."""
    return [
        f"every rating of {name} {level} is {fit.design.categories[category]}"
        for name, level, _, category in find_pure_levels(fit)
    ]
