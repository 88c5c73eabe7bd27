"""Compare two scales on the same outputs, with everything that Belz & Kow (2011) report.

Belz, A. & Kow, E. (2011). Discrete vs. continuous rating scales for language evaluation in NLP. ACL.
https://aclanthology.org/P11-2040

Intervals. Pearson's r: Fisher's, over systems. Spearman's rho and the number of pairs that differ:
percentiles of a bootstrap over items, the same draws on both scales. Kendall's W and stability: percentiles
of a bootstrap over raters. F-ratios: that of ω², from the non-central F. Differences are resampled where
their parts are, and otherwise made from the two intervals (Zou 2007, doi:10.1037/1082-989X.12.4.399).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from panelist.agreement.statistics.resample import reach_of_quantiles
from panelist.agreement.studies.stability import measure_stability
from panelist.analysis.choices.item_anova import OneWay, analyse_variance
from panelist.analysis.scales.matching import match_criteria
from panelist.analysis.scales.measures import (
    concordance,
    correlate,
    count_differences,
    fisher_interval,
    overlap,
    rank_products,
    share_interval,
    subtract_intervals,
    system_means,
)
from panelist.analysis.scales.outside import Outside, read_outside
from panelist.analysis.scales.scale_comparison import (
    Property,
    ScaleComparison,
    ScaleMeasure,
    ScalesOnCriterion,
)
from panelist.analysis.scales.scale_data import ScaleData, clean_ratings, make_scale_data
from panelist.analysis.scales.verdict import judge_scales
from panelist.analysis.spec import AnalysisSpec
from panelist.core.errors import BadModel, BadRatings, PanelistError
from panelist.core.numbers import check_confidence
from panelist.core.prose import count
from panelist.core.seeds import stream
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.numerics.arrays import Floats

LEAST_SYSTEMS = 3  # with two a correlation is 1 or -1 whatever happened


def compare_scales(
    a: Any,
    b: Any,
    *,
    validity: Any = None,
    measure: str | None = None,
    match: Mapping[str, str] | None = None,
    labels: tuple[str, str] | None = None,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> ScaleComparison:
    """Return how two scales compare on the same outputs, criterion by criterion.

    ``a`` and ``b`` are ratings tables with rater, item, system and rating. Criteria are matched by name, and
    by ``match`` ({"fluency": "readability"}) where they are called differently. ``validity`` is a table with
    an outside measure of the systems (a column ``measure``); ``labels`` name the scales, else the files do.
    """
    check_confidence(confidence)
    if resamples < 2:
        raise BadModel(f"A bootstrap needs at least 2 resamples. Got {resamples!r} instead.")
    tables = (read_ratings(a), read_ratings(b))
    names = labels or _label(tables)
    pairs, notes = match_criteria(tables, names, match or {})
    spec = AnalysisSpec(confidence=confidence, resamples=resamples, seed=seed)
    done, failed = [], {}
    for pair in pairs:
        outside = None if validity is None else read_outside(validity, measure, pair[0])
        try:
            done.append(_compare_one(tables, names, pair, outside, spec))
        except PanelistError as error:
            failed[pair[0]] = error
    if not done:
        raise next(iter(failed.values()))
    notes += [f"{label}: {note}" for label, table in zip(names, tables, strict=True) for note in table.notes]
    notes += [f"Left out, because it cannot be compared: {name}. {error}" for name, error in failed.items()]
    return ScaleComparison(labels=names, criteria=tuple(done), notes=tuple(notes))


def _label(tables: tuple[Ratings, Ratings]) -> tuple[str, str]:
    """Return the names of the files without their ending, made different where they are not."""
    first, second = (Path(table.source).stem for table in tables)
    return (first, second) if first != second else (f"{first} (A)", f"{second} (B)")


def _compare_one(
    tables: tuple[Ratings, Ratings],
    labels: tuple[str, str],
    criteria: tuple[str, str],
    outside: Outside | None,
    spec: AnalysisSpec,
) -> ScalesOnCriterion:
    data, notes = _align(tables, labels, criteria)
    items = len(data[0].items)
    rng = stream(spec.seed, "scales", *criteria)
    weights = np.ones((1, items))
    if items > 1:  # every system must have been drawn: else there is no mean
        drawn = rng.multinomial(items, np.full(items, 1 / items), size=spec.resamples)
        weights = np.concatenate([weights, drawn.astype(np.float64)])
    else:
        notes.append("There is one item: no interval can be drawn from it.")
    means = tuple(system_means(one, weights) for one in data)
    properties = [
        *_interchange(means[0], means[1], data[0], spec),
        _reliability(data, spec),
        *_stability(tables, labels, criteria, spec),
        _sensitivity(data, weights, spec),
        *_factors(data, spec),
        *(_validity(means, data, outside, spec) if outside is not None else []),
    ]
    name = criteria[0] if criteria[0] == criteria[1] else f"{criteria[0]} / {criteria[1]}"
    return ScalesOnCriterion(
        criterion=name or "rating",
        labels=labels,
        criteria=criteria,
        systems=data[0].systems,
        counts=(_count(data[0]), _count(data[1])),
        properties=tuple(properties),
        verdict=judge_scales(name or "rating", labels, len(data[0].systems), properties),
        confidence=spec.confidence,
        notes=tuple(notes),
    )


def _align(
    tables: tuple[Ratings, Ratings], labels: tuple[str, str], criteria: tuple[str, str]
) -> tuple[tuple[ScaleData, ScaleData], list[str]]:
    """Return both scales' ratings of the systems they share, with the same codes."""
    cleaned = [clean_ratings(*one) for one in zip(tables, labels, criteria, strict=True)]
    frames, notes = [frame for frame, _ in cleaned], [note for _, found in cleaned for note in found]
    known = [set(frame["system"].astype(str)) for frame in frames]
    shared = tuple(sorted(known[0] & known[1]))
    if len(shared) < 2:
        raise BadRatings(
            f"{labels[0]} and {labels[1]} share {len(shared)} systems on {criteria[0]!r}, and comparing "
            f"scales takes two or more. {labels[0]} has {', '.join(sorted(known[0])[:6])}; {labels[1]} has "
            f"{', '.join(sorted(known[1])[:6])}."
        )
    for label, mine in zip(labels, known, strict=True):
        if extra := sorted(mine - set(shared)):
            notes.append(f"{label}: systems that the other scale lacks are left out: {', '.join(extra[:8])}.")
    held = [set(frame["item"].astype(str)) for frame in frames]
    items = tuple(sorted(held[0] | held[1]))
    if different := len(held[0] ^ held[1]):
        notes.append(f"{different:,} of {len(items):,} items were rated on one scale only.")
    first, second = (
        make_scale_data(frame, label, criterion, shared, items)
        for frame, label, criterion in zip(frames, labels, criteria, strict=True)
    )
    return (first, second), notes


def _interchange(a: Floats, b: Floats, data: ScaleData, spec: AnalysisSpec) -> list[Property]:
    k = len(data.systems)
    if k < LEAST_SYSTEMS:
        note = f"with {k} systems a correlation says nothing: it takes {LEAST_SYSTEMS} or more"
        return [Property("interchangeability", name, note=note) for name in ("Pearson's r", "Spearman's rho")]
    r, rho = (correlate(a, b, ranks=ranks) for ranks in (False, True))
    note = "" if np.isfinite(r[0]) else "the systems have equal means on one scale"
    means = f"means of {k} systems"
    pearson = Property(
        "interchangeability", "Pearson's r", both=_correlation(r, k, spec), how=means, note=note
    )
    spearman = Property(
        "interchangeability", "Spearman's rho", both=_read(rho, spec), how=f"{means}, bootstrap over items"
    )
    return [pearson, spearman]


def _reliability(data: tuple[ScaleData, ScaleData], spec: AnalysisSpec) -> Property:
    """Return Kendall's W of each scale; raters who rated on both scales are drawn together."""
    products, raters = zip(*(rank_products(one) for one in data), strict=True)
    everyone = tuple(sorted({*raters[0], *raters[1]}))
    shared = set(raters[0]) & set(raters[1])
    rng = stream(spec.seed, "scales", "raters", data[0].criterion)
    together = rng.multinomial(
        len(everyone), np.full(len(everyone), 1 / max(len(everyone), 1)), spec.resamples
    )
    found = []
    for c, names in zip(products, raters, strict=True):
        m = len(names)
        if shared and set(names) == shared:
            weights = together[:, [everyone.index(name) for name in names]]
        else:
            weights = rng.multinomial(m, np.full(m, 1 / max(m, 1)), spec.resamples)
        found.append(concordance(c, np.vstack([np.ones((1, m)), weights])) if m else np.array([np.nan]))
    a, b = found
    notes = []
    for one, values, names in zip(data, found, raters, strict=True):
        if not np.isfinite(values[0]):
            notes.append(
                f"on {one.label} fewer than two raters saw every system, or all their means are equal"
            )
        elif len(names) < len(one.raters):
            notes.append(
                f"on {one.label} from the {len(names)} of {len(one.raters)} raters who saw every system"
            )
    how = "raters' means of the systems, bootstrap over raters"
    return _two("reliability", "Kendall's W, systems", a, b, spec, how=how, note="; ".join(notes))


def _stability(
    tables: tuple[Ratings, Ratings], labels: tuple[str, str], criteria: tuple[str, str], spec: AnalysisSpec
) -> list[Property]:
    """Return the test-retest correlation of each scale that was used on two occasions."""
    readings, reasons = [], []
    for table, label, criterion in zip(tables, labels, criteria, strict=True):
        try:
            reading = _retest(table, criterion, spec)
        except PanelistError as error:
            reading = ScaleMeasure()
            reasons.append(f"{label}: {error}" if "occasion" in table.frame else f"{label} has one occasion")
        readings.append(reading)
    a, b = readings
    how = "the same raters on two occasions, bootstrap over raters"
    note = "; ".join(reasons)
    return [Property("stability", "Pearson's r, retest", a, b, _subtract(a, b), how=how, note=note)]


def _retest(table: Ratings, criterion: str, spec: AnalysisSpec) -> ScaleMeasure:
    if "occasion" not in table.frame:
        raise BadRatings("there is no column occasion")
    (found,) = measure_stability(
        table,
        criterion or None,
        measurement="interval",
        resamples=spec.resamples,
        seed=spec.seed,
        confidence=spec.confidence,
    )
    one = found.overall
    return ScaleMeasure(one.estimates["pearson"], one.low["pearson"], one.high["pearson"])


def _sensitivity(data: tuple[ScaleData, ScaleData], weights: Floats, spec: AnalysisSpec) -> Property:
    a, b = (count_differences(one, weights, spec.confidence) for one in data)
    of = f" of {comb(len(data[0].systems), 2)}"
    how = "Tukey's HSD after a one-way ANOVA by system, bootstrap over items"
    return _two("sensitivity", "pairs that differ", a, b, spec, how=how, detail=of, digits=0)


def _factors(data: tuple[ScaleData, ScaleData], spec: AnalysisSpec) -> list[Property]:
    """Return the F-ratios of system, rater and text type: one-way analyses, as in the paper."""
    found = []
    for name in ("system", "rater", "text_type"):
        readings, notes = [], []
        for one in data:
            try:
                ratio = analyse_variance(
                    one.value, getattr(one, name).astype(str), what="ratings", factor=name, pairs=False
                )
            except BadModel as error:
                notes.append(f"{one.label}: {error}")
                readings.append(ScaleMeasure())
                continue
            readings.append(_read_ratio(ratio, spec.confidence))
        names = dict.fromkeys(one.text_type_name if name == "text_type" else name for one in data)
        word = " / ".join(names)
        how = "one-way analysis of variance; the interval is that of omega squared"
        found.append(
            Property(
                "effects", f"F-ratio of {word}", readings[0], readings[1], how=how, note="; ".join(notes)
            )
        )
    return found


def _read_ratio(ratio: OneWay, confidence: float) -> ScaleMeasure:
    """Return F, with ω² (the share of variance, without the upward bias of η²) and its interval."""
    low, high = share_interval(ratio.F, ratio.df1, ratio.df2, confidence)
    gain = ratio.df1 * (ratio.F - 1)
    omega = max(gain / (gain + ratio.df1 + ratio.df2 + 1), 0.0) if np.isfinite(ratio.F) else float("nan")
    return ScaleMeasure(ratio.F, low, high, ratio.p, omega)


def _validity(
    means: tuple[Floats, ...], data: tuple[ScaleData, ScaleData], outside: Outside, spec: AnalysisSpec
) -> list[Property]:
    systems = data[0].systems
    known = [at for at, name in enumerate(systems) if name in outside.means]
    if len(known) < LEAST_SYSTEMS:
        raise BadRatings(
            f"{outside.source} has {outside.name} for {len(known)} of the systems {', '.join(systems[:8])}; "
            f"validity takes {LEAST_SYSTEMS} or more."
        )
    against = np.array([outside.means[systems[at]] for at in known])
    n, missing = len(known), len(systems) - len(known)
    note = f"{count(missing, 'system has', 'systems have')} no {outside.name}" if missing else ""
    how = f"system means with {outside.name}, {n} systems"
    a, b = (_correlation(correlate(one[:, known], against), n, spec) for one in means)
    r_ab = float(correlate(means[0][0, known], means[1][0, known]))
    gap = _subtract(a, b, overlap(a.value, b.value, r_ab))
    pearson = Property("validity", f"Pearson's r with {outside.name}", a, b, gap, how=how, note=note)
    rho = [correlate(one[:, known], against, ranks=True) for one in means]
    name = f"Spearman's rho with {outside.name}"
    spearman = _two("validity", name, rho[0], rho[1], spec, how=f"{how}, bootstrap over items")
    return [pearson, spearman]


def _correlation(values: Floats, n: int, spec: AnalysisSpec) -> ScaleMeasure:
    """Return Pearson's r of ``n`` systems with Fisher's interval and the t-test of none."""
    r = float(values[0])
    return ScaleMeasure(r, *fisher_interval(r, n, spec.confidence), _correlation_p(r, n))


def _two(
    name: str,
    measure: str,
    a: Floats,
    b: Floats,
    spec: AnalysisSpec,
    *,
    how: str,
    note: str = "",
    detail: str = "",
    digits: int = 2,
) -> Property:
    """Return a property of both scales and its difference, from estimates followed by resamples."""
    first, second = (_read(values, spec, detail=detail) for values in (a, b))
    return Property(name, measure, first, second, _read(a - b, spec), how=how, note=note, digits=digits)


def _read(values: Floats, spec: AnalysisSpec, p: float = float("nan"), detail: str = "") -> ScaleMeasure:
    """Return the first value, with percentiles of the others around it; no end lies beyond what occurs."""
    drawn = values[1:][np.isfinite(values[1:])]
    low = high = float("nan")
    if np.isfinite(values[0]) and len(drawn) > max(1, len(values) // 2):
        estimate, reach = float(values[0]), reach_of_quantiles(drawn, spec.confidence)
        low = max(estimate - reach.down, min(estimate, float(drawn.min())))
        high = min(estimate + reach.up, max(estimate, float(drawn.max())))
    return ScaleMeasure(float(values[0]), low, high, p, detail=detail)


def _correlation_p(r: float, n: int) -> float:
    """Return the p of no correlation by t on n − 2 degrees of freedom."""
    from scipy.special import stdtr

    if not np.isfinite(r) or n < LEAST_SYSTEMS:
        return float("nan")
    if abs(r) >= 1:
        return 0.0
    return float(2 * stdtr(n - 2, -abs(r) * sqrt((n - 2) / (1 - r * r))))


def _subtract(a: ScaleMeasure, b: ScaleMeasure, correlation: float = 0.0) -> ScaleMeasure:
    """Return a − b with the interval made from both."""
    ends = subtract_intervals((a.value, a.low, a.high), (b.value, b.low, b.high), correlation)
    return ScaleMeasure(a.value - b.value, *ends)


def _count(data: ScaleData) -> dict[str, int]:
    return {
        "ratings": len(data.value),
        "raters": len(data.raters),
        "items": len(np.unique(data.item)),
        "systems": len(data.systems),
    }
