"""Compare systems: fit each criterion, estimate the systems, test all pairs, rank with uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.analysis.checks.extremes import find_crowding
from panelist.analysis.choices.compare_choices import MODELS as CHOICE_MODELS
from panelist.analysis.choices.compare_choices import compare_criterion
from panelist.analysis.choices.pair_files import take_long
from panelist.analysis.choices.trials import holds_choices
from panelist.analysis.cleaning.usable import count_levels, find_usable
from panelist.analysis.describe import mean_ratings
from panelist.analysis.fitting.allowed import allow_sides
from panelist.analysis.fitting.choose import RandomPart, choose_random
from panelist.analysis.fitting.penalised import fit_random, mark_prior, read_prior, refuse_linear
from panelist.analysis.fitting.together import LARGE, do_each
from panelist.analysis.sensitivity.lead import choose_lead, contradict_again
from panelist.analysis.spec import AnalysisSpec, read_allowed
from panelist.analysis.systems.across import adjust_across
from panelist.analysis.systems.common_items import note_unequal_items
from panelist.analysis.systems.comparison import Comparison, CriterionComparison, SystemEstimate, list_pairs
from panelist.analysis.systems.connected import Links, find_links, part_pairs
from panelist.analysis.systems.equivalence import find_equivalence
from panelist.analysis.systems.in_points import contrast_in_points, measure_shifts
from panelist.analysis.systems.pairwise import adjust_pairs, find_effect_unit
from panelist.analysis.systems.ranks import Better, rank_intervals
from panelist.analysis.systems.separated import fill_separated, find_separated, pool_slopes, run_off
from panelist.analysis.systems.strata import compare_strata
from panelist.core.errors import BadModel, PanelistError, UnknownName, did_you_mean
from panelist.core.margin import Margin, read_margin
from panelist.core.notes import Note
from panelist.core.progress import OnProgress, Progress
from panelist.core.prose import count
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.core.tables.roles import ask_for
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.response import choose_family
from panelist.models.inference.adjust import find_adjustment
from panelist.models.inference.contrasts import Means, PairContrasts, contrast_pairs, estimate_means
from panelist.models.results.fitted import MODEL_WORDS

if TYPE_CHECKING:
    import pandas as pd


def compare_systems(
    ratings: Any,
    *,
    model: str = "auto",
    link: str = "probit",
    family: str = "cumulative",
    formula: str | None = None,
    adjust: str = "tukey",
    confidence: float = 0.95,
    criteria: Sequence[str] | str | None = None,
    reference: str | None = None,
    cluster: str = "both",
    style: Sequence[str] = (),
    test: str = "t",
    margin: Margin | float | str | None = None,
    allow: str | Sequence[str] = (),
    better: Better = "higher",
    across_criteria: str = "none",
    by: str | None = None,
    prior: str | None = None,
    on_progress: OnProgress | None = None,
) -> Comparison:
    """Return, for each criterion, the systems' estimates and ranks and every pair's adjusted difference.

    ``ratings`` is a Ratings, a frame or a path. ``model`` "auto" takes an ordinal model for up to eleven
    values in steps of 1, .5 or .25, and a linear one otherwise. Without a ``formula`` the largest model
    that the design supports is fitted, and made smaller if it is singular or does not converge
    (models/random_part.py has the rules); ``notes`` says what was done. With a ``formula`` exactly that model
    is fitted. ``adjust`` is tukey (the multivariate t where standard errors differ, see pairwise.py), holm,
    bonferroni, bh or none; with ``reference`` only that system's pairs are shown, by Dunnett's test in place
    of Tukey's. A criterion that cannot be compared is named in the notes, and raises if no other is left.

    With ``margin`` (0.5, in points of the scale, or "0.3 latent", in residual standard deviations) each pair
    is tested for equivalence and non-inferiority too (equivalence.py).
    ``better`` "lower" ranks the lowest estimate first, as for counts of errors. The tests of each criterion
    hold their level separately; ``across_criteria`` "holm" or "bonferroni" makes them hold it together.
    Systems that share neither items nor raters are not compared (connected.py).

    ``test`` "t" tests ordinal models allowing for few raters and items, "z" as if there were many. Where the
    ordinal model is not to be trusted (ratings so nearly unanimous that its approximation breaks), "auto"
    leads with the linear one: lead.py. ``by`` names a column, such as a language, whose values are compared
    one by one. ``prior`` is that of ``fit``: with "weak" the largest random part is kept, and separated
    systems get an estimate, which says so. Families other than "cumulative" are compared in points.

    Choices between outputs (pairs, best-worst sets, rankings) get a model of choices, "mixed",
    "bradley-terry" or "plackett-luce"; ``cluster`` says which answers are correlated in the last two, and
    ``style`` what differs between outputs and is controlled for: see compare_choices. ``on_progress``
    is called with the criterion of a large table that is being compared.
    """
    known = ("auto", *MODEL_WORDS, *CHOICE_MODELS[1:])
    if model not in known:
        raise UnknownName(f"No model is called {model!r}. {did_you_mean(model, known)}")
    refuse_linear(prior, family, model)
    spec = AnalysisSpec(
        model=model,
        link=link,
        family=family,
        formula=formula,
        adjust=adjust,
        across_criteria=across_criteria,
        margin=read_margin(margin),
        allow=read_allowed(allow),
        better=better,
        reference=reference,
        confidence=confidence,
        test=test,
        cluster=cluster,
        prior=prior,
        style=tuple(style),
    )
    table = read_ratings(ratings)
    if by is not None:
        return compare_strata(table, by, lambda part: compare_table(part, spec, criteria, on_progress))
    return compare_table(table, spec, criteria, on_progress)


def compare_table(
    table: Ratings,
    spec: AnalysisSpec,
    criteria: Sequence[str] | str | None = None,
    on_progress: OnProgress | None = None,
    compare_one: Callable[[Ratings, str, AnalysisSpec], CriterionComparison] | None = None,
) -> Comparison:
    """Return the comparison of all criteria asked for; those that cannot be compared are in the notes.

    ``compare_one`` compares one criterion in another way than by people's ratings alone.
    """
    _check_columns(table, spec)
    notes = list(table.notes)

    def compare(task: tuple[str, Ratings]) -> CriterionComparison | PanelistError:
        name, part = task
        if on_progress is not None and (n_ratings >= LARGE or take_long(part.frame)):
            on_progress(Progress(names.index(name), len(names), name))
        try:
            one = (compare_one or _compare_one)(part, name, spec)
            return one if spec.margin is None or one.equivalence else find_equivalence(one, spec.margin)
        except PanelistError as error:
            return error

    tasks = _split_criteria(table, criteria, notes)
    names, n_ratings = [name for name, _ in tasks], sum(len(part) for _, part in tasks)
    found = do_each(compare, tasks, n_ratings)
    done = [one for one in found if not isinstance(one, PanelistError)]
    failed = {
        name: one for (name, _), one in zip(tasks, found, strict=True) if isinstance(one, PanelistError)
    }
    if not done:
        raise next(iter(failed.values()))
    notes += [f"Left out, because it cannot be compared: {name}. {error}" for name, error in failed.items()]
    done, said = adjust_across(done, spec.across_criteria)
    return Comparison(source=table.source, criteria=tuple(done), notes=(*notes, *said))


def _check_columns(table: Ratings, spec: AnalysisSpec) -> None:
    """Raise BadRatings where the table holds neither ratings of systems nor choices between them.

    Raters and items are required where the model is chosen automatically: otherwise they would be ignored
    silently.
    """
    if not holds_choices(table.frame):
        table.require("rating", "system")
        if spec.formula is None and spec.model not in ("clm", "lm"):
            ask_for(table, "rater", "item")


def _split_criteria(
    table: Ratings, wanted: Sequence[str] | str | None, notes: list[str]
) -> list[tuple[str, Ratings]]:
    """Return each criterion's name and rows; a table without criteria is one, called rating."""
    known = table.criteria
    asked = [wanted] if isinstance(wanted, str) else list(wanted or known)
    for name in asked:
        if name not in known:
            raise UnknownName(f"No criterion is called {name!r}. {did_you_mean(name, known)}")
    if not known:
        return [("rating", table)]
    column = table.frame["criterion"]
    if nameless := int(column.isna().sum()):
        notes.append(
            f"{count(nameless, 'row without a criterion is', 'rows without a criterion are')} left out."
        )
    return [(name, replace(table, frame=table.frame[(column == name).to_numpy()])) for name in asked]


def _compare_one(table: Ratings, criterion: str, spec: AnalysisSpec) -> CriterionComparison:
    """Return the comparison on one criterion: check, choose, fit, contrast, rank."""
    if holds_choices(table.frame):
        return _compare_choices(table, criterion, spec)
    if spec.model in CHOICE_MODELS[1:]:
        raise BadModel(
            f"{spec.model} is a model of choices, and {criterion!r} has ratings: use model='auto'."
        )
    if spec.style:
        raise BadModel(
            f"--style is for choices between outputs, and {criterion!r} has ratings: there write the column "
            "into the formula, for example rating ~ system + log(words) + (1 | rater) + (1 | item)."
        )
    table, notes = find_usable(table, criterion)
    model, part, why = choose_model(table.frame, spec)
    main = compare_by_model(model, part, table, criterion, spec, [*notes, *why])
    lead = choose_lead(
        main,
        table.frame.iloc[np.asarray(main.fit.design.rows)],
        lambda other: compare_by_model(other, part, table, criterion, spec, notes),
        free=spec.model == "auto" and spec.prior is None,
    )
    if not spec.allow:
        return lead
    exact = replace(spec, formula=main.formula)
    found = allow_sides(
        lead,
        table,
        spec,
        lambda term: compare_by_model(model, None, table, criterion, exact, [], f"~ {term}"),
    )
    return contradict_again(found, lead, table.frame.iloc[np.asarray(found.fit.design.rows)])


def compare_by_model(
    model: str,
    part: RandomPart | None,
    table: Ratings,
    criterion: str,
    spec: AnalysisSpec,
    notes: list[str],
    scale: str | None = None,
) -> CriterionComparison:
    """Return the comparison by one model: fit, contrast, rank."""

    def refit(formula: str, rows: Ratings) -> Any:
        return _fit(formula, rows, model, spec, scale)

    formula, tried, prior = spec.formula, tuple[str, ...](), read_prior(spec, model)
    if part is not None:
        fitted, part, tried = fit_random(part, lambda text: refit(text, table), prior)
        formula = part.formula()
    else:
        fitted = refit(str(formula), table)
    term = _system_term(fitted, table)
    means, every, shown = _contrast(fitted, term, spec)
    ordinal, latent = model in ("clm", "clmm"), fitted.has_latent_differences
    alone = latent and (prior is None or prior.scale is None)  # else separated systems have an estimate
    if ordinal and alone and (ends := find_separated(fitted, term)):
        pooled = str(formula) if part is None else pool_slopes(part).formula()
        whole = fill_separated(every, ends, fitted, table, lambda rows: refit(pooled, rows))
        if shown is every:
            every = shown = whole
        else:
            every, shown = whole, fill_separated(shown, ends, fitted, table, lambda rows: refit(pooled, rows))
        means = run_off(means, ends)
    links = find_links(table.frame, every.levels)
    every, shown = part_pairs(every, links), part_pairs(shown, links)
    used = table.frame.iloc[np.asarray(fitted.design.rows)]
    unit, units, effect_units = find_effect_unit(fitted, used)
    effects = shown.estimate / unit if latent else measure_shifts(fitted, shown)
    better = spec.better or "higher"
    said = [*notes, *tried, *fitted.notes, *shown.notes, *_rank_notes(every)]
    if not ordinal and spec.family != "cumulative":
        said.append(f"The family ({spec.family}) belongs to ordinal models: this one has none.")
    said += [*links.notes(), *note_unequal_items(used), *find_crowding(used)]
    said = [note for note in said if note not in table.notes]  # the whole comparison has these, once
    made = CriterionComparison(
        criterion=criterion,
        model=model,
        link=spec.link if ordinal else None,
        formula=str(formula),
        adjust=shown.adjust,
        confidence=spec.confidence,
        n=int(fitted.n),
        n_raters=count_levels(used, "rater"),
        n_items=count_levels(used, "item"),
        units=units,
        effect_units=effect_units,
        systems=_system_rows(means, every, used, links, better),
        pairs=list_pairs(shown, effects, links.reasons(shown)),
        reference=spec.reference,
        better=better,
        notes=tuple(dict.fromkeys(said)),
        tested_by="z" if ordinal and (spec.test == "z" or model == "clm") else "t",
        fit=fitted,
    )
    return mark_prior(made, prior, spec.prior)


def _contrast(fitted: Any, term: str, spec: AnalysisSpec) -> tuple[Means, PairContrasts, PairContrasts]:
    """Return the systems' estimates, all pairs, and those to show: latent, linear, or in points."""
    if not fitted.has_latent_differences:
        return contrast_in_points(fitted, fitted, term, spec)
    means = estimate_means(fitted, term, confidence=spec.confidence)
    every, shown = adjust_pairs(
        lambda adjust, reference: contrast_pairs(fitted, term, adjust, spec.confidence, reference=reference),
        spec.adjust,
        spec.reference,
    )
    return means, every, shown


def _compare_choices(table: Ratings, criterion: str, spec: AnalysisSpec) -> CriterionComparison:
    """Return the comparison by choices; what only ratings have is refused, not ignored."""
    if spec.better == "lower":
        raise BadModel(f"{criterion!r} holds choices, where the chosen is the better: use better='higher'.")
    if spec.model not in CHOICE_MODELS:
        raise BadModel(
            f"{criterion!r} holds choices between outputs, which do not take the model {spec.model!r}. The "
            f"models of choices are {', '.join(CHOICE_MODELS[1:])}; model='auto' picks the one that suits."
        )
    return compare_criterion(table, criterion, spec)


def choose_model(frame: pd.DataFrame, spec: AnalysisSpec) -> tuple[str, RandomPart | None, list[str]]:
    """Return the model's name, its random part (None where the user wrote the formula), and why."""
    notes = []
    if spec.model == "auto":
        rating = frame["rating"]
        ordered = rating.dtype == "category"
        values = np.asarray(rating.cat.codes if ordered else rating, dtype=np.float64)
        ordinal, why = choose_family(values, ordered=ordered)
        notes.append(why)
    else:
        ordinal = spec.model in ("clm", "clmm")
    fixed_only, mixed = ("clm", "clmm") if ordinal else ("lm", "lmm")
    if spec.formula is not None:
        own = mixed if parse_formula(spec.formula).random else fixed_only
        return (own if spec.model == "auto" else spec.model), None, notes
    if spec.model in ("clm", "lm"):
        said = (
            f"The model asked for, {spec.model}, treats all ratings as independent, even those by one "
            "rater or of one item: differences may look surer than they are."
        )
        notes.append(Note("independent", said))
        return spec.model, RandomPart({}), notes
    part = choose_random(frame)
    notes += part.notes
    if spec.model == mixed and not part.shapes:
        raise BadModel(
            f"The model {mixed} needs random effects, and these ratings support none: {' '.join(part.notes)} "
            f"Use model={fixed_only!r}."
        )
    return (mixed if part.shapes else fixed_only), part, notes


def _fit(formula: str, table: Ratings, model: str, spec: AnalysisSpec, scale: str | None = None) -> Any:
    from panelist.models.fit import fit  # imported late: it loads the compiled kernels
    from panelist.numerics.compile_ahead import list_parts, prepare

    prepare(*list_parts(model))
    if model in ("clm", "clmm"):
        how: Any = {"link": spec.link, "test": spec.test, "family": spec.family, "prior": spec.prior}
        return fit(formula, table, model, scale=scale, **how)
    return fit(formula, table, model=model)


def _system_term(fitted: Any, table: Ratings) -> str:
    """Return the name of the system in the formula: ours, or that of the source."""
    others = [old for old, new in table.names.items() if new == "system"]
    return next((name for name in ("system", *others) if name in fitted.design.fixed.levels), "system")


def _system_rows(
    means: Means, pairs: PairContrasts, used: pd.DataFrame, links: Links, better: Better
) -> tuple[SystemEstimate, ...]:
    """Return the systems from the best estimate down, group by group, those without an estimate last."""
    counts = used["system"].value_counts()
    best, worst = rank_intervals(pairs, better, links.either)
    observed, sign = mean_ratings(used), -1 if better == "higher" else 1
    rows = [
        SystemEstimate(
            system=name,
            estimate=float(means.estimate[place]),
            se=float(means.se[place]),
            low=float(means.low[place]),
            high=float(means.high[place]),
            rank_low=int(best[place]),
            rank_high=int(worst[place]),
            n=int(counts.get(name, 0)),
            mean=observed.get(name, float("nan")),
            group=links.either[place] + 1,
        )
        for place, name in enumerate(means.levels)
    ]
    return tuple(
        sorted(rows, key=lambda one: (one.group, np.isnan(one.estimate), sign * one.estimate, one.system))
    )


def _rank_notes(pairs: PairContrasts) -> list[str]:
    if find_adjustment(pairs.adjust).controls == "family" or len(pairs.levels) == 2:
        return []
    return ["The ranges of ranks do not hold simultaneously: that takes tukey, holm or bonferroni."]
