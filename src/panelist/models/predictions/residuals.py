"""Residuals: the part of each rating that the model leaves unexplained, at the conditional modes."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import logit, ndtri

from panelist.core.errors import BadModel, UnknownName, did_you_mean
from panelist.core.seeds import stream
from panelist.models.predictions.categories import tails
from panelist.models.predictions.new_rows import own_rows
from panelist.models.predictions.predict import (
    conditional_probabilities,
    linear_predictor,
    row_spreads,
    row_thresholds,
)
from panelist.numerics.arrays import Floats

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit

KINDS = {True: ("probability", "surrogate"), False: ("response", "standardised")}  # by whether it is ordinal

# The mean of each latent residual; a Cauchy variable has none, so its median is used.
_LATENT_MEAN = {
    "probit": 0.0,
    "logit": 0.0,
    "cloglog": -np.euler_gamma,
    "loglog": np.euler_gamma,
    "cauchit": 0.0,
}


def compute_residuals(fit: "Fit", kind: str | None = None, seed: int = 0) -> "pd.Series[Any]":
    """Return one residual per row of the fit, indexed by its place in the table that was fitted.

    Ordinal models: "probability", P(Y < y) − P(Y > y), from −1 to 1, zero on average (Li & Shepherd 2012,
    doi:10.1093/biomet/asr073); or "surrogate", a draw of the latent variable between the thresholds of
    the rating, less its expectation, which follows the link's distribution if the model is right (Liu &
    Zhang 2018, doi:10.1080/01621459.2017.1292915); it depends on ``seed``. Linear models: "response",
    y less its fitted value; or "standardised", divided by σ, and in an lm also by √(1 − leverage).
    """
    kinds = KINDS[fit.ordinal]
    kind = kinds[0] if kind is None else kind
    if kind not in kinds:
        raise UnknownName(
            f"Residuals of a {fit.model} cannot be of the kind {kind!r}. {did_you_mean(kind, kinds)}"
        )
    if kind == "probability":
        values = _probability_scale(fit)
    elif kind == "surrogate":
        values = _surrogate(fit, stream(seed, "surrogate residuals"))
    else:
        eta, _ = linear_predictor(fit, own_rows(fit.design))
        values = fit.design.y - eta
        if kind == "standardised":
            values = _standardise(fit, values)
    return pd.Series(values, pd.Index(fit.design.rows), name=kind)


def _probability_scale(fit: "Fit") -> Floats:
    assert fit.design.codes is not None
    table = conditional_probabilities(fit)
    rows = np.arange(len(table))
    own = table[rows, fit.design.codes]
    below = np.cumsum(table, axis=1)[rows, fit.design.codes] - own
    above = np.cumsum(table[:, ::-1], axis=1)[rows, table.shape[1] - 1 - fit.design.codes] - own
    residual: Floats = below - above
    return residual


def _surrogate(fit: "Fit", rng: np.random.Generator) -> Floats:
    assert fit.link is not None
    assert fit.design.codes is not None
    if fit.family != "cumulative":
        raise BadModel(
            f"Surrogate residuals need one latent scale, which {fit.family} categories do not have. Use "
            "kind='probability'."
        )
    rows = own_rows(fit.design)
    eta, _ = linear_predictor(fit, rows)
    ends = np.pad(row_thresholds(fit, rows), ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
    each, spread = np.arange(fit.n), row_spreads(fit, rows)
    low, high = ((ends[each, fit.design.codes + up] - eta) / spread for up in (0, 1))
    with np.errstate(over="ignore"):
        (low_lower, low_upper), (high_lower, high_upper) = tails(fit.link, low), tails(fit.link, high)
    share = rng.random(fit.n)
    lower = low_lower + share * (high_lower - low_lower)
    upper = low_upper - share * (low_upper - high_upper)
    noise = _quantile(fit.link, lower, upper)
    noise = np.clip(noise, low, high)  # far out, rounding may carry a draw over its threshold
    return noise - _LATENT_MEAN[fit.link]


def _quantile(link: str, lower: Floats, upper: Floats) -> Floats:
    """Return the x with F(x) = lower and 1 − F(x) = upper, from the smaller of the two."""
    tiny = np.finfo(float).tiny
    lower, upper = np.maximum(lower, tiny), np.maximum(upper, tiny)
    left = lower < 0.5
    if link == "probit":
        return np.where(left, ndtri(lower), -ndtri(upper))
    if link == "logit":
        return np.where(left, logit(lower), -logit(upper))
    if link == "cauchit":
        return np.where(left, -1.0 / np.tan(np.pi * lower), 1.0 / np.tan(np.pi * upper))
    if link == "cloglog":
        return np.log(np.where(left, -np.log1p(-np.minimum(lower, 0.5)), -np.log(upper)))
    return -np.log(np.where(left, -np.log(lower), -np.log1p(-np.minimum(upper, 0.5))))


def _standardise(fit: "Fit", values: Floats) -> Floats:
    scaled = values / fit.sigma
    if fit.model == "lm":
        Q, _ = np.linalg.qr(fit.design.X)
        left = 1.0 - np.einsum("ij,ij->i", Q, Q)
        # A row that alone determines a coefficient is fitted exactly, and says nothing.
        scaled = np.where(left > 1e-10, scaled / np.sqrt(np.maximum(left, 1e-10)), np.nan)
    return scaled
