"""What would come out with other items, or with other raters: any coefficients, reweighted.

Items are drawn again (a bootstrap), each with all the outputs that belong to it, as outputs of one input are
not independent. Raters are left out in turn (a jackknife), each with all their ratings: nobody is counted
twice, so no rater is ever compared with a copy, and no pair of raters rests on fewer outputs than it
has.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan, sqrt

import numpy as np

from panelist.agreement.coefficient import Coefficient, Level, Prepared
from panelist.agreement.criterion_table import RatingTable
from panelist.agreement.statistics.rater_pairs import PreparedPairs
from panelist.core.errors import PanelistError
from panelist.core.progress import OnProgress, Progress
from panelist.core.seeds import stream
from panelist.numerics.arrays import Floats

MOST_MEETINGS = 400_000_000  # pairs of ratings visited in all, before the number of resamples is cut
FEWEST = 60  # resamples that give a standard error
ENOUGH = 400  # resamples that give quantiles
SHUFFLES = 4  # of the raters within outputs, to see what a jackknife gives where raters are alike
LARGE = 200_000  # ratings, from which one shuffle is enough
MOST_GROUPS = 100  # of raters that are left out in turn; more raters are left out several at a time


@dataclass(frozen=True)
class Reach:
    """How far an interval goes below and above its estimate; nan where that is not known."""

    down: float = nan
    up: float = nan

    def __bool__(self) -> bool:
        return self.down == self.down and self.up == self.up

    def times(self, factor: float) -> "Reach":
        """Return a reach ``factor`` times as wide."""
        return Reach(factor * self.down, factor * self.up)

    def __and__(self, other: "Reach") -> "Reach":
        """Return the reach of two sources of error together: squares add (Zou & Donner 2008).

        Zou, G. Y. & Donner, A. (2008). Construction of confidence limits about effect measures. Statistics in
        Medicine 27, 1693-1702. The variance of an average over items and raters is that of items plus that of
        raters less that of their cells (Owen 2007, Annals of Applied Statistics 1, 386-411); the last is not
        subtracted, so that the interval errs on the wide side.
        """
        return Reach(sqrt(self.down**2 + other.down**2), sqrt(self.up**2 + other.up**2))


@dataclass(frozen=True, eq=False)
class Resampled:
    """A coefficient's values in the resamples (nan where undefined), and how they were made."""

    values: Floats
    n_drawn: int
    cut: bool = False

    @property
    def n_undefined(self) -> int:
        """In how many resamples the coefficient has no value."""
        return int(np.isnan(self.values).sum())

    def reach(self, confidence: float) -> Reach:
        """Return how far quantiles lie from the middle of the resamples; of too few, by their deviation."""
        defined = self.values[np.isfinite(self.values)]
        if len(defined) < max(2, len(self.values) / 2):
            return Reach()
        if self.cut and len(self.values) < ENOUGH:
            out = float(defined.std(ddof=1)) * _normal(confidence)
            return Reach(out, out).times(widen(self.n_drawn, confidence))
        return reach_of_quantiles(defined, confidence).times(widen(self.n_drawn, confidence))


@dataclass(frozen=True, eq=False)
class LeftOut:
    """A coefficient's values with one rater, or one group of raters, left out in turn.

    ``noise`` is the jackknife's variance where raters are all alike: their ratings of each output shuffled.
    """

    values: Floats
    noise: float = 0.0

    @property
    def variance(self) -> float:
        """The jackknife's variance (Tukey 1958); nan where too few values are defined."""
        defined = self.values[np.isfinite(self.values)]
        n = len(defined)
        if n < max(3, len(self.values) / 2):
            return nan
        return (n - 1) / n * float(((defined - defined.mean()) ** 2).sum())

    def reach(self, confidence: float) -> Reach:
        """Return Student's t times the standard error, on one less than the number of groups.

        Agreement is a mean over pairs of ratings, and a jackknife counts what comes from pairs alone twice
        (Efron & Stein 1981, The jackknife estimate of variance, Annals of Statistics 9, 586-596): half the
        noise is subtracted, at most half of all.

        >>> round(LeftOut(np.array([0.2, 0.3, 0.4])).reach(0.95).down, 4)
        0.4968
        """
        from scipy.special import stdtrit

        variance = self.variance
        if variance != variance:
            return Reach()
        se = sqrt(max(variance - self.noise / 2, variance / 2))
        df = int(np.isfinite(self.values).sum()) - 1
        out = float(stdtrit(df, 0.5 + confidence / 2)) * se
        return Reach(out, out)


def reach_of_quantiles(drawn: Floats, confidence: float) -> Reach:
    """Return how far the quantiles of a bootstrap lie from its median.

    Quantiles are taken from the median and put around the estimate. A coefficient of small samples is biased,
    and in a resample, which holds fewer different units, more so: plain quantiles are off by the bias, and
    may leave out their own estimate.
    """
    tail = (1 - confidence) / 2
    low, middle, high = np.quantile(drawn, [tail, 0.5, 1 - tail])
    return Reach(float(middle - low), float(high - middle))


def widen(n: int, confidence: float) -> float:
    """Return by how much a bootstrap of n units is too narrow (Hesterberg 2015, the expanded percentile).

    Hesterberg, T. C. (2015). What teachers should know about the bootstrap. The American Statistician 69,
    371-386.

    >>> round(widen(6, 0.95), 3), round(widen(100, 0.95), 3)
    (1.437, 1.017)
    """
    from scipy.special import stdtrit

    return sqrt(n / (n - 1)) * float(stdtrit(n - 1, 0.5 + confidence / 2)) / _normal(confidence)


def resample(
    table: RatingTable,
    coefficients: Sequence[Coefficient],
    measurement: Level,
    *,
    resamples: int = 1000,
    seed: int = 0,
    prepared: dict[type, Prepared] | None = None,
    on_progress: OnProgress | None = None,
) -> dict[str, Resampled]:
    """Return the values of every coefficient in the same resamples of items, by name."""
    if resamples < 2:
        raise PanelistError(f"A bootstrap needs at least 2 resamples. Got {resamples!r} instead.")
    held, kinds = _prepare(table, coefficients, measurement, prepared)
    counts = {kind: _affordable(held[kind], resamples) for kind in kinds}
    values = {one.name: np.full(counts[one.statistics], nan) for one in coefficients}
    rng = stream(seed, "agreement", "items")
    for step in range(resamples):
        units = draw_items(table, rng)
        for kind, members in kinds.items():
            if step < counts[kind]:
                statistics = held[kind].weigh(units)
                for one in members:
                    values[one.name][step] = one.evaluate(statistics)[0]
        if on_progress is not None:
            on_progress(Progress(step + 1, resamples, "bootstrap samples"))
    return {
        one.name: Resampled(values[one.name], table.n_inputs, counts[one.statistics] < resamples)
        for one in coefficients
    }


def leave_out_raters(
    table: RatingTable,
    coefficients: Sequence[Coefficient],
    measurement: Level,
    *,
    seed: int = 0,
    prepared: dict[type, Prepared] | None = None,
) -> dict[str, LeftOut]:
    """Return the values of every coefficient without each rater in turn; of very many, each group."""
    rng = stream(seed, "agreement", "raters")
    found = _leave_out(table, coefficients, measurement, rng, prepared)
    shuffles = SHUFFLES if table.n_ratings <= LARGE else 1
    alike = [_leave_out(_shuffle_raters(table, rng), coefficients, measurement, rng) for _ in range(shuffles)]
    return {
        name: LeftOut(values, _mean([LeftOut(one[name]).variance for one in alike]))
        for name, values in found.items()
    }


def _leave_out(
    table: RatingTable,
    coefficients: Sequence[Coefficient],
    measurement: Level,
    rng: np.random.Generator,
    prepared: dict[type, Prepared] | None = None,
) -> dict[str, Floats]:
    held, kinds = _prepare(table, coefficients, measurement, prepared)
    n_groups = min(table.n_raters, MOST_GROUPS)
    group = rng.permutation(table.n_raters) % n_groups
    values = {one.name: np.full(n_groups, nan) for one in coefficients}
    for left in range(n_groups):
        raters = (group != left).astype(np.float64)
        for kind, members in kinds.items():
            statistics = held[kind].weigh(None, raters)
            for one in members:
                values[one.name][left] = one.evaluate(statistics)[0]
    return values


def _shuffle_raters(table: RatingTable, rng: np.random.Generator) -> RatingTable:
    """Return the table with the ratings of each output shuffled among those who rated it."""
    return replace(table, rater=table.rater[np.lexsort((rng.random(table.n_ratings), table.unit))])


def _mean(variances: list[float]) -> float:
    known = [one for one in variances if one == one]
    return sum(known) / len(known) if known else 0.0


def draw_items(table: RatingTable, rng: np.random.Generator) -> Floats:
    """Return how often each unit counts in one resample of the items."""
    n = table.n_inputs
    return np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64)[table.items]


def _prepare(
    table: RatingTable,
    coefficients: Sequence[Coefficient],
    measurement: Level,
    prepared: dict[type, Prepared] | None,
) -> tuple[dict[type, Prepared], dict[type, list[Coefficient]]]:
    """Return the statistics that these coefficients need, and the coefficients of each kind."""
    held = dict(prepared or {})
    kinds: dict[type, list[Coefficient]] = {}
    for one in coefficients:
        if one.statistics not in held:
            held[one.statistics] = one.statistics.prepare(table, measurement)
        kinds.setdefault(one.statistics, []).append(one)
    return held, kinds


def _affordable(prepared: Prepared, resamples: int) -> int:
    """Return the number of resamples: fewer where each visits very many pairs of ratings."""
    if not isinstance(prepared, PreparedPairs):
        return resamples
    return min(resamples, max(FEWEST, MOST_MEETINGS // max(prepared.n_meetings, 1)))


def _normal(confidence: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(0.5 + confidence / 2))
