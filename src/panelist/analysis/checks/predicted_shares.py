"""Predicted against observed: how often each point was given, and how often the models say it should be.

After figure 1 of Howcroft & Rieser (2021, https://aclanthology.org/2021.emnlp-main.703). The ordinal model
has a probability for each point; the interval model has a normal distribution, of which each point gets what
lies within half a step of it, and the rest lies off the scale.
"""

from dataclasses import asdict, dataclass
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from panelist.analysis.missing import Missing
from panelist.analysis.systems.marginal import estimate_marginal, make_grid
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.errors import BadModel
from panelist.models.formulas.variables import Labels
from panelist.models.inference.contrasts import estimate_means
from panelist.models.predictions.predict import category_points
from panelist.numerics.arrays import Floats

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit


@dataclass(frozen=True)
class PointShare:
    """The share of one point for one system: observed, by the ordinal and by the interval model."""

    system: str
    point: str
    observed: float
    ordinal: float
    interval: float


@dataclass(frozen=True)
class PredictedShares(Result):
    """All points of all systems; ``off_scale`` is what the interval model puts off the scale, by system."""

    criterion: str
    shares: tuple[PointShare, ...]
    off_scale: dict[str, float]
    prior: str = ""  # how sentences name the prior of the ordinal model, where it has one

    def sentence(self) -> str:
        """Return how far the models are from the data, in words."""
        far = {
            name: max((abs(getattr(one, name) - one.observed) for one in self.shares), default=nan)
            for name in ("ordinal", "interval")
        }
        worst = max(self.shares, key=lambda one: abs(one.ordinal - one.observed))
        said = (
            f"On {self.criterion}, the ordinal model is at most {100 * far['ordinal']:.1f} percentage points "
            f"away from an observed share (of point {worst.point}, for {worst.system})"
        )
        if far["interval"] != far["interval"]:
            return f"{said}."
        off = max(self.off_scale, key=lambda name: self.off_scale[name])
        beyond = (
            f", and expects up to {100 * self.off_scale[off]:.0f} % of ratings off the scale (for {off})"
            if self.off_scale[off] >= 0.01
            else ""
        )
        return f"{said}, the interval model {100 * far['interval']:.1f}{beyond}."

    def title(self) -> str:
        """Return the heading."""
        return f"Predicted against observed shares on {self.criterion}"

    def table(self) -> Table:
        """Return one row per point and system, in per cent."""
        rows = [(s.system, s.point, 100 * s.observed, 100 * s.ordinal, 100 * s.interval) for s in self.shares]
        header = ("system", "point", "observed %", "ordinal model %", "interval model %")
        formats = {name: decimals(1) for name in header[2:]} | {"system": TEXT, "point": TEXT}
        note = f"ordinal model {self.prior}" if self.prior else ""
        return Table(f"Shares of each point on {self.criterion}", header, rows, formats, note=note)

    def parts(self) -> list[Part]:
        """Return the sentence and the table."""
        return [Sentence(self.sentence()), self.table()]

    def to_dict(self) -> dict[str, Any]:
        """Return the shares."""
        return asdict(self) | {"sentence": self.sentence()}


def predict_shares(
    fit: "Fit", criterion: str, linear: "Fit | Missing", term: str = "system"
) -> PredictedShares:
    """Return observed and predicted shares of an ordinal fit; ``linear`` is the interval model's fit."""
    if not fit.ordinal:
        raise BadModel("A linear model has no points whose shares could be predicted.")
    variable = fit.design.fixed.variables[term]
    assert isinstance(variable, Labels)
    assert fit.design.codes is not None
    K = len(fit.design.categories)
    counts = np.zeros((len(variable.levels), K))
    np.add.at(counts, (np.asarray(variable.codes), fit.design.codes), 1.0)
    observed = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    ordinal = estimate_marginal(fit, make_grid(fit, term))
    points = category_points(fit)
    interval = np.full_like(observed, nan)
    if points is not None and not isinstance(linear, Missing) and not linear.ordinal:
        interval = _share_normal(linear, points, variable.levels, term)
    rows = [
        PointShare(system, point, float(observed[s, k]), float(ordinal[s, k]), float(interval[s, k]))
        for s, system in enumerate(variable.levels)
        for k, point in enumerate(fit.design.categories)
    ]
    off = {name: float(1.0 - interval[s].sum()) for s, name in enumerate(variable.levels)}
    return PredictedShares(criterion, tuple(rows), off, fit.prior_phrase)


def _share_normal(fit: "Fit", points: Floats, systems: tuple[str, ...], term: str) -> Floats:
    """Return the share of the normal distribution that each point gets."""
    means = estimate_means(fit, term)
    grid = make_grid(fit, term)
    spread = np.sqrt(grid.average(grid.variance + fit.sigma**2))
    middle = (points[1:] + points[:-1]) / 2.0
    edges = np.concatenate(
        [[1.5 * points[0] - 0.5 * points[1]], middle, [1.5 * points[-1] - 0.5 * points[-2]]]
    )
    order = [means.levels.index(name) for name in systems]
    z = (edges - means.estimate[order, None]) / spread[[grid.systems.index(name) for name in systems], None]
    shares: Floats = np.diff(ndtr(z), axis=1)
    return shares
