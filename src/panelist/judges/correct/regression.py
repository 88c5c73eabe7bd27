"""The mixed-model regression estimator: the judge as covariate, every output predicted (docs/judges.md).

People's ratings are fitted by REML with the judge's covariates, ``(1|rater) + (1|rater:system) + (1|item) +
(1|item:system)``; θ̂ = X̄ β̂ with X̄ the mean over all N items, and Cov(θ̂) = X̄ C X̄' + S_m/N: what people leave
uncertain, plus that the N items are a sample themselves. It is the regression estimator of double sampling
(Cochran 1977, Sampling Techniques, ch. 12) with raters and items as random effects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from panelist.judges.correct.covariates import Covariates, make_covariates, make_strata
from panelist.judges.correct.summed_fit import fit_sums
from panelist.judges.correct.variants import BY_SYSTEM, RANDOM_SLOPES, THESE_ITEMS
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
    these_items: bool = False

    @property
    def covariance(self) -> Floats:
        """The covariance of the means."""
        return np.asarray(self.X @ self.fit.vcov @ self.X.T + self.S - self._fixed_part)

    @cached_property
    def _fixed_part(self) -> Floats:
        """What items and outputs add to the means of a sample, and not to those of a fixed test set."""
        whole = np.zeros((len(self.systems), len(self.systems)))
        if self.these_items:
            sd = dict(zip(self.fit.random["group"], self.fit.random["sd"], strict=True))
            whole += sd.get("item", 0.0) ** 2 / self.n_items
            whole += np.eye(len(whole)) * sd.get("item:system", 0.0) ** 2 / self.n_items
        return whole

    def measure(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return variance and degrees of freedom of each combination of the means: v₁ + v₂."""
        people, items = self.split(rows)
        L = rows @ self.X
        if self.these_items:
            return people, self._degrees_of_fixed(rows, people)
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
        people = people - np.einsum("ij,jk,ik->i", rows, self._fixed_part, rows)
        return np.maximum(people, 0.0), np.maximum(items, 0.0)

    def _degrees_of_fixed(self, rows: Floats, variance: Floats) -> Floats:
        """Return Satterthwaite's degrees of freedom where variances of items were subtracted: 2v²/g'Ag."""
        unsure, L = self.fit.uncertainty, rows @ self.X
        if unsure is None:
            return np.asarray(self.fit.degrees(L), dtype=np.float64)
        g = np.einsum("ij,kjl,il->ik", L, unsure.slopes, L)
        groups, sd = list(self.fit.random["group"]), self.fit.random["sd"].to_numpy(dtype=np.float64)
        unit = scaled_sigma(self.fit)  # σ as the uncertainty has it
        shares = {"item": rows.sum(axis=1) ** 2, "item:system": (rows**2).sum(axis=1)}
        for group, share in shares.items():
            if group in groups:
                at = groups.index(group)
                g[:, at] -= 2.0 * sd[at] * self.fit.sigma * share / self.n_items
                g[:, -1] -= 2.0 * sd[at] ** 2 / unit * share / self.n_items
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(2.0 * variance**2 / np.einsum("ij,jk,ik->i", g, unsure.A, g))

    def intervals(self, rows: Floats, confidence: float = 0.95) -> tuple[Floats, Floats, Floats, Floats]:
        """Return estimate, standard error, low and high of each combination, unadjusted."""
        variance, df = self.measure(rows)
        se = np.sqrt(variance)
        reach = two_sided_quantile(confidence, df) * se
        estimate = rows @ self.estimate
        return estimate, se, estimate - reach, estimate + reach


def scaled_sigma(fitted: Any) -> float:
    """Return σ̂ in the unit in which a fit states how well it is known: Var(β̂) grows with its square."""
    return 2.0 * float(fitted.vcov[0, 0] / fitted.uncertainty.slopes[-1][0, 0])


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
    beside: JudgedRatings,
    scores: Mapping[str, Floats] | None = None,
    *,
    stratum: Sequence[str] | None = None,
    variants: frozenset[str] = frozenset(),
) -> Corrected:
    """Return the systems' means over all N items, with the judges of ``scores`` (default: all of ``beside``).

    Without any judge (an empty mapping) they are people's alone, by the same model on the labelled items.
    ``stratum`` has the stratum of each of the N items, where items were drawn in strata; ``variants`` are
    those of variants.py.
    """
    used = beside.scores if scores is None else scores
    made = make_covariates(used, beside.counts) if used else Covariates({}, {}, {})
    if BY_SYSTEM in variants:
        made = made.split_by(beside.systems, beside.counts)
    extra = make_strata(stratum, len(beside.systems)) if stratum is not None else {}
    columns = {**made.columns, **extra}
    fitted = fit_people(beside, columns, RANDOM_SLOPES in variants)
    found = _predict(beside, fitted, made, columns, alone=not used and stratum is None)
    if THESE_ITEMS not in variants:
        return found
    return replace(found, these_items=True, S=np.zeros_like(found.S))


def fit_people(beside: JudgedRatings, columns: Mapping[str, Floats], slopes: bool = False) -> Any:
    """Return people's model with these covariates, (N, S) each; that of a large table comes from sums.

    With ``slopes`` raters and items have a spread on each system, and correlations.
    """
    from panelist.models.fit import fit  # imported late: it loads the compiled kernels

    terms = choose_terms(beside)
    fixed = " + ".join(["0", "system", *columns])
    random = " + ".join(write_terms(terms, slopes))
    formula = f"rating ~ {fixed}" + (f" + {random}" if random else "")
    if not slopes and (summed := fit_sums(beside, terms, columns, formula)) is not None:
        return summed
    frame = beside.frame()
    for name, values in columns.items():
        frame[name] = values[beside.item, beside.system]
    return fit(formula, frame, model="lmm" if random else "lm")


def write_terms(terms: Sequence[str], slopes: bool) -> list[str]:
    """Return the random terms of a formula; with slopes, ``rater:system`` is part of that of the rater."""
    if not slopes:
        return [f"(1 | {term})" for term in terms]
    single = [term for term in ("rater", "item") if term in terms]
    return [f"({'system' if f'{term}:system' in terms else 1} | {term})" for term in single]


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
