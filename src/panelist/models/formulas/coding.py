"""Terms to columns: intercepts, slopes, contrasts of factors, and their products.

Plain columns and factors in treatment or sum coding are coded here, which takes a tenth of a millisecond
and does not import formulaic; the rest is left to formulaic. Both give the same columns under the same names.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, combinations
from typing import Any

import numpy as np

from panelist.core.errors import BadFormula, BadModel, did_you_mean
from panelist.core.prose import quoted
from panelist.models.formulas.calls import Piece
from panelist.models.formulas.terms import Terms, read_terms
from panelist.models.formulas.variables import Labels, Variable, as_pandas
from panelist.numerics.arrays import Floats, Longs

_MOST_WORK = 5e10  # rows x columns²: about half a minute to find aliased columns
_TOLERANCE = 1e-7  # of R's lm: a column is aliased if less than this share of its length is its own
_MOST_LEVELS = 50  # of a factor whose coding is remembered
_PREFIX = {"treatment": "T.", "sum": "S."}


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a right-hand side; ``spec`` is formulaic's memory, where it was needed.

    ``kept`` are the linearly independent ones, where that is known, provided that every level occurs.
    """

    matrix: Floats
    names: tuple[str, ...]
    terms: Mapping[str, tuple[int, ...]]
    spec: Any = None
    kept: tuple[int, ...] | None = None


class Coder:
    """Codes right-hand sides, each only once: (system | rater) and (system | item) share their columns."""

    def __init__(self, variables: Mapping[str, Variable], n: int) -> None:
        self.variables = variables
        self.n = n
        self._done: dict[str, tuple[Columns, list[int]]] = {}

    def code(self, text: str) -> tuple[Columns, list[int]]:
        """Return the columns and the positions of those that are linearly independent."""
        if text not in self._done:
            columns = code_columns(text, self.variables, self.n)
            kept = independent_columns(columns.matrix) if columns.kept is None else list(columns.kept)
            self._done[text] = columns, kept
        return self._done[text]


def code_columns(text: str, variables: Mapping[str, Variable], n: int, spec: Any = None) -> Columns:
    """Return the n rows of columns for a right-hand side; ``spec`` of an earlier call repeats its coding."""
    terms = read_terms(text)
    if spec is None and len(terms.variables) <= 1:
        levels: dict[str, tuple[str, ...]] = {}
        codes: Longs = np.zeros(n, dtype=np.int64)
        for name in terms.variables:
            if isinstance(variable := variables[name], Labels) and len(variable.levels) <= _MOST_LEVELS:
                levels[name], codes = variable.levels, variable.codes
        if len(levels) == len(terms.variables):
            table = _code_levels(text, tuple(levels.items()))
            if table.spec is None:
                return Columns(table.matrix.take(codes, axis=0), table.names, table.terms, None, table.kept)
    return _code_rows(terms, variables, n, spec)


@lru_cache(maxsize=256)
def _code_levels(text: str, levels: tuple[tuple[str, tuple[str, ...]], ...]) -> Columns:
    """Return the columns for one row per level of the only factor: all that its rows can be."""
    variables = {name: Labels(np.arange(len(own)), own) for name, own in levels}
    columns = _code_rows(read_terms(text), variables, len(levels[0][1]) if levels else 1, None)
    return replace(columns, kept=tuple(independent_columns(columns.matrix)))


def _code_rows(terms: Terms, variables: Mapping[str, Variable], n: int, spec: Any) -> Columns:
    _check_pieces(terms, variables)
    full = _which_full(terms, variables) if spec is None else None
    if full is None:
        return _code_by_formulaic(terms, variables, n, spec)
    blocks = [np.ones((n, 1))] if terms.intercept else []
    names = ["Intercept"] if terms.intercept else []
    places: dict[str, tuple[int, ...]] = {"Intercept": (0,)} if terms.intercept else {}
    for term, whole in zip(terms.terms, full, strict=True):
        block, labels = _code_term(term, variables, whole)
        places[_label(term)] = tuple(range(len(names), len(names) + len(labels)))
        blocks.append(block)
        names += labels
    matrix = np.concatenate(blocks, axis=1) if blocks else np.empty((n, 0))
    return Columns(matrix, tuple(names), places)


def independent_columns(X: Floats) -> list[int]:
    """Return the positions of the columns that are not linear combinations of earlier ones, as in R's lm."""
    n, p = X.shape
    basis = np.empty((min(n, p), n))
    kept: list[int] = []
    for j in range(p):
        column = X[:, j].copy()
        length = float(np.sqrt(column @ column))
        if kept and len(kept) < len(basis):
            directions = basis[: len(kept)]
            for _ in range(2):  # the second pass removes what rounding left of the first
                column -= (directions @ column) @ directions
        own = float(np.sqrt(column @ column)) if len(kept) < len(basis) else 0.0
        if own > _TOLERANCE * length:
            basis[len(kept)] = column / own
            kept.append(j)
    return kept


def _check_pieces(terms: Terms, variables: Mapping[str, Variable]) -> None:
    for piece in dict.fromkeys(chain.from_iterable(terms.terms)):
        for name in piece.variables:
            variable = variables[name]
            if piece.kind == "number" and isinstance(variable, Labels):
                raise BadModel(
                    f"{piece.text} needs numbers, and {name} is a factor with the levels "
                    f"{quoted(variable.levels)}. Write {name} alone, or C({name}) with a coding."
                )
            if isinstance(variable, Labels) and len(variable.levels) == 1:
                raise BadModel(
                    f"{name} has only one level, {quoted(variable.levels)}, in the rows used, so it has no "
                    f"effect to estimate. Leave {name} out of the formula, or add data with other levels."
                )
            if piece.base is not None and isinstance(variable, Labels) and piece.base not in variable.levels:
                raise BadFormula(
                    f"{piece.text}: {name} has no level {piece.base!r}. "
                    f"{did_you_mean(piece.base, variable.levels)}"
                )


def _which_full(terms: Terms, variables: Mapping[str, Variable]) -> list[set[Piece]] | None:
    """Return for each term the factors that are coded with all their levels; None if formulaic must do it.

    A term of factors S spans a space for every subset of S. Reduced coding of the factors R and full coding
    of the others spans the subsets that hold R; that must be exactly what no earlier term has spanned yet.
    """
    spanned: dict[frozenset[Piece], set[frozenset[Piece]]] = {}
    if terms.intercept:
        spanned[frozenset()] = {frozenset()}
    full = []
    for term in terms.terms:
        if any(piece.kind == "number" or piece.contrast not in _PREFIX for piece in term):
            return None
        factors = [piece for piece in term if isinstance(variables[piece.variables[0]], Labels)]
        before = spanned.setdefault(frozenset(term) - set(factors), set())
        subsets = {frozenset(c) for size in range(len(factors) + 1) for c in combinations(factors, size)}
        fresh = subsets - before
        reduced = frozenset.intersection(*fresh)
        whole = set(factors) - reduced
        if len(fresh) != 2 ** len(whole):
            return None
        before |= fresh
        full.append(whole)
    return full


def _code_term(
    term: tuple[Piece, ...], variables: Mapping[str, Variable], whole: set[Piece]
) -> tuple[Floats, list[str]]:
    block: Floats | None = None
    labels: list[str] = []
    widths = 1
    for piece in term:
        variable = variables[piece.variables[0]]
        if isinstance(variable, Labels):
            contrasts, own = _contrasts(piece, variable.levels, piece in whole)
            widths *= len(own)
            _refuse_giant(len(variable.codes), widths, _label(term))
            columns = contrasts[variable.codes]
        else:
            columns, own = variable.floats[:, None], [piece.label]
        if block is None:
            block, labels = columns, own
        else:  # the first factor's columns run fastest
            block = (columns[:, :, None] * block[:, None, :]).reshape(len(block), -1)
            labels = [f"{first}:{second}" for second in own for first in labels]
    assert block is not None
    return block, labels


def _contrasts(piece: Piece, levels: tuple[str, ...], whole: bool) -> tuple[Floats, list[str]]:
    """Return the coding of each level (levels x columns) and the names of the columns."""
    _refuse_giant(len(levels), len(levels), piece.label)
    if whole:
        return np.eye(len(levels)), [f"{piece.label}[{level}]" for level in levels]
    if piece.contrast == "sum":
        base = len(levels) - 1
    else:
        base = levels.index(piece.base) if piece.base is not None else 0
    coding = np.delete(np.eye(len(levels)), base, axis=1)
    if piece.contrast == "sum":
        coding[base] = -1.0
    prefix = f"{piece.label}[{_PREFIX[piece.contrast]}"
    return coding, [f"{prefix}{level}]" for code, level in enumerate(levels) if code != base]


def _code_by_formulaic(terms: Terms, variables: Mapping[str, Variable], n: int, spec: Any) -> Columns:
    import pandas as pd

    for term in terms.terms:
        used = {name: variables[name] for piece in term for name in piece.variables}
        width = np.prod([len(v.levels) for v in used.values() if isinstance(v, Labels)], dtype=float)
        _refuse_giant(n, width, _label(term))
    data = pd.DataFrame(
        {name: as_pandas(variables[name]) for name in terms.variables}, index=pd.RangeIndex(n)
    )
    context = {"sqrt": np.sqrt, "abs": np.abs}
    maker = spec if spec is not None else _parse_by_formulaic(terms.text)
    try:
        with np.errstate(all="ignore"):  # log(0) is found below, and named
            made = maker.get_model_matrix(data, context=context, output="numpy", na_action="ignore")
    except Exception as error:  # formulaic re-raises whatever a transform raises
        raise BadFormula(f"{terms.text} cannot be computed from these data: {error}") from error
    matrix = np.array(made, dtype=np.float64, order="C").reshape(n, -1)
    made_spec = made.model_spec
    names = tuple(str(name) for name in made_spec.column_names)
    _refuse_infinite(matrix, names)
    labels = (["Intercept"] if terms.intercept else []) + [_label(term) for term in terms.terms]
    places = {
        label: tuple(indices) for label, indices in zip(labels, made_spec.term_indices.values(), strict=True)
    }
    return Columns(matrix, names, places, made_spec)


@lru_cache(maxsize=64)
def _parse_by_formulaic(text: str) -> Any:
    from formulaic import Formula  # costs a quarter of a second, so it is imported only where it is needed

    return Formula(text)


def _refuse_infinite(matrix: Floats, names: tuple[str, ...]) -> None:
    bad = ~np.isfinite(matrix)
    if bad.any():
        column = int(np.flatnonzero(bad.any(axis=0))[0])
        rows = np.flatnonzero(bad[:, column])
        raise BadModel(
            f"{names[column]} is not a finite number in {len(rows):,} of {len(matrix):,} rows used, first "
            f"in number {rows[0] + 1}. A logarithm needs numbers above 0, a root numbers from 0 on: change "
            "the formula, or leave out those rows."
        )


def _refuse_giant(n: int, width: float, what: str) -> None:
    if n * width**2 > _MOST_WORK:
        raise BadModel(
            f"{what} would need {width:,.0f} columns for {n:,} rows, too much for one matrix. Factors "
            f"with that many levels belong among the random terms, as in (1 | {what})."
        )


def _label(term: tuple[Piece, ...]) -> str:
    return ":".join(piece.label for piece in term)
