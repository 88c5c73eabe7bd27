"""Checks of a linear model: are residuals normal, equally spread, and predictions on the scale?"""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr, ndtri

from panelist.analysis.systems.marginal import make_grid
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.models.formulas.variables import Labels
from panelist.models.inference.contrasts import estimate_means
from panelist.numerics.arrays import Floats

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit

PLACES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
_BENT = 0.98  # correlation of residuals with normal quantiles below which they are called not normal
_UNEVEN = 1.5  # ratio of spreads from which on systems differ
_SLANTED = 0.2  # rank correlation of size and prediction from which on the spread follows the prediction
_OFF = 0.05  # share predicted off the scale that is worth a note


@dataclass(frozen=True)
class QuantilePair:
    """One quantile of the standardised residuals, and that of the normal distribution."""

    place: float
    observed: float
    normal: float


@dataclass(frozen=True)
class SystemResiduals:
    """One system: spread of its residuals, and the share of ratings that the model puts off the scale."""

    system: str
    sd: float
    off_scale: float


@dataclass(frozen=True)
class LinearChecks(Result):
    """The residuals of a linear model.

    ``straightness`` is the correlation of the sorted residuals with normal quantiles, 1 where normal;
    ``slant`` the rank correlation of the size of residuals with the predicted rating.
    """

    criterion: str
    straightness: float
    skewness: float
    slant: float
    quantiles: tuple[QuantilePair, ...]
    systems: tuple[SystemResiduals, ...]

    def sentences(self) -> list[str]:
        """Return what the residuals say about the model."""
        said = [self._tell_shape(), self._tell_spread()]
        worst = max(self.systems, key=lambda one: one.off_scale)
        if worst.off_scale >= _OFF:
            said.append(
                f"The model expects {100 * worst.off_scale:.0f} % of the ratings of {worst.system} off the "
                "scale: means near an end, and their intervals, should be read with care."
            )
        return said

    def _tell_shape(self) -> str:
        fit = f"correlation with normal quantiles {self.straightness:.3f}, skewness {self.skewness:.2f}"
        if self.straightness >= _BENT:
            return f"On {self.criterion}, the residuals are close to normal ({fit})."
        return (
            f"On {self.criterion}, the residuals are not normal ({fit}): with many ratings that hardly "
            "matters for the tests of means, but it does for statements about single ratings."
        )

    def _tell_spread(self) -> str:
        spread = {one.system: one.sd for one in self.systems}
        low, high = min(spread, key=spread.__getitem__), max(spread, key=spread.__getitem__)
        if spread[low] > 0 and spread[high] / spread[low] >= _UNEVEN:
            ends = f"most for {high} (SD {spread[high]:.2f}), least for {low} ({spread[low]:.2f})"
            said = f"Residuals spread {ends}: the model takes one spread for all"
        else:
            said = "Residuals spread about alike for all systems"
        if abs(self.slant) >= _SLANTED:
            which = "higher" if self.slant > 0 else "lower"
            said += (
                f"; they are larger where the predicted rating is {which} (rank correlation {self.slant:.2f})"
            )
        return f"{said}."

    def title(self) -> str:
        """Return the heading."""
        return f"Checks of the linear model of {self.criterion}"

    def table(self) -> Table:
        """Return one row per system."""
        rows = [(one.system, one.sd, 100 * one.off_scale) for one in self.systems]
        header = ("system", "SD of residuals", "predicted off the scale %")
        formats = {"system": TEXT, header[1]: decimals(2), header[2]: decimals(1)}
        return Table(f"Residuals on {self.criterion}", header, rows, formats)

    def quantile_table(self) -> Table:
        """Return one row per quantile, residuals beside the normal distribution."""
        rows = [(f"{100 * one.place:g} %", one.observed, one.normal) for one in self.quantiles]
        header = ("quantile", "standardised residuals", "normal")
        formats = {"quantile": TEXT, header[1]: decimals(2), header[2]: decimals(2)}
        return Table(f"Quantiles of the residuals on {self.criterion}", header, rows, formats)

    def parts(self) -> list[Part]:
        """Return the sentences and both tables."""
        return [*(Sentence(text) for text in self.sentences()), self.table(), self.quantile_table()]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and the sentences."""
        return asdict(self) | {"sentences": self.sentences()}


def check_linear_model(fit: "Fit", criterion: str, term: str = "system") -> LinearChecks:
    """Return the checks of a linear fit; the ends of the scale are those of the ratings."""
    residuals = np.asarray(fit.residuals("response"), dtype=float)
    y = np.asarray(fit.design.y, dtype=float)
    spread = float(residuals.std()) or 1.0
    standard = np.sort((residuals - residuals.mean()) / spread)
    normal = ndtri((np.arange(1, len(y) + 1) - 0.375) / (len(y) + 0.25))  # Blom's plotting positions
    quantiles = [
        QuantilePair(place, float(np.quantile(standard, place)), float(ndtri(place))) for place in PLACES
    ]
    return LinearChecks(
        criterion=criterion,
        straightness=_correlate(standard, normal),
        skewness=float(np.mean(standard**3)),
        slant=_correlate(_rank(np.abs(residuals)), _rank(y - residuals)),
        quantiles=tuple(quantiles),
        systems=_describe_systems(fit, term, residuals, y),
    )


def _describe_systems(fit: "Fit", term: str, residuals: Floats, y: Floats) -> tuple[SystemResiduals, ...]:
    variable = fit.design.fixed.variables[term]
    assert isinstance(variable, Labels)
    codes = np.asarray(variable.codes)
    means, grid = estimate_means(fit, term), make_grid(fit, term)
    wide = np.sqrt(grid.average(grid.variance + fit.sigma**2))
    rows = []
    for place, name in enumerate(variable.levels):
        own = residuals[codes == place]
        mean, sd = float(means.estimate[means.levels.index(name)]), float(wide[grid.systems.index(name)])
        off = float(ndtr((y.min() - mean) / sd) + ndtr((mean - y.max()) / sd)) if sd > 0 else 0.0
        rows.append(SystemResiduals(name, float(own.std(ddof=1)) if len(own) > 1 else 0.0, off))
    return tuple(rows)


def _correlate(a: Floats, b: Floats) -> float:
    if a.std() == 0 or b.std() == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def _rank(values: Floats) -> Floats:
    """Return ranks, those of equal values averaged."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2)[place]
    return ranks
