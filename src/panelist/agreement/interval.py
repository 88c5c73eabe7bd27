"""Intervals for any coefficient: bootstrap over items, raters or both, or analytic where one is standard."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, Literal, TypeAlias, get_args

from panelist.agreement.base import Coefficient, Level, Prepared, Undefined
from panelist.agreement.resample import Over, Resampled, resample
from panelist.agreement.table import RatingTable
from panelist.core.errors import PanelistError, UnknownName, did_you_mean

How: TypeAlias = Literal["items", "raters", "both", "analytic", "none"]
HOWS: tuple[How, ...] = get_args(How)
DRAWN = {"items": "items", "raters": "raters", "both": "items and raters"}


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
    level: Level,
    prepared: dict[type, Prepared],
    estimates: dict[str, float],
    *,
    how: How = "items",
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    on_step: Callable[[int], None] | None = None,
) -> dict[str, Limits]:
    """Return an interval for every coefficient that has a value, by name.

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
            found[one.name] = _analytic(one, prepared[one.statistics].weigh(), confidence)
        defined = [one for one in defined if not found[one.name].how]
    over: Over = "items" if how == "analytic" else how
    if not defined:
        return found
    if reason := _too_few(table, over):
        return found | {one.name: Limits(note=reason) for one in defined}
    drawn = resample(
        table,
        defined,
        level,
        over=over,
        resamples=resamples,
        seed=seed,
        prepared=prepared,
        on_step=on_step,
    )
    return found | {one.name: _bootstrap(drawn[one.name], estimates[one.name], confidence) for one in defined}


def check_how(how: str, confidence: float) -> None:
    """Say what is allowed, unless it is."""
    if how not in HOWS:
        raise UnknownName(f"No interval is called {how!r}. {did_you_mean(how, HOWS)}")
    if not 0 < confidence < 1:
        raise PanelistError(f"A confidence lies between 0 and 1, as 0.95. Got {confidence!r} instead.")


def _analytic(one: Coefficient, statistics: Any, confidence: float) -> Limits:
    if one.interval is None:
        return Limits()
    try:
        low, high = one.interval(statistics, confidence)
    except Undefined:
        return Limits()
    return Limits(low, high, "analytic") if isfinite(low) and isfinite(high) else Limits()


def _bootstrap(drawn: Resampled, estimate: float, confidence: float) -> Limits:
    low, high = drawn.limits(estimate, confidence)
    n = len(drawn.values)
    lost = n - int((drawn.values == drawn.values).sum())
    notes = [f"undefined in {lost} of {n} resamples"] if lost else []
    if not isfinite(low):
        notes.append("too often to give an interval")
        return Limits(note="; ".join(notes))
    how = f"bootstrap over {DRAWN[drawn.over]}, {n:,} resamples"
    if drawn.cut:
        notes.append(f"interval from {n} resamples, as the raters form very many pairs")
    return Limits(low, high, how, "; ".join(notes))


def _too_few(table: RatingTable, over: Over) -> str:
    """Return why there is nothing to draw from, or nothing."""
    if over != "raters" and table.n_inputs < 2:
        return "no interval: a bootstrap over items needs two items or more"
    if over != "items" and table.n_raters < 3:
        return "no interval: a bootstrap over raters needs three raters or more"
    return ""
