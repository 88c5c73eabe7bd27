"""Grouping factors: the random terms of a formula, gathered by what they group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from panelist.core.errors import BadModel
from panelist.core.prose import quoted
from panelist.models.formulas.coding import Coder
from panelist.models.formulas.formula import RandomTerm
from panelist.models.formulas.terms import read_terms
from panelist.models.formulas.variables import Labels
from panelist.numerics.arrays import Floats, Ints, Longs


@dataclass(frozen=True, eq=False)
class Recipe:
    """How the columns and levels of a factor are found again in other rows.

    ``blocks`` are the right-hand side of each block with formulaic's memory of it, ``variables`` the levels
    of what is in it (None: a number), ``grouping`` the levels of the columns that are crossed,
    ``members`` each crossed level as codes of those (levels × columns), ``sources`` the table's columns.
    """

    blocks: tuple[tuple[str, Any], ...]
    variables: Mapping[str, tuple[str, ...] | None]
    grouping: Mapping[str, tuple[str, ...]]
    members: Longs
    sources: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Factor:
    """One grouping factor: each row's level, and the columns whose effects vary over the levels.

    ``blocks`` are half-open ranges of columns, one per random term; effects are correlated inside a block.
    Where they are ``shared`` all columns have one standard deviation and no correlations: λ = ωI.
    """

    name: str
    levels: tuple[str, ...]
    index: Ints
    columns: tuple[str, ...]
    Z: Floats
    blocks: tuple[tuple[int, int], ...]
    recipe: Recipe | None = None
    shared: bool = False


def make_factors(
    random: Sequence[RandomTerm],
    coder: Coder,
    groups: Mapping[str, Labels],
    sources: Mapping[str, str],
    ordinal: bool,
) -> tuple[tuple[Factor, ...], list[str]]:
    """Return the grouping factors, the one with most effects first, and notes about them."""
    gathered: dict[frozenset[str], list[RandomTerm]] = {}
    for term in random:
        gathered.setdefault(frozenset(term.grouping), []).append(term)
    factors: list[Factor] = []
    notes: list[str] = []
    for terms in gathered.values():
        factor, about = _make_factor(terms, coder, groups, sources, ordinal)
        factors.append(factor)
        notes += about
    factors.sort(key=lambda factor: -len(factor.levels) * len(factor.columns))
    return tuple(factors), notes


def _make_factor(
    terms: list[RandomTerm],
    coder: Coder,
    groups: Mapping[str, Labels],
    sources: Mapping[str, str],
    ordinal: bool,
) -> tuple[Factor, list[str]]:
    name = terms[0].group
    index, levels = _cross(terms[0].grouping, groups)
    if len(levels) == 1:
        raise BadModel(
            f"The grouping factor {name} has only one level, {quoted(levels)}, in the rows used, so "
            f"it cannot be estimated how its levels vary. Leave {terms[0].text} out, or add data."
        )
    notes = _check_levels(terms[0], len(levels), coder.n, ordinal)
    blocks: list[tuple[int, int]] = []
    sides: list[tuple[str, Any]] = []
    names: list[str] = []
    matrices: list[Floats] = []
    for term in terms:
        columns, independent = coder.code(term.columns)
        width = len(columns.names)
        if not notes:
            notes = _check_effects(term, len(levels), width, coder.n, ordinal)
        if len(independent) < width:
            aliased = [name for place, name in enumerate(columns.names) if place not in independent]
            notes.append(
                f"{term.text}: {quoted(aliased)} can be computed from the other columns, so the "
                "covariance of these effects is not determined; a simpler term will do"
            )
        if (
            term.split
            and width > 1
            and any(isinstance(coder.variables[name], Labels) for name in read_terms(term.columns).variables)
        ):
            notes.append(
                f"{term.text}, from '||', keeps its {width} columns correlated, as in lme4: '||' separates "
                "the terms of a formula, not the levels of a factor"
            )
        if names and (shared := set(names) & set(columns.names)):
            notes.append(
                f"{name} has {quoted(sorted(shared))} in two random terms, whose variances cannot be "
                f"separated; write (0 + x | {name}) for a slope without an intercept"
            )
        blocks.append((len(names), len(names) + width))
        sides.append((term.columns, columns.spec))
        names += columns.names
        matrices.append(columns.matrix)
    Z = matrices[0] if len(matrices) == 1 else np.concatenate(matrices, axis=1)
    crossed = {column: groups[column] for column in terms[0].grouping}
    recipe = _write_recipe(sides, coder, crossed, index, len(levels), sources)
    return Factor(name, levels, index, tuple(names), np.ascontiguousarray(Z), tuple(blocks), recipe), notes


def _write_recipe(
    sides: list[tuple[str, Any]],
    coder: Coder,
    crossed: Mapping[str, Labels],
    index: Ints,
    levels: int,
    sources: Mapping[str, str],
) -> Recipe:
    members = np.arange(levels).reshape(-1, 1)
    if len(crossed) > 1:
        members = np.empty((levels, len(crossed)), dtype=np.int64)
        for place, labels in enumerate(crossed.values()):
            members[index, place] = labels.codes  # the rows of one level agree
    used = _find_used(tuple(text for text, _ in sides))
    found = {name: coder.variables[name] for name in used}
    return Recipe(
        blocks=tuple(sides),
        variables={name: v.levels if isinstance(v, Labels) else None for name, v in found.items()},
        grouping={name: labels.levels for name, labels in crossed.items()},
        members=members,
        sources={name: sources[name] for name in (*used, *crossed)},
    )


@lru_cache(maxsize=256)
def _find_used(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the variables of right-hand sides, sorted."""
    return tuple(sorted(frozenset().union(*(read_terms(text).variables for text in texts))))


def _cross(names: tuple[str, ...], groups: Mapping[str, Labels]) -> tuple[Ints, tuple[str, ...]]:
    """Return each row's level of the crossed columns, and the combinations that occur, named a1:b1."""
    first = groups[names[0]]
    codes, levels = first.codes, first.levels
    for name in names[1:]:
        other = groups[name]
        size = len(other.levels)
        pairs, codes = np.unique(codes * size + other.codes, return_inverse=True)
        levels = tuple(f"{levels[pair // size]}:{other.levels[pair % size]}" for pair in pairs.tolist())
    return codes.astype(np.int32), levels


def _check_levels(term: RandomTerm, levels: int, n: int, ordinal: bool) -> list[str]:
    if levels < n:
        return []
    if not ordinal:
        raise BadModel(
            f"The grouping factor {term.group} has as many levels as there are rows ({n:,}), so its variance "
            f"cannot be separated from the residual variance. Leave {term.text} out, or collect several "
            "ratings per level."
        )
    return [
        f"{term.group} has as many levels as there are rows ({n:,}): with one rating each, its variance "
        "rests on the shape of the link alone and only rescales the other effects; better leave the term out"
    ]


def _check_effects(term: RandomTerm, levels: int, width: int, n: int, ordinal: bool) -> list[str]:
    if levels * width < n:
        return []
    count = f"{term.text} has {levels:,} levels × {width} columns = {levels * width:,} effects for {n:,} rows"
    if not ordinal:
        raise BadModel(
            f"{count}, so they cannot be separated from the residuals. Use a simpler term, such as "
            f"(1 | {term.group}), or collect more ratings per level."
        )
    return [f"{count}: the data can hardly determine their covariance; a simpler term is safer"]
