"""The tests behind a table of F: what each term of the fixed part contrasts, and Satterthwaite's test of it.

Type I tests are sequential. Type III tests follow the definition of SAS: a term is tested in the estimable
functions that are orthogonal to those of every term that contains it, so that the answer depends neither on
the coding of the factors nor on how many rows each cell has (SAS/STAT User's Guide, "The Four Types of
Estimable Functions"). R's lmerTest does the same and is the reference for the tests, down to the choice of
rows, because Satterthwaite's degrees of freedom of an F depend on it (Kuznetsova, Brockhoff & Christensen
2017, doi:10.18637/jss.v082.i13). One difference: in ``system / genre`` lmerTest 3.1-3 does not see that
system:genre contains system, and its test of system depends on which genre comes first; here it is that of
``system * genre``, which is the same model.
"""

from collections.abc import Sequence
from itertools import product
from math import erfc, inf, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, fdtrc, stdtr

from panelist.core.errors import BadModel
from panelist.models.formulas.calls import Piece
from panelist.models.formulas.coding import code_columns, independent_columns
from panelist.models.formulas.matrices import FixedPart
from panelist.models.formulas.terms import read_terms
from panelist.models.formulas.variables import Labels
from panelist.numerics.arrays import Floats, Longs
from panelist.numerics.spectra import fill_degrees

_NOTHING = 1e-8  # a contrast this small is rounding
_RANK = float(np.sqrt(np.finfo(float).eps))  # lmerTest's tolerance for the rank of L C L'
_SAME = 1e-8  # degrees of freedom that differ by less are equal


class FTest(NamedTuple):
    """An F-test; nan in F, ddf and p where there was nothing to test (numdf = 0)."""

    F: float
    numdf: int
    ddf: float
    p: float


UNTESTABLE = FTest(np.nan, 0, np.nan, np.nan)


def term_contrasts(fixed: FixedPart, X: Floats, names: Sequence[str], kind: int = 3) -> dict[str, Floats]:
    """Return for each term, except the intercept, the rows L of its hypothesis Lβ = 0.

    ``X`` and ``names`` are the columns of the fit, ``kind`` is 3 or 1. A term whose columns were all left out
    as linear combinations of others has no row. With a single term both kinds are the same.
    """
    if kind not in (1, 3):
        raise BadModel(f"There is no type {kind} test here. Ask for type 3, the default, or for type 1.")
    terms = read_terms(fixed.text).terms
    labels = [label for label in fixed.terms if label != "Intercept"]
    missing = read_terms(fixed.text).intercept and "Intercept" not in names  # ordinal: thresholds instead
    if missing:
        X = np.column_stack([np.ones(len(X)), X])
    if kind == 1 or len(terms) <= 1 or X.shape[1] <= 1:
        L = _sequential(X)[:, missing:]
        return {label: L[np.array(fixed.terms[label], dtype=int) + missing] for label in labels}
    contrasts = _partial(fixed, X, terms)
    return {label: L[:, missing:] for label, L in zip(labels, contrasts, strict=True)}


def f_tail(F: float, numdf: int, ddf: float) -> float:
    """Return P(F' > F), nan where F or the degrees of freedom are not valid."""
    if not (F >= 0 and numdf > 0 and ddf > 0):
        return float("nan")
    return float(chdtrc(numdf, numdf * F) if np.isinf(ddf) else fdtrc(numdf, ddf, F))


def two_sided(statistic: Floats, df: Floats) -> Floats:
    """Return two-sided p-values of t statistics; infinite degrees of freedom make them z."""
    away = np.abs(statistic)
    degrees = df.tolist()
    if all(one == inf for one in degrees):
        return np.array([erfc(z / sqrt(2.0)) for z in away.tolist()])
    p: Floats = 2.0 * stdtr(df, -away)  # nan where the degrees of freedom are not known
    for at in (at for at, one in enumerate(degrees) if one == inf):
        p[at] = erfc(away[at] / sqrt(2.0))
    return p


# ---- Satterthwaite -----------------------------------------------------------------------------------------
def degrees_satterthwaite(L: Floats, C: Floats, dC: Floats, A: Floats) -> Floats:
    """Return the degrees of freedom of t for each row l of L: 2 v² / g'Ag, v = l'Cl, g = ∂v/∂φ.

    ``C`` (p, p) is the covariance of β, ``dC`` (k, p, p) its derivatives with respect to the k variance
    parameters φ, and ``A`` (k, k) the covariance of φ.
    """
    L, C, dC, A = (np.ascontiguousarray(matrix, dtype=np.float64) for matrix in (np.atleast_2d(L), C, dC, A))
    degrees = np.empty(len(L))
    fill_degrees(L, C, dC, A, degrees)
    return degrees


def test_term_satterthwaite(L: Floats, beta: Floats, C: Floats, dC: Floats, A: Floats) -> FTest:
    """Return the F-test of Lβ = 0; arguments as for ``degrees_satterthwaite``.

    LCL' = PDP' gives rank(L) independent t statistics with ν_m degrees of freedom each. The denominator is
    chosen so that F has the mean of the sum of their squares: E = Σ ν_m/(ν_m − 2), ddf = 2E/(E − q)
    (Fai & Cornelius 1996, doi:10.1080/00949659608811740).
    """
    L = np.atleast_2d(L)
    if not len(L):
        return UNTESTABLE
    d, P = np.linalg.eigh(L @ C @ L.T)
    real = d > max(_RANK * d[-1], 0.0)
    q = int(real.sum())
    if q == 0:
        return UNTESTABLE
    rows = P[:, real].T @ L
    F = float(np.mean((rows @ beta) ** 2 / d[real]))
    ddf = _pool(degrees_satterthwaite(rows, C, dC, A))
    return FTest(F, q, ddf, f_tail(F, q, ddf))


def _pool(degrees: Floats) -> float:
    if np.isinf(degrees).all() or (np.isfinite(degrees).all() and np.ptp(degrees) < _SAME):
        return float(degrees.mean())
    if degrees.min() <= 2:
        return 2.0
    excess = float(np.sum(2 / (degrees - 2)))  # E − q
    return 2 * (len(degrees) + excess) / excess


# ---- contrasts ---------------------------------------------------------------------------------------------
def _sequential(X: Floats) -> Floats:
    """Return the unit upper triangular L' of X'X = LDL': row j is column j, adjusted for those before."""
    R = np.linalg.qr(X, mode="r")
    return np.asarray(R / np.diag(R)[:, None])


def _partial(fixed: FixedPart, X: Floats, terms: tuple[tuple[Piece, ...], ...]) -> list[Floats]:
    """Return the type III contrasts of the terms, in the coefficients of X.

    Every cell of every term has its own column in the overparameterised model. Their expansion in a
    basis of some of them is the general form of estimable functions, cells by basis elements.
    A term's columns are made orthogonal to those of the terms that contain it; what they then hold in the
    basis is the contrast.
    """
    X, codes, numbers = _distinct_rows(fixed, X, terms)
    cells: list[Floats] = []
    owner: list[int] = []  # the term of each cell; -1 is the intercept
    if read_terms(fixed.text).intercept:
        cells.append(np.ones((len(X), 1)))
        owner.append(-1)
    for place, term in enumerate(terms):
        columns = _cells(fixed, term, codes, numbers, len(X))
        cells.append(columns)
        owner += [place] * columns.shape[1]
    every = np.concatenate(cells, axis=1)
    basis = independent_columns(every)
    if len(basis) != X.shape[1]:  # a wrong F is worse than none
        raise BadModel(
            f"The terms of {fixed.text!r} span {len(basis)} dimensions where the model has {X.shape[1]} "
            "columns, so type III tests are not defined. Ask for type 1, or write the formula with all main "
            "effects."
        )
    Q, R = np.linalg.qr(every[:, basis])
    general = np.linalg.solve(R, Q.T @ every).T  # cells x basis
    to_basis = np.linalg.solve(R, Q.T @ X)
    owned = [[at for at, cell in enumerate(basis) if owner[cell] == place] for place in range(len(terms))]
    for place in sorted(range(len(terms)), key=lambda place: -len(terms[place])):
        around = [
            at
            for other, term in enumerate(terms)
            if _contains(fixed, term, terms[place])
            for at in owned[other]
        ]
        if around and owned[place]:
            outer, own = general[:, around], general[:, owned[place]]
            general[:, owned[place]] = own - outer @ np.linalg.lstsq(outer, own, rcond=None)[0]
    contrasts = []
    for own_columns in owned:
        L = general[np.ix_(basis, own_columns)].T
        L = L[np.abs(L).sum(axis=1) > _NOTHING] @ to_basis
        L[np.abs(L) < _NOTHING * np.abs(L).max(initial=0.0)] = 0.0
        contrasts.append(L)
    return contrasts


def _distinct_rows(
    fixed: FixedPart, X: Floats, terms: tuple[tuple[Piece, ...], ...]
) -> tuple[Floats, dict[str, Longs], dict[Piece, Floats]]:
    """Return X, the codes of the factors and the columns of the numeric pieces, by cells if possible."""
    codes: dict[str, Longs] = {}
    numbers: dict[Piece, Floats] = {}
    for piece in dict.fromkeys(piece for term in terms for piece in term):
        variable = fixed.variables[piece.variables[0]]
        if isinstance(variable, Labels):
            codes[piece.variables[0]] = variable.codes
        else:
            numbers[piece] = code_columns(f"0 + {piece.text}", fixed.variables, len(X)).matrix
    if not numbers:
        _, first = np.unique(np.column_stack(list(codes.values())), axis=0, return_index=True)
        return X[first], {name: code[first] for name, code in codes.items()}, numbers
    return X, codes, numbers


def _cells(
    fixed: FixedPart, term: tuple[Piece, ...], codes: dict[str, Longs], numbers: dict[Piece, Floats], n: int
) -> Floats:
    """Return a column for each cell of the term; those without reference levels, the basis, come first."""
    choices: list[list[tuple[bool, Floats]]] = []
    for piece in term:
        if piece in numbers:
            choices.append([(False, column) for column in numbers[piece].T])
            continue
        name = piece.variables[0]
        levels = fixed.levels[name]
        base = levels.index(piece.base) if piece.base in levels else 0
        choices.append(
            [(level == base, (codes[name] == level).astype(float)) for level in range(len(levels))]
        )
    every = product(*reversed(choices))  # as in X, the levels of the first factor run fastest
    cells = sorted(every, key=lambda cell: sum(reference for reference, _ in cell))
    return np.array([np.prod([column for _, column in cell], axis=0) for cell in cells]).reshape(-1, n).T


def _contains(fixed: FixedPart, outer: tuple[Piece, ...], inner: tuple[Piece, ...]) -> bool:
    """Return whether ``outer`` has all factors of ``inner`` and others, and the same numeric pieces."""

    def split(term: tuple[Piece, ...]) -> tuple[set[Piece], set[Piece]]:
        factors = {p for p in term if isinstance(fixed.variables[p.variables[0]], Labels)}
        return factors, set(term) - factors

    (more, numbers), (less, same) = split(outer), split(inner)
    return less < more and numbers == same
