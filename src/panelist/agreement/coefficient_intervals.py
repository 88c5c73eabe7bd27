"""Intervals for any coefficient: for other items, other raters or both, or analytic where one is standard."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, Literal, TypeAlias, get_args

from panelist.agreement.coefficient import Coefficient, Level, Prepared, Undefined
from panelist.agreement.criterion_table import RatingTable
from panelist.agreement.statistics.rater_pairs import PreparedPairs
from panelist.agreement.statistics.resample import LeftOut, Reach, Resampled, leave_out_raters, resample
from panelist.core.errors import UnknownName, did_you_mean
from panelist.core.numbers import check_confidence
from panelist.core.progress import OnProgress

How: TypeAlias = Literal["auto", "items", "raters", "both", "analytic", "none"]
Over: TypeAlias = Literal["items", "raters", "both"]
HOWS: tuple[How, ...] = get_args(How)
ENOUGH_RATERS = 5  # from here on they say something about other raters; with fewer the intervals are vast
FEW_COMMON = 10  # outputs that half the pairs of raters share: means over smaller pairs are too biased


@dataclass(frozen=True)
class Limits:
    """An interval, nan where there is none, and how it was made, in words."""

    low: float = nan
    high: float = nan
    how: str = ""
    note: str = ""


def find_limits(
    table: RatingTable,
    coefficients: Sequence[Coefficient],
    measurement: Level,
    prepared: dict[type, Prepared],
    estimates: dict[str, float],
    *,
    how: How = "auto",
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    on_progress: OnProgress | None = None,
) -> dict[str, Limits]:
    """Return an interval for every coefficient that has a value, by name.

    It holds for other items (a bootstrap), for other raters (a jackknife) or for both; ``auto`` is both from
    five raters on, else items. An interval contains its estimate, or there is none and a note says why.
    Analytic intervals exist for the ICCs, Cronbach's alpha, Fleiss' kappa, Gwet's coefficients and the kappas
    of two raters; what has none, or needs complete ratings that are not there, is resampled over items.
    """
    check_how(how, confidence)
    found = {one.name: Limits() for one in coefficients}
    defined = [one for one in coefficients if isfinite(estimates[one.name])]
    if how == "none" or not defined:
        return found
    if how == "analytic":
        for one in defined:
            statistics = prepared[one.statistics].weigh()
            found[one.name] = _analytic(one, statistics, estimates[one.name], confidence)
        defined = [one for one in defined if not found[one.name].how]
    over = choose_over(how, table)
    if not defined:
        return found
    if reason := _too_few(table, over):
        return found | {one.name: Limits(note=reason) for one in defined}
    small = {one.name: _small_pairs(prepared[one.statistics]) for one in defined}
    found |= {name: Limits(note=reason) for name, reason in small.items() if reason}
    defined = [one for one in defined if not small[one.name]]
    drawn: dict[str, Resampled] = {}
    left_out: dict[str, LeftOut] = {}
    if over != "raters":
        drawn = resample(
            table,
            defined,
            measurement,
            resamples=resamples,
            seed=seed,
            prepared=prepared,
            on_progress=on_progress,
        )
    if over != "items":
        left_out = leave_out_raters(table, defined, measurement, seed=seed, prepared=prepared)
    for one in defined:
        found[one.name] = _put_around(
            one, estimates[one.name], drawn.get(one.name), left_out.get(one.name), confidence
        )
    return found


def choose_over(how: How, table: RatingTable) -> Over:
    """Return what is varied: by default raters too, where there are enough of them."""
    if how == "items" or how == "raters" or how == "both":
        return how
    return "both" if how == "auto" and table.n_raters >= ENOUGH_RATERS else "items"


def say_how(how: How, table: RatingTable) -> str:
    """Return what the intervals generalise to and how they are made, in words; empty where there are none."""
    if how == "none":
        return ""
    if how == "analytic":
        return "analytic where one is standard, else bootstrap over items"
    n = table.n_raters
    these = f"these {n} raters" if n != 1 else "this rater"
    return {
        "items": f"for other items rated by {these}, bootstrap over items",
        "raters": "for these items rated by other raters, jackknife over raters",
        "both": "for other items and other raters, bootstrap over items and jackknife over raters",
    }[choose_over(how, table)]


def check_how(how: str, confidence: float) -> None:
    """Raise with what is allowed, unless it is."""
    if how not in HOWS:
        raise UnknownName(f"No interval is called {how!r}. {did_you_mean(how, HOWS)}")
    check_confidence(confidence)


def _analytic(one: Coefficient, statistics: Any, estimate: float, confidence: float) -> Limits:
    if one.interval is None:
        return Limits()
    try:
        low, high = one.interval(statistics, confidence)
    except Undefined:
        return Limits()
    return Limits(low, high, "analytic") if low <= estimate <= high else Limits()


def _put_around(
    one: Coefficient, estimate: float, drawn: Resampled | None, left_out: LeftOut | None, confidence: float
) -> Limits:
    """Return the interval around the estimate, from the reach over items, over raters or both."""
    notes, ways, reaches = list[str](), list[str](), list[Reach]()
    if drawn is not None:
        n, lost = len(drawn.values), drawn.n_undefined
        notes += [f"undefined in {lost} of {n} resamples"] if lost else []
        ways.append(f"bootstrap over items, {n:,} resamples")
        reaches.append(drawn.reach(confidence))
        if drawn.cut:
            notes.append(f"interval from {n} resamples, as the raters form very many pairs")
    if left_out is not None:
        ways.append("jackknife over raters")
        reaches.append(left_out.reach(confidence))
        if not reaches[-1]:
            notes.append("undefined without some of the raters")
    if not all(reaches):
        return Limits(note="; ".join([*notes, "too often to give an interval"]))
    reach = reaches[0] & reaches[-1] if len(reaches) > 1 else reaches[0]
    if not reach.down + reach.up > 0:
        return Limits(note="; ".join([*notes, "no interval: every resample gives the same value"]))
    low = min(estimate, max(estimate - reach.down, one.lowest))
    high = max(estimate, min(estimate + reach.up, 1.0))
    return Limits(low, high, "; ".join(ways), "; ".join(notes))


def _small_pairs(prepared: Prepared) -> str:
    """Return why a mean over pairs of raters has no interval: half of them share too few outputs."""
    if not isinstance(prepared, PreparedPairs) or prepared.table.n_raters <= 2:
        return ""
    middle = prepared.middle_common
    if not middle < FEW_COMMON:
        return ""
    return (
        f"no interval: half the pairs of raters share {middle:g} outputs or fewer, and a mean over such "
        "small samples is off by more than its interval would say; Krippendorff's alpha takes all outputs "
        "together"
    )


def _too_few(table: RatingTable, over: Over) -> str:
    """Return why there is nothing to draw from, or nothing."""
    if over != "raters" and table.n_inputs < 2:
        return "no interval: a bootstrap over items needs two items or more"
    if over != "items" and table.n_raters < 3:
        return "no interval: leaving out raters in turn needs three raters or more"
    return ""
