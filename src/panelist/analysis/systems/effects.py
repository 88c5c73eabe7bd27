"""Effect sizes: every difference in latent units, in points of the scale, and as probability of superiority.

Points: the difference of two systems' expected ratings. Superiority: the chance that a rating of one system,
drawn at random, is higher than one of the other by another rater of another item, ties counting half
(Vargha & Delaney 2000, doi:10.3102/10769986025002101, call it A). Both follow from the fitted model, averaged
over raters and items (marginal.py). Their intervals are the adjusted interval of the latent difference,
converted: the two systems are moved apart or together, half of the way each, to either end of it, with
thresholds and variances as estimated. So an interval in points never contradicts the test.
"""

from dataclasses import asdict, dataclass, replace
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.special import ndtr

from panelist.analysis.systems.comparison import CriterionComparison, PairDifference
from panelist.analysis.systems.comparison_tables import MARK, tell_prior
from panelist.analysis.systems.letters import make_matrix
from panelist.analysis.systems.marginal import (
    MarginalGrid,
    estimate_marginal,
    find_term,
    list_params,
    make_grid,
)
from panelist.core.display.formats import P_VALUE, TEXT, decimals, interval
from panelist.core.display.result import Part, Result, Table
from panelist.core.prose import listing
from panelist.models.inference.contrasts import Means, estimate_means, row_variances
from panelist.models.likelihoods.link_functions import LATENT_SD
from panelist.models.predictions.predict import category_points
from panelist.numerics.arrays import Floats

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit

Three: TypeAlias = tuple[float, float, float]  # an estimate and its interval


LEAST_SHOWN = 0.05
"""Differences below it are hardly shown with two decimals, and their sign says nothing."""


@dataclass(frozen=True)
class Expected:
    """The rating expected of one system, with its own interval; nan where categories are words."""

    system: str
    estimate: float
    low: float
    high: float
    prior: bool = False  # whether only a prior keeps it from the end of the scale


@dataclass(frozen=True)
class Effect:
    """One pair, a − b, three ways, each with its adjusted interval; ``p_adjusted`` tests the latent one."""

    a: str
    b: str
    latent: float
    latent_low: float
    latent_high: float
    points: float
    points_low: float
    points_high: float
    superiority: float
    superiority_low: float
    superiority_high: float
    p_adjusted: float
    prior: bool = False  # whether only a prior keeps it finite

    @property
    def tested(self) -> float:
        """The difference that p is of: latent, or in points where systems have thresholds of their own."""
        return self.points if isnan(self.latent) else self.latent

    def upward(self) -> "Effect":
        """Return the pair with the higher system first."""
        size = self.points if isfinite(self.points) else self.latent
        if not size < 0:
            return self
        return Effect(
            a=self.b,
            b=self.a,
            latent=-self.latent,
            latent_low=-self.latent_high,
            latent_high=-self.latent_low,
            points=-self.points,
            points_low=-self.points_high,
            points_high=-self.points_low,
            superiority=1 - self.superiority,
            superiority_low=1 - self.superiority_high,
            superiority_high=1 - self.superiority_low,
            p_adjusted=self.p_adjusted,
            prior=self.prior,
        )


@dataclass(frozen=True, kw_only=True)
class Effects(Result):
    """The effect sizes of one criterion."""

    criterion: str
    confidence: float
    latent_units: str
    systems: tuple[Expected, ...]
    pairs: tuple[Effect, ...]
    prior_note: str = ""  # on the prior, where there is one
    own_note: str = ""  # on what systems have of their own

    def __getitem__(self, pair: tuple[str, str]) -> Effect:
        return next(one for one in self.pairs if (one.a, one.b) == pair)

    def title(self) -> str:
        """Return the heading."""
        return f"Effect sizes on {self.criterion}"

    def parts(self) -> list[Part]:
        """Return expected ratings and effect sizes."""
        heading = f"{self.confidence * 100:g} % interval"
        rows = [
            (one.system, one.estimate, interval(one.low, one.high) + MARK * one.prior) for one in self.systems
        ]
        formats = {"system": TEXT, "expected rating": decimals(2)}
        header = ("system", "expected rating", heading)
        note = self.prior_note.strip()
        expected = Table(f"Expected ratings on {self.criterion}", header, rows, formats, note=note)
        return [expected, self.table()]

    def show_chances(self) -> Table:
        """Return points and P(higher) of each pair, for systems with spreads or thresholds of their own."""
        rows = [
            (
                f"{one.a} − {one.b}",
                one.points,
                interval(one.points_low, one.points_high),
                one.superiority,
                interval(one.superiority_low, one.superiority_high),
            )
            for one in self.pairs
        ]
        header = ("pair", "points", "interval", "P(higher)", "interval")
        formats = {"pair": TEXT, "points": decimals(2), "P(higher)": decimals(2)}
        note = (
            "P(higher): chance that a rating of the first is the higher, by other raters of other items, "
            f"ties counting half{self.own_note}"
        )
        note += f".{self.prior_note}" if self.prior_note else ""
        return Table(f"Points and P(higher) on {self.criterion}", header, rows, formats, note=note)

    def table(self) -> Table:
        """Return one row per pair."""
        header = ("pair", "points", "interval", "latent", "interval", "superiority", "interval", "p")
        rows = [
            (
                f"{one.a} − {one.b}",
                one.points,
                interval(one.points_low, one.points_high) + MARK * one.prior,
                one.latent,
                interval(one.latent_low, one.latent_high) + MARK * one.prior,
                one.superiority,
                interval(one.superiority_low, one.superiority_high),
                "none" if one.prior else one.p_adjusted,
            )
            for one in self.pairs
        ]
        formats = {"pair": TEXT, "points": decimals(2), "latent": decimals(2), "superiority": decimals(2)}
        note = (
            f"points: difference of expected ratings; latent: in {self.latent_units}; superiority: chance "
            "that a rating of the first is the higher, ties counting half; intervals and p adjusted for the "
            "number of pairs where the adjustment has intervals"
        )
        note = f"{note}.{self.prior_note} {self.tell_opposed()}".rstrip()
        return Table(f"Differences on {self.criterion}", header, rows, {**formats, "p": P_VALUE}, note=note)

    def tell_opposed(self) -> str:
        """Return why some pairs are above 0 in points and below it on the latent scale, or the reverse."""
        opposed = [
            f"{one.a} − {one.b}"
            for one in self.pairs
            if one.points * one.latent < 0 and min(abs(one.points), abs(one.latent)) >= LEAST_SHOWN
        ]
        if not opposed:
            return ""
        return (
            f"The two signs of {listing(opposed, 3)} differ: the latent difference is that for an average "
            "rater and item, and p is its; points are averages over raters and items, some of which favour "
            "the other system."
        )

    def matrix(self, alpha: float) -> Table:
        """Return all pairs in points as a matrix, systems in their order."""
        cells = {(one.a, one.b): (one.points, one.p_adjusted) for one in self.pairs}
        names = [one.system for one in self.systems]
        return make_matrix(f"Differences on {self.criterion}", names, cells, alpha, "points of the scale")

    def to_dict(self) -> dict[str, Any]:
        """Return systems and pairs."""
        return asdict(self)


def measure_effects(comparison: CriterionComparison) -> Effects:
    """Return the effect sizes of a comparison, from the model that it fitted."""
    fit: Fit = comparison.fit
    term = find_term(comparison)
    grid = make_grid(fit, term)
    if fit.ordinal:
        points = category_points(fit)
        systems = _expect_systems(comparison, grid, points, term)
        measure = _measure if fit.has_latent_differences else _measure_own
        effects = [measure(pair, grid, points, fit) for pair in comparison.pairs]
    else:
        means = estimate_means(fit, term, confidence=comparison.confidence, weights="equal")
        systems = [
            Expected(name, float(means.estimate[k]), float(means.low[k]), float(means.high[k]))
            for k, name in enumerate(means.levels)
        ]
        unit = _find_unit(comparison)
        effects = [_measure_linear(pair, grid, fit, unit) for pair in comparison.pairs]
    order = {one.system: place for place, one in enumerate(comparison.systems)}
    alone = {one.system for one in comparison.systems if one.prior}
    systems = [replace(one, prior=one.system in alone) for one in systems]
    return Effects(
        criterion=comparison.criterion,
        confidence=comparison.confidence,
        latent_units=comparison.effect_units,
        systems=tuple(sorted(systems, key=lambda one: order[one.system])),
        pairs=tuple(effects),
        prior_note=tell_prior(comparison),
        own_note="; with each system's own spread or thresholds" if comparison.remedy is not None else "",
    )


def _expect_systems(
    comparison: CriterionComparison, grid: MarginalGrid, points: Floats | None, term: str
) -> list[Expected]:
    """Return expected ratings: the comparison's own where it is in points."""
    fit: Fit = comparison.fit
    if not fit.has_latent_differences:
        return [Expected(one.system, one.estimate, one.low, one.high) for one in comparison.systems]
    return _expect(fit, grid, points, estimate_means(fit, term, confidence=comparison.confidence))


def _expect(fit: "Fit", grid: MarginalGrid, points: Floats | None, means: Means) -> list[Expected]:
    """Return expected ratings; their intervals are those of the latent means, converted."""
    if points is None:
        return [Expected(name, nan, nan, nan) for name in grid.systems]
    ends = [estimate_marginal(fit, grid) @ points]
    for moved in (means.low, means.high):
        shift = moved - means.estimate
        shifts = dict(zip(means.levels, np.nan_to_num(shift).tolist(), strict=True))
        ends.append(np.where(np.isnan(shift), nan, estimate_marginal(fit, grid, shifts) @ points))
    middle, low, high = (end.tolist() for end in ends)
    return [Expected(name, middle[k], low[k], high[k]) for k, name in enumerate(grid.systems)]


def _measure(pair: PairDifference, grid: MarginalGrid, points: Floats | None, fit: "Fit") -> Effect:
    wins = _find_wins(fit)
    own = grid.only((pair.a, pair.b))
    shown = fit.beta @ (own.average(own.X)[0] - own.average(own.X)[1])  # finite even where it diverges
    found = []
    for end in (shown, pair.low, pair.high):
        half = 0.5 * (end - shown)
        if np.isnan(half):
            found.append((nan, nan))
            continue
        p = estimate_marginal(fit, own, {pair.a: half, pair.b: -half})
        difference = nan if points is None else float((p[0] - p[1]) @ points)
        found.append((difference, float(p[0] @ wins @ p[1])))
    unit = LATENT_SD[str(fit.link)]
    latent = (pair.difference / unit, pair.low / unit, pair.high / unit)
    sizes, chances = zip(*found, strict=True)
    return _make(pair, latent, (sizes[0], sizes[1], sizes[2]), (chances[0], chances[1], chances[2]))


def _find_wins(fit: "Fit") -> Floats:
    k = len(fit.design.categories)
    wins: Floats = np.tri(k, k=-1) + 0.5 * np.eye(k)  # row above column
    return wins


def _measure_own(pair: PairDifference, grid: MarginalGrid, points: Floats | None, fit: "Fit") -> Effect:
    """Return the effect where there is no one latent difference: in points.

    The interval of superiority is by the delta method, as wide in standard errors as that of the points.
    """
    from panelist.analysis.systems.equivalence import slope_of

    assert points is not None, "such a comparison is in points"
    own, wins = grid.only((pair.a, pair.b)), _find_wins(fit)
    psi, vcov = list_params(fit)

    def find_chance(params: Floats | None) -> Floats:
        p = estimate_marginal(fit, own, params=params)
        return np.array([(p[0] - p[1]) @ points, p[0] @ wins @ p[1]])

    slopes = slope_of(find_chance, psi)
    plain, error = np.sqrt(row_variances(slopes, vcov)).tolist()
    chance = float(find_chance(None)[1])
    reach = 0.5 * (pair.high - pair.low) * error / plain if plain > 0 else nan
    chances = (chance, max(chance - reach, 0.0), min(chance + reach, 1.0))
    return _make(pair, (nan, nan, nan), (pair.difference, pair.low, pair.high), chances)


def _measure_linear(pair: PairDifference, grid: MarginalGrid, fit: "Fit", unit: float) -> Effect:
    """Return the effect of a linear model: superiority of two normal ratings with the model's variances.

    Of two points it follows from the means alone: A − ½ is half the difference of the shares.
    """
    spread = grid.average(grid.variance + fit.sigma**2)
    wide = float(np.sqrt(sum(spread[grid.systems.index(name)] for name in (pair.a, pair.b))))
    values = (pair.difference, pair.low, pair.high)
    if len(points := np.unique(fit.design.y)) == 2:  # the chance of more minus that of less is the difference
        scale = 2.0 * float(points[1] - points[0])
        chances = [float(np.clip(0.5 + value / scale, 0.0, 1.0)) for value in values]
    else:
        chances = [float(ndtr(value / wide)) if wide > 0 else nan for value in values]
    latent = (pair.difference / unit, pair.low / unit, pair.high / unit)
    return _make(pair, latent, values, (chances[0], chances[1], chances[2]))


def _make(pair: PairDifference, latent: Three, points: Three, superiority: Three) -> Effect:
    return Effect(
        a=pair.a,
        b=pair.b,
        latent=latent[0],
        latent_low=latent[1],
        latent_high=latent[2],
        points=points[0],
        points_low=points[1],
        points_high=points[2],
        superiority=superiority[0],
        superiority_low=superiority[1],
        superiority_high=superiority[2],
        p_adjusted=pair.p_adjusted,
        prior=pair.prior,
    )


def _find_unit(comparison: CriterionComparison) -> float:
    """Return the standard unit of a comparison's effects, from a pair that shows it."""
    shown = (p.difference / p.effect for p in comparison.pairs if p.effect == p.effect and p.effect != 0.0)
    return next(shown, nan)
