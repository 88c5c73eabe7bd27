"""The mixed-model regression estimator: the judge as covariate, every output predicted (docs/judges.md).

People's ratings are fitted by REML with the judge's covariates, ``(1|rater) + (1|rater:system) + (1|item) +
(1|item:system)``; θ̂ = X̄ β̂ with X̄ the mean over all N items, and Cov(θ̂) = X̄ C X̄' + S_m/N: what people leave
uncertain, plus that the N items are a sample themselves. It is the regression estimator of double sampling
(Cochran 1977, Sampling Techniques, ch. 12) with raters and items as random effects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from panelist.judges.correct.covariates import Covariates, make_covariates, make_strata
from panelist.judges.match import JudgedRatings
from panelist.models.inference.adjust import two_sided_quantile
from panelist.numerics.arrays import Floats


@dataclass(frozen=True)
class Slope:
    """The slope of one covariate of a judge: within items, between items, or of no answer."""

    judge: str
    term: str
    estimate: float
    se: float


@dataclass(frozen=True, eq=False)
class Corrected:
    """Means of the systems over all N items, and what is needed for any contrast of them.

    ``X`` is X̄, ``S`` the covariance of the predictions over items, divided by N; ``fit`` is people's model.
    """

    systems: tuple[str, ...]
    estimate: Floats
    X: Floats = field(repr=False)
    S: Floats = field(repr=False)
    n_items: int
    n_labelled: int
    fit: Any = field(repr=False)
    slopes: tuple[Slope, ...] = ()

    @property
    def covariance(self) -> Floats:
        """The covariance of the means."""
        return np.asarray(self.X @ self.fit.vcov @ self.X.T + self.S)

    def measure(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return variance and degrees of freedom of each combination of the means: v₁ + v₂."""
        people, items = self.split(rows)
        L = rows @ self.X
        nu = np.asarray(self.fit.degrees(L), dtype=np.float64)
        whole = people + items
        with np.errstate(divide="ignore", invalid="ignore"):
            df = whole**2 / (people**2 / nu + items**2 / max(self.n_items - 1, 1))
        return whole, np.where(np.isfinite(df), df, nu)

    def split(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return the two parts of the variance: of people's fit, and of the N items being a sample."""
        L = rows @ self.X
        people = np.einsum("ij,jk,ik->i", L, self.fit.vcov, L)
        items = np.einsum("ij,jk,ik->i", rows, self.S, rows)
        return np.maximum(people, 0.0), np.maximum(items, 0.0)

    def intervals(self, rows: Floats, confidence: float = 0.95) -> tuple[Floats, Floats, Floats, Floats]:
        """Return estimate, standard error, low and high of each combination, unadjusted."""
        variance, df = self.measure(rows)
        se = np.sqrt(variance)
        reach = two_sided_quantile(confidence, df) * se
        estimate = rows @ self.estimate
        return estimate, se, estimate - reach, estimate + reach


def choose_terms(beside: JudgedRatings) -> tuple[str, ...]:
    """Return the random terms that these ratings can separate: raters, raters by system, items, outputs.

    A term whose levels have one rating each is the residual, and a single rater has no spread.
    """
    terms = []
    if beside.knows_raters:
        terms.append("rater")
        own = beside.rater * len(beside.systems) + beside.system
        if np.bincount(own).max() > 1 and _crosses(beside):
            terms.append("rater:system")
    n_labelled = int(beside.labelled.sum())
    if 1 < n_labelled < len(beside.y):
        terms.append("item")
    # the same outputs rated by several people, on more than a few outputs
    if (beside.counts > 1).any() and n_labelled > 1:
        several_systems = ((beside.counts > 0).sum(axis=1) > 1).any()
        if several_systems:
            terms.append("item:system")
    return tuple(terms)


def _crosses(beside: JudgedRatings) -> bool:
    """Return whether some rater rated more than one system: else raters and raters by system are one."""
    met = np.unique(beside.rater * len(beside.systems) + beside.system)
    return len(met) > len(np.unique(beside.rater))


def correct_means(
    beside: JudgedRatings, scores: Mapping[str, Floats] | None = None, *, stratum: Sequence[str] | None = None
) -> Corrected:
    """Return the systems' means over all N items, with the judges of ``scores`` (default: all of ``beside``).

    Without any judge (an empty mapping) they are people's alone, by the same model on the labelled items.
    ``stratum`` has the stratum of each of the N items, where items were drawn in strata.
    """
    from panelist.models.fit import fit  # imported late: it loads the compiled kernels

    used = beside.scores if scores is None else scores
    made = make_covariates(used, beside.counts) if used else Covariates({}, {}, {})
    extra = make_strata(stratum, len(beside.systems)) if stratum is not None else {}
    columns = {**made.columns, **extra}
    frame = beside.frame()
    for name, values in columns.items():
        frame[name] = values[beside.item, beside.system]
    terms = choose_terms(beside)
    fixed = " + ".join(["0", "system", *columns])
    random = " + ".join(f"(1 | {term})" for term in terms)
    formula = f"rating ~ {fixed}" + (f" + {random}" if random else "")
    fitted = fit(formula, frame, model="lmm" if random else "lm")
    return _predict(beside, fitted, made, columns, alone=not used and stratum is None)


def _predict(
    beside: JudgedRatings, fitted: Any, made: Covariates, columns: Mapping[str, Floats], alone: bool
) -> Corrected:
    """Return the mean prediction of each system over all N items, and how predictions spread over items."""
    N, S = len(beside.items), len(beside.systems)
    X = np.zeros((S, len(fitted.names)))
    predicted = np.zeros((N, S))
    slopes = []
    place = {f"system[{name}]": at for at, name in enumerate(beside.systems)}
    for at, name in enumerate(fitted.names):
        if name in place:
            X[place[name], at] = 1.0
            continue
        values = columns[name]
        X[:, at] = values.mean(axis=0)
        predicted += fitted.beta[at] * values
        if name in made.term:
            se = float(np.sqrt(fitted.vcov[at, at]))
            slopes.append(Slope(made.judge[name], made.term[name], float(fitted.beta[at]), se))
    spread = np.zeros((S, S)) if alone or N < 2 else np.atleast_2d(np.cov(predicted.T)) / N
    return Corrected(
        systems=beside.systems,
        estimate=X @ fitted.beta,
        X=X,
        S=spread,
        n_items=N,
        n_labelled=int(beside.labelled.sum()),
        fit=fitted,
        slopes=tuple(slopes),
    )
