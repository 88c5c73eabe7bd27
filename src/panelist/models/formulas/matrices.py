"""A formula and a ratings table become the matrices of a model: y, X, and Z of each grouping factor."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from panelist.core.errors import BadModel, did_you_mean
from panelist.core.prose import quoted
from panelist.core.tables.ratings import Ratings
from panelist.models.formulas.coding import Coder, code_columns, independent_columns
from panelist.models.formulas.formula import Formula
from panelist.models.formulas.formula_table import (
    complete_rows,
    drop_unused_levels,
    find_columns,
    read_table,
    refuse_several_criteria,
)
from panelist.models.formulas.grouping import Factor, make_factors
from panelist.models.formulas.response import check_linear, code_response, read_response
from panelist.models.formulas.terms import read_terms
from panelist.models.formulas.variables import (
    Labels,
    Numbers,
    Variable,
    as_pandas,
    match_levels,
    match_numbers,
    open_column,
)
from panelist.numerics.arrays import Floats, Ints, Longs

POOLED_SD = 0.5  # of the normal prior of log σ of raters

__all__ = ["Factor", "FixedPart", "ModelMatrices", "build_design"]


@dataclass(frozen=True, eq=False)
class FixedPart:
    """How the columns of X are made, so that they can be made again for other rows.

    ``terms`` gives the columns of each term, ``variables`` the columns of the table at the rows used, and
    ``sources`` what each variable is called in the table.
    """

    text: str
    names: tuple[str, ...]
    terms: Mapping[str, tuple[int, ...]]
    variables: Mapping[str, Variable]
    sources: Mapping[str, str]
    kept: tuple[int, ...]
    spec: Any = None

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """The levels of each categorical variable."""
        return {name: v.levels for name, v in self.variables.items() if isinstance(v, Labels)}

    @property
    def numeric(self) -> dict[str, float]:
        """The mean of each numeric variable over the rows used."""
        return {name: float(v.floats.mean()) for name, v in self.variables.items() if isinstance(v, Numbers)}

    @property
    def data(self) -> pd.DataFrame:
        """The variables at the rows used, under the names of the formula."""
        return pd.DataFrame({name: as_pandas(v) for name, v in self.variables.items()})

    def matrix(self, frame: pd.DataFrame) -> tuple[Floats, tuple[str, ...]]:
        """Return X for new data and the names of its columns, coded as in the fit."""
        new: dict[str, Variable] = {}
        for name, variable in self.variables.items():
            column = name if name in frame.columns else self.sources[name]
            if column not in frame.columns:
                raise BadModel(
                    f"The new data have no column {name!r}. {did_you_mean(name, map(str, frame.columns))}"
                )
            if isinstance(variable, Labels):
                new[name] = match_levels(frame[column], name, variable.levels)
            else:
                new[name] = match_numbers(frame[column], name)
        columns = code_columns(self.text, new, len(frame), self.spec)
        return np.ascontiguousarray(columns.matrix[:, self.kept]), self.names


@dataclass(frozen=True, eq=False)
class ModelMatrices:
    """Everything that a model needs from formula and data; ``rows`` are the indices of the rows used."""

    formula: Formula
    response: str
    y: Floats
    codes: Ints | None
    categories: tuple[str, ...]
    X: Floats
    names: tuple[str, ...]
    factors: tuple[Factor, ...]
    rows: Longs
    fixed: FixedPart
    notes: tuple[str, ...]
    nominal: "SidePart | None" = None
    scale: "SidePart | None" = None
    stretch: Factor | None = None  # whose levels have random effects on log σ

    @property
    def every_factor(self) -> tuple[Factor, ...]:
        """The grouping factors of the location, and that of random spreads."""
        return self.factors if self.stretch is None else (*self.factors, self.stretch)


@dataclass(frozen=True, eq=False)
class SidePart:
    """Columns beside the location, without an intercept: those of nominal or of scale effects."""

    part: FixedPart
    matrix: Floats  # (n, c)
    ridge: Floats = field(default_factory=lambda: np.empty((0, 0)))  # of a normal prior: −½ζ'Rζ; empty: none
    pooled: tuple[int, ...] = ()  # the columns that have it, of a factor whose effects sum to zero

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.part.names

    @property
    def text(self) -> str:
        """The right-hand side, without its intercept."""
        return self.part.text.removeprefix("1 + ")

    @property
    def written(self) -> str:
        """The right-hand side as it was given: the coding of what sums to zero is ours."""
        return re.sub(r"C\((.+?), Sum\)", r"\1", self.text) if self.pooled else self.text

    def spell_out(self) -> tuple[tuple[str, ...], Floats]:
        """Return a name for each effect, and L that makes them of ζ: all levels of what sums to zero."""
        L, names = np.eye(len(self.names)), list(self.names)
        if self.pooled:
            (variable,) = read_terms(self.part.text.split("C(")[1].split(",")[0]).variables
            levels = self.part.levels[variable]
            for place, level in zip(self.pooled, levels, strict=False):
                names[place] = f"{variable} {level}"
            last = np.zeros(len(names))
            last[list(self.pooled)] = -1.0
            L, names = np.vstack([L, last]), [*names, f"{variable} {levels[-1]}"]
        return tuple(names), L

    def label(self, row: int) -> str:
        """Return what the variables are in one of the rows."""
        return " and ".join(f"{name} {value}" for name, value in self.part.data.iloc[row].items())


def build_design(formula: Formula, ratings: Ratings, *, ordinal: bool) -> ModelMatrices:
    """Return the matrices of the model; an ordinal one has thresholds in the place of the intercept.

    Rows with a missing value are left out and counted in ``notes``, with everything else worth knowing.
    Raises BadFormula, BadRatings or BadModel where these data do not support this formula.
    """
    frame = ratings.frame
    sources = find_columns(formula, frame, ratings.names)
    response = read_response(open_column(frame, sources[formula.response]), formula.response, ordinal)
    table = read_table(formula, frame, sources)
    table, response, rows, notes = complete_rows(formula, table, response, len(frame))
    refuse_several_criteria(frame, rows, sources)
    table, unused = drop_unused_levels(table)
    notes += unused

    codes: Ints | None = None
    categories: tuple[str, ...] = ()
    if ordinal:
        y, codes, categories, about = code_response(response, formula.response)
        notes += about
    else:
        assert isinstance(response, Numbers)
        y = np.ascontiguousarray(response.floats)
        check_linear(y, formula.response)

    coder = Coder(table.columns, len(rows))
    X, fixed, about = _fixed_part(formula, coder, sources, ordinal)
    notes += about
    nominal, about = _side_part("nominal", formula.nominal, coder, sources)
    notes += about
    scale, about = _side_part("scale", formula.scale, coder, sources, formula.pooled)
    notes += about
    if nominal is not None:
        X, fixed, about = _leave_to_thresholds(X, fixed, nominal)
        notes += about
    factors, about = make_factors(formula.random, coder, table.groups, sources, ordinal)
    notes += about
    stretches, about = make_factors(formula.stretch, coder, table.groups, sources, ordinal)
    notes += about
    return ModelMatrices(
        formula,
        formula.response,
        y,
        codes,
        categories,
        X,
        fixed.names,
        factors,
        rows,
        fixed,
        tuple(notes),
        nominal,
        scale,
        *(replace(one, columns=("log sigma",)) for one in stretches),
    )


def _side_part(
    name: str, text: str, coder: Coder, sources: Mapping[str, str], pooled: str = ""
) -> tuple[SidePart | None, list[str]]:
    """Return the columns of nominal or of scale effects, and a note on those that others determine."""
    if not text:
        return None, []
    columns, kept = coder.code(text)
    names, terms, aliased = _keep_columns(columns.names, tuple(columns.terms.items()), tuple(kept), True)
    if not names:
        raise BadModel(f"'~ {text.removeprefix('1 + ')}' does not vary in the rows used. Leave it out.")
    used = read_terms(text).variables
    part = FixedPart(
        text=text,
        names=names,
        terms=dict(terms),
        variables={name: v for name, v in coder.variables.items() if name in used},
        sources={name: sources[name] for name in used},
        kept=tuple(kept[1:]),
        spec=columns.spec,
    )
    matrix = np.ascontiguousarray(columns.matrix[:, kept[1:]])
    if not pooled:
        return SidePart(part, matrix), [f"{name} effects: {note}" for note in aliased]
    own = np.array(part.terms[pooled])
    ridge = np.zeros((len(names), len(names)))  # of all levels: the last one is minus the others
    ridge[np.ix_(own, own)] = (np.eye(len(own)) + 1.0) / POOLED_SD**2
    notes = [f"{name} effects: {note}" for note in aliased]
    return SidePart(part, matrix, ridge, tuple(own.tolist())), notes


def _leave_to_thresholds(
    X: Floats, fixed: FixedPart, nominal: SidePart
) -> tuple[Floats, FixedPart, list[str]]:
    """Return the location without what the thresholds of nominal effects contain already, and a note."""
    ahead = 1 + nominal.matrix.shape[1]
    every = np.column_stack([np.ones(len(X)), nominal.matrix, X])
    kept = [place - ahead for place in independent_columns(every) if place >= ahead]
    if len(kept) == X.shape[1]:
        return X, fixed, []
    gone = [name for place, name in enumerate(fixed.names) if place not in kept]
    place = {old: new for new, old in enumerate(kept)}
    terms = {term: tuple(place[old] for old in own if old in place) for term, own in fixed.terms.items()}
    smaller = replace(
        fixed,
        names=tuple(fixed.names[old] for old in kept),
        terms={term: own for term, own in terms.items() if own},
        kept=tuple(fixed.kept[old] for old in kept),
    )
    note = (
        f"{quoted(gone)} {'is' if len(gone) == 1 else 'are'} left to the nominal effects of {nominal.text}: "
        "thresholds of their own contain a difference in location"
    )
    return np.ascontiguousarray(X[:, kept]), smaller, [note]


def _fixed_part(
    formula: Formula, coder: Coder, sources: Mapping[str, str], ordinal: bool
) -> tuple[Floats, FixedPart, list[str]]:
    notes = []
    text = formula.fixed
    if ordinal and text.startswith("0"):
        text = "1" + text[1:]
        notes.append("the thresholds replace the intercept, so 0 or -1 in the fixed part changes nothing")
    columns, kept = coder.code(text)
    if len(kept) >= coder.n:
        raise BadModel(
            f"The fixed part has {len(kept)} independent columns for {coder.n} rows, which leaves nothing to "
            "estimate from. Use fewer terms, or make factors with many levels random, as in (1 | item)."
        )
    names, terms, aliased = _keep_columns(columns.names, tuple(columns.terms.items()), tuple(kept), ordinal)
    notes += aliased
    kept = kept[1:] if ordinal else kept
    used = read_terms(text).variables
    fixed = FixedPart(
        text=text,
        names=names,
        terms=dict(terms),
        variables={name: v for name, v in coder.variables.items() if name in used},
        sources={name: sources[name] for name in used},
        kept=tuple(kept),
        spec=columns.spec,
    )
    if kept == list(range(len(columns.names) - len(kept), len(columns.names))):  # a slice is quicker
        X = columns.matrix[:, len(columns.names) - len(kept) :]
    else:
        X = columns.matrix[:, kept]
    return np.ascontiguousarray(X), fixed, notes


@lru_cache(maxsize=256)
def _keep_columns(
    names: tuple[str, ...],
    terms: tuple[tuple[str, tuple[int, ...]], ...],
    kept: tuple[int, ...],
    ordinal: bool,
) -> tuple[tuple[str, ...], Mapping[str, tuple[int, ...]], tuple[str, ...]]:
    """Return the names of the columns kept, where those of each term are now, and a note on the others.

    The first column of an ordinal model, the intercept, is not kept.
    """
    notes: tuple[str, ...] = ()
    if len(kept) < len(names):
        dropped = [name for place, name in enumerate(names) if place not in kept]
        notes = (
            f"{quoted(dropped)} {'is a' if len(dropped) == 1 else 'are'} linear "
            f"combination{'s' * (len(dropped) > 1)} of earlier columns and left out",
        )
    kept = kept[1:] if ordinal else kept
    place = {old: new for new, old in enumerate(kept)}
    moved = {
        term: tuple(place[old] for old in old_places if old in place)
        for term, old_places in terms
        if not (ordinal and term == "Intercept")
    }
    return tuple(names[old] for old in kept), moved, notes
