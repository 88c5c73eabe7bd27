"""What a fit with a prior says of itself: what was assumed, and what the data alone leave without a limit."""

from typing import TYPE_CHECKING

import numpy as np

from panelist.core.prose import count
from panelist.models.inference.contrasts import estimate_means
from panelist.models.prior_words import WEAK_SCALE
from panelist.numerics.arrays import Floats

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit

_MOST_TOLD = 3  # separated levels, or effects, that get a sentence


def describe_prior(fit: "Fit") -> list[str]:
    """Return the sentences on the prior of a fit; none where it has none."""
    prior = fit.solution.prior
    if prior is None:
        return []
    said = f"{prior.phrase}, that is, {prior.explain()}: estimates and standard errors are of the likelihood "
    notes = [f"{said}penalised by it, and the log-likelihood shown is without it", *_tell_separated(fit)]
    if len(fit.solution.penalty.back) > len(fit.beta):
        notes.append(
            "these ratings do not limit how far random effects may spread, so that their standard deviations "
            f"have a prior too, normal with a scale of {WEAK_SCALE:g} latent SDs: do not interpret large ones"
        )
    return notes


def _tell_separated(fit: "Fit") -> list[str]:
    loose = fit.find_loose(np.eye(len(fit.beta)))
    if not loose.any() or not np.isfinite(fit.loglik):
        return []
    betas = (fit.beta, *(_solve_rescaled(fit, by) for by in (0.5, 2.0)))
    told = [_tell_level(fit, betas, *one) for one in find_pure_levels(fit)]
    if not told:
        places = np.flatnonzero(loose).tolist()
        told = [_tell_effect(fit, betas, place) for place in places]
    more = [f"the same holds for {len(told) - _MOST_TOLD} more"] if len(told) > _MOST_TOLD else []
    return told[:_MOST_TOLD] + more


def find_pure_levels(fit: "Fit") -> list[tuple[str, str, int, int]]:
    """Return the levels of fixed factors whose ratings are all lowest or all highest: factor, level, how many
    ratings, and their category.
    """
    codes, last = fit.design.codes, len(fit.design.categories) - 1
    assert codes is not None
    found = []
    data = fit.design.fixed.data
    for name, levels in fit.design.fixed.levels.items():
        by_level = data[name].to_numpy()
        for level in levels:
            own = codes[by_level == level]
            if len(own) and (own.max() == 0 or own.min() == last):
                found.append((name, level, len(own), int(own[0])))
    return found


def _tell_level(fit: "Fit", betas: tuple[Floats, ...], term: str, level: str, n: int, category: int) -> str:
    prior = fit.solution.prior
    assert prior is not None
    means = estimate_means(fit, term)
    own, top = means.levels.index(level), category > 0
    away = (means.L[own] - means.L) * (1.0 if top else -1.0)
    distance = away @ fit.beta
    distance[own] = np.inf
    nearest = int(np.argmin(distance))
    at, half, double = (_show(away[nearest] @ beta) for beta in betas)
    side, ahead = ("above", "ahead") if top else ("below", "behind")
    return (
        f"all {count(n, 'rating')} of {term} {level} are {fit.design.categories[category]}: by likelihood "
        f"alone its distance from the others has no limit. {_begin(prior.phrase)} ({term}s within about "
        f"{prior.scale:g} latent SDs of their mean) it is {at} {side} {means.levels[nearest]}; half and "
        f"double that SD give {half} and {double}. The data say that {level} is {ahead}; by how much is "
        "the prior's"
    )


def _tell_effect(fit: "Fit", betas: tuple[Floats, ...], place: int) -> str:
    prior = fit.solution.prior
    assert prior is not None
    at, half, double = (_show(beta[place]) for beta in betas)
    return (
        "separated: the fixed effects predict some ratings without error, so that by likelihood alone "
        f"{fit.names[place]} has no limit. {_begin(prior.phrase)} (SD {prior.scale:g}) it is {at}; half and "
        f"double that SD give {half} and {double}. Its direction is the data's, its size the prior's"
    )


def _show(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _begin(phrase: str) -> str:
    return phrase[0].upper() + phrase[1:]


def _solve_rescaled(fit: "Fit", by: float) -> Floats:
    """Return the fixed effects with the scale of the prior multiplied."""
    from panelist.models.solvers.clm import solve_clm
    from panelist.models.solvers.clmm import solve_clmm

    assert fit.link is not None
    assert fit.structure is not None
    own = fit.solution.penalty
    fixed = np.abs(own.rows[:, : len(fit.beta)]).max(axis=1) > 0.0  # the others are of spreads
    penalty = own._replace(scale=np.where(fixed, by, 1.0) * own.scale)
    solve = solve_clm if fit.model == "clm" else solve_clmm
    return solve(fit.design, fit.link, fit.structure, penalty).beta
