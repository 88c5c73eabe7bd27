"""One mixed model of all studies' choices between two outputs, with strengths that may differ by study.

It is the model of pairs of ``panelist compare`` (models/choices/pairs.py) with a strength for each system in
each study; raters belong to their study, items of the same name are the same. The test of system × study asks
whether the differences of strengths are the same in all studies; joint.py says what equivalence adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from panelist.analysis.choices.models.mixed import grade_pairs
from panelist.analysis.choices.models.mixed_part import MixedCovariance
from panelist.analysis.choices.trials import read_trials
from panelist.core.errors import BadReproduction
from panelist.core.prose import count
from panelist.models.choices.pairs import GradedPairs, PairGroup, build_pairs, find_pair_analogue, solve_pairs
from panelist.models.inference.hypotheses import f_tail, test_term_satterthwaite
from panelist.numerics.arrays import Floats, Longs
from panelist.reproduction.measures.joint import MARGIN, EffectChange, JointModel, find_change
from panelist.reproduction.sources import Given

LOGISTIC_SD = np.pi / np.sqrt(3)


@dataclass(frozen=True, eq=False)
class _Answers:
    """The pairs of one study: names of raters and items of each, where they are known."""

    pairs: GradedPairs
    rater: list[str] | None
    item: list[str] | None


def fit_choices_jointly(
    givens: Sequence[Given], labels: Sequence[str], systems: Sequence[str], *, confidence: float = 0.95
) -> JointModel:
    """Return the joint model of pairs, or raise BadReproduction or BadModel that says why there is none.

    Changes within 0.31 residual standard deviations are no change.
    """
    studies = [_read(given, label, tuple(systems)) for given, label in zip(givens, labels, strict=True)]
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
    moved = tuple(f"{name}, {label}" for label in labels[1:] for name in systems[1:])
    design = replace(design, X=X, names=(*systems[1:], *moved, *design.names[k - 1 :]))
    solution, _ = solve_pairs(design)
    if not (solution.optimum.converged and np.isfinite(solution.vcov).all()):
        raise BadReproduction(
            "Its search did not converge, as where a system won every comparison in a study"
        )
    fewest = float(min(len(factor.levels) for factor in design.factors) - 1) if design.factors else np.inf
    analogue = find_pair_analogue(design) if design.factors else None
    spread = MixedCovariance(np.empty((0, X.shape[1])), solution.vcov, fewest, analogue)
    L = np.eye(X.shape[1])[k - 1 : (k - 1) * len(labels)]
    away, q = L @ solution.beta, len(L)
    F = float(away @ np.linalg.solve(L @ solution.vcov @ L.T, away)) / q
    ddf = fewest
    if analogue is not None:
        F /= float(np.mean(analogue.ratios(L) ** 2))
        ddf = test_term_satterthwaite(L, solution.beta, analogue.reml, analogue.slopes, analogue.A).ddf
    margin = MARGIN * LOGISTIC_SD
    return JointModel(
        model="mixed",
        link="logit",
        formula=design.formula.text.replace("system", "system * study", 1),
        n=len(study),
        statistic=F,
        df=float(q),
        den_df=float(ddf),
        p=float(f_tail(F, q, ddf)),
        margin=MARGIN,
        confidence=confidence,
        changes=_find_changes(solution.beta, spread, systems, labels, margin, confidence),
        notes=tuple(notes),
    )


def _read(given: Given, label: str, systems: tuple[str, ...]) -> _Answers:
    """Return the answered pairs of the systems that all studies have."""
    if given.rows is None:
        raise BadReproduction("A joint model needs the single choices of every study")
    trials = read_trials(given.rows, given.name)
    if trials.kind != "pairs":
        raise BadReproduction("A joint model of choices is one of pairs, and there are sets of more outputs")
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
            notes.append(
                f"{count(len(common), 'item')} of the same name: taken as the same in all studies."
                if common
                else "No item has the same name in all studies: items differ."
            )
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
