"""Truths at which a claim of equivalence or non-inferiority is simulated, from its margin."""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from panelist.analysis.spec import AnalysisSpec
from panelist.core.errors import PanelistError
from panelist.core.seeds import stream
from panelist.numerics.arrays import Floats
from panelist.power.analyses import ANALYSES
from panelist.power.truth.base import Truth
from panelist.power.truth.cuts import Slider

SHARES = (0.0, 1 / 3)
"""Of the margin: the true differences that a claim is simulated at, none and a third."""
_DRAWS, _NODES, _RATERS = 2000, 400, 25


def place_systems(
    truth: Truth, n_systems: int, spec: AnalysisSpec, share: float
) -> tuple[float, tuple[float, ...]]:
    """Return the true difference of the last system from all others, in the unit of the margin, and the
    latent effects that make it.

    It is this share of the margin; for non-inferiority the last system is worse by as much. In points the
    others too are shifted so that they expect the same rating: their ratings differ in spread.
    """
    assert spec.margin is not None
    size = share * spec.margin.size * (-1.0 if spec.claim == "non-inferiority" else 1.0) + 0.0
    if spec.margin.unit == "latent":
        return size, (*(0.0 for _ in range(n_systems - 1)), size * truth.residual)
    expected = [_Expected(truth, n_systems, system) for system in range(n_systems)]
    level = expected[0](0.0)
    others = [_solve(one, level) for one in expected[1:-1]]
    if not 0.0 < level + size < truth.cuts.points - 1:
        raise PanelistError(
            f"A difference of {abs(size):g} points does not fit on a scale of {truth.cuts.points} points. "
            "Choose a smaller margin."
        )
    return size, (0.0, *others, _solve(expected[-1], level + size))


def _solve(expect: "_Expected", level: float) -> float:
    """Return the latent mean at which a rating of this level is expected."""
    low, high = -64.0, 64.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if expect(middle) < level else (low, middle)
    return (low + high) / 2


class _Expected:
    """The rating expected of a system by its latent mean, over raters, items and thresholds as drawn."""

    def __init__(self, truth: Truth, n_systems: int, system: int) -> None:
        rng = stream(1, "expected ratings")
        self._slider = truth.cuts if isinstance(truth.cuts, Slider) else None
        self._cuts: Floats = truth.cuts.draw(rng, _DRAWS)
        if (gains := truth.gains(n_systems)) is not None:
            self._cuts = self._cuts - gains[system]
        varied = (one.covariance(n_systems)[system, system] for one in (truth.raters, truth.items))
        own = truth.residual * (truth.system_scale[system] if truth.system_scale else 1.0)
        raters = np.exp(truth.rater_scale * _make_nodes(_RATERS)) if truth.rater_scale else np.ones(1)
        self._sds: Floats = np.sqrt(sum(varied) + (own * raters) ** 2)

    def __call__(self, mean: float) -> float:
        if self._slider is not None:
            nodes = _make_nodes(_NODES)
            return float(np.mean([self._slider.read(mean + sd * nodes).mean() for sd in self._sds]))
        return float(np.mean([ndtr((mean - self._cuts) / sd).sum(axis=1).mean() for sd in self._sds]))


def _make_nodes(n: int) -> Floats:
    """Return n equally likely values of a standard normal."""
    nodes: Floats = ndtri((np.arange(n) + 0.5) / n)
    return nodes


def check_claim(models: Sequence[str], spec: AnalysisSpec) -> None:
    """Raise unless every analysis has differences in the unit of the margin."""
    if spec.claim is None or spec.margin is None:
        return
    unit = spec.margin.unit
    for name in models:
        if unit not in ANALYSES[name].units:
            able = [other for other, one in ANALYSES.items() if unit in one.units]
            raise PanelistError(
                f"The analysis {name} has no differences in {unit} with standard errors, so it cannot show "
                f"{spec.claim}. These can: {', '.join(able)}."
            )
