"""Several answers in each row, distinguished by parts of names: Q1_2_fluency, annotator1_fluency."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Any

from panelist.collection.imports.guessing.column_profiles import Column
from panelist.collection.imports.guessing.column_roles import Roles
from panelist.collection.imports.guessing.patterns import find_slots
from panelist.collection.imports.shapes.base import Answers, Case, name_answer, shape
from panelist.collection.imports.vocabulary import RATERS, is_criterion, split_name
from panelist.core.prose import listing

_TOKEN = re.compile(r"[^_.:\- \[\]()]+|[_.:\- \[\]()]+")
_MARK = re.compile(r"[_.:\- \[\]()]")
_NUMBERED_RATER = re.compile(rf"({'|'.join(RATERS)})(\d+)", re.IGNORECASE)
ROLES = ("rater", "system", "item")


@shape("several answers in each row", rank=4)
def recognise(case: Case) -> list[Answers]:
    """Return the readings of columns whose names differ only in some parts."""
    made: list[Answers] = []
    columns = [one for one in case.columns if one.may_be_answers or _looks_rated(one)]
    members, tokens = _find_alike(columns, _split)
    whole, split = _find_alike(columns, _split_at_criterion)
    if len(whole) > len(members):  # names of systems with marks in them, gpt-4, are one part
        members, tokens = whole, split
    if not members:
        return []
    names = [one.name for one in members]
    varying = [at for at in range(len(tokens[0])) if len({one[at] for one in tokens}) > 1]
    for roles in case.roles(several=True, skip=names):
        for places in _assign(tokens, varying, roles):
            if (reading := _write(case, members, tokens, places, roles)) is not None:
                made.append(reading)
    return made


def _looks_rated(column: Column) -> bool:
    return (column.is_scale or column.is_labels) and any(map(is_criterion, _split(column.name)))


def _split(name: str) -> list[str]:
    """Return the parts of a name with what is between; ``annotator1`` is two parts."""
    tokens: list[str] = []
    for token in _TOKEN.findall(name):
        found = _NUMBERED_RATER.fullmatch(token)
        tokens += [found[1], found[2]] if found else [token]
    return tokens


def _split_at_criterion(name: str) -> list[str]:
    """Return a name in three: what is rated, the separator, and the criterion at the end, or in front.

    >>> _split_at_criterion("gpt_4_fluency"), _split_at_criterion("fluency: gpt-4")
    (['gpt_4', '_', 'fluency'], ['fluency', ': ', 'gpt-4'])
    >>> _split_at_criterion("fluency [gpt-4]")
    ['fluency', ' [', 'gpt-4', ']']
    """
    tokens = _TOKEN.findall(name)
    if len(tokens) > 3 and _MARK.match(tokens[-1]) and is_criterion(tokens[0]):
        return [tokens[0], tokens[1], "".join(tokens[2:-1]), tokens[-1]]
    if len(tokens) > 2 and is_criterion(tokens[-1]):
        return ["".join(tokens[:-2]), tokens[-2], tokens[-1]]
    if len(tokens) > 2 and is_criterion(tokens[0]):
        return [tokens[0], tokens[1], "".join(tokens[2:])]
    return [name]


def _find_alike(
    columns: Sequence[Column], split: Callable[[str], list[str]]
) -> tuple[list[Column], list[list[str]]]:
    """Return the largest set of columns with the same number of parts, some of which vary, and the parts.

    Without a criterion in their names, columns must vary in two places to be taken for several answers.
    """
    groups: dict[tuple[int, str], list[Column]] = {}
    for column in columns:
        tokens = split(column.name)
        marks = "".join(token if _MARK.match(token) else "*" for token in tokens)
        if len(tokens) > 1:
            groups.setdefault((len(tokens), marks), []).append(column)
    best: list[Column] = []
    for members in groups.values():
        tokens_of = [split(one.name) for one in members]
        varying = [at for at in range(len(tokens_of[0])) if len({one[at] for one in tokens_of}) > 1]
        classes = [_classify(tokens_of, at) for at in varying]
        full = len(members) >= 0.75 * _product([len({one[at] for one in tokens_of}) for at in varying])
        named = "criterion" in classes
        if not full or len(members) <= len(best):
            continue
        if (
            (named and len(varying) > 1)
            or (not named and (len(varying) > 1 or "rater" in classes))
            or (len(varying) == 1 and classes == ["number"] and _constant_criterion(tokens_of, varying))
        ):
            best = list(members)
    return best, [split(one.name) for one in best]


def _product(numbers: Sequence[int]) -> int:
    whole = 1
    for number in numbers:
        whole *= number
    return whole


def _constant_criterion(tokens: Sequence[Sequence[str]], varying: Sequence[int]) -> bool:
    return any(is_criterion(part) for at, part in enumerate(tokens[0]) if at not in varying)


def _classify(tokens: Sequence[Sequence[str]], at: int) -> str:
    parts = {one[at] for one in tokens}
    if sum(map(is_criterion, parts)) >= 0.5 * len(parts):
        return "criterion"
    before = [word for one in tokens for word in split_name("".join(one[:at]))[-1:]]
    heads = [word for part in parts for word in split_name(part)[:1]]
    if (before and all(word in RATERS for word in before)) or (heads and all(w in RATERS for w in heads)):
        return "rater"
    return "number" if all(part.isdecimal() for part in parts) else "name"


def _assign(
    tokens: Sequence[Sequence[str]], varying: Sequence[int], roles: Roles
) -> Iterator[dict[int, str]]:
    """Yield what each varying part can be: a role that no column has, or n, a place."""
    classes = {at: _classify(tokens, at) for at in varying}
    fixed = {at: kind for at, kind in classes.items() if kind in ("criterion", "rater")}
    if len(set(fixed.values())) < len(fixed):
        return
    open_ = [at for at in varying if at not in fixed]
    if "criterion" not in fixed.values() and len(open_) > 1 and not _constant_criterion(tokens, varying):
        # No part is known to be the criterion: one of the others may be.
        free = [
            *(role for role in ROLES if getattr(roles, role) is None and role not in fixed.values()),
            "criterion",
        ]
    else:
        free = [role for role in ROLES if getattr(roles, role) is None and role not in fixed.values()]
    if free == ["rater"] and len(open_) == 1 and classes[open_[0]] == "number":
        yield fixed | {open_[0]: "n"}
        return
    for chosen in permutations(free, len(open_)):
        yield fixed | dict(zip(open_, chosen, strict=True))
    if len(open_) == 1 and classes[open_[0]] == "number" and (not free or free == ["system"]):
        yield fixed | {open_[0]: "n"}


def _write(
    case: Case,
    members: Sequence[Column],
    tokens: Sequence[Sequence[str]],
    places: dict[int, str],
    roles: Roles,
) -> Answers | None:
    """Return the reading for one assignment: a pattern where one finds the columns, else a line for each."""
    pattern = "".join("{" + places[at] + "}" if at in places else token for at, token in enumerate(tokens[0]))
    values = name_answer(members[0]) | {"answer": pattern}
    if "criterion" not in places.values():
        fixed = [part for at, part in enumerate(tokens[0]) if at not in places and is_criterion(part)]
        values = {"name": fixed[0] if fixed else "rating", **values}
    wanted = {"".join(one): {role: one[at] for at, role in places.items()} for one in tokens}
    slots = {slot.column: slot.given for slot in find_slots(pattern, case.sheet.columns)}
    criteria: list[dict[str, Any]] = [values]
    if slots != wanted:
        if "item" in places.values() or "n" in places.values():
            return None
        criteria = [_write_line(one, wanted[one.name], str(values.get("name", "rating"))) for one in members]
    said = {role: at for at, role in places.items()}
    told = [
        f"{listing(sorted({one[at] for one in tokens}), 3)} in {members[0].name} … are {_say(role)}"
        for role, at in said.items()
        if role != "criterion"
    ]
    names = [one.name for one in members]
    rated = said.keys() & {"rater"}
    return Answers(
        roles,
        criteria=criteria,
        label=roles.label or "; ".join(told),
        says=f"{listing(names, 4)}, named {pattern}",
        sure=False,
        raters=f"the names of the columns ({pattern})" if rated else "",
        unknown=not rated and roles.rater is None,
    )


def _say(role: str) -> str:
    return "places on the page, whose systems are not in the file" if role == "n" else f"{role}s"


def _write_line(column: Column, given: dict[str, str], name: str) -> dict[str, Any]:
    line = {"name": given.get("criterion", name), **name_answer(column)}
    if "rater" in given:
        line["by"] = given["rater"]
    if "system" in given:
        line["of"] = given["system"]
    return line
