"""Bootstrap of any coefficients: outputs, raters or both drawn again, the statistics only weighed anew.

Items are drawn with all the outputs that belong to them, as outputs of one input are not independent. Raters
are drawn with all their ratings, and a rater drawn twice is never compared with itself. Both: items and
raters are drawn independently, and a rating counts the product (Owen 2007, The pigeonhole bootstrap, Annals
of Applied Statistics 1, 386-411).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal, TypeAlias, get_args

import numpy as np

from panelist.agreement.base import Coefficient, Level, Prepared
from panelist.agreement.pairs import PreparedPairs
from panelist.agreement.table import RatingTable
from panelist.core.errors import PanelistError, UnknownName, did_you_mean
from panelist.core.seeds import stream
from panelist.models.arrays import Floats

Over: TypeAlias = Literal["items", "raters", "both"]
OVERS: tuple[Over, ...] = get_args(Over)
MOST_MEETINGS = 400_000_000  # pairs of ratings walked in all, before the number of resamples is cut
FEWEST = 60  # resamples that give a standard error
ENOUGH = 400  # resamples that give quantiles


@dataclass(frozen=True, eq=False)
class Resampled:
    """A coefficient's values in the resamples (nan where undefined), and how they were made."""

    values: Floats
    over: Over
    cut: bool = False

    def limits(self, estimate: float, confidence: float) -> tuple[float, float]:
        """Return the interval: quantiles of the resamples; of too few, normal around the estimate."""
        defined = self.values[np.isfinite(self.values)]
        if not np.isfinite(estimate) or len(defined) < max(2, len(self.values) / 2):
            return nan, nan
        tail = (1 - confidence) / 2
        if self.cut and len(self.values) < ENOUGH:
            from scipy.special import ndtri

            reach = float(ndtri(1 - tail) * defined.std(ddof=1))
            return estimate - reach, min(estimate + reach, max(1.0, estimate))
        low, high = np.quantile(defined, [tail, 1 - tail])
        return float(low), float(high)


def resample(
    table: RatingTable,
    coefficients: Sequence[Coefficient],
    level: Level,
    *,
    over: Over = "items",
    resamples: int = 1000,
    seed: int = 0,
    prepared: dict[type, Prepared] | None = None,
    on_step: Callable[[int], None] | None = None,
) -> dict[str, Resampled]:
    """Return the values of every coefficient in the same resamples, by name."""
    check_over(over)
    if resamples < 2:
        raise PanelistError(f"A bootstrap needs at least 2 resamples. Got {resamples!r} instead.")
    held = dict(prepared or {})
    kinds: dict[type, list[Coefficient]] = {}
    for one in coefficients:
        if one.statistics not in held:
            held[one.statistics] = one.statistics.prepare(table, level)
        kinds.setdefault(one.statistics, []).append(one)
    counts = {kind: _affordable(held[kind], over, resamples) for kind in kinds}
    values = {one.name: np.full(counts[one.statistics], nan) for one in coefficients}
    rng = stream(seed, "agreement", over)
    for step in range(resamples):
        units, raters = draw(table, over, rng)
        for kind, members in kinds.items():
            if step < counts[kind]:
                statistics = held[kind].weigh(units, raters)
                for one in members:
                    values[one.name][step] = one.evaluate(statistics)[0]
        if on_step is not None:
            on_step(step)
    return {
        one.name: Resampled(values[one.name], over, counts[one.statistics] < resamples)
        for one in coefficients
    }


def draw(table: RatingTable, over: Over, rng: np.random.Generator) -> tuple[Floats | None, Floats | None]:
    """Return how often each unit and each rater counts in one resample; None where all count once."""
    units = raters = None
    if over in ("items", "both"):
        n = table.n_inputs
        units = np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64)[table.items]
    if over in ("raters", "both"):
        n = table.n_raters
        raters = np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64)
    return units, raters


def check_over(over: str) -> None:
    """Say what can be drawn, unless it is one of these."""
    if over not in OVERS:
        raise UnknownName(f"A bootstrap cannot go over {over!r}. {did_you_mean(over, OVERS)}")


def _affordable(prepared: Prepared, over: Over, resamples: int) -> int:
    """Return the number of resamples: fewer where each walks over very many pairs of ratings."""
    if not isinstance(prepared, PreparedPairs) or over == "raters":
        return resamples
    return min(resamples, max(FEWEST, MOST_MEETINGS // max(prepared.n_meetings, 1)))
