"""One column for each criterion; where names are not criteria, perhaps one for each system or rater."""

import re
from dataclasses import replace

import pandas as pd

from panelist.collection.imports.guessing.column_profiles import Column
from panelist.collection.imports.guessing.column_roles import Roles
from panelist.collection.imports.shapes.base import Answers, Case, name_answer, shape
from panelist.collection.imports.vocabulary import is_criterion, last_part
from panelist.core.prose import listing

ROUNDED = 0.0101
"""How far a mean may be from that of the numbers beside it: it may have two decimals."""


@shape("one column for each criterion", rank=5)
def recognise(case: Case) -> list[Answers]:
    """Return the readings of columns that hold answers, none of them named by a pattern."""
    made: list[Answers] = []
    for roles in case.roles():
        able = case.answers(roles)
        if not able:
            continue
        known = [one for one in able if is_criterion(last_part(one.name))]
        if known and len(known) < len(able):
            # Beside criteria that are known, numbers are criteria too; labels (yes, no) may be anything.
            able = [
                one
                for one in able
                if one in known
                or (one.is_scale and not _is_decided(one, case, roles) and not _is_above(one, known, case))
            ]
            able = [one for one in able if one in known or not _sums_up(one, able)]
        made.append(_by_criterion(roles, able, sure=bool(known)))
        if not known and len(able) > 1:
            made += _read_otherwise(case, roles, able)
    return made


def _is_decided(column: Column, case: Case, roles: Roles) -> bool:
    """Return whether a column says something about raters, or about outputs, whoever rates them."""
    rater = roles.rater.columns() if roles.rater else []
    output = [name for role in (roles.item, roles.system) if role is not None for name in role.columns()]
    return any(_decides(names, column, case) for names in (rater, output))


def _is_above(column: Column, known: list[Column], case: Case) -> bool:
    """Return whether a column says one thing of the whole file, above the lists that hold the criteria."""
    inner = f"{case.lists[-1]}." if case.lists else ""
    inside = bool(inner) and all(one.name.startswith(inner) for one in known)
    return inside and column.is_constant and not column.name.startswith(inner)


def _sums_up(column: Column, able: list[Column]) -> bool:
    """Return whether a column is the mean or the sum of the other numbers in its row."""
    others = [one for one in able if one is not column and one.is_numeric]
    if len(others) < 2:
        return False
    numbers = pd.concat([_count(one) for one in others], axis=1)
    own = _count(column)
    there = own.notna() & numbers.notna().all(axis=1)
    sums = (numbers.sum(axis=1), numbers.mean(axis=1))
    return bool(there.any()) and any(((own - made)[there].abs() <= ROUNDED).all() for made in sums)


def _decides(names: list[str], column: Column, case: Case) -> bool:
    """Return whether other columns decide what a column says, though each of their values occurs again."""
    frame = case.sheet.frame
    if not names or not set(names) <= set(frame) or column.is_constant:
        return False
    groups = column.cells.groupby([frame[name] for name in names], observed=True)
    return bool(groups.nunique().eq(1).all() and groups.size().median() > 1)


def _count(column: Column) -> pd.Series:
    return pd.to_numeric(column.cells.str.replace(",", ".", regex=False), errors="coerce")


def _by_criterion(roles: Roles, able: list[Column], *, sure: bool) -> Answers:
    names = _shorten(able)
    entries = [{"name": _mend(name), **name_answer(one)} for name, one in zip(names, able, strict=True)]
    label = roles.label or f"{listing([one.name for one in able], 3)} are criteria"
    says = f"{listing([one.name for one in able], 6)}, one column for each criterion"
    return Answers(roles, criteria=entries, says=says, sure=sure, unknown=roles.rater is None, label=label)


def _read_otherwise(case: Case, roles: Roles, able: list[Column]) -> list[Answers]:
    """Return the readings in which the columns are systems or raters, where the file has no others."""
    made = []
    named = listing([one.name for one in able], 3)
    for role, key, free in (("systems", "of", roles.system is None), ("raters", "by", roles.rater is None)):
        if not free:
            continue
        entries = [
            {"name": "rating", **name_answer(one), key: _mend(name)}
            for name, one in zip(_shorten(able), able, strict=True)
        ]
        own = next(iter(case.roles(several=True, skip=[one.name for one in able])), roles)
        own = replace(own, label="")
        made.append(
            Answers(
                own,
                criteria=entries,
                label=f"{named} are {role}",
                says=f"{named}, one column for each of the {role}",
                sure=False,
                raters=f"the names of the columns {named}" if key == "by" else "",
                unknown=key == "of" and own.rater is None,
            )
        )
    return made


def _shorten(columns: list[Column]) -> list[str]:
    """Return the names of columns without what says only that they hold ratings: bart of bart_score."""
    names = [
        re.sub(r"(?<=\w)[ _.-]+(score|rating|value|label)s?$", "", last_part(one.name)) for one in columns
    ]
    return names if len(set(names)) == len(names) else [one.name for one in columns]


def _mend(name: str) -> str:
    """Return a name without the characters that names in tables cannot have."""
    return "".join("-" if sign in ",;|=" else sign for sign in name)[:80].strip() or "rating"
