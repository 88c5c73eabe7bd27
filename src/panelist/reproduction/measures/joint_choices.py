"""One mixed model of all studies' choices, in which a system may be stronger in one study than another.

It is the mixed model of ``panelist compare``, of pairs (models/choices/pairs.py) or of rankings and sets
(models/choices/stages.py), with a strength for each system in each study; raters belong to their study, items
of the same name are the same. The test of system × study asks whether the differences of strengths are the
same in all studies; joint.py says what equivalence adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from panelist.analysis.choices.models.mixed import fit_stages, grade_pairs
from panelist.analysis.choices.models.mixed_part import MixedCovariance
from panelist.analysis.choices.models.plackett_luce import fit_plackett_luce
from panelist.analysis.choices.trials import DECIDED, ChoiceTrials, read_trials
from panelist.core.errors import BadReproduction
from panelist.core.prose import count, listing
from panelist.models.choices.pairs import (
    GradedPairs,
    PairGroup,
    build_pairs,
    check_spreads,
    find_pair_analogue,
    solve_pairs,
)
from panelist.models.inference.hypotheses import f_tail, test_term_satterthwaite
from panelist.numerics.arrays import Floats, Longs
from panelist.reproduction.measures.joint import MARGIN, EffectChange, JointModel, find_change
from panelist.reproduction.sources import Given

LOGISTIC_SD = np.pi / np.sqrt(3)
NO_END = "Its search did not converge, as where a system won every comparison in a study"


@dataclass(frozen=True, eq=False)
class _Answers:
    """The pairs of one study: names of raters and items of each, where they are known."""

    pairs: GradedPairs
    rater: list[str] | None
    item: list[str] | None


def fit_choices_jointly(
    givens: Sequence[Given], labels: Sequence[str], systems: Sequence[str], *, confidence: float = 0.95
) -> JointModel:
    """Return the joint model, or raise BadReproduction or BadModel that says why there is none.

    Changes within 0.31 residual standard deviations are no change.
    """
    trials = [_read_trials(given) for given in givens]
    kinds = {one.kind for one in trials}
    if len(kinds) > 1:
        raise BadReproduction(f"The studies ask in different ways: {listing(sorted(kinds))}")
    join = _join_pairs if kinds == {"pairs"} else _join_sets
    return join(trials, labels, tuple(systems), confidence)


def _read_trials(given: Given) -> ChoiceTrials:
    if given.rows is None:
        raise BadReproduction("A joint model needs the single choices of every study")
    return read_trials(given.rows, given.name)


def _join_pairs(
    trials: Sequence[ChoiceTrials], labels: Sequence[str], systems: tuple[str, ...], confidence: float
) -> JointModel:
    studies = [_grade(one, label, systems) for one, label in zip(trials, labels, strict=True)]
    notes: list[str] = []
    if len({one.pairs.points for one in studies}) > 1:
        studies = [replace(one, pairs=_take_direction(one.pairs)) for one in studies]
        notes.append("The studies have different grades: only the direction of each answer is compared.")
        if len({one.pairs.points for one in studies}) > 1:
            raise BadReproduction("Ties were allowed in one study and not in the other")
    pairs, study = _stack(studies, notes)
    k = len(systems)
    design = build_pairs(pairs)
    again = [design.X[:, : k - 1] * (study == at)[:, None] for at in range(1, len(labels))]
    X = np.ascontiguousarray(np.column_stack([design.X[:, : k - 1], *again, design.X[:, k - 1 :]]))
    names = (*systems[1:], *_name_moved(systems, labels), *design.names[k - 1 :])
    design = replace(design, X=X, names=names)
    solution, _ = solve_pairs(design)
    if not (solution.optimum.converged and np.isfinite(solution.vcov).all()):
        raise BadReproduction(NO_END)
    check_spreads(design, solution)
    fewest = float(min(len(factor.levels) for factor in design.factors) - 1) if design.factors else np.inf
    analogue = find_pair_analogue(design) if design.factors else None
    spread = MixedCovariance(np.empty((0, X.shape[1])), solution.vcov, fewest, analogue)
    joint = _test(solution.beta, spread, systems, labels, confidence)
    formula = design.formula.text.replace("system", "system * study", 1)
    return replace(joint, formula=formula, n=len(study), notes=tuple(notes))


def _join_sets(
    trials: Sequence[ChoiceTrials], labels: Sequence[str], systems: tuple[str, ...], confidence: float
) -> JointModel:
    """Return the joint model of rankings, best-worst sets or choices of one."""
    parts = [_keep_common(one, systems) for one in trials]
    for one, label in zip(parts, labels, strict=True):
        if not one.ended(DECIDED).any():
            raise BadReproduction(f"In {label} no set of common systems has an answer")
        if fit_plackett_luce(one).prior is not None:
            raise BadReproduction(f"In {label} some system never lost, or never won")
    whole, study = _stack_trials(parts, labels)
    moved = [
        ((whole.system == place) & (study == at)).astype(np.float64)
        for at in range(1, len(labels))
        for place in range(1, len(systems))
    ]
    columns = dict(zip(_name_moved(systems, labels), moved, strict=True))
    fitted = fit_stages(whole, fit_plackett_luce(whole), columns, confidence)
    assert isinstance(fitted.spread, MixedCovariance)
    assert fitted.mixed is not None
    beta = np.array([*(fitted.theta[1:] - fitted.theta[0]), *(one.estimate for one in fitted.mixed.slopes)])
    joint = _test(beta, fitted.spread, systems, labels, confidence)
    lost = sum(map(len, trials)) - len(whole)
    notes = [f"{count(lost, 'set')} with systems that only some studies have: left out."] if lost else []
    common = set.intersection(*(set(one.items) for one in parts))
    notes.append(tell_items(len(common)))
    random = " + ".join(one.term for one in fitted.mixed.spreads)
    return replace(
        joint,
        formula=f"choice ~ system * study + {random}",
        n=int(whole.ended(DECIDED).sum()),
        notes=(*notes, *fitted.notes),
    )


def _name_moved(systems: tuple[str, ...], labels: Sequence[str]) -> list[str]:
    return [f"{name}, {label}" for label in labels[1:] for name in systems[1:]]


def _keep_common(trials: ChoiceTrials, systems: tuple[str, ...]) -> ChoiceTrials:
    """Return the trials whose systems all studies have, with the systems in this order."""
    place = np.array([systems.index(name) if name in systems else -1 for name in trials.systems])
    system = place[trials.system]
    kept = np.bincount(trials.of_trial, weights=system < 0, minlength=len(trials)) == 0
    options = kept[trials.of_trial]
    return replace(
        trials,
        systems=systems,
        rater=trials.rater[kept],
        item=trials.item[kept],
        outcome=trials.outcome[kept],
        of_trial=(np.cumsum(kept) - 1)[trials.of_trial[options]],
        system=system[options],
        place=trials.place[options],
        position=trials.position[options],
        row=trials.row[options],
    )


def _stack_trials(parts: Sequence[ChoiceTrials], labels: Sequence[str]) -> tuple[ChoiceTrials, Longs]:
    """Return all trials as one table, raters apart and items by name, and the study of each option."""
    raters = [f"{label}: {name}" for one, label in zip(parts, labels, strict=True) for name in one.raters]
    items = sorted({name for one in parts for name in one.items})
    first_rater = np.cumsum([0, *(len(one.raters) for one in parts)])
    first_trial = np.cumsum([0, *map(len, parts)])
    whole = replace(
        parts[0],
        raters=tuple(raters),
        items=tuple(items),
        rater=np.concatenate(
            [np.where(one.rater < 0, -1, one.rater + first_rater[at]) for at, one in enumerate(parts)]
        ),
        item=np.concatenate([_renumber(one.item, one.items, items) for one in parts]),
        outcome=np.concatenate([one.outcome for one in parts]),
        of_trial=np.concatenate([one.of_trial + first_trial[at] for at, one in enumerate(parts)]),
        system=np.concatenate([one.system for one in parts]),
        place=np.concatenate([one.place for one in parts]),
        position=np.concatenate([one.position for one in parts]),
        notes=(),
        row=np.arange(sum(len(one.system) for one in parts)),
    )
    return whole, np.repeat(np.arange(len(parts)), [len(one.system) for one in parts])


def _renumber(codes: Longs, names: Sequence[str], every: Sequence[str]) -> Longs:
    places = {name: at for at, name in enumerate(every)}
    return np.array([*(places[name] for name in names), -1], dtype=np.int64)[codes]


def _test(
    beta: Floats, spread: MixedCovariance, systems: Sequence[str], labels: Sequence[str], confidence: float
) -> JointModel:
    """Return the test of system × study, whose columns follow those of the systems, and every change."""
    k = len(systems)
    L = np.eye(len(beta))[k - 1 : (k - 1) * len(labels)]
    away, q = L @ beta, len(L)
    F = float(away @ np.linalg.solve(L @ spread.vcov @ L.T, away)) / q
    ddf, analogue = spread.fewest, spread.analogue
    if analogue is not None:
        F /= float(np.mean(analogue.ratios(L) ** 2))
        ddf = test_term_satterthwaite(L, beta, analogue.reml, analogue.slopes, analogue.A).ddf
    return JointModel(
        model="mixed",
        link="logit",
        formula="",
        n=0,
        statistic=F,
        df=float(q),
        den_df=float(ddf),
        p=float(f_tail(F, q, ddf)),
        margin=MARGIN,
        confidence=confidence,
        changes=_find_changes(beta, spread, systems, labels, MARGIN * LOGISTIC_SD, confidence),
    )


def _grade(trials: ChoiceTrials, label: str, systems: tuple[str, ...]) -> _Answers:
    """Return the answered pairs of the systems that all studies have."""
    pairs, used = grade_pairs(trials, {})
    place = np.array([systems.index(name) if name in systems else -1 for name in trials.systems])
    first, second = place[pairs.first], place[pairs.second]
    kept = (first >= 0) & (second >= 0)
    part = GradedPairs(
        systems,
        first[kept],
        second[kept],
        pairs.answer[kept],
        pairs.points,
        (),
        None if pairs.position is None else pairs.position[kept],
    )
    used = used[kept]
    rater = [f"{label}: {trials.raters[at]}" if at >= 0 else "" for at in trials.rater[used].tolist()]
    item = [trials.items[at] if at >= 0 else "" for at in trials.item[used].tolist()]
    return _Answers(part, rater if trials.raters else None, item if trials.items else None)


def _take_direction(pairs: GradedPairs) -> GradedPairs:
    """Return the same pairs without their grades: first, second, or a tie where there are some."""
    sign = np.sign(pairs.answer - (pairs.points - 1) / 2).astype(np.int64)
    ties = pairs.points % 2
    return replace(pairs, answer=sign + 1 if ties else (sign + 1) // 2, points=2 + ties)


def tell_items(common: int) -> str:
    """Say which items are taken as the same."""
    if not common:
        return "No item has the same name in all studies: items differ."
    return f"{count(common, 'item')} of the same name: taken as the same in all studies."


def _stack(studies: Sequence[_Answers], notes: list[str]) -> tuple[GradedPairs, Longs]:
    """Return all pairs as one table, raters and items as groups, and the study of each pair."""
    parts = [one.pairs for one in studies]
    study = np.repeat(np.arange(len(parts)), [len(one.first) for one in parts])
    groups = []
    for name in ("rater", "item"):
        known = [getattr(one, name) for one in studies]
        if any(one is None for one in known):
            notes.append(
                f"Not every study has a column {name}: that its answers are alike is not allowed for."
            )
            continue
        every = [value for one in known for value in one]
        levels = sorted(set(every) - {""})
        if not 2 < len(levels) < 0.8 * len(every):
            continue
        place = {value: at for at, value in enumerate(levels)} | {"": -1}
        groups.append(PairGroup(name, tuple(levels), np.array([place[value] for value in every])))
        if name == "item":
            common = set.intersection(*(set(one) for one in known)) - {""}
            notes.append(tell_items(len(common)))
    position = None
    if all(one.position is not None for one in parts):
        position = np.concatenate([one.position for one in parts if one.position is not None])
    whole = GradedPairs(
        parts[0].systems,
        np.concatenate([one.first for one in parts]),
        np.concatenate([one.second for one in parts]),
        np.concatenate([one.answer for one in parts]),
        parts[0].points,
        tuple(groups),
        position,
    )
    return whole, study


def _find_changes(
    beta: Floats,
    spread: MixedCovariance,
    systems: Sequence[str],
    labels: Sequence[str],
    margin: float,
    confidence: float,
) -> tuple[EffectChange, ...]:
    """Return, for every repeat and pair of systems, how far the difference moved."""
    k, p = len(systems), len(beta)
    strength = np.zeros((k, p))
    strength[1:, : k - 1] = np.eye(k - 1)
    found = []
    for at, label in enumerate(labels[1:], start=1):
        moved = np.zeros((k, p))
        moved[1:, at * (k - 1) : (at + 1) * (k - 1)] = np.eye(k - 1)
        for a, b in combinations(range(k), 2):
            there, change = strength[a] - strength[b], moved[a] - moved[b]
            variance, df = spread.measure_effects(change[None])
            ends = float(there @ beta), float((there + change) @ beta)
            se = float(np.sqrt(variance[0]))
            pair = systems[a], systems[b]
            found.append(find_change(label, pair, ends, se, float(df[0]), margin, confidence))
    return tuple(found)
