"""Who rated, what was rated, on what: found by the names of columns, else by what their cells look like."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from typing import Any

import pandas as pd

from panelist.collection.imports.files.unfolding import PLACE
from panelist.collection.imports.guessing.column_profiles import Column, count_together, crosses
from panelist.collection.imports.source_sheet import ROW
from panelist.collection.imports.vocabulary import (
    CRITERION_NAMES,
    INPUTS,
    ITEM_NAMES,
    OUTPUTS,
    RATER_NAMES,
    RATERS,
    SYSTEM_NAMES,
    is_rater_code,
    last_part,
    split_name,
    squeeze,
)
from panelist.core.tables.columns import find_role

SEPARATORS = ("###", "|||", "||", "__", "::", "##", "#", "|", ":", "/", "@", "_", "-", ".")
KEY = re.compile(r"\.key\d*$")
_PLACE = re.compile(r"\.\d+$")


@dataclass(frozen=True)
class FoundRole:
    """What a role was found to be: the mapping's value, and how it was found."""

    cell: Any
    how: str
    sure: bool = True

    def columns(self) -> list[str]:
        """Return the columns that it is read from."""
        cell = self.cell["column"] if isinstance(self.cell, dict) else self.cell
        return list(cell) if isinstance(cell, list) else [str(cell)]

    def describe(self) -> str:
        """Return the column, or the part of it, in words."""
        if isinstance(self.cell, dict):
            if self.cell.get("numbered"):
                return f"{self.cell['column']}, its different texts numbered"
            return f"a part of {self.cell['column']}, {self.cell['match']}"
        return " and ".join(self.cell) if isinstance(self.cell, list) else str(self.cell)


@dataclass(frozen=True)
class Roles:
    """What the columns that are not answers were found to be; ``label`` distinguishes readings."""

    rater: FoundRole | None = None
    item: FoundRole | None = None
    system: FoundRole | None = None
    criterion: FoundRole | None = None
    used: frozenset[str] = frozenset()
    label: str = ""
    notes: tuple[str, ...] = field(default=())

    def take(self, role: str, found: FoundRole | None, *columns: str) -> "Roles":
        """Return the roles with one more found."""
        if found is None:
            return self
        return replace(self, **{role: found}, used=self.used | set(columns))  # type: ignore[arg-type]


def find_roles(columns: Sequence[Column], *, several: bool, listed: bool = False) -> list[Roles]:
    """Return the ways in which columns have roles: one, or several that a person must choose from.

    ``several`` says that a row holds several ratings: then a row may be an item of its own. ``listed`` says
    that the ratings come from lists, in which nobody is named.
    """
    roles = Roles()
    names = [column for column in columns if not column.is_text]
    system = _find_system(names)
    if system is not None:
        roles = roles.take("system", FoundRole(system.name, "name"), system.name)
    criterion = next((one for one in names if _names(one, "criterion", CRITERION_NAMES)), None)
    if criterion is not None and not criterion.is_numeric:
        roles = roles.take("criterion", FoundRole(criterion.name, "name"), criterion.name)
    rater = _find_rater([one for one in names if one.name not in roles.used])
    if rater is not None:
        roles = roles.take("rater", FoundRole(rater.name, "name"), rater.name)
    roles = _take_item(roles, columns, system)
    return [_fall_back(one, columns, several) for one in _read_keys(roles, columns, listed)]


def _names(column: Column, role: str, words: Any) -> bool:
    plain = squeeze(_PLACE.sub("", column.name))
    last = last_part(_PLACE.sub("", column.name))
    single = last.removesuffix("s")
    return role in (find_role(last), find_role(single)) or bool(
        {squeeze(last), squeeze(single), plain} & set(words)
    )


def _find_system(columns: Sequence[Column]) -> Column | None:
    """Return the column that is named as systems are; of several, the one with more values."""
    found = [one for one in columns if _names(one, "system", SYSTEM_NAMES)]
    found = [one for one in found if len(one.distinct) < len(one.cells) or len(one.cells) < 3]
    found.sort(key=lambda one: (find_role(last_part(one.name)) != "system", one.is_constant, one.is_numeric))
    return found[0] if found else None


def _find_rater(columns: Sequence[Column]) -> Column | None:
    """Return the column that is named as raters are; never a column of parts that are all alike."""
    found = [
        one
        for one in columns
        if (_names(one, "rater", RATER_NAMES) or is_rater_code(one.name))
        and not one.is_time
        and not _is_name_of_other(one)
    ]
    varied = [one for one in found if not one.is_constant] or found
    order = ("rater", "annotator", "worker", "participant", "evaluator")

    def rank(one: Column) -> tuple[bool, bool, int]:
        known = find_role(last_part(_PLACE.sub("", one.name))) == "rater"
        stem = next((at for at, word in enumerate(order) if word in split_name(one.name)), len(order))
        return not known, squeeze(one.name) in ("name", "email"), stem

    return min(varied, key=rank) if varied else None


def _is_name_of_other(column: Column) -> bool:
    """Return whether a column is the name of something that is not a person: dataset.name, model.name."""
    *above, last = _PLACE.sub("", column.name).split(".")
    return (
        bool(above)
        and squeeze(last) == "name"
        and not any(part.startswith(RATERS) for part in split_name(above[-1]))
    )


def _take_item(roles: Roles, columns: Sequence[Column], system: Column | None) -> Roles:
    """Return the roles with the item: by name, several columns together, or the input text."""
    able = [
        one
        for one in columns
        if one.name not in roles.used
        and not one.is_text
        and not KEY.search(one.name)
        and not one.name.endswith(PLACE)
        and (_names(one, "item", ITEM_NAMES))
        and not (one.is_constant and len(one.cells) > 1)
    ]
    repeated = [one for one in able if len(one.distinct) < len(one.cells)]
    if repeated and len(repeated) < len(able):
        able = repeated  # a column that is different in each row numbers the rows
    if system is not None and not system.is_constant:
        met = [one for one in able if crosses(one, system) >= 0.5]
        able = met or able
    if not able:
        able = [one for one in columns if one.name not in roles.used and _is_code(one)]
    if system is not None and able and all(crosses(one, system) < 0.1 for one in able):
        shared = _take_text(roles, [one for one in columns if crosses(one, system) >= 0.5])
        if shared.item is not None:
            return shared  # a number of the output; the input text says what systems share
    turns = [one for one in columns if squeeze(last_part(one.name)) == "turn" and not one.is_constant]
    if len(able) > 1:
        able = _choose_items(able)
    if able:
        together = [*able, *turns]
        named = [one.name for one in together]
        return roles.take("item", FoundRole(named[0] if len(named) == 1 else named, "name"), *named)
    return _take_text(roles, columns)


def _is_code(column: Column) -> bool:
    """Return whether a column is named like a code, but not like one of a submission."""
    parts = split_name(last_part(column.name))
    return (
        len(parts) > 1
        and parts[-1] in ("id", "idx", "index", "key", "code", "nr", "no", "number")
        and not set(parts) & {"hit", "assignment", "session", "batch", "task", "submission", "annotation"}
        and not column.is_constant
        and 1 < len(column.distinct) < len(column.cells)
    )


def _choose_items(able: list[Column]) -> list[Column]:
    """Return the columns that identify the item together: the finest one, or two where neither does alone."""
    most = max(able, key=lambda one: len(one.distinct))
    for one, other in combinations(able, 2):
        finer = 1.2 * len(most.distinct) < count_together([one, other]) < len(one.cells)
        if most in (one, other) and finer:
            return [one, other]
    exact = [one for one in able if find_role(last_part(one.name)) == "item"]
    best = exact[0] if exact and len(exact[0].distinct) == len(most.distinct) else most
    return [best]


def _take_text(roles: Roles, columns: Sequence[Column]) -> Roles:
    """Return the roles with the input text as the item, its different texts numbered."""
    texts = [one for one in columns if one.name not in roles.used and (one.is_text or one.is_labels)]
    for word in INPUTS:
        for one in texts:
            parts = split_name(last_part(one.name))
            if word in parts and not set(parts) & OUTPUTS and not one.is_constant:
                cell = {"column": one.name, "numbered": True}
                return roles.take("item", FoundRole(cell, "name", sure=False), one.name)
    return roles


def _read_keys(roles: Roles, columns: Sequence[Column], listed: bool) -> Iterator[Roles]:
    """Yield the roles with those of keys, which have no names: by their values, or by elimination."""
    keys = [one for one in columns if KEY.search(one.name) and one.name not in roles.used]
    rest = []
    for key in keys:
        if roles.criterion is None and key.are_criteria:
            roles = roles.take("criterion", FoundRole(key.name, "values"), key.name)
        elif roles.rater is None and key.are_people:
            roles = roles.take("rater", FoundRole(key.name, "values"), key.name)
        else:
            rest.append(key)
    roles, rest = _split_composite(roles, columns, rest)
    rest.sort(key=lambda one: -len(one.distinct))
    if rest and roles.item is None:
        # The rest depends on the key at the top of a file.
        first = rest.pop(0)
        roles = roles.take("item", FoundRole(first.name, "values", sure=False), first.name)
    # A key with several ratings holds those of several raters, so the key is not a rater.
    free = [
        role
        for role in ("rater", "system")
        if getattr(roles, role) is None and (role, listed) != ("rater", True)
    ]
    if not rest or not free:
        yield roles
    elif len(rest) == 1:
        for role in free:
            words = ", ".join(rest[0].distinct[:3])
            label = f"the names {words} … are {role}s" if len(free) > 1 else ""
            found = FoundRole(rest[0].name, "values", sure=False)
            yield replace(roles.take(role, found, rest[0].name), label=label)
    else:
        for one, other in (rest[:2], rest[1::-1]):
            label = (
                f"{', '.join(one.distinct[:3])} … are raters, {', '.join(other.distinct[:3])} … are systems"
            )
            made = roles.take("rater", FoundRole(one.name, "values", sure=False), one.name)
            yield replace(
                made.take("system", FoundRole(other.name, "values", sure=False), other.name), label=label
            )


def _split_composite(
    roles: Roles, columns: Sequence[Column], keys: list[Column]
) -> tuple[Roles, list[Column]]:
    """Return the roles with item and system out of one code (doc-01###gpt), where no column names systems."""
    if roles.system is not None:
        return roles, keys
    named = [one for one in columns if roles.item is not None and one.name == roles.item.cell]
    able = [
        one for one in columns if one.name not in roles.used and not one.is_text and not one.may_be_answers
    ]
    for column in [*keys, *named, *able]:
        found = find_parts(column.distinct)
        if found is None:
            continue
        item, system = ({"column": column.name, "match": match} for match in found)
        if roles.item is None or roles.item.cell == column.name:
            roles = roles.take("item", FoundRole(item, "values"), column.name)
        roles = roles.take("system", FoundRole(system, "values", sure=False), column.name)
        return roles, [key for key in keys if key is not column]
    return roles, keys


def find_parts(codes: Sequence[str]) -> tuple[str, str] | None:
    """Return the expressions that take the item and the system out of codes that hold both.

    Systems are the part with fewer values; each must meet most of the items.

    >>> find_parts([f"doc-{n}__{s}" for n in range(9) for s in ("t5-base", "gpt")])
    ('(.+?)__.+', '.+?__(.+)')
    >>> find_parts([f"doc-{n}" for n in range(9)]) is None
    True
    """
    for mark in SEPARATORS:
        if not all(mark in code for code in codes) or len(codes) < 4:
            continue
        sign = re.sub(r"[|.]", r"\\\g<0>", mark)
        for head, tail in ((f"(.+?){sign}.+", f".+?{sign}(.+)"), (f"(.+){sign}.+", f".+{sign}(.+)")):
            parts = [(re.fullmatch(head, code), re.fullmatch(tail, code)) for code in codes]
            pairs = [(one[1], other[1]) for one, other in parts if one and other]
            if len(pairs) < len(codes):
                continue
            frame = pd.DataFrame(pairs, columns=["a", "b"])
            n_a, n_b = frame["a"].nunique(), frame["b"].nunique()
            few, many = ("a", "b") if n_a < n_b else ("b", "a")
            if min(n_a, n_b) < 2 or len(codes) < 0.7 * n_a * n_b:
                continue
            if (
                frame.groupby(few, observed=True)[many].nunique().min() < 2
                or frame[few].str.fullmatch(r"\d+").all()
            ):
                continue
            return (head, tail) if few == "b" else (tail, head)
    return None


def add_places(roles: Roles, lists: Sequence[str]) -> Roles:
    """Return the roles with the place in outer lists as part of the item, where nothing in them says it.

    A list of sentences, each with a list of answers: the item is the sentence, not the whole entry.
    """
    if roles.item is None or len(lists) < 2:
        return roles
    named = {name for one in (roles.item, roles.system) if one is not None for name in one.columns()}
    places = [
        f"{outer}{PLACE}"
        for outer, inner in pairwise(lists)
        if not any(name.startswith(f"{outer}.") and not name.startswith(f"{inner}.") for name in named)
    ]
    if not places:
        return roles
    by_id = isinstance(roles.item.cell, str)
    columns = [roles.item.cell if by_id else ROW, *places]
    return roles.take("item", FoundRole(columns, roles.item.how, sure=False), *places)


def _fall_back(roles: Roles, columns: Sequence[Column], several: bool) -> Roles:
    if roles.item is None and several:
        return roles.take("item", FoundRole(ROW, "assumed", sure=False), ROW)
    return roles
