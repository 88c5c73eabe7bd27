"""One model: formula → matrices → estimates → Fit."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from panelist.core.errors import BadModel, UnknownName, did_you_mean
from panelist.core.numbers import check_count
from panelist.core.prose import capitalise, with_article
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.models.diagnose import diagnose, refuse_confounded
from panelist.models.families import refuse_family, refuse_random_spread, refuse_unidentified
from panelist.models.family_words import check_family
from panelist.models.formulas.formula import Formula, add_sides, parse_formula
from panelist.models.formulas.matrices import ModelMatrices, build_design
from panelist.models.formulas.response import choose_family, read_response
from panelist.models.formulas.variables import Labels
from panelist.models.inference.small_sample import SmallSample
from panelist.models.likelihoods.link_functions import LATENT_SD, LINKS
from panelist.models.likelihoods.thresholds import STRUCTURES, make_thresholds
from panelist.models.prior_words import Prior, parse_prior, refuse_prior, refuse_under_prior
from panelist.models.priors import make_penalty
from panelist.models.results.fitted import MODEL_WORDS, Fit
from panelist.models.solvers.separation import mark_separated
from panelist.models.solvers.solution import Solution
from panelist.numerics.blas_threads import single_threaded_blas
from panelist.numerics.compile_ahead import prepare

MODELS = ("auto", *MODEL_WORDS)
METHODS = ("REML", "ML")
TESTS = ("t", "z", "lrt")
_LARGE = 1000  # random effects besides the largest factor's, from which a search takes seconds


def fit(
    formula: str,
    data: Any,
    model: str = "auto",
    link: str = "probit",
    threshold: str = "flexible",
    method: str = "REML",
    quadrature: int = 1,
    test: str = "t",
    family: str = "cumulative",
    scale: str | None = None,
    nominal: str | None = None,
    prior: str | None = None,
) -> Fit:
    """Return the fit of one model to ratings.

    ``formula`` is written as in lme4: ``rating ~ system + (system | rater) + (1 | item)``. ``data`` is a
    ratings table: a path, a pandas or polars frame, or what ``load_ratings`` returned. ``model`` is ``clmm``
    or ``clm`` (ordered categories, with or without random effects), ``lmm`` or ``lm`` (numbers), or ``auto``.
    ``link`` and ``threshold`` belong to the ordinal models, ``method`` (REML or ML) to ``lmm``, and
    ``quadrature``, the points of adaptive quadrature, to a ``clmm`` with one scalar random effect or two
    nested ones: 1 is the Laplace approximation, and any other number the integral itself, with more points
    where it takes them.
    ``test`` belongs to a ``clmm``: "t" tests with degrees of freedom and standard errors that allow for few
    raters or items, "z" as if there were many; "lrt", of any ordinal model, tests by likelihood ratios, for
    which the model is fitted again without each effect or term.

    ``family``, ``scale`` and ``nominal`` belong to the ordinal models. ``family`` is "cumulative" (one latent
    scale, cut at the thresholds), "sequential" (steps from the lowest category up, each of which a rating
    passes or not) or "adjacent" (each category against the next, logit link). ``scale="~ system"`` lets the
    residual spread differ, ``scale="~ (1 | rater)"`` gives each rater a spread at random, and
    ``nominal="~ system"`` lets the thresholds themselves differ: partial proportional odds.
    So does ``prior``: "weak", or what models/prior_words.py can read, such as "normal(2.5)",
    "t(3, 2.5), wishart" or "fixed weak". The estimates are then penalised, and say so.
    """
    _check_words(model=(model, MODELS), link=(link, LINKS), method=(method, METHODS), test=(test, TESTS))
    check_family(family)
    if threshold not in STRUCTURES:
        raise UnknownName(
            f"No threshold structure is called {threshold!r}. {did_you_mean(threshold, STRUCTURES)}"
        )
    if not isinstance(formula, str):
        raise BadModel(
            f"The formula comes first, as text, and the ratings second. Found {type(formula).__name__} "
            'first: write fit("rating ~ system + (1 | rater)", ratings).'
        )
    check_count("quadrature points", quadrature)
    wanted = parse_prior(prior)
    parsed = add_sides(parse_formula(formula), nominal, scale)
    ratings = read_ratings(data)
    model, notes = choose_model(model, parsed, ratings)
    if quadrature > 1 and model != "clmm":
        raise BadModel(
            f"Quadrature integrates over the random effects of a clmm, and this is {with_article(model)}. "
            "Leave it out, or add a random term such as (1 | rater) to an ordinal model."
        )
    ordinal = model in ("clm", "clmm")
    refuse_prior(wanted, model, quadrature)
    refuse_family(parsed, model, family, link)
    refuse_random_spread(parsed, model, family, link, wanted, quadrature)
    with single_threaded_blas():
        design = build_design(parsed, ratings, ordinal=ordinal)
        refuse_confounded(design)
        if ordinal:
            refuse_unidentified(design, family, threshold)
            fitted = _fit_ordinal(design, model, link, threshold, quadrature, test, family, wanted)
            if test == "lrt":
                refuse_under_prior(fitted.prior, "lrt")
        else:
            fitted = _fit_linear(design, model, method)
        return fitted.with_notes(*ratings.notes, *notes, *design.notes, *diagnose(fitted))


def choose_model(model: str, formula: Formula, ratings: Ratings) -> tuple[str, list[str]]:
    """Return the model to fit, and a note where it was chosen here."""
    mixed = bool(formula.random)
    if model == "auto":
        values = ratings.frame[ratings.find(formula.response)]
        response = read_response(values, formula.response, ordinal=True)
        ordered = isinstance(response, Labels)
        numbers = response.codes if isinstance(response, Labels) else response.floats
        ordinal, why = choose_family(numbers[~response.missing].astype(float), ordered=ordered)
        family = "clm" if ordinal else "lm"
        return (f"{family}m" if mixed else family), [why.rstrip(".")]
    if model in ("clmm", "lmm") and not mixed:
        raise BadModel(
            f"{capitalise(with_article(model))} needs a random term such as (1 | rater), and the formula "
            f"{formula.text!r} has none. Add one, or fit {with_article(model.removesuffix('m'))} without "
            "random effects."
        )
    if model in ("clm", "lm") and mixed:
        raise BadModel(
            f"{capitalise(with_article(model))} has no random effects, and the formula has "
            f"{formula.random[0].text}. Leave it out, or fit {with_article(f'{model}m')}."
        )
    return model, []


def _fit_ordinal(
    design: ModelMatrices,
    model: str,
    link: str,
    threshold: str,
    quadrature: int,
    test: str,
    family: str,
    prior: Prior | None,
) -> Fit:
    structure = make_thresholds(threshold, design.categories, family)
    tested = SmallSample(design) if choose_test(model, test) == "t" else None
    penalty = make_penalty(prior, design, link)
    if model == "clm":
        from panelist.models.solvers.clm import solve_clm

        solution, method = solve_clm(design, link, structure, penalty), "ML"
    elif design.stretch is not None:
        from panelist.models.solvers.random_spread import solve_random_spread

        solution, method = solve_random_spread(design, link, structure), "Laplace"
    elif quadrature > 1:
        from panelist.models.solvers.quadrature import solve_by_quadrature

        solution = solve_by_quadrature(design, link, structure, quadrature)
        method = f"adaptive quadrature with {quadrature} points or more"
    else:
        from panelist.models.solvers.penalised import solve_penalised

        # All that the fit will need is compiled side by side: the search, the error of Laplace that every fit
        # is asked for, and the linear model that gives it its t.
        prepare("ordinal", "errors", *(("linear",) if test == "t" else ()))
        with _work_beside(tested):
            solution, penalty = solve_penalised(design, link, structure, penalty)
        method = "Laplace"
    unit = LATENT_SD[link] if link != "cauchit" else 10.0
    solution = replace(solution, prior=prior, penalty=penalty)
    if prior is None or prior.scale is None:
        solution = mark_separated(solution, design, structure, unit)
    return Fit(model, link, method, design, solution, structure, tested, test=choose_test(model, test))


def choose_test(model: str, test: str) -> str:
    """Return how an ordinal model is tested: without random effects z takes the place of t."""
    return "z" if model == "clm" and test == "t" else test


@contextmanager
def _work_beside(tested: SmallSample | None) -> Iterator[None]:
    """Fit the linear analogue of a large model in a second thread, while the first one searches."""
    if tested is None or sum(f.Z.shape[1] * len(f.levels) for f in tested.design.factors[1:]) < _LARGE:
        yield
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        begun = pool.submit(lambda: tested.linear)
        yield
        begun.exception()  # where it fails, the code that needs it raises


def _fit_linear(design: ModelMatrices, model: str, method: str) -> Fit:
    if model == "lm":
        from panelist.models.solvers.lm import solve_lm

        return Fit(model, None, "least squares", design, solve_lm(design), None)
    from panelist.models.solvers.lmm import solve_lmm

    solution: Solution
    solution, uncertainty = solve_lmm(design, method == "REML")
    return Fit(model, None, method, design, solution, None, uncertainty)


def _check_words(**given: tuple[str, tuple[str, ...]]) -> None:
    for what, (word, known) in given.items():
        if word not in known:
            raise UnknownName(f"No {what} is called {word!r}. {did_you_mean(word, known)}")
