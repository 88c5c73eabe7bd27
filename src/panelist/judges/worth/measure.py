"""What judges are worth beside people: every criterion and judge, measured in the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, stdtr

from panelist.analysis.choices.trials import holds_choices
from panelist.core.errors import BadModel, PanelistError, UnknownName, did_you_mean
from panelist.core.numbers import check_confidence, check_count
from panelist.core.prose import count
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.judges.answers import NO_LINE, OFF_SCALE
from panelist.judges.combine import combine_scores, name_combined
from panelist.judges.correct.regression import Corrected, correct_means
from panelist.judges.families import check_families, find_kin, say_kin
from panelist.judges.guard import Following, adjust_together, follow_judges
from panelist.judges.lengths import read_lengths, spread_lengths
from panelist.judges.match import JudgedRatings, check_raters, match_criterion
from panelist.judges.scale import Points, ScaleMatch, check_scale
from panelist.judges.table import JudgeScores, read_judges
from panelist.judges.worth.accuracy import (
    accuracy_of_outputs,
    accuracy_of_systems,
    resample_soft_accuracy,
    soft_accuracy,
)
from panelist.judges.worth.agreement import measure_agreement_with_people
from panelist.judges.worth.alt_test import AltTest, middle_answer, run_alt_test
from panelist.judges.worth.bias import measure_favour, measure_length, measure_silence
from panelist.judges.worth.calibration import calibrate
from panelist.judges.worth.ceiling import Draws, units_of
from panelist.judges.worth.judge_worth import FEW_ITEMS, FEW_SYSTEMS, JudgeWorth
from panelist.judges.worth.level_rows import draw_levels, hold_beside_person, leave_out_raters
from panelist.judges.worth.levels import (
    ItemSums,
    centre_twice,
    measure_levels,
    paired_correlation,
    percentile,
    resample_items,
)
from panelist.judges.worth.pairs import measure_pairs
from panelist.judges.worth.replaced import LARGE, MOST_ITEMS, find_obstacle, measure_replaced, thin_items
from panelist.judges.worth.worth import JudgeDifference, Worth
from panelist.numerics.arrays import Floats

INTERVALS = ("items", "raters", "both")
FEWEST_ITEMS = 3  # rated ones: with fewer, systems and items are all there is


@dataclass(frozen=True)
class WorthSpec:
    """How worth is measured."""

    confidence: float = 0.95
    over: str = "items"
    epsilon: float = 0.1
    resamples: int = 2000
    seed: int = 0
    scale: str = "auto"
    points: Points = None
    combine: bool = True


def measure_judges(
    ratings: Any,
    judges: Any = None,
    *,
    judge_columns: Sequence[str] = (),
    criteria: Sequence[str] | str | None = None,
    confidence: float = 0.95,
    interval: str = "items",
    epsilon: float = 0.1,
    outputs: Any = None,
    judge_scale: str = "auto",
    points: Points = None,
    families: Mapping[str, str] | None = None,
    combine: bool = True,
    resamples: int = 2000,
    seed: int = 0,
) -> Worth:
    """Return what each judge is worth beside people, for each criterion.

    ``ratings`` are people's: a Ratings, a frame or a path; ``judges`` a judges table in the same forms, or
    several, or ``judge_columns`` are columns of the ratings table that hold a judge's scores each.
    ``interval`` says what intervals are about: other items (2,000 resamples), other raters (left out in
    turn), or both. ``epsilon`` of the alternative annotator test is what a person's cost is worth (.2
    experts, .15 trained, .1 crowd), to be chosen beforehand. ``outputs`` is a table of outputs (``item,
    system, output`` or ``words``) for the bias by length; ``judge_scale`` and ``points`` say whether judges
    answer on people's scale, and its ends (or those of each criterion); ``families`` are those of the
    systems (judges/families.py). With ``combine`` several judges are also measured as one.
    """
    spec = WorthSpec(confidence, interval, epsilon, resamples, seed, judge_scale, points, combine)
    _check(spec)
    table = read_ratings(ratings)
    scores = read_judges(judges, table, judge_columns)
    lengths = None if outputs is None else read_lengths(outputs)
    if families and "system" in table.frame:
        check_families(families, table.frame["system"].dropna().astype(str).unique())
    kin = find_kin(scores, families)
    notes = [*table.notes, *check_raters(table, scores.judges), *scores.notes]
    done: list[JudgeWorth] = []
    differences: list[JudgeDifference] = []
    following: list[Following] = []
    failed: dict[str, PanelistError] = {}
    for criterion, part in _split(table, scores, criteria):
        try:
            if holds_choices(part.frame):
                found, compared = measure_pairs(part, scores, criterion, spec, lengths)
            else:
                found, compared, followed = _measure_scores(part, scores, criterion, spec, lengths)
                following += followed
            done += found
            differences += compared
        except PanelistError as error:
            failed[criterion] = error
    if not done:
        raise next(iter(failed.values()))
    notes += [f"Left out: {name}. {error}" for name, error in failed.items()]
    return Worth(
        source=table.source,
        judges_source=scores.source,
        judges=tuple(_add_kin(one, kin.get(one.judge, ())) for one in done),
        differences=tuple(differences),
        guard=adjust_together(following),
        samples=scores.samples,
        notes=tuple(dict.fromkeys(notes)),
    )


def _check(spec: WorthSpec) -> None:
    check_scale(spec.scale)
    if spec.over not in INTERVALS:
        raise UnknownName(f"Intervals cannot be about {spec.over!r}. {did_you_mean(spec.over, INTERVALS)}")
    check_confidence(spec.confidence)
    if not 0 <= spec.epsilon < 1:
        raise BadModel(
            f"Epsilon of the alt-test lies between 0 and 1, for example 0.1. Got {spec.epsilon!r}."
        )
    check_count("resamples", spec.resamples, 100)


def _split(
    table: Ratings, scores: JudgeScores, wanted: Sequence[str] | str | None
) -> list[tuple[str, Ratings]]:
    """Return each criterion that people rated, with its rows; a table without criteria is one."""
    known = table.criteria
    asked = [wanted] if isinstance(wanted, str) else list(wanted or ())
    for name in asked:
        if name not in known:
            raise UnknownName(f"No criterion is called {name!r}. {did_you_mean(name, known)}")
    if not known:
        only = scores.criteria
        if len(only) > 1:
            raise BadModel(
                f"The ratings name no criterion, and {scores.source} has several ({', '.join(only)}): say in "
                "a "
                "column criterion which one people rated."
            )
        return [(only[0] if only else "rating", table)]
    column = table.frame["criterion"]
    return [(name, replace(table, frame=table.frame[(column == name).to_numpy()])) for name in asked or known]


def _measure_scores(
    ratings: Ratings, scores: JudgeScores, criterion: str, spec: WorthSpec, lengths: pd.Series | None
) -> tuple[list[JudgeWorth], list[JudgeDifference], list[Following]]:
    """Return the worth of every judge of one criterion, how their paired r differ, and who follows them."""
    beside = match_criterion(ratings, scores, criterion, scale=spec.scale, points=spec.points)
    if len(beside.systems) < 2:
        raise BadModel(
            f"On {criterion!r} there is only one system, {beside.systems[0]!r}: a judge is measured on "
            "differences between systems, so there must be two."
        )
    if (n := int(beside.labelled.sum())) < FEWEST_ITEMS:
        raise BadModel(
            f"On {criterion!r} people rated {count(n, 'judged item')}: what a judge is worth needs at least "
            f"{FEWEST_ITEMS}, and can be told from about {FEW_ITEMS} on."
        )
    if spec.over != "items" and not beside.knows_raters:
        who = "There is one rater only" if beside.raters else "Raters are unknown"
        raise BadModel(f"{who}, so intervals cannot be about other {spec.over}: use items.")
    single = beside.judges
    combined = ""
    if spec.combine and len(single) > 1:
        combined = name_combined(beside.judges)
        match = ScaleMatch(combined, False, nan, nan, 0)
        beside = replace(
            beside,
            scores={**beside.scores, combined: combine_scores(beside)},
            scales={**beside.scales, combined: match},
        )
    people = beside.means
    rows = beside.labelled
    drawn = dict(
        zip(
            beside.judges,
            resample_items(
                [ItemSums.prepare(people[rows], grid[rows]) for grid in beside.scores.values()],
                spec.resamples,
                spec.seed,
            ),
            strict=True,
        )
    )
    large = len(beside.y) > LARGE
    alone = correct_means(thin_items(beside) if large else beside, {}) if beside.knows_raters else None
    free = _free_of_severity(beside, alone)
    left_out = leave_out_raters(beside) if spec.over != "items" else {}
    length = spread_lengths(lengths, beside.items, beside.systems)
    done = []
    for judge in beside.judges:
        one = _measure_one(beside, judge, spec, drawn[judge], left_out.get(judge), alone, free, length)
        own = scores.count_gaps(judge)
        missing = own if not scores.criteria else _count_missing(scores.on(criterion), judge)
        off = beside.scales[judge].n_off
        missing = {**missing, **({OFF_SCALE: off} if off else {})}
        if lacking := beside.count_lacking(judge):
            missing[NO_LINE] = missing.get(NO_LINE, 0) + lacking
        done.append(replace(one, missing=missing, combined=judge == combined))
    return done, _compare(criterion, single, done, drawn, spec), follow_judges(beside.only(single))


def _add_kin(one: JudgeWorth, kin: tuple[str, ...]) -> JudgeWorth:
    return replace(one, kin=kin, notes=(*one.notes, say_kin(one.judge, kin))) if kin else one


def _count_missing(scores: JudgeScores, judge: str) -> dict[str, int]:
    own = scores.frame[(scores.frame["judge"] == judge).to_numpy()]
    return {
        str(reason): int(n) for reason, n in own.loc[own["reason"] != "", "reason"].value_counts().items()
    }


def _measure_one(
    beside: JudgedRatings,
    judge: str,
    spec: WorthSpec,
    drawn: tuple[Floats, Floats, Floats],
    left_out: Floats | None,
    alone: Corrected | None,
    free: Floats | None,
    length: Floats | None,
) -> JudgeWorth:
    """Return the worth of one judge on one criterion."""
    people, scores = beside.means, beside.scores[judge]
    same = beside.scales[judge].same
    table = measure_levels(people, scores, beside.systems)
    large = len(beside.y) > LARGE
    fit = alone.fit if alone is not None and large else None
    replaced = measure_replaced(beside, judge, spec.confidence, spec.seed, fit)
    on_scale = scores if same else _to_people(people, scores)
    draws = Draws(spec.resamples, spec.seed, spec.confidence)
    against = hold_beside_person(beside, judge, draws, spec.over)
    spa_low, spa_high = resample_soft_accuracy(people, scores, draws)
    return JudgeWorth(
        judge=judge,
        criterion=beside.criterion,
        kind="scores",
        n_outputs=table.n_outputs,
        n_items=table.n_items,
        n_judged=len(beside.items),
        n_raters=len(beside.raters),
        missing={},
        confidence=spec.confidence,
        over=spec.over,
        levels=draw_levels(beside, judge, table, drawn, left_out, spec.over, spec.confidence, against),
        against=against,
        table=table,
        accuracy_systems=accuracy_of_systems(people, scores),
        spa=soft_accuracy(people[beside.labelled], scores[beside.labelled], seed=spec.seed),
        spa_normal=soft_accuracy(people, scores, flips=None),
        spa_low=spa_low,
        spa_high=spa_high,
        spa_model=nan if large else _soft_by_model(beside, scores, alone),
        accuracy=accuracy_of_outputs(people, scores, draws),
        alt_test=_alt_test(beside, judge, spec) if same else None,
        agreement=(
            measure_agreement_with_people(people, scores, beside.y, scores[beside.item, beside.system], draws)
            if same
            else None
        ),
        bias=(favour := measure_favour(beside, judge, on_scale, spec.confidence, model=not large)),
        length=None if length is None else measure_length(people, on_scale, length),
        position=None,
        silence=measure_silence(scores, beside.known, beside.systems),
        calibration=calibrate(people, scores, same, spec.confidence),
        replaced=replaced,
        severity_free=nan if free is None else paired_correlation(free, scores),
        notes=(
            *_notes(beside, judge, table, replaced, same),
            *(() if favour else ("whom it favours: no two items have ratings and scores of all systems",)),
        ),
    )


def _free_of_severity(beside: JudgedRatings, alone: Corrected | None) -> Floats | None:
    """Return people's means without raters' severity, where outputs were rated by different people."""
    rated = beside.counts[beside.counts > 0]
    if alone is None or (rated == len(beside.raters)).all():
        return None
    modes = alone.fit.random_effects
    own = modes[modes["group"] == "rater"].set_index("level")["mode"]
    severity = own.reindex(list(beside.raters)).fillna(0.0).to_numpy(dtype=np.float64)
    return replace(beside, y=beside.y - severity[beside.rater]).means


def _soft_by_model(beside: JudgedRatings, judge: Floats, alone: Corrected | None) -> float:
    """Return soft pairwise accuracy with people's p from the model, which knows raters."""
    if alone is None:
        return nan
    s, t = np.triu_indices(len(beside.systems), 1)
    rows = np.eye(len(beside.systems))[s] - np.eye(len(beside.systems))[t]
    variance, df = alone.measure(rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        y = stdtr(df, -(rows @ alone.estimate) / np.sqrt(variance))
    d = np.where(np.isfinite(judge[:, s] - judge[:, t]), judge[:, s] - judge[:, t], 0.0)[beside.labelled]
    size = np.sqrt((d**2).sum(axis=0))
    f = ndtr(-d.sum(axis=0) / np.where(size > 0, size, 1.0))
    return 1.0 - float(np.abs(y - f).mean())


def _to_people(people: Floats, judge: Floats) -> Floats:
    """Return the judge's scores in points of people's scale, by the slope of paired differences."""
    there = np.isfinite(people) & np.isfinite(judge)
    y, f = centre_twice(people, there)[there], centre_twice(judge, there)[there]
    size = float(f @ f)
    return judge * (float(y @ f) / size if size > 0 else 0.0)


def _alt_test(beside: JudgedRatings, judge: str, spec: WorthSpec) -> AltTest | None:
    """Return the alternative annotator test; decimals are rounded where people gave whole numbers."""
    if not beside.knows_raters:
        return None
    units = units_of(beside, judge)
    if (beside.y == np.round(beside.y)).all():
        units = replace(units, f=np.round(units.f))
    return run_alt_test(units, spec.epsilon, "distance", control=middle_answer(beside.y))


def _compare(
    criterion: str,
    judges: Sequence[str],
    done: Sequence[JudgeWorth],
    drawn: dict[str, tuple[Floats, Floats, Floats]],
    spec: WorthSpec,
) -> list[JudgeDifference]:
    paired = {one.judge: one.level("pair").pearson for one in done}
    n_items = done[0].n_items
    found = []
    for a, b in combinations(judges, 2):
        low, high = percentile(drawn[a][2] - drawn[b][2], spec.confidence, n_items)
        found.append(JudgeDifference(criterion, a, b, paired[a] - paired[b], low, high))
    return found


def _notes(beside: JudgedRatings, judge: str, table: Any, replaced: Any, same: bool) -> list[str]:
    """Return what a reader must know about this judge's numbers."""
    notes = []
    if table.n_systems < FEW_SYSTEMS:
        points = count(table.n_systems, "point")
        notes.append(f"r of systems rests on {points} and says next to nothing")
    if table.n_items < FEW_ITEMS:
        items = count(table.n_items, "item")
        notes.append(f"soft pairwise accuracy rests on {items} and depends on the systems' order")
    if not beside.knows_raters:
        who = "one rater only" if beside.raters else "raters are unknown"
        notes.append(f"{who}: no ceiling, no alt-test, no number of ratings replaced")
    elif not same:
        notes.append(f"{judge} has another scale: no agreement and no alt-test; favour is in people's points")
    if replaced.why and not find_obstacle(beside):
        notes.append(f"how many ratings a score replaces: {replaced.why}")
    if len(beside.y) > LARGE and beside.knows_raters:
        n = min(MOST_ITEMS, table.n_items)
        notes.append(f"the table is large: components come from people's ratings of {n:,} items")
    of_others = {one.note for one in beside.scales.values() if one.judge != judge}
    of_judge = beside.tell_lacking([judge])
    return [*(note for note in beside.notes if note not in of_others), *of_judge, *notes]
