"""Estimated means of a factor's levels, and all their pairwise differences.

A mean is a linear combination l'β: the row of the model matrix averaged over a reference grid of all
combinations of the other factors, with numeric covariates at their means (Searle, Speed & Milliken 1980,
doi:10.1080/00031305.1980.10483031; R's emmeans is the reference for the tests). Ordinal models have no
intercept; their means are on the latent scale, l'β minus the mean of the thresholds, so that zero is
the middle of the scale. Differences need no threshold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from panelist.core.errors import BadModel, UnknownName, did_you_mean
from panelist.core.numbers import check_confidence
from panelist.core.prose import listing
from panelist.models.formulas.coding import code_columns
from panelist.models.formulas.matrices import FixedPart, ModelMatrices
from panelist.models.inference.adjust import HypothesisFamily, find_adjustment, two_sided_quantile
from panelist.models.inference.single_step import find_directions
from panelist.numerics.arrays import Bools, Floats, Longs

if TYPE_CHECKING:
    import pandas as pd

_LARGEST_GRID = 1_000_000  # cells; a factor with more levels belongs among the random effects
WEIGHTS = ("equal", "proportional")


class Fitted(Protocol):
    """What is needed from a fit. Ordinal ones also have ``params`` and ``cov_params`` of
    (thresholds, beta), thresholds first.
    """

    @property
    def model(self) -> str:
        """One of clm, clmm, lm, lmm."""

    @property
    def beta(self) -> Floats:
        """The fixed effects."""

    @property
    def vcov(self) -> Floats:
        """Their covariance."""

    @property
    def design(self) -> ModelMatrices:
        """The design, whose fixed part makes the reference grid."""

    def degrees(self, L: Floats) -> Floats:
        """Return the degrees of freedom of t for each row of L, infinite for z."""

    def widen(self, L: Floats) -> Floats:
        """Return what multiplies the standard error of each row of L."""


@dataclass(frozen=True)
class Means:
    """Estimated mean of each level of ``term``, with an unadjusted interval of ``confidence``.

    ``scale`` is "latent" (ordinal models) or "rating"; ``L`` has one row per level: its combination of beta.
    """

    term: str
    levels: tuple[str, ...]
    estimate: Floats
    se: Floats
    df: Floats
    low: Floats
    high: Floats
    confidence: float
    scale: str
    L: Floats
    notes: tuple[str, ...] = ()

    def table(self) -> pd.DataFrame:
        """Return one row per level: estimate, se, df, low, high."""
        return _table(self, {self.term: list(self.levels)}, ("estimate", "se", "df", "low", "high"))


@dataclass(frozen=True)
class PairContrasts:
    """Every pair's difference ``a`` − ``b``, with adjusted p-value and interval.

    ``p`` is unadjusted; ``low`` and ``high`` are adjusted as the p-values are where the method has
    intervals (Tukey, Bonferroni), and unadjusted where it has none (Holm, BH): ``notes`` says which.
    """

    term: str
    levels: tuple[str, ...]
    a: tuple[str, ...]
    b: tuple[str, ...]
    estimate: Floats
    se: Floats
    df: Floats
    statistic: Floats
    p: Floats
    p_adjusted: Floats
    low: Floats
    high: Floats
    adjust: str
    confidence: float
    notes: tuple[str, ...] = ()

    def table(self) -> pd.DataFrame:
        """Return one row per pair: a, b, estimate, se, df, statistic, p, p_adjusted, low, high."""
        columns = ("estimate", "se", "df", "statistic", "p", "p_adjusted", "low", "high")
        return _table(self, {"a": list(self.a), "b": list(self.b)}, columns)


def estimate_means(
    fit: Fitted, term: str = "system", *, weights: str = "equal", confidence: float = 0.95
) -> Means:
    """Return the estimated mean of each level of the factor ``term``.

    The other factors are averaged over with ``weights`` "equal" (each combination of their levels counts
    the same, as if the study had been balanced) or "proportional" (as often as it occurs in the data).
    """
    check_confidence(confidence)
    grid = _reference_grid(fit, term, weights)
    ordinal = fit.model in ("clm", "clmm")
    if ordinal:
        estimate, variance = _latent_means(fit, grid.L)
        whole = np.column_stack([np.ones(len(grid.L)), grid.L])  # the linear analogue has an intercept
        variance = variance * np.asarray(fit.widen(whole)) ** 2
        df = np.asarray(fit.degrees(whole), dtype=float)
    else:
        estimate, variance = grid.L @ fit.beta, row_variances(grid.L, fit.vcov)
        df = np.asarray(fit.degrees(grid.L), dtype=float)
    estimate = np.where(grid.estimable(grid.whole), estimate, np.nan)
    se = np.where(np.isnan(estimate), np.nan, np.sqrt(variance))
    reach = two_sided_quantile(confidence, df) * se
    return Means(
        term=term,
        levels=grid.levels,
        estimate=estimate,
        se=se,
        df=df,
        low=estimate - reach,
        high=estimate + reach,
        confidence=confidence,
        scale="latent" if ordinal else "rating",
        L=grid.L,
        notes=grid.notes,
    )


def contrast_pairs(
    fit: Fitted,
    term: str = "system",
    adjust: str = "tukey",
    confidence: float = 0.95,
    *,
    weights: str = "equal",
    reference: str | None = None,
) -> PairContrasts:
    """Return the difference of every pair of levels of ``term``, adjusted for the number of pairs.

    With ``reference``, only the pairs of that level with each other one, other − reference; Dunnett's test,
    Bonferroni, Holm and BH then count those pairs alone. Tukey's p-values stay those of all pairs: valid,
    and larger than necessary.
    """
    grid = _reference_grid(fit, term, weights)

    def measure(first: Longs, second: Longs) -> MeasuredPairs:
        D = grid.L[first] - grid.L[second]
        known = grid.estimable(grid.whole[first] - grid.whole[second])
        estimate = np.where(known, D @ fit.beta, np.nan)
        se = np.where(known, np.sqrt(row_variances(D, fit.vcov)) * np.asarray(fit.widen(D)), np.nan)
        df = np.asarray(fit.degrees(D), dtype=float)
        loose = getattr(fit, "find_loose", _find_none)(D)  # what only a prior keeps finite has no test
        return MeasuredPairs(estimate, se, df, find_directions(D, fit.vcov), loose)

    return tabulate_pairs(term, grid.levels, measure, adjust, confidence, reference, grid.notes)


class MeasuredPairs(NamedTuple):
    """Differences of some pairs, before they are adjusted."""

    estimate: Floats
    se: Floats
    df: Floats
    directions: Floats
    loose: Bools | None = None
    """Pairs without a test."""


def tabulate_pairs(
    term: str,
    levels: tuple[str, ...],
    measure: Callable[[Longs, Longs], MeasuredPairs],
    adjust: str,
    confidence: float,
    reference: str | None = None,
    notes: tuple[str, ...] = (),
) -> PairContrasts:
    """Return all pairs of levels, or those with ``reference``; ``measure`` has the places of both ends."""
    check_confidence(confidence)
    method = find_adjustment(adjust)
    chosen = list(combinations(range(len(levels)), 2))
    if reference is not None:
        if reference not in levels:
            raise UnknownName(f"No {term} is called {reference!r}. {did_you_mean(reference, levels)}")
        other_end = levels.index(reference)
        chosen = [(i, other_end) for i in range(len(levels)) if i != other_end]
        if method.name == "tukey" and len(levels) > 2:
            notes += (
                f"Tukey's adjustment covers all pairs of {term}s, not only those with {reference}: Dunnett's "
                "would be less strict.",
            )
    first, second = (np.array([pair[end] for pair in chosen], dtype=np.int64) for end in (0, 1))
    estimate, se, df, directions, loose = measure(first, second)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(se > 0, estimate / se, np.nan)
    family = HypothesisFamily(statistic, df, len(levels), directions)
    reach = method.critical(confidence, family) * se
    p, p_adjusted = family.p, method.adjust(family)
    if loose is not None:
        statistic, p, p_adjusted = (np.where(loose, np.nan, one) for one in (statistic, p, p_adjusted))
    return PairContrasts(
        term=term,
        levels=levels,
        a=tuple(levels[i] for i in first),
        b=tuple(levels[j] for j in second),
        estimate=estimate,
        se=se,
        df=df,
        statistic=statistic,
        p=p,
        p_adjusted=p_adjusted,
        low=estimate - reach,
        high=estimate + reach,
        adjust=method.name,
        confidence=confidence,
        notes=notes + ((method.note,) if method.note and len(chosen) > 1 else ()),
    )


def _find_none(rows: Floats) -> Bools:
    return np.zeros(len(rows), dtype=np.bool_)


@dataclass(frozen=True)
class _Grid:
    """The averaged rows of the model matrix, one per level: ``L`` as fitted, ``whole`` with aliased columns.

    The columns of ``null`` span what the data cannot determine (X null = 0); a combination that is not
    orthogonal to them has no estimate (Searle 1971, Linear models, 5.4).
    """

    levels: tuple[str, ...]
    L: Floats
    whole: Floats
    null: Floats
    notes: tuple[str, ...]

    def estimable(self, rows: Floats) -> Bools:
        """Return which combinations the data can estimate."""
        known: Bools = np.abs(rows @ self.null).max(axis=1, initial=0.0) < 1e-8
        return known


def _reference_grid(fit: Fitted, term: str, weights: str) -> _Grid:
    import pandas as pd

    if weights not in WEIGHTS:
        raise BadModel(f"The weights must be one of {', '.join(WEIGHTS)}. Got {weights!r} instead.")
    fixed = fit.design.fixed
    if term not in fixed.levels:
        raise BadModel(
            f"{term!r} is not a factor in the fixed part of the model, so it has no means to compare: write "
            f"{term} to the right of ~, outside the brackets. {did_you_mean(term, fixed.levels)}"
        )
    levels = fixed.levels[term]
    others = {name: values for name, values in fixed.levels.items() if name != term}
    cells, share = _other_cells(fixed, others, weights)
    whole_part, null = _unknown_directions(fixed)
    rows = []
    for name in levels:
        frame = pd.DataFrame({**cells, term: [name] * len(share)})
        rows.append(share @ whole_part.matrix(frame)[0])
    whole = np.array(rows)
    grid = _Grid(levels, whole[:, list(fixed.kept)], whole, null, ())
    notes = _grid_notes(fixed, term, others, weights, grid)
    return replace(grid, notes=notes)


def _unknown_directions(fixed: FixedPart) -> tuple[FixedPart, Floats]:
    """Return the fixed part with its aliased columns, and a basis of what the data cannot determine."""
    n = len(fixed.data)
    X = code_columns(fixed.text, fixed.variables, n, fixed.spec).matrix
    whole = replace(fixed, kept=tuple(range(X.shape[1])))
    length = np.sqrt(np.einsum("ij,ij->j", X, X))
    length[length == 0] = 1.0
    _, singular, axes = np.linalg.svd(np.linalg.qr(X / length, mode="r"))
    rank = int((singular > 1e-7 * singular[0]).sum())
    null = axes[rank:].T / length[:, None]
    return whole, null / np.maximum(np.linalg.norm(null, axis=0), 1e-300)


def _other_cells(
    fixed: FixedPart, others: Mapping[str, tuple[str, ...]], weights: str
) -> tuple[dict[str, list[object]], Floats]:
    """Return the reference grid without the term itself, as columns, and the weight of each of its rows."""
    share: Floats
    if weights == "proportional" and others:
        counts = fixed.data.groupby(list(others), observed=True).size()
        combined = [key if isinstance(key, tuple) else (key,) for key in counts.index]
        share = np.asarray(counts, dtype=np.float64)
    else:
        size = int(np.prod([len(values) for values in others.values()], dtype=float))
        if size > _LARGEST_GRID:
            raise BadModel(
                f"Averaging over {' × '.join(others)} would take {size:,} combinations. Put a factor with "
                "many levels among the random effects, for example (1 | item)."
            )
        combined = list(product(*others.values()))
        share = np.ones(size, dtype=np.float64)
    cells: dict[str, list[object]] = {
        name: [cell[position] for cell in combined] for position, name in enumerate(others)
    }
    for name, mean in fixed.numeric.items():
        cells[name] = [mean] * len(share)
    return cells, share / share.sum()


def _grid_notes(
    fixed: FixedPart, term: str, others: Mapping[str, object], weights: str, grid: _Grid
) -> tuple[str, ...]:
    notes = []
    if others:
        notes.append(f"Means are averaged over {listing(others, None)}, with {weights} weights.")
    interacting = [name for name in fixed.terms if ":" in name and re.search(rf"\b{re.escape(term)}\b", name)]
    if interacting:
        notes.append(
            f"The model lets differences between {term}s change ({listing(interacting, None)}): what is "
            "shown is their average, which may hide that they differ from case to case."
        )
    unknown = [name for name, known in zip(grid.levels, grid.estimable(grid.whole), strict=True) if not known]
    if unknown:
        notes.append(
            f"No mean can be estimated for {listing(unknown, None)}: some combinations with "
            f"{listing(others, None)} were never rated. Leave the interaction out of the formula."
        )
    return tuple(notes)


def _latent_means(fit: Any, L: Floats) -> tuple[Floats, Floats]:
    """Return l'β − mean threshold and its variance, from the joint covariance of thresholds and beta."""
    if getattr(fit, "family", None) in ("sequential", "adjacent"):
        raise BadModel(
            f"{fit.family.capitalize()} categories have no one latent scale, and so no latent means. Compare "
            "expected ratings: fit.predict(kind='mean', effects='population')."
        )
    n_thresholds = len(fit.params) - len(fit.beta)
    to_middle = np.full((len(L), n_thresholds), -1.0 / n_thresholds)
    joint = np.hstack([to_middle, L])
    return joint @ np.asarray(fit.params), row_variances(joint, np.asarray(fit.cov_params))


def row_variances(L: Floats, vcov: Floats) -> Floats:
    """Return the diagonal of L V L', never below zero; nan where a row needs what V does not know.

    A separated effect has no variance; contrasts that do not contain it have theirs.
    """
    unknown = np.isnan(np.diag(vcov))
    known = np.where(np.isnan(vcov), 0.0, vcov)
    variances: Floats = np.maximum(np.einsum("ij,jk,ik->i", L, known, L, optimize=True), 0.0)
    variances[np.abs(L[:, unknown]).max(axis=1, initial=0.0) > 0.0] = np.nan
    return variances


def _table(result: Any, front: dict[str, list[str]], columns: tuple[str, ...]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({**front, **{name: getattr(result, name) for name in columns}})
