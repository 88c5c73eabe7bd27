"""The rows of a model whose scalar random effects are nested, put in the order in which they are integrated.

The rows of one level of the inner factor are a *block*; the blocks of one level of the outer factor are a
*group*. With a single factor every group is one block. Groups that share everything are of one *kind*, and
one of them stands for all: their integral is taken once.
"""

from typing import NamedTuple

import numpy as np

from panelist.core.errors import BadModel
from panelist.models.formulas.matrices import Factor, ModelMatrices
from panelist.models.likelihoods.cells import find_cells, lay_rows
from panelist.models.likelihoods.link_functions import link_code
from panelist.models.likelihoods.thresholds import Thresholds
from panelist.numerics.arrays import Floats, Ints, Longs

MOST_POINTS = 100
_FINENESS = 0.8  # of the nodes, see integration
_USUAL = 22  # points that a level with a nearly normal integrand takes at that


class Nest(NamedTuple):
    """An ordinal model with one scalar random effect, or two that are nested; fixed during a fit."""

    groups: Longs  # (kinds + 1,) blocks groups[g]:groups[g+1] belong to kind g
    start: Longs  # (blocks + 1,) rows start[b]:start[b+1] belong to block b
    copies: Floats  # (kinds,) how many groups there are of each kind
    z: Floats  # (n,) of the inner effect
    outer: Floats  # (n,) of the outer effect; none of one effect only
    X: Floats  # (n, p)
    upper: Ints  # (n,) the edge above each rating, as in laplace.Ordinal
    lower: Ints
    link: int
    J: Floats  # (T, s): thresholds are Jα
    joined: Longs  # (T,)
    fineness: float
    taus: Longs  # the places of the inner and the outer effect among the τ of the design
    S: Floats  # (n, q): log σ = Sζ


class Places(NamedTuple):
    """Where the levels of the design's factors are in a nest."""

    block: Longs  # (levels of the inner factor,) the block of each
    group: Longs  # (levels of the outer factor,) the kind of each


def make_nest(design: ModelMatrices, link: str, thresholds: Thresholds, points: int) -> tuple[Nest, Places]:
    """Return the model with its rows in order; BadModel where quadrature is not possible."""
    fineness = find_fineness(points)
    factors = find_nesting(design.factors)
    design, cells = lay_rows(design, find_cells(design, thresholds))
    inner, outer = design.factors[factors[0]], design.factors[factors[-1]]
    effects = [inner.Z[:, 0], outer.Z[:, 0]][: len(factors)]
    S = design.scale.matrix if design.scale is not None else np.empty((len(design.X), 0))
    table = np.column_stack([cells.upper, cells.lower, *effects, design.X, S])
    rows, start, groups, copies, places = _sort_rows(table, inner, outer)
    model = Nest(
        groups=groups,
        start=start,
        copies=copies,
        z=np.ascontiguousarray(effects[0][rows]),
        outer=np.ascontiguousarray(effects[1][rows]) if len(effects) == 2 else np.empty(0),
        X=np.ascontiguousarray(design.X[rows]),
        upper=cells.upper[rows],
        lower=cells.lower[rows],
        link=link_code(link),
        J=cells.J,
        joined=cells.joined,
        fineness=fineness,
        taus=np.array(factors),
        S=np.ascontiguousarray(S[rows]),
    )
    return model, places


def find_fineness(points: int) -> float:
    """Return the step of the nodes, in units of the sharpest bend; BadModel for too many points."""
    if points > MOST_POINTS:
        raise BadModel(
            f"Adaptive quadrature takes at most {MOST_POINTS} points; {points} were asked for. It uses more "
            "automatically for levels that need them, so ten are enough for any data."
        )
    return _FINENESS * min(1.0, _USUAL / points)


def find_nesting(factors: tuple[Factor, ...]) -> tuple[int, ...]:
    """Return the places of the inner and the outer factor, or of the only one; BadModel for any others."""
    if all(len(factor.columns) == 1 for factor in factors):
        if len(factors) == 1:
            return (0,)
        if len(factors) == 2:
            for inner, outer in ((0, 1), (1, 0)):
                pairs = np.unique(np.column_stack([factors[inner].index, factors[outer].index]), axis=0)
                if len(pairs) == len(factors[inner].levels):
                    return inner, outer
    found = ", ".join(f"{f.name} ({', '.join(f.columns)})" for f in factors)
    raise BadModel(
        "Adaptive quadrature needs one random effect, such as (1 | rater), or two of which one is nested in "
        f"the other, such as (1 | item) + (1 | item:system); this model has {found}. Use quadrature=1, the "
        "Laplace approximation, whose error the fit measures (fit.laplace_error), or leave terms out."
    )


def _sort_rows(table: Floats, inner: Factor, outer: Factor) -> tuple[Longs, Longs, Longs, Floats, Places]:
    """Return the rows of a group of each kind, where blocks and groups start, the counts and the places."""
    order = np.lexsort((*table.T[::-1], inner.index))
    ends = np.cumsum(np.bincount(inner.index, minlength=len(inner.levels)))
    levels = np.split(order, ends[:-1])
    content = [np.ascontiguousarray(table[rows]).tobytes() for rows in levels]
    members: list[list[int]] = [[] for _ in outer.levels]
    for level, rows in enumerate(levels):
        members[outer.index[rows[0]]].append(level)
    known: dict[tuple[bytes, ...], int] = {}
    block, group = np.empty(len(levels), dtype=np.int64), np.empty(len(members), dtype=np.int64)
    chosen: list[int] = []
    first: list[int] = []  # block of each kind
    for j, own in enumerate(members):
        own.sort(key=content.__getitem__)
        group[j] = known.setdefault(tuple(content[level] for level in own), len(known))
        if group[j] == len(first):
            first.append(len(chosen))
            chosen += own
        block[own] = first[group[j]] + np.arange(len(own))
    start = np.cumsum([0, *(len(levels[level]) for level in chosen)])
    rows = np.concatenate([levels[level] for level in chosen])
    count = np.bincount(group).astype(np.float64)
    return rows, start, np.array([*first, len(chosen)]), count, Places(block, group)
