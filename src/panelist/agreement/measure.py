"""The whole reliability analysis: tables, suitable coefficients, intervals, what is odd."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from panelist.agreement.cleaning import CriterionTable, Repeats, make_tables
from panelist.agreement.coefficient import COEFFICIENTS, LEVELS, Coefficient, Estimate, Level, Prepared
from panelist.agreement.coefficient_intervals import How, Limits, check_how, find_limits, say_how
from panelist.agreement.coefficients.kendall_w import check_concordance
from panelist.agreement.criterion_table import RatingTable
from panelist.agreement.interpret import LEAST_RELIABLE
from panelist.agreement.reliability import HEADLINES, CoefficientEstimate, CriterionReliability, Reliability
from panelist.agreement.statistics.category_margins import (
    Margins,
    agree_on_categories,
    describe_margins,
    say_rare,
)
from panelist.agreement.statistics.rater_pairs import PairTables, PreparedPairs
from panelist.agreement.suspicious import find_suspicions
from panelist.core.errors import PanelistError
from panelist.core.numbers import check_count
from panelist.core.progress import OnProgress
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.numerics.compile_ahead import prepare

SKEWED = 0.8  # the share of one category from which chance-corrected agreement is known to mislead
NEARLY_SKEWED, ENOUGH_SKEWED = 0.75, 100  # a share, and items from which intervals are wide enough for it
UNNAMED_INTERVAL = "for other items, bootstrap over items"
GWET = ("gwet_ac1", "gwet_ac2")


def measure_agreement(
    ratings: Any,
    measurement: str | Mapping[str, str] | None = None,
    coefficients: str | Sequence[str] | None = None,
    *,
    interval: How = "auto",
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    unit: str | Sequence[str] | None = None,
    repeats: Repeats = "first",
    occasion: str | None = None,
    scale: Sequence[float] | None = None,
    columns: Mapping[str, str] | None = None,
    on_progress: OnProgress | None = None,
) -> Reliability:
    """Return agreement and correlation of the raters on every criterion, with intervals.

    ``measurement`` is nominal, ordinal, interval or ratio, for all criteria or by criterion; without it the
    values suggest one. ``coefficients`` are names; without any, those that suit the level, and with "all" all
    of them, each with a note where it does not suit. ``interval`` says what intervals generalise to: other
    items, other raters or both (auto: both from five raters on, else items), or is analytic or none.
    ``unit``, ``repeats`` and ``occasion`` say what is compared (see make_tables); ``scale`` the points that
    could be given, including points that nobody used, so that values off the scale are found.
    """
    check_how(interval, confidence)
    if interval != "none":
        check_count("resamples", resamples, 2)
    prepare("agreement")
    source = read_ratings(ratings, columns)
    known = "rater" in source.frame or "rater" not in source.absent
    asked = _named(coefficients)
    if not known:
        interval = _check_unnamed(source, asked, coefficients, interval)
    tables = make_tables(source, measurement, unit, repeats=repeats, occasion=occasion, scale=scale)
    measured = []
    for one in tables:
        given = measurement.get(one.criterion) if isinstance(measurement, Mapping) else measurement
        chosen = asked if asked is not None else suited(one.table.measurement)
        chosen = chosen if known else [each for each in chosen if each.unnamed]
        estimates, limits, prepared = _measure(
            one.table, chosen, interval, resamples, seed, confidence, on_progress
        )
        found = tuple(
            _estimate(coefficient, one.table, estimates[coefficient.name], limits[coefficient.name], prepared)
            for coefficient in chosen
        )
        margins = describe_margins(one.table)
        found = _note_narrow(_note_paradox(found, one.table, margins), one.table, margins)
        made = _criterion(one, given, found, margins, interval, confidence, source)
        if not known:
            how = UNNAMED_INTERVAL if interval == "items" else made.interval
            made = replace(made, raters_known=False, suspicions=(), interval=how)
        measured.append(made)
    return Reliability(source=source.source, criteria=tuple(measured), notes=source.notes, ratings=source)


def _check_unnamed(source: Ratings, asked: list[Coefficient] | None, coefficients: Any, interval: How) -> How:
    """Return the interval that is possible where raters are unknown; refuse what needs to know them."""
    apart = [one.name for one in asked or [] if not one.unnamed]
    if apart and coefficients != "all":
        raise PanelistError(
            f"{apart[0]} distinguishes raters, and the raters of {source.source} are unknown. Ask for one of "
            f"{', '.join(name for name, one in COEFFICIENTS.items() if one.unnamed)}."
        )
    if interval in ("raters", "both"):
        raise PanelistError(
            f"Intervals for other raters need to know who rated what, and the raters of {source.source} are "
            "unknown. Ask for items, analytic or none."
        )
    return "items" if interval == "auto" else interval


def suited(measurement: Level) -> list[Coefficient]:
    """Return the coefficients that suit a level of measurement, agreement first."""
    kinds = ("agreement", "correlation", "consistency")
    able = [one for _, one in COEFFICIENTS.items() if measurement in one.levels]
    return sorted(able, key=lambda one: kinds.index(one.kind))


def _named(coefficients: str | Sequence[str] | None) -> list[Coefficient] | None:
    if coefficients is None:
        return None
    if coefficients == "all":
        return [one for _, one in COEFFICIENTS.items()]
    names = [coefficients] if isinstance(coefficients, str) else coefficients
    return [COEFFICIENTS[name] for name in dict.fromkeys(names)]


def _measure(
    table: RatingTable,
    chosen: list[Coefficient],
    interval: How,
    resamples: int,
    seed: int,
    confidence: float,
    on_progress: OnProgress | None,
) -> tuple[dict[str, Estimate], dict[str, Limits], dict[type, Prepared]]:
    prepared: dict[type, Prepared] = {}
    for one in chosen:
        if one.statistics not in prepared:
            prepared[one.statistics] = one.statistics.prepare(table, table.measurement)
    estimates = {one.name: one.estimate(table, prepared=prepared[one.statistics]) for one in chosen}
    limits = find_limits(
        table,
        chosen,
        table.measurement,
        prepared,
        {name: found.value for name, found in estimates.items()},
        how=interval,
        resamples=resamples,
        seed=seed,
        confidence=confidence,
        on_progress=on_progress,
    )
    return estimates, limits, prepared


def _estimate(
    coefficient: Coefficient,
    table: RatingTable,
    found: Estimate,
    limits: Limits,
    prepared: dict[type, Prepared],
) -> CoefficientEstimate:
    suits = table.measurement in coefficient.levels
    notes = [found.note, limits.note, "" if suits else _say_unsuited(coefficient, table.measurement)]
    if coefficient.name == "kendall_w" and isfinite(found.value):
        notes.append(check_concordance(table).sentence())
    n_pairs = n_defined = None
    pairs = prepared.get(PairTables)
    if coefficient.needs == "pairs" and isinstance(pairs, PreparedPairs):
        n_pairs, n_defined = len(pairs.whole.first), pairs.count_defined(coefficient.name)
    return CoefficientEstimate(
        name=coefficient.name,
        estimate=found.value,
        low=limits.low,
        high=limits.high,
        n_items=found.n_items,
        note="; ".join(note for note in notes if note),
        kind=coefficient.kind,
        suits=suits,
        interval=limits.how,
        n_raters=table.n_raters,
        n_pairs=n_pairs,
        n_pairs_defined=n_defined,
    )


def _say_unsuited(coefficient: Coefficient, measurement: Level) -> str:
    """Return why a coefficient does not suit, and what would."""
    kind = coefficient.kind if coefficient.kind != "consistency" else "correlation"
    usual = HEADLINES[measurement]
    able = [one.name for one in suited(measurement) if one.kind == kind and one.corrected]
    better = sorted(able, key=lambda name: name not in usual)
    if LEVELS.index(coefficient.levels[0]) < LEVELS.index(measurement):
        made_for = " and ".join(coefficient.levels)
        why = f"made for {made_for} ratings, so it ignores how far {measurement} ratings differ"
    elif coefficient.levels[0] == "ordinal":
        why = f"it needs ratings with an order, and {measurement} ones have none"
    else:
        why = f"it takes distances between ratings as given, and {measurement} ones have none"
    instead = f"; {', '.join(better[:3])} would suit" if better else ""
    return f"does not suit {measurement} ratings: {why}{instead}"


def _note_paradox(
    found: tuple[CoefficientEstimate, ...], table: RatingTable, margins: Margins
) -> tuple[CoefficientEstimate, ...]:
    """Return the estimates, with a note on the low and the high ones where one category takes most ratings.

    Then what is corrected for chance is low, and Gwet's coefficients are high, whatever happens on the rare
    categories: both notes say how raters agree on these. Feinstein, A. R. & Cicchetti, D. V. (1990). High
    agreement but low kappa. Journal of Clinical Epidemiology 43, 543-549.
    """
    if not margins.most_share >= SKEWED:
        return found
    blind = [one for one in found if _is_blind(one)]
    if not blind:
        return found
    rare = say_rare(agree_on_categories(table))
    most = f"{100 * margins.most_share:.0f} % of the ratings are {margins.most}"
    equal = f"{100 * margins.equal:.0f} % of comparisons are equal"
    low = f"prevalence paradox: {most}, so it is low although {equal}"
    high = f"high because {most}"
    said = {one.name: low for one in blind}
    said |= {one.name: high for one in found if one.name in GWET and one.estimate >= LEAST_RELIABLE}
    return tuple(
        replace(one, note="; ".join(part for part in (one.note, said[one.name], rare) if part))
        if one.name in said
        else one
        for one in found
    )


def _note_narrow(
    found: tuple[CoefficientEstimate, ...], table: RatingTable, margins: Margins
) -> tuple[CoefficientEstimate, ...]:
    """Return the estimates, with a note where few outputs determine the distances.

    Measured in bench/agreement_coverage.py: 95 % intervals of these held the truth in 79 to 92 %.
    """
    if not margins.most_share >= NEARLY_SKEWED or table.n_inputs >= ENOUGH_SKEWED:
        return found
    text = "interval somewhat narrow: few outputs, and most ratings the same"
    return tuple(
        replace(one, note="; ".join(part for part in (one.note, text) if part))
        if isfinite(one.low) and "nominal" not in COEFFICIENTS[one.name].levels
        else one
        for one in found
    )


def _is_blind(one: CoefficientEstimate) -> bool:
    """Return whether a coefficient is low because hardly anything varies."""
    if one.kind != "agreement" or one.name in GWET or not COEFFICIENTS[one.name].corrected:
        return False
    return one.estimate < LEAST_RELIABLE


def _criterion(
    one: CriterionTable,
    given: str | None,
    found: tuple[CoefficientEstimate, ...],
    margins: Margins,
    interval: How,
    confidence: float,
    source: Ratings,
) -> CriterionReliability:
    table = one.table
    reason = "" if given else f"{table.measurement}, as the values suggest: {describe_values(table)}"
    return CriterionReliability(
        criterion=one.criterion,
        measurement=table.measurement,
        n_items=table.n_units,
        n_raters=table.n_raters,
        n_ratings=table.n_ratings,
        coefficients=found,
        confidence=confidence,
        interval=say_how(interval, table),
        measurement_reason=reason,
        notes=one.notes,
        suspicions=find_suspicions(table, ratings=_rows_of(source, one.criterion)),
        table=table,
        margins=margins,
    )


def _rows_of(source: Ratings, criterion: str) -> Ratings:
    return source.only(criterion) if criterion in source.criteria and len(source.criteria) > 1 else source


def describe_values(table: RatingTable) -> str:
    """Return the values in a few words: labels by name, numbers by their range."""
    points = table.categories
    if table.labels:
        return f"{len(table.labels)} labels"
    if len(points) == 1:
        return f"only {points[0]:g}"
    whole = "whole numbers" if (points == np.round(points)).all() else f"{len(points)} different numbers"
    return f"{whole} from {points[0]:g} to {points[-1]:g}"
