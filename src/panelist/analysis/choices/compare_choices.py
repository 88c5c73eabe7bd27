"""Compare systems by choices: read trials, count, score, fit strengths, test all pairs, rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from panelist.analysis.choices.choice_comparison import ChoiceComparison, ChoiceCriterion
from panelist.analysis.choices.consistency import measure_consistency
from panelist.analysis.choices.item_anova import OneWay, analyse_variance
from panelist.analysis.choices.models.bradley_terry import fit_bradley_terry
from panelist.analysis.choices.models.choice_formula import ChoiceTerms, read_choice_formula
from panelist.analysis.choices.models.choice_model import Cluster, Strengths, check_cluster
from panelist.analysis.choices.models.mixed import fit_mixed
from panelist.analysis.choices.models.plackett_luce import fit_plackett_luce
from panelist.analysis.choices.one_sided import OneSided, normal_quantile
from panelist.analysis.choices.position import measure_position
from panelist.analysis.choices.scores import Scores, score_trials
from panelist.analysis.choices.style import read_style
from panelist.analysis.choices.trials import DECIDED, ChoiceTrials, read_trials
from panelist.analysis.choices.wins import WinTable, count_wins
from panelist.analysis.spec import AnalysisSpec
from panelist.analysis.systems.comparison import SystemEstimate, list_pairs
from panelist.analysis.systems.pairwise import adjust_pairs
from panelist.analysis.systems.ranks import rank_intervals
from panelist.core.errors import BadModel, PanelistError, UnknownName, did_you_mean
from panelist.core.numbers import check_confidence
from panelist.core.prose import count
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.models.inference.adjust import HypothesisFamily, find_adjustment, two_sided_quantile
from panelist.models.inference.contrasts import PairContrasts
from panelist.models.inference.single_step import find_directions
from panelist.numerics.arrays import Floats, Longs

MODELS = ("auto", "mixed", "bradley-terry", "plackett-luce")
UNITS = "log-strengths, whose mean is 0"
MOST_CELLS = 100_000  # scores of a system on an item, beyond which they are neither analysed nor listed
MOST_BESIDE = 2000  # sets or rankings up to which the mixed model is fitted without being asked for
NEITHER = ("pair without a preference ", "pairs without a preference ")
FEWEST_DF = 5.0  # below, t is far from z
MOST_RATERS = 500  # beyond, raters are not looked at one by one
EFFECT_UNITS = "the probability that the first of the pair is preferred to the second, ties left aside"
EFFECT_UNITS_MIXED = f"{EFFECT_UNITS}, for a rater and an item of average preferences"


def compare_choices(
    ratings: Any,
    *,
    model: str = "auto",
    cluster: str = "both",
    adjust: str = "tukey",
    confidence: float = 0.95,
    criteria: Sequence[str] | str | None = None,
    reference: str | None = None,
    style: Sequence[str] = (),
    formula: str | None = None,
) -> ChoiceComparison:
    """Return, for each criterion, the systems' strengths and ranks and every pair's adjusted difference.

    ``ratings`` is a table with one row per option shown (``trial``, ``system``, ``choice`` best, worst or
    empty, or a rank; ties, none and all in ``answer``), or with one pair per row (``system_a``, ``system_b``,
    ``winner``). ``model`` "mixed" has random preferences of raters and items; "bradley-terry" (Davidson's
    ties) and "plackett-luce" average over raters, and ``cluster`` says which answers are correlated: those by
    one rater, about one item, both or none. "auto" leads with the mixed model for pairs and with Plackett and
    Luce's for anything else, the other one ``beside`` it. ``style`` names columns that differ between outputs
    and are controlled for, such as words: see style.py. A ``formula`` says exactly what the mixed model has:
    see models/choice_formula.py.
    """
    spec = AnalysisSpec(
        model=model,
        cluster=cluster,
        adjust=adjust,
        confidence=confidence,
        reference=reference,
        style=tuple(style),
        formula=formula,
    )
    table = read_ratings(ratings)
    parts, notes = _split(table, criteria)
    done, failed = [], {}
    for name, part in parts:
        try:
            done.append(compare_criterion(part, name, spec))
        except PanelistError as error:
            failed[name] = error
    if not done:
        raise next(iter(failed.values()))
    notes += [f"Left out, because it cannot be compared: {name}. {error}" for name, error in failed.items()]
    return ChoiceComparison(source=table.source, criteria=tuple(done), notes=(*table.notes, *notes))


def compare_criterion(table: Ratings, criterion: str, spec: AnalysisSpec) -> ChoiceCriterion:
    """Return the comparison on one criterion, whose rows ``table`` holds."""
    check_model(spec.model)
    clusters, confidence = check_cluster(spec.cluster), spec.confidence
    check_confidence(confidence)
    trials = read_trials(table, criterion)
    wins, scores = count_wins(trials), score_trials(trials, confidence)
    clustered = _fit(trials, spec.model, clusters)
    terms = None if spec.formula is None else read_choice_formula(spec.formula)
    style = read_style(table, trials, [*spec.style, *(() if terms is None else terms.style)])
    lead, other, why_not = _choose_strengths(trials, clustered, style, spec, terms)
    found = _describe(trials, lead, spec, (wins, scores))
    if lead.mixed is not None and lead.mixed.without is not None:
        found = replace(found, plain=_describe(trials, lead.mixed.without, spec, (wins, scores)))
    if other is not None:
        found = replace(found, beside=_describe(trials, other, spec, (wins, scores)))
    return replace(found, notes=(*found.notes, *why_not)) if why_not else found


def _choose_strengths(
    trials: ChoiceTrials,
    clustered: Strengths,
    style: dict[str, Floats],
    spec: AnalysisSpec,
    terms: ChoiceTerms | None,
) -> tuple[Strengths, Strengths | None, list[str]]:
    """Return the strengths that lead, those beside them, and why there is no mixed model where there is none.

    For pairs the mixed model leads; for sets and rankings the clustered one does, unless style is controlled
    for or the mixed one was asked for.
    """
    asked = spec.model == "mixed" or bool(style) or terms is not None
    if spec.model not in ("auto", "mixed") or (spec.cluster != "both" and not asked):
        if style or terms is not None:
            what = "--style" if terms is None else "A formula of choices"
            raise BadModel(f"{what} needs the mixed model of choices, not {spec.model}.")
        return clustered, None, []
    if trials.kind != "pairs" and len(trials) > MOST_BESIDE and not asked:
        return clustered, None, ["Ask for --model mixed to have the mixed model too: it takes minutes here."]
    try:
        mixed = fit_mixed(trials, clustered, style, spec.confidence, terms)
    except BadModel as error:
        reason = str(error).rstrip(".")
        if asked:
            raise BadModel(f"The mixed model cannot be fitted on {trials.criterion!r}: {reason}.") from None
        return clustered, None, [f"No mixed model: {reason}."]
    if trials.kind == "pairs" or asked:
        return mixed, clustered, []
    return clustered, mixed, []


def _describe(
    trials: ChoiceTrials, strengths: Strengths, spec: AnalysisSpec, counted: tuple[WinTable, Scores]
) -> ChoiceCriterion:
    """Return the comparison by these strengths."""
    confidence, criterion, (wins, scores) = spec.confidence, trials.criterion, counted
    every, shown = adjust_pairs(
        lambda adjust, reference: contrast_strengths(strengths, adjust, confidence, reference),
        spec.adjust,
        spec.reference,
    )
    anova, why = _analyse_items(scores, criterion, confidence)
    return ChoiceCriterion(
        criterion=criterion,
        model=strengths.model,
        link=None,
        formula="",
        adjust=shown.adjust,
        confidence=confidence,
        n=len(trials),
        n_raters=len(trials.raters),
        n_items=len(trials.items),
        units=UNITS,
        effect_units=EFFECT_UNITS if strengths.mixed is None else EFFECT_UNITS_MIXED,
        systems=_system_rows(strengths, every, wins, confidence),
        pairs=list_pairs(shown, _find_chances(strengths, shown.estimate)),
        reference=spec.reference,
        notes=tuple(
            dict.fromkeys([*trials.notes, *_notes(trials, strengths), *_note_few(every), *shown.notes, *why])
        ),
        fit=None,
        kind=trials.kind,
        cluster=strengths.cluster,
        counts=trials.counts(),
        strengths=strengths,
        scores=scores,
        wins=wins,
        lists_items=len(scores.items) <= MOST_CELLS,
        anova=anova,
        first=measure_position(trials, confidence),
        consistency=measure_consistency(trials, strengths.theta) if len(trials.raters) <= MOST_RATERS else (),
    )


def check_model(model: str) -> None:
    """Raise with what is allowed, unless it is."""
    if model not in MODELS:
        raise UnknownName(f"No model of choices is called {model!r}. {did_you_mean(model, MODELS)}")


def contrast_strengths(
    strengths: Strengths, adjust: str = "tukey", confidence: float = 0.95, reference: str | None = None
) -> PairContrasts:
    """Return the difference of log-strengths of every pair, or of every other system and ``reference``."""
    method = find_adjustment(adjust)
    systems = strengths.systems
    chosen = list(combinations(range(len(systems)), 2))
    notes: tuple[str, ...] = ()
    if reference is not None:
        if reference not in systems:
            raise UnknownName(f"No system is called {reference!r}. {did_you_mean(reference, systems)}")
        other = systems.index(reference)
        chosen = [(i, other) for i in range(len(systems)) if i != other]
    first, second = np.array(chosen).T
    every = np.eye(len(systems))
    estimate = strengths.theta[first] - strengths.theta[second]
    variance, df = strengths.spread.measure(every[first] - every[second])
    se = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(se > 1e-12, estimate / se, np.nan)
    sure = _find_one_sided(strengths, first, second)
    for at, (sign, one) in sure.items():  # no standard error, but an exact test
        statistic[at], df[at], se[at] = sign * normal_quantile(one.p), np.inf, np.nan
    directions = find_directions(every[first] - every[second], strengths.covariance)
    family = HypothesisFamily(statistic, df, len(systems), directions)
    critical = method.critical(confidence, family)
    low, high = estimate - critical * se, estimate + critical * se
    for at, (sign, one) in sure.items():
        end = sign * one.bound(float(critical[at]))
        estimate[at] = sign * max(abs(estimate[at]), abs(end))
        low[at], high[at] = (end, np.inf) if sign > 0 else (-np.inf, end)
    if method.note and len(chosen) > 1:
        notes += (method.note,)
    if method.controls != "family" and len(systems) > 2:
        notes += ("The ranges of ranks do not hold simultaneously: that takes tukey, holm or bonferroni.",)
    return PairContrasts(
        term="system",
        levels=systems,
        a=tuple(systems[i] for i in first),
        b=tuple(systems[j] for j in second),
        estimate=estimate,
        se=se,
        df=family.df,
        statistic=statistic,
        p=family.p,
        p_adjusted=method.adjust(family),
        low=low,
        high=high,
        adjust=method.name,
        confidence=confidence,
        notes=notes,
    )


def _find_one_sided(strengths: Strengths, first: Longs, second: Longs) -> dict[int, tuple[float, OneSided]]:
    """Return, by its place among the pairs, each pair of which one won every comparison, and its sign."""
    known = {(one.winner, one.loser): one for one in strengths.one_sided}
    found = {}
    for at, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        a, b = strengths.systems[i], strengths.systems[j]
        if (a, b) in known:
            found[at] = (1.0, known[a, b])
        elif (b, a) in known:
            found[at] = (-1.0, known[b, a])
    return found


def _split(table: Ratings, wanted: Sequence[str] | str | None) -> tuple[list[tuple[str, Ratings]], list[str]]:
    """Return each criterion's name and rows; a table without criteria is one, called choice."""
    known = table.criteria
    asked = [wanted] if isinstance(wanted, str) else list(wanted or known)
    for name in asked:
        if name not in known:
            raise UnknownName(f"No criterion is called {name!r}. {did_you_mean(name, known)}")
    if not known:
        return [("choice", table)], []
    column = table.frame["criterion"]
    nameless = int(column.isna().sum())
    notes = (
        [f"{count(nameless, 'row without a criterion is', 'rows without a criterion are')} left out."]
        if nameless
        else []
    )
    return [(name, replace(table, frame=table.frame[(column == name).to_numpy()])) for name in asked], notes


def _fit(trials: ChoiceTrials, model: str, cluster: Cluster) -> Strengths:
    if model in ("auto", "mixed"):
        model = "bradley-terry" if trials.kind == "pairs" else "plackett-luce"
    return (fit_bradley_terry if model == "bradley-terry" else fit_plackett_luce)(trials, cluster)


def _find_chances(strengths: Strengths, difference: Floats) -> Floats:
    if strengths.mixed is not None:
        return strengths.mixed.find_chances(difference, averaged=False)
    chances: Floats = 1 / (1 + np.exp(-difference))
    return chances


def _analyse_items(scores: Scores, criterion: str, confidence: float) -> tuple[OneWay | None, list[str]]:
    """Return the analysis of variance of the item scores, or why there is none."""
    if len(scores.items) > MOST_CELLS:
        return None, [
            f"{len(scores.items):,} scores of a system on an item: too many for an analysis of variance of "
            "them, or a list in --json. The model needs neither."
        ]
    try:
        found = analyse_variance(
            scores.items["score"],
            scores.items["system"],
            what=f"item scores on {criterion}",
            confidence=confidence,
        )
    except BadModel as error:
        return None, [str(error)]
    return found, []


def _system_rows(
    strengths: Strengths, pairs: PairContrasts, wins: WinTable, confidence: float
) -> tuple[SystemEstimate, ...]:
    """Return the systems from the strongest down."""
    best, worst = rank_intervals(pairs)
    variance, df = strengths.spread.measure(np.eye(len(strengths.systems)))
    se = np.sqrt(variance)
    reach = two_sided_quantile(confidence, df) * se
    rows = [
        SystemEstimate(
            system=name,
            estimate=float(strengths.theta[at]),
            se=float(se[at]),
            low=float(strengths.theta[at] - reach[at]),
            high=float(strengths.theta[at] + reach[at]),
            rank_low=int(best[at]),
            rank_high=int(worst[at]),
            n=int(wins.shown[at]),
        )
        for at, name in enumerate(strengths.systems)
    ]
    return tuple(sorted(rows, key=lambda one: (-one.estimate, one.system)))


def _notes(trials: ChoiceTrials, strengths: Strengths) -> list[str]:
    """Return what the reader must know about the answers and the fit."""
    counts = trials.counts()
    notes = []
    undecided = {name: n for name, n in counts.items() if name in ("tie", "none", "all")}
    mixed = strengths.mixed
    davidson = strengths.model == "bradley-terry" if mixed is None else mixed.family == "davidson"
    if undecided and davidson and trials.kind == "pairs":
        enter = count(sum(undecided.values()), NEITHER[0] + "enters as a tie", NEITHER[1] + "enter as ties")
        share = _tie_share(strengths.tie)
        notes.append(f"{enter} (Davidson 1970); two equal systems tie in {share} of comparisons.")
    elif undecided and strengths.mixed is not None and trials.kind == "pairs":
        said = count(sum(undecided.values()), NEITHER[0] + "is", NEITHER[1] + "are")
        notes.append(f"{said} the middle of the scale.")
    elif undecided:
        notes.append(
            f"{sum(undecided.values()):,} trials ({', '.join(undecided)}) say nothing about the order: the "
            "model leaves them out; in the scores they count as 0."
        )
    if open_trials := sum(n for name, n in counts.items() if name not in (DECIDED, *undecided)):
        notes.append(
            f"{open_trials:,} of {len(trials):,} trials have no usable answer: the model leaves them out; in "
            "the scores they count as 0."
        )
    if trials.grade is not None and strengths.mixed is None:
        notes.append(
            "Raters also said how much better: the model takes better, worse or a tie, and leaves the grades "
            "out."
        )
    if trials.kind == "ranking":
        notes.append("Rank 1 is read as the best.")
    return [*notes, *strengths.notes]


def _note_few(pairs: PairContrasts) -> list[str]:
    """Return why intervals are much wider than standard errors say, where they are."""
    low, high = float(np.min(pairs.df)), float(np.max(pairs.df))
    if not low < FEWEST_DF:
        return []
    range_ = f"{low:.1f}" if f"{low:.1f}" == f"{high:.1f}" else f"{low:.1f} to {high:.1f}"
    return [
        f"Tests have {range_} degrees of freedom: how far raters or items differ is hardly known here (they "
        "are few, or few gave most answers), so intervals are wider than standard errors suggest."
    ]


def _tie_share(log_nu: float) -> str:
    nu = float(np.exp(log_nu))
    share = 100 * nu / (2 + nu)
    return f"{share:.0f} %" if share >= 1 else "less than 1 %"
