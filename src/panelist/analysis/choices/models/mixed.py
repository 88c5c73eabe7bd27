"""Choices with random preferences of raters and items: the model behind ``--model mixed``.

Pairs, graded or not, are an ordinal model of differences (models/choices/pairs.py), anything else a chain of
choices (models/choices/stages.py). Raters and items have their own preference for each system, one standard
deviation for all raters and one for all items, so that the system called the reference does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from panelist.analysis.choices.models.choice_formula import ChoiceTerms
from panelist.analysis.choices.models.choice_model import Strengths
from panelist.analysis.choices.models.estimate import Sides
from panelist.analysis.choices.models.mixed_groups import choose_groups, measure_spreads, name_groups
from panelist.analysis.choices.models.mixed_part import (
    ChoiceSlope,
    MixedCovariance,
    MixedPart,
    PreferenceSpread,
)
from panelist.analysis.choices.models.plackett_luce import make_stages
from panelist.analysis.choices.trials import DECIDED, UNDECIDED, ChoiceTrials
from panelist.core.errors import BadModel
from panelist.core.prose import listing
from panelist.models.choices.analogue import ChoiceAnalogue, fit_analogue, make_matrices
from panelist.models.choices.free_pairs import ENOUGH, free_pairs
from panelist.models.choices.pairs import (
    POSITION,
    GradedPairs,
    build_pairs,
    check_spread,
    check_spreads,
    find_pair_analogue,
    scale_grades,
    solve_pairs,
)
from panelist.models.choices.preferences import RandomPreferences, stack_terms
from panelist.models.choices.search_stages import estimate_stages
from panelist.models.choices.stages import ChoiceStages
from panelist.models.formulas.grouping import Factor
from panelist.models.inference.adjust import two_sided_p, two_sided_quantile
from panelist.numerics.arrays import Floats, Longs

NAME = "mixed"
MOST_FREE = 12  # systems up to which every pair may have a number of its own
UNPLACED = "The table does not say for every pair which output stood first, so position has no effect here."


def fit_mixed(
    trials: ChoiceTrials,
    clustered: Strengths,
    style: Mapping[str, Floats],
    confidence: float = 0.95,
    terms: ChoiceTerms | None = None,
) -> Strengths:
    """Return the strengths with random preferences; ``style`` holds values of the options.

    ``terms`` are those of a formula; without them raters and items have exchangeable preferences. Raises
    BadModel with the reason where these data do not support the model: no raters and no items, too many, or
    systems that never lost.
    """
    if clustered.prior is not None:
        raise BadModel(
            "some systems never lost, or never won, which leaves spreads of preferences undetermined"
        )
    fit = _fit_pairs if trials.kind == "pairs" else fit_stages
    fitted = fit(trials, clustered, style, confidence, terms)
    if not style:
        return fitted
    plain = fit(trials, clustered, {}, confidence, terms)
    variance, df = plain.spread.measure(np.eye(len(plain.systems)))
    reach = two_sided_quantile(confidence, df) * np.sqrt(variance)
    ends = (plain.theta, plain.theta - reach, plain.theta + reach)
    pairs = tuple(zip(plain.systems, *(end.tolist() for end in ends), strict=True))
    assert fitted.mixed is not None
    return replace(fitted, mixed=replace(fitted.mixed, plain=pairs, without=plain))


def grade_pairs(trials: ChoiceTrials, style: Mapping[str, Floats]) -> tuple[GradedPairs, Longs]:
    """Return the answered pairs of two systems as the model takes them, without groups, and their trials.

    Grades that nobody gave, on either side, are left out of the scale.
    """
    which, options = next((w, o) for w, o in trials.by_size() if o.shape[1] == 2)
    system = trials.system[options]
    answered = trials.ended(DECIDED, *UNDECIDED)[which] & (system[:, 0] != system[:, 1])
    which, options, system = which[answered], options[answered], system[answered]
    if trials.grade is not None:
        grade = np.nan_to_num(trials.grade[options[:, 0]])
    else:
        place = trials.place[options]
        grade = np.where(np.isnan(place[:, 0]), 0.0, np.sign(place[:, 1] - place[:, 0]))
    answer, points = scale_grades(grade)
    position = trials.position[options]
    known = (np.sort(position, axis=1) == (1, 2)).all()
    found = GradedPairs(
        trials.systems,
        system[:, 0],
        system[:, 1],
        answer,
        points,
        (),
        np.where(position[:, 0] == 1, 1.0, -1.0) if known else None,
        {name: values[options[:, 0]] - values[options[:, 1]] for name, values in style.items()},
    )
    return found, which


def _fit_pairs(
    trials: ChoiceTrials,
    clustered: Strengths,
    style: Mapping[str, Floats],
    confidence: float,
    terms: ChoiceTerms | None,
) -> Strengths:
    pairs, used = grade_pairs(trials, style)
    sides, kept, notes = choose_groups(trials, used, terms)
    pairs = replace(pairs, groups=name_groups(pairs, kept, trials, used, terms))
    pairs, said = _place(pairs, terms)
    notes += said
    design = build_pairs(pairs)
    davidson = pairs.points == 3 and trials.grade is None
    family, unit = ("adjacent", 2.0) if davidson else ("cumulative", 1.0)
    solution, structure = solve_pairs(design, family=family)
    if not (solution.optimum.converged and np.isfinite(solution.vcov).all()):
        raise BadModel("its search did not converge")
    check_spreads(design, solution, unit)
    spreads, apart = measure_spreads(pairs, design, solution, unit)
    fewest = min(len(factor.levels) for factor in design.factors) - 1.0
    values = structure.J @ solution.alpha
    part = MixedPart(
        family="davidson" if davidson else "cumulative",
        points=pairs.points,
        formula=design.formula.text,
        spreads=spreads,
        slopes=(),
        thresholds=tuple(values.tolist()),
        tie=float(values[pairs.points // 2]) if pairs.points % 2 else 0.0,
        free=free_pairs(pairs, solution, family=family) if 2 < len(trials.systems) <= MOST_FREE else None,
        apart=apart,
    )
    if part.free is None and len(trials.systems) > 2:
        notes.append(_say_untested(len(trials.systems)))
    T = _turn(len(trials.systems), len(solution.beta))
    return _describe(
        clustered,
        part,
        unit * solution.beta,
        MixedCovariance(T, unit**2 * solution.vcov, fewest, find_pair_analogue(design)),
        design.names[len(trials.systems) - 1 :],
        solution.loglik,
        (sides, notes),
        confidence,
    )


def _place(pairs: GradedPairs, terms: ChoiceTerms | None) -> tuple[GradedPairs, list[str]]:
    """Return the pairs with what is known of places, if an effect of position is to be had from it."""
    if pairs.position is None:
        if terms is not None and terms.position:
            raise BadModel("position needs a table that says for every pair which output stood first")
        return pairs, [UNPLACED]
    if terms is not None and not terms.position and not any(one.what == POSITION for one in pairs.groups):
        return replace(pairs, position=None), []
    if _follows(pairs):
        return replace(pairs, position=None), [
            "A system stood on one side throughout, so the effect of position cannot be told from it."
        ]
    favoured = np.sign(pairs.answer - (pairs.points - 1) / 2) * pairs.position
    if (favoured >= 0).all() or (favoured <= 0).all():
        side = "first" if favoured.max() > 0 else "second"
        return replace(pairs, position=None), [
            f"Nobody ever preferred the other output to the one that stood {side}, so the effect of position "
            "has no finite estimate, and is left out."
        ]
    return pairs, []


def _say_untested(systems: int) -> str:
    if systems > MOST_FREE:
        return (
            f"With more than {MOST_FREE} systems strengths are not tested against a number for each pair: "
            "compare fewer with --where to look for cycles."
        )
    return (
        "Strengths are not tested against a number for each pair: that takes more pairs than strengths, and "
        f"{ENOUGH} answers to a pair."
    )


def _follows(pairs: GradedPairs) -> bool:
    """Return whether some system always stood first, or always second: strength and place are then one."""
    assert pairs.position is not None
    leads = pairs.position > 0
    first, second = np.where(leads, (pairs.first, pairs.second), (pairs.second, pairs.first))
    k = len(pairs.systems)
    return bool((np.bincount(first, minlength=k) == 0).any() or (np.bincount(second, minlength=k) == 0).any())


def fit_stages(
    trials: ChoiceTrials,
    clustered: Strengths,
    style: Mapping[str, Floats],
    confidence: float = 0.95,
    asked: ChoiceTerms | None = None,
) -> Strengths:
    """Return the strengths of rankings and sets; ``style`` holds any values of the options."""
    if asked is not None and (asked.position or any(what != "preferences" for _, what in asked.groups)):
        raise BadModel(
            "rankings and sets take (1 | rater:system) and (1 | item:system) alone, and no effect of position"
        )
    stages = make_stages(trials)
    assert stages.option is not None
    used = np.unique(stages.trial)
    sides, kept, notes = choose_groups(trials, used, asked)
    k, n = len(trials.systems), len(stages.of_stage)
    system, sign = trials.system[stages.option], stages.X.tocsr().data
    trial = stages.trial[stages.of_stage]
    names = {"rater": trials.raters, "item": trials.items}
    terms = stack_terms(
        tuple(
            RandomPreferences(
                name,
                names[name],
                np.maximum(code[trial], 0),
                system[:, None],
                (sign * (code[trial] >= 0))[:, None],
                k,
            )
            for name, code in kept.items()
        )
    )
    X = np.zeros((n, k - 1 + len(style)))
    X[:, : k - 1] = (system[:, None] == np.arange(1, k)) * sign[:, None]
    for at, values in enumerate(style.values()):
        X[:, k - 1 + at] = sign * values[stages.option]
    start = np.concatenate([clustered.theta[1:] - clustered.theta[0], np.zeros(len(style))])
    found = estimate_stages(ChoiceStages(X, stages.of_stage, stages.chosen, terms), start)
    if not found.converged:
        raise BadModel("its search did not converge")
    for term, sd in zip(terms, found.sds.tolist(), strict=True):
        check_spread(term.name, sd)
    fewest = min(len(term.levels) for term in terms) - 1.0
    part = MixedPart(
        family="plackett-luce",
        points=0,
        formula=" + ".join(["choice ~ system", *style, *(f"(1 | {term.name}:system)" for term in terms)]),
        spreads=tuple(
            PreferenceSpread(term.name, f"(1 | {term.name}:system)", len(term.levels), float(sd))
            for term, sd in zip(terms, found.sds, strict=True)
        ),
        slopes=(),
    )
    analogue = _find_stage_analogue(trials, used, kept, style)
    return _describe(
        clustered,
        part,
        found.beta,
        MixedCovariance(_turn(k, len(found.beta)), found.vcov, fewest, analogue),
        tuple(style),
        found.loglik,
        (sides, notes),
        confidence,
    )


def _find_stage_analogue(
    trials: ChoiceTrials, used: Longs, kept: Mapping[str, Longs], style: Mapping[str, Floats]
) -> ChoiceAnalogue | None:
    """Return the linear analogue: places as scores, each trial by contrasts that drop its level."""
    from scipy.linalg import helmert

    k = len(trials.systems)
    y, X, Z, trial = [], [], [], []
    for which, options in trials.by_size():
        mine = options[np.isin(which, used)]
        if options.shape[1] < 2 or not len(mine):
            continue
        turn = helmert(options.shape[1])
        system = (trials.system[mine][:, :, None] == np.arange(k)).astype(np.float64)
        values = np.stack([v[mine] for v in style.values()], axis=2) if style else np.empty((*mine.shape, 0))
        y.append((-trials.place[mine] @ turn.T).ravel())
        X.append((turn @ np.concatenate([system[:, :, 1:], values], axis=2)).reshape(-1, k - 1 + len(style)))
        Z.append((turn @ system).reshape(-1, k))
        trial.append(np.repeat(which[np.isin(which, used)], len(turn)))
    at, columns = np.concatenate(trial), np.concatenate(Z)
    names = {"rater": trials.raters, "item": trials.items}
    factors = tuple(
        Factor(
            name,
            names[name],
            np.maximum(code[at], 0).astype(np.int32),
            trials.systems,
            np.ascontiguousarray(columns * (code[at] >= 0)[:, None]),
            ((0, k),),
            None,
            True,
        )
        for name, code in kept.items()
    )
    text = " + ".join(["score ~ system", *(f"(1 | {name}:system)" for name in kept)])
    whole = np.concatenate(y)
    columns_of = (*trials.systems[1:], *style)
    return fit_analogue(make_matrices(text, whole, np.concatenate(X), columns_of, factors), whole)


def _turn(k: int, p: int) -> Floats:
    """Return T with θ = Tβ: the first system is 0, then all are centred; slopes have no part in it."""
    T = np.zeros((k, p))
    T[1:, : k - 1] = np.eye(k - 1)
    return np.asarray(T - T.mean(axis=0))


def _describe(
    clustered: Strengths,
    part: MixedPart,
    beta: Floats,
    spread: MixedCovariance,
    others: tuple[str, ...],
    loglik: float,
    sides: tuple[Sides, list[str]],
    confidence: float,
) -> Strengths:
    """Return the strengths in the form that every comparison by choices takes."""
    k = len(clustered.systems)
    L = np.eye(len(beta))[k - 1 :]
    slopes: list[ChoiceSlope] = []
    if len(L):
        variance, df = spread.measure_effects(L)
        se = np.sqrt(variance)
        reach = two_sided_quantile(confidence, df) * se
        p = two_sided_p(beta[k - 1 :] / se, df)
        for at, name in enumerate(others):
            b = float(beta[k - 1 + at])
            slopes.append(
                ChoiceSlope(
                    name,
                    b,
                    float(se[at]),
                    float(df[at]),
                    b - float(reach[at]),
                    b + float(reach[at]),
                    float(p[at]),
                )
            )
    found, notes = sides
    zero = [one.group for one in part.spreads if one.sd < 1e-3 and not one.system and not one.of_position]
    if zero:
        notes = [
            *notes,
            f"Preferences of {listing([f'single {name}s' for name in zero])} are estimated not to differ, "
            "which does not prove that they are the same.",
        ]
    return replace(
        clustered,
        model=NAME,
        theta=spread.T @ beta,
        spread=spread,
        loglik=loglik,
        tie=part.tie if part.points % 2 else float("nan"),
        cluster=found.cluster,
        n_clusters=int(spread.fewest) + 1,
        fixed=found.fixed,
        notes=tuple(notes),
        mixed=replace(part, slopes=tuple(slopes)),
    )


__all__ = ["NAME", "POSITION", "fit_mixed", "fit_stages", "grade_pairs"]
