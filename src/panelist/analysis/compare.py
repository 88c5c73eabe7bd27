"""Compare systems: fit each criterion, estimate the systems, test all pairs, rank with uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.analysis.choose import RandomPart, choose_random
from panelist.analysis.comparative.choice_model import check_cluster
from panelist.analysis.comparative.compare_choices import MODELS as CHOICE_MODELS
from panelist.analysis.comparative.compare_choices import compare_criterion
from panelist.analysis.comparative.trials import holds_choices
from panelist.analysis.comparison import Comparison, CriterionComparison, SystemEstimate, list_pairs
from panelist.analysis.lead import choose_lead
from panelist.analysis.ranks import rank_intervals
from panelist.analysis.separated import fill_separated, find_separated, pool_slopes, run_off
from panelist.analysis.stepping import fit_largest
from panelist.core.errors import BadModel, BadRatings, PanelistError, UnknownName, did_you_mean
from panelist.core.ratings import Ratings, read_ratings
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.response import choose_family
from panelist.models.inference.adjust import find_adjustment
from panelist.models.inference.contrasts import Means, Pairs, contrast_pairs, estimate_means

if TYPE_CHECKING:
    import pandas as pd

MODELS = ("auto", "clmm", "clm", "lmm", "lm")
_LATENT_SD = {  # of the residual distribution behind each link
    "probit": 1.0,
    "logit": float(np.pi / np.sqrt(3)),
    "cloglog": float(np.pi / np.sqrt(6)),
    "loglog": float(np.pi / np.sqrt(6)),
}


@dataclass(frozen=True)
class _Options:
    model: str
    link: str
    formula: str | None
    adjust: str
    level: float
    reference: str | None
    cluster: str
    df: str


def compare_systems(
    ratings: Any,
    *,
    model: str = "auto",
    link: str = "probit",
    formula: str | None = None,
    adjust: str = "tukey",
    level: float = 0.95,
    criteria: Sequence[str] | str | None = None,
    reference: str | None = None,
    cluster: str = "rater",
    df: str = "t",
) -> Comparison:
    """Return, for each criterion, the systems' estimates and ranks and every pair's adjusted difference.

    ``ratings`` is a Ratings, a frame or a path. ``model`` "auto" takes an ordinal model for up to eleven
    whole values and a linear one otherwise. Without a ``formula`` the largest model is fitted that the
    design can bear, and made smaller if it is singular or does not converge: models/random_part.py has the
    rules; ``notes`` says what was done. With a ``formula`` exactly that model is fitted. ``adjust`` is tukey,
    holm, bonferroni, bh or none; with ``reference`` only that system's pairs are shown. A criterion that
    cannot be compared is named in the notes, and raises if no other is left. ``df`` "t" tests ordinal models
    as few raters and items ask for, "z" as if there were many. Where the ordinal model is not to be trusted
    (ratings so nearly unanimous that its approximation breaks) "auto" leads with the linear one: lead.py.

    Choices between outputs (pairs, best-worst sets, rankings) get a model of choices, "bradley-terry" or
    "plackett-luce", and ``cluster`` says whose answers hang together: see compare_choices.
    """
    known = (*MODELS, *CHOICE_MODELS[1:])
    if model not in known:
        raise UnknownName(f"No model is called {model!r}. {did_you_mean(model, known)}")
    check_cluster(cluster)
    options = _Options(model, link, formula, find_adjustment(adjust).name, level, reference, cluster, df)
    table = read_ratings(ratings)
    _check_columns(table)
    done, failed = [], {}
    notes = list(table.notes)
    for name, part in _split_criteria(table, criteria, notes):
        try:
            done.append(_compare_one(part, name, options))
        except PanelistError as error:
            failed[name] = error
    if not done:
        raise next(iter(failed.values()))
    notes += [f"Left out, for it cannot be compared: {name}. {error}" for name, error in failed.items()]
    return Comparison(source=table.source, criteria=tuple(done), notes=tuple(notes))


def _check_columns(table: Ratings) -> None:
    """Raise BadRatings where the table holds neither ratings of systems nor choices between them."""
    if not holds_choices(table.frame):
        table.require("rating", "system")


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
        notes.append(f"{nameless:,} rows without a criterion are left out.")
    return [(name, replace(table, frame=table.frame[(column == name).to_numpy()])) for name in asked]


def _compare_one(table: Ratings, criterion: str, options: _Options) -> CriterionComparison:
    """Return the comparison on one criterion: check, choose, fit, contrast, rank."""
    if holds_choices(table.frame):
        return _compare_choices(table, criterion, options)
    if options.model in CHOICE_MODELS[1:]:
        raise BadModel(
            f"{options.model} is a model of choices, and {criterion!r} has ratings: use model='auto'."
        )
    table, notes = _usable_rows(table, criterion)
    model, part, why = _choose(table.frame, options)
    main = _compare_by(model, part, table, criterion, options, [*notes, *why])
    return choose_lead(
        main,
        table.frame.iloc[np.asarray(main.fit.design.rows)],
        lambda other: _compare_by(other, part, table, criterion, options, notes),
        free=options.model == "auto",
    )


def _compare_by(
    model: str,
    part: RandomPart | None,
    table: Ratings,
    criterion: str,
    options: _Options,
    notes: list[str],
) -> CriterionComparison:
    """Return the comparison by one model: fit, contrast, rank."""

    def refit(formula: str, rows: Ratings) -> Any:
        return _fit(formula, rows, model, options)

    formula, tried = options.formula, tuple[str, ...]()
    if part is not None:
        fitted, part, tried = _unpack(fit_largest(part, lambda text: refit(text, table)))
        formula = part.formula()
    else:
        fitted = refit(str(formula), table)
    term = _system_term(fitted, table)
    means = estimate_means(fitted, term, level=options.level)
    every = contrast_pairs(fitted, term, options.adjust, options.level)
    shown = every
    if options.reference is not None:
        shown = contrast_pairs(fitted, term, options.adjust, options.level, reference=options.reference)
    ordinal = model in ("clm", "clmm")
    if ordinal and (ends := find_separated(fitted, term)):
        pooled = str(formula) if part is None else pool_slopes(part).formula()
        every, shown = (
            fill_separated(one, ends, fitted, table, lambda rows: refit(pooled, rows))
            for one in (every, shown)
        )
        means = run_off(means, ends)
    used = table.frame.iloc[np.asarray(fitted.design.rows)]
    unit, units, effect_units = _effect_unit(fitted, used)
    said = [*notes, *tried, *fitted.notes, *shown.notes, *_rank_notes(every)]
    said = [note for note in said if note not in table.notes]  # the whole comparison says these, once
    return CriterionComparison(
        criterion=criterion,
        model=model,
        link=options.link if ordinal else None,
        formula=str(formula),
        adjust=options.adjust,
        level=options.level,
        n=int(fitted.n),
        n_raters=_distinct(used, "rater"),
        n_items=_distinct(used, "item"),
        units=units,
        effect_units=effect_units,
        systems=_system_rows(means, every, used),
        pairs=list_pairs(shown, shown.estimate / unit),
        reference=options.reference,
        notes=tuple(dict.fromkeys(said)),
        tested_by="z" if ordinal and (options.df == "z" or model == "clm") else "t",
        fit=fitted,
    )


def _unpack(stepped: Any) -> tuple[Any, RandomPart, tuple[str, ...]]:
    return stepped.fit, stepped.part, stepped.notes


def _compare_choices(table: Ratings, criterion: str, options: _Options) -> CriterionComparison:
    """Return the comparison by choices; what only ratings have is refused, not left aside."""
    asked = (
        f"the formula {options.formula!r}" if options.formula is not None else f"the model {options.model!r}"
    )
    if options.formula is not None or options.model not in CHOICE_MODELS:
        raise BadModel(
            f"{criterion!r} holds choices between outputs, which do not take {asked}. The models of choices "
            f"are {' and '.join(CHOICE_MODELS[1:])}; model='auto' picks the one that suits."
        )
    return compare_criterion(
        table,
        criterion,
        model=options.model,
        cluster=options.cluster,
        adjust=options.adjust,
        level=options.level,
        reference=options.reference,
    )


def _usable_rows(table: Ratings, criterion: str) -> tuple[Ratings, list[str]]:
    """Return the rows that have a rating and everything that names it, or raise with what to do."""
    import pandas as pd

    frame = table.frame
    rating = frame["rating"]
    ordered = isinstance(rating.dtype, pd.CategoricalDtype) and rating.dtype.ordered
    if not ordered and not pd.api.types.is_numeric_dtype(rating):
        words = rating[pd.to_numeric(rating, errors="coerce").isna() & rating.notna()]
        found = ", ".join(repr(str(word)) for word in list(dict.fromkeys(words))[:4])
        raise BadRatings(
            f"The ratings of {criterion!r} are not numbers (found {found}). Ordered words can be numbered "
            "from the lowest up, or made an ordered pandas Categorical; mistyped cells can be corrected "
            "or emptied. Choices between systems (A, B, similar) are no ratings: name both systems in "
            "columns system_a and system_b, and Bradley and Terry's model compares them."
        )
    empty = frame.loc[frame["system"].notna()].groupby("system", observed=True)["rating"].count()
    silent = [str(name) for name in empty.index[empty == 0]]
    if silent:
        raise BadModel(
            f"On {criterion!r} no rating was given to {', '.join(map(repr, silent))}. Leave out the rows, or "
            "fill in the ratings."
        )
    if len(empty) < 2:
        there = f"only one system, {empty.index[0]!r}" if len(empty) else "no system"
        raise BadModel(
            f"On {criterion!r} there is {there}, and a comparison needs at least two. If another column "
            "names the systems, map it: --columns system=NAME (in Python: columns={'system': 'NAME'})."
        )
    needed = ["rating", "system", *(name for name in ("rater", "item") if _distinct(frame, name))]
    complete = frame[needed].notna().all(axis=1).to_numpy()
    notes = []
    if not complete.all():
        gaps = [
            f"{int(frame[name].isna().sum()):,} without {name}" for name in needed if frame[name].isna().any()
        ]
        notes.append(f"{int((~complete).sum()):,} of {len(frame):,} rows left out: {', '.join(gaps)}.")
    if _distinct(frame, "occasion") > 1:
        notes.append(f"Ratings of {_distinct(frame, 'occasion')} occasions are analysed together.")
    return replace(table, frame=frame[complete].reset_index(drop=True)), notes


def _choose(frame: pd.DataFrame, options: _Options) -> tuple[str, RandomPart | None, list[str]]:
    """Return the model's name, its random part (None where the user wrote the formula), and why."""
    notes = []
    if options.model == "auto":
        rating = frame["rating"]
        ordered = rating.dtype == "category"
        values = np.asarray(rating.cat.codes if ordered else rating, dtype=np.float64)
        ordinal, why = choose_family(values, ordered=ordered)
        notes.append(why)
    else:
        ordinal = options.model in ("clm", "clmm")
    fixed_only, mixed = ("clm", "clmm") if ordinal else ("lm", "lmm")
    if options.formula is not None:
        has_random = bool(parse_formula(options.formula).random)
        model = (mixed if has_random else fixed_only) if options.model == "auto" else options.model
        return model, None, notes
    if options.model in ("clm", "lm"):
        notes.append(
            f"The model asked for, {options.model}, takes all ratings as independent, also those by one "
            "rater or of one item: differences may look surer than they are."
        )
        return options.model, RandomPart({}), notes
    part = choose_random(frame)
    notes += part.notes
    if options.model == mixed and not part.shapes:
        raise BadModel(
            f"The model {mixed} needs random effects, and these ratings bear none: {' '.join(part.notes)} "
            f"Use model={fixed_only!r}."
        )
    return (mixed if part.shapes else fixed_only), part, notes


def _fit(formula: str, table: Ratings, model: str, options: _Options) -> Any:
    from panelist.models.fit import fit  # late: it brings the compiled kernels

    if model in ("clm", "clmm"):
        return fit(formula, table, model=model, link=options.link, df=options.df)
    return fit(formula, table, model=model)


def _system_term(fitted: Any, table: Ratings) -> str:
    """Return what the formula calls the system: our name, or that of the source."""
    others = [old for old, new in table.names.items() if new == "system"]
    return next((name for name in ("system", *others) if name in fitted.design.fixed.levels), "system")


def _effect_unit(fitted: Any, used: pd.DataFrame) -> tuple[float, str, str]:
    """Return the length of one effect unit, and the words for the units of estimates and effects."""
    if fitted.model in ("clm", "clmm"):
        units = f"latent scale ({fitted.link} link; 0 is the middle of the rating scale)"
        if fitted.link not in _LATENT_SD:
            return (
                float("nan"),
                units,
                f"no standard unit, for the {fitted.link} link's distribution has no SD",
            )
        return _LATENT_SD[fitted.link], units, "residual SDs of the latent scale"
    groups = used.groupby("system", observed=True)["rating"]
    n, variance = groups.count(), groups.var(ddof=1).fillna(0.0)
    spread = float(((n - 1) * variance).sum() / max(int((n - 1).sum()), 1)) ** 0.5
    return spread or float("nan"), "rating scale", "SDs of the ratings within systems"


def _system_rows(means: Means, pairs: Pairs, used: pd.DataFrame) -> tuple[SystemEstimate, ...]:
    """Return the systems from the highest estimate down, those without one last."""
    counts = used["system"].value_counts()
    best, worst = rank_intervals(pairs)
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
        )
        for place, name in enumerate(means.levels)
    ]
    return tuple(sorted(rows, key=lambda one: (np.isnan(one.estimate), -one.estimate, one.system)))


def _rank_notes(pairs: Pairs) -> list[str]:
    if find_adjustment(pairs.adjust).controls == "family" or len(pairs.levels) == 2:
        return []
    return ["The ranges of ranks do not hold all at once: that takes tukey, holm or bonferroni."]


def _distinct(frame: pd.DataFrame, name: str) -> int:
    return int(frame[name].nunique()) if name in frame else 0
