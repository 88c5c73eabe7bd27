"""People's model of a large table, from sums: nothing in the search is as long as the ratings.

The model is that of regression.py, y = Xβ + raters + raters by system + items + outputs + noise. Given ratios
θ of items and outputs, what these two add to the covariance is inverted item by item in closed form:
[X y Z]'H⁻¹[X y Z] is a weighted sum of few fixed matrices, products within outputs, of outputs' sums for each
number of ratings an output has, and of items' sums. They are made once. What is left to invert is as small as
the raters are few. The deviance and its optimum are those of models/likelihoods/deviance.py; slopes are
exact, by steps into the complex plane (Squire & Trapp 1998, doi:10.1137/S003614459631241X).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from panelist.judges.match import JudgedRatings
from panelist.models.inference.hypotheses import degrees_satterthwaite
from panelist.models.solvers.lmm import Uncertainty
from panelist.numerics.arrays import Floats, Longs

LARGE = 20_000  # ratings, from which it is used
MOST_COLUMNS = 400  # of raters and covariates together
MOST_CELLS = 40_000_000  # outputs times columns: memory
MOST_SORTS = 60  # kinds of items, by how many ratings their outputs have
TERMS = ("item:system", "item", "rater", "rater:system")
_IMAGINARY = 1e-30
_STEP = 1e-5
_ZERO = 1e-5  # a ratio below it is tried at zero


class Profile(NamedTuple):
    """Items whose outputs have the same numbers of ratings."""

    n_items: int
    ratings: Floats  # (D,) the distinct numbers of ratings of an output
    outputs: Floats  # (D,) how many outputs have each
    products: Floats  # (D, D, k, k) of the items' sums over outputs with each number


class Sums(NamedTuple):
    """What the ratings say: products of [X y Z], within outputs, of outputs' sums, and of items' sums."""

    n: int
    p: int
    within: Floats  # (k, k)
    ratings: Floats  # (C,) the distinct numbers of ratings of an output
    outputs: Floats  # (C,) how many outputs have each
    between: Floats  # (C, k, k)
    profiles: tuple[Profile, ...]
    sizes: tuple[int, int]  # columns of raters, and of raters by system
    centre: Floats  # (S,) systems' plain means, taken off y
    unit: float


@dataclass(frozen=True, eq=False)
class SummedFit:
    """A linear mixed model by REML, as far as a correction needs it: the names are those of Fit."""

    formula: str
    names: tuple[str, ...]
    beta: Floats
    vcov: Floats = field(repr=False)
    sigma: float
    spreads: Mapping[str, float]
    uncertainty: Uncertainty = field(repr=False)
    severity: Mapping[str, float] = field(repr=False)

    @property
    def random(self) -> pd.DataFrame:
        """The spread of each term: group, sd."""
        return pd.DataFrame({"group": list(self.spreads), "sd": list(self.spreads.values())})

    @property
    def random_effects(self) -> pd.DataFrame:
        """The conditional modes of the raters: group, level, mode; those of items are not kept."""
        return pd.DataFrame(
            {"group": "rater", "level": list(self.severity), "mode": list(self.severity.values())}
        )

    def degrees(self, L: Floats) -> Floats:
        """Return Satterthwaite's degrees of freedom of each row of contrasts."""
        return degrees_satterthwaite(np.atleast_2d(L), self.vcov, self.uncertainty.slopes, self.uncertainty.A)


def fit_sums(
    beside: JudgedRatings, terms: tuple[str, ...], columns: Mapping[str, Floats], formula: str
) -> SummedFit | None:
    """Return the fit of a large table; None where it is small, or not of a kind that sums describe."""
    if len(beside.y) < LARGE or not {"item", "item:system"} <= set(terms):
        return None
    S, R = len(beside.systems), len(beside.raters)
    k = S + len(columns) + 1 + ("rater" in terms) * R + ("rater:system" in terms) * R * S
    if k > MOST_COLUMNS or int((beside.counts > 0).sum()) * k > MOST_CELLS:
        return None
    sums = _sum_up(beside, terms, columns)
    return None if sums is None else _Search(sums, terms).finish(formula, beside, tuple(columns))


def _sum_up(beside: JudgedRatings, terms: tuple[str, ...], columns: Mapping[str, Floats]) -> Sums | None:
    """Return the sums; None where items are of too many kinds."""
    counts, (S, R) = beside.counts, (len(beside.systems), len(beside.raters))
    item, system = np.nonzero(counts)
    number = counts[item, system]
    sorts = _sort_items(counts)
    if sorts is None:
        return None
    place = np.full(counts.shape, -1, dtype=np.int64)
    place[item, system] = np.arange(len(item))
    own = place[beside.item, beside.system]
    centre: Floats = np.bincount(beside.system, weights=beside.y, minlength=S) / np.maximum(
        np.bincount(beside.system, minlength=S), 1
    )
    y = beside.y - centre[beside.system]
    unit = float(y.std()) or 1.0
    y = y / unit
    p, k0 = S + len(columns), S + len(columns) + 1
    first = {"rater": k0, "rater:system": k0 + R * ("rater" in terms)}
    k = k0 + R * ("rater" in terms) + R * S * ("rater:system" in terms)
    A = np.zeros((len(item), k))  # sums over the ratings of an output
    A[np.arange(len(item)), system] = number
    for at, values in enumerate(columns.values(), S):
        A[:, at] = values[item, system] * number
    A[:, p] = np.bincount(own, weights=y, minlength=len(item))
    seat = {"rater": beside.rater, "rater:system": beside.rater * S + beside.system}
    named = [name for name in ("rater", "rater:system") if name in terms]
    for name in named:
        np.add.at(A, (own, first[name] + seat[name]), 1.0)
    # within outputs: only y and the raters vary there
    mean = A / number[:, None]
    within = np.zeros((k, k))
    within[p, p] = float(((y - mean[own, p]) ** 2).sum())
    for name in named:
        size = R if name == "rater" else R * S
        part = slice(first[name], first[name] + size)
        within[part, part] += np.diag(np.bincount(seat[name], minlength=size).astype(np.float64))
        within[p, part] = np.bincount(seat[name], weights=y, minlength=size)
    if len(named) == 2:
        a, b = first["rater"] + seat["rater"], first["rater:system"] + seat["rater:system"]
        cells, times = np.unique(a * k + b, return_counts=True)
        within[cells // k, cells % k] = times
        within[cells % k, cells // k] = times
    rest = slice(k0, k)
    within[p, rest] -= (A[:, p] / number) @ A[:, rest]
    within[rest, p] = within[p, rest]
    within[rest, rest] -= mean[:, rest].T @ A[:, rest]
    numbers = np.unique(number)
    between = np.stack([A[number == one].T @ A[number == one] for one in numbers])
    profiles = _profile(A, item, number, *sorts)
    outputs = np.array([(number == one).sum() for one in numbers], dtype=np.float64)
    sizes = (R * ("rater" in terms), R * S * ("rater:system" in terms))
    return Sums(
        len(y), p, within, numbers.astype(np.float64), outputs, between, profiles, sizes, centre, unit
    )


def _sort_items(counts: Longs) -> tuple[Longs, Longs] | None:
    """Return the kinds of rated items, as sorted numbers of ratings, and the kind of each (-1: unrated)."""
    rated = (counts > 0).any(axis=1)
    kinds, own = np.unique(np.sort(counts[rated], axis=1), axis=0, return_inverse=True)
    if len(kinds) > MOST_SORTS:
        return None
    kind = np.full(len(counts), -1, dtype=np.int64)
    kind[rated] = own.ravel()
    return kinds, kind


def _profile(A: Floats, item: Longs, number: Longs, kinds: Longs, kind: Longs) -> tuple[Profile, ...]:
    made = []
    for at, row in enumerate(kinds):
        ratings, outputs = np.unique(row[row > 0], return_counts=True)
        items = np.flatnonzero(kind == at)
        seat = np.full(len(kind), -1, dtype=np.int64)
        seat[items] = np.arange(len(items))
        parts = []
        for one in ratings:
            mine = (number == one) & (kind[item] == at)
            ends = np.flatnonzero(np.diff(seat[item[mine]], prepend=-1))  # outputs come item by item
            parts.append(np.add.reduceat(A[mine], ends, axis=0))
        products = np.stack([np.stack([a.T @ b for b in parts]) for a in parts])
        made.append(Profile(len(items), ratings.astype(np.float64), outputs.astype(np.float64), products))
    return tuple(made)


class _Search:
    """The optimum of the deviance over the ratios θ, in the order of ``TERMS`` as far as they are there."""

    def __init__(self, sums: Sums, terms: tuple[str, ...]) -> None:
        self.sums = sums
        self.terms = [name for name in TERMS if name in terms]

    def weigh(self, outputs: Any, items: Any) -> tuple[Any, Any]:
        """Return [X y Z]'H⁻¹[X y Z] for the squared ratios of outputs and items, and log|H|."""
        sums = self.sums
        keep = 1.0 / (1.0 + sums.ratings * outputs)
        W = sums.within + np.tensordot(keep / sums.ratings, sums.between, axes=1)
        size = -(sums.outputs * np.log(keep)).sum()
        for one in sums.profiles:
            g = 1.0 / (1.0 + one.ratings * outputs)
            whole = 1.0 + items * (one.outputs * one.ratings * g).sum()
            W = W - items / whole * np.einsum("a,b,abij->ij", g, g, one.products)
            size = size + one.n_items * np.log(whole)
        return W, size

    def settle(self, theta: Any) -> SimpleNamespace:
        """Return log|H̃|, X'H̃⁻¹X, X'H̃⁻¹y and y'H̃⁻¹y at θ, which may be complex."""
        sums, p = self.sums, self.sums.p
        W, size = self.weigh(theta[0] ** 2, theta[1] ** 2)
        k0 = p + 1
        T = W[:k0, :k0]
        if len(theta) > 2:
            scale = np.repeat(theta[2:], [one for one in sums.sizes if one])
            side = W[:k0, k0:] * scale
            M = np.eye(len(scale)) + scale[:, None] * W[k0:, k0:] * scale
            T = T - side @ np.linalg.solve(M, side.T)
            size = size + _log_det(M)
        XX, Xy = T[:p, :p], T[:p, p]
        beta = np.linalg.solve(XX, Xy)
        return SimpleNamespace(size=size, W=W, XX=XX, beta=beta, rest=T[p, p] - Xy @ beta)

    def find_severity(self, theta: Floats) -> Floats:
        """Return the conditional modes of the raters, in units of y."""
        sums, k0 = self.sums, self.sums.p + 1
        R = sums.sizes[0]
        scale = np.repeat(theta[2:], [one for one in sums.sizes if one])
        at = self.settle(theta)
        left = at.W[k0:, sums.p] - at.W[k0:, : sums.p] @ at.beta
        M = np.eye(len(scale)) + scale[:, None] * at.W[k0:, k0:] * scale
        return np.asarray(scale * np.linalg.solve(M, scale * left))[:R]

    def deviance(self, theta: Any) -> Any:
        """Return the deviance at θ, β and σ at their best."""
        at = self.settle(theta)
        free = self.sums.n - self.sums.p
        return at.size + _log_det(at.XX) + free * (1.0 + np.log(2.0 * np.pi * at.rest / free))

    def slope(self, theta: Floats, value: Any = None) -> Floats:
        """Return the slopes of a function of θ (the deviance), exactly."""
        value = self.deviance if value is None else value
        made = []
        for e in range(len(theta)):
            moved = theta.astype(np.complex128)
            moved[e] += 1j * _IMAGINARY
            made.append(np.imag(value(moved)) / _IMAGINARY)
        return np.stack(made)

    def curve(self, theta: Floats, slope: Any) -> Floats:
        """Return the slopes of ``slope`` over θ, by differences from both sides, made symmetric."""
        made = []
        for e in range(len(theta)):
            ends = []
            for sign in (1.0, -1.0):
                moved = theta.copy()
                moved[e] += sign * _STEP
                ends.append(slope(moved))
            made.append((ends[0] - ends[1]) / (2 * _STEP))
        found = np.stack(made)
        return np.asarray((found + found.T) / 2)

    @cached_property
    def best(self) -> Floats:
        """The ratios θ of the optimum, none below zero."""
        from scipy.optimize import minimize

        size = len(self.terms)
        found: Any = minimize(  # type: ignore[call-overload]
            lambda theta: float(self.deviance(theta)),
            np.full(size, 0.5),
            jac=lambda theta: self.slope(theta),
            method="L-BFGS-B",
            options={"maxiter": 200, "ftol": 1e-15, "gtol": 1e-6},
        )
        theta: Floats = np.abs(
            np.asarray(found.x, dtype=np.float64)
        )  # the deviance does not know the sign: at zero it is flat, so no bound there
        for _ in range(20):
            theta = self._take_to_zero(theta)
            free = np.flatnonzero(theta > 0)
            hessian = self.curve(theta, self.slope)[np.ix_(free, free)]
            step = np.linalg.solve(hessian, self.slope(theta)[free]) if len(free) else np.zeros(0)
            moved = theta.copy()
            moved[free] = np.abs(theta[free] - step)
            if self.deviance(moved) > self.deviance(theta) + 1e-9:
                break
            theta = moved
            if np.abs(step).max(initial=0.0) < 1e-12:
                break
        return theta

    def _take_to_zero(self, theta: Floats) -> Floats:
        for e in np.flatnonzero((theta > 0) & (theta < _ZERO)):
            at_zero = theta.copy()
            at_zero[e] = 0.0
            if self.deviance(at_zero) <= self.deviance(theta) + 1e-8:
                theta = at_zero
        return theta

    def finish(self, formula: str, beside: JudgedRatings, columns: tuple[str, ...]) -> SummedFit:
        """Return the fit in the units of y, with how well its variances are known."""
        sums, theta, r = self.sums, self.best, len(self.terms)
        at, free = self.settle(theta), sums.n - sums.p
        inverse = np.linalg.inv(at.XX)
        sigma = float(np.sqrt(at.rest / free))

        def at_sigma(moved: Any) -> Any:  # the deviance, σ held
            there = self.settle(moved)
            return there.size + _log_det(there.XX) + there.rest / sigma**2

        curvature = np.empty((r + 1, r + 1))
        curvature[:r, :r] = self.curve(theta, lambda moved: self.slope(moved, at_sigma))
        rest = self.slope(theta, lambda moved: self.settle(moved).rest)
        curvature[r, :r] = curvature[:r, r] = -2.0 * rest / sigma**3
        curvature[r, r] = 4.0 * free / sigma**2
        values, axes = np.linalg.eigh(curvature)
        good = values > 1e-8
        slopes = np.empty((r + 1, *inverse.shape))
        slopes[:r] = sigma**2 * self.slope(theta, lambda moved: np.linalg.inv(self.settle(moved).XX))
        slopes[r] = 2.0 * sigma * inverse
        beta = np.real(at.beta) * sums.unit
        beta[: len(beside.systems)] += sums.centre
        spreads = {name: float(one * sigma * sums.unit) for name, one in zip(self.terms, theta, strict=True)}
        return SummedFit(
            formula=formula,
            names=(*(f"system[{name}]" for name in beside.systems), *columns),
            beta=beta,
            vcov=inverse * (sigma * sums.unit) ** 2,
            sigma=sigma * sums.unit,
            spreads=spreads,
            uncertainty=Uncertainty(
                slopes * sums.unit**2, 2.0 * (axes[:, good] / values[good]) @ axes[:, good].T
            ),
            severity=dict(zip(beside.raters, self.find_severity(theta) * sums.unit, strict=False))
            if "rater" in self.terms
            else {},
        )


def _log_det(M: Any) -> Any:
    """Return log|M|, by elimination where M is complex: its imaginary part is small."""
    sign, size = np.linalg.slogdet(M)
    return size + 1j * np.angle(sign) if np.iscomplexobj(M) else size
