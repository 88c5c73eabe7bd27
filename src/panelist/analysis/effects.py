"""Effect sizes: every difference in latent units, in points of the scale, and as probability of superiority.

Points: the difference of two systems' expected ratings. Superiority: the chance that a rating of one system,
drawn at random, is higher than one of the other by another rater of another item, ties counting half
(Vargha & Delaney 2000, doi:10.3102/10769986025002101, call it A). Both follow from the fitted model, averaged
over raters and items (marginal.py). Intervals are by the delta method from the covariance of thresholds and
fixed effects, with the same multiplier as the adjusted interval of the latent difference; those of a
probability are made on the logit scale. The variances of raters and items are taken as estimated.
"""

from dataclasses import asdict, dataclass
from math import nan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.special import expit, logit, ndtr

from panelist.analysis.comparison import CriterionComparison, PairDifference
from panelist.analysis.letters import make_matrix
from panelist.analysis.marginal import Grid, Marginal, estimate_marginal, find_term, make_grid
from panelist.core.formats import P_VALUE, TEXT, decimals, interval
from panelist.core.result import Part, Result, Table
from panelist.models.arrays import Floats
from panelist.models.inference.adjust import two_sided_quantile
from panelist.models.inference.contrasts import estimate_means
from panelist.models.predictions.predict import category_points
from panelist.models.solvers.links import LATENT_SD

if TYPE_CHECKING:
    from panelist.models.fitted import Fit

Three: TypeAlias = tuple[float, float, float]  # an estimate and its interval


@dataclass(frozen=True)
class Expected:
    """The rating expected of one system, with an interval of its own; nan where categories are words."""

    system: str
    estimate: float
    low: float
    high: float


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


@dataclass(frozen=True, kw_only=True)
class Effects(Result):
    """The effect sizes of one criterion."""

    criterion: str
    level: float
    latent_units: str
    systems: tuple[Expected, ...]
    pairs: tuple[Effect, ...]

    def __getitem__(self, pair: tuple[str, str]) -> Effect:
        return next(one for one in self.pairs if (one.a, one.b) == pair)

    def title(self) -> str:
        """Return the heading."""
        return f"Effect sizes on {self.criterion}"

    def parts(self) -> list[Part]:
        """Return expected ratings and effect sizes."""
        level = f"{self.level * 100:g} % interval"
        rows = [(one.system, one.estimate, interval(one.low, one.high)) for one in self.systems]
        formats = {"system": TEXT, "expected rating": decimals(2)}
        expected = Table(
            f"Expected ratings on {self.criterion}", ("system", "expected rating", level), rows, formats
        )
        return [expected, self.table()]

    def table(self) -> Table:
        """Return a row a pair."""
        header = ("pair", "points", "interval", "latent", "interval ", "superiority", "interval  ", "p")
        rows = [
            (
                f"{one.a} − {one.b}",
                one.points,
                interval(one.points_low, one.points_high),
                one.latent,
                interval(one.latent_low, one.latent_high),
                one.superiority,
                interval(one.superiority_low, one.superiority_high),
                one.p_adjusted,
            )
            for one in self.pairs
        ]
        formats = {"pair": TEXT, "points": decimals(2), "latent": decimals(2), "superiority": decimals(2)}
        note = (
            f"points: difference of expected ratings; latent: in {self.latent_units}; superiority: chance "
            "that a rating of the first is the higher, ties counting half; intervals and p adjusted for the "
            "number of pairs where the adjustment has intervals"
        )
        return Table(
            f"Differences on {self.criterion}", header, rows, {**formats, "p": P_VALUE}, note=f"{note}."
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
        marginal = estimate_marginal(fit, grid)
        points = category_points(fit)
        systems = _expect(marginal, points, comparison.level)
        effects = [_measure(pair, marginal, points, fit) for pair in comparison.pairs]
    else:
        means = estimate_means(fit, term, level=comparison.level, weights="equal")
        systems = [
            Expected(name, *map(float, (means.estimate[k], means.low[k], means.high[k])))
            for k, name in enumerate(means.levels)
        ]
        unit = _find_unit(comparison)
        effects = [_measure_linear(pair, grid, fit, unit) for pair in comparison.pairs]
    order = {one.system: place for place, one in enumerate(comparison.systems)}
    return Effects(
        criterion=comparison.criterion,
        level=comparison.level,
        latent_units=comparison.effect_units,
        systems=tuple(sorted(systems, key=lambda one: order[one.system])),
        pairs=tuple(effects),
    )


def _expect(marginal: Marginal, points: Floats | None, level: float) -> list[Expected]:
    """Return expected ratings; intervals on the logit of the place between the ends of the scale."""
    if points is None:
        return [Expected(name, nan, nan, nan) for name in marginal.systems]
    low, high = points[0], points[-1]
    place = (marginal.probabilities @ points - low) / (high - low)
    slopes = np.einsum("skm,k->sm", marginal.slopes, points) / (high - low)
    se = _standard_errors(slopes, marginal.vcov)
    reach = float(two_sided_quantile(level, np.array([np.inf]))[0])
    lower, upper = _logit_interval(place, se, reach)
    return [
        Expected(name, *(float(low + (high - low) * share[k]) for share in (place, lower, upper)))
        for k, name in enumerate(marginal.systems)
    ]


def _measure(pair: PairDifference, marginal: Marginal, points: Floats | None, fit: "Fit") -> Effect:
    a, b = marginal.systems.index(pair.a), marginal.systems.index(pair.b)
    p, slopes = marginal.probabilities, marginal.slopes
    reach = (pair.high - pair.low) / (2.0 * pair.se) if pair.se > 0 else nan
    difference = gap = nan
    if points is not None:
        difference = float((p[a] - p[b]) @ points)
        slope = np.einsum("km,k->m", slopes[a] - slopes[b], points)
        gap = reach * float(_standard_errors(slope[None], marginal.vcov)[0])
    wins = np.tri(p.shape[1], k=-1) + 0.5 * np.eye(p.shape[1])  # row above column
    superiority = float(p[a] @ wins @ p[b])
    slope = slopes[a].T @ (wins @ p[b]) + slopes[b].T @ (wins.T @ p[a])
    se = _standard_errors(slope[None], marginal.vcov)
    low, high = (float(end[0]) for end in _logit_interval(np.array([superiority]), se, reach))
    unit = LATENT_SD[str(fit.link)]
    latent = (pair.difference / unit, pair.low / unit, pair.high / unit)
    points_of = (difference, difference - gap, difference + gap)
    return _make(pair, latent, points_of, (superiority, low, high))


def _measure_linear(pair: PairDifference, grid: Grid, fit: "Fit", unit: float) -> Effect:
    """Return the effect of a linear model: superiority of two normal ratings with the model's variances."""
    spread = grid.average(grid.variance + fit.sigma**2)
    wide = float(np.sqrt(sum(spread[grid.systems.index(name)] for name in (pair.a, pair.b))))
    values = (pair.difference, pair.low, pair.high)
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
    )


def _find_unit(comparison: CriterionComparison) -> float:
    """Return the standard unit of a comparison's effects, from a pair that shows it."""
    shown = (p.difference / p.effect for p in comparison.pairs if p.effect == p.effect and p.effect != 0.0)
    return next(shown, nan)


def _standard_errors(slopes: Floats, vcov: Floats) -> Floats:
    errors: Floats = np.sqrt(np.maximum(np.einsum("sm,mn,sn->s", slopes, vcov, slopes), 0.0))
    return errors


def _logit_interval(share: Floats, se: Floats, reach: float) -> tuple[Floats, Floats]:
    """Return the ends of an interval that stays between 0 and 1; nan for what lies on an end itself."""
    inside = (share > 0.0) & (share < 1.0)
    safe = np.where(inside, share, 0.5)
    gap = reach * se / (safe * (1.0 - safe))
    with np.errstate(over="ignore", invalid="ignore"):
        ends = expit(logit(safe) - gap), expit(logit(safe) + gap)
    return np.where(inside, ends[0], nan), np.where(inside, ends[1], nan)
