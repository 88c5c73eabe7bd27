"""What a batch of fits gives: arrays with one row for each data set."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from panelist.core.errors import BadModel
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.inference.small_sample import LEAST_DEGREES
from panelist.models.solvers.fitters import FAILURES, ONE_VALUE, FittedResponse
from panelist.models.solvers.laplace_shift import LOWEST, STEADY, TRUSTED
from panelist.numerics.arrays import Bools, Floats, Longs

__all__ = ["FAILURES", "BatchFits", "Contrasts", "gather"]


class Contrasts(NamedTuple):
    """Contrasts of the fixed effects with their tests, (n_sets, rows of L) each."""

    estimate: Floats
    se: Floats
    statistic: Floats
    df: Floats
    p: Floats


@dataclass(frozen=True, eq=False)
class BatchFits:
    """The fits of many responses to one design; nan where there is no estimate.

    ``failed`` is 0 for a fit that can be used, else a key of ``FAILURES``, which says why. A singular fit can
    be used.
    """

    names: tuple[str, ...]  # of the fixed effects
    random_names: tuple[tuple[str, str], ...]  # group and term of each standard deviation
    beta: Floats  # (n_sets, p), as are se, statistic, df and p
    se: Floats
    statistic: Floats
    df: Floats
    p: Floats
    converged: Bools  # (n_sets,)
    singular: Bools
    failed: Longs
    loglik: Floats
    thresholds: Floats  # (n_sets, K − 1): the upper end of category k, nan if unused or the highest used
    random_sds: Floats  # (n_sets, terms)
    covariances: dict[str, Floats]  # of the random effects: of each grouping factor (n_sets, m, m)
    sigma: Floats  # (n_sets,) 1 for ordinal models
    vcov: Floats  # (n_sets, p, p)
    slopes: Floats  # (n_sets, k, p, p) and
    A: Floats  # (n_sets, k, k), for Satterthwaite's degrees of freedom; k = 0 but for lmm
    residual_df: float  # n − p for lm, else infinite
    shift: Floats  # (n_sets, p) of β by a better approximation than Laplace's; nan unless asked for, as is
    spread: Floats  # (n_sets,) that of the standard deviations, as a share of the latent spread, and
    loglik_error: Floats  # (n_sets,) what the log-likelihood lacks, the lowest of any factor
    joint: Floats  # (n_sets, K − 1 + p, K − 1 + p): the covariance of thresholds and β, nan where unused
    small: SmallSamples | None = None  # of clmm: what t needs in place of z

    def contrast(self, L: Floats) -> Contrasts:
        """Return Lβ with standard errors, degrees of freedom and two-sided p, for L (rows, p).

        Those of clmm allow for few raters and items, like those of a single fit (inference/small_sample.py).
        """
        L = np.atleast_2d(np.asarray(L, dtype=np.float64))
        if L.shape[1] != len(self.names):
            raise BadModel(
                f"A contrast needs a number for each of the {len(self.names)} fixed effects "
                f"({', '.join(self.names)}). Got {L.shape[1]}."
            )
        plain = _contrast(L, self.beta, self.vcov, self.slopes, self.A, self.residual_df)
        return plain if self.small is None else self.small.widen(L, plain)

    def laplace_shift(self, L: Floats) -> Floats:
        """Return the error of Laplace in each contrast, in its standard errors, (n_sets, rows of L)."""
        se = _contrast(L, self.beta, self.vcov, self.slopes, self.A, self.residual_df).se
        moved: Floats = np.full(se.shape, np.nan)
        np.divide((self.shift[:, None, :] * np.atleast_2d(L)).sum(axis=2), se, out=moved, where=se > 0.0)
        return moved

    def holds_for(self, L: Floats) -> Bools:
        """Return in which sets Laplace hardly changes these contrasts, (n_sets,), where it was measured."""
        worst: Floats = np.abs(self.laplace_shift(L)).max(axis=1)
        return (worst <= TRUSTED) & (self.spread <= STEADY) & (self.loglik_error >= LOWEST)

    def take(self, sets: Longs) -> BatchFits:
        """Return the fits of some sets."""
        arrays = {
            field.name: getattr(self, field.name)[sets]
            for field in fields(self)
            if isinstance(getattr(self, field.name), np.ndarray)
        }
        covariances = {name: found[sets] for name, found in self.covariances.items()}
        small = None if self.small is None else self.small.take(sets)
        return replace(self, **arrays, covariances=covariances, small=small)

    def with_small(self, small: SmallSamples) -> BatchFits:
        """Return the fits with the statistics, degrees of freedom and p-values of t."""
        fits = replace(self, small=small)
        tests = fits.contrast(np.eye(len(self.names)))
        return replace(fits, statistic=tests.statistic, df=tests.df, p=tests.p)


@dataclass(frozen=True, eq=False)
class SmallSamples:
    """The linear analogues of all sets, by REML and by ML; ``fewest`` is for sets that have none."""

    reml: BatchFits
    ml: BatchFits
    fewest: float

    def take(self, sets: Longs) -> SmallSamples:
        """Return those of some sets."""
        return replace(self, reml=self.reml.take(sets), ml=self.ml.take(sets))

    def widen(self, L: Floats, plain: Contrasts) -> Contrasts:
        """Return contrasts with standard errors and degrees of freedom that allow for few raters."""
        from scipy.special import stdtr

        # The analogue has an intercept first, and last what has nominal effects.
        rows = np.pad(L, ((0, 0), (1, len(self.reml.names) - 1 - L.shape[1])))
        by_reml, by_ml = self.reml.contrast(rows), self.ml.contrast(rows)
        usable = ((self.reml.failed == 0) & (self.ml.failed == 0))[:, None] & (by_ml.se > 0.0)
        ratio = np.divide(by_reml.se, by_ml.se, out=np.ones(plain.se.shape), where=usable)
        degrees = np.where(usable & ~np.isnan(by_reml.df), by_reml.df, self.fewest)
        df = np.where(np.isnan(plain.df), np.nan, np.maximum(degrees, LEAST_DEGREES))
        se = plain.se * np.maximum(ratio, 1.0)
        statistic = np.divide(plain.estimate, se, out=np.full(se.shape, np.nan), where=se > 0.0)
        return Contrasts(plain.estimate, se, statistic, df, 2.0 * stdtr(df, -np.abs(statistic)))


def gather(model: str, design: ModelMatrices, found: list[FittedResponse | None], highest: int) -> BatchFits:
    """Return the fits of all sets as arrays; ``highest`` is the highest category of any."""
    n, p = len(found), len(design.names)
    random_names = tuple((factor.name, term) for factor in design.factors for term in factor.columns)
    entries = sum((b - a) * (b - a + 1) // 2 for factor in design.factors for a, b in factor.blocks)
    k = entries + 1 if model == "lmm" else 0
    beta, loglik, sigma = np.full((n, p), np.nan), np.full(n, np.nan), np.full(n, np.nan)
    vcov = np.full((n, p, p), np.nan)
    slopes, A = np.full((n, k, p, p), np.nan), np.full((n, k, k), np.nan)
    covariances = {
        factor.name: np.full((n, len(factor.columns), len(factor.columns)), np.nan)
        for factor in design.factors
    }
    thresholds, shift = np.full((n, highest), np.nan), np.full((n, p), np.nan)
    spread, error = np.full(n, np.nan), np.full(n, np.nan)
    joint = np.full((n, highest + p, highest + p), np.nan)
    converged, singular = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    failed = np.full(n, ONE_VALUE, dtype=np.int64)
    for at, one in enumerate(found):
        if one is None:
            continue
        failed[at], converged[at], singular[at] = one.failed, one.converged, one.singular
        beta[at], vcov[at], loglik[at], sigma[at] = one.beta, one.vcov, one.loglik, one.sigma
        plain = len(one.thresholds) == len(one.used[:-1])  # nominal effects have thresholds of their own
        if plain:
            thresholds[at, one.used[:-1]] = one.thresholds
        for matrices, found_one in zip(covariances.values(), one.covariances, strict=True):
            matrices[at] = found_one
        if len(one.shift):
            shift[at], spread[at], error[at] = one.shift, one.spread, one.loglik_error
        if k:
            slopes[at], A[at] = one.slopes, one.A
        if plain and len(one.joint):
            places = np.concatenate([one.used[:-1], highest + np.arange(p)])
            joint[at][np.ix_(places, places)] = one.joint[: len(places), : len(places)]
    residual_df = float(len(design.rows) - p) if model == "lm" else np.inf
    variances = [np.diagonal(one, axis1=1, axis2=2) for one in covariances.values()]
    sds = np.sqrt(np.concatenate(variances, axis=1)) if variances else np.empty((n, 0))
    tests = _contrast(np.eye(p), beta, vcov, slopes, A, residual_df)
    return BatchFits(
        design.names,
        random_names,
        beta,
        tests.se,
        tests.statistic,
        tests.df,
        tests.p,
        converged,
        singular,
        failed,
        loglik,
        thresholds,
        sds,
        covariances,
        sigma,
        vcov,
        slopes,
        A,
        residual_df,
        shift,
        spread,
        error,
        joint,
    )


def _contrast(
    L: Floats, beta: Floats, vcov: Floats, slopes: Floats, A: Floats, residual_df: float
) -> Contrasts:
    """Return the contrasts of all sets; every sum runs within one set, so that no set affects another."""
    from scipy.special import stdtr

    estimate = (beta[:, None, :] * L).sum(axis=2)
    known = np.where(np.isnan(vcov), 0.0, vcov)
    variance = ((L @ known) * L).sum(axis=2)
    unknown = np.isnan(np.diagonal(vcov, axis1=1, axis2=2))  # a separated effect has no variance,
    variance[(unknown[:, None, :] & (L != 0.0)).any(axis=2)] = np.nan  # contrasts without it have theirs
    se = np.sqrt(np.maximum(variance, 0.0))
    statistic = np.divide(estimate, se, out=np.full(se.shape, np.nan), where=se > 0.0)
    df = np.where(np.isnan(variance), np.nan, residual_df)
    if slopes.shape[1]:
        g = ((L @ slopes) * L).sum(axis=3).transpose(0, 2, 1)  # (sets, rows, k) ∂v/∂φ
        spread = np.maximum(((g @ A) * g).sum(axis=2), 0.0)
        df = np.divide(2.0 * variance**2, spread, out=np.full(se.shape, np.inf), where=spread > 0.0)
        df[np.isnan(variance)] = np.nan
    p = 2.0 * stdtr(df, -np.abs(statistic))
    return Contrasts(estimate, se, statistic, df, p)
