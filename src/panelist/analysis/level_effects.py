"""Rater and item effects: who is severe, what is hard, and how sure that is.

A level's effect is the average over the systems of its conditional modes, on the scale of the model; its
interval is the conditional one, given the estimated variances. Where a level has an effect for each system,
the deviation of their average takes their correlations from the level's own ratings.
"""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.analysis.systems.marginal import MarginalGrid
from panelist.core.display.formats import TEXT, decimals, interval
from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.errors import BadModel
from panelist.models.inference.adjust import two_sided_quantile
from panelist.models.predictions.new_rows import own_rows, read_rows
from panelist.models.predictions.predict import linear_predictor, row_probabilities
from panelist.numerics.arrays import Floats, Longs

if TYPE_CHECKING:
    from panelist.models.formulas.grouping import Factor
    from panelist.models.results.fitted import Fit

_SMALL = 1e-3
_NOTHING = 0.005  # a standard deviation that is printed as 0.00


@dataclass(frozen=True)
class LevelEffect:
    """One rater or item: its effect with the interval, its number of ratings."""

    name: str
    n: int
    effect: float
    low: float
    high: float

    @property
    def stands_out(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True, kw_only=True)
class LevelEffects(Result):
    """All raters, or all items, from the lowest effect up; ``sd`` is their estimated spread.

    Where the model gives a level an effect for each system, ``averaged``, it is the spread of their averages
    over the systems: ``own`` and ``by_system`` are then the parts that the model's table shows, where it has
    one of each. ``share`` is that of all of them together in the variance of a rating.
    """

    criterion: str
    group: str
    units: str
    confidence: float
    sd: float
    share: float
    levels: tuple[LevelEffect, ...]
    averaged: bool = False
    own: float = float("nan")
    by_system: float = float("nan")

    @property
    def alike(self) -> bool:
        """Whether the data show no difference: every effect is estimated as zero, and so is its error."""
        return self.sd < _NOTHING

    def extremes(self, most: int = 5) -> tuple[LevelEffect, ...]:
        """Return the lowest and the highest levels, all where there are few."""
        if len(self.levels) <= 2 * most:
            return self.levels
        return (*self.levels[:most], *self.levels[-most:])

    def sentence(self) -> str:
        """Return how much levels differ, and how many stand out."""
        out = sum(one.stands_out for one in self.levels)
        stand = f"{out:,} of {len(self.levels):,} {'stands' if out == 1 else 'stand'} out from the average"
        if self.alike:
            return (
                f"On {self.criterion}, the data show no difference between {self.group}s (their standard "
                f"deviation is estimated as {self.sd:.2f} {self.units})."
            )
        whose = "' averages over the systems" if self.averaged else ""
        what = f"the {self.group}s{whose}"
        parts = ""
        if np.isfinite(self.own):
            parts = f" ({self.own:.2f} in level, {self.by_system:.2f} from system to system)"
        whole = f"effects of {self.group}s are {100 * self.share:.0f} % of the variance of a rating"
        share = f", {100 * self.share:.0f} % of the variance" if not self.averaged else f"{parts}; {whole}"
        return (
            f"On {self.criterion}, {what} differ with a standard deviation of {self.sd:.2f} "
            f"{self.units}{share if np.isfinite(self.share) else parts}; {stand}."
        )

    def title(self) -> str:
        """Return the heading."""
        return f"{self.group.capitalize()}s on {self.criterion}"

    def table(self, most: int | None = None) -> Table:
        """Return one row per level, or only those at the ends."""
        shown = self.levels if most is None else self.extremes(most)
        rows = [(one.name, one.n, one.effect, interval(one.low, one.high)) for one in shown]
        heading = f"{self.confidence * 100:g} % interval"
        left_out = len(self.levels) - len(shown)
        note = f"effect: in {self.units}, above or below the average {self.group}"
        note += f"; {left_out:,} between them are left out here" if left_out else ""
        formats = {self.group: TEXT, "effect": decimals(2)}
        return Table(self.title(), (self.group, "ratings", "effect", heading), rows, formats, note)

    def parts(self) -> list[Part]:
        """Return the sentence and the ends of the table."""
        return [Sentence(self.sentence()), *([] if self.alike else [self.table(5)])]

    def to_dict(self) -> dict[str, Any]:
        """Return all levels."""
        return asdict(self) | {"sentence": self.sentence()}


def estimate_levels(
    fit: "Fit", grid: MarginalGrid, criterion: str, group: str, term: str, confidence: float
) -> LevelEffects:
    """Return the effects of all raters or items of a fitted model; ``group`` is ``rater`` or ``item``."""
    factors = [factor for factor in fit.design.factors if factor.name == group]
    if not factors:
        raise BadModel(f"The model has no effect of {group}s: see what is said about its random part.")
    factor = factors[0]
    place = fit.design.factors.index(factor)
    weights = _average_columns(fit, grid, factor, term)
    effect = fit.solution.modes[place] @ weights
    variance = float(weights @ fit.variance_components[factor.name] @ weights)
    level_variance = max(variance, 0.0)
    cells = _find_cells(fit, group, term)
    if cells is None:
        scaled = fit.solution.deviations[place] * weights
        spread = np.sqrt(np.maximum(_variances(fit, factor, place, scaled), 0.0))
    else:
        own, cell_variance = _add_cells(fit, factor, place, cells)
        effect = effect + own.effect
        spread = own.deviation
        variance += cell_variance
    reach = float(two_sided_quantile(confidence, np.array([np.inf]))[0]) * spread
    counts = np.bincount(factor.index, minlength=len(factor.levels))
    order = np.lexsort((np.arange(len(effect)), effect))
    share, latent = np.nan, fit.family in (None, "cumulative")
    if latent:
        shares = fit.icc().table.set_index("group")["icc"]
        share = float(shares.get(group, np.nan)) + (float(shares[cells.factor.name]) if cells else 0.0)
    return LevelEffects(
        criterion=criterion,
        group=group,
        units=("latent units" if latent else "units of η") if fit.ordinal else "points of the scale",
        confidence=confidence,
        sd=max(variance, 0.0) ** 0.5,
        share=share,
        averaged=cells is not None or len(factor.columns) > 1,
        own=level_variance**0.5 if cells is not None else np.nan,
        by_system=float(fit.variance_components[cells.factor.name][0, 0]) ** 0.5
        if cells is not None
        else np.nan,
        levels=tuple(
            LevelEffect(
                str(factor.levels[k]),
                int(counts[k]),
                float(effect[k]),
                float(effect[k] - reach[k]),
                float(effect[k] + reach[k]),
            )
            for k in order
        ),
    )


def _average_columns(fit: "Fit", grid: MarginalGrid, factor: "Factor", term: str) -> Floats:
    """Return the factor's columns averaged over the systems, each counting the same."""
    import pandas as pd

    if len(factor.columns) == 1:
        return np.ones(1)
    frame: pd.DataFrame = pd.DataFrame({term: list(grid.systems)})
    for name, variable in fit.design.fixed.numeric.items():
        frame[name] = variable
    for name, known in fit.design.fixed.levels.items():
        if name != term:
            frame[name] = known[0]
    rows = read_rows(fit.design, frame, levels=False, slopes=True)
    Z = next(one.Z for one in rows.groups if one.factor.name == factor.name)
    return np.asarray(Z.mean(axis=0))


@dataclass(frozen=True, eq=False)
class _Cells:
    """The factor of a group crossed with the systems: which level and which system each of its cells is."""

    factor: "Factor"
    place: int
    level: Longs
    system: Longs
    n_systems: int


@dataclass(frozen=True, eq=False)
class _Own:
    """What the cells add to each level's average effect, and the deviation of the sum."""

    effect: Floats
    deviation: Floats


def _find_cells(fit: "Fit", group: str, term: str) -> _Cells | None:
    """Return the factor ``group:system``, None where the model has none."""
    for place, factor in enumerate(fit.design.factors):
        recipe = factor.recipe
        if recipe is None or set(recipe.grouping) != {group, term} or len(factor.columns) > 1:
            continue
        names = list(recipe.grouping)
        level, system = (recipe.members[:, names.index(name)] for name in (group, term))
        return _Cells(factor, place, level, system, len(recipe.grouping[term]))
    return None


def _add_cells(fit: "Fit", factor: "Factor", place: int, cells: _Cells) -> tuple[_Own, float]:
    """Return the cells' part of each level's average effect, and of the variance between levels.

    With u the effect of a level and v_s those of its cells, both with normal priors (variances a and c), and
    with w_s the curvature of the ratings in cell s, the variance of u + mean(v) follows in closed form from
    the precision matrix [[1/a + Σw, w'], [w, diag(w + 1/c)]]. What is uncertain about the other effects is
    added in proportion: as the solver's deviation of u exceeds the one found here.
    """
    S, n_levels = cells.n_systems, len(factor.levels)
    order = {name: k for k, name in enumerate(factor.levels)}
    assert cells.factor.recipe is not None
    names = cells.factor.recipe.grouping[factor.name]
    level = np.array([order[name] for name in names])[cells.level]
    modes = np.zeros((n_levels, S))
    modes[level, cells.system] = fit.solution.modes[cells.place][:, 0]
    w = np.zeros((n_levels, S))
    sums = np.bincount(cells.factor.index, weights=_weights(fit), minlength=len(cells.level))
    w[level, cells.system] = sums
    a = float(fit.variance_components[factor.name][0, 0])
    c = float(fit.variance_components[cells.factor.name][0, 0])
    free = c / (c * w + 1.0)  # 1 / (w + 1/c), even for c = 0
    m = (w * free).mean(axis=1)
    u = a / (1.0 + a * (w - w**2 * free).sum(axis=1))  # the variance of a level's own effect
    variance = (1.0 - m) ** 2 * u + free.sum(axis=1) / S**2
    solver = fit.solution.deviations[place][:, 0] ** 2
    ratio = np.where(u > 0.0, solver / np.where(u > 0.0, u, 1.0), 1.0)
    return _Own(modes.mean(axis=1), np.sqrt(variance * np.maximum(ratio, 1.0))), c / S


def _variances(fit: "Fit", factor: "Factor", place: int, scaled: Floats) -> Floats:
    """Return the variance of each level's average effect, from deviations times weights."""
    if scaled.shape[1] == 1:
        return np.asarray(scaled[:, 0] ** 2)
    W = _weights(fit)
    m = scaled.shape[1]
    blocks = np.zeros((len(factor.levels), m, m))
    np.add.at(blocks, factor.index, W[:, None, None] * factor.Z[:, :, None] * factor.Z[:, None, :])
    block = fit.sigma * fit.solution.lambdas[place]
    inner = np.linalg.inv(np.einsum("im,lij,jn->lmn", block, blocks, block) + np.eye(m))
    covariance = np.einsum("im,lmn,jn->lij", block, inner, block)
    size = np.sqrt(np.maximum(np.einsum("lii->li", covariance), 1e-300))
    R = covariance / (size[:, :, None] * size[:, None, :])
    return np.asarray(np.einsum("li,lij,lj->l", scaled, R, scaled))


def _weights(fit: "Fit") -> Floats:
    """Return the curvature of each rating's log-likelihood in η."""
    if not fit.ordinal:
        return np.full(fit.n, 1.0 / fit.sigma**2)
    assert fit.design.codes is not None
    own, rows, none = own_rows(fit.design), np.arange(fit.n), np.zeros(fit.n)
    eta, _ = linear_predictor(fit, own)
    logs = [
        np.log(np.maximum(row_probabilities(fit, own, eta + step, none)[rows, fit.design.codes], 1e-300))
        for step in (-_SMALL, 0.0, _SMALL)
    ]
    return np.maximum(-(logs[0] - 2.0 * logs[1] + logs[2]) / _SMALL**2, 0.0)
