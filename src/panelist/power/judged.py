"""What a judge saves: how many rated items, beside many judged ones, do what more of them would do alone.

For a balanced design, on the points of the scale, a difference of two systems has the variance
2 [σ²_d ((1 − r²)/n + r²/N) + σ²_e/(n m) + σ²_q/R]: n items rated m times by R raters, N judged, r the judge's
correlation with what very many people would say of differences. So n items with the judge do what
n / (1 − r²_obs (1 − n/N)) would without, r²_obs = r² σ²_d/(σ²_d + σ²_e/m) (docs/judges.md). The variances
follow from those of the latent judgement and the thresholds, by Hermite polynomials.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, sqrt
from typing import Any

import numpy as np

from panelist.core.display.formats import Format, decimals, interval
from panelist.core.display.result import Part, Sentence, Table
from panelist.core.errors import BadDesign, PanelistError
from panelist.core.prose import count
from panelist.core.seeds import stream
from panelist.numerics.arrays import Floats
from panelist.power.cells import Cell
from panelist.power.layouts.base import Layout
from panelist.power.truth.base import Truth
from panelist.power.truth.cuts import DISTANCE, LOWEST, POINTS, Slider

TERMS = 60
SETS = 400  # of thresholds, where they are drawn
RIGHT = Format(str, "right")


@dataclass(frozen=True)
class PlannedJudge:
    """A judge as it is planned for: how many items it scores, and its correlation on differences.

    ``r`` holds the correlation with what very many people would say, then the lower end of its interval,
    where that is known.
    """

    items: int
    r: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.r or len(self.r) > 2 or any(not 0 <= one <= 1 for one in self.r):
            raise PanelistError(
                "The correlation of a judge with people is a number from 0 to 1, and after a comma the "
                "lower end of its interval: 0.6,0.45. Got "
                f"{', '.join(f'{one:g}' for one in self.r) or 'nothing'}."
            )
        if self.items < 2:
            raise PanelistError(f"A judge scores 2 items or more. Got {self.items}.")

    @property
    def levels(self) -> tuple[float, ...]:
        """The correlations to answer for: the one expected, its lower end, and none."""
        return tuple(dict.fromkeys((*self.r, 0.0)))


@dataclass(frozen=True)
class ScaleVariances:
    """Variances on the points of the scale: of outputs (items by systems), of raters by systems, of noise."""

    outputs: float
    raters: float
    noise: float

    def find_observed(self, r: float, ratings: float) -> float:
        """Return the correlation with the mean of so many ratings, of that with very many."""
        return r * sqrt(self.outputs / (self.outputs + self.noise / ratings)) if self.outputs > 0 else 0.0


@dataclass(frozen=True)
class JudgedDesign:
    """Items that people rate beside a judge's many, and how many would do the same without the judge."""

    truth: str
    r: float
    r_observed: float
    items: int
    items_alone: float
    judged: int
    ratings: float
    """Ratings of each output."""
    saved: int
    """Human ratings, those of all systems."""

    def sentence(self) -> str:
        """Return what the judge saves."""
        if self.saved:
            alone = round(self.items_alone)
            share = 1 - self.items / self.items_alone
            return (
                f"{count(self.items, 'item')} with the judge do what {alone:,} would without, rated by the "
                f"same raters: {count(self.saved, 'human rating')} saved ({100 * share:.0f} %)."
            )
        if self.judged <= self.items:
            return (
                f"The judge saves nothing: it scores {self.judged:,} items, and people rate {self.items:,}. "
                "It stands in for items that nobody rates."
            )
        return "The judge saves nothing: its scores say too little about differences between systems."


@dataclass(frozen=True)
class JudgedPower:
    """The power of one design and effect with a judge of one correlation, and by people alone (r is nan)."""

    truth: str
    items: int
    ratings_per_item: float
    raters: int
    effect: float
    judged: int
    r: float
    power: float
    low: float
    high: float
    width: float
    """The mean width of the intervals of differences, in points."""
    sims: int
    failed: int


def find_variances(truth: Truth, systems: int) -> ScaleVariances:
    """Return the variances on the points of a truth's scale, systems being equal on average."""
    items, raters = truth.items.covariance(systems), truth.raters.covariance(systems)
    total = np.diag(items) + np.diag(raters) + truth.residual**2
    cuts = _find_cuts(truth)
    standard = cuts[:, None, :] / np.sqrt(total)[None, :, None]
    waves = _expand(standard)  # (sets, systems, terms)
    power = np.arange(1, TERMS + 1)

    def share(latent: float, a: int, b: int) -> float:
        rho = latent / sqrt(total[a] * total[b])
        return float((waves[:, a] * waves[:, b] * rho**power).sum(axis=-1).mean())

    def differ(latent: Floats) -> float:
        return float(
            np.mean(
                [
                    (share(latent[a, a], a, a) + share(latent[b, b], b, b)) / 2 - share(latent[a, b], a, b)
                    for a, b in combinations(range(systems), 2)
                ]
            )
        )

    outputs, tastes = differ(items), differ(raters)
    common = np.mean(
        [share(items[a, b], a, b) + share(raters[a, b], a, b) for a, b in combinations(range(systems), 2)]
    )
    whole = float(_find_variance(standard).mean())
    return ScaleVariances(outputs, tastes, max(whole - outputs - tastes - float(common), 0.0))


def judge_design(
    truth: Truth, systems: int, items: int, ratings: float, judge: PlannedJudge
) -> tuple[JudgedDesign, ...]:
    """Return what so many rated items do with a judge, for each correlation."""
    known = find_variances(truth, systems)
    rows = []
    for r in judge.levels:
        seen = known.find_observed(r, ratings)
        alone = items / (1 - seen**2 * (1 - min(items / judge.items, 1.0)))
        saved = round((alone - items) * ratings * systems)
        rows.append(JudgedDesign(truth.name, r, seen, items, alone, judge.items, ratings, saved))
    return tuple(rows)


def replace_items(
    truth: Truth, systems: int, items: int, ratings: float, judge: PlannedJudge
) -> tuple[JudgedDesign, ...]:
    """Return how many rated items with a judge do what so many would without, for each correlation."""
    known = find_variances(truth, systems)
    rows = []
    for r in judge.levels:
        seen = known.find_observed(r, ratings)
        needed = items
        if items < judge.items:
            needed = ceil(items * (1 - seen**2) / (1 - seen**2 * items / judge.items) - 1e-9)
        saved = round((items - needed) * ratings * systems)
        rows.append(JudgedDesign(truth.name, r, seen, needed, float(items), judge.items, ratings, saved))
    return tuple(rows)


def judge_cells(cells: Sequence[Cell], judge: PlannedJudge) -> tuple[JudgedDesign, ...]:
    """Return what a judge adds to every design of a grid; refused where outputs are compared."""
    designs: dict[tuple[Truth, int, float], int] = {}
    for cell in cells:
        check_rated(cell.layout)
        layout = cell.layout
        designs[cell.truth, layout.n_items, float(layout.ratings_per_item)] = layout.n_systems
    found = [judge_design(truth, s, n, m, judge) for (truth, n, m), s in designs.items()]
    return tuple(one for rows in found for one in rows)


def check_rated(layout: Layout) -> None:
    """Raise BadDesign where outputs are compared: the variances are those of ratings."""
    if layout.page is not None:
        raise BadDesign("What a judge saves is known for ratings, not for comparisons: leave --judge-r out.")


def show_judged(rows: Sequence[JudgedDesign], simulated: Sequence[JudgedPower] = ()) -> list[Part]:
    """Return the answer in a sentence and, for each correlation, in a table; then what was simulated."""
    if not rows:
        return []
    header = ("r", "r seen", "rated", "alone", "ratings saved")
    named = len({one.truth for one in rows}) > 1
    each = len({one.ratings for one in rows}) > 1
    header = (*(("truth",) if named else ()), *(("each",) if each else ()), *header)
    cells: list[tuple[Any, ...]] = [
        (
            *((one.truth,) if named else ()),
            *((f"{one.ratings:g}",) if each else ()),
            *(one.r, one.r_observed, one.items, round(one.items_alone), one.saved),
        )
        for one in rows
    ]
    caption = f"With a judge that scores {rows[0].judged:,} items"
    note = (
        "r: the judge and what very many people would say, on differences between systems; r seen: with the "
        "mean of the ratings of an output. So many rated items do with the judge what those under alone do "
        "without, by the same raters."
    )
    formats = {"r": decimals(2), "r seen": decimals(2)} | ({"each": RIGHT} if each else {})
    return [
        Sentence(rows[0].sentence()),
        Table(caption, header, cells, formats, note),
        *_show_power(simulated),
    ]


def _show_power(rows: Sequence[JudgedPower]) -> list[Part]:
    """Return the powers as one table."""
    if not rows:
        return []
    cells = [
        (
            one.items,
            f"{one.ratings_per_item:g}",
            one.effect,
            "people alone" if np.isnan(one.r) else f"r = {one.r:.2f}",
            one.power,
            interval(one.low, one.high),
            one.width,
        )
        for one in rows
    ]
    header = ("items rated", "each", "effect", "judge", "power", "interval", "width")
    note = (
        f"{rows[0].sims:,} data sets of {rows[0].judged:,} judged items each, analysed by a linear mixed "
        "model with the judge as covariate, people alone by the same model. Width: of intervals of "
        "differences, in points."
    )
    form = {"effect": decimals(2), "power": decimals(2), "width": decimals(2)}
    return [Table("Simulated with the judge", header, cells, form, note=note, name="judge_power")]


def _find_cuts(truth: Truth) -> Floats:
    """Return sets of thresholds, seen from the mean of the systems; of a slider, between whole numbers."""
    if isinstance(truth.cuts, Slider):
        middle, step = LOWEST + DISTANCE * (POINTS - 2) / 2, POINTS * DISTANCE / 100
        return np.array((middle + step * (np.arange(1, truth.cuts.points) - 50.5))[None])
    sets = truth.cuts.draw(stream(1, "judge", "thresholds"), SETS)
    return np.asarray(sets - (np.mean(truth.effects) if truth.effects is not None else 0.0))


def _expand(cuts: Floats) -> Floats:
    """Return the coefficients of the number of thresholds passed, in normalised Hermite polynomials.

    Of two standard normal variables with correlation ρ the covariance is then Σ a_k b_k ρ^k (Mehler).
    """
    density = np.exp(-(cuts**2) / 2) / np.sqrt(2 * np.pi)
    before, now = np.zeros_like(cuts), np.ones_like(cuts)
    found = []
    for k in range(1, TERMS + 1):
        found.append((density * now).sum(axis=-1) / np.sqrt(k))
        before, now = now, (cuts * now - np.sqrt(k - 1) * before) / np.sqrt(k)
    return np.stack(found, axis=-1)


def _find_variance(cuts: Floats) -> Floats:
    """Return the variance of the number of thresholds that a standard normal variable passes."""
    from scipy.special import ndtr

    above = ndtr(-np.sort(cuts, axis=-1))  # falls from each to the next
    weight = 2 * np.arange(cuts.shape[-1]) + 1
    mean = above.sum(axis=-1)
    return np.asarray((above * weight).sum(axis=-1) - mean**2)
