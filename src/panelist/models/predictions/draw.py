"""Ratings drawn from a fitted model, for the rows that it was fitted to."""

from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.core.errors import UnknownName, did_you_mean
from panelist.core.numbers import check_count
from panelist.core.seeds import stream
from panelist.models.predictions.new_rows import own_rows
from panelist.models.predictions.predict import (
    category_values,
    row_probabilities,
    row_spreads,
    row_thresholds,
)
from panelist.numerics.arrays import Floats, Ints

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit

EFFECTS = ("new", "modes")


def simulate(fit: "Fit", n: int = 1, seed: int = 0, effects: str = "new") -> Any:
    """Return n sets of ratings for the rows of the fit, an array (n, rows).

    With ``effects="new"`` every set has its own raters and items, drawn from their estimated distribution
    (the parametric bootstrap); with "modes" they keep their conditional modes. Ratings are numbers where
    the categories are numbers, else their labels. The k-th set depends on ``seed`` and k alone.
    """
    check_count("simulated sets", n)
    draws = [_draw(fit, stream(seed, "simulate", k), effects) for k in range(n)]
    return np.stack(draws)


def simulate_codes(fit: "Fit", rng: np.random.Generator, effects: str = "new") -> Ints:
    """Return one set of category codes 0..K-1 of an ordinal model, one code per row of the fit."""
    assert fit.link is not None
    latent = _draw_eta(fit, rng, effects)
    if fit.is_plain:
        latent += draw_noise(fit.link, rng, fit.n)
        return np.searchsorted(fit.threshold_values, latent, side="left").astype(np.int32)
    rows = own_rows(fit.design)
    if fit.family == "cumulative":
        drawn_spreads = None
        if effects == "new" and fit.design.stretch is not None:
            drawn_spreads = fit.solution.omega * rng.standard_normal(len(fit.design.stretch.levels))
        latent += row_spreads(fit, rows, drawn_spreads) * draw_noise(fit.link, rng, fit.n)
        passed: Ints = (row_thresholds(fit, rows) < latent[:, None]).sum(axis=1).astype(np.int32)
        return passed
    table = row_probabilities(fit, rows, latent, np.zeros(fit.n))
    up_to = np.cumsum(table[:, :-1], axis=1)
    drawn: Ints = (up_to < rng.random(fit.n)[:, None]).sum(axis=1).astype(np.int32)
    return drawn


def simulate_numbers(fit: "Fit", rng: np.random.Generator, effects: str = "new") -> Floats:
    """Return one set of ratings of a linear model, one number per row of the fit."""
    drawn: Floats = _draw_eta(fit, rng, effects) + fit.sigma * rng.standard_normal(fit.n)
    return drawn


def draw_noise(link: str, rng: np.random.Generator, n: int) -> Floats:
    """Return n latent residuals, with the link's F as their distribution."""
    if link == "probit":
        return rng.standard_normal(n)
    if link == "logit":
        return rng.logistic(size=n)
    if link == "cauchit":
        return rng.standard_cauchy(n)
    extreme = np.log(rng.standard_exponential(n))  # P(log E ≤ x) = 1 − exp(−exp(x))
    return extreme if link == "cloglog" else -extreme


def _draw(fit: "Fit", rng: np.random.Generator, effects: str) -> Any:
    if fit.ordinal:
        return category_values(fit)[simulate_codes(fit, rng, effects)]
    return simulate_numbers(fit, rng, effects)


def _draw_eta(fit: "Fit", rng: np.random.Generator, effects: str) -> Floats:
    if effects not in EFFECTS:
        raise UnknownName(f"No choice of effects is called {effects!r}. {did_you_mean(effects, EFFECTS)}")
    eta: Floats = fit.design.X @ fit.beta
    for place, factor in enumerate(fit.design.factors):
        if effects == "modes":
            b = fit.solution.modes[place]
        else:
            u = rng.standard_normal((len(factor.levels), len(factor.columns)))
            b = fit.sigma * u @ fit.solution.lambdas[place].T
        eta += np.einsum("ij,ij->i", factor.Z, b[factor.index])
    return eta
