"""Which combinations of family, link, scale and nominal effects have a model, and which the data allow."""

from collections.abc import Iterator

import numpy as np

from panelist.core.errors import BadModel
from panelist.core.prose import listing
from panelist.models.formulas.formula import Formula
from panelist.models.formulas.matrices import ModelMatrices, SidePart
from panelist.models.formulas.terms import read_terms
from panelist.models.formulas.variables import Labels
from panelist.models.prior_words import Prior
from panelist.numerics.arrays import Ints

WORDS = {
    "cumulative": "one latent scale, cut at the thresholds",
    "sequential": "steps from the lowest category up",
    "adjacent": "each category against the next",
}


def refuse_family(formula: Formula, model: str, family: str, link: str) -> None:
    """Raise BadModel for what no model of this kind has, with the nearest one that there is."""
    sides = ["nominal"] if formula.nominal else []
    sides += ["scale"] if formula.scale or formula.stretch else []
    if model in ("lm", "lmm"):
        ordinal = "clmm" if model == "lmm" else "clm"
        if family != "cumulative":
            sides = [f"family={family!r}", *sides]
        if sides:
            raise BadModel(
                f"{listing(sides)} {'belongs' if len(sides) == 1 else 'belong'} to ordinal models, and this "
                f"is a {model}: the ratings are taken as numbers. Fit model={ordinal!r}."
            )
    if family == "adjacent" and link != "logit":
        raise BadModel(
            f"Adjacent categories have the logit link alone, and {link} was asked for: the ratio of two "
            "neighbouring categories is a logit by definition. Use link='logit', or another family."
        )
    if family == "sequential" and (formula.scale or formula.stretch):
        instead = f"nominal='~ {formula.scale.removeprefix('1 + ')}', or " if formula.scale else ""
        raise BadModel(
            "A sequential model has no scale effects: each step has its own residual, so a spread cannot be "
            f"told from the steps. Use {instead}family='cumulative' with scale."
        )


def refuse_random_spread(
    formula: Formula, model: str, family: str, link: str, prior: Prior | None, quadrature: int
) -> None:
    """Raise BadModel where random effects on the spread have no estimates, with what there is instead."""
    if not formula.stretch:
        return
    name = formula.stretch[0].group
    fixed = f"scale='~ {name}'" if ":" not in name else "a scale effect without a random term"
    if model == "clm":
        raise BadModel(
            f"Random spreads belong to a mixed model, and this is a clm. Add a random term such as "
            f"(1 | {name}) to the formula, or use {fixed}, a spread for each {name}."
        )
    if family == "adjacent":
        raise BadModel(
            f"Random spreads are for family='cumulative' alone, and adjacent was asked for. Use {fixed}, "
            f"a spread for each {name}, or family='cumulative'."
        )
    if link == "cauchit":
        raise BadModel(
            "Random spreads need a link whose likelihood has one mode, and cauchit has several. Use "
            f"link='probit' or another link, or {fixed}."
        )
    if quadrature > 1:
        raise BadModel(
            "Random spreads are approximated by Laplace, and quadrature was asked for. Use quadrature=1, or "
            f"{fixed}, which quadrature takes."
        )
    if prior is not None:
        raise BadModel(
            f"A model with random spreads takes no prior. Leave prior out, or use {fixed}, which takes one."
        )


def refuse_unidentified(design: ModelMatrices, family: str, threshold: str = "flexible") -> None:
    """Raise BadModel where the ratings cannot identify nominal or scale effects."""
    for name, side in (("nominal", design.nominal), ("scale", design.scale)):
        if side is not None and len(design.categories) == 2:
            raise BadModel(
                f"The ratings have two categories, {listing(design.categories)}, so that there is one "
                f"threshold and {name} effects cannot be told from those of the location. Leave {name} out: "
                f"{side.text} in the formula does the same."
            )
    if design.stretch is not None and len(design.categories) == 2:
        raise BadModel(
            f"The ratings have two categories, {listing(design.categories)}, so that spreads cannot be told "
            f"from levels. Leave scale out: (1 | {design.stretch.name}) in the formula holds what differs."
        )
    if design.scale is not None and not design.scale.pooled:
        _refuse_spreadless(design)
    if design.nominal is None:
        return
    if threshold == "mirrored":
        raise BadModel(
            "Mirrored thresholds have zero in their middle, so that nominal effects of "
            f"{design.nominal.text} could not hold a difference in location. Use threshold='symmetric', "
            "which is free to move, or leave nominal out."
        )
    numeric = [name for name, v in design.nominal.part.variables.items() if not isinstance(v, Labels)]
    if numeric and family == "cumulative":
        raise BadModel(
            f"{numeric[0]!r} is a number, and nominal effects of a number let thresholds cross somewhere. "
            f"Write nominal='~ C({numeric[0]})' if it has few values, or use family='sequential'."
        )
    if family == "adjacent":
        _refuse_unused(design)


def list_used(side: SidePart, codes: Ints) -> Iterator[tuple[str, set[int]]]:
    """Yield every level, or combination of levels, that has an effect of its own, with what it used."""
    for term in side.part.terms:
        names = [name for name in side.part.variables if name in read_terms(f"1 + {term}").variables]
        if not all(isinstance(side.part.variables[name], Labels) for name in names):
            continue
        for level, own in (
            side.part.data[names].astype(str).groupby(names, sort=False, observed=True).indices.items()
        ):
            values = level if isinstance(level, tuple) else (level,)
            named = " and ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
            yield named, set(codes[own].tolist())


def _refuse_spreadless(design: ModelMatrices) -> None:
    """Raise BadModel where all ratings of a level are one category: its spread would be zero."""
    assert design.scale is not None
    assert design.codes is not None
    for name, used in list_used(design.scale, design.codes):
        if len(used) == 1:
            raise BadModel(
                f"Every rating of {name} is {design.categories[used.pop()]}, so that its spread has no "
                f"finite estimate: it shrinks to zero. Leave {name} out of the ratings, or leave scale out; "
                f"nominal='~ {design.scale.text}' leaves the categories out that a level never uses."
            )


def _refuse_unused(design: ModelMatrices) -> None:
    """Raise BadModel where a cell of adjacent categories never uses one: its thresholds are infinite."""
    assert design.nominal is not None
    assert design.codes is not None
    _, index = np.unique(design.nominal.matrix, axis=0, return_inverse=True)
    for cell in range(int(index.max()) + 1):
        own = index.reshape(-1) == cell
        counts = np.bincount(design.codes[own], minlength=len(design.categories))
        if (counts == 0).any():
            raise BadModel(
                f"No rating of {design.nominal.label(int(np.flatnonzero(own)[0]))} is "
                f"{design.categories[int(np.flatnonzero(counts == 0)[0])]}, so that its thresholds between "
                "adjacent categories have no finite estimate. Use family='cumulative' or 'sequential', which "
                "can leave a category out, or pool categories."
            )
