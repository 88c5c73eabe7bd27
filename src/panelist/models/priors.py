"""The penalty that a prior means for a design: on which combinations of fixed effects, on which spreads.

A prior of fixed effects is centred: each level's effect less the mean over the levels has it, so that the
reference level does not matter. An interaction has it on what is left beside the main effects, and
those on their average over what they interact with. Numbers are counted in standard deviations. Scales are in
latent standard deviations of the link.
"""

from itertools import product

import numpy as np

from panelist.models.formulas.calls import Piece
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.formulas.terms import read_terms
from panelist.models.formulas.variables import Labels, Numbers
from panelist.models.likelihoods.covariance import free_entries
from panelist.models.likelihoods.link_functions import LATENT_SD
from panelist.models.likelihoods.priors import NO_PENALTY, Penalty
from panelist.models.prior_words import WEAK_SCALE, Prior
from panelist.numerics.arrays import Floats

_UNIT_OF_CAUCHIT = 1.5  # its latent standard deviation does not exist
_MOST_ROWS = 50  # distinct rows of the columns of a random term that are taken one by one
_EXEMPT = "position"  # of an output on the page: a nuisance, not an effect that could be far too large


def make_penalty(prior: Prior | None, design: ModelMatrices, link: str) -> Penalty:
    """Return the penalty of a prior for ψ = (α, β, ζ, τ) of this design; thresholds and ζ have none."""
    if prior is None:
        return NO_PENALTY
    rows, columns, slots = free_entries(design.factors)
    r, p, q = int(slots.max(initial=-1)) + 1, design.X.shape[1], _count_scale(design)
    penalty = NO_PENALTY
    if prior.scale is not None and p:
        unit = _UNIT_OF_CAUCHIT if link == "cauchit" else LATENT_SD[link]
        R = np.ascontiguousarray(centre_effects(design))
        penalty = penalty._replace(
            rows=R,
            back=r + q + p - np.arange(p, dtype=np.int64),
            scale=np.full(len(R), prior.scale * unit),
            df=np.full(len(R), prior.df),
        )
    if prior.strength is not None:
        spreads = r - np.unique(slots[rows == columns])
        penalty = penalty._replace(spread=spreads, strength=np.full(len(spreads), prior.strength))
    return penalty


def bound_spreads(penalty: Penalty, design: ModelMatrices, link: str) -> Penalty:
    """Return the penalty with a normal prior on how far each kind of row spreads over the levels of a factor.

    −c log|λ| has no upper end: where the ratings of a system are all at one end of the scale, the likelihood
    does not bound the spread of its random slopes either, and the mode would run off. The rows are z'λ for
    every distinct row z of a factor's columns: their squares sum to the variance of what z stands for,
    whatever the reference.
    """
    rows, columns, slots = free_entries(design.factors)
    r, p, q = int(slots.max(initial=-1)) + 1, design.X.shape[1], _count_scale(design)
    made: list[Floats] = []
    first = 0
    for factor in design.factors:
        m = factor.Z.shape[1]
        for z in _distinct_rows(factor.Z):
            for c in range(first, first + m):
                entries = np.flatnonzero(columns == c)
                row = np.zeros(r)
                row[slots[entries]] = z[rows[entries] - first]
                made.append(row)
        first += m
    spreads = np.array(made).reshape(len(made), r)
    spreads = spreads[np.abs(spreads).max(axis=1, initial=0.0) > 0.0]
    fixed = penalty.rows if len(penalty.rows) else np.empty((0, p))
    joint = np.zeros((len(fixed) + len(spreads), p + r))
    joint[: len(fixed), :p], joint[len(fixed) :, p:] = fixed, spreads
    unit = _UNIT_OF_CAUCHIT if link == "cauchit" else LATENT_SD[link]
    return penalty._replace(
        rows=joint,
        back=np.concatenate([r + q + p - np.arange(p), r - np.arange(r)]).astype(np.int64),
        scale=np.concatenate([penalty.scale, np.full(len(spreads), WEAK_SCALE * unit)]),
        df=np.concatenate([penalty.df, np.full(len(spreads), np.inf)]),
    )


def _count_scale(design: ModelMatrices) -> int:
    """Return how many effects on log σ there are."""
    return 0 if design.scale is None else design.scale.matrix.shape[1]


def _distinct_rows(Z: Floats) -> Floats:
    """Return the distinct rows of a factor's columns; with many, one column after the other, standardised."""
    distinct = np.unique(Z, axis=0)
    if len(distinct) <= _MOST_ROWS:
        return distinct
    return np.diag(np.sqrt((Z**2).mean(axis=0)))


def has_slopes(design: ModelMatrices) -> bool:
    """Return whether a grouping factor has correlated random effects."""
    return any(stop - start > 1 for factor in design.factors for start, stop in factor.blocks)


def centre_effects(design: ModelMatrices) -> Floats:
    """Return R: one row for each effect that has a prior, as a combination of the columns of X."""
    fixed, p = design.fixed, design.X.shape[1]
    terms = [term for term in read_terms(fixed.text).terms if term]
    found = [np.empty((0, p))]
    for term in terms:
        names = _variables(term)
        if any(_EXEMPT in (name, fixed.sources[name]) for name in names):
            continue
        if any(piece.kind == "number" for piece in term):  # a function: its columns, as they are
            places = fixed.terms.get(":".join(piece.label for piece in term), ())
            found.append(np.diag(design.X.std(axis=0))[list(places)])
            continue
        # Terms that hold this one contribute to it, averaged over what else is in them.
        around = {name for other in terms if names <= _variables(other) for name in _variables(other)}
        found.append(_effects_of(design, names, sorted(around)))
    R = np.vstack(found)
    kept: Floats = R[np.abs(R).max(axis=1, initial=0.0) > 1e-12]
    return kept


def _variables(term: tuple[Piece, ...]) -> frozenset[str]:
    return frozenset(name for piece in term for name in piece.variables)


def _effects_of(design: ModelMatrices, names: frozenset[str], around: list[str]) -> Floats:
    """Return the effects of a term over the grid of ``around``: centred along its own factors, one standard
    deviation along its own numbers, and averaged along the others.
    """
    import pandas as pd

    fixed = design.fixed
    points: dict[str, list[object]] = {}
    for name, variable in fixed.variables.items():
        if isinstance(variable, Labels):
            points[name] = list(variable.levels) if name in around else [variable.levels[0]]
            continue
        assert isinstance(variable, Numbers)
        mean, sd = float(variable.floats.mean()), float(variable.floats.std())
        points[name] = [mean, mean + sd] if name in names else [mean]
    grid = pd.DataFrame(list(product(*points.values())), columns=list(points))
    effects = fixed.matrix(grid)[0].reshape(*(len(own) for own in points.values()), -1)
    for axis, name in enumerate(points):
        numeric = isinstance(fixed.variables[name], Numbers)
        if name in names and numeric:
            effects = np.diff(effects, axis=axis)
        elif name in names:
            effects = effects - effects.mean(axis=axis, keepdims=True)
        else:
            effects = effects.mean(axis=axis, keepdims=True)
    flat: Floats = effects.reshape(-1, design.X.shape[1])
    return flat
