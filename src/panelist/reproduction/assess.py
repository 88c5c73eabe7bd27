"""One criterion of a reproduction: on one scale, aggregated, and compared in four ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from panelist.core.errors import BadReproduction, PanelistError
from panelist.reproduction.aggregate import Aggregation, aggregate, choose_aggregation, settle_binary
from panelist.reproduction.display.conventions import warn_of_scale
from panelist.reproduction.match import MatchedCriterion
from panelist.reproduction.measures.common_scale import (
    CommonScale,
    ScaleMap,
    carry_over,
    find_map,
    settle_scale,
)
from panelist.reproduction.measures.joint import JointModel, fit_jointly
from panelist.reproduction.measures.label_changes import LabelAgreement, compare_labels
from panelist.reproduction.measures.pair_tests import PairTests, check_pairs
from panelist.reproduction.measures.precision import Precision, measure_precision
from panelist.reproduction.measures.system_correlation import correlate
from panelist.reproduction.measures.upheld_findings import (
    FindingCheck,
    check_finding,
    count_agreements,
    derive_findings,
    list_stated,
)
from panelist.reproduction.reproduction import CriterionReproduction
from panelist.reproduction.sources import Given


@dataclass(frozen=True)
class Options:
    """What the caller of a reproduction decided; ``named`` is the study's own words on its aggregation."""

    scale_min: float | Mapping[str, float] | None
    maps: tuple[ScaleMap, ...]
    aggregation: str | None
    yes: tuple[float, ...]
    unit: str
    findings: tuple[str, ...]
    named: str
    confidence: float
    margin: float | None
    fit_models: bool


def assess(one: MatchedCriterion, options: Options) -> tuple[CriterionReproduction, PairTests]:
    """Return one criterion compared, and the original's own tests."""
    mapping = find_map(options.maps, one.criterion)
    given = one.given
    if mapping is not None:
        given = (given[0], *(carry_over(each, mapping) for each in given[1:]))
    mapped = mapping is not None and mapping.original != mapping.repeat
    rule, chosen = choose_aggregation(given, options.aggregation, options.named)
    scale = settle_scale(given, one.labels, rule, options.scale_min, mapping)
    given, notes = _settle_answers(one, given, options)
    table, more = _add_up(one, given, rule)
    notes += more
    systems = tuple(name for name in one.systems if all(name in row for row in table))
    if not systems:
        raise BadReproduction(f"On {one.criterion!r} no system has a score in every study. {' '.join(notes)}")
    scores = [[row[name] for name in systems] for row in table]
    tests = [
        check_pairs(each, row, systems, rule, confidence=options.confidence, fit_models=options.fit_models)
        for each, row in zip(given, table, strict=True)
    ]
    joint, reason = _try_joint(one, given, systems, mapped, options)
    findings, said = _check_findings(one, systems, tests, options)
    labels, why_not = _try_labels(given, options)
    agreements, comparisons = count_agreements(scores)
    correlations = correlate(scores, one.labels)
    whole = [*one.notes, *notes, *said, *(note for test in tests for note in test.notes), *why_not, *reason]
    if labels is not None:
        whole += labels.notes
    if joint is not None:
        whole += joint.notes
    found = CriterionReproduction(
        criterion=one.criterion,
        studies=one.labels,
        systems=systems,
        aggregation=f"{rule.name} ({chosen})"
        if any(each.rows is not None for each in given)
        else "as printed",
        scale=scale,
        precision=_measure(one.criterion, systems, scores, scale, options.confidence),
        correlations=correlations,
        labels=labels,
        findings=findings,
        agreements=agreements,
        comparisons=comparisons,
        joint=joint,
        analyses=tuple(test.analysis for test in tests),
        margin=options.margin,
        confidence=options.confidence,
        warnings=(*correlations.notes, *warn_of_scale(one.criterion, scale, scores)),
        notes=tuple(dict.fromkeys(whole)),
    )
    return found, tests[0]


def _settle_answers(
    one: MatchedCriterion, given: Sequence[Given], options: Options
) -> tuple[tuple[Given, ...], list[str]]:
    """Return yes-or-no answers as 1 and 0, others as they are, and what was left out."""
    settled, notes = [], list[str]()
    for each, label in zip(given, one.labels, strict=True):
        made, said = settle_binary(each, options.yes)
        settled.append(made)
        notes += [f"{label}: {note}" for note in said]
    return tuple(settled), notes


def _add_up(
    one: MatchedCriterion, given: Sequence[Given], rule: Aggregation
) -> tuple[list[dict[str, float]], list[str]]:
    """Return the scores of each study by system, those without one left out and named."""
    table, notes = [], list[str]()
    for each, label in zip(given, one.labels, strict=True):
        scores, said = aggregate(each, rule)
        notes += [f"{label}: {note}" for note in said]
        known = {name: score for name, score in scores.items() if isfinite(score)}
        if lost := [name for name in one.systems if name not in known]:
            notes.append(f"{label}: no score of {', '.join(lost)} by {rule.name}: left out.")
        table.append(known)
    return table, notes


def _measure(
    criterion: str,
    systems: Sequence[str],
    scores: Sequence[Sequence[float]],
    scale: CommonScale,
    confidence: float,
) -> tuple[Precision, ...]:
    columns = np.array(scores).T
    try:
        return tuple(
            measure_precision(name, column.tolist(), scale.low, confidence)
            for name, column in zip(systems, columns, strict=True)
        )
    except BadReproduction as error:
        raise BadReproduction(f"On {criterion!r}: {error}") from None


def _check_findings(
    one: MatchedCriterion, systems: Sequence[str], tests: Sequence[PairTests], options: Options
) -> tuple[tuple[FindingCheck, ...], list[str]]:
    stated, notes = list_stated(options.findings, one.criterion, systems)
    claimed = {frozenset((finding.first, finding.second)) for finding in stated}
    derived = [
        finding
        for finding in derive_findings(one.criterion, tests[0], systems)
        if frozenset((finding.first, finding.second)) not in claimed
    ]
    repeats = list(zip(one.labels[1:], tests[1:], strict=True))
    checks = tuple(
        check_finding(
            finding, tests[0], repeats, stated=said, confidence=options.confidence, margin=options.margin
        )
        for finding, said in [
            *((finding, True) for finding in stated),
            *((finding, False) for finding in derived),
        ]
    )
    notes += [
        f"The original's own {'test contradicts' if check.sign == '=' else 'scores do not show'} the stated "
        f"finding {check.finding}."
        for check in checks
        if check.stated and check.shown is False
    ]
    return checks, notes + _say_turned(checks)


def _say_turned(checks: Sequence[FindingCheck]) -> list[str]:
    """Return a note on every study whose scores and analysis put two systems in opposite orders."""
    turned = [
        (label, check.finding)
        for check in checks
        for label, scores, estimate in (
            ("original", check.original_scores, check.original),
            *((one.repeat, one.scores, one.difference) for one in check.evidence),
        )
        if scores * estimate < 0
    ]
    return [
        f"{label}: on {finding} the scores and the analysis, which takes raters and items into account, "
        "point in opposite directions. The order is that of the scores, the verdict that of the analysis."
        for label, finding in turned
    ]


def _try_labels(given: Sequence[Given], options: Options) -> tuple[LabelAgreement | None, list[str]]:
    if any(each.rows is None for each in given):
        return None, []
    try:
        return compare_labels(given, options.unit), []
    except BadReproduction as error:
        return None, [f"No labels are compared: {error}."]


def _try_joint(
    one: MatchedCriterion, given: Sequence[Given], systems: Sequence[str], mapped: bool, options: Options
) -> tuple[JointModel | None, list[str]]:
    raw = all(each.rows is not None for each in given)
    if not raw or not options.fit_models or len(systems) < 2:
        return None, []
    if any(each.choices for each in given):
        return _try_joint_choices(one, given, systems, options)
    try:
        joint = fit_jointly(
            given, one.labels, systems, mapped=mapped, margin=options.margin, confidence=options.confidence
        )
    except PanelistError as error:
        return None, [f"No joint model: {error}"]
    return joint, []


def _try_joint_choices(
    one: MatchedCriterion, given: Sequence[Given], systems: Sequence[str], options: Options
) -> tuple[JointModel | None, list[str]]:
    from panelist.reproduction.measures.joint_choices import fit_choices_jointly

    if not all(each.choices for each in given):
        return None, ["No joint model: one study has ratings and another choices."]
    try:
        return fit_choices_jointly(given, one.labels, systems, confidence=options.confidence), []
    except PanelistError as error:
        return None, [f"No joint model: {str(error).rstrip('.')}."]
