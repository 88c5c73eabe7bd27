"""What a formula uses of a ratings table: its columns by name, its complete rows, its levels."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from panelist.core.errors import BadFormula, BadModel, nearest, suggest
from panelist.core.prose import quoted
from panelist.core.tables.columns import find_role
from panelist.models.formulas.formula import Formula
from panelist.models.formulas.terms import read_terms
from panelist.models.formulas.variables import (
    IDENTIFIERS,
    Labels,
    Numbers,
    Variable,
    drop_unused,
    open_column,
    read_labels,
    read_variable,
    refuse_infinite,
)
from panelist.numerics.arrays import Longs


@dataclass(frozen=True)
class FormulaTable:
    """The variables of the model: those that make columns, and those that group rows."""

    columns: dict[str, Variable]
    groups: dict[str, Labels]


@dataclass(frozen=True)
class _Roles:
    """What the formula does with its variables."""

    columns: tuple[str, ...]
    made_factors: frozenset[str]
    also_plain: frozenset[str]
    groups: tuple[str, ...]


@lru_cache(maxsize=256)
def _find_roles(formula: Formula) -> _Roles:
    columns: dict[str, None] = {}
    made: set[str] = set()
    others: set[str] = set()
    sides = [side for side in (formula.nominal, formula.scale) if side]
    for text in dict.fromkeys([formula.fixed, *(term.columns for term in formula.random), *sides]):
        for piece in (piece for term in read_terms(text).terms for piece in term):
            columns |= dict.fromkeys(piece.variables)
            (made if piece.kind == "factor" else others).update(piece.variables)
    random = (*formula.random, *formula.stretch)
    groups = tuple(dict.fromkeys(name for term in random for name in term.grouping))
    return _Roles(tuple(columns), frozenset(made), frozenset(made & others), groups)


def find_columns(formula: Formula, frame: pd.DataFrame, names: Mapping[str, str]) -> dict[str, str]:
    """Return the column of the table behind each variable of the formula."""
    known = frame.columns
    other_way = {canonical: original for original, canonical in names.items()}
    sources: dict[str, str] = {}
    for variable in formula.variables:
        if variable in known:
            sources[variable] = variable
            continue
        for name in (names.get(variable), other_way.get(variable), find_role(variable)):
            if name is not None and name in known:
                sources[variable] = str(name)
                break
        else:
            columns = [str(column) for column in frame.columns]
            usable = columns + [original for original, canonical in names.items() if canonical in known]
            raise BadFormula(
                f"The formula uses {variable!r}, and the table has no such column."
                f"{suggest(nearest(variable, usable))} Its columns are {quoted(columns, 8)}."
            )
    if len(set(sources.values())) < len(sources):
        for variable, column in sources.items():
            if twins := [v for v, c in sources.items() if c == column and v != variable]:
                raise BadFormula(
                    f"The formula uses {variable!r} and {twins[0]!r}, which are the same column. "
                    "Use one of the names."
                )
    return sources


def read_table(formula: Formula, frame: pd.DataFrame, sources: Mapping[str, str]) -> FormulaTable:
    """Return the variables of the formula; identifiers and what is in C() are categorical."""
    roles = _find_roles(formula)
    columns: dict[str, Variable] = {}
    groups: dict[str, Labels] = {}
    for name in roles.columns:
        column = sources[name]
        categorical = column in IDENTIFIERS or name in roles.made_factors
        columns[name] = read_variable(open_column(frame, column), categorical)
        if name not in roles.also_plain or column in IDENTIFIERS:
            continue
        if isinstance(read_variable(frame[column], False), Numbers):
            raise BadFormula(
                f"The formula uses {name} as a number and as the factor C({name}). Copy the column under a "
                "second name and use one name for each."
            )
    for name in roles.groups:
        variable = columns.get(name)
        groups[name] = (
            variable if isinstance(variable, Labels) else read_labels(open_column(frame, sources[name]))
        )
    return FormulaTable(columns, groups)


def complete_rows(
    formula: Formula, table: FormulaTable, response: Variable, n: int
) -> tuple[FormulaTable, Variable, Longs, list[str]]:
    """Return the table, the response and the places of the rows where nothing is missing, and a note."""
    used: dict[str, Variable] = {formula.response: response}
    for name, variable in (*table.columns.items(), *table.groups.items()):
        used.setdefault(name, variable)
    missing = {name: variable.missing for name, variable in used.items() if not variable.whole}
    if n and not missing:
        return table, response, np.arange(n), []
    counts = {name: np.count_nonzero(mask) for name, mask in missing.items()}
    notes = []
    rows = np.arange(n)
    if any(counts.values()):
        keep = ~np.logical_or.reduce(list(missing.values()))
        rows = np.flatnonzero(keep)
        parts = [f"{count:,} without {_article(name)} {name}" for name, count in counts.items() if count]
        overlap = " (some lack several)" if sum(counts.values()) > n - len(rows) else ""
        left_out = f"{n - len(rows):,} of {n:,} rows left out: {', '.join(parts)}{overlap}"
        if not len(rows):
            raise BadModel(f"No row is complete, so there is nothing to fit ({left_out}).")
        notes.append(left_out)
        table = FormulaTable(
            {name: v.at(rows) for name, v in table.columns.items()},
            {name: v.at(rows) for name, v in table.groups.items()},
        )
        response = response.at(rows)
    if n == 0:
        raise BadModel("The table has no rows, so there is nothing to fit. Check the file and any filters.")
    for name, variable in table.columns.items():
        refuse_infinite(variable, name)
    return table, response, rows, notes


def refuse_several_criteria(frame: pd.DataFrame, rows: Longs, sources: Mapping[str, str]) -> None:
    """Raise BadModel if the rows hold several criteria and the formula does not use them."""
    if "criterion" not in frame.columns or "criterion" in sources.values():
        return
    criteria = read_labels(frame["criterion"])
    codes = np.unique(criteria.codes[rows])
    found = [criteria.levels[code] for code in codes if code >= 0]
    if len(found) > 1:
        raise BadModel(
            f"The table holds ratings of {len(found)} criteria, {quoted(found, 12)}, and the formula does "
            f"not use criterion, so it would mix them. Choose one with --criterion {found[0]} (in Python "
            f'ratings.only("{found[0]}")), or put criterion into the formula.'
        )


def drop_unused_levels(table: FormulaTable) -> tuple[FormulaTable, list[str]]:
    """Return the table without the levels that no row has, and notes that name them."""
    if all(variable.whole for variable in (*table.columns.values(), *table.groups.values())):
        return table, []
    notes: dict[str, None] = {}
    columns: dict[str, Variable] = dict(table.columns)
    groups: dict[str, Labels] = dict(table.groups)
    for name in dict.fromkeys([*columns, *groups]):
        variable = groups[name] if name in groups else columns[name]
        if isinstance(variable, Labels):
            smaller, note = drop_unused(variable, name)
            if note:
                notes[note] = None
            if name in groups:
                groups[name] = smaller
            if isinstance(columns.get(name), Labels):
                columns[name] = smaller
    return FormulaTable(columns, groups), list(notes)


def _article(name: str) -> str:
    return "an" if name[:1].lower() in "aeiou" else "a"
