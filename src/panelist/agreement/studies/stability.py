"""Stability: do raters repeat themselves on a second occasion? Krippendorff's (1980) test-retest reliability.

It must have been planned: some units are judged again by the same raters, after some time.
"""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.criterion_table import RatingTable, guess_level, make_table
from panelist.agreement.interpret import interpret
from panelist.agreement.statistics.resample import Reach, reach_of_quantiles, widen
from panelist.core.display.formats import TEXT, Cell, decimals, interval
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table
from panelist.core.errors import BadRatings
from panelist.core.prose import count
from panelist.core.seeds import stream
from panelist.core.tables.ratings import Ratings, read_ratings

if TYPE_CHECKING:
    import pandas as pd

KEYS = ("rater", "item", "system", "turn", "text")
RETEST = ("pearson", "percent_agreement", "weighted_kappa_quadratic", "icc_a1")
RETEST_NOMINAL = ("cohen_kappa", "percent_agreement")
LEAST_PAIRS = 3


@dataclass(frozen=True)
class Retest:
    """Two occasions of one rater (or of all, ``rater`` is then "all"): n pairs and the coefficients."""

    rater: str
    n_items: int
    estimates: dict[str, float]
    low: dict[str, float]
    high: dict[str, float]
    shift: float  # mean of second less first; nan for labels


@dataclass(frozen=True, kw_only=True, eq=False)
class Stability(Result):
    """How well raters repeat themselves on one criterion; ``overall`` pools all pairs of ratings."""

    criterion: str
    measurement: str
    first: str
    second: str
    overall: Retest
    raters: tuple[Retest, ...]
    confidence: float = 0.95
    resamples: int = 1000
    notes: tuple[str, ...] = ()

    def title(self) -> str:
        """Return the heading."""
        return f"Stability of {self.criterion}"

    def sentence(self) -> str:
        """Return how well the occasions match, over all raters."""
        name = next(iter(self.overall.estimates))
        value = self.overall.estimates[name]
        ends = interval(self.overall.low[name], self.overall.high[name])
        reading = next(iter(interpret(name, value)), None)
        words = f"; {reading.word}, {reading.scale}" if reading else ""
        same = self.overall.estimates["percent_agreement"]
        return (
            f"On {self.criterion}, the same raters on occasions {self.first} and {self.second}: "
            f"{COEFFICIENTS[name].spoken} is {value:.2f} ({ends}{words}), and {100 * same:.0f} % of the "
            f"ratings are repeated exactly ({self.overall.n_items:,} pairs of ratings by {len(self.raters)} "
            f"raters; {100 * self.confidence:.0f} % intervals, bootstrap over raters)."
        )

    def parts(self) -> list[Part]:
        """Return the sentence, a table of all and of each rater, and the notes."""
        names = list(self.overall.estimates)
        rows: list[tuple[Cell, ...]] = [
            (one.rater, one.n_items, *(one.estimates[name] for name in names), one.shift)
            for one in (self.overall, *self.raters)
        ]
        formats = {"rater": TEXT} | {name: decimals(2) for name in (*names, "shift")}
        table = Table(
            f"Occasions {self.first} and {self.second} on {self.criterion}",
            ("rater", "pairs", *names, "shift"),
            rows,
            formats,
            note="shift: mean of the second occasion less that of the first",
        )
        notes = [NamedValues([("note", note) for note in self.notes])] if self.notes else []
        return [Sentence(self.sentence()), table, *notes]

    def to_dict(self) -> dict[str, Any]:
        """Return the coefficients over all and for each rater."""
        return {
            "criterion": self.criterion,
            "measurement": self.measurement,
            "occasions": [self.first, self.second],
            "overall": asdict(self.overall),
            "raters": [asdict(one) for one in self.raters],
            "finding": self.sentence(),
            "notes": list(self.notes),
        }


def measure_stability(
    ratings: Any,
    criterion: str | None = None,
    measurement: str | None = None,
    occasions: tuple[str, str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> tuple[Stability, ...]:
    """Return how well raters repeat themselves, criterion by criterion.

    Ratings of one rater, item, system and text on two ``occasions`` make a pair (without them, the first
    two). Intervals resample raters, whose pairs are correlated.
    """
    table = read_ratings(ratings)
    table.require("rater", "rating", "occasion", "item")
    names = tuple(sorted(table.levels("occasion"), key=_natural))
    if len(names) < 2:
        raise BadRatings(f"Stability needs two occasions, and all rows are of occasion {names[0]!r}.")
    first, second = occasions or names[:2]
    wanted = (criterion,) if criterion else (table.criteria or (None,))
    found = []
    for one in wanted:
        rows = table.only(one) if one is not None else table
        pairs, notes = _pair_occasions(rows, first, second)
        if len(names) > 2:
            notes = [*notes, f"only occasions {first} and {second} of {len(names)} are compared"]
        found.append(
            _retest(pairs, one or "rating", measurement, (first, second), resamples, seed, confidence, notes)
        )
    return tuple(found)


def _pair_occasions(ratings: Ratings, first: str, second: str) -> "tuple[pd.DataFrame, list[str]]":
    """Return a row for each rating that was given on both occasions, and what was left out."""
    frame = ratings.where(occasion=[first, second]).frame.dropna(subset=["rater", "item"])
    keys = [name for name in KEYS if name in frame and frame[name].notna().all()]
    rows = frame[[*keys, "occasion", "rating"]].dropna(subset=["rating"])
    once = rows.drop_duplicates([*keys, "occasion"])
    notes = []
    if len(once) < len(rows):
        notes.append(f"{len(rows) - len(once)} ratings repeat one of the same occasion; the first is used")
    one, two = (once[once["occasion"] == name].drop(columns="occasion") for name in (first, second))
    pairs = one.merge(two, on=keys, suffixes=("_first", "_second"))
    single = len(one) + len(two) - 2 * len(pairs)
    if single:
        notes.append(
            f"{count(single, 'rating was', 'ratings were')} given on one occasion only, and left without a "
            "pair"
        )
    if pairs.empty:
        raise BadRatings(f"Nobody rated the same item on occasions {first!r} and {second!r}.")
    return pairs, notes


def _retest(
    pairs: "pd.DataFrame",
    criterion: str,
    measurement: str | None,
    occasions: tuple[str, str],
    resamples: int,
    seed: int,
    confidence: float,
    notes: list[str],
) -> Stability:
    keys = [name for name in KEYS if name in pairs]
    unit = pairs[keys].astype(str).agg("\x1f".join, axis=1).to_numpy()
    both = np.concatenate([pairs["rating_first"].to_numpy(), pairs["rating_second"].to_numpy()])
    whole = make_table(
        np.concatenate([unit, unit]), np.repeat(["1", "2"], len(pairs)), both, item=np.tile(pairs["rater"], 2)
    )
    kind = measurement or guess_level(whole.categories, whole.labels)
    names = RETEST_NOMINAL if kind == "nominal" else RETEST
    rater_of = np.array([name.split("\x1f")[0] for name in whole.units])
    raters = tuple(dict.fromkeys(sorted(rater_of)))
    each = [_estimate(whole.only(units=rater_of == one), one, names, kind) for one in raters]
    overall = _estimate(whole, "all", names, kind)
    low, high = _resample_raters(whole, rater_of, raters, names, kind, resamples, seed, confidence)
    few = [one.rater for one in each if one.n_items < LEAST_PAIRS]
    if few:
        notes = [
            *notes,
            f"{count(len(few), 'rater has', 'raters have')} "
            f"fewer than {LEAST_PAIRS} pairs: theirs say nothing",
        ]
    return Stability(
        criterion=criterion,
        measurement=kind,
        first=occasions[0],
        second=occasions[1],
        overall=Retest("all", overall.n_items, overall.estimates, low, high, overall.shift),
        raters=tuple(each),
        confidence=confidence,
        resamples=resamples,
        notes=tuple(notes),
    )


def _natural(name: str) -> tuple[bool, float, str]:
    """Return a key that puts 2 before 10, and numbers before words."""
    number = name.removeprefix("-").replace(".", "", 1).isdecimal()
    return (not number, float(name) if number else 0.0, name)


def _estimate(table: RatingTable, rater: str, names: tuple[str, ...], measurement: Any) -> Retest:
    estimates = {name: COEFFICIENTS[name](table, measurement) for name in names}
    matrix = table.matrix()
    shift = float("nan") if table.labels else float((matrix[:, 1] - matrix[:, 0]).mean())
    nothing = dict.fromkeys(names, float("nan"))
    return Retest(rater, table.n_units, estimates, nothing, dict(nothing), shift)


def _resample_raters(
    table: RatingTable,
    rater_of: Any,
    raters: tuple[str, ...],
    names: tuple[str, ...],
    measurement: Any,
    resamples: int,
    seed: int,
    confidence: float,
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the ends of intervals from resampled raters, with all their pairs."""
    nothing = dict.fromkeys(names, float("nan"))
    if resamples < 2 or len(raters) < 2:
        return nothing, dict(nothing)
    place = {name: k for k, name in enumerate(raters)}
    whose = np.array([place[name] for name in rater_of])
    random = stream(seed, "stability")
    draws = random.multinomial(len(raters), np.full(len(raters), 1 / len(raters)), size=resamples)
    low, high = {}, {}
    for name in names:
        coefficient = COEFFICIENTS[name]
        prepared = coefficient.statistics.prepare(table, measurement)
        values = [coefficient.evaluate(prepared.weigh(units=draw[whose].astype(float)))[0] for draw in draws]
        known = np.array([value for value in values if np.isfinite(value)])
        estimate = coefficient(table, measurement)
        reach = reach_of_quantiles(known, confidence) if len(known) > 1 else Reach()
        reach = reach.times(widen(len(raters), confidence))
        low[name] = max(estimate - reach.down, coefficient.lowest)
        high[name] = min(estimate + reach.up, 1.0)
    return low, high
